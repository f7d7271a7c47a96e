"""The result of a search for symmetries, and how it is printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import final

from specavg._html import table_html
from specavg.data._streaming import ChunkStream
from specavg.discovery._field_names import field_label
from specavg.discovery._samples import Samples
from specavg.discovery._subgroup_names import element_label, orientation
from specavg.estimators import InvariantKernelRidge
from specavg.estimators._finer_detail import WORTH_SAYING, untested_detail
from specavg.groups import Group
from specavg.isometries import Isometry
from specavg.isometries.fields import Field
from specavg.regression._information import Information

_SHOWN = 8  # rows of the table in a summary
_COLUMNS = ("candidate", "order", "invariant", "p-value", "probability", "accepted")
_WIDTH = 47  # characters of a candidate in the table of a summary
_NAMED = 3  # groups that a sentence names
_UNSEEN = "No function is seen"  # how the note of a result begins that allows every symmetry, and returns none
UNSEARCHED = "Not all fields were searched"  # how the note begins that says which fields no candidate has


@final
@dataclass(frozen=True)
class Candidate:
    """One element or one subgroup that was put to the data.

    Attributes
    ----------
    element : Isometry or None
    subgroup : Group or None
        One of the two is given.
    order : int or None
        Of the subgroup, or of what the element generates; None where it was not needed.
    n_invariant : int
        Functions that the candidate leaves alone, of those up to the finest eigenspace that matters.
    p_value : float
        The probability of data that speak so much against the candidate if the function has its symmetry; NaN where
        the points cannot tell, as those of one plane cannot tell about its mirror.
    probability : float
        The posterior probability that the function has at least this symmetry; NaN where the method gives none.
    accepted : bool
        Whether the group that was found contains the candidate.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> X = sa.Circle().sample(100, random_state=0)
    >>> y = np.cos(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=100)
    >>> [(row.order, row.accepted) for row in sa.discover_symmetry(X, y, sa.Circle(), sa.groups.dihedral(2)).table]
    [(1, True), (2, False), (2, True), (2, False), (4, False)]
    """

    element: Isometry | None
    subgroup: Group | None
    order: int | None
    n_invariant: int
    p_value: float
    probability: float
    accepted: bool

    @property
    def label(self) -> str:
        """The name of the candidate in tables: that of its subgroup, or how its element is written."""
        if self.subgroup is not None:
            return group_label(self.subgroup)
        return "" if self.element is None else element_label(self.element, _WIDTH)

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of its row of a table, in the order of `_COLUMNS`."""
        probability = "" if math.isnan(self.probability) else f"{self.probability:.3g}"
        accepted = "yes" if self.accepted else "no"
        return self.label, str(self.order or ""), str(self.n_invariant), f"{self.p_value:.2g}", probability, accepted


def group_label(group: Group) -> str:
    """The name of a group with its axes, or its generators."""
    if group.name is not None:
        axes = orientation(group)
        return f"{group.name} [{axes}]" if axes else group.name
    generators = [*(element_label(g, _WIDTH) for g in group.generators), *map(field_label, group.fields)]
    words = ("changes", "permutes", "rotation ")  # whose labels have commas of their own
    between = "; " if any(word in label for label in generators for word in words) else ", "
    return f"<{between.join(generators)}>" if generators else "no symmetry"


def _shortened(label: str) -> str:
    """A label that fits in its column of a table: both ends tell more than the beginning alone."""
    half = (_WIDTH - 3) // 2
    return label if len(label) <= _WIDTH else f"{label[:half]}...{label[-half:]}"


def unseen_function(information: Information) -> str:
    """The note of a result without a symmetry, where no function shows in the data: all symmetries fit a constant."""
    if information.variance == 0:
        return f"{_UNSEEN}: y is constant. Every symmetry would do, and none is returned."
    return (
        f"{_UNSEEN}: the {len(information.b)} functions compared explain no more than chance does. Every "
        "symmetry would do, and none is returned. y is noise, or its function is finer than the functions compared: "
        "more samples bear finer ones."
    )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Discovery:
    """What `discover_symmetry` found.

    Attributes
    ----------
    samples : Samples
        The data, and their space.
    group : Group
        The largest subgroup that the data allow.
    model : InvariantKernelRidge
        Fitted with it, when it is first asked for.
    table : tuple of Candidate
        Everything that was compared.
    probability : float
        The posterior probability that the function has the symmetry of `group`; NaN where the method gives none, and
        where finer functions than those compared, with the symmetry of a larger subgroup or of another one, explain y
        as well: a note then says which it is.
    explained : float
        The share of the variance of y that the functions compared explain, noise subtracted.
    n_functions : int
        How many functions were compared, the constant left out.
    indistinguishable : tuple of Group
        Smaller groups that leave exactly the same functions alone, so that no data tell them from `group`.
    untested : float
        The share of the variance of y in detail that is finer than the functions compared, and stands out from noise:
        whether it has the symmetry was not tested. At most 1 together with `explained`.
    notes : tuple of str
        What to know before believing the result: what the data could not tell, and why.
    method : str
        "subgroups", "elements", "transpositions", "fields" or "sampling".
    fields : tuple of Field
        A basis of the fields that leave the function alone, where the group has a continuous part. Sentences name the
        planes and speeds; `.matrix` of a field has its numbers.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> X = sa.Torus(2).sample(200, random_state=0)
    >>> y = np.cos(np.pi * (X[:, 0] - X[:, 1])) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> found = sa.discover_symmetry(X, y, sa.Torus(2), sa.groups.shifts([1, 0], [0, 1]))
    >>> found.fields
    (shift([1, 1]),)
    """

    samples: Samples
    group: Group
    table: tuple[Candidate, ...]
    explained: float
    n_functions: int
    notes: tuple[str, ...]
    method: str
    probability: float = math.nan
    indistinguishable: tuple[Group, ...] = ()
    fields: tuple[Field, ...] = ()
    untested: float = 0.0

    def __post_init__(self) -> None:
        # Both are estimates, from other rows: no part of the variance is counted twice.
        object.__setattr__(self, "untested", min(self.untested, 1 - self.explained))

    @cached_property
    def model(self) -> InvariantKernelRidge:
        """The regressor of `group`, fitted to the samples."""
        X, y, *weights = self.samples.given
        if y is None:
            X = ChunkStream(X, targets=True)
            X.rows = self.samples.count  # so that the regressor knows how many functions they can bear
        return InvariantKernelRidge(self.samples.space, self.group).fit(X, y, *weights)

    def _sentences(self) -> list[str]:
        sure = "" if math.isnan(self.probability) else f", with probability {self.probability:.3g}"
        count = len(self.fields)
        size = f"{count} independent field{'s' * (count > 1)}" if count else f"of order {self.group.order:.6g}"
        allowed = f"{group_label(self.group)}, {size}"
        if self.method == "fields" and not count:
            partly = any(note.startswith(UNSEARCHED) for note in self.notes)
            allowed = "none of the fields searched" if partly else "no field, which is no continuous symmetry"
        unseen = [note for note in self.notes if note.startswith(_UNSEEN)]  # in place of a symmetry, which it is not
        sentences = [
            *(unseen or [f"The data allow {allowed}{sure}."]),
            f"The {self.n_functions} functions compared explain {100 * self.explained:.1f} % of the variance of y.",
        ]
        if self.indistinguishable:
            labels = [group_label(group) for group in self.indistinguishable]
            more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
            sentences.append(
                f"They cannot tell it from its subgroups {', '.join(labels[:_NAMED])}{more}: the same functions are "
                "invariant under them."
            )
        if self.untested >= WORTH_SAYING:
            sentences.append(untested_detail(self.untested))
        return [*sentences, *(note for note in self.notes if note not in unseen)]

    def __repr__(self) -> str:
        return f"<Discovery: {self._sentences()[0]}>"

    def __str__(self) -> str:
        shown = self._shown()
        lines = [
            f"{_shortened(label):<48}{order:>7}{invariant:>11}{p_value:>10}{probability:>13}  {accepted}"
            for label, order, invariant, p_value, probability, accepted in (_COLUMNS, *shown)
        ]
        more = [f"{len(self.table)} candidates in all: see .table"] if len(self.table) > len(shown) else []
        return "\n".join([*self._sentences(), "", *lines, *more])

    def _shown(self) -> list[tuple[str, ...]]:
        """The candidates nearest to the decision: the largest accepted ones, and the most plausible refused ones."""
        doubt = {id(c): 0.0 if math.isnan(c.p_value) else 1 - c.p_value for c in self.table}
        accepted = sorted((c for c in self.table if c.accepted), key=lambda c: (-(c.order or 0), doubt[id(c)]))
        refused = sorted((c for c in self.table if not c.accepted), key=lambda c: (doubt[id(c)], -(c.order or 0)))
        few = accepted[: max(_SHOWN // 2, _SHOWN - len(refused))]
        return [c.cells for c in few + refused[: _SHOWN - len(few)]]

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        return sentences + table_html(_COLUMNS, self._shown())
