"""Canonical points: one point of each orbit, the same to the last bit from wherever in the orbit one starts.

Permutations and sign changes are exact on floating-point numbers, so a function evaluated at a canonical
point is invariant without any rounding. Zeros are made positive first: −0.0 and 0.0 are equal but not the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

Indices = NDArray[np.intp]

_BUDGET = 4_000_000  # numbers held at once; more rows are taken in pieces
# Numbers of candidates that tie in one row: about 0.1 s a row. M24 with sign changes took 1.7 s a row without a bound.
_TIES = 200_000


@final
@dataclass(frozen=True)
class Level:
    """Some elements of a group, of which those with the least value at one coordinate are kept.

    Coordinates are numbered 0..d−1, and d..2d−1 are the same with the other sign.
    """

    values: Indices  # (k,): the coordinate that element e brings to the place compared
    images: Callable[[Indices], Indices]  # (c,) elements -> (c, d): (ex)[i] = (x, -x)[images[i]]


def parity(images: Indices) -> NDArray[np.bool_]:
    """Whether each row, a permutation, is odd."""  # (n, d) -> (n,)
    images = images.copy()
    rows = np.arange(len(images))
    where = np.argsort(images, axis=1)  # the inverse permutations
    odd = np.zeros(len(images), dtype=bool)
    for i in range(images.shape[1]):  # swap i into its place, in all rows at once
        held, at = images[:, i].copy(), where[:, i].copy()
        odd ^= held != i
        images[rows, at] = held
        where[rows, held] = at
    return odd


def alternating_point(X: Array) -> Array:
    """Sorted, with the last two exchanged where sorting took an odd permutation and there is no tie."""
    points = X + 0.0
    if points.shape[1] < 2:
        return points
    order = np.argsort(points, axis=1, kind="stable")
    Y = np.take_along_axis(points, order, axis=1)
    odd = parity(order) & (Y[:, 1:] != Y[:, :-1]).all(axis=1)  # a tie makes either parity available
    Y[odd, -2], Y[odd, -1] = Y[odd, -1], Y[odd, -2]
    return Y


def sorted_copies(X: Array) -> Array:
    """The copies of each row in lexicographic order, side by side."""  # (n, m, c) -> (n, m c)
    n, m, c = X.shape
    if n == 0 or m == 0 or c == 0:
        return X.reshape(n, m * c)
    order = np.lexsort(np.moveaxis(X[:, :, ::-1], 2, 0), axis=-1)  # (n, m); the last key counts most
    return np.take_along_axis(X, order[:, :, None], axis=1).reshape(n, m * c)


def least_rotation(X: Array, *, reversals: bool) -> Array:
    """The lexicographically least rotation (or rotation and reversal) of each row."""
    d = X.shape[1]
    starts = np.tile(np.arange(d), 2 if reversals else 1)
    directions = np.repeat([1, -1], d)
    ring = np.arange(d)
    level = Level(starts, lambda e: (starts[e, None] + directions[e, None] * ring) % d)
    return least_image(X, [level])


def least_image(X: Array, levels: Sequence[Level]) -> Array:
    """The image of each row that is least at the first level, then at the second, and so on.

    Ties are followed, not broken: every element that attains the least value is kept to the next level,
    images that coincide are merged, and of those left at the end the lexicographically least is taken. So
    equal coordinates are exact too. Rows with very many ties are the exception: a row keeps at most `_TIES` numbers of
    candidates, the first ones. It is still taken to a point of its orbit, but perhaps not to the same one.
    """
    points = X + 0.0
    if not levels or len(points) == 0:
        return points
    rows = max(1, _BUDGET // (2 * points.shape[1] + max(len(level.values) for level in levels)))
    return np.vstack([_least(points[i : i + rows], levels) for i in range(0, len(points), rows)])


def _least(X: Array, levels: Sequence[Level]) -> Array:
    candidates, owner = X, np.arange(len(X))
    for level in levels:
        signed = np.hstack([candidates, 0.0 - candidates])  # not -candidates: no -0.0
        values = signed[:, level.values]  # (c, k)
        best = np.full(len(X), np.inf)
        np.minimum.at(best, owner, values.min(axis=1))
        chosen, element = np.nonzero(values == best[owner, None])
        if len(chosen) * X.shape[1] > _TIES:
            if len(X) > 1:
                half = len(X) // 2
                return np.vstack([_least(X[:half], levels), _least(X[half:], levels)])
            keep = max(1, _TIES // X.shape[1])
            chosen, element = chosen[:keep], element[:keep]
        candidates = np.take_along_axis(signed[chosen], level.images(element), axis=1)
        candidates, owner = _merged(candidates, owner[chosen], len(X))
    first = np.unique(owner, return_index=True)[1]
    return candidates[first]


def _merged(candidates: Array, owner: Indices, n: int) -> tuple[Array, Indices]:
    """Each different candidate of an owner once; where an owner has several, in lexicographic order."""
    several = np.bincount(owner, minlength=n)[owner] > 1
    if not several.any():
        return candidates, owner
    tied = np.unique(np.column_stack([owner[several].astype(float), candidates[several]]), axis=0)
    return np.vstack([candidates[~several], tied[:, 1:]]), np.concatenate([owner[~several], tied[:, 0].astype(np.intp)])
