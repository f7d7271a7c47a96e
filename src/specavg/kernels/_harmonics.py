"""Spherical harmonics of S² of all degrees up to one, ready to run, with threads over the rows."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.kernels._products import block_size
from specavg.kernels._threads import by_rows, compensated_sum, in_order, read_only, row_chunks

__all__ = ["HarmonicsOfS2"]

Array = NDArray[np.float64]


@final
class HarmonicsOfS2:
    """All (degree + 1)² harmonics of S² up to a degree, orthonormal under the uniform probability measure.

    Parameters
    ----------
    degree : int
    orders : ndarray of bool, shape (degree + 1,), optional
        The orders that matter: sums of the others are left at zero, and their coefficients are not looked at.
    """

    def __init__(self, degree: int, orders: NDArray[np.bool_] | None = None) -> None:
        self.degree = degree
        self.dim = (degree + 1) ** 2
        self._used = np.ones(degree + 1, dtype=bool) if orders is None else np.ascontiguousarray(orders)
        j = np.arange(degree + 1.0)
        # √2/√E[(1 − z²)^j] = √(2 ∏ (2i + 3)/(2i + 2)) for i < j: the power of x + iy has norm one.
        growth = np.cumprod((1.5 + j) / (1.0 + j))
        self._scale = np.sqrt(np.concatenate([[1.0], 2 * growth[:-1]]))
        # p_{i} = u_i z p_{i−1} − v_i p_{i−2}, u_i = 1/a_i, v_i = a_{i−1}/a_i, a for the order j + 1/2.
        i = np.maximum(np.arange(degree + 1.0), 1.0)
        order = j[:, None] + 0.5
        a = np.sqrt(i * (i + 2 * order - 1) / (4 * (i + order) * (i + order - 1)))
        self._u = 1.0 / a
        self._v = np.zeros_like(a)
        self._v[:, 2:] = a[:, 1:-1] / a[:, 2:]

    def _arguments(self) -> tuple[Any, ...]:
        return self.degree, self._used, self._scale, self._u, self._v

    def sums(self, X: Array, Y: Array) -> Array:
        """Φᵀ Y."""  # (n, 3), (n, q) -> (dim, q)
        from specavg.kernels._s2 import s2_sums

        kernel: Any = s2_sums
        n, q = len(X), Y.shape[1]
        points, data, size, arguments = read_only(X), read_only(Y), block_size(n, 10), self._arguments()

        def work(rows: slice) -> Array:
            out = np.zeros((q, self.dim))
            kernel(*arguments, points[rows], data[rows], size, out)
            return out

        return np.ascontiguousarray(compensated_sum(in_order(work, row_chunks(n, q * self.dim)), (q, self.dim)).T)

    def combine(self, X: Array, C: Array) -> Array:
        """Φ C."""  # (n, 3), (dim, q) -> (n, q)
        from specavg.kernels._s2 import s2_combine

        kernel: Any = s2_combine
        n = len(X)
        points, coefficients, size = read_only(X), read_only(np.asarray(C.T)), block_size(n, 10)
        out, arguments = np.empty((n, C.shape[1])), self._arguments()
        return by_rows(kernel, arguments, points, (coefficients, size), out)

    def values(self, X: Array) -> Array:
        """Φ."""  # (n, 3) -> (n, dim)
        from specavg.kernels._s2 import s2_values

        kernel: Any = s2_values
        n = len(X)
        require_memory(8.0 * n * self.dim, f"{self.dim} harmonics at {n} points", "Evaluate chunks of rows.")
        points, size, arguments = read_only(X), block_size(n, 10 + self.dim), self._arguments()
        out = np.empty((n, self.dim))
        return by_rows(kernel, arguments, points, (size,), out)
