"""Which solver answers: the cheapest exact way, chosen for each eigenspace, and visible on the result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Self, final

from specavg._config import require_memory
from specavg.functions._combinations import Joined
from specavg.functions._functions import Array, Functions
from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Group, Representation
from specavg.invariants.solvers._copies_of_one_space import WreathOnCopies
from specavg.invariants.solvers._determinants_of_copies import DeterminantsOfCopies
from specavg.invariants.solvers._even_harmonics import EvenHarmonics
from specavg.invariants.solvers._everything import Everything
from specavg.invariants.solvers._factor_by_factor import FactorByFactor
from specavg.invariants.solvers._frequency_orbits import FrequencyOrbits
from specavg.invariants.solvers._left_times_right import LeftTimesRight
from specavg.invariants.solvers._monomial_orbits import MonomialOrbits
from specavg.invariants.solvers._null_space import NullSpace
from specavg.invariants.solvers._null_space_of_outputs import NullSpaceOfOutputs
from specavg.invariants.solvers._output_solver import OutputSolver
from specavg.invariants.solvers._outputs_left_alone import OutputsLeftAlone
from specavg.invariants.solvers._partitions import SymmetricPolynomials
from specavg.invariants.solvers._s2_point_groups import AxisThenNullSpace
from specavg.invariants.solvers._signed_frequencies import SignedFrequencies
from specavg.invariants.solvers._solver import Solution, Solver, StoringSolver, Unsuitable
from specavg.invariants.solvers._stored import Stored, StoredArraysError
from specavg.invariants.solvers._wave_orbits_of_outputs import WaveOrbitsOfOutputs
from specavg.spaces import Eigenspace, Space

__all__ = ["SOLVER_NAMES", "Resolver", "arrays_of"]

SOLVER_NAMES = ("auto", "closed form", "orbits", "null space")


SOLVERS: tuple[type[Solver[Any]], ...] = (
    Everything,
    SignedFrequencies,
    FactorByFactor,
    WreathOnCopies,
    SymmetricPolynomials,
    EvenHarmonics,
    LeftTimesRight,
    FrequencyOrbits,
    MonomialOrbits,
    AxisThenNullSpace,
    NullSpace,
)
"""Every solver, the more special first. A new one is a file and a line here."""

OUTPUT_SOLVERS: tuple[type[OutputSolver[Any]], ...] = (
    OutputsLeftAlone,
    DeterminantsOfCopies,
    WaveOrbitsOfOutputs,
    NullSpaceOfOutputs,
)
"""The same for equivariant functions."""


@final
class Resolver:
    """The solvers that fit a space and a group, and the choice between them.

    With `stored` arrays, those of a saved basis, solutions are the saved ones: nothing is chosen or decided again.
    """

    def __init__(self, space: Space, group: Group, solver: str = "auto", stored: Stored | None = None) -> None:
        if solver not in SOLVER_NAMES:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVER_NAMES))}; got {solver!r}")
        if group.fields:  # no solver here looks at fields: leaving them out would be a wrong answer
            raise NotImplementedError(f"{group!r} has a continuous part, for which there is no solver yet")
        fitting = [kind for kind in SOLVERS if solver in ("auto", kind.name) and kind.fits(space, group)]
        if not fitting:
            others = sorted({kind.name for kind in SOLVERS if kind.fits(space, group)})
            raise ValueError(
                f"the solver {solver!r} does not apply to {group!r} on {space!r}; these do: {', '.join(others)}"
            )
        self._solvers = [kind(space, group, stored) for kind in fitting]
        self._stored = stored
        self._solved: dict[Eigenspace, Solution[Any]] = {}

    @classmethod
    def of_output(
        cls, space: Space, output: Representation, solver: str = "auto", stored: Stored | None = None
    ) -> Self:
        """The same choice for equivariant functions; eigenspaces are then carriers (see `OutputSolver`)."""
        if solver not in SOLVER_NAMES:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVER_NAMES))}; got {solver!r}")
        carrying = [kind for kind in OUTPUT_SOLVERS if kind.carries(space, output)]
        fitting = [kind for kind in carrying if solver in ("auto", kind.name)]
        if not fitting:
            raise ValueError(
                f"the solver {solver!r} does not apply to {output!r} on {space!r}; these do: "
                f"{', '.join(sorted({kind.name for kind in carrying}))}"
            )
        made = object.__new__(cls)
        made._solvers = [kind(space, output, stored) for kind in fitting]
        made._stored = stored
        made._solved = {}
        return made

    def solvers(self, eigenspace: Eigenspace) -> list[Solver[Any]]:
        """The solvers in the order in which they are tried: closed forms, then by the time that they take."""
        suitable = [solver for solver in self._solvers if solver.suits(eigenspace)] or self._solvers
        if len(suitable) == 1:
            return suitable
        return sorted(suitable, key=lambda solver: (solver.preference, solver.seconds(eigenspace)))

    def count(self, eigenspace: Eigenspace) -> int | None:
        """The number of invariants, where a solver knows it without solving."""
        counts = (solver.count(eigenspace) for solver in self._solvers)
        return next((count for count in counts if count is not None), None)

    def seconds(self, eigenspace: Eigenspace) -> float:
        """A forecast of the time of `solve`; 0 where the eigenspace is solved already."""
        return 0.0 if eigenspace in self._solved else self.solvers(eigenspace)[0].seconds(eigenspace)

    def memory(self, eigenspace: Eigenspace) -> float:
        """A forecast of the working memory of the solver that needs least, in bytes."""
        return min(solver.memory(eigenspace) for solver in self._solvers)

    def check_memory(self, eigenspace: Eigenspace) -> None:
        """Refuse an eigenspace that no solver could hold, before any work is done."""
        cheapest = min(self._solvers, key=lambda solver: solver.memory(eigenspace))
        require_memory(
            cheapest.memory(eigenspace),
            f"the invariants of the eigenspace with eigenvalue {eigenspace.eigenvalue:.6g} and {eigenspace.dim} "
            f"functions, by the solver that needs least ({cheapest.name}),",
            "Lower the cutoff, or describe the group by its catalogue name, for which closed forms exist.",
        )

    def solve(self, eigenspace: Eigenspace) -> Solution[Any]:
        """The invariants of one eigenspace, by the cheapest solver that keeps its accuracy there.

        Found once: those of a factor or of one copy are asked for again and again.
        """
        if eigenspace not in self._solved:
            found = self._solve(eigenspace) if self._stored is None else self._restore(eigenspace, self._stored)
            self._solved[eigenspace] = found
        return self._solved[eigenspace]

    def _solve(self, eigenspace: Eigenspace) -> Solution[Any]:
        refusals: list[str] = []
        short_of_memory = False
        for solver in self.solvers(eigenspace):
            try:
                return solver.solve(eigenspace)
            except (Unsuitable, MemoryError) as refusal:
                short_of_memory |= isinstance(refusal, MemoryError)
                refusals.append(f"{solver.name}: {refusal}")
        raise (MemoryError if short_of_memory else Unsuitable)(
            f"no solver can find the invariants of the eigenspace with eigenvalue {eigenspace.eigenvalue:.6g} and "
            f"{eigenspace.dim} functions. " + " ".join(refusals)
        )

    def _restore(self, eigenspace: Eigenspace, stored: Stored) -> Solution[Any]:
        number = len(self._solved)
        for solver in self._solvers:
            if isinstance(solver, StoringSolver):
                arrays = stored.take(number, type(solver).__name__)
                if arrays is not None:
                    return solver.restore(eigenspace, arrays)
        for solver in self.solvers(eigenspace):
            if not isinstance(solver, StoringSolver):
                try:
                    return solver.solve(eigenspace)  # exact: the same again
                except Unsuitable:
                    continue
        raise StoredArraysError(
            f"fewer arrays are stored than the basis needs: none for the {eigenspace.dim} functions of eigenvalue "
            f"{eigenspace.eigenvalue:.6g}"
        )

    def functions(self, solutions: Sequence[Solution[Any]]) -> Functions:
        """The invariant functions of several solutions, in order."""
        families = [solver.functions(list(run)) for solver, run in groupby(solutions, key=lambda s: s.solver)]
        return families[0] if len(families) == 1 else Joined(families)

    def vector_functions(self, solutions: Sequence[Solution[Any]], outputs: int) -> VectorFunctions:
        """The equivariant functions of several solutions, in order."""
        parts: list[tuple[Functions, Any]] = []
        for solver, run in groupby([s for s in solutions if s.invariant_dim], key=lambda s: s.solver):
            assert isinstance(solver, OutputSolver)
            chosen = list(run)
            parts.append((solver.functions(chosen), solver.coefficients(chosen)))
        return VectorFunctions(outputs, parts)


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
