"""Isometries: the maps themselves, the lowest layer.

An isometry is a small immutable object. Call it on points, compose it with ``@``, invert it, compare it.
*Exact* kinds stay exact: a permutation is integers, a sign is ±1, a torus shift is a `Fraction` of the
period, an integer matrix is integers. Only a general rotation is floating point. The lowercase functions
return the simplest kind that describes the map, so that exactness is never lost by the way a map is
written: ``orthogonal([[0, 1], [1, 0]])`` *is* ``permutation([1, 0])``.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational, Real
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Affine",
    "Copies",
    "Factors",
    "Isometry",
    "LeftRight",
    "Orthogonal",
    "SignedPermutation",
    "affine",
    "copies",
    "factors",
    "flatten",
    "identity",
    "left_right",
    "orthogonal",
    "permutation",
    "shift",
    "signed_permutation",
]

ORTHOGONALITY_TOLERANCE = 1e-9
_SNAP = 1e-15  # a float matrix this close to a signed permutation is one: cos(π/2) is 6e-17


class Isometry(abc.ABC):
    """A map of a space to itself that keeps distances.

    ``g(X)`` acts on points where no space is needed to know what it does, ``g @ h`` is "h first, then g",
    ``g.inverse()`` undoes it. Equality and hashes are by value.
    """

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many coordinates (or copies, or factors) the map acts on."""

    @abc.abstractmethod
    def inverse(self) -> Isometry:
        """The map that undoes this one."""

    @abc.abstractmethod
    def _after(self, other: Isometry) -> Isometry | None:
        """``self ∘ other`` for a kind that `self` knows, else None."""

    def __matmul__(self, other: Isometry) -> Isometry:
        if self.size != other.size:
            raise ValueError(f"cannot compose {self!r} with {other!r}: they act on {self.size} and {other.size} parts")
        if self.is_identity:
            return other
        if other.is_identity:
            return self
        composed = self._after(other)
        if composed is None:
            raise TypeError(f"cannot compose {self!r} with {other!r}: they are maps of different spaces")
        return composed

    def __call__(self, X: ArrayLike) -> NDArray[np.float64]:
        raise TypeError(f"{self!r} cannot act on bare points: what it does depends on the space. Use space.act(g, X).")

    @property
    def is_identity(self) -> bool:
        """Whether the map moves nothing (exactly)."""
        return False

    @property
    def is_exact(self) -> bool:
        """Whether the map is stored without rounding."""
        return True

    def __copy__(self) -> Isometry:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Isometry:
        return self


def _points(g: Isometry, X: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(X, dtype=float)
    if points.ndim == 0 or points.shape[-1] != g.size:
        raise ValueError(f"{g!r} acts on points with {g.size} coordinates; got an array of shape {points.shape}")
    return points


@final
@dataclass(frozen=True, repr=False)
class SignedPermutation(Isometry):
    """(gx)[i] = sign[i] · x[image[i]], in integers."""

    image: tuple[int, ...]
    signs: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.image)

    @cached_property
    def image_array(self) -> NDArray[np.intp]:
        """`image` for indexing."""
        return np.array(self.image, dtype=np.intp)

    @cached_property
    def signs_array(self) -> NDArray[np.float64]:
        """`signs` for multiplying."""
        return np.array(self.signs, dtype=float)

    @cached_property
    def is_permutation(self) -> bool:
        """Whether every sign is +1."""
        return all(s == 1 for s in self.signs)

    @property
    def is_identity(self) -> bool:
        return self.is_permutation and self.image == tuple(range(self.size))

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The matrix R with gx = R x."""  # (d, d)
        R = np.zeros((self.size, self.size))
        R[np.arange(self.size), self.image_array] = self.signs_array
        return R

    def __call__(self, X: ArrayLike) -> NDArray[np.float64]:
        moved = _points(self, X)[..., self.image_array]
        return moved if self.is_permutation else moved * self.signs_array

    def inverse(self) -> SignedPermutation:
        image = [0] * self.size
        signs = [1] * self.size
        for i, (j, s) in enumerate(zip(self.image, self.signs, strict=True)):
            image[j], signs[j] = i, s
        return SignedPermutation(tuple(image), tuple(signs))

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation):
            return SignedPermutation(
                tuple(other.image[j] for j in self.image),
                tuple(s * other.signs[j] for j, s in zip(self.image, self.signs, strict=True)),
            )
        if isinstance(other, Orthogonal):
            return orthogonal(self(other.matrix.T).T)
        if isinstance(other, Affine):
            return _as_affine(self) @ other
        if isinstance(other, LeftRight):
            return LeftRight(_linear(self @ other.left), other.right)
        if isinstance(other, Copies) and self.is_permutation:
            return _as_copies(self, other) @ other
        return None

    def __repr__(self) -> str:
        image = list(self.image) if self.size <= 12 else f"<{self.size} coordinates>"
        if self.is_permutation:
            return f"permutation({image})"
        signs = list(self.signs) if self.size <= 12 else "..."
        return f"signed_permutation({image}, {signs})"


class _Matrices(Isometry):
    """Shared by kinds that hold arrays: value equality through bytes."""

    @cached_property
    @abc.abstractmethod
    def _key(self) -> tuple[Any, ...]: ...

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key == other._key  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    def __hash__(self) -> int:
        return hash(self._key)


@final
class Orthogonal(_Matrices):
    """gx = R x with a floating-point orthogonal matrix."""

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self._matrix = matrix + 0.0  # a copy, and no -0.0
        self._matrix.setflags(write=False)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The matrix R."""  # (d, d)
        return self._matrix

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (self._matrix.shape, self._matrix.tobytes())

    @property
    def size(self) -> int:
        return len(self._matrix)

    @property
    def is_exact(self) -> bool:
        return False

    def __call__(self, X: ArrayLike) -> NDArray[np.float64]:
        return _points(self, X) @ self._matrix.T

    def inverse(self) -> Orthogonal:
        return Orthogonal(self._matrix.T)

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation | Orthogonal):
            return orthogonal(self._matrix @ other.matrix)
        if isinstance(other, LeftRight):
            return LeftRight(_linear(self @ other.left), other.right)
        return None

    def __repr__(self) -> str:
        if self.size > 4:
            return f"orthogonal(<{self.size} x {self.size}>)"
        return f"orthogonal({np.array2string(self._matrix, precision=4, separator=', ').replace(chr(10), '')})"


@final
class Affine(_Matrices):
    """u ↦ A u + t in units of the periods, A an integer matrix, t exact where it can be."""

    def __init__(self, matrix: NDArray[np.int64], shift: tuple[Fraction | float, ...]) -> None:
        self._matrix = matrix.copy()
        self._matrix.setflags(write=False)
        self._shift = shift

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The integer matrix A."""  # (d, d)
        return self._matrix

    @property
    def shift(self) -> tuple[Fraction | float, ...]:
        """The translation t in periods, each entry in [0, 1)."""
        return self._shift

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (self._matrix.shape, self._matrix.tobytes(), self._shift)

    @property
    def size(self) -> int:
        return len(self._matrix)

    @property
    def is_exact(self) -> bool:
        return all(isinstance(t, Fraction) for t in self._shift)

    @property
    def is_shift(self) -> bool:
        """Whether A is the identity."""
        return np.array_equal(self._matrix, np.eye(self.size, dtype=np.int64))

    def __call__(self, X: ArrayLike) -> NDArray[np.float64]:
        if any(self._shift):
            return super().__call__(X)
        return _points(self, X) @ self._matrix.T

    def inverse(self) -> Isometry:
        inverse = np.rint(np.linalg.inv(self._matrix)).astype(np.int64)
        return affine(inverse, [-t for t in _integer_product(inverse, self._shift)])

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation):
            other = _as_affine(other)
        if not isinstance(other, Affine):
            return None
        moved = _integer_product(self._matrix, other._shift)
        return affine(self._matrix @ other._matrix, [a + b for a, b in zip(moved, self._shift, strict=True)])

    def __repr__(self) -> str:
        t = f"[{', '.join(str(t) for t in self._shift)}]" if self.size <= 12 else "<...>"
        if self.is_shift:
            return f"shift({t})"
        A = self._matrix.tolist() if self.size <= 4 else f"<{self.size} x {self.size}>"
        return f"affine({A}, {t})"


@final
@dataclass(frozen=True, repr=False)
class LeftRight(Isometry):
    """gX = A X Bᵀ on matrices."""

    left: SignedPermutation | Orthogonal
    right: SignedPermutation | Orthogonal

    @property
    def size(self) -> int:
        return self.left.size

    @property
    def is_exact(self) -> bool:
        return self.left.is_exact and self.right.is_exact

    @property
    def is_identity(self) -> bool:
        return self.left.is_identity and self.right.is_identity

    def inverse(self) -> LeftRight:
        return LeftRight(self.left.inverse(), self.right.inverse())

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation | Orthogonal):
            other = LeftRight(other, identity(self.right.size))
        if not isinstance(other, LeftRight):
            return None
        return LeftRight(_linear(self.left @ other.left), _linear(self.right @ other.right))

    def __repr__(self) -> str:
        return f"left_right({self.left!r}, {self.right!r})"


@final
@dataclass(frozen=True, repr=False)
class Copies(Isometry):
    """(gx)[i] = g_i(x[image[i]]) on the copies of a power space: permute the copies, then act on each."""

    image: tuple[int, ...]
    parts: tuple[Isometry, ...]

    @property
    def size(self) -> int:
        return len(self.image)

    @property
    def is_exact(self) -> bool:
        return all(g.is_exact for g in self.parts)

    @property
    def is_identity(self) -> bool:
        return self.image == tuple(range(self.size)) and all(g.is_identity for g in self.parts)

    def inverse(self) -> Copies:
        image = [0] * self.size
        parts = list(self.parts)
        for i, j in enumerate(self.image):
            image[j], parts[j] = i, self.parts[i].inverse()
        return Copies(tuple(image), tuple(parts))

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation) and other.is_permutation:
            other = _as_copies(other, self)
        if not isinstance(other, Copies):
            return None
        return Copies(
            tuple(other.image[j] for j in self.image),
            tuple(g @ other.parts[j] for j, g in zip(self.image, self.parts, strict=True)),
        )

    def __repr__(self) -> str:
        if self.size > 6:
            return f"copies(<{self.size}>)"
        return f"copies({list(self.image)}, {list(self.parts)})"


@final
@dataclass(frozen=True, repr=False)
class Factors(Isometry):
    """Each part acts on its own factor of a product space (or block of coordinates)."""

    parts: tuple[Isometry, ...]

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def is_exact(self) -> bool:
        return all(g.is_exact for g in self.parts)

    @property
    def is_identity(self) -> bool:
        return all(g.is_identity for g in self.parts)

    def inverse(self) -> Factors:
        return Factors(tuple(g.inverse() for g in self.parts))

    def _after(self, other: Isometry) -> Isometry | None:
        if not isinstance(other, Factors):
            return None
        return Factors(tuple(g @ h for g, h in zip(self.parts, other.parts, strict=True)))

    def __repr__(self) -> str:
        return f"factors({list(self.parts)})"


# --- constructors ---------------------------------------------------------------------------------


def identity(d: int) -> SignedPermutation:
    """The map that moves nothing, on `d` coordinates.

    Examples
    --------
    >>> identity(3)
    permutation([0, 1, 2])
    """
    return SignedPermutation(tuple(range(d)), (1,) * d)


def permutation(image: Sequence[int] | NDArray[np.integer[Any]]) -> SignedPermutation:
    """(gx)[i] = x[image[i]].

    Examples
    --------
    >>> permutation([1, 2, 0])([10.0, 20.0, 30.0])
    array([20., 30., 10.])
    """
    return signed_permutation(image, [1] * len(image))


def signed_permutation(
    image: Sequence[int] | NDArray[np.integer[Any]], signs: Sequence[int] | NDArray[Any]
) -> SignedPermutation:
    """(gx)[i] = signs[i] · x[image[i]].

    Examples
    --------
    >>> g = signed_permutation([1, 0], [1, -1])
    >>> g([3.0, 4.0])
    array([ 4., -3.])
    >>> (g @ g @ g @ g).is_identity
    True
    """
    exact = tuple(_integer(i, "an image entry") for i in image)
    if sorted(exact) != list(range(len(exact))):
        raise ValueError(
            f"not a permutation of 0..{len(exact) - 1}: every index must appear exactly once; got {_short(exact)}"
        )
    flips = tuple(_integer(s, "a sign") for s in signs)
    if len(flips) != len(exact):
        raise ValueError(f"{len(exact)} images but {len(flips)} signs: give one sign per coordinate")
    if any(s not in (1, -1) for s in flips):
        raise ValueError(f"signs must be 1 or -1; got {_short(flips)}")
    return SignedPermutation(exact, flips)


def orthogonal(R: ArrayLike) -> SignedPermutation | Orthogonal:
    """Gx = R x: on spheres, and as the left factor on rotations and Stiefel manifolds.

    A matrix that is a signed permutation becomes the exact kind.

    Examples
    --------
    >>> orthogonal([[0, -1], [1, 0]])
    signed_permutation([1, 0], [-1, 1])
    """
    matrix = _finite_square(R, "orthogonal")
    deviation = float(np.abs(matrix.T @ matrix - np.eye(len(matrix))).max())
    if deviation > ORTHOGONALITY_TOLERANCE:
        raise ValueError(
            f"the matrix is not orthogonal: max|RᵀR - I| = {deviation:.2g}, tolerance "
            f"{ORTHOGONALITY_TOLERANCE:.0e}. Exact invariance needs isometries; orthonormalise it "
            "(for instance with a QR or polar decomposition) if it was meant to be one."
        )
    return _exact_signed(matrix) or Orthogonal(matrix)


def shift(t: Sequence[Fraction | float]) -> SignedPermutation | Affine:
    """X ↦ x + t on a torus, `t` in periods; `int` and `Fraction` stay exact, `float` stays a float.

    Examples
    --------
    >>> shift([Fraction(1, 3), 0]) @ shift([Fraction(2, 3), 0])
    permutation([0, 1])
    """
    return affine(np.eye(len(t), dtype=np.int64), t)


def affine(A: ArrayLike, t: Sequence[Fraction | float]) -> SignedPermutation | Affine:
    """U ↦ A u + t on a torus, in units of the periods: `A` an integer matrix, `t` in periods.

    Examples
    --------
    >>> g = affine([[0, -1], [1, -1]], [0, Fraction(1, 2)])
    >>> (g @ g.inverse()).is_identity
    True
    """
    matrix = _finite_square(A, "affine")
    integers = np.rint(matrix).astype(np.int64)
    if np.abs(matrix - integers).max(initial=0.0) > 0:
        raise ValueError(
            "affine needs an integer matrix (a torus has no other linear maps); the largest distance from an "
            f"integer is {np.abs(matrix - integers).max():.2g}"
        )
    determinant = round(float(np.linalg.det(integers.astype(float)))) if len(integers) else 1
    if abs(determinant) != 1:
        raise ValueError(f"affine needs an invertible integer matrix, of determinant ±1; got {determinant}")
    exact = tuple(_periods(entry) for entry in t)
    if len(exact) != len(integers):
        raise ValueError(f"a {len(integers)} x {len(integers)} matrix with a shift of {len(exact)} entries")
    signed = None if any(exact) else _exact_signed(integers.astype(float))
    return signed or Affine(integers, exact)


def left_right(A: ArrayLike, B: ArrayLike) -> LeftRight:
    """Gives gX = A X Bᵀ, on rotations and Stiefel manifolds.

    Examples
    --------
    >>> g = left_right([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    >>> (g @ g.inverse()).is_identity
    True
    """
    return LeftRight(orthogonal(A), orthogonal(B))


def copies(image: Sequence[int], isometries: Sequence[Isometry]) -> Copies:
    """(gx)[i] = g_i(x[image[i]]) on `Power`: permute the copies, then act on each.

    Examples
    --------
    >>> mirror = signed_permutation([0, 1, 2], [1, 1, -1])
    >>> g = copies([1, 0], [mirror, identity(3)])
    >>> g @ g == copies([0, 1], [mirror, mirror])
    True
    """
    exact = permutation(image).image
    if len(exact) != len(isometries):
        raise ValueError(f"{len(exact)} copies but {len(isometries)} isometries: give one per copy")
    return Copies(exact, tuple(isometries))


def factors(isometries: Sequence[Isometry]) -> Factors:
    """Each isometry acts on its own factor of `Product` (on a torus or sphere: its own block of coordinates).

    Examples
    --------
    >>> flatten(factors([permutation([1, 0]), signed_permutation([0], [-1])]))
    signed_permutation([1, 0, 2], [1, 1, -1])
    """
    return Factors(tuple(isometries))


def flatten(g: Isometry) -> Isometry:
    """`g` with blocks of linear or affine `factors` joined in one map of all coordinates."""
    if not isinstance(g, Factors):
        return g
    parts = [flatten(part) for part in g.parts]
    offsets = np.cumsum([0, *(part.size for part in parts)])
    if all(isinstance(part, SignedPermutation) for part in parts):
        image = [int(o) + i for o, part in zip(offsets, parts, strict=False) for i in _linear(part).image]  # pyright: ignore[reportAttributeAccessIssue]
        return SignedPermutation(tuple(image), tuple(s for part in parts for s in part.signs))  # pyright: ignore[reportAttributeAccessIssue]
    if all(isinstance(part, SignedPermutation | Orthogonal) for part in parts):
        matrix = np.zeros((offsets[-1], offsets[-1]))
        for o, part in zip(offsets, parts, strict=False):
            matrix[o : o + part.size, o : o + part.size] = _linear(part).matrix
        return orthogonal(matrix)
    if all(isinstance(part, SignedPermutation | Affine) for part in parts):
        integers = np.zeros((offsets[-1], offsets[-1]), dtype=np.int64)
        t: list[Fraction | float] = []
        for o, part in zip(offsets, parts, strict=False):
            block = _as_affine(part)
            integers[o : o + part.size, o : o + part.size] = block.matrix
            t.extend(block.shift)
        return affine(integers, t)
    return g


# --- helpers --------------------------------------------------------------------------------------


def _linear(g: Isometry) -> SignedPermutation | Orthogonal:
    if isinstance(g, SignedPermutation | Orthogonal):
        return g
    raise TypeError(f"{g!r} is not a linear map")


def _as_affine(g: Isometry) -> Affine:
    if isinstance(g, Affine):
        return g
    if isinstance(g, SignedPermutation):
        return Affine(g.matrix.astype(np.int64), (Fraction(0),) * g.size)
    raise TypeError(f"{g!r} is not an integer affine map")


def _as_copies(g: SignedPermutation, like: Copies) -> Copies:
    blank = identity(like.parts[0].size)
    return Copies(g.image, (blank,) * g.size)


def _exact_signed(matrix: NDArray[np.float64]) -> SignedPermutation | None:
    rounded = np.rint(matrix)
    if np.abs(matrix - rounded).max(initial=0.0) > _SNAP or np.abs(rounded).max(initial=0.0) > 1:
        return None
    if np.any(np.abs(rounded).sum(axis=0) != 1) or np.any(np.abs(rounded).sum(axis=1) != 1):
        return None
    image = np.abs(rounded).argmax(axis=1)
    signs = rounded[np.arange(len(image)), image]
    return SignedPermutation(tuple(image.tolist()), tuple(int(s) for s in signs))


def _integer_product(A: NDArray[np.int64], t: Sequence[Fraction | float]) -> list[Fraction | float]:
    return [sum((int(a) * s for a, s in zip(row, t, strict=True) if a), start=Fraction(0)) for row in A]


def _periods(t: Fraction | float) -> Fraction | float:
    if isinstance(t, Rational | np.integer):
        return Fraction(int(t) if isinstance(t, np.integer) else t) % 1
    if isinstance(t, Real) and np.isfinite(float(t)):
        wrapped = float(t) % 1.0
        return Fraction(0) if wrapped in (0.0, 1.0) else wrapped
    raise ValueError(f"a shift is a finite number of periods (int, Fraction or float); got {t!r}")


def _finite_square(matrix: ArrayLike, what: str) -> NDArray[np.float64]:
    array = np.asarray(matrix, dtype=float)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{what} needs a square matrix; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} needs finite entries; the matrix has NaN or infinity")
    return array


def _integer(value: Any, what: str) -> int:
    exact = int(value)
    if exact != value:
        raise ValueError(f"{what} must be an integer; got {value!r}")
    return exact


def _short(values: tuple[int, ...]) -> str:
    return str(list(values)) if len(values) <= 12 else f"{list(values[:10])}... ({len(values)} entries)"
