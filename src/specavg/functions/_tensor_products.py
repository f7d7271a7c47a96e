"""Products of one function of each factor of a product space, whatever the functions are: numbers or vectors."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._vector_functions import VectorFunctions

F = TypeVar("F", bound=Functions | VectorFunctions)


class IndexedProducts(Generic[F], abc.ABC):
    """∏_i f_i(x_i), one function f_i of each factor: what families of numbers and of vectors share.

    Functions are the last axis of all values.

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
        self._columns = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *widths]))]
        self._factors = list(factors)
        self._index = index
        self.dim = len(index)

    @property
    @abc.abstractmethod
    def _shape(self) -> tuple[int, ...]:
        """The shape of the values at one point."""

    @property
    def row_bytes(self) -> float:
        """Working memory for the values at one point."""
        held = sum(f.row_bytes + 8.0 * f.dim for f in self._factors)
        return held + 8.0 * 2 * prod(self._shape)

    def values(self, X: Array) -> Array:
        """Values at checked points."""  # (n, n_features) -> (n, *shape)
        values = np.ones((len(X), *self._shape))
        for functions, block, chosen in zip(self._factors, self._columns, self._index.T, strict=True):
            values *= functions.values(np.ascontiguousarray(X[:, block]))[..., chosen]
        return values

    def _all_but_one(self, X: Array) -> Iterator[tuple[F, slice, NDArray[np.intp], Array, Array]]:
        """For each factor its functions, columns, the functions that are used, points, and the products of all others.

        Products of the factors before and after each one: no division, so that zeros do no harm.
        """
        blocks = [np.ascontiguousarray(X[:, block]) for block in self._columns]
        values = [f.values(Z)[..., a] for f, Z, a in zip(self._factors, blocks, self._index.T, strict=True)]
        whole = np.broadcast_shapes(*(factor.shape for factor in values))
        after = [np.ones((1,) * len(whole))]
        for factor in values[:0:-1]:
            after.append(after[-1] * factor if len(after) > 1 else factor)
        before = after[0]
        for i, factor in enumerate(values):
            others = after.pop()
            others = others if i == 0 else before if not after else before * others
            yield self._factors[i], self._columns[i], self._index[:, i], blocks[i], np.broadcast_to(others, whole)
            before = before * factor if i else factor


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
