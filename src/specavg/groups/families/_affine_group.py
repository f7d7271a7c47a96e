"""Groups of affine maps of a torus: a finite group of integer matrices, and the shifts among the elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from specavg.groups._structure import Structure, random_integer
from specavg.isometries import Isometry, shift

Shift = tuple[Fraction, ...]


@final
@dataclass(frozen=True)
class AffineGroup(Structure):
    """Every element is, in one way, a multiple of each of `shifts` and then one of `representatives`.

    Parameters
    ----------
    representatives : tuple of Isometry
        One element for each matrix, the identity first.
    shifts : tuple of (Shift, int)
        Shifts t with their relative orders n: the shifts of the group are Σ c·t, 0 ≤ c < n, each in one way.
    """

    representatives: tuple[Isometry, ...]
    shifts: tuple[tuple[Shift, int], ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.representatives[0].size

    @property
    def order(self) -> int:
        return len(self.representatives) * math.prod(n for _, n in self.shifts)

    def random(self, rng: np.random.Generator) -> Isometry:
        counts = [random_integer(n, rng) for _, n in self.shifts]
        return self._shift(counts) @ self.representatives[int(rng.integers(len(self.representatives)))]

    def elements(self) -> Iterator[Isometry]:
        for g in self.representatives:
            for counts in itertools.product(*(range(n) for _, n in self.shifts)):
                yield self._shift(counts) @ g

    def _shift(self, counts: Sequence[int]) -> Isometry:
        d = self.representatives[0].size
        pairs = list(zip(counts, self.shifts, strict=True))
        return shift([sum((c * t[i] for c, (t, _) in pairs), Fraction(0)) % 1 for i in range(d)])
