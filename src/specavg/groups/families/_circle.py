"""The rotations of the circle by a part of the period, with and without reflections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from specavg.groups._structure import Structure, random_integer
from specavg.isometries import Isometry
from specavg.isometries._affine import affine_map


@dataclass(frozen=True)
class _OfTheCircle(Structure):
    """u ↦ ±u + k/n for all k, with the signs of a family: abstract."""

    size: ClassVar[int] = 1
    _signs: ClassVar[tuple[int, ...]]

    n: int

    @property
    def order(self) -> int:
        return len(self._signs) * self.n

    def random(self, rng: np.random.Generator) -> Isometry:
        turn = Fraction(random_integer(self.n, rng), self.n)
        return affine_map([[self._signs[int(rng.integers(len(self._signs)))]]], [turn])

    def elements(self) -> Iterator[Isometry]:
        return (affine_map([[sign]], [Fraction(k, self.n)]) for sign in self._signs for k in range(self.n))


@final
@dataclass(frozen=True)
class Cyclic(_OfTheCircle):
    """The rotations of the circle by multiples of 1/n of the period."""

    _signs: ClassVar[tuple[int, ...]] = (1,)


@final
@dataclass(frozen=True)
class Dihedral(_OfTheCircle):
    """The rotations of the circle by multiples of 1/n of the period, and the reflections u ↦ k/n − u."""

    _signs: ClassVar[tuple[int, ...]] = (1, -1)
