"""Misorientations: the angles by which crystals are turned against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._messages import whole_number
from specavg._random import as_generator
from specavg.groups import Group
from specavg.spaces import Rotations
from specavg.textures._crystal_rotations import crystal_rotations


def misorientation_angles(X: ArrayLike, group: Group, *, pairs: int | None = None, random_state: Any = None) -> Array:
    """The smallest angles, in degrees, by which crystals of a sample are turned against each other.

    Parameters
    ----------
    X : array-like of rotations
        Orientations, specimen to crystal coordinates.
    group : Group
        The crystal's rotations, as `crystal_symmetry` makes them; symmetries of the specimen are left aside, since they
        relate different places of it.
    pairs : int, optional
        Of so many random pairs. Default: each row with the next (neighbours, if rows are ordered so).
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n - 1,) or (pairs,)

    Examples
    --------
    >>> from specavg import groups, spaces
    >>> X = spaces.rotations_from_bunge([[0, 0, 0], [10, 0, 0], [95, 0, 0]], degrees=True)
    >>> misorientation_angles(X, groups.crystal_symmetry("O")).round(9)
    array([10.,  5.])
    """
    if isinstance(X, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("the orientations come first: misorientation_angles(X, group)")
    matrices = Rotations().check_points(X).reshape(-1, 3, 3)
    if len(matrices) < 2:
        raise ValueError(f"misorientations are between two orientations at least; X has {len(matrices)}")
    first, second = np.arange(len(matrices) - 1), np.arange(1, len(matrices))
    if pairs is not None:
        pairs, rng = whole_number(pairs, "pairs", 1), as_generator(random_state)
        first = rng.integers(len(matrices), size=pairs)
        second = (first + rng.integers(1, len(matrices), size=pairs)) % len(matrices)
    between = matrices[first] @ matrices[second].transpose(0, 2, 1)  # crystal to crystal
    # The angle of A·Δ·Bᵀ over A and B in the group is that of Δ·C over C = BᵀA: one group is enough for the angle.
    traces = [np.einsum("nij,ji->n", between, C) for C in crystal_rotations(group)]
    return np.rad2deg(np.arccos(np.clip((np.max(traces, axis=0) - 1) / 2, -1, 1)))
