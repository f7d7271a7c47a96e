"""How a basis is built: a request is checked, then eigenspaces are solved in order until the cutoff."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice, takewhile
from math import exp, inf, log
from typing import Any

import numpy as np

from specavg._config import human_size, require_memory, settings
from specavg._messages import shown
from specavg._reporting import reported
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.invariants._acting_group import check_group, default_group, group_order, warn_of_rounded_turns
from specavg.invariants._basis_table import TOLERANCE, Cutoff
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._solver import Solution
from specavg.isometries.fields import ShiftField, flatten, period
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order

BYTES_PER_FUNCTION = 64.0  # at least: its eigenvalue, its place in the space, its value at a point
_BYTES_PER_EIGENSPACE = 1200.0  # its label, its solution and its row of the table: 100,000 of a circle took 130 MB
_SAMPLED = 1_000  # eigenspaces that are listed before their number is forecast: some milliseconds
_SAMPLED_FUNCTIONS = 100_000  # fewer eigenspaces where they are large: 1,000 total degrees on Torus(2) took 4 s
_SAMPLED_AT_LEAST = 32  # eigenspaces: fewer do not tell the power of their growth to 10 %
_MOST_EIGENSPACES = 1_000_000  # in a basis: each takes 15 µs and 1.2 kB on a circle, where they are cheapest
_MOST_FUNCTIONS = 1e7  # in a basis: their coefficients take 80 MB, and a prediction at one point as many products
_LONGEST = 86_400.0  # seconds of a forecast, which is right to a factor of ten: longer work takes hours at least
_ANNOUNCED = 60.0  # seconds of a forecast from which on a search says what it will take
_BARREN = 5_000  # eigenspaces in a row without a single invariant before the search is given up
_BARREN_SECONDS = 120.0  # by forecasts, for the same: the seven degrees of E8 before its first invariant take less

# A ratio of speeds this near to a fraction with a denominator up to the second number may be meant to be it; the number
# of invariants is in doubt there (singular values below 1e-7). Other ratios come so near by chance once in a thousand.
_NEAR, _SMALL = 1e-6, 24


def checked_request(
    space: Space, group: Group | None, cutoff: Cutoff | None, order: str | Order
) -> tuple[Group, Cutoff, Order]:
    """Group, cutoff and order that a user asks for, or an error that says what does not fit."""
    if cutoff is None:
        raise ValueError("give a cutoff: one of max_eigenvalue, max_dim or max_invariant_dim")
    if not isinstance(space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"space must be a specavg Space such as Torus(3) or Sphere(3); got {shown(space)}")
    if group is None:
        group = default_group(space)
    elif not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    warn_of_rounded_turns(group)
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
                stacklevel=4,
            )
        elif not isinstance(velocity, ShiftField) and group.structure is None and period(velocity) is None:
            if not group.algebra.is_abelian:
                continue  # other fields may fill the rest
            speeds = sorted({float(f"{abs(speed):.12g}") for speed, _ in velocity.circles()})
            ratio = next((near for speed in speeds if (near := _near_ratio(speed / speeds[0])) is not None), None)
            warnings.warn(
                f"the flow of {field!r} does not come back: its planes turn with speeds {speeds}, of no small ratio as "
                "far as floating-point numbers tell. "
                + (
                    "It fills a larger group, whose invariants are computed. "
                    if ratio is None
                    else f"A ratio of them differs from {ratio} by less than {_NEAR:g}: if it is meant to be {ratio}, "
                    "make it exact. Otherwise some functions turn so slowly that the number of invariants is in doubt, "
                    "which is an error. "
                )
                + "(Shifts are in periods, rotations in radians: 2π times a rotation goes with one period.)",
                stacklevel=4,
            )


def _near_ratio(ratio: float) -> Fraction | None:
    """The small fraction that a ratio of speeds nearly is; None where it is one, or far from all."""
    near = Fraction(ratio).limit_denominator(_SMALL)
    return near if 1e-11 * ratio < abs(ratio - near) < _NEAR else None


def solutions_in_time(
    eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff, seconds: float, what: str
) -> tuple[list[Solution[Any]], Cutoff]:
    """The invariants of each eigenspace up to `cutoff`, or up to the last one that `seconds` allow by forecasts.

    Where the time ends the search, the cutoff that comes back is the last eigenvalue: the same functions can be asked
    for by it. `what` names the work in reports of progress.
    """
    within = _WithinBudget(eigenspaces, resolver, seconds)
    reach = iter(within) if seconds < inf else within_reach(eigenspaces, resolver, cutoff)
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


def within_reach(
    eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff, *, solved: bool = True
) -> Iterator[Eigenspace]:
    """The eigenspaces one by one; a cutoff that would need too many functions or too much time is refused at once.

    The number of functions grows like a power of λ on every space. The power is read off the second half of the
    eigenspaces that are listed first.

    Parameters
    ----------
    eigenspaces : iterator of Eigenspace
    resolver : Resolver
    cutoff : Cutoff
    solved : bool, default True
        Whether they will be solved, which takes the time and memory that a plan only tells.
    """
    if cutoff.kind == "max_invariant_dim":
        _check_functions(cutoff.value, cutoff)
        if cutoff.value > resolver.most:
            raise _out_of_reach(cutoff, resolver.why_no_more)
    listed: list[Eigenspace] = []
    counts: list[int] = []
    total = 0
    by_value = cutoff.kind == "max_eigenvalue"
    for V in islice(eigenspaces, _SAMPLED):
        if total > _SAMPLED_FUNCTIONS and len(listed) >= _SAMPLED_AT_LEAST:
            eigenspaces = chain([V], eigenspaces)
            break
        total += V.dim
        listed.append(V)
        counts.append(total)
        if (V.eigenvalue if by_value else total) > cutoff.most:
            del counts[-1]  # of those up to the cutoff
            break
    if len(counts) > 1:
        _check_growth(listed, counts, resolver, cutoff, solved)
    yield from chain(listed, eigenspaces)


def _check_growth(
    listed: list[Eigenspace], counts: list[int], resolver: Resolver, cutoff: Cutoff, solved: bool
) -> None:
    """Refuse a cutoff that asks for more eigenspaces, functions or seconds than there can be."""
    last = len(counts) - 1
    middle = last // 2
    numbers = [float(min(count, 10**300)) for count in (counts[middle], counts[last])]
    places = [listed[middle].eigenvalue, listed[last].eigenvalue] if cutoff.kind == "max_eigenvalue" else numbers
    value, doublings = cutoff.value, 0.0
    if len(listed) == len(counts):  # the cutoff lies ahead
        if cutoff.kind == "max_invariant_dim" and 100 * (order := group_order(resolver.group)) < numbers[-1]:
            value *= max(order / 2, 1.0)  # D/|G| of D functions are invariant by Weyl's law; half, to be safe
        doublings = log(max(value / places[-1], 1.0)) / log(places[-1] / places[0])

    def grown(before: float, now: float) -> float:
        return now * exp(min(doublings * log(max(now / before, 1.0)), 600.0))

    eigenspaces = grown(middle + 1, last + 1)
    listing = f"a list of some {eigenspaces:.0g} eigenspaces"
    _check_number(eigenspaces, cutoff, listing, _BYTES_PER_EIGENSPACE, _MOST_EIGENSPACES)
    functions = grown(*numbers)
    if cutoff.kind != "max_invariant_dim" and functions > 2 * _MOST_FUNCTIONS:
        _check_functions(functions / (2 * group_order(resolver.group)), cutoff, "at least ")  # by Weyl's law, as above
    if not solved:
        return
    resolver.check_memory(listed[last])
    before, now = (max(resolver.seconds(listed[place]), 1e-9) for place in (middle, last))
    seconds = eigenspaces * grown(before, now) / (1 + max(log(now / before) / log(2.0), 0.0))  # of a power, summed
    if seconds > _LONGEST:
        raise _out_of_reach(cutoff, f"some {eigenspaces:.0g} eigenspaces would take {seconds / 3600:.0g} hours")


def _check_functions(functions: float, cutoff: Cutoff, bound: str = "") -> None:
    """Refuse a cutoff that asks for more functions than a basis can hold."""
    what = f"a basis of {bound}{functions:.6g} functions"
    _check_number(functions, cutoff, what, BYTES_PER_FUNCTION, _MOST_FUNCTIONS)


def _check_number(number: float, cutoff: Cutoff, what: str, bytes_each: float, most: float) -> None:
    """Refuse a cutoff that asks for more than memory holds, or for more than `most`."""
    require_memory(bytes_each * number, what, f"Lower {cutoff.kind}.")
    if number > most:
        raise _out_of_reach(cutoff, f"{what}, and at most {most:.0e} are held")


def _out_of_reach(cutoff: Cutoff, why: str) -> ValueError:
    """The refusal of a cutoff that asks for too much."""
    return ValueError(f"{cutoff.kind} = {cutoff.value:g} is out of reach: {why}. Lower {cutoff.kind}.")


def _is_barren(solutions: Sequence[Solution[Any]]) -> bool:
    """Whether the search was given up, because more than `_BARREN` eigenspaces in a row had no invariant."""
    return len(solutions) > _BARREN and not any(s.invariant_dim for s in solutions[-_BARREN - 1 :])


def _solutions_up_to(
    eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff, *, quiet: bool
) -> Iterator[Solution[Any]]:
    """The invariants of each eigenspace until the cutoff, whole eigenspaces only.

    A search that finds nothing more for thousands of eigenspaces, or for minutes, is an error, or, if `quiet`, ends.
    """
    if cutoff.kind == "max_eigenvalue":
        top = cutoff.most
        wanted = list(takewhile(lambda V: V.eigenvalue <= top, eigenspaces))
        if wanted:  # constants carry no tangent fields
            resolver.check_memory(max(wanted, key=lambda V: V.dim))
        if not quiet:
            _announce(wanted, resolver, cutoff)
        yield from resolver.solutions(iter(wanted))
        return
    total, barren, seconds = 0, 0, 0.0
    most = cutoff.most
    if cutoff.kind == "max_dim":
        listed = list(up_to_dim(eigenspaces, most))
        if not quiet:
            _announce(listed, resolver, cutoff)
        eigenspaces = iter(listed)
    elif not quiet:
        eigenspaces = _long_ones_announced(eigenspaces, resolver, cutoff)
    for solution in resolver.solutions(eigenspaces):
        V = solution.eigenspace
        total += V.dim if cutoff.kind == "max_dim" else solution.invariant_dim
        if total > most:
            return
        yield solution
        if cutoff.kind == "max_invariant_dim" and total >= min(cutoff.value, resolver.most):
            return  # eigenspaces that follow could add nothing but time
        barren, seconds = (0, 0.0) if solution.invariant_dim else (barren + 1, seconds + solution.solver.seconds(V))
        if cutoff.kind == "max_invariant_dim" and (barren > _BARREN or seconds > _BARREN_SECONDS):
            if quiet:
                return
            raise ValueError(
                f"the {barren} eigenspaces up to eigenvalue {V.eigenvalue:.6g} after the last invariant function "
                f"have none, and take {seconds:.2g} s by forecasts: max_invariant_dim={cutoff.value:g} may lie out of "
                f"reach ({total} found). Use max_eigenvalue or max_dim, which go as far as you say."
            )


def _announce(wanted: Sequence[Eigenspace], resolver: Resolver, cutoff: Cutoff) -> None:
    """Say what a cutoff will take, where its eigenspaces are known and it takes long."""
    if resolver.is_closed:  # takes milliseconds for each, and there may be a million of them
        return
    seconds = sum(map(resolver.seconds, wanted))
    if seconds > _ANNOUNCED:
        warnings.warn(
            f"{cutoff.kind}={cutoff.value:g} would take about {seconds / 60:.2g} minutes by forecasts: it has "
            f"{len(wanted)} eigenspaces of up to {max(V.dim for V in wanted)} functions. sa.invariants.plan lists "
            f"them. Lower {cutoff.kind} for a shorter search.",
            stacklevel=2,
        )


def _long_ones_announced(eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff) -> Iterator[Eigenspace]:
    """The eigenspaces, with a warning before the first that takes long; what takes days or does not fit is refused.

    How many eigenspaces `max_invariant_dim` needs is known only when their invariants are.
    """
    warned = False
    for V in eigenspaces:
        seconds = resolver.seconds(V)
        if seconds > _ANNOUNCED:
            resolver.check_memory(V)
            what = f"the eigenspace of eigenvalue {V.eigenvalue:.6g}, of {V.dim} functions, would take"
            if seconds > _LONGEST:
                raise _out_of_reach(cutoff, f"{what} {seconds / 3600:.2g} hours")
            if not warned:
                warnings.warn(
                    f"{cutoff.kind}={cutoff.value:g} is not reached yet, and {what} about {seconds / 60:.2g} minutes "
                    f"and {human_size(resolver.memory(V))} by forecasts; later ones may take longer. max_eigenvalue "
                    "bounds the search.",
                    stacklevel=2,
                )
            warned = True
        yield V


def up_to_dim(eigenspaces: Iterator[Eigenspace], most: float) -> Iterator[Eigenspace]:
    """The first eigenspaces, until they have more than `most` functions together."""
    total = 0
    for V in eigenspaces:
        total += V.dim
        if total > most:
            return
        yield V
