"""Nodes of a quadrature rule that the group moves to each other: an invariant integrand needs one of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.groups import Group
from specavg.invariants import InvariantBasis
from specavg.invariants._acting_group import group_order
from specavg.isometries import Isometry
from specavg.spaces import Space

_SAME = 1e-9  # distance, in sizes of the space, of a node and an image that are the same: far above rounding
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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

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
        pairs = coo_array((np.ones(len(known)), (label[known], label[where[known]])), shape=(len(points),) * 2)
        label = connected_components(pairs, directed=False)[1][label]
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
