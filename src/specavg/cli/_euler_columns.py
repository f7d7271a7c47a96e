"""Points that a table holds as angles: orientations as three Euler angles, directions as longitude and latitude."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from specavg._arrays import Array
from specavg.cli._user_error import UserError

if TYPE_CHECKING:
    from specavg.spaces import Space

_UNITS = {"bunge:degrees": True, "bunge:radians": False}  # whether angles are in degrees
_LONLAT = "lonlat"  # what --lonlat says in place of one of these


def add_euler_option(parser: argparse.ArgumentParser) -> None:
    """Add --euler and --lonlat."""
    angles = parser.add_mutually_exclusive_group()
    angles.add_argument(
        "--euler",
        metavar="ANGLES",
        help="rotations are three columns φ₁, Φ, φ₂, in this order, instead of nine: bunge:degrees or bunge:radians",
    )
    angles.add_argument(
        "--lonlat",
        action="store_const",
        dest="euler",
        const=_LONLAT,
        help="points of sphere:3 are two columns instead of three: longitude and latitude in degrees, in this order",
    )


def angles_option(euler: str) -> str:
    """The option that says which angles these are."""
    return "--lonlat" if euler == _LONLAT else f"--euler {euler}"


def point_columns(euler: str | None, space: Space) -> int:
    """How many columns of a table a point has; an error where these angles are not known, or mean nothing here."""
    from specavg.spaces import Rotations, Sphere

    if euler is None:
        return space.n_features
    if euler == _LONLAT:
        if space != Sphere(3):
            raise UserError(f"--lonlat is for --space sphere:3, whose points are directions; got {space!r}", 2)
        return 2
    if euler not in _UNITS:
        raise UserError(f"--euler must be {' or '.join(_UNITS)}, the convention and the unit; got {euler!r}", 2)
    if not isinstance(space, Rotations):
        raise UserError(f"--euler is for --space rotations, whose points are orientations; got {space!r}", 2)
    return 3


def check_angle_names(euler: str | None, columns: list[str]) -> None:
    """Refuse columns whose names say that they are these angles in another order than that in which they are taken."""
    from specavg.spaces._lonlat import names_latitude_first
    from specavg.spaces._rotations import bunge_order

    order, wanted = None, "φ₁, Φ, φ₂ in this order"
    if euler == _LONLAT:
        wanted = "the longitude first"
        order = columns[::-1] if names_latitude_first(columns) else None
    elif euler is not None:
        order = bunge_order(columns)
    if order is not None:
        raise UserError(
            f"{angles_option(euler or '')} takes {wanted}, and the columns are {','.join(columns)}: give --features "
            f"{','.join(order)}",
            2,
        )


def point_width(euler: str) -> int:
    """How many numbers a point has that is made of these angles."""
    return 3 if euler == _LONLAT else 9


def points_from_angles(euler: str | None, columns: Array) -> Array:
    """Points as models take them: unit vectors or rotation matrices, row by row, where the columns are angles."""
    from specavg.spaces import directions_from_lonlat, rotations_from_bunge

    if euler == _LONLAT:
        return directions_from_lonlat(columns)
    return columns if euler is None else rotations_from_bunge(columns, degrees=_UNITS[euler]).reshape(-1, 9)


def remember_angles(model: Any, euler: str | None, columns: list[str]) -> None:
    """Keep in a model which columns of a table it takes, and as what."""
    if euler is not None:
        model.euler_, model.euler_columns_ = euler, list(columns)
