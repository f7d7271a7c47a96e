"""Rotations by every angle about an axis, with a few mirrors and half turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from specavg.groups._structure import Continuous
from specavg.groups.families._turns import Turn
from specavg.isometries import Isometry
from specavg.isometries.fields import rotation

AROUND_Z = rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
"""The rotations about z."""


@final
@dataclass(frozen=True)
class AxialGroup(Continuous):
    """C∞, C∞v, C∞h, D∞ or D∞h about the z axis.

    Every element is, in exactly one way, a rotation about z after a product of powers of `turns`, each of order 2.
    """

    constructor: ClassVar[str | None] = "point_group"
    size: ClassVar[int] = 3

    symbol: str
    turns: tuple[Turn, ...]

    @property
    def components(self) -> Iterator[Isometry]:
        """One element of each connected component, the identity first."""
        for exponents in itertools.product((0, 1), repeat=len(self.turns)):
            g: Isometry = AROUND_Z.flow(0)
            for turn, k in zip(self.turns, exponents, strict=True):
                g = g @ turn.power(k)
            yield g

    def random(self, rng: np.random.Generator) -> Isometry:
        chosen = list(self.components)[int(rng.integers(2 ** len(self.turns)))]
        return AROUND_Z.flow(2 * np.pi * rng.random()) @ chosen
