"""The same element on every copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg.groups.families._of_copies import OfCopies
from specavg.isometries import Isometry


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
