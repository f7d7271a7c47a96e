"""Paths from a decomposition: singular values of the features, or eigenvalues of their moments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.regression._calibration import Calibration
from specavg.regression._regression_problem import Path, Posterior, Problem

__all__ = ["DecomposedPath", "DecomposedPosterior"]


class DecomposedPath(Path):
    """The solutions from F = U diag(s) Vᵀ, F the centred scaled features: every α is a division.

    Parameters
    ----------
    problem : Problem
    scale : ndarray of shape (D,)
        √spectrum, relative to its largest value; F is the features times it.
    s : ndarray of shape (r,)
        Singular values, decreasing.
    V : ndarray of shape (D, r)
    c : ndarray of shape (r, q)
        Uᵀy.
    """

    def __init__(self, problem: Problem, scale: Array, s: Array, V: Array, c: Array) -> None:
        self._problem = problem
        self.scale, self.s, self.V, self.c = scale, s, V, c

    @property
    def top(self) -> float:
        return float(self.s[0] ** 2) if len(self.s) else 0.0

    def coefficients(self, alpha: float | Array) -> Array:
        """Coefficients of the unscaled features; α may be one number for each output."""
        s = self.s[:, None]
        return self.scale[:, None] * (self.V @ (s / (s**2 + alpha) * self.c))

    def posterior(self, alpha: float) -> DecomposedPosterior:
        return self.posterior_of(np.array([alpha]), self.noise_variance(alpha)[None])

    def posterior_of(self, alphas: Array, noise: Array, calibration: Calibration | None = None) -> DecomposedPosterior:
        """The posterior for several penalties, each with its share of the noise."""  # (A,), (A, q)
        p = self._problem
        floor = np.zeros(noise.shape[1])
        if calibration is not None:
            floor = calibration.share @ noise
            noise = calibration.factor[:, None] * noise
        return DecomposedPosterior(p.weight, p.mean_features, self.scale, self.V, self.s, alphas, noise, floor)


@final
@dataclass(frozen=True, eq=False)
class DecomposedPosterior(Posterior):
    """The variance of f(x): the noise variance times 1/Σw + z(FᵀF + αI)⁻¹zᵀ, z centred and scaled, and `floor`.

    With several penalties it is a sum over them, each with its share of the noise.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    V: Array  # (D, r)
    s: Array  # (r,)
    alphas: Array  # (A,)
    noise: Array  # (A, q), the share of each in the noise variance of each output
    floor: Array  # (q,), the variance of what no function of the basis shows; slopes of it are not known
    unit: Array = field(default_factory=lambda: np.ones(1))

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        z = (features if slopes else features - self.mean) * self.scale
        seen = z @ self.V
        relative = (0.0 if slopes else 1.0 / self.weight) + seen**2 @ (1.0 / (self.s[:, None] ** 2 + self.alphas))
        if self.V.shape[1] < self.V.shape[0]:  # there are directions no data point has
            relative += np.sum((z - seen @ self.V.T) ** 2, axis=1)[:, None] / self.alphas
        return relative @ self.noise + (0.0 if slopes else self.floor)
