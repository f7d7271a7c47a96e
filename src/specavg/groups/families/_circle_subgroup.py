"""The flow of one field that comes back to its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg.groups._structure import Continuous
from specavg.isometries import Isometry
from specavg.isometries.fields import Field


@final
@dataclass(frozen=True)
class CircleSubgroup(Continuous):
    """exp(t·field) for all t, of which `period` is a period."""

    field: Field
    period: float

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.field.size

    @property
    def fields(self) -> tuple[Field, ...]:
        """The one field, in a tuple."""
        return (self.field,)

    def random(self, rng: np.random.Generator) -> Isometry:
        return self.field.flow(self.period * rng.random())
