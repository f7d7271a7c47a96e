"""Which basis and which spectra a fit goes on with: bases in several orders compete on some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import some_rows
from specavg.estimators._number_of_functions import affordable_dim
from specavg.estimators._one_thread import one_thread
from specavg.estimators._ridge_data import RidgeData
from specavg.functions._few_rows import few_rows, rows_of_a_larger_table
from specavg.invariants import InvariantBasis
from specavg.regression import _measured_limits as _limits
from specavg.regression._feature_path import FEWER
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice import Shortlist, best_named, shortlist
from specavg.regression._tried_spectra import screened

# Makes a basis of at most so many functions; with None, of as many as are affordable.
MadeBasis = Callable[[int | None], InvariantBasis]


@final
@dataclass(frozen=True, eq=False)
class Searched:
    """The basis a fit goes on with.

    Attributes
    ----------
    basis : InvariantBasis
    features : ndarray of shape (n, dim - 1) or None
        The values of all functions but the constant, where they are held.
    spectra : list of Spectrum
        The most promising; none where all of them can be compared.
    small_alpha : float or None
        The best penalty on some of the rows, relative to the top, where it needs all digits: `Problem.small_alpha`.
    """

    basis: InvariantBasis
    features: Array | None
    spectra: list[Spectrum]
    small_alpha: float | None = None


def searched_basis(
    bases: list[MadeBasis],
    data: RidgeData,
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
    alpha: float | None,
) -> Searched:
    """The most promising basis and spectra, on some of the rows; of many rows, one spectrum.

    Parameters
    ----------
    bases : list of callable
    data : RidgeData
    candidates_of : callable
        The spectra to choose from.
    alpha : float or None
        The penalty; None where it is chosen.
    """
    found = _on_few_rows(bases, data, candidates_of, alpha)
    features = found.features
    if features is None or len(found.spectra) < 2 or data.count <= _limits.COMPARED_ROWS:
        return found
    rows = some_rows(data.count, _limits.COMPARED_ROWS)
    problem = data.at(rows).searched(features[rows])
    if problem.count < 2:  # all rows are on one orbit
        return found
    problem.expect(found.small_alpha)
    with one_thread(len(rows)):
        best = shortlist(problem, found.basis, found.spectra, alpha, 1)
    return Searched(found.basis, features, best.spectra, best.small_alpha)


def _on_few_rows(
    bases: list[MadeBasis],
    data: RidgeData,
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
    alpha: float | None,
) -> Searched:
    if len(bases) == 1:
        return _alone(_Racing(bases[0]), np.inf, data, candidates_of, alpha)
    everything = data.count <= _limits.SEARCH_ROWS
    # With all rows the spectra of a basis are compared by what they are beside functions that stand out. Of many rows
    # they are not, and a basis is judged by the spectrum that will be ahead.
    judged, behind = (_limits.SHORTLIST, _limits.BEHIND_NAMED) if everything else (1, _limits.BEHIND)
    rows = _searched_rows(data)
    sample = data.at(rows)
    racing = [_Racing(make) for make in bases]
    if sample.count >= FEWER * _limits.SCREEN_ROWS:
        few = sample.at(some_rows(sample.count, _limits.SCREEN_ROWS))
        small = competing_bases(bases, affordable_dim(few.count))
        racing = [_first_look(*pair, few, data, candidates_of(pair[1]), alpha, judged) for pair in small]
    leading = min((each.best for each in racing if each.first is not None), default=np.inf)
    racing = [each for each in racing if each.best <= leading + behind]
    firsts = sorted(score for each in racing for score in (each.first or {}).values())
    bound = firsts[: 2 * _limits.SCREENED][-1] if firsts else np.inf
    racing = [each for each in racing if each.best <= bound]
    if len(racing) == 1 and not everything:  # it is not judged: several spectra go on
        return _alone(racing[0], bound, data, candidates_of, alpha)
    looks = {each.make: each for each in racing}
    compared = [
        _Compared.of(looks[make], basis, bound, sample, data, candidates_of, alpha)
        for make, basis in competing_bases(list(looks), affordable_dim(sample.count))
    ]
    compared.sort(key=lambda each: each.found.score)
    best = compared[0] if everything else _best_on_more_rows(compared, data, alpha)
    chosen = best.found.spectra, best.found.small_alpha
    # A basis that was ended by the time it takes would end there again, however many functions are wanted.
    basis = best.basis if best.basis.cutoff.kind == "max_eigenvalue" else best.make(None)
    if basis is not best.basis or not data.held(basis):
        return Searched(basis, data.features(basis), *chosen)
    if everything:
        return Searched(basis, best.features, *chosen)
    features = np.empty((data.count, basis.dim - 1))
    features[rows] = best.features
    others = np.setdiff1d(np.arange(data.count), rows)
    features[others] = _evaluated(basis, data.points[others], data)
    return Searched(basis, features, *chosen)


def _best_on_more_rows(compared: list[_Compared], data: RidgeData, alpha: float | None) -> _Compared:
    """The basis that is ahead on as many rows as tell what its cutoff leaves out; `compared` has the best first.

    On few rows the functions that a cutoff leaves out hardly matter beside those that the rows do not tell. On many
    rows they are all that is wrong, and an order is as good as the functions that it has.
    """
    bound = compared[0].found.score + _limits.BEHIND_NAMED
    promising = [each for each in compared if each.found.score <= bound][: _limits.ORDERS]
    if len(promising) < 2 or data.count < _limits.MANY_ROWS_A_FUNCTION * compared[0].make(None).dim:
        return compared[0]

    def score(each: _Compared) -> float:
        basis = each.make(None)
        sample = data.at(some_rows(data.count, _limits.ROWS_PER_FUNCTION * basis.dim))
        with one_thread(sample.count):
            sums = Moments.of(basis, sample.points, sample.targets, sample.weights)
            return shortlist(MomentProblem(sums), basis, [each.found.best], alpha, 1).score

    return min(promising, key=score)


def _searched_rows(data: RidgeData) -> NDArray[np.intp]:
    everything = data.count <= _limits.SEARCH_ROWS
    return np.arange(data.count) if everything else some_rows(data.count, _limits.SEARCH_ROWS)


def _evaluated(basis: InvariantBasis, points: Array, data: RidgeData) -> Array:
    """The values of all functions but the constant at some of the points of `data`."""  # (n, dim - 1)
    many = not few_rows(data.count)  # whose loops are compiled in any case
    with rows_of_a_larger_table() if many else nullcontext():
        return basis.evaluate(points)[:, 1:]


@final
@dataclass(frozen=True, eq=False)
class _Racing:
    """A basis that competes with others, and what a first look at few rows says of it.

    Attributes
    ----------
    make : callable
    candidates : list of Spectrum
        All spectra; none without such a look.
    first : dict of Spectrum to float, or None
        The best of the candidates on few rows, and their scores; None without such a look.
    best : float
        The best score on few rows, functions that stand out being named; without such a look a basis goes on in any
        case.
    """

    make: MadeBasis
    candidates: list[Spectrum] = field(default_factory=list)
    first: dict[Spectrum, float] | None = None
    best: float = -np.inf

    def start(self, bound: float) -> list[Spectrum] | None:
        """The spectra to compare on more rows, those with scores up to `bound`; None where it is not known."""
        if self.first is None:
            return None
        start = [spectrum for spectrum, score in self.first.items() if score <= bound]
        return start or [next(iter(self.first))]  # which is promising by the functions that are named beside it


def _first_look(
    make: MadeBasis,
    basis: InvariantBasis,
    few: RidgeData,
    data: RidgeData,
    candidates: list[Spectrum],
    alpha: float | None,
    judged: int,
) -> _Racing:
    """What `few` rows of all `data` say of a basis; its `judged` best spectra are compared once more."""
    if basis.cutoff.kind == "max_eigenvalue":  # the time ended it, and would again where more functions are wanted
        make = partial(_same, basis)
    features = _evaluated(basis, few.points, data)[:, : _limits.FUNCTIONS_PER_POINT * _limits.SCREEN_ROWS]
    problem = few.searched(features, half_digits=not data.held(basis))
    if basis.dim == 1 or problem.count == 1:
        return _Racing(make)
    with one_thread(problem.count):
        first = screened(problem, basis, candidates, alpha)
        _, score = best_named(problem, basis, list(first)[:judged], alpha)
    return _Racing(make, candidates, first, score)


def _same(basis: InvariantBasis, most: int | None) -> InvariantBasis:
    return basis


def _alone(
    racing: _Racing,
    bound: float,
    data: RidgeData,
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
    alpha: float | None,
) -> Searched:
    """The basis that no other competes with, and its most promising spectra where there are more rows than some."""
    basis = racing.make(None)
    features, candidates = data.features(basis), racing.candidates or candidates_of(basis)
    if basis.dim == 1 or data.count <= _limits.SEARCH_ROWS or len(candidates) <= _limits.SHORTLIST:
        return Searched(basis, features, [])
    rows = _searched_rows(data)
    sample = data.at(rows)
    some = _evaluated(basis, sample.points, data) if features is None else features[rows]
    problem = sample.searched(some, half_digits=features is None)
    if problem.count == 1:  # all rows are on one orbit: nothing can be left out
        return Searched(basis, features, candidates)
    with one_thread(problem.count):
        found = shortlist(problem, basis, candidates, alpha, _limits.SHORTLIST, racing.start(bound))
    return Searched(basis, features, found.spectra, found.small_alpha)


@final
@dataclass(frozen=True, eq=False)
class _Compared:
    """A basis that was compared with others on `SEARCH_ROWS` rows.

    Attributes
    ----------
    make : callable
    basis : InvariantBasis
    features : ndarray of shape (n, dim - 1)
        Their values at these rows.
    found : Shortlist
        The best spectra. With all rows the best is known, functions that stand out being named beside each; with some
        of many rows several go on. The score is that of the best, such functions being named.
    """

    make: MadeBasis
    basis: InvariantBasis
    features: Array
    found: Shortlist

    @classmethod
    def of(
        cls,
        racing: _Racing,
        basis: InvariantBasis,
        bound: float,
        sample: RidgeData,
        data: RidgeData,
        candidates_of: Callable[[InvariantBasis], list[Spectrum]],
        alpha: float | None,
    ) -> _Compared:
        """The spectra with scores up to `bound` on few rows and their neighbours, on a `sample` of `data`."""
        features, candidates = _evaluated(basis, sample.points, data), racing.candidates or candidates_of(basis)
        problem = sample.searched(features, half_digits=not data.held(basis))
        if basis.dim == 1 or problem.count == 1:  # all rows are on one orbit: nothing can be left out
            return cls(racing.make, basis, features, Shortlist(candidates, np.inf, False, candidates[0], None))
        with one_thread(problem.count):
            found = shortlist(problem, basis, candidates, alpha, _limits.SHORTLIST, racing.start(bound))
            all_rows = sample.count == data.count
            best, score = best_named(problem, basis, found.spectra if all_rows else [found.best], alpha)
        found = found._replace(spectra=[best] if all_rows else found.spectra, score=score)
        return cls(racing.make, basis, features, found)


def competing_bases(bases: list[MadeBasis], most: int | None) -> Iterator[tuple[MadeBasis, InvariantBasis]]:
    """The bases, with `most` functions; what cannot be had does not compete with the first."""
    yield bases[0], bases[0](most)
    for make in bases[1:]:
        with suppress(MemoryError):
            basis = make(most)
            if basis.dim > 1:
                yield make, basis
