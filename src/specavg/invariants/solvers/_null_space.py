"""The general solver: a certified null space of D(g) − I and dD(ξ), for any isometries and fields of any space."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array
from specavg.groups import Group
from specavg.invariants._certified_null_space import null_space
from specavg.invariants.solvers._solver import QUICK, FixedVectorSolver, Solution
from specavg.isometries.fields import integer_speed
from specavg.spaces import Eigenspace, Space


@final
class NullSpace(FixedVectorSolver):
    """O(|S| m² + m³) an eigenspace, S the generators and fields."""

    name: ClassVar[str] = "null space"
    preference: int = 2

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return True

    def seconds(self, eigenspace: Eigenspace) -> float:
        # symmetric(4) on Sphere(4): m = 9, 100, 400, 900 took 1, 8, 100, 460 ms, representations included; a five-fold
        # axis on Sphere(2), of degrees up to 500, 6 ms for m = 2; one field on
        # Sphere(4), m up to 441, 5 s for 3,300 functions.
        m, matrices = float(eigenspace.dim), 1 + len(self.group.generators) + 25 * len(self.group.fields)
        representations = 1.2e-5 * self.space.steepness(eigenspace)
        return 10 * QUICK + representations + matrices * (1.5e-7 * m**2 + 5e-11 * m**3)

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * (len(self.group.generators) + len(self.group.fields) + 6) * float(eigenspace.dim) ** 2

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        m, generators = eigenspace.dim, self.group.generators
        require_memory(
            self.memory(eigenspace),
            f"the null space on an eigenspace of {m} functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff, or describe the group by exact generators or by its catalogue name, for which "
            "cheaper solvers exist.",
        )
        matrices = [self.space.representation(g, eigenspace) for g in generators] or [np.eye(m)]
        fields = [self.space.infinitesimal(integer_speed(f), eigenspace) for f in self.group.fields]
        found = null_space(matrices, fields, steepness=self.space.steepness(eigenspace))
        inner_products = (len(generators) + len(fields)) * m * m
        return self.fixed(eigenspace, found.basis, found.residual, found.gap, inner_products)
