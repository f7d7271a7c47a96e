"""The subgroups of a small group, and the functions that each of them leaves alone."""

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
from specavg.discovery._subgroups import SubgroupClass, TooManySubgroups, subgroup_classes
from specavg.groups import Group
from specavg.spaces import Eigenspace, Space

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
        """What the groups of each class are called, if they are point groups."""
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
