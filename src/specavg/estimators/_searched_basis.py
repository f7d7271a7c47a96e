"""Which basis and which spectra a fit goes on with: bases in several orders compete on some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from specavg._arrays import Array
from specavg._random import some_rows
from specavg.estimators._number_of_functions import affordable_dim
from specavg.estimators._one_thread import one_thread
from specavg.estimators._ridge_data import RidgeData
from specavg.functions._few_rows import few_rows, rows_of_a_larger_table
from specavg.invariants import InvariantBasis
from specavg.regression import _measured_limits as _limits
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice import best_named, screened, shortlist

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
    """

    basis: InvariantBasis
    features: Array | None
    spectra: list[Spectrum]


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
    with one_thread(len(rows)):
        spectra = shortlist(problem, found.basis, found.spectra, alpha, 1).spectra
    return Searched(found.basis, features, spectra)


def _on_few_rows(
    bases: list[MadeBasis],
    data: RidgeData,
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
    alpha: float | None,
) -> Searched:
    everything = data.count <= _limits.SEARCH_ROWS
    rows = np.arange(data.count) if everything else some_rows(data.count, _limits.SEARCH_ROWS)
    sample = data.at(rows)
    if len(bases) == 1:
        basis = bases[0](None)
        features = data.features(basis)
        if basis.dim == 1 or everything or len(candidates := candidates_of(basis)) <= _limits.SHORTLIST:
            return Searched(basis, features, [])
        some = basis.evaluate(sample.points)[:, 1:] if features is None else features[rows]
        problem = sample.searched(some, half_digits=not data.held(basis))
        if problem.count > 1:  # else all rows are on one orbit: nothing can be left out
            with one_thread(problem.count):
                candidates = shortlist(problem, basis, candidates, alpha, _limits.SHORTLIST).spectra
        return Searched(basis, features, candidates)
    many = not few_rows(data.count)
    # With all rows the spectra of a basis are compared by what they are beside functions that stand out. Of many rows
    # they are not, and a basis is judged by the spectrum that will be ahead.
    judged, behind = (_limits.SHORTLIST, _limits.BEHIND_NAMED) if everything else (1, _limits.BEHIND)

    def first_look(make: MadeBasis, basis: InvariantBasis) -> _Racing:
        features, candidates = _evaluated(basis, sample.points, many=many), candidates_of(basis)
        problem = sample.searched(features, half_digits=not data.held(basis))
        with one_thread(problem.count):
            first = screened(problem, basis, candidates, alpha) if basis.dim > 1 and problem.count > 1 else None
            few = None if first is None else problem.some_rows(_limits.SCREEN_ROWS)
            if first is None or few is None:
                return _Racing(make, basis, features, problem, candidates, first, -np.inf)
            _, score = best_named(few, basis, list(first)[:judged], alpha)
        return _Racing(make, basis, features, problem, candidates, first, score)

    racing = [first_look(*pair) for pair in competing_bases(bases, affordable_dim(sample.count))]
    leading = min((each.best for each in racing if each.first is not None), default=np.inf)
    racing = [each for each in racing if each.best <= leading + behind]
    firsts = sorted(score for each in racing for score in (each.first or {}).values())
    bound = firsts[: 2 * _limits.SCREENED][-1] if firsts else np.inf
    racing = [each for each in racing if each.best <= bound]
    finished = [each.shortlisted(alpha, bound, all_rows=everything, alone=len(racing) == 1) for each in racing]
    finished.sort(key=lambda each: each.score)
    found = finished[0] if everything else _best_on_more_rows(finished, data, alpha)
    best, spectra = found.racing, found.spectra
    # A basis that was ended by the time it takes would end there again, however many functions are wanted.
    basis = best.basis if best.basis.cutoff.kind == "max_eigenvalue" else best.make(None)
    if basis is not best.basis or not data.held(basis):
        return Searched(basis, data.features(basis), spectra)
    if everything:
        return Searched(basis, best.features, spectra)
    features = np.empty((data.count, basis.dim - 1))
    features[rows] = best.features
    others = np.setdiff1d(np.arange(data.count), rows)
    features[others] = _evaluated(basis, data.points[others], many=many)
    return Searched(basis, features, spectra)


def _best_on_more_rows(finished: list[_Finished], data: RidgeData, alpha: float | None) -> _Finished:
    """The basis that is ahead on as many rows as tell what its cutoff leaves out; `finished` has the best first.

    On few rows the functions that a cutoff leaves out hardly matter beside those that the rows do not tell. On many
    rows they are all that is wrong, and an order is as good as the functions that it has.
    """
    best = finished[0].score
    promising = [each for each in finished if each.score <= best + _limits.BEHIND_NAMED][: _limits.ORDERS]
    if len(promising) < 2 or data.count < _limits.MANY_ROWS_A_FUNCTION * finished[0].racing.make(None).dim:
        return finished[0]

    def score(each: _Finished) -> float:
        basis = each.racing.make(None)
        sample = data.at(some_rows(data.count, _limits.ROWS_PER_FUNCTION * basis.dim))
        with one_thread(sample.count):
            sums = Moments.of(basis, sample.points, sample.targets, sample.weights)
            return shortlist(MomentProblem(sums), basis, [each.best], alpha, 1).score

    return min(promising, key=score)


def _evaluated(basis: InvariantBasis, points: Array, *, many: bool) -> Array:
    """The values of all functions but the constant at points that may be some of many."""  # (n, dim - 1)
    with rows_of_a_larger_table() if many else nullcontext():  # whose loops are compiled in any case
        return basis.evaluate(points)[:, 1:]


@final
@dataclass(frozen=True, eq=False)
class _Racing:
    """A basis that competes with others, and what a first look at few rows says of it.

    Attributes
    ----------
    make : callable
    basis : InvariantBasis
    features : ndarray of shape (n, dim - 1)
    problem : FeatureProblem
    candidates : list of Spectrum
    first : dict of Spectrum to float, or None
        The best of the candidates on few rows, and their scores; None where there are hardly more.
    best : float
        The best score on few rows, functions that stand out being named; without such a look a basis goes on in any
        case.
    """

    make: MadeBasis
    basis: InvariantBasis
    features: Array
    problem: FeatureProblem
    candidates: list[Spectrum]
    first: dict[Spectrum, float] | None
    best: float

    def shortlisted(self, alpha: float | None, bound: float, *, all_rows: bool, alone: bool) -> _Finished:
        """The best spectra of those with scores up to `bound` on few rows and their neighbours, and the best score.

        With all rows the best is known, functions that stand out being named beside each. With some of many rows
        several go on, and a basis that is `alone` is not judged.
        """
        if self.basis.dim == 1 or self.problem.count == 1:  # all rows are on one orbit: nothing can be left out
            return _Finished(self, self.candidates, self.candidates[0], np.inf)
        start = None if self.first is None else [s for s, score in self.first.items() if score <= bound]
        if not start and self.first is not None:
            start = [next(iter(self.first))]  # which is promising by the functions that are named beside it
        with one_thread(self.problem.count):
            found = shortlist(self.problem, self.basis, self.candidates, alpha, _limits.SHORTLIST, start)
            if alone and not all_rows:
                return _Finished(self, found.spectra, found.best, found.score)
            judged = found.spectra if all_rows else [found.best]
            best, score = best_named(self.problem, self.basis, judged, alpha)
            return _Finished(self, [best] if all_rows else found.spectra, best, score)


class _Finished(NamedTuple):
    """A basis with its most promising spectra, the best of them, and how well that does."""

    racing: _Racing
    spectra: list[Spectrum]
    best: Spectrum
    score: float


def competing_bases(bases: list[MadeBasis], most: int | None) -> Iterator[tuple[MadeBasis, InvariantBasis]]:
    """The bases, with `most` functions; what cannot be had does not compete with the first."""
    yield bases[0], bases[0](most)
    for make in bases[1:]:
        with suppress(MemoryError):
            basis = make(most)
            if basis.dim > 1:
                yield make, basis
