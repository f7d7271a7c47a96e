"""Products of cosines, one coordinate each: what sign flips leave of the waves of a torus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._integer_vectors import Tree, frequency_tree
from specavg.functions._product_tree import COSINE, TORUS, Products, ProductTree
from specavg.functions._symmetric_sums import CopyTable
from specavg.functions._trigonometric_sums import (
    FEWEST_TO_COMBINE,
    FOURIER_DIMENSIONS,
    TrigonometricSums,
    by_nufft,
    fourier_sums,
)

__all__ = ["CosineProducts"]

Array = NDArray[np.float64]


@final
class CosineProducts(Products):
    """∏_i √2cos 2πk_i u_i for every k ≥ 0 with its norm in `norms`: each is its parent times one more factor.

    The norm is |k|², or what else `frequencies` (d, bound) lists them by.
    """

    def __init__(
        self, period: Array, d: int, norms: Sequence[int], frequencies: Callable[[int, int], Tree] = frequency_tree
    ) -> None:
        self._period = period
        self._d = d
        self._norms = tuple(norms)
        self._frequencies = frequencies

    @property
    def flips_exactly(self) -> bool:
        # The compiled cosine is even to the last bit; a non-uniform FFT is even to rounding.
        return self._d > FOURIER_DIMENSIONS

    @cached_property
    def tree(self) -> Tree:
        """The frequencies, and those they grow from."""
        return self._frequencies(self._d, max(self._norms, default=0))

    @cached_property
    def wanted(self) -> NDArray[np.intp]:
        """Rows of the tree that are functions of this family."""
        return np.flatnonzero(np.isin(self.tree.norm, self._norms))

    @property
    def dim(self) -> int:
        return len(self.wanted)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (3 * len(self.tree.norm) + 2 * self._d * self._highest)

    @cached_property
    def _highest(self) -> int:
        return int(self.tree.value.max(initial=0))

    @property
    def copy_table(self) -> CopyTable | None:
        if self._d > 1 or not len(self.wanted):
            return None
        value = self.tree.value[self.wanted]  # 0 for the constant: cos 0, but for the factor √2
        if (value == 0).any():
            return None
        zero = np.zeros_like(value)
        operations = np.stack([zero + COSINE, zero, zero - 1, zero - 1, zero], axis=1)
        return CopyTable(TORUS, 1.0 / self._period, operations, np.stack([value, zero], axis=1).astype(float))

    @cached_property
    def program(self) -> ProductTree:
        d, tree = self._d, self.tree
        value, coordinate = (a.ravel() for a in np.mgrid[1 : self._highest + 1, :d])
        zero = np.zeros_like(value)
        operations = np.stack([zero + COSINE, coordinate, zero - 1, zero - 1, zero], axis=1)
        constants = np.stack([value, zero], axis=1).astype(float)
        factor = (tree.value - 1) * d + tree.coordinate
        return ProductTree(TORUS, 1.0 / self._period, operations, constants, tree.parent, factor, self.wanted)

    @cached_property
    def fourier(self) -> TrigonometricSums | None:
        if self._d > FOURIER_DIMENSIONS or not self.dim:
            return None
        tree, rows = self.tree, self.wanted
        K = np.zeros((len(rows), self._d), dtype=np.int64)
        while tree.depth[rows].any():
            K[np.arange(len(rows)), tree.coordinate[rows]] += tree.value[rows]  # 0 once the root is reached
            rows = tree.parent[rows]
        return fourier_sums(self._period, K, np.zeros(K.shape, dtype=bool), np.arange(len(K)), np.ones(len(K)), len(K))

    def correlate(self, X: Array, Y: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self.program.nanoseconds)
        return super().correlate(X, Y) if faster is None else faster.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self.program.nanoseconds, FEWEST_TO_COMBINE)
        return super().combine(X, C) if faster is None else faster.combine(X, C)

    def plain_values(self, X: Array) -> Array:
        tree = self.tree
        turns = (X / self._period).T
        turns -= np.rint(turns)
        cosines = np.empty((self._highest + 1, self._d, len(X)))
        for value in range(1, self._highest + 1):
            cosines[value] = np.sqrt(2) * np.cos(2 * np.pi * value * turns)
        values = np.empty((len(tree.norm), len(X)))
        values[0] = 1.0
        for depth in range(1, int(tree.depth.max(initial=0)) + 1):
            rows = np.flatnonzero(tree.depth == depth)
            values[rows] = values[tree.parent[rows]] * cosines[tree.value[rows], tree.coordinate[rows]]
        return values[self.wanted].T
