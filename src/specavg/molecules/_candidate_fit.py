"""One candidate of a potential: its coefficients, and its errors at geometries that were left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.molecules._equations import Equations

_CONSTANT = 1e3  # prior standard deviation of the constant: free beside the others


@dataclass(frozen=True, eq=False)
class Fit:
    """One choice, its coefficients, and its errors at geometries that were left out (root mean squares)."""

    degree: int
    decay: float
    energy_weight: float
    penalty: float
    coefficients: Array
    energy_error: float  # NaN without energies
    force_error: float  # NaN without forces
    rows: NDArray[np.intp]  # where the geometries that were left out stand in the data
    weights: Array  # of these geometries
    energies_left: Array  # the error of each
    forces_left: Array  # the same of forces, root mean squares; NaN where they are missing
    noise: float  # σ², the variance of an equation of weight one, if all that is not fitted is noise
    left_squares: float  # the mean of dᵀ(I − H_bb)d over equations, d the errors at a geometry that was left out
    freedom: float  # tr H over the number of equations
    balance: float  # times this weight of energies residuals of both kinds would be alike; NaN with one kind alone
    # Upper triangular, RᵀR = BᵀB + penalty: σ²(RᵀR)⁻¹ is the covariance of c / prior. None with many functions.
    factor: Callable[[], Array] | None

    @property
    def score(self) -> float:
        """What is minimised: the logarithm of both errors together."""
        return sum(float(np.log(e + 1e-300)) for e in (self.energy_error, self.force_error) if not np.isnan(e))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The equations of geometries that are left out, one geometry at a time."""

    rest: Array  # (n, block, block): I − H_bb
    residuals: Array  # (n, block): of the fit to all geometries
    targets: Array  # (n, block)
    errors: Array  # (n, block): (I − H_bb)⁻¹ r_b

    @classmethod
    def of(cls, rest: Array, residuals: Array, targets: Array) -> LeftOut:
        errors = np.asarray(np.linalg.solve(rest, residuals[..., None])[..., 0], dtype=np.float64)
        return cls(rest, residuals, targets.reshape(residuals.shape), errors)


def fit_of(
    degree: int,
    decay: float,
    weight: float,
    penalty: float,
    c: Array,
    left_out: LeftOut,
    factor: Callable[[], Array] | None,
    unreachable: float,
    eqs: Equations,
) -> Fit:
    left, total = left_out.errors, eqs.weights.sum()
    energy = float(np.sqrt((left[:, 0] ** 2).sum() / total)) / weight if weight else np.nan
    root, has, forces, pulls = np.sqrt(eqs.weights), eqs.has_forces, np.nan, np.full(len(left), np.nan)
    if eqs.forces is not None:
        components = 3 * eqs.R.shape[1]
        squares = (left[:, 1:] ** 2).sum(axis=1)
        forces = float(np.sqrt((squares.sum() + unreachable) / (components * eqs.weights[has].sum())))
        pulls[has] = np.sqrt(squares[has] / components) / root[has]
    each = left[:, 0] / (weight * root) if weight else np.full(len(left), np.nan)
    taken = 1.0 - np.diagonal(left_out.rest, axis1=1, axis2=2)
    told = taken != 0  # equations of forces that are missing say nothing
    count = max(np.count_nonzero(told), 1)
    variances = [
        np.sum(left_out.residuals[:, part] ** 2) / max(np.sum((1.0 - taken[:, part])[told[:, part]]), 1e-300)
        for part in (slice(0, 1), slice(1, None))
    ]
    balance = float(np.sqrt(variances[1] / variances[0])) if min(variances) > 0 else np.nan
    return Fit(
        degree=degree,
        decay=decay,
        energy_weight=weight,
        penalty=float(penalty),
        coefficients=c,
        energy_error=energy,
        force_error=forces,
        rows=eqs.rows,
        weights=eqs.weights,
        energies_left=each,
        forces_left=pulls,
        noise=float(np.sum(left_out.targets * left_out.residuals)) / count,
        left_squares=float(np.sum(left * left_out.residuals)) / count,
        freedom=float(taken.sum()) / count,
        balance=balance,
        factor=factor,
    )


def prior_deviations(degrees: NDArray[np.int64], decay: float) -> Array:
    """Prior standard deviations of the coefficients, up to a factor."""
    return np.where(degrees == 0, _CONSTANT, decay ** degrees.astype(float))


def unit_penalty(B: Array, degrees: NDArray[np.int64], prior: Array) -> float:
    first = degrees == 1
    return float(((B[:, first] / prior[first]) ** 2).sum()) if first.any() else 1.0


def weighted(A: Array, weight: float) -> Array:
    out = np.array(A)
    out[:, 0] *= weight
    return out
