"""Random elements of a group that shows no stabiliser chain: product replacement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specavg.isometries import Isometry

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
        slots[i] = slots[i] @ other if rng.random() < 0.5 else other @ slots[i]
        rattle = rattle @ slots[i]
    return rattle
