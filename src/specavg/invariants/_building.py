"""How a basis is built: eigenspaces in order, the invariants of each, until the cutoff."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from math import inf
from typing import Any

from specavg._config import require_memory, settings
from specavg.groups import Group
from specavg.invariants._basis import InvariantBasis
from specavg.invariants._cutoff import Cutoff
from specavg.invariants._defaults import default_group
from specavg.invariants._solver_choice import Resolver, arrays_of
from specavg.invariants.solvers._solver import Solution
from specavg.spaces import Eigenspace, Space, Torus
from specavg.spaces._orders import BY_EIGENVALUE, Order, order_of

__all__ = ["BYTES_PER_FUNCTION", "TOLERANCE", "built_basis", "check_group", "checked_request", "invariant_basis"]

TOLERANCE = 1e-9
BYTES_PER_FUNCTION = 64.0  # at least: its eigenvalue, its place in the space, its value at a point
_BARREN = 5_000  # eigenspaces in a row without a single invariant before the search is given up


def invariant_basis(
    space: Space,
    group: Group | None = None,
    max_eigenvalue: float | None = None,
    max_dim: float | None = None,
    max_invariant_dim: float | None = None,
    solver: str = "auto",
    *,
    order: str | Order = "eigenvalue",
) -> InvariantBasis:
    """The invariant eigenfunctions of `space` under `group`, up to a cutoff.

    Whole eigenspaces only, and exactly one cutoff. The result depends on no data: it is computed once for each
    (space, group, cutoff, order, solver) and shared.

    Parameters
    ----------
    space : Space
    group : Group, optional
        The trivial group by default.
    max_eigenvalue : float, optional
        Inclusive (relative tolerance 1e-9).
    max_dim : float, optional
        D_λ ≤ max_dim, *all* functions counted, as in the paper's theorem.
    max_invariant_dim : float, optional
        *Invariant* functions counted, as in the paper's experiments.
    solver : {"auto", "closed form", "orbits", "null space"}
        "auto" takes the cheapest exact way for each eigenspace; `table` shows which.
    order : {"eigenvalue", "few coordinates", "degree"} or Order
        Which functions come first: the smoothest; those of few coordinates, copies or factors (`FewCoordinates`);
        those of low total degree. In another order than the first, `max_eigenvalue` bounds its value.

    Returns
    -------
    InvariantBasis

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(10), sa.groups.sign_flips(10), max_invariant_dim=176)
    >>> [(row.dim, row.invariant_dim) for row in basis.table]
    [(1, 1), (20, 10), (180, 45), (960, 120)]
    """
    group, cutoff, chosen = checked_request(space, group, max_eigenvalue, max_dim, max_invariant_dim, order)
    return built_basis(space, group, cutoff, chosen, solver, inf)


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
    chosen = order_of(order)
    if isinstance(space, Torus) and space.lattice is not None and chosen != BY_EIGENVALUE:
        raise ValueError(
            f'{space!r} is a lattice, whose symmetries mix coordinates: it has order="eigenvalue" only; got {order!r}. '
            "Other orders are for boxes, as Torus(d, period=...) makes them."
        )
    check_group(space, group)
    return group, cutoff, chosen


@lru_cache(maxsize=32)
def built_basis(
    space: Space, group: Group, cutoff: Cutoff, order: Order, solver: str, seconds: float
) -> InvariantBasis:
    """The basis up to `cutoff`, or up to the last eigenspace that `seconds` allow by the forecasts of the solvers.

    Where the time ends it, its cutoff is that last eigenvalue: the same basis can be asked for by it.
    """
    resolver = Resolver(space, group, solver)
    if seconds == inf:
        solutions = list(_solutions(space.ordered(order), resolver, cutoff))
    else:
        within = _WithinBudget(space.ordered(order), resolver, seconds)
        solutions = list(_solutions(iter(within), resolver, cutoff))
        if within.ended:
            cutoff = Cutoff("max_eigenvalue", solutions[-1].eigenspace.eigenvalue)
    return InvariantBasis(
        space, group, cutoff, order, solver, solutions, resolver.functions(solutions), arrays_of(solutions)
    )


class _WithinBudget:
    """Eigenspaces until solving them would take more time or memory than allowed; the first is always there.

    Times are forecasts: what is found does not depend on how busy the machine is.
    """

    def __init__(self, eigenspaces: Iterator[Eigenspace], resolver: Resolver, seconds: float) -> None:
        self._eigenspaces = eigenspaces
        self._resolver = resolver
        self._seconds = seconds
        self.ended = False

    def __iter__(self) -> Iterator[Eigenspace]:
        spent = 0.0
        yield next(self._eigenspaces)
        for V in self._eigenspaces:
            spent += self._resolver.seconds(V)
            self.ended = spent > self._seconds or self._resolver.memory(V) > settings().memory_limit
            if self.ended:
                return
            yield V


def _solutions(eigenspaces: Iterator[Eigenspace], resolver: Resolver, cutoff: Cutoff) -> Iterator[Solution[Any]]:
    if cutoff.kind == "max_eigenvalue":
        top = cutoff.value * (1 + TOLERANCE)
        wanted = list(takewhile(lambda V: V.eigenvalue <= top, eigenspaces))
        resolver.check_memory(max(wanted, key=lambda V: V.dim))
        yield from map(resolver.solve, wanted)
        return
    if cutoff.kind == "max_invariant_dim":  # said at once, instead of after hours of listing them
        what = f"a basis of {cutoff.value:.6g} functions"
        require_memory(BYTES_PER_FUNCTION * cutoff.value, what, "Lower max_invariant_dim.")
    total, barren = 0, 0
    most = cutoff.value * (1 + TOLERANCE)  # 1000^(1/3) is 9.999999999999998
    for V in eigenspaces:
        if cutoff.kind == "max_dim" and total + V.dim > most:
            return
        solution = resolver.solve(V)
        total += V.dim if cutoff.kind == "max_dim" else solution.invariant_dim
        if total > most:
            return
        yield solution
        barren = 0 if solution.invariant_dim else barren + 1
        if cutoff.kind == "max_invariant_dim" and barren > _BARREN:
            raise ValueError(
                f"the {_BARREN} eigenspaces up to eigenvalue {V.eigenvalue:.6g} after the last invariant function "
                f"have none: max_invariant_dim={cutoff.value:g} may lie out of reach ({total} found). "
                "Use max_eigenvalue or max_dim."
            )


def check_group(space: Space, group: Group) -> None:
    """Refuse a group with a generator that is not an isometry of the space."""
    for i, g in enumerate(group.generators):
        try:
            space.check_isometry(g)
        except ValueError as error:
            raise ValueError(f"generator {i} of {group!r} does not fit: {error}") from None
    if not group.generators and group.columns != space.n_features and group.size != space.shape[0]:
        raise ValueError(f"{group!r} acts on {group.columns} coordinates; points of {space!r} have {space.n_features}")
