"""What a field is: the velocity of a flow that keeps distances."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

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
