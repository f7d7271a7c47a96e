"""A finite group, listed by how it moves functions: its elements, their products, their matrices.

Only the generators' matrices D(g) are computed by the space. Every further element is a word g@s in them, and
D(g@s) = D(s)D(g). Two words are the same element if they move one random vector of coefficients to the same place,
so elements that are floating-point matrices need no comparison of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, takewhile
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups import Group
from specavg.isometries import Isometry
from specavg.spaces import Eigenspace, Space

Indices = NDArray[np.intp]
_SAME = 1e-7  # for vectors of length 1: rounding is below 1e-12, and different elements differ by about 1e-2
_MARKS = 3  # numbers that stand for a moved vector
_FUNCTIONS = 2_000  # functions among which a set is looked for that no element but the identity leaves alone


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
        """List the group; it must be small enough for a table of all products."""
        order = group.finite_order
        counts = accumulate(V.dim for V in space.eigenspaces())
        most = sum(1 for _ in takewhile(lambda count: count <= _FUNCTIONS, counts))
        for count in range(2, max(most, 2) + 1):
            found = cls._listed(space, group, list(islice(space.eigenspaces(), 1, count)))
            if len(found.elements) == order:
                return found
        raise ValueError(
            f"the first {_FUNCTIONS} functions of {space!r} do not tell the {order} elements of {group!r} apart: "
            "some of them move no point of this space. Give a group that acts faithfully"
        )

    @classmethod
    def _listed(cls, space: Space, group: Group, eigenspaces: Sequence[Eigenspace]) -> FiniteAction:
        """Breadth first, as far as these functions tell elements apart."""
        rng = np.random.default_rng(20260117)  # any vector in general position will do
        start = [rng.standard_normal(V.dim) for V in eigenspaces]
        probes = [rng.standard_normal((V.dim, _MARKS)) / V.dim for V in eigenspaces]
        D = [[space.representation(g, V) for V in eigenspaces] for g in group.generators]
        vectors, marks = [start], np.empty((group.finite_order, _MARKS))
        marks[0] = _mark(start, probes)
        elements, parents, steps = [group.identity], [0], [0]
        right: list[list[int]] = []  # right[i][s]: the place of elements[i] @ generators[s]
        while len(right) < len(elements):
            i = len(right)
            right.append([])
            for s, generator in enumerate(group.generators):
                vector = [matrix @ part for matrix, part in zip(D[s], vectors[i], strict=True)]
                mark = _mark(vector, probes)
                known = np.flatnonzero(np.abs(marks[: len(elements)] - mark).max(axis=1) < _SAME)
                right[i].append(int(known[0]) if len(known) else len(elements))
                if not len(known):
                    marks[len(elements)] = mark
                    vectors.append(vector)
                    elements.append(elements[i] @ generator)
                    parents.append(i)
                    steps.append(s)
        products = np.empty((len(elements), len(elements)), dtype=np.intp)
        products[:, 0] = np.arange(len(elements))
        after = np.array(right, dtype=np.intp).reshape(len(elements), -1)
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


def _mark(vector: Sequence[Array], probes: Sequence[Array]) -> Array:
    return np.sum([part @ probe for part, probe in zip(vector, probes, strict=True)], axis=0)
