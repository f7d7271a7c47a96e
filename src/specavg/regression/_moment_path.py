"""Ridge regression from moments alone: any number of rows, and generalised cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem, Scores, believable, degrees_of_freedom, variation

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
        p = self._sums
        rows = max(p.rows, float(p.count))  # weights below one are no missing rows
        s2 = self.s[: max(p.count - 1, 1)] ** 2  # of more functions than rows the others have no eigenvalue
        b2 = self._b[: len(s2)] ** 2
        rest = rows - 1.0 - len(s2)  # directions of which no function knows
        error, squares, fourth_powers = (np.empty(len(alphas)) for _ in range(3))
        for i, alpha in enumerate(alphas):
            kept = alpha / (s2 + alpha)
            explained = ((s2 + 2 * alpha) / (s2 + alpha) ** 2) @ b2
            # |y|² − 2 b·x + xᵀGx is known to the rounding of G, times |x|²: so much is added, or chance would choose.
            unknown = p.rounding * (p.squares + s2[:1].sum() * ((1.0 / (s2 + alpha) ** 2) @ b2))
            left_over = np.maximum(p.squares - explained, 0.0) + unknown
            # rows − 1 − Σ s²/(s² + α) without cancellation: where data are interpolated it is as small as what is left
            # over, and the ratio of the two is all that tells.
            freedom = max(rest + float(kept.sum()), rows * p.rounding)
            error[i] = np.mean(left_over / p.variance) * rows**2 / p.rows / freedom**2
            squares[i], fourth_powers[i] = rest + (kept**2).sum(), rest + (kept**4).sum()
        table = believable(error, squares, fourth_powers)
        return Scores(table, 0.5 * np.log(np.maximum(table, _TINY)) + p.offset)

    def noise_variance(self, alpha: float) -> Array:
        p = self._sums
        quadratic = p.squares - (1.0 / (self.s**2 + alpha)) @ self._b**2
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.rows, p.count)
