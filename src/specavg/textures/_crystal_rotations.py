"""The rotations of a crystal as matrices, from a group that acts on orientations or on directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import LeftRight


def crystal_rotations(group: Any) -> list[Array]:
    """Those of the crystal, symmetries of the specimen left aside; an error for what is no such group."""  # of (3, 3)
    if not isinstance(group, Group):
        raise not_a_group(group)
    crystal = group.structure.crystal if isinstance(group.structure, CrystalSymmetry) else group
    found: list[Array] = []
    for g in crystal.elements():
        matrix: Any = g.left.matrix if isinstance(g, LeftRight) else getattr(g, "matrix", None)
        if matrix is None or np.shape(matrix) != (3, 3) or np.linalg.det(matrix) < 0:
            raise ValueError(f"{group!r} is no group of rotations of crystals: use groups.crystal_symmetry('O')")
        found.append(np.asarray(matrix, dtype=np.float64))
    return found
