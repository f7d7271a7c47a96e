"""Directions of a lattice that no isometry mixes: each may be measured in units of its own.

A lattice is an orthogonal sum of lattices that are no such sums, in one way (Eichler). Its isometries permute these:
those of different length stay where they are. The Laplacian of the given metric is then one of several that every
isometry commutes with. A crystal with long cells along one axis need not be smoother along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from specavg._arrays import Array, components

_ORTHOGONAL = 1e-9  # cosine of an angle, and relative difference of lengths: cells are published with ten digits
_MOST_DIMENSIONS = 3  # up to here the shortest independent vectors of a lattice are a basis of it
_STEPS = 2  # largest multiple of a vector of the reduced basis that a shortest vector has in three dimensions


@final
@dataclass(frozen=True, eq=False)
class UnlikeDirection:
    """A space of vectors that every isometry of a lattice maps to itself.

    Attributes
    ----------
    projection : ndarray of shape (d, d)
        The orthogonal projection to it.
    first : float
        The smallest eigenvalue of the Laplacian among functions that vary in it alone.
    """

    projection: Array
    first: float


def unlike_directions(vectors: Array) -> list[UnlikeDirection]:
    """The directions of the lattice of the rows of a reduced basis, the smallest eigenvalue first.

    None where no part is orthogonal to the others or all are alike, and in more than three dimensions.

    Examples
    --------
    >>> hexagonal = np.array([[1, 0, 0], [-0.5, 0.75**0.5, 0], [0, 0, 1.6]])
    >>> [(round(float(np.trace(part.projection))), round(part.first, 1)) for part in unlike_directions(hexagonal)]
    [(1, 15.4), (2, 52.6)]
    """
    if len(vectors) > _MOST_DIMENSIONS:
        return []
    shortest = _shortest(vectors)
    kinds: list[list[int]] = []
    for part in _orthogonal_parts(shortest):
        # Parts of two dimensions would need a third and a fourth to have a twin.
        twins = [kind for kind in kinds if len(part) == 1 and _same_length(shortest[kind[0]], shortest[part[0]])]
        if twins and len(_orthogonal_parts(shortest[twins[0]])) == len(twins[0]):
            twins[0].extend(part)
        else:
            kinds.append(part)
    found = [UnlikeDirection(_projection(shortest[kind]), _first(shortest[kind])) for kind in kinds]
    return sorted(found, key=lambda direction: direction.first) if len(found) > 1 else []


def in_other_units(directions: Sequence[UnlikeDirection], weights: Sequence[float]) -> Array:
    """The map of vectors after which the first eigenvalue of each direction is its weight."""  # (d, d)
    stretched = [np.sqrt(d.first / weight) * d.projection for d, weight in zip(directions, weights, strict=True)]
    return np.sum(stretched, axis=0)


def _same_length(a: Array, b: Array) -> bool:
    return bool(abs(a @ a - b @ b) <= _ORTHOGONAL * (a @ a))


def _shortest(vectors: Array) -> Array:
    """Independent vectors of the lattice, each the shortest that is independent of those before."""
    # (m, d) -> (m, d)
    d = len(vectors)
    steps = np.array(list(product(range(-_STEPS, _STEPS + 1), repeat=d)))
    steps = steps[steps.any(axis=1)]
    candidates = steps @ vectors
    found: list[Array] = []
    for v in candidates[np.argsort((candidates**2).sum(axis=1), kind="stable")]:
        beyond = v - _projection(np.array(found)) @ v if found else v
        if beyond @ beyond > _ORTHOGONAL * (v @ v):
            found.append(v)
        if len(found) == d:
            break
    return np.array(found)


def _orthogonal_parts(vectors: Array) -> list[list[int]]:
    """The finest sets of vectors that are orthogonal to one another."""
    lengths = np.sqrt((vectors**2).sum(axis=1))
    linked = np.abs(vectors @ vectors.T) > _ORTHOGONAL * np.outer(lengths, lengths)
    label = components(len(vectors), *np.nonzero(linked))
    return [np.flatnonzero(label == part).tolist() for part in range(label.max() + 1)]


def _projection(vectors: Array) -> Array:
    """The orthogonal projection to the space that independent rows span."""  # (m, d) -> (d, d)
    return np.linalg.pinv(vectors) @ vectors


def _first(vectors: Array) -> float:
    """The first eigenvalue of the torus of a lattice: 4π² times the shortest square in the dual lattice."""
    shortest = _shortest(np.asarray(np.linalg.pinv(vectors).T, dtype=np.float64))[0]
    return float(4 * np.pi**2 * (shortest @ shortest))
