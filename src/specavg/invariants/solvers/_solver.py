"""What a solver is, one way to find the invariants of an eigenspace; its solutions, and the functions of several.

A solver for equivariant functions finds the fixed vectors of D(g) ⊗ ρ(g)ᵀ on an eigenspace. F = Cᵀφ has
F(gx) = ρ(g)F(x) where D(g) C ρ(g) = C. Row by row C is one vector of m·p numbers, and equivariant functions are
invariants again: of the *carrier*, p copies of the eigenspace, on which g acts by D(g) ⊗ ρ(g)ᵀ and a field by
dD(ξ) ⊗ I + I ⊗ dρ(ξ)ᵀ. A tangent field is made from the derivatives of two potentials: ρ is then how the group moves
these, and constants carry nothing.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from specavg._arrays import Array
from specavg.functions._combinations import Blockwise, Joined
from specavg.functions._functions import Functions
from specavg.functions._vector_functions import JoinedOutputs, Summand, VectorFunctions
from specavg.groups import Group, Representation
from specavg.invariants.solvers._stored_arrays import Stored, orthonormal
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver

Data = TypeVar("Data")
Found = TypeVar("Found")
# Seconds. Closed forms took 1e-5 (sign flips) to 7e-4 (wreath products, 19 functions) for one eigenspace. This and all
# other constants of `seconds` are CPU seconds of one thread on a busy 2-core machine, good to a factor of about 10.
QUICK = 1e-4


def known(found: Found | None) -> Found:
    """`found`, which is not None: `fits`, or solving what it is made of, has shown so."""
    assert found is not None
    return found


class Unsuitable(ValueError):
    """The solver cannot answer for this eigenspace: the message says why."""


@dataclass(frozen=True, eq=False)
class Solution(Generic[Data]):
    """The invariants of one eigenspace, as one solver found them."""

    eigenspace: Eigenspace
    invariant_dim: int
    solver: Solver[Data]
    data: Data  # what the solver needs to build functions
    residual: float = 0.0  # max‖D(g)Q − Q‖ over the generators; 0 where the solver is exact
    gap: float = float("inf")  # the smallest singular value that was not taken for zero; infinite where none was
    inner_products: int = 0  # entries <φ_l, φ_k∘g> that were computed
    arrays: Mapping[str, Array] = field(default_factory=dict)
    """Arrays that linear algebra decided. Computed again, their last bits may differ: a saved basis keeps them."""
    parts: tuple[tuple[str, Solution[Any]], ...] = ()
    """Solutions for one copy or for factors that this one was made from, each with the name of its resolver."""

    @classmethod
    def made_of(
        cls,
        parts: Iterable[tuple[str, Solution[Any]]],
        eigenspace: Eigenspace,
        invariant_dim: int,
        solver: Solver[Data],
        data: Data,
    ) -> Solution[Data]:
        """A solution that is no more certain than its `parts`, and that counts their inner products."""
        named = tuple(parts)
        used = [solution for _, solution in named]
        return cls(
            eigenspace,
            invariant_dim,
            solver,
            data,
            residual=max((s.residual for s in used), default=0.0),
            gap=min((s.gap for s in used), default=np.inf),
            inner_products=sum(s.inner_products for s in used),
            parts=named,
        )


class Solver(abc.ABC, Generic[Data]):
    """One way to find invariants, for one space and one group.

    With `stored` arrays, those of a saved basis, nothing is decided by linear algebra again.
    """

    name: ClassVar[str]
    delegates: ClassVar[bool] = False  # whether a table names the solvers of its parts in place of this one
    sweeps: ClassVar[bool] = False  # whether `solve_together` is faster than one eigenspace after another
    preference: int = 1  # 0 for closed forms, which are tried first; 2 for the general solver; 3 for what comes last

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        self.space = space
        self.group = group
        self.stored = stored

    @property
    def is_closed(self) -> bool:
        """Whether this is a closed form all the way down: whatever it asks other solvers for has one too."""
        return self.preference == 0

    def resolver_of(self, part: str, space: Space, group: Group, output: Representation | None = None) -> Resolver:
        """The choice of solvers for one copy, factor or output; `part` names it among stored arrays."""
        from specavg.invariants._solver_choice import Resolver  # a resolver uses solvers, and some of them use it

        return Resolver(space, group, stored=None if self.stored is None else self.stored.below(part), output=output)

    @classmethod
    @abc.abstractmethod
    def fits(cls, space: Space, moved_by: Any, /) -> bool:
        """Whether this solver can work at all on a space and a group (of equivariant functions: a representation)."""

    def suits(self, eigenspace: Eigenspace) -> bool:
        """False where it is known beforehand that `solve` declines."""
        return True

    def seconds(self, eigenspace: Eigenspace) -> float:
        """A forecast of the time that `solve` takes, to an order of magnitude."""
        return QUICK

    def memory(self, eigenspace: Eigenspace) -> float:
        """A forecast of the working memory of `solve`, in bytes; 0 where only invariants are ever touched."""
        return 0.0

    def count(self, eigenspace: Eigenspace) -> int | None:
        """The number of invariants, where it is known without solving."""
        return None if self.group.generators or self.group.fields else eigenspace.dim

    @abc.abstractmethod
    def solve(self, eigenspace: Eigenspace) -> Solution[Data]:
        """The invariants of one eigenspace; raises `Unsuitable` where it would lose accuracy."""

    def solve_together(self, eigenspaces: Sequence[Eigenspace]) -> list[Solution[Data]]:
        """The invariants of several eigenspaces; the same as one by one."""
        return [self.solve(V) for V in eigenspaces]

    @abc.abstractmethod
    def functions(self, solutions: Sequence[Solution[Data]]) -> Functions | VectorFunctions:
        """The functions of several of its own solutions, in order; vector functions where there is an output."""


class ClosedForm:
    """Mixed into solvers that know the invariants beforehand: they are tried before all others."""

    name: ClassVar[str] = "closed form"
    preference: int = 0


class DelegatingSolver(Solver[Solution[Any]], abc.ABC):
    """A solver whose functions are made of those of one other problem: it asks that for times, counts and solutions.

    Attributes
    ----------
    other : Resolver
        The choice of solvers for the other problem.
    part : str
        What the other problem is called among stored arrays.
    """

    part: ClassVar[str]
    other: Resolver

    @abc.abstractmethod
    def _there(self, eigenspace: Eigenspace) -> Eigenspace:
        """The eigenspace of the other problem whose functions those of `eigenspace` are made of."""

    @property
    def is_closed(self) -> bool:
        return self.other.is_closed

    def seconds(self, eigenspace: Eigenspace) -> float:
        return self.other.seconds(self._there(eigenspace))

    def memory(self, eigenspace: Eigenspace) -> float:
        return self.other.memory(self._there(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        return self.other.count(self._there(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[Solution[Any]]:
        found = self.other.solve(self._there(eigenspace))
        return Solution.made_of([(self.part, found)], eigenspace, found.invariant_dim, self, found)


class StoringSolver(Solver[Data]):
    """A solver whose solutions hold arrays that linear algebra decided."""

    @abc.abstractmethod
    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[Data]:
        """The solution that had these `arrays`, without linear algebra; a `StoredArraysError` if they do not fit."""


class FixedVectorSolver(StoringSolver[Array]):
    """A solver whose invariants are columns of coefficients of the eigenfunctions: Q (m, r), orthonormal."""

    def fixed(
        self, eigenspace: Eigenspace, Q: Array, residual: float = 0.0, gap: float = np.inf, inner_products: int = 0
    ) -> Solution[Array]:
        """The solution with the columns of `Q`."""
        Q = np.ascontiguousarray(Q)
        return Solution(eigenspace, Q.shape[1], self, Q, residual, gap, inner_products, {"Q": Q})

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[Array]:
        return self.fixed(eigenspace, orthonormal(arrays, "Q", eigenspace.dim))

    def functions(self, solutions: Sequence[Solution[Array]]) -> Functions | VectorFunctions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return Blockwise(functions, [s.data for s in kept])


def functions_of(solutions: Sequence[Solution[Any]]) -> Functions:
    """The invariant functions of several solutions, in order."""
    # Eigenspaces without any are often told by another solver: between the others they would make a family of each.
    kept = [s for s in solutions if s.invariant_dim] or solutions
    families: list[Any] = [s.functions(list(run)) for s, run in groupby(kept, key=lambda s: s.solver)]
    return families[0] if len(families) == 1 else Joined(families)


def vector_functions_of(solutions: Sequence[Solution[Any]], outputs: int) -> VectorFunctions:
    """The equivariant functions of several solutions, in order."""
    runs = groupby([s for s in solutions if s.invariant_dim], key=lambda s: s.solver)
    families: list[Any] = [solver.functions(list(run)) for solver, run in runs]
    if len(families) == 1:
        return families[0]
    ends = np.cumsum([0, *(family.dim for family in families)])
    places = (np.arange(a, b)[None] for a, b in pairwise(ends))
    summands = [Summand(f, np.eye(outputs)[None], at) for f, at in zip(families, places, strict=True)]
    return JoinedOutputs(outputs, summands, apart=False)


class Places:
    """The functions of one copy or factor that are used: its solutions in the order in which they were asked for."""

    def __init__(self) -> None:
        self._columns: dict[Eigenspace, range] = {}
        self.solutions: list[Solution[Any]] = []
        self._end = 0

    def columns(self, solution: Solution[Any]) -> range:
        """The columns of `solution`, which come after those asked for before."""
        if solution.eigenspace not in self._columns:
            start, self._end = self._end, self._end + solution.invariant_dim
            self._columns[solution.eigenspace] = range(start, self._end)
            self.solutions.append(solution)
        return self._columns[solution.eigenspace]


def arrays_of(solutions: Sequence[Solution[Any]], path: str = "") -> dict[str, Array]:
    """The arrays of solutions and of the parts that they were made from, each once: path, number, solver, name."""
    found: dict[str, Array] = {}
    parts: dict[str, dict[Eigenspace, Solution[Any]]] = {}
    for number, solution in enumerate(solutions):
        solver = type(solution.solver).__name__
        found.update({f"{path}{number}.{solver}.{name}": array for name, array in solution.arrays.items()})
        for part, inner in solution.parts:
            parts.setdefault(part, {}).setdefault(inner.eigenspace, inner)
    for part, chosen in parts.items():
        found.update(arrays_of(list(chosen.values()), f"{path}{part}."))
    return found


class OutputSolver(Solver[Data], abc.ABC):
    """One way to find equivariant functions, for one space and one representation."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        self.output = output
        super().__init__(space, output.group, stored)

    @abc.abstractmethod
    def functions(self, solutions: Sequence[Solution[Data]]) -> VectorFunctions:
        """The equivariant functions of several of its own solutions, in order."""


def carriers(space: Space, order: Order, output: Representation) -> Iterator[Eigenspace]:
    """The carriers of a space: copies of each eigenspace, labelled by it."""
    copies = output.of_coefficients.dim
    carrying = (V for V in space.ordered(order) if not output.tangent or V.eigenvalue > 0)
    return (carrier(V, copies) for V in carrying)


def carrier(eigenspace: Eigenspace, outputs: int) -> Eigenspace:
    """The carrier of functions with so many outputs: as many copies of one eigenspace."""
    return Eigenspace(eigenspace.eigenvalue, eigenspace.dim * outputs, eigenspace)


def eigenspace_below(eigenspace: Eigenspace) -> Eigenspace:
    """The eigenspace that a carrier holds p copies of."""
    assert isinstance(eigenspace.label, Eigenspace)
    return eigenspace.label
