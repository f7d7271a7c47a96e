"""What is known about a group, beyond its generators.

A structure is a small immutable value. It gives the order, random elements, the elements one by one and,
where the action on floating-point numbers is itself exact, a canonical point of each orbit. Closed forms
elsewhere in the library dispatch on these classes and never on a group's name.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from specavg._arrays import Array
from specavg._immutable import PickledAsMade
from specavg.isometries import Isometry


class Structure(PickledAsMade, abc.ABC):
    """What is known about a group: abstract, one final class per family."""

    @property
    @abc.abstractmethod
    def order(self) -> int | float:
        """How many elements, exactly; `math.inf` for a group with a continuous part."""

    @abc.abstractmethod
    def random(self, rng: np.random.Generator) -> Isometry:
        """One element, each equally likely."""

    @abc.abstractmethod
    def elements(self) -> Iterator[Isometry]:
        """Every element once, the identity first."""

    constructor: ClassVar[str | None] = None  # the function of the catalogue that makes the group from its name

    @property
    def identity(self) -> Isometry | None:
        """The element that moves nothing, where the structure knows its kind; None where generators show it."""
        return None

    @property
    def columns(self) -> int | None:
        """How many columns a point has, where the structure knows it; None where generators show it."""
        return None

    @property
    def has_canonical(self) -> bool:
        """Whether `canonical` has a closed form."""
        return False

    def canonical(self, X: Array) -> Array:
        """A point of the orbit of each point: the same bits for all points of an orbit."""  # (n, d) -> (n, d)
        raise NotImplementedError(f"{type(self).__name__} has no closed form of a canonical point")


class ClosedCanonical(Structure):
    """Shared by structures whose canonical point is always a closed form."""

    @property
    def has_canonical(self) -> bool:
        return True

    @abc.abstractmethod
    def canonical(self, X: Array) -> Array: ...


class Continuous(Structure):
    """Shared by structures with a continuous part: their elements cannot be listed."""

    @property
    def order(self) -> int | float:
        return math.inf

    def elements(self) -> Iterator[Isometry]:
        raise infinitely_many(repr(self))


def infinitely_many(what: str) -> ValueError:
    """The error for listing a group with a continuous part."""
    return ValueError(
        f"{what} has a continuous part, so it has infinitely many elements and cannot be listed. Use group.random "
        "for a sample, or group.generators and group.fields, which say everything."
    )


def random_integer(n: int, rng: np.random.Generator) -> int:
    """A uniform integer of 0..n−1 for `n` of any size."""
    if n <= 2**63:
        return int(rng.integers(n))
    while True:  # at most two rounds on average
        k = int.from_bytes(rng.bytes((n.bit_length() + 7) // 8), "little") >> (-n.bit_length() % 8)
        if k < n:
            return k
