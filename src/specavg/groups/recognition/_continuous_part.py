"""The structure of a group with a continuous part, from its fields and generators."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, cast

import numpy as np

from specavg._arrays import Array
from specavg.groups._algebra import INDEPENDENT, Algebra, length
from specavg.groups._structure import Structure
from specavg.groups.families import CircleSubgroup, Composite, Diagonal, OrthogonalGroup, Semisimple, ShiftGroup
from specavg.groups.families._connected import combination, killing_form
from specavg.isometries._linear import linear
from specavg.isometries.fields import CopiesField, Field, RotationField, ShiftField, period

if TYPE_CHECKING:
    from specavg.groups._group import Group

_SAME = 1e-12  # products of a few isometries that differ by less are the same: rounding is 1e-15


def continuous_structure(group: Group) -> Structure:
    """The structure of a group with fields; a `ValueError` where none is known says why."""
    make = type(group)
    connected = make(fields=_moved_everywhere(group), size=group.size)
    known = _connected(connected)
    if known is None:
        raise ValueError(
            f"no uniform (Haar) random element of {group!r} is known: a flow that commutes with all others does not "
            "come back, since its planes turn with speeds of no small ratio, as far as floating-point numbers tell. It "
            "fills a larger group: give the fields of that one. (Shifts are in periods, rotations in radians.)"
        )
    if not group.generators:
        return known
    if isinstance(known, OrthogonalGroup):  # generators add mirrors, or nothing
        proper = all(np.linalg.det(linear(g).matrix) > 0 for g in group.generators)
        return OrthogonalGroup(group.size, special=proper)
    finite = make(group.generators, size=group.size)
    finite.recognise()  # refuses generators that show no finite group
    return Composite((make(fields=connected.fields, structure=known, size=group.size), finite))


def _moved_everywhere(group: Group) -> list[Field]:
    """Fields of the group, and what its generators make of them as far as that is no combination of brackets."""
    found = list(group.fields)
    make, algebra = type(group), group.algebra
    for field in found:  # grows while it is read
        for g in group.generators:
            other = field.moved(g)
            if other not in algebra:
                found.append(other)
                algebra = make(fields=found, size=group.size).algebra
    return found


def _connected(group: Group) -> Structure | None:
    """The structure of a group of fields only; None where a flow does not come back."""
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
        on_one_copy = make(fields=together)
        on_one_copy.recognise()  # refuses flows that do not come back
        return Diagonal(on_one_copy, d)
    centre, semisimple = _split(fields, algebra)
    known = [CircleSubgroup(f, time) for f in centre if (time := period(f)) is not None]
    if len(known) < len(centre):
        return None
    parts = [*known, *([Semisimple(semisimple)] if semisimple else [])]
    if len(parts) == 1:
        return parts[0]
    # Subgroups that commute with each other: a product of uniform elements of each is uniform.
    return Composite(tuple(make(fields=part.fields, structure=part, size=d) for part in parts))


def _split(fields: tuple[Field, ...], algebra: Algebra) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """Fields that span the part of an algebra that commutes with all of it, and a basis of the semisimple rest.

    The Killing form is zero on the first part, and lengths do not change under the group, so that both parts are at
    right angles in orthonormal coordinates.
    """
    if algebra.is_abelian:
        return fields, ()
    basis = _orthonormal(algebra.fields)
    strength, directions = np.linalg.eigh(-killing_form(basis))
    still = strength <= INDEPENDENT
    coordinates = np.stack([f.vector for f in basis], axis=1)  # (p, dim)
    onto_centre = directions[:, still] @ directions[:, still].T @ coordinates.T
    centre = [(f, combination(onto_centre @ f.vector, basis)) for f in fields]
    return (
        tuple(_without_rounding(part) for f, part in centre if length(part) > INDEPENDENT * length(f)),
        tuple(combination(direction, basis) for direction in directions[:, ~still].T),
    )


def _orthonormal(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """A basis of the span, of fields whose `vector` are orthonormal."""
    columns = np.stack([f.vector / length(f) for f in fields], axis=1)
    factor = np.linalg.inv(np.linalg.qr(columns)[1])
    units = tuple((1.0 / length(f)) * f for f in fields)
    return tuple(combination(column, units) for column in factor.T)


def _without_rounding(field: Field) -> Field:
    """Entries that a projection should have made zero are zero: a plane that turns by rounding has no period."""
    tiny = _SAME * float(np.abs(field.vector).max())
    return field.combined(field, lambda a, _: a * (np.abs(a) > tiny))


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


def _distance(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, float(np.abs(a).max(initial=0.0))))
