"""Products of vector functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._indexed_products import IndexedProducts
from specavg.functions._vector_functions import VectorFunctions

Array = NDArray[np.float64]


@final
class ProductsOfOutputs(IndexedProducts[VectorFunctions], VectorFunctions):
    """∏_i F_i(x_i): one of the factors may have several outputs, the others have one."""

    def __init__(self, widths: Sequence[int], factors: Sequence[VectorFunctions], index: NDArray[np.intp]) -> None:
        super().__init__(widths, factors, index)
        self.n_outputs = max(factor.n_outputs for factor in factors)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.n_outputs, self.dim)

    def gradient(self, X: Array) -> Array:
        gradient = np.empty((*X.shape, self.n_outputs, self.dim))
        for functions, block, a, Z, others in self._all_but_one(X):
            gradient[:, block] = functions.gradient(Z)[:, :, :, a] * others[:, None]
        return gradient
