"""Waves on a torus and how isometries move them: a permutation of frequencies with exact phases."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._integer_vectors import rows_in
from specavg.functions._trigonometric_sums import TrigonometricSums
from specavg.isometries import Affine, Isometry, SignedPermutation
from specavg.isometries.fields import ShiftField


class FrequencyAction(NamedTuple):
    """e_k(gx) = exp(2πi θ_k/N) e_{s_k k'}(x), with k' the row `target[k]` of the list of frequencies."""

    target: NDArray[np.intp]  # (h,)
    sign: NDArray[np.int64]  # (h,): s_k
    phase: NDArray[Any]  # (h,): θ_k, integers modulo N where the shift is exact, else floats modulo one
    modulus: int  # N


def frequency_action(g: Isometry, K: NDArray[np.int64]) -> FrequencyAction | None:
    """How `g` moves one of each pair ±k, the rows of `K`; None if it moves some out of the list."""
    if isinstance(g, SignedPermutation):
        moved = np.empty_like(K)
        moved[:, g.image_array] = K * g.signs_array.astype(np.int64)  # Aᵀk
        phase, modulus = np.zeros(len(K), dtype=np.int64), 1
    else:
        assert isinstance(g, Affine)
        moved = K @ g.matrix
        phase, modulus = _phases(K, g.shift)
    first = np.take_along_axis(moved, (moved != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    sign = np.where(first < 0, -1, 1)
    target = rows_in(moved * sign[:, None], K)
    return None if (target < 0).any() else FrequencyAction(target, sign, phase, modulus)


def frequency_speeds(K: NDArray[np.int64], field: ShiftField) -> NDArray[Any]:
    """k·v for each frequency k; summed as integers where the velocity is exact, so that zero is zero."""
    if not field.is_exact:
        return K @ field.vector
    sums, modulus = _exact_sums(K, [Fraction(v) for v in field.velocity])
    return np.asarray(sums / modulus, dtype=float)


def wave_functions(period: Array, listed: Sequence[NDArray[np.int64]]) -> TrigonometricSums:
    """√2 cos 2πk·u for every k of a list, then √2 sin 2πk·u, one list after another; 1 for the list of k = 0."""
    from scipy.sparse import coo_array

    K = np.concatenate([np.empty((0, len(period)), dtype=np.int64), *listed])
    rows: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
    end = 0
    for part in listed:
        cosines = np.arange(end, end := end + len(part))
        rows += [cosines, cosines + len(K)] if part.any() else [cosines]
    row = np.concatenate(rows)
    values = np.where(K[row % max(len(K), 1)].any(axis=1), 1.0, np.sqrt(0.5))  # the constant is 1, not √2
    Q = coo_array((values, (row, np.arange(len(row)))), shape=(2 * len(K), len(row)))
    return TrigonometricSums(period, K, Q.tocsr())


def wave_matrix(action: FrequencyAction) -> Array:
    """D(g) on √2 cos 2πk·u for every k, then √2 sin 2πk·u."""  # (2h, 2h)
    target, sign, phase, modulus = action
    h, column = len(target), np.arange(len(target))
    angle = 2 * np.pi * (phase / modulus).astype(float)
    D = np.zeros((2 * h, 2 * h))
    D[target, column] = np.cos(angle)
    D[h + target, column] = -sign * np.sin(angle)
    D[target, h + column] = np.sin(angle)
    D[h + target, h + column] = sign * np.cos(angle)
    return D


def wave_derivative(K: NDArray[np.int64], field: ShiftField) -> Array:
    """dD(ξ) on the functions of `wave_matrix`: ξ cos 2πk·u = −2π(k·v) sin 2πk·u and ξ sin 2πk·u = 2π(k·v) cos 2πk·u."""
    speed = 2 * np.pi * frequency_speeds(K, field).astype(float)
    h, column = len(speed), np.arange(len(speed))
    dD = np.zeros((2 * h, 2 * h))
    dD[h + column, column] = -speed
    dD[column, h + column] = speed
    return dD


def _phases(K: NDArray[np.int64], shift: tuple[Fraction | float, ...]) -> tuple[NDArray[Any], int]:
    """K·shift modulo one, as integers over a common denominator where the shift is exact."""
    exact = [t for t in shift if isinstance(t, Fraction)]
    if len(exact) < len(shift):
        return (K @ np.array([float(t) for t in shift])) % 1.0, 1
    sums, modulus = _exact_sums(K, exact)
    return sums % modulus, modulus


def _exact_sums(K: NDArray[np.int64], numbers: Sequence[Fraction]) -> tuple[NDArray[Any], int]:
    """K·numbers as integers over a common denominator, and the denominator."""
    modulus = lcm(*(t.denominator for t in numbers))
    numerators = [int(t * modulus) for t in numbers]
    largest = int(np.abs(K).max(initial=0)) * sum(map(abs, numerators))
    kind = np.int64 if max(largest, modulus) < 2**62 else object  # Python's integers where 64 bits would overflow
    return K.astype(kind) @ np.array(numerators, dtype=kind), modulus
