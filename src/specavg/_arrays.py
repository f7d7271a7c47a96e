"""The one kind of array that almost everything here computes with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "as_given"]

Array: TypeAlias = NDArray[np.float64]
"""Floating-point numbers in double precision, of any shape."""


def as_given(array: Array, dtype: Any, copy: bool | None) -> Array:
    """What `__array__` returns: NumPy 1 knows no `copy=None`, which means "where it is needed"."""
    return np.array(array, dtype=dtype) if copy else np.asarray(array, dtype=dtype)
