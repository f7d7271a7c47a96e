"""The rotations of the circle by a part of the period, with and without reflections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from specavg.groups._structure import Structure, random_integer
from specavg.isometries import Isometry, affine, shift


@final
@dataclass(frozen=True)
class Cyclic(Structure):
    """The rotations of the circle by multiples of 1/n of the period."""

    size: ClassVar[int] = 1

    n: int

    @property
    def order(self) -> int:
        return self.n

    def random(self, rng: np.random.Generator) -> Isometry:
        return shift([Fraction(random_integer(self.n, rng), self.n)])

    def elements(self) -> Iterator[Isometry]:
        return (shift([Fraction(k, self.n)]) for k in range(self.n))


@final
@dataclass(frozen=True)
class Dihedral(Structure):
    """The rotations of the circle by multiples of 1/n of the period, and the reflections u ↦ k/n − u."""

    size: ClassVar[int] = 1

    n: int

    @property
    def order(self) -> int:
        return 2 * self.n

    def random(self, rng: np.random.Generator) -> Isometry:
        turn = random_integer(self.n, rng)
        return affine([[1 - 2 * int(rng.integers(2))]], [Fraction(turn, self.n)])

    def elements(self) -> Iterator[Isometry]:
        return (affine([[s]], [Fraction(k, self.n)]) for s in (1, -1) for k in range(self.n))
