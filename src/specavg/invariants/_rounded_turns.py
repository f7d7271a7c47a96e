"""Generators that look like rounded rotations of a small finite order, and are others, of infinite order."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.isometries import Copies, Factors, Isometry, LeftRight, Orthogonal
from specavg.isometries._affine import nearly

_EXACT = 1e-11  # turns: matrices of ten digits and more are not questioned
_FINEST = 720  # largest denominator of fractions of a turn that are meant as they are: half degrees
_LARGEST = 64  # rows: the eigenvalues of such a matrix take 2 ms


def warn_of_rounded_turns(group: Group) -> None:
    """Question the first generator that is near a matrix of a small finite order, and is not it.

    All its angles must be near fractions of a turn, as near as shifts of a torus that are questioned: others are as
    general as they look, and so are small angles.
    """
    if group.fields or group.structure is not None:
        return
    for R in (R for g in group.generators for R in _matrices(g) if len(R) <= _LARGEST):
        turns = [float(t) for t in np.abs(np.angle(np.linalg.eigvals(R))) / (2 * np.pi)]
        rounded = [t for t in turns if abs(t - Fraction(t).limit_denominator(_FINEST)) > _EXACT]
        near = [(t, fraction) for t in rounded if (fraction := nearly(t)) is not None]
        if not rounded or len(near) < len(rounded):
            continue
        t, fraction = near[0]
        warnings.warn(
            f"a generator of {group!r} turns by {t:.10g} of a turn, which is {abs(t - fraction):.1g} from {fraction} "
            f"and another angle: it generates a far larger group, with fewer invariants. If {fraction} is meant, the "
            "matrix was rounded: make it of exact angles, as scipy's "
            f"Rotation.from_euler('z', {360 * fraction}, degrees=True) does, or take the group by its name, such as "
            f"groups.point_group('C{fraction.denominator}').",
            stacklevel=4,
        )
        return


def _matrices(g: Isometry) -> Iterator[Array]:
    """The floating-point matrices that an isometry is made of."""
    if isinstance(g, Orthogonal):
        yield g.matrix
    parts = (g.left, g.right) if isinstance(g, LeftRight) else g.parts if isinstance(g, Copies | Factors) else ()
    for part in parts:
        yield from _matrices(part)
