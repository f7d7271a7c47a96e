"""Orbits of basis functions that a group permutes up to phases: union-find with exact phases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import numbered
from specavg.functions._integer_vectors import rows_in


@dataclass(frozen=True)
class Orbits:
    """The orbits that carry an invariant.

    Attributes
    ----------
    label : ndarray of int, shape (m,)
        Orbit of each basis function, -1 where phases around the orbit cancel.
    phase : ndarray of int, shape (m,)
        The invariant has coefficient exp(2πi phase/N) on each function of its orbit, N the modulus.
    size : ndarray of int, shape (count,)
        Number of functions in each surviving orbit.
    first : ndarray of int, shape (count,)
        One function of each orbit, with phase 0.
    """

    label: NDArray[np.int64]
    phase: NDArray[Any]
    size: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of surviving orbits."""
        return len(self.size)


def orbits(m: int, targets: Sequence[NDArray[Any]], phases: Sequence[NDArray[Any]], modulus: int) -> Orbits:
    """Orbits under maps that send function k to ω^{phase[k]} · function target[k], ω = exp(2πi/modulus).

    Phases are integers, so that 'equal to 1' is decided exactly whatever the modulus.
    """
    turning = modulus > 1 and any(np.any(phase) for phase in phases)
    label = np.arange(m)
    phase = np.zeros(m, dtype=phases[0].dtype if turning else np.int64)  # from function label[k] to function k
    joined = True
    while joined:  # each orbit that meets one with a lower label joins it: half are left at most, as a rule
        joined = False
        for t, p in zip(targets, phases, strict=True):
            there = label[t]
            edge = np.flatnonzero(label != there)
            if not len(edge):
                continue
            joined = True
            a, b = label[edge], there[edge]
            higher = np.maximum(a, b)
            if turning:  # the same edge counts for label and phase: of an index that is repeated, NumPy keeps the last
                turn = phase[edge] + p[edge] - phase[t[edge]]  # from function a to function b
                phase[higher] = np.where(a < b, turn, -turn) % modulus
            label[higher] = np.minimum(a, b)
            while not np.array_equal(up := label[label], label):  # until each label is the lowest of its orbit
                if turning:
                    phase = (phase + phase[label]) % modulus
                label = up
    first, label = numbered(label)
    alive = np.ones(len(first), dtype=bool)
    if turning:
        for t, p in zip(targets, phases, strict=True):
            alive[label[(phase + p - phase[t]) % modulus != 0]] = False
    number = np.where(alive, np.cumsum(alive) - 1, -1)
    return Orbits(number[label], phase, np.bincount(label, minlength=len(alive))[alive], first[alive])


def orbits_of_exponents(K: NDArray[np.int64], moves: Iterable[tuple[Any, Any]]) -> Orbits:
    """Orbits of products x^k under signed permutations: of each the image, and which coordinates change their sign.

    Every image of a row of `K` is a row again. (x∘g)^k = ± x^{k'} with k'[image[i]] = k[i], and the sign (−1)^k for
    each coordinate that changes its own; Chebyshev polynomials T_k have the same parities.
    """
    targets, signs = [], []
    for image, flipped in moves:
        moved = np.empty_like(K)
        moved[:, image] = K
        targets.append(rows_in(moved, K))
        signs.append(K @ np.asarray(flipped, dtype=np.int64) % 2)
    return orbits(len(K), targets, signs, 2)
