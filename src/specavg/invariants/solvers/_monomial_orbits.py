"""Any group of signed permutations on a sphere: orbits of monomials, found by union and find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import comb, factorial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._combinations import Blockwise, Combinations, Joined
from specavg.functions._functions import Array, Functions
from specavg.functions._integer_vectors import dense, rows_in
from specavg.functions._monomials import MonomialProducts, monomial_shells, norm_constant
from specavg.groups import Group
from specavg.invariants.solvers._harmonic_polynomials import (
    LARGEST_DEGREE,
    InvariantHarmonics,
    better_family,
    harmonic_combinations,
)
from specavg.invariants.solvers._orbits import Orbits, orbits_of_exponents
from specavg.invariants.solvers._solver import QUICK, Solution, StoringSolver, Unsuitable
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import SignedPermutation
from specavg.spaces import Eigenspace, Space, Sphere


@dataclass(frozen=True, eq=False)
class HarmonicsOfOrbits:
    """Invariant harmonics of one degree, and the orbit sums that they are written in."""

    monomials: _Monomials
    harmonics: InvariantHarmonics


@final
class MonomialOrbits(StoringSolver[HarmonicsOfOrbits]):
    """Orbits of monomials under any group of signed permutations."""

    name: ClassVar[str] = "orbits"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Sphere) or group.fields:
            return False
        return all(isinstance(space.check_isometry(g), SignedPermutation) for g in group.generators)

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        # On the circle and on S² the harmonics themselves are cheaper to evaluate, and accurate at any degree.
        self.preference = 3 if space.n_features <= 3 else 1

    def suits(self, eigenspace: Eigenspace) -> bool:
        return self.space.degree(eigenspace) <= LARGEST_DEGREE

    def seconds(self, eigenspace: Eigenspace) -> float:
        # M24 on Sphere(24) at degree 3 and 4 (2,600 and 17,550 monomials) took 13 and 73 ms; cyclic_shifts(5) at degree
        # 2, 5, 8 took 1.2, 2.3, 4.8 ms; alternating(5) at degree 14, 18 (3,060 and 7,315 monomials) 18 and 43 ms.
        d = self.space.n_features
        monomials = comb(self.space.degree(eigenspace) + d - 1, d - 1)
        return 15 * QUICK + 1e-7 * (len(self.group.generators) + 1) * monomials * d

    def memory(self, eigenspace: Eigenspace) -> float:
        return _monomial_memory(self.space.n_features, self.space.degree(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[HarmonicsOfOrbits]:
        d, degree = self.space.n_features, self.space.degree(eigenspace)
        if not self.suits(eigenspace):
            raise Unsuitable(f"monomials are used up to degree {LARGEST_DEGREE}; got {degree}.")
        upper = self._monomials(degree)
        Q, residual = np.eye(upper.orbits.count), 0.0
        if degree >= 2:
            Q, residual = harmonic_combinations(_orbit_laplacian(upper, self._monomials(degree - 2)))
        hermite = better_family(degree, Q, self.space, 32, lambda hermite: _monomial_sums(d, [upper], hermite))
        return self._solution(eigenspace, upper, InvariantHarmonics(degree, Q, hermite), residual)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[HarmonicsOfOrbits]:
        degree = self.space.degree(eigenspace)
        upper = self._monomials(degree)
        return self._solution(eigenspace, upper, InvariantHarmonics.of(degree, upper.orbits.count, arrays))

    def _monomials(self, degree: int) -> _Monomials:
        return _monomial_orbits(self.space.n_features, degree, _signed(self.space, self.group))

    def _solution(
        self, eigenspace: Eigenspace, monomials: _Monomials, harmonics: InvariantHarmonics, residual: float = 0.0
    ) -> Solution[HarmonicsOfOrbits]:
        found = HarmonicsOfOrbits(monomials, harmonics)
        return Solution(eigenspace, harmonics.Q.shape[1], self, found, residual, arrays=harmonics.arrays)

    def functions(self, solutions: Sequence[Solution[HarmonicsOfOrbits]]) -> Functions:
        families: list[Functions] = []
        found = [s.data for s in solutions if s.invariant_dim]
        for hermite, run in groupby(found, key=lambda data: data.harmonics.hermite):
            chosen = list(run)
            sums = _monomial_sums(self.space.n_features, [data.monomials for data in chosen], hermite)
            families.append(Blockwise(sums, [data.harmonics.Q for data in chosen]))
        return families[0] if len(families) == 1 else Joined(families)


@dataclass(frozen=True, eq=False)
class _Monomials:
    """The monomials of one degree and their orbits."""

    degree: int
    exponents: NDArray[np.int64]  # (M, d)
    orbits: Orbits

    @cached_property
    def fischer(self) -> Array:
        """Fischer norm √(|O| a!) of each orbit sum."""
        top = np.array([float(factorial(a)) for a in range(self.degree + 1)])
        a = self.exponents[self.orbits.first]
        return np.sqrt(self.orbits.size * np.prod(top[a], axis=1))


def _monomial_memory(d: int, degree: int) -> float:
    return 8.0 * 6 * comb(degree + d - 1, degree) * d


def _signed(space: Space, group: Group) -> tuple[SignedPermutation, ...]:
    """The generators as signed permutations of all coordinates (a direct product acts on blocks of them)."""
    maps = (space.check_isometry(g) for g in group.generators)
    return tuple(g for g in maps if isinstance(g, SignedPermutation))


@lru_cache(maxsize=8)
def _monomial_orbits(d: int, degree: int, generators: tuple[SignedPermutation, ...]) -> _Monomials:
    count = comb(degree + d - 1, degree)
    what = f"{count} monomials of degree {degree} in {d} variables"
    require_memory(_monomial_memory(d, degree), what, "Lower the cutoff.")
    exponents = dense(d, degree, monomial_shells(d, degree), power=1)
    found = orbits_of_exponents(exponents, ((g.image_array, g.signs_array < 0) for g in generators))
    return _Monomials(degree, exponents, found)


def _orbit_laplacian(upper: _Monomials, lower: _Monomials) -> Array:
    """The Laplacian between orbit sums of unit Fischer norm: Δ s_O at one monomial b of each lower orbit."""
    d = upper.exponents.shape[1]
    L = np.zeros((lower.orbits.count, upper.orbits.count))
    b = lower.exponents[lower.orbits.first]  # (p, d); sign +1 there
    for i in range(d):
        raised = b.copy()
        raised[:, i] += 2
        place = rows_in(raised, upper.exponents)
        orbit = upper.orbits.label[place]
        sign = 1.0 - 2.0 * upper.orbits.phase[place]
        value = sign * raised[:, i] * (raised[:, i] - 1)
        rows = np.flatnonzero(orbit >= 0)
        np.add.at(L, (rows, orbit[rows]), value[rows])
    return L * lower.fischer[:, None] / upper.fischer


def _monomial_sums(d: int, degrees: Sequence[_Monomials], hermite: bool) -> Combinations:
    """Orbit sums of unit norm: sparse combinations of monomials, or of Hermite products."""
    from scipy.sparse import block_diag, coo_array

    wanted: list[tuple[int, NDArray[np.intp]]] = []
    blocks: list[Any] = []
    for found in degrees:
        alive = np.flatnonzero(found.orbits.label >= 0)
        label = found.orbits.label[alive]
        signs = 1.0 - 2.0 * found.orbits.phase[alive]
        scale = np.sqrt(norm_constant(d, found.degree)) / found.fischer
        entries = (signs * scale[label], (np.arange(len(alive)), label))
        blocks.append(coo_array(entries, shape=(len(alive), found.orbits.count)))
        wanted.append((found.degree, alive))
    matrix: Any = block_diag(blocks, format="csr") if blocks else coo_array((0, 0)).tocsr()
    return Combinations(MonomialProducts(d, wanted, hermite=hermite), matrix)
