"""Infinitesimal isometries (Killing fields): the velocities of flows that keep distances.

A field ξ is a small immutable object. ``field.flow(t)`` is the isometry exp(tξ), fields add and scale, and
``field.bracket(other)`` is the commutator ξη − ηξ of derivatives of functions. For the fields dx/dt = A x and
dx/dt = B x this is the field of **BA − AB**, minus the commutator of the matrices. With this sign
``space.infinitesimal`` keeps brackets: [dD(ξ), dD(η)] = dD(ξ.bracket(η)).

Examples
--------
>>> from specavg.isometries import fields
>>> around_z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
>>> around_x = fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
>>> around_z.bracket(around_x)
rotation([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
>>> around_z.flow(1.5707963267948966)
signed_permutation([1, 0, 2], [-1, 1, 1])
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg.isometries._affine import affine, as_affine, period_fraction, period_text
from specavg.isometries._block_maps import Copies, Factors
from specavg.isometries._isometry import Isometry, finite_square, read_only
from specavg.isometries._left_right import LeftRight
from specavg.isometries._linear import identity, linear, orthogonal

__all__ = [
    "CopiesField",
    "FactorsField",
    "Field",
    "LeftRightField",
    "RotationField",
    "ShiftField",
    "copies",
    "factors",
    "flatten",
    "left_right",
    "rotation",
    "shift",
    "still",
    "two_sided",
]

Matrix = NDArray[np.float64]
Scalar = Fraction | float

SKEW_TOLERANCE = 1e-12  # of A + Aᵀ, relative to the largest entry: rounding of a product of a few matrices
_ZERO_FREQUENCY = 1e-14  # relative to the fastest plane: slower planes are rounding of the eigenvalues


class Field(abc.ABC):
    """An infinitesimal isometry: abstract, one final class a kind. Equality and hashes are by value."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many coordinates (or copies, or factors) the field acts on, as `Isometry.size`."""

    @property
    @abc.abstractmethod
    def vector(self) -> Matrix:
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
        """Entry by entry, with a field of the same kind and size."""

    @abc.abstractmethod
    def bracket_of_same_kind(self, other: Field) -> Field:
        """The bracket with a field of the same kind and size."""

    @property
    def is_zero(self) -> bool:
        """Whether the field moves nothing (exactly)."""
        return not self.vector.any()

    def bracket(self, other: Field) -> Field:
        """The field ξη − ηξ, as derivatives of functions: for matrices A and B it has the matrix BA − AB."""
        mine, theirs = _alike(self, other)
        return mine.bracket_of_same_kind(theirs)

    def __add__(self, other: Field) -> Field:
        mine, theirs = _alike(self, other)
        return mine.combined(theirs, lambda a, b: a + b)

    def __sub__(self, other: Field) -> Field:
        return self + (-1) * other

    def __neg__(self) -> Field:
        return (-1) * self

    def __mul__(self, scale: Scalar) -> Field:
        return self.combined(self, lambda a, _: scale * a)

    __rmul__ = __mul__

    def __copy__(self) -> Field:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Field:
        return self


@final
@dataclass(frozen=True, eq=False, repr=False)
class RotationField(Field):
    """dx/dt = A x with a skew-symmetric matrix A.

    Examples
    --------
    >>> rotation([[0, -1], [1, 0]]).matrix
    array([[ 0., -1.],
           [ 1.,  0.]])
    """

    matrix: Matrix
    """The skew-symmetric matrix A."""  # (d, d)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", read_only(self.matrix + 0.0))  # a copy, and no -0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RotationField) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((RotationField, self.matrix.tobytes()))

    @property
    def size(self) -> int:
        return len(self.matrix)

    @property
    def vector(self) -> Matrix:
        return self.matrix[np.triu_indices(self.size, 1)]

    @cached_property
    def _planes(self) -> tuple[Matrix, NDArray[np.complex128]]:
        """Frequencies w > 0 and unit vectors z with A z = −i w z: each spans one plane of rotation."""  # (p,), (d, p)
        frequencies, vectors = np.linalg.eigh(1j * self.matrix)
        moving = frequencies > _ZERO_FREQUENCY * max(frequencies.max(initial=0.0), np.finfo(float).tiny)
        return frequencies[moving], vectors[:, moving]

    def flow(self, t: Scalar) -> Isometry:
        frequencies, vectors = self._planes
        angle = frequencies * float(t)
        # exp(tA) − 1 = Σ over planes of (e^{−iwt} − 1) z z* and its conjugate, without cancellation for small t.
        factor = -2.0 * np.sin(angle / 2) ** 2 - 1j * np.sin(angle)
        return orthogonal(np.eye(self.size) + 2 * ((vectors * factor) @ vectors.conj().T).real)

    def circles(self) -> Iterator[tuple[float, Field]]:
        frequencies, vectors = self._planes
        for w, z in zip(frequencies, vectors.T, strict=True):
            plane = 2 * (-1j * np.outer(z, z.conj())).real
            yield float(w), RotationField((plane - plane.T) / 2)

    def moved(self, g: Isometry) -> Field:
        R = linear(g).matrix
        return RotationField(_skew_part(R @ self.matrix @ R.T))

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> RotationField:
        return RotationField(np.asarray(entry(self.matrix, cast(RotationField, other).matrix), dtype=float))

    def bracket_of_same_kind(self, other: Field) -> RotationField:
        A, B = self.matrix, cast(RotationField, other).matrix
        return RotationField(_skew_part(B @ A - A @ B))

    def __repr__(self) -> str:
        return f"rotation({self.matrix.tolist() if self.size <= 4 else f'<{self.size} x {self.size}>'})"


@final
@dataclass(frozen=True, repr=False)
class ShiftField(Field):
    """dx/dt = v on a torus, v in periods.

    Examples
    --------
    >>> shift([1, "1/2"]).velocity
    (Fraction(1, 1), Fraction(1, 2))
    """

    velocity: tuple[Scalar, ...]
    """The velocity v: `Fraction` where it is exact, else `float`."""

    @property
    def size(self) -> int:
        return len(self.velocity)

    @property
    def is_exact(self) -> bool:
        """Whether every entry of the velocity is a `Fraction`."""
        return all(isinstance(v, Fraction) for v in self.velocity)

    @property
    def vector(self) -> Matrix:
        return np.array([float(v) for v in self.velocity])

    def flow(self, t: Scalar) -> Isometry:
        t = Fraction(t) if isinstance(t, Rational) else float(t)
        return affine(np.eye(self.size, dtype=np.int64), [v * t for v in self.velocity])

    def circles(self) -> Iterator[tuple[float, Field]]:
        for i, v in enumerate(self.velocity):
            if v:
                axis = [1 / (2 * np.pi) if j == i else Fraction(0) for j in range(self.size)]
                yield 2 * np.pi * float(v), ShiftField(tuple(axis))

    def moved(self, g: Isometry) -> Field:
        matrix = as_affine(g).matrix.tolist()
        return ShiftField(tuple(_sum(a * v for a, v in zip(row, self.velocity, strict=True) if a) for row in matrix))

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> ShiftField:
        velocities = zip(self.velocity, cast(ShiftField, other).velocity, strict=True)
        return ShiftField(tuple(entry(a, b) for a, b in velocities))

    def bracket_of_same_kind(self, other: Field) -> ShiftField:
        return ShiftField((Fraction(0),) * self.size)

    def __repr__(self) -> str:
        return f"shift([{', '.join(period_text(v) for v in self.velocity)}])"


@final
@dataclass(frozen=True, repr=False)
class LeftRightField(Field):
    """dX/dt = A X − X B on matrices, A and B skew-symmetric.

    Examples
    --------
    >>> left_right([[0, -1], [1, 0]], [[0, 0], [0, 0]]).left
    rotation([[0.0, -1.0], [1.0, 0.0]])
    """

    left: RotationField
    right: RotationField

    @property
    def size(self) -> int:
        return self.left.size

    @property
    def vector(self) -> Matrix:
        return np.concatenate([self.left.vector, self.right.vector])

    def flow(self, t: Scalar) -> Isometry:
        return LeftRight(linear(self.left.flow(t)), linear(self.right.flow(t)))

    def circles(self) -> Iterator[tuple[float, Field]]:
        for w, plane in self.left.circles():
            yield w, LeftRightField(cast(RotationField, plane), still(identity(self.right.size)))  # pyright: ignore[reportArgumentType]
        for w, plane in self.right.circles():
            yield w, LeftRightField(still(identity(self.left.size)), cast(RotationField, plane))  # pyright: ignore[reportArgumentType]

    def moved(self, g: Isometry) -> Field:
        A, B = (g.left, g.right) if isinstance(g, LeftRight) else (g, identity(self.right.size))
        return LeftRightField(cast(RotationField, self.left.moved(A)), cast(RotationField, self.right.moved(B)))

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> LeftRightField:
        assert isinstance(other, LeftRightField)
        return LeftRightField(self.left.combined(other.left, entry), self.right.combined(other.right, entry))

    def bracket_of_same_kind(self, other: Field) -> LeftRightField:
        assert isinstance(other, LeftRightField)
        return LeftRightField(self.left.bracket_of_same_kind(other.left), self.right.bracket_of_same_kind(other.right))

    def __repr__(self) -> str:
        return f"left_right({self.left.matrix.tolist()}, {self.right.matrix.tolist()})"


class _Parts(Field):
    """Shared by fields that are made of one field for each part."""

    parts: tuple[Field | None, ...]

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def vector(self) -> Matrix:
        return np.concatenate([np.zeros(0), *(f.vector for f in self.parts if f is not None)])

    def _each(self, entry: Callable[[int, Field], Field]) -> Field:
        """The field with `entry(i, part)` in place of each part that moves."""
        return type(self)(tuple(None if f is None else entry(i, f) for i, f in enumerate(self.parts)))  # pyright: ignore[reportCallIssue]

    def _moving(self) -> list[Field]:
        if any(f is None for f in self.parts):
            raise ValueError(
                f"{self!r} has a part that does not move, whose size is not known here. Use space.check_field(field), "
                "which fills it in."
            )
        return [f for f in self.parts if f is not None]

    def circles(self) -> Iterator[tuple[float, Field]]:
        for i, part in enumerate(self.parts):
            for w, circle in part.circles() if part is not None else ():
                yield w, self._each(lambda j, f, i=i, circle=circle: circle if j == i else 0 * f)

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> Field:
        return self._pairs(other, lambda a, b: a.combined(b, entry))

    def bracket_of_same_kind(self, other: Field) -> Field:
        return self._pairs(other, lambda a, b: a.bracket(b))

    def _pairs(self, other: Field, entry: Callable[[Field, Field], Field]) -> Field:
        pairs = [_alike(a, b) if a and b else None for a, b in self._with_zeros(cast(_Parts, other))]
        return type(self)(tuple(None if pair is None else entry(*pair) for pair in pairs))  # pyright: ignore[reportCallIssue]

    def _with_zeros(self, other: _Parts) -> Iterator[tuple[Field | None, Field | None]]:
        for a, b in zip(self.parts, other.parts, strict=True):
            yield (0 * b if a is None and b is not None else a), (0 * a if b is None and a is not None else b)

    def __repr__(self) -> str:
        name = type(self).__name__.removesuffix("Field").lower()
        return f"{name}({list(self.parts)})" if self.size <= 6 else f"{name}(<{self.size}>)"


@final
@dataclass(frozen=True, repr=False)
class CopiesField(_Parts):
    """One field on each copy of a power space.

    Examples
    --------
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
class FactorsField(_Parts):
    """One field on each factor of a product space, None where a factor does not move.

    Examples
    --------
    >>> factors([shift([1]), None]).parts
    (shift([1]), None)
    """

    parts: tuple[Field | None, ...]

    def flow(self, t: Scalar) -> Isometry:
        return Factors(tuple(f.flow(t) for f in self._moving()))

    def moved(self, g: Isometry) -> Field:
        return self._each(lambda i, f: f.moved(cast(Factors, g).parts[i]))


# --- what users write -----------------------------------------------------------------------------


def rotation(A: ArrayLike) -> RotationField:
    """The field dx/dt = A x, `A` skew-symmetric: on spheres, and from the left on rotations and Stiefel manifolds.

    Examples
    --------
    >>> rotation([[0, -1], [1, 0]]).flow(3.141592653589793)
    signed_permutation([0, 1], [-1, -1])
    """
    matrix = finite_square(A, "rotation")
    deviation = float(np.abs(matrix + matrix.T).max(initial=0.0))
    if deviation > SKEW_TOLERANCE * max(1.0, float(np.abs(matrix).max(initial=0.0))):
        raise ValueError(
            f"the matrix is not skew-symmetric: max|A + Aᵀ| = {deviation:.2g}. The velocity of a rotation is a "
            "skew-symmetric matrix; (A - A.T) / 2 is the nearest one."
        )
    return RotationField(_skew_part(matrix))


def left_right(A: ArrayLike, B: ArrayLike) -> LeftRightField:
    """The field dX/dt = A X − X B, both skew-symmetric: on rotations and Stiefel manifolds.

    Its flow is X ↦ e^{tA} X (e^{tB})ᵀ, that is ``isometries.left_right(e^{tA}, e^{tB})``.

    Examples
    --------
    >>> left_right([[0, -1], [1, 0]], [[0, -1], [1, 0]]).flow(0).is_identity
    True
    """
    return LeftRightField(rotation(A), rotation(B))


def shift(v: Sequence[Scalar | str]) -> ShiftField:
    """The field dx/dt = v on a torus, `v` in periods; `int`, `Fraction` and strings such as "1/3" stay exact.

    Examples
    --------
    >>> shift([1, 2]).flow(Fraction(1, 3))
    shift(['1/3', '2/3'])
    """
    return ShiftField(tuple(period_fraction(entry) for entry in v))


def copies(fields: Sequence[Field | None]) -> CopiesField:
    """One field on each copy of a `Power`; None where a copy does not move.

    Examples
    --------
    >>> copies([rotation([[0, -1], [1, 0]]), None]).flow(0).is_identity
    True
    """
    like = next((f for f in fields if f is not None), None)
    if like is None:
        raise ValueError("copies needs a field on one of the copies at least; got None for all of them")
    return CopiesField(tuple(0 * like if f is None else f for f in fields))


def factors(fields: Sequence[Field | None]) -> FactorsField:
    """One field on each factor of a `Product`; None where a factor does not move.

    Examples
    --------
    >>> factors([shift([1]), rotation([[0, -1], [1, 0]])]).size
    2
    """
    if not fields:
        raise ValueError("factors needs one field (or None) for each factor; got none")
    return FactorsField(tuple(fields))


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


def two_sided(field: Field, k: int) -> tuple[RotationField, RotationField]:
    """The left and the right half of a field of n × k matrices; a rotation acts from the left."""
    if isinstance(field, LeftRightField):
        return field.left, field.right
    if isinstance(field, RotationField):
        return field, RotationField(np.zeros((k, k)))
    raise TypeError(f"{field!r} is not a field of matrices: write left_right(A, B) or rotation(A)")


def flatten(field: Field) -> Field:
    """`field` with blocks of rotation or shift `factors` joined in one field of all coordinates.

    Examples
    --------
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
        offsets = np.cumsum([0, *(part.size for part in parts)])
        matrix = np.zeros((offsets[-1], offsets[-1]))
        for o, part in zip(offsets, parts, strict=False):
            matrix[o : o + part.size, o : o + part.size] = cast(RotationField, part).matrix
        return RotationField(matrix)
    return field


# --- helpers --------------------------------------------------------------------------------------


def _alike(a: Field, b: Field) -> tuple[Field, Field]:
    """Both fields as fields of one kind: a rotation is a left field, and zero is of any kind."""
    if isinstance(a, RotationField) and isinstance(b, LeftRightField):
        return _alike(LeftRightField(a, RotationField(np.zeros_like(b.right.matrix))), b)
    if isinstance(b, RotationField) and isinstance(a, LeftRightField):
        return _alike(a, LeftRightField(b, RotationField(np.zeros_like(a.right.matrix))))
    if type(a) is not type(b) and a.size == b.size:
        if a.is_zero:
            return 0 * b, b
        if b.is_zero:
            return a, 0 * a
    if type(a) is not type(b) or a.size != b.size:
        raise TypeError(f"{a!r} and {b!r} are fields of different spaces")
    return a, b


def _skew_part(A: Matrix) -> Matrix:
    return (A - A.T) / 2


def _sum(values: Iterator[Scalar]) -> Scalar:
    return sum(values, start=Fraction(0))


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
