"""Integer affine maps of a torus: an integer matrix and a shift, in periods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational, Real
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg.isometries._isometry import Isometry, Matrices, checked_points, finite_square, read_only
from specavg.isometries._linear import SignedPermutation, exact_signed

__all__ = ["Affine", "affine", "as_affine", "shift"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Affine(Matrices):
    """u ↦ A u + t in units of the periods, A an integer matrix, t exact where it can be.

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.affine([[0, -1], [1, -1]], [0, Fraction(1, 2)])
    >>> g.matrix.tolist(), g.shift, g.is_exact
    ([[0, -1], [1, -1]], (Fraction(0, 1), Fraction(1, 2)), True)
    """

    matrix: NDArray[np.int64]
    """The integer matrix A."""  # (d, d)
    shift: tuple[Fraction | float, ...]
    """The translation t in periods, each entry in [0, 1)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", read_only(self.matrix.copy()))

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (self.matrix.shape, self.matrix.tobytes(), self.shift)

    @property
    def size(self) -> int:
        return len(self.matrix)

    @property
    def is_exact(self) -> bool:
        return all(isinstance(t, Fraction) for t in self.shift)

    @property
    def is_shift(self) -> bool:
        """Whether A is the identity."""
        return np.array_equal(self.matrix, np.eye(self.size, dtype=np.int64))

    def __call__(self, X: ArrayLike) -> NDArray[np.float64]:
        if any(self.shift):
            return super().__call__(X)
        return checked_points(self, X) @ self.matrix.T

    def inverse(self) -> Isometry:
        inverse = np.rint(np.linalg.inv(self.matrix)).astype(np.int64)
        return affine(inverse, [-t for t in _integer_product(inverse, self.shift)])

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation):
            other = as_affine(other)
        if not isinstance(other, Affine):
            return None
        moved = _integer_product(self.matrix, other.shift)
        return affine(self.matrix @ other.matrix, [a + b for a, b in zip(moved, self.shift, strict=True)])

    def _before(self, other: Isometry) -> Isometry | None:
        return as_affine(other) @ self if isinstance(other, SignedPermutation) else None

    def __repr__(self) -> str:
        t = f"[{', '.join(str(t) for t in self.shift)}]" if self.size <= 12 else "<...>"
        if self.is_shift:
            return f"shift({t})"
        A = self.matrix.tolist() if self.size <= 4 else f"<{self.size} x {self.size}>"
        return f"affine({A}, {t})"


def shift(t: Sequence[Fraction | float]) -> SignedPermutation | Affine:
    """The map x ↦ x + t on a torus, `t` in periods; `int` and `Fraction` stay exact, `float` stays a float.

    Examples
    --------
    >>> shift([Fraction(1, 3), 0]) @ shift([Fraction(2, 3), 0])
    permutation([0, 1])
    """
    return affine(np.eye(len(t), dtype=np.int64), t)


def affine(A: ArrayLike, t: Sequence[Fraction | float]) -> SignedPermutation | Affine:
    """The map u ↦ A u + t on a torus, in units of the periods: `A` an integer matrix, `t` in periods.

    Examples
    --------
    >>> g = affine([[0, -1], [1, -1]], [0, Fraction(1, 2)])
    >>> (g @ g.inverse()).is_identity
    True
    """
    matrix = finite_square(A, "affine")
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
    signed = None if any(exact) else exact_signed(integers.astype(float))
    return signed or Affine(integers, exact)


def as_affine(g: Isometry) -> Affine:
    """`g` written as an integer matrix and a shift."""
    if isinstance(g, Affine):
        return g
    if isinstance(g, SignedPermutation):
        return Affine(g.matrix.astype(np.int64), (Fraction(0),) * g.size)
    raise TypeError(f"{g!r} is not an integer affine map")


def _integer_product(A: NDArray[np.int64], t: Sequence[Fraction | float]) -> list[Fraction | float]:
    return [sum((int(a) * s for a, s in zip(row, t, strict=True) if a), start=Fraction(0)) for row in A]


def _periods(t: Fraction | float) -> Fraction | float:
    if isinstance(t, Rational | np.integer):
        return Fraction(int(t) if isinstance(t, np.integer) else t) % 1
    if isinstance(t, Real) and np.isfinite(float(t)):
        wrapped = float(t) % 1.0
        return Fraction(0) if wrapped in (0.0, 1.0) else wrapped
    raise ValueError(f"a shift is a finite number of periods (int, Fraction or float); got {t!r}")
