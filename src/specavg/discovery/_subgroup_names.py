"""Names of subgroups, where they have one that people know."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from specavg.groups import point_group
from specavg.isometries import Isometry, Orthogonal, SignedPermutation
from specavg.spaces import Space, Sphere

POINT_GROUPS = (
    *("C1", "Ci", "Cs", "C2", "C2h", "C2v", "C3", "S6", "C3h", "C3v", "C4", "S4", "C4h", "C4v", "C6", "C6h", "C6v"),
    *("D2", "D2d", "D2h", "D3", "D3d", "D3h", "D4", "D4h", "D6", "D6h", "T", "Th", "Td", "O", "Oh", "I", "Ih"),
)


def point_group_name(space: Space, elements: list[Isometry]) -> str | None:
    """The Schoenflies name of a finite group of rotations and reflections of the sphere in space; else None.

    The numbers of rotations and of improper rotations by each angle decide it.

    Examples
    --------
    >>> import specavg as sa
    >>> point_group_name(sa.Sphere(3), list(sa.groups.point_group("D2d").elements()))
    'D2d'
    """
    if space != Sphere(3):
        return None
    return _known().get(_signature(elements))


@lru_cache(maxsize=1)
def _known() -> dict[tuple[float, ...], str]:
    return {_signature(list(point_group(name).elements())): name for name in POINT_GROUPS}


def _signature(elements: list[Isometry]) -> tuple[float, ...]:
    """The traces, each with the determinant: 10 is more than any trace."""
    matrices = [_matrix(g) for g in elements]
    return tuple(sorted(round(float(np.trace(R)) + 10 * float(np.linalg.det(R)), 6) + 0.0 for R in matrices))


def _matrix(g: Isometry) -> np.ndarray:
    assert isinstance(g, Orthogonal | SignedPermutation)
    return np.asarray(g.matrix, dtype=float)
