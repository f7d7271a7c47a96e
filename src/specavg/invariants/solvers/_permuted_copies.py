"""Copies of one space that are permuted in all ways: functions of all copies from the invariants of one copy.

Under H ≀ S_m invariants are symmetric functions of the one-copy invariants of H; under A_m determinants are invariant
as well. Functions that change their sign with an odd permutation are determinants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement
from itertools import product as cartesian
from math import comb, factorial, perm, prod
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._combinations import Combinations, Joined
from specavg.functions._determinants import Determinants
from specavg.functions._functions import Functions
from specavg.functions._symmetric_waves import symmetrized_products
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Group, Representation, sign_flips, trivial
from specavg.groups._linear_part import determinant
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric, Wreath
from specavg.invariants.solvers._solver import (
    QUICK,
    ClosedForm,
    OutputSolver,
    Places,
    Solution,
    Solver,
    eigenspace_below,
    functions_of,
    known,
)
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import Copies, Isometry, SignedPermutation, permutation
from specavg.spaces import Eigenspace, Power, Space, Torus
from specavg.spaces._copy_types import CopyType, copy_types
from specavg.spaces._frequency_sets import Shell

BYTES = 400.0  # memory of one function of all copies: its multiset as Python objects, and its row of the program
Chosen: TypeAlias = tuple[tuple[Solution[Any], int], ...]
"""Some invariants of one copy: the solution that each belongs to, and its number there."""


def permutes_copies(space: Space, group: Group) -> bool:
    """Whether `space` is M^m and `group` acts as H ≀ S_m or A_m; S_d and B_d on a cubic torus are cases of this."""
    structure = group.structure
    if isinstance(space, Power):
        permuted = isinstance(structure, Symmetric | Alternating) and structure.size == space.copies
        return permuted or (isinstance(structure, Wreath) and structure.copies == space.copies)
    cube = isinstance(space, Torus) and space.is_cubic and space.lattice is None
    return cube and isinstance(structure, Symmetric | Alternating | Hyperoctahedral)


@dataclass(frozen=True, eq=False)
class CopyFunctions:
    """Symmetric functions, each of a multiset of one-copy invariants, and determinants, each of a set of them."""

    multisets: tuple[Chosen, ...]
    sets: tuple[Chosen, ...]


class WreathOnCopies(ClosedForm, Solver[CopyFunctions]):
    """Invariant functions: symmetric functions of the one-copy invariants, at no cost in m! or |H|^m.

    Under A_m determinants of m different one-copy functions are invariant too.
    """

    _symmetric: ClassVar[bool] = True  # whether symmetric functions are among those that are wanted

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        assert isinstance(space, Power | Torus)
        self._copies, self._base, structure = space.parts, known(space.one_part), group.structure
        flipped = sign_flips(1) if isinstance(structure, Hyperoctahedral) else trivial(self._base.shape[0])
        one = structure.group if isinstance(structure, Wreath) else flipped
        self._one_copy = self.resolver_of("copy", self._base, one)
        # The last eigenspace, its types, the eigenspaces of one copy that they use, and how many invariants they have.
        self._latest: tuple[Eigenspace, Sequence[CopyType], list[Eigenspace], int | None] | None = None

    @classmethod
    def fits(cls, space: Space, group: Any, /) -> bool:
        return permutes_copies(space, group)

    @property
    def _antisymmetric(self) -> bool:
        """Whether determinants are wanted. Of one copy they would be the symmetric functions again."""
        return isinstance(self.group.structure, Alternating) and self._copies > 1

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        """The eigenspace of the space that one output of functions in `eigenspace` lies in."""
        return eigenspace

    def _types(self, eigenspace: Eigenspace) -> Sequence[CopyType]:
        """Which eigenspaces of one copy are used, and by how many copies each; the other copies have constants.

        Eigenspaces that are known to have no invariants are left out. Where this is known only after they are solved,
        those of the `_palette` have to be solved before.
        """
        below = self._below(eigenspace)
        if self._latest is not None and self._latest[0] is below:  # forecasts and solution ask one after another
            return self._latest[1]
        all_known = True

        def allowed(V: Eigenspace) -> bool:
            nonlocal all_known
            count = self._one_copy.count(V)
            all_known &= count is not None
            return count != 0

        if isinstance(self.space, Power):
            types = copy_types(below).of(allowed)
        else:
            assert isinstance(self.space, Torus)
            listed = self.space.frequency_types(below) or ()
            types = [tuple((self._wave(v), number) for v, number in sorted(Counter(t).items())) for t in listed]
        self._latest = (below, types, self._used(types), self._number(types)) if all_known else None
        return types

    def _used(self, types: Sequence[CopyType]) -> list[Eigenspace]:
        used = dict.fromkeys(V for chosen in types for V, _ in chosen)
        return sorted(used, key=lambda V: V.eigenvalue) if isinstance(self.space, Power) else list(used)

    def _palette(self, eigenspace: Eigenspace) -> list[Eigenspace]:
        """The eigenspaces of one copy that may occur."""
        types = self._types(eigenspace)
        if self._latest is not None:
            return self._latest[2]
        whole = isinstance(self.space, Power)  # which of them have no invariants is not known yet
        return list(copy_types(self._below(eigenspace)).palette) if whole else self._used(types)

    def _wave(self, k: int) -> Eigenspace:
        """The frequency k > 0 of one coordinate."""
        assert isinstance(self._base, Torus)
        return Eigenspace((2 * np.pi / self._base.side * k) ** 2, 2, Shell(k * k))

    def _antisymmetric_types(self, types: Sequence[CopyType]) -> list[CopyType]:
        """The types with a determinant: all copies have different functions, one of them perhaps the constant."""
        if not self._antisymmetric:
            return []
        spare = self._copies - 1
        return [chosen for chosen in types if sum(n for _, n in chosen) >= spare and all(n <= V.dim for V, n in chosen)]

    def seconds(self, eigenspace: Eigenspace) -> float:
        # hyperoctahedral(1000) on Torus(1000): eigenspaces of 1, 6 and 19 functions took 0.06, 0.15 and 0.7 ms.
        # Each eigenspace of one copy takes 3e-6 to 6e-6 s again, solved or not: thousands of eigenspaces of four copies
        # of a circle had some hundred each.
        palette = self._palette(eigenspace)
        one_copy = sum(map(self._one_copy.seconds, palette)) + 6e-6 * len(palette)
        return QUICK + one_copy + 3e-5 * (self.count(eigenspace) or 0)

    def memory(self, eigenspace: Eigenspace) -> float:
        one_copy = max(map(self._one_copy.memory, self._palette(eigenspace)), default=0.0)
        return one_copy + BYTES * (self.count(eigenspace) or 0)

    def count(self, eigenspace: Eigenspace) -> int | None:
        types = self._types(eigenspace)
        return self._number(types) if self._latest is None else self._latest[3]

    def _number(self, types: Sequence[CopyType]) -> int | None:
        """The number of invariants of these types, where those of one copy are counted."""
        dims: dict[Eigenspace, Any] = {V: self._one_copy.count(V) for chosen in types for V, _ in chosen}
        if None in dims.values():
            return None
        symmetric = (prod(comb(dims[V] + n - 1, n) for V, n in chosen) for chosen in types if self._symmetric)
        determinants = (prod(comb(dims[V], n) for V, n in chosen) for chosen in self._antisymmetric_types(types))
        return sum(symmetric) + sum(determinants)

    def solve(self, eigenspace: Eigenspace) -> Solution[CopyFunctions]:
        solved = {V: self._one_copy.solve(V) for V in self._palette(eigenspace)}
        types, count = self._types(eigenspace), known(self.count(eigenspace))  # all that they are made of is solved
        what = "symmetric functions" if self._symmetric else "determinants"
        require_memory(BYTES * count, f"{count} {what} (eigenvalue {eigenspace.eigenvalue:.6g})", "Lower the cutoff.")

        def choices(chosen: CopyType, some_of: Any) -> Iterator[Chosen]:
            options = [some_of([(solved[V], j) for j in range(solved[V].invariant_dim)], n) for V, n in chosen]
            return (tuple(chain.from_iterable(choice)) for choice in cartesian(*options))

        multisets = [a for chosen in types if self._symmetric for a in choices(chosen, combinations_with_replacement)]
        sets: list[Chosen] = []
        for chosen in self._antisymmetric_types(types):
            full = sum(n for _, n in chosen) == self._copies
            constant = () if full else ((self._one_copy.solve(next(iter(self._base.eigenspaces()))), 0),)
            sets.extend((*a, *constant) for a in choices(chosen, combinations))
        used = dict.fromkeys([*solved.values(), *(s for a in sets for s, _ in a)])
        found = CopyFunctions(tuple(multisets), tuple(sets))
        return Solution.made_of((("copy", s) for s in used), eigenspace, count, self, found)

    def functions(self, solutions: Sequence[Solution[CopyFunctions]]) -> Functions | VectorFunctions:
        from scipy.sparse import coo_array

        place, m = Places(), self._copies
        multisets = [[place.columns(s)[j] for s, j in a] for solution in solutions for a in solution.data.multisets]
        norms = [perm(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in multisets]
        weights = np.array([1.0 / float(norm) ** 0.5 for norm in norms])
        symmetric = symmetrized_products(functions_of(place.solutions), m, multisets, weights)
        if not any(solution.data.sets for solution in solutions):
            return symmetric
        # Each solution has its symmetric functions before its determinants.
        kinds = [len(part) for s in solutions for part in (s.data.multisets, s.data.sets)]
        is_set = np.repeat(np.arange(len(kinds)) % 2 == 1, kinds)
        rows = np.where(is_set, len(multisets) + np.cumsum(is_set) - 1, np.cumsum(~is_set) - 1)
        place_of = coo_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(len(rows), len(rows)))
        return Combinations(Joined([symmetric, self._determinants(solutions)]), place_of)

    def _determinants(self, solutions: Sequence[Solution[CopyFunctions]]) -> Determinants:
        """The determinants of all solutions."""
        place, sets = Places(), [a for solution in solutions for a in solution.data.sets]
        columns = np.array([sorted(place.columns(s)[j] for s, j in a) for a in sets], dtype=np.intp)
        return Determinants(functions_of(place.solutions), self._copies, columns.reshape(len(sets), self._copies))


@final
class DeterminantsOfCopies(OutputSolver[CopyFunctions], WreathOnCopies):
    """One output that changes its sign with an odd permutation of the copies: determinants of one-copy invariants."""

    _symmetric: ClassVar[bool] = False

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        group = output.group
        if output.dim > 1 or not output.is_exact or output.is_trivial or not permutes_copies(space, group):
            return False
        if isinstance(group.structure, Alternating):
            return False
        signs = [image.matrix[0, 0] for image in output.images]
        return all(_parity(g) == sign for g, sign in zip(group.generators, signs, strict=True))

    @property
    def _antisymmetric(self) -> bool:
        return True

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    def functions(self, solutions: Sequence[Solution[CopyFunctions]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        found = self._determinants(solutions)
        return CombinedOutputs(1, found, eye_array(found.dim, format="csr"))


def _parity(g: Isometry) -> int:
    """The sign of the permutation of the copies; 0 where `g` does not permute copies."""
    return determinant(permutation(g.image)) if isinstance(g, Copies | SignedPermutation) else 0
