"""What is left of a space when a group is divided out: kernels, nodes of quadrature rules, and elements to list.

A flow has infinitely many elements, which no sum lists. Where a flow turns the points of a sphere about an axis, the
average of the kernel exp(κ⟨x, y⟩) is one of Bessel's functions. Where a flow turns rotations from one side, a density
is a function of one direction, and the kernel may be that of the direction. Both kernels are exact, positive and of
integral one. A quadrature rule has one node on each orbit of the flows. What remains of the group is finite: one
element of each connected component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components
from specavg._config import require_memory
from specavg._random import OWN_SEED
from specavg.estimators._quadrature import HIGHEST_DIMENSION, Quadrature
from specavg.functions._one_direction import Direction
from specavg.groups import Group
from specavg.groups.recognition._continuous_part import shift_directions
from specavg.invariants import InvariantBasis
from specavg.invariants._acting_group import group_order
from specavg.invariants.solvers._functions_of_a_direction import reduction_to_directions
from specavg.isometries import Isometry
from specavg.isometries._affine import exact_inverse
from specavg.isometries.fields import RotationField, ShiftField
from specavg.spaces import Space, Sphere, Torus
from specavg.spaces._lattice_reduction import reduced
from specavg.spaces._sphere import degree_up_to, gauss_gegenbauer
from specavg.spaces._von_mises import OnSphere, VonMises

_SMALL = 1e-8  # arguments u below which two terms of a series in u are exact


@final
class AroundAnAxis(VonMises):
    """On the unit sphere of R^d, averaged over all rotations of a subspace V of dimension k ≥ 2.

    A point is embedded as its part across V and the length r of its part in V. The mean of exp(u(cos t − 1)), u = κrr',
    over the angles t between directions of V is the `share` of a kernel that is left by the average.

    Parameters
    ----------
    turned : ndarray of shape (d, k)
        An orthonormal basis of V.
    still : ndarray of shape (d, d - k)
        The same of what is at right angles.
    """

    def __init__(self, turned: Array, still: Array) -> None:
        self._turned, self._still = turned, still
        self._sphere = OnSphere(len(turned))
        self._order = turned.shape[1] / 2 - 1

    @property
    def square(self) -> float:
        return 1.0

    @property
    def is_averaged(self) -> bool:
        return True

    def embedded(self, X: Array) -> Array:
        x = self._sphere.embedded(X)
        return np.concatenate([x @ self._still, np.linalg.norm(x @ self._turned, axis=1, keepdims=True)], axis=1)

    def share(self, u: Array) -> Array:
        from scipy.special import gamma, i0e, ive

        if self._order == 0:
            return i0e(u)
        safe = np.maximum(u, _SMALL)
        return np.where(
            u < _SMALL, 1.0 - u, gamma(self._order + 1) * (2.0 / safe) ** self._order * ive(self._order, safe)
        )

    def share_slope(self, u: Array) -> Array:
        from scipy.special import i0e, i1e, ive

        if self._order == 0:
            return i1e(u) / i0e(u) - 1.0
        safe = np.maximum(u, _SMALL)
        return ive(self._order + 1, safe) / ive(self._order, safe) - 1.0

    def pulled(self, X: Array, V: Array) -> Array:
        x = self._sphere.embedded(X)
        part = x @ self._turned
        length = np.linalg.norm(part, axis=1, keepdims=True)
        outwards = part / np.where(length > 0, length, 1.0)  # the slope at the axis is zero
        return self._sphere.pulled(x, V[:, :-1] @ self._still.T + (V[:, -1:] * outwards) @ self._turned.T)

    def log_mass(self, kappa: Array) -> Array:
        return self._sphere.log_mass(kappa)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        x = self._sphere.sample(centres, kappa, rng)
        side = rng.normal(size=(len(x), self._turned.shape[1]))
        side *= np.linalg.norm(x @ self._turned, axis=1, keepdims=True) / np.linalg.norm(side, axis=1, keepdims=True)
        return x @ self._still @ self._still.T + side @ self._turned.T


@final
class OfADirection(VonMises):
    """On rotations that are turned from one side: the kernel of the sphere at the direction that this leaves alone."""

    def __init__(self, direction: Direction, family: VonMises) -> None:
        self._direction, self._family = direction, family

    @property
    def square(self) -> float:
        return self._family.square

    @property
    def is_averaged(self) -> bool:
        return self._family.is_averaged

    def embedded(self, X: Array) -> Array:
        return self._family.embedded(self._direction.of(X))

    def share(self, u: Array) -> Array:
        return self._family.share(u)

    def share_slope(self, u: Array) -> Array:
        return self._family.share_slope(u)

    def pulled(self, X: Array, V: Array) -> Array:
        slopes = self._family.pulled(self._direction.of(X), V)
        return self._direction.lifted(X, slopes[:, :, None])[:, :, 0]

    def log_mass(self, kappa: Array) -> Array:
        return self._family.log_mass(kappa)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        directions = self._family.sample(self._direction.of(centres), kappa, rng)
        return self._direction.rotations(directions, 2 * np.pi * rng.random(len(directions)))


_SAME = 1e-9  # distance, in sizes of the space, of points and unit vectors that are the same: far above rounding
_ELEMENTS = 500  # elements that are tried; one takes some 0.1 ms, and 30 ms where it moves all of 10⁵ nodes to nodes
_SOME = 40  # nodes that are moved first: most elements move nodes to places between nodes


def orbit_nodes(basis: InvariantBasis, points: Array, weights: Array) -> tuple[Array, Array]:
    """Nodes of different orbits, and summed weights: by canonical points where there are any, else by a search."""
    if not basis.has_canonical:
        return one_of_each_orbit(basis.space, basis.group, points, weights)
    points = basis.canonical(points)
    size = np.abs(points).max(axis=0)  # of each column: the space may be of any size
    rounded = np.round(points / np.where(size > 0, size, 1.0), 12)
    _, first, orbit = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    return points[first], np.bincount(orbit.ravel(), weights).astype(np.float64)


def one_of_each_orbit(space: Space, group: Group, points: Array, weights: Array) -> tuple[Array, Array]:
    """Nodes of different orbits as far as that is found, and the summed weights of those that share an orbit.

    Every merge is right: a node and its image under an element have the same value. A product rule is kept by a part of
    the group only; what is not merged costs time and nothing else.

    Parameters
    ----------
    space : Space
    group : Group
    points : ndarray of shape (N, n_features)
    weights : ndarray of shape (N,)
    """
    places = _Places(space, points)
    some = np.unique(np.linspace(0, len(points) - 1, _SOME).astype(np.intp))
    label = np.arange(len(points))
    for g in _elements(group):
        where = places.found(space.act(g, points[some]))
        known = where >= 0
        if known.mean() < 0.5 or (label[some[known]] == label[where[known]]).all():
            continue
        where = places.found(space.act(g, points))
        known = np.flatnonzero(where >= 0)
        label = components(len(points), label[known], label[where[known]])[label]
    _, first, orbit = np.unique(label, return_index=True, return_inverse=True)
    return points[first], np.bincount(orbit.ravel(), weights).astype(np.float64)


def _elements(group: Group) -> Iterator[Isometry]:
    yield from group.generators
    if group_order(group) <= _ELEMENTS:
        yield from group.elements()


class _Places:
    """Where points stand in a list, by a projection to a line and a comparison."""

    def __init__(self, space: Space, points: Array) -> None:
        periods = np.asarray(space.column_periods, dtype=np.float64)
        self._periodic = np.isfinite(periods) & (periods > 0)
        self._periods = np.where(self._periodic, periods, 1.0)
        self._table = self._on_circles(points)
        self._line = np.random.default_rng(OWN_SEED).normal(size=self._table.shape[1])
        shadow = self._table @ self._line
        self._order = np.argsort(shadow, kind="stable")
        self._shadow = shadow[self._order]

    def _on_circles(self, X: Array) -> Array:
        """Coordinates that do not wrap, of size one."""
        angle = 2 * np.pi * X[:, self._periodic] / self._periods[self._periodic]
        return np.concatenate([np.cos(angle), np.sin(angle), X[:, ~self._periodic]], axis=1)

    def found(self, X: Array) -> NDArray[np.intp]:
        """The row of the list that holds each point; −1 where none does."""
        table = self._on_circles(X)
        shadow = table @ self._line
        found = np.full(len(X), -1)
        after = np.searchsorted(self._shadow, shadow - _SAME * len(self._line))
        for step in (0, 1):  # two different nodes with one shadow would only be missed
            place = self._order[np.minimum(after + step, len(self._order) - 1)]
            same = np.abs(self._table[place] - table).max(axis=1) < _SAME
            found = np.where((found < 0) & same, place, found)
        return found


MOST_ELEMENTS = 2_000
"""Elements of a group that is listed: the images of 100 points under more would be 200,000."""

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
    if isinstance(space, Torus):
        return OrbitSpace(None, group, _rule_across_shifts(space, group))
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


def _rule_across_shifts(space: Torus, group: Group) -> Quadrature | None:
    """A rule with one node on each orbit of the shifts; None where the rule of the space is the best known.

    Invariant functions are waves of frequencies k with k·v = 0 for each direction v. The last q rows of R, a basis of
    all frequencies, are a short basis of these: the waves are those of a torus of q dimensions, whose point u is the
    orbit of R⁻¹(0, u).
    """
    fields = [space.check_field(field) for field in group.fields]
    exact = [field for field in fields if isinstance(field, ShiftField) and field.is_exact]
    if len(exact) < len(fields):
        return None
    R, q = _frequencies_across([shift_directions(field) for field in exact], space.dim)
    if not 0 < q <= HIGHEST_DIMENSION:
        return None
    lengths = np.linalg.cholesky(np.linalg.inv(space.cell.metric))  # |kL| of a frequency k, in units of 2π
    R[-q:] = reduced(R[-q:] @ lengths).change @ R[-q:]
    waves = R[-q:] @ lengths
    reach = np.sqrt(np.diag(np.linalg.inv(waves @ waves.T))) / (2 * np.pi)
    lifted = exact_inverse(R)[:, -q:].T.astype(np.float64)

    def rule(max_eigenvalue: float) -> tuple[Array, Array]:
        counts = 2 * np.floor(reach * max_eigenvalue**0.5 * (1 + 1e-9)) + 1
        total = float(counts.prod())
        require_memory(8.0 * 3 * total * space.dim, f"a grid of {total:.3g} nodes across shifts", "Lower the cutoff.")
        axes = np.meshgrid(*[np.arange(n) / n for n in counts], indexing="ij")
        u = np.stack([axis.ravel() for axis in axes], axis=1)
        return space.cell.wrapped(u @ lifted), np.full(len(u), 1.0 / len(u))

    return rule


def _frequencies_across(directions: Sequence[Sequence[int]], d: int) -> tuple[NDArray[np.int64], int]:
    """A basis of all integer vectors, as rows, and how many of the last ones span those across all `directions`.

    Euclid's algorithm on the rows: of those left, one keeps a product with a direction that is not zero.
    """
    rows = [[int(i == j) for j in range(d)] for i in range(d)]
    first = 0
    for direction in directions:
        while True:
            left = [(abs(v), i, v) for i in range(first, d) if (v := sum(map(mul, rows[i], direction)))]
            if len(left) < 2:
                break
            _, pivot, step = min(left)
            for _, i, v in left:
                if i != pivot:
                    rows[i] = [a - v // step * b for a, b in zip(rows[i], rows[pivot], strict=True)]
        if left:
            rows[first], rows[left[0][1]] = rows[left[0][1]], rows[first]
            first += 1
    return np.array(rows, dtype=np.int64), d - first


def _without_fields(group: Group) -> Group:
    return Group(group.generators, size=group.size)
