"""Paths from a decomposition: singular values of the features, or eigenvalues of their moments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._calibration import Calibration
from specavg.regression._reduced_rows import LongVectors
from specavg.regression._regression_problem import Path, Posterior, Problem

_FIRST = 8  # one in so many directions is enough for a bound on what the data show, in an eighth of the time


class DecomposedPath(Path):
    """The solutions from F = U diag(s) Vᵀ, F the centred scaled features: every α is a division.

    Parameters
    ----------
    problem : Problem
    scale : ndarray of shape (D,)
        √spectrum, relative to its largest value; F is the features times it.
    s : ndarray of shape (r,)
        Singular values, decreasing.
    V : ndarray of shape (D, r) or LongVectors
    c : ndarray of shape (r, q)
        Uᵀy.
    """

    def __init__(self, problem: Problem, scale: Array, s: Array, V: Array | LongVectors, c: Array) -> None:
        self._problem = problem
        self.scale, self.s, self.V, self.c = scale, s, V, c

    def right_vectors(self) -> Array:
        """All of V, which takes time where it is long."""  # (D, r)
        return self.V if isinstance(self.V, np.ndarray) else self.V.all()

    @property
    def top(self) -> float:
        return float(self.s[0] ** 2) if len(self.s) else 0.0

    def coefficients(self, alpha: float | Array) -> Array:
        """Coefficients of the unscaled features; α may be one number for each output."""
        s = self.s[:, None]
        return self.scale[:, None] * self.combined_directions(s / (s**2 + alpha) * self.c)

    def freedom(self, alpha: float | Array) -> float:
        squares = self.s[:, None] ** 2
        shares = np.sum(squares / (squares + alpha), axis=0)
        return 1.0 + (float(shares.mean()) if len(shares) else 0.0)  # of constant outputs only the constant is fitted

    def combined_directions(self, weights: Array) -> Array:
        """V times some columns."""  # (r, k) -> (D, k)
        return self.V @ weights if isinstance(self.V, np.ndarray) else self.V.times(weights)

    def shown(self, alpha: float, functions: NDArray[np.intp]) -> Array:
        """L = Σ V² s²/(s² + α) of some functions: the share of each that the data can show."""  # (k,) -> (k,)
        if isinstance(self.V, np.ndarray):
            return self.V[functions] ** 2 @ (self.s**2 / (self.s**2 + alpha))
        return self.V.reached(functions) ** 2 @ (1.0 / (self.s**2 + alpha))

    def least_shown(self, alpha: float) -> Array:
        """A lower bound on `shown` of every function, in less time where V is long and not yet found."""  # (D,)
        V = self.V
        if isinstance(V, np.ndarray):
            return self.shown(alpha, np.arange(len(V)))
        first = len(self.s) // _FIRST
        if not first:
            return np.zeros(len(self.scale))
        # Of what the first directions leave of a function, no direction shows less than the next.
        along, squares = V.along(first)
        rest = np.maximum(squares - np.sum(along**2, axis=1), 0.0)
        return along**2 @ (1.0 / (self.s[:first] ** 2 + alpha)) + rest / (self.s[first] ** 2 + alpha)

    def posterior(self, alpha: float, calibration: Calibration | None = None) -> DecomposedPosterior:
        found = self.posterior_of(np.array([alpha]), self.noise_variance(alpha)[None], calibration)
        own, *slopes = self.noise_of_kinds(alpha)
        if not slopes:
            return found
        # Values alone tell the constant: its variance is at least that of their mean, whatever the noise of both kinds
        # in common is, and however well the derivatives, most of the rows, were predicted.
        common, factor = self.noise_variance(alpha), 1.0 if calibration is None else calibration.factor[0]
        of_mean = np.maximum(factor * np.maximum(own, common), own)
        return replace(found, floor=found.floor + (of_mean - factor * common) / self._problem.weight)

    def posterior_of(self, alphas: Array, noise: Array, calibration: Calibration | None = None) -> DecomposedPosterior:
        """The posterior for several penalties, each with its share of the noise."""  # (A,), (A, q)
        p = self._problem
        floor = np.zeros(noise.shape[1])
        if calibration is not None:
            floor = calibration.share @ noise
            noise = calibration.factor[:, None] * noise
        return DecomposedPosterior(p.weight, p.mean_features, self.scale, self.s, alphas, noise, floor, self.V)


@final
@dataclass(frozen=True, eq=False)
class DecomposedPosterior(Posterior):
    """The variance of f(x): the noise variance times 1/Σw + z(FᵀF + αI)⁻¹zᵀ, z centred and scaled, and `floor`.

    With several penalties it is a sum over them, each with its share of the noise.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    s: Array  # (r,)
    alphas: Array  # (A,)
    noise: Array  # (A, q), the share of each in the noise variance of each output
    floor: Array  # (q,), the variance of what no function of the basis shows; slopes of it are not known
    V: Array | LongVectors  # (D, r)
    unit: Array = field(default_factory=lambda: np.ones(1))

    def right_vectors(self) -> Array:
        """All of V, found when it is first asked for: only error bars need it."""  # (D, r)
        if isinstance(self.V, np.ndarray):
            return self.V
        found = self.V.all()
        object.__setattr__(self, "V", found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "V": self.right_vectors()}

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        z = (features if slopes else features - self.mean) * self.scale
        V = self.right_vectors()
        seen = z @ V
        relative = (0.0 if slopes else 1.0 / self.weight) + seen**2 @ (1.0 / (self.s[:, None] ** 2 + self.alphas))
        if V.shape[1] < V.shape[0]:  # there are directions no data point has
            relative += np.sum((z - seen @ V.T) ** 2, axis=1)[:, None] / self.alphas
        return relative @ self.noise + (0.0 if slopes else self.floor)
