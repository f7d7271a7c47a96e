"""Outputs that fall into groups which no element mixes: each is found by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._vector_functions import JoinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.invariants.solvers._output_solver import OutputSolver, carrier, eigenspace_below
from specavg.invariants.solvers._solver import Solution
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Space

__all__ = ["OutputsApart"]

Parts = tuple[Solution[Any], ...]


@final
class OutputsApart(OutputSolver[Parts]):
    """A direct sum of representations, as the zeros of its matrices show it: the functions of each summand."""

    name: ClassVar[str] = "closed form"
    preference: int = 0
    delegates: ClassVar[bool] = True

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._places = _summands(output)
        summands = [output.restricted(at) for at in self._places]
        self._resolvers = [self.resolver_of(f"outputs{i}", space, s.group, s) for i, s in enumerate(summands)]

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return len(_summands(output)) > 1

    @property
    def is_closed(self) -> bool:
        return all(resolver.is_closed for resolver in self._resolvers)

    def _carriers(self, eigenspace: Eigenspace) -> list[Eigenspace]:
        V = eigenspace_below(eigenspace)
        return [carrier(V, len(at)) for at in self._places]

    def seconds(self, eigenspace: Eigenspace) -> float:
        pairs = zip(self._resolvers, self._carriers(eigenspace), strict=True)
        return sum(resolver.seconds(V) for resolver, V in pairs)

    def memory(self, eigenspace: Eigenspace) -> float:
        pairs = zip(self._resolvers, self._carriers(eigenspace), strict=True)
        return max(resolver.memory(V) for resolver, V in pairs)

    def count(self, eigenspace: Eigenspace) -> int | None:
        counts = [r.count(V) for r, V in zip(self._resolvers, self._carriers(eigenspace), strict=True)]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def solve(self, eigenspace: Eigenspace) -> Solution[Parts]:
        found = tuple(r.solve(V) for r, V in zip(self._resolvers, self._carriers(eigenspace), strict=True))
        named = [(f"outputs{i}", s) for i, s in enumerate(found)]
        return Solution.made_of(named, eigenspace, sum(s.invariant_dim for s in found), self, found)

    def functions(self, solutions: Sequence[Solution[Parts]]) -> VectorFunctions:
        dims = np.array([[s.invariant_dim for s in solution.data] for solution in solutions])  # (solutions, summands)
        ends = np.cumsum(dims.ravel()).reshape(dims.shape)
        parts: list[tuple[VectorFunctions, NDArray[np.intp], NDArray[np.intp]]] = []
        for i, (resolver, at) in enumerate(zip(self._resolvers, self._places, strict=True)):
            family = resolver.vector_functions([solution.data[i] for solution in solutions], len(at))
            columns = [np.arange(end - dim, end) for end, dim in zip(ends[:, i], dims[:, i], strict=True)]
            if family.dim:
                parts.append((family, at, np.concatenate(columns)))
        return JoinedOutputs(self.output.dim, parts)


@lru_cache(maxsize=32)
def _summands(output: Representation) -> tuple[NDArray[np.intp], ...]:
    """Which outputs belong together: some generator or field makes one of them from another."""
    from scipy.sparse.csgraph import connected_components

    links = np.eye(output.dim, dtype=bool)
    for moved in (*output.images, *output.field_images):
        links |= moved.matrix != 0
    count, label = connected_components(links, directed=False)
    return tuple(np.flatnonzero(label == k) for k in range(count))
