"""Nested linear models from sums over the data: residuals, F statistics and permutations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.estimators._moments import Sum

__all__ = ["Comparison", "Models", "permutation_p_values"]

Array = NDArray[np.float64]
_RANK_TOLERANCE = 1e-10
_ROUNDING = 1e-12  # of the variance of y: differences below it are rounding


@final
@dataclass(frozen=True)
class Comparison:
    """A smaller model against the full one."""

    outside: float
    statistic: float
    tested: int
    p_value: float


@final
class Models:
    """Every linear model on subspaces of the columns Z, from ZᵀZ, Zᵀy and yᵀy alone.

    Parameters
    ----------
    columns : callable
        Points to Z, of shape (n, p); the first column is constant.
    chunks : iterable of (X, y)
        Checked points and targets, of shapes (n, n_features) and (n,).
    """

    def __init__(self, columns: Callable[[Array], Array], chunks: Iterable[tuple[Array, Array]]) -> None:
        total: Sum | None = None
        self.count = 0
        offset: float | None = None  # a constant changes no model, and a large one would cost digits
        for X, y in chunks:
            if not len(X):
                continue
            offset = float(y.mean()) if offset is None else offset
            Z = np.column_stack([columns(X), y - offset])  # (n, p + 1)
            part = Sum.of(Z.T @ Z)
            total = part if total is None else total + part
            self.count += len(X)
        if total is None:
            raise ValueError("there are no samples")
        products = total.value
        mean = products[0, -1] / products[0, 0]
        gram, cross = products[:-1, :-1], products[:-1, -1]
        self._gram = gram / self.count
        self._cross = (cross - mean * gram[:, 0]) / self.count  # of y minus its mean
        self.variance = max(0.0, float(products[-1, -1] / self.count - mean**2))
        self.size = len(gram)

    def residual(self, span: Array | None) -> tuple[float, int]:
        """Mean squared residual and rank of least squares on the columns Z·span (on all of them if None)."""
        gram, cross = self._gram, self._cross
        if span is not None:
            gram, cross = span.T @ gram @ span, span.T @ cross
        values, vectors = np.linalg.eigh(gram)
        kept = values > _RANK_TOLERANCE * max(float(values[-1]), 1.0)
        explained = float(np.sum((vectors[:, kept].T @ cross) ** 2 / values[kept]))
        return max(0.0, self.variance - explained), int(kept.sum())

    def explained(self) -> float:
        """Share of the variance of y that all columns explain, noise subtracted."""
        full, rank = self.residual(None)
        total = self.variance * self.count / (self.count - 1)
        return float(np.clip(1 - self._noise(full, rank) / total, 0.0, 1.0)) if total > 0 else 0.0

    def _noise(self, residual: float, rank: int) -> float:
        """The variance that a model leaves, its own fit to chance taken into account."""
        return residual * self.count / (self.count - rank)

    def compare(self, span: Array) -> Comparison:
        """The model on Z·span against the one on all columns."""
        from scipy.stats import f as distribution

        small, small_rank = self.residual(span)
        full, full_rank = self.residual(None)
        tested, left = full_rank - small_rank, self.count - full_rank
        gain = small - full
        if tested <= 0 or gain <= _ROUNDING * self.variance:
            return Comparison(0.0, 0.0, max(tested, 0), 1.0)
        statistic = (gain / tested) / (full / left) if full > _ROUNDING * self.variance else np.inf
        # Mean squares, not sums: invariant functions too explain a part of the rest, by chance.
        noise = self._noise(full, full_rank)
        signal = self.variance * self.count / (self.count - 1) - noise
        share = (self._noise(small, small_rank) - noise) / signal if signal > 0 else 0.0
        p_value = float(distribution.sf(statistic, tested, left))
        return Comparison(float(np.clip(share, 0.0, 1.0)), float(statistic), tested, p_value)


def permutation_p_values(
    Z: Array, y: Array, spans: Sequence[Array], n_permutations: int, rng: np.random.Generator
) -> list[float]:
    """Freedman and Lane: residuals of each smaller model are permuted, and F computed anew.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
    y : ndarray of shape (n,)
    spans : sequence of ndarray of shape (p, k)
        The smaller models.
    n_permutations : int
    rng : Generator

    Returns
    -------
    list of float
        A p-value per model, at least 1/(n_permutations + 1).
    """
    full = _orthonormal(Z)
    p_values: list[float] = []
    for span in spans:
        small = _orthonormal(Z @ span)
        if full.shape[1] <= small.shape[1]:
            p_values.append(1.0)
            continue
        e = y - small @ (small.T @ y)
        observed = _ratio(e[:, None], small, full)[0]
        above, left, block = 0, n_permutations, max(1, int(4e6 / len(e)))
        while left > 0:
            shuffled = rng.permuted(np.repeat(e[:, None], min(block, left), axis=1), axis=0)
            above += int(np.sum(_ratio(shuffled, small, full) >= observed * (1 - 1e-12)))
            left -= shuffled.shape[1]
        p_values.append((1 + above) / (1 + n_permutations))
    return p_values


def _orthonormal(Z: Array) -> Array:
    U, values, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, values > np.sqrt(_RANK_TOLERANCE) * max(float(values[0]), 1e-300)]


def _ratio(E: Array, small: Array, full: Array) -> Array:
    """RSS of the smaller model over that of the full one, minus one, a column at a time."""
    squares = np.sum(E**2, axis=0)
    below = np.maximum(squares - np.sum((full.T @ E) ** 2, axis=0), 1e-300)
    return np.maximum(squares - np.sum((small.T @ E) ** 2, axis=0), 0.0) / below - 1
