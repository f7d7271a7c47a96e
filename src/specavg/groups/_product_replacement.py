"""Random elements of a group that shows no stabiliser chain: product replacement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specavg.isometries import Copies, Factors, Isometry, LeftRight, Orthogonal, orthogonal
from specavg.isometries._linear import linear

_SLOTS = 10  # products kept at a time: the usual number (Celler et al. 1995)
_SCRAMBLE = 60  # replacements before a product is used: the usual number too


def random_product(generators: Sequence[Isometry], identity: Isometry, rng: np.random.Generator) -> Isometry:
    """An approximately uniform element: a long random walk on generating tuples (Celler et al., with a "rattle").

    A tuple of generators is scrambled by replacing one entry by its product with another; the product of all
    replaced entries is the element. Infinite groups have no uniform element: there it is just a random one.
    """
    moving = [g for g in generators if not g.is_identity] or [identity]
    slots = [moving[i % len(moving)] for i in range(max(_SLOTS, len(moving) + 1))]
    rattle = identity
    for _ in range(_SCRAMBLE + len(slots)):
        i, j = rng.choice(len(slots), size=2, replace=False)
        other = slots[j].inverse() if rng.random() < 0.5 else slots[j]
        slots[i] = _orthonormal(slots[i] @ other if rng.random() < 0.5 else other @ slots[i])
        rattle = _orthonormal(rattle @ slots[i])
    return rattle


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
