"""Products of one-copy functions, one for each of a few copies, and fixed combinations of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

import numpy as np

from specavg.functions._few_rows import FEW_ROWS, few_rows
from specavg.functions._functions import Array, Functions


@dataclass(frozen=True, eq=False)
class CopyTensor:
    """Σ Q[a, b, …, j] ψ_a(x_i) ψ_b(x_k) …: a function for each column j of Q.

    Attributes
    ----------
    copies : tuple of (int, range)
        Which copies are used, and which of the one-copy functions on each.
    Q : ndarray of shape (product of the numbers of functions, dim)
        The last of the copies varies fastest in its rows.
    """

    copies: tuple[tuple[int, range], ...]
    Q: Array


@final
class CopyTensors(Functions):
    """Functions of several copies, each a contraction of a tensor with the one-copy functions of some of them.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        m.
    tensors : sequence of CopyTensor
    """

    def __init__(self, one_copy: Functions, copies: int, tensors: Sequence[CopyTensor]) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._tensors = list(tensors)
        self.dim = sum(tensor.Q.shape[1] for tensor in tensors)

    @property
    def row_bytes(self) -> float:
        widest = max((len(tensor.Q) for tensor in self._tensors), default=1)
        return self._copies * (self._one_copy.row_bytes + 8.0 * self._one_copy.dim) + 8.0 * (2 * widest + self.dim)

    def _of_one_copy(self, X: Array) -> Array:
        """The functions of one copy, at every copy of every point."""  # (n, n_features) -> (n, m, A)
        flat = self._flat(X)
        # Few points have many copies together, and are cut so that nothing is compiled for them.
        step = FEW_ROWS if few_rows(len(X)) else max(len(flat), 1)
        pieces = [self._one_copy.values(flat[start : start + step]) for start in range(0, max(len(flat), 1), step)]
        return np.concatenate(pieces).reshape(len(X), self._copies, self._one_copy.dim)

    def values(self, X: Array) -> Array:
        table = self._of_one_copy(X)
        columns = [np.empty((len(X), 0))]
        for tensor in self._tensors:
            used = [table[:, copy, part.start : part.stop] for copy, part in tensor.copies]
            columns.append(reduce(_row_products, used, np.ones((len(X), 1))) @ tensor.Q)
        return np.concatenate(columns, axis=1)

    def gradient(self, X: Array) -> Array:
        flat = self._flat(X)
        table = self._of_one_copy(X)
        slopes = self._one_copy.gradient(flat).reshape(len(X), self._copies, -1, flat.shape[1])  # (n, m, A, f)
        gradient = np.zeros((len(X), self.dim, self._copies, flat.shape[1]))
        end = 0
        for tensor in self._tensors:
            start, end = end, end + tensor.Q.shape[1]
            used = [table[:, copy, part.start : part.stop] for copy, part in tensor.copies]
            for i, (copy, part) in enumerate(tensor.copies):
                for j in range(flat.shape[1]):
                    factors = [*used[:i], slopes[:, copy, part.start : part.stop, j], *used[i + 1 :]]
                    gradient[:, start:end, copy, j] = reduce(_row_products, factors, np.ones((len(X), 1))) @ tensor.Q
        return gradient.reshape(len(X), self.dim, -1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), 2 * self.row_bytes):
            flat = self._flat(X[rows])
            table = self._one_copy.values(flat).reshape(-1, self._copies, self._one_copy.dim)  # (n, m, A)
            for q, c in enumerate(C.T):
                by_value = self._by_value(table, c).reshape(len(flat), -1)
                combined[rows, :, q] = self._one_copy.pointwise_gradient(flat, by_value).reshape(len(table), -1)
        return combined

    def _by_value(self, table: Array, c: Array) -> Array:
        """The derivative of a combination by every one-copy value."""  # (n, m, A), (dim,) -> (n, m, A)
        slopes, end = np.zeros(table.shape), 0
        for tensor in self._tensors:
            start, end = end, end + tensor.Q.shape[1]
            parts = [(copy, slice(part.start, part.stop)) for copy, part in tensor.copies]
            K = (tensor.Q @ c[start:end]).reshape([len(part) for _, part in tensor.copies])
            for i, (copy, part) in enumerate(parts):
                others = [table[:, k, p] for j, (k, p) in enumerate(parts) if j != i]
                rest = np.moveaxis(K, i, -1).reshape(-1, K.shape[i])
                slopes[:, copy, part] += reduce(_row_products, others, np.ones((len(table), 1))) @ rest
        return slopes

    def _flat(self, X: Array) -> Array:
        return np.ascontiguousarray(X).reshape(len(X) * self._copies, -1)


def _row_products(A: Array, B: Array) -> Array:
    return (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)
