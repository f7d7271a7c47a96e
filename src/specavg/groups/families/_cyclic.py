"""Cyclic and dihedral groups: rotations of the circle by a part of the period, and of a ring of coordinates."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import least_rotation
from specavg.groups._structure import ClosedCanonical, Structure, random_integer
from specavg.isometries import Isometry, SignedPermutation
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


@dataclass(frozen=True)
class _Ring(ClosedCanonical):
    """Ways to go round a ring of `size` coordinates, from each of them: abstract."""

    size: int

    @property
    @abc.abstractmethod
    def _directions(self) -> tuple[int, ...]:
        """The steps from one coordinate to the next: 1, or 1 and −1."""

    @property
    def order(self) -> int:
        return self.size * len(self._directions)

    def random(self, rng: np.random.Generator) -> Isometry:
        start = int(rng.integers(self.size))
        return self._round(start, self._directions[int(rng.integers(len(self._directions)))])

    def elements(self) -> Iterator[Isometry]:
        return (self._round(start, step) for step in self._directions for start in range(self.size))

    def _round(self, start: int, step: int) -> SignedPermutation:
        return SignedPermutation(tuple((start + step * i) % self.size for i in range(self.size)), (1,) * self.size)

    def canonical(self, X: Array) -> Array:
        return least_rotation(X, reversals=len(self._directions) > 1)


@final
@dataclass(frozen=True)
class CyclicShifts(_Ring):
    """The rotations of a ring of `size` coordinates."""

    @property
    def _directions(self) -> tuple[int, ...]:
        return (1,)


@final
@dataclass(frozen=True)
class DihedralShifts(_Ring):
    """The rotations and reversals of a ring of `size` coordinates; of two, a reversal is a rotation."""

    @property
    def _directions(self) -> tuple[int, ...]:
        return (1, -1) if self.size > 2 else (1,)
