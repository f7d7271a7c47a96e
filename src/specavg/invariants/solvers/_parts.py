"""What the solvers of products and powers share: eigenvalues as sums, and the columns of one factor."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from specavg.functions._functions import Functions
from specavg.groups import Group
from specavg.invariants.solvers._solver import Solution
from specavg.spaces import Eigenspace, Space
from specavg.spaces._space import SAME_EIGENVALUE

__all__ = ["Listing", "Places", "resolver_of"]

_GROWTH = 1.3  # of a listing beyond what is asked: the number of ways grows with the power d/2 of the bound


def resolver_of(space: Space, group: Group) -> Any:
    from specavg.invariants._solver_choice import Resolver  # a resolver uses these solvers, and they use it

    return Resolver(space, group)


class Listing:
    """Ways to write an eigenvalue as a sum, listed once up to a bound that grows, then looked up."""

    def __init__(self, up_to: Callable[[float], list[tuple[float, int, Any]]]) -> None:
        self._up_to = up_to
        self._bound = -1.0
        self._totals: list[float] = []
        self._ways: list[Any] = []

    def at(self, value: float) -> list[Any]:
        """The ways whose total is `value`."""
        high = value * (1 + SAME_EIGENVALUE)
        if high > self._bound:
            self._bound = high * _GROWTH
            # Stable: ways with the same total stay in the order of their listing.
            found = sorted(self._up_to(self._bound), key=lambda way: way[0])
            self._totals = [total for total, _, _ in found]
            self._ways = [way for _, _, way in found]
        return self._ways[bisect_left(self._totals, value * (1 - SAME_EIGENVALUE)) : bisect_right(self._totals, high)]


class Places:
    """Which columns of a factor's functions belong to which of its solutions."""

    def __init__(self, resolver: Any) -> None:
        self._resolver = resolver
        self._solutions: dict[Eigenspace, tuple[Solution, range]] = {}
        self._end = 0

    def columns(self, solution: Solution) -> range:
        if solution.eigenspace not in self._solutions:
            start, self._end = self._end, self._end + solution.invariant_dim
            self._solutions[solution.eigenspace] = (solution, range(start, self._end))
        return self._solutions[solution.eigenspace][1]

    def functions(self) -> Functions:
        return self._resolver.functions([solution for solution, _ in self._solutions.values()])
