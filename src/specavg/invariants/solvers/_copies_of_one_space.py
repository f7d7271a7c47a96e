"""Copies of one space with H ≀ S_m: symmetric functions of the one-copy invariants; with A_m determinants too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from itertools import product as cartesian
from math import comb, factorial, perm, prod
from typing import final

import numpy as np

from specavg._config import require_memory
from specavg.functions._combinations import Combinations, Joined
from specavg.functions._functions import Functions
from specavg.functions._symmetric_waves import symmetrized_products
from specavg.groups import Group
from specavg.groups.families import Alternating
from specavg.invariants.solvers._one_copy import BYTES, Chosen, OneCopy, permutes_copies
from specavg.invariants.solvers._solver import QUICK, ClosedForm, Places, Solution, Solver, functions_of
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space


@dataclass(frozen=True, eq=False)
class CopySolutions:
    """The invariants: symmetric functions, each of a multiset of one-copy invariants, and determinants of sets."""

    multisets: tuple[Chosen, ...]
    sets: tuple[Chosen, ...] = ()


@final
class WreathOnCopies(ClosedForm, Solver[CopySolutions]):
    """Symmetric functions of the one-copy invariants: at no cost in m! or |H|^m.

    A_m has antisymmetric invariants beside them: determinants of m different functions.
    """

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._one_copy = OneCopy(self)
        # With one copy there is nothing to exchange: the functions themselves would be counted twice.
        self._even_only = isinstance(group.structure, Alternating) and self._one_copy.copies > 1
        self._latest: tuple[Eigenspace, int] | None = None

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return permutes_copies(space, group)

    def seconds(self, eigenspace: Eigenspace) -> float:
        # hyperoctahedral(1000) on Torus(1000): eigenspaces of 1, 6 and 19 functions took 0.06, 0.15 and 0.7 ms.
        one_copy = sum(map(self._one_copy.resolver.seconds, self._one_copy.palette(eigenspace)))
        return QUICK + one_copy + 3e-5 * (self.count(eigenspace) or 0)

    def memory(self, eigenspace: Eigenspace) -> float:
        return self._one_copy.memory(eigenspace, self.count(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        if self._latest is not None and self._latest[0] is eigenspace:  # forecasts of time and memory ask for it too
            return self._latest[1]
        types = self._one_copy.types(eigenspace)
        dims = self._one_copy.dims(types)
        if dims is None:
            return None
        even = self._one_copy.determinant_count(types, dims) if self._even_only else 0
        multisets = sum(prod(comb(dims[V] + number - 1, number) for V, number in chosen) for chosen in types)
        self._latest = (eigenspace, multisets + even)
        return self._latest[1]

    def solve(self, eigenspace: Eigenspace) -> Solution[CopySolutions]:
        solved = self._one_copy.solved(eigenspace)
        types = self._one_copy.types(eigenspace)
        count = self.count(eigenspace)
        assert count is not None  # all that it is made of is solved
        require_memory(
            BYTES * count, f"{count} symmetric functions (eigenvalue {eigenspace.eigenvalue:.6g})", "Lower the cutoff."
        )
        multisets: list[Chosen] = []
        for chosen in types:
            options = [
                combinations_with_replacement([(solved[V], j) for j in range(solved[V].invariant_dim)], number)
                for V, number in chosen
            ]
            multisets.extend(tuple(a for part in choice for a in part) for choice in cartesian(*options))
        sets = self._one_copy.determinant_sets(types, solved) if self._even_only else []
        found = CopySolutions(tuple(multisets), tuple(sets))
        return Solution.made_of(self._one_copy.parts(solved, sets), eigenspace, count, self, found)

    def functions(self, solutions: Sequence[Solution[CopySolutions]]) -> Functions:
        from scipy.sparse import coo_array

        place = Places()
        multisets = [
            [place.columns(s)[j] for s, j in multiset] for solution in solutions for multiset in solution.data.multisets
        ]
        m = self._one_copy.copies
        norms = [perm(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in multisets]
        weights = np.array([1.0 / float(norm) ** 0.5 for norm in norms])
        symmetric = symmetrized_products(functions_of(place.solutions), m, multisets, weights)
        sets = [chosen for solution in solutions for chosen in solution.data.sets]
        if not sets:
            return symmetric
        # Each solution has its symmetric functions before its determinants.
        kinds = [len(part) for s in solutions for part in (s.data.multisets, s.data.sets)]
        is_set = np.repeat(np.arange(len(kinds)) % 2 == 1, kinds)
        rows = np.where(is_set, len(multisets) + np.cumsum(is_set) - 1, np.cumsum(~is_set) - 1)
        place_of = coo_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(rows), len(rows)))
        return Combinations(Joined([symmetric, self._one_copy.determinants(sets)]), place_of)
