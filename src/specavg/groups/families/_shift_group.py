"""All shifts of a torus along a few rational directions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from specavg.groups._structure import Continuous
from specavg.isometries import Isometry, affine


@final
@dataclass(frozen=True)
class ShiftGroup(Continuous):
    """x ↦ x + Σ t_i v_i for real t_i and integer vectors v_i, the `directions`: a closed torus of shifts."""

    directions: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many coordinates the group acts on."""
        return len(self.directions[0])

    def random(self, rng: np.random.Generator) -> Isometry:
        # t ↦ Σ t_i v_i is a homomorphism from the torus of all t onto the group: it takes uniform to uniform.
        # The times are dyadic fractions, so that the shift is along the directions exactly.
        times = [Fraction(int(k), 2**53) for k in rng.integers(2**53, size=len(self.directions))]
        moved = [
            sum((t * v[i] for t, v in zip(times, self.directions, strict=True)), Fraction(0)) for i in range(self.size)
        ]
        return affine(np.eye(self.size, dtype=np.int64), moved)
