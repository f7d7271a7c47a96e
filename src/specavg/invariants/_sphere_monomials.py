"""Any group of signed permutations on a sphere: orbits of monomials, found by union and find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, factorial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.groups import Group
from specavg.invariants._functions import Array, Combinations, Functions, Joined, Products
from specavg.invariants._harmonic_polynomials import (
    InvariantHarmonics,
    better_family,
    hermite_polynomials,
    laplacian_kernel,
    norm_constant,
    polynomial_rows,
)
from specavg.invariants._orbits import Orbits, orbits
from specavg.invariants._solver import Solution, Solver
from specavg.isometries import SignedPermutation
from specavg.kernels._products import SPHERE, Mixing, ProductTree
from specavg.spaces import Eigenspace, Space, Sphere
from specavg.spaces._frequencies import Shell, dense, rows_in, shells
from specavg.spaces._sphere import normalized

__all__ = ["MonomialOrbits"]


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
            Q = laplacian_kernel(_orbit_laplacian(upper, lower))
        hermite = better_family(degree, Q, self.space, 32, lambda hermite: _MonomialSums(d, [(upper, hermite)]))
        return Solution(eigenspace, Q.shape[1], self, (upper, InvariantHarmonics(degree, Q, hermite)))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.linalg import block_diag

        families: list[Functions] = []
        for hermite, run in _runs([s.data for s in solutions if s.invariant_dim]):
            sums = _MonomialSums(self.space.n_features, [(found, hermite) for found, _ in run])
            families.append(Combinations(sums, block_diag(*(harmonics.Q for _, harmonics in run))))
        return families[0] if len(families) == 1 else Joined(families)


def _runs(
    found: list[tuple[_Monomials, InvariantHarmonics]],
) -> Iterator[tuple[bool, list[tuple[_Monomials, InvariantHarmonics]]]]:
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
            scale = np.sqrt(norm_constant(d, found.degree)) / found.fischer
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
        return self._monomials.program.values(X, self._mixing)

    @cached_property
    def _mixing(self) -> Mixing:
        return Mixing.of(self._orbits)

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
        operations, constants = polynomial_rows(self._top, self._d, self._hermite)
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
        factor = hermite_polynomials(z, self._top) if self._hermite else [z**j for j in range(self._top + 1)]
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
