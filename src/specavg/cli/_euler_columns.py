"""Orientations that a table holds as three Euler angles."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from specavg._arrays import Array
from specavg.cli._user_error import UserError

if TYPE_CHECKING:
    from specavg.spaces import Space

_UNITS = {"bunge:degrees": True, "bunge:radians": False}  # whether angles are in degrees


def add_euler_option(parser: argparse.ArgumentParser) -> None:
    """Add --euler."""
    parser.add_argument(
        "--euler",
        metavar="ANGLES",
        help="rotations are three columns φ₁, Φ, φ₂ instead of nine: bunge:degrees or bunge:radians",
    )


def point_columns(euler: str | None, space: Space) -> int:
    """How many columns of a table a point has; an error where these angles are not known, or mean nothing here."""
    from specavg.spaces import Rotations

    if euler is None:
        return space.n_features
    if euler not in _UNITS:
        raise UserError(f"--euler must be {' or '.join(_UNITS)}, the convention and the unit; got {euler!r}", 2)
    if not isinstance(space, Rotations):
        raise UserError(f"--euler is for --space rotations, whose points are orientations; got {space!r}", 2)
    return 3


def points_from_angles(euler: str | None, columns: Array) -> Array:
    """Points as models take them: rotation matrices, row by row, where the columns are angles."""
    from specavg.spaces import rotations_from_bunge

    return columns if euler is None else rotations_from_bunge(columns, degrees=_UNITS[euler]).reshape(-1, 9)


def remember_angles(model: Any, euler: str | None, columns: list[str]) -> None:
    """Keep in a model which columns of a table it takes, and as what."""
    if euler is not None:
        model.euler_, model.euler_columns_ = euler, list(columns)
