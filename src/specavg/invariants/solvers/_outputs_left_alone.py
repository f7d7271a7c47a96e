"""An output that no element moves: an invariant function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.invariants.solvers._output_solver import OutputSolver, eigenspace_below
from specavg.invariants.solvers._solver import ClosedForm, DelegatingSolver, Solution, functions_of
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space


@final
class OutputsLeftAlone(ClosedForm, DelegatingSolver, OutputSolver[Solution[Any]]):
    """The trivial representation of one output: the invariant functions."""

    delegates: ClassVar[bool] = True
    part: ClassVar[str] = "scalar"

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self.other = self.resolver_of(self.part, space, output.group)

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return output.dim == 1 and output.is_trivial

    def _there(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    def functions(self, solutions: Sequence[Solution[Solution[Any]]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        scalars = functions_of([s.data for s in solutions])
        return CombinedOutputs(1, scalars, eye_array(scalars.dim, format="csr"))
