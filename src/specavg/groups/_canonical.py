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
# Numbers of candidates that tie in one row: about 5 ms, on average, a row of 24 with four values. M24 with sign changes
# took 1.7 s without a bound.
_TIES = 80_000
_TIES_OF_ROTATIONS = 200_000  # the same where one level is all there is: ties do not multiply


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
    return least_image(X, [level], signed=False, ties=_TIES_OF_ROTATIONS)


def least_image(X: Array, levels: Sequence[Level], *, signed: bool, ties: int = _TIES) -> Array:
    """One image of each row: the least at the first level, then at the second, and so on.

    Ties are followed, not broken: every element that attains the least value is kept to the next level,
    images that coincide are merged, and of those left at the end the lexicographically least is taken. So
    equal coordinates are exact too. Where there are several levels and a row has equal coordinates, its rare values
    count as less than its frequent ones, so that few elements tie.

    Rows with very many ties are the exception: the search ends where more than `ties` numbers of candidates tie in a
    row. It is still taken to a point of its orbit, but perhaps not to the same one. The bound is one of each row, not
    of all together: the image of a row does not depend on the rows beside it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    levels : sequence of Level
        The transversals of a stabiliser chain.
    signed : bool
        Whether some element changes a sign.
    ties : int
        The bound.
    """
    points = X + 0.0
    if not levels or len(points) == 0:
        return points
    if len(levels) == 1:
        return _in_pieces(points, levels, ties)
    sizes = np.sort(np.abs(points) if signed else points, axis=1)
    tied = (sizes[:, 1:] == sizes[:, :-1]).any(axis=1)  # the same for all of an orbit
    points[~tied] = _in_pieces(points[~tied], levels, ties)
    codes, values = _rare_first(points[tied], signed=signed)
    least = _in_pieces(codes, levels, ties)
    points[tied] = np.sign(least) * np.take_along_axis(values, np.abs(least).astype(np.intp), axis=1) + 0.0
    return points


def _rare_first(X: Array, *, signed: bool) -> tuple[Array, Array]:
    """Integers in place of the numbers of each row, the least for the rarest, and the number that each stands for.

    Elements of the group permute these integers and change their signs as they do the numbers. If signs change, x and
    −x are counted together, and the integers of ±x are ±c; 0 stands for 0 then.
    """  # (n, d) -> (n, d), (n, d + 1): the number is sign(c) values[|c|]
    n, d = X.shape
    sizes = np.abs(X) if signed else X
    count = np.stack([(sizes == sizes[:, [j]]).sum(axis=1) for j in range(d)], axis=1)  # (n, d)
    order = np.lexsort((sizes, count), axis=-1)  # the last key counts most
    ranked = np.take_along_axis(sizes, order, axis=1)
    ranks = np.zeros((n, d), dtype=np.intp)
    ranks[:, 1:] = np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1)
    # The least of ±c is −c, so the rarest has the greatest c where signs change, and the least c where they do not.
    ranks = d - ranks if signed else ranks + 1
    values = np.zeros((n, d + 1))
    np.put_along_axis(values, ranks, ranked, axis=1)
    codes = np.empty((n, d))
    np.put_along_axis(codes, order, ranks.astype(float), axis=1)
    return (np.sign(X) * codes if signed else codes), values


def _in_pieces(points: Array, levels: Sequence[Level], ties: int) -> Array:
    rows = max(1, _BUDGET // (2 * points.shape[1] + max(len(level.values) for level in levels)))
    pieces = [points[i : i + rows] for i in range(0, len(points), rows)]
    least = [_least(piece, np.arange(len(piece)), len(piece), levels, ties) for piece in pieces]
    return np.vstack([points[:0], *least])


def _least(candidates: Array, owner: Indices, n: int, levels: Sequence[Level], ties: int) -> Array:
    """The least image of each of `n` rows, from the candidates that are left of each when `levels` begin."""
    d = candidates.shape[1]
    for i, level in enumerate(levels):
        signed = np.hstack([candidates, 0.0 - candidates])  # not -candidates: no -0.0
        values = signed[:, level.values]  # (c, k)
        best = np.full(n, np.inf)
        np.minimum.at(best, owner, values.min(axis=1))
        chosen, element = np.nonzero(values == best[owner, None])
        if len(chosen) * d > ties:
            if n > 1:
                half = n // 2
                low = owner < half
                return np.vstack(
                    [
                        _least(candidates[low], owner[low], half, levels[i:], ties),
                        _least(candidates[~low], owner[~low] - half, n - half, levels[i:], ties),
                    ]
                )
            if i + 1 < len(levels):  # what is dropped may have been the least at the next level
                return candidates[:1]
            keep = max(1, ties // d)
            chosen, element = chosen[:keep], element[:keep]
        candidates = np.take_along_axis(signed[chosen], level.images(element), axis=1)
        candidates, owner = _merged(candidates, owner[chosen], n)
    first = np.unique(owner, return_index=True)[1]
    return candidates[first]


def _merged(candidates: Array, owner: Indices, n: int) -> tuple[Array, Indices]:
    """Each different candidate of an owner once; where an owner has several, in lexicographic order."""
    several = np.bincount(owner, minlength=n)[owner] > 1
    if not several.any():
        return candidates, owner
    once = np.flatnonzero(several)
    once = once[np.unique(_texts(np.column_stack([owner[once].astype(float), candidates[once]])), return_index=True)[1]]
    kept = np.concatenate([np.flatnonzero(~several), once])
    return candidates[kept], owner[kept]


def _texts(rows: Array) -> NDArray[np.bytes_]:
    """The rows as bytes that sort as the rows do: three times as fast as `np.unique` of rows of numbers."""  # no -0.0
    bits = np.ascontiguousarray(rows).view(np.uint64)
    top = np.uint64(1 << 63)
    ordered = np.where(bits & top, ~bits, bits | top)  # IEEE numbers of either sign compare as integers then
    return np.ascontiguousarray(ordered.astype(">u8")).view(f"S{8 * rows.shape[1]}")[:, 0]
