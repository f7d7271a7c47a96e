"""The general solvers: a certified null space, for any isometries and fields of any space, and for any outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups._molien import degrees_of_reflections, harmonics_of
from specavg.invariants._certified_null_space import null_space
from specavg.invariants.solvers._solver import (
    QUICK,
    FixedVectorSolver,
    OutputSolver,
    Solution,
    Unsuitable,
    eigenspace_below,
    known,
)
from specavg.isometries.fields import integer_speed
from specavg.spaces import Eigenspace, Power, Product, Space, Sphere, Stiefel
from specavg.spaces._matrix_space import MatrixSpace
from specavg.spaces._product import factor_eigenspaces


class NullSpace(FixedVectorSolver):
    """Invariant functions: the null space of D(g) − I and dD(ξ). O(|S| m² + m³) operations for m functions."""

    name: ClassVar[str] = "null space"
    preference: int = 2

    @classmethod
    def fits(cls, space: Space, moved_by: object) -> bool:
        return True

    @property
    def _constraints(self) -> int:
        """|S|: the number of generators and fields."""
        return len(self.group.generators) + len(self.group.fields)

    def seconds(self, eigenspace: Eigenspace) -> float:
        m = float(eigenspace.dim)
        if isinstance(self.space, Power | Product):
            # Matrices are products of small ones, and fall into blocks. Four generators on Product(Rotations(),
            # Sphere(3)): m = 351, 729, 1083, 1568, 1980 took 11, 57, 142, 218, 607 ms; three and a field on
            # Power(Rotations(), 2): m = 450, 882, 2450 took 26, 108, 1300 ms; two and two fields on
            # Power(Sphere(3), 3): m = 351, 915, 1431, 2880 took 22, 80, 315, 2500 ms.
            return 10 * QUICK + (1 + self._constraints) * (2.5e-8 * m**2 + 1.5e-11 * m**3) + self._of_parts(eigenspace)
        # Fields whose matrices fall into blocks (conjugation by SO(3) on Rotations()) take 0.5 times as long as this,
        # dense ones 0.7 times, of m = 1,000 to 2,600 functions; small harmonics 1.0 to 1.4 times.
        decomposed = 2e-8 * (1 + self._constraints) * m**2 + (7e-11 + 2e-11 * len(self.group.fields)) * m**3
        return QUICK * min(1 + m, 10) + decomposed + self._of_matrices(eigenspace)

    def _of_matrices(self, eigenspace: Eigenspace) -> float:
        """A forecast of the time that the matrices D(g) and dD(ξ) take."""
        m = float(eigenspace.dim)
        generators, fields = len(self.group.generators), len(self.group.fields)
        if isinstance(self.space, Sphere) and self.space.shape[0] > 3:
            # Interpolated from values at 1.6 m points: once for a generator, and for a field at as many angles as the
            # degree on each of its circles. A field of two circles on Sphere(4), of degrees 6, 14 and 25, took 5, 65
            # and 520 ms, one of three on Sphere(7) with m = 714 and 2,079 took 0.14 and 2.0 s; four generators on
            # Sphere(4) with m = 441 and 961 took 58 and 410 ms.
            evaluated = generators + self._circles * self.space.degree(eigenspace)
            return evaluated * (7e-6 * m + 8e-9 * m**2) + (0.3 + generators + fields) * 1e-10 * m**3
        generator = 1.5e-7 * m**2 + 5e-11 * m**3
        if isinstance(self.space, Sphere | MatrixSpace):
            # Kronecker sums and products of small matrices. A field on Rotations() with m = 81, 1,089 and 2,401 took
            # 1.5, 7 and 29 ms; on Stiefel(4, 2), types that were not met before included, 5 ms with m = 32. A dense
            # generator on Rotations() took 9 ms with m = 2,401, and on Stiefel(5, 3) 1.4 s with m = 1,701.
            share = 1.0 if isinstance(self.space, Stiefel) else 0.1
            return fields * (3e-3 + 6e-9 * m**2) + share * generators * generator
        return (generators + 25 * fields) * generator  # one D(g) for each angle of a circle

    @cached_property
    def _circles(self) -> int:
        """The number of circles that the fields are made of, all together."""
        return sum(1 for field in self.group.fields for _ in self.space.check_field(integer_speed(field)).circles())

    def _of_parts(self, eigenspace: Eigenspace) -> float:
        """A forecast of the time that the matrices of one part take, which those of products are made of."""
        assert isinstance(self.space, Power | Product)
        if isinstance(self.space, Power):
            parts = self.space.palette(eigenspace)
        else:
            parts = [V for way in factor_eigenspaces(eigenspace) for V in way]
        k = float(max((V.dim for V in parts), default=1))
        return (len(self.group.generators) + 25 * len(self.group.fields)) * (1.5e-7 * k**2 + 5e-11 * k**3)

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * (self._constraints + 6) * float(eigenspace.dim) ** 2

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        m = eigenspace.dim
        require_memory(
            self.memory(eigenspace),
            f"the null space on an eigenspace of {m} functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff, or describe the group by exact generators or by its catalogue name, for which "
            "cheaper solvers exist.",
        )
        matrices = [self.space.representation(g, eigenspace) for g in self.group.generators] or [np.eye(m)]
        fields = [self.space.infinitesimal(integer_speed(f), eigenspace) for f in self.group.fields]
        found = null_space(matrices, fields, steepness=self.space.steepness(eigenspace))
        return self.fixed(eigenspace, found.basis, found.residual, found.gap, self._constraints * m * m)


@final
class NoInvariants(FixedVectorSolver):
    """A null space that is known to be empty, by the degrees of the invariant polynomials of a reflection group.

    Those of E8 are 2, 8, 12, ...: no harmonic of degree 1 to 7 is left. Matrices of 2,640 rows took half a minute.
    """

    name: ClassVar[str] = "null space"

    @classmethod
    def fits(cls, space: Space, moved_by: Any) -> bool:
        return isinstance(space, Sphere) and degrees_of_reflections(moved_by) is not None

    @cached_property
    def _degrees(self) -> list[int]:
        return known(degrees_of_reflections(self.group))

    def suits(self, eigenspace: Eigenspace) -> bool:
        return self.count(eigenspace) == 0

    def count(self, eigenspace: Eigenspace) -> int | None:
        assert isinstance(self.space, Sphere)
        return harmonics_of(self._degrees, self.space.degree(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        if not self.suits(eigenspace):
            raise Unsuitable(f"there are {self.count(eigenspace)} invariants, and it finds none")
        return self.fixed(eigenspace, np.zeros((eigenspace.dim, 0)))


@final
class NullSpaceOfOutputs(OutputSolver[Array], NullSpace):
    """Equivariant functions: the null space of D(g) ⊗ ρ(g)ᵀ − I and of dD(ξ) ⊗ I + I ⊗ dρ(ξ)ᵀ."""

    def seconds(self, eigenspace: Eigenspace) -> float:
        m = float(eigenspace.dim)
        return 10 * QUICK + (1 + self._constraints) * (1.5e-7 * m**2 + 5e-11 * m**3)  # as for invariants

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        V = eigenspace_below(eigenspace)
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
        found = null_space(moved or [np.eye(eigenspace.dim)], velocities, steepness=self.space.steepness(V))
        return self.fixed(eigenspace, found.basis, found.residual, found.gap, self._constraints * V.dim**2)

    def functions(self, solutions: Sequence[Solution[Array]]) -> VectorFunctions:
        from scipy.sparse import block_diag, csr_array

        scalars = self.space.functions([eigenspace_below(s.eigenspace) for s in solutions])
        return CombinedOutputs(
            self.output.dim, scalars, block_diag([csr_array(s.data) for s in solutions], format="csr")
        )
