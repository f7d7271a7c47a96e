"""Signed permutations that are told apart by two parities: with all signs, or with x ↦ −x only."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import alternating_point, parity
from specavg.groups._structure import ClosedCanonical
from specavg.groups.families._permutations import Hyperoctahedral, Symmetric
from specavg.isometries import Isometry, SignedPermutation

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
    return int(parity(g.image_array[None])[0]), sum(s < 0 for s in g.signs) % 2
