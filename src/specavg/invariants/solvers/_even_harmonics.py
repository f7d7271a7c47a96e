"""Sign flips on a sphere: the even harmonics, no more and no less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from specavg.functions._functions import Functions
from specavg.functions._sphere_harmonics import SphereHarmonics, even_harmonics_count
from specavg.groups import Group
from specavg.groups.families import SignFlips
from specavg.invariants.solvers._solver import Solution, Solver
from specavg.spaces import Eigenspace, Space, Sphere

__all__ = ["EvenHarmonics"]


@final
class EvenHarmonics(Solver):
    """Sign flips: each harmonic of the tree is even or odd in each coordinate; the even ones are invariant."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.structure, SignFlips)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree, d = eigenspace.label, self.space.n_features
        assert isinstance(degree, int)
        return Solution(eigenspace, even_harmonics_count(d, degree), self, degree)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        degrees = [s.data for s in solutions if s.invariant_dim]
        return SphereHarmonics(self.space.n_features, degrees, even=True)
