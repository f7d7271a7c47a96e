"""Integrals over the space of an invariant basis: exact product rules, random nodes in high dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

HIGHEST_DIMENSION = 8  # beyond, product rules have too many nodes even for the lowest functions
# Multiples of the largest value of a basis for which rules are tried: each finer than the last by half.
_FACTORS = (1.0, 1.5, 2.25, 3.4, 5.0, 7.6, 11.4, 17.0, 25.6, 38.0)


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes and weights that integrate over the uniform probability measure.

    Attributes
    ----------
    points : ndarray of shape (N, n_features)
    weights : ndarray of shape (N,)
        Sum to one.
    random : bool
        Whether the nodes are random.
    description : str
    """

    points: Array
    weights: Array
    random: bool
    description: str


def quadratures(basis: InvariantBasis, most: int, stretch: int = 1) -> tuple[Rule, Rule]:
    """A rule of at most `most` nodes for functions on the space of `basis`, and a second one to check it by.

    Where the space has product rules with so few nodes: the finest, checked by the next finer one. Both
    integrate products of two functions of `basis` exactly. Where there is none, the coarsest of them if it has at
    most `stretch` times as many nodes. Otherwise independent uniform nodes, twice.
    """
    top = float(basis.eigenvalues[-1])
    rules: list[Rule] = []
    if basis.dimension <= HIGHEST_DIMENSION:
        for factor in _FACTORS:
            try:
                points, weights = basis.quadrature(factor * top)
            except MemoryError:
                break
            text = f"product rule of {len(points)} nodes, exact for products of eigenfunctions up to {factor * top:.6g}"
            rules.append(Rule(points, weights, False, text))
            if (len(points) > most and len(rules) >= 2) or len(points) > stretch * most:
                break
    if len(rules) >= 2 and len(rules[-2].points) <= stretch * most:
        return rules[-2], rules[-1]
    rng = np.random.default_rng(OWN_SEED)
    text = f"{most} uniform random nodes"
    first, second = (Rule(basis.sample(most, rng), np.full(most, 1.0 / most), True, text) for _ in range(2))
    return first, second
