"""Permutations and sign changes of coordinates: all, none, or every second of them, with canonical points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import alternating_point, parity
from specavg.groups._structure import ClosedCanonical
from specavg.isometries import Isometry, SignedPermutation


@dataclass(frozen=True)
class _OfCoordinates(ClosedCanonical):
    """Changes of `size` coordinates, in every order or in none, with all signs or with none: abstract."""

    permutes: ClassVar[bool] = False
    flips: ClassVar[bool] = False

    size: int

    @property
    def order(self) -> int:
        return (math.factorial(self.size) if self.permutes else 1) * (2**self.size if self.flips else 1)

    def random(self, rng: np.random.Generator) -> SignedPermutation:
        image = rng.permutation(self.size).tolist() if self.permutes else range(self.size)
        signs = (1 - 2 * rng.integers(2, size=self.size)).tolist() if self.flips else (1,) * self.size
        return SignedPermutation(tuple(image), tuple(signs))

    def elements(self) -> Iterator[SignedPermutation]:
        unmoved, unchanged = tuple(range(self.size)), (1,) * self.size
        for image in itertools.permutations(unmoved) if self.permutes else (unmoved,):
            for signs in itertools.product((1, -1), repeat=self.size) if self.flips else (unchanged,):
                yield SignedPermutation(image, signs)

    def canonical(self, X: Array) -> Array:
        points = np.abs(X) if self.flips else X + 0.0
        return np.sort(points, axis=1) if self.permutes else points


@final
@dataclass(frozen=True)
class Trivial(_OfCoordinates):
    """Only the identity, on `size` coordinates."""


@final
@dataclass(frozen=True)
class SignFlips(_OfCoordinates):
    """Every change of signs of `size` coordinates: (Z/2)^d."""

    flips: ClassVar[bool] = True


@final
@dataclass(frozen=True)
class Symmetric(_OfCoordinates):
    """Every permutation of `size` coordinates: S_d."""

    permutes: ClassVar[bool] = True


@final
@dataclass(frozen=True)
class Hyperoctahedral(_OfCoordinates):
    """Every signed permutation of `size` coordinates: B_d, the symmetries of the cube."""

    permutes: ClassVar[bool] = True
    flips: ClassVar[bool] = True


@final
@dataclass(frozen=True)
class Alternating(ClosedCanonical):
    """Every even permutation of `size` coordinates: A_d."""

    size: int

    @property
    def order(self) -> int:
        return max(math.factorial(self.size) // 2, 1)

    def random(self, rng: np.random.Generator) -> Isometry:
        image = rng.permutation(self.size).tolist()
        if self.size > 1 and parity(np.array([image]))[0]:
            image[0], image[1] = image[1], image[0]
        return SignedPermutation(tuple(image), (1,) * self.size)

    def elements(self) -> Iterator[Isometry]:
        return (g for g in Symmetric(self.size).elements() if not parity(g.image_array[None])[0])

    def canonical(self, X: Array) -> Array:
        return alternating_point(X)
