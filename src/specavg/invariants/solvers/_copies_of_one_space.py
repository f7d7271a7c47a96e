"""Copies of one space with H ≀ S_m: symmetric functions of the one-copy invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from itertools import product as cartesian
from math import comb, factorial, perm, prod
from typing import Any, ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._frequency_types import types_of_norm
from specavg.functions._functions import Functions
from specavg.functions._symmetric_functions import symmetrized_products
from specavg.groups import Group, sign_flips, trivial
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric, Wreath
from specavg.invariants.solvers._solver import QUICK, Solution, Solver, Unsuitable
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Power, Space, Torus
from specavg.spaces._power import Type

__all__ = ["WreathOnCopies"]

_BYTES = 400.0  # of a symmetric function: its multiset as Python objects, its row of the program


def _one_copy(space: Space, group: Group) -> tuple[Space, Group]:
    """(M, H), where `space` is M^m and `group` acts as H ≀ S_m; S_d and B_d on a cubic torus are cases of this."""
    assert isinstance(space, Power | Torus)
    base = space.base if isinstance(space, Power) else Torus(1, period=space.side)
    if isinstance(group.structure, Wreath):
        return base, group.structure.group
    return base, sign_flips(1) if isinstance(group.structure, Hyperoctahedral) else trivial(base.shape[0])


@dataclass(frozen=True, eq=False)
class CopySolutions:
    """The invariants are symmetric functions, each of a multiset of one-copy invariants."""

    multisets: tuple[tuple[tuple[Solution[Any], int], ...], ...]  # which solution, which of its invariants


@final
class WreathOnCopies(Solver[CopySolutions]):
    """Symmetric functions of the one-copy invariants: at no cost in m! or |H|^m.

    A_m has the same invariants where no product uses m different functions: a determinant needs them.
    """

    name: ClassVar[str] = "closed form"
    preference: int = 0

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._copies = space.parts
        self._one_copy = self.resolver_of("copy", *_one_copy(space, group))

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        structure = group.structure
        if isinstance(space, Power):
            permuted = isinstance(structure, Symmetric | Alternating) and structure.size == space.copies
            return permuted or (isinstance(structure, Wreath) and structure.copies == space.copies)
        cube = isinstance(space, Torus) and space.is_cubic and space.lattice is None
        return cube and isinstance(structure, Symmetric | Alternating | Hyperoctahedral)

    def suits(self, eigenspace: Eigenspace) -> bool:
        return not self._determinants(self._types(eigenspace))

    def seconds(self, eigenspace: Eigenspace) -> float:
        # hyperoctahedral(1000) on Torus(1000): eigenspaces of 1, 6 and 19 functions took 0.06, 0.15 and 0.7 ms.
        one_copy = {V for chosen in self._types(eigenspace) for V, _ in chosen}
        return QUICK + sum(map(self._one_copy.seconds, one_copy)) + 3e-5 * (self.count(eigenspace) or 0)

    def memory(self, eigenspace: Eigenspace) -> float:
        one_copy = {V for chosen in self._types(eigenspace) for V, _ in chosen}
        return max(map(self._one_copy.memory, one_copy), default=0.0) + _BYTES * (self.count(eigenspace) or 0)

    def count(self, eigenspace: Eigenspace) -> int | None:
        types = self._types(eigenspace)
        dims = {V: self._one_copy.count(V) for chosen in types for V, _ in chosen}
        known = {V: dim for V, dim in dims.items() if dim is not None}
        return None if self._determinants(types) or len(known) < len(dims) else _multisets_count(types, known)

    def solve(self, eigenspace: Eigenspace) -> Solution[CopySolutions]:
        types = self._types(eigenspace)
        if self._determinants(types):
            raise Unsuitable(
                f"{self.group!r} has invariants of {self._copies} different functions, one for each copy, that "
                "the symmetric group has not, and they have no closed form here."
            )
        solved = {V: self._one_copy.solve(V) for chosen in types for V, _ in chosen}
        count = _multisets_count(types, {V: s.invariant_dim for V, s in solved.items()})
        require_memory(
            _BYTES * count, f"{count} symmetric functions (eigenvalue {eigenspace.eigenvalue:.6g})", "Lower the cutoff."
        )
        multisets: list[tuple[tuple[Solution[Any], int], ...]] = []
        for chosen in types:
            options = [
                combinations_with_replacement([(solved[V], j) for j in range(solved[V].invariant_dim)], number)
                for V, number in chosen
            ]
            multisets.extend(tuple(a for part in choice for a in part) for choice in cartesian(*options))
        named = (("copy", s) for s in solved.values())
        return Solution.made_of(named, eigenspace, count, self, CopySolutions(tuple(multisets)))

    def _determinants(self, types: Sequence[Type]) -> bool:
        """Whether the group is A_m and some products are of m different functions, one of them perhaps constant."""
        return isinstance(self.group.structure, Alternating) and any(
            self._copies - sum(number for _, number in chosen) <= 1 and all(number <= V.dim for V, number in chosen)
            for chosen in types
        )

    def _types(self, eigenspace: Eigenspace) -> Sequence[Type]:
        """Which eigenspaces of one copy are used, and by how many copies each."""
        label: Any = eigenspace.label
        if isinstance(self.space, Power):
            return label
        types = types_of_norm(self.space.dim, label) if isinstance(label, int) else label
        return [tuple((self._wave(v), number) for v, number in sorted(Counter(t).items())) for t in types]

    def _wave(self, k: int) -> Eigenspace:
        """The frequency k > 0 of one coordinate."""
        assert isinstance(self.space, Torus)
        return Eigenspace((2 * np.pi / self.space.side * k) ** 2, 2, k * k)

    def functions(self, solutions: Sequence[Solution[CopySolutions]]) -> Functions:
        place = self._one_copy.places()
        multisets = [
            [place.columns(s)[j] for s, j in multiset] for solution in solutions for multiset in solution.data.multisets
        ]
        m = self._copies
        norms = [perm(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in multisets]
        weights = np.array([1.0 / float(norm) ** 0.5 for norm in norms])
        return symmetrized_products(place.functions(), m, multisets, weights)


def _multisets_count(types: Sequence[Type], dims: Mapping[Eigenspace, int]) -> int:
    return sum(prod(comb(dims[V] + number - 1, number) for V, number in chosen) for chosen in types)
