"""Products of cosines, each of one coordinate: the waves of a torus that no sign flip changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._expanded_in_waves import FOURIER_DIMENSIONS, ExpandedInWaves
from specavg.functions._factor_table import FactorTable
from specavg.functions._integer_vectors import Tree
from specavg.functions._product_tree import Products, ProductTree
from specavg.functions._trigonometric_sums import TrigonometricSums, fourier_sums

Indices = NDArray[np.intp]


@final
class CosineProducts(ExpandedInWaves, Products):
    """∏ √2cos 2πk_i u_i over the coordinates with k_i > 0, for every k ≥ 0 of Z^d whose norm is in `norms`.

    Parameters
    ----------
    period : ndarray of shape (d,)
    norms : sequence of int
        The norms of the functions of this family, as `Tree.norm` has them: |k|², or the number of a type.
    dim : int
        How many such k there are.
    vectors : callable
        Returns the tree of all these k and their parents. It is called at the first use, and is pickled with the
        family.
    """

    def __init__(self, period: Array, norms: Sequence[int], dim: int, vectors: Callable[[], Tree]) -> None:
        self._period = period
        self._d = len(period)
        self._norms = tuple(norms)
        self.dim = dim
        self._list = vectors

    @property
    def invariant_to_sign_bits(self) -> bool:
        return self.expansion is None  # cosines are even to the last bit, in loops and in NumPy; a transform is not

    def nanoseconds(self) -> float:
        return self.tree.nanoseconds

    @cached_property
    def _vectors(self) -> Tree:
        """The frequencies of the functions, and their parents."""
        return self._list()

    @cached_property
    def _wanted(self) -> NDArray[np.intp]:
        """Rows of the tree of frequencies that are functions of this family."""
        return np.flatnonzero(np.isin(self._vectors.norm, self._norms))

    @property
    def row_bytes(self) -> float:
        return 8.0 * (3 * len(self._vectors.norm) + 2 * self._d * self._highest)

    @cached_property
    def _highest(self) -> int:
        """The largest entry of a frequency."""
        return int(self._vectors.value.max(initial=0))

    @property
    def copy_table(self) -> FactorTable | None:
        value = self._vectors.value[self._wanted]  # 0 for the constant, which is not √2 cos 0
        if self._d > 1 or not value.all():
            return None
        zero = np.zeros_like(value)
        return FactorTable.of_waves(self._period, value, zero, zero > 0)

    @cached_property
    def tree(self) -> ProductTree:
        d, vectors = self._d, self._vectors
        pairs = np.unique(np.stack([vectors.value, vectors.coordinate], axis=1)[1:], axis=0)  # entries that occur
        row = np.zeros((self._highest + 1, d), dtype=np.int64)
        row[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        table = FactorTable.of_waves(self._period, pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), dtype=bool))
        return ProductTree.of(table, vectors.parent, row[vectors.value, vectors.coordinate], self._wanted)

    @cached_property
    def expansion(self) -> TrigonometricSums | None:
        if self._d > FOURIER_DIMENSIONS or not self.dim:
            return None
        vectors, rows = self._vectors, self._wanted
        K = np.zeros((len(rows), self._d), dtype=np.int64)
        while vectors.depth[rows].any():
            K[np.arange(len(rows)), vectors.coordinate[rows]] += vectors.value[rows]  # the root has the entry 0
            rows = vectors.parent[rows]
        return fourier_sums(self._period, K, np.zeros(K.shape, dtype=bool), np.arange(len(K)), np.ones(len(K)), len(K))
