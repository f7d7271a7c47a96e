"""The general solver: a certified null space of D(g) − I, for any isometry of any space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, final

from specavg._config import require_memory
from specavg.functions._combinations import Blockwise
from specavg.functions._functions import Array, Functions
from specavg.groups import Group
from specavg.invariants._fixed_space import FixedSpace, null_space
from specavg.invariants._tape import taped
from specavg.invariants.solvers._solver import Solution, Solver
from specavg.spaces import Eigenspace, Space

__all__ = ["NullSpace", "taped_fixed_space"]


@final
class NullSpace(Solver):
    """O(|S| m² + m³) an eigenspace."""

    name: ClassVar[str] = "null space"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return True

    def cost(self, eigenspace: Eigenspace) -> float:
        m = float(eigenspace.dim)
        return (10 + 6 * len(self.group.generators)) * m**3 + 1e5

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * (len(self.group.generators) + 6) * float(eigenspace.dim) ** 2

    def solve(self, eigenspace: Eigenspace) -> Solution:
        m, generators = eigenspace.dim, self.group.generators
        require_memory(
            self.memory(eigenspace),
            f"the null space on an eigenspace of {m} functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff, or describe the group by exact generators or by its catalogue name, for which "
            "cheaper solvers exist.",
        )
        if not generators:
            return Solution(eigenspace, m, self, None)
        Q, residual, gap = taped_fixed_space(
            lambda: null_space([self.space.representation(g, eigenspace) for g in generators]), m
        )
        return Solution(eigenspace, Q.shape[1], self, Q, residual, gap, len(generators) * m * m)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return Blockwise(functions, [(s.eigenspace.dim, s.data) for s in kept])


def taped_fixed_space(compute: Callable[[], FixedSpace], size: int) -> tuple[Array, float, float]:
    """The basis of `compute()` through the tape, its residual and its gap.

    A basis that is played back was certified when it was made: its residual is 0 and its gap infinite.
    """
    certificate = (0.0, float("inf"))

    def basis() -> Array:
        nonlocal certificate
        found = compute()
        certificate = (found.residual, found.gap)
        return found.basis

    return taped(basis, size), *certificate
