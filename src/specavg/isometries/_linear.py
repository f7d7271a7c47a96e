"""Linear maps of the coordinates: permutations and sign changes in integers, other orthogonal matrices in floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._messages import shown
from specavg.isometries._isometry import Isometry, OfAMatrix, checked_points, entries, finite_square

ORTHOGONALITY_TOLERANCE = 1e-9  # largest |RᵀR − I|: ten digits, as tables print them, pass, and seven do not
_SNAP = 1e-15  # a float matrix this close to a signed permutation is one: cos(π/2) is 6e-17


@final
@dataclass(frozen=True, repr=False)
class SignedPermutation(Isometry):
    """(gx)[i] = sign[i] · x[image[i]], in integers.

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.signed_permutation([1, 0], [1, -1])
    >>> g.image, g.signs, g.is_permutation
    ((1, 0), (1, -1), False)
    """

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
    def signs_array(self) -> Array:
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
    def cycles(self) -> list[tuple[int, int]]:
        """The length of each cycle, fixed points included, and the product of the signs along it."""
        seen = [False] * self.size
        found: list[tuple[int, int]] = []
        for i in range(self.size):
            length, sign = 0, 1
            while not seen[i]:
                seen[i] = True
                length, sign, i = length + 1, sign * self.signs[i], self.image[i]
            if length:
                found.append((length, sign))
        return found

    @property
    def order(self) -> int:
        """The least power that is the identity."""
        return lcm(*(length if sign > 0 else 2 * length for length, sign in self.cycles))

    @property
    def matrix(self) -> Array:
        """The matrix R with gx = R x."""  # (d, d)
        R = np.zeros((self.size, self.size))
        R[np.arange(self.size), self.image_array] = self.signs_array
        return R

    def __call__(self, X: ArrayLike) -> Array:
        moved = checked_points(self, X)[..., self.image_array]
        return moved if self.is_permutation else moved * self.signs_array

    def inverse(self) -> SignedPermutation:
        source = tuple(np.argsort(self.image_array).tolist())
        return SignedPermutation(source, tuple(self.signs[i] for i in source))

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation):
            return SignedPermutation(
                tuple(other.image[j] for j in self.image),
                tuple(s * other.signs[j] for j, s in zip(self.image, self.signs, strict=True)),
            )
        if isinstance(other, Orthogonal):
            return orthogonal(self(other.matrix.T).T)
        return None

    def __repr__(self) -> str:
        image = list(self.image) if self.size <= 12 else f"<{self.size} coordinates>"
        if self.is_permutation:
            return f"permutation({image})"
        signs = list(self.signs) if self.size <= 12 else "..."
        return f"signed_permutation({image}, {signs})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Orthogonal(OfAMatrix, Isometry):  # pyright: ignore[reportIncompatibleVariableOverride]
    """gx = R x with a floating-point orthogonal matrix.

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.orthogonal([[0.6, -0.8], [0.8, 0.6]])
    >>> g([1.0, 0.0]), g.is_exact
    (array([0.6, 0.8]), False)
    """

    matrix: Array
    """The matrix R."""  # (d, d)

    @property
    def is_exact(self) -> bool:
        return False

    def __call__(self, X: ArrayLike) -> Array:
        return checked_points(self, X) @ self.matrix.T

    def inverse(self) -> Orthogonal:
        return Orthogonal(self.matrix.T)

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation | Orthogonal):
            return orthogonal(self.matrix @ other.matrix)
        return None

    def __repr__(self) -> str:
        if self.size > 4:
            return f"orthogonal(<{self.size} x {self.size}>)"
        return f"orthogonal({self.matrix.tolist()})"


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
    exact = _images(image)
    return signed_permutation(exact, [1] * len(exact))


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
    exact = _images(image)
    if sorted(exact) != list(range(len(exact))):
        hint = " Indices count from 0: subtract 1." if sorted(exact) == list(range(1, len(exact) + 1)) else ""
        raise ValueError(
            f"not a permutation of 0..{len(exact) - 1}: every index must appear exactly once; got "
            f"{_short(exact)}.{hint}"
        )
    given = entries(signs, "a signed permutation has a sign for each coordinate", "signed_permutation([1, 0], [1, -1])")
    flips = tuple(_integer(s, "a sign") for s in given)
    if len(flips) != len(exact):
        raise ValueError(f"{len(exact)} images but {len(flips)} signs: give one sign per coordinate")
    if any(s not in (1, -1) for s in flips):
        raise ValueError(f"signs must be 1 or -1; got {_short(flips)}")
    return SignedPermutation(exact, flips)


def orthogonal(R: ArrayLike) -> SignedPermutation | Orthogonal:
    """The map x ↦ R x: on spheres, and as the left factor on rotations and Stiefel manifolds.

    A matrix that is a signed permutation becomes the exact kind. A single SciPy `Rotation` stands for its matrix.

    Examples
    --------
    >>> orthogonal([[0, -1], [1, 0]])
    signed_permutation([1, 0], [-1, 1])
    """
    given: Any = R
    if hasattr(given, "as_matrix"):
        given = given.as_matrix()
        if given.ndim != 2:
            raise ValueError(f"orthogonal needs one rotation; got {len(given)}: write [orthogonal(R) for R in them]")
    matrix = finite_square(given, "orthogonal")
    deviation = float(np.abs(matrix.T @ matrix - np.eye(len(matrix))).max())
    if deviation > ORTHOGONALITY_TOLERANCE:
        if np.array_equal(matrix, -matrix.T):
            raise ValueError(
                f"the matrix is not orthogonal (max|RᵀR - I| = {deviation:.2g}) but skew-symmetric, as an "
                "infinitesimal rotation is. As one of a group it is a field: write Group([], [J])."
            )
        if np.array_equal(matrix, np.rint(matrix)) and abs(abs(np.linalg.det(matrix)) - 1) < 1e-6:
            raise ValueError(
                f"the integer matrix {matrix.astype(int).tolist()} is not orthogonal: it looks like a map in the "
                "coordinates of a lattice. Write isometries.affine(A, [0, ...]) and use it on Torus(lattice=...)."
            )
        raise ValueError(
            f"the matrix is not orthogonal: max|RᵀR - I| = {deviation:.2g}, tolerance "
            f"{ORTHOGONALITY_TOLERANCE:.0e}. Exact invariance needs isometries; orthonormalise it "
            "(for instance with a QR or polar decomposition) if it was meant to be one. That mends lengths, not "
            "angles: a third of a turn that was rounded becomes another rotation, which generates an infinite group. "
            "Give it exactly, by scipy's Rotation.from_euler('z', 120, degrees=True) or groups.point_group('C3'), or "
            "give Group all generators of a finite group as they are: where they tell which one, it makes them exact. "
            "It does so for up to 480 elements; of a larger group give 16 digits, such as reflections I - 2vvᵀ of "
            "exact unit vectors v."
        )
    return exact_signed(matrix) or Orthogonal(matrix)


def linear(g: Isometry) -> SignedPermutation | Orthogonal:
    """`g`, which must be a linear map."""
    if isinstance(g, SignedPermutation | Orthogonal):
        return g
    raise TypeError(f"{g!r} is not a linear map")


def rotation_axis(R: Array) -> Array:
    """A unit vector that a rotation of R^3 other than the identity leaves alone, of either sign."""
    return np.linalg.svd(R - np.eye(3))[2][2]


def exact_signed(matrix: Array) -> SignedPermutation | None:
    """The signed permutation that `matrix` is, or None."""
    rounded = np.rint(matrix)
    if np.abs(matrix - rounded).max(initial=0.0) > _SNAP or np.abs(rounded).max(initial=0.0) > 1:
        return None
    if np.any(np.abs(rounded).sum(axis=0) != 1) or np.any(np.abs(rounded).sum(axis=1) != 1):
        return None
    image = np.abs(rounded).argmax(axis=1)
    signs = rounded[np.arange(len(image)), image]
    return SignedPermutation(tuple(image.tolist()), tuple(int(s) for s in signs))


def _images(given: Any) -> tuple[int, ...]:
    listed = entries(given, "a permutation is the index that comes to each place", "permutation([1, 2, 0])")
    if any(isinstance(i, list | tuple) for i in listed):
        raise TypeError(
            f"cycles are not read: list the index that comes to each place, as in [1, 2, 0]; got {shown(given)}"
        )
    return tuple(_integer(i, "an image entry") for i in listed)


def _integer(value: Any, what: str) -> int:
    try:
        exact = None if isinstance(value, bool | np.bool_) else int(value)
    except (TypeError, ValueError, OverflowError):
        exact = None
    if exact is None or exact != value:
        raise ValueError(f"{what} must be an integer; got {value!r}")
    return exact


def _short(values: tuple[int, ...]) -> str:
    return str(list(values)) if len(values) <= 12 else f"{list(values[:10])}... ({len(values)} entries)"
