"""Chebyshev polynomials of one coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions


@final
class ChebyshevPolynomials(Functions):
    """1 and √2 T_k(t) of some degrees k, t = (x − centre)/half, orthonormal under the arcsine measure on |t| ≤ 1."""

    def __init__(self, centre: float, half: float, degrees: Sequence[int]) -> None:
        self._centre = centre
        self._half = half
        self.dim = len(degrees)
        self._degrees = np.array(degrees, dtype=np.intp)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (3 + int(self._degrees.max(initial=0)) + 2 * self.dim)

    def values(self, X: Array) -> Array:
        t = self._inside(X)
        table = self._table(t, 1.0, t)
        table[1:] *= np.sqrt(2)
        return table[self._degrees].T

    def gradient(self, X: Array) -> Array:
        table = self._table(self._inside(X), 0.0, 1.0)  # U_{k−1}, and T_k' = k U_{k−1}
        table *= (np.sqrt(2) / self._half * np.arange(len(table)))[:, None]
        return table[self._degrees].T[:, :, None]

    def _table(self, t: Array, first: float, second: Array | float) -> Array:
        """p_0, p_1, … with p_k = 2t p_{k−1} − p_{k−2}, from the first two."""  # (n,) -> (highest degree + 1, n)
        table = np.empty((int(self._degrees.max(initial=1)) + 1, len(t)))
        table[0], table[1] = first, second
        for k in range(2, len(table)):
            np.multiply(2 * t, table[k - 1], out=table[k])
            table[k] -= table[k - 2]
        return table

    def _inside(self, X: Array) -> Array:
        """The points on [−1, 1]: rounding may leave the interval."""
        return np.clip((X[:, 0] - self._centre) / self._half, -1.0, 1.0)
