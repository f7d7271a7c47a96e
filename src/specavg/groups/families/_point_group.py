"""Rotations and rotoinversions of R^3: finite groups, and those with all rotations about one axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import matmul
from typing import ClassVar, final

import numpy as np

from specavg.groups._structure import Continuous, Structure, random_integer
from specavg.groups.families._turns import Turn
from specavg.isometries import Isometry, identity
from specavg.isometries.fields import rotation

AROUND_Z = rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
"""The rotations about z."""


def _product(turns: Iterable[Turn], exponents: Iterable[int]) -> Isometry:
    return reduce(matmul, (turn.power(k) for turn, k in zip(turns, exponents, strict=True)), identity(3))


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
        return _product(self.turns, [random_integer(turn.order, rng) for turn in self.turns])

    def elements(self) -> Iterator[Isometry]:
        powers = (range(turn.order) for turn in self.turns)
        return (_product(self.turns, exponents) for exponents in itertools.product(*powers))


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
        choices = itertools.product((0, 1), repeat=len(self.turns))
        return (_product(self.turns, exponents) for exponents in choices)

    def random(self, rng: np.random.Generator) -> Isometry:
        chosen = list(self.components)[int(rng.integers(2 ** len(self.turns)))]
        return AROUND_Z.flow(2 * np.pi * rng.random()) @ chosen
