"""Outputs that are a direct sum: the functions of each summand. Those of one that nothing moves are invariant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from specavg.functions._vector_functions import CombinedOutputs, JoinedOutputs, Summand, VectorFunctions
from specavg.groups import Representation
from specavg.invariants._summands_of_outputs import OutputSummand, places_of_copies, summands_of_outputs
from specavg.invariants.solvers._one_output_for_all import coordinates_alike
from specavg.invariants.solvers._solver import (
    ClosedForm,
    DelegatingSolver,
    OutputSolver,
    Solution,
    carrier,
    eigenspace_below,
    functions_of,
    vector_functions_of,
)
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Power, Product, Space, Torus

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver

Summands = tuple[Solution[Any], ...]


@final
class OutputsApart(ClosedForm, OutputSolver[Summands]):
    """A direct sum of representations: the functions of each summand, those of equivalent summands once."""

    delegates: ClassVar[bool] = True

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._summands = _summands(space, output)
        outputs = enumerate(summand.output for summand in self._summands)
        self._resolvers = [self.resolver_of(f"outputs{i}", space, rho.group, rho) for i, rho in outputs]

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        return sum(len(summand.frames) for summand in _summands(space, output)) > 1

    @property
    def is_closed(self) -> bool:
        return all(resolver.is_closed for resolver in self._resolvers)

    def _problems(self, eigenspace: Eigenspace) -> Iterator[tuple[Resolver, Eigenspace]]:
        """For each summand who solves it, and the carrier of its functions."""
        carriers = (carrier(eigenspace_below(eigenspace), summand.output.dim) for summand in self._summands)
        return zip(self._resolvers, carriers, strict=True)

    def seconds(self, eigenspace: Eigenspace) -> float:
        return sum(resolver.seconds(V) for resolver, V in self._problems(eigenspace))

    def memory(self, eigenspace: Eigenspace) -> float:
        return max(resolver.memory(V) for resolver, V in self._problems(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        counts = [resolver.count(V) for resolver, V in self._problems(eigenspace)]
        known = [count for count in counts if count is not None]
        return self._of_all_copies(known) if len(known) == len(counts) else None

    def _of_all_copies(self, counts: Sequence[int]) -> int:
        return sum(count * len(summand.frames) for count, summand in zip(counts, self._summands, strict=True))

    def solve(self, eigenspace: Eigenspace) -> Solution[Summands]:
        found = tuple(resolver.solve(V) for resolver, V in self._problems(eigenspace))
        named = [(f"outputs{i}", s) for i, s in enumerate(found)]
        dim = self._of_all_copies([s.invariant_dim for s in found])
        return Solution.made_of(named, eigenspace, dim, self, found)

    def functions(self, solutions: Sequence[Solution[Summands]]) -> VectorFunctions:
        counts = np.array([[s.invariant_dim for s in solution.data] for solution in solutions])  # (solutions, summands)
        places = places_of_copies(counts, np.array([len(summand.frames) for summand in self._summands]))
        found: list[Summand] = []
        for i, summand in enumerate(self._summands):
            family = vector_functions_of([solution.data[i] for solution in solutions], summand.output.dim)
            if family.dim:
                found.append(Summand(family, summand.frames, places[i]))
        return JoinedOutputs(self.output.dim, found, apart=True)


@final
class OutputsLeftAlone(ClosedForm, DelegatingSolver, OutputSolver[Solution[Any]]):
    """The trivial representation of one output: the invariant functions."""

    delegates: ClassVar[bool] = True
    part: ClassVar[str] = "scalar"

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self.other = self.resolver_of(self.part, space, output.group)

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        return output.dim == 1 and output.is_trivial

    def _there(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    def functions(self, solutions: Sequence[Solution[Solution[Any]]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        scalars = functions_of([s.data for s in solutions])
        return CombinedOutputs(1, scalars, eye_array(scalars.dim, format="csr"))


def _summands(space: Space, output: Representation) -> tuple[OutputSummand, ...]:
    """Signed permutations are left alone where a solver gains from them: on tori, on large spheres, and of copies."""
    exact = isinstance(space, Torus | Power | Product) or coordinates_alike(space, output.group)
    return summands_of_outputs(output, exact=exact)
