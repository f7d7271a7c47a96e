"""Generators and fields that users give, made of one kind and size."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from specavg._messages import shown
from specavg.isometries import Copies, Factors, Isometry, LeftRight, SignedPermutation, copies, factors, identity
from specavg.isometries.fields import (
    CopiesField,
    FactorsField,
    Field,
    LeftRightField,
    RotationField,
    complete,
    left_right,
    rotation,
)


def fields_from(given: Iterable[Field | ArrayLike]) -> tuple[Field, ...]:
    """Fields of one kind from fields and skew-symmetric matrices; zero fields are kept."""
    fields = [f if isinstance(f, Field) else rotation(f) for f in given]
    like = next((f for f in fields if isinstance(f, LeftRightField)), None)
    if like is not None:
        none = np.zeros_like(like.right.matrix)
        fields = [left_right(f.matrix, none) if isinstance(f, RotationField) else f for f in fields]
    kinds = {type(f): f for f in fields if not f.is_zero}
    if len(kinds) > 1:
        raise ValueError(f"{' and '.join(map(repr, kinds.values()))} are fields of different spaces: no group has both")
    return tuple(_alike(fields))


def _alike(fields: list[Field]) -> list[Field]:
    """The same fields; a part that does not move is written as the zero field of the kind it has in other fields."""
    if not any(isinstance(f, CopiesField | FactorsField) for f in fields) or len({f.size for f in fields}) > 1:
        return fields
    common = fields[0]
    for f in fields[1:]:
        common = common + 0 * f
    return [f + 0 * common for f in fields]


def neutral(g: Isometry) -> Isometry:
    """The identity, of the same kind as `g`."""
    if isinstance(g, Factors):
        return factors([neutral(part) for part in g.parts])
    if isinstance(g, Copies):
        return copies(range(g.size), [neutral(part) for part in g.parts])
    if isinstance(g, LeftRight):
        return LeftRight(identity(g.left.size), identity(g.right.size))
    return identity(g.size)


def columns(g: Isometry) -> int:
    """How many columns a point that `g` acts on has."""
    if isinstance(g, Factors | Copies):
        return sum(columns(part) for part in g.parts)
    if isinstance(g, LeftRight):
        return g.left.size * g.right.size
    return g.size


def one_kind(generators: tuple[Isometry, ...], fields: tuple[Field, ...] = ()) -> tuple[Isometry, ...]:
    """Permutations of copies written as `copies`, where some generators or fields are (both mean the same)."""
    moved = [f.flow(0) for f in fields[:1] if complete(f)]
    like = next((g for g in (*generators, *moved) if isinstance(g, Copies)), None)
    if like is None:
        return generators
    part = neutral(like.parts[0])
    return tuple(
        copies(g.image, [part] * g.size) if isinstance(g, SignedPermutation) and g.is_permutation else g
        for g in generators
    )


def common_size(given: Sequence[Isometry | Field], size: int | None) -> int:
    """The size that all generators and fields have, or `size` where there are none."""
    if not given:
        if size is None:
            raise ValueError("a group without generators needs size=, the number of coordinates it acts on")
        return size
    common = given[0].size if size is None else size
    for g in given:
        if g.size != common:
            against = _called(given[0], given) if size is None else "size="
            raise ValueError(
                f"{_called(g, given)}, {g!r}, acts on {g.size} parts but {against} says {common}: all generators and "
                "fields must act on the same space"
            )
    return common


def _called(one: Isometry | Field, given: Sequence[Isometry | Field]) -> str:
    """The name of a generator or a field in messages: 'generator 2' is the third isometry among those given."""
    alike = [g for g in given if isinstance(g, Field) == isinstance(one, Field)]
    return f"{'field' if isinstance(one, Field) else 'generator'} {alike.index(one)}"


def not_a_group(group: object) -> TypeError:
    """The refusal of what is given in place of a group, with what to write instead."""
    if isinstance(group, str):
        from specavg import groups  # its catalogue is made of this file too

        hint = f'a name stands in its function, as in sa.groups.point_group("{group}")'
        hint += f', or for orientations sa.groups.crystal_symmetry("{group}")'
        name, given, *_ = [*re.split(r"[:()]", group), ""]  # symmetric:3, symmetric(3)
        if name in groups.__all__ and (given or name != "point_group"):
            size = next(iter(inspect.signature(getattr(groups, name)).parameters.values())).annotation == "int"
            example = given if given.isdecimal() else f'"{given}"' if name.endswith("_group") else 3 if size else "..."
            hint = f"call the function of this name, as in sa.groups.{name}({example})"
    elif isinstance(group, list | tuple):
        hint = "generators stand in sa.Group([...])"
    elif callable(group):
        hint = f"call it with its size, as in {getattr(group, '__name__', 'symmetric')}(3)"
    else:
        hint = "take one of sa.groups, or sa.Group([g, h, ...])"
    return TypeError(f"group must be a specavg Group; got {shown(group)}: {hint}")
