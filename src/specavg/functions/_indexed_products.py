"""Products of one function of each factor, whatever the functions are: numbers or vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._vector_functions import VectorFunctions

__all__ = ["IndexedProducts"]

F = TypeVar("F", bound=Functions | VectorFunctions)


@final
class IndexedProducts(Generic[F]):
    """Which function of each factor every product has. Functions are the last axis of all values.

    Parameters
    ----------
    widths : sequence of int
        How many columns the points of each factor have.
    factors : sequence
        Families of functions.
    index : ndarray of int, shape (dim, number of factors)
        Which function of each factor.
    """

    def __init__(self, widths: Sequence[int], factors: Sequence[F], index: NDArray[np.intp]) -> None:
        self.columns = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *widths]))]
        self.factors = list(factors)
        self.index = index

    @property
    def dim(self) -> int:
        """How many products."""
        return len(self.index)

    def values(self, X: Array, shape: tuple[int, ...]) -> Array:
        """Values at checked points, of the shape that they are to have."""
        values = np.ones(shape)
        for functions, block, chosen in zip(self.factors, self.columns, self.index.T, strict=True):
            values *= functions.values(np.ascontiguousarray(X[:, block]))[..., chosen]
        return values

    def all_but_one(self, X: Array) -> Iterator[tuple[F, slice, NDArray[np.intp], Array, Array]]:
        """For each factor its functions, columns, the functions that are used, points, and the products of all others.

        Products of the factors before and after each one: no division, so that zeros do no harm.
        """
        blocks = [np.ascontiguousarray(X[:, block]) for block in self.columns]
        values = [f.values(Z)[..., a] for f, Z, a in zip(self.factors, blocks, self.index.T, strict=True)]
        whole = np.broadcast_shapes(*(factor.shape for factor in values))
        after = [np.ones((1,) * len(whole))]
        for factor in values[:0:-1]:
            after.append(after[-1] * factor if len(after) > 1 else factor)
        before = after[0]
        for i, factor in enumerate(values):
            others = after.pop()
            others = others if i == 0 else before if not after else before * others
            yield self.factors[i], self.columns[i], self.index[:, i], blocks[i], np.broadcast_to(others, whole)
            before = before * factor if i else factor
