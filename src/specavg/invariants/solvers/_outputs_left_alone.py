"""An output that no element moves: an invariant function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.invariants.solvers._output_solver import OutputSolver, eigenspace_below
from specavg.invariants.solvers._solver import ClosedForm, Solution
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space


@final
class OutputsLeftAlone(ClosedForm, OutputSolver[Solution[Any]]):
    """The trivial representation of one output: the invariant functions."""

    delegates: ClassVar[bool] = True

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._scalar = self.resolver_of("scalar", space, output.group)

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return output.dim == 1 and output.is_trivial

    @property
    def is_closed(self) -> bool:
        return self._scalar.is_closed

    def seconds(self, eigenspace: Eigenspace) -> float:
        return self._scalar.seconds(eigenspace_below(eigenspace))

    def memory(self, eigenspace: Eigenspace) -> float:
        return self._scalar.memory(eigenspace_below(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        return self._scalar.count(eigenspace_below(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[Solution[Any]]:
        found = self._scalar.solve(eigenspace_below(eigenspace))
        return Solution.made_of([("scalar", found)], eigenspace, found.invariant_dim, self, found)

    def functions(self, solutions: Sequence[Solution[Solution[Any]]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        scalars = self._scalar.functions([s.data for s in solutions])
        return CombinedOutputs(1, scalars, eye_array(scalars.dim, format="csr"))
