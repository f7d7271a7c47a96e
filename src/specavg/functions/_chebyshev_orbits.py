"""Chebyshev polynomials of several coordinates: products, and their sums over the orbits of permutations."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._combinations import Combinations
from specavg.functions._factor_table import STEP, TABLE, FactorTable
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import rows_in, tree_of
from specavg.functions._product_tree import Products, ProductTree
from specavg.functions._threads import in_order, read_only, row_chunks


@final
class ChebyshevProducts(Products):
    """∏_i T_{k_i}(t_i) for each row k of `exponents`, t = (x − centre)/half, times √2 for each k_i > 0.

    Parameters
    ----------
    centre, half : float
        The interval that every coordinate lives in.
    exponents : ndarray of int, shape (M, m)
        Different rows, none negative.
    """

    def __init__(self, centre: float, half: float, exponents: NDArray[np.int64]) -> None:
        self._centre = centre
        self._half = half
        self.exponents = exponents

    @property
    def dim(self) -> int:
        return len(self.exponents)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (2 * self.dim + 2 * self.tree.table.size)

    @property
    def weights(self) -> Array:
        return np.sqrt(2.0) ** (self.exponents > 0).sum(axis=1)

    @cached_property
    def tree(self) -> ProductTree:
        K = _with_parents(self.exponents)
        vectors = tree_of(K, K.sum(axis=1))
        m, top = K.shape[1], int(K.max(initial=1))
        degree, coordinate = (a.ravel() for a in np.mgrid[1 : top + 1, :m])
        row, zero = np.arange(len(degree)), np.zeros_like(degree)
        # T_1 = x, T_2 = 2x·T_1 − 1, T_k = 2x·T_{k−1} − T_{k−2}; a negative row stands for 1
        before, second = np.where(degree > 1, row - m, -1), np.where(degree > 2, row - 2 * m, -1)
        operations = np.stack([zero + STEP, coordinate, before, second, zero], axis=1)
        constants = np.stack([np.where(degree > 1, 2.0, 1.0), np.where(degree > 1, -1.0, 0.0)], axis=1)
        table = FactorTable.of(TABLE, np.array([1 / self._half]), operations, constants)
        factor = (vectors.value - 1) * m + vectors.coordinate
        return ProductTree.of(table, vectors.parent, factor, rows_in(self.exponents, K).astype(np.int64))

    def scaled(self, X: Array) -> Array:
        """Coordinates in units of the interval; rounding may not leave it."""
        return np.clip((X - self._centre) / self._half, -1.0, 1.0)

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return self._half

    def _loaded(self, X: Array) -> Array:
        return read_only(self.scaled(X))

    def plain_values(self, X: Array) -> Array:
        angle = np.arccos(self.scaled(X))
        values = np.tile(self.weights, (len(X), 1))
        for i, k in enumerate(self.exponents.T):
            values *= np.cos(angle[:, i, None] * k)
        return values


@final
class ChebyshevOrbitSums(Functions):
    """Sums of Chebyshev products, each product in at most one of them, and their gradients.

    Parameters
    ----------
    products : ChebyshevProducts
    label : ndarray of int, shape (products.dim,)
        The sum that each product belongs to, -1 for none.
    coefficients : ndarray of shape (products.dim,)
        Of each product in its sum.
    """

    def __init__(self, products: ChebyshevProducts, label: NDArray[np.int64], coefficients: Array) -> None:
        from scipy.sparse import coo_array

        self._products = products
        self._label = label
        self._coefficients = coefficients
        used = np.flatnonzero(label >= 0)
        shape = (products.dim, int(label.max(initial=-1)) + 1)
        self._matrix: Any = coo_array((coefficients[used], (used, label[used])), shape=shape).tocsr()
        self._sums = Combinations(products, self._matrix)

    @property
    def dim(self) -> int:
        return self._sums.dim

    @property
    def row_bytes(self) -> float:
        return self._sums.row_bytes

    def values(self, X: Array) -> Array:
        return self._sums.values(X)

    def plain_values(self, X: Array) -> Array:
        return self._sums.plain_values(X)

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._sums.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._sums.combine(X, C)

    def gradient(self, X: Array) -> Array:
        from specavg.functions.loops._orbit_slopes import orbit_slopes

        products, tree = self._products, self._products.tree
        out = np.zeros((len(X), self.dim, X.shape[1]))
        weights = products.weights * self._coefficients / products.half

        def work(rows: slice) -> None:
            orbit_slopes(tree, read_only(products.scaled(X[rows])), self._label, weights, out[rows])

        for _ in in_order(work, row_chunks(len(X))):
            pass
        return out

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        return self._sums.correlate_gradient(X, G)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._sums.combine_gradient(X, C)

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        return self._sums.combine_both(X, C)


def _with_parents(K: NDArray[np.int64]) -> NDArray[np.int64]:
    """`K` and every row that is left when last entries are struck out, each once, zero first."""
    found = [np.zeros((1, K.shape[1]), dtype=np.int64), K]
    rows = K
    while rows.any():
        rows = rows[rows.any(axis=1)].copy()
        last = rows.shape[1] - 1 - (rows[:, ::-1] != 0).argmax(axis=1)
        rows[np.arange(len(rows)), last] = 0
        rows = np.unique(rows, axis=0)
        found.append(rows)
    every = np.unique(np.concatenate(found), axis=0)
    return every[np.argsort(every.sum(axis=1), kind="stable")]
