"""Spherical harmonics of S²: the recurrence in z, and powers of x + iy beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._functions import Functions
from specavg.functions._product_tree import block_size
from specavg.functions._sphere_harmonics import harmonics, normalized
from specavg.functions._threads import by_rows, compensated_sum, in_order, read_only, row_chunks

__all__ = ["S2Harmonics"]

Array = NDArray[np.float64]
_NOISE = 1e-14  # a coefficient of an orthonormal combination below this is rounding


@final
class S2Harmonics(Functions):
    """All harmonics of S² of some degrees, orthonormal under the uniform probability measure.

    Parameters
    ----------
    degrees : sequence of int
        Each degree k has 2k + 1 functions, in the order 0, 1c, 1s, 2c, 2s, ….
    orders : ndarray of bool, shape (max(degrees) + 1,), optional
        The orders that matter: sums of the others are left at zero, and their coefficients are not looked at.
    """

    def __init__(self, degrees: Sequence[int], orders: NDArray[np.bool_] | None = None) -> None:
        self._degrees = tuple(degrees)
        self._top = top = max(self._degrees, default=0)
        self._used = np.ones(top + 1, dtype=bool) if orders is None else np.ascontiguousarray(orders)
        # Where the recurrence, which knows all degrees up to the highest, has the functions of this family.
        self._places = np.concatenate([np.empty(0, dtype=np.intp), *(np.arange(k * k, (k + 1) ** 2) for k in degrees)])
        self._everything = np.array_equal(self._places, np.arange((top + 1) ** 2))
        j = np.arange(top + 1.0)
        # √2/√E[(1 − z²)^j] = √(2 ∏ (2i + 3)/(2i + 2)) for i < j: the power of x + iy has norm one.
        growth = np.cumprod((1.5 + j) / (1.0 + j))
        self._scale = np.sqrt(np.concatenate([[1.0], 2 * growth[:-1]]))
        # p_{i} = u_i z p_{i−1} − v_i p_{i−2}, u_i = 1/a_i, v_i = a_{i−1}/a_i, a for the order j + 1/2.
        i = np.maximum(np.arange(top + 1.0), 1.0)
        order = j[:, None] + 0.5
        a = np.sqrt(i * (i + 2 * order - 1) / (4 * (i + order) * (i + order - 1)))
        self._u = 1.0 / a
        self._v = np.zeros_like(a)
        self._v[:, 2:] = a[:, 1:-1] / a[:, 2:]

    @property
    def dim(self) -> int:
        return len(self._places)

    @property
    def row_bytes(self) -> float:
        return 8.0 * ((self._top + 1) ** 2 + self.dim)

    def restricted(self, size: Array) -> S2Harmonics:
        orders = np.zeros(self._top + 1, dtype=bool)
        end = 0
        for k in self._degrees:
            start, end = end, end + 2 * k + 1
            rows = size[start:end] > _NOISE  # a k-fold axis leaves one order in k
            orders[: k + 1] |= np.concatenate([rows[:1], rows[1::2] | rows[2::2]])
        return S2Harmonics(self._degrees, orders)

    def _arguments(self) -> tuple[Any, ...]:
        return self._top, self._used, self._scale, self._u, self._v

    def correlate(self, X: Array, Y: Array) -> Array:
        from specavg.functions.loops._s2 import s2_sums

        loop: Any = s2_sums
        n, q, full = len(X), Y.shape[1], (self._top + 1) ** 2
        points, data, size, arguments = read_only(X), read_only(Y), block_size(n, 10), self._arguments()

        def work(rows: slice) -> Array:
            out = np.zeros((q, full))
            loop(*arguments, points[rows], data[rows], size, out)
            return out

        sums = compensated_sum(in_order(work, row_chunks(n, q * full)), (q, full)).T
        return np.ascontiguousarray(sums if self._everything else sums[self._places])

    def combine(self, X: Array, C: Array) -> Array:
        from specavg.functions.loops._s2 import s2_combine

        loop: Any = s2_combine
        n, q = len(X), C.shape[1]
        coefficients = np.zeros((q, (self._top + 1) ** 2))
        coefficients[:, self._places] = C.T
        points, size = read_only(X), block_size(n, 10)
        return by_rows(loop, self._arguments(), points, (read_only(coefficients), size), np.empty((n, q)))

    def values(self, X: Array) -> Array:
        from specavg.functions.loops._s2 import s2_values

        loop: Any = s2_values
        n, full = len(X), (self._top + 1) ** 2
        require_memory(8.0 * n * full, f"{full} harmonics at {n} points", "Evaluate chunks of rows.")
        points, size = read_only(X), block_size(n, 10 + full)
        out = by_rows(loop, self._arguments(), points, (size,), np.empty((n, full)))
        return out if self._everything else out[:, self._places]

    def evaluate(self, X: Array) -> Array:
        if not self._everything:
            return super().evaluate(X)
        self._require_values(len(X))
        return self.values(X)

    def plain_values(self, X: Array) -> Array:
        unit = normalized(X)
        return np.concatenate([np.empty((len(X), 0)), *(harmonics(unit, k) for k in self._degrees)], axis=1)
