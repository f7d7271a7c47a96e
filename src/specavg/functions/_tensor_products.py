"""Functions on product spaces that are products of one function of each factor, for scalar and vector functions."""

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
    """∏_i f_i(x_i), with one function f_i of each factor: what families of scalar and of vector functions share.

    The last axis of all values is that of the functions.

    Parameters
    ----------
    widths : sequence of int
        How many columns the points of each factor have.
    factors : sequence of Functions or of VectorFunctions
        The family of each factor.
    index : ndarray of int, shape (dim, number of factors)
        Row j has the functions f_i of product j, as places in the families.
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
        """Bytes of working memory that the values at one point take."""
        held = sum(f.row_bytes + 8.0 * f.dim for f in self._factors)
        return held + 8.0 * 2 * prod(self._shape)

    def values(self, X: Array) -> Array:
        """Values at checked points."""  # (n, n_features) -> (n, *shape)
        values = np.ones((len(X), *self._shape))
        for functions, block, chosen in zip(self._factors, self._columns, self._index.T, strict=True):
            values *= functions.values(np.ascontiguousarray(X[:, block]))[..., chosen]
        return values

    def _all_but_one(self, X: Array) -> Iterator[tuple[F, slice, NDArray[np.intp], Array, Array]]:
        """For each factor what a derivative by its points needs.

        The products of all other factors are those of the factors before it times those of the factors after it. They
        are no quotients, so that zeros do no harm.

        Yields
        ------
        family : Functions or VectorFunctions
        columns : slice
            The columns of X that are the points of the factor.
        chosen : ndarray of int, shape (dim,)
            Which function of the factor each product has.
        points : ndarray
            The points of the factor.
        others : ndarray of shape (n, ..., dim)
            The products of all other factors.
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
    """∏_i f_i(x_i), with one scalar function f_i of each factor."""

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
                for q, c in enumerate(C.T):  # a function of the factor gets the sum over all products that have it
                    share = csr_array((c, (np.arange(self.dim), a)), shape=(self.dim, functions.dim))
                    combined[rows, block, q] = functions.pointwise_gradient(Z, np.asarray(others @ share))
        return combined


@final
class ProductsOfOutputs(IndexedProducts[VectorFunctions], VectorFunctions):
    """∏_i F_i(x_i), with one vector function F_i of each factor. At most one factor has more than one output."""

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
