"""Averages of models: what the data cannot tell apart is not decided by chance.

The candidates are spectra with penalties. With S the score of one (see `Trial.score`, a mean over n rows) its share is
proportional to exp(−n(S − min S)/1.5). The score is the density and half the logarithm of the error, which is one and a
half times a logarithm of likelihood: hence the 1.5. The average is again one vector of coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.regression._decomposed_path import DecomposedPath, DecomposedPosterior
from specavg.regression._regression_problem import Posterior

__all__ = ["AveragedPosterior", "Member", "average", "shares"]

_TEMPERATURE = 1.5  # nats of score for a factor e
_SMALLEST_SHARE = 0.02  # smaller ones are dropped: each spectrum costs a decomposition


def shares(scores: Array, rows: int) -> Array:
    """The share of each candidate, those below 2 % set to zero; they sum to one."""  # (k,) -> (k,)
    weights = np.exp(-rows * (scores - scores.min()) / _TEMPERATURE)
    weights /= weights.sum()
    weights[weights < min(_SMALLEST_SHARE, float(weights.max()))] = 0.0
    return weights / weights.sum()


@final
@dataclass(frozen=True, eq=False)
class Member:
    """One spectrum of an average.

    Attributes
    ----------
    path : DecomposedPath
    alphas : ndarray of shape (A,)
        Its penalties, in the units of the path.
    weights : ndarray of shape (A,)
        The share of each in the average.
    """

    path: DecomposedPath
    alphas: Array
    weights: Array


def average(members: Sequence[Member], mean_features: Array) -> tuple[Array, Array, Posterior]:
    """Coefficients, noise and posterior of the average."""  # (D, q), (q,)
    pairs = [(m.path, float(a), float(w)) for m in members for a, w in zip(m.alphas, m.weights, strict=True)]
    each = np.stack([path.coefficients(alpha) for path, alpha, _ in pairs])  # (k, D, q)
    weights = np.array([w for *_, w in pairs])
    noise = np.stack([path.noise_variance(alpha) for path, alpha, _ in pairs])  # (k, q)
    mean = np.tensordot(weights, each, 1)
    parts: list[DecomposedPosterior] = []
    start = 0
    for m in members:
        end = start + len(m.alphas)
        # A prior that is smoother than the target is sure of too much: rows that are left out tell by how much.
        trusted = noise[start:end] * m.path.surprise(m.alphas)
        parts.append(m.path.posterior_of(m.alphas, m.weights[:, None] * trusted))
        start = end
    if len(pairs) == 1:
        return mean, weights @ noise, parts[0]
    deviations = np.sqrt(weights)[:, None, None] * (each - mean)
    return mean, weights @ noise, AveragedPosterior(tuple(parts), mean_features, deviations)


@final
@dataclass(frozen=True, eq=False)
class AveragedPosterior(Posterior):
    """Σ w [σ_m² + (μ_m − μ)²]: the variances of the models, and how far they are apart.

    Attributes
    ----------
    parts : tuple of DecomposedPosterior
        One for each spectrum, its share in its noise.
    mean : ndarray of shape (D,)
        The mean of the features.
    deviations : ndarray of shape (k, D, q)
        Coefficients of each model less their average, times the root of its share.
    """

    parts: tuple[DecomposedPosterior, ...]
    mean: Array
    deviations: Array
    unit: Array = field(default_factory=lambda: np.ones(1))

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        centred = features if slopes else features - self.mean
        total = sum((part.variance(features, slopes=slopes) for part in self.parts), np.zeros((len(features), 1)))
        return total + sum((centred @ deviation) ** 2 for deviation in self.deviations)
