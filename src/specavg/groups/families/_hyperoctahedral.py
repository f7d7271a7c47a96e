"""Every signed permutation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import ClosedCanonical, random_signs
from specavg.isometries import Isometry, SignedPermutation


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
