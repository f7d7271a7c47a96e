"""The rotations of a ring of coordinates, with and without its reversals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import least_rotation
from specavg.groups._structure import ClosedCanonical
from specavg.isometries import Isometry, SignedPermutation


@final
@dataclass(frozen=True)
class CyclicShifts(ClosedCanonical):
    """The rotations of a ring of `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        return _rotated(self.size, int(rng.integers(self.size)), 1)

    def elements(self) -> Iterator[Isometry]:
        return (_rotated(self.size, k, 1) for k in range(self.size))

    def canonical(self, X: Array) -> Array:
        return least_rotation(X, reversals=False)


@final
@dataclass(frozen=True)
class DihedralShifts(ClosedCanonical):
    """The rotations and reversals of a ring of `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return 2 * self.size if self.size > 2 else self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        turn = int(rng.integers(self.size))
        return _rotated(self.size, turn, 1 - 2 * int(rng.integers(2)))

    def elements(self) -> Iterator[Isometry]:
        directions = (1, -1) if self.size > 2 else (1,)
        return (_rotated(self.size, k, s) for s in directions for k in range(self.size))

    def canonical(self, X: Array) -> Array:
        return least_rotation(X, reversals=True)


def _rotated(d: int, start: int, direction: int) -> SignedPermutation:
    return SignedPermutation(tuple((start + direction * i) % d for i in range(d)), (1,) * d)
