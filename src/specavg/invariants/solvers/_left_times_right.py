"""Invariants of matrices under a group from the left times a group from the right: small problems only.

On rotations and on Stiefel manifolds X ↦ A X Bᵀ acts on each type of functions by D_left ⊗ D_right. If every
generator acts from one side only, the invariants are products of the fixed vectors of the two sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from specavg.functions._functions import Array, Functions
from specavg.functions._two_sided_sums import SidedBlock, TwoSidedSums
from specavg.groups import Group
from specavg.invariants._fixed_space import null_space
from specavg.invariants.solvers._solver import QUICK, Solution, StoringSolver
from specavg.invariants.solvers._stored import orthonormal
from specavg.spaces import Eigenspace, Rotations, Space, Stiefel

__all__ = ["LeftTimesRight"]


_SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class SidedBlocks:
    """The fixed vectors of both sides, for each type of functions."""

    blocks: tuple[SidedBlock, ...]


@final
class LeftTimesRight(StoringSolver[SidedBlocks]):
    """Each generator acts from one side only, so D(g) is D_left ⊗ I or I ⊗ D_right and invariants are products."""

    name: ClassVar[str] = "closed form"
    preference: int = 0

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Rotations | Stiefel) or not group.generators:
            return False
        checked = [space.check_isometry(g) for g in group.generators]
        return all(g.left.is_identity or g.right.is_identity for g in checked)

    def seconds(self, eigenspace: Eigenspace) -> float:
        # crystal_symmetry("O", "D2") at degree 1, 10, 30 (m = 9, 441, 3721) took 1.7, 2.6, 4.9 ms.
        return 15 * QUICK + 3e-9 * (1 + len(self.group.generators)) * float(eigenspace.dim) ** 1.5

    def solve(self, eigenspace: Eigenspace) -> Solution[SidedBlocks]:
        space = self.space
        assert isinstance(space, Rotations | Stiefel)
        actions = [
            (space.check_isometry(g), space.factor_representations(g, eigenspace)) for g in self.group.generators
        ]
        vectors: dict[str, Array] = {}
        residual, gap, inner_products = 0.0, np.inf, 0
        for i, pair in enumerate(actions[0][1]):
            for side, name in enumerate(_SIDES):
                moving = [pairs[i][side] for g, pairs in actions if not getattr(g, name).is_identity]
                if moving:
                    # Matrices of one side are cut out of those of all functions of the type, and rounded as those are.
                    found = null_space(moving, len(pair[0]) * len(pair[1]), space.steepness(eigenspace))
                    vectors[f"{name}{i}"] = np.ascontiguousarray(found.basis)
                    residual, gap = max(residual, found.residual), min(gap, found.gap)
                    inner_products += len(moving) * len(pair[side]) ** 2
        sizes = [(len(left), len(right)) for left, right in actions[0][1]]
        if not vectors:  # nothing moves: this is stored too, so that it is known who found it
            vectors["left0"] = np.eye(sizes[0][0])
        return self._solution(eigenspace, sizes, vectors, residual, gap, inner_products)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[SidedBlocks]:
        assert isinstance(self.space, Rotations | Stiefel)
        pairs = self.space.factor_representations(self.space.identity, eigenspace)
        sizes = [(len(left), len(right)) for left, right in pairs]
        checked = [self.space.check_isometry(g) for g in self.group.generators]
        moving = [name for name in _SIDES if not all(getattr(g, name).is_identity for g in checked)]
        rows = {f"{name}{i}": pair[_SIDES.index(name)] for i, pair in enumerate(sizes) for name in moving}
        vectors = {name: orthonormal(arrays, name, size) for name, size in (rows or {"left0": sizes[0][0]}).items()}
        return self._solution(eigenspace, sizes, vectors)

    def _solution(
        self,
        eigenspace: Eigenspace,
        sizes: Sequence[tuple[int, int]],
        vectors: Mapping[str, Array],
        residual: float = 0.0,
        gap: float = np.inf,
        inner_products: int = 0,
    ) -> Solution[SidedBlocks]:
        """All of a side is fixed where nothing acts from there: no vectors are given for it."""
        blocks = tuple(
            SidedBlock(*(vectors.get(f"{name}{i}", np.eye(size)) for name, size in zip(_SIDES, pair, strict=True)))
            for i, pair in enumerate(sizes)
        )
        count = sum(block.dim for block in blocks)
        return Solution(eigenspace, count, self, SidedBlocks(blocks), residual, gap, inner_products, vectors)

    def functions(self, solutions: Sequence[Solution[SidedBlocks]]) -> Functions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return TwoSidedSums(functions, [block for s in kept for block in s.data.blocks])
