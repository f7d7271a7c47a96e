"""Every even permutation."""

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
from specavg.isometries import Isometry, SignedPermutation


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
