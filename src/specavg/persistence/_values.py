"""Values in plain JSON, and back: every value is checked against a type hint, and errors name the place."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._messages import shown
from specavg.groups import Group
from specavg.persistence._kinds import kind_of, kinds_of
from specavg.persistence._plain_values import DescriptionError, array, flag, fraction, integer, number, text
from specavg.spaces import Space

_MAX_DEPTH = 20  # products of powers of products ...: people write three
_MAX_PARTS = 100_000  # coordinates, copies: the largest sphere in the tests has 10,000
_MAX_COLUMNS = 1_000_000  # columns of a point, at most: one point then takes 8 MB
_ARRAY_LIKE = set(typing.get_args(ArrayLike)) or {ArrayLike}  # a union, and since NumPy 2.5 an alias with a name
_PLAIN = {int: integer, float: number, bool: flag, str: text, Fraction: fraction}
_MATRICES = ("orthogonal", "rotation_field")  # kinds that a matrix alone means, where one of them is wanted
_LISTS = (tuple, list, frozenset, typing.get_origin(Iterable[int]))


def describe(value: Any) -> Any:
    """`value` in plain JSON: its kind, and the arguments of its constructor.

    Examples
    --------
    >>> import specavg as sa
    >>> describe(sa.Power(sa.Sphere(3), 4))
    {'kind': 'power', 'base': {'kind': 'sphere', 'd': 3}, 'm': 4}
    >>> described = describe(sa.groups.cyclic(3))
    >>> described["generators"], described["structure"]
    ([{'kind': 'shift', 'shift': ['1/3']}], {'kind': 'cyclic', 'n': 3})
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list | frozenset):
        return [describe(v) for v in (sorted(value) if isinstance(value, frozenset) else value)]
    kind = kind_of(value)
    if kind is None:
        raise DescriptionError(
            f"{value!r} cannot be described: only the library's own spaces, groups, isometries and orders can be "
            "saved. Use pickle or joblib for a model with one of your own."
        )
    return {"kind": kind.name, **{name: describe(v) for name, v in kind.arguments(value).items()}}


def read(value: Any, hint: Any, place: str, depth: int = 0) -> Any:
    """The value of the type `hint` that a description means.

    Parameters
    ----------
    value : object
        What was read from JSON or TOML.
    hint : type
        A plain type, an array, a tuple or a union of such, or a class: then any class below it may be described.
    place : str
        Where the description stands, for messages: "group.generators[2]".
    depth : int
        How many descriptions it stands in.

    Examples
    --------
    >>> read({"kind": "torus", "d": 2, "period": 1.0}, Space, "space")
    Torus(2, period=1.0)

    Of a group only `generators` are needed. Its `name` is for messages; a `structure` is believed, and should come
    from `describe`.

    >>> from specavg.groups import Group
    >>> read({"generators": [{"kind": "permutation", "image": [1, 2, 0]}]}, Group, "group").order
    3
    """
    if depth > _MAX_DEPTH:
        raise DescriptionError(f"{place} is nested more than {_MAX_DEPTH} deep")
    if hint in _PLAIN:
        return _PLAIN[hint](value, place)
    if hint is ArrayLike:
        return array(value, place)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(origin, "__value__"):  # an alias with a name, as NDArray is since NumPy 2.5
        return read(value, origin.__value__[inner], place, depth)
    if origin in (typing.Union, types.UnionType):
        return _read_union(value, inner, place, depth)
    if origin is np.ndarray:
        return array(value, place, whole=np.issubdtype(typing.get_args(inner[1])[0], np.integer))
    if origin in _LISTS:
        return _read_list(value, origin, inner, place, depth)
    return _read_described(value, (hint,), place, depth)


def read_fields(
    value: Any, hints: Mapping[str, Any], place: str, depth: int = 0, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The named fields of a table, each of its type; fields that nobody asked for are errors."""
    left = _table(value, place)
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        if name in left:
            found[name] = read(left.pop(name), hint, f"{place}.{name}", depth + 1)
        elif defaults is None or name not in defaults:
            other = next((given for given in left if given not in hints), None)  # perhaps it was misspelt
            raise DescriptionError(
                f"{place} has no field {name!r}"
                + ("" if other is None else f", and a field {other!r} that does not belong there")
            )
    if left:  # a misspelt field must not be ignored
        raise DescriptionError(f"{place} has a field {next(iter(left))!r} that does not belong there")
    return found


def _read_union(value: Any, choices: tuple[Any, ...], place: str, depth: int) -> Any:
    if value is None and types.NoneType in choices:
        return None
    classes = tuple(c for c in choices if isinstance(c, type) and c.__module__.startswith("specavg."))
    if classes and (isinstance(value, dict) or not set(choices) >= _ARRAY_LIKE):
        return _read_described(value, classes, place, depth)
    if set(choices) >= _ARRAY_LIKE:
        return array(value, place)
    if Fraction in choices:
        return number(value, place) if isinstance(value, float) else fraction(value, place)
    return read(value, next(c for c in choices if c is not types.NoneType), place, depth)


def _read_list(value: Any, origin: Any, inner: tuple[Any, ...], place: str, depth: int) -> Any:
    if not isinstance(value, list):
        raise DescriptionError(f"{place} must be a list; got {shown(value)}")
    pairs = origin is tuple and inner[-1] is not Ellipsis
    if pairs and len(value) != len(inner):
        raise DescriptionError(f"{place} must be a list of {len(inner)}; got {len(value)}")
    hints = inner if pairs else (inner[0],) * len(value)
    read_each = (read(v, h, f"{place}[{i}]", depth + 1) for i, (v, h) in enumerate(zip(value, hints, strict=True)))
    return frozenset(read_each) if origin is frozenset else tuple(read_each)


def _read_described(value: Any, expected: tuple[type, ...], place: str, depth: int) -> Any:
    kinds = {name: kind for cls in expected for name, kind in kinds_of(cls).items()}
    if isinstance(value, list) and all(isinstance(row, list) for row in value):
        value = next(({"kind": name, "matrix": value} for name in _MATRICES if name in kinds), value)
    left = _table(value, place)
    only = next(iter(kinds)) if len(kinds) == 1 else None
    if only is None and "kind" not in left:
        raise DescriptionError(f"{place} has no field 'kind'")
    if only is not None and ("kind" not in left or "kind" in kinds[only].hints):  # a cutoff has a `kind` of its own
        name = only
    else:
        name = text(left.pop("kind"), f"{place}.kind")
    if name not in kinds:
        raise DescriptionError(f"{place}.kind {shown(name)} is not known; it must be one of {', '.join(sorted(kinds))}")
    kind = kinds[name]
    arguments = read_fields(left, kind.hints, place, depth, kind.defaults)
    if issubclass(expected[0], Space | Group):
        _check_sizes(arguments, place)
    try:
        made = kind.make(arguments)
    except DescriptionError:
        raise
    except (ValueError, TypeError) as error:  # what the constructors refuse, with the place added
        raise DescriptionError(f"{place}: {error}") from None
    _check_made(made, arguments, place)
    return made


def _check_sizes(arguments: Mapping[str, Any], place: str) -> None:
    """What would be built is small: a number of a few digits must not ask for much memory."""
    for name, value in arguments.items():
        if isinstance(value, int) and value > _MAX_PARTS:
            raise DescriptionError(f"{place}.{name} must be at most {_MAX_PARTS}; got {shown(value)}")


def _check_made(made: Any, arguments: Mapping[str, Any], place: str) -> None:
    if isinstance(made, Space) and math.prod(made.shape) > _MAX_COLUMNS:
        raise DescriptionError(f"{place} has more than {_MAX_COLUMNS} columns")
    if isinstance(made, Group) and arguments.get("structure") is not None:
        size = getattr(arguments["structure"], "size", made.size)
        if size != made.size:
            raise DescriptionError(f"{place}.structure acts on {size} parts, but the generators on {made.size}")


def _table(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DescriptionError(f"{place} must be a table with named fields; got {shown(value)}")
    return dict(value)
