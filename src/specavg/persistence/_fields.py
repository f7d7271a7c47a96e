"""Reading descriptions field by field: every value is checked, and errors name the place."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["DescriptionError", "Fields", "fraction_text"]

MAX_PARTS = 1_000_000  # coordinates, copies, generators: more is a mistake or an attack
_MAX_DIGITS = 4_000  # of an integer in a fraction; Python itself refuses a few more
_MAX_DEPTH = 20  # products of powers of products ...

T = TypeVar("T")


class DescriptionError(ValueError):
    """A description says something impossible; the message says where."""


class Fields:
    """The fields of one description: each is asked for once, with its type; leftovers are errors.

    Parameters
    ----------
    value : object
        What was read from JSON or TOML.
    place : str
        Where it stands, for messages: "group.generators[2]".
    """

    def __init__(self, value: Any, place: str, depth: int = 0) -> None:
        if not isinstance(value, dict):
            raise DescriptionError(f"{place} must be a table with named fields; got {_short(value)}")
        if depth > _MAX_DEPTH:
            raise DescriptionError(f"{place} is nested more than {_MAX_DEPTH} deep")
        self.place = place
        self._depth = depth
        self._left: dict[str, Any] = dict(value)

    def has(self, name: str) -> bool:
        """Whether the field is there, and not null."""
        return self._left.get(name) is not None

    def take(self, name: str) -> Any:
        """The field as it is."""
        if name not in self._left:
            raise DescriptionError(f"{self.place} has no field {name!r}")
        return self._left.pop(name)

    def skip(self, name: str) -> None:
        """Drop an optional field."""
        self._left.pop(name, None)

    def text(self, name: str) -> str:
        """A string."""
        return self._checked(name, self.take(name), str, "a string")

    def integer(self, name: str, least: int = 1, most: int = MAX_PARTS) -> int:
        """A whole number within bounds."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise DescriptionError(
                f"{self.place}.{name} must be a whole number of {least}..{most}; got {_short(value)}"
            )
        return value

    def large_integer(self, name: str) -> int:
        """A positive whole number of any size."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise DescriptionError(f"{self.place}.{name} must be a positive whole number; got {_short(value)}")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        return self._checked(name, self.take(name), bool, "true or false")

    def number(self, name: str) -> float:
        """A finite number."""
        return _number(self.take(name), f"{self.place}.{name}")

    def numbers(self, name: str) -> list[float]:
        """A list of finite numbers."""
        return [_number(v, f"{self.place}.{name}[{i}]") for i, v in enumerate(self.list(name))]

    def integers(self, name: str) -> list[int]:
        """A list of whole numbers."""
        values = self.list(name)
        for i, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int):
                raise DescriptionError(f"{self.place}.{name}[{i}] must be a whole number; got {_short(value)}")
        return values

    def matrix(self, name: str) -> NDArray[np.float64]:
        """A rectangular matrix of finite numbers, as a list of rows."""
        rows = self.list(name)
        place = f"{self.place}.{name}"
        if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
            raise DescriptionError(f"{place} must be a matrix: a list of rows of one length")
        return np.array([[_number(v, f"{place}[{i}][{j}]") for j, v in enumerate(row)] for i, row in enumerate(rows)])

    def periods(self, name: str) -> list[Fraction | float]:
        """A list of shifts in periods: fractions as strings, whole numbers, or floats."""
        return [_period(v, f"{self.place}.{name}[{i}]") for i, v in enumerate(self.list(name))]

    def list(self, name: str) -> list[Any]:
        """A list of anything."""
        value = self._checked(name, self.take(name), list, "a list")
        if len(value) > MAX_PARTS:
            raise DescriptionError(f"{self.place}.{name} has {len(value)} entries; more than {MAX_PARTS} are refused")
        return value

    def one(self, name: str, read: Callable[[Any, str, int], T]) -> T:
        """A nested description."""
        return read(self.take(name), f"{self.place}.{name}", self._depth + 1)

    def each(self, name: str, read: Callable[[Any, str, int], T]) -> tuple[T, ...]:
        """A list of nested descriptions."""
        return tuple(read(v, f"{self.place}.{name}[{i}]", self._depth + 1) for i, v in enumerate(self.list(name)))

    def end(self) -> None:
        """Refuse fields nobody asked for: a misspelt one must not be ignored."""
        if self._left:
            raise DescriptionError(f"{self.place} has a field {next(iter(self._left))!r} that does not belong there")

    def _checked(self, name: str, value: Any, kind: type[T], what: str) -> T:
        if not isinstance(value, kind):
            raise DescriptionError(f"{self.place}.{name} must be {what}; got {_short(value)}")
        return value


def fraction_text(t: Fraction | float) -> str | int | float:
    """A shift for JSON: "1/3", 0, or a float that was never exact.

    Examples
    --------
    >>> fraction_text(Fraction(1, 3)), fraction_text(Fraction(0)), fraction_text(0.25)
    ('1/3', 0, 0.25)
    """
    if isinstance(t, Fraction):
        return t.numerator if t.denominator == 1 else f"{t.numerator}/{t.denominator}"
    return float(t)


def _period(value: Any, place: str) -> Fraction | float:
    if isinstance(value, str):
        above, slash, below = value.partition("/")
        digits = [part.strip().removeprefix("-") for part in ((above, below) if slash else (above,))]
        if all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in digits) and (
            not slash or int(below) != 0
        ):
            return Fraction(int(above), int(below) if slash else 1)
        raise DescriptionError(f'{place} must be a fraction such as "1/3"; got {_short(value)}')
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    return _number(value, place)


def _number(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DescriptionError(f"{place} must be a number; got {_short(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DescriptionError(f"{place} must be a finite number; got {_short(value)}")
    return number


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of too many digits, a list nested too deep
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
