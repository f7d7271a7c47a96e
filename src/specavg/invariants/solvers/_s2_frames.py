"""Coordinates of R³ in which isometries act on the harmonics of S² by signs and turns of pairs.

A turn around z multiplies the pair of order k by e^{ikθ}; a half-turn around x or y gives every harmonic a sign;
the inversion gives degree l the sign (−1)^l. With the axis of one element along z the functions that it fixes are
chosen by their order: nothing is computed, and what is left to solve is as many times smaller as the axis has folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Array
from specavg.invariants._certified_null_space import UnclearRank, clear_zeros, rounding

_ALIGNED = 4e-15  # entries of a matrix below this are rounding
_EXACT = "the angle of a turn is too close to a fraction of a full turn. Give generators accurate to rounding."
LARGEST_DEGREE = 4096  # an axis with more folds leaves only order 0


@dataclass(frozen=True)
class Columns:
    """Real harmonics of one degree: cosines (`sine` False) and sines of some orders.

    `residual` and `gap` are the largest |D(g) − 1| among those that are kept and the smallest among the others.
    """

    orders: NDArray[np.intp]
    sine: NDArray[np.bool_]
    residual: float
    gap: float

    def __len__(self) -> int:
        return len(self.orders)


@dataclass(frozen=True, eq=False)
class Frame:
    """A rotation of R³, and what isometries are in the turned coordinates.

    Attributes
    ----------
    rotation : ndarray of shape (3, 3)
        New coordinates are `rotation` @ x.
    turns : tuple of (parity, angle)
        Isometries ±Rz(angle), the angle in full turns.
    flips : tuple of (parity, axis)
        Half-turns around x (0) or y (1), up to the same sign.
    step : int
        Fixed functions have orders 0, step, 2·step, … only.
    axial : bool
        Whether all turns around z are in the group: fixed functions have order 0 only.
    """

    rotation: Array
    turns: tuple[tuple[int, float], ...]
    flips: tuple[tuple[int, int], ...]
    step: int
    axial: bool = False

    @property
    def plain(self) -> bool:
        """Whether the coordinates are the old ones."""
        return np.array_equal(self.rotation, np.eye(3))

    def columns(self, degree: int) -> Columns:
        """The harmonics of one degree that all `turns` and `flips` fix."""
        everyone = np.arange(degree + 1)
        error = everyone.astype(float) if self.axial else np.zeros(degree + 1)  # the field has weight k on order k
        for parity, angle in self.turns:
            wave = waves(angle, everyone)
            error = np.maximum(error, np.hypot(parity**degree * wave[0] - 1, wave[1]))
        kept = clear_zeros(error, rounding(2 * degree + 1, degree))
        k = everyone[kept]
        if (k % self.step).any():  # a fold that is one by the rounding of this degree, but not by its own
            raise UnclearRank(
                f"whether orders {k[k % self.step > 0]} of degree {degree} are fixed is in doubt: {_EXACT}"
            )
        orders, sine = np.concatenate([k, k[k > 0]]), np.repeat([False, True], [len(k), int((k > 0).sum())])
        alive = np.ones(len(orders), dtype=bool)
        for parity, axis in self.flips:
            # x: φ → −φ and z → −z; y: φ → π − φ and z → −z. cos kφ and P(z) get (−1)^{l−k}, times (−1)^k for y.
            power = np.full(len(orders), degree) if axis == 1 else degree - orders
            alive &= parity**degree * np.where(power % 2, -1, 1) * np.where(sine, -1, 1) == 1
        gap = float(error[~kept].min(initial=np.inf if alive.all() else 2.0))
        return Columns(orders[alive], sine[alive], float(error[kept].max(initial=0.0)), gap)

    def sorts(self, matrix: Array) -> bool:
        """Whether `columns` has taken this isometry (in the old coordinates) into account."""
        _, R = self.moved(matrix)
        return _flipped(R) is not None or _angle(R) is not None

    def moved(self, matrix: Array) -> tuple[int, Array]:
        """Parity and rotation of an isometry, in the new coordinates."""
        return _parted(self.rotation @ matrix @ self.rotation.T)


def frame(matrices: Sequence[Array], field_axis: Array | None = None) -> Frame:
    """The coordinates to work in: the given ones if an axis or mirror lies along z, else those with the best axis as z.

    All turns around `field_axis` are in the group; z is then along it.
    """
    plain = _frame(np.eye(3), matrices)
    if field_axis is not None:
        along_z = max(abs(field_axis[0]), abs(field_axis[1])) <= _ALIGNED
        found = plain if along_z else _frame(_rotation(field_axis, []), matrices)
        return replace(found, step=LARGEST_DEGREE + 1, axial=True)
    if plain.flips or plain.step > 1:
        return plain
    axes = [axis for axis in (_axis(_parted(matrix)[1]) for matrix in matrices) if axis is not None]
    found = [_frame(_rotation(axis, axes), matrices) for axis in axes]
    return max(found, key=lambda candidate: (candidate.step, len(candidate.flips)), default=plain)


def waves(angle: float, orders: NDArray[np.intp]) -> Array:
    """Cos and sin of `orders`·`angle`, the angle in full turns: a quarter turn stays exact."""  # (n,) -> (2, n)
    turns = orders * angle
    turns = 2 * np.pi * (turns - np.rint(turns))
    return np.stack([np.cos(turns), np.sin(turns)])


def _frame(rotation: Array, matrices: Sequence[Array]) -> Frame:
    turns: list[tuple[int, float]] = []
    flips: list[tuple[int, int]] = []
    for parity, R in (_parted(rotation @ matrix @ rotation.T) for matrix in matrices):
        axis, angle = _flipped(R), _angle(R)
        if axis is not None:
            flips.append((parity, axis))
        elif angle is not None:
            turns.append((parity, angle))
    return Frame(rotation, tuple(turns), tuple(flips), lcm(*(_fold(parity, angle) for parity, angle in turns)))


def _parted(matrix: Array) -> tuple[int, Array]:
    """The sign of det, and the rotation that is left."""
    parity = 1 if np.linalg.det(matrix) > 0 else -1
    return parity, parity * matrix


def _flipped(R: Array) -> int | None:
    """The axis, 0 for x and 1 for y, about which `R` is a half turn; None for other rotations."""
    for axis in (0, 1):
        if np.abs(R - np.diag([1.0 - 2 * axis, 2.0 * axis - 1, -1.0])).max() <= _ALIGNED:
            return axis
    return None


def _angle(R: Array) -> float | None:
    """The angle of a rotation about z, in full turns; None for other rotations."""
    about_z = max(abs(R[2, 0]), abs(R[2, 1]), abs(R[0, 2]), abs(R[1, 2])) <= _ALIGNED and R[2, 2] > 0
    return float(np.arctan2(R[1, 0], R[0, 0]) / (2 * np.pi)) if about_z else None


def _fold(parity: int, angle: float) -> int:
    """The least k > 0 with e^{ikθ} = 1 (or −1, which an improper turn needs at odd degrees)."""
    k = np.arange(1, LARGEST_DEGREE + 1)
    wave = waves(angle, k)
    error = np.hypot(np.abs(wave[0]) - 1 if parity < 0 else wave[0] - 1, wave[1])
    whole = np.flatnonzero(error <= 1e-14 * k)
    return int(k[whole[0]]) if whole.size else LARGEST_DEGREE + 1


def _axis(R: Array) -> Array | None:
    """The axis of a rotation; None for the identity."""
    across = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if np.linalg.norm(across) > 1e-1:
        return across / np.linalg.norm(across)
    if np.trace(R) > 0:  # a small angle: R − 1 vanishes on the axis only
        if np.abs(R - np.eye(3)).max() <= _ALIGNED:
            return None
        return np.linalg.svd(R - np.eye(3))[2][2]
    square = R + R.T + (1 - np.trace(R)) * np.eye(3)  # near half a turn: a multiple of n nᵀ
    column = square[:, np.argmax(np.diag(square))]
    return column / np.linalg.norm(column)


def _rotation(axis: Array, axes: Sequence[Array]) -> Array:
    """A rotation that takes `axis` to z and, if one of `axes` is at right angles to it, that one to x."""
    across = [a for a in axes if abs(a @ axis) < 1e-12] or [np.eye(3)[np.argmin(np.abs(axis))]]
    x = across[0] - (across[0] @ axis) * axis
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis])
