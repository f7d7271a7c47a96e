"""Products of functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._indexed_products import IndexedProducts

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
        self._products = IndexedProducts(widths, factors, index)

    @property
    def dim(self) -> int:
        return self._products.dim

    @property
    def row_bytes(self) -> float:
        return sum(f.row_bytes + 8.0 * f.dim for f in self._products.factors) + 8.0 * 2 * self.dim

    def values(self, X: Array) -> Array:
        return self._products.values(X, (len(X), self.dim))

    def gradient(self, X: Array) -> Array:
        gradient = np.empty((len(X), self.dim, X.shape[1]))
        for functions, block, a, Z, others in self._products.all_but_one(X):
            gradient[:, :, block] = functions.gradient(Z)[:, a] * others[:, :, None]
        return gradient

    def combine_gradient(self, X: Array, C: Array) -> Array:
        from scipy.sparse import csr_array

        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), (1 + len(self._products.factors)) * self.row_bytes):
            for functions, block, a, Z, others in self._products.all_but_one(X[rows]):
                for q, c in enumerate(C.T):  # functions of the factor, each with what all products make of it
                    share = csr_array((c, (np.arange(self.dim), a)), shape=(self.dim, functions.dim))
                    combined[rows, block, q] = functions.pointwise_gradient(Z, np.asarray(others @ share))
        return combined
