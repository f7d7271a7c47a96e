"""Copies of one space that move together, where a group of permutations exchanges some of them.

Atoms of two kinds are like this: those of a kind are exchanged. What moves all copies alike commutes with permutations
of the copies, so these act on its invariants. A type has r of them for each arrangement of its eigenspaces on the
copies. A permutation takes one arrangement to another, and where two copies of one eigenspace change places it turns
the r invariants by a matrix of that size. What all permutations leave alone is a null space of r numbers for each orbit
of arrangements: the eigenspace itself may have a million functions. On spheres a permutation may take some copies to
their antipodes too, as for directions without a sense: that changes the sign of functions of odd degree.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._combinations import Combinations
from specavg.functions._functions import Array, Functions
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Group, Representation
from specavg.invariants._certified_null_space import FixedSpace, UnclearRank, rounding
from specavg.invariants.solvers._copies_together import TypeByType, outputs_of_types
from specavg.invariants.solvers._left_times_right import fixed_by_moves
from specavg.invariants.solvers._moves_together import copies_move_together
from specavg.invariants.solvers._orbits import orbits
from specavg.invariants.solvers._solver import QUICK, OutputSolver, Solution, eigenspace_below, known
from specavg.invariants.solvers._stored_arrays import Stored, orthonormal
from specavg.invariants.solvers._types_of_copies import Slots, TypesOfCopies, types_of_copies
from specavg.isometries import SignedPermutation
from specavg.spaces import Eigenspace, Power, Space


@dataclass(frozen=True, eq=False)
class ExchangedType:
    """The invariants of one type.

    Attributes
    ----------
    Q : ndarray of shape (number of products, r)
        What all that moves the copies together leaves alone, on any one arrangement.
    C : ndarray of shape (number of arrangements · r, dim)
        The combinations of these that the permutations leave alone.
    """

    Q: Array
    C: Array


# Where a permutation takes each arrangement, the order of the slots in which it does, and the sign.
Move = list[tuple[int, tuple[int, ...], int]]
# The invariants of each type of an eigenspace.
ExchangedTypes = tuple[ExchangedType, ...]


@lru_cache(maxsize=4)  # a default fit compares up to three orders, which have the same types
def _found_before(space: Space, group: Group) -> dict[Slots, FixedSpace | None]:
    """What the permutations leave alone of each type, None where nothing is left to move: shared by all bases."""
    return {}


class _Exchanged(TypeByType[ExchangedTypes], abc.ABC):
    """What the permutations leave alone of the invariants of each type."""

    _permutations: tuple[SignedPermutation, ...]
    _found: dict[Slots, FixedSpace | None]

    def seconds(self, eigenspace: Eigenspace) -> float:
        # Five directions under O(3), two and three of them exchanged, r up to 19: the permutations of types with 1, 10,
        # 30, 60 and 120 arrangements took 0.8, 1.0, 2.4, 3.7 and 7.7 ms.
        seconds = 3 * QUICK
        for slots in self._slots(eigenspace):
            seconds += self._types.seconds(slots)
            if self._types.count(slots) != 0:
                seconds += 6e-4 + 6e-5 * self._types.arrangement_count(slots)
        return seconds

    def count(self, eigenspace: Eigenspace) -> int | None:
        found = 0
        for slots in self._slots(eigenspace):
            number = self._types.count(slots)
            if number is None:
                return None
            if number:  # one, the integral of a product, which does not change where equal factors are exchanged
                found += _orbits(self._moves(slots, list(self._types.arrangements(slots))))
        return found

    def _moves(self, slots: Slots, arrangements: Sequence[tuple[int, ...]]) -> list[Move]:
        """Where each permutation takes each arrangement, the order of the slots in which it does, and the sign."""
        place = {arrangement: i for i, arrangement in enumerate(arrangements)}
        kinds, odd = [slots.index(slot) for slot in slots], self._types.odd(slots)  # equal slots are side by side
        moves: list[Move] = []
        for g in self._permutations:
            one: Move = []
            for arrangement in arrangements:
                moved = [g.image[copy] for copy in arrangement]
                sign = prod(g.signs[copy] for copy, changes in zip(arrangement, odd, strict=True) if changes)
                # Slot j of the arrangement that is reached is slot order[j] of the one that was moved.
                order = tuple(sorted(range(len(slots)), key=lambda i: (kinds[i], moved[i])))
                one.append((place[tuple(moved[i] for i in order)], order, sign))
            moves.append(one)
        return moves

    def solve(self, eigenspace: Eigenspace) -> Solution[ExchangedTypes]:
        residual, gap, found = 0.0, np.inf, list[ExchangedType]()
        for slots in self._affordable_slots(eigenspace):
            together = self._types.invariants(slots)
            if slots not in self._found:
                self._found[slots] = self._exchanged(slots, together.basis) if together.dim else None
            fixed = self._found[slots]
            gap = min(gap, together.gap, np.inf if fixed is None else fixed.gap)
            if fixed is None or not fixed.dim:
                found.append(ExchangedType(np.empty((len(together.basis), 0)), np.empty((0, 0))))
                continue
            residual = max(residual, together.residual + fixed.residual)
            found.append(ExchangedType(np.ascontiguousarray(together.basis), np.ascontiguousarray(fixed.basis)))
        assert isinstance(self.space, Power)
        matrices = len(self.group.fields) + len(self.group.generators) - len(self._permutations)
        entries = matrices * sum(V.dim**2 for V in self.space.palette(self._below(eigenspace)))
        return self._solution(eigenspace, found, residual, gap, entries)

    def _exchanged(self, slots: Slots, Q: Array) -> FixedSpace:
        """What the permutations leave alone of the r columns of Q on each arrangement."""  # -> (arrangements · r, dim)
        arrangements = list(self._types.arrangements(slots))
        moves = self._moves(slots, arrangements)
        shape = [V.dim for V, _ in slots]
        turns: dict[tuple[int, ...], Array] = {}
        allowed = 100 * rounding(len(Q))
        for order in {order for one in moves for _, order, _ in one}:
            moved = Q.reshape(*shape, -1).transpose(*order, len(slots)).reshape(Q.shape)
            turns[order] = Q.T @ moved
            outside = float(np.linalg.norm(moved - Q @ turns[order], axis=0).max(initial=0.0))
            if outside > allowed:
                raise UnclearRank(
                    f"exchanging equal factors takes invariants of {len(Q)} products out of their space by "
                    f"{outside:.2g}, more than rounding ({allowed:.1e}): their null space is not accurate"
                )
        r = Q.shape[1]
        require_memory(
            8.0 * 3 * len(arrangements) * r * _orbits(moves, signed=False) * r,
            f"invariants of {len(arrangements)} arrangements of {len(slots)} copies, {r} of each,",
            "Lower the cutoff.",
        )
        classes = [(i * r, (i + 1) * r) for i in range(len(arrangements))]
        return fixed_by_moves([[(to, sign * turns[order]) for to, order, sign in one] for one in moves], classes)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[ExchangedTypes]:
        found: list[ExchangedType] = []
        for i, slots in enumerate(self._slots(eigenspace)):
            Q = orthonormal(arrays, f"Q{i}", self._types.size(slots))
            rows = self._types.arrangement_count(slots) * Q.shape[1]
            found.append(ExchangedType(Q, orthonormal(arrays, f"C{i}", rows)))
        return self._solution(eigenspace, found)

    def _solution(
        self,
        eigenspace: Eigenspace,
        types: Sequence[ExchangedType],
        residual: float = 0.0,
        gap: float = np.inf,
        entries: int = 0,
    ) -> Solution[ExchangedTypes]:
        arrays = {f"{name}{i}": array for i, one in enumerate(types) for name, array in (("Q", one.Q), ("C", one.C))}
        count = sum(one.C.shape[1] for one in types)
        return Solution(eigenspace, count, self, tuple(types), residual, gap, entries, arrays)

    def _kept(self, solutions: Sequence[Solution[ExchangedTypes]]) -> tuple[list[tuple[Slots, Array]], Any]:
        """The types that have invariants, each with Q, and the combinations of their functions."""
        from scipy.sparse import block_diag, csr_array

        kept: list[tuple[Slots, ExchangedType]] = [
            (slots, one)
            for s in solutions
            for slots, one in zip(self._slots(s.eigenspace), s.data, strict=True)
            if one.C.shape[1]
        ]
        chosen: list[Any] = [csr_array(one.C) for _, one in kept] or [csr_array((0, 0))]
        return [(slots, one.Q) for slots, one in kept], block_diag(chosen, format="csr")


@final
class CopiesExchanged(_Exchanged):
    """Invariant functions of copies that move together, some of which are exchanged."""

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._permutations = known(copies_move_together(space, group)).permutations
        self._types = types_of_copies(space, group)
        self._found = _found_before(space, group)

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        together = copies_move_together(space, group)
        return together is not None and bool(together.permutations)

    def functions(self, solutions: Sequence[Solution[ExchangedTypes]]) -> Functions:
        kept, chosen = self._kept(solutions)
        together = self._types.functions(kept)
        return Combinations(together, chosen) if kept else together


@final
class CopiesAndOutputsExchanged(_Exchanged, OutputSolver[ExchangedTypes]):
    """Equivariant functions whose outputs the permutations leave alone: these are one more factor of each type."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        OutputSolver.__init__(self, space, output, stored)
        together = known(copies_move_together(space, output.group, output))
        self._permutations, self._found = together.permutations, {}
        self._types = TypesOfCopies(space, together, output.dim)

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        together = copies_move_together(space, output.group, output)
        return together is not None and bool(together.permutations)

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    def functions(self, solutions: Sequence[Solution[ExchangedTypes]]) -> VectorFunctions:
        kept, chosen = self._kept(solutions)
        scalars, together = outputs_of_types(self._types, kept, self.output.dim)
        return CombinedOutputs(self.output.dim, scalars, together @ chosen)


def _orbits(moves: Sequence[Move], *, signed: bool = True) -> int:
    """The number of orbits of arrangements; if `signed`, of those around which no sign changes."""
    targets = [np.array([to for to, _, _ in move]) for move in moves]
    changes = [np.array([int(signed and sign < 0) for _, _, sign in move]) for move in moves]
    return orbits(len(targets[0]), targets, changes, 2).count
