"""Invariants of matrices under a group from the left times a group from the right: small problems only.

On rotations and on Stiefel manifolds X ↦ A X Bᵀ acts on each type of functions by D_left ⊗ D_right. If every
generator acts from one side only, the invariants are products of the fixed vectors of the two sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, final

import numpy as np

from specavg.groups import Group
from specavg.invariants._fixed_space import null_space
from specavg.invariants._functions import Array, Functions
from specavg.invariants._harmonics import HarmonicSums
from specavg.invariants._null_space import taped_fixed_space
from specavg.invariants._solver import Solution, Solver
from specavg.spaces import Eigenspace, Rotations, Space, Stiefel

__all__ = ["LeftTimesRight"]


@dataclass(frozen=True, eq=False)
class _Block:
    """The functions of one type: fixed vectors from the left and from the right."""

    left: Array  # (a, r)
    right: Array  # (b, s)

    @property
    def full_dim(self) -> int:
        return len(self.left) * len(self.right)

    @property
    def dim(self) -> int:
        return self.left.shape[1] * self.right.shape[1]


@final
class LeftTimesRight(Solver):
    """Each generator acts from one side only, so D(g) is D_left ⊗ I or I ⊗ D_right and invariants are products."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Rotations | Stiefel) or not group.generators:
            return False
        checked = [space.check_isometry(g) for g in group.generators]
        return all(g.left.is_identity or g.right.is_identity for g in checked)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        space = self.space
        assert isinstance(space, Rotations | Stiefel)
        actions = [
            (space.check_isometry(g), space.factor_representations(g, eigenspace)) for g in self.group.generators
        ]
        blocks: list[_Block] = []
        residual, gap, inner_products = 0.0, np.inf, 0
        for i, (left, right) in enumerate(actions[0][1]):
            sides: list[Array] = []
            for side, size in enumerate((len(left), len(right))):
                moving = [pairs[i][side] for g, pairs in actions if not (g.left if side == 0 else g.right).is_identity]
                vectors, error, distance = _fixed(size, moving, len(left) * len(right))
                sides.append(vectors)
                residual, gap = max(residual, error), min(gap, distance)
                inner_products += len(moving) * size**2
            blocks.append(_Block(*sides))
        count = sum(block.dim for block in blocks)
        return Solution(eigenspace, count, self, blocks, residual, gap, inner_products)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        return _TwoSidedSums(self.space, [(s.eigenspace, s.data) for s in solutions if s.invariant_dim])


def _fixed(size: int, matrices: list[Array], full_size: int) -> tuple[Array, float, float]:
    """Fixed vectors, their residual and the gap beside them.

    One side is cut out of the matrices of all functions of the type, `full_size` of them, and rounded as those are.
    """
    if not matrices:
        return np.eye(size), 0.0, np.inf
    return taped_fixed_space(lambda: null_space(matrices, full_size), size)


@final
class _TwoSidedSums(Functions):
    """Lᵀ M(X) R for the matrix M(X) of functions of each type; applied after sums, never per point."""

    def __init__(self, space: Space, parts: Sequence[tuple[Eigenspace, Sequence[_Block]]]) -> None:
        self._blocks = [block for _, blocks in parts for block in blocks]
        self._all = HarmonicSums(space, [(V, None) for V, _ in parts])
        self._ends = np.cumsum([0, *(block.dim for block in self._blocks)])
        self._full_ends = np.cumsum([0, *(block.full_dim for block in self._blocks)])

    @property
    def dim(self) -> int:
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        return self._all.row_bytes + 8.0 * self.dim

    def _values(self, X: Array) -> Array:
        return self._projected(self._all._values(X))  # pyright: ignore[reportPrivateUsage]

    def plain_values(self, X: Array) -> Array:
        """The same by plain NumPy: what the compiled ones are tested against."""
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

    def correlate(self, X: Array, Y: Array) -> Array:
        full = self._all.correlate(X, Y)
        sums = np.empty((self.dim, Y.shape[1]))
        for block, (a, b), (start, end) in self._places():
            M = full[start:end].reshape(len(block.left), len(block.right), -1)
            sums[a:b] = np.einsum("ai,abq,bj->ijq", block.left, M, block.right, optimize=True).reshape(b - a, -1)
        return sums

    def combine(self, X: Array, C: Array) -> Array:
        full = np.empty((int(self._full_ends[-1]), C.shape[1]))
        for block, (a, b), (start, end) in self._places():
            c = C[a:b].reshape(block.left.shape[1], block.right.shape[1], C.shape[1])  # sizes may be 0
            spread = np.einsum("ai,ijq,bj->abq", block.left, c, block.right, optimize=True)
            full[start:end] = spread.reshape(end - start, -1)
        return self._all.combine(X, full)

    def _places(self) -> zip[tuple[_Block, tuple[int, int], tuple[int, int]]]:
        return zip(self._blocks, pairwise(self._ends), pairwise(self._full_ends), strict=True)


def _is_identity(Q: Array) -> bool:
    return Q.shape[0] == Q.shape[1] and np.array_equal(Q, np.eye(len(Q)))
