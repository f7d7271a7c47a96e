"""The invariant functions of a molecule: Chebyshev products of distances, summed over permutations of like atoms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._functions import Functions
from specavg.invariants.solvers._exponent_orbits import exponent_orbits, orbit_sums_of_exponents
from specavg.invariants.solvers._orbits import Orbits
from specavg.isometries import Copies, permutation
from specavg.molecules._distances import pairs_of
from specavg.spaces import Interval, Power

Indices = NDArray[np.int64]
LOWER = "Lower the degree, or give one for few atoms."  # what to do where there are too many functions
# Bytes of a product while all are listed, beside 8 for each of its factors, and for each distance: methane with degree
# 10 took 482, nine atoms with degree 4 took 1090.
_PRODUCT_BYTES, _EXPONENT_BYTES = 200, 24


def like_atoms(symbols: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The atoms of each element."""
    return tuple(tuple(i for i, s in enumerate(symbols) if s == element) for element in dict.fromkeys(symbols))


@dataclass(frozen=True)
class MoleculeTerms:
    """Which functions of a molecule are used.

    Attributes
    ----------
    atoms : int
        How many atoms.
    classes : tuple of tuples of int
        Atoms that may be interchanged with one another.
    degrees : tuple of (int, int)
        (atoms, degree): products of distances among at most so many atoms have a total degree up to that.
    """

    atoms: int
    classes: tuple[tuple[int, ...], ...]
    degrees: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, atoms: int, classes: Sequence[Sequence[int]], degree: int | Mapping[int, int]) -> MoleculeTerms:
        """From a total degree, or one for each number of atoms."""
        table = {atoms: degree} if isinstance(degree, int) else dict(degree)
        pairs = tuple(sorted((min(int(a), atoms), int(d)) for a, d in table.items()))
        return cls(atoms, tuple(tuple(c) for c in classes), pairs)

    @cached_property
    def pair_permutations(self) -> list[Copies]:
        """Generators of the permutations of pairs: a swap of two atoms, and a cycle of all, of each class."""
        pairs = pairs_of(self.atoms)
        place = np.zeros((self.atoms, self.atoms), dtype=np.intp)
        place[pairs[:, 0], pairs[:, 1]] = place[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
        box = Power(Interval(), len(pairs))
        found: list[Copies] = []
        for c in self.classes:
            for cycle in {tuple(c[:2]), tuple(c)} if len(c) > 1 else ():
                image = np.arange(self.atoms)
                image[list(cycle)] = np.roll(cycle, -1)
                move = box.check_isometry(permutation(place[image[pairs[:, 0]], image[pairs[:, 1]]].tolist()))
                assert isinstance(move, Copies)
                found.append(move)
        return found

    @cached_property
    def pair_orbits(self) -> NDArray[np.intp]:
        """The first pair of the orbit of each pair."""  # (m,)
        K = np.eye(len(pairs_of(self.atoms)), dtype=np.int64)
        found = exponent_orbits(K, self.pair_permutations)
        return found.first[found.label].astype(np.intp)

    @property
    def most_products(self) -> int:
        """A bound on the number of products, known before they are listed."""
        return sum(comb(self.atoms, a) * comb(a * (a - 1) // 2 + degree, degree) for a, degree in self.degrees)

    @property
    def fewest_functions(self) -> int:
        """A bound on the number of functions: an orbit has at most one product for each permutation."""
        return max(comb(a * (a - 1) // 2 + degree, degree) for a, degree in self.degrees) // self.permutations

    @property
    def permutations(self) -> int:
        """How many permutations of the atoms there are."""
        return prod(factorial(len(c)) for c in self.classes)

    @cached_property
    def exponents(self) -> Indices:
        """The exponents of all products, by increasing degree."""  # (M, m)
        pairs = pairs_of(self.atoms)
        what = f"{self.most_products} products of distances of {self.atoms} atoms"
        one = _PRODUCT_BYTES + 8.0 * max(degree for _, degree in self.degrees) + _EXPONENT_BYTES * len(pairs)
        require_memory(one * self.most_products, what, LOWER)
        chosen: set[tuple[int, ...]] = set()
        for size, degree in self.degrees:
            for group in combinations(range(self.atoms), size):
                inside = np.flatnonzero(np.isin(pairs, group).all(axis=1)).tolist()
                for d in range(degree + 1):
                    chosen.update(combinations_with_replacement(inside, d))
        K = np.zeros((len(chosen), len(pairs)), dtype=np.int64)
        for row, product in enumerate(sorted(chosen, key=lambda product: (len(product), product))):
            np.add.at(K[row], list(product), 1)
        return K

    @cached_property
    def _family(self) -> tuple[Functions, Indices]:
        K = self.exponents
        found = exponent_orbits(K, self.pair_permutations)
        first = np.full(found.count, len(K), dtype=np.int64)
        np.minimum.at(first, found.label, np.arange(len(K)))
        order = np.argsort(first)  # products are sorted by degree: functions of a lower degree come first, in one order
        rank = np.argsort(order)
        by_degree = Orbits(rank[found.label], found.phase, found.size[order], first[order])
        return orbit_sums_of_exponents(Interval(), [(K, by_degree)]), K[first[order]].sum(axis=1)

    def up_to(self, degree: int) -> MoleculeTerms:
        """Those of a total degree up to `degree`."""
        return MoleculeTerms(self.atoms, self.classes, tuple((a, min(d, degree)) for a, d in self.degrees))

    @property
    def functions(self) -> Functions:
        """One function for each orbit, by increasing degree; the first is the constant."""
        return self._family[0]

    @property
    def function_degrees(self) -> Indices:
        """The total degree of each function."""  # (p,)
        return self._family[1]
