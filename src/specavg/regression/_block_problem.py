"""Ridge regression of vector functions: p rows a point, several constants, and one penalty for all outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._block_leave_one_out import BlockLeaveOneOut, blocks_of
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._moments import Moments
from specavg.regression._reduced_rows import ReducedRows
from specavg.regression._regression_problem import Posterior, Problem, Scores
from specavg.regression._target_units import Units

__all__ = ["BlockMomentProblem", "BlockPosterior", "BlockProblem"]

_TINY = float(np.finfo(float).tiny)


@final
@dataclass(frozen=True, eq=False)
class BlockPosterior(Posterior):
    """The covariance of the outputs of F(x): that of the constants, and that of everything else.

    Attributes
    ----------
    root : ndarray of shape (k, k)
        R, upper triangular, with RᵀR the Gram matrix of the k constants.
    mean : ndarray of shape (k, D)
        What each function has of the constants: it is subtracted.
    scale, V, s : ndarrays of shape (D,), (D, r), (r,)
        The decomposition of the scaled features.
    alpha : float
    noise : ndarray of shape (1,)
        The variance of the noise of an observation of weight one, in squares of `unit`.
    unit : ndarray of shape (1,)
    """

    root: Array
    mean: Array
    scale: Array
    V: Array
    s: Array
    alpha: float
    noise: Array
    unit: Array = field(default_factory=lambda: np.ones(1))

    def covariance(self, values: Array) -> Array:
        """The covariance of the outputs, from values of all functions."""  # (n, p, k + D) -> (n, p, p)
        return self._in_units(values) * float(self.unit[0]) * float(self.unit[0])

    def _in_units(self, values: Array) -> Array:
        """The same in squares of `unit`, which are no numbers for very small and very large targets."""
        constants, centred = self._split(values)
        seen = centred @ self.V
        shrunk = seen / np.sqrt(self.s**2 + self.alpha)
        total = shrunk @ shrunk.transpose(0, 2, 1) + constants @ constants.transpose(0, 2, 1)
        if self.V.shape[1] < self.V.shape[0]:  # there are directions no data point has
            rest = centred - seen @ self.V.T
            total += rest @ rest.transpose(0, 2, 1) / self.alpha
        return total * float(self.noise[0])

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        if slopes:
            raise NotImplementedError("derivatives of vector functions have no posterior here")
        return np.einsum("npp->np", self._in_units(features))

    def _split(self, values: Array) -> tuple[Array, Array]:
        k = len(self.root)
        constants = values[..., :k]
        centred = (values[..., k:] - constants @ self.mean) * self.scale
        return constants @ np.linalg.inv(self.root) if k else constants, centred


class _VectorPath(DecomposedPath):
    """The solutions for one spectrum, with a posterior for several outputs."""

    def __init__(self, problem: VectorProblem, scale: Array, s: Array, V: Array, c: Array) -> None:
        super().__init__(problem, scale, s, V, c)
        self._vector = problem

    def posterior(self, alpha: float) -> Any:
        p = self._vector
        return BlockPosterior(p.root, p.mean, self.scale, self.V, self.s, alpha, self.noise_variance(alpha))


class VectorProblem(Problem):
    """What both ways to solve share: k functions that are not penalised come first.

    Attributes
    ----------
    root, mean : ndarrays of shape (k, k), (k, D)
        As in `BlockPosterior`.
    constants : ndarray of shape (k, 1)
        The coefficients of the k functions where all others are zero.
    freedom : float
        Rows, by weight, less k.
    """

    root: Array
    mean: Array
    constants: Array
    freedom: float

    def with_constant(self, coefficients: Array) -> Array:
        return np.concatenate([self.constants - self.mean @ coefficients, coefficients])


@final
class BlockProblem(VectorProblem):
    """From the features themselves: singular values, and blocks of rows left out together.

    Parameters
    ----------
    features : ndarray of shape (N, D)
        One row for each point and output.
    constants : ndarray of shape (N, k)
        Values of the functions that are not penalised.
    targets : ndarray of shape (N,)
    weights : ndarray of shape (N,)
    labels : ndarray of int, shape (N,)
        Rows with the same label are left out together.
    spread : float, default 0
        The root of the weighted sum of squares of what was averaged away before: the noise of repeated observations.
    """

    smallest_alpha = 1e-18
    rounding: ClassVar[float] = 0.0
    solver: ClassVar[str] = "features"

    def __init__(
        self,
        features: Array,
        constants: Array,
        targets: Array,
        weights: Array,
        labels: NDArray[np.intp],
        spread: float = 0.0,
    ) -> None:
        self.units = Units.without_shift(targets[:, None])
        y = self.units.applied(targets[:, None])
        root, k = np.sqrt(weights)[:, None], constants.shape[1]
        self.within = (spread / float(self.units.unit[0])) ** 2
        self.weight = float(weights.sum())
        self.freedom = max(self.weight - k, 1.0)
        self.blocks = blocks_of(labels)
        self.count = sum(map(len, self.blocks))
        self._reduced = ReducedRows(root * constants, root * features, root * y)
        self.root, (F, Y) = self._reduced.root, self._reduced.along
        self.mean = linalg.solve_triangular(self.root, F) if k else np.zeros((0, features.shape[1]))
        self.constants = linalg.solve_triangular(self.root, Y) if k else np.zeros((0, 1))
        self.mean_features, self.mean_targets = np.zeros(features.shape[1]), np.zeros(1)
        squares = float(self._reduced.squares[0])
        floor = self.weight * (1e-14 * float(np.abs(y).max(initial=0.0))) ** 2
        self.variance = squares / self.weight if squares > floor else np.inf

    def path(self, scale: Array) -> BlockPath:
        U, s, V = self._reduced.decomposed(scale)
        return BlockPath(self, scale, s, V, U.T @ self._reduced.Y, self._left_out(U, s))

    def scored(self, scale: Array) -> BlockLeaveOneOut:
        rows = self._reduced
        return self._left_out(*rows.left_vectors(scale)) if rows.is_wide else self.path(scale).left_out

    def _left_out(self, U: Array, s: Array) -> BlockLeaveOneOut:
        rows = self._reduced
        left, c, rest = rows.in_given_rows(U), (U.T @ rows.Y)[:, 0], rows.rest[:, 0]
        return BlockLeaveOneOut(s, left, rows.free, c, rest, self.variance, self.weight, self.blocks)


@final
class BlockPath(_VectorPath):
    """Solutions from singular values, scored by leaving out blocks of rows."""

    def __init__(
        self, problem: BlockProblem, scale: Array, s: Array, V: Array, c: Array, left_out: BlockLeaveOneOut
    ) -> None:
        super().__init__(problem, scale, s, V, c)
        self.left_out, self._within = left_out, problem.within

    def scores(self, alphas: Array) -> Scores:
        return self.left_out.scores(alphas)

    def noise_variance(self, alpha: float) -> Array:
        shrunk = alpha / (self.s**2 + alpha) @ self.c**2 + np.sum(self.left_out.rest**2) + self._within
        return shrunk / self._vector.freedom


@final
class BlockMomentProblem(VectorProblem):
    """From moments alone: any number of rows, half of the digits, generalised cross-validation.

    Parameters
    ----------
    moments : Moments
        Made by `Moments.of_vectors`.
    constants : int
        k, the first functions, which are not penalised.
    outputs : int
        p, the rows of each point.
    """

    smallest_alpha = 1e-13
    rounding: ClassVar[float] = 1e-14
    solver: ClassVar[str] = "moments"

    def __init__(self, moments: Moments, constants: int, outputs: int) -> None:
        gram, cross, squares = moments.centred()  # nothing is centred: their first sums are zero
        k = constants
        self.units, self.count = moments.units, moments.count
        self.weight = float(moments.weight.value) * outputs
        self.freedom = max(self.weight - k, 1.0)
        self.root = linalg.cholesky(gram[:k, :k]) if k else np.zeros((0, 0))
        self.mean = linalg.cho_solve((self.root, False), gram[:k, k:]) if k else np.zeros((0, len(gram)))
        self.constants = linalg.cho_solve((self.root, False), cross[:k]) if k else np.zeros((0, 1))
        self.gram = gram[k:, k:] - gram[k:, :k] @ self.mean
        self.cross = cross[k:] - gram[k:, :k] @ self.constants
        self.squares = float(squares[0] - np.sum(cross[:k] * self.constants))
        self.mean_features, self.mean_targets = np.zeros(len(gram) - k), np.zeros(1)
        self.variance = self.squares / self.weight if self.squares > self.rounding * squares[0] else np.inf

    def path(self, scale: Array) -> BlockMomentPath:
        values, V = linalg.eigh(self.gram * scale * scale[:, None], check_finite=False)
        s, V = np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1]
        return BlockMomentPath(self, scale, s, V, V.T @ (scale[:, None] * self.cross))


@final
class BlockMomentPath(_VectorPath):
    """Generalised cross-validation, which needs no rows."""

    def __init__(self, problem: BlockMomentProblem, scale: Array, s: Array, V: Array, b: Array) -> None:
        super().__init__(problem, scale, s, V, b / np.maximum(s, _TINY)[:, None])
        self._sums, self._b = problem, b[:, 0]

    def scores(self, alphas: Array) -> Scores:
        p, s2 = self._sums, self.s[:, None] ** 2
        explained = self._b**2 @ ((s2 + 2 * alphas) / (s2 + alphas) ** 2)
        left_over = np.maximum(p.squares - explained, p.rounding * p.squares)
        freedom = np.maximum(p.freedom - np.sum(s2 / (s2 + alphas), axis=0), 1e-3)
        error = left_over / p.variance * p.weight / freedom**2
        return Scores(error, 0.5 * np.log(np.maximum(error, _TINY)))

    def noise_variance(self, alpha: float) -> Array:
        quadratic = self._sums.squares - (1.0 / (self.s**2 + alpha)) @ self._b**2
        return np.array([max(quadratic, 0.0) / self._sums.freedom])
