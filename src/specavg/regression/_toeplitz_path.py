"""Ridge regression where the Gram matrix is Toeplitz: conjugate gradients, and no matrix at all.

On a torus of few dimensions the Gram matrix multiplies a vector by two FFTs, whatever n is. With S² the spectrum,
(S G S + α) x = b is solved by conjugate gradients, preconditioned by its diagonal under uniform sampling, Σw S² + α:
the number of steps then depends on how uneven the data are, not on the spectrum and hardly on α. Leave-one-out needs
rows; generalised cross-validation needs a trace. Were the Gram matrix diagonal it would be a sum; what the mixing of
functions changes is small and smooth in log α, and a few random signs estimate it at some of the penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate

from specavg.regression._ridge_paths import Path, Problem, Scores, degrees_of_freedom

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["ToeplitzPath", "ToeplitzPosterior", "ToeplitzProblem"]

Array = NDArray[np.float64]
_SOLVED = 1e-13  # of the preconditioned residual, relative
_SCORED = 1e-6  # good enough to compare penalties
_TRACED = 0.02  # traces have the square of this as their error
_NODES = 3  # penalties from one estimate of the mixing to the next, between which it is interpolated
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
    rounding: ClassVar[float] = 1e-14
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

    def path(self, scale: Array, *, scores_only: bool = False) -> ToeplitzPath:
        return ToeplitzPath(self, scale)

    def posterior(self, basis: InvariantBasis, scale: Array, alpha: float, noise: Array) -> ToeplitzPosterior:
        """What predictions with a standard deviation need."""
        return ToeplitzPosterior(self.weight, self.mean_features, scale, alpha, noise, self.operator.density, basis)


@final
class ToeplitzPath(Path):
    """Solutions for one spectrum, each by conjugate gradients; penalties in the units of Σw."""

    def __init__(self, problem: ToeplitzProblem, scale: Array) -> None:
        self._problem = problem
        self.scale = scale
        self._b = scale[:, None] * problem.cross
        signs = np.random.default_rng(20250713).integers(0, 2, size=(len(scale), _PROBES))
        self._probes: Array = 2.0 * signs.astype(np.float64) - 1.0
        self._solved: tuple[float, Array] | None = None

    @property
    def count(self) -> int:
        return self._problem.count

    @property
    def top(self) -> float:
        return self._problem.weight * float(self.scale.max(initial=0.0)) ** 2

    def _solve(self, right: Array, alpha: float | Array, tolerance: float) -> Array:
        p = self._problem
        x, p.iterations = solved(p.operator, p.weight, p.mean_features, self.scale, alpha, right, tolerance)
        return x

    def _solution(self, alpha: float) -> Array:
        if self._solved is None or self._solved[0] != alpha:
            self._solved = alpha, self._solve(self._b, alpha, _SOLVED)
        return self._solved[1]

    def coefficients(self, alpha: float) -> Array:
        return self.scale[:, None] * self._solution(alpha)

    def scores(self, alphas: Array) -> Scores:
        """Generalised cross-validation, all penalties side by side."""
        p, q, A = self._problem, self._b.shape[1], len(alphas)
        shift = np.repeat(alphas, q)
        x = self._solve(np.tile(self._b, (1, A)), shift, _SCORED)
        explained = np.sum(np.tile(self._b, (1, A)) * x + shift * x**2, axis=0).reshape(A, q)
        left_over = np.maximum(p.squares - explained, p.rounding * p.squares)
        freedom = np.maximum(p.weight - 1.0 - (len(self.scale) - self._shrunk(alphas)), 1e-3)
        table = np.mean(left_over / p.unit, axis=1) * p.weight / freedom**2
        return Scores(table, 0.5 * np.log(np.maximum(table, np.finfo(float).tiny)))

    def _shrunk(self, alphas: Array) -> Array:
        """The trace of α(S G S + α)⁻¹: how many functions each penalty takes out."""  # (A,) -> (A,)
        p = self._problem

        def unmixed(a: Array) -> Array:
            return np.sum(a / (p.weight * self.scale[:, None] ** 2 + a), axis=0)

        nodes = alphas[np.unique([*range(0, len(alphas), _NODES), len(alphas) - 1])]
        columns = np.repeat(nodes, _PROBES)
        signs = np.tile(self._probes, (1, len(nodes)))
        traces = columns * np.sum(signs * self._solve(signs, columns, _TRACED), axis=0)
        mixing = traces.reshape(-1, _PROBES).mean(axis=1) - unmixed(nodes)
        if len(nodes) < len(alphas):
            order = np.argsort(nodes)
            smooth = interpolate.PchipInterpolator(np.log(nodes[order]), mixing[order])
            mixing = np.asarray(smooth(np.log(alphas)))
        return unmixed(alphas) + mixing

    def noise_variance(self, alpha: float) -> Array:
        p = self._problem
        quadratic = p.squares - np.sum(self._b * self._solution(alpha), axis=0)
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.weight, p.count)


@dataclass(frozen=True, eq=False)
class ToeplitzPosterior:
    """The variance of f(x): the noise variance times 1/Σw + z(S G S + α)⁻¹zᵀ, z centred and scaled.

    Nothing is decomposed: each point takes a solution by conjugate gradients, many points together.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    alpha: float
    noise: Array  # (q,)
    density: Array  # what the operator keeps of the data
    basis: InvariantBasis

    def variance(self, features: Array) -> Array:
        """At points with these features, the constant left out."""  # (n, D) -> (n, q)
        operator = self.basis.gram_of_density(self.density)
        Z = (features - self.mean) * self.scale
        values = np.empty(len(Z))
        for start in range(0, len(Z), _VARIANCE_COLUMNS):
            right = np.ascontiguousarray(Z[start : start + _VARIANCE_COLUMNS].T)
            x, _ = solved(operator, self.weight, self.mean, self.scale, self.alpha, right, _VARIANCE)
            values[start : start + _VARIANCE_COLUMNS] = np.sum(right * x, axis=0)
        return np.multiply.outer(1.0 / self.weight + values, self.noise)


def solved(
    operator: Any,
    weight: float,
    mean: Array,
    scale: Array,
    alpha: float | Array,
    right: Array,
    tolerance: float,
) -> tuple[Array, int]:
    """(S G S + α)⁻¹ right for all columns, G the centred Gram matrix without the constant; and the steps taken.

    α is one number or one for each column.
    """
    s = scale[:, None]

    def multiply(C: Array) -> Array:
        scaled = s * C
        product = (operator @ np.concatenate([np.zeros((1, C.shape[1])), scaled]))[1:]
        return s * (product - np.outer(weight * mean, mean @ scaled))

    shift = np.broadcast_to(np.asarray(alpha, dtype=float), right.shape[1:])
    return conjugate_gradients(multiply, shift, right, weight * s**2, tolerance)


def conjugate_gradients(
    multiply: Any, shift: Array, right: Array, diagonal: Array, tolerance: float
) -> tuple[Array, int]:
    """Solve (A + shift) x = right for every column at once, A symmetric positive and near its `diagonal`.

    Parameters
    ----------
    multiply : callable
        A times columns; only those that are not solved yet are multiplied.
    shift : ndarray of shape (q,)
        Positive.
    right : ndarray of shape (D, q)
    diagonal : ndarray of shape (D, 1)
    tolerance : float
        Of the residual in the norm of the preconditioner, relative to `right`.

    Returns
    -------
    x : ndarray of the shape of `right`
    iterations : int

    Raises
    ------
    ValueError
        If a residual does not fall below `tolerance` in 2000 steps.
    """
    x = np.zeros_like(right)
    columns = np.flatnonzero(right.any(axis=0))  # of x, still open; the arrays below have these columns only
    a, residual = shift[columns], right[:, columns].copy()
    inverse = 1.0 / (diagonal + a)
    direction = inverse * residual
    energy = np.sum(residual * direction, axis=0)
    goal = tolerance**2 * energy
    best, since = np.inf, 0
    for step in range(_STEPS):
        still = energy > goal
        if not still.all():
            columns, a, energy, goal = columns[still], a[still], energy[still], goal[still]
            residual, direction, inverse = residual[:, still], direction[:, still], inverse[:, still]
        if not len(columns):
            return x, step
        worst = float(np.max(energy / goal))
        best, since = (worst, 0) if worst < 0.5 * best else (best, since + 1)
        if since > 50 and worst < 1e6:  # rounding is reached: further steps change the last digits only
            return x, step
        product = multiply(direction) + a * direction
        length = energy / np.sum(direction * product, axis=0)
        x[:, columns] += length * direction
        residual -= length * product
        z = inverse * residual
        before, energy = energy, np.sum(residual * z, axis=0)
        direction = z + energy / before * direction
    worst = float(np.sqrt(np.max(energy / goal))) * tolerance
    raise ValueError(
        f"conjugate gradients did not converge in {_STEPS} steps: relative residual {worst:.2g}, wanted "
        f"{tolerance:.0e}. The data leave large parts of the torus empty; give a larger alpha or a lower cutoff."
    )
