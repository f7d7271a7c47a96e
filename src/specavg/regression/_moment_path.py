"""Ridge regression from moments alone: any number of rows, and generalised cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._calibration import Calibration
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._moments import Moments
from specavg.regression._noise_of_kinds import noise_of_kind
from specavg.regression._regression_problem import Problem, Scores, believable, degrees_of_freedom, variation

_TINY = float(np.finfo(float).tiny)


def cross_validated_error(problem: Any, parts: Sequence[tuple[Array, Array, int, int]], alphas: Array) -> Array:
    """The squared error by generalised cross-validation, in variances of the targets, for every penalty.

    Parameters
    ----------
    problem : MomentProblem or BlockMomentProblem
        `squares` and `variance` of its targets, its `rows` by weight, and how many functions are not penalised, `free`.
    parts : sequence of (s, b², copies, most)
        Parts that share no function: singular values of shape (r,), the squares of diag(s) Uᵀy of shape (r, q), for how
        many copies of the targets they stand, and how many singular values there can be at most.
    alphas : ndarray of shape (A,)

    Returns
    -------
    ndarray of shape (A,)
    """
    p, rows = problem, max(problem.rows, float(problem.count))  # weights below one are no missing rows
    rest = max(rows - p.free, 1.0)  # directions of the rows, in the end those of which no function knows
    explained, unknown, kept = 0.0, 0.0, np.zeros((3, len(alphas)))
    for s, b2, copies, most in parts:
        s, b2 = s[: max(most, 1), None], b2[: max(most, 1)]  # of more functions than rows the others are rounding
        shrunk = s**2 + alphas  # (r, A)
        explained = explained + ((shrunk + alphas) / shrunk**2).T @ b2
        unknown = unknown + (s[:1] ** 2).sum() * ((1.0 / shrunk**2).T @ b2)
        kept += copies * np.stack([np.sum((alphas / shrunk) ** power, axis=0) for power in (1, 2, 4)])
        rest -= copies * len(s)
    # |y|² − 2 b·x + xᵀGx is known to the rounding of G, times |x|²: so much is added, or chance would choose.
    left_over = np.maximum(p.squares - explained, 0.0) + p.rounding * (p.squares + unknown)
    # The degrees of freedom without cancellation: where data are interpolated they are as small as what is left over,
    # and the ratio of the two is all that tells.
    kept += max(rest, 0.0)
    freedom = np.maximum(kept[0], rows * p.rounding)
    return believable(np.mean(left_over / p.variance, axis=1) * rows**2 / p.rows / freedom**2, kept[1], kept[2])


@final
class MomentProblem(Problem):
    """From moments alone: any number of rows, half of the digits.

    Parameters
    ----------
    moments : Moments
        With a Gram matrix; the first function is the constant.
    ratio : float, optional
        Where there are gradients: the standard deviation of the noise of a value over that of a derivative.
    dimension : int, default 2
        Of the space: error bars need it, a comparison of spectra does not.
    """

    smallest_alpha = 1e-13
    rounding: ClassVar[float] = 1e-14
    solver = "moments"
    free = 1  # functions that are not penalised: the constant

    def __init__(self, moments: Moments, ratio: float | None = None, *, dimension: int = 2) -> None:
        self.dimension = dimension
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
        # Of each kind of rows: sums about the constant, weights less what the constant takes, what rows are times.
        self.kinds = [((gram[1:, 1:], cross[1:], squares), self.weight - 1.0, 1.0)]
        if slopes is not None and ratio is not None:  # nothing of a derivative is centred
            more, along, size = slopes.centred()
            more, along, size = ratio**2 * more, ratio**2 * along, ratio**2 * size
            self.kinds.append(((more[1:, 1:], along[1:], size), float(slopes.weight.value), ratio))
            gram, cross, squares = gram + more, cross + along, squares + size
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
        error = cross_validated_error(p, [(self.s, self._b**2, 1, p.count - 1)], alphas)
        return Scores(error, 0.5 * np.log(np.maximum(error, _TINY)) + p.offset)

    def noise_variance(self, alpha: float) -> Array:
        p = self._sums
        quadratic = p.squares - (1.0 / (self.s**2 + alpha)) @ self._b**2
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.rows, p.count)

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration | None:
        """That of one penalty; None with gradients, whose rows tell the more the larger the eigenvalue is."""
        p, alpha = self._sums, float(alphas[0])
        if len(p.kinds) > 1:
            return None
        shrunk, noise, freedom = self.s**2 + alpha, self.noise_variance(alpha), self.freedom(alpha)
        left_over = p.squares - ((shrunk + alpha) / shrunk**2) @ self._b**2
        return Calibration.of_sums(left_over, noise, freedom, self.scale, alpha, p.count, p.dimension, hidden)

    def noise_of_kinds(self, alpha: float) -> Array:
        common, kinds = self.noise_variance(alpha), self._sums.kinds
        if len(kinds) == 1:
            return common[None]
        V, c, found = self.right_vectors(), self.coefficients(alpha), list[Array]()
        for (gram, cross, squares), weight, times in kinds:
            residual = np.maximum(squares - np.sum(c * (2.0 * cross - gram @ c), axis=0), 0.0)
            scaled = self.scale[:, None] * V
            fitted = np.sum(scaled * (gram @ scaled), axis=0) @ (1.0 / (self.s**2 + alpha))
            found.append(noise_of_kind(residual, weight - float(fitted), common) / times**2)
        return np.stack(found)
