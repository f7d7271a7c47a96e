"""Spherical harmonics of S²: polynomials in z, by a recurrence, times real and imaginary parts of powers of x + iy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._compiled import FEW_COLUMNS, Loops
from specavg.functions._euler_family import NOISE, EulerFamily
from specavg.functions._euler_sums import Orders, step_of
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._sphere_harmonics import harmonics
from specavg.functions._threads import read_only

_NANOSECONDS = 0.2  # of a sum over data, for each point and function; measured
# The highest degree at which numbers need no scaling. A power of x + iy may underflow there, but p is at most 2^700, so
# that their product is too small to count.
_PLAIN_DEGREE = 1000
_BITS = 512  # numbers are scaled by powers of 2^512, so that they stay far inside of the range 2^±1022 of floats


class Recurrence(NamedTuple):
    """The recurrences p_i = u_i z p_{i−1} − v_i p_{i−2}, one for each order j, as the loops read them.

    The harmonics of degree j + i and order j are p_i(z) times the real and imaginary part of scale_j (x + iy)^j. With
    u_0 = 0 and v_0 = −1, loops begin at p_{−1} = 0 and p_{−2} = 1, which gives p_0 = 1.

    Attributes
    ----------
    degree : int
        The highest degree.
    used : ndarray of bool, shape (degree + 1,)
        The orders that are computed.
    scale : ndarray of shape (degree + 1,)
        The factor of each power of x + iy.
    u, v : ndarrays of shape (degree + 1, degree + 1)
        u_i and v_i in row j and column i.
    """

    degree: int
    used: NDArray[np.bool_]
    scale: Array
    u: Array
    v: Array

    def table(self, j: NDArray[np.intp], cosines: Array) -> Array:
        """Harmonics of the orders j at azimuth zero, for all degrees."""  # (P,), (N,) -> (P, N, degree + 1)
        L, N = self.degree, len(cosines)
        table = np.zeros((len(j), L + 1, N))  # one degree after the other, as they are written
        # scale · sin^j may be as small as 1e-1000, and p as large: a number is `now` times 2^(512 · power), power ≤ 0.
        exponent = np.log2(self.scale[j])[:, None] + 0.5 * j[:, None] * np.log2((1 - cosines) * (1 + cosines))
        power = np.minimum(np.ceil(exponent / _BITS), 0.0)
        now, before = np.exp2(exponent - _BITS * power), np.zeros((len(j), N))
        small, table_rows = bool((power < 0).any()), np.arange(len(j))
        for i in range(L + 1):
            rows = np.flatnonzero(j + i <= L)
            if len(rows) < len(j):
                j, now, before, power, table_rows = j[rows], now[rows], before[rows], power[rows], table_rows[rows]
            if not len(j):
                break
            if i:
                after = self.u[j, i][:, None] * cosines * now
                after -= self.v[j, i][:, None] * before
                now, before = after, now
                if small:
                    large = (power < 0) & (np.abs(now) > 2.0 ** (_BITS // 2))
                    if large.any():
                        now[large] *= 2.0**-_BITS
                        before[large] *= 2.0**-_BITS
                        power[large] += 1
                        small = bool((power < 0).any())
            table[table_rows, j + i] = np.where(power < 0, 0.0, now) if small else now
        return table.transpose(0, 2, 1)


@final
class S2Harmonics(EulerFamily):
    """All harmonics of S² of some degrees, orthonormal under the uniform probability measure.

    Parameters
    ----------
    degrees : sequence of int
        Each degree k has 2k + 1 functions, listed as 0, 1c, 1s, 2c, 2s, …: the order, and cosine or sine.
    orders : ndarray of bool, shape (max(degrees) + 1,), optional
        The orders that are computed, all by default. Sums of the others over data are zero, and combinations ignore
        their coefficients.
    """

    power = 1

    def __init__(self, degrees: Sequence[int], orders: NDArray[np.bool_] | None = None) -> None:
        super().__init__(degrees)
        top = self.top
        j = np.arange(top + 1.0)
        # √2/√E[(1 − z²)^j] = √(2 ∏ (2i + 3)/(2i + 2)), i < j: real and imaginary part of the power have norm one.
        growth = np.cumprod((1.5 + j) / (1.0 + j))
        scale = np.sqrt(np.concatenate([[1.0], 2 * growth[:-1]]))
        # u_i = 1/a_i and v_i = a_{i−1}/a_i, with the a of `gegenbauer_recurrence` for the order j + 1/2.
        i = np.maximum(np.arange(top + 1.0), 1.0)
        order = j[:, None] + 0.5
        a = np.sqrt(i * (i + 2 * order - 1) / (4 * (i + order) * (i + order - 1)))
        v = np.zeros_like(a)
        v[:, 2:] = a[:, 1:-1] / a[:, 2:]
        used = np.ones(top + 1, dtype=bool) if orders is None else np.array(orders)
        u = 1.0 / a
        u[:, 0], v[:, 0] = 0.0, -1.0
        self._program = Recurrence(top, used, scale, u, v)

    def restricted(self, size: Array) -> S2Harmonics:
        orders = np.zeros(self.top + 1, dtype=bool)
        end = 0
        for k in self._degrees:
            start, end = end, end + 2 * k + 1
            rows = size[start:end] > NOISE
            orders[: k + 1] |= np.concatenate([rows[:1], rows[1::2] | rows[2::2]])
        return S2Harmonics(self._degrees, orders)

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._s2 import s2_combine, s2_sums, s2_values

        return Loops(s2_sums, s2_combine, s2_values)

    def _block_rows(self, d: int) -> int:
        return 10

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self._full,)

    def _gathered(self, sums: Array) -> Array:
        return np.ascontiguousarray(sums.T if self._everything else sums.T[self._places])

    def _spread(self, C: Array) -> Array:
        spread = np.zeros((C.shape[1], *self._shape))
        spread[:, self._places] = C.T
        return spread

    def plain_values(self, X: Array) -> Array:
        if self.top > _PLAIN_DEGREE:
            unit = normalized(X)
            return np.concatenate(harmonics(unit, self._degrees), axis=1)
        start = np.full(self.top + 1, -1)  # of each degree among the functions
        start[list(self._degrees)] = np.cumsum([0, *(2 * k + 1 for k in self._degrees)])[:-1]
        values = np.zeros((self.dim, len(X)))
        powers, steps = self._steps(X)
        for j, degrees, p in steps:
            first = start[degrees]
            cosine, sine = first >= 0, (first >= 0) & (j > 0)  # order 0 has no sine
            values[(first + np.maximum(2 * j - 1, 0))[cosine]] = powers.real[: len(j)][cosine] * p[cosine]
            values[(first + 2 * j)[sine]] = powers.imag[: len(j)][sine] * p[sine]
        return values.T

    @property
    def degree_bytes(self) -> float | None:
        # This is faster than the values of all functions where at least half of the orders are left out.
        used = np.count_nonzero(self._program.used)
        return None if self.top > _PLAIN_DEGREE or 2 * used > self.top + 1 else 8.0 * 10 * used

    def degree_values(self, X: Array, matrices: Sequence[Array]) -> Iterator[Array]:
        x, y, z = normalized(X).T
        _, used, scale, u, v = self._program
        orders, each = np.flatnonzero(used), dict(zip(self._degrees, matrices, strict=True))
        powers = self._powers(x + 1j * y)[orders] * scale[orders, None]
        before, now = np.ones(powers.shape), np.zeros(powers.shape)  # p_{−2} and p_{−1}
        for degree in range(self.top + 1):  # all orders at once
            j = orders[: np.searchsorted(orders, degree, side="right")]
            i, k = degree - j, len(j)
            before[:k], now[:k] = now[:k], u[j, i, None] * z * now[:k] - v[j, i, None] * before[:k]
            if degree in each:
                cosines, sines = each[degree][np.maximum(2 * j - 1, 0)], each[degree][2 * j]
                part = (powers.real[:k] * now[:k]).T @ cosines
                yield part + (powers.imag[:k] * now[:k]).T @ sines if sines[j > 0].any() else part

    def _plain_combination(self, X: Array, C: Array) -> Array:
        if self.top > _PLAIN_DEGREE or C.shape[1] > FEW_COLUMNS:
            return super()._plain_combination(X, C)
        spread = self._spread(C)[:, :, None]  # (q, functions, 1)
        out = np.empty((len(X), C.shape[1]))
        for rows in self.chunks(len(X), 8.0 * (6 + 4 * C.shape[1]) * (self.top + 1)):
            powers, steps = self._steps(X[rows])
            cosines, sines = np.zeros((2, C.shape[1], *powers.shape))
            for j, degrees, p in steps:
                place = degrees**2 + 2 * j
                cosines[:, : len(j)] += spread[:, np.maximum(place - 1, degrees**2)] * p
                sines[:, : len(j)] += spread[:, place] * p  # what this adds for order 0 is multiplied by zero
            total = powers.real * cosines + powers.imag * sines  # (q, orders, n)
            out[rows] = np.ascontiguousarray(total.transpose(2, 0, 1)).sum(axis=2)
        return out

    def _steps(self, X: Array) -> tuple[NDArray[np.complex128], Iterator[tuple[Any, Any, Any]]]:
        """The powers of x + iy of all orders that are computed, and an iterator over i = 0, 1, ….

        The iterator gives the orders j that have a degree i + j, these degrees, and p_i of these orders.
        """  # (orders, n), and (j,), (j,), (j, n) each
        x, y, z = normalized(X).T
        top, used, scale, u, v = self._program
        orders = np.flatnonzero(used)

        def steps() -> Iterator[tuple[Any, Any, Any]]:
            before, now, left = np.zeros((len(orders), len(X))), np.ones((len(orders), len(X))), orders
            for i in range(top + 1):  # all orders at once, while i + j is a degree
                left = left[: np.searchsorted(left, top - i, side="right")]
                before, now = before[: len(left)], now[: len(left)]
                if i:
                    before, now = now, u[left, i, None] * z * now - v[left, i, None] * before
                yield left, i + left, now

        return self._powers(x + 1j * y)[orders] * scale[orders, None], steps()

    def _powers(self, w: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """w^0, w^1, … up to the highest order."""  # (n,) -> (top + 1, n)
        power = np.ones((self.top + 1, len(w)), dtype=np.complex128)
        for j in range(self.top):
            power[j + 1] = power[j] * w
        return power

    def combine_gradient(self, X: Array, C: Array) -> Array:
        if self._few(len(X)):
            return super().combine_gradient(X, C)
        from specavg.functions.loops._s2 import PLAIN
        from specavg.functions.loops._s2_slopes import s2_gradient_combine

        if self.top > PLAIN:
            return super().combine_gradient(X, C)
        out = np.empty((len(X), 3, C.shape[1]))
        return self._filled(s2_gradient_combine, X, (read_only(self._slope_coefficients(C)), self._block(X, 8)), out)

    def _slope_coefficients(self, C: Array) -> Array:
        """The coefficients that the loop of gradients reads: see `s2_gradient_combine`."""
        # (dim, q) -> (q, 2, (degree + 1)²)
        c, (before, across, along) = self._spread(C), self._slope_factors
        return np.stack([across * c, along * c[:, before]], axis=1)

    @cached_property
    def _slope_factors(self) -> tuple[NDArray[np.intp], Array, Array]:
        """For the function of degree k and order j: what `_slope_coefficients` makes its coefficients of.

        Returns
        -------
        before : ndarray of int
            The place of the function of degree k and order j − 1.
        across : ndarray
            The factor of p_{k−j} in the derivatives of its own function by x and y.
        along : ndarray
            The factor of p_{k−j} in the derivative by z of the function at `before`.
        """
        k = np.repeat(np.arange(self.top + 1), 2 * np.arange(self.top + 1) + 1)
        place = np.arange(len(k)) - k * k  # 0, 1c, 1s, 2c, 2s, ... of degree k
        j, sine = (place + 1) // 2, place % 2 == 0
        i, before, scale = k - j + 1, j - 1, self._program.scale
        # The derivative of p_i of the order j − 1 is this multiple of p_{i−1} of the order j.
        growth = np.sqrt(i * (i + 2 * j - 1) * (2 * j + 1) / np.maximum(2 * j, 1))
        along = np.where((j > 1) | ((j == 1) & ~sine), scale[before] * growth, 0.0)  # order 0 has no sine
        return k * k + np.maximum(2 * before - 1 + sine, 0), j * scale[j], along

    # --- as waves in Euler angles, for Gram operators: see `_euler_gram` ---

    @property
    def steps(self) -> tuple[int, int]:
        return step_of(np.flatnonzero(self._program.used)), 0

    def angles(self, X: Array) -> tuple[Array, Array, Array]:
        x, y, z = normalized(X).T
        return np.arctan2(y, x), np.arctan2(np.hypot(x, y), z), np.zeros(len(X))

    def wave_table(self, j: Orders, k: Orders, cosines: Array) -> Array:
        return self._program.table(j, cosines)

    def _wave_places(self, j: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Places among all harmonics of the cosines and sines of the orders j and all degrees; whether they exist."""
        # (P,) -> (P, top + 1, 2), (P, top + 1, 2)
        degree = np.arange(self.top + 1)
        cosine = degree**2 + np.maximum(2 * j[:, None] - 1, 0)
        there = (degree >= j[:, None])[..., None] & np.stack([j >= 0, j > 0], axis=1)[:, None]
        return np.where(there, np.stack([cosine, cosine + 1], axis=-1), 0), there

    def to_waves(self, C: Array, j: Orders, k: Orders) -> Array:
        full = self._spread(C).T  # (all, q)
        places, there = self._wave_places(j)
        return np.where(there[..., None], full[places], 0.0)

    def from_waves(self, waves: Array, j: Orders, k: Orders) -> Array:
        places, there = self._wave_places(j)
        full = np.zeros((*self._shape, waves.shape[3]))
        full[places[there]] = waves[there]
        return full if self._everything else full[self._places]

    def _twice(self) -> S2Harmonics:
        orders = np.zeros(2 * self.top + 1, dtype=bool)
        orders[:: self.steps[0] or 2 * self.top + 1] = True
        return S2Harmonics(range(2 * self.top + 1), orders)

    def _loop_nanoseconds(self, n: int) -> float:
        return _NANOSECONDS * n * (2 * self.top + 1.0) ** 2 / (self.steps[0] or 1)

    @cached_property
    def _all_functions(self) -> S2Harmonics:
        used = self._program.used
        if used.all():
            return self
        wider = used.copy()  # derivatives along rotations around x and y have the orders j − 1 and j + 1
        wider[1:] |= used[:-1]
        wider[:-1] |= used[1:]
        return S2Harmonics(self._degrees, wider)

    def _lifted(self, X: Array, slopes: Array) -> Array:
        # The rotation around e_a has the velocity e_a × x. So the derivatives are x × ∇f, and ∇f = (x × ∇f) × x.
        return np.cross(slopes, normalized(X)[:, :, None], axis=1)

    def _lowered(self, X: Array, G: Array) -> Array:
        return np.cross(normalized(X)[:, :, None], G, axis=1)
