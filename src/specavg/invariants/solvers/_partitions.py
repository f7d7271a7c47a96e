"""S_d, B_d and A_d on a sphere: orbits of monomials are partitions of the degree, whatever d is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, final

import numpy as np

from specavg._arrays import Array, block_diagonal
from specavg._config import require_memory
from specavg.functions._combinations import Combinations
from specavg.functions._functions import Functions
from specavg.functions._orbit_sums import orbit_sums, partitions
from specavg.groups import Group
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric
from specavg.invariants.solvers._harmonic_polynomials import (
    LARGEST_DEGREE,
    InvariantHarmonics,
    better_family,
    harmonic_combinations,
)
from specavg.invariants.solvers._solver import QUICK, Solution, StoringSolver, Unsuitable
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space, Sphere


@final
class SymmetricPolynomials(StoringSolver[InvariantHarmonics]):
    """Orbits of S_d and B_d are partitions of the degree: the work does not grow with d.

    A_d has the same invariants below degree d(d − 1)/2, that of the smallest alternating polynomial.
    """

    name: ClassVar[str] = "closed form"

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        # On the circle two functions a degree are solved at once, and polynomials cancel.
        self.preference = 3 if space.n_features == 2 else 0

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.structure, Symmetric | Hyperoctahedral | Alternating)

    @property
    def _step(self) -> int:
        return 2 if isinstance(self.group.structure, Hyperoctahedral) else 1

    def suits(self, eigenspace: Eigenspace) -> bool:
        degree = self.space.degree(eigenspace)
        return degree <= LARGEST_DEGREE and not self._has_more(degree)

    def seconds(self, eigenspace: Eigenspace) -> float:
        # symmetric(1000) at degree 8, 14, 20 (22, 135, 627 partitions) took 8, 120, 2150 ms.
        count = self._partitions_count(self.space.degree(eigenspace))
        return 10 * QUICK + 4e-4 * count + 4.5e-6 * float(count) ** 2

    def memory(self, eigenspace: Eigenspace) -> float:
        degree = self.space.degree(eigenspace)
        count = self._partitions_count(degree)
        return 8.0 * 3 * count * (count + self._partitions_count(degree - 2))

    def count(self, eigenspace: Eigenspace) -> int | None:
        degree = self.space.degree(eigenspace)
        if self._has_more(degree):
            return None
        return self._partitions_count(degree) - self._partitions_count(degree - 2)

    def _partitions_count(self, n: int) -> int:
        n, odd = divmod(n, self._step)
        return 0 if n < 0 or odd else partitions_count(n, self.space.n_features)

    def _has_more(self, degree: int) -> bool:
        """Whether A_d has invariants of this degree that S_d has not."""
        d = self.space.n_features
        return isinstance(self.group.structure, Alternating) and degree >= d * (d - 1) // 2

    def solve(self, eigenspace: Eigenspace) -> Solution[InvariantHarmonics]:
        d, degree = self.space.n_features, self.space.degree(eigenspace)
        if self._has_more(degree):
            raise Unsuitable(
                f"from degree {d * (d - 1) // 2} on, alternating({d}) has invariants that symmetric({d}) has not, "
                "which have no closed form here."
            )
        if degree > LARGEST_DEGREE:
            raise Unsuitable(f"monomials are used up to degree {LARGEST_DEGREE}; got {degree}.")
        require_memory(
            self.memory(eigenspace), f"{self._partitions_count(degree)} partitions of {degree}", "Lower the cutoff."
        )
        upper = list(partitions(degree, d, self._step))
        lower = list(partitions(degree - 2, d, self._step)) if degree >= 2 else []
        Q, residual = harmonic_combinations(_partition_laplacian(d, upper, lower))
        hermite = better_family(
            degree, Q, self.space, 12, lambda hermite: orbit_sums(d, [(degree, hermite)], self._step)
        )
        return self._solution(eigenspace, InvariantHarmonics(degree, Q, hermite), residual)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[InvariantHarmonics]:
        degree = self.space.degree(eigenspace)
        found = InvariantHarmonics.of(degree, self._partitions_count(degree), arrays)
        return self._solution(eigenspace, found)

    def _solution(
        self, eigenspace: Eigenspace, found: InvariantHarmonics, residual: float = 0.0
    ) -> Solution[InvariantHarmonics]:
        return Solution(eigenspace, found.Q.shape[1], self, found, residual, arrays=found.arrays)

    def functions(self, solutions: Sequence[Solution[InvariantHarmonics]]) -> Functions:
        found = [s.data for s in solutions if s.invariant_dim]
        sums = orbit_sums(self.space.n_features, [(h.degree, h.hermite) for h in found], self._step)
        return Combinations(sums, block_diagonal([h.Q for h in found]))


@lru_cache(maxsize=1024)
def partitions_count(n: int, parts: int) -> int:
    """The number of partitions of n into at most `parts` parts."""
    counts = [1] + [0] * n
    for part in range(1, min(n, parts) + 1):  # as many as partitions into parts of at most `parts`
        for i in range(part, n + 1):
            counts[i] += counts[i - part]
    return counts[n]


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
