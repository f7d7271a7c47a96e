"""A finite group that is listed: its elements, their products, and their matrices on functions of a space.

Elements are told apart by what they do to the finitely many functions of a faithful action, in integers. Only the
generators' matrices D(g) are computed by the space. Every further element is a word g@s in them, and
D(g@s) = D(s)D(g).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups import Group
from specavg.groups.recognition._actions import faithful_action
from specavg.isometries import Isometry
from specavg.spaces import Eigenspace, Space

Indices = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class FiniteAction:
    """The elements of a finite group, the identity first, with their multiplication table.

    Attributes
    ----------
    space : Space
    group : Group
    elements : tuple of Isometry
    parents, steps : ndarray of shape (N,)
        ``elements[i]`` is ``elements[parents[i]] @ group.generators[steps[i]]`` for i > 0.
    products : ndarray of shape (N, N)
        ``products[i, j]`` is the place of ``elements[i] @ elements[j]``.

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg.discovery._finite_action import FiniteAction
    >>> action = FiniteAction.of(sa.Sphere(3), sa.groups.point_group("Th"))
    >>> len(action.elements), int(action.products[7, action.inverses[7]])
    (24, 0)
    """

    space: Space
    group: Group
    elements: tuple[Isometry, ...]
    parents: Indices
    steps: Indices
    products: Indices

    @classmethod
    def of(cls, space: Space, group: Group) -> FiniteAction:
        """List the group, breadth first; it must be small enough for a table of all products."""
        elements, parents, steps = [group.identity], [0], [0]
        right: list[list[int]] = []  # right[i][s]: the place of elements[i] @ generators[s]
        if not group.generators:
            nowhere = np.zeros(1, dtype=np.intp)
            return cls(space, group, tuple(elements), nowhere, nowhere, nowhere[None])
        action = faithful_action(group.generators)
        moves, images = [action.permutation(g) for g in group.generators], [np.arange(action.degree)]
        known = {images[0].tobytes(): 0}
        for i, image in enumerate(images):  # grows while it is read
            right.append([])
            for s, (move, generator) in enumerate(zip(moves, group.generators, strict=True)):
                moved = move[image]  # what elements[i] @ generator does to the functions
                right[i].append(known.setdefault(moved.tobytes(), len(images)))
                if right[i][s] == len(images):
                    images.append(moved)
                    elements.append(elements[i] @ generator)
                    parents.append(i)
                    steps.append(s)
        products = np.empty((len(elements), len(elements)), dtype=np.intp)
        products[:, 0] = np.arange(len(elements))
        after = np.array(right, dtype=np.intp)
        for j in range(1, len(elements)):  # h@(g@s) = (h@g)@s
            products[:, j] = after[products[:, parents[j]], steps[j]]
        return cls(space, group, tuple(elements), np.array(parents), np.array(steps), products)

    @cached_property
    def inverses(self) -> Indices:
        """The place of each element's inverse."""
        return np.argmax(self.products == 0, axis=1)

    def matrices(self, eigenspace: Eigenspace, places: Iterable[int] | None = None) -> Array:
        """D(g) of every element on one eigenspace, or of those at some places."""  # (N, m, m)
        D = [self.space.representation(g, eigenspace) for g in self.group.generators]
        if places is not None:
            return np.stack([self._word(int(i), D, eigenspace.dim) for i in places])
        matrices = np.empty((len(self.elements), eigenspace.dim, eigenspace.dim))
        matrices[0] = np.eye(eigenspace.dim)
        for i in range(1, len(self.elements)):
            matrices[i] = D[self.steps[i]] @ matrices[self.parents[i]]
        return matrices

    def _word(self, i: int, D: list[Array], dim: int) -> Array:
        matrix = np.eye(dim)
        while i:
            matrix = matrix @ D[self.steps[i]]
            i = int(self.parents[i])
        return matrix
