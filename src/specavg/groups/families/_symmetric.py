"""Every permutation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import ClosedCanonical
from specavg.isometries import Isometry, SignedPermutation


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
