"""Ridge regression from moments alone: any number of rows, and generalised cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem, Scores, degrees_of_freedom, variation

__all__ = ["MomentPath", "MomentProblem"]

_TINY = float(np.finfo(float).tiny)


@final
class MomentProblem(Problem):
    """From moments alone: any number of rows, half of the digits.

    Parameters
    ----------
    moments : Moments
        With a Gram matrix; the first function is the constant.
    ratio : float, optional
        Where there are gradients: the standard deviation of the noise of a value over that of a derivative.
    """

    smallest_alpha = 1e-13
    rounding: ClassVar[float] = 1e-14
    solver = "moments"

    def __init__(self, moments: Moments, ratio: float | None = None) -> None:
        slopes = None if ratio is None else moments.slopes
        if slopes is not None:
            units = replace(moments.units, unit=np.maximum(moments.units.unit, slopes.units.unit))
            moments, slopes = moments.in_units(units), slopes.in_units(replace(units, shift=slopes.units.shift))
        gram, cross, squares = moments.centred()
        self.units = moments.units
        self.count = moments.count
        self.weight = self.rows = float(moments.weight.value)
        self.mean_features = moments.features.value[1:] / self.weight
        self.mean_targets = moments.shifted.value / self.weight
        self.offset = 0.0  # of densities: see `GradientProblem`
        if slopes is not None and ratio is not None:  # nothing of a derivative is centred
            more, along, size = slopes.centred()
            gram, cross, squares = gram + ratio**2 * more, cross + ratio**2 * along, squares + ratio**2 * size
            self.count += slopes.count
            self.rows += float(slopes.weight.value)
            share = float(slopes.weight.value) / self.rows
            self.offset = 0.5 * float(np.log(max(squares[0], _TINY) / self.rows)) - share * float(np.log(ratio))
        self.gram, self.cross, self.squares = gram[1:, 1:], cross[1:], squares
        floor = 1e-14 * moments.shifted_squares.value + self.units.rounding(self.weight)
        self.variance = variation(squares, self.rows, floor)

    def path(self, scale: Array) -> MomentPath:
        values, V = linalg.eigh(self.gram * scale * scale[:, None], check_finite=False)
        s = np.sqrt(np.maximum(values[::-1], 0.0))
        V = V[:, ::-1]
        return MomentPath(self, scale, s, V, V.T @ (scale[:, None] * self.cross))


@final
class MomentPath(DecomposedPath):
    """Generalised cross-validation, which needs no rows; with many rows per function it is leave-one-out."""

    def __init__(self, problem: MomentProblem, scale: Array, s: Array, V: Array, b: Array) -> None:
        super().__init__(problem, scale, s, V, b / np.maximum(s, _TINY)[:, None])
        self._sums = problem
        self._b = b  # (r, q) = diag(s) Uᵀ y

    def scores(self, alphas: Array) -> Scores:
        p, s2 = self._sums, self.s**2
        error = []
        for alpha in alphas:
            explained = ((s2 + 2 * alpha) / (s2 + alpha) ** 2) @ self._b**2
            left_over = np.maximum(p.squares - explained, p.rounding * p.squares)
            freedom = max(p.rows - 1.0 - float(np.sum(s2 / (s2 + alpha))), 1e-3)
            error.append(np.mean(left_over / p.variance) * p.rows / freedom**2)
        table = np.array(error)
        return Scores(table, 0.5 * np.log(np.maximum(table, _TINY)) + p.offset)

    def noise_variance(self, alpha: float) -> Array:
        p = self._sums
        quadratic = p.squares - (1.0 / (self.s**2 + alpha)) @ self._b**2
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.rows, p.count)
