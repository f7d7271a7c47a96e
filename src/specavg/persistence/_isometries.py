"""Isometries in plain values: exact kinds stay exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.isometries import (
    Affine,
    Copies,
    Factors,
    Isometry,
    LeftRight,
    Orthogonal,
    SignedPermutation,
    affine,
    copies,
    factors,
    orthogonal,
    permutation,
    shift,
    signed_permutation,
)
from specavg.persistence._fields import DescriptionError, Fields, fraction_text

__all__ = ["describe_isometry", "read_isometry"]

_KINDS = "permutation, signed_permutation, orthogonal, shift, affine, left_right, copies, factors"


def describe_isometry(g: Isometry) -> dict[str, Any]:
    """`g` in plain values.

    Examples
    --------
    >>> from fractions import Fraction
    >>> describe_isometry(shift([Fraction(1, 3), 0]))
    {'kind': 'shift', 'shift': ['1/3', 0]}
    """
    if isinstance(g, SignedPermutation):
        if g.is_permutation:
            return {"kind": "permutation", "image": list(g.image)}
        return {"kind": "signed_permutation", "image": list(g.image), "signs": list(g.signs)}
    if isinstance(g, Orthogonal):
        return {"kind": "orthogonal", "matrix": g.matrix.tolist()}
    if isinstance(g, Affine):
        t = [fraction_text(entry) for entry in g.shift]
        if g.is_shift:
            return {"kind": "shift", "shift": t}
        return {"kind": "affine", "matrix": g.matrix.tolist(), "shift": t}
    if isinstance(g, LeftRight):
        return {"kind": "left_right", "left": describe_isometry(g.left), "right": describe_isometry(g.right)}
    if isinstance(g, Copies):
        return {"kind": "copies", "image": list(g.image), "parts": [describe_isometry(part) for part in g.parts]}
    if isinstance(g, Factors):
        return {"kind": "factors", "parts": [describe_isometry(part) for part in g.parts]}
    raise DescriptionError(f"{g!r} cannot be described: only the library's own isometries can be saved")


def read_isometry(value: Any, place: str = "isometry", depth: int = 0) -> Isometry:
    """The isometry that a description means.

    Examples
    --------
    >>> read_isometry({"kind": "affine", "matrix": [[0, -1], [1, 0]], "shift": ["1/2", 0]})
    affine([[0, -1], [1, 0]], [1/2, 0])
    """
    fields = Fields(value, place, depth)
    kind = fields.text("kind")
    try:
        g = _read(kind, fields)
    except DescriptionError:
        raise
    except (ValueError, TypeError) as error:  # what the constructors refuse, with the place added
        raise DescriptionError(f"{place}: {error}") from None
    fields.end()
    return g


def _read(kind: str, fields: Fields) -> Isometry:
    if kind == "permutation":
        return permutation(fields.integers("image"))
    if kind == "signed_permutation":
        return signed_permutation(fields.integers("image"), fields.integers("signs"))
    if kind == "orthogonal":
        return orthogonal(fields.matrix("matrix"))
    if kind == "shift":
        return shift(fields.periods("shift"))
    if kind == "affine":
        matrix = fields.matrix("matrix")
        if np.abs(matrix).max() > 2**31:
            raise DescriptionError(f"{fields.place}.matrix has entries beyond 2^31")
        return affine(matrix, fields.periods("shift"))
    if kind == "left_right":
        left, right = fields.one("left", read_isometry), fields.one("right", read_isometry)
        if not isinstance(left, SignedPermutation | Orthogonal) or not isinstance(
            right, SignedPermutation | Orthogonal
        ):
            raise DescriptionError(f"{fields.place} needs linear maps on both sides")
        return LeftRight(left, right)
    if kind == "copies":
        return copies(fields.integers("image"), fields.each("parts", read_isometry))
    if kind == "factors":
        return factors(fields.each("parts", read_isometry))
    raise DescriptionError(f"{fields.place}.kind {kind!r} is not known; it must be one of {_KINDS}")
