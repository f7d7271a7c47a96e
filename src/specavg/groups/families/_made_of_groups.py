"""Groups made of other groups: on factors, on copies, from the left and from the right, and products of subgroups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import sorted_copies
from specavg.groups._structure import Continuous, Structure
from specavg.isometries import Isometry, LeftRight, Orthogonal, SignedPermutation, copies, factors

if TYPE_CHECKING:
    from specavg.groups._group import Group


@final
@dataclass(frozen=True)
class DirectProduct(Structure):
    """G × H × ..., each acting on its own factor."""

    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return len(self.groups)

    @property
    def columns(self) -> int:
        return sum(group.columns for group in self.groups)

    @property
    def identity(self) -> Isometry:
        return factors([group.identity for group in self.groups])

    @property
    def order(self) -> int | float:
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
        for g in group.elements(limit=group.finite_order):
            yield from self._elements((*chosen, g))

    @property
    def has_canonical(self) -> bool:
        return all(group.has_canonical for group in self.groups)

    def canonical(self, X: Array) -> Array:
        ends = np.cumsum([group.columns for group in self.groups])
        blocks = np.split(X, ends[:-1], axis=1)
        return np.hstack([group.canonical(block) for group, block in zip(self.groups, blocks, strict=True)])


@dataclass(frozen=True)
class OfCopies(Structure):
    """Elements of `group` on each of `copies` copies: abstract."""

    group: Group
    copies: int

    @property
    def size(self) -> int:
        """How many copies the group acts on."""
        return self.copies

    @property
    def columns(self) -> int:
        return self.copies * self.group.columns

    @property
    def identity(self) -> Isometry:
        return self._everywhere(self.group.identity)

    def _everywhere(self, g: Isometry) -> Isometry:
        """The same element on every copy."""
        return copies(range(self.copies), [g] * self.copies)


@final
@dataclass(frozen=True)
class Diagonal(OfCopies):
    """One element of `group`, the same on each of `copies` copies."""

    @property
    def order(self) -> int | float:
        return self.group.order

    def random(self, rng: np.random.Generator) -> Isometry:
        return self._everywhere(self.group.random(rng))

    def elements(self) -> Iterator[Isometry]:
        return (self._everywhere(g) for g in self.group.elements(limit=self.group.finite_order))


@final
@dataclass(frozen=True)
class Wreath(OfCopies):
    """H ≀ S_m: an element of H on each of `copies` copies, which are permuted."""

    @property
    def order(self) -> int | float:
        if not self.group.is_finite:
            return math.inf
        return self.group.finite_order**self.copies * math.factorial(self.copies)

    def random(self, rng: np.random.Generator) -> Isometry:
        image = rng.permutation(self.copies).tolist()
        return copies(image, [self.group.random(rng) for _ in range(self.copies)])

    def elements(self) -> Iterator[Isometry]:
        parts = list(self.group.elements(limit=self.group.finite_order))
        for image in itertools.permutations(range(self.copies)):
            for chosen in itertools.product(parts, repeat=self.copies):
                yield copies(image, chosen)

    @property
    def has_canonical(self) -> bool:
        return self.group.has_canonical

    def canonical(self, X: Array) -> Array:
        stacked = self.group.canonical(X.reshape(len(X) * self.copies, self.group.columns))
        return sorted_copies(stacked.reshape(len(X), self.copies, self.group.columns))


@final
@dataclass(frozen=True)
class CrystalSymmetry(Structure):
    """X ↦ A X Bᵀ with A in one group of rotations and B in another: a product of a left and a right action.

    Invariants are products of the invariants of the two groups on the harmonics of each degree.
    """

    crystal: Group
    specimen: Group

    @property
    def size(self) -> int:
        """How many rows the matrices have."""
        return self.crystal.size

    @property
    def order(self) -> int | float:
        return self.crystal.order * self.specimen.order

    def random(self, rng: np.random.Generator) -> Isometry:
        return LeftRight(rotation_of_space(self.crystal.random(rng)), rotation_of_space(self.specimen.random(rng)))

    def elements(self) -> Iterator[Isometry]:
        right = [rotation_of_space(b) for b in self.specimen.elements(limit=self.specimen.finite_order)]
        for a in self.crystal.elements(limit=self.crystal.finite_order):
            for b in right:
                yield LeftRight(rotation_of_space(a), b)


def rotation_of_space(g: Isometry) -> SignedPermutation | Orthogonal:
    """`g`, which must be a linear map."""
    if isinstance(g, SignedPermutation | Orthogonal):
        return g
    raise ValueError(f"{g!r} is not a rotation of R^3: crystal and specimen groups are point groups")


@final
@dataclass(frozen=True)
class Composite(Continuous):
    """Every element is a product of one element of each of `groups`; each group is normalised by the later ones.

    A product of uniform elements is then uniform: it is uniform under multiplication from the left by the first
    group, and so on.
    """

    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.groups[0].size

    def random(self, rng: np.random.Generator) -> Isometry:
        return reduce(lambda g, h: g @ h, [group.random(rng) for group in self.groups])
