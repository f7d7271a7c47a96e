"""A left and a right action on matrices: crystals and specimens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from specavg.groups._structure import Structure
from specavg.isometries import Isometry, LeftRight, Orthogonal, SignedPermutation

if TYPE_CHECKING:
    from specavg.groups._group import Group


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
