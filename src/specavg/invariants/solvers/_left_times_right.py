"""Invariants of matrices under a group from the left times a group from the right: small problems only.

On rotations and on Stiefel manifolds X ↦ A X Bᵀ acts on each type of functions by D_left ⊗ D_right. If every
generator acts from one side only, the invariants are products of the fixed vectors of the two sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from specavg.functions._functions import Array, Functions
from specavg.functions._two_sided_sums import SidedBlock, TwoSidedSums
from specavg.groups import Group
from specavg.invariants._fixed_space import null_space
from specavg.invariants.solvers._null_space import taped_fixed_space
from specavg.invariants.solvers._solver import Solution, Solver
from specavg.spaces import Eigenspace, Rotations, Space, Stiefel

__all__ = ["LeftTimesRight"]


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
        blocks: list[SidedBlock] = []
        residual, gap, inner_products = 0.0, np.inf, 0
        for i, (left, right) in enumerate(actions[0][1]):
            sides: list[Array] = []
            for side, size in enumerate((len(left), len(right))):
                moving = [pairs[i][side] for g, pairs in actions if not (g.left if side == 0 else g.right).is_identity]
                vectors, error, distance = _fixed(size, moving, len(left) * len(right))
                sides.append(vectors)
                residual, gap = max(residual, error), min(gap, distance)
                inner_products += len(moving) * size**2
            blocks.append(SidedBlock(*sides))
        count = sum(block.dim for block in blocks)
        return Solution(eigenspace, count, self, blocks, residual, gap, inner_products)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return TwoSidedSums(functions, [block for s in kept for block in s.data])


def _fixed(size: int, matrices: list[Array], full_size: int) -> tuple[Array, float, float]:
    """Fixed vectors, their residual and the gap beside them.

    One side is cut out of the matrices of all functions of the type, `full_size` of them, and rounded as those are.
    """
    if not matrices:
        return np.eye(size), 0.0, np.inf
    return taped_fixed_space(lambda: null_space(matrices, full_size), size)
