"""What the solvers of products and powers share: the resolver of a part, and the columns of its functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from specavg.functions._functions import Functions
from specavg.groups import Group
from specavg.invariants.solvers._solver import Solution
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Space

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver

__all__ = ["Places", "certificate", "resolver_of"]


def resolver_of(space: Space, group: Group, stored: Stored | None, part: str) -> Resolver:
    """The choice of solvers for one copy or one factor; `part` names it among stored arrays."""
    from specavg.invariants._solver_choice import Resolver  # a resolver uses these solvers, and they use it

    return Resolver(space, group, stored=None if stored is None else stored.below(part))


def certificate(parts: Iterable[Solution[Any]]) -> dict[str, Any]:
    """Residual, gap and number of inner products of a solution made from `parts`."""
    chosen = list(parts)
    return {
        "residual": max((s.residual for s in chosen), default=0.0),
        "gap": min((s.gap for s in chosen), default=np.inf),
        "inner_products": sum(s.inner_products for s in chosen),
    }


class Places:
    """Which columns of a factor's functions belong to which of its solutions."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._solutions: dict[Eigenspace, tuple[Solution[Any], range]] = {}
        self._end = 0

    def columns(self, solution: Solution[Any]) -> range:
        if solution.eigenspace not in self._solutions:
            start, self._end = self._end, self._end + solution.invariant_dim
            self._solutions[solution.eigenspace] = (solution, range(start, self._end))
        return self._solutions[solution.eigenspace][1]

    def functions(self) -> Functions:
        return self._resolver.functions([solution for solution, _ in self._solutions.values()])
