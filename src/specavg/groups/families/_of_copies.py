"""Groups on the copies of a power that are made from a group on one copy: wreath products, and diagonal groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import sorted_copies
from specavg.groups._structure import Structure
from specavg.isometries import Isometry, copies

if TYPE_CHECKING:
    from specavg.groups._group import Group


@dataclass(frozen=True)
class OfCopies(Structure):
    """Elements of `group` on each of `copies` copies: abstract."""

    group: Group
    copies: int

    @property
    def size(self) -> int:
        """How many copies the group acts on."""
        return self.copies

    @property
    def columns(self) -> int:
        return self.copies * self.group.columns

    @property
    def identity(self) -> Isometry:
        return self._everywhere(self.group.identity)

    def _everywhere(self, g: Isometry) -> Isometry:
        """The same element on every copy."""
        return copies(range(self.copies), [g] * self.copies)


@final
@dataclass(frozen=True)
class Diagonal(OfCopies):
    """One element of `group`, the same on each of `copies` copies."""

    @property
    def order(self) -> int | float:
        return self.group.order

    def random(self, rng: np.random.Generator) -> Isometry:
        return self._everywhere(self.group.random(rng))

    def elements(self) -> Iterator[Isometry]:
        return (self._everywhere(g) for g in self.group.elements(limit=self.group.finite_order))


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
