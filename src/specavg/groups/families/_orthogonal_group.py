"""All rotations of R^d, with or without reflections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg.groups._structure import Continuous
from specavg.isometries import Isometry, orthogonal


@final
@dataclass(frozen=True)
class OrthogonalGroup(Continuous):
    """O(d) on `size` = d coordinates, or SO(d) if `special`."""

    size: int
    special: bool

    @property
    def order(self) -> int | float:
        return math.inf if self.size > 1 else (1 if self.special else 2)

    def random(self, rng: np.random.Generator) -> Isometry:
        """Haar: the orthogonal factor of a Gaussian matrix, with the signs that make it unique."""
        Q, R = np.linalg.qr(rng.standard_normal((self.size, self.size)))
        Q *= np.where(np.diag(R) < 0, -1.0, 1.0)
        if self.special and np.linalg.det(Q) < 0:
            Q[:, 0] = -Q[:, 0]
        return orthogonal(Q)
