"""Spaces, groups and cutoffs as they are written on the command line."""

from __future__ import annotations

import argparse
import json
import math
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specavg.cli._user_error import UserError

if TYPE_CHECKING:
    from specavg.groups import Group
    from specavg.spaces import Space

_SPACE_HELP = (
    "torus:10, torus:10,period=2pi, torus:2,period=24,7, circle, interval, interval:0,1, sphere:3, rotations, "
    "stiefel:5,2; A*B is a product, A^5 five copies, (A*B)^5 five copies of a product; or a TOML or JSON file"
)
_GROUP_HELP = (
    "sign_flips:10, symmetric:5, alternating:5, hyperoctahedral:3, cyclic:6, dihedral:6, cyclic_shifts:8, "
    "dihedral_shifts:8, point_group:Oh, special_orthogonal:3, orthogonal:3, shifts:1,-1 (along a direction), "
    "crystal_symmetry:O,Cinf, space_group:225, plane_group:p6m; diagonal:(orthogonal:3),4 moves four copies together, "
    "wreath:(point_group:Oh),2 each of two copies by itself and exchanges them; "
    "left_right:(trivial:5),(orthogonal:2) moves rows and columns of matrices; G*H is a direct product, "
    "trivial:1*point_group:Ci one whose first factor does not move, G+H what two groups on one space generate; or a "
    "TOML or JSON file with generators (default: no symmetry)"
)
MOST_COLUMNS = 10**6  # more than any table on disk has
_MOST_FUNCTIONS = 1e7  # their eigenvalues and coefficients alone take 160 MB
_OF_SIZE = (  # groups of the catalogue that one whole number says
    *("trivial", "sign_flips", "symmetric", "alternating", "hyperoctahedral", "cyclic", "dihedral"),
    *("cyclic_shifts", "dihedral_shifts", "special_orthogonal", "orthogonal"),
)
_CUTOFFS = ("max_eigenvalue", "max_dim", "max_invariant_dim")


def add_space_and_group(parser: argparse.ArgumentParser, *, space_required: bool) -> None:
    """Add --space and --group."""
    parser.add_argument("--space", required=space_required, metavar="SPACE", help=_SPACE_HELP)
    parser.add_argument("--group", metavar="GROUP", help=_GROUP_HELP)


def add_symmetry_options(parser: argparse.ArgumentParser, *, space_required: bool) -> None:
    """Add --space, --group and the cutoffs."""
    add_space_and_group(parser, space_required=space_required)
    cutoffs = parser.add_mutually_exclusive_group()
    cutoffs.add_argument("--max-eigenvalue", type=float, metavar="L", help="all eigenvalues up to L")
    cutoffs.add_argument("--max-dim", type=float, metavar="D", help="at most D functions, invariant or not")
    cutoffs.add_argument("--max-invariant-dim", type=float, metavar="R", help="at most R invariant functions")


def space_and_group(options: argparse.Namespace, advice: str | None = None) -> tuple[Space, Group]:
    """What --space and --group name; with `advice`, a group that moves nothing is refused with it."""
    space = space_of(options.space)
    group = fitting_group(options.group, space)
    if advice is not None and not group.generators and not group.fields:
        raise UserError(f"{group!r} moves nothing: {advice}", 2)
    return space, group


def fitting_group(text: str | None, space: Space) -> Group:
    """The group that `text` names, if it acts on `space`; found out before any data are read."""
    from specavg.invariants import invariant_basis

    try:
        group = group_of(text, space)
        invariant_basis(space, group, max_eigenvalue=0.0)
    except (ValueError, TypeError, MemoryError) as error:
        what = "without a group" if text is None else f"--group {text}"
        raise UserError(f"{what}: {error}", 2) from None
    return group


def check_level(options: argparse.Namespace) -> None:
    """Refuse a --level that is no probability."""
    if not 0 < options.level < 1:
        raise UserError(f"--level must lie between 0 and 1; got {options.level:g}", 2)


def cutoff_of(options: argparse.Namespace) -> dict[str, Any]:
    """The cutoff given, as a keyword argument; empty if there is none."""
    given = {name: getattr(options, name) for name in _CUTOFFS if getattr(options, name) is not None}
    for name, value in given.items():
        least = 0 if name == "max_eigenvalue" else 1
        if not least <= value < float("inf"):
            raise UserError(f"--{name.replace('_', '-')} must be a number of at least {least}; got {value:g}", 2)
    if given.get("max_invariant_dim", 0) > _MOST_FUNCTIONS:
        raise UserError(f"--max-invariant-dim must be at most {_MOST_FUNCTIONS:.0g}; nothing holds more functions", 2)
    return given


def space_of(text: str) -> Space:
    """The space that `text` names.

    Examples
    --------
    >>> space_of("torus:2 * sphere:3^4")
    Product(Torus(2), Power(Sphere(3), 4))
    >>> space_of("torus:2,period=2*pi")
    Torus(2, period=6.283185307179586)
    >>> space_of("torus:2,period=24,7")
    Torus(2, period=[24.0, 7.0])
    >>> space_of("(circle * sphere:3)^2")
    Power(Product(Circle(), Sphere(3)), 2)
    >>> space_of("interval:0,1^3")
    Power(Interval(0.0, 1.0), 3)
    """
    from specavg import spaces

    if text.endswith((".toml", ".json")):
        return _from_file(Path(text), spaces.Space, "space")
    text = re.sub(r"\*\s*pi\b", "pi", text)  # 2*pi is a number, not a product of spaces
    factors = _split(text, "*")
    if len(factors) > 1:
        return spaces.Product(*(space_of(part) for part in factors))
    try:
        base, *exponents = _split(text, "^")
        inside = base.startswith("(") and base.endswith(")")
        space = space_of(base[1:-1]) if inside else _named_space(base)
        for copies in exponents:
            space = spaces.Power(space, _columns(copies, text))
        return space
    except (ValueError, MemoryError, OverflowError) as error:
        raise UserError(f"--space {text}: {error}", 2) from None


def _named_space(text: str) -> Space:
    from specavg import spaces

    name, values, settings = _parse(text)
    if name == "torus":
        wanted = "torus:10, torus:10,period=1, or torus:2,period=24,7 with a period for each coordinate"
        _expect(text, len(values) == 1 and set(settings) <= {"period"}, wanted)
        periods = [_number(value, text) for value in settings.get("period", "2").split(",")]
        return spaces.Torus(_columns(values[0], text), period=periods if len(periods) > 1 else periods[0])
    if name == "sphere":
        _expect(text, len(values) == 1 and not settings, "sphere:3")
        return spaces.Sphere(_columns(values[0], text))
    if name == "stiefel":
        _expect(text, len(values) == 2 and not settings, "stiefel:5,2")
        return spaces.Stiefel(_columns(values[0], text), _columns(values[1], text))
    if name == "interval":
        _expect(text, len(values) in (0, 2) and not settings, "interval or interval:0,1")
        return spaces.Interval(*(_number(value, text) for value in values))
    if name in ("circle", "rotations"):
        _expect(text, not values and not settings, name)
        return spaces.Circle() if name == "circle" else spaces.Rotations()
    raise UserError(f"there is no space {text!r}; spaces are {_SPACE_HELP}", 2)


def group_of(text: str | None, space: Space) -> Group:
    """The group that `text` names, or the trivial one.

    Examples
    --------
    >>> group_of("point_group:Oh", space_of("sphere:3"))
    point_group('Oh')
    >>> group_of("diagonal:(orthogonal:3),4 + symmetric:4", space_of("sphere:3^4"))
    joined(diagonal(orthogonal(3), 4), symmetric(4))
    >>> group_of("wreath:(point_group:Oh),2", space_of("sphere:3^2"))
    wreath(point_group('Oh'), 2)
    """
    from specavg import groups
    from specavg.invariants import default_group

    if text is None or text == "trivial":
        return default_group(space)
    if text.endswith((".toml", ".json")):
        return _from_file(Path(text), groups.Group, "group")
    parts = _split(text, "*")
    if len(parts) > 1:
        return groups.direct_product(*(group_of(part, space) for part in parts))
    parts = _split(text, "+")
    if len(parts) > 1:
        return groups.joined(*(group_of(part, space) for part in parts))
    if text.startswith("(") and text.endswith(")"):
        return group_of(text[1:-1].strip(), space)
    for name, of_copies in (("diagonal", groups.diagonal), ("wreath", groups.wreath)):
        if text.startswith(f"{name}:"):
            inner = _split(text.removeprefix(f"{name}:"), ",")
            _expect(text, len(inner) == 2, f"a group and a number of copies, as in {name}:(point_group:Oh),4")
            return of_copies(group_of(inner[0], space), _columns(inner[1], text))
    if text.startswith("left_right:"):
        sides = _split(text.removeprefix("left_right:"), ",")
        _expect(text, len(sides) == 2, "two groups, as in left_right:(trivial:5),(orthogonal:2)")
        return groups.left_right(*(group_of(side, space) for side in sides))
    name, values, settings = _parse(text)
    if name == "shifts":
        _expect(text, bool(values) and not settings, "the entries of a direction, as in shifts:1,-1")
        return groups.shifts(values)
    if name == "crystal_symmetry":
        _expect(text, 1 <= len(values) <= 2 and not settings, "crystal and specimen, as in crystal_symmetry:O,Cinf")
        return groups.crystal_symmetry(*values)
    _expect(
        text, ":" in text or not _is_point_group(text), f"point_group:{text}, or crystal_symmetry:{text} on rotations"
    )
    _expect(text, len(values) == 1 and not settings, "one value after the colon, as in sign_flips:10")
    if name in ("point_group", "plane_group"):
        return getattr(groups, name)(values[0])
    if name == "space_group":
        return groups.space_group(int(values[0]) if values[0].isdecimal() else values[0])
    if name not in _OF_SIZE:
        raise UserError(f"there is no group {text!r}; groups are {_GROUP_HELP}", 2)
    rotations = name in ("cyclic", "dihedral")  # of one coordinate, as many as you like
    return getattr(groups, name)((_integer if rotations else _columns)(values[0], text))


def _is_point_group(name: str) -> bool:
    from specavg import groups

    try:
        groups.point_group(name)
    except ValueError:
        return False
    return True


def _from_file(path: Path, kind: type, part: str) -> Any:
    """What a TOML or JSON file describes: its table `part`, or all of it."""
    from specavg.persistence import DescriptionError, read

    try:
        data = path.read_bytes()
        content: Any = tomllib.loads(data.decode()) if path.suffix.lower() == ".toml" else json.loads(data)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:  # both parsers' errors are ValueErrors
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold named fields, not a bare {type(content).__name__}")
    description = content.get(part, content)
    if part == "group" and isinstance(description, dict) and "structure" in description:
        raise UserError(
            f"{path}: a structure cannot be claimed in a file; give generators, or a name such as symmetric:5"
        )
    try:
        return read(_in_periods(description, path), kind, part)
    except DescriptionError as error:
        raise UserError(f"{path}: {error}") from None


def _in_periods(described: Any, path: Path) -> Any:
    """The same with shifts by `degrees` as fractions of the period; whole periods, which move nothing, are refused."""
    from specavg.isometries import shift

    if isinstance(described, list):
        return [_in_periods(part, path) for part in described]
    if not isinstance(described, dict):
        return described
    parts = {name: _in_periods(part, path) for name, part in described.items()}
    other = next((name for name in parts if name not in ("kind", "shift", "degrees")), None)
    if parts.get("kind") == "shift" and other is not None:
        raise UserError(
            f'{path}: a shift has no field {other!r}: write shift = ["1/3"], in periods, or degrees = [120]'
        )
    if parts.get("kind") == "shift" and isinstance(parts.get("degrees"), list):
        found: Any = shift(degrees=parts.pop("degrees"))
        parts["shift"] = [str(t) for t in getattr(found, "shift", [0] * found.size)]
    given = parts.get("shift")
    for t in given if isinstance(given, list) else []:
        if abs(_periods(t)) >= 1:
            raise UserError(
                f"{path}: a shift by {t} moves by a whole period or more, and whole periods move nothing: shifts are "
                'in periods. An angle of 120 degrees is shift = ["1/3"], or kind = "shift" with degrees = [120]'
            )
    return parts


def _periods(t: Any) -> float:
    """How many periods a shift is; 0 for what is no number, which is refused where it is read."""
    try:
        return float(Fraction(t))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return 0.0


def _split(text: str, mark: str) -> list[str]:
    """The parts of `text` between the marks that stand outside of parentheses."""
    parts, depth = [""], 0
    for letter in text.strip():
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise UserError(f"cannot read {text!r}: its parentheses do not match", 2)
    return [part.strip() for part in parts]


def _parse(text: str) -> tuple[str, list[str], dict[str, str]]:
    name, _, rest = text.strip().partition(":")
    if re.search(r"\.\w+$", name) and not rest:
        raise UserError(f"cannot read {text!r}: files of spaces and groups are .toml or .json", 2)
    first, *others = re.split(r",?\s*(\w+)\s*=", rest)  # what follows a setting belongs to it: period=24,7
    values = [part.strip() for part in first.split(",") if part.strip()]
    settings = {key: value.strip(" ,") for key, value in zip(others[::2], others[1::2], strict=True)}
    return name.strip().lower(), values, settings


def _expect(text: str, fits: bool, example: Any) -> None:
    if not fits:
        raise UserError(f"cannot read {text!r}: write {example}", 2)


def _integer(value: str, text: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise UserError(f"cannot read {text!r}: {value!r} is not a whole number", 2) from None


def _columns(value: str, text: str) -> int:
    """A number of coordinates or copies."""
    number = _integer(value, text)
    if number > MOST_COLUMNS:
        raise ValueError(f"points have at most {MOST_COLUMNS:,} coordinates here; got {number}")
    return number


def _number(value: str, text: str) -> float:
    """A number, or a multiple of π such as 2pi."""
    plain = value.lower().replace("π", "pi")
    try:
        if plain.endswith("pi"):
            return float(plain.removesuffix("pi").strip() or 1) * math.pi
        return float(plain)
    except ValueError:
        raise UserError(f"cannot read {text!r}: {value!r} is not a number", 2) from None
