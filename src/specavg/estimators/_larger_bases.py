"""More functions for many rows: as many as the data want, within a stated time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from specavg._reporting import reported
from specavg.estimators._number_of_functions import rounded
from specavg.estimators._ridge_data import RidgeData
from specavg.invariants import Cutoff, InvariantBasis
from specavg.regression import _measured_limits as _limits
from specavg.regression._conjugate_gradients import NotConverged
from specavg.regression._operator_path import OperatorProblem
from specavg.regression._ridge_fit import RidgeFit
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice_many_rows import likely_spectra, nearby_fit, weakest_share


def grown(
    data: RidgeData,
    basis: InvariantBasis,
    fit: RidgeFit,
    basis_at: Callable[[Cutoff], InvariantBasis],
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
) -> tuple[InvariantBasis, RidgeFit]:
    """The fit with four times as many functions, and so on, until the data want no more or the time is over.

    Data want more where the last function of the basis keeps a share of its coefficient (what comes after it would
    too), and where the last growth gained much. A larger basis is taken only if it predicts better what was left out.
    Each has a Gram matrix that is never formed, and so a forecast of its time; where there is no such way the fit stays
    as it is.

    Parameters
    ----------
    data : RidgeData
    basis : InvariantBasis
    fit : RidgeFit
        Of `data` with the functions of `basis`.
    basis_at : callable
        The basis in the same order, with another cutoff.
    candidates_of : callable
        The spectra to choose from.
    """
    steps = _growing(data, basis, fit, basis_at, candidates_of)
    for found in reported(steps, "more functions for many rows", "bases tried"):
        basis, fit = found
    return basis, fit


def _growing(
    data: RidgeData,
    basis: InvariantBasis,
    fit: RidgeFit,
    basis_at: Callable[[Cutoff], InvariantBasis],
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
) -> Iterator[tuple[InvariantBasis, RidgeFit]]:
    """The best so far, after each basis that was tried."""
    left, weight, gained = _limits.LARGE_SECONDS, float(data.weights.sum()), False
    while fit.solver != "mean" and (gained or weakest_share(fit, basis, weight) > _limits.WANTED):
        found = _larger(data, basis, basis_at, left)
        if found is None:
            break
        larger, seconds = found
        left -= seconds
        try:
            better = _fitted(data, larger, candidates_of(larger))
        except NotConverged:
            break
        if better is None or not better.error < fit.error * _limits.BETTER:
            break
        gained = better.error < fit.error * _limits.MUCH_BETTER
        basis, fit = larger, better
        yield basis, fit


def _fitted(data: RidgeData, basis: InvariantBasis, candidates: list[Spectrum]) -> RidgeFit | None:
    """The fit with the Gram matrix as an operator; None where there is none."""
    problem = OperatorProblem.of(basis, data.points, data.targets, data.weights)
    if problem is None:
        return None
    return nearby_fit(problem, basis, likely_spectra(problem, basis, candidates, _limits.LIKELY))


def _larger(
    data: RidgeData, basis: InvariantBasis, basis_at: Callable[[Cutoff], InvariantBasis], left: float
) -> tuple[InvariantBasis, float] | None:
    """The largest basis of up to four times as many functions that the time allows, and the time it takes."""
    most = min(_limits.MOST_FUNCTIONS, data.count / 2)
    for factor in (4.0, 2.8, 2.0, 1.4):
        target = rounded(min(factor * basis.dim, most), up=False) if factor * basis.dim < most else int(most)
        if target < 1.3 * basis.dim:
            return None
        larger = basis_at(Cutoff("max_invariant_dim", target))
        if larger.dim < 1.3 * basis.dim:
            return None
        seconds = _seconds(data, larger)
        if seconds is None:
            return None
        if seconds <= left:
            return larger, seconds
    return None


def _seconds(data: RidgeData, basis: InvariantBasis) -> float | None:
    """A forecast; None where the Gram matrix has to be formed, or what it needs does not fit in memory."""
    forecast = basis.gram_nanoseconds(data.count)
    if forecast is None or not np.isfinite(forecast[0]):
        return None
    build, column = forecast
    root = min((basis.dim / data.count) ** 0.5, 0.9)
    columns = _limits.COLUMNS * (1.0 + root) / (1.0 - root) * data.targets.shape[1]
    return 1e-9 * float(build + column * columns)
