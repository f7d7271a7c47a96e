"""Real Wigner functions of SO(3) of all degrees up to one, ready to run, with threads over the rows."""

from __future__ import annotations

from math import comb
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.kernels._products import block_size
from specavg.kernels._threads import by_rows, compensated_sum, in_order, read_only, row_chunks

__all__ = ["WignerFunctions"]

Array = NDArray[np.float64]


@final
class WignerFunctions:
    """√(2l+1) M^l(X)[a, b] for l = 0..degree, row by row; M in the real basis 0, 1c, 1s and so on.

    Parameters
    ----------
    degree : int
    """

    def __init__(self, degree: int) -> None:
        self.degree = L = degree
        self.sizes = np.array([(2 * l + 1) ** 2 for l in range(L + 1)])
        self.dim = int(self.sizes.sum())
        j, k = np.arange(L + 1)[:, None], np.arange(-L, L + 1)
        # d at l = max(j, |k|): √binom(2l, l − min) times powers of cos β/2 and sin β/2.
        start, least = np.maximum(j, np.abs(k)), np.minimum(j, np.abs(k))
        roots = [float(comb(2 * int(l), int(l - m))) ** 0.5 for l, m in zip(start.flat, least.flat, strict=True)]
        signs = np.where((k < 0) & (k % 2 == 1) | (k > j) & ((k - j) % 2 == 1), -1.0, 1.0)  # of this real basis
        self._first = np.array(roots).reshape(start.shape) * signs
        l, a, b = np.arange(L + 1.0)[:, None, None], np.arange(L + 1.0)[:, None], np.arange(L + 1.0)
        above = np.sqrt(np.maximum(((l + 1) ** 2 - a**2) * ((l + 1) ** 2 - b**2), 1.0))
        here = np.sqrt(np.maximum((l**2 - a**2) * (l**2 - b**2), 0.0))
        positive = np.maximum(l, 1.0)
        self._u = (l + 1) * (2 * l + 1) / above
        self._t = np.where(l > 0, self._u * a * b / (positive * (positive + 1)), 0.0)
        self._v = np.where(l > 0, (l + 1) / positive * here / above, 0.0)

    def _arguments(self) -> tuple[Any, ...]:
        return self.degree, self._first, self._u, self._t, self._v

    def sums(self, angles: Array, Y: Array) -> Array:
        """Φᵀ Y; `angles` has cos α, sin α, cos γ, sin γ, cos β, cos β/2, sin β/2."""  # (n, 7), (n, q) -> (dim, q)
        from specavg.kernels._wigner import wigner_sums

        kernel: Any = wigner_sums
        n, q, L = len(angles), Y.shape[1], self.degree
        shape = (q, L + 1, L + 1, 2 * L + 1, 2)
        points, data, size, arguments = read_only(angles), read_only(Y), self._block(n), self._arguments()

        def work(rows: slice) -> Array:
            out = np.zeros(shape)
            kernel(*arguments, points[rows], data[rows], size, out)
            return out

        return self._real(compensated_sum(in_order(work, row_chunks(n, int(np.prod(shape)))), shape))

    def combine(self, angles: Array, C: Array) -> Array:
        """Φ C."""  # (n, 7), (dim, q) -> (n, q)
        from specavg.kernels._wigner import wigner_combine

        kernel: Any = wigner_combine
        n = len(angles)
        points, size, arguments = read_only(angles), self._block(n), self._arguments()
        coefficients = read_only(self._waves(C))
        out = np.empty((n, C.shape[1]))
        return by_rows(kernel, arguments, points, (coefficients, size), out)

    def values(self, angles: Array) -> Array:
        """Φ."""  # (n, 7) -> (n, dim)
        from specavg.kernels._wigner import wigner_values

        kernel: Any = wigner_values
        n = len(angles)
        points, size, arguments = read_only(angles), self._block(n, self.dim), self._arguments()
        out = np.empty((n, self.dim))
        return by_rows(kernel, arguments, points, (size,), out)

    def _block(self, n: int, more: int = 0) -> int:
        return block_size(n, 8 * self.degree + 20 + more)

    # M[jc,kc] = P cos₊ + N cos₋, M[jc,ks] = −P sin₊ + N sin₋, M[js,kc] = P sin₊ + N sin₋, M[js,ks] = P cos₊ − N cos₋,
    # with P = d_{jk} at the angle jα + kγ and N = d_{j,−k} at jα − kγ; √2 d where one of the orders is zero.

    def _real(self, waves: Array) -> Array:
        """From sums with waves to sums with the entries of M."""  # (q, L + 1, L + 1, 2L + 1, 2) -> (dim, q)
        L, parts = self.degree, []
        for l in range(L + 1):
            E = waves[:, l, : l + 1]
            plus, minus = E[:, 1:, L + 1 : L + l + 1], E[:, 1:, L - l : L][:, :, ::-1]
            M = np.empty((len(waves), 2 * l + 1, 2 * l + 1))
            M[:, 0, 0] = E[:, 0, L, 0]
            M[:, 0, 1::2] = np.sqrt(2) * E[:, 0, L + 1 : L + l + 1, 0]
            M[:, 0, 2::2] = -np.sqrt(2) * E[:, 0, L + 1 : L + l + 1, 1]
            M[:, 1::2, 0] = np.sqrt(2) * E[:, 1:, L, 0]
            M[:, 2::2, 0] = np.sqrt(2) * E[:, 1:, L, 1]
            M[:, 1::2, 1::2] = plus[..., 0] + minus[..., 0]
            M[:, 1::2, 2::2] = minus[..., 1] - plus[..., 1]
            M[:, 2::2, 1::2] = minus[..., 1] + plus[..., 1]
            M[:, 2::2, 2::2] = plus[..., 0] - minus[..., 0]
            parts.append(np.sqrt(2 * l + 1) * M.reshape(len(waves), -1).T)
        return np.concatenate(parts)

    def _waves(self, C: Array) -> Array:
        """From coefficients of the entries of M to those of waves: the transpose of `_real`."""
        L, q = self.degree, C.shape[1]
        waves = np.zeros((q, L + 1, L + 1, 2 * L + 1, 2))
        ends = np.cumsum([0, *self.sizes])
        for l in range(L + 1):
            M = np.sqrt(2 * l + 1) * C[ends[l] : ends[l + 1]].T.reshape(q, 2 * l + 1, 2 * l + 1)
            E = waves[:, l, : l + 1]
            plus, minus = E[:, 1:, L + 1 : L + l + 1], E[:, 1:, L - l : L][:, :, ::-1]
            E[:, 0, L, 0] = M[:, 0, 0]
            E[:, 0, L + 1 : L + l + 1, 0] = np.sqrt(2) * M[:, 0, 1::2]
            E[:, 0, L + 1 : L + l + 1, 1] = -np.sqrt(2) * M[:, 0, 2::2]
            E[:, 1:, L, 0] = np.sqrt(2) * M[:, 1::2, 0]
            E[:, 1:, L, 1] = np.sqrt(2) * M[:, 2::2, 0]
            plus[..., 0] = M[:, 1::2, 1::2] + M[:, 2::2, 2::2]
            minus[..., 0] = M[:, 1::2, 1::2] - M[:, 2::2, 2::2]
            plus[..., 1] = M[:, 2::2, 1::2] - M[:, 1::2, 2::2]
            minus[..., 1] = M[:, 2::2, 1::2] + M[:, 1::2, 2::2]
        return waves
