"""Whether a group moves all copies alike, or permutes them: what it does to one copy, and to outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group, Representation
from specavg.groups.families import Symmetric
from specavg.isometries import Copies, Isometry, SignedPermutation
from specavg.isometries._linear import linear
from specavg.isometries.fields import CopiesField, Field
from specavg.spaces import Power, Space, Sphere


@final
@dataclass(frozen=True, eq=False)
class Together:
    """Isometries and fields that move every copy alike, how they move outputs, and how the copies are permuted."""

    isometries: tuple[Isometry, ...]
    fields: tuple[Field, ...]
    permuted: bool  # whether all permutations of the copies are in the group
    # Those that generate some of them; none where all are in the group. A copy with the sign −1 goes to its antipode.
    permutations: tuple[SignedPermutation, ...]
    images: tuple[Array, ...]  # ρ(g)ᵀ of each isometry
    velocities: tuple[Array, ...]  # dρ(ξ)ᵀ of each field


def copies_move_together(space: Space, group: Group, output: Representation | None = None) -> Together | None:
    """How `group` moves copies together, and outputs with them; None where it does something else."""
    if not isinstance(space, Power) or space.copies < 2:
        return None
    one = np.ones((1, 1))
    rho = [one] * len(group.generators) if output is None else [g.matrix.T for g in output.images]
    drho = [0 * one] * len(group.fields) if output is None else [f.matrix.T for f in output.field_images]
    fields = []
    for f, velocity in zip((space.check_field(f) for f in group.fields), drho, strict=True):
        if not isinstance(f, CopiesField) or len(set(f.parts)) > 1:
            return None
        if not f.parts[0].is_zero:
            fields.append((f.parts[0], velocity))
    isometries, permutations = [], []
    for g, image in zip((space.check_isometry(g) for g in group.generators), rho, strict=True):
        assert isinstance(g, Copies)
        if g.image == tuple(range(g.size)) and len(set(g.parts)) == 1:
            isometries.append((g.parts[0], image))
        elif all(signs := [_sign(part, space.base) for part in g.parts]) and np.array_equal(image, np.eye(len(image))):
            permutations.append(SignedPermutation(g.image, tuple(signs)))
        else:
            return None
    if not (fields or isometries):
        return None
    permuted = bool(permutations) and isinstance(Group(permutations).recognise(), Symmetric)
    some = () if permuted else tuple(permutations)
    moved, images = zip(*isometries, strict=True) if isometries else ((), ())
    flows, velocities = zip(*fields, strict=True) if fields else ((), ())
    return Together(moved, flows, permuted, some, images, velocities)


def _sign(part: Isometry, base: Space) -> int:
    """1 for the identity, −1 for the antipode x ↦ −x of a sphere, and 0 for all else.

    The antipode commutes with all isometries and fields, and multiplies a harmonic of degree l by (−1)^l.
    """
    if part.is_identity:
        return 1
    return -1 if isinstance(base, Sphere) and np.array_equal(linear(part).matrix, -np.eye(part.size)) else 0
