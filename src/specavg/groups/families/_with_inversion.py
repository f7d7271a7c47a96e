"""S_d or A_d together with the central inversion x ↦ −x."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import alternating_point, parity
from specavg.groups._structure import Structure
from specavg.groups.families._symmetric import Symmetric
from specavg.isometries import Isometry, SignedPermutation


@final
@dataclass(frozen=True)
class WithInversion(Structure):
    """±π for permutations π of `size` ≥ 3 coordinates.

    `signatures`, a subgroup of (Z/2)², has the pairs (parity of π, whether the sign is −) that occur.
    """

    size: int
    signatures: frozenset[tuple[int, int]]

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
            assert isinstance(g, SignedPermutation)
            odd = int(parity(g.image_array[None])[0])
            for negative in (0, 1):
                if (odd, negative) in self.signatures:
                    yield SignedPermutation(g.image, (1 - 2 * negative,) * self.size)

    @property
    def has_canonical(self) -> bool:
        return True

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
