"""Functions of copies that change their sign when two copies are exchanged: determinants, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from specavg._config import require_memory
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.groups._linear_part import determinant
from specavg.groups.families import Alternating
from specavg.invariants.solvers._one_copy import BYTES, Chosen, OneCopy, permutes_copies
from specavg.invariants.solvers._output_solver import OutputSolver, eigenspace_below
from specavg.invariants.solvers._solver import QUICK, ClosedForm, Solution
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import Copies, Isometry, SignedPermutation, permutation
from specavg.spaces import Eigenspace, Space

# The antisymmetric functions, each of a set of different one-copy invariants.
DeterminantSets = tuple[Chosen, ...]


@final
class DeterminantsOfCopies(ClosedForm, OutputSolver[DeterminantSets]):
    """One output with the sign of the permutation of the copies: determinants of the one-copy invariants."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._one_copy = OneCopy(self)

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        group = output.group
        if output.dim > 1 or not output.is_exact or output.is_trivial or not permutes_copies(space, group):
            return False
        if isinstance(group.structure, Alternating):
            return False
        signs = [image.matrix[0, 0] for image in output.images]
        return all(_parity(g) == sign for g, sign in zip(group.generators, signs, strict=True))

    def memory(self, eigenspace: Eigenspace) -> float:
        return self._one_copy.memory(eigenspace_below(eigenspace), self.count(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        types = self._one_copy.types(eigenspace_below(eigenspace))
        dims = self._one_copy.dims(types)
        return None if dims is None else self._one_copy.determinant_count(types, dims)

    def seconds(self, eigenspace: Eigenspace) -> float:
        return QUICK + 3e-5 * (self.count(eigenspace) or 0)  # as for symmetric functions

    def solve(self, eigenspace: Eigenspace) -> Solution[DeterminantSets]:
        below = eigenspace_below(eigenspace)
        solved = self._one_copy.solved(below)
        types = self._one_copy.antisymmetric_types(self._one_copy.types(below))
        count = self._one_copy.determinant_count(types, {V: s.invariant_dim for V, s in solved.items()})
        require_memory(
            BYTES * count, f"{count} determinants (eigenvalue {eigenspace.eigenvalue:.6g})", "Lower the cutoff."
        )
        sets = self._one_copy.determinant_sets(types, solved)
        parts = self._one_copy.parts(solved, sets)
        return Solution.made_of(parts, eigenspace, count, self, tuple(sets))

    def functions(self, solutions: Sequence[Solution[DeterminantSets]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        found = self._one_copy.determinants([chosen for solution in solutions for chosen in solution.data])
        return CombinedOutputs(1, found, eye_array(found.dim, format="csr"))


def _parity(g: Isometry) -> int:
    """The sign of the permutation of the copies; 0 where `g` does not permute copies."""
    return determinant(permutation(g.image)) if isinstance(g, Copies | SignedPermutation) else 0
