"""Sign flips on a sphere: the even harmonics, no more and no less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from specavg.functions._functions import Functions
from specavg.functions._sphere_harmonics import SphereHarmonics, even_harmonics_count
from specavg.groups import Group
from specavg.groups.families import SignFlips
from specavg.invariants.solvers._solver import ClosedForm, Solution, Solver
from specavg.spaces import Eigenspace, Space, Sphere


@final
class EvenHarmonics(ClosedForm, Solver[int]):
    """Sign flips: each harmonic of the tree is even or odd in each coordinate; the even ones are invariant."""

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.structure, SignFlips)

    def count(self, eigenspace: Eigenspace) -> int:
        return even_harmonics_count(self.space.n_features, self.space.degree(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[int]:
        return Solution(eigenspace, self.count(eigenspace), self, self.space.degree(eigenspace))

    def functions(self, solutions: Sequence[Solution[int]]) -> Functions:
        degrees = [s.data for s in solutions if s.invariant_dim]
        return SphereHarmonics(self.space.n_features, degrees, even=True)
