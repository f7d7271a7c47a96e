"""Which basis and which spectra a fit goes on with: bases in several orders compete on some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import final

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
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice import Shortlist, best_named, screened, shortlist

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
    all_digits : bool
        Whether the best of them needs all digits (`ridge_fit`).
    """

    basis: InvariantBasis
    features: Array | None
    spectra: list[Spectrum]
    all_digits: bool = False


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
    features, compared = found.features, _compared_rows(data.count)
    if features is None or len(found.spectra) < 2 or data.count <= compared:
        return found
    rows = some_rows(data.count, compared)
    problem = data.at(rows).searched(features[rows])
    if problem.count < 2:  # all rows are on one orbit
        return found
    with one_thread(len(rows)):
        best = shortlist(problem, found.basis, found.spectra, alpha, 1, all_digits=found.all_digits)
    return Searched(found.basis, features, best.spectra, best.all_digits)


def _compared_rows(n: int) -> int:
    """On how many of n rows the short-list is compared."""
    return min(max(_limits.COMPARED_ROWS, int(_limits.COMPARED_PART * n)), _limits.MOST_COMPARED_ROWS)


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
        if problem.count == 1:  # all rows are on one orbit: nothing can be left out
            return Searched(basis, features, candidates)
        with one_thread(problem.count):
            found = shortlist(problem, basis, candidates, alpha, _limits.SHORTLIST)
        return Searched(basis, features, found.spectra, found.all_digits)
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
    finished = [(each, each.shortlisted(alpha, bound, all_rows=everything, alone=len(racing) == 1)) for each in racing]
    best, found = min(finished, key=lambda entry: entry[1].score)
    chosen = found.spectra, found.all_digits
    # A basis that was ended by the time it takes would end there again, however many functions are wanted.
    basis = best.basis if best.basis.cutoff.kind == "max_eigenvalue" else best.make(None)
    if basis is not best.basis or not data.held(basis):
        return Searched(basis, data.features(basis), *chosen)
    if everything:
        return Searched(basis, best.features, *chosen)
    features = np.empty((data.count, basis.dim - 1))
    features[rows] = best.features
    others = np.setdiff1d(np.arange(data.count), rows)
    features[others] = _evaluated(basis, data.points[others], many=many)
    return Searched(basis, features, *chosen)


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

    def shortlisted(self, alpha: float | None, bound: float, *, all_rows: bool, alone: bool) -> Shortlist:
        """The best spectra of those with scores up to `bound` on few rows and their neighbours, and the best score.

        With all rows the best is known, functions that stand out being named beside each. With some of many rows
        several go on, and a basis that is `alone` is not judged.
        """
        if self.basis.dim == 1 or self.problem.count == 1:  # all rows are on one orbit: nothing can be left out
            return Shortlist(self.candidates, np.inf, False, self.candidates[0], False)
        start = None if self.first is None else [s for s, score in self.first.items() if score <= bound]
        if not start and self.first is not None:
            start = [next(iter(self.first))]  # which is promising by the functions that are named beside it
        with one_thread(self.problem.count):
            found = shortlist(self.problem, self.basis, self.candidates, alpha, _limits.SHORTLIST, start)
            if alone and not all_rows:
                return found
            judged = found.spectra if all_rows else [found.best]
            best, score = best_named(self.problem, self.basis, judged, alpha)
            return found._replace(spectra=[best] if all_rows else found.spectra, score=score)


def competing_bases(bases: list[MadeBasis], most: int | None) -> Iterator[tuple[MadeBasis, InvariantBasis]]:
    """The bases, with `most` functions; what cannot be had does not compete with the first."""
    yield bases[0], bases[0](most)
    for make in bases[1:]:
        with suppress(MemoryError):
            basis = make(most)
            if basis.dim > 1:
                yield make, basis
