"""Groups whose flows take every point of a space to every other: only the constant is invariant.

A function with F(gx) = ρ(g)F(x) is then known from its value at one point x, which elements that keep x leave alone,
and each such value gives a function (Frobenius reciprocity).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from itertools import chain, islice
from operator import add

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.groups import Group, Representation
from specavg.groups._algebra import length
from specavg.groups._linear_part import linear_part
from specavg.isometries import Factors
from specavg.isometries.fields import CopiesField, FactorsField, Field, LeftRightField, RotationField, ShiftField
from specavg.spaces import Power, Product, Space

_NEW = 1e-6  # part of a velocity outside of a span that makes it a new direction; rounding leaves 1e-15
_BRACKETS = 2_000  # formed at most: 0.2 s for matrices of 20 rows, where 700 decide whether O(20) moves all pairs alike
# Elements that keep a point, beside those by way of each generator. Two random ones generate a connected group, and
# each further one misses a component with the chance of a half at most.
_KEEPING = 12
_STEPS = 200  # of a way back to the point: some 5 to 40 are taken
_THERE = 1e-10  # distance at which it has arrived; errors of ρ are of this size
_LEFT_ALONE = 1e-6  # by how much elements may move a value that they leave alone; others they move by some tenths


def is_one_orbit(space: Space, group: Group) -> bool:
    """Whether the velocities of the fields and of their brackets span the tangent space at a random point.

    The orbit of that point is then open; orbits of compact groups are closed, and the spaces here are connected.
    Only fields with a velocity in a new direction are kept: a bracket with a combination of them, whose coefficients
    are functions, is one of their brackets and of themselves. A group that would need too many is not decided: False.
    """
    x = _point(space)
    given = [space.check_field(f) * (1 / length(f)) for f in group.fields]
    return _spanning(given, space.dim, lambda field: _velocity(space, field, x)) is not None


@lru_cache(maxsize=32)
def functions_on_one_orbit(space: Space, output: Representation) -> int | None:
    """How many functions with F(gx) = ρ(g)F(x) there are, where flows take every point to every other.

    The dimension of the values that the elements which keep a point x leave alone. Such elements are found by moving x
    at random and taking it back along the flows. None where there are several orbits, or no way back was found.
    """
    fields = zip(output.group.fields, output.field_images, strict=True)
    given: list[Field] = [FactorsField((space.check_field(f), A)) * (1 / length(f)) for f, A in fields]
    rng, x = np.random.default_rng(OWN_SEED), _point(space)
    along = _spanning(given, space.dim, lambda pair: _of_pair(space, pair, x))
    if along is None:
        return None
    moved = zip(output.group.generators, output.images, strict=True)
    starts = [(space.act(g, x[None])[0], rho.matrix) for g, rho in moved] + [(x, np.eye(output.dim))] * _KEEPING
    conditions = [x[None]] if output.tangent else []
    for at, image in starts:
        for field in (*given, *given):
            at, image = _flown(space, field * rng.uniform(1.0, 5.0), at, image)
        found = _back(space, [*along, *given], at, image, x)
        if found is None:
            return None
        conditions.append(found - np.eye(output.dim))
    moves = np.linalg.svd(np.concatenate(conditions), compute_uv=False)
    return int(np.sum(moves < _LEFT_ALONE))


def _of_pair(space: Space, pair: Field, x: Array) -> Array:
    """The velocity of one point, of a field beside its image."""
    assert isinstance(pair, FactorsField)
    assert pair.parts[0] is not None
    return _velocity(space, pair.parts[0], x)


def _flown(space: Space, pair: Field, at: Array, image: Array) -> tuple[Array, Array]:
    """A point and ρ of what has led there, after the flow of a field beside its image."""
    moved = pair.flow(1)
    assert isinstance(moved, Factors)
    g, rho = moved.parts
    return space.act(g, at[None])[0], linear_part(rho).matrix @ image


def _back(space: Space, fields: list[Field], at: Array, image: Array, x: Array) -> Array | None:
    """ρ of an element that keeps x, after a way from `at` to x along the fields; None where none is found."""
    periods = space.column_periods
    periodic = np.isfinite(periods)
    for _ in range(_STEPS):
        missing = x - at
        missing[periodic] /= periods[periodic]
        missing[periodic] -= np.round(missing[periodic])
        if np.linalg.norm(missing) < _THERE:
            return image
        velocities = np.column_stack([_of_pair(space, field, at) for field in fields])
        weights = np.linalg.lstsq(velocities, missing, rcond=_NEW)[0]
        weights *= min(1.0, 1.0 / max(np.linalg.norm(weights), 1e-300))
        step = reduce(add, (field * float(w) for field, w in zip(fields, weights, strict=True)))
        at, image = _flown(space, step, at, image)
    return None


def _point(space: Space) -> Array:
    return space.sample(1, random_state=0)[0].ravel()


def _spanning(given: list[Field], dim: int, velocity: Callable[[Field], Array]) -> list[Field] | None:
    """Fields and brackets whose velocities at a point are so many directions; None where there are fewer."""
    kept: list[Field] = []
    directions: Array | None = None  # orthonormal columns
    brackets = (f.bracket(h) for h in kept for f in given)  # grows while it is read
    for field in chain(given, islice(brackets, _BRACKETS)):
        v = velocity(field)  # of fields and brackets of fields of length one
        directions = np.zeros((len(v), 0)) if directions is None else directions
        rest = v - directions @ (directions.T @ v)
        if np.linalg.norm(rest) > _NEW:
            rest = rest / np.linalg.norm(rest)
            rest = rest - directions @ (directions.T @ rest)
            directions = np.column_stack([directions, rest / np.linalg.norm(rest)])
            kept.append(field * (1 / length(field)))
            if len(kept) == dim:
                return kept
    return None


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
