"""How well data support a set of functions: the evidence of a normal prior, and a test of what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.discovery._information import Information

__all__ = ["Decay", "Subspace", "best_decay", "log_evidence", "p_values_outside"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
_EXPONENTS = (0.0, 1.0, 2.0, 4.0)  # from a flat spectrum to a steep one


@final
@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal combinations Q of the functions, each within one eigenspace.

    Attributes
    ----------
    Q : ndarray of shape (p, k)
    levels : ndarray of shape (k,)
        The eigenspace of each combination, counted from 1; the constant would be level 0.
    """

    Q: Array
    levels: Indices

    def up_to(self, last: int) -> Array:
        """The combinations of the first `last` eigenspaces, all functions being rows."""
        return self.Q[:, self.levels <= last]


@final
@dataclass(frozen=True)
class Decay:
    """The prior variance of coefficients: (1 + level)^−exponent up to the level `last`, then 0."""

    last: int
    exponent: float

    def __call__(self, levels: Indices) -> Array:
        """The prior variance at these levels, up to a factor."""
        return np.where(levels <= self.last, (1.0 + levels) ** -self.exponent, 0.0)


def log_evidence(information: Information, subspace: Subspace, decay: Decay) -> float:
    """The logarithm of ∫ likelihood(Qu) prior(u) du: 0 if nothing but the constant is left.

    The prior of u is normal and independent. Its variances follow `decay` and add up to the variance of the signal,
    so the fewer functions there are, the larger their coefficients are expected to be.
    """
    spread = decay(subspace.levels)
    if not spread.any():
        return 0.0
    Q, spread = subspace.Q[:, spread > 0], spread[spread > 0]
    scale = np.sqrt(spread * (information.signal / spread.sum()))
    inner = np.eye(len(scale)) + scale[:, None] * (Q.T @ information.A @ Q) * scale
    factor = np.linalg.cholesky(inner)
    seen = np.linalg.solve(factor, scale * (Q.T @ information.b))
    return float(seen @ seen) / 2 - float(np.log(np.diagonal(factor)).sum())


def best_decay(information: Information, subspace: Subspace) -> Decay:
    """The decay with which the subspace has the largest evidence; the first of equals."""
    last = range(1, int(subspace.levels.max(initial=1)) + 1)
    decays = [Decay(k, exponent) for k, exponent in product(last, _EXPONENTS)]
    return max(decays, key=lambda decay: log_evidence(information, subspace, decay))


def p_values_outside(information: Information, subspaces: Sequence[Subspace], last: int) -> list[float]:
    """The probability of coefficients so far outside each subspace by chance (Wald's test, levels up to `last`).

    The first subspace must be everything.
    """
    from scipy.stats import f as distribution

    explained = np.array([_explained(information, s.up_to(last)) for s in subspaces])
    sizes = np.array([np.sum(s.levels <= last) for s in subspaces])
    outside, tested = np.maximum(explained[0] - explained, 0.0), sizes[0] - sizes
    ratios = outside / np.maximum(tested, 1)
    return np.where(tested > 0, distribution.sf(ratios, tested, information.freedom), 1.0).tolist()


def _explained(information: Information, Q: Array) -> float:
    """The maximum over u of 2 bᵀQu − uᵀQᵀAQu."""
    target, inner = Q.T @ information.b, Q.T @ information.A @ Q
    try:
        half = np.linalg.solve(np.linalg.cholesky(inner), target)
        return float(half @ half)
    except np.linalg.LinAlgError:  # too few different points
        return float(target @ np.linalg.lstsq(inner, target, rcond=1e-12)[0])
