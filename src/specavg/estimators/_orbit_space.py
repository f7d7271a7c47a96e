"""What is left of a space when a group is divided out: kernels, elements to list, and quadrature rules.

The flows of a group are averaged in closed form (`_orbit_kernels`), and a rule has one node on each of their orbits.
What remains is finite: one element of each connected component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.estimators._node_orbits import one_of_each_orbit
from specavg.estimators._orbit_kernels import AroundAnAxis, OfADirection
from specavg.estimators._quadrature import Quadrature
from specavg.functions._one_direction import Direction
from specavg.groups import Group
from specavg.invariants._acting_group import group_order
from specavg.invariants.solvers._functions_of_a_direction import reduction_to_directions
from specavg.isometries import Isometry
from specavg.isometries.fields import RotationField
from specavg.spaces import Space, Sphere
from specavg.spaces._sphere import degree_up_to, gauss_gegenbauer
from specavg.spaces._von_mises import VonMises

MOST_ELEMENTS = 2_000
"""Elements of a group that is listed: the images of 100 points under more would be 200,000."""

_SAME = 1e-9  # distance of unit vectors that are the same: far above rounding
_MOST_TURNED = 6  # dimensions of a subspace whose Lie algebra is compared with all rotations: 15 fields


@final
@dataclass(frozen=True, eq=False)
class OrbitSpace:
    """A space up to the flows of a group.

    Attributes
    ----------
    family : VonMises or None
        Kernels averaged over the flows; None where there are none in closed form.
    finite : Group
        One element of each connected component, or several, equally many of each.
    rule : callable or None
        λ to nodes and weights for invariant functions: exact for products of two of eigenvalues up to λ. None where
        the rule of the space is the best known.
    """

    family: VonMises | None
    finite: Group
    rule: Quadrature | None = None

    def elements(self, space: Space) -> list[Isometry] | None:
        """Elements that move orbits of the flows apart from each other; None where they are too many to list."""
        if self.family is None or group_order(self.finite) > MOST_ELEMENTS:
            return None
        family, probe = self.family, space.sample(2, random_state=0)
        found: dict[bytes, Isometry] = {}
        for g in self.finite.elements():
            image = np.round(family.embedded(space.act(g, probe)), 8) + 0.0
            found.setdefault(image.tobytes(), g)
        return list(found.values())


@lru_cache(maxsize=16)
def orbit_space(space: Space, group: Group) -> OrbitSpace:
    """The space up to the flows of the group; no kernels where their average has no closed form."""
    if not group.fields:
        return OrbitSpace(space.von_mises, group)
    if isinstance(space, Sphere):
        return _turned_sphere(space.n_features, group) or OrbitSpace(None, group)
    reduction = reduction_to_directions(space, group)
    if reduction is None:
        return OrbitSpace(None, group)
    direction, sphere = Direction(reduction.axis, transposed=reduction.transposed), Sphere(3)
    below = orbit_space(sphere, reduction.group)
    if below.family is None:
        return OrbitSpace(None, group)
    inner = below.rule or sphere.quadrature

    def rule(max_eigenvalue: float) -> tuple[Array, Array]:
        nodes, weights = inner(max_eigenvalue)
        nodes, weights = one_of_each_orbit(sphere, reduction.group, nodes, weights)
        return direction.rotations(nodes, np.zeros(len(nodes))), weights

    return OrbitSpace(OfADirection(direction, below.family), _without_fields(group), rule)


def _turned_sphere(d: int, group: Group) -> OrbitSpace | None:
    """Where the flows are all rotations of one subspace, which generators map to itself."""
    matrices = [field.matrix for field in group.fields if isinstance(field, RotationField)]
    if len(matrices) < len(group.fields):
        return None
    squares = sum(A.T @ A / np.square(A).sum() for A in matrices)
    values, vectors = np.linalg.eigh(squares)
    count = int(np.sum(values < _SAME))
    still, turned = vectors[:, :count], vectors[:, count:]
    k = turned.shape[1]
    if k > _MOST_TURNED or k == d or group.algebra.dim != k * (k - 1) // 2:
        return None
    for g in group.generators:
        if np.abs(turned.T @ Sphere(d).act(g, still.T).T).max() > _SAME:
            return None

    def rule(max_eigenvalue: float) -> tuple[Array, Array]:
        t, weights = gauss_gegenbauer(degree_up_to(max_eigenvalue, d) + 1, (d - 2) / 2)
        radius = np.sqrt((1 - t) * (1 + t))
        return np.outer(t, still[:, 0]) + np.outer(radius, turned[:, 0]), weights

    family = AroundAnAxis(turned, still)
    return OrbitSpace(family, _without_fields(group), rule if count == 1 else None)


def _without_fields(group: Group) -> Group:
    return Group(group.generators, size=group.size)
