"""Every change of signs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import ClosedCanonical, random_signs
from specavg.isometries import Isometry, SignedPermutation


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
