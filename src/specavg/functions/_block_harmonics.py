"""Harmonics of a sphere that depend on a few coordinates, and on the distances from the origin in the other directions.

R^d is split into orthogonal blocks, of which only the radius matters, and fixed coordinates. Blocks and coordinates are
joined one after the other. Joining a harmonic of degree L on P dimensions (radius² A) with a leaf of degree e on q
dimensions (radius² B) gives the harmonics of degree L + e + 2n,

    (harmonic) · (leaf) · (A + B)^n p_n((A − B)/(A + B)),

p_n a Jacobi polynomial with the exponents e + q/2 − 1 and L + P/2 − 1: orthonormal, by stable recurrences, no poles.
One block and one coordinate are the Gegenbauer polynomials of that coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Array, Functions
from specavg.functions._orthonormal_matrices import normalized

__all__ = ["BlockHarmonics", "Blocks"]

Index = tuple[tuple[int, int], ...]
"""(e, n) of each leaf: its degree, and that of the Jacobi polynomial that joins it to those before it."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """How R^d is split.

    Attributes
    ----------
    fixed : ndarray of shape (d, f)
        Orthonormal columns: the directions whose coordinates matter.
    blocks : tuple of ndarray of int
        Coordinates of each block, one block or more. A single block may be all coordinates: what is left beside the
        fixed directions.
    """

    fixed: Array
    blocks: tuple[NDArray[np.intp], ...]

    @property
    def sizes(self) -> list[int]:
        """The dimensions of all leaves, blocks first."""
        d, f = self.fixed.shape
        dims = [len(block) for block in self.blocks] if len(self.blocks) > 1 else [d - f]
        return [*dims, *[1] * f]

    def indices(self, degree: int) -> list[Index]:
        """The harmonics of one degree."""
        sizes = self.sizes

        def extend(left: int, leaf: int) -> Iterator[Index]:
            if leaf == len(sizes):
                if left == 0:
                    yield ()
                return
            for e in (0, 1) if sizes[leaf] == 1 else (0,):
                for n in range((left - e) // 2 + 1 if leaf and left >= e else int(left >= e)):
                    yield from (((e, n), *rest) for rest in extend(left - e - 2 * n, leaf + 1))

        return list(extend(degree, 0))


@final
class BlockHarmonics(Functions):
    """Harmonics of some degrees that depend on fixed coordinates and radii of blocks only.

    Parameters
    ----------
    blocks : Blocks
    degrees : sequence of int
    """

    def __init__(self, blocks: Blocks, degrees: Sequence[int]) -> None:
        self._blocks = blocks
        self._indices = [index for degree in degrees for index in blocks.indices(degree)]

    @property
    def dim(self) -> int:
        return len(self._indices)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (3 * len(self._blocks.fixed) + 4 * self.dim * len(self._blocks.sizes))

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
        """Tangential gradients from the values and derivatives of `_jets`."""
        f = self._blocks.fixed.shape[1]  # jets: (1 + p, n, r)
        gradient = np.einsum("jnr,dj->nrd", jets[1 : 1 + f], self._blocks.fixed)
        for block, slope in zip(self._blocks.blocks[1:], jets[1 + f :], strict=True):
            gradient[:, :, block] += 2 * slope[:, :, None] * rest[:, None, block]
        radial = np.einsum("nrd,nd->nr", gradient, unit)
        return (gradient - radial[:, :, None] * unit[:, None, :]) / np.linalg.norm(X, axis=1)[:, None, None]

    def _reduced(self, unit: Array) -> tuple[Array, Array, list[Array]]:
        """The fixed coordinates, the components beside them, and the radius² in each block."""
        u = unit @ self._blocks.fixed  # (n, f)
        rest = unit - u @ self._blocks.fixed.T
        return u, rest, [np.einsum("ni,ni->n", rest[:, block], rest[:, block]) for block in self._blocks.blocks]

    def _jets(self, u: Array, rest: Array, radii: list[Array], *, derivatives: bool) -> Array:
        """Values, and with `derivatives` those by each fixed coordinate and each radius² but the first.

        The first radius² is what the others leave of 1: along the sphere that is no other function.
        """  # (1 or 1 + p, n, dim)
        n, f = u.shape
        size = 1 + (f + len(radii) - 1) * derivatives
        variables = np.zeros((f + len(radii), size, n))
        variables[:, 0] = [*u.T, *radii]
        if derivatives:
            variables[:f, 1 : 1 + f] = np.eye(f)[:, :, None]
            variables[f + 1 :, 1 + f :] = np.eye(len(radii) - 1)[:, :, None]
            variables[f, 1 : 1 + f], variables[f, 1 + f :] = -2 * u.T, -1.0
        squares = [*variables[f:], *(_times(v, v) for v in variables[:f])]
        within = np.cumsum(squares, axis=0)  # radius² of all leaves up to one
        sizes = self._blocks.sizes
        one = np.zeros((size, n))
        one[0] = 1.0

        @cache
        def joined(leaf: int, e: int, L: int) -> _SolidJacobi:
            a0, b0 = sizes[leaf] / 2 - 1, sum(sizes[:leaf]) / 2 - 1
            return _SolidJacobi(within[leaf - 1], squares[leaf], (a0, b0), (a0 + e, b0 + L))

        @cache
        def product(index: Index) -> Array:
            leaf = len(index) - 1
            e, n = index[-1]
            if leaf == 0:
                return one  # a block, of which only the radius matters
            L = sum(e + 2 * n for e, n in index[:-1])
            found = _times(product(index[:-1]), joined(leaf, e, L).values(n))
            return _times(found, variables[leaf - len(radii)]) if e else found

        columns = [product(index) for index in self._indices]
        return np.stack(columns, axis=2) if columns else np.empty((size, n, 0))


def _times(a: Array, b: Array) -> Array:
    """The product of functions given by their values and derivatives."""  # (1 + p, n)
    found = a[0] * b
    found[1:] += a[1:] * b[0]
    return found


class _SolidJacobi:
    """(A + B)^n p_n((A − B)/(A + B)), orthonormal for (1 − x)^a (1 + x)^b relative to the mass of `base` exponents."""

    def __init__(self, A: Array, B: Array, base: tuple[float, float], exponents: tuple[float, float]) -> None:
        self._difference, self._sum, self._square = A - B, A + B, _times(A + B, A + B)
        self._exponents = exponents
        first = np.zeros_like(A)
        first[0] = np.exp((_log_beta(*base) - _log_beta(*exponents)) / 2)
        self._found = [first]

    def values(self, n: int) -> Array:
        """Values by the three-term recurrence, which goes on from the last degree that was asked for."""
        while len(self._found) <= n:
            k = len(self._found) - 1
            middle, side = _jacobi_recurrence(k, *self._exponents)
            following = _times(self._difference - middle * self._sum, self._found[k])
            if k:
                before = _jacobi_recurrence(k - 1, *self._exponents)[1]
                following -= before * _times(self._square, self._found[k - 1])
            self._found.append(following / side)
        return self._found[n]


def _jacobi_recurrence(n: int, a: float, b: float) -> tuple[float, float]:
    """β_n and α_{n+1} of x p_n = α_{n+1} p_{n+1} + β_n p_n + α_n p_{n−1}, orthonormal for (1 − x)^a (1 + x)^b."""
    s = 2 * n + a + b
    middle = (b - a) / (a + b + 2) if n == 0 else (b * b - a * a) / (s * (s + 2))
    k = n + 1
    s = 2 * k + a + b
    square = 4 * k * (k + a) * (k + b) / (s * s * (s + 1))
    if k > 1:  # for k = 1 the next factor is 1, also where numerator and denominator vanish
        square *= (k + a + b) / (s - 1)
    return middle, square**0.5


def _log_beta(a: float, b: float) -> float:
    from scipy.special import betaln

    return float(betaln(a + 1, b + 1))
