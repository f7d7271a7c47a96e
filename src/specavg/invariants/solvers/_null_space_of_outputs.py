"""Equivariant functions of any space, group and output: a certified null space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.invariants._certified_null_space import null_space
from specavg.invariants.solvers._output_solver import OutputSolver, eigenspace_below
from specavg.invariants.solvers._solver import QUICK, FixedVectorSolver, Solution
from specavg.spaces import Eigenspace, Space


@final
class NullSpaceOfOutputs(OutputSolver[Array], FixedVectorSolver):
    """The null space of D(g) ⊗ ρ(g)ᵀ − I over the generators, and of dD(ξ) ⊗ I + I ⊗ dρ(ξ)ᵀ over the fields."""

    name: ClassVar[str] = "null space"
    preference: int = 2

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return True

    def seconds(self, eigenspace: Eigenspace) -> float:
        m = float(eigenspace.dim)
        return 10 * QUICK + (1 + self._constraints) * (1.5e-7 * m**2 + 5e-11 * m**3)  # as for invariants

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * (self._constraints + 6) * float(eigenspace.dim) ** 2

    @property
    def _constraints(self) -> int:
        return len(self.group.generators) + len(self.group.fields)

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        size, V = eigenspace.dim, eigenspace_below(eigenspace)
        require_memory(
            self.memory(eigenspace),
            f"the null space on {self.output.dim} copies of an eigenspace of {V.dim} functions "
            f"(eigenvalue {V.eigenvalue:.6g})",
            "Lower the cutoff, or give the group by exact generators.",
        )
        pairs = zip(self.group.generators, self.output.images, strict=True)
        moved: list[Any] = [np.kron(self.space.representation(g, V), rho.matrix.T) for g, rho in pairs]
        one, outputs = np.eye(V.dim), np.eye(self.output.dim)
        velocities = [
            np.kron(self.space.infinitesimal(field, V), outputs) + np.kron(one, rho.matrix.T)
            for field, rho in zip(self.group.fields, self.output.field_images, strict=True)
        ]
        found = null_space(moved or [np.eye(size)], velocities, steepness=self.space.steepness(V))
        return self.fixed(eigenspace, found.basis, found.residual, found.gap, self._constraints * V.dim**2)

    def functions(self, solutions: Sequence[Solution[Array]]) -> VectorFunctions:
        from scipy.sparse import block_diag, csr_array

        scalars = self.space.functions([eigenspace_below(s.eigenspace) for s in solutions])
        return CombinedOutputs(
            self.output.dim, scalars, block_diag([csr_array(s.data) for s in solutions], format="csr")
        )
