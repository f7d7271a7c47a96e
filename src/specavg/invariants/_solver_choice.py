"""Which solver answers: the cheapest exact way, chosen for each eigenspace, and visible on the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import cast, final

from specavg._config import require_memory
from specavg.functions._combinations import Joined
from specavg.functions._functions import Functions
from specavg.groups import Group
from specavg.invariants.solvers._copies_of_one_space import WreathOnCopies
from specavg.invariants.solvers._even_harmonics import EvenHarmonics
from specavg.invariants.solvers._everything import Everything
from specavg.invariants.solvers._factor_by_factor import FactorByFactor
from specavg.invariants.solvers._frequency_orbits import FrequencyOrbits
from specavg.invariants.solvers._left_times_right import LeftTimesRight
from specavg.invariants.solvers._monomial_orbits import MonomialOrbits
from specavg.invariants.solvers._null_space import NullSpace
from specavg.invariants.solvers._partitions import SymmetricPolynomials
from specavg.invariants.solvers._s2_point_groups import AxisThenNullSpace
from specavg.invariants.solvers._signed_frequencies import SignedFrequencies
from specavg.invariants.solvers._solver import Solution, Solver, Unsuitable
from specavg.spaces import Eigenspace, Space, Warped

__all__ = ["SOLVER_NAMES", "Resolver"]

SOLVER_NAMES = ("auto", "closed form", "orbits", "null space")


SOLVERS: tuple[type[Solver], ...] = (
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


@final
class Resolver:
    """The solvers that fit a space and a group, and the choice between them."""

    def __init__(self, space: Space, group: Group, solver: str = "auto") -> None:
        if solver not in SOLVER_NAMES:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVER_NAMES))}; got {solver!r}")
        if group.fields:  # no solver here looks at fields: leaving them out would be a wrong answer
            raise NotImplementedError(f"{group!r} has a continuous part, for which there is no solver yet")
        self._warped = isinstance(space, Warped)
        if isinstance(space, Warped):  # the same eigenspaces, under other eigenvalues
            space = space.base
        fitting = [kind for kind in SOLVERS if solver in ("auto", kind.name) and kind.fits(space, group)]
        if not fitting:
            others = sorted({kind.name for kind in SOLVERS if kind.fits(space, group)})
            raise ValueError(
                f"the solver {solver!r} does not apply to {group!r} on {space!r}; these do: {', '.join(others)}"
            )
        self._solvers = [kind(space, group) for kind in fitting]
        self._solved: dict[Eigenspace, Solution] = {}

    def _plain(self, eigenspace: Eigenspace) -> Eigenspace:
        """`eigenspace` as the solvers know it."""
        return cast(Eigenspace, eigenspace.label) if self._warped else eigenspace

    def check_memory(self, eigenspace: Eigenspace) -> None:
        """Refuse an eigenspace that no solver could hold, before any work is done."""
        plain = self._plain(eigenspace)
        cheapest = min(self._solvers, key=lambda solver: solver.memory(plain))
        require_memory(
            cheapest.memory(plain),
            f"the invariants of the eigenspace with eigenvalue {eigenspace.eigenvalue:.6g} and {eigenspace.dim} "
            f"functions, by the solver that needs least ({cheapest.name}),",
            "Lower the cutoff, or describe the group by its catalogue name, for which closed forms exist.",
        )

    def solve(self, eigenspace: Eigenspace) -> Solution:
        """The invariants of one eigenspace, by the cheapest solver that keeps its accuracy there.

        Found once: those of a factor or of one copy are asked for again and again.
        """
        if eigenspace not in self._solved:
            self._solved[eigenspace] = self._solve(eigenspace)
        return self._solved[eigenspace]

    def _solve(self, eigenspace: Eigenspace) -> Solution:
        refusals: list[str] = []
        plain = self._plain(eigenspace)
        for solver in sorted(self._solvers, key=lambda solver: solver.cost(plain)):
            try:
                return replace(solver.solve(plain), eigenspace=eigenspace)
            except (Unsuitable, MemoryError) as refusal:
                refusals.append(f"{solver.name}: {refusal}")
        raise MemoryError(
            f"no solver can find the invariants of the eigenspace with eigenvalue {eigenspace.eigenvalue:.6g} and "
            f"{eigenspace.dim} functions. " + " ".join(refusals)
        )

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        """The invariant functions of several solutions, in order."""
        plain = [replace(solution, eigenspace=self._plain(solution.eigenspace)) for solution in solutions]
        families = [solver.functions(list(run)) for solver, run in groupby(plain, key=lambda solution: solution.solver)]
        return families[0] if len(families) == 1 else Joined(families)
