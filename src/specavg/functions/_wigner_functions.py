"""Real Wigner functions of SO(3): the entries of the matrices that rotate spherical harmonics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._compiled import FEW_COLUMNS, Loops
from specavg.functions._euler_family import NOISE, EulerFamily
from specavg.functions._euler_sums import Orders, step_of
from specavg.functions._orthonormal_matrices import nearest_rotations
from specavg.functions._threads import read_only
from specavg.functions._wigner_matrices import euler_angles

_NANOSECONDS = 0.4  # of a sum over data, for each point and function; measured
# Where at most one function in this many is used, NumPy computes the values of those that are used faster than the loop
# computes all values.
_FEWER_ORDERS = 4


class WignerRecurrence(NamedTuple):
    """The recurrences d^{l+1} = (u cos β − t) d^l − v d^{l−1}, for each pair of orders (j, k), as loops read them.

    Attributes
    ----------
    degree : int
        The highest degree L.
    first : ndarray of shape (L + 1, 2L + 1)
        At (j, L + k): the first d, at l = max(j, |k|), over cos(β/2)^|j + k| sin(β/2)^|j − k|.
    u, t, v : ndarrays of shape (L + 1, L + 1, L + 1)
        At (l, j, |k|). For k < 0 the sign of t changes.
    """

    degree: int
    first: Array
    u: Array
    t: Array
    v: Array

    def run(
        self, cosine: Array, half_cosine: Array, half_sine: Array, steps: tuple[int, int] = (1, 1)
    ) -> Iterator[Array]:
        """d^l_{jk} for l = 0, 1, …, by plain NumPy.

        Of 0 ≤ j ≤ l and −l ≤ k ≤ l only the multiples of `steps` are computed.
        """  # (n,), (n,), (n,) -> (n, j, k) for each l
        L, (p, q) = self.degree, steps
        top = L // q
        j, k = p * np.arange(L // p + 1)[:, None], q * np.arange(-top, top + 1)
        P, Q = _powers(half_cosine, 2 * L), _powers(half_sine, 2 * L)
        now, before = np.zeros((2, len(cosine), len(j), len(k)))
        for l in range(L + 1):
            inside = np.s_[: l // p + 1, top - l // q : top + l // q + 1]
            if l:  # orders that the degree before has
                inner = np.s_[: (l - 1) // p + 1, top - (l - 1) // q : top + (l - 1) // q + 1]
                rows, m = j[inner[0], 0][:, None], np.abs(k[inner[1]])
                u, v = self.u[l - 1, rows, m], self.v[l - 1, rows, m]
                after = (cosine[:, None, None] * u - np.sign(k[inner[1]]) * self.t[l - 1, rows, m]) * now[:, *inner]
                after -= v * before[:, *inner]
                before[:, *inner] = now[:, *inner]
                now[:, *inner] = after
            row, column = np.nonzero(np.maximum(j, np.abs(k)) == l)  # orders that begin here
            i, m = j[row, 0], k[column]
            now[:, row, column] = self.first[i, L + m] * P[:, np.abs(i + m)] * Q[:, np.abs(i - m)]
            yield now[:, *inside]

    def table(self, j: Orders, k: Orders, cosines: Array) -> Array:
        """d^l_{jk} at nodes cos β, for P pairs of orders and all degrees l."""
        # (P,), (P,), (N,) -> (P, N, degree + 1)
        L = self.degree
        table = np.zeros((len(j), L + 1, len(cosines)))  # one degree after the other, as they are written
        half = np.sqrt((1 + cosines) / 2), np.sqrt((1 - cosines) / 2)
        first = self.first[j, L + k][:, None]
        first = first * half[0] ** np.abs(j + k)[:, None] * half[1] ** np.abs(j - k)[:, None]
        start, size, sign = np.maximum(j, np.abs(k)), np.abs(k), np.where(k < 0, -1.0, 1.0)
        for l in range(L + 1):
            rows = np.flatnonzero(start < l)
            if len(rows):
                u, t, v = (part[l - 1, j[rows], size[rows]][:, None] for part in self[2:])
                after = (u * cosines - t * sign[rows][:, None]) * table[rows, l - 1]
                if l > 1:
                    after -= v * table[rows, l - 2]
                table[rows, l] = after
            rows = np.flatnonzero(start == l)
            table[rows, l] = first[rows]
        return table.transpose(0, 2, 1)


@final
class WignerFunctions(EulerFamily):
    """√(2l+1) M^l(X)[a, b] for some degrees l, matrix by matrix and row by row.

    M^l(X) is the matrix of `wigner_matrices`, whose rows and columns are the harmonics 0, 1c, 1s, 2c, 2s, ….

    Parameters
    ----------
    degrees : sequence of int
    steps : pair of int, default (1, 1)
        Only functions whose orders of rows, and of columns, are multiples of these numbers are used. Gram operators and
        `sided_values` leave out the others.
    """

    power = 2

    def __init__(self, degrees: Sequence[int], steps: tuple[int, int] = (1, 1)) -> None:
        super().__init__(degrees)
        self._steps, L = steps, self.top
        j, k = np.arange(L + 1)[:, None], np.arange(-L, L + 1)
        # At l = max(j, |k|), with m = min(j, |k|), d is ± √binom(2l, l − m) cos(β/2)^|j + k| sin(β/2)^|j − k|.
        start, least = np.maximum(j, np.abs(k)), np.minimum(j, np.abs(k))
        roots = [float(comb(2 * int(l), int(l - m))) ** 0.5 for l, m in zip(start.flat, least.flat, strict=True)]
        signs = np.where((k < 0) & (k % 2 == 1) | (k > j) & ((k - j) % 2 == 1), -1.0, 1.0)  # of this real basis
        first = np.array(roots).reshape(start.shape) * signs
        l, a, b = np.arange(L + 1.0)[:, None, None], np.arange(L + 1.0)[:, None], np.arange(L + 1.0)
        above = np.sqrt(np.maximum(((l + 1) ** 2 - a**2) * ((l + 1) ** 2 - b**2), 1.0))
        here = np.sqrt(np.maximum((l**2 - a**2) * (l**2 - b**2), 0.0))
        positive = np.maximum(l, 1.0)
        u = (l + 1) * (2 * l + 1) / above
        t = np.where(l > 0, u * a * b / (positive * (positive + 1)), 0.0)
        v = np.where(l > 0, (l + 1) / positive * here / above, 0.0)
        self._program = WignerRecurrence(L, first, u, t, v)

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._wigner import wigner_combine, wigner_sums, wigner_values

        return Loops(wigner_sums, wigner_combine, wigner_values)

    def _block_rows(self, d: int) -> int:
        return 8 * self.top + 20

    def _loaded(self, X: Array) -> Array:
        from specavg.functions.loops._wigner import wigner_angles

        angles = np.empty((len(X), 7))
        wigner_angles(read_only(X), angles)
        return read_only(angles)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.top + 1, self.top + 1, 2 * self.top + 1, 2)

    def _gathered(self, sums: Array) -> Array:
        return self._real(sums) if self._everything else self._real(sums)[self._places]

    def _spread(self, C: Array) -> Array:
        full = np.zeros((self._full, C.shape[1]))
        full[self._places] = C
        return self._waves(full)

    def plain_values(self, X: Array) -> Array:
        start = dict(zip(self._degrees, np.cumsum([0, *((2 * l + 1) ** 2 for l in self._degrees)]), strict=False))
        values = np.empty((len(X), self.dim))
        for l, M in self._matrices(X, (1, 1)):
            values[:, start[l] : start[l] + (2 * l + 1) ** 2] = M.reshape(len(X), -1)
        return values

    def _matrices(self, X: Array, orders: tuple[int, int]) -> Iterator[tuple[int, Array]]:
        """Each degree l, and √(2l+1) M^l, by plain NumPy: rows and columns whose orders are multiples of `orders`."""
        # (n, 9) -> l, (n, a, b) each
        cosines, sines, steps = self._degree_by_degree(X, orders)
        wanted = set(self._degrees)
        for l, inside, d in steps:
            if l in wanted:
                yield l, np.sqrt(2 * l + 1) * _entries(np.stack([d * cosines[inside], d * sines[inside]], axis=3))

    @property
    def sided_bytes(self) -> float | None:
        p, q = self._steps
        return 8.0 * 20 * (self.top // p + 1) * (2 * (self.top // q) + 1) if p * q >= _FEWER_ORDERS else None

    def sided_values(self, X: Array, sides: Sequence[tuple[Array, Array]]) -> Iterator[Array]:
        p, q = self._steps
        each = dict(zip(self._degrees, sides, strict=True))
        for l, M in self._matrices(X, self._steps):
            left, right = (Q[_rows(l, step)] for Q, step in zip(each[l], (p, q), strict=True))
            # Two products of large matrices, instead of two of small ones for each point.
            M = (M.reshape(-1, M.shape[2]) @ right).reshape(*M.shape[:2], -1)
            yield np.tensordot(M, left, (1, 0)).transpose(0, 2, 1)

    def _plain_combination(self, X: Array, C: Array) -> Array:
        if C.shape[1] > FEW_COLUMNS:
            return super()._plain_combination(X, C)
        spread = self._spread(C)  # (q, l, j, L + k, 2)
        out = np.empty((len(X), C.shape[1]))
        for rows in self.chunks(len(X), 8.0 * (6 + 4 * C.shape[1]) * (self.top + 1) * (2 * self.top + 1)):
            cosines, sines, steps = self._degree_by_degree(X[rows])
            of_cosines, of_sines = np.zeros((2, C.shape[1], *cosines.shape))
            for l, inside, d in steps:
                mine, place = spread[:, None, l][:, *inside], np.s_[:, *inside]
                of_cosines[place] += mine[..., 0] * d
                of_sines[place] += mine[..., 1] * d
            total = cosines * of_cosines + sines * of_sines  # (q, n, j, L + k)
            out[rows] = total.reshape(*total.shape[:2], -1).sum(axis=2).T
        return out

    def _degree_by_degree(
        self, X: Array, orders: tuple[int, int] = (1, 1)
    ) -> tuple[Array, Array, Iterator[tuple[int, Any, Array]]]:
        """What all functions are made of, by plain NumPy, for the multiples j ≥ 0 and k of `orders` up to the degree L.

        Returns
        -------
        cosines, sines : ndarrays of shape (n, j, k)
            Those of jα + kγ.
        degrees : iterator
            For each degree l: the number l, the slices of (n, j, k) whose orders are at most l, and d^l there.
        """
        L, (p, q), angles = self.top, orders, _euler(X)
        left, right = (_powers(angles[:, i] + 1j * angles[:, i + 1], L)[:, ::step] for i, step in ((0, p), (2, q)))
        waves: NDArray[np.complex128] = (
            left[:, :, None] * np.concatenate([right[:, :0:-1].conj(), right], axis=1)[:, None, :]
        )
        cosine, half_cosine, half_sine = angles[:, 4:].T
        degrees = enumerate(self._program.run(cosine, half_cosine, half_sine, orders))
        middle = L // q
        steps = ((l, np.s_[:, : l // p + 1, middle - l // q : middle + l // q + 1], d) for l, d in degrees)
        return waves.real.copy(), waves.imag.copy(), steps

    def restricted(self, size: Array) -> WignerFunctions:
        rows, columns, end = [np.zeros(1, dtype=int)], [np.zeros(1, dtype=int)], 0
        for l in self._degrees:
            start, end = end, end + (2 * l + 1) ** 2
            used = size[start:end].reshape(2 * l + 1, 2 * l + 1) > NOISE
            for found, axis in ((rows, 1), (columns, 0)):
                found.append((np.flatnonzero(used.any(axis=axis)) + 1) // 2)
        return WignerFunctions(self._degrees, (step_of(np.concatenate(rows)), step_of(np.concatenate(columns))))

    # --- as waves in Euler angles, for Gram operators: see `_euler_gram` ---

    @property
    def steps(self) -> tuple[int, int]:
        return self._steps

    def angles(self, X: Array) -> tuple[Array, Array, Array]:
        return euler_angles(nearest_rotations(X))

    def wave_table(self, j: Orders, k: Orders, cosines: Array) -> Array:
        return self._program.table(j, k, cosines)

    def to_waves(self, C: Array, j: Orders, k: Orders) -> Array:
        return np.moveaxis(self._spread(C)[:, :, j, self.top + k], (2, 1, 3, 0), (0, 1, 2, 3))

    def from_waves(self, waves: Array, j: Orders, k: Orders) -> Array:
        full = np.zeros((waves.shape[3], *self._shape))
        full[:, :, j, self.top + k] = waves.transpose(3, 1, 0, 2)
        return self._gathered(full)

    def _twice(self) -> WignerFunctions:
        return WignerFunctions(range(2 * self.top + 1), self._steps)

    def _loop_nanoseconds(self, n: int) -> float:
        return _NANOSECONDS * n * 4 / 3 * (2.0 * self.top + 1) ** 3

    def _lifted(self, X: Array, slopes: Array) -> Array:
        # Rotations around e_a, from the left, move every column c of X with the velocity e_a × c. With S the
        # antisymmetric matrix of the slopes, the gradient in the metric of R⁹ is SX/2.
        columns = nearest_rotations(X)
        moved = np.cross(slopes[:, :, None, :], columns[:, :, :, None], axis=1)  # (n, 3, 3, q)
        return 0.5 * moved.reshape(len(X), 9, -1)

    def _lowered(self, X: Array, G: Array) -> Array:
        columns = nearest_rotations(X)
        moved = np.cross(columns[:, :, :, None], G.reshape(len(X), 3, 3, -1), axis=1)
        return 0.5 * moved.sum(axis=2)

    # M[jc,kc] = P cos₊ + N cos₋, M[jc,ks] = −P sin₊ + N sin₋, M[js,kc] = P sin₊ + N sin₋, M[js,ks] = P cos₊ − N cos₋,
    # with P = d_{jk} at the angle jα + kγ and N = d_{j,−k} at jα − kγ; √2 d where one of the orders is zero.

    def _real(self, waves: Array) -> Array:
        """Sums of the entries of all M over data, from sums of d cos(jα + kγ) and d sin(jα + kγ)."""
        # (q, L + 1, L + 1, 2L + 1, 2) -> (functions of all degrees, q)
        L = self.top
        parts = ((l, _entries(waves[:, l, : l + 1, L - l : L + l + 1])) for l in range(L + 1))
        return np.concatenate([np.sqrt(2 * l + 1) * M.reshape(len(waves), -1).T for l, M in parts])

    def _waves(self, C: Array) -> Array:
        """The transpose of `_real`: coefficients of the waves, from those of the entries of all M."""
        # (functions of all degrees, q) -> (q, L + 1, L + 1, 2L + 1, 2)
        L, q = self.top, C.shape[1]
        waves = np.zeros((q, L + 1, L + 1, 2 * L + 1, 2))
        ends = np.cumsum([0, *((2 * l + 1) ** 2 for l in range(L + 1))])
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


def _entries(E: Array) -> Array:
    """The entries of M of one degree, from d cos(jα + kγ) and d sin(jα + kγ) for 0 ≤ j ≤ a and |k| ≤ b."""
    # (q, a + 1, 2b + 1, 2) -> (q, 2a + 1, 2b + 1)
    a, b = E.shape[1] - 1, E.shape[2] // 2
    plus, minus = E[:, 1:, b + 1 :], E[:, 1:, :b][:, :, ::-1]
    M = np.empty((len(E), 2 * a + 1, 2 * b + 1))
    M[:, 0, 0] = E[:, 0, b, 0]
    M[:, 0, 1::2] = np.sqrt(2) * E[:, 0, b + 1 :, 0]
    M[:, 0, 2::2] = -np.sqrt(2) * E[:, 0, b + 1 :, 1]
    M[:, 1::2, 0] = np.sqrt(2) * E[:, 1:, b, 0]
    M[:, 2::2, 0] = np.sqrt(2) * E[:, 1:, b, 1]
    M[:, 1::2, 1::2] = plus[..., 0] + minus[..., 0]
    M[:, 1::2, 2::2] = minus[..., 1] - plus[..., 1]
    M[:, 2::2, 1::2] = minus[..., 1] + plus[..., 1]
    M[:, 2::2, 2::2] = plus[..., 0] - minus[..., 0]
    return M


def _rows(l: int, step: int) -> NDArray[np.intp]:
    """The places in the list 0, 1c, 1s, …, lc, ls of the orders that are multiples of `step`."""
    orders = step * np.arange(1, l // step + 1)
    return np.concatenate([[0], np.stack([2 * orders - 1, 2 * orders], axis=1).ravel()])


def _powers(x: NDArray[Any], top: int) -> NDArray[Any]:
    """x^0, …, x^top."""  # (n,) -> (n, top + 1)
    powers = np.ones((len(x), top + 1), dtype=x.dtype)
    for k in range(top):
        powers[:, k + 1] = powers[:, k] * x
    return powers


def _euler(X: Array) -> Array:
    """The same as the loop `wigner_angles`: cos α, sin α, cos γ, sin γ, cos β, cos β/2, sin β/2."""  # (n, 9) -> (n, 7)
    alpha, beta, gamma = euler_angles(nearest_rotations(X))
    around = [function(angle) for angle in (alpha, gamma) for function in (np.cos, np.sin)]
    return np.stack([*around, np.cos(beta), np.cos(beta / 2), np.sin(beta / 2)], axis=1)
