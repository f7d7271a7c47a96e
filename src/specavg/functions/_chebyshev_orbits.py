"""Products of Chebyshev polynomials, one of each coordinate."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._integer_vectors import vector_tree
from specavg.functions._one_coordinate import chebyshev_table
from specavg.functions._product_tree import Products, ProductTree
from specavg.functions._threads import for_all_rows, read_only


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
        """Coordinates in units of the interval; rounding may not leave it."""
        return np.clip((X - self._centre) / self._half, -1.0, 1.0)

    def _loaded(self, X: Array) -> Array:
        return read_only(self._scaled(X))

    def plain_values(self, X: Array) -> Array:
        angle = np.arccos(self._scaled(X))
        values = np.tile(self.weights, (len(X), 1))
        for i, k in enumerate(self.exponents.T):
            values *= np.cos(angle[:, i, None] * k)
        return values

    def mixed_gradient(self, X: Array, Q: Any) -> Array:
        rows = Q.tocsr()
        used = np.flatnonzero(np.diff(rows.indptr))
        if len(used) < rows.nnz:
            return super().mixed_gradient(X, Q)
        from specavg.functions.loops._orbit_slopes import orbit_slopes  # of sums that share no product

        label, weights = np.full(self.dim, -1), np.zeros(self.dim)
        label[used], weights[used] = rows.indices, rows.data * self.weights[used] / self._half
        out = np.zeros((len(X), Q.shape[1], X.shape[1]))

        def work(rows: slice) -> None:
            orbit_slopes(self.tree, self._loaded(X[rows]), label, weights, out[rows])

        for_all_rows(work, len(X))
        return out
