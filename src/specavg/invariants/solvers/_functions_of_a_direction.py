"""Fibre textures: where all turns about one axis act from one side, functions of a rotation are those of a direction.

If f(R B) = f(R) for every turn B about the axis a, then f(R) = F(R a) with a function F on the sphere, and the same
degree. What acts from the other side acts on R a as it stands; what maps a to −a changes the sign of the direction.
From the left it is Rᵀ a. All (2l + 1)² functions of a degree are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._functions import Array, Functions
from specavg.functions._one_direction import OneDirection
from specavg.groups import Group
from specavg.invariants.solvers._solver import QUICK, ClosedForm, DelegatingSolver, Solution, functions_of, known
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import Isometry, LeftRight, signed_permutation
from specavg.isometries.fields import RotationField, two_sided
from specavg.spaces import Eigenspace, Rotations, Space, Sphere
from specavg.spaces._eigenspace import degree_label

_SAME = 1e-13  # of unit vectors that were made from given matrices: rounding


@dataclass(frozen=True, eq=False)
class Reduction:
    """The axis, whether it is turned from the left, and what is left to act on directions."""

    axis: Array
    transposed: bool
    group: Group


@final
class FunctionsOfADirection(ClosedForm, DelegatingSolver):
    """The invariants of a group on the sphere, at the direction of the fibre."""

    part: ClassVar[str] = "direction"

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._directions = known(reduction_to_directions(space, group))
        self.other = self.resolver_of(self.part, Sphere(3), self._directions.group)

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return reduction_to_directions(space, group) is not None

    def _there(self, eigenspace: Eigenspace) -> Eigenspace:
        return Sphere(3).eigenspace(degree_label(eigenspace))

    def seconds(self, eigenspace: Eigenspace) -> float:
        return QUICK + super().seconds(eigenspace)

    def functions(self, solutions: Sequence[Solution[Solution[Any]]]) -> Functions:
        found, directions = functions_of([s.data for s in solutions]), self._directions
        return OneDirection(found, directions.axis, transposed=directions.transposed)


@lru_cache(maxsize=64)
def reduction_to_directions(space: Space, group: Group) -> Reduction | None:
    """How functions of a rotation become functions of a direction.

    None unless all turns about one axis act from one side, and all other maps of the group take this axis to itself.
    """
    if not isinstance(space, Rotations) or not group.fields:
        return None
    halves = [two_sided(space.check_field(f), 3) for f in group.fields]
    if any(not left.is_zero and not right.is_zero for left, right in halves):
        return None
    for side in (1, 0):
        axes = [_axis(pair[side]) for pair in halves if not pair[side].is_zero]
        if axes and all(np.abs(np.cross(axes[0], axis)).max() <= _SAME for axis in axes):
            maps = [_on_directions(space.check_isometry(g), side, axes[0]) for g in group.generators]
            kept = [g for g in maps if g is not None]
            if len(kept) == len(maps):
                fields = [pair[1 - side] for pair in halves if not pair[1 - side].is_zero]
                moving = [g for g in kept if not g.is_identity]
                return Reduction(axes[0], side == 0, Group(moving, fields, size=3))
    return None


def _axis(half: RotationField) -> Array:
    """The unit vector a with A a = 0."""
    A: Any = half.matrix / np.abs(half.matrix).max()
    axis = np.array([A[2, 1], A[0, 2], A[1, 0]])
    return axis / np.linalg.norm(axis)


def _on_directions(g: LeftRight, side: int, axis: Array) -> Isometry | None:
    """How R ↦ A R Bᵀ moves R a (or Rᵀ a); None where it leads away from directions of this axis."""
    turning, moving = (g.right, g.left) if side == 1 else (g.left, g.right)
    image = turning.matrix @ axis
    if np.abs(image - axis).max() <= _SAME:
        return moving
    if np.abs(image + axis).max() <= _SAME:
        return signed_permutation([0, 1, 2], [-1, -1, -1]) @ moving
    return None
