"""How messages show what was given, and refuse what is no number."""

from __future__ import annotations

import math
import operator
from typing import Any

_FEW_ENTRIES = 9  # an array of so many is shown whole: a matrix of R^3
_LONGEST = 60  # characters of what is shown: a message should stay on its line


def shown(value: Any) -> str:
    """`value` for a message: a large array by its shape, everything else cut short.

    Examples
    --------
    >>> import numpy as np
    >>> shown(np.zeros((400, 3))), shown("a word")
    ('ndarray of shape (400, 3)', "'a word'")
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and math.prod(shape) > _FEW_ENTRIES:
        return f"{type(value).__name__} of shape {shape}"
    try:
        written = repr(value)
    except (ValueError, RecursionError):  # an integer of too many digits, a list nested too deep
        return f"a {type(value).__name__}"
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def size_text(n: int) -> str:
    """A whole number of any size: its digits, or a power of ten where they are many.

    Examples
    --------
    >>> size_text(1024), size_text(math.factorial(1000))
    ('1024', 'about 10^2567')
    """
    return str(n) if n < 10**9 else f"about 10^{math.floor(math.log10(n))}"


def whole_number(value: Any, name: str, least: int) -> int:
    """`value` as an integer; an error that names it where it is none, or less than `least`.

    Examples
    --------
    >>> whole_number(2.5, "n", 0)
    Traceback (most recent call last):
    ValueError: n must be a whole number, at least 0; got 2.5
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {shown(value)}")
    return number
