"""Zonal functions, Σ φ(x)φ(y) over the functions φ of an eigenspace, and weighted sums of them, by addition theorems.

On spheres they are Gegenbauer polynomials of x·y, on rotations the characters of the angle between x and y. On cubic
tori there is a generating function: Σ_{|k|²=m} cos 2πk·u is the coefficient of z^m in the product over coordinates of
1 + Σ_j 2 cos(2πj u_i) z^{j²}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from specavg._arrays import Array

_PAIRS = 1 << 15  # pairs of points whose coefficients are held at once: chosen so that one coefficient fits in cache


def gegenbauer_sum(t: Array, d: int, weights: Mapping[int, float]) -> Array:
    """Σ_k w_k P_k(t), with the Gegenbauer polynomials P_k of the sphere in R^d, P_k(1) = 1; t = x·y.

    They follow from (k + d − 3) P_k = (2k + d − 4) t P_{k−1} − (k − 1) P_{k−2}.
    """
    return _piece_by_piece(lambda piece: _gegenbauer(piece, d, weights), t)


def _gegenbauer(t: Array, d: int, weights: Mapping[int, float]) -> Array:
    total = np.full_like(t, weights.get(0, 0.0))
    before, current, spare = np.ones_like(t), t.copy(), np.empty_like(t)
    for k in range(1, max(weights) + 1):
        if k in weights:
            total += np.multiply(current, weights[k], out=spare)
        n = k + 1
        # On the circle P are Chebyshev polynomials, for which the general coefficients are 0/0 at degree one.
        up, down = (2.0, 1.0) if d == 2 else ((2 * n + d - 4) / (n + d - 3), (n - 1) / (n + d - 3))
        np.multiply(t, current, out=spare)
        spare *= up
        before *= down
        spare -= before
        before, current, spare = current, spare, before
    return total


def character_sum(c: Array, weights: Mapping[int, float]) -> Array:
    """Σ_l w_l χ_l(ω), with the characters χ_l = 1 + 2 Σ_{j ≤ l} cos jω and c = cos ω.

    ω is the angle between two rotations.
    """
    return _piece_by_piece(lambda piece: _characters(piece, weights), c)


def _characters(c: Array, weights: Mapping[int, float]) -> Array:
    total = np.full_like(c, weights.get(0, 0.0))
    character = np.ones_like(c)
    before, current = np.ones_like(c), c.copy()
    for l in range(1, max(weights) + 1):
        character = character + 2 * current
        if l in weights:
            total += weights[l] * character
        before, current = current, 2 * c * current - before
    return total


def _piece_by_piece(recurrence: Callable[[Array], Array], values: Array) -> Array:
    """A function of each number, of so many at a time that the terms of its recurrence stay in the cache."""
    given = values.ravel()
    found = np.empty_like(given)
    for start in range(0, len(given), _PAIRS):
        piece = slice(start, start + _PAIRS)
        found[piece] = recurrence(given[piece])
    return found.reshape(values.shape)


# `difference_cosines` or `even_difference_cosines`: maps angles a (n,), b (m,) and J to J arrays of shape (n, m).
Harmonics = Callable[[Array, Array, int], Iterator[Array]]


def difference_cosines(a: Array, b: Array, reach: int) -> Iterator[Array]:
    """2 cos j(a − b) for j = 1, …, reach."""  # (n,), (m,) -> (n, m) each
    return (
        2 * (np.multiply.outer(np.cos(j * a), np.cos(j * b)) + np.multiply.outer(np.sin(j * a), np.sin(j * b)))
        for j in range(1, reach + 1)
    )


def even_difference_cosines(a: Array, b: Array, reach: int) -> Iterator[Array]:
    """2 cos ja · cos jb for j = 1, …, reach: the means of `difference_cosines` over both signs of a."""
    # (n,), (m,) -> (n, m) each
    return (2 * np.multiply.outer(np.cos(j * a), np.cos(j * b)) for j in range(1, reach + 1))


def shell_sum(a: Array, b: Array, weights: Mapping[int, float], harmonics: Harmonics) -> Array:
    """Σ_m w_m [z^m] Π_i (1 + Σ_j h_j(a_i, b_i) z^{j²}), where [z^m] stands for the coefficient of z^m.

    Parameters
    ----------
    a, b : ndarrays of shape (n, d) and (m, d)
        Angles.
    weights : mapping of int to float
        The w_m that are not zero.
    harmonics : callable
        Makes the h_j for j = 1, 2, ….
    """  # -> (n, m)
    dense = np.zeros(1 + max(weights))
    dense[list(weights)] = list(weights.values())
    total = np.empty((len(a), len(b)))
    step = max(1, _PAIRS // max(1, len(b)))
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        total[rows] = _series(a[rows], b, dense, harmonics)
    return total


def _series(a: Array, b: Array, weights: Array, harmonics: Harmonics) -> Array:
    """`shell_sum` for few pairs of points; weights[m] is w_m."""
    top = len(weights) - 1
    shells = np.zeros((top + 1, len(a), len(b)))
    shells[0] = 1.0
    for i in range(a.shape[1]):
        terms = list(harmonics(a[:, i], b[:, i], int(np.sqrt(top) + 1e-9)))
        for m in range(top, 0, -1):  # downwards: the coefficients that are read do not have this coordinate yet
            for j in range(1, int(np.sqrt(m) + 1e-9) + 1):
                shells[m] += terms[j - 1] * shells[m - j * j]
    return np.tensordot(weights, shells, axes=1)
