"""Names of subgroups, where they have one that people know."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group, point_group
from specavg.isometries import Isometry, LeftRight, SignedPermutation
from specavg.isometries._linear import linear, rotation_axis
from specavg.spaces import Space, Sphere

POINT_GROUPS = (
    *("C1", "Ci", "Cs", "C2", "C2h", "C2v", "C3", "S6", "C3h", "C3v", "C4", "S4", "C4h", "C4v", "C6", "C6h", "C6v"),
    *("D2", "D2d", "D2h", "D3", "D3d", "D3h", "D4", "D4h", "D6", "D6h", "T", "Th", "Td", "O", "Oh", "I", "Ih"),
)


def point_group_name(space: Space, elements: list[Isometry]) -> str | None:
    """The Schoenflies name of a finite group of rotations and reflections of the sphere in space; else None.

    The numbers of rotations and of improper rotations by each angle decide it. Of the maps X ↦ A X Bᵀ of rotations the
    groups of A and of B have names, where every A goes with every B.

    Examples
    --------
    >>> import specavg as sa
    >>> point_group_name(sa.Sphere(3), list(sa.groups.point_group("D2d").elements()))
    'D2d'
    """
    if space == Sphere(3):
        return _known().get(_signature(elements))
    named = {side: _known().get(_signature(part)) for side, part in _sides(elements).items()}
    return ", ".join(f"{side} {name}" for side, name in named.items()) if named and all(named.values()) else None


def _sides(elements: Sequence[Isometry]) -> dict[str, list[Isometry]]:
    """The matrices from the left and from the right of a group of rotations, those that do something.

    Nothing where the elements are not all products of them.
    """
    sides: dict[str, list[Isometry]] = {}
    pairs = [(g.left, g.right) for g in elements if isinstance(g, LeftRight) and g.left.size == g.right.size == 3]
    count = 1
    for i, side in enumerate(("left", "right")):
        different = {(np.round(_matrix(pair[i]), 9) + 0.0).tobytes(): pair[i] for pair in pairs}
        count *= len(different)
        if len(different) > 1:
            sides[side] = list(different.values())
    return sides if count == len(elements) == len(pairs) else {}


def orientation(group: Group) -> str:
    """The axis of a point group, and one of the half turns or mirrors across it: a name alone leaves them open.

    Empty for groups without a main axis (cubic, icosahedral, trivial ones) and for groups that are no point groups.

    Examples
    --------
    >>> import specavg as sa
    >>> orientation(sa.groups.point_group("C4v")), orientation(sa.groups.point_group("Oh"))
    ('axis z, mirror ⊥ x', '')
    """
    if group.name is not None and group.name.startswith(("left ", "right ")):
        sides = _sides(list(group.elements()))
        found = {side: orientation(Group(part, name=_known()[_signature(part)])) for side, part in sides.items()}
        return "; ".join(axes if len(found) == 1 else f"{side} {axes}" for side, axes in found.items() if axes)
    if group.name not in POINT_GROUPS or group.name[0] in "TOI" or group.size != 3:
        return ""
    matrices = [_matrix(g) for g in group.elements()]
    proper = [_turn(R) for R in matrices if np.linalg.det(R) > 0 and np.trace(R) < 3 - 1e-9]
    mirrors = [_turn(-R)[1] for R in matrices if abs(np.trace(R) - 1) < 1e-9 and np.linalg.det(R) < 0]
    improper = [_turn(-R) for R in matrices if np.linalg.det(R) < 0 and np.trace(R) > -3 + 1e-9]
    if not proper:
        return f"mirror ⊥ {_written(mirrors[0])}" if mirrors else ""
    most = max(order for order, _ in proper + improper)
    axis = _plainest([u for order, u in (proper if most == 2 else proper + improper) if order == most])
    half_turns = [u for order, u in proper if order == 2 and abs(u @ axis) < 1e-9]
    across = [u for u in mirrors if abs(u @ axis) < 1e-9]
    if half_turns:
        return f"axis {_written(axis)}, half turn {_written(_plainest(half_turns))}"
    return f"axis {_written(axis)}" + (f", mirror ⊥ {_written(_plainest(across))}" if across else "")


def element_label(g: Isometry, longest: int) -> str:
    """How an element is written; by what it moves where that would be longer than `longest`.

    Examples
    --------
    >>> from specavg.isometries import signed_permutation
    >>> element_label(signed_permutation([1, 0], [1, -1]), 40)
    'signed_permutation([1, 0], [1, -1])'
    >>> element_label(signed_permutation([0, 3, 2, 1, 4, 5, 6, 7], [1, 1, -1, 1, 1, 1, 1, -1]), 40)
    'permutes (1 3), changes the sign of 2, 7'
    """
    written = repr(g)
    if len(written) <= longest or not isinstance(g, SignedPermutation):
        return written
    cycles, seen = "", set[int]()
    for start, other in enumerate(g.image):
        cycle = [start]
        while other not in seen and other != start:
            cycle.append(other)
            other = g.image[other]
        cycles += f"({' '.join(map(str, cycle))})" if len(cycle) > 1 and start not in seen else ""
        seen.update(cycle)
    changed = ", ".join(str(i) for i, sign in enumerate(g.signs) if sign < 0)
    said = [f"permutes {cycles}" if cycles else "", f"changes the sign of {changed}" if changed else ""]
    return ", ".join(filter(None, said))


def _turn(R: Array) -> tuple[int, Array]:
    """The order of a rotation, and its axis with the sign that makes its largest coordinate positive."""
    order = round(2 * np.pi / np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0)))
    axis = rotation_axis(R)
    return order, axis * np.sign(axis[np.argmax(np.abs(axis) > np.abs(axis).max() - 1e-9)])


def _plainest(directions: list[Array]) -> Array:
    """The direction with the most zeros; of these z, then x, then y comes first."""
    return min(directions, key=lambda u: ((np.abs(u) > 1e-9).sum(), *np.round(-u[[2, 0, 1]], 6)))


def _written(direction: Array) -> str:
    """A direction in text: x, y or z, small whole numbers such as (1, 1, 0), or three decimals."""
    for name, unit in zip("xyz", np.eye(3), strict=True):
        if np.allclose(direction, unit, atol=1e-9):
            return name
    least = np.abs(direction[np.abs(direction) > 1e-9]).min()
    whole = direction / least
    if np.allclose(whole, np.round(whole), atol=1e-6) and np.abs(whole).max() < 10:
        return f"({', '.join(f'{a:.0f}' for a in np.round(whole) + 0.0)})"
    return f"({', '.join(f'{a:.3f}' for a in direction)})"


@lru_cache(maxsize=1)
def _known() -> dict[tuple[float, ...], str]:
    return {_signature(list(point_group(name).elements())): name for name in POINT_GROUPS}


def _signature(elements: list[Isometry]) -> tuple[float, ...]:
    """Traces and determinants of all elements, sorted, one number tr + 10 det for each: no trace reaches 10."""
    matrices = [_matrix(g) for g in elements]
    return tuple(sorted(round(float(np.trace(R)) + 10 * float(np.linalg.det(R)), 6) + 0.0 for R in matrices))


def _matrix(g: Isometry) -> np.ndarray:
    return np.asarray(linear(g).matrix, dtype=float)
