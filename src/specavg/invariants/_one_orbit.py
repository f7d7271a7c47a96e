"""Groups whose flows take every point of a space to every other: only the constant is invariant."""

from __future__ import annotations

from itertools import chain, islice

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.groups._algebra import length
from specavg.isometries.fields import CopiesField, FactorsField, Field, LeftRightField, RotationField, ShiftField
from specavg.spaces import Power, Product, Space

_NEW = 1e-6  # part of a velocity outside of a span that makes it a new direction; rounding leaves 1e-15
_BRACKETS = 2_000  # formed at most: 0.2 s for matrices of 20 rows, where 700 decide whether O(20) moves all pairs alike


def is_one_orbit(space: Space, group: Group) -> bool:
    """Whether the velocities of the fields and of their brackets span the tangent space at a random point.

    The orbit of that point is then open; orbits of compact groups are closed, and the spaces here are connected.
    Only fields with a velocity in a new direction are kept: a bracket with a combination of them, whose coefficients
    are functions, is one of their brackets and of themselves. A group that would need too many is not decided: False.
    """
    x = space.sample(1, random_state=0)[0].ravel()
    given = [space.check_field(f) * (1 / length(f)) for f in group.fields]
    kept: list[Field] = []
    directions = np.zeros((len(x), 0))  # orthonormal columns
    brackets = (f.bracket(h) for h in kept for f in given)  # grows while it is read
    for field in chain(given, islice(brackets, _BRACKETS)):
        v = _velocity(space, field, x)  # of fields and brackets of fields of length one
        rest = v - directions @ (directions.T @ v)
        if np.linalg.norm(rest) > _NEW:
            rest = rest / np.linalg.norm(rest)
            rest = rest - directions @ (directions.T @ rest)
            directions = np.column_stack([directions, rest / np.linalg.norm(rest)])
            kept.append(field * (1 / length(field)))
            if len(kept) == space.dim:
                return True
    return False


def _velocity(space: Space, field: Field, x: Array) -> Array:
    """The velocity of one point, on a torus in periods."""  # (n_features,)
    if isinstance(field, CopiesField) and isinstance(space, Power):
        copies = zip(field.parts, x.reshape(space.copies, -1), strict=True)
        return np.concatenate([_velocity(space.base, part, copy) for part, copy in copies])
    if isinstance(field, FactorsField) and isinstance(space, Product):
        blocks = np.split(x, np.cumsum([factor.n_features for factor in space.factors])[:-1])
        parts = zip(space.factors, field.parts, blocks, strict=True)
        return np.concatenate([np.zeros(len(b)) if f is None else _velocity(s, f, b) for s, f, b in parts])
    if isinstance(field, ShiftField):
        return field.vector
    if isinstance(field, LeftRightField):
        X = x.reshape(field.size, -1)
        return (field.left.matrix @ X - X @ field.right.matrix).ravel()
    if isinstance(field, RotationField):
        return (field.matrix @ x.reshape(field.size, -1)).ravel()
    raise TypeError(f"{field!r} is no field of {space!r}")
