"""Quadrature nodes for exponential densities, finer and finer: how fine they have to be is known when one is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from specavg._config import settings
from specavg.estimators._exponential_family import Nodes
from specavg.estimators._node_orbits import orbit_nodes
from specavg.estimators._orbit_space import orbit_space
from specavg.estimators._quadrature import quadratures
from specavg.invariants import InvariantBasis

MOST_NODES = 6_000  # of the first rule: the values of 192 functions take 9 MB
STRETCH = 10  # an exact rule of so many times more nodes is still better than random nodes
_ORBIT = 5  # nodes on an orbit, on average, up to which a rule is made: more would be found to be few after much work


@final
class Ladder:
    """Nodes for the functions of a basis, each rung finer than the one below and checked by the one above.

    One node stands for each orbit where nodes share one: an invariant integrand needs no more. A rung is made when it
    is asked for.
    """

    def __init__(self, basis: InvariantBasis) -> None:
        self._known: list[Nodes] = []
        self._above = _rungs(basis)

    def has(self, rung: int) -> bool:
        """Whether there is such a rung."""
        while len(self._known) <= rung and (finer := next(self._above, None)) is not None:
            self._known.append(finer)
        return len(self._known) > rung

    def pair(self, rung: int) -> tuple[Nodes, Nodes]:
        """The nodes of a rung, and those above it."""
        self.has(rung + 1)
        return self._known[rung], self._known[rung + 1]


def _rungs(basis: InvariantBasis) -> Iterator[Nodes]:
    most = int(min(MOST_NODES, settings().memory_limit / (32.0 * basis.dim)))
    made = orbit_space(basis.space, basis.group).rule
    for rung, rule in enumerate(quadratures(basis, most, stretch=STRETCH, made=made)):
        if rung >= 2 and len(rule.points) > _ORBIT * STRETCH * most:
            return
        points, weights = orbit_nodes(basis, rule.points, rule.weights)
        if rung >= 2 and len(points) > STRETCH * most:
            return
        yield Nodes(basis.evaluate(points)[:, 1:], weights, rule.random, rule.description)
