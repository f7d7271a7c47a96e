"""How a basis is built: a request is checked, then eigenspaces are solved in order until the cutoff."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from math import exp, inf, log
from typing import Any

import numpy as np

from specavg._config import require_memory, settings
from specavg._reporting import reported
from specavg.groups import Group
from specavg.invariants._acting_group import check_group, default_group
from specavg.invariants._cutoff import Cutoff
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._solver import Solution
from specavg.isometries.fields import Field, ShiftField, flatten, period
from specavg.spaces import Eigenspace, Space
from specavg.spaces._orders import Order

__all__ = [
    "BYTES_PER_FUNCTION",
    "TOLERANCE",
    "checked_request",
    "group_order",
    "solutions_in_time",
]

TOLERANCE = 1e-9  # relative: an eigenvalue that exceeds a cutoff by less is rounding, and belongs to it
BYTES_PER_FUNCTION = 64.0  # at least: its eigenvalue, its place in the space, its value at a point
BYTES_PER_EIGENSPACE = 500.0  # its label, its solution and its row of the table: 20,000 of a circle took 12 MB
_SAMPLED = 1_000  # eigenspaces that are listed before their number is forecast: some milliseconds
_BARREN = 5_000  # eigenspaces in a row without a single invariant before the search is given up


def checked_request(
    space: Space,
    group: Group | None,
    max_eigenvalue: float | None,
    max_dim: float | None,
    max_invariant_dim: float | None,
    order: str | Order,
) -> tuple[Group, Cutoff, Order]:
    """Group, cutoff and order that a user asks for, or an error that says what does not fit."""
    cutoff = Cutoff.of(max_eigenvalue, max_dim, max_invariant_dim)
    if cutoff is None:
        raise ValueError("give a cutoff: one of max_eigenvalue, max_dim or max_invariant_dim")
    if not isinstance(space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"space must be a specavg Space such as Torus(3) or Sphere(3); got {space!r}")
    if group is None:
        group = default_group(space)
    elif not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"group must be a specavg Group: one of specavg.groups, or groups.Group([g, h, ...]); got {group!r}"
        )
    fitting = check_group(space, group)
    _warn_of_slopes(space, fitting)
    return fitting, cutoff, space.check_order(order)


def _warn_of_slopes(space: Space, group: Group) -> None:
    """Say so where floating-point numbers decide whether a flow closes."""
    for field in group.fields:
        velocity = flatten(space.check_field(field))
        if isinstance(velocity, ShiftField) and not velocity.is_exact and np.count_nonzero(velocity.vector) > 1:
            warnings.warn(
                f"{velocity!r} is a floating-point velocity v: which frequencies k have k·v = 0 is decided to "
                "rounding, and a slope that was meant to be rational may not be. Integers, Fraction and texts such as "
                "'1/3' are decided exactly.",
                UserWarning,
                stacklevel=4,
            )
        elif group.structure is None and not isinstance(velocity, ShiftField) and _never_comes_back(velocity, group):
            speeds = sorted({round(abs(speed), 4) for speed, _ in velocity.circles()})
            warnings.warn(
                f"the flow of {field!r} does not come back: its planes turn with speeds {speeds}, of no small ratio as "
                "far as floating-point numbers tell. It fills a larger group, whose invariants are computed. "
                "(Shifts are in periods, rotations in radians: 2π times a rotation goes with one period.)",
                UserWarning,
                stacklevel=4,
            )


def _never_comes_back(field: Field, group: Group) -> bool:
    return period(field) is None and group.algebra.is_abelian


def solutions_in_time(
    eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff, seconds: float, what: str
) -> tuple[list[Solution[Any]], Cutoff]:
    """The invariants of each eigenspace up to `cutoff`, or up to the last one that `seconds` allow by forecasts.

    Where the time ends the search, the cutoff that comes back is the last eigenvalue: the same functions can be asked
    for by it. `what` names the work in reports of progress.
    """
    within = _WithinBudget(eigenspaces, resolver, seconds)
    reach = iter(within) if seconds < inf else _within_reach(eigenspaces, resolver.group, cutoff)
    found = _solutions_up_to(reach, resolver, cutoff, quiet=seconds < inf)
    solutions = list(reported(found, what, "eigenspaces"))
    refused = resolver.refused or (within.refused if len(solutions) == within.count else None)
    if refused is None:
        if seconds == inf or not _is_barren(solutions):
            return solutions, cutoff
        return solutions, Cutoff("max_eigenvalue", solutions[-1].eigenspace.eigenvalue)
    top = refused.eigenvalue * (1 - TOLERANCE)  # types of one eigenvalue are all there, or none is
    solutions = [s for s in solutions if s.eigenspace.eigenvalue < top] or solutions[:1]
    return solutions, Cutoff("max_eigenvalue", solutions[-1].eigenspace.eigenvalue)


class _WithinBudget:
    """Eigenspaces until solving them would take more time or memory than allowed; the first is always there.

    Times are forecasts: what is found does not depend on how busy the machine is.
    """

    def __init__(self, eigenspaces: Iterator[Eigenspace], resolver: Resolver, seconds: float) -> None:
        self._eigenspaces = eigenspaces
        self._resolver = resolver
        self._seconds = seconds
        self.count = 0  # eigenspaces that were allowed
        self.refused: Eigenspace | None = None  # the first that was not

    def __iter__(self) -> Iterator[Eigenspace]:
        spent = 0.0
        for V in self._eigenspaces:
            spent += self._resolver.seconds(V) if self.count else 0.0
            left = self._seconds - spent - self._resolver.seconds_added
            if self.count and (left < 0 or self._resolver.memory(V) > settings().memory_limit):
                self.refused = V
                return
            self.count += 1
            self._resolver.seconds_left = max(left, 0.0)
            yield V


def _within_reach(eigenspaces: Iterator[Eigenspace], group: Group, cutoff: Cutoff) -> Iterator[Eigenspace]:
    """The eigenspaces one by one; a `max_eigenvalue` or `max_dim` that would need too many is refused at once.

    Their number is read off its growth from the 500th to the 1,000th: on all spaces it grows like a power of λ or D.
    """
    if cutoff.kind == "max_invariant_dim":
        yield from eigenspaces
        return
    listed: list[Eigenspace] = []
    reached: list[float] = []
    total = 0
    for V in islice(eigenspaces, _SAMPLED):
        total += V.dim
        listed.append(V)
        reached.append(V.eigenvalue if cutoff.kind == "max_eigenvalue" else float(min(total, 10**300)))
        if reached[-1] > cutoff.value * (1 + TOLERANCE):
            break
    else:
        growth = log(2.0) / log(reached[-1] / reached[len(reached) // 2 - 1])
        number = len(reached) * exp(min(growth * log(cutoff.value / reached[-1]), 600.0))
        what = f"a list of some {number:.0g} eigenspaces"
        require_memory(BYTES_PER_EIGENSPACE * number, what, f"Lower {cutoff.kind}.")
        if cutoff.kind == "max_dim" and BYTES_PER_FUNCTION * cutoff.value > settings().memory_limit:
            invariant = cutoff.value / (2 * group_order(group))  # D/|G| of D functions by Weyl's law; half, to be safe
            require_memory(BYTES_PER_FUNCTION * invariant, f"a basis of {invariant:.2g} functions", "Lower max_dim.")
    yield from chain(listed, eigenspaces)


def _is_barren(solutions: Sequence[Solution[Any]]) -> bool:
    """Whether the last eigenspaces have no invariants, so many that the search was given up."""
    return len(solutions) > _BARREN and not any(s.invariant_dim for s in solutions[-_BARREN - 1 :])


def _solutions_up_to(
    eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff, *, quiet: bool
) -> Iterator[Solution[Any]]:
    """The invariants of each eigenspace until the cutoff, whole eigenspaces only.

    A search that finds nothing more for thousands of eigenspaces is an error, or, if `quiet`, ends.
    """
    if cutoff.kind == "max_eigenvalue":
        top = cutoff.value * (1 + TOLERANCE)
        wanted = list(takewhile(lambda V: V.eigenvalue <= top, eigenspaces))
        resolver.check_memory(max(wanted, key=lambda V: V.dim))
        yield from resolver.solutions(iter(wanted))
        return
    if cutoff.kind == "max_invariant_dim":  # said at once, instead of after hours of listing them
        what = f"a basis of {cutoff.value:.6g} functions"
        require_memory(BYTES_PER_FUNCTION * cutoff.value, what, "Lower max_invariant_dim.")
    total, barren = 0, 0
    most = cutoff.value * (1 + TOLERANCE)  # 1000^(1/3) is 9.999999999999998
    if cutoff.kind == "max_dim":
        eigenspaces = _up_to_dim(eigenspaces, most)
    for solution in resolver.solutions(eigenspaces):
        V = solution.eigenspace
        total += V.dim if cutoff.kind == "max_dim" else solution.invariant_dim
        if total > most:
            return
        yield solution
        barren = 0 if solution.invariant_dim else barren + 1
        if cutoff.kind == "max_invariant_dim" and barren > _BARREN:
            if quiet:
                return
            raise ValueError(
                f"the {_BARREN} eigenspaces up to eigenvalue {V.eigenvalue:.6g} after the last invariant function "
                f"have none: max_invariant_dim={cutoff.value:g} may lie out of reach ({total} found). "
                "Use max_eigenvalue or max_dim."
            )


def _up_to_dim(eigenspaces: Iterator[Eigenspace], most: float) -> Iterator[Eigenspace]:
    """As many eigenspaces as have at most so many functions together."""
    total = 0
    for V in eigenspaces:
        total += V.dim
        if total > most:
            return
        yield V


def group_order(group: Group) -> float:
    """The order of a group; infinite where it is not known to be finite, or beyond floating-point numbers."""
    try:
        return float(group.order)
    except (ValueError, OverflowError):
        return inf
