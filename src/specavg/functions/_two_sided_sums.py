"""Functions that form a matrix M(x), combined by a matrix from the left and one from the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg._immutable import PickledAsMade
from specavg.functions._functions import Functions
from specavg.functions._mapped_functions import Mapped


@dataclass(frozen=True, eq=False)
class SidedBlock(PickledAsMade):
    """The combinations Lᵀ M(x) R of the functions of one type, which form the a × b matrix M(x)."""

    left: Array  # L, (a, r)
    right: Array  # R, (b, s)

    @property
    def full_dim(self) -> int:
        """The number of functions in M."""
        return len(self.left) * len(self.right)

    @property
    def dim(self) -> int:
        """The number of combinations."""
        return self.left.shape[1] * self.right.shape[1]

    @cached_property
    def left_is_identity(self) -> bool:
        """Whether L is the identity."""
        return _is_identity(self.left)

    @cached_property
    def right_is_identity(self) -> bool:
        """Whether R is the identity."""
        return _is_identity(self.right)


@final
class TwoSidedSums(Mapped):
    """Lᵀ M(x) R, row by row, for the matrix M(x) of the functions of each type.

    Parameters
    ----------
    functions : Functions
        The entries of all M, type by type and row by row.
    blocks : sequence of SidedBlock
        L and R of each type.
    """

    def __init__(self, functions: Functions, blocks: Sequence[SidedBlock]) -> None:
        self._blocks = list(blocks)
        sizes = [np.outer(*(np.abs(Q).max(axis=1, initial=0.0) for Q in (b.left, b.right))).ravel() for b in blocks]
        super().__init__(functions.restricted(np.concatenate([np.empty(0), *sizes])))
        self._ends = np.cumsum([0, *(block.dim for block in self._blocks)])
        self.dim = int(self._ends[-1])
        self._full_ends = np.cumsum([0, *(block.full_dim for block in self._blocks)])

    @property
    def row_bytes(self) -> float:
        sided = self._source.sided_bytes
        return (self._source.row_bytes if sided is None else sided) + 8.0 * self.dim

    def values(self, X: Array) -> Array:
        if self._source.sided_bytes is None:
            return super().values(X)
        values, sides = np.empty((len(X), self.dim)), [(block.left, block.right) for block in self._blocks]
        for (a, b), part in zip(pairwise(self._ends), self._source.sided_values(X, sides), strict=True):
            values[:, a:b] = part.reshape(len(X), b - a)
        return values

    def _projected(self, rows: Array) -> Array:
        n, values = len(rows), np.empty((len(rows), self.dim))
        for block, (a, b), (start, end) in self._places():
            # Two products of large matrices, instead of two of small ones for each point.
            M = rows[:, start:end].reshape(-1, len(block.right))
            if not block.right_is_identity:
                M = M @ block.right
            M = M.reshape(n, len(block.left), block.right.shape[1])
            if not block.left_is_identity:
                M = np.tensordot(M, block.left, (1, 0)).transpose(0, 2, 1)
            values[:, a:b] = M.reshape(n, b - a)
        return values

    def _spread(self, C: Array) -> Array:
        full = np.empty((int(self._full_ends[-1]), C.shape[1]))
        for block, (a, b), (start, end) in self._places():
            c = C[a:b].reshape(block.left.shape[1], block.right.shape[1], C.shape[1])
            c = c if block.right_is_identity else block.right @ c
            spread = block.left @ c.reshape(len(c), len(block.right) * C.shape[1])
            full[start:end] = spread.reshape(end - start, C.shape[1])
        return full

    def _places(self) -> zip[tuple[SidedBlock, tuple[int, int], tuple[int, int]]]:
        """Each block, the places of its combinations, and those of the entries of its M."""
        return zip(self._blocks, pairwise(self._ends), pairwise(self._full_ends), strict=True)


def _is_identity(Q: Array) -> bool:
    return Q.shape[0] == Q.shape[1] and np.array_equal(Q, np.eye(len(Q)))
