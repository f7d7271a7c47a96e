"""Random elements of a group that shows no stabiliser chain: product replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from specavg.isometries import Copies, Factors, Isometry, LeftRight, Orthogonal, orthogonal
from specavg.isometries._linear import linear

if TYPE_CHECKING:
    from specavg.groups._group import Group

_SLOTS = 10  # products kept at a time: the usual number (Celler et al. 1995)
_SCRAMBLE = 60  # replacements before a product is used: the usual number too
# Entries of the scrambled tuple that lead from one element to the next. What is left of the element before falls to
# about 2√21/22 = 0.4 with each of them, as on random graphs with 22 neighbours (eleven entries, and their inverses).
_BETWEEN = 3
# Elements until a new tuple is scrambled. Entries err by up to 1e-14, and walks along them by the root of their number
# times as much. (Replacements that go on would double errors every 15 of them.)
_DRAWS = 1_000


def random_elements(group: Group, rng: np.random.Generator) -> Iterator[Isometry]:
    """Elements drawn one after another, without end: uniform, or as `random_products` where no chain is in reach."""
    try:
        known = group.recognise()
    except ValueError:
        if group.fields:
            raise
        yield from random_products(group.generators, group.identity, rng)
        return
    while True:
        yield known.random(rng)


def random_products(generators: Sequence[Isometry], identity: Isometry, rng: np.random.Generator) -> Iterator[Isometry]:
    """Approximately uniform elements: a long random walk on generating tuples (Celler et al., with a "rattle").

    A tuple of generators is scrambled by replacing one entry by its product with another; the product of all
    replaced entries is the first element. Products with random entries of the scrambled tuple are the next ones.
    Infinite groups have no uniform element: there it is just a random one.
    """
    moving = [g for g in generators if not g.is_identity] or [identity]
    while True:
        slots = [moving[i % len(moving)] for i in range(max(_SLOTS, len(moving) + 1))]
        rattle = identity
        for _ in range(_SCRAMBLE + len(slots)):
            i, j = rng.choice(len(slots), size=2, replace=False)
            other = slots[j].inverse() if rng.random() < 0.5 else slots[j]
            slots[i] = _orthonormal(slots[i] @ other if rng.random() < 0.5 else other @ slots[i])
            rattle = _orthonormal(rattle @ slots[i])
        slots += [g.inverse() for g in slots]
        for _ in range(_DRAWS):
            yield rattle
            for i in rng.integers(len(slots), size=_BETWEEN).tolist():
                rattle = _orthonormal(rattle @ slots[i])


def random_product(generators: Sequence[Isometry], identity: Isometry, rng: np.random.Generator) -> Isometry:
    """The first of `random_products`."""
    return next(random_products(generators, identity, rng))


def _orthonormal(g: Isometry) -> Isometry:
    """The isometry with matrices R that are orthogonal to rounding: what products lose doubles in each replacement.

    One step of Newton's method towards the polar factor squares the error of RᵀR, which is that of one product.
    """
    if isinstance(g, Orthogonal):
        R = g.matrix
        return orthogonal(R @ (3 * np.eye(len(R)) - R.T @ R) / 2)
    if isinstance(g, Factors):
        return Factors(tuple(map(_orthonormal, g.parts)))
    if isinstance(g, Copies):
        return Copies(g.image, tuple(map(_orthonormal, g.parts)))
    if isinstance(g, LeftRight):
        return LeftRight(linear(_orthonormal(g.left)), linear(_orthonormal(g.right)))
    return g
