"""Groups of signed permutations on a sphere: harmonic polynomials, written in orbit sums of monomials.

Invariant homogeneous polynomials of degree k are orbit sums s_O of monomials; the harmonic ones are the null space
of the Laplacian, a small integer matrix between the orbits of degree k and those of degree k − 2, and onto, so
that the number of invariants is a difference of two counts and no rank is ever decided. On harmonics the
Fischer product <x^a, x^b> = δ_ab a! is L²(S^{d−1}) up to the constant d(d + 2)…(d + 2k − 2).

A harmonic polynomial may be written in Hermite polynomials with the *same* coefficients,
Σ c_a x^a = r^{−k} Σ c_a ∏ He_{a_i}(r x_i) for any r, because exp(−Δ/2) turns monomials into Hermite products
and leaves harmonics alone. With r = √d the terms are centred, and the cancellation of Σ x_i² = 1 against d,
which costs six digits at d = 10⁴, never happens. At small d and high degree plain monomials are better. Both
are measured, the better is used, and if neither keeps twelve digits the solver says so.
"""

from __future__ import annotations

import abc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import comb, factorial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import block_diagonal, components
from specavg._config import require_memory
from specavg.functions._combinations import Blockwise, Combinations, Joined
from specavg.functions._functions import Array, Functions
from specavg.functions._integer_vectors import dense, rows_in
from specavg.functions._monomials import MonomialProducts, monomial_shells, norm_constant
from specavg.functions._orbit_sums import orbit_sums, partitions
from specavg.groups import Group
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric
from specavg.invariants.solvers._orbits import Orbits, orbits_of_exponents
from specavg.invariants.solvers._solver import QUICK, Solution, StoringSolver, Unsuitable
from specavg.invariants.solvers._stored_arrays import Stored, StoredArraysError, orthonormal
from specavg.isometries import SignedPermutation
from specavg.spaces import Eigenspace, Space, Sphere

LARGEST_DEGREE = 170  # 171! is beyond floating-point numbers
_SMALL = 2**14  # entries of a matrix that takes no longer as a whole than its blocks take to be found
_AMPLIFICATION = 500.0  # terms larger than this beside their sum cost more than three digits
# The last degrees at which they stayed below it on spheres in R^d, for each d measured: under permutations of
# coordinates, and with changes of signs, where only even degrees count. In few dimensions monomials amplify by
# 0.39 · 2^(k/2) at least at degree k; in many, Hermite products keep more digits.
# fmt: off
_PERMUTED = {
    5: 19, 6: 18, 7: 18, 8: 17, 10: 17, 11: 16, 13: 16, 14: 17, 15: 17, 16: 16, 17: 16, 18: 18, 20: 19, 22: 19, 25: 21,
    30: 22, 40: 25, 50: 23,
}
_SIGNED = {
    4: 21, 5: 19, 8: 19, 9: 17, 13: 17, 14: 19, 17: 19, 18: 21, 25: 21, 28: 23, 30: 23, 35: 25, 40: 27, 50: 29, 70: 33,
    100: 37,
}
# fmt: on


def last_degree(d: int, *, permuted: bool) -> int:
    """The last degree at which polynomials on a sphere in R^d are taken to cancel little enough.

    Degrees between those measured are interpolated, and beyond them grow like √d.
    """
    measured = _PERMUTED if permuted else _SIGNED
    most = max(measured)
    return int(np.interp(d, list(measured), list(measured.values())) * max(1.0, d / most) ** 0.5)


def harmonic_combinations(laplacian: Array) -> tuple[Array, float]:
    """An orthonormal basis of the null space of a matrix of full row rank, and by how much rounding leaves it.

    The second is the largest product of a column with a row of length one: orbit sums are invariant whatever their
    coefficients, and what rounding costs is that they are harmonic.
    """  # (p, q) -> (q, q - p)
    p, q = laplacian.shape
    Q, found = np.zeros((q, q - p)), 0
    for rows, columns in _blocks(laplacian):
        size = len(columns) - len(rows)
        block = laplacian[np.ix_(rows, columns)]
        basis = np.linalg.qr(block.T, mode="complete")[0][:, len(rows) :] if len(rows) else np.eye(size)
        Q[columns, found : found + size] = basis
        found += size
    left = np.abs(laplacian @ Q) / np.linalg.norm(laplacian, axis=1)[:, None]
    return Q, float(left.max(initial=0.0))


def _blocks(matrix: Array) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows and columns that share an entry, directly or by way of others: the Laplacian keeps parities of exponents."""
    p, q = matrix.shape
    if matrix.size <= _SMALL or not p:
        return [(np.arange(p), np.arange(q))]
    rows, columns = np.nonzero(matrix)
    label = components(p + q, rows, columns + p)
    return [(np.flatnonzero(label[:p] == i), np.flatnonzero(label[p:] == i)) for i in range(label.max() + 1)]


@dataclass(frozen=True, eq=False)
class InvariantHarmonics:
    """Invariant harmonics of one degree: coefficients of normalised orbit sums, and the family to use."""

    degree: int
    Q: Array  # (orbits, invariants)
    hermite: bool

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays that a saved basis keeps: Q, and whether Hermite products are used (1) or monomials (0)."""
        return {"Q": self.Q, "hermite": np.array([float(self.hermite)])}

    @classmethod
    def of(cls, degree: int, orbits: int, arrays: Mapping[str, Array]) -> InvariantHarmonics:
        """The harmonics of a saved basis with these `arrays`, of one degree and so many orbits."""
        hermite = arrays.get("hermite")
        if hermite is None or hermite.shape != (1,) or hermite[0] not in (0.0, 1.0):
            raise StoredArraysError("the array 'hermite' must hold 0 or 1")
        return cls(degree, orthonormal(arrays, "Q", orbits), bool(hermite[0]))


class PolynomialSolver(StoringSolver[InvariantHarmonics], abc.ABC):
    """Invariant harmonics as combinations of the orbit sums of monomials, under signed permutations: abstract."""

    points: ClassVar[int]  # random points at which monomials and Hermite products are compared

    @abc.abstractmethod
    def orbit_count(self, degree: int) -> int:
        """The number of orbits of monomials of one degree that carry an invariant."""

    @abc.abstractmethod
    def laplacian(self, degree: int) -> Array:
        """The Laplacian from orbit sums of one degree to those of two less, all of unit Fischer norm."""

    @abc.abstractmethod
    def sums(self, degree: int, hermite: bool) -> Functions:
        """The orbit sums of one degree, in Hermite products or in monomials."""

    @property
    def _largest_degree(self) -> int:
        """The largest degree at which polynomials may cancel little enough, and factorials are numbers.

        Under other groups the functions that symmetric(d) or hyperoctahedral(d) leaves alone are among the invariants.
        """
        d, structure = self.space.n_features, self.group.structure
        last = last_degree(d, permuted=isinstance(structure, Symmetric | Alternating))
        if not isinstance(structure, Symmetric | Alternating | Hyperoctahedral):
            last = max(last, last_degree(d, permuted=True))
        return min(LARGEST_DEGREE, last)

    @cached_property
    def _changes_signs(self) -> bool:
        """Whether the group may have x ↦ −x: permutations alone have invariants of every degree."""
        signed = [g for g in map(self.space.check_isometry, self.group.generators) if isinstance(g, SignedPermutation)]
        return any((g.signs_array < 0).any() for g in signed)

    def suits(self, eigenspace: Eigenspace) -> bool:
        degree, count = self.space.degree(eigenspace), self.count(eigenspace)
        if degree <= self._largest_degree:
            return True
        # Where there is no invariant nothing cancels. Of odd degree there is none under any group with x ↦ −x.
        none = count == 0 or (count is None and degree % 2 == 1 and self._changes_signs)
        return degree <= LARGEST_DEGREE and none

    def solve(self, eigenspace: Eigenspace) -> Solution[InvariantHarmonics]:
        degree = self.space.degree(eigenspace)
        if not self.suits(eigenspace):
            raise Unsuitable(
                f"polynomials of degree {degree} on {self.space!r} cancel too much when written in monomials or "
                f"Hermite products, which are used up to degree {self._largest_degree}. Use a lower cutoff, or "
                "solver='null space' where the eigenspace is small."
            )
        Q, residual = harmonic_combinations(self.laplacian(degree))
        found = InvariantHarmonics(degree, Q, self._in_hermite_products(degree, Q))
        return self._solution(eigenspace, found, residual)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[InvariantHarmonics]:
        degree = self.space.degree(eigenspace)
        return self._solution(eigenspace, InvariantHarmonics.of(degree, self.orbit_count(degree), arrays))

    def _solution(
        self, eigenspace: Eigenspace, found: InvariantHarmonics, residual: float = 0.0
    ) -> Solution[InvariantHarmonics]:
        return Solution(eigenspace, found.Q.shape[1], self, found, residual, arrays=found.arrays)

    def _in_hermite_products(self, degree: int, Q: Array) -> bool:
        """Whether sums ·Q lose less in Hermite products than in monomials, at random points.

        Raises `Unsuitable` where neither keeps twelve digits.
        """
        if not Q.shape[1]:
            return True
        X = self.space.sample(self.points, np.random.default_rng(7))
        hermite, monomial = (_amplification(self.sums(degree, family), Q, X) for family in (True, False))
        loss = min(hermite, monomial)
        if loss > _AMPLIFICATION:
            raise Unsuitable(
                f"polynomials of degree {degree} on {self.space!r} cancel by a factor of {loss:.1e} when written in "
                "monomials or Hermite products: twelve digits cannot be kept. Use solver='null space', or a lower "
                "cutoff."
            )
        return hermite <= monomial


def _amplification(sums: Functions, Q: Array, X: Array) -> float:
    """Size of the terms of `sums`·Q beside the results (which have mean square one), at points X."""
    values = sums.plain_values(X)  # a few points: not worth compiling for
    return float(np.sqrt(np.mean((np.abs(values) @ np.abs(Q)) ** 2, axis=0)).max())


@final
class SymmetricPolynomials(PolynomialSolver):
    """Orbits of S_d and B_d are partitions of the degree: the work does not grow with d.

    A_d has the same invariants below degree d(d − 1)/2, that of the smallest alternating polynomial.
    """

    name: ClassVar[str] = "closed form"
    points: ClassVar[int] = 12

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
        return super().suits(eigenspace) and not self._has_more(self.space.degree(eigenspace))

    def seconds(self, eigenspace: Eigenspace) -> float:
        # symmetric(1000) at degree 8, 14, 20 (22, 135, 627 partitions) took 8, 120, 2150 ms.
        count = self.orbit_count(self.space.degree(eigenspace))
        return 10 * QUICK + 4e-4 * count + 4.5e-6 * float(count) ** 2

    def memory(self, eigenspace: Eigenspace) -> float:
        return self._bytes(self.space.degree(eigenspace))

    def _bytes(self, degree: int) -> float:
        count = self.orbit_count(degree)
        return 8.0 * 3 * count * (count + self.orbit_count(degree - 2))

    def count(self, eigenspace: Eigenspace) -> int | None:
        degree = self.space.degree(eigenspace)
        if self._has_more(degree):
            return None
        return self.orbit_count(degree) - self.orbit_count(degree - 2)

    def orbit_count(self, degree: int) -> int:
        n, odd = divmod(degree, self._step)
        return 0 if n < 0 or odd else partitions_count(n, self.space.n_features)

    def _has_more(self, degree: int) -> bool:
        """Whether A_d has invariants of this degree that S_d has not."""
        d = self.space.n_features
        return isinstance(self.group.structure, Alternating) and degree >= d * (d - 1) // 2

    def solve(self, eigenspace: Eigenspace) -> Solution[InvariantHarmonics]:
        d = self.space.n_features
        if self._has_more(self.space.degree(eigenspace)):
            raise Unsuitable(
                f"from degree {d * (d - 1) // 2} on, alternating({d}) has invariants that symmetric({d}) has not, "
                "which have no closed form here."
            )
        return super().solve(eigenspace)

    def laplacian(self, degree: int) -> Array:
        require_memory(self._bytes(degree), f"{self.orbit_count(degree)} partitions of {degree}", "Lower the cutoff.")
        d = self.space.n_features
        lower = list(partitions(degree - 2, d, self._step)) if degree >= 2 else []
        return _partition_laplacian(d, list(partitions(degree, d, self._step)), lower)

    def sums(self, degree: int, hermite: bool) -> Functions:
        return orbit_sums(self.space.n_features, [(degree, hermite)], self._step)

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


@final
class MonomialOrbits(PolynomialSolver):
    """Orbits of monomials under any group of signed permutations."""

    name: ClassVar[str] = "orbits"
    points: ClassVar[int] = 32

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Sphere) or group.fields:
            return False
        return all(isinstance(space.check_isometry(g), SignedPermutation) for g in group.generators)

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        # On the circle and on S² the harmonics themselves are cheaper to evaluate, and accurate at any degree.
        self.preference = 3 if space.n_features <= 3 else 1
        self._orbits: dict[int, _Monomials] = {}  # by degree: each is needed for two degrees, and again for values

    def seconds(self, eigenspace: Eigenspace) -> float:
        # M24 on Sphere(24) at degree 3 and 4 (2,600 and 17,550 monomials) took 13 and 73 ms; cyclic_shifts(5) at degree
        # 2, 5, 8 took 1.2, 2.3, 4.8 ms; alternating(5) at degree 14, 18 (3,060 and 7,315 monomials) 18 and 43 ms.
        d = self.space.n_features
        monomials = comb(self.space.degree(eigenspace) + d - 1, d - 1)
        return 15 * QUICK + 1e-7 * (len(self.group.generators) + 1) * monomials * d

    def memory(self, eigenspace: Eigenspace) -> float:
        return _monomial_memory(self.space.n_features, self.space.degree(eigenspace))

    def orbit_count(self, degree: int) -> int:
        return self._monomials(degree).orbits.count

    def laplacian(self, degree: int) -> Array:
        if degree < 2:
            return np.zeros((0, self.orbit_count(degree)))
        return _orbit_laplacian(self._monomials(degree), self._monomials(degree - 2))

    def sums(self, degree: int, hermite: bool) -> Functions:
        return _monomial_sums(self.space.n_features, [self._monomials(degree)], hermite)

    def _monomials(self, degree: int) -> _Monomials:
        if degree not in self._orbits:
            self._orbits[degree] = _monomial_orbits(self.space, self.group, degree)
        return self._orbits[degree]

    def functions(self, solutions: Sequence[Solution[InvariantHarmonics]]) -> Functions:
        families: list[Functions] = []
        for hermite, run in groupby([s.data for s in solutions if s.invariant_dim], key=lambda found: found.hermite):
            chosen = list(run)
            monomials = [self._monomials(found.degree) for found in chosen]
            sums = _monomial_sums(self.space.n_features, monomials, hermite)
            families.append(Blockwise(sums, [found.Q for found in chosen]))
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


def _monomial_orbits(space: Space, group: Group, degree: int) -> _Monomials:
    d = space.n_features
    count = comb(degree + d - 1, degree)
    what = f"{count} monomials of degree {degree} in {d} variables"
    require_memory(_monomial_memory(d, degree), what, "Lower the cutoff.")
    exponents = dense(d, degree, monomial_shells(d, degree), power=1)
    # The generators as signed permutations of all coordinates: a direct product acts on blocks of them.
    signed = [g for g in map(space.check_isometry, group.generators) if isinstance(g, SignedPermutation)]
    found = orbits_of_exponents(exponents, ((g.image_array, g.signs_array < 0) for g in signed))
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
