"""What a solver for equivariant functions is: it finds the fixed vectors of D(g) ⊗ ρ(g)ᵀ on an eigenspace.

F = Cᵀφ has F(gx) = ρ(g)F(x) where D(g) C ρ(g) = C. Row by row C is one vector of m·p numbers, and equivariant functions
are invariants again: of the *carrier*, p copies of the eigenspace, on which g acts by D(g) ⊗ ρ(g)ᵀ and a field by
dD(ξ) ⊗ I + I ⊗ dρ(ξ)ᵀ. A tangent field is made from the derivatives of two potentials: ρ is then that of these, and
constants carry nothing.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any

from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Representation
from specavg.invariants.solvers._solver import Data, Solution, Solver
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order


class OutputSolver(Solver[Data], abc.ABC):
    """One way to find equivariant functions, for one space and one representation."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output.group, stored)
        self.output = output

    @classmethod
    def fits(cls, space: Space, group: Any) -> bool:
        return False  # asked with a group: none of these finds invariant functions

    @classmethod
    @abc.abstractmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        """Whether this solver can work on the pair at all."""

    def count(self, eigenspace: Eigenspace) -> int | None:
        return None

    @abc.abstractmethod
    def functions(self, solutions: Sequence[Solution[Data]]) -> VectorFunctions:
        """The equivariant functions of several of its own solutions, in order."""


def carriers(space: Space, order: Order, output: Representation) -> Iterator[Eigenspace]:
    """The carriers of a space: copies of each eigenspace, labelled by it."""
    copies = output.of_coefficients.dim
    carrying = (V for V in space.ordered(order) if not output.tangent or V.eigenvalue > 0)
    return (carrier(V, copies) for V in carrying)


def carrier(eigenspace: Eigenspace, outputs: int) -> Eigenspace:
    """So many copies of one eigenspace."""
    return Eigenspace(eigenspace.eigenvalue, eigenspace.dim * outputs, eigenspace)


def eigenspace_below(eigenspace: Eigenspace) -> Eigenspace:
    """The eigenspace that a carrier holds p copies of."""
    assert isinstance(eigenspace.label, Eigenspace)
    return eigenspace.label
