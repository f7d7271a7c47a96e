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
        return float(np.linalg.norm(_outside(field, _basis(self.fields)))) < INDEPENDENT

    def __repr__(self) -> str:
        fields = f"{self.independent} independent field{'s' * (self.independent != 1)}"
        more = f", and {self.dim - self.independent} more from their brackets"
        return f"<algebra of dimension {self.dim}: {fields}{more * (not self.is_closed)}>"


def generated_algebra(fields: Sequence[Field]) -> Algebra:
    """A basis of the smallest space of fields that contains `fields` and the brackets of its own members.

    Brackets with the given fields are enough: by Jacobi's identity, a bracket with a bracket is a sum of such.
    """
    found: list[Field] = []
    basis = None
    for field in fields:
        basis = _join(found, basis, field)
    independent = len(found)
    for i, a in enumerate(found):  # grows while it is read
        for b in found[: min(i, independent)]:
            basis = _join(found, basis, b.bracket(a), length(a) * length(b))
    return Algebra(tuple(found), independent)


def _join(found: list[Field], basis: Array | None, field: Field, scale: float = 1.0) -> Array | None:
    """Add a field that is not in the span of those found; the orthonormal columns that then span all of them."""
    if length(field) <= INDEPENDENT * scale:
        return basis
    rest = _outside(field, basis)
    if np.linalg.norm(rest) <= INDEPENDENT:
        return basis
    found.append(field)
    if basis is None:
        return rest[:, None]
    rest = rest / np.linalg.norm(rest)
    rest -= basis @ (basis.T @ rest)  # once more: what rounding has left along the basis was small beside the whole
    return np.column_stack([basis, rest / np.linalg.norm(rest)])


def _basis(fields: Sequence[Field]) -> Array | None:
    """Orthonormal columns that span the fields."""
    if not fields:
        return None
    return np.linalg.qr(np.stack([f.vector / length(f) for f in fields], axis=1))[0]


def _outside(field: Field, basis: Array | None) -> Array:
    """What of the direction of a field, as a unit vector, is orthogonal to a span."""
    v = field.vector / (length(field) or 1.0)
    return v if basis is None else v - basis @ (basis.T @ v)


def length(field: Field) -> float:
    """The norm of the coordinates of a field."""
    return float(np.linalg.norm(field.vector))
