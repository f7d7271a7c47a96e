"""Polynomials of one coordinate, and the tables of factors that compute them by recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._factor_table import SPHERE, STEP, TABLE, FactorTable
from specavg.functions._functions import Functions
from specavg.functions._plain_products import factors, slopes_of_factors


@final
class OneCoordinate(Functions):
    """Functions of one coordinate t = (x − centre)/half: rows of a table of factors.

    Parameters
    ----------
    table : FactorTable
        Recurrences of one coordinate t.
    rows : ndarray of int, shape (dim,)
        The row of each function; −1 is the constant 1.
    centre, half : float
        The x with t = 0, and its distance from the x with t = 1.
    most : float
        The largest |t| of a point. Larger values are rounding errors and are clipped.
    """

    def __init__(
        self,
        table: FactorTable,
        rows: NDArray[np.intp],
        centre: float = 0.0,
        half: float = 1.0,
        most: float = np.inf,
    ) -> None:
        self._table, self._rows = table, rows
        self._centre, self._half, self._most = centre, half, most
        self.dim = len(rows)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (4 + 2 * self._table.size + 2 * self.dim)

    @property
    def copy_table(self) -> FactorTable | None:
        return self._table if (self._rows >= 0).all() else None

    @property
    def copy_rows(self) -> Sequence[int]:
        return self._rows.tolist()

    def copy_coordinates(self, X: Array) -> Array:
        """The coordinates t of a table that takes points as they are; others scale them."""
        return X if self._table.mode == SPHERE else np.clip((X - self._centre) / self._half, -self._most, self._most)

    def _factors(self, X: Array) -> tuple[Array, Array]:
        """The coordinates t, and all rows of the table at t."""  # (n, 1) -> (n,), (F + 1, n)
        t = np.clip((X[:, 0] - self._centre) / self._half, -self._most, self._most)
        return t, factors(self._table, t[None], t[None])

    def values(self, X: Array) -> Array:
        return self._factors(X)[1][self._rows].T

    def gradient(self, X: Array) -> Array:
        slopes = slopes_of_factors(self._table, *self._factors(X))
        return (slopes[self._rows].T / self._half)[:, :, None]


def chebyshev_polynomials(centre: float, half: float, degrees: Sequence[int]) -> OneCoordinate:
    """√2 T_k(t), or 1 for k = 0, of some degrees k: orthonormal under the arcsine measure on |t| ≤ 1.

    t is (x − centre)/half.
    """
    k = np.array(degrees, dtype=np.intp)
    table = chebyshev_table(int(k.max(initial=0)), 1, half, 2.0**0.5)
    return OneCoordinate(table, k - 1, centre, half, 1.0)


def hermite_polynomials_and_powers(d: int, degree: int) -> OneCoordinate:
    """He_1(z), …, He_degree(z) and then z, …, z^degree, where z = √d x for a coordinate x of the unit sphere of R^d."""
    rows = [monomial_rows(degree, 1, hermite=hermite) for hermite in (True, False)]
    operations, constants = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    powers = operations[degree:]  # they come after the Hermite polynomials, and so do the rows that they read
    powers[:, 2:4] = np.where(powers[:, 2:4] < 0, -1, powers[:, 2:4] + degree)
    table = FactorTable.of(SPHERE, np.array([np.sqrt(d)]), operations, constants)
    return OneCoordinate(table, np.arange(2 * degree), half=1.0 / np.sqrt(d))


def chebyshev_table(top: int, d: int, half: float, weight: float = 1.0) -> FactorTable:
    """The Chebyshev polynomials T_1, …, T_top, times a weight w, of d coordinates x, each given in units of `half`.

    wT_1 = wx, wT_2 = 2x·wT_1 − w and wT_k = 2x·wT_{k−1} − wT_{k−2}.
    """
    k = np.arange(1, top + 1)
    rows = _recurrence_rows(np.where(k == 1, weight, 2.0), np.select([k == 1, k == 2], [0.0, -weight], -1.0), d)
    return FactorTable.of(TABLE, np.array([1 / half]), *rows)


def monomial_rows(top: int, d: int, *, hermite: bool) -> tuple[NDArray[np.int64], Array]:
    """Operations and constants of a factor table with the powers x, …, x^top of d coordinates.

    With `hermite` they are He_1, …, He_top, by He_j = x·He_{j−1} − (j − 1)·He_{j−2}.
    """
    return _recurrence_rows(np.ones(top), np.where(hermite, -np.arange(float(top)), 0.0), d)


def _recurrence_rows(a: Array, b: Array, d: int) -> tuple[NDArray[np.int64], Array]:
    """Operations and constants of a factor table with p_j = a_j x p_{j−1} + b_j p_{j−2}, p_0 = 1, of d coordinates.

    The polynomial p_j of coordinate i is row (j − 1)d + i.
    """
    j, i = (part.ravel() for part in np.mgrid[1 : len(a) + 1, :d])
    row, zero = np.arange(len(j)), np.zeros_like(j)
    before, second = np.where(j > 1, row - d, -1), np.where(j > 2, row - 2 * d, -1)  # a negative row stands for 1
    operations = np.stack([zero + STEP, i, before, second, zero], axis=1).astype(np.int64)
    return operations, np.repeat(np.stack([a, b], axis=1), d, axis=0)
