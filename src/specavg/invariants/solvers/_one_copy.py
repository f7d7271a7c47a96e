"""One copy of a power: its group, its invariants, and which products of them an eigenspace of all copies holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from itertools import product as cartesian
from math import comb, prod
from typing import Any, TypeAlias, final

import numpy as np

from specavg.functions._determinants import Determinants
from specavg.groups import Group, sign_flips, trivial
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric, Wreath
from specavg.invariants.solvers._solver import Places, Solution, Solver, functions_of, known
from specavg.spaces import Eigenspace, Power, Space, Torus
from specavg.spaces._copy_types import Type, copy_types
from specavg.spaces._frequency_sets import Shell

BYTES = 400.0  # memory of one function of all copies: its multiset as Python objects, and its row of the program
# Invariants of one copy: which solution, and which of its invariants.
Chosen: TypeAlias = tuple[tuple[Solution[Any], int], ...]


def permutes_copies(space: Space, group: Group) -> bool:
    """Whether `space` is M^m and `group` acts as H ≀ S_m or A_m; S_d and B_d on a cubic torus are cases of this."""
    structure = group.structure
    if isinstance(space, Power):
        permuted = isinstance(structure, Symmetric | Alternating) and structure.size == space.copies
        return permuted or (isinstance(structure, Wreath) and structure.copies == space.copies)
    cube = isinstance(space, Torus) and space.is_cubic and space.lattice is None
    return cube and isinstance(structure, Symmetric | Alternating | Hyperoctahedral)


@final
class OneCopy:
    """The invariants of one copy, and the products of them in an eigenspace of all copies."""

    def __init__(self, solver: Solver[Any]) -> None:
        space, structure = solver.space, solver.group.structure
        assert isinstance(space, Power | Torus)
        self._space, self.copies = space, space.parts
        self.base = known(space.one_part)
        part = sign_flips(1) if isinstance(structure, Hyperoctahedral) else trivial(self.base.shape[0])
        group = structure.group if isinstance(structure, Wreath) else part
        self.resolver = solver.resolver_of("copy", self.base, group)
        self._latest: tuple[Eigenspace, Sequence[Type], list[Eigenspace]] | None = None

    def types(self, eigenspace: Eigenspace) -> Sequence[Type]:
        """Which eigenspaces of one copy are used, and by how many copies each; the other copies have constants.

        Those that are known to have no invariants are left out. Where nothing is known before they are solved,
        `solved` comes first.
        """
        if self._latest is not None and self._latest[0] is eigenspace:  # forecasts and solution ask one after another
            return self._latest[1]
        final = True

        def allowed(V: Eigenspace) -> bool:
            nonlocal final
            count = self.resolver.count(V)
            final &= count is not None
            return count != 0

        if isinstance(self._space, Power):
            types = copy_types(eigenspace).of(allowed)
        else:
            listed = self._space.frequency_types(eigenspace) or ()
            types = [tuple((self._wave(v), number) for v, number in sorted(Counter(t).items())) for t in listed]
        self._latest = (eigenspace, types, self._used(types)) if final else None
        return types

    def _used(self, types: Sequence[Type]) -> list[Eigenspace]:
        used = dict.fromkeys(V for chosen in types for V, _ in chosen)
        return sorted(used, key=lambda V: V.eigenvalue) if isinstance(self._space, Power) else list(used)

    def palette(self, eigenspace: Eigenspace) -> list[Eigenspace]:
        """The eigenspaces of one copy that may occur."""
        types = self.types(eigenspace)
        if self._latest is not None:
            return self._latest[2]
        # What has no invariants is not yet known.
        return list(copy_types(eigenspace).palette) if isinstance(self._space, Power) else self._used(types)

    def _wave(self, k: int) -> Eigenspace:
        """The frequency k > 0 of one coordinate."""
        assert isinstance(self.base, Torus)
        return Eigenspace((2 * np.pi / self.base.side * k) ** 2, 2, Shell(k * k))

    def antisymmetric_types(self, types: Sequence[Type]) -> list[Type]:
        """The types with a determinant: all copies have different functions, one of them perhaps the constant."""
        spare = self.copies - 1
        return [chosen for chosen in types if sum(n for _, n in chosen) >= spare and all(n <= V.dim for V, n in chosen)]

    def determinant_count(self, types: Sequence[Type], dims: Mapping[Eigenspace, int]) -> int:
        """How many determinants there are, given the number of invariants of each eigenspace of one copy."""
        return sum(prod(comb(dims[V], n) for V, n in chosen) for chosen in self.antisymmetric_types(types))

    def dims(self, types: Sequence[Type]) -> dict[Eigenspace, int] | None:
        """The number of invariants of each eigenspace of one copy in `types`; None where one is not known."""
        counts = {V: self.resolver.count(V) for chosen in types for V, _ in chosen}
        known = {V: count for V, count in counts.items() if count is not None}
        return known if len(known) == len(counts) else None

    def memory(self, eigenspace: Eigenspace, count: int | None) -> float:
        """Working memory of so many functions of all copies, and of those of one copy that they are made from."""
        held = max(map(self.resolver.memory, self.palette(eigenspace)), default=0.0)
        return held + BYTES * (count or 0)

    def parts(
        self, solved: Mapping[Eigenspace, Solution[Any]], sets: Sequence[Chosen]
    ) -> Iterator[tuple[str, Solution[Any]]]:
        """The solutions of one copy that a solution is made of, each once, with the name of their resolver."""
        used = dict.fromkeys([*solved.values(), *(s for chosen in sets for s, _ in chosen)])
        return (("copy", s) for s in used)

    def solved(self, eigenspace: Eigenspace) -> dict[Eigenspace, Solution[Any]]:
        """The invariants of one copy that may occur."""
        return {V: self.resolver.solve(V) for V in self.palette(eigenspace)}

    @property
    def constant(self) -> Solution[Any]:
        """The constant function of one copy."""
        return self.resolver.solve(next(iter(self.base.eigenspaces())))

    def determinant_sets(self, types: Sequence[Type], solved: Mapping[Eigenspace, Solution[Any]]) -> list[Chosen]:
        """Every set of different functions, one for each copy."""
        sets: list[Chosen] = []
        for chosen in self.antisymmetric_types(types):
            full = sum(n for _, n in chosen) == self.copies
            options = [combinations([(solved[V], j) for j in range(solved[V].invariant_dim)], n) for V, n in chosen]
            extra: Chosen = () if full else ((self.constant, 0),)
            sets.extend(tuple(a for part in choice for a in part) + extra for choice in cartesian(*options))
        return sets

    def determinants(self, sets: Sequence[Chosen]) -> Determinants:
        """The functions of these sets."""
        place = Places()
        columns = np.array([sorted(place.columns(s)[j] for s, j in chosen) for chosen in sets], dtype=np.intp)
        return Determinants(functions_of(place.solutions), self.copies, columns.reshape(len(sets), self.copies))
