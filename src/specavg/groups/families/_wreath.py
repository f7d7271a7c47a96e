"""One group on every copy, and the copies permuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import sorted_copies
from specavg.groups.families._of_copies import OfCopies
from specavg.isometries import Isometry, copies


@final
@dataclass(frozen=True)
class Wreath(OfCopies):
    """H ≀ S_m: an element of H on each of `copies` copies, which are permuted."""

    @property
    def order(self) -> int | float:
        if not self.group.is_finite:
            return math.inf
        return self.group.finite_order**self.copies * math.factorial(self.copies)

    def random(self, rng: np.random.Generator) -> Isometry:
        image = rng.permutation(self.copies).tolist()
        return copies(image, [self.group.random(rng) for _ in range(self.copies)])

    def elements(self) -> Iterator[Isometry]:
        parts = list(self.group.elements(limit=self.group.finite_order))
        for image in itertools.permutations(range(self.copies)):
            for chosen in itertools.product(parts, repeat=self.copies):
                yield copies(image, chosen)

    @property
    def has_canonical(self) -> bool:
        return self.group.has_canonical

    def canonical(self, X: Array) -> Array:
        stacked = self.group.canonical(X.reshape(len(X) * self.copies, self.group.columns))
        return sorted_copies(stacked.reshape(len(X), self.copies, self.group.columns))
