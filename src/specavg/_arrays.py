"""The one kind of array that almost everything here computes with, and what NumPy has no function for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Floating-point numbers in double precision, of any shape."""


def as_given(array: Array, dtype: Any, copy: bool | None) -> Array:
    """What `__array__` returns: NumPy 1 knows no `copy=None`, which means "where it is needed"."""
    return np.array(array, dtype=dtype) if copy else np.asarray(array, dtype=dtype)


def check_real(values: NDArray[Any], name: str) -> None:
    """Refuse complex numbers, whose imaginary parts would be lost."""
    if values.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers, and must be real: give {name}.real if they are")


def with_matrices(X: Any) -> Any:
    """The matrices (n, 3, 3) of a SciPy Rotation, or of a list of single ones; anything else as it is."""
    if hasattr(X, "as_matrix"):
        return np.reshape(X.as_matrix(), (-1, 3, 3))
    if isinstance(X, list | tuple) and X and all(hasattr(x, "as_matrix") for x in X):
        return np.concatenate([np.reshape(x.as_matrix(), (-1, 3, 3)) for x in X])
    return X


def with_fractions(given: Any) -> Any:
    """Numbers, or nested lists of them, with texts such as "1/3" as floats; other texts are refused."""
    if isinstance(given, list | tuple):
        return [with_fractions(entry) for entry in given]
    if not isinstance(given, str):
        return given
    try:
        return float(Fraction(given))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"a number, or a text such as '1/3', is needed; got {given!r}") from None


def block_diagonal(blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The matrix with these blocks along its diagonal, of no rows and columns where there are none."""
    if len(blocks) < 2:
        return blocks[0] if blocks else np.zeros((0, 0))
    from scipy.linalg import block_diag

    return np.asarray(block_diag(*blocks))


def components(m: int, row: NDArray[np.intp], column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of m nodes are joined by edges: the number of the component of each, by the first member.

    Each component that meets one with a lower label joins it, so that a few passes are enough however the nodes are
    numbered. SciPy's graphs take longer to load than small ones to search.

    Parameters
    ----------
    m : int
    row, column : ndarrays of int, shape (E,)
        The edges, each of them in either direction or in both.

    Examples
    --------
    >>> components(4, np.array([0]), np.array([3]))
    array([0, 1, 2, 0])
    """
    label = np.arange(m)
    while True:
        a, b = label[row], label[column]
        apart = a != b
        if not apart.any():
            break
        row, column, a, b = row[apart], column[apart], a[apart], b[apart]
        np.minimum.at(label, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(up := label[label], label):
            label = up
    return numbered(label)[1]


def numbered(label: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Labels that are the least member of each set: these members, and the number of the set of each node.

    Examples
    --------
    >>> numbered(np.array([0, 1, 0, 3]))
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    """
    least = label == np.arange(len(label))
    return np.flatnonzero(least), (np.cumsum(least) - 1)[label]
