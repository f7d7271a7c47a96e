"""Copies of one space that move together, with or without all permutations of the copies."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array, Functions
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Group, Representation
from specavg.invariants.solvers._moves_together import copies_move_together
from specavg.invariants.solvers._solver import (
    QUICK,
    Data,
    OutputSolver,
    Solution,
    StoringSolver,
    eigenspace_below,
    known,
)
from specavg.invariants.solvers._stored_arrays import Stored, orthonormal
from specavg.invariants.solvers._types_of_copies import Slots, TypesOfCopies, types_of_copies
from specavg.spaces import Eigenspace, Power, Space

# The invariants of each type, as columns of coefficients of its tensor products.
TypeVectors = tuple[Array, ...]


class TypeByType(StoringSolver[Data], abc.ABC):
    """A small null space for each type of functions, never the matrix of the whole eigenspace."""

    name: ClassVar[str] = "null space"
    _types: TypesOfCopies
    _latest: tuple[Eigenspace, list[Slots]] | None = None

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        """The eigenspace of the space itself."""
        return eigenspace

    def _slots(self, eigenspace: Eigenspace) -> list[Slots]:
        if self._latest is None or self._latest[0] is not eigenspace:  # forecasts and solution ask one after another
            self._latest = (eigenspace, self._types.of(self._below(eigenspace)))
        return self._latest[1]

    def memory(self, eigenspace: Eigenspace) -> float:
        return max(map(self._types.memory, self._slots(eigenspace)))

    def _affordable_slots(self, eigenspace: Eigenspace) -> list[Slots]:
        """The types; an error where their null spaces do not fit in memory."""
        types = self._slots(eigenspace)
        largest = max(map(self._types.size, types))
        require_memory(
            self.memory(eigenspace),
            f"the null space on {largest} products of one-copy functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        return types


class _VectorsOfTypes(TypeByType[TypeVectors], abc.ABC):
    """All invariants of each type, on every arrangement of its eigenspaces on the copies."""

    def seconds(self, eigenspace: Eigenspace) -> float:
        # O(3) on Power(Sphere(3), 2): 9,000 eigenspaces, most of them without invariants, took 3 s.
        return 3 * QUICK + sum(map(self._types.seconds, self._slots(eigenspace)))

    def count(self, eigenspace: Eigenspace) -> int | None:
        found = 0
        for slots in self._slots(eigenspace):
            number = self._types.count(slots)
            if number is None:
                return None
            found += number * self._types.arrangement_count(slots)
        return found

    def solve(self, eigenspace: Eigenspace) -> Solution[TypeVectors]:
        found = [self._types.invariants(slots) for slots in self._affordable_slots(eigenspace)]
        residual, gap = max(part.residual for part in found), min(part.gap for part in found)
        matrices = len(self.group.fields) + len(self.group.generators)
        assert isinstance(self.space, Power)
        entries = matrices * sum(V.dim**2 for V in self.space.palette(self._below(eigenspace)))
        return self._solution(eigenspace, [part.basis for part in found], residual, gap, entries)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[TypeVectors]:
        sizes = enumerate(map(self._types.size, self._slots(eigenspace)))
        return self._solution(eigenspace, [orthonormal(arrays, f"Q{i}", size) for i, size in sizes])

    def _solution(
        self, eigenspace: Eigenspace, vectors: list[Array], residual: float = 0.0, gap: float = np.inf, entries: int = 0
    ) -> Solution[TypeVectors]:
        arrangements = map(self._types.arrangement_count, self._slots(eigenspace))
        count = sum(Q.shape[1] * number for Q, number in zip(vectors, arrangements, strict=True))
        arrays = {f"Q{i}": Q for i, Q in enumerate(vectors)}
        return Solution(eigenspace, count, self, tuple(vectors), residual, gap, entries, arrays)

    def _kept(self, solutions: Sequence[Solution[TypeVectors]]) -> list[tuple[Slots, Array]]:
        """The types that have invariants."""
        return [
            (slots, Q)
            for s in solutions
            for slots, Q in zip(self._slots(s.eigenspace), s.data, strict=True)
            if Q.shape[1]
        ]


@final
class CopiesTogether(_VectorsOfTypes):
    """Invariant functions of copies that move together."""

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._types = types_of_copies(space, group)

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        together = copies_move_together(space, group)
        return together is not None and not together.permutations

    def functions(self, solutions: Sequence[Solution[TypeVectors]]) -> Functions:
        return self._types.functions(self._kept(solutions))


@final
class CopiesAndOutputsTogether(_VectorsOfTypes, OutputSolver[TypeVectors]):
    """Equivariant functions: the outputs are one more factor of each type."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        OutputSolver.__init__(self, space, output, stored)
        together = known(copies_move_together(space, output.group, output))
        self._types = TypesOfCopies(space, together, output.dim)

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        together = copies_move_together(space, output.group, output)
        return together is not None and not together.permutations

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    def functions(self, solutions: Sequence[Solution[TypeVectors]]) -> VectorFunctions:
        return CombinedOutputs(self.output.dim, *outputs_of_types(self._types, self._kept(solutions), self.output.dim))


def outputs_of_types(types: TypesOfCopies, kept: Sequence[tuple[Slots, Array]], p: int) -> tuple[Functions, Any]:
    """Scalar functions, and which of them are the p outputs of the vector functions of each type and arrangement."""
    from scipy.sparse import coo_array

    # Each output of each function is a scalar function: row k · p + i of Q has what product k adds to output i.
    scalars = types.functions([(slots, Q.reshape(len(Q) // p, -1)) for slots, Q in kept])
    widths = [Q.shape[1] for slots, Q in kept for _ in types.arrangements(slots)]
    outputs = np.concatenate([np.repeat(np.arange(p), r) for r in widths] or [np.empty(0, dtype=np.intp)])
    starts = np.cumsum([0, *widths])
    columns = np.concatenate(
        [np.tile(np.arange(start, start + r), p) for start, r in zip(starts, widths, strict=False)]
        or [np.empty(0, dtype=np.intp)]
    )
    rows = np.arange(len(outputs)) * p + outputs
    shape = (len(rows) * p, int(starts[-1]))
    return scalars, coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
