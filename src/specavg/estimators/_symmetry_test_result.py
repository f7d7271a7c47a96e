"""What a test of a symmetry found: shares, p-values and a report, of the group and of each generator and field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._html import facts_html, table_html
from specavg.estimators._finer_detail import WORTH_SAYING, untested_detail
from specavg.estimators._finer_functions import ROWS
from specavg.isometries import Isometry
from specavg.isometries.fields import Field

NOT_TOLD = "The points cannot tell whether the symmetry holds: at them, invariant functions can be any function."
_UNEVEN = (
    "The functions compared reject the symmetry, but the points are spread unevenly over their orbits, and y has "
    "detail that these functions miss"
)
UNSEEN = (
    "The functions that so many samples can bear explain no more of y than chance does: nothing can be said about the "
    "symmetry. Compare the loo_error_ of InvariantKernelRidge with the group and without it."
)


def doubt(method: str) -> str:
    """Why the rejection of a symmetry is in doubt."""
    if method == "F":
        return f"{_UNEVEN}: p-values may be far too small. Give arrays, or a list of chunks: finer functions decide."
    return f"{_UNEVEN}. Finer functions, at {ROWS} samples at most, do not reject it: the p-value is theirs."


@final
@dataclass(frozen=True)
class GeneratorTest:
    """The part of one generator, or of one field, in a `SymmetryTest`.

    Attributes
    ----------
    generator : Isometry or Field
        A field stands for its flow: all rotations about an axis, say.
    outside : float
        Share of the explained variance that functions invariant under this generator cannot have.
    statistic : float
        As `SymmetryTest.statistic`.
    n_tested : int
        Functions that are not invariant under it.
    p_value : float

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Torus(2).sample(300, random_state=0)
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 + 0.1 * sa.Torus(1).sample(300, random_state=1)[:, 0]
    >>> [part.p_value > 0.01 for part in sa.symmetry_test(X, y, sa.Torus(2), sa.groups.sign_flips(2)).generators]
    [True, True]
    """

    generator: Isometry | Field
    outside: float
    statistic: float
    n_tested: int
    p_value: float

    @property
    def found(self) -> str:
        """Share and p-value in words, or why there are none."""
        if not np.isnan(self.p_value):
            return f"{100 * self.outside:5.1f} % outside, p = {self.p_value:.2g}"
        why = "the points are crowded on one copy of each of its orbits" if self.n_tested else "too few points differ"
        return f"not tested, {why}"

    @property
    def kind(self) -> str:
        """What is tested: "generator" or "field"."""
        return "field" if isinstance(self.generator, Field) else "generator"


@final
@dataclass(frozen=True)
class SymmetryTest:
    """What `symmetry_test` found.

    Attributes
    ----------
    outside : float
        Share, of what all functions together explain, that lies outside the invariant ones, noise subtracted: near 0
        if the symmetry holds, up to 1.
    explained : float
        Share of the variance of y that the functions compared explain, noise subtracted: what the test speaks of.
    untested : float
        Share of the variance of y that only functions beside those compared explain, as far as that is known: detail
        finer than the samples or `max_dim` allow, whether invariant functions fit it or not. Whether it has the
        symmetry was not tested. The shares `explained` and `untested` have nothing in common, and are at most 1
        together; the rest is noise, or detail too fine to be seen.
    statistic : float
        What the tested functions explain, over what they would explain by chance: near 1 if the symmetry holds.
    n_tested : int
        Functions tested: those of the eigenspaces compared that are not invariant.
    n_invariant : int
        Invariant functions fitted, also those of other eigenspaces.
    n_samples : int
        Samples tested. Copies of a point count once, with the mean of their targets, and so do points that the
        functions looked at cannot tell apart, if places are at most half as many as points; unless they come in chunks.
    p_value : float
        Probability of a statistic this large if the function is invariant. NaN, with a warning, where the points cannot
        tell: too few of them differ to tell other functions from invariant ones, or they lie on one copy of each orbit.
    generators : tuple of GeneratorTest
        The same for each generator alone, and then for each field: which symmetry fails.
    seen : bool
        Whether the functions explain more of y than chance does, at the level 0.05. If not, a large p-value means
        nothing: y is noise, or has detail too fine for so many samples.
    method : str
        "robust" (noise may be of any size in any place), "F" (of the same size everywhere) or "permutation".
    doubtful : bool
        Whether the functions compared reject the symmetry at the level 0.05, but points that are spread unevenly over
        their orbits may be the reason: further invariant functions explain a part of y, and finer ones do not reject.
    n_samples_needed : int
        About how many samples would bear the functions of the finer detail that stands out, with no `max_dim`; 0 where
        all of it is compared, where its functions are more than 300, and where it is spread over many eigenspaces.

    Examples
    --------
    >>> import numpy as np
    >>> import specavg as sa
    >>> X = sa.Torus(2).sample(300, random_state=0)
    >>> noise = 0.1 * np.random.default_rng(0).standard_normal(300)
    >>> test = sa.symmetry_test(X, np.sin(np.pi * X[:, 0]) + noise, sa.Torus(2), sa.groups.sign_flips(2))
    >>> test.p_value < 1e-6, test.outside > 0.9
    (True, True)
    """

    outside: float
    explained: float
    statistic: float
    n_tested: int
    n_invariant: int
    n_samples: int
    p_value: float
    generators: tuple[GeneratorTest, ...]
    seen: bool
    method: str
    untested: float = 0.0
    doubtful: bool = False
    n_samples_needed: int = 0

    def failing(self, level: float = 0.05) -> tuple[int, ...]:
        """The generators and fields whose symmetry fails at a family-wise error `level` (Holm's procedure).

        Returns
        -------
        tuple of int
            Their places in `generators`: those of the group's generators, and after them those of its fields.
        """
        order = np.argsort([g.p_value for g in self.generators], kind="stable")
        failing: list[int] = []
        for rank, i in enumerate(order.tolist()):
            if not self.generators[i].p_value <= level / (len(order) - rank):  # NaN comes last, and fails nothing
                break
            failing.append(i)
        return tuple(sorted(failing))

    def __str__(self) -> str:
        lines = [
            f"{100 * self.outside:.1f} % of the explained variance lies outside the invariant functions "
            f"(p = {self.p_value:.2g}, {self.n_tested} functions tested on {self.n_samples} samples)",
            f"The functions compared explain {100 * self.explained:.1f} % of the variance of y.",
        ]
        if not self.seen:
            lines[1] = UNSEEN
        rest = 1 - self.explained
        if self.untested >= WORTH_SAYING:
            more = f" About {self.n_samples_needed:,} samples would bear its functions."
            reached = more if self.n_samples_needed > self.n_samples else " It is tested if max_dim is left out."
            lines.append(untested_detail(self.untested, reached if self.n_samples_needed else ""))
            rest -= self.untested
        if self.seen and rest >= WORTH_SAYING:
            lines.append(f"Noise, or detail too fine to be seen, has the other {100 * rest:.1f} %.")
        if self.doubtful:
            lines.insert(1, doubt(self.method))
        if np.isnan(self.p_value):
            lines[0] = f"{NOT_TOLD} ({self.n_samples} samples)"
        width = len("generator" if self.generators and self.generators[0].kind == "generator" else "field")
        for i, g in enumerate(self.generators):
            lines.append(f"  {g.kind:<{width}} {i}: {g.found}   {g.generator!r}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        facts = [("p-value", f"{self.p_value:.2g}"), ("outside the invariant functions", f"{100 * self.outside:.1f} %")]
        facts += [("explained by the functions compared", f"{100 * self.explained:.1f} %")]
        facts += [("explained by finer ones, not tested", f"{100 * self.untested:.1f} %")]
        facts += [("functions tested", self.n_tested)]
        facts += [("samples", self.n_samples), *([("doubtful", doubt(self.method))] if self.doubtful else [])]
        rows = [(repr(g.generator), g.found) for g in self.generators]
        return facts_html("SymmetryTest", facts) + table_html(("generator", "found"), rows)
