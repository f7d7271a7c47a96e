"""Rotations and rotoinversions of R^3 by a fraction of a full turn, with exact powers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.isometries import Orthogonal, SignedPermutation, orthogonal


@final
@dataclass(frozen=True)
class Turn:
    """The rotation by 1/fold of a turn around `axis`; `improper`: followed by the inversion x ↦ −x.

    A mirror is the improper turn of fold 2 around its normal; the inversion is the improper turn of fold 1.
    """

    axis: tuple[float, float, float]
    fold: int
    improper: bool = False

    @property
    def order(self) -> int:
        """The least k > 0 whose power is the identity."""
        return math.lcm(self.fold, 2) if self.improper else self.fold

    @property
    def isometry(self) -> SignedPermutation | Orthogonal:
        """The turn itself."""
        return self.power(1)

    def power(self, k: int) -> SignedPermutation | Orthogonal:
        """`k` turns, computed from the angle: no rounding builds up."""
        n = np.array(self.axis, dtype=float) / math.hypot(*self.axis)
        cosine, sine = _cosine_sine(Fraction(k, self.fold))
        cross = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
        R: Array = cosine * np.eye(3) + sine * cross + (1.0 - cosine) * np.outer(n, n)
        return orthogonal(-R if self.improper and k % 2 else R)


def _cosine_sine(turns: Fraction) -> tuple[float, float]:
    """Cos and sin of 2π·turns, with the quarter turns exact."""
    quarter, rest = divmod(4 * turns, 1)
    c, s = math.cos(math.pi / 2 * float(rest)), math.sin(math.pi / 2 * float(rest))
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarter) % 4]
