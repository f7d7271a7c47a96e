"""Products of vector functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._indexed_products import IndexedProducts
from specavg.functions._vector_functions import VectorFunctions

__all__ = ["ProductsOfOutputs"]

Array = NDArray[np.float64]


@final
class ProductsOfOutputs(VectorFunctions):
    """∏_i F_i(x_i): one of the factors may have several outputs, the others have one.

    Parameters
    ----------
    widths : sequence of int
        How many columns the points of each factor have.
    factors : sequence of VectorFunctions
    index : ndarray of int, shape (dim, number of factors)
        Which function of each factor.
    """

    def __init__(self, widths: Sequence[int], factors: Sequence[VectorFunctions], index: NDArray[np.intp]) -> None:
        self._products = IndexedProducts(widths, factors, index)
        self.n_outputs = max(factor.n_outputs for factor in factors)

    @property
    def dim(self) -> int:
        return self._products.dim

    @property
    def row_bytes(self) -> float:
        held = sum(f.row_bytes + 8.0 * f.n_outputs * f.dim for f in self._products.factors)
        return held + 16.0 * self.n_outputs * self.dim

    def values(self, X: Array) -> Array:
        return self._products.values(X, (len(X), self.n_outputs, self.dim))

    def gradient(self, X: Array) -> Array:
        gradient = np.empty((*X.shape, self.n_outputs, self.dim))
        for functions, block, a, Z, others in self._products.all_but_one(X):
            gradient[:, block] = functions.gradient(Z)[:, :, :, a] * others[:, None]
        return gradient
