"""Permuted outputs: functions of one of them, under the subgroup that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._vector_functions import CombinedOutputs, Move, MovedOutputs, VectorFunctions
from specavg.groups import Group, Representation
from specavg.groups._one_output import OneOutput, one_output
from specavg.invariants._summands_of_outputs import split_functions
from specavg.invariants.solvers._solver import (
    ClosedForm,
    DelegatingSolver,
    OutputSolver,
    Solution,
    carrier,
    eigenspace_below,
    known,
    vector_functions_of,
)
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import SignedPermutation, permutation
from specavg.spaces import Eigenspace, Power, Space, Sphere, Torus

# Coordinates of a torus with small eigenspaces and non-uniform FFTs: orbits of all waves are as quick there.
_FEW = 3
# Coordinates at least of a sphere: with fewer, null spaces of all outputs take less than 0.2 s up to degree 5.
_MANY = 7
# Functions at most whose D(g) are formed, of one eigenspace after the other: 3,000 in one take 72 MB for each output.
_WITH_MATRICES = 3000


@final
class OneOutputForAll(ClosedForm, DelegatingSolver, OutputSolver[Solution[Any]]):
    """F_b(x) = ±f(g_b x), with f a function of the stabiliser of output 0: its closed form is one for F."""

    delegates: ClassVar[bool] = True
    part: ClassVar[str] = "output"

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._one = known(_stabiliser(space, output))
        self.other = self.resolver_of(self.part, space, self._one.group, self._one.output)

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        if _stabiliser(space, output) is None:
            return False
        # On a sphere the null space of all outputs is what else there is, and any solver of one output needs less.
        return isinstance(space, Sphere) or cls(space, output).is_closed

    def _there(self, eigenspace: Eigenspace) -> Eigenspace:
        return carrier(eigenspace_below(eigenspace), 1)

    def functions(self, solutions: Sequence[Solution[Solution[Any]]]) -> VectorFunctions:
        if self._keeps_everything and sum(s.invariant_dim for s in solutions) <= _WITH_MATRICES:
            return self._by_matrices(solutions)
        one = vector_functions_of([s.data for s in solutions], 1)
        width = self.space.base.n_features if isinstance(self.space, Power) else 1
        order, moves = self._one.order, []
        for g in self._one.moves:
            columns = g.image_array[order][:, None] * width + np.arange(width)
            moves.append(Move(columns.ravel(), np.repeat(g.signs_array[order].astype(float), width)))
        return MovedOutputs(one, moves, self._one.signs)

    @property
    def _keeps_everything(self) -> bool:
        """Whether nothing but the identity keeps output 0, so that f is any function."""
        everything = not self._one.group.generators and not isinstance(self.space, Sphere)  # whose D(g) take longer
        return everything and all(g.is_permutation for g in self._one.moves)

    def _by_matrices(self, solutions: Sequence[Solution[Solution[Any]]]) -> VectorFunctions:
        """The functions as f(g_b x) = D(g_b)ᵀφ(x), by summands of the outputs: φ is evaluated once and not p times."""
        from scipy.sparse import block_diag, coo_array

        order, p = self._one.order, self.output.dim
        moves = [permutation(g.image_array[order].tolist()) for g in self._one.moves]
        spaces = [eigenspace_below(s.eigenspace) for s in solutions]
        blocks: list[Any] = []
        for V in spaces:  # row k·p + b has what φ_k adds to output b
            moved = np.stack([self.space.representation(g, V) for g in moves], axis=1)  # (m, p, m)
            blocks.append(coo_array((moved * (self._one.signs / np.sqrt(p))[:, None]).reshape(V.dim * p, V.dim)))
        found = CombinedOutputs(p, self.space.functions(spaces), block_diag(blocks, format="csr"))
        dims = [V.dim for V in spaces]
        return split_functions(found, self.output, dims, sum(dims))


def coordinates_alike(space: Space, group: Group) -> bool:
    """Whether a group permutes many coordinates of a sphere, up to signs, so that one output says everything."""
    many = isinstance(space, Sphere) and space.n_features >= _MANY
    return many and all(isinstance(g, SignedPermutation) for g in group.generators)


def _stabiliser(space: Space, output: Representation) -> OneOutput | None:
    """The stabiliser of one output, where coordinates or copies may be put in another order."""
    cubic = isinstance(space, Torus) and space.is_cubic and space.lattice is None and space.dim > _FEW
    alike = isinstance(space, Power) or cubic or coordinates_alike(space, output.group)
    if not alike or output.dim < 2:
        return None
    found = one_output(output)
    # Where nothing but the identity is left, orbits of waves are as exact, and are evaluated once and not p times.
    return None if found is None or (isinstance(space, Torus) and not found.group.generators) else found
