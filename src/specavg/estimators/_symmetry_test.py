"""Is the symmetry in the data? How much of what can be explained lies outside the invariant functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._html import facts_html, table_html
from specavg._random import some_rows
from specavg._reporting import reported
from specavg.data._checked_samples import checked_chunks, checked_samples, require_no_weights, without_copies
from specavg.data._questioned_columns import question_wrapping
from specavg.estimators._alike_points import means_over_places, places_of_points, sketch
from specavg.estimators._finer_detail import (
    MOST_ROWS,
    WORTH_SAYING,
    Compared,
    compared_eigenspaces,
    first_eigenspaces,
    order_compared,
    some_samples,
    untested_detail,
    whole_eigenspaces,
)
from specavg.estimators._one_thread import one_thread
from specavg.groups import Group
from specavg.invariants import InvariantBasis, fixed_space, invariant_basis
from specavg.isometries import Isometry
from specavg.isometries.fields import Field
from specavg.regression._nested_models import Models, permutation_p_values
from specavg.spaces import Eigenspace, Space

_PIECE = 5_000  # rows whose functions are held at a time: 2,000 functions of them take 80 MB
_MAX_FUNCTIONS = 300  # all functions looked at by default
_MAX_INVARIANT = 300  # invariant functions fitted in both models, at most, and at most a quarter of the samples
_LEVEL = 0.05  # how often `seen` is true of pure noise
_FURTHEST = 5000.0  # functions, all counted, among which invariant ones are looked for
_FEWEST = 5  # samples for each function that a default looks at
_UNKNOWN_ROWS = "a list of chunks: an iterator does not tell how many rows will come, and many were expected"
_SURE = 0.001  # p-value of what functions explain beside those compared, below which it is no chance
_NOT_TOLD = "The points cannot tell whether the symmetry holds: at them, invariant functions can be any function."

UNSEEN = (
    "The functions that so many samples can bear explain no more of y than chance does: nothing can be said about the "
    "symmetry. Compare the loo_error_ of InvariantKernelRidge with the group and without it."
)


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
        tell: too few of them differ to tell other functions from invariant ones.
    generators : tuple of GeneratorTest
        The same for each generator alone, and then for each field: which symmetry fails.
    seen : bool
        Whether the functions explain more of y than chance does, at the level 0.05. If not, a large p-value means
        nothing: y is noise, or has detail too fine for so many samples.
    method : str
        "robust" (noise may be of any size in any place), "F" (of the same size everywhere) or "permutation".
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
        if np.isnan(self.p_value):
            lines[0] = f"{_NOT_TOLD} ({self.n_samples} samples)"
        width = len("generator" if self.generators and self.generators[0].kind == "generator" else "field")
        for i, g in enumerate(self.generators):
            share = f"{100 * g.outside:5.1f} % outside, p = {g.p_value:.2g}"
            lines.append(f"  {g.kind:<{width}} {i}: {share}   {g.generator!r}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        facts = [("p-value", f"{self.p_value:.2g}"), ("outside the invariant functions", f"{100 * self.outside:.1f} %")]
        facts += [("explained by the functions compared", f"{100 * self.explained:.1f} %")]
        facts += [("explained by finer ones, not tested", f"{100 * self.untested:.1f} %")]
        facts += [("functions tested", self.n_tested)]
        rows = [(repr(g.generator), f"{100 * g.outside:.1f} %", f"{g.p_value:.2g}") for g in self.generators]
        return facts_html("SymmetryTest", [*facts, ("samples", self.n_samples)]) + table_html(
            ("generator", "outside", "p-value"), rows
        )


def symmetry_test(
    X: ArrayLike | Iterable[tuple[ArrayLike, ...]],
    y: ArrayLike | None,
    space: Space,
    group: Group,
    *,
    max_dim: float | None = None,
    n_permutations: int = 0,
    random_state: Any = None,
    sample_weight: ArrayLike | None = None,
) -> SymmetryTest:
    """Test whether y, as a function of X, has the symmetry of `group`, and each generator and field alone.

    Two nested linear models are compared: the invariant functions only, and all functions of the first eigenspaces,
    and of finer ones in which the data have more than chance gives. The null hypothesis is that y = f(x) + noise with
    f invariant and the noise independent from row to row, of mean zero and any size. Invariant functions of other
    eigenspaces are fitted in both models, so that they are not mistaken for noise: a quarter as many as there are
    samples, up to 300, if there are so many among the first 5000 functions.

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n, *space.shape), or iterable of (X, y) chunks
        With chunks, (X, y) or (X, y, sample_weight), `y` is None, and the data never have to fit in memory. Chunks are
        read twice; an iterator, which can be read once only, gives the p-values of the F test, for noise of the same
        size everywhere.
    y : array-like of shape (n,), or None
    space : Space
    group : Group
    max_dim : float, optional
        How many functions to look at, all counted: the first ones. Default: at most n/5 and 300, among them those of
        finer eigenspaces that stand out. More functions see finer detail, with less power against coarse one.
    n_permutations : int, default 0
        If positive, p-values come from that many permutations of the residuals (Freedman and Lane): for small samples
        with noise far from normal, but of the same size everywhere. Not with chunks.
    random_state : int, Generator, RandomState or None
        For the permutations.
    sample_weight : array-like of shape (n,), optional
        Relative precisions 1/σ²: precise rows count for more, so that smaller violations are seen. p-values hold for
        noise of any size whether or not the weights are right ("F" and permutations: if they are right). Rows of
        weight zero count for nothing. Weights should not depend on where in its orbit a point lies: see the notes.

    Returns
    -------
    SymmetryTest

    Notes
    -----
    A generator is tested against functions that are invariant under *it*, not under the whole group, so one
    broken generator does not condemn the others; a field, against those invariant under its flow.

    The p-value takes the residuals r of the invariant model as they are: a large residual is expected to be as large
    wherever in its orbit the point lies, and only the sign of what it says about a non-invariant function ψ is left to
    chance. So Σ rψ has no mean, and its variance is measured row by row, with what the fit has taken from the
    residuals given back; where that can be done in two ways, the more cautious one is taken.

    The residuals of the first eigenspaces are looked at for finer ones, among the first 2000 functions and at 5000
    points at most. An eigenspace of more functions than the samples bear is looked at type by type (waves of one
    coordinate, products of four), and types of too many functions are passed over. One that holds more than chance
    gives in one search of 10⁴ is tested too, whole, in the place of the finest that do not matter. What stands out and
    does not fit, or is beyond `max_dim`, is `untested`, and so is what only further invariant functions explain. Detail
    that is spread over many eigenspaces, a little in each, is not seen; nor is finer detail looked for in an iterator
    of chunks.

    What cannot be guaranteed: no test can tell every invariant function plus noise from a function that is not
    invariant, since points in general position lie on different orbits. If the *points* are spread over each orbit
    evenly, as uniform ones are, p-values hold whatever the invariant function is. If they are not, ψ is
    partly predictable from the orbit, and what the fitted invariant functions miss of *both* f and ψ speaks against a
    true symmetry. Up to three dimensions that was too little to be seen; in ten dimensions, where few functions of
    each coordinate can be fitted, it was not: the true symmetry of a kinked function was rejected every time without
    noise, and in a third of the samples with it. Then believe only a test on points that are spread evenly. Noise
    that is correlated between rows is not covered either, nor are copies of a point in chunks. Those of an array are
    one sample, with the mean of their targets; so are points nearer to one another than the functions looked at can
    tell, up to a thousandth of the space: what the model misses there it misses for all of them. Repetitions a
    hundredth of the space apart may still speak against a true symmetry where there is no noise.
    `benchmarks/symmetry_test_power.csv` has measured rates.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, group = sa.Torus(3), sa.groups.sign_flips(3)
    >>> X = space.sample(2000, random_state=0)
    >>> noise = np.random.default_rng(0).normal(size=2000)
    >>> y = np.cos(np.pi * X[:, 0]) + 0.3 * np.sin(np.pi * X[:, 2]) + 0.2 * noise
    >>> sa.symmetry_test(X, y, space, group).failing()
    (2,)
    """
    whole = isinstance(n_permutations, int | np.integer)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not whole or n_permutations < 0:
        raise ValueError(f"n_permutations must be a whole number, 0 for none; got {n_permutations!r}")
    chunks, rows, again = _as_chunks(space, X, y, sample_weight, n_permutations)
    points = None if y is None else chunks[0][0]  # as they were given
    with one_thread(math.inf if rows is None else rows):
        eigenspaces, place = _first_eigenspaces(space, rows, max_dim), None
        if y is not None:
            eigenspaces, rows, place = _places(space, eigenspaces, chunks[0], max_dim)
        found = _with_finer_detail(space, eigenspaces, rows, max_dim, chunks, place) if again else Compared(eigenspaces)
        columns = _Columns.of(space, group, rows, found.eigenspaces)
        evaluate, pieces = columns.evaluate, columns.pieces
        if place is not None:  # rows of the functions, in place of points
            evaluate, pieces, chunks = np.asarray, iter, [_at_places(space, place, columns.evaluate, *chunks[0])]
        models = Models(evaluate, columns.pieces(chunks, ask=True) if y is None else pieces(chunks))
        which = f"{len(columns.beyond)} of them invariant ones beyond max_dim"
        _require_rows(models.count, columns.size, which, _UNKNOWN_ROWS if rows is None else "a smaller max_dim")
        parts_of_group = [*(Group([g]) for g in group.generators), *(Group(fields=[f]) for f in group.fields)]
        alone = len(parts_of_group) == 1  # then the group is its one part
        spans = [columns.span(group), *(() if alone else map(columns.span, parts_of_group))]
        whole, *parts = models.compare(spans, pieces(chunks) if again else None)
        explained, beside = columns.explained(models)
        untested = min(max(found.untested, beside), 1 - explained)
        p_values = [whole.p_value, *(part.p_value for part in parts)]
        # No test is no proof: only a group that moves no function at all holds without one.
        told = [part.tested > 0 or S.shape[1] == columns.size for part, S in zip((whole, *parts), spans, strict=True)]
        if not told[0]:
            warnings.warn(
                f"{_NOT_TOLD} Of {models.count} samples too few differ: give more points, or a smaller max_dim",
                stacklevel=2,
            )
        if n_permutations:
            rng = np.random.default_rng(random_state)
            p_values = permutation_p_values(*models.rows(*chunks[0]), spans, n_permutations, rng)
        if alone:
            spans, parts, p_values, told = 2 * spans, [whole], 2 * p_values[:1], 2 * told
    seen = whole.p_value < _LEVEL or models.chance_of_as_much() < _LEVEL
    if not seen and points is not None:
        question_wrapping(space, points, None)
    p_values = [p if known else math.nan for p, known in zip(p_values, told, strict=True)]
    shares = [part.outside if known else math.nan for part, known in zip((whole, *parts), told, strict=True)]
    return SymmetryTest(
        outside=shares[0],
        explained=explained,
        statistic=whole.statistic,
        n_tested=whole.tested,
        n_invariant=spans[0].shape[1],
        n_samples=models.count,
        p_value=p_values[0],
        generators=tuple(
            GeneratorTest(g, share, part.statistic, part.tested, p)
            for g, part, share, p in zip(
                (*group.generators, *group.fields), parts, shares[1:], p_values[1:], strict=True
            )
        ),
        seen=seen,
        method="permutation" if n_permutations else "robust" if again else "F",
        untested=untested,
        n_samples_needed=found.samples_needed(_FEWEST, _MAX_FUNCTIONS),
    )


def _places(
    space: Space, eigenspaces: tuple[Eigenspace, ...], data: tuple[Array, ...], max_dim: float | None
) -> tuple[tuple[Eigenspace, ...], int, NDArray[np.intp] | None]:
    """The first eigenspaces that as many samples bear as there are places, that number, and the place of each point.

    Points of one place are those that the functions cannot tell apart. What the model misses there it misses for all
    of them. None where the points have a place each, or almost.
    """
    X, y, *given = data
    weights, count = given[0] if given else np.ones(len(y)), len(y)
    place: NDArray[np.intp] | None = None
    while True:
        functions = space.functions(whole_eigenspaces(space, sum(V.dim for V in eigenspaces)))
        found = np.concatenate([sketch(functions.evaluate(part)) for part in _in_pieces(X)])
        if place is not None:
            found = means_over_places(place, weights, [found])
        more = places_of_points(found, 1 + functions.dim, _FEWEST, space.dim)
        if more is None:
            return eigenspaces, count, place
        place = more if place is None else more[place]
        if not _enough(space, int(place.max()) + 1):
            return eigenspaces, count, place
        count = int(place.max()) + 1
        eigenspaces = _first_eigenspaces(space, count, max_dim)


def _at_places(
    space: Space, place: NDArray[np.intp], evaluate: Callable[[Array], Array], X: Array, y: Array, *given: Array
) -> tuple[Array, ...]:
    """Means of the values of functions and of y at each place, and the sums of weights.

    With few places the samples stay as many as they are, with the means of the values: they may tell a little, as
    copies may.
    """
    weights = given[0] if given else np.ones(len(y))
    rows = means_over_places(place, weights, (evaluate(part) for part in _in_pieces(X)))
    if not _enough(space, len(rows)):
        return rows[place], y, *given
    return (
        rows,
        means_over_places(place, weights, [y[:, None]])[:, 0],
        np.asarray(np.bincount(place, weights), dtype=np.float64),
    )


def _with_finer_detail(
    space: Space,
    eigenspaces: tuple[Eigenspace, ...],
    rows: int | None,
    max_dim: float | None,
    chunks: Any,
    place: NDArray[np.intp] | None,
) -> Compared:
    """The first eigenspaces and finer ones that stand out, or the first ones alone if that many were asked for."""
    most, only_first = _bound(rows, max_dim), max_dim is not None
    if place is None:
        X, y, weights = some_samples(checked_chunks(space, chunks))
        return compared_eigenspaces(space, most, lambda functions: functions(X), y, weights, only_first=only_first)
    count = int(place.max()) + 1
    if not _enough(space, count):
        return Compared(eigenspaces)
    some = some_rows(count, MOST_ROWS)
    there = np.isin(place, some)
    place, data = np.searchsorted(some, place[there]), tuple(part[there] for part in chunks[0])
    _, y, weights = _at_places(space, place, lambda X: X[:, :1], *data)
    return compared_eigenspaces(
        space,
        most,
        lambda functions: _at_places(space, place, functions, *data)[0],
        y,
        weights,
        only_first=only_first,
    )


def _in_pieces(X: Array) -> list[Array]:
    return [X[start : start + _PIECE] for start in range(0, len(X), _PIECE)]


def _require_rows(rows: int, functions: int, which: str, remedy: str = "a smaller max_dim") -> None:
    if rows <= 2 * functions:
        raise ValueError(
            f"{rows} samples are too few for {functions} functions, {which}: give at least {2 * functions + 1} (copies "
            f"of a point count once), or {remedy}"
        )


def _require_affordable(space: Space, bound: float, rows: int | None) -> None:
    """Refuse more functions than the rows can bear, or the memory, before any of them is made."""
    count = 0
    for V in space.eigenspaces():
        if count + V.dim > bound:
            return
        count += V.dim
        if rows is not None:
            _require_rows(rows, count, f"the first eigenspaces of those that max_dim={bound:g} asks for")
        require_memory(32.0 * count**2, f"a test of {count} functions", "Give a smaller max_dim.")


def _known(rows: int | None) -> int:
    """How many rows there are; as if there were enough where that is not known."""
    return _FEWEST * _MAX_FUNCTIONS if rows is None else rows


def _bound(rows: int | None, max_dim: float | None) -> float:
    """How many functions are looked at by default or as asked for, the constant left out."""
    return (min(_MAX_FUNCTIONS, _known(rows) / _FEWEST) if max_dim is None else max_dim) - 1


def _first_eigenspaces(space: Space, rows: int | None, max_dim: float | None) -> tuple[Eigenspace, ...]:
    """The first eigenspaces after the constant that so many rows bear by default, or as many as are asked for."""
    if max_dim is not None:
        _require_affordable(space, max_dim, rows)
    found = first_eigenspaces(space, _bound(rows, max_dim))
    if not found:
        fewest = 1 + _first(space).dim
        given = f"max_dim={max_dim:g} functions" if max_dim is not None else f"{_known(rows)} samples"
        enough = f"{_FEWEST * fewest} samples, or max_dim={fewest}" if max_dim is None else f"max_dim={fewest}"
        raise ValueError(
            f"{given} are too few to test anything on {space!r}: the first eigenspace after the constant has "
            f"{fewest - 1} functions. Give at least {enough}"
        )
    return found


def _enough(space: Space, rows: int) -> bool:
    """Whether there are rows for the first eigenspace after the constant."""
    return rows >= _FEWEST * (1 + _first(space).dim)


def _first(space: Space) -> Eigenspace:
    """The first eigenspace after the constant."""
    return next(V for V in space.eigenspaces() if V.eigenvalue > 0)


def _as_chunks(space: Space, X: Any, y: Any, weights: Any, n_permutations: int) -> tuple[Any, int | None, bool]:
    """Chunks, how many rows there are (None if not known), and whether the chunks can be read twice."""
    if y is not None:
        checked = checked_samples(space, X, y, weights)
        distinct = without_copies(*checked)
        if _enough(space, len(distinct[1])):  # else the points may tell a little as they are
            checked = distinct
        return [checked], len(checked[1]), True
    require_no_weights(weights)
    if n_permutations:
        raise ValueError("permutations need all data at once: give X and y, or n_permutations=0")
    if isinstance(X, Sequence):
        return X, sum(len(chunk[1]) for chunk in checked_chunks(space, X)), True
    return X, getattr(X, "rows", None), iter(X) is not X  # readers of files know how many


@final
@dataclass(frozen=True, eq=False)
class _Columns:
    """The constant, all functions of some eigenspaces, and invariant ones of others."""

    space: Space
    eigenspaces: tuple[Eigenspace, ...]
    further: InvariantBasis | None
    beyond: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, group: Group, rows: int | None, eigenspaces: tuple[Eigenspace, ...]) -> _Columns:
        """With as many further invariant functions as the rows bear."""
        try:
            most, order = max(_FURTHEST, 1 + sum(V.dim for V in eigenspaces)), order_compared(space)
            further = invariant_basis(space, group, max_dim=most, order=order)
        except MemoryError:
            return cls(space, eigenspaces, None, np.empty(0, dtype=np.intp))
        tested = {*islice(space.ordered(order), 1), *eigenspaces}
        other = [V not in tested for V, _ in zip(space.ordered(order), further.table, strict=False)]
        beyond = np.flatnonzero(np.repeat(other, [row.invariant_dim for row in further.table]))
        levels = further.eigenvalues[beyond]
        room = min(_MAX_INVARIANT, int(_known(rows) / 4)) - (further.dim - len(beyond))
        if max(room, 0) < len(beyond):  # whole eigenspaces only: no generator is to be favoured
            beyond = beyond[levels < levels[max(room, 0)] * (1 - 1e-9)]
        if not len(beyond):
            return cls(space, eigenspaces, None, beyond)
        # Functions that are not fitted are not evaluated: 2,500 under the inversion, of which 300 are.
        last = int(np.searchsorted(np.cumsum([row.invariant_dim for row in further.table]), beyond[-1], side="right"))
        reach = sum(row.dim for row in further.table[: last + 1])
        further = invariant_basis(space, group, max_dim=reach, order=order)
        return cls(space, eigenspaces, further, beyond)

    @property
    def size(self) -> int:
        return 1 + sum(V.dim for V in self.eigenspaces) + len(self.beyond)

    def evaluate(self, X: Array) -> Array:
        values = [np.ones((len(X), 1)), self.space.functions(self.eigenspaces).evaluate(X)]
        return np.hstack(values if self.further is None else [*values, self.further.evaluate(X)[:, self.beyond]])

    def explained(self, models: Models) -> tuple[float, float]:
        """Shares of the variance of y that the functions compared explain, and that only others do; 0 if by chance."""
        compared = np.eye(self.size)[:, : 1 + sum(V.dim for V in self.eigenspaces)]
        (beside,) = models.compare([compared], None)
        alone = models.explained(compared)
        return alone, max(models.explained() - alone, 0.0) if beside.p_value < _SURE else 0.0

    def pieces(self, chunks: Any, *, ask: bool = False) -> Iterator[tuple[Array, ...]]:
        """Checked points, targets and weights in pieces of bounded working memory."""
        every = (
            tuple(part[start : start + _PIECE] for part in checked)
            for checked in checked_chunks(self.space, chunks, ask=ask)
            for start in range(0, len(checked[0]), _PIECE)
        )
        return reported(every, "symmetry test", f"pieces of {_PIECE:,} rows")

    def span(self, group: Group) -> Array:
        """The columns that are invariant under `group`, as combinations of all."""  # (size, k)
        from scipy.linalg import block_diag

        return np.asarray(block_diag(1.0, _fixed(self.space, self.eigenspaces, group), np.eye(len(self.beyond))))


@lru_cache(maxsize=64)
def _fixed(space: Space, eigenspaces: tuple[Eigenspace, ...], group: Group) -> Array:
    """The functions of eigenspaces that are invariant under `group`, as combinations of all."""  # (dim, k)
    from scipy.linalg import block_diag

    blocks = []
    for V in eigenspaces:
        matrices = [space.representation(g, V) for g in group.generators]
        matrices += [space.infinitesimal(field, V) for field in group.fields]
        blocks.append(fixed_space(matrices, V.dim).basis)
    return np.asarray(block_diag(*blocks), dtype=np.float64)
