"""Products of vector functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

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
        self._columns = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *widths]))]
        self._factors = list(factors)
        self._index = index
        self.n_outputs = max(factor.n_outputs for factor in factors)

    @property
    def dim(self) -> int:
        return len(self._index)

    @property
    def row_bytes(self) -> float:
        held = sum(f.row_bytes + 8.0 * f.n_outputs * f.dim for f in self._factors)
        return held + 16.0 * self.n_outputs * self.dim

    def _blocks(self, X: Array) -> list[Array]:
        return [np.ascontiguousarray(X[:, block]) for block in self._columns]

    def values(self, X: Array) -> Array:
        values = np.ones((len(X), self.n_outputs, self.dim))
        for factor, Z, chosen in zip(self._factors, self._blocks(X), self._index.T, strict=True):
            values *= factor.values(Z)[:, :, chosen]
        return values

    def gradient(self, X: Array) -> Array:
        blocks = self._blocks(X)
        values = [f.values(Z)[:, :, a] for f, Z, a in zip(self._factors, blocks, self._index.T, strict=True)]
        gradient = np.empty((*X.shape, self.n_outputs, self.dim))
        for i, (factor, Z, chosen) in enumerate(zip(self._factors, blocks, self._index.T, strict=True)):
            others = np.ones((len(X), 1, self.dim))
            for j, other in enumerate(values):
                others = others if j == i else others * other
            gradient[:, self._columns[i]] = factor.gradient(Z)[:, :, :, chosen] * others[:, None]
        return gradient
