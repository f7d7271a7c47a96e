"""What the fields of a group, beside its generators, reveal about it."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from specavg.groups._structure import Structure
from specavg.groups.families._circle_subgroup import CircleSubgroup
from specavg.groups.families._composite import Composite
from specavg.groups.families._diagonal import Diagonal
from specavg.groups.families._orthogonal_group import OrthogonalGroup
from specavg.groups.families._shift_group import ShiftGroup
from specavg.groups.families._two_sided import CrystalSymmetry
from specavg.isometries.fields import CopiesField, Field, LeftRightField, RotationField, ShiftField, period

if TYPE_CHECKING:
    from specavg.groups._group import Group

__all__ = ["continuous_structure", "normalises", "shift_directions"]

_SAME = 1e-12  # products of a few isometries that differ by less are the same: rounding is 1e-15


def continuous_structure(group: Group) -> Structure:
    """What a group with fields is, where that is known; a `ValueError` that says why otherwise."""
    make = type(group)
    connected = make(fields=group.fields, size=group.size)
    known = _connected(connected)
    if known is None:
        raise ValueError(
            f"no uniform (Haar) random element of {group!r} is known: its fields generate {connected.algebra!r}, which "
            "is none of the groups known here. Use the catalogue (groups.special_orthogonal, shifts, point_group, "
            "diagonal, direct_product, joined) where the group is in it."
        )
    if not group.generators:
        return known
    finite = make(group.generators, size=group.size)
    first = make(fields=group.fields, structure=known, size=group.size)
    if not normalises(finite, first):
        raise ValueError(
            f"no uniform (Haar) random element of {group!r} is known: its generators move its fields to others, so "
            "that it is larger than the product of its continuous and its finite part."
        )
    finite.recognise()  # refuses generators that show no finite group
    return Composite((first, finite))


def _connected(group: Group) -> Structure | None:
    fields, algebra = group.fields, group.algebra
    shifts = [f for f in fields if isinstance(f, ShiftField)]
    if len(shifts) == len(fields):
        return ShiftGroup(tuple(shift_directions(f) for f in shifts))
    d = group.size
    if all(isinstance(f, RotationField) for f in fields) and algebra.dim == d * (d - 1) // 2:
        return OrthogonalGroup(d, special=True)
    make = type(group)
    together = [f.parts[0] for f in fields if isinstance(f, CopiesField) and len(set(f.parts)) == 1]
    if len(together) == len(fields):
        return Diagonal(_known(make(fields=together)), d)
    matrices = [f for f in fields if isinstance(f, LeftRightField)]
    if len(matrices) == len(fields) and all(f.left.is_zero or f.right.is_zero for f in matrices):
        return CrystalSymmetry(
            _known(make(fields=[f.left for f in matrices])), _known(make(fields=[f.right for f in matrices]))
        )
    circles = [_circle(f) for f in fields if not f.is_zero] if algebra.is_abelian else [None]
    known = [circle for circle in circles if circle is not None]
    if not known or len(known) < len(circles):
        return None
    if len(known) == 1:
        return known[0]
    # Circles that commute: a product of uniform elements is uniform on the torus that they fill.
    return Composite(tuple(make(fields=[c.field], structure=c, size=group.size) for c in known))


def _known(group: Group) -> Group:
    """A group whose structure is known; the `ValueError` that says why it is not, otherwise."""
    group.recognise()
    return group


def _circle(field: Field) -> CircleSubgroup | None:
    """The flow of a field that comes back to its beginning."""
    comes_back = period(field)
    return None if comes_back is None else CircleSubgroup(field, comes_back)


def shift_directions(field: ShiftField) -> tuple[int, ...]:
    """An integer vector along the velocity, or an error for a slope that is not known exactly."""
    if not field.is_exact:
        raise ValueError(
            f"{field!r} has a floating-point velocity. Whether its flow closes depends on the ratios of the entries, "
            "and a rounded ratio decides nothing: an irrational slope fills a larger torus. Give integers, Fraction "
            "or texts such as '1/3'."
        )
    velocity = cast("tuple[Fraction, ...]", field.velocity)
    scale = lcm(*(v.denominator for v in velocity))
    return tuple(int(v * scale) for v in velocity)


def normalises(group: Group, other: Group) -> bool:
    """Whether every g of `group` has g · other · g⁻¹ = other, as far as generators and fields show it.

    Fields of `other` must stay in its algebra. Generators of `other` must commute with all of `group`.
    """
    algebra = other.algebra
    return (
        all(f.moved(g) in algebra for f in other.fields for g in group.generators)
        and all(f.bracket(h) in algebra for f in other.fields for h in group.fields)
        and all(g @ h == h @ g for g in group.generators for h in other.generators)
        and all(_distance(f.moved(h).vector, f.vector) <= _SAME for f in group.fields for h in other.generators)
    )


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, float(np.abs(a).max(initial=0.0))))
