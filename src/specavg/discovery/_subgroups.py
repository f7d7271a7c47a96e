"""All subgroups of a small group, class by class, and the functions that each of them leaves alone.

Every subgroup other than the trivial one is <H, z>: a smaller subgroup H, and an element z of prime-power order.
Conjugation carries <H, z> to <H', z'>, so one H of each class, with every z, finds one subgroup of every class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.discovery._evidence import Subspace
from specavg.discovery._finite_action import FiniteAction
from specavg.discovery._subgroup_names import point_group_name
from specavg.groups import Group
from specavg.spaces import Eigenspace, Space

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


MOST_ELEMENTS = 2_000  # the table of products then has 4 million entries, and takes a few seconds
MOST_SUBGROUPS = 5_000  # the table of inclusions then has 25 million entries


@lru_cache(maxsize=16)
def lattice_is_small(space: Space, group: Group) -> bool:
    """Whether all subgroups can be compared."""
    if group.finite_order > MOST_ELEMENTS:
        return False
    try:
        lattice(space, group)
    except TooManySubgroups:
        return False
    return True


@lru_cache(maxsize=4)
def lattice(space: Space, group: Group) -> Lattice:
    """All subgroups of `group` as it acts on `space`: computed once, for any data."""
    if group.finite_order > MOST_ELEMENTS:
        raise ValueError(
            f"{group!r} has {group.order:.6g} elements, more than {MOST_ELEMENTS}: its subgroups are too many to "
            "compare them all. Use method='auto', which builds a symmetry from single elements"
        )
    action = FiniteAction.of(space, group)
    return Lattice(action, tuple(subgroup_classes(action.products, MOST_SUBGROUPS)))


@final
@dataclass(frozen=True, eq=False)
class Lattice:
    """All subgroups of a finite group, smallest first, conjugates side by side.

    Attributes
    ----------
    action : FiniteAction
    classes : tuple of SubgroupClass

    Examples
    --------
    >>> import specavg as sa
    >>> found = lattice(sa.Sphere(3), sa.groups.point_group("Oh"))
    >>> len(found.classes), len(found.orders), found.orders[-3:]
    (33, 98, array([24, 24, 48]))
    """

    action: FiniteAction
    classes: tuple[SubgroupClass, ...]

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """The elements of each subgroup."""  # (subgroups, N)
        return np.concatenate([c.members for c in self.classes])

    @cached_property
    def orders(self) -> NDArray[np.intp]:
        """The order of each subgroup."""
        return self.members.sum(axis=1)

    @cached_property
    def class_of(self) -> NDArray[np.intp]:
        """The class of each subgroup."""
        return np.repeat(np.arange(len(self.classes)), [len(c.members) for c in self.classes])

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """``inside[i, j]``: subgroup i lies in subgroup j."""
        members = self.members.astype(np.float32)  # counts up to 2,000 are exact, and products are fast
        return members @ members.T >= self.orders[:, None] - 0.5

    def group(self, i: int) -> Group:
        """One of the subgroups, with few generators."""
        whole = self.action.group
        if self.orders[i] == len(self.action.elements):
            return whole
        c, name = self.classes[self.class_of[i]], self.names[self.class_of[i]]
        g = c.conjugators[i - int(np.searchsorted(self.class_of, self.class_of[i]))]
        products, back = self.action.products, self.action.inverses[g]
        generators = [self.action.elements[products[products[g, h], back]] for h in c.generators]
        return Group(generators, name=name, size=whole.size)

    @cached_property
    def names(self) -> list[str | None]:
        """The name of the groups of each class; None where they are no point groups."""
        elements = np.array(self.action.elements, dtype=object)
        return [point_group_name(self.action.space, elements[c.members[0]].tolist()) for c in self.classes]

    def fixed(self, eigenspaces: Sequence[Eigenspace]) -> list[Subspace]:
        """The combinations of functions that each subgroup leaves alone; the first eigenspace is level 1."""
        blocks = [list(self._fixed(V)) for V in eigenspaces]  # [eigenspace][subgroup]
        return [Subspace.of([block[i] for block in blocks]) for i in range(len(self.orders))]

    def _fixed(self, eigenspace: Eigenspace) -> Iterator[Array]:
        """A basis of the fixed vectors of each subgroup in one eigenspace."""
        D = self.action.matrices(eigenspace)
        for c in self.classes:
            mean = D[c.members[0]].mean(axis=0)  # the projection on the fixed vectors
            values, vectors = np.linalg.eigh((mean + mean.T) / 2)
            Q = vectors[:, values > 0.5]  # its eigenvalues are 0 and 1
            for g in c.conjugators:
                yield D[g].T @ Q  # if f is fixed by H, then f∘g⁻¹ is fixed by gHg⁻¹
