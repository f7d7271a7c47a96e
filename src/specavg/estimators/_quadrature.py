"""Integrals over the space of an invariant basis: exact product rules, random nodes in high dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

Quadrature = Callable[[float], tuple[Array, Array]]
"""An eigenvalue λ to nodes and weights, exact for products of two functions of eigenvalues up to λ."""

HIGHEST_DIMENSION = 8  # beyond, product rules have too many nodes even for the lowest functions
# Multiples of the largest value of a basis for which rules are tried: each finer than the last by half.
_FACTORS = (1.0, 1.5, 2.25, 3.4, 5.0, 7.6, 11.4, 17.0, 25.6, 38.0)
# Least growth of the number of nodes along each dimension. Rules that have the same angles, as two of rotations may,
# agree where both are wrong: by 20 % with a fibre texture along an axis of the grid.
_FINER = 1.1


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


def quadratures(basis: InvariantBasis, most: int, stretch: int = 1, made: Quadrature | None = None) -> Iterator[Rule]:
    """A rule to integrate with, a second rule to check it by, and then finer and finer ones.

    The first two integrate products of two functions of `basis` exactly. The finer ones are for integrands that are far
    sharper than these functions, as exp(Σ c ψ) may be.

    Parameters
    ----------
    basis : InvariantBasis
    most : int
        Nodes of the first rule, which is the finest product rule with no more; the second is the next finer one.
    stretch : int, default 1
        If no product rule has so few nodes, the coarsest is taken if it has at most `stretch` times as many. Otherwise
        the two rules are `most` independent uniform nodes each.
    made : callable, optional
        Makes the product rules, in place of those of the space. Where all integrands are invariant, rules with one node
        on each orbit are enough.
    """
    rules, first = _product_rules(basis, made), list[Rule]()
    # A rule that makes k functions orthonormal has k nodes at least. Where that is too many, no rule needs to be made:
    # the first of Torus(8) that is exact for 306,049 functions has 5.8 million nodes, which took seconds.
    fewest = basis.total_dim if made is None else basis.dim
    for rule in islice(rules if fewest <= stretch * most else (), len(_FACTORS)):
        first.append(rule)
        if (len(rule.points) > most and len(first) >= 2) or len(rule.points) > stretch * most:
            break
    if len(first) >= 2 and len(first[-2].points) <= stretch * most:
        yield from first[-2:]
        yield from rules
        return
    rng, text = np.random.default_rng(OWN_SEED), f"{most} uniform random nodes"
    for _ in range(2):
        yield Rule(basis.sample(most, rng), np.full(most, 1.0 / most), True, text)


def _product_rules(basis: InvariantBasis, made: Quadrature | None) -> Iterator[Rule]:
    """Finer and finer, as far as memory goes."""
    if made is None and basis.dimension > HIGHEST_DIMENSION:
        return
    last, growth = 0, 1.0 if made else _FINER**basis.dimension
    for factor in chain(_FACTORS, (_FACTORS[-1] * 1.5**k for k in count(1))):
        value = factor * float(basis.eigenvalues[-1])
        try:
            if made is None:
                points, weights = basis.quadrature(value)
            else:
                points, weights = made(basis.order.eigenvalue(basis.space, value))
        except MemoryError:
            return
        if len(points) < growth * last:
            continue
        last = len(points)
        text = f"product rule of {len(points)} nodes, exact for products of eigenfunctions up to {value:.6g}"
        yield Rule(points, weights, False, text)
