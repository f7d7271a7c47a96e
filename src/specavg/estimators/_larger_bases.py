"""More functions for many rows: as many as the data want, within a stated time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from specavg._reporting import reported
from specavg.estimators._number_of_functions import rounded
from specavg.estimators._ridge_data import RidgeData
from specavg.invariants import Cutoff, InvariantBasis, Order
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
    order: Order,
    basis_at: Callable[[Cutoff], InvariantBasis],
    candidates_of: Callable[[InvariantBasis], list[Spectrum]],
) -> tuple[InvariantBasis, RidgeFit]:
    """The fit with four times as many functions, and so on, until the data want no more or the time is over.

    Data want more where the last function of the basis keeps a share of its coefficient (what comes after it would
    too), and where the last growth gained much. A larger basis is taken only if it predicts better what was left out.
    Each has a Gram matrix that is never formed, and so a forecast of its time; where there is no such way the fit stays
    as it is. With few coordinates first such a way takes long, since frequencies reach far: the functions that are
    added are then those of `order`, from as many as there are, and taken if they predict better in the end.

    Parameters
    ----------
    data : RidgeData
    basis : InvariantBasis
    fit : RidgeFit
        Of `data` with the functions of `basis`.
    order : Order
    basis_at : callable
        The basis in this order, with another cutoff.
    candidates_of : callable
        The spectra to choose from.
    """
    larger, better = basis, fit
    if basis.order != order and fit.solver != "mean":
        larger = basis_at(Cutoff("max_invariant_dim", basis.dim))
        if not data.operator_seconds(larger) <= _limits.LARGE_SECONDS:
            return basis, fit
        other = _fitted(data, larger, candidates_of(larger))
        if other is None:
            return basis, fit
        better = other
    steps = _growing(data, larger, better, basis_at, candidates_of)
    for found in reported(steps, "more functions for many rows", "bases tried"):
        larger, better = found
    return (larger, better) if better.error < fit.error * _limits.BETTER else (basis, fit)


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
        better = _fitted(data, larger, candidates_of(larger))
        if better is None or not better.error < fit.error * _limits.BETTER:
            break
        gained = better.error < fit.error * _limits.MUCH_BETTER
        basis, fit = larger, better
        yield basis, fit


def _fitted(data: RidgeData, basis: InvariantBasis, candidates: list[Spectrum]) -> RidgeFit | None:
    """The fit with the Gram matrix as an operator; None where there is none, or many steps would be taken."""
    problem = OperatorProblem.of(basis, data.points, data.targets, data.weights)
    if problem is None:
        return None
    try:
        return nearby_fit(problem, basis, likely_spectra(problem, basis, candidates, _limits.LIKELY))
    except NotConverged:
        return None


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
        seconds = data.operator_seconds(larger)
        if not np.isfinite(seconds):
            return None
        if seconds <= left:
            return larger, seconds
    return None
