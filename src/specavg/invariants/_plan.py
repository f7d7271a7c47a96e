"""What `invariant_basis` would do, told beforehand: solvers, numbers of functions, memory and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import islice
from math import fsum
from typing import final

from specavg._config import human_size, settings
from specavg.groups import Group
from specavg.invariants._acting_group import group_order
from specavg.invariants._basis_table import Cutoff
from specavg.invariants._building import checked_request, within_reach
from specavg.invariants._solver_choice import Resolver
from specavg.spaces import Space
from specavg.spaces._order_of_functions import Order

_MOST_ROWS = 10_000  # eigenspaces that a plan lists: 4 s on Torus(3) under hyperoctahedral(3), where counting is slow
# Seconds, by forecasts, for which eigenspaces are solved where nothing else tells when `max_invariant_dim` is reached:
# a plan should not keep one waiting longer.
_SOLVED_SECONDS = 1.0
_LOOKED_AT = 100  # eigenspaces of which invariants are counted for a message: milliseconds
_SHOWN = 12  # rows that a plan prints, the last of them included


@dataclass(frozen=True)
class PlanRow:
    """One eigenspace of a plan: what `Row` will say of it, as far as it is known beforehand.

    Attributes
    ----------
    eigenvalue, dim
        As in `Row`.
    solver : str
        The solver that would be asked first.
    invariant_dim : int or None
        As in `Row` where a closed form or a character gives it, or where it was solved; None where only solving tells.
    memory : float
        Working memory of the solver, in bytes.
    seconds : float
        Time of the solver, to an order of magnitude.

    Examples
    --------
    >>> import specavg as sa
    >>> row = sa.invariants.plan(sa.Torus(10), sa.groups.symmetric(10), max_eigenvalue=20).rows[1]
    >>> row.dim, row.invariant_dim, row.solver
    (20, 2, 'closed form')
    """

    eigenvalue: float
    dim: int
    solver: str
    invariant_dim: int | None
    memory: float
    seconds: float


@final
@dataclass(frozen=True)
class Plan:
    """What `invariant_basis` would do. Made by `plan`; printed, it is a table.

    Attributes
    ----------
    space, group, cutoff, order, solver
        What the basis would be made from.
    rows : tuple of PlanRow
        One row per eigenspace.
    complete : bool
        Whether the rows end where the basis would. `max_invariant_dim` needs the invariants of every eigenspace: where
        they are not counted beforehand, eigenspaces are solved for a second, by forecasts, and from there on m_λ/|G|
        stands for them: the basis may end earlier or later.
    cut : bool
        Whether the plan ends before the basis does, after 10,000 eigenspaces: the totals are then those of the rows,
        and the basis has more.

    Examples
    --------
    >>> import specavg as sa
    >>> print(sa.invariants.plan(sa.Sphere(3), sa.groups.point_group("Oh"), max_eigenvalue=20))
    plan of a basis on Sphere(3) under point_group('Oh'), max_eigenvalue = 20
      eigenvalue         dim  invariant  solver           memory  seconds
               0           1          1  null space     24 bytes   0.0002
               2           3          0  null space    216 bytes   0.0002
               6           5          0  null space    600 bytes   0.0002
              12           7          0  null space      1.18 kB   0.0002
              20           9          1  null space      1.94 kB   0.0002
           total          25          2                  1.94 kB   0.0010
    """

    space: Space
    group: Group
    cutoff: Cutoff
    order: Order
    solver: str
    rows: tuple[PlanRow, ...] = field(repr=False)
    complete: bool = True
    cut: bool = False

    @property
    def total_dim(self) -> int:
        """Number of all functions up to the cutoff."""
        return sum(row.dim for row in self.rows)

    @property
    def dim(self) -> int | None:
        """Number of invariant functions; None where it is not known beforehand."""
        counts = [row.invariant_dim for row in self.rows if row.invariant_dim is not None]
        return sum(counts) if len(counts) == len(self.rows) else None

    @property
    def seconds(self) -> float:
        """Time to build the basis, to an order of magnitude."""
        return fsum(row.seconds for row in self.rows)

    @property
    def memory(self) -> float:
        """Largest working memory of any eigenspace, in bytes."""
        return max((row.memory for row in self.rows), default=0.0)

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        order = "" if self.order.name == "eigenvalue" else f", order {self.order!r}"
        title = (
            f"plan of a basis on {self.space!r} under {self.group!r}, {self.cutoff.kind} = {self.cutoff.value:g}{order}"
        )
        lines = [title, _line("eigenvalue", "dim", "invariant", "solver", "memory", "seconds")]
        few = len(self.rows) <= _SHOWN
        for row in self.rows if few else self.rows[: _SHOWN - 1]:
            lines.append(_row_line(row))
        if not few:
            lines += [f"  ... {len(self.rows) - _SHOWN} more eigenspaces ...", _row_line(self.rows[-1])]
        dim = "?" if self.dim is None else str(self.dim)
        name = "at least" if self.cut else "total"
        lines.append(_line(name, _whole(self.total_dim), dim, "", human_size(self.memory), f"{self.seconds:.4f}"))
        if self.cut:
            lines.append(f"  The plan ends here, after {len(self.rows)} eigenspaces; the basis has more.")
        elif not self.complete:
            lines.append(
                "  Invariants marked ? are taken for 1/|G| of the functions: the basis may end before or after."
            )
        return "\n".join(lines)


def plan(
    space: Space,
    group: Group | None = None,
    max_eigenvalue: float | None = None,
    max_dim: float | None = None,
    max_invariant_dim: float | None = None,
    solver: str = "auto",
    *,
    order: str | Order = "eigenvalue",
) -> Plan:
    """What `invariant_basis` with the same arguments would do, without doing it.

    Parameters
    ----------
    space, group, max_eigenvalue, max_dim, max_invariant_dim, solver, order
        As in `invariant_basis`.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import specavg as sa
    >>> found = plan(sa.Torus(1000), sa.groups.hyperoctahedral(1000), max_invariant_dim=30)
    >>> found.dim, found.total_dim > 10**20, {row.solver for row in found.rows}
    (27, True, {'closed form'})
    """
    given = Cutoff.of(max_eigenvalue, max_dim, max_invariant_dim)
    group, cutoff, by = checked_request(space, group, given, order)
    resolver = Resolver(space, group, solver)
    most = cutoff.most
    rows: list[PlanRow] = []
    reached, exact, ended, left = 0.0, True, False, _SOLVED_SECONDS  # reached: what the cutoff bounds, up to here
    for V in islice(within_reach(space.ordered(by), resolver, cutoff, solved=False), _MOST_ROWS):
        chosen = next(resolver.solvers(V))
        count, seconds, memory = resolver.count(V), chosen.seconds(V), chosen.memory(V)
        if cutoff.kind == "max_invariant_dim":
            if count is None and exact and seconds <= left and memory <= settings().memory_limit:
                count, left = resolver.solve(V).invariant_dim, left - seconds
            exact = exact and count is not None
            reached += V.dim / group_order(group) if count is None else count
        else:
            reached = V.eigenvalue if cutoff.kind == "max_eigenvalue" else reached + V.dim
        ended = reached > most
        if ended:
            break
        rows.append(PlanRow(V.eigenvalue, V.dim, chosen.name, count, memory, seconds))
        ended = cutoff.kind == "max_invariant_dim" and reached >= cutoff.value
        if ended:
            break
    return Plan(space, group, cutoff, by, solver, tuple(rows), complete=ended and exact, cut=not ended)


@dataclass(frozen=True)
class Reach:
    """How far a search could go beyond an eigenvalue.

    Attributes
    ----------
    eigenvalue : float or None
        The last that the time allows; None where it does not allow the next one.
    seconds : float
        The time up to there by forecasts; that of the next eigenspace where `eigenvalue` is None.
    memory : float
        Working memory, in bytes, likewise.
    dim : int
        Functions of the last eigenspace, invariant or not.
    """

    eigenvalue: float | None
    seconds: float
    memory: float
    dim: int


def reach(space: Space, group: Group, order: Order, beyond: float, seconds: float) -> Reach:
    """How far beyond an eigenvalue a search in some order could go within a time, by forecasts."""
    resolver = Resolver(space, group)
    total, memory, last = 0.0, 0.0, None
    for V in islice(space.ordered(order), _MOST_ROWS):
        solver = next(resolver.solvers(V))
        taken, held = solver.seconds(V), solver.memory(V)
        if V.eigenvalue > beyond and (total + taken > seconds or held > settings().memory_limit):
            if last is None:
                return Reach(None, taken, held, V.dim)
            break
        total, memory = total + taken, max(memory, held)
        if V.eigenvalue > beyond:
            last = V
    if last is None:  # the list of eigenspaces ended first
        return Reach(None, seconds, memory, 0)
    return Reach(last.eigenvalue, total, memory, last.dim)


def first_function(space: Space, group: Group) -> str:
    """A sentence on where the first non-constant invariant function is and what it costs; empty if no count tells."""
    resolver = Resolver(space, group)
    total = memory = 0.0
    for V in islice(space.eigenspaces(), _LOOKED_AT):
        count, solver = resolver.count(V), next(resolver.solvers(V))
        if count is None:
            return ""
        total, memory = total + solver.seconds(V), max(memory, solver.memory(V))
        if V.eigenvalue > 0 and count:
            there = f"{V.eigenvalue:.10g}"
            cost = f"about {total:.2g} seconds and {human_size(memory)} of memory"
            return f"the first one has the eigenvalue {there}, and max_eigenvalue={there} finds it in {cost}"
    return ""


def _row_line(row: PlanRow) -> str:
    count = "?" if row.invariant_dim is None else str(row.invariant_dim)
    return _line(
        f"{row.eigenvalue:.6g}", _whole(row.dim), count, row.solver, human_size(row.memory), f"{row.seconds:.4f}"
    )


def _line(eigenvalue: str, dim: str, count: str, solver: str, memory: str, seconds: str) -> str:
    return f"  {eigenvalue:>10}  {dim:>10}  {count:>9}  {solver:<11}  {memory:>10}  {seconds:>7}".rstrip()


def _whole(number: int) -> str:
    return str(number) if number < 10**10 else f"{float(number):.3e}" if number < 10**300 else "> 1e300"
