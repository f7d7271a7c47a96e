"""The group of the identity alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import ClosedCanonical
from specavg.isometries import Isometry, identity


@final
@dataclass(frozen=True)
class Trivial(ClosedCanonical):
    """Only the identity, on `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return 1

    def random(self, rng: np.random.Generator) -> Isometry:
        return identity(self.size)

    def elements(self) -> Iterator[Isometry]:
        yield identity(self.size)

    def canonical(self, X: Array) -> Array:
        return X + 0.0
