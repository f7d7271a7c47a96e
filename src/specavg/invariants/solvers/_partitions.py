"""S_d, B_d and A_d on a sphere: orbits of monomials are partitions of the degree, whatever d is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, prod
from typing import ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._combinations import Combinations
from specavg.functions._functions import Array, Functions
from specavg.functions._monomials import CoordinatePolynomials
from specavg.functions._sphere_harmonics import normalized
from specavg.functions._symmetric_functions import SymmetrizedProducts
from specavg.groups import Group
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric
from specavg.invariants.solvers._harmonic_polynomials import (
    InvariantHarmonics,
    better_family,
    laplacian_kernel,
    norm_constant,
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
            degree, Q, self.space, 12, lambda hermite: _OrbitSums(d, [(degree, hermite)], self._step)
        )
        return Solution(eigenspace, Q.shape[1], self, InvariantHarmonics(degree, Q, hermite))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.linalg import block_diag

        found: list[InvariantHarmonics] = [s.data for s in solutions if s.invariant_dim]
        sums = _OrbitSums(self.space.n_features, [(h.degree, h.hermite) for h in found], self._step)
        return Combinations(sums, block_diag(*(h.Q for h in found)) if found else np.empty((0, 0)))


def partitions(n: int, parts: int, step: int) -> Iterator[tuple[int, ...]]:
    """Partitions of n into at most `parts` parts, each a multiple of `step`, parts decreasing."""

    def below(n: int, largest: int, left: int) -> Iterator[tuple[int, ...]]:
        if n == 0:
            yield ()
        elif left:
            for part in range(min(n, largest), 0, -1):
                if part % step == 0:
                    for rest in below(n - part, part, left - 1):
                        yield (part, *rest)

    yield from below(n, n, parts)


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


@final
class _OrbitSums(Functions):
    """Orbit sums of unit norm for all partitions of given degrees, in Hermite products or in monomials."""

    def __init__(self, d: int, degrees: Sequence[tuple[int, bool]], step: int) -> None:
        top = max((degree for degree, _ in degrees), default=0)
        multisets: list[list[int]] = []
        weights: list[float] = []
        for degree, hermite in degrees:
            for partition in partitions(degree, d, step):
                count = Counter(partition)
                # The injective sum counts each monomial ∏ count! times; |O| = d!/(d − p)!/∏ count!.
                exchanges = prod(factorial(number) for number in count.values())
                arrangements = prod(range(d - len(partition) + 1, d + 1)) // exchanges
                fischer = arrangements * prod(factorial(part) for part in partition)
                weights.append(float(np.sqrt(norm_constant(d, degree)) / (float(fischer) ** 0.5 * exchanges)))
                multisets.append([part - 1 + (0 if hermite else top) for part in partition])
        self._sums = SymmetrizedProducts(CoordinatePolynomials(d, top), d, multisets, np.array(weights))

    @property
    def dim(self) -> int:
        return self._sums.dim

    @property
    def row_bytes(self) -> float:
        return self._sums.row_bytes

    # The kernels normalise points themselves.

    def values(self, X: Array) -> Array:
        return self._sums.values(X)

    def plain_values(self, X: Array) -> Array:
        return self._sums.plain_values(normalized(X))

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._sums.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._sums.combine(X, C)
