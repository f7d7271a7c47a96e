"""Ridge regression where the Gram matrix is an operator: conjugate gradients, and no matrix at all.

On tori of few dimensions, on S² and on SO(3) the Gram matrix follows from a density, and multiplies a vector by a
transform to a grid and back, whatever n is. With S² the spectrum,
(S G S + α) x = b is solved by conjugate gradients, preconditioned by its diagonal under uniform sampling, Σw S² + α:
the number of steps then depends on how uneven the data are, not on the spectrum and hardly on α. Leave-one-out needs
rows; generalised cross-validation needs a trace. Were the Gram matrix diagonal it would be a sum; what the mixing of
functions changes is small and smooth in log α, and a few random signs estimate it at some of the penalties.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np
from scipy import interpolate, linalg

from specavg._arrays import Array
from specavg._config import settings
from specavg._immutable import PickledAsMade
from specavg._random import OWN_SEED
from specavg.functions._gram_operator import GramOperator
from specavg.regression._calibration import Calibration
from specavg.regression._conjugate_gradients import NotConverged, conjugate_gradients
from specavg.regression._regression_problem import Path, Posterior, Problem, Scores, degrees_of_freedom, variation
from specavg.regression._solution_space import SolutionSpace
from specavg.regression._target_units import Units

_SOLVED = 1e-13  # relative size of the preconditioned residual at which a solution is final
_SCORED = 1e-6  # relative residual of solutions that compare penalties
_STRONGEST = 1e6  # largest penalty of a function, in units of Σw: its coefficient is then a millionth of what it was
_TRACED = 0.02  # relative residual of solutions for a trace, whose error is the square of it
_NODES = 3  # penalties from one estimate of the mixing to the next, between which it is interpolated
# Relative residual for a variance. A solution that starts at zero leaves out the square of it, times the condition of
# the preconditioned system: standard deviations have nine digits on uneven points, in two thirds of the steps.
_VARIANCE = 1e-6
_FACTOR_MEMORY = 0.5  # part of the memory limit that a factor of the Gram matrix may take
_SOLVED_NANOSECONDS = 0.05  # of a triangular solution, for each number of the matrix: 20 operations in a nanosecond
_FACTOR_COLUMNS = 64  # columns of it that are found together
_PROBES = 8  # random signs for a trace; fewer where there are so many functions that each says as much
_FEWEST_PROBES = 2
FEW_STEPS = 80  # uniform points take 10, densities with a zero up to 54; where a tenth of each axis is empty, over 100
# Points whose variances are found together: few stay in cache, and none waits for the slowest of many. 512 points take
# 0.5 to 0.8 s on T² (1,489 functions) and 1.2 to 1.7 s on S² in sixteens, 0.9 to 1.0 s and 1.8 to 2.2 s from 64 on.
_VARIANCE_COLUMNS = 16


class GramSource(Protocol):
    """Functions whose Gram matrix may be an operator, such as an invariant basis."""

    @property
    def dimension(self) -> int:
        """Of the space."""
        ...

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        """Forecasts for n rows: of the operator, and of its product with a column; None where there is none."""
        ...

    def gram_operator(self, X: Any, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        """Φᵀ diag(w) Φ as an operator, and Φᵀ(w, wY); None where it has to be formed."""
        ...

    def gram_of_density(self, density: Array) -> GramOperator:
        """The operator of `gram_operator` again, from the density that it keeps of the data."""
        ...


@final
class OperatorProblem(Problem):
    """Sums over data that a Gram matrix needs which is an operator.

    Parameters
    ----------
    source : GramSource
        The functions; the first is the constant.
    operator : GramOperator
    correlation : ndarray of shape (dim, 1 + q)
        Both from `GramSource.gram_operator` with `targets` in `units`.
    targets : ndarray of shape (n, q)
        In `units`.
    weights : ndarray of shape (n,)
    units : Units
    """

    smallest_alpha = 1e-12
    rounding: ClassVar[float] = 1e-14

    def __init__(
        self,
        source: GramSource,
        operator: GramOperator,
        correlation: Array,
        targets: Array,
        weights: Array,
        units: Units,
    ) -> None:
        self.units = units
        self.source = source
        self.operator = operator
        self.solver = operator.solver
        self.count = int(np.count_nonzero(weights))
        self.weight = float(weights.sum())
        features = correlation[1:, 0]
        totals = weights @ targets
        self.mean_features = features / self.weight
        self.mean_targets = totals / self.weight
        self.cross = correlation[1:, 1:] - np.outer(features, self.mean_targets)
        self.squares = weights @ (targets - self.mean_targets) ** 2
        floor = 1e-14 * (weights @ targets**2) + units.rounding(self.weight)
        self.variance = variation(self.squares, self.weight, floor)
        self.gram = CentredGram(operator, self.weight, self.mean_features)
        self._solutions = SolutionSpace(self.gram.product, self.cross, self.weight)

    def estimate(self, scale: Array, alpha: float, steps: int | None = None) -> tuple[Array, Array]:
        """Coefficients to six digits, and the penalty of each: little work where a similar one was asked for before.

        A penalty of a million times the data's weight is as good as any larger one.
        """  # (D, q), (D,)
        with np.errstate(divide="ignore", over="ignore"):
            most = _STRONGEST * (self.weight + alpha / np.max(scale, initial=0.0) ** 2)
            penalty = np.minimum(alpha / scale**2, most)
        return self._solutions.solve(penalty, _SCORED, steps), penalty

    @classmethod
    def of(cls, source: GramSource, X: Array, targets: Array, weights: Array) -> OperatorProblem | None:
        """The problem where the Gram matrix of `source` is an operator; None elsewhere."""
        units = Units.of(targets)
        targets = units.applied(targets)
        found = source.gram_operator(X, weights, targets)
        return None if found is None else cls(source, *found, targets, weights, units)

    def path(self, scale: Array) -> OperatorPath:
        return OperatorPath(self, scale)

    def is_easy(self, scale: Array, alpha: float | None) -> bool:
        """Whether few steps solve it with this spectrum and α, or with the smallest α that is tried."""
        path = self.path(scale)
        smallest = self.smallest_alpha * path.top if alpha is None else alpha
        try:
            self.gram.solved(scale, smallest, path.right, _SCORED, FEW_STEPS)
        except NotConverged:
            return False
        return True


@final
class OperatorPath(Path):
    """Solutions for one spectrum, each by conjugate gradients; penalties in the units of Σw."""

    def __init__(self, problem: OperatorProblem, scale: Array) -> None:
        self._problem = problem
        self.scale = scale
        self.right = scale[:, None] * problem.cross
        # The error of a trace of D functions is √(2D/probes): 2 of 5,000 functions tell as much of it as 8 of 1,250.
        self._count = int(np.clip(_PROBES * 1250 / max(len(scale), 1), _FEWEST_PROBES, _PROBES))
        signs = np.random.default_rng(OWN_SEED).integers(0, 2, size=(len(scale), self._count))
        self._probes: Array = 2.0 * signs.astype(np.float64) - 1.0
        self._solved: tuple[float, Array] | None = None

    @property
    def top(self) -> float:
        return self._problem.weight * float(self.scale.max(initial=0.0)) ** 2

    def _solution(self, alpha: float) -> Array:
        if self._solved is None or self._solved[0] != alpha:
            p = self._problem
            c, penalty = p.estimate(self.scale, alpha)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                start = np.where((penalty == alpha / self.scale**2)[:, None], c / self.scale[:, None], 0.0)
            x, p.iterations = p.gram.solved(self.scale, alpha, self.right, _SOLVED, None, start)
            self._solved = alpha, x
        return self._solved[1]

    def coefficients(self, alpha: float) -> Array:
        return self.scale[:, None] * self._solution(alpha)

    def scores(self, alphas: Array) -> Scores:
        """Generalised cross-validation."""
        p, explained = self._problem, np.empty((len(alphas), self.right.shape[1]))
        for i, alpha in enumerate(alphas):
            c, penalty = p.estimate(self.scale, float(alpha))
            explained[i] = np.sum(p.cross * c + penalty[:, None] * c**2, axis=0)
        left_over = np.maximum(p.squares - explained, p.rounding * p.squares)
        freedom = np.maximum(p.weight - 1.0 - (len(self.scale) - self._shrunk(alphas)), 1e-3)
        table = np.mean(left_over / p.variance, axis=1) * p.weight / freedom**2
        return Scores(table, 0.5 * np.log(np.maximum(table, np.finfo(float).tiny)))

    def _shrunk(self, alphas: Array) -> Array:
        """The trace of α(S G S + α)⁻¹: how many functions each penalty takes out."""  # (A,) -> (A,)
        p = self._problem

        def unmixed(a: Array) -> Array:
            return np.sum(a / (p.weight * self.scale[:, None] ** 2 + a), axis=0)

        nodes = alphas[np.unique([*range(0, len(alphas), _NODES), len(alphas) - 1])]
        columns = np.repeat(nodes, self._count)
        signs = np.tile(self._probes, (1, len(nodes)))
        solved, _ = p.gram.solved(self.scale, columns, signs, _TRACED)
        traces = columns * np.sum(signs * solved, axis=0)
        mixing = traces.reshape(-1, self._count).mean(axis=1) - unmixed(nodes)
        if len(nodes) < len(alphas):
            order = np.argsort(nodes)
            smooth = interpolate.PchipInterpolator(np.log(nodes[order]), mixing[order])
            mixing = np.asarray(smooth(np.log(alphas)))
        return unmixed(alphas) + mixing

    def freedom(self, alpha: float | Array) -> float:
        return 1.0 + len(self.scale) - float(self._shrunk(np.atleast_1d(alpha)).mean())

    def noise_variance(self, alpha: float) -> Array:
        p = self._problem
        quadratic = p.squares - np.sum(self.right * self._solution(alpha), axis=0)
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.weight, p.count)

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration:
        """That of one penalty."""
        p, alpha = self._problem, float(alphas[0])
        c, noise, freedom = self.coefficients(alpha), self.noise_variance(alpha), self.freedom(alpha)
        # |y|² − 2 b·c + cᵀGc, where (G + α/s²) c = b.
        left_over = p.squares - np.sum(p.cross * c, axis=0) - alpha * np.sum(self._solution(alpha) ** 2, axis=0)
        return Calibration.of_sums(left_over, noise, freedom, self.scale, alpha, p.count, p.source.dimension, hidden)

    def posterior(self, alpha: float, calibration: Calibration | None = None) -> OperatorPosterior:
        p, noise = self._problem, self.noise_variance(alpha)
        floor = np.zeros_like(noise)
        if calibration is not None:
            noise, floor = calibration.factor * noise, calibration.share * noise
        known = p.weight, p.mean_features, self.scale, alpha, noise, p.operator.density, p.source
        return OperatorPosterior(*known, floor=floor)


@final
@dataclass(frozen=True, eq=False)
class OperatorPosterior(PickledAsMade, Posterior):
    """The variance of f(x): the noise variance times 1/Σw + z(S G S + α)⁻¹zᵀ, z centred and scaled, and `floor`.

    Each point takes a solution by conjugate gradients, until these have taken as many products with G as G has columns.
    Then G is formed and factored where it fits in memory and triangular solutions are forecast to take less than half
    of the time, and every further point takes one.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    alpha: float
    noise: Array  # (q,)
    density: Array  # what the operator keeps of the data
    basis: GramSource
    unit: Array = field(default_factory=lambda: np.ones(1))
    floor: Array = field(default_factory=lambda: np.zeros(1))  # (q,), the variance of what no function shows

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        values = self._solver.quadratic_forms((features if slopes else features - self.mean) * self.scale)
        if slopes:
            return np.multiply.outer(values, self.noise)
        return np.multiply.outer(1.0 / self.weight + values, self.noise) + self.floor

    @cached_property
    def _solver(self) -> _InverseForms:
        """What is kept from one call to the next; it is not saved."""
        gram = CentredGram(self.basis.gram_of_density(self.density), self.weight, self.mean)
        forecast = self.basis.gram_nanoseconds(1)  # the time of a product does not depend on the number of rows
        return _InverseForms(gram, self.scale, self.alpha, 0.0 if forecast is None else forecast[1])


@final
class _InverseForms:
    """z(S G S + α)⁻¹zᵀ for many z.

    Parameters
    ----------
    gram : CentredGram
    scale : ndarray of shape (D,)
    alpha : float
    nanoseconds : float
        Forecast of a product with G.
    """

    def __init__(self, gram: CentredGram, scale: Array, alpha: float, nanoseconds: float) -> None:
        self._gram, self._scale, self._alpha, self._nanoseconds = gram, scale, alpha, nanoseconds
        self._solutions = 0
        self._products = 0  # columns that G was multiplied by
        self._factor: Array | None = None  # L of S G S + α = L Lᵀ

    def quadratic_forms(self, Z: Array) -> Array:
        """Of each row of Z."""  # (n, D) -> (n,)
        values = np.empty(len(Z))
        for start in range(0, len(Z), _VARIANCE_COLUMNS):
            if self._factor is None and self._products >= len(self._scale) and self._pays:
                self._factor = self._factored()
            if self._factor is not None:
                solved = linalg.solve_triangular(self._factor, Z[start:].T, lower=True, check_finite=False)
                values[start:] = np.einsum("dn,dn->n", solved, solved)
                break
            some = slice(start, start + _VARIANCE_COLUMNS)
            right = np.ascontiguousarray(Z[some].T)
            x, steps = self._gram.solved(self._scale, self._alpha, right, _VARIANCE)
            self._products += steps * right.shape[1]
            self._solutions += right.shape[1]
            values[some] = np.sum(right * x, axis=0)
        return values

    @property
    def _pays(self) -> bool:
        squared = float(len(self._scale)) ** 2
        fits = 8.0 * squared <= _FACTOR_MEMORY * settings().memory_limit
        return fits and self._products / self._solutions * self._nanoseconds > 2.0 * _SOLVED_NANOSECONDS * squared

    def _factored(self) -> Array:
        D = len(self._scale)
        A = np.empty((D, D), order="F")
        for start in range(0, D, _FACTOR_COLUMNS):
            columns = np.arange(start, min(start + _FACTOR_COLUMNS, D))
            unit = np.zeros((D, len(columns)))
            unit[columns, columns - start] = self._scale[columns]
            A[:, columns] = self._scale[:, None] * self._gram.product(unit)
        A[np.diag_indices(D)] += self._alpha
        return linalg.cholesky(A, lower=True, overwrite_a=True, check_finite=False)


class CentredGram(NamedTuple):
    """G: the Gram matrix of centred functions, without the constant. It is multiplied by and never formed."""

    operator: GramOperator  # of the functions as they are, the constant first
    weight: float
    mean: Array  # of each function, (D,)

    def product(self, C: Array) -> Array:
        """G C."""  # (D, q) -> (D, q)
        product = (self.operator @ np.concatenate([np.zeros((1, C.shape[1])), C]))[1:]
        return product - np.outer(self.weight * self.mean, self.mean @ C)

    def solved(
        self,
        scale: Array,
        alpha: float | Array,
        right: Array,
        tolerance: float,
        steps: int | None = None,
        start: Array | None = None,
    ) -> tuple[Array, int]:
        """(S G S + α)⁻¹ right for all columns, and the steps taken; α is one number or one for each column."""
        s = scale[:, None]
        shift = np.broadcast_to(np.asarray(alpha, dtype=float), right.shape[1:])

        def multiply(C: Array) -> Array:
            return s * self.product(s * C)

        return conjugate_gradients(multiply, shift, right, self.weight * s**2, tolerance, steps, start)
