"""What functions of S² and SO(3) are at one angle β, for pairs of orders: tables for transforms on grids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._s2_harmonics import Recurrence
from specavg.functions._wigner_functions import WignerRecurrence

_BITS = 512  # a step of the exponent by which numbers are scaled, so that they stay far inside of 2^±1022


def harmonic_table(recurrence: Recurrence, j: NDArray[np.intp], cosines: Array) -> Array:
    """Harmonics of order j at azimuth zero, for all degrees."""  # (P,), (N,) -> (P, N, degree + 1)
    L, N = recurrence.degree, len(cosines)
    table = np.zeros((len(j), L + 1, N))  # one degree after the other, as they are written
    # scale · sin^j may be as small as 1e-1000 and p as large: numbers carry a power of 2^512 beside them.
    exponent = np.log2(recurrence.scale[j])[:, None] + 0.5 * j[:, None] * np.log2((1 - cosines) * (1 + cosines))
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
            after = recurrence.u[j, i][:, None] * cosines * now
            after -= recurrence.v[j, i][:, None] * before
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


def wigner_table(recurrence: WignerRecurrence, j: NDArray[np.intp], k: NDArray[np.intp], cosines: Array) -> Array:
    """d^l_{jk}, for all degrees l."""  # (P,), (P,), (N,) -> (P, N, degree + 1)
    L = recurrence.degree
    table = np.zeros((len(j), L + 1, len(cosines)))  # one degree after the other, as they are written
    half = np.sqrt((1 + cosines) / 2), np.sqrt((1 - cosines) / 2)
    first = recurrence.first[j, L + k][:, None]
    first = first * half[0] ** np.abs(j + k)[:, None] * half[1] ** np.abs(j - k)[:, None]
    start, size, sign = np.maximum(j, np.abs(k)), np.abs(k), np.where(k < 0, -1.0, 1.0)
    for l in range(L + 1):
        rows = np.flatnonzero(start < l)
        if len(rows):
            u, t, v = (part[l - 1, j[rows], size[rows]][:, None] for part in recurrence[2:])
            after = (u * cosines - t * sign[rows][:, None]) * table[rows, l - 1]
            if l > 1:
                after -= v * table[rows, l - 2]
            table[rows, l] = after
        rows = np.flatnonzero(start == l)
        table[rows, l] = first[rows]
    return table.transpose(0, 2, 1)
