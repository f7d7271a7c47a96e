"""Is the symmetry in the data? How much of what can be explained lies outside the invariant functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._random import some_rows
from specavg.data._checked_samples import checked_chunks, checked_samples, require_no_weights, without_copies
from specavg.data._dask_collections import DaskStream
from specavg.data._questioned_columns import question_wrapping
from specavg.data._streaming import column_names, is_dask
from specavg.estimators._affordable_eigenspaces import (
    FEWEST,
    MAX_FUNCTIONS,
    OR_SMALLER,
    affordable_eigenspaces,
    enough_rows,
    most_functions,
    require_rows,
)
from specavg.estimators._alike_points import means_over_places, places_of_points, sketch
from specavg.estimators._finer_detail import (
    MOST_ROWS,
    Compared,
    compared_eigenspaces,
    some_samples,
    whole_eigenspaces,
)
from specavg.estimators._finer_functions import FinerFunctions
from specavg.estimators._nested_columns import PIECE, Columns
from specavg.estimators._one_thread import one_thread
from specavg.estimators._symmetry_test_result import NOT_TOLD, GeneratorTest, SymmetryTest, doubt
from specavg.groups import Group
from specavg.regression._nested_models import Models, beside, permutation_p_values
from specavg.spaces import Eigenspace, Space

_LEVEL = 0.05  # how often `seen` is true of pure noise
# What samples with neighbouring orbits have in common of functions that are not invariant, from which on the orbit
# tells these functions, and what the invariant functions fitted miss of y speaks against a true symmetry. Uniform
# points have 0. Crowded ones on T³ and S², where false alarms were no more than 5 %, have up to 0.4 for the group and
# about 0.5 for one generator (more than 0.62 in 3 samples of 40); orientations around three components of a texture,
# with 38 % and more, have 0.64 and more.
_ONE_COPY = 0.62
_UNKNOWN_ROWS = ", or a list of chunks: an iterator does not tell how many rows will come, and many were expected"


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
    samples, up to 300, if there are so many among the first 5000 functions, and fewer where `max_dim` leaves less room.

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n, *space.shape), Dask collection, or iterable of (X, y) chunks
        With chunks, (X, y) or (X, y, sample_weight), `y` is None, and the data never have to fit in memory. Chunks are
        read twice; an iterator, which can be read once only, gives the p-values of the F test, for noise of the same
        size everywhere.
    y : array-like of shape (n,), Dask collection, or None
    space : Space
    group : Group
    max_dim : float, optional
        How many functions to look at, all counted: the first ones. Default: at most n/5 and 300, among them those of
        finer eigenspaces that stand out. More functions see finer detail, with less power against coarse one.
    n_permutations : int, default 0
        If positive, p-values come from that many permutations of the residuals (Freedman and Lane): for small samples
        with noise far from normal, but of the same size everywhere. Not with chunks and Dask collections.
    random_state : int, Generator, RandomState or None
        For the permutations.
    sample_weight : array-like of shape (n,) or Dask collection, optional
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
    noise, and in a third of the samples with it. Columns of unlike distributions show it in four dimensions too, the
    more often the more samples there are. So where functions tested have means that evenly spread points do not give,
    and further invariant functions explain a part of y, a rejection has to be confirmed: y is taken for a normal
    process of functions with the symmetry, those among the first 5000, at 600 samples at most. The larger p-value is
    given, with a warning where it rejects no more (`doubtful`); with an iterator of chunks there is the warning only.
    Points on one copy of each orbit, as orientations around few components of a texture are, get no verdict, with a
    warning: the p-value is NaN where points with almost the same orbit have the functions tested in common by 62 % or
    more. This is measured at up to 1000 points of 5000 that are read together, and not in an iterator of chunks. Noise
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
    if is_dask(X):
        X, y, sample_weight = DaskStream(X, y, sample_weight, targets=True), None, None
    names = column_names(X)
    chunks, rows, again = _as_chunks(space, X, y, sample_weight, n_permutations)
    points = None if y is None else chunks[0][0]  # as they were given
    given, method = chunks, "permutation" if n_permutations else "robust" if again else "F"
    with one_thread(math.inf if rows is None else rows):
        eigenspaces, place = affordable_eigenspaces(space, rows, max_dim), None
        if y is not None:
            eigenspaces, rows, place = _places(space, eigenspaces, chunks[0], max_dim)
        found = _with_finer_detail(space, eigenspaces, rows, max_dim, chunks, place) if again else Compared(eigenspaces)
        columns = Columns.of(space, group, rows, found.eigenspaces)
        evaluate, pieces = columns.evaluate, columns.pieces
        if place is not None:  # rows of the functions, in place of points
            evaluate, pieces, chunks = np.asarray, iter, [_at_places(space, place, columns.evaluate, *chunks[0])]
        models = Models(evaluate, columns.pieces(chunks, ask=True) if y is None else pieces(chunks))
        which = f"{len(columns.beyond)} of them invariant ones beyond max_dim"
        require_rows(models.count, columns.size, which, _UNKNOWN_ROWS if rows is None else OR_SMALLER)
        parts_of_group = [*(Group([g]) for g in group.generators), *(Group(fields=[f]) for f in group.fields)]
        alone = len(parts_of_group) == 1  # then the group is its one part
        spans = [columns.span(group), *(() if alone else map(columns.span, parts_of_group))]
        whole, *parts = models.compare(spans, pieces(chunks) if again else None)
        explained, by_further = columns.explained(models)
        untested = min(max(found.untested, by_further), 1 - explained)
        p_values = [whole.p_value, *(part.p_value for part in parts)]
        # No test is no proof: only a group that moves no function at all holds without one.
        told = [
            (part.tested > 0 and part.same_copy < _ONE_COPY) or S.shape[1] == columns.size
            for part, S in zip((whole, *parts), spans, strict=True)
        ]
        if not told[0]:
            why = f"Of {models.count} samples too few differ: give more points, or a smaller max_dim"
            if whole.tested > 0:
                why = (
                    f"They are crowded on one copy of each orbit: samples with almost the same orbit have the other "
                    f"functions in common by {100 * whole.same_copy:.0f} %, and {100 * _ONE_COPY:.0f} % are too much. "
                    "Measure at points on other copies too"
                )
            warnings.warn(f"{NOT_TOLD} {why}", stacklevel=2)
        if n_permutations:
            rng = np.random.default_rng(random_state)
            p_values = permutation_p_values(*models.rows(*chunks[0]), spans, n_permutations, rng)
        doubtful = told[0] and p_values[0] < _LEVEL and not models.are_even(spans[0])
        doubtful = doubtful and columns.chance_of_further(models) < _LEVEL
        if doubtful and again:
            tested = [group] if alone else [group, *parts_of_group]
            p_values = np.fmax(p_values, _by_finer_functions(columns, tested, spans, given)).tolist()
            doubtful = not p_values[0] < _LEVEL
        if doubtful:
            warnings.warn(doubt(method), stacklevel=2)
        if alone:
            spans, parts, p_values, told = 2 * spans, [whole], 2 * p_values[:1], 2 * told
    seen = whole.p_value < _LEVEL or models.chance_of_as_much() < _LEVEL
    if not seen and points is not None:
        question_wrapping(space, points, None, names)
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
        method=method,
        untested=untested,
        doubtful=doubtful,
        n_samples_needed=found.samples_needed(FEWEST, MAX_FUNCTIONS),
    )


def _by_finer_functions(columns: Columns, groups: list[Group], spans: list[Array], chunks: Any) -> list[float]:
    """The p-values of a group and its parts, if y is a process of finer functions with their symmetry.

    What does not refute the group does not refute its parts. NaN where the functions need too much memory.
    """
    finer = FinerFunctions(columns.space, *some_samples(checked_chunks(columns.space, chunks)))
    values, found = columns.evaluate(finer.points), list[float]()
    for G, span in zip(groups, spans, strict=True):
        try:
            found.append(finer.p_value(G, values @ beside(span)))
        except MemoryError:
            found.append(math.nan)
    return np.fmax(found, found[0]).tolist()


def _as_chunks(space: Space, X: Any, y: Any, weights: Any, n_permutations: int) -> tuple[Any, int | None, bool]:
    """Chunks, how many rows there are (None if not known), and whether the chunks can be read twice."""
    if y is not None:
        checked = checked_samples(space, X, y, weights)
        distinct = without_copies(*checked)
        if enough_rows(space, len(distinct[1])):  # else the points may tell a little as they are
            checked = distinct
        return [checked], len(checked[1]), True
    require_no_weights(weights)
    if n_permutations:
        raise ValueError("permutations need all data at once: give X and y as arrays in memory, or n_permutations=0")
    if isinstance(X, Sequence):
        return X, sum(len(chunk[1]) for chunk in checked_chunks(space, X)), True
    return X, getattr(X, "rows", None), iter(X) is not X  # readers of files know how many


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
        more = places_of_points(found, 1 + functions.dim, FEWEST, space.dim)
        if more is None:
            return eigenspaces, count, place
        place = more if place is None else more[place]
        if not enough_rows(space, int(place.max()) + 1):
            return eigenspaces, count, place
        count = int(place.max()) + 1
        eigenspaces = affordable_eigenspaces(space, count, max_dim)


def _at_places(
    space: Space, place: NDArray[np.intp], evaluate: Callable[[Array], Array], X: Array, y: Array, *given: Array
) -> tuple[Array, ...]:
    """Means of the values of functions and of y at each place, and the sums of weights.

    With few places the samples stay as many as they are, with the means of the values: they may tell a little, as
    copies may.
    """
    weights = given[0] if given else np.ones(len(y))
    rows = means_over_places(place, weights, (evaluate(part) for part in _in_pieces(X)))
    if not enough_rows(space, len(rows)):
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
    most, only_first = most_functions(rows, max_dim), max_dim is not None
    if place is None:
        X, y, weights = some_samples(checked_chunks(space, chunks))
        return compared_eigenspaces(space, most, lambda functions: functions(X), y, weights, only_first=only_first)
    count = int(place.max()) + 1
    if not enough_rows(space, count):
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
    return [X[start : start + PIECE] for start in range(0, len(X), PIECE)]
