"""Fields of powers and products: one field on each copy or factor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import block_diagonal
from specavg.isometries._block_maps import Copies, Factors
from specavg.isometries._isometry import Isometry, entries
from specavg.isometries._left_right import LeftRight
from specavg.isometries._linear import linear
from specavg.isometries.fields._field import Field, FieldOfParts, Scalar
from specavg.isometries.fields._matrix_fields import RotationField, left_right, rotation
from specavg.isometries.fields._shift_field import ShiftField


@final
@dataclass(frozen=True, repr=False)
class CopiesField(FieldOfParts):
    """One field on each copy of a power space.

    Examples
    --------
    >>> from specavg.isometries.fields import shift
    >>> copies([shift([1]), None]).parts
    (shift([1]), shift([0]))
    """

    parts: tuple[Field, ...]  # pyright: ignore[reportIncompatibleVariableOverride]

    def flow(self, t: Scalar) -> Isometry:
        return Copies(tuple(range(self.size)), tuple(f.flow(t) for f in self.parts))

    def moved(self, g: Isometry) -> Field:
        if not isinstance(g, Copies):  # a plain permutation of the copies
            return CopiesField(tuple(self.parts[j] for j in linear(g).image))  # pyright: ignore[reportAttributeAccessIssue]
        return CopiesField(tuple(self.parts[j].moved(part) for j, part in zip(g.image, g.parts, strict=True)))


@final
@dataclass(frozen=True, repr=False)
class FactorsField(FieldOfParts):
    """One field on each factor of a product space, None where a factor does not move.

    Examples
    --------
    >>> from specavg.isometries.fields import shift
    >>> factors([shift([1]), None]).parts
    (shift([1]), None)
    """

    parts: tuple[Field | None, ...]

    def flow(self, t: Scalar) -> Isometry:
        moving = [f for f in self.parts if f is not None]
        if len(moving) < self.size:
            raise ValueError(
                f"{self!r} has a part that does not move, whose size is not known here. Use space.check_field(field), "
                "which fills it in."
            )
        return Factors(tuple(f.flow(t) for f in moving))

    def moved(self, g: Isometry) -> Field:
        return self._each(lambda i, f: f.moved(cast(Factors, g).parts[i]))


def copies(fields: Iterable[Field | ArrayLike | None]) -> CopiesField:
    """One field on each copy of a `Power`; None where a copy does not move.

    Skew-symmetric matrices are taken for rotations, as `Group` takes them.

    Examples
    --------
    >>> from specavg.isometries.fields import rotation
    >>> copies([rotation([[0, -1], [1, 0]]), None]).flow(0).is_identity
    True
    """
    parts = _parts(fields, "copies takes a field (or None) for each copy", "fields.copies([f, None])")
    like = next((f for f in parts if f is not None), None)
    if like is None:
        raise ValueError("copies needs a field on one of the copies at least; got None for all of them")
    return CopiesField(tuple(0 * like if f is None else f for f in parts))


def factors(fields: Iterable[Field | ArrayLike | None]) -> FactorsField:
    """One field on each factor of a `Product`; None where a factor does not move.

    Skew-symmetric matrices are taken for rotations, as `Group` takes them.

    Examples
    --------
    >>> from specavg.isometries.fields import rotation, shift
    >>> factors([shift([1]), rotation([[0, -1], [1, 0]])]).size
    2
    """
    parts = _parts(fields, "factors takes a field (or None) for each factor", "fields.factors([f, None])")
    if not parts:
        raise ValueError("factors needs one field (or None) for each factor; got none")
    return FactorsField(parts)


def _parts(given: Iterable[Field | ArrayLike | None], what: str, example: str) -> tuple[Field | None, ...]:
    listed = entries(given, what, example)
    return tuple(f if f is None or isinstance(f, Field) else rotation(f) for f in listed)


def complete(field: Field) -> bool:
    """Whether the sizes of all parts of a field are known: none of them is None.

    Examples
    --------
    >>> from specavg.isometries.fields import shift
    >>> complete(factors([shift([1]), None]))
    False
    """
    return not isinstance(field, FieldOfParts) or all(part is not None and complete(part) for part in field.parts)


def still(g: Isometry) -> Field:
    """The field that moves nothing, for maps of the kind of `g`.

    Examples
    --------
    >>> from specavg.isometries import identity
    >>> still(identity(2))
    rotation([[0.0, 0.0], [0.0, 0.0]])
    """
    if isinstance(g, Factors):
        return FactorsField(tuple(still(part) for part in g.parts))
    if isinstance(g, Copies):
        return CopiesField(tuple(still(part) for part in g.parts))
    if isinstance(g, LeftRight):
        return left_right(np.zeros((g.left.size,) * 2), np.zeros((g.right.size,) * 2))
    return RotationField(np.zeros((g.size, g.size)))


def flatten(field: Field) -> Field:
    """`field` with blocks of rotation or shift `factors` joined in one field of all coordinates.

    Examples
    --------
    >>> from specavg.isometries.fields import shift
    >>> flatten(factors([shift([1]), shift(["1/2", 0])]))
    shift([1, '1/2', 0])
    """
    if not isinstance(field, FactorsField) or any(part is None for part in field.parts):
        return field
    parts = [flatten(part) for part in field.parts if part is not None]
    if all(isinstance(part, ShiftField) or part.is_zero for part in parts) and any(
        isinstance(part, ShiftField) for part in parts
    ):
        blocks = [part.velocity if isinstance(part, ShiftField) else (Fraction(0),) * part.size for part in parts]
        return ShiftField(tuple(v for block in blocks for v in block))
    if all(isinstance(part, RotationField) for part in parts):
        return RotationField(block_diagonal([cast(RotationField, part).matrix for part in parts]))
    return field
