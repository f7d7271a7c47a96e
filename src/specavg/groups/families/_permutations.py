"""Permutations and sign changes of coordinates: all, none, or every second of them, with canonical points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import alternating_point, parity
from specavg.groups._structure import ClosedCanonical, random_signs
from specavg.isometries import Isometry, SignedPermutation, identity


@final
@dataclass(frozen=True)
class Trivial(ClosedCanonical):
    """Only the identity, on `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return 1

    def random(self, rng: np.random.Generator) -> Isometry:
        return identity(self.size)

    def elements(self) -> Iterator[Isometry]:
        yield identity(self.size)

    def canonical(self, X: Array) -> Array:
        return X + 0.0


@final
@dataclass(frozen=True)
class SignFlips(ClosedCanonical):
    """Every change of signs of `size` coordinates: (Z/2)^d."""

    size: int

    @property
    def order(self) -> int:
        return 2**self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(range(self.size)), random_signs(self.size, rng))

    def elements(self) -> Iterator[Isometry]:
        for signs in itertools.product((1, -1), repeat=self.size):
            yield SignedPermutation(tuple(range(self.size)), signs)

    def canonical(self, X: Array) -> Array:
        return np.abs(X)


@final
@dataclass(frozen=True)
class Symmetric(ClosedCanonical):
    """Every permutation of `size` coordinates: S_d."""

    size: int

    @property
    def order(self) -> int:
        return math.factorial(self.size)

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(rng.permutation(self.size).tolist()), (1,) * self.size)

    def elements(self) -> Iterator[Isometry]:
        for image in itertools.permutations(range(self.size)):
            yield SignedPermutation(image, (1,) * self.size)

    def canonical(self, X: Array) -> Array:
        return np.sort(X + 0.0, axis=1)


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
        for image in itertools.permutations(range(self.size)):
            if not parity(np.array([image]))[0]:
                yield SignedPermutation(image, (1,) * self.size)

    def canonical(self, X: Array) -> Array:
        return alternating_point(X)


@final
@dataclass(frozen=True)
class Hyperoctahedral(ClosedCanonical):
    """Every signed permutation of `size` coordinates: B_d, the symmetries of the cube."""

    size: int

    @property
    def order(self) -> int:
        return 2**self.size * math.factorial(self.size)

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(rng.permutation(self.size).tolist()), random_signs(self.size, rng))

    def elements(self) -> Iterator[Isometry]:
        for image in itertools.permutations(range(self.size)):
            for signs in itertools.product((1, -1), repeat=self.size):
                yield SignedPermutation(image, signs)

    def canonical(self, X: Array) -> Array:
        return np.sort(np.abs(X), axis=1)
