"""What users give where isometries are wanted: isometries, matrices, permutations of sympy, rotations of SciPy."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg.isometries._isometry import Isometry, refuse_complex
from specavg.isometries._linear import orthogonal, permutation


def isometries_from(given: Iterable[Isometry | ArrayLike], what: str, fields: str) -> tuple[Isometry, ...]:
    """Isometries from isometries, matrices, sympy permutations and SciPy rotations.

    Parameters
    ----------
    given : iterable
    what : str
        What one of them is called in messages.
    fields : str
        Where fields are written instead, for messages.
    """
    listed = with_rotations_apart(given)
    points = max((g.size for g in listed if hasattr(g, "array_form")), default=0)
    return tuple(_isometry(g, f"{what} {i}", points, fields) for i, g in enumerate(listed))


def with_rotations_apart(given: Iterable[Any]) -> list[Any]:
    """What was given, with the matrices of a SciPy Rotation, which holds one rotation or many, in its place."""
    listed: list[Any] = []
    everything: Iterable[Any] = [given] if hasattr(given, "as_matrix") else given
    for g in everything:
        listed.extend(g.as_matrix().reshape(-1, 3, 3) if hasattr(g, "as_matrix") else [g])
    return listed


def _isometry(g: Any, name: str, points: int, fields: str) -> Isometry:
    if isinstance(g, Isometry):
        return g
    if hasattr(g, "flow"):
        raise TypeError(f"{name} is the field {g!r}: write {fields}")
    if hasattr(g, "array_form"):  # a sympy permutation leaves out points at the end that it fixes
        return permutation([*g.array_form, *range(g.size, points)])
    refuse_complex(g, name)
    try:
        entries = np.asarray(g)
        if entries.dtype.kind == "U":  # fractions as texts, which shifts of a torus take too
            entries = np.reshape([float(Fraction(text)) for text in entries.ravel().tolist()], entries.shape)
        matrix = np.asarray(entries, dtype=float)
    except (TypeError, ValueError, ZeroDivisionError):
        raise TypeError(
            f"{name} is neither an isometry nor a matrix; got {type(g).__name__}. Isometries are made by "
            "specavg.isometries; sympy permutations and SciPy rotations are taken too."
        ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} is neither an isometry nor a square matrix; got shape {matrix.shape}. For a "
            "permutation write isometries.permutation(image), for one matrix give a list of it: Group([matrix])."
        )
    return orthogonal(matrix)
