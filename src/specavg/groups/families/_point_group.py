"""Finite groups of rotations and rotoinversions of R^3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from specavg.groups._structure import Structure, random_integer
from specavg.groups.families._turns import Turn
from specavg.isometries import Isometry, identity


@final
@dataclass(frozen=True)
class PointGroup(Structure):
    """A finite group of rotations and rotoinversions of R^3.

    Every element is, in exactly one way, a product of powers of `turns`: one power of the first, then one of
    the second, and so on. `symbol` is the Schoenflies symbol of the class.
    """

    constructor: ClassVar[str | None] = "point_group"
    size: ClassVar[int] = 3

    symbol: str
    turns: tuple[Turn, ...]

    @property
    def order(self) -> int:
        return math.prod(turn.order for turn in self.turns)

    def random(self, rng: np.random.Generator) -> Isometry:
        return self._product(random_integer(turn.order, rng) for turn in self.turns)

    def elements(self) -> Iterator[Isometry]:
        for exponents in itertools.product(*(range(turn.order) for turn in self.turns)):
            yield self._product(exponents)

    def _product(self, exponents: Iterator[int] | tuple[int, ...]) -> Isometry:
        g: Isometry = identity(3)
        for turn, k in zip(self.turns, exponents, strict=True):
            g = g @ turn.power(k)
        return g
