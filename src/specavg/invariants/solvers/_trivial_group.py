"""The trivial group: every function is invariant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from specavg.functions._functions import Functions
from specavg.groups import Group
from specavg.invariants.solvers._solver import ClosedForm, Solution, Solver
from specavg.spaces import Eigenspace, Space


@final
class TrivialGroup(ClosedForm, Solver[None]):
    """The trivial group: every function is invariant."""

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return not group.generators and not group.fields

    def count(self, eigenspace: Eigenspace) -> int:
        return eigenspace.dim

    def solve(self, eigenspace: Eigenspace) -> Solution[None]:
        return Solution(eigenspace, eigenspace.dim, self, None)

    def functions(self, solutions: Sequence[Solution[None]]) -> Functions:
        return self.space.functions([s.eigenspace for s in solutions])
