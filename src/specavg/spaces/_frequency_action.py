"""How an isometry of a torus moves exponentials: a permutation of frequencies with exact phases."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg.functions._integer_vectors import rows_in
from specavg.isometries import Affine, Isometry, SignedPermutation
from specavg.isometries.fields import ShiftField

__all__ = ["FrequencyAction", "frequency_action", "frequency_speeds"]


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
