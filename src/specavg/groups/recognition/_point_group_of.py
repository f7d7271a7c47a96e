"""Which point group some rotations and rotoinversions of R^3 generate, whatever way its axes lie.

The group is listed, up to a limit. How many axes of which fold its rotations have tells the rotation group, and what
the others are times −1 tells the class. The catalogue's turns are then laid along the axes that were found, and the
answer is checked: every element that was listed is one of theirs, and there are as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from specavg._arrays import Array
from specavg.groups.families._point_group import PointGroup, named_turns
from specavg.groups.recognition._vectors import APART, SAME
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries._linear import rotation_axis

LIMIT = 480  # elements that are listed: C_n to n = 480, D_nh to n = 120. A rotation by one radian takes 20 ms to refuse
_CHECKED = 1e-12  # how far elements may be from those with exact angles: rounding of the products that list them


def point_group_of(matrices: Sequence[Array]) -> PointGroup | None:
    """The point group that orthogonal 3 × 3 matrices generate; None where it is infinite, too large or in doubt.

    Examples
    --------
    >>> from specavg.groups.families import Turn
    >>> turn = Turn((0.6, 0.0, 0.8), 7).isometry.matrix
    >>> point_group_of([turn, -np.eye(3)]).symbol
    'S14'
    """
    generators = [np.asarray(matrix, dtype=float) for matrix in matrices]
    elements = _listed(generators)
    if elements is None:
        return None
    proper = np.linalg.det(elements) > 0
    rotations = elements[proper]
    inverted = -elements[~proper]  # the rotations that occur with the inversion only
    with_inversion = bool(len(inverted)) and bool((_distance(inverted, np.eye(3)) < SAME).any())
    wider = rotations if with_inversion else np.concatenate([rotations, inverted])
    axes, folds = _axes(wider)
    found = _described(rotations, inverted, axes, folds, with_inversion)
    if found is None or found.order != len(elements):
        return None
    return found if are_elements([*elements, *generators], found) else None


def are_elements(matrices: Iterable[Array], group: PointGroup) -> bool:
    """Whether all of the matrices are elements of `group`."""
    theirs = _elements(group)
    return all(float(_distance(theirs, matrix).min()) < _CHECKED for matrix in matrices)


def nearest_elements(matrices: Iterable[Array], group: PointGroup) -> list[Array]:
    """The element of `group` that is nearest to each matrix: what matrices of twelve digits are meant to be."""
    theirs = _elements(group)
    return [theirs[int(_distance(theirs, matrix).argmin())] for matrix in matrices]


def _distance(matrices: Array, matrix: Array) -> Array:
    return np.abs(matrices - matrix).max(axis=(1, 2))  # (n, 3, 3), (3, 3) -> (n,)


def _elements(group: PointGroup) -> Array:
    """The matrices of all elements."""  # (|G|, 3, 3)
    linear = [g for g in group.elements() if isinstance(g, SignedPermutation | Orthogonal)]
    return np.array([np.asarray(g.matrix, dtype=float) for g in linear])


def _listed(generators: list[Array]) -> Array | None:
    """All elements, the identity first; None where they are more than `LIMIT` or not clearly apart."""
    known = np.eye(3)[None]
    new = known
    while len(new):
        products = np.concatenate([new @ generator for generator in generators])
        added: list[Array] = []
        for product in products:
            everyone = known if not added else np.concatenate([known, np.array(added)])
            nearest = float(_distance(everyone, product).min())
            if SAME <= nearest < APART:
                return None
            if nearest >= APART:
                added.append(product)
            if len(known) + len(added) > LIMIT:
                return None
        new = np.array(added).reshape(-1, 3, 3)
        known = np.concatenate([known, new])
    return known


def _axes(rotations: Array) -> tuple[Array, list[int]]:
    """Unit vectors along the axes of a finite group of rotations, one for each, and how many turns each has."""
    axes: list[Array] = []
    folds: list[int] = []
    for R in rotations[_distance(rotations, np.eye(3)) >= SAME]:
        axis = rotation_axis(R)
        at = next((i for i, a in enumerate(axes) if np.linalg.norm(np.cross(a, axis)) < 1e-6), None)
        if at is None:
            axes.append(axis)
            folds.append(2)
        else:
            folds[at] += 1
    return np.array(axes).reshape(-1, 3), folds


def _described(
    rotations: Array, inverted: Array, axes: Array, folds: list[int], with_inversion: bool
) -> PointGroup | None:
    """The class, and its turns laid along the axes of the group of all elements up to sign."""
    order = len(rotations)
    if not folds:
        return named_turns("Ci" if with_inversion else "C1", np.eye(3))
    highest = max(folds)
    principal = axes[folds.index(highest)]
    several = folds.count(highest) > 1 and highest > 2
    if several:  # cubic or icosahedral
        letter = {12: "T", 24: "O", 60: "I"}.get(order)
        symbol = {("T", True): "Th", ("O", True): "Oh", ("I", True): "Ih"}.get((str(letter), with_inversion), letter)
        symbol = "Td" if letter == "T" and len(inverted) and not with_inversion else symbol
        two_fold = [a for a, fold in zip(axes, folds, strict=True) if fold == (4 if len(folds) == 13 else 2)]
        frame = _frame_of_three(two_fold)
        if symbol is None or frame is None:
            return None
        return next(
            (g for g in (named_turns(symbol, R) for R in _icosahedral_ways(frame)) if are_elements(rotations, g)), None
        )
    return _axial(rotations, inverted, principal, axes)


def _frame_of_three(axes: list[Array]) -> Array | None:
    """A rotation whose columns are three of the axes at right angles."""
    for b in axes[1:]:
        if abs(b @ axes[0]) < 1e-6:
            return _columns(np.cross(b, axes[0]), b, axes[0])
    return None


def _columns(x: Array, y: Array, z: Array) -> Array:
    """The rotation whose columns are nearest to these."""
    U, _, Vt = np.linalg.svd(np.stack([x, y, z], axis=1))
    return np.asarray(U @ Vt, dtype=np.float64)


def _icosahedral_ways(frame: Array) -> list[Array]:
    """Both ways to lay an icosahedron along three of its two-fold axes."""
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return [frame, frame @ quarter]


def _axial(rotations: Array, inverted: Array, principal: Array, axes: Array) -> PointGroup | None:
    """Cn, Cnv, Cnh, Dn, Dnh, Dnd or S2n about one axis."""
    across = [a for a in axes if abs(a @ principal) < 1e-6]
    two_fold = [a for a in across if any(_is_half_turn(R, a) for R in rotations)]
    mirrors = [a for a in across if any(_is_half_turn(R, a) for R in inverted)]
    horizontal = any(_is_half_turn(R, principal) for R in inverted)
    about = sum(1 for R in rotations if np.linalg.norm(R @ principal - principal) < 1e-6)
    letter = "D" if two_fold else "C"
    if not len(inverted):
        kind = ""
    elif horizontal:
        kind = "h"
    elif two_fold:
        kind = "d"
    elif mirrors:
        kind = "v"
    else:
        letter, about, kind = "S", 2 * about, ""
    second = (two_fold or mirrors or [np.linalg.svd(principal[None])[2][1]])[0]
    frame = _columns(second, np.asarray(np.cross(principal, second), dtype=np.float64), principal)
    return named_turns(f"{letter}{about}{kind}", frame)


def _is_half_turn(R: Array, axis: Array) -> bool:
    return bool(np.abs(R - (2 * np.outer(axis, axis) - np.eye(3))).max() < 1e-6)
