"""Which basis and which spectra a fit goes on with: bases in several orders compete on some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from specavg.estimators._affordable import affordable_dim
from specavg.estimators._ridge_problem import RidgeData
from specavg.invariants import InvariantBasis
from specavg.regression import _limits
from specavg.regression._choice import shortlist
from specavg.regression._spectra import Spectrum

__all__ = ["MadeBasis", "competing_bases", "searched_basis"]

MadeBasis = Callable[[int | None], InvariantBasis]
"""Makes a basis of at most so many functions; with None, of as many as are affordable."""


def searched_basis(
    bases: list[MadeBasis],
    data: RidgeData,
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
    alpha: float | None,
) -> tuple[InvariantBasis, list[Spectrum]]:
    """The most promising basis and spectra, on some of the rows; no spectra where all of them can be compared.

    Parameters
    ----------
    bases : list of callable
    data : RidgeData
    candidates_of : callable
        The spectra to choose from.
    alpha : float or None
        The penalty; None where it is chosen.
    """
    if len(bases) == 1:
        basis = bases[0](None)
        many = data.count > _limits.SEARCH_ROWS and len(candidates_of(basis)) > _limits.SHORTLIST
        if basis.dim == 1 or not many:
            return basis, []
    sample = data.sample(_limits.SEARCH_ROWS)
    found: list[tuple[float, MadeBasis, list[Spectrum]]] = []
    for make, basis in competing_bases(bases, affordable_dim(sample.count) if len(bases) > 1 else None):
        problem = sample.searched(basis, half_digits=not data.held(basis))
        candidates, score = candidates_of(basis), np.inf
        if basis.dim > 1 and problem.count > 1:  # else all rows are on one orbit: nothing can be left out
            candidates, score = shortlist(problem, basis, candidates, alpha, _limits.SHORTLIST)
        found.append((score, make, candidates))
    _, make, candidates = min(found, key=lambda entry: entry[0])
    return make(None), candidates


def competing_bases(bases: list[MadeBasis], most: int | None) -> Iterator[tuple[MadeBasis, InvariantBasis]]:
    """The bases, with `most` functions; what cannot be had does not compete with the first."""
    yield bases[0], bases[0](most)
    for make in bases[1:]:
        with suppress(MemoryError):
            basis = make(most)
            if basis.dim > 1:
                yield make, basis
