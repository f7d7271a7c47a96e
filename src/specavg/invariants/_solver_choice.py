"""Which solver answers: the cheapest exact way, chosen for each eigenspace, and visible on the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Any, final

from specavg._config import human_size, require_memory, settings
from specavg.groups import Group, Representation
from specavg.invariants._one_orbit import functions_on_one_orbit, is_one_orbit
from specavg.invariants.solvers._blocks_of_directions import BlocksOfDirections
from specavg.invariants.solvers._copies_exchanged import CopiesAndOutputsExchanged, CopiesExchanged
from specavg.invariants.solvers._copies_together import CopiesAndOutputsTogether, CopiesTogether
from specavg.invariants.solvers._exponent_orbits import ExponentOrbits
from specavg.invariants.solvers._factor_by_factor import FactorByFactor, FactorsAndOutputs
from specavg.invariants.solvers._frequency_orbits import FrequencyOrbits, WaveOrbitsOfOutputs
from specavg.invariants.solvers._functions_of_a_direction import FunctionsOfADirection
from specavg.invariants.solvers._harmonic_polynomials import MonomialOrbits, SymmetricPolynomials
from specavg.invariants.solvers._left_times_right import LeftTimesRight
from specavg.invariants.solvers._null_space import NoInvariants, NullSpace, NullSpaceOfOutputs
from specavg.invariants.solvers._one_output_for_all import OneOutputForAll
from specavg.invariants.solvers._outputs_apart import OutputsApart, OutputsLeftAlone
from specavg.invariants.solvers._permuted_copies import DeterminantsOfCopies, WreathOnCopies
from specavg.invariants.solvers._random_elements import RandomElements
from specavg.invariants.solvers._s2_point_groups import AxisThenNullSpace, OrdersAlongAnAxis
from specavg.invariants.solvers._sign_flips import EvenHarmonics, SignedFrequencies
from specavg.invariants.solvers._solver import OutputSolver, Solution, Solver, StoringSolver, Unsuitable
from specavg.invariants.solvers._stored_arrays import Stored, StoredArraysError
from specavg.invariants.solvers._trivial_group import TrivialGroup
from specavg.spaces import Eigenspace, Space

# Bytes that solving one eigenspace of a saved basis again may take: 8,000 frequencies in 4,000 coordinates take 1 GB.
_REBUILT_BYTES = 2e9
SOLVER_NAMES = ("auto", "closed form", "orbits", "null space", "random elements")


class OutOfTime(Exception):
    """A solver has declined an eigenspace, and the next one is forecast to take longer than the time that is left."""


# Every solver, the more special first. A new one is a file and a line here.
SOLVERS: tuple[type[Solver[Any]], ...] = (
    TrivialGroup,
    SignedFrequencies,
    FactorByFactor,
    WreathOnCopies,
    SymmetricPolynomials,
    EvenHarmonics,
    BlocksOfDirections,
    FunctionsOfADirection,
    LeftTimesRight,
    OrdersAlongAnAxis,
    FrequencyOrbits,
    MonomialOrbits,
    ExponentOrbits,
    NoInvariants,
    AxisThenNullSpace,
    CopiesTogether,
    CopiesExchanged,
    NullSpace,
)

# Solvers that are used only where they are asked for by name.
FOR_COMPARISON: tuple[type[Solver[Any]], ...] = (RandomElements,)

# Every solver for equivariant functions, the more special first.
OUTPUT_SOLVERS: tuple[type[OutputSolver[Any]], ...] = (
    OutputsLeftAlone,
    OutputsApart,
    DeterminantsOfCopies,
    FactorsAndOutputs,
    OneOutputForAll,
    WaveOrbitsOfOutputs,
    CopiesAndOutputsTogether,
    CopiesAndOutputsExchanged,
    NullSpaceOfOutputs,
)


@final
class Resolver:
    """The solvers that fit a space and a group, and the choice between them.

    With `stored` arrays, those of a saved basis, solutions are the saved ones: nothing is chosen or decided again.
    With an `output` they are equivariant functions (for tangent vectors their potentials), and eigenspaces are carriers
    (see `OutputSolver`).
    """

    def __init__(
        self,
        space: Space,
        group: Group,
        solver: str = "auto",
        stored: Stored | None = None,
        output: Representation | None = None,
    ) -> None:
        if solver not in SOLVER_NAMES:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVER_NAMES))}; got {solver!r}")
        self._space, self._group, self._name, self._stored = space, group, solver, stored
        self._given_output = output
        self._output = None if output is None else output.of_coefficients
        self._closed_forms = self._fitting(closed=True)
        if not self._closed_forms and not self._others:
            self._name = "auto"
            others = sorted({s.name for closed in (True, False) for s in self._fitting(closed=closed)})
            raise ValueError(
                f"the solver {solver!r} does not apply to {output or group!r} on {space!r}; these do: "
                f"{', '.join(others)}"
            )
        self._solved: dict[Eigenspace, Solution[Any]] = {}
        self._latest: dict[bool, tuple[Eigenspace, list[Solver[Any]]]] = {}
        self.seconds_left = inf  # a solver that is asked after another declined must be forecast to take less than this
        self.seconds_added = 0.0  # the sum of the forecasts of solvers that were asked after another declined
        self.refused: Eigenspace | None = None  # the eigenspace that ended `solutions`

    @property
    def group(self) -> Group:
        """The group whose invariants are wanted."""
        return self._group

    @property
    def space(self) -> Space:
        """The space of the functions."""
        return self._space

    @cached_property
    def most(self) -> float:
        """How many functions there are, where flows take every point to every other; infinite where it is not known."""
        if not self._group.fields:
            return inf
        if self._given_output is None:
            return 1 if is_one_orbit(self._space, self._group) else inf
        found = functions_on_one_orbit(self._space, self._given_output)
        return inf if found is None else found

    @property
    def why_no_more(self) -> str:
        """Why there are no more than `most`, where that is finite, for messages."""
        number = {0: "no function has", 1: "only one function has"}.get(
            int(self.most), f"only {self.most} functions have"
        )
        what = "only the constant is invariant" if self._output is None else f"{number} F(gx) = ρ(g)F(x)"
        return f"the flows of {self._group!r} take every point of {self._space!r} to every other, and {what}"

    def _fitting(self, *, closed: bool) -> list[Solver[Any]]:
        moved_by: Any = self._group if self._output is None else self._output
        kinds: Sequence[type[Solver[Any]]] = SOLVERS if self._output is None else OUTPUT_SOLVERS
        if self._output is None and self._name != "auto":
            kinds = (*kinds, *FOR_COMPARISON)
        asked = [k for k in kinds if (k.preference == 0) is closed and self._name in ("auto", k.name)]
        fitting = [k for k in asked if k.fits(self._space, moved_by)]
        return [k(self._space, moved_by, self._stored) for k in fitting]

    @cached_property
    def _others(self) -> list[Solver[Any]]:
        """The solvers that are no closed forms. Most bases have a closed form and never make these."""
        return self._fitting(closed=False)

    def solvers(self, eigenspace: Eigenspace) -> Iterator[Solver[Any]]:
        """The solvers in the order in which they are tried: closed forms, then by the time that they take.

        Those that do not suit come last: each of them says why.
        """
        for closed in (True, False):
            yield from self._sorted(eigenspace, closed=closed)
        yield from (s for s in (*self._closed_forms, *self._others) if not s.suits(eigenspace))

    def _sorted(self, eigenspace: Eigenspace, *, closed: bool) -> list[Solver[Any]]:
        """The solvers that suit an eigenspace, preferred and fast ones first.

        A solver that is alone in its preference is not asked for its time. The answer for the last eigenspace is kept:
        a forecast asks for it, and then the solution.
        """
        latest, found = self._latest.get(closed, (None, []))
        if latest is not eigenspace:
            kinds = self._closed_forms if closed else self._others
            found = [solver for solver in kinds if solver.suits(eigenspace)]
            alike = Counter(solver.preference for solver in found)  # others are not compared by their times
            found.sort(key=lambda s: (s.preference, s.seconds(eigenspace) if alike[s.preference] > 1 else 0.0))
            self._latest[closed] = (eigenspace, found)
        return found

    @property
    def is_closed(self) -> bool:
        """Whether one of the solvers is a closed form."""
        return any(s.is_closed for s in self._closed_forms) or any(s.is_closed for s in self._others)

    def count(self, eigenspace: Eigenspace) -> int | None:
        """The number of invariants, where a solver knows it without solving, or where they are solved already."""
        if eigenspace in self._solved:
            return self._solved[eigenspace].invariant_dim
        for solver in self._closed_forms:
            if (count := solver.count(eigenspace)) is not None:
                return count
        counts = (solver.count(eigenspace) for solver in self._others)
        return next((count for count in counts if count is not None), None)

    def seconds(self, eigenspace: Eigenspace) -> float:
        """A forecast of the time of `solve`; 0 where the eigenspace is solved already."""
        if eigenspace in self._solved:
            return 0.0
        if (sweep := self._sweep(eigenspace)) is not None:
            return sweep.seconds(eigenspace)
        return next(self.solvers(eigenspace)).seconds(eigenspace)

    def memory(self, eigenspace: Eigenspace) -> float:
        """A forecast of working memory in bytes, that of the solver that needs least; 0 where it is solved already.

        Where one solver answers for many eigenspaces at once, it is the memory of that solver.
        """
        if eigenspace in self._solved:
            return 0.0
        if (sweep := self._sweep(eigenspace)) is not None:
            return sweep.memory(eigenspace)
        return self._smallest(eigenspace).memory(eigenspace)

    def _smallest(self, eigenspace: Eigenspace) -> Solver[Any]:
        """The solver that needs least memory: a closed form, which touches invariants only, where one suits."""
        closed = [solver for solver in self._closed_forms if solver.suits(eigenspace)]
        if len(closed) == 1:
            return closed[0]
        others = [solver for solver in (*self._closed_forms, *self._others) if solver.suits(eigenspace)]
        # Where none suits, each of them says why.
        kinds = closed or others or (*self._closed_forms, *self._others)
        return min(kinds, key=lambda solver: solver.memory(eigenspace))

    def check_memory(self, eigenspace: Eigenspace) -> None:
        """Refuse an eigenspace that no solver could hold, before any work is done."""
        cheapest = self._smallest(eigenspace)
        require_memory(
            cheapest.memory(eigenspace),
            f"the invariants of the eigenspace with eigenvalue {eigenspace.eigenvalue:.6g} and {eigenspace.dim} "
            f"functions, by the solver that needs least ({cheapest.name}),",
            "Lower the cutoff."
            if self._group.structure is not None
            else "Lower the cutoff, or describe the group by its catalogue name, for which closed forms exist.",
        )

    def solve(self, eigenspace: Eigenspace) -> Solution[Any]:
        """The invariants of one eigenspace, by the cheapest solver that keeps its accuracy there.

        Found once: those of a factor or of one copy are asked for again and again.
        """
        if eigenspace not in self._solved:
            found = self._solve(eigenspace) if self._stored is None else self._restore(eigenspace, self._stored)
            self._solved[eigenspace] = found
        return self._solved[eigenspace]

    def _sweep(self, eigenspace: Eigenspace) -> Solver[Any] | None:
        """The solver that answers for many eigenspaces like this one at once, where it is the first choice."""
        if self._stored is not None or any(solver.suits(eigenspace) for solver in self._closed_forms):
            return None
        return self._others[0] if self._others and self._others[0].sweeps else None

    def solutions(self, eigenspaces: Iterator[Eigenspace]) -> Iterator[Solution[Any]]:
        """The invariants of eigenspaces, in their order.

        Where one solver answers faster for many at once, it is given more and more of them at a time.

        Ends early, and says where in `refused`, if there is no time for an eigenspace.
        """
        before = 0.0
        for V in eigenspaces:
            if (sweep := self._sweep(V)) is not None:
                some, size = _first(V, eigenspaces, sweep, min(before, settings().memory_limit / 8))
                before += size
                yield from sweep.solve_together(some)
                continue
            try:
                yield self.solve(V)
            except OutOfTime:
                self.refused = V
                return

    def _solve(self, eigenspace: Eigenspace) -> Solution[Any]:
        refusals: list[str] = []
        short_of_memory = False
        for solver in self.solvers(eigenspace):
            if refusals:
                added = solver.seconds(eigenspace)
                if added > self.seconds_left:
                    raise OutOfTime("; ".join(refusals))
                self.seconds_added += added
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
        for solver in (*self._closed_forms, *self._others):
            if isinstance(solver, StoringSolver):
                arrays = stored.take(number, type(solver).__name__)
                if arrays is not None:
                    return solver.restore(eigenspace, arrays)
        for solver in self.solvers(eigenspace):
            if not isinstance(solver, StoringSolver):
                if solver.memory(eigenspace) > _REBUILT_BYTES:
                    continue
                try:
                    return solver.solve(eigenspace)  # this solver is exact: it finds the same functions again
                except Unsuitable:
                    continue
        raise StoredArraysError(
            f"fewer arrays are stored than the basis needs: none for the {eigenspace.dim} functions of eigenvalue "
            f"{eigenspace.eigenvalue:.6g}, and they cannot be found again in {human_size(_REBUILT_BYTES)}"
        )


def _first(
    V: Eigenspace, eigenspaces: Iterator[Eigenspace], solver: Solver[Any], most: float
) -> tuple[list[Eigenspace], float]:
    """The eigenspace V and the following ones until they take `most` bytes together, and the bytes that they take."""
    some, size = [V], solver.memory(V)
    while size <= most and (following := next(eigenspaces, None)) is not None:
        some.append(following)
        size += solver.memory(following)
    return some, size
