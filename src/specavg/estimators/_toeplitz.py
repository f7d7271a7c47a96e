"""Ridge regression where the Gram matrix is Toeplitz: conjugate gradients, and no matrix at all.

On a torus of few dimensions the Gram matrix multiplies a vector by two FFTs, whatever n is. With S² the spectrum,
(S G S + α) x = b is solved by conjugate gradients, preconditioned by its diagonal under uniform sampling, Σw S² + α:
the number of steps then depends on how uneven the data are, not on the spectrum and hardly on α. Leave-one-out needs
rows; generalised cross-validation needs a trace, which a few random signs estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg.estimators._ridge_paths import Path, Problem, Scores, degrees_of_freedom

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["ToeplitzPath", "ToeplitzPosterior", "ToeplitzProblem"]

Array = NDArray[np.float64]
_SOLVED = 1e-13  # of the preconditioned residual, relative
_SCORED = 1e-6  # good enough to compare penalties
_STEPS = 2000
_VARIANCE = 1e-8
_PROBES = 8
_VARIANCE_COLUMNS = 128


@final
class ToeplitzProblem(Problem):
    """Sums over data that a Toeplitz Gram matrix needs: one non-uniform FFT.

    Parameters
    ----------
    operator : ToeplitzGram
    correlation : ndarray of shape (dim, 1 + q)
        Both from `InvariantBasis.gram_operator`; the first function is the constant.
    targets : ndarray of shape (n, q)
    weights : ndarray of shape (n,)

    Attributes
    ----------
    iterations : int
        Steps of conjugate gradients that the last solution took.
    """

    smallest_alpha = 1e-12
    solver: ClassVar[str] = "toeplitz"

    def __init__(self, operator: Any, correlation: Array, targets: Array, weights: Array) -> None:
        self.operator = operator
        self.count = int(np.count_nonzero(weights))
        self.weight = float(weights.sum())
        features = correlation[1:, 0]
        totals = weights @ targets
        self.mean_features = features / self.weight
        self.mean_targets = totals / self.weight
        self.cross = correlation[1:, 1:] - np.outer(features, totals / self.weight)
        centred = targets - self.mean_targets
        self.squares = weights @ centred**2
        noise_floor = 1e-14 * (weights @ targets**2)
        self.unit = np.where(self.squares > noise_floor, self.squares / self.weight, np.inf)
        self.iterations = 0

    def path(self, scale: Array) -> ToeplitzPath:
        return ToeplitzPath(self, scale)

    def posterior(self, basis: InvariantBasis, scale: Array, alpha: float) -> ToeplitzPosterior:
        """What predictions with a standard deviation need."""
        return ToeplitzPosterior(self.weight, self.mean_features, scale, alpha, self.operator.density, basis)


@final
class ToeplitzPath(Path):
    """Solutions for one spectrum, each by conjugate gradients; penalties in the units of Σw."""

    def __init__(self, problem: ToeplitzProblem, scale: Array) -> None:
        self._problem = problem
        self.scale = scale
        self._b = scale[:, None] * problem.cross
        signs = np.random.default_rng(20250713).integers(0, 2, size=(len(scale), _PROBES))
        self._probes = 2.0 * signs - 1.0
        self._solved: tuple[float, Array] | None = None

    @property
    def count(self) -> int:
        return self._problem.count

    @property
    def top(self) -> float:
        return self._problem.weight * float(self.scale.max(initial=0.0)) ** 2

    def _solve(self, right: Array, alpha: float, tolerance: float, start: Array | None = None) -> Array:
        p = self._problem
        x, p.iterations = solved(p.operator, p.weight, p.mean_features, self.scale, alpha, right, tolerance, start)
        return x

    def _solution(self, alpha: float) -> Array:
        if self._solved is None or self._solved[0] != alpha:
            self._solved = alpha, self._solve(self._b, alpha, _SOLVED)
        return self._solved[1]

    def coefficients(self, alpha: float) -> Array:
        return self.scale[:, None] * self._solution(alpha)

    def scores(self, alphas: Array) -> Scores:
        """Generalised cross-validation; the trace by random signs, exact where functions do not mix."""
        p, error = self._problem, []
        right: Array = np.concatenate([self._b, self._probes], axis=1, dtype=np.float64)
        x: Array | None = None
        for alpha in alphas:
            x = self._solve(right, float(alpha), _SCORED, x)
            q = self._b.shape[1]
            explained = np.sum(self._b * x[:, :q], axis=0) + alpha * np.sum(x[:, :q] ** 2, axis=0)
            trace = float(np.mean(np.sum(self._probes * x[:, q:], axis=0)))
            left_over = np.maximum(p.squares - explained, 1e-15 * p.squares)
            freedom = max(p.weight - 1.0 - (len(self.scale) - alpha * trace), 1e-3)
            error.append(np.mean(left_over / p.unit) * p.weight / freedom**2)
        table = np.array(error)
        return Scores(table, 0.5 * np.log(np.maximum(table, np.finfo(float).tiny)))

    def noise_variance(self, alpha: float) -> Array:
        p = self._problem
        quadratic = p.squares - np.sum(self._b * self._solution(alpha), axis=0)
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.weight, p.count)


@dataclass(frozen=True, eq=False)
class ToeplitzPosterior:
    """The variance of f(x) in units of the noise variance: 1/Σw + z(S G S + α)⁻¹zᵀ, z centred and scaled.

    Nothing is decomposed: each point takes a solution by conjugate gradients, many points together.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    alpha: float
    density: Array  # what the operator keeps of the data
    basis: InvariantBasis

    def variance(self, features: Array) -> Array:
        """At points with these features, the constant left out."""  # (n, D) -> (n,)
        operator = self.basis.gram_of_density(self.density)
        Z = (features - self.mean) * self.scale
        values = np.empty(len(Z))
        for start in range(0, len(Z), _VARIANCE_COLUMNS):
            right = np.ascontiguousarray(Z[start : start + _VARIANCE_COLUMNS].T)
            x, _ = solved(operator, self.weight, self.mean, self.scale, self.alpha, right, _VARIANCE)
            values[start : start + _VARIANCE_COLUMNS] = np.sum(right * x, axis=0)
        return 1.0 / self.weight + values


def solved(
    operator: Any,
    weight: float,
    mean: Array,
    scale: Array,
    alpha: float,
    right: Array,
    tolerance: float,
    start: Array | None = None,
) -> tuple[Array, int]:
    """(S G S + α)⁻¹ right for all columns, G the centred Gram matrix without the constant; and the steps taken."""
    s = scale[:, None]

    def multiply(C: Array) -> Array:
        scaled = s * C
        product = (operator @ np.concatenate([np.zeros((1, C.shape[1])), scaled]))[1:]
        return s * (product - np.outer(weight * mean, mean @ scaled)) + alpha * C

    return conjugate_gradients(multiply, right, 1.0 / (weight * s**2 + alpha), tolerance, start)


def conjugate_gradients(
    multiply: Any, right: Array, inverse: Array, tolerance: float, start: Array | None = None
) -> tuple[Array, int]:
    """Solve A x = right for every column at once, A symmetric positive; `inverse` is a diagonal preconditioner.

    Returns
    -------
    x : ndarray of the shape of `right`
    iterations : int

    Raises
    ------
    ValueError
        If a residual does not fall below `tolerance`, relative, in 2000 steps.
    """
    x = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - multiply(x)
    z = inverse * residual
    direction = z.copy()
    energy = np.sum(residual * z, axis=0)
    goal = tolerance**2 * np.sum(right * inverse * right, axis=0)
    best, since = np.inf, 0
    for step in range(_STEPS):
        open_columns = energy > goal
        if not open_columns.any():
            return x, step
        worst = float(np.max(energy[open_columns] / goal[open_columns]))
        best, since = (worst, 0) if worst < 0.5 * best else (best, since + 1)
        if since > 50 and worst < 1e6:  # rounding is reached: further steps change the last digits only
            return x, step
        product = multiply(direction)
        curvature = np.sum(direction * product, axis=0)
        length = np.divide(energy, curvature, out=np.zeros_like(energy), where=open_columns & (curvature > 0))
        x += length * direction
        residual -= length * product
        z = inverse * residual
        before, energy = energy, np.sum(residual * z, axis=0)
        direction = z + np.divide(energy, before, out=np.zeros_like(energy), where=before > 0) * direction
    worst = float(np.sqrt(np.max(energy / np.maximum(goal, 1e-300)))) * tolerance
    raise ValueError(
        f"conjugate gradients did not converge in {_STEPS} steps: relative residual {worst:.2g}, wanted "
        f"{tolerance:.0e}. The data leave large parts of the torus empty; give a larger alpha or a lower cutoff."
    )
