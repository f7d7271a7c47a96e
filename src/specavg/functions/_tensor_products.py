"""Products of functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._functions import Functions

__all__ = ["TensorProducts"]


@final
class TensorProducts(Functions):
    """∏_i f_i(x_i), one function f_i of each factor.

    Parameters
    ----------
    widths : sequence of int
        How many columns the points of each factor have.
    factors : sequence of Functions
    index : ndarray of int, shape (dim, number of factors)
        Which function of each factor.
    """

    def __init__(self, widths: Sequence[int], factors: Sequence[Functions], index: NDArray[np.intp]) -> None:
        self._columns = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *widths]))]
        self._factors = list(factors)
        self._index = index  # (dim, number of factors)

    @property
    def dim(self) -> int:
        return len(self._index)

    @property
    def row_bytes(self) -> float:
        return sum(f.row_bytes + 8.0 * f.dim for f in self._factors) + 8.0 * 2 * self.dim

    def values(self, X: Array) -> Array:
        values = np.ones((len(X), self.dim))
        for functions, block, column in zip(self._factors, self._columns, self._index.T, strict=True):
            values *= functions.values(np.ascontiguousarray(X[:, block]))[:, column]
        return values

    def gradient(self, X: Array) -> Array:
        gradient = np.empty((len(X), self.dim, X.shape[1]))
        places = zip(self._all_but_one(X), self._factors, self._columns, self._index.T, strict=True)
        for (Z, others), functions, block, a in places:
            gradient[:, :, block] = functions.gradient(Z)[:, a] * others[:, :, None]
        return gradient

    def combine_gradient(self, X: Array, C: Array) -> Array:
        from scipy.sparse import csr_array

        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), (1 + len(self._factors)) * self.row_bytes):
            places = zip(self._all_but_one(X[rows]), self._factors, self._columns, self._index.T, strict=True)
            for (Z, others), functions, block, a in places:
                for q, c in enumerate(C.T):  # functions of the factor, each with what all products make of it
                    share = csr_array((c, (np.arange(self.dim), a)), shape=(self.dim, functions.dim))
                    combined[rows, block, q] = functions.pointwise_gradient(Z, np.asarray(others @ share))
        return combined

    def _all_but_one(self, X: Array) -> Iterator[tuple[Array, Array]]:
        """For each factor its points, and the products of all others."""
        blocks = [np.ascontiguousarray(X[:, block]) for block in self._columns]
        values = [f.values(Z)[:, a] for f, Z, a in zip(self._factors, blocks, self._index.T, strict=True)]
        # Products of the factors before and after each one: no division, so that zeros do no harm.
        after = [np.ones((1, 1))]
        for factor in values[:0:-1]:
            after.append(after[-1] * factor if len(after) > 1 else factor)
        before = after[0]
        for i, (Z, factor) in enumerate(zip(blocks, values, strict=True)):
            others = after.pop()
            yield Z, np.broadcast_to(others if i == 0 else before if not after else before * others, factor.shape)
            before = before * factor if i else factor
