"""Products of functions of the factors of a product space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Functions

__all__ = ["TensorProducts"]

Array = NDArray[np.float64]


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
