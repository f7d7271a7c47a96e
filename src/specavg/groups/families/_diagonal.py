"""The same element on every copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from specavg.groups._structure import Structure
from specavg.isometries import Isometry, copies

if TYPE_CHECKING:
    from specavg.groups._group import Group

__all__ = ["Diagonal"]


@final
@dataclass(frozen=True)
class Diagonal(Structure):
    """One element of `group`, the same on each of `copies` copies."""

    group: Group
    copies: int

    @property
    def size(self) -> int:
        """How many copies the group acts on."""
        return self.copies

    @property
    def order(self) -> int | float:
        return self.group.order

    def random(self, rng: np.random.Generator) -> Isometry:
        return self._everywhere(self.group.random(rng))

    def elements(self) -> Iterator[Isometry]:
        return (self._everywhere(g) for g in self.group.elements(limit=self.group.finite_order))

    def _everywhere(self, g: Isometry) -> Isometry:
        return copies(range(self.copies), [g] * self.copies)
