"""The Lie algebra that a few fields generate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.isometries.fields import Field

INDEPENDENT = 1e-9  # fields of unit length that are this far from a span are not in it; brackets round to 1e-15


@final
@dataclass(frozen=True, repr=False)
class Algebra:
    """The Lie algebra that the fields of a group generate with their brackets.

    Attributes
    ----------
    fields : tuple of Field
        A basis. The fields of the group come first, as far as they are independent.
    independent : int
        How many of the given fields are independent.

    Examples
    --------
    >>> from specavg import groups
    >>> from specavg.isometries import fields
    >>> around_z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> around_x = fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
    >>> groups.Group(fields=[around_z, around_x]).algebra
    <algebra of dimension 3: 2 independent fields, and 1 more from their brackets>
    """

    fields: tuple[Field, ...]
    independent: int

    @property
    def dim(self) -> int:
        """The dimension."""
        return len(self.fields)

    @property
    def is_closed(self) -> bool:
        """Whether the given fields span it: no bracket leads out of them."""
        return self.dim == self.independent

    @property
    def is_abelian(self) -> bool:
        """Whether all brackets vanish."""
        return all(length(f.bracket(h)) < INDEPENDENT * length(f) * length(h) for f in self.fields for h in self.fields)

    def __contains__(self, field: Field) -> bool:
        return _distance(field, _basis(self.fields)) < INDEPENDENT

    def __repr__(self) -> str:
        fields = f"{self.independent} independent field{'s' * (self.independent != 1)}"
        more = f", and {self.dim - self.independent} more from their brackets"
        return f"<algebra of dimension {self.dim}: {fields}{more * (not self.is_closed)}>"


def generated_algebra(fields: Sequence[Field]) -> Algebra:
    """A basis of the smallest space of fields that contains `fields` and the brackets of its own members."""
    found: list[Field] = []
    for field in fields:
        _join(found, field)
    independent = len(found)
    for i, a in enumerate(found):  # grows while it is read
        for b in found[:i]:
            _join(found, b.bracket(a), length(a) * length(b))
    return Algebra(tuple(found), independent)


def _join(found: list[Field], field: Field, scale: float = 1.0) -> None:
    if length(field) > INDEPENDENT * scale and _distance(field, _basis(found)) > INDEPENDENT:
        found.append(field)


def _basis(fields: Sequence[Field]) -> Array | None:
    """Orthonormal columns that span the fields."""
    if not fields:
        return None
    return np.linalg.qr(np.stack([f.vector / length(f) for f in fields], axis=1))[0]


def _distance(field: Field, basis: Array | None) -> float:
    """How far the direction of a field is from a span."""
    if basis is None or field.is_zero:
        return float(not field.is_zero)
    v = field.vector / length(field)
    return float(np.linalg.norm(v - basis @ (basis.T @ v)))


def length(field: Field) -> float:
    """The norm of the coordinates of a field."""
    return float(np.linalg.norm(field.vector))
