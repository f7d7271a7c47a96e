"""Invariants on a sphere under signed permutations: orbit sums of monomials, then the Laplacian's kernel.

Invariant homogeneous polynomials of degree k are orbit sums s_O of monomials; the harmonic ones are the kernel
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

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, factorial, prod
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.groups import Group
from specavg.groups._structure import Alternating, Hyperoctahedral, SignFlips, Symmetric
from specavg.invariants._functions import Array, Combinations, Functions, Joined, Products
from specavg.invariants._harmonics import harmonic_tree
from specavg.invariants._orbits import Orbits, orbits
from specavg.invariants._solver import Solution, Solver, Unsuitable
from specavg.invariants._symmetric import SymmetrizedProducts
from specavg.invariants._tape import taped
from specavg.isometries import SignedPermutation
from specavg.kernels._copies import CopyTable
from specavg.kernels._products import SPHERE, STEP, ProductTree
from specavg.spaces import Eigenspace, Space, Sphere
from specavg.spaces._frequencies import Shell, dense, rows_in, shells
from specavg.spaces._sphere import harmonics, normalized

__all__ = ["EvenHarmonics", "MonomialOrbits", "SymmetricPolynomials"]

_AMPLIFICATION = 500.0  # terms larger than this beside their sum cost more than three digits


def _kernel(laplacian: Array) -> Array:
    """An orthonormal basis of the kernel of a matrix of full row rank."""  # (p, q) -> (q, q - p)
    p, q = laplacian.shape
    if p == 0:
        return np.eye(q)
    return taped(lambda: np.linalg.qr(laplacian.T, mode="complete")[0][:, p:], q)


def _norm_constant(d: int, degree: int) -> float:
    """∏ (d + 2j)/d for j < degree: the Fischer norm of a harmonic over its L² norm, in units of d^k."""
    return float(np.prod([(d + 2 * j) / d for j in range(degree)]))


def _amplification(terms: _OrbitSums | _MonomialSums, Q: Array, X: Array) -> float:
    """Size of the terms of the sums `terms`·Q beside the sums (which have mean square one), at points X."""
    if not Q.shape[1]:
        return 0.0
    values = terms.plain_values(X)  # pyright: ignore[reportPrivateUsage] - a few points: not worth compiling for
    return float(np.sqrt(np.mean((np.abs(values) @ np.abs(Q)) ** 2, axis=0)).max())


def _refuse(degree: int, loss: float, space: Space) -> None:
    if loss > _AMPLIFICATION:
        raise Unsuitable(
            f"polynomials of degree {degree} on {space!r} cancel by a factor of {loss:.1e} when written in "
            "monomials or Hermite products: twelve digits cannot be kept. Use solver='null space', or a lower cutoff."
        )


@dataclass(frozen=True, eq=False)
class _Harmonics:
    """Invariant harmonics of one degree: coefficients of normalised orbit sums, and the family to use."""

    degree: int
    Q: Array  # (orbits, invariants)
    hermite: bool


# --- S_d and B_d: partitions ----------------------------------------------------------------------------


@final
class SymmetricPolynomials(Solver):
    """Orbits of S_d and B_d are partitions of the degree: the work does not grow with d.

    A_d has the same invariants below degree d(d − 1)/2, that of the smallest alternating polynomial.
    """

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.evident, Symmetric | Hyperoctahedral | Alternating)

    @property
    def _step(self) -> int:
        return 2 if isinstance(self.group.evident, Hyperoctahedral) else 1

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree = eigenspace.label
        assert isinstance(degree, int)
        d = self.space.n_features
        if isinstance(self.group.evident, Alternating) and degree >= d * (d - 1) // 2:
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
        Q = _kernel(_partition_laplacian(d, upper, lower))
        X = self.space.sample(12, np.random.default_rng(7))
        losses = []
        for hermite in (True, False):
            losses.append(_amplification(_OrbitSums(d, [(degree, hermite)], self._step), Q, X))
        _refuse(degree, min(losses), self.space)
        return Solution(eigenspace, Q.shape[1], self, _Harmonics(degree, Q, losses[0] <= losses[1]))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.linalg import block_diag

        found: list[_Harmonics] = [s.data for s in solutions if s.invariant_dim]
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
                weights.append(float(np.sqrt(_norm_constant(d, degree)) / (float(fischer) ** 0.5 * exchanges)))
                multisets.append([part - 1 + (0 if hermite else top) for part in partition])
        self._sums = SymmetrizedProducts(_CoordinatePolynomials(d, top), d, multisets, np.array(weights))

    @property
    def dim(self) -> int:
        return self._sums.dim

    @property
    def row_bytes(self) -> float:
        return self._sums.row_bytes

    # The kernels normalise points themselves.

    def _values(self, X: Array) -> Array:
        return self._sums._values(X)  # pyright: ignore[reportPrivateUsage]

    def plain_values(self, X: Array) -> Array:
        return self._sums.plain_values(normalized(X))  # pyright: ignore[reportPrivateUsage]

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._sums.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._sums.combine(X, C)


def _hermite(z: Array, degree: int) -> list[Array]:
    """He_0..He_degree, by their recurrence."""
    values = [np.ones_like(z), z]
    for j in range(1, degree):
        values.append(z * values[j] - j * values[j - 1])
    return values[: degree + 1]


def _polynomial_rows(degree: int, d: int, hermite: bool) -> tuple[NDArray[np.int64], Array]:
    """A factor table: He_1..He_degree, or powers, of d coordinates; degree j of coordinate i in row (j − 1)d + i."""
    j, i = (a.ravel() for a in np.mgrid[1 : degree + 1, :d])
    row, zero = np.arange(len(j)), np.zeros_like(j)
    before, second = np.where(j > 1, row - d, -1), np.where((j > 2) & hermite, row - 2 * d, -1)
    operations = np.stack([zero + STEP, i, before, second, zero], axis=1).astype(np.int64)
    constants = np.stack([zero + 1, (j - 1) * hermite], axis=1).astype(float)
    return operations, constants


@final
class _CoordinatePolynomials(Functions):
    """He_1..He_k and then z, …, z^k of one coordinate, z = √d x."""

    def __init__(self, d: int, degree: int) -> None:
        self._scale = float(np.sqrt(d))
        self._degree = degree

    @property
    def dim(self) -> int:
        return 2 * self._degree

    @property
    def row_bytes(self) -> float:
        return 8.0 * 2 * self.dim

    @property
    def copy_table(self) -> CopyTable:
        rows = [_polynomial_rows(self._degree, 1, hermite) for hermite in (True, False)]
        operations, constants = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        later = operations[self._degree :]  # the powers come after the Hermite polynomials
        later[:, 2:4] = np.where(later[:, 2:4] < 0, -1, later[:, 2:4] + self._degree)
        return CopyTable(SPHERE, np.array([self._scale]), operations, constants)

    def _values(self, X: Array) -> Array:
        z = self._scale * X[:, 0]
        values = np.empty((len(z), 2 * self._degree))
        power = np.ones_like(z)
        for j, hermite in enumerate(_hermite(z, self._degree)[1:]):
            power = power * z
            values[:, j], values[:, self._degree + j] = hermite, power
        return values


# --- any signed permutations: orbits of monomials ----------------------------------------------------------


@final
class MonomialOrbits(Solver):
    """Orbits of monomials under any group of signed permutations."""

    name: ClassVar[str] = "orbits"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and all(
            isinstance(space.check_isometry(g), SignedPermutation) for g in group.generators
        )

    def cost(self, eigenspace: Eigenspace) -> float:
        degree = eigenspace.label
        assert isinstance(degree, int)
        d = self.space.n_features
        if d == 3:  # the recurrence of the harmonics is cheaper to evaluate, and accurate at any degree
            return np.inf
        return 200.0 * (len(self.group.generators) + 1) * comb(degree + d - 1, degree) * d

    def memory(self, eigenspace: Eigenspace) -> float:
        assert isinstance(eigenspace.label, int)
        return _monomial_memory(self.space.n_features, eigenspace.label)

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree = eigenspace.label
        assert isinstance(degree, int)
        d = self.space.n_features
        generators = _signed(self.space, self.group)
        upper = _monomial_orbits(d, degree, generators)
        if degree < 2:
            Q = np.eye(upper.orbits.count)
        else:
            lower = _monomial_orbits(d, degree - 2, generators)
            Q = _kernel(_orbit_laplacian(upper, lower))
        losses = []
        if Q.shape[1]:
            X = normalized(self.space.sample(32, np.random.default_rng(7)))
            for hermite in (True, False):
                losses.append(_amplification(_MonomialSums(d, [(upper, hermite)]), Q, X))
            _refuse(degree, min(losses), self.space)
        hermite = not losses or losses[0] <= losses[1]
        return Solution(eigenspace, Q.shape[1], self, (upper, _Harmonics(degree, Q, hermite)))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.linalg import block_diag

        families: list[Functions] = []
        for hermite, run in _runs([s.data for s in solutions if s.invariant_dim]):
            sums = _MonomialSums(self.space.n_features, [(found, hermite) for found, _ in run])
            families.append(Combinations(sums, block_diag(*(harmonics.Q for _, harmonics in run))))
        return families[0] if len(families) == 1 else Joined(families)


def _runs(
    found: list[tuple[_Monomials, _Harmonics]],
) -> Iterator[tuple[bool, list[tuple[_Monomials, _Harmonics]]]]:
    from itertools import groupby

    for hermite, run in groupby(found, key=lambda pair: pair[1].hermite):
        yield hermite, list(run)


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
    exponents = dense(d, degree, _monomials(d, degree), power=1)
    targets, signs = [], []
    for g in generators:
        moved = np.empty_like(exponents)
        moved[:, g.image_array] = exponents  # (x∘g)^a = ± x^{a'}, a'[image[i]] = a[i]
        targets.append(rows_in(moved, exponents))
        signs.append((exponents @ (g.signs_array < 0).astype(np.int64)) % 2)
    return _Monomials(degree, exponents, orbits(len(exponents), targets, signs, 2))


@lru_cache(maxsize=4)
def _monomials(d: int, degree: int) -> dict[int, Shell]:
    return shells(d, degree, power=1)


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


@final
class _MonomialSums(Functions):
    """Orbit sums of unit norm: sparse combinations of monomials, or of Hermite products."""

    def __init__(self, d: int, degrees: Sequence[tuple[_Monomials, bool]]) -> None:
        from scipy.sparse import block_diag, coo_array

        wanted: list[tuple[int, NDArray[np.intp]]] = []
        blocks: list[Any] = []
        for found, _ in degrees:
            alive = np.flatnonzero(found.orbits.label >= 0)
            label = found.orbits.label[alive]
            signs = 1.0 - 2.0 * found.orbits.phase[alive]
            scale = np.sqrt(_norm_constant(d, found.degree)) / found.fischer
            entries = (signs * scale[label], (np.arange(len(alive)), label))
            blocks.append(coo_array(entries, shape=(len(alive), found.orbits.count)))
            wanted.append((found.degree, alive))
        self._monomials = _MonomialProducts(d, wanted, hermite=bool(degrees) and degrees[0][1])
        self._orbits: Any = block_diag(blocks, format="csr") if blocks else coo_array((0, 0)).tocsr()

    @property
    def dim(self) -> int:
        return int(self._orbits.shape[1])

    @property
    def row_bytes(self) -> float:
        return self._monomials.row_bytes + 8.0 * 2 * (self._monomials.dim + self.dim)

    def _values(self, X: Array) -> Array:
        return np.asarray(self._monomials._values(X) @ self._orbits)  # pyright: ignore[reportPrivateUsage]

    def plain_values(self, X: Array) -> Array:
        return np.asarray(self._monomials.plain_values(X) @ self._orbits)  # pyright: ignore[reportPrivateUsage]

    def correlate(self, X: Array, Y: Array) -> Array:
        return np.asarray(self._orbits.T @ self._monomials.correlate(X, Y))

    def combine(self, X: Array, C: Array) -> Array:
        return self._monomials.combine(X, np.asarray(self._orbits @ C))


@final
class _MonomialProducts(Products):
    """Some monomials of some degrees, or Hermite products with the same exponents."""

    def __init__(self, d: int, wanted: Sequence[tuple[int, NDArray[np.intp]]], *, hermite: bool) -> None:
        self._d = d
        self._wanted = list(wanted)
        self._top = max((degree for degree, _ in wanted), default=0)
        self._hermite = hermite

    @property
    def dim(self) -> int:
        return sum(len(rows) for _, rows in self._wanted)

    @property
    def row_bytes(self) -> float:
        total = comb(self._top + self._d, self._top)  # monomials of all degrees up to the top
        return 8.0 * (2 * total + 2 * self._d * (self._top + 1))

    @cached_property
    def program(self) -> ProductTree:
        shells = _monomials(self._d, self._top)
        starts = np.cumsum([0, *(len(part) for part in shells.values())])
        degree = np.repeat(np.arange(self._top + 1), np.diff(starts))
        parent, coordinate, value = (
            np.concatenate([getattr(part, name) for part in shells.values()])
            for name in ("parent", "coordinate", "value")
        )
        parent = starts[degree - value] + parent
        parent[0] = 0
        operations, constants = _polynomial_rows(self._top, self._d, self._hermite)
        return ProductTree(
            SPHERE,
            np.array([np.sqrt(self._d)]),
            operations,
            constants,
            parent,
            (value - 1) * self._d + coordinate,
            np.concatenate([np.empty(0, dtype=np.int64), *(starts[k] + rows for k, rows in self._wanted)]),
        )

    def plain_values(self, X: Array) -> Array:
        z = np.sqrt(self._d) * normalized(X).T  # (d, n)
        factor = _hermite(z, self._top) if self._hermite else [z**j for j in range(self._top + 1)]
        table = {0: np.ones((1, len(X)))}
        for degree, part in _monomials(self._d, self._top).items():
            if degree == 0:
                continue
            values = np.empty((len(part), len(X)))
            for size in range(1, degree + 1):
                mine = np.flatnonzero(part.value == size)
                values[mine] = table[degree - size][part.parent[mine]] * factor[size][part.coordinate[mine]]
            table[degree] = values
        return np.concatenate([np.empty((0, len(X))), *(table[k][rows] for k, rows in self._wanted)]).T


@final
class EvenHarmonics(Solver):
    """Sign flips: each harmonic of the tree is even or odd in each coordinate; the even ones are invariant."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.evident, SignFlips)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree, d = eigenspace.label, self.space.n_features
        assert isinstance(degree, int)
        count = 0 if degree % 2 else comb(degree // 2 + d - 2, d - 2)
        return Solution(eigenspace, count, self, degree)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        return _EvenHarmonics(self.space.n_features, [s.data for s in solutions if s.invariant_dim])


@final
class _EvenHarmonics(Products):
    def __init__(self, d: int, degrees: Sequence[int]) -> None:
        self._d = d
        self._degrees = tuple(degrees)
        self._dim = sum(comb(degree // 2 + d - 2, d - 2) for degree in degrees)

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def row_bytes(self) -> float:
        return 8.0 * 6 * max(self.dim, 1)

    @cached_property
    def program(self) -> ProductTree:
        return harmonic_tree(self._d, self._degrees, even=True)

    def plain_values(self, X: Array) -> Array:
        unit = normalized(X)
        columns = [harmonics(unit, degree, even=True) for degree in self._degrees]
        return np.concatenate([np.empty((len(X), 0)), *columns], axis=1)
