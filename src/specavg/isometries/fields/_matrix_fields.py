"""Fields of skew-symmetric matrices: rotations of vectors, and of matrices from both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg.isometries._isometry import Isometry, OfAMatrix, finite_square
from specavg.isometries._left_right import LeftRight
from specavg.isometries._linear import identity, linear, orthogonal
from specavg.isometries.fields._field import Field, FieldOfParts, Scalar

SKEW_TOLERANCE = 1e-12  # largest |A + Aᵀ| over the largest entry: products of a few matrices are off by 1e-15
_ZERO_FREQUENCY = 1e-14  # a plane that turns slower than this, relative to the fastest, is rounding


@final
@dataclass(frozen=True, eq=False, repr=False)
class RotationField(OfAMatrix, Field):  # pyright: ignore[reportIncompatibleVariableOverride]
    """dx/dt = A x with a skew-symmetric matrix A.

    Examples
    --------
    >>> rotation([[0, -1], [1, 0]]).matrix
    array([[ 0., -1.],
           [ 1.,  0.]])
    """

    matrix: Array
    """The skew-symmetric matrix A."""  # (d, d)

    def skew_matrices(self) -> Iterator[Array]:
        if not self.is_zero:
            yield self.matrix

    @property
    def vector(self) -> Array:
        return self.matrix[np.triu_indices(self.size, 1)]

    @cached_property
    def _planes(self) -> tuple[Array, NDArray[np.complex128]]:
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

    def like(self, other: Field) -> Field:
        if isinstance(other, LeftRightField):  # a rotation is a left field
            return LeftRightField(self, RotationField(np.zeros_like(other.right.matrix)))
        return super().like(other)

    def bracket_of_same_kind(self, other: Field) -> RotationField:
        A, B = self.matrix, cast(RotationField, other).matrix
        return RotationField(_skew_part(B @ A - A @ B))

    def __repr__(self) -> str:
        return f"rotation({self.matrix.tolist() if self.size <= 4 else f'<{self.size} x {self.size}>'})"


@final
@dataclass(frozen=True, repr=False)
class LeftRightField(FieldOfParts):
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
    def parts(self) -> tuple[RotationField, RotationField]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rotation from the left and the one from the right."""
        return self.left, self.right

    def _with(self, parts: Iterable[Field | None]) -> Field:
        return LeftRightField(*cast(Iterable[RotationField], parts))

    def flow(self, t: Scalar) -> Isometry:
        return LeftRight(linear(self.left.flow(t)), linear(self.right.flow(t)))

    def moved(self, g: Isometry) -> Field:
        A, B = (g.left, g.right) if isinstance(g, LeftRight) else (g, identity(self.right.size))
        return LeftRightField(cast(RotationField, self.left.moved(A)), cast(RotationField, self.right.moved(B)))

    def __repr__(self) -> str:
        return f"left_right({self.left.matrix.tolist()}, {self.right.matrix.tolist()})"


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


def two_sided(field: Field, k: int) -> tuple[RotationField, RotationField]:
    """The left and the right half of a field of n × k matrices; a rotation acts from the left."""
    if isinstance(field, LeftRightField):
        return field.left, field.right
    if isinstance(field, RotationField):
        return field, RotationField(np.zeros((k, k)))
    raise TypeError(f"{field!r} is not a field of matrices: write left_right(A, B) or rotation(A)")


def _skew_part(A: Array) -> Array:
    return (A - A.T) / 2
