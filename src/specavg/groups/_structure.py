"""What is known about a group, beyond its generators.

A structure is a small immutable value. It gives the order, random elements, the elements one by one and,
where the action on floating-point numbers is itself exact, a canonical point of each orbit. Closed forms
elsewhere in the library dispatch on these classes and never on a group's name.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from specavg.groups import _canonical
from specavg.isometries import (
    Isometry,
    SignedPermutation,
    affine,
    copies,
    factors,
    identity,
    shift,
)

if TYPE_CHECKING:
    from specavg.groups._group import Group
    from specavg.groups._turns import Turn

__all__ = [
    "Alternating",
    "Cyclic",
    "CyclicShifts",
    "Dihedral",
    "DihedralShifts",
    "DirectProduct",
    "Hyperoctahedral",
    "PointGroup",
    "SignFlips",
    "Structure",
    "Symmetric",
    "Trivial",
    "Wreath",
]

Points = NDArray[np.float64]


class Structure(abc.ABC):
    """What is known about a group: abstract, one final class per family."""

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """How many elements, exactly."""

    @abc.abstractmethod
    def random(self, rng: np.random.Generator) -> Isometry:
        """One element, each equally likely."""

    @abc.abstractmethod
    def elements(self) -> Iterator[Isometry]:
        """Every element once, the identity first."""

    @property
    def has_canonical(self) -> bool:
        """Whether `canonical` has a closed form."""
        return False

    def canonical(self, X: Points) -> Points:
        """The same point, to the last bit, for every point of an orbit."""  # (n, d) -> (n, d)
        raise NotImplementedError(f"{type(self).__name__} has no closed form of a canonical point")


class _ClosedCanonical(Structure):
    """Shared by structures whose canonical point is always a closed form."""

    @property
    def has_canonical(self) -> bool:
        return True

    @abc.abstractmethod
    def canonical(self, X: Points) -> Points: ...


@final
@dataclass(frozen=True)
class Trivial(_ClosedCanonical):
    """Only the identity, on `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return 1

    def random(self, rng: np.random.Generator) -> Isometry:
        return identity(self.size)

    def elements(self) -> Iterator[Isometry]:
        yield identity(self.size)

    def canonical(self, X: Points) -> Points:
        return X + 0.0


@final
@dataclass(frozen=True)
class SignFlips(_ClosedCanonical):
    """Every change of signs of `size` coordinates: (Z/2)^d."""

    size: int

    @property
    def order(self) -> int:
        return 2**self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(range(self.size)), _random_signs(self.size, rng))

    def elements(self) -> Iterator[Isometry]:
        for signs in itertools.product((1, -1), repeat=self.size):
            yield SignedPermutation(tuple(range(self.size)), signs)

    def canonical(self, X: Points) -> Points:
        return np.abs(X)


@final
@dataclass(frozen=True)
class Symmetric(_ClosedCanonical):
    """Every permutation of `size` coordinates: S_d."""

    size: int

    @property
    def order(self) -> int:
        return math.factorial(self.size)

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(rng.permutation(self.size).tolist()), (1,) * self.size)

    def elements(self) -> Iterator[Isometry]:
        for image in itertools.permutations(range(self.size)):
            yield SignedPermutation(image, (1,) * self.size)

    def canonical(self, X: Points) -> Points:
        return np.sort(X + 0.0, axis=1)


@final
@dataclass(frozen=True)
class Alternating(_ClosedCanonical):
    """Every even permutation of `size` coordinates: A_d."""

    size: int

    @property
    def order(self) -> int:
        return max(math.factorial(self.size) // 2, 1)

    def random(self, rng: np.random.Generator) -> Isometry:
        image = rng.permutation(self.size).tolist()
        if self.size > 1 and _canonical.parity(np.array([image]))[0]:
            image[0], image[1] = image[1], image[0]
        return SignedPermutation(tuple(image), (1,) * self.size)

    def elements(self) -> Iterator[Isometry]:
        for image in itertools.permutations(range(self.size)):
            if not _canonical.parity(np.array([image]))[0]:
                yield SignedPermutation(image, (1,) * self.size)

    def canonical(self, X: Points) -> Points:
        return _canonical.alternating(X)


@final
@dataclass(frozen=True)
class Hyperoctahedral(_ClosedCanonical):
    """Every signed permutation of `size` coordinates: B_d, the symmetries of the cube."""

    size: int

    @property
    def order(self) -> int:
        return 2**self.size * math.factorial(self.size)

    def random(self, rng: np.random.Generator) -> Isometry:
        return SignedPermutation(tuple(rng.permutation(self.size).tolist()), _random_signs(self.size, rng))

    def elements(self) -> Iterator[Isometry]:
        for image in itertools.permutations(range(self.size)):
            for signs in itertools.product((1, -1), repeat=self.size):
                yield SignedPermutation(image, signs)

    def canonical(self, X: Points) -> Points:
        return np.sort(np.abs(X), axis=1)


@final
@dataclass(frozen=True)
class CyclicShifts(_ClosedCanonical):
    """The rotations of a ring of `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        return _rotated(self.size, int(rng.integers(self.size)), 1)

    def elements(self) -> Iterator[Isometry]:
        return (_rotated(self.size, k, 1) for k in range(self.size))

    def canonical(self, X: Points) -> Points:
        return _canonical.least_rotation(X, reversals=False)


@final
@dataclass(frozen=True)
class DihedralShifts(_ClosedCanonical):
    """The rotations and reversals of a ring of `size` coordinates."""

    size: int

    @property
    def order(self) -> int:
        return 2 * self.size if self.size > 2 else self.size

    def random(self, rng: np.random.Generator) -> Isometry:
        turn = int(rng.integers(self.size))
        return _rotated(self.size, turn, 1 - 2 * int(rng.integers(2)))

    def elements(self) -> Iterator[Isometry]:
        directions = (1, -1) if self.size > 2 else (1,)
        return (_rotated(self.size, k, s) for s in directions for k in range(self.size))

    def canonical(self, X: Points) -> Points:
        return _canonical.least_rotation(X, reversals=True)


@final
@dataclass(frozen=True)
class Cyclic(Structure):
    """The rotations of the circle by multiples of 1/n of the period."""

    n: int

    @property
    def order(self) -> int:
        return self.n

    def random(self, rng: np.random.Generator) -> Isometry:
        return shift([Fraction(random_integer(self.n, rng), self.n)])

    def elements(self) -> Iterator[Isometry]:
        return (shift([Fraction(k, self.n)]) for k in range(self.n))


@final
@dataclass(frozen=True)
class Dihedral(Structure):
    """The rotations of the circle by multiples of 1/n of the period, and the reflections u ↦ k/n − u."""

    n: int

    @property
    def order(self) -> int:
        return 2 * self.n

    def random(self, rng: np.random.Generator) -> Isometry:
        turn = random_integer(self.n, rng)
        return affine([[1 - 2 * int(rng.integers(2))]], [Fraction(turn, self.n)])

    def elements(self) -> Iterator[Isometry]:
        return (affine([[s]], [Fraction(k, self.n)]) for s in (1, -1) for k in range(self.n))


@final
@dataclass(frozen=True)
class PointGroup(Structure):
    """A finite group of rotations and rotoinversions of R^3.

    Every element is, in exactly one way, a product of powers of `turns`: one power of the first, then one of
    the second, and so on. `symbol` is the Schoenflies symbol of the class.
    """

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


@final
@dataclass(frozen=True)
class DirectProduct(Structure):
    """G × H × ..., each acting on its own factor."""

    groups: tuple[Group, ...]

    @property
    def order(self) -> int:
        return math.prod(group.order for group in self.groups)

    def random(self, rng: np.random.Generator) -> Isometry:
        return factors([group.random(rng) for group in self.groups])

    def elements(self) -> Iterator[Isometry]:
        return self._elements(())

    def _elements(self, chosen: tuple[Isometry, ...]) -> Iterator[Isometry]:
        # Nested and lazy: itertools.product would store every factor's elements first.
        if len(chosen) == len(self.groups):
            yield factors(chosen)
            return
        group = self.groups[len(chosen)]
        for g in group.elements(limit=group.order):
            yield from self._elements((*chosen, g))

    @property
    def has_canonical(self) -> bool:
        return all(group.has_canonical for group in self.groups)

    def canonical(self, X: Points) -> Points:
        ends = np.cumsum([group.columns for group in self.groups])
        blocks = np.split(X, ends[:-1], axis=1)
        return np.hstack([group.canonical(block) for group, block in zip(self.groups, blocks, strict=True)])


@final
@dataclass(frozen=True)
class Wreath(Structure):
    """H ≀ S_m: an element of H on each of `copies` copies, which are permuted."""

    group: Group
    copies: int

    @property
    def order(self) -> int:
        return self.group.order**self.copies * math.factorial(self.copies)

    def random(self, rng: np.random.Generator) -> Isometry:
        image = rng.permutation(self.copies).tolist()
        return copies(image, [self.group.random(rng) for _ in range(self.copies)])

    def elements(self) -> Iterator[Isometry]:
        parts = list(self.group.elements(limit=self.group.order))
        for image in itertools.permutations(range(self.copies)):
            for chosen in itertools.product(parts, repeat=self.copies):
                yield copies(image, chosen)

    @property
    def has_canonical(self) -> bool:
        return self.group.has_canonical

    def canonical(self, X: Points) -> Points:
        stacked = self.group.canonical(X.reshape(len(X) * self.copies, self.group.columns))
        return _canonical.sorted_copies(stacked.reshape(len(X), self.copies, self.group.columns))


# --- helpers --------------------------------------------------------------------------------------


def random_integer(n: int, rng: np.random.Generator) -> int:
    """A uniform integer of 0..n−1 for `n` of any size."""
    if n <= 2**63:
        return int(rng.integers(n))
    while True:  # at most two rounds on average
        k = int.from_bytes(rng.bytes((n.bit_length() + 7) // 8), "little") >> (-n.bit_length() % 8)
        if k < n:
            return k


def _random_signs(d: int, rng: np.random.Generator) -> tuple[int, ...]:
    return tuple((1 - 2 * rng.integers(2, size=d)).tolist())


def _rotated(d: int, start: int, direction: int) -> SignedPermutation:
    return SignedPermutation(tuple((start + direction * i) % d for i in range(d)), (1,) * d)
