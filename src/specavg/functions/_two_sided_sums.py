"""Functions of a matrix, projected from the left and from the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._gram_operator import GramOperator, MappedGram

__all__ = ["SidedBlock", "TwoSidedSums"]


@dataclass(frozen=True, eq=False)
class SidedBlock:
    """The functions of one type: what is kept of them from the left and from the right."""

    left: Array  # (a, r)
    right: Array  # (b, s)

    @property
    def full_dim(self) -> int:
        """How many functions the type has."""
        return len(self.left) * len(self.right)

    @property
    def dim(self) -> int:
        """How many are kept."""
        return self.left.shape[1] * self.right.shape[1]


@final
class TwoSidedSums(Functions):
    """Lᵀ M(X) R for the matrix M(X) of functions of each type; applied after sums, never per point."""

    def __init__(self, functions: Functions, blocks: Sequence[SidedBlock]) -> None:
        self._blocks = list(blocks)
        sizes = [np.outer(*(np.abs(Q).max(axis=1, initial=0.0) for Q in (b.left, b.right))).ravel() for b in blocks]
        self._all = functions.restricted(np.concatenate([np.empty(0), *sizes]))
        self._ends = np.cumsum([0, *(block.dim for block in self._blocks)])
        self._full_ends = np.cumsum([0, *(block.full_dim for block in self._blocks)])

    @property
    def dim(self) -> int:
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        return self._all.row_bytes + 8.0 * self.dim

    def values(self, X: Array) -> Array:
        return self._projected(self._all.values(X))

    def plain_values(self, X: Array) -> Array:
        """Values by plain NumPy: the compiled ones are tested against them."""
        return self._projected(self._all.plain_values(X))

    def _projected(self, full: Array) -> Array:
        n, values = len(full), np.empty((len(full), self.dim))
        for block, (a, b), (start, end) in self._places():
            # Two large products instead of two small ones a point.
            M = full[:, start:end].reshape(-1, len(block.right))
            if not _is_identity(block.right):
                M = M @ block.right
            M = M.reshape(n, len(block.left), block.right.shape[1])
            if not _is_identity(block.left):
                M = np.tensordot(M, block.left, (1, 0)).transpose(0, 2, 1)
            values[:, a:b] = M.reshape(n, b - a)
        return values

    def gradient(self, X: Array) -> Array:
        gradient = self._all.gradient(X)  # (n, functions, n_features)
        columns = gradient.transpose(0, 2, 1).reshape(len(X) * X.shape[1], -1)
        return self._projected(columns).reshape(len(X), X.shape[1], self.dim).transpose(0, 2, 1)

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._reduced(self._all.correlate(X, Y))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        return self._reduced(self._all.correlate_gradient(X, G))

    def combine(self, X: Array, C: Array) -> Array:
        return self._all.combine(X, self._spread(C))

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._all.combine_gradient(X, self._spread(C))

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        found = self._all.gram_operator(X, weights, Y)
        return None if found is None else (MappedGram(found[0], self._spread, self._reduced), self._reduced(found[1]))

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        return self._all.gram_nanoseconds(n)

    def gram_of_density(self, density: Array) -> GramOperator:
        return MappedGram(self._all.gram_of_density(density), self._spread, self._reduced)

    def _reduced(self, full: Array) -> Array:
        """Sums of these functions from those of all entries of M."""
        sums = np.empty((self.dim, full.shape[1]))
        for block, (a, b), (start, end) in self._places():
            M = full[start:end].reshape(len(block.left), len(block.right), full.shape[1])
            reduced = np.einsum("ai,abq,bj->ijq", block.left, M, block.right, optimize=True)
            sums[a:b] = reduced.reshape(b - a, full.shape[1])  # b - a may be 0
        return sums

    def _spread(self, C: Array) -> Array:
        """Coefficients of all entries of M from those of these functions."""
        full = np.empty((int(self._full_ends[-1]), C.shape[1]))
        for block, (a, b), (start, end) in self._places():
            c = C[a:b].reshape(block.left.shape[1], block.right.shape[1], C.shape[1])  # sizes may be 0
            spread = np.einsum("ai,ijq,bj->abq", block.left, c, block.right, optimize=True)
            full[start:end] = spread.reshape(end - start, -1)
        return full

    def _places(self) -> zip[tuple[SidedBlock, tuple[int, int], tuple[int, int]]]:
        return zip(self._blocks, pairwise(self._ends), pairwise(self._full_ends), strict=True)


def _is_identity(Q: Array) -> bool:
    return Q.shape[0] == Q.shape[1] and np.array_equal(Q, np.eye(len(Q)))
