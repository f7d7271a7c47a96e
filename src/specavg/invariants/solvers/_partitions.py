"""S_d, B_d and A_d on a sphere: orbits of monomials are partitions of the degree, whatever d is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._combinations import Combinations
from specavg.functions._functions import Array, Functions
from specavg.functions._orbit_sums import orbit_sums, partitions
from specavg.groups import Group
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric
from specavg.invariants.solvers._harmonic_polynomials import (
    InvariantHarmonics,
    better_family,
    laplacian_kernel,
)
from specavg.invariants.solvers._solver import Solution, Solver, Unsuitable
from specavg.spaces import Eigenspace, Space, Sphere

__all__ = ["SymmetricPolynomials"]


@final
class SymmetricPolynomials(Solver):
    """Orbits of S_d and B_d are partitions of the degree: the work does not grow with d.

    A_d has the same invariants below degree d(d − 1)/2, that of the smallest alternating polynomial.
    """

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.structure, Symmetric | Hyperoctahedral | Alternating)

    @property
    def _step(self) -> int:
        return 2 if isinstance(self.group.structure, Hyperoctahedral) else 1

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree = eigenspace.label
        assert isinstance(degree, int)
        d = self.space.n_features
        if isinstance(self.group.structure, Alternating) and degree >= d * (d - 1) // 2:
            raise Unsuitable(
                f"from degree {d * (d - 1) // 2} on, alternating({d}) has invariants that symmetric({d}) has not, "
                "which have no closed form here."
            )
        upper = list(partitions(degree, d, self._step))
        lower = list(partitions(degree - 2, d, self._step)) if degree >= 2 else []
        require_memory(
            8.0 * 3 * len(upper) * (len(lower) + len(upper)),
            f"{len(upper)} partitions of {degree}",
            "Lower the cutoff.",
        )
        Q = laplacian_kernel(_partition_laplacian(d, upper, lower))
        hermite = better_family(
            degree, Q, self.space, 12, lambda hermite: orbit_sums(d, [(degree, hermite)], self._step)
        )
        return Solution(eigenspace, Q.shape[1], self, InvariantHarmonics(degree, Q, hermite))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.linalg import block_diag

        found: list[InvariantHarmonics] = [s.data for s in solutions if s.invariant_dim]
        sums = orbit_sums(self.space.n_features, [(h.degree, h.hermite) for h in found], self._step)
        return Combinations(sums, block_diag(*(h.Q for h in found)) if found else np.empty((0, 0)))


def _partition_laplacian(d: int, upper: list[tuple[int, ...]], lower: list[tuple[int, ...]]) -> Array:
    """The Laplacian between orbit sums of unit Fischer norm; integers until the last square root."""
    column = {partition: i for i, partition in enumerate(upper)}
    L = np.zeros((len(lower), len(upper)))
    for row, partition in enumerate(lower):
        count = Counter(partition)
        count[0] = d - len(partition)
        for value, number in count.items():
            if number == 0:
                continue
            raised = list(partition)
            if value:
                raised.remove(value)
            raised.append(value + 2)
            target = tuple(sorted(raised, reverse=True))
            if target not in column:
                continue  # an odd part under B_d
            # Coefficient of the lower orbit sum, then the ratio of norms √(|O'| b! / |O| a!).
            coefficient = number * (value + 1) * (value + 2)
            ratio = (count[value + 2] + 1) / (number * (value + 1) * (value + 2))
            L[row, column[target]] = coefficient * ratio**0.5
    return L
