"""Integrals over rotations of densities with peaks: cells of Euler angles, halved where the density is sharp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._orthonormal_matrices import turns_about_z

# Cells of Euler angles that peaks are looked for in, of 10° in each angle, with three nodes in each: those of an
# exponential density of 192 functions have spreads of at least 2°. Each is halved in each angle at most five times.
_CELLS, _NODES, _HALVED = 36, 3, 5
_LEFT = 0.1  # of what is settled: the share of ∫f² that cells which are not halved may change or have, together
_TOGETHER = 200_000  # rotations at a time, of 72 bytes each


@final
@dataclass(frozen=True)
class Integrals:
    """What cells tell of a density f.

    Attributes
    ----------
    mass : float
        ∫f.
    square : float
        ∫f².
    error : float
        Of the mass, relative: by how much cells changed when they were halved last, all together.
    """

    mass: float
    square: float
    error: float


def integrals_over_cells(values: Callable[[Array], Array], settled: float) -> Integrals | None:
    """∫f and ∫f² over cells of Euler angles, halved until that hardly changes ∫f²; None where it always does.

    Parameters
    ----------
    values : callable
        Rotations of shape (n, 9) to f.
    settled : float
        The relative change of ∫f² that ends it.
    """
    t, w = np.polynomial.legendre.leggauss(_NODES)
    offsets = np.stack([x.ravel() for x in np.meshgrid(t, t, t, indexing="ij")], axis=1)
    share = (w[:, None, None] * w[:, None] * w).ravel()

    def masses(cells: Array, half: float) -> Array:
        angles = cells[:, None] + half * offsets  # (m, nodes, 3)
        found = np.empty((len(cells), 2))
        step = _TOGETHER // len(offsets)
        for start in range(0, len(cells), step):
            rows = angles[start : start + step].reshape(-1, 3)
            a, b, c = np.ascontiguousarray(rows.T)
            cos, sin, zero = np.cos(b), np.sin(b), np.zeros(len(b))
            tilt = np.array([[cos, zero, sin], [zero, zero + 1, zero], [-sin, zero, cos]]).transpose(2, 0, 1)
            f = values((turns_about_z(a) @ tilt @ turns_about_z(c)).reshape(-1, 9))
            measure = half**3 * np.sin(b) / (8 * np.pi**2)
            for k, power in enumerate((f**2, f)):
                found[start : start + step, k] = (measure * power).reshape(-1, len(share)) @ share
        return found

    half = np.pi / _CELLS
    middle = half * (2 * np.arange(_CELLS) + 1)
    cells = np.stack(np.meshgrid(middle, middle[: _CELLS // 2], middle, indexing="ij"), axis=-1).reshape(-1, 3)
    held: Array = masses(np.asarray(cells, dtype=np.float64), half)
    change, total = held[:, 0], held.sum(axis=0)  # nothing is known of changes: cells with a part of the square
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    for _ in range(_HALVED):
        order = np.argsort(-change)
        rest = change.sum() - np.cumsum(change[order])
        left = np.sort(order[: int(np.sum(rest > _LEFT * settled * total[0])) + 1])  # from the largest change down
        half /= 2
        cells = (cells[left, None] + half * corners).reshape(-1, 3)
        parts = masses(cells, half)
        sums = parts.reshape(-1, 8, 2).sum(axis=1)
        total = total + sums.sum(axis=0) - held[left].sum(axis=0)
        off = np.abs(sums - held[left])
        if off[:, 0].sum() < settled * total[0]:
            return Integrals(float(total[1]), float(total[0]), float(off[:, 1].sum() / total[1]))
        held, change = parts, np.repeat(off[:, 0] / 8, 8)
    return None
