"""Plain values of a description: numbers, strings, fractions and matrices, checked one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._messages import shown

_MAX_DIGITS = 4_000  # longest integer that is read: Python itself refuses 4,300 digits
_MAX_ENTRY = 2**31  # largest entry of an integer matrix: a product of two entries is exact in 64 bits


class DescriptionError(ValueError):
    """A description says something impossible; the message says where."""


def text(value: Any, place: str) -> str:
    """A string."""
    _require(isinstance(value, str), "a string", value, place)
    return value


def flag(value: Any, place: str) -> bool:
    """True or false."""
    _require(isinstance(value, bool), "true or false", value, place)
    return value


def integer(value: Any, place: str) -> int:
    """A whole number of any size."""
    _require(isinstance(value, int) and not isinstance(value, bool), "a whole number", value, place)
    return value


def number(value: Any, place: str) -> float:
    """A number: finite, or the string "inf"."""
    if value == "inf":
        return math.inf
    _require(isinstance(value, int | float) and not isinstance(value, bool), "a number", value, place)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    _require(math.isfinite(found), "a finite number", value, place)
    return found


def fraction(value: Any, place: str) -> Fraction:
    """A fraction, as a string such as "1/3" or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    above, slash, below = value.partition("/") if isinstance(value, str) else ("", "", "")
    digits = [part.strip().removeprefix("-") for part in ((above, below) if slash else (above,))]
    if all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in digits) and (
        not slash or int(below) != 0
    ):
        return Fraction(int(above), int(below) if slash else 1)
    raise DescriptionError(f'{place} must be a fraction such as "1/3"; got {shown(value)}')


def array(value: Any, place: str, *, whole: bool = False) -> float | NDArray[Any]:
    """A number, a list of numbers, or a matrix as a list of rows; whole numbers only if `whole`."""
    if not isinstance(value, list):
        return number(value, place)
    if not any(isinstance(row, list) for row in value):
        return np.array([_entry(v, f"{place}[{i}]", whole) for i, v in enumerate(value)])
    if not all(isinstance(row, list) and len(row) == len(value[0]) for row in value):
        raise DescriptionError(f"{place} must be a matrix: a list of rows of one length")
    return np.array(
        [[_entry(v, f"{place}[{i}][{j}]", whole) for j, v in enumerate(row)] for i, row in enumerate(value)]
    )


def _entry(value: Any, place: str, whole: bool) -> float | int:
    if not whole:
        return number(value, place)
    _require(abs(integer(value, place)) <= _MAX_ENTRY, "at most 2^31", value, place)
    return value


def _require(fits: bool, what: str, value: Any, place: str) -> None:
    if not fits:
        raise DescriptionError(f"{place} must be {what}; got {shown(value)}")
