"""Groups that act side by side, each on its own factor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import Structure
from specavg.isometries import Isometry, factors

if TYPE_CHECKING:
    from specavg.groups._group import Group


@final
@dataclass(frozen=True)
class DirectProduct(Structure):
    """G × H × ..., each acting on its own factor."""

    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return len(self.groups)

    @property
    def columns(self) -> int:
        return sum(group.columns for group in self.groups)

    @property
    def identity(self) -> Isometry:
        return factors([group.identity for group in self.groups])

    @property
    def order(self) -> int | float:
        return math.prod(group.order for group in self.groups)

    def random(self, rng: np.random.Generator) -> Isometry:
        return factors([group.random(rng) for group in self.groups])

    def elements(self) -> Iterator[Isometry]:
        return self._elements(())

    def _elements(self, chosen: tuple[Isometry, ...]) -> Iterator[Isometry]:
        # Nested and lazy: itertools.product would store every factor's elements first.
        if len(chosen) == len(self.groups):
            yield factors(chosen)
            return
        group = self.groups[len(chosen)]
        for g in group.elements(limit=group.finite_order):
            yield from self._elements((*chosen, g))

    @property
    def has_canonical(self) -> bool:
        return all(group.has_canonical for group in self.groups)

    def canonical(self, X: Array) -> Array:
        ends = np.cumsum([group.columns for group in self.groups])
        blocks = np.split(X, ends[:-1], axis=1)
        return np.hstack([group.canonical(block) for group, block in zip(self.groups, blocks, strict=True)])
