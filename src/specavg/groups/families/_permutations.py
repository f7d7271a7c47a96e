"""Permutations and sign changes of coordinates: all of them, or those of some parities, with canonical points."""

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


Signature = tuple[int, int]  # parity of the permutation, parity of the number of signs


@final
@dataclass(frozen=True)
class SignedSubgroup(ClosedCanonical):
    """The signed permutations of `size` coordinates whose signature is among `signatures`.

    These are a subgroup of (Z/2)². With an even number of signs, for instance, this is the Weyl group D_d.
    """

    size: int
    signatures: frozenset[Signature]

    @property
    def order(self) -> int:
        return 2**self.size * math.factorial(self.size) * len(self.signatures) // 4

    def random(self, rng: np.random.Generator) -> Isometry:
        while True:  # four rounds on average at most
            g = Hyperoctahedral(self.size).random(rng)
            if signature(g) in self.signatures:
                return g

    def elements(self) -> Iterator[Isometry]:
        return (g for g in Hyperoctahedral(self.size).elements() if signature(g) in self.signatures)

    def canonical(self, X: Array) -> Array:
        """Absolute values, sorted; then one exchange or sign, where that point is in another orbit.

        Equal absolute values make either parity available, and a zero either sign.
        """
        sizes = np.abs(X)
        order = np.argsort(sizes, axis=1, kind="stable")
        Y = np.take_along_axis(sizes, order, axis=1)
        odd, signs = parity(order), (X < 0).sum(axis=1) % 2 == 1
        tie, zero = (Y[:, 1:] == Y[:, :-1]).any(axis=1), Y[:, 0] == 0
        for case in itertools.product((False, True), repeat=4):
            rows = np.all(np.stack([odd, signs, tie, zero], axis=1) == case, axis=1)
            swap, flip = self._correction(*case)
            if swap:
                Y[rows, -2], Y[rows, -1] = Y[rows, -1], Y[rows, -2]
            if flip:
                Y[rows, -1] = 0.0 - Y[rows, -1]
        return Y

    def _correction(self, odd: bool, signs: bool, tie: bool, zero: bool) -> Signature:
        free = {(a * tie, b * zero) for a in (0, 1) for b in (0, 1)}
        reached = {((a + c) % 2, (b + e) % 2) for a, b in self.signatures for c, e in free}
        return next(
            (a, b) for a, b in itertools.product((0, 1), repeat=2) if ((odd + a) % 2, (signs + b) % 2) in reached
        )


@final
@dataclass(frozen=True)
class WithInversion(ClosedCanonical):
    """±π for permutations π of `size` ≥ 3 coordinates.

    `signatures`, a subgroup of (Z/2)², has the pairs (parity of π, whether the sign is −) that occur.
    """

    size: int
    signatures: frozenset[Signature]

    @property
    def order(self) -> int:
        return math.factorial(self.size) // 2 * len(self.signatures)

    def random(self, rng: np.random.Generator) -> Isometry:
        while True:  # four rounds on average at most
            image, negative = rng.permutation(self.size), int(rng.integers(2))
            if (int(parity(image[None])[0]), negative) in self.signatures:
                return SignedPermutation(tuple(image.tolist()), (1 - 2 * negative,) * self.size)

    def elements(self) -> Iterator[Isometry]:
        for g in Symmetric(self.size).elements():
            odd = int(parity(g.image_array[None])[0])
            for negative in (0, 1):
                if (odd, negative) in self.signatures:
                    yield SignedPermutation(g.image, (1 - 2 * negative,) * self.size)

    def canonical(self, X: Array) -> Array:
        """The lexicographically least of the canonical points of x and −x under the permutations."""
        candidates: list[Array] = []
        for negative, Y in ((0, X), (1, 0.0 - X)):
            parities = {odd for odd, sign in self.signatures if sign == negative}
            if len(parities) == 2:
                candidates.append(np.sort(Y + 0.0, axis=1))
            elif parities == {0}:
                candidates.append(alternating_point(Y))
            elif parities == {1}:
                swapped = Y.copy()
                swapped[:, [0, 1]] = Y[:, [1, 0]]
                candidates.append(alternating_point(swapped))
        best = candidates[0]
        for other in candidates[1:]:
            differs = other != best
            first = differs.argmax(axis=1)[:, None]
            less = np.take_along_axis(other, first, axis=1) < np.take_along_axis(best, first, axis=1)
            best = np.where(less, other, best)
        return best


def signature(g: SignedPermutation) -> Signature:
    """Whether the permutation is odd, and whether the number of signs is."""
    return (g.size - len(g.cycles)) % 2, int((g.signs_array < 0).sum()) % 2
