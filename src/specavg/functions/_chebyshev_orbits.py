"""Products of Chebyshev polynomials of single coordinates, and gradients of their sums over orbits."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._few_rows import few_rows
from specavg.functions._integer_vectors import vector_tree
from specavg.functions._one_coordinate import chebyshev_table
from specavg.functions._product_tree import Products, ProductTree
from specavg.functions._threads import for_all_rows, read_only

# The most derivatives (points times coordinates times products) that NumPy computes for few rows: they take 0.5 to
# 0.9 s. The loop takes 4 s to compile, and half a second to load from the cache on disk.
_PLAIN_SLOPES = 6e7


@final
class ChebyshevProducts(Products):
    """∏_i T_{k_i}(t_i) for each row k of `exponents`, with t = (x − centre)/half, times √2 for each k_i > 0.

    Parameters
    ----------
    centre, half : float
        The centre, and half of the length, of the interval that every coordinate lies in.
    exponents : ndarray of int, shape (M, m)
        The degrees k_i ≥ 0. Rows are distinct.
    """

    def __init__(self, centre: float, half: float, exponents: NDArray[np.int64]) -> None:
        self._centre = centre
        self._half = half
        self.exponents = exponents
        self.dim = len(exponents)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (2 * self.dim + 2 * self.tree.table.size)

    @property
    def weights(self) -> Array:
        return np.sqrt(2.0) ** (self.exponents > 0).sum(axis=1)

    @cached_property
    def tree(self) -> ProductTree:
        parent, last, value, wanted = vector_tree(self.exponents)
        m, top = self.exponents.shape[1], int(self.exponents.max(initial=1))
        table = chebyshev_table(top, m, self._half)
        return ProductTree.of(table, parent, (value - 1) * m + last, wanted)

    def _scaled(self, X: Array) -> Array:
        """The coordinates t, clipped to |t| ≤ 1 where rounding has left the interval."""
        return np.clip((X - self._centre) / self._half, -1.0, 1.0)

    def _loaded(self, X: Array) -> Array:
        return read_only(self._scaled(X))

    def plain_values(self, X: Array) -> Array:
        angle = np.arccos(self._scaled(X))
        values = np.tile(self.weights, (len(X), 1))
        degrees = np.arange(self.exponents.max(initial=0) + 1)
        for i, k in enumerate(self.exponents.T):
            values *= np.cos(angle[:, i, None] * degrees)[:, k]
        return values

    def mixed_gradient(self, X: Array, Q: Any) -> Array:
        from scipy.sparse import csr_array

        rows: Any = csr_array(Q)
        if few_rows(len(X)) and X.size * self.dim <= _PLAIN_SLOPES:
            return self._plain_mixed_gradient(X, rows)
        used = np.flatnonzero(np.diff(rows.indptr))
        if len(used) < rows.nnz:  # a product is part of several sums, which the loop does not allow
            return super().mixed_gradient(X, Q)
        from specavg.functions.loops._orbit_slopes import orbit_slopes

        label, weights = np.full(self.dim, -1), np.zeros(self.dim)
        label[used], weights[used] = rows.indices, rows.data * self.weights[used] / self._half
        out = np.zeros((len(X), Q.shape[1], X.shape[1]))

        def work(rows: slice) -> None:
            orbit_slopes(self.tree, self._loaded(X[rows]), label, weights, out[rows])

        for_all_rows(work, len(X))
        return out

    def _plain_mixed_gradient(self, X: Array, rows: Any) -> Array:
        """`mixed_gradient` by NumPy alone, with the sparse matrix Q in `rows`.

        The derivative of a product by coordinate i is the product of the factors before i (`left`), those after i
        (`right`), and the derivative of factor i.
        """
        K, t = self.exponents.T, self._scaled(X).T  # (m, M), (m, n)
        T, U = np.ones((2, int(K.max(initial=0)) + 2, *t.shape))  # T[k] = T_k, and U[k] = U_{k−1} with T_k′ = k U_{k−1}
        T[1], U[0] = t, 0.0
        for k in range(2, len(T)):
            T[k], U[k] = 2 * t * T[k - 1] - T[k - 2], 2 * t * U[k - 1] - U[k - 2]
        kept = [np.flatnonzero(k) for k in K]
        mixing = [rows[used].T.tocsr() for used in kept]
        out = np.empty((len(X), rows.shape[1], len(K)))
        for some in self.chunks(len(X), 8.0 * self.dim * (len(K) + 3)):
            left, right = [np.ones((self.dim, len(X[some])))], np.ones((self.dim, len(X[some])))
            for i, used in enumerate(kept[:-1]):
                left.append(left[-1].copy())
                left[-1][used] *= T[K[i, used], i, some]
            for i in reversed(range(len(K))):
                used = kept[i]
                slopes = (K[i] * self.weights / self._half)[used, None] * U[K[i, used], i, some]
                out[some, :, i] = (mixing[i] @ (left[i][used] * right[used] * slopes)).T
                right[used] *= T[K[i, used], i, some]
        return out
