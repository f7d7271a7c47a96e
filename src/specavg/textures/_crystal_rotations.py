"""The rotations of a crystal as matrices, from a group that acts on orientations or on directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import LeftRight
from specavg.isometries.fields import LeftRightField

_STILL = 1e-9  # velocity of a direction of length one under a turn about it: rounding


def crystal_rotations(group: Any, axis: Array | None = None) -> list[Array]:
    """Those of the crystal, symmetries of the specimen left aside; an error for what is no such group.

    Of turns that leave an axis alone, which cannot be listed, one is enough for what depends on this axis only.
    """  # -> of (3, 3)
    if not isinstance(group, Group):
        raise not_a_group(group)
    crystal = group.structure.crystal if isinstance(group.structure, CrystalSymmetry) else group
    turns: list[Any] = [f.left if isinstance(f, LeftRightField) else f for f in crystal.fields]
    if any(f.matrix.any() if axis is None else np.abs(f.matrix @ axis).max() > _STILL for f in turns):
        raise ValueError(
            f"{crystal!r} has turns by every angle: "
            + (
                "of such crystals only the axis has a direction, and the angle between two of them is that between "
                "the rows X.reshape(-1, 3, 3)[:, 2] for turns about z"
                if axis is None
                else f"the directions that they make of {axis.round(4).tolist()} are a circle and no fibre. Give the "
                "direction that all turns leave alone, [0, 0, 1] for turns about z"
            )
        )
    finite = Group(crystal.generators, size=crystal.size) if turns else crystal
    found: list[Array] = []
    for g in finite.elements():
        matrix: Any = g.left.matrix if isinstance(g, LeftRight) else getattr(g, "matrix", None)
        if matrix is None or np.shape(matrix) != (3, 3) or np.linalg.det(matrix) < 0:
            raise ValueError(f"{group!r} is no group of rotations of crystals: use groups.crystal_symmetry('O')")
        found.append(np.asarray(matrix, dtype=np.float64))
    return found
