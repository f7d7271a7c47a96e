"""The one kind of array that almost everything here computes with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array"]

Array: TypeAlias = NDArray[np.float64]
"""Floating-point numbers in double precision, of any shape."""
