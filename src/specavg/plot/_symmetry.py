"""Mirrors and rotation axes of a small group, read off its elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.invariants._acting_group import group_order
from specavg.isometries import Affine, Isometry, Orthogonal, SignedPermutation, flatten
from specavg.isometries._linear import rotation_axis

_CELLS = np.array(list(product(range(-3, 4), repeat=2)), dtype=float)  # shifts that bring a mark into the cell drawn
DRAWN = 240  # elements of a group whose symmetry is drawn unless asked otherwise: beyond, a picture shows a grey net
_SAME = 1e-6  # of a cell or a unit vector: marks closer than this are drawn once


@dataclass(frozen=True)
class Axis:
    """An axis through the sphere: a unit vector, its order n, and whether only n̄ (with inversion) has that order."""

    direction: Array
    order: int
    improper: bool


@dataclass(frozen=True)
class Line:
    """A mirror line of the plane (or a glide line), in periods: offset + s · direction."""

    offset: Array
    direction: Array
    glide: bool


@dataclass(frozen=True)
class Center:
    """A rotation centre in the plane, in periods, and its order."""

    point: Array
    order: int


def drawable(group: Group, symmetry: bool | None) -> list[Isometry]:
    """The elements whose symmetry is to be drawn; none where the group is large and nobody insists."""
    if symmetry is False:
        return []
    order = group_order(group)
    if order > DRAWN:
        if symmetry:
            size = f"{order:.0f}" if order < 1e15 else "over 10^15, infinitely many or uncounted"
            raise ValueError(f"{group!r} has {size} elements: its symmetry is drawn up to {DRAWN}. Leave symmetry out.")
        return []
    return [flatten(g) for g in group.elements()]


def symmetry_of_sphere(elements: list[Isometry]) -> tuple[list[Array], list[Axis]]:
    """Normals of the mirror planes, and the rotation axes, of a group of 3 × 3 matrices."""
    matrices = [g.matrix for g in elements if isinstance(g, SignedPermutation | Orthogonal)]
    normals: list[Array] = []
    proper: list[tuple[Array, int]] = []  # an axis, once for every rotation about it
    improper: list[tuple[Array, float]] = []
    for R in matrices:
        sign = float(np.sign(np.linalg.det(R)))
        turn = sign * R  # the proper rotation in it
        cosine = float(np.clip((np.trace(turn) - 1) / 2, -1, 1))
        if cosine > 1 - _SAME:  # the identity or the inversion
            continue
        axis = _axis(turn)
        if sign > 0:
            proper.append((axis, 1))
        elif cosine < -1 + _SAME:  # −(half turn) is a reflection
            normals.append(axis)
        else:
            improper.append((axis, float(np.arccos(cosine))))
    axes: list[Axis] = []
    for direction in _distinct([axis for axis, _ in proper] + [axis for axis, _ in improper]):
        order = 1 + sum(_parallel(direction, axis) for axis, _ in proper)
        angles = [angle for axis, angle in improper if _parallel(direction, axis)]
        roto = round(2 * np.pi / min(angles)) if angles else 1
        axes.append(Axis(direction, max(order, roto), roto > order))
    return _distinct(normals), axes


def symmetry_of_plane(elements: list[Isometry]) -> tuple[list[Line], list[Center]]:
    """Mirror lines, glide lines and rotation centres of a group of affine maps of the plane, within one cell."""
    lines: dict[tuple[int, ...], Line] = {}
    centers: dict[tuple[int, ...], Center] = {}
    for A, t in map(_affine_parts, elements):
        turns = round(np.linalg.det(A))
        if turns == 1 and not np.array_equal(A, np.eye(2)):
            order = next(k for k in range(2, 7) if np.array_equal(np.linalg.matrix_power(A, k), np.eye(2)))
            for cell in _CELLS:
                point: Array = np.linalg.solve(np.eye(2) - A, t + cell).astype(float)
                if (point > -_SAME).all() and (point < 1 + _SAME).all():
                    key = tuple(np.rint(point / _SAME).astype(int).tolist())
                    if key not in centers or centers[key].order < order:
                        centers[key] = Center(point, order)
        elif turns == -1:
            for line in _lines(A, t):
                direction, offset = line.direction, line.offset
                normal = np.array([-direction[1], direction[0]])
                key = tuple(np.rint([*(normal / _SAME), normal @ offset / _SAME]).astype(int).tolist())
                if key not in lines or not line.glide:
                    lines[key] = line
    return list(lines.values()), list(centers.values())


def mirrors_of_circle(elements: list[Isometry]) -> tuple[list[float], int]:
    """Fixed points of the reflections in [0, 1), in periods, and the number of rotations."""
    mirrors: set[float] = set()
    rotations = 0
    for A, t in map(_affine_parts, elements):
        if A[0, 0] < 0:
            mirrors |= {float(t[0] / 2 % 1), float((t[0] + 1) / 2 % 1)}
        else:
            rotations += 1
    return sorted(mirrors), rotations


def _lines(A: Array, t: Array) -> Iterator[Line]:
    """The lines u ↦ Au + t + cell keeps: t + cell = a·v + b·w with Av = v, Aw = −w; a is the glide."""
    v, w = _eigenvector(A, 1), _eigenvector(A, -1)
    for cell in _CELLS:
        a, b = np.linalg.solve(np.stack([v, w], axis=1), t + cell)
        yield Line(b / 2 * w, v, bool(abs(a) > _SAME))


def _eigenvector(A: Array, value: int) -> Array:
    M = A - value * np.eye(2)
    row = M[np.abs(M).sum(axis=1).argmax()]
    v = np.array([-row[1], row[0]])
    v = v / np.linalg.norm(v)
    return v if (v[0], v[1]) > (0, 0) else -v


def _affine_parts(g: Isometry) -> tuple[Array, Array]:
    if isinstance(g, Affine):
        return g.matrix.astype(float), np.array([float(s) for s in g.shift])
    if isinstance(g, SignedPermutation):
        return g.matrix, np.zeros(g.size)
    raise ValueError(f"{g!r} is not a map of a torus")


def _axis(R: Array) -> Array:
    """The axis of a rotation, one of ±: first non-zero coordinate from the last positive."""
    axis = rotation_axis(R)
    lead = axis[[2, 1, 0]][np.abs(axis[[2, 1, 0]]) > _SAME][0]
    return axis if lead > 0 else -axis


def _parallel(a: Array, b: Array) -> bool:
    return bool(abs(abs(float(a @ b)) - 1) < _SAME)


def _distinct(axes: list[Array]) -> list[Array]:
    kept: list[Array] = []
    for axis in axes:
        if not any(_parallel(axis, other) for other in kept):
            kept.append(axis)
    return kept
