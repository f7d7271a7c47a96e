"""Products of one-copy functions at a few copies, and fixed combinations of such products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from math import prod
from typing import final

import numpy as np

from specavg.functions._few_rows import few_at_a_time
from specavg.functions._functions import Array, Functions


@final
@dataclass(frozen=True, eq=False)
class CopyTensor:
    """The products ψ_a(x_i) ψ_b(x_k) … for all a, b, …, or combinations Σ Q[(a, b, …), j] ψ_a(x_i) ψ_b(x_k) … of them.

    Attributes
    ----------
    copies : tuple of (int, range)
        The copies i, k, …, each with the places of its functions a, b, … among the one-copy functions.
    Q : ndarray of shape (number of products, dim), optional
        The coefficients of all products in each function; the functions of the last copy vary fastest. Without Q each
        product is a function.
    """

    copies: tuple[tuple[int, range], ...]
    Q: Array | None = None

    @property
    def products(self) -> int:
        """The number of products."""
        return prod(len(columns) for _, columns in self.copies)

    @property
    def sums(self) -> int:
        """The numbers that are left of Q by sums over the functions of the first copy."""
        return 0 if self.Q is None or not self.copies else self.Q.size // len(self.copies[0][1])

    @property
    def dim(self) -> int:
        """The number of functions."""
        return self.products if self.Q is None else self.Q.shape[1]

    def factors(self, table: Array) -> list[Array]:
        """The values of the functions a, b, … at each of the copies, from those of all functions at all copies."""
        # (n, m, A) -> (n, functions of the copy) each
        return [table[:, copy, columns.start : columns.stop] for copy, columns in self.copies]

    def combined(self, factors: Sequence[Array], n: int) -> Array:
        """The functions from the `factors`: one-copy values, or derivatives, at each of the copies."""  # -> (n, dim)
        products = _row_products(factors, n)
        return products if self.Q is None else products @ self.Q


@final
class CopyTensors(Functions):
    """Functions of m copies that are products of one-copy functions, or combinations of such products.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        The number of copies, m.
    tensors : sequence of CopyTensor
        The functions, those of the first tensor first.
    """

    def __init__(self, one_copy: Functions, copies: int, tensors: Sequence[CopyTensor]) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._tensors = list(tensors)
        self.dim = sum(tensor.dim for tensor in tensors)

    @property
    def row_bytes(self) -> float:
        widest = max((max(tensor.products, tensor.sums) for tensor in self._tensors), default=1)
        return self._copies * (self._one_copy.row_bytes + 8.0 * self._one_copy.dim) + 8.0 * (2 * widest + self.dim)

    def _of_one_copy(self, X: Array) -> Array:
        """The values of the one-copy functions at every copy of every point."""  # (n, n_features) -> (n, m, A)
        values = few_at_a_time(len(X), self._one_copy.values, self._flat(X))
        return values.reshape(len(X), self._copies, self._one_copy.dim)

    def values(self, X: Array) -> Array:
        table, n = self._of_one_copy(X), len(X)
        columns = [np.empty((n, 0))]
        # Q summed over the functions of the first copy, of the first two, ...: the next tensor begins alike, mostly.
        sums, before = list[Array](), CopyTensor(())
        for tensor in self._tensors:
            factors = tensor.factors(table)
            if tensor.Q is None or not factors:
                columns.append(tensor.combined(factors, n))
                continue
            alike = zip(tensor.copies, before.copies, strict=False) if tensor.Q is before.Q else ()
            del sums[sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], alike)) :]
            if not sums:
                sums.append(factors[0] @ tensor.Q.reshape(factors[0].shape[1], -1))
            for factor in factors[len(sums) :]:  # (n, a), (n, a · rest) -> (n, rest)
                sums.append(np.matmul(factor[:, None], sums[-1].reshape(n, factor.shape[1], -1))[:, 0])
            columns.append(sums[-1])
            before = tensor
        return np.concatenate(columns, axis=1)

    def gradient(self, X: Array) -> Array:
        flat = self._flat(X)
        table = self._of_one_copy(X)
        slopes = few_at_a_time(len(X), self._one_copy.gradient, flat)
        slopes = slopes.reshape(len(X), self._copies, -1, flat.shape[1])  # (n, m, A, f)
        gradient = np.zeros((len(X), self.dim, self._copies, flat.shape[1]))
        end = 0
        for tensor in self._tensors:
            start, end = end, end + tensor.dim
            used = tensor.factors(table)
            for i, (copy, part) in enumerate(tensor.copies):
                for j in range(flat.shape[1]):
                    factors = [*used[:i], slopes[:, copy, part.start : part.stop, j], *used[i + 1 :]]
                    gradient[:, start:end, copy, j] = tensor.combined(factors, len(X))
        return gradient.reshape(len(X), self.dim, -1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), 2 * self.row_bytes):
            flat, table = self._flat(X[rows]), self._of_one_copy(X[rows])
            for q, c in enumerate(C.T):
                by_value = self._by_value(table, c).reshape(len(flat), -1)
                slopes = few_at_a_time(len(table), self._one_copy.pointwise_gradient, flat, by_value)
                combined[rows, :, q] = slopes.reshape(len(table), -1)
        return combined

    def _by_value(self, table: Array, c: Array) -> Array:
        """The derivatives of the combination with coefficients c by every one-copy value."""
        # (n, m, A), (dim,) -> (n, m, A)
        slopes, end = np.zeros(table.shape), 0
        for tensor in self._tensors:
            start, end = end, end + tensor.dim
            mine = c[start:end] if tensor.Q is None else tensor.Q @ c[start:end]
            K = mine.reshape([len(columns) for _, columns in tensor.copies])
            used = tensor.factors(table)
            for i, (copy, columns) in enumerate(tensor.copies):
                rest = np.moveaxis(K, i, -1).reshape(-1, K.shape[i])
                others = _row_products([*used[:i], *used[i + 1 :]], len(table))
                slopes[:, copy, columns.start : columns.stop] += others @ rest
        return slopes

    def _flat(self, X: Array) -> Array:
        """All copies of all points as rows."""  # (n, n_features) -> (n · m, features of a copy)
        return np.ascontiguousarray(X).reshape(len(X) * self._copies, -1)


def _row_products(factors: Sequence[Array], n: int) -> Array:
    """All products of one column of each factor, point by point."""  # (n, a) each -> (n, product of the a)
    return reduce(lambda A, B: (A[:, :, None] * B[:, None, :]).reshape(n, -1), factors, np.ones((n, 1)))
