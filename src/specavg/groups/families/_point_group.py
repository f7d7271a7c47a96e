"""Point groups of R^3 as products of powers of turns: finite ones, and those with all rotations about one axis."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import matmul
from typing import ClassVar, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import Continuous, Structure, random_integer
from specavg.isometries import Isometry, Orthogonal, SignedPermutation, identity, orthogonal
from specavg.isometries.fields import rotation


@final
@dataclass(frozen=True)
class Turn:
    """The rotation by 1/fold of a turn around `axis`; `improper`: followed by the inversion x ↦ −x.

    A mirror is the improper turn of fold 2 around its normal; the inversion is the improper turn of fold 1.
    """

    axis: tuple[float, float, float]
    fold: int
    improper: bool = False

    @property
    def order(self) -> int:
        """The least k > 0 whose power is the identity."""
        return math.lcm(self.fold, 2) if self.improper else self.fold

    @property
    def isometry(self) -> SignedPermutation | Orthogonal:
        """The turn itself."""
        return self.power(1)

    def power(self, k: int) -> SignedPermutation | Orthogonal:
        """`k` turns, computed from the angle: no rounding builds up."""
        n = np.array(self.axis, dtype=float) / math.hypot(*self.axis)
        cosine, sine = _cosine_sine(Fraction(k, self.fold))
        cross = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
        R: Array = cosine * np.eye(3) + sine * cross + (1.0 - cosine) * np.outer(n, n)
        return orthogonal(-R if self.improper and k % 2 else R)


def _cosine_sine(turns: Fraction) -> tuple[float, float]:
    """Cos and sin of 2π·turns, with the quarter turns exact."""
    quarter, rest = divmod(4 * turns, 1)
    c, s = math.cos(math.pi / 2 * float(rest)), math.sin(math.pi / 2 * float(rest))
    return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarter) % 4]


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


Axis = tuple[float, float, float]

X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)
DIAGONAL: Axis = (1.0, 1.0, 0.0)
BODY: Axis = (1.0, 1.0, 1.0)
GOLDEN: Axis = (0.0, 1.0, (1 + math.sqrt(5)) / 2)  # a vertex of the icosahedron with two-fold axes x, y, z

_THREE = Turn(BODY, 3)
_MINUS_THREE = Turn(BODY, 3, improper=True)
_FIVE = Turn(GOLDEN, 5)

# symbol: (turns whose powers multiply to every element once, a small generating set)
POLYHEDRAL: dict[str, tuple[tuple[Turn, ...], tuple[Turn, ...]]] = {
    "T": ((Turn(Z, 2), Turn(X, 2), _THREE), (Turn(Z, 2), _THREE)),
    "Th": ((Turn(Z, 2), Turn(X, 2), _MINUS_THREE), (Turn(Z, 2), _MINUS_THREE)),
    "O": ((Turn(Z, 2), Turn(X, 2), _THREE, Turn(DIAGONAL, 2)), (Turn(Z, 4), _THREE)),
    "Td": ((Turn(Z, 2), Turn(X, 2), _THREE, Turn(DIAGONAL, 2, improper=True)), (Turn(Z, 4, improper=True), _THREE)),
    "Oh": ((Turn(Z, 2), Turn(X, 2), _MINUS_THREE, Turn(DIAGONAL, 2)), (Turn(Z, 4), _MINUS_THREE)),
    "I": ((Turn(Z, 2), Turn(X, 2), _THREE, _FIVE), (_FIVE, _THREE)),
    "Ih": ((Turn(Z, 2), Turn(X, 2), _MINUS_THREE, _FIVE), (_FIVE, _MINUS_THREE)),
}

# Schoenflies names that are not of the form letter, number, letter.
ALIASES = {"Ci": "S2", "Cs": "C1h", "V": "D2", "Vh": "D2h", "Vd": "D2d"}

_AXIAL = re.compile(r"(?P<letter>[CDS])(?P<n>[1-9][0-9]*)(?P<kind>[vhdi]?)")


def turns_of(symbol: str, axis: Axis = Z, second: Axis = X) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """Turns whose powers multiply to every element once, and a small generating set."""
    return POLYHEDRAL.get(symbol) or _axial(symbol, axis, second)


def named_turns(name: str, rotation: Array) -> PointGroup:
    """The structure of a finite point group by its Schoenflies name, with its axes turned by `rotation`."""
    symbol = schoenflies(name)
    assert symbol is not None
    turns, _ = turns_of(symbol)
    turned = (tuple(map(float, rotation @ np.array(turn.axis))) for turn in turns)
    moved = tuple(replace(turn, axis=(x, y, z)) for turn, (x, y, z) in zip(turns, turned, strict=True))
    return PointGroup(usual(symbol), moved)


def _axial(symbol: str, axis: Axis, second: Axis) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    match = _AXIAL.fullmatch(symbol)
    assert match is not None
    letter, n, kind = match["letter"], int(match["n"]), match["kind"]
    if letter == "S":
        principal = _rotoreflection(n, axis)
    elif kind == "d":
        principal = _rotoreflection(2 * n, axis)
    elif kind == "h":
        principal = _with_horizontal_mirror(n, axis)
    else:
        principal = (Turn(axis, n),)
    across: tuple[Turn, ...] = ()
    if letter == "D":
        across = (Turn(second, 2),)
    elif kind == "v":
        across = (Turn(second, 2, improper=True),)
    turns = tuple(turn for turn in (*principal, *across) if turn.order > 1)
    return turns, turns


def _rotoreflection(order: int, axis: Axis) -> tuple[Turn, ...]:
    """S_n for even n: the turn by 1/n with a mirror across the axis, written with the inversion instead."""
    return (Turn(axis, order if order % 4 == 0 else order // 2, improper=True),)


def _with_horizontal_mirror(n: int, axis: Axis) -> tuple[Turn, ...]:
    if n % 2:  # cyclic of order 2n
        return (Turn(axis, 2 * n, improper=True),)
    return (Turn(axis, n), Turn(axis, 2, improper=True))


def schoenflies(plain: str) -> str | None:
    """The name in the form that `turns_of` knows, or None."""
    symbol = plain[:1].upper() + plain[1:].lower()
    symbol = ALIASES.get(symbol, symbol)
    if symbol in POLYHEDRAL:
        return symbol
    match = _AXIAL.fullmatch(symbol)
    if match is None:
        return None
    letter, n, kind = match["letter"], int(match["n"]), match["kind"]
    if letter == "S":
        return None if kind else (symbol if n % 2 == 0 else f"C{n}h")
    if kind == "i":
        return f"S{2 * n}" if letter == "C" and n % 2 else None
    if (letter, kind) in {("C", "d"), ("D", "v")}:
        return None
    return symbol


def usual(symbol: str) -> str:
    """The symbol that is in use for S2 and C1h."""
    return {"S2": "Ci", "C1h": "Cs"}.get(symbol, symbol)
