"""The classes that a file may name, and the arguments each is made from.

A value class is described by the arguments of its constructor. It keeps each argument in an attribute of the same
name, with or without an underscore in front; a frozen dataclass does so by itself. There is no list of classes: a
file may name a class where a type hint asks for it or for a class above it, if it is a class of this library.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from specavg import isometries
from specavg.isometries import Affine, Copies, Orthogonal, SignedPermutation, fields

_LIBRARY = "specavg."

# The constructors of these classes trust their arguments; these functions check them.
_CHECKED_BY: dict[type, Callable[..., Any]] = {
    SignedPermutation: isometries.signed_permutation,
    Orthogonal: isometries.orthogonal,
    Affine: isometries.affine,
    Copies: isometries.copies,
    fields.RotationField: fields.rotation,
    fields.ShiftField: fields.shift,
}
# A shorter kind: its name, its only argument, the property that says whether that is enough, and its function.
_SHORT: dict[type, tuple[str, str, str, Callable[..., Any]]] = {
    SignedPermutation: ("permutation", "image", "is_permutation", isometries.permutation),
    Affine: ("shift", "shift", "is_shift", isometries.shift),
}


@dataclass(frozen=True)
class Kind:
    """One word for `kind` in a file: the class it means, and the arguments that stand beside it."""

    name: str
    hints: Mapping[str, Any]  # the type of each argument
    defaults: Mapping[str, Any]
    make: Callable[[dict[str, Any]], Any]

    def arguments(self, value: Any) -> dict[str, Any]:
        """The arguments that `value` was made from, without those that have their default."""
        given = {name: _attribute(value, name) for name in self.hints}
        return {name: v for name, v in given.items() if name not in self.defaults or not _same(v, self.defaults[name])}


def kinds_of(expected: type) -> dict[str, Kind]:
    """The kinds that may stand where a value of the class `expected` is wanted.

    Examples
    --------
    >>> from specavg.isometries import Isometry
    >>> sorted(kinds_of(Isometry))[:4]
    ['affine', 'copies', 'factors', 'left_right']
    """
    return {kind.name: kind for cls in classes_below(expected) for kind in _kinds(cls)}


def kind_of(value: Any) -> Kind | None:
    """The shortest kind that says what `value` is; None where it is not of a class of this library."""
    cls = type(value)
    if not cls.__module__.startswith(_LIBRARY):
        return None
    short = cls in _SHORT and getattr(value, _SHORT[cls][2])
    return _kinds(cls)[1 if short else 0]


def classes_below(cls: type) -> list[type]:
    """`cls` and the classes below it, without abstract ones and those of other libraries."""
    own = not inspect.isabstract(cls) and cls.__module__.startswith(_LIBRARY)
    return [cls] * own + [c for subclass in cls.__subclasses__() for c in classes_below(subclass)]


@cache
def _kinds(cls: type) -> tuple[Kind, ...]:
    signature = inspect.signature(cls)
    parameters = signature.parameters.values() if cls.__init__ is not object.__init__ else ()
    found = typing.get_type_hints(cls.__init__, localns=_names_of_types())
    hints = {p.name: tuple[found[p.name], ...] if p.kind is p.VAR_POSITIONAL else found[p.name] for p in parameters}
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)

    def make(given: dict[str, Any]) -> Any:
        if cls in _CHECKED_BY:
            return _CHECKED_BY[cls](*given.values())
        return cls(*next(iter(given.values()))) if several else cls(**given)

    kind = Kind(_snake_case(cls.__name__), hints, defaults, make)
    if cls not in _SHORT:
        return (kind,)
    name, argument, _, function = _SHORT[cls]
    return (kind, Kind(name, {argument: hints[argument]}, {}, lambda given: function(given[argument])))


def _names_of_types() -> dict[str, type]:
    """Classes by their names, for hints that a module imports for the type checker only."""
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith(f"{_LIBRARY}groups")]
    return {name: value for names in modules for name, value in names.items() if isinstance(value, type)}


def _attribute(value: Any, name: str) -> Any:
    if name == "structure":  # what a group shows by itself is not written: it will show it again
        return value.said_structure
    return getattr(value, name) if hasattr(value, name) else getattr(value, f"_{name}")


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
