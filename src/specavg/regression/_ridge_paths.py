"""Ridge regression for every penalty at once: one decomposition per spectrum, leave-one-out in closed form."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg.data._moments import Moments

__all__ = [
    "FeaturePath",
    "FeatureProblem",
    "MomentProblem",
    "Path",
    "Problem",
    "Scores",
    "degrees_of_freedom",
    "joint_score",
]

Array = NDArray[np.float64]
_TINY = float(np.finfo(float).tiny)
_SMALL = 400  # rows
_VALUES_HELD = 4e6  # residuals held at once
_SAME_ORBIT = 1e-10  # features closer than this, relative to their size, are those of one orbit


@dataclass(frozen=True)
class Scores:
    """How well each penalty predicts what it has not seen; outputs are standardised first.

    Attributes
    ----------
    error : ndarray of shape (n_alphas,)
        Mean squared leave-one-out error (generalised cross-validation where only moments are known).
    density : ndarray of shape (n_alphas,)
        Minus the mean log density of what was left out under its Gaussian prediction, up to a constant; the
        noise is profiled out.
    """

    error: Array
    density: Array

    @property
    def joint(self) -> Array:
        """What is compared, the smaller the better: the density, and half as much the logarithm of the error."""
        return joint_score(np.sqrt(self.error), self.density)


def joint_score(error: Any, density: Any) -> Any:
    """The density, and half as much the logarithm of the root mean squared error."""
    return density + 0.5 * np.log(np.maximum(error, 1e-300))


class Path(abc.ABC):
    """The ridge solutions for all α of one spectrum: F = U diag(s) Vᵀ, F the centred scaled features.

    Attributes
    ----------
    scale : ndarray of shape (D,)
        √spectrum, relative to its largest value; F is the features times it.
    s : ndarray of shape (r,)
        Singular values, decreasing.
    V : ndarray of shape (D, r)
    """

    scale: Array
    s: Array
    V: Array
    _c: Array  # Uᵀ y, (r, q)

    @property
    @abc.abstractmethod
    def count(self) -> int:
        """Rows, those on one orbit counted once."""

    @property
    def top(self) -> float:
        """The largest s²: penalties are measured by it."""
        return float(self.s[0] ** 2) if len(self.s) else 0.0

    @abc.abstractmethod
    def scores(self, alphas: Array) -> Scores:
        """Every α tried, without a refit."""

    @abc.abstractmethod
    def noise_variance(self, alpha: float) -> Array:
        """σ², by restricted maximum likelihood given α = σ²/τ²."""  # (q,)

    def coefficients(self, alpha: float) -> Array:
        """Of the unscaled features."""  # (D, q)
        return self._coefficients(alpha)

    def _coefficients(self, alpha: float | Array) -> Array:
        s = self.s[:, None]
        return self.scale[:, None] * (self.V @ (s / (s**2 + alpha) * self._c))


class Problem(abc.ABC):
    """Centred, weighted data, ready to be decomposed for any spectrum.

    Attributes
    ----------
    weight : float
        Σw.
    mean_features, mean_targets : ndarray of shape (D,), (q,)
        Weighted means: centring by them is what leaves the constant unpenalised.
    """

    weight: float
    mean_features: Array
    mean_targets: Array
    count: int  # rows, those on one orbit counted once
    smallest_alpha: float  # relative to `Path.top`: below it, rounding decides
    rounding: ClassVar[float]  # of a squared error, relative to the variance of the targets
    solver: ClassVar[str]  # what `InvariantKernelRidge.solver_` says

    @abc.abstractmethod
    def path(self, scale: Array, *, scores_only: bool = False) -> Path:
        """The decomposition for one spectrum; for `Path.scores` alone it may be cheaper."""


@final
class FeatureProblem(Problem):
    """From the features themselves: singular values keep the digits that squaring would lose.

    Rows on one orbit have the same features: leaving out one of them would leave its twin. They are merged into
    one row (their weights added, their targets averaged), which is the same least-squares problem, and
    leave-one-out becomes leave-one-orbit-out.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Without the constant.
    targets : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    half_digits : bool, default False
        Decompose the kernel matrix of fewer rows than functions: three times as fast, for `Path.scores` alone, where
        what follows has half of the digits anyway.
    """

    smallest_alpha = 1e-18
    rounding: ClassVar[float] = 0.0  # negligible: errors are not differences of squares
    solver: ClassVar[str] = "features"

    def __init__(self, features: Array, targets: Array, weights: Array, *, half_digits: bool = False) -> None:
        first, label = _orbits(features)
        w = np.bincount(label, weights)
        means = np.stack([np.bincount(label, weights * y) for y in targets.T], axis=1) / w[:, None]
        self.count = len(w)
        self.weight = float(w.sum())
        self.within = np.sqrt(weights)[:, None] * (targets - means[label])  # (n, q) around the mean of each orbit
        features = features[first]
        self.mean_features = w @ features / self.weight
        self.mean_targets = w @ means / self.weight
        self.root = np.sqrt(w)
        self.centred = Y = (means - self.mean_targets) * self.root[:, None]
        variance = np.sum(Y**2, axis=0) / self.weight
        noise_floor = (1e-14 * np.abs(means).max(axis=0, initial=0.0)) ** 2  # a constant target varies by rounding
        self.unit = np.where(variance > noise_floor, variance, np.inf)
        self._reflection = _reflection(self.root)
        core = self._forth((features - self.mean_features) * self.root[:, None])  # (n − 1, D)
        Y = self._forth(Y)
        self._Q: Array | None = None
        rest = np.zeros_like(Y)
        if core.shape[0] > core.shape[1]:  # one QR serves every spectrum
            factors: Any = linalg.qr(core, mode="economic", check_finite=False)
            Q, core = factors
            self._Q, projected = Q, Q.T @ Y
            rest, Y = Y - Q @ projected, projected
        self._core, self._Y = core, Y
        self.rest = self._back(rest)  # the part of the targets no feature reaches
        self._squared = half_digits and core.shape[0] < core.shape[1]
        if self._squared:
            self.smallest_alpha = MomentProblem.smallest_alpha

    def path(self, scale: Array, *, scores_only: bool = False) -> FeaturePath:
        with _few_threads(self.count):
            return self._path(scale, scores_only)

    def _path(self, scale: Array, scores_only: bool) -> FeaturePath:
        if self._squared:
            syrk: Any = linalg.get_blas_funcs("syrk", dtype=np.float64)
            K = syrk(1.0, (self._core * scale).T, trans=1)  # the upper triangle
            values, U = linalg.eigh(K, lower=False, driver="evd", overwrite_a=True, check_finite=False)
            s, U = np.sqrt(np.maximum(values[::-1], 0.0)), U[:, ::-1]
            return FeaturePath(self, scale, s, np.empty((len(scale), 0)), U.T @ self._Y, self._back(U))
        core = self._core * scale
        n, D = core.shape
        if scores_only and n < D:  # V is as long as there are functions, and is not asked for
            triangle: Any = linalg.qr(core.T, mode="r", overwrite_a=True, check_finite=False)
            U, s, _ = linalg.svd(triangle[0][:n].T, check_finite=False)
            return FeaturePath(self, scale, s, np.empty((D, 0)), U.T @ self._Y, self._back(U))
        U, s, Vt = linalg.svd(core, full_matrices=False, check_finite=False)
        left = self._back(U if self._Q is None else self._Q @ U)
        return FeaturePath(self, scale, s, Vt.T, U.T @ self._Y, left)

    def _forth(self, rows: Array) -> Array:
        """Rows in an orthonormal basis of the complement of √w: one row less, exactly."""
        u = self._reflection
        return (rows - 2.0 * np.outer(u, u @ rows))[1:]

    def _back(self, rows: Array) -> Array:
        u = self._reflection
        rows = np.concatenate([np.zeros((1, rows.shape[1])), rows])
        return rows - 2.0 * np.outer(u, u @ rows)


@final
class FeaturePath(Path):
    """Exact leave-one-out from the left singular vectors; α may be one number for each output."""

    def __init__(self, problem: FeatureProblem, scale: Array, s: Array, V: Array, c: Array, left: Array) -> None:
        self._problem = problem
        self.scale, self.s, self.V, self._c, self._left = scale, s, V, c, left
        self._rest, self._within, self._unit = problem.rest, problem.within, problem.unit

    @property
    def count(self) -> int:
        return self._problem.count

    @property
    def weight(self) -> float:
        """Σw."""
        return self._problem.weight

    @property
    def targets(self) -> Array:
        """Centred, times the root of the weight."""  # (n, q)
        return self._problem.centred

    @property
    def target_variance(self) -> Array:
        """Of each output; infinite where it is a constant."""  # (q,)
        return self._unit

    def combined(self, weights: Array) -> FeaturePath:
        """The same decomposition for combinations of the outputs, in units of their own."""  # (q, r) of weights
        path = FeaturePath(self._problem, self.scale, self.s, self.V, self._c @ weights, self._left)
        path._rest, path._within, path._unit = self._rest @ weights, self._within @ weights, np.ones(weights.shape[1])
        return path

    def coefficients(self, alpha: float | Array) -> Array:
        return self._coefficients(alpha)

    def left_out(self, alphas: Array) -> Iterator[tuple[slice, Array, Array]]:
        """What is left out less its prediction, times the root of its weight, for each of `alphas`.

        Yields
        ------
        some : slice
            Of `alphas`: as many as fit in memory together.
        residual : ndarray of shape (n, A, q)
        h : ndarray of shape (n, A)
            [(K + αI)⁻¹]_ii on the complement of the constant: the inverse variance of the prediction.
        """
        # With H the hat matrix, (y − ŷ)/α = (K + αI)⁻¹y and (1 − H_ii)/α = [(K + αI)⁻¹]_ii on the complement of
        # the constant. Dividing the two never subtracts nearly equal numbers, however small α is.
        p = self._problem
        squares = self._left**2
        full = len(self.s) == p.count - 1  # then nothing lies outside the features
        outside = np.maximum(1.0 - p.root**2 / p.weight - squares.sum(axis=1), 0.0)[:, None]
        (n, _), q = self._left.shape, self._c.shape[1]
        together = max(1, int(_VALUES_HELD / max(n * q, 1)))
        for start in range(0, len(alphas), together):
            some = slice(start, start + together)
            a = alphas[some]
            G = 1.0 / (self.s[:, None] ** 2 + a)  # (r, A)
            residual = self._left @ (G[:, :, None] * self._c[:, None, :]).reshape(len(self.s), -1)
            residual = residual.reshape(n, len(a), q)
            h = squares @ G  # (n, A)
            if not full:
                residual, h = residual + self._rest[:, None, :] / a[:, None], h + outside / a
            h = np.maximum(h, _TINY)
            yield some, residual / h[:, :, None], h

    def left_out_by_output(self, alpha: Array) -> Array:
        """The same, with the α of each output."""  # (q,) -> (n, q)
        values = np.empty((self.count, len(alpha)))
        different, mine = np.unique(alpha, return_inverse=True)
        for some, residual, _ in self.left_out(different):
            for i, a in enumerate(range(*some.indices(len(different)))):
                values[:, mine == a] = residual[:, i, mine == a]
        return values

    def scores(self, alphas: Array) -> Scores:
        # Every output has noise of its own size, which is profiled out of the density.
        each = self.scores_by_output(alphas)
        return Scores(each.error.mean(axis=1), each.density.mean(axis=1))

    def scores_of_all(self, alphas: Array) -> Scores:
        """The scores with noise of the same size, in standard deviations, in all outputs: the noisiest decide."""
        error, density = np.empty(len(alphas)), np.empty(len(alphas))
        for some, residual, h in self.left_out(alphas):
            squared = np.mean(residual**2 / self._unit, axis=2)  # (n, A)
            error[some], density[some] = self._scores(squared, h)
        return Scores(error, density)

    def scores_by_output(self, alphas: Array) -> Scores:
        """The scores of each output by itself; arrays of shape (n_alphas, q)."""
        error, density = (np.empty((len(alphas), self._c.shape[1])) for _ in range(2))
        for some, residual, h in self.left_out(alphas):
            error[some], density[some] = self._scores(residual**2 / self._unit, h[:, :, None])
        return Scores(error, density)

    def _scores(self, squared: Array, h: Array) -> tuple[Array, Array]:
        profile = np.maximum(np.mean(squared * h, axis=0), _TINY)
        return squared.sum(axis=0) / self._problem.weight, 0.5 * (np.log(profile) - np.mean(np.log(h), axis=0))

    def noise_variance(self, alpha: float | Array, back: Array | None = None) -> Array:
        """σ² of each output, or of their combinations with the columns of `back`."""
        p = self._problem
        shrunk = np.sqrt(alpha / (self.s[:, None] ** 2 + alpha)) * self._c
        parts = (shrunk, self._rest, self._within)
        squares = [np.sum((part if back is None else part @ back) ** 2, axis=0) for part in parts]
        return np.sum(squares, axis=0) / degrees_of_freedom(p.weight, p.count)


@final
class MomentProblem(Problem):
    """From moments alone: any number of rows, half of the digits.

    Parameters
    ----------
    moments : Moments
        With a Gram matrix; the first function is the constant.
    """

    smallest_alpha = 1e-13
    rounding: ClassVar[float] = 1e-14
    solver: ClassVar[str] = "moments"

    def __init__(self, moments: Moments) -> None:
        gram, cross, squares = moments.centred()
        self.count = moments.count
        self.weight = float(moments.weight.value)
        self.mean_features = moments.features.value[1:] / self.weight
        self.mean_targets = moments.targets.value / self.weight
        self.gram, self.cross, self.squares = gram[1:, 1:], cross[1:], squares
        noise_floor = 1e-14 * moments.target_squares.value
        self.unit = np.where(squares > noise_floor, squares / self.weight, np.inf)

    def path(self, scale: Array, *, scores_only: bool = False) -> MomentPath:
        values, V = linalg.eigh(self.gram * scale * scale[:, None], check_finite=False)
        s = np.sqrt(np.maximum(values[::-1], 0.0))
        V = V[:, ::-1]
        return MomentPath(self, scale, s, V, V.T @ (scale[:, None] * self.cross))


@final
class MomentPath(Path):
    """Generalised cross-validation, which needs no rows; with many rows per function it is leave-one-out."""

    def __init__(self, problem: MomentProblem, scale: Array, s: Array, V: Array, b: Array) -> None:
        self._problem = problem
        self.scale, self.s, self.V = scale, s, V
        self._b = b  # (r, q) = diag(s) Uᵀ y
        self._c = b / np.maximum(s, _TINY)[:, None]

    @property
    def count(self) -> int:
        return self._problem.count

    def scores(self, alphas: Array) -> Scores:
        p, s2 = self._problem, self.s**2
        error = []
        for alpha in alphas:
            explained = ((s2 + 2 * alpha) / (s2 + alpha) ** 2) @ self._b**2
            left_over = np.maximum(p.squares - explained, p.rounding * p.squares)
            freedom = max(p.weight - 1.0 - float(np.sum(s2 / (s2 + alpha))), 1e-3)
            error.append(np.mean(left_over / p.unit) * p.weight / freedom**2)
        table = np.array(error)
        return Scores(table, 0.5 * np.log(np.maximum(table, _TINY)))

    def noise_variance(self, alpha: float) -> Array:
        p = self._problem
        quadratic = p.squares - (1.0 / (self.s**2 + alpha)) @ self._b**2
        return np.maximum(quadratic, 0.0) / degrees_of_freedom(p.weight, p.count)


def _few_threads(rows: int) -> Any:
    """A context for decompositions: one thread for a few hundred rows, where two take several times as long."""
    return _thread_pools().limit(limits=1, user_api="blas") if rows <= _SMALL else nullcontext()


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # which scikit-learn needs too

    return ThreadpoolController()


def degrees_of_freedom(weight: float, count: int) -> float:
    """Σw − 1, a weight of two being a repeated observation; the rows themselves where weights sum to less."""
    return max(weight - 1.0, min(count - 1.0, 1.0), 1e-300) if weight > 1 else max(count - 1.0, 1.0)


def _reflection(v: Array) -> Array:
    """The unit vector u for which I − 2uuᵀ maps `v` to a multiple of the first axis."""
    u = v / np.linalg.norm(v)
    u[0] += 1.0  # v is positive: no cancellation
    return u / np.linalg.norm(u)


def _orbits(features: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One row of each orbit, and the number of the orbit of each row."""
    n, D = features.shape
    direction = np.random.default_rng(20250713).normal(size=D) / max(D, 1) ** 0.5
    shadow = features @ direction
    order = np.argsort(shadow, kind="stable")
    size = np.sqrt(np.mean(features**2)) if features.size else 1.0
    tolerance = _SAME_ORBIT * max(float(size), 1e-300)
    near = np.diff(shadow[order]) <= tolerance
    new = np.ones(n, dtype=bool)
    for i in np.flatnonzero(near):  # few: candidates only
        difference = features[order[i + 1]] - features[order[i]]
        new[i + 1] = np.abs(difference).max(initial=0.0) > 10 * tolerance * max(D, 1) ** 0.5
    label = np.empty(n, dtype=np.intp)
    label[order] = np.cumsum(new) - 1
    return order[new], label
