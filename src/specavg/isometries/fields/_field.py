"""What a field is: the velocity of a flow that keeps distances."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._immutable import Immutable
from specavg.isometries._isometry import Isometry

Scalar = Fraction | float


class Field(Immutable, abc.ABC):
    """An infinitesimal isometry: abstract, one final class a kind. Equality and hashes are by value."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many coordinates (or copies, or factors) the field acts on, as `Isometry.size`."""

    @property
    @abc.abstractmethod
    def vector(self) -> Array:
        """Linear coordinates of the field among the fields of its kind and size."""  # (p,)

    @abc.abstractmethod
    def flow(self, t: Scalar) -> Isometry:
        """The isometry exp(t·field)."""

    @abc.abstractmethod
    def circles(self) -> Iterator[tuple[float, Field]]:
        """Pairs (w, ξ) with Σ w ξ = field, every flow exp(tξ) having the period 2π in t."""

    @abc.abstractmethod
    def moved(self, g: Isometry) -> Field:
        """The field whose flow is g ∘ exp(t·field) ∘ g⁻¹."""

    @abc.abstractmethod
    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> Field:
        """The field with `entry(a, b)` for each entry a of this field and b of another of the same kind and size."""

    @abc.abstractmethod
    def bracket_of_same_kind(self, other: Field) -> Field:
        """The bracket with a field of the same kind and size."""

    def skew_matrices(self) -> Iterator[Array]:
        """The matrix of each thing that the field turns; none where it shifts."""
        yield from ()

    @property
    def is_zero(self) -> bool:
        """Whether the field moves nothing (exactly)."""
        return not self.vector.any()

    def bracket(self, other: Field) -> Field:
        """The field ξη − ηξ, as derivatives of functions: for matrices A and B it has the matrix BA − AB."""
        mine, theirs = alike(self, other)
        return mine.bracket_of_same_kind(theirs)

    def like(self, other: Field) -> Field:
        """A zero field as one of the kind of `other`, since zero is of every kind; any other field as it is."""
        return 0 * other if type(self) is not type(other) and self.size == other.size and self.is_zero else self

    def __add__(self, other: Field) -> Field:
        mine, theirs = alike(self, other)
        return mine.combined(theirs, lambda a, b: a + b)

    def __sub__(self, other: Field) -> Field:
        return self + (-1) * other

    def __neg__(self) -> Field:
        return (-1) * self

    def __mul__(self, scale: Scalar) -> Field:
        return self.combined(self, lambda a, _: scale * a)

    __rmul__ = __mul__


def alike(a: Field, b: Field) -> tuple[Field, Field]:
    """Both fields as fields of one kind and size, or an error."""
    a = a.like(b)
    b = b.like(a)
    if type(a) is not type(b) or a.size != b.size:
        raise TypeError(f"{a!r} and {b!r} are fields of different spaces")
    return a, b


class FieldOfParts(Field):
    """A field that is made of one field for each part; a part without a field does not move."""

    parts: tuple[Field | None, ...]

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def vector(self) -> Array:
        return np.concatenate([np.zeros(0), *(f.vector for f in self.parts if f is not None)])

    def skew_matrices(self) -> Iterator[Array]:
        for part in self.parts:
            yield from () if part is None else part.skew_matrices()

    def _with(self, parts: Iterable[Field | None]) -> Field:
        """The field of the same kind that has these parts."""
        return type(self)(tuple(parts))  # pyright: ignore[reportCallIssue]

    def _each(self, entry: Callable[[int, Field], Field]) -> Field:
        """The field with `entry(i, part)` in place of each part that moves."""
        return self._with(None if f is None else entry(i, f) for i, f in enumerate(self.parts))

    def circles(self) -> Iterator[tuple[float, Field]]:
        for i, part in enumerate(self.parts):
            for w, circle in part.circles() if part is not None else ():
                yield w, self._each(lambda j, f, i=i, circle=circle: circle if j == i else 0 * f)

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> Field:
        return self._pairs(other, lambda a, b: a.combined(b, entry))

    def bracket_of_same_kind(self, other: Field) -> Field:
        return self._pairs(other, lambda a, b: a.bracket(b))

    def _pairs(self, other: Field, entry: Callable[[Field, Field], Field]) -> Field:
        """The field with `entry(a, b)` for the parts a and b of two fields; the part None stands for zero."""
        assert isinstance(other, FieldOfParts)
        found: list[Field | None] = []
        for a, b in zip(self.parts, other.parts, strict=True):
            like = a or b
            found.append(like and entry(*alike(a or 0 * like, b or 0 * like)))
        return self._with(found)

    def __repr__(self) -> str:
        name = type(self).__name__.removesuffix("Field").lower()
        return f"{name}({list(self.parts)})" if self.size <= 6 else f"{name}(<{self.size}>)"
