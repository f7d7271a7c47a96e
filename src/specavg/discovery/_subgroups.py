"""All subgroups of a small group, class by class.

Every subgroup other than the trivial one is <H, z>: a smaller subgroup H, and an element z of prime-power order.
Conjugation carries <H, z> to <H', z'>, so one H of each class, with every z, finds one subgroup of every class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
Masks = NDArray[np.bool_]


class TooManySubgroups(ValueError):
    """A group has more subgroups than can be compared one by one."""


@final
@dataclass(frozen=True, eq=False)
class SubgroupClass:
    """The conjugates of one subgroup H.

    Attributes
    ----------
    members : ndarray of shape (k, N)
        The elements of each conjugate, H first.
    conjugators : ndarray of shape (k,)
        An element g for each conjugate, which is gHg⁻¹; the identity first.
    generators : tuple of int
        Elements that generate H.
    """

    members: Masks
    conjugators: Indices
    generators: tuple[int, ...]

    @property
    def order(self) -> int:
        """How many elements each conjugate has."""
        return int(self.members[0].sum())


def subgroup_classes(products: Indices, limit: int) -> list[SubgroupClass]:
    """Every subgroup of a group, smallest classes of conjugates found first.

    Parameters
    ----------
    products : ndarray of shape (N, N)
        The multiplication table; element 0 is the identity.
    limit : int
        How many subgroups there may be.

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg.discovery._finite_action import FiniteAction
    >>> action = FiniteAction.of(sa.Torus(4), sa.groups.symmetric(4))
    >>> classes = subgroup_classes(action.products, limit=1000)
    >>> len(classes), sum(len(c.members) for c in classes)
    (11, 30)
    """
    N = len(products)
    inverses = np.argmax(products == 0, axis=1)
    conjugates = products[products, inverses[:, None]]  # [g, h]: ghg⁻¹
    commutes = np.array_equal(products, products.T)
    steps = prime_power_steps(products)
    seen: set[bytes] = set()
    classes: list[SubgroupClass] = []
    normalisers: list[Indices] = []

    def add(mask: Masks, generators: tuple[int, ...]) -> None:
        if np.packbits(mask).tobytes() in seen:
            return
        movers = np.arange(1 if commutes else N)  # whose conjugates are to be found
        images = np.zeros((len(movers), N), dtype=bool)
        images[movers[:, None], conjugates[: len(movers), np.flatnonzero(mask)]] = True
        firsts: dict[bytes, int] = {}  # the identity, and so the subgroup itself, comes first
        for i, row in enumerate(np.packbits(images, axis=1)):
            firsts.setdefault(row.tobytes(), i)
        seen.update(firsts)
        if len(seen) > limit:
            raise TooManySubgroups(
                f"the group of order {N} has more than {limit} subgroups, too many to compare them all. "
                "Use method='auto', which builds a symmetry from single elements"
            )
        first = np.array(list(firsts.values()))
        classes.append(SubgroupClass(images[first], first, generators))
        normalisers.append(np.flatnonzero((images == mask).all(axis=1)))

    add(np.arange(N) == 0, ())
    for k, H in enumerate(classes):  # grows while it is read
        mask = H.members[0]
        left = (steps >= 0) & ~mask
        while left.any():
            z = int(np.argmax(left))
            # Conjugation by what keeps H gives conjugate groups: one z of each such orbit is enough.
            left &= ~np.isin(steps, steps[conjugates[normalisers[k], z]])
            add(_joined(products, mask, (*H.generators, z)), (*H.generators, z))
    return sorted(classes, key=lambda c: c.order)


def prime_power_steps(products: Indices) -> Indices:
    """For each element of prime-power order, the number of the cyclic group it generates; −1 for the others."""
    steps = np.full(len(products), -1, dtype=np.intp)
    found: dict[frozenset[int], int] = {}
    for g in range(1, len(products)):
        powers = [g]
        while powers[-1] != 0:
            powers.append(int(products[powers[-1], g]))
        order = len(powers)
        prime = next(p for p in range(2, order + 1) if order % p == 0)
        while order % prime == 0:
            order //= prime
        if order == 1:
            steps[g] = found.setdefault(frozenset(powers), len(found))
    return steps


def _joined(products: Indices, mask: Masks, generators: tuple[int, ...]) -> Masks:
    """The elements of <H, z>, H given by its elements: whole cosets xH are found at a time."""
    H = np.flatnonzero(mask)
    joined = mask.copy()
    cosets = [0]
    for x in cosets:  # grows while it is read
        for g in generators:
            y = int(products[g, x])
            if not joined[y]:
                joined[products[y, H]] = True
                cosets.append(y)
    return joined
