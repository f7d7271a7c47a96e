"""Groups in plain values: generators, name, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from specavg.groups import Group
from specavg.groups.families import (
    AffineGroup,
    Alternating,
    CrystalSymmetry,
    Cyclic,
    CyclicShifts,
    Dihedral,
    DihedralShifts,
    DirectProduct,
    Hyperoctahedral,
    PointGroup,
    SignFlips,
    Structure,
    Symmetric,
    Trivial,
    Turn,
    Wreath,
)
from specavg.persistence._fields import DescriptionError, Fields, fraction_text
from specavg.persistence._isometries import describe_isometry, read_isometry

__all__ = ["describe_group", "read_group"]

_SIZED: dict[str, Callable[[int], Structure]] = {
    "trivial": Trivial,
    "sign_flips": SignFlips,
    "symmetric": Symmetric,
    "alternating": Alternating,
    "hyperoctahedral": Hyperoctahedral,
    "cyclic_shifts": CyclicShifts,
    "dihedral_shifts": DihedralShifts,
}
_CIRCLE: dict[str, Callable[[int], Structure]] = {"cyclic": Cyclic, "dihedral": Dihedral}
_NAMES: dict[Any, str] = {kind: name for kinds in (_SIZED, _CIRCLE) for name, kind in kinds.items()}


def describe_group(group: Group) -> dict[str, Any]:
    """`group` in plain values.

    Examples
    --------
    >>> from specavg import groups
    >>> describe_group(groups.cyclic(3))["generators"], describe_group(groups.cyclic(3))["structure"]
    ([{'kind': 'shift', 'shift': ['1/3']}], {'kind': 'cyclic', 'n': 3})
    """
    return {
        "name": group.name,
        "size": group.size,
        "generators": [describe_isometry(g) for g in group.generators],
        "structure": None if group.structure is None else _describe_structure(group.structure),
    }


def read_group(value: Any, place: str = "group", depth: int = 0) -> Group:
    """The group that a description means.

    Only `generators` is needed; `name` is for messages and `structure` is believed, so it should come from
    `describe_group`.

    Examples
    --------
    >>> read_group({"generators": [{"kind": "permutation", "image": [1, 2, 0]}]}).order
    3
    """
    fields = Fields(value, place, depth)
    name = fields.text("name") if fields.has("name") else fields.skip("name")
    size = fields.integer("size") if fields.has("size") else fields.skip("size")
    generators = fields.each("generators", read_isometry)
    structure = fields.one("structure", _read_structure) if fields.has("structure") else fields.skip("structure")
    fields.end()
    try:
        group = Group(generators, name, structure=structure, size=size)
    except (ValueError, TypeError) as error:
        raise DescriptionError(f"{place}: {error}") from None
    _check_structure(group, place)
    return group


def _check_structure(group: Group, place: str) -> None:
    """A structure must at least be of the right size, and have the generators' kind of elements."""
    size = group.size if group.structure is None else int(getattr(group.structure, "size", group.size))
    if size != group.size:
        raise DescriptionError(f"{place}.structure acts on {size} parts, but the generators on {group.size}")


def _describe_structure(structure: Structure) -> dict[str, Any]:
    name = _NAMES.get(type(structure))
    if name in _SIZED:
        return {"kind": name, "size": structure.size}  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(structure, Cyclic | Dihedral):
        return {"kind": _NAMES[type(structure)], "n": structure.n}
    if isinstance(structure, PointGroup):
        turns = [{"axis": list(t.axis), "fold": t.fold, "improper": t.improper} for t in structure.turns]
        return {"kind": "point_group", "symbol": structure.symbol, "turns": turns}
    if isinstance(structure, DirectProduct):
        return {"kind": "direct_product", "groups": [describe_group(group) for group in structure.groups]}
    if isinstance(structure, Wreath):
        return {"kind": "wreath", "group": describe_group(structure.group), "copies": structure.copies}
    if isinstance(structure, CrystalSymmetry):
        parts = {"crystal": describe_group(structure.crystal), "specimen": describe_group(structure.specimen)}
        return {"kind": "crystal_symmetry", **parts}
    if isinstance(structure, AffineGroup):
        return {
            "kind": "affine",
            "representatives": [describe_isometry(g) for g in structure.representatives],
            "shifts": [{"shift": [fraction_text(e) for e in t], "order": n} for t, n in structure.shifts],
        }
    raise DescriptionError(f"the group structure {type(structure).__name__} cannot be saved")


def _read_structure(value: Any, place: str, depth: int) -> Structure:
    fields = Fields(value, place, depth)
    kind = fields.text("kind")
    structure: Structure
    if kind in _SIZED:
        structure = _SIZED[kind](fields.integer("size"))
    elif kind in _CIRCLE:
        structure = _CIRCLE[kind](fields.large_integer("n"))
    elif kind == "point_group":
        structure = PointGroup(fields.text("symbol"), fields.each("turns", _read_turn))
    elif kind == "direct_product":
        structure = DirectProduct(fields.each("groups", read_group))
    elif kind == "wreath":
        structure = Wreath(fields.one("group", read_group), fields.integer("copies"))
    elif kind == "crystal_symmetry":
        structure = CrystalSymmetry(fields.one("crystal", read_group), fields.one("specimen", read_group))
    elif kind == "affine":
        structure = AffineGroup(fields.each("representatives", read_isometry), fields.each("shifts", _read_shift))
        if not structure.representatives:
            raise DescriptionError(f"{place}.representatives must not be empty")
    else:
        raise DescriptionError(f"{place}.kind {kind!r} is not known")
    fields.end()
    return structure


def _read_turn(value: Any, place: str, depth: int) -> Turn:
    fields = Fields(value, place, depth)
    axis = fields.numbers("axis")
    if len(axis) != 3 or not any(axis):
        raise DescriptionError(f"{place}.axis must be three numbers, not all zero")
    turn = Turn((axis[0], axis[1], axis[2]), fields.large_integer("fold"), fields.flag("improper"))
    fields.end()
    return turn


def _read_shift(value: Any, place: str, depth: int) -> tuple[tuple[Fraction, ...], int]:
    fields = Fields(value, place, depth)
    exact = [t for t in fields.periods("shift") if isinstance(t, Fraction)]
    order = fields.large_integer("order")
    fields.end()
    return tuple(exact), order
