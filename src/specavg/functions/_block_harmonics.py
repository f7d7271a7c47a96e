"""Harmonics of a sphere that depend on a few coordinates, and on the radii in orthogonal blocks of the others.

R^d is a sum of orthogonal *leaves*: blocks, of which functions see the radius only, and fixed directions, of which they
see the coordinate. On a block the only function of the leaf is 1, of degree e = 0; on a fixed direction there is also
the coordinate itself, of degree e = 1. Leaves are joined one after the other. A harmonic of degree L on P dimensions,
with radius² A, and a function of degree e of the next leaf, of q dimensions and radius² B, make the harmonics

    (harmonic) · (function of the leaf) · (A + B)^n p_n((A − B)/(A + B))

of degree L + e + 2n on P + q dimensions. p_n is a Jacobi polynomial with the exponents e + q/2 − 1 and L + P/2 − 1. The
products are orthonormal, recurrences compute them stably, and nothing is singular at the poles. Joining one block with
one fixed direction gives the Gegenbauer polynomials of that coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Array, Functions
from specavg.functions._orthonormal_matrices import normalized

Index = tuple[tuple[int, int], ...]
"""A harmonic: for each leaf the degree e of its function, and the degree n of the Jacobi polynomial that joins it."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """How R^d is split into leaves.

    Attributes
    ----------
    fixed : ndarray of shape (d, f)
        The fixed directions, as orthonormal columns.
    blocks : tuple of ndarray of int
        The coordinates of each block, one block or more. A single block is the orthogonal complement of the fixed
        directions, and may list all coordinates.
    """

    fixed: Array
    blocks: tuple[NDArray[np.intp], ...]

    @property
    def sizes(self) -> list[int]:
        """The dimensions of all leaves: those of the blocks, then 1 for each fixed direction."""
        d, f = self.fixed.shape
        dims = [len(block) for block in self.blocks] if len(self.blocks) > 1 else [d - f]
        return [*dims, *[1] * f]

    def indices(self, degree: int) -> Sequence[Index]:
        """The harmonics of one degree."""
        return _indices(tuple(self.sizes), degree)


@lru_cache(maxsize=20_000)
def _indices(sizes: tuple[int, ...], degree: int) -> tuple[Index, ...]:
    """The harmonics of one degree on leaves of these dimensions, by recursion over the leaves."""
    *before, last = sizes
    parities = (0, 1) if last == 1 else (0,)
    if not before:
        return tuple(((e, 0),) for e in parities if e == degree)
    found = [
        (*rest, (e, n))
        for e in parities
        if e <= degree
        # A single leaf before has degree 0 or 1, which leaves one n.
        for n in range((degree - e) // 2 if len(before) == 1 else 0, (degree - e) // 2 + 1)
        for rest in _indices(tuple(before), degree - e - 2 * n)
    ]
    return tuple(sorted(found))


@final
class BlockHarmonics(Functions):
    """All harmonics of some degrees that depend on fixed coordinates and radii of blocks only.

    Parameters
    ----------
    blocks : Blocks
        How R^d is split.
    degrees : sequence of int
    """

    def __init__(self, blocks: Blocks, degrees: Sequence[int]) -> None:
        self._blocks = blocks
        self._indices = [index for degree in degrees for index in blocks.indices(degree)]
        self.dim = len(self._indices)

    @cached_property
    def _joins(self) -> list[_Join]:
        return _joins(self._indices, len(self._blocks.sizes))

    @property
    def row_bytes(self) -> float:
        most = max((2 * join.dim + 6 * len(join.degrees) for join in self._joins), default=0)
        return 8.0 * (3 * len(self._blocks.fixed) + 2 * self.dim + most)

    def values(self, X: Array) -> Array:
        unit = normalized(X)
        return self._jets(*self._reduced(unit), derivatives=False)[0]

    def gradient(self, X: Array) -> Array:
        unit = normalized(X)
        u, rest, radii = self._reduced(unit)
        return self._lifted(X, unit, rest, self._jets(u, rest, radii, derivatives=True))

    def combine_gradient(self, X: Array, C: Array) -> Array:
        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), (2 + len(self._blocks.sizes)) * self.row_bytes):
            unit = normalized(X[rows])
            u, rest, radii = self._reduced(unit)
            jets = self._jets(u, rest, radii, derivatives=True) @ C
            combined[rows] = self._lifted(X[rows], unit, rest, jets).transpose(0, 2, 1)
        return combined

    def _lifted(self, X: Array, unit: Array, rest: Array, jets: Array) -> Array:
        """Tangential gradients, from the values and derivatives of `_jets`; `rest` is that of `_reduced`."""
        # (1 + p, n, r) -> (n, r, d)
        f = self._blocks.fixed.shape[1]
        gradient = np.einsum("jnr,dj->nrd", jets[1 : 1 + f], self._blocks.fixed)
        for block, slope in zip(self._blocks.blocks[1:], jets[1 + f :], strict=True):
            gradient[:, :, block] += 2 * slope[:, :, None] * rest[:, None, block]
        radial = np.einsum("nrd,nd->nr", gradient, unit)
        return (gradient - radial[:, :, None] * unit[:, None, :]) / np.linalg.norm(X, axis=1)[:, None, None]

    def _reduced(self, unit: Array) -> tuple[Array, Array, list[Array]]:
        """The fixed coordinates, the points without their components along them, and the radius² in each block."""
        # (n, d) -> (n, f), (n, d), (n,) each
        u = unit @ self._blocks.fixed  # (n, f)
        rest = unit - u @ self._blocks.fixed.T
        return u, rest, [np.einsum("ni,ni->n", rest[:, block], rest[:, block]) for block in self._blocks.blocks]

    def _jets(self, u: Array, rest: Array, radii: list[Array], *, derivatives: bool) -> Array:
        """Values of the functions, and with `derivatives` also their derivatives by p variables.

        The variables are each fixed coordinate, and each radius² but the first. The first radius² is 1 minus all other
        squares: this changes no function on the sphere.
        """  # -> (1 or 1 + p, n, dim)
        n, f = u.shape
        size = 1 + (f + len(radii) - 1) * derivatives
        variables = np.zeros((f + len(radii), size, n))
        variables[:, 0] = [*u.T, *radii]
        if derivatives:
            variables[:f, 1 : 1 + f] = np.eye(f)[:, :, None]
            variables[f + 1 :, 1 + f :] = np.eye(len(radii) - 1)[:, :, None]
            variables[f, 1 : 1 + f], variables[f, 1 + f :] = -2 * u.T, -1.0
        squares = [*variables[f:], *(_times(v, v) for v in variables[:f])]
        within = np.cumsum(squares, axis=0)  # the radius² of each leaf and all leaves before it
        sizes = self._blocks.sizes
        found = np.zeros((1, size, n))
        found[:, 0] = 1.0  # the only function of the first leaf, a block
        for leaf, join in enumerate(self._joins, start=1):
            base = sizes[leaf] / 2 - 1, sum(sizes[:leaf]) / 2 - 1
            coordinate = variables[leaf - len(radii)] if leaf >= len(radii) else None
            found = _joined(found, join, _jacobi(within[leaf - 1], squares[leaf], base, join), coordinate)
        return np.ascontiguousarray(np.broadcast_to(found, (self.dim, size, n)).transpose(1, 2, 0))


@dataclass(frozen=True, eq=False)
class _Join:
    """How one more leaf is joined to the functions on the leaves before it.

    Attributes
    ----------
    dim : int
        The number of functions after the join.
    degrees : ndarray of int of shape (r, 2)
        The degrees (e, L) of each recurrence of Jacobi polynomials p_0, p_1, …; longer recurrences come first.
    lengths : ndarray of int of shape (r,)
        The highest n of each recurrence.
    steps : list of tuples of four ndarrays of int
        For each n, of all functions with p_n: their places, the places of the functions before the join that they are
        made of, the numbers of their recurrences, and their e.
    """

    dim: int
    degrees: NDArray[np.intp]
    lengths: NDArray[np.intp]
    steps: list[tuple[NDArray[np.intp], ...]]


def _joins(indices: Sequence[Index], leaves: int) -> list[_Join]:
    """The joins of all leaves but the first, for the harmonics in `indices`."""
    joins: list[_Join] = []
    before = {index[:1]: 0 for index in indices}
    for leaf in range(1, leaves):
        now = {prefix: i for i, prefix in enumerate(dict.fromkeys(index[: leaf + 1] for index in indices))}
        rows = [(prefix[-1][0], sum(e + 2 * n for e, n in prefix[:-1]), prefix[-1][1]) for prefix in now]
        longest: dict[tuple[int, int], int] = {}
        for e, L, n in rows:
            longest[e, L] = max(n, longest.get((e, L), 0))
        order = sorted(longest, key=lambda pair: -longest[pair])
        place = {pair: i for i, pair in enumerate(order)}
        table = np.array(
            [
                (n, i, before[prefix[:-1]], place[e, L], e)
                for (prefix, i), (e, L, n) in zip(now.items(), rows, strict=True)
            ],
            dtype=np.intp,
        ).reshape(-1, 5)
        table = table[np.argsort(table[:, 0], kind="stable")]
        ends = np.searchsorted(table[:, 0], np.arange(table[:, 0].max(initial=-1) + 2))
        steps = [tuple(table[start:end, 1:].T) for start, end in pairwise(ends)]
        lengths = np.array([longest[pair] for pair in order], dtype=np.intp)
        joins.append(_Join(len(now), np.array(order, dtype=np.intp).reshape(-1, 2), lengths, steps))
        before = now
    return joins


def _joined(found: Array, join: _Join, jacobi: Iterator[Array], coordinate: Array | None) -> Array:
    """The functions after a join.

    Parameters
    ----------
    found : ndarray of shape (functions, 1 + p, n)
        The functions before the join.
    join : _Join
    jacobi : iterator
        What `_jacobi` yields.
    coordinate : ndarray of shape (1 + p, n), optional
        The coordinate of the leaf, if it is a fixed direction.
    """  # -> (dim, 1 + p, n)
    out = np.empty((join.dim, *found.shape[1:]))
    for (places, parents, rows, parities), values in zip(join.steps, jacobi, strict=True):
        out[places] = _times(found[parents], values[rows])
        odd = places[parities == 1]
        if coordinate is not None and len(odd):
            out[odd] = _times(out[odd], coordinate)
    return out


def _times(a: Array, b: Array) -> Array:
    """The product of two functions that are given by their values and p derivatives."""  # (..., 1 + p, n)
    found = a[..., :1, :] * b
    if found.shape[-2] > 1:
        found[..., 1:, :] += a[..., 1:, :] * b[..., :1, :]
    return found


def _jacobi(A: Array, B: Array, base: tuple[float, float], join: _Join) -> Iterator[Array]:
    """(A + B)^n p_n((A − B)/(A + B)) for n = 0, 1, …, for all recurrences of a join that have this n.

    p are orthonormal for the weight (1 − x)^a (1 + x)^b, divided by the integral of the weight whose exponents are
    `base`. The exponents a and b are those of `base` plus e and L.
    """  # (1 + p, n), (1 + p, n) -> (recurrences, 1 + p, n) each
    from scipy.special import betaln

    a, b = (exponent + degrees[:, None, None] for exponent, degrees in zip(base, join.degrees.T, strict=True))
    difference, total = A - B, A + B
    square = _times(total, total)
    now = np.zeros((len(a), *A.shape))
    now[:, :1] = np.exp((betaln(base[0] + 1, base[1] + 1) - betaln(a + 1, b + 1)) / 2)
    middles, sides = _jacobi_recurrence(np.arange(len(join.steps)), a[:, 0, 0, None], b[:, 0, 0, None])  # (r, n)
    left = len(join.lengths) - np.searchsorted(np.sort(join.lengths), np.arange(len(join.steps)), side="right")
    before = now
    for n in range(len(join.steps)):
        yield now
        k = int(left[n])  # how many recurrences have the next n
        middle, side = middles[:k, n, None, None], sides[:k, n, None, None]
        following = _times(difference - middle * total, now[:k])
        if n:
            following -= sides[:k, n - 1, None, None] * _times(square, before[:k])
        before, now = now, following / side


def _jacobi_recurrence(n: NDArray[np.intp], a: Array, b: Array) -> tuple[Array, Array]:
    """The β_n and α_{n+1} of x p_n = α_{n+1} p_{n+1} + β_n p_n + α_n p_{n−1}.

    The polynomials p are orthonormal for the weight (1 − x)^a (1 + x)^b.
    """
    s = 2 * n + a + b
    first = n == 0  # where the general forms may be 0/0: β_0 has a form of its own, and the last factor of α_1² is 1
    middle = np.where(first, (b - a) / (a + b + 2), (b * b - a * a) / np.where(first, 1.0, s * (s + 2)))
    k = n + 1
    s = 2 * k + a + b
    square = 4 * k * (k + a) * (k + b) / (s * s * (s + 1))
    return middle, np.sqrt(square * np.where(first, 1.0, (k + a + b) / np.where(first, 1.0, s - 1)))
