"""What functions of S² and SO(3) are at one angle β, for pairs of orders: tables for transforms on grids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._s2_harmonics import Recurrence
from specavg.functions._wigner_functions import WignerRecurrence

__all__ = ["harmonic_table", "wigner_table"]

_BITS = 512


def harmonic_table(recurrence: Recurrence, j: NDArray[np.intp], cosines: Array) -> Array:
    """Harmonics of order j at azimuth zero, for all degrees."""  # (P,), (N,) -> (P, N, degree + 1)
    L, N = recurrence.degree, len(cosines)
    table = np.zeros((len(j), N, L + 1))
    # scale · sin^j may be as small as 1e-1000 and p as large: numbers carry a power of 2^512 beside them.
    exponent = np.log2(recurrence.scale[j])[:, None] + 0.5 * j[:, None] * np.log2((1 - cosines) * (1 + cosines))
    power = np.minimum(np.ceil(exponent / _BITS), 0.0)
    now, before = np.exp2(exponent - _BITS * power), np.zeros((len(j), N))
    for i in range(L + 1):
        rows = np.flatnonzero(j + i <= L)
        if not len(rows):
            break
        if i:
            u, v = recurrence.u[j[rows], i][:, None], recurrence.v[j[rows], i][:, None]
            now[rows], before[rows] = u * cosines * now[rows] - v * before[rows], now[rows]
            large = (power < 0) & (np.abs(now) > 2.0 ** (_BITS // 2))
            if large.any():
                now[large] *= 2.0**-_BITS
                before[large] *= 2.0**-_BITS
                power[large] += 1
        table[rows, :, j[rows] + i] = np.where(power[rows] < 0, 0.0, now[rows])
    return table


def wigner_table(recurrence: WignerRecurrence, j: NDArray[np.intp], k: NDArray[np.intp], cosines: Array) -> Array:
    """d^l_{jk}, for all degrees l."""  # (P,), (P,), (N,) -> (P, N, degree + 1)
    L = recurrence.degree
    table = np.zeros((len(j), len(cosines), L + 1))
    half = np.sqrt((1 + cosines) / 2), np.sqrt((1 - cosines) / 2)
    first = recurrence.first[j, L + k][:, None]
    first = first * half[0] ** np.abs(j + k)[:, None] * half[1] ** np.abs(j - k)[:, None]
    start, size, sign = np.maximum(j, np.abs(k)), np.abs(k), np.where(k < 0, -1.0, 1.0)
    now, before = np.zeros((len(j), len(cosines))), np.zeros((len(j), len(cosines)))
    for l in range(L + 1):
        rows = np.flatnonzero(start < l)
        if len(rows):
            u, t, v = (part[l - 1, j[rows], size[rows]][:, None] for part in recurrence[2:])
            t = t * sign[rows][:, None]
            now[rows], before[rows] = (u * cosines - t) * now[rows] - v * before[rows], now[rows]
        rows = np.flatnonzero(start == l)
        now[rows] = first[rows]
        rows = np.flatnonzero(start <= l)
        table[rows, :, l] = now[rows]
    return table
