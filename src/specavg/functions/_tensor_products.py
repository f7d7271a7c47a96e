"""Products of functions of the factors of a product space."""

from __future__ import annotations

from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._indexed_products import IndexedProducts


@final
class TensorProducts(IndexedProducts[Functions], Functions):
    """∏_i f_i(x_i), one function f_i of each factor."""

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def gradient(self, X: Array) -> Array:
        gradient = np.empty((len(X), self.dim, X.shape[1]))
        for functions, block, a, Z, others in self._all_but_one(X):
            gradient[:, :, block] = functions.gradient(Z)[:, a] * others[:, :, None]
        return gradient

    def combine_gradient(self, X: Array, C: Array) -> Array:
        from scipy.sparse import csr_array

        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), (1 + len(self._factors)) * self.row_bytes):
            for functions, block, a, Z, others in self._all_but_one(X[rows]):
                for q, c in enumerate(C.T):  # functions of the factor, each with what all products make of it
                    share = csr_array((c, (np.arange(self.dim), a)), shape=(self.dim, functions.dim))
                    combined[rows, block, q] = functions.pointwise_gradient(Z, np.asarray(others @ share))
        return combined
