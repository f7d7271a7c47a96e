"""Integer affine maps of a torus: an integer matrix and a shift, in periods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import fsum
from numbers import Rational, Real
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg.isometries._isometry import Isometry, OfAMatrix, checked_points, entries, finite_square
from specavg.isometries._linear import SignedPermutation, exact_signed

_LARGEST_ENTRY = 2.0**53  # floats count to here without gaps
_LARGEST_DENOMINATOR = 360  # radians are read as a fraction of 2π with at most this denominator: whole degrees are
_FINEST = 720  # denominator of shifts that are not questioned
_OF_SPACE_GROUPS = 24  # largest denominator of their translations
_ROUNDING = 1e-12  # periods: the translations that spglib computes from positions of 16 digits differ by less
_OF_A_FLOAT = 2**30  # denominators beyond it are those of floats: nobody writes them
# Largest denominators, and how near a number of periods may be to such a fraction, without being it, and is questioned:
# 0.33 or 2.09 radians near a third, 51.43 degrees near a seventh.
_ROUNDED = ((6, 4e-3), (_OF_SPACE_GROUPS, 2e-4))
# 2.0944 is 2π/3 to its four decimals. Of the numbers of four decimals up to 2π one in 700 is so near to one of the 92
# fractions of π with these denominators; of those of three decimals, one in 70.
_DECIMALS_OF_PI, _LARGEST_OF_PI = 4, 12
_AN_ANGLE = 3  # periods: a translation of a crystal is less, and a larger number is most likely an angle


@final
@dataclass(frozen=True, eq=False, repr=False)
class Affine(OfAMatrix, Isometry):
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

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (*super()._key, self.shift)

    @property
    def is_exact(self) -> bool:
        return all(isinstance(t, Fraction) for t in self.shift)

    @property
    def is_shift(self) -> bool:
        """Whether A is the identity."""
        return np.array_equal(self.matrix, np.eye(self.size, dtype=np.int64))

    def __call__(self, X: ArrayLike) -> Array:
        if any(self.shift):
            return super().__call__(X)
        points = checked_points(self, X)
        if np.abs(self.matrix).max() <= 1:
            return points @ self.matrix.T
        terms = np.concatenate(_exact_terms(self.matrix, points), axis=-1)
        return np.apply_along_axis(fsum, -1, terms)

    def applied(self, U: Array) -> Array:
        """A u + t up to whole periods, for points `U` in periods.

        Where `A` has entries above 1, whole periods are taken away before anything is rounded: an entry of 10^10 does
        not cost ten digits.
        """  # (n, d) -> (n, d)
        t = np.array([float(entry) for entry in self.shift])
        if np.abs(self.matrix).max() <= 1:
            return U @ self.matrix.T + t
        return sum(((part - np.rint(part)).sum(axis=-1) for part in _exact_terms(self.matrix, U)), start=t)

    def inverse(self) -> Isometry:
        inverse = exact_inverse(self.matrix)
        return affine_map(inverse, [-t for t in _integer_product(inverse, self.shift)])

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation):
            other = as_affine(other)
        if not isinstance(other, Affine):
            return None
        moved = _integer_product(self.matrix, other.shift)
        return affine_map(_product(self.matrix, other.matrix), [a + b for a, b in zip(moved, self.shift, strict=True)])

    def _before(self, other: Isometry) -> Isometry | None:
        return as_affine(other) @ self if isinstance(other, SignedPermutation) else None

    def __repr__(self) -> str:
        t = f"[{', '.join(map(period_text, self.shift))}]" if self.size <= 12 else "<...>"
        if self.is_shift:
            return f"shift({t})"
        if self.size <= 4 and any(isinstance(s, float) and isinstance(_of_crystals(s), Fraction) for s in self.shift):
            return f"shift({t}) @ {affine_map(self.matrix, [Fraction(0)] * self.size)!r}"  # affine would round to these
        A = self.matrix.tolist() if self.size <= 4 else f"<{self.size} x {self.size}>"
        return f"affine({A}, {t})"


def shift(
    t: Sequence[Fraction | float | str] | None = None,
    *,
    degrees: Sequence[Fraction | float | str] | None = None,
    radians: Sequence[Any] | None = None,
) -> SignedPermutation | Affine:
    """The map x ↦ x + t on a torus, `t` in periods, or in degrees or radians of a full period.

    Parameters
    ----------
    t : sequence of int, Fraction, str or float
        The shift in periods. `int`, `Fraction` and strings such as "1/3" stay exact, `float` stays a float. A
        whole period or more is questioned by a warning, since it looks like an angle; fractions such as "4/3" are not.
    degrees, radians : sequence of numbers, optional
        The shift as angles, in place of `t`: 360 degrees or 2π are one period of the coordinate, whatever its length
        is. An angle that is a fraction of it with a denominator of at most 360, to rounding, is this fraction; other
        degrees are taken as they are written. Numbers of sympy, such as 2*pi/3, are taken too. Numbers near a fraction
        with a small denominator that are not one are questioned, and so are angles that are whole periods, degrees
        that are a fraction of π (2.0944 is 2π/3), and radians of many turns that are none: they look like degrees.

    Examples
    --------
    >>> shift(["1/3", 0]) @ shift(["2/3", 0])
    permutation([0, 1])
    >>> shift(degrees=[120, 0]) == shift(["1/3", 0]) == shift(radians=[2 * np.pi / 3, 0])
    True
    """
    if sum(given is not None for given in (t, degrees, radians)) != 1:
        raise TypeError("shift needs exactly one of t (in periods), degrees= and radians=")
    what, example = "a shift has a number for each coordinate", 'shift(["1/3", 0]) or shift(degrees=[120, 0])'
    if degrees is not None:
        given, read = entries(degrees, what, example), _from_degrees
    elif radians is not None:
        given, read = entries(radians, what, example), _from_radians
    else:
        given, read = entries(t, what, example), period_fraction
    periods = [read(entry) for entry in given]
    if not periods:
        raise ValueError(f"{what}, and this one has none: write {example}")
    if degrees is not None:
        _question_degrees(given)
    if radians is not None:
        _question_radians(periods)
    if t is None and any(periods) and not any(map(_wrapped, periods)):
        warnings.warn(f"a shift by the angles {list(given)} moves nothing: they are whole periods.", stacklevel=2)
    elif t is not None and any(abs(p) >= 1 and not _is_fraction(x) for p, x in zip(periods, given, strict=True)):
        _question_periods(f"shift([{', '.join(map(period_text, periods))}])")
    for p, entry in zip(periods, given, strict=True):
        # Fractions are meant as they are written, and so are whole and half degrees.
        meant = (
            isinstance(entry, Fraction) or "/" in str(entry) or (isinstance(p, Fraction) and p.denominator <= _FINEST)
        )
        near = None if meant else nearly(p)
        if near is not None:
            warnings.warn(
                f"a shift by {float(p):.10g} of a period is near {near} and is another one, which generates a far "
                f"larger group. If {near} is meant, write '{near}', or the angle in degrees.",
                stacklevel=2,
            )
    return affine_map(np.eye(len(periods), dtype=np.int64), periods)


def _question_degrees(angles: Sequence[Any]) -> None:
    """Question the first angle in degrees that is a fraction of π, as radians are."""
    for angle in angles:
        in_pi = _fraction_of_pi(float(angle)) if isinstance(angle, float | np.floating) else None
        if in_pi is not None:
            warnings.warn(
                f"a shift by {float(angle):.10g} degrees is {in_pi} of π, as an angle in radians would be, and "
                "generates a far larger group. If radians are meant, write shift(radians=[...]).",
                stacklevel=3,
            )
            return


def _fraction_of_pi(angle: float) -> Fraction | None:
    """The fraction of π that a number is to rounding, or as precisely as its decimals say where these are enough."""
    times, decimals = angle / np.pi, -int(Decimal(repr(angle)).as_tuple().exponent)
    told = 0.5 * 10.0**-decimals / np.pi if decimals >= _DECIMALS_OF_PI and abs(times) <= 2 else 0.0
    for largest, distance in ((_LARGEST_DENOMINATOR, _ROUNDING * max(1.0, abs(times))), (_LARGEST_OF_PI, told)):
        near = Fraction(times).limit_denominator(largest)
        if near and abs(times - near) <= distance:
            return near
    return None


def _question_radians(periods: Sequence[Fraction | float]) -> None:
    """Question the first angle in radians of many turns that is no fraction of π, as degrees are."""
    for p in periods:
        if abs(p) >= _AN_ANGLE and isinstance(p, float):
            angle = 2 * np.pi * p
            warnings.warn(
                f"a shift by {angle:.10g} radians moves by {p:.4g} periods, and whole periods move nothing: this looks "
                "like an angle in degrees, and generates a far larger group. If degrees are meant, write "
                "shift(degrees=[...]).",
                stacklevel=3,
            )
            return


def _is_fraction(given: Any) -> bool:
    """Whether a number is written as a fraction, and is no angle: "4/3" or Fraction(1), not "120" or Fraction(120)."""
    if isinstance(given, str):
        return "/" in given
    return isinstance(given, Fraction) and (given.denominator > 1 or abs(given) <= 1)


def _question_periods(given: str) -> None:
    warnings.warn(
        f"{given} moves by a whole period or more, and whole periods move nothing: shifts are in periods. For angles "
        "write shift(degrees=[...]) or shift(radians=[...]).",
        stacklevel=3,
    )


def nearly(p: Fraction | float) -> Fraction | None:
    """The fraction with a small denominator that a number of periods may be meant to be, and is not."""
    for largest, distance in _ROUNDED:
        near = Fraction(p).limit_denominator(largest)
        if near.denominator > 1 and 4e-16 * max(1.0, abs(p)) < abs(p - near) < distance:
            return near
    return None


def affine(A: ArrayLike, t: Sequence[Fraction | float | str]) -> SignedPermutation | Affine:
    """The map u ↦ A u + t on a torus, in units of the periods: `A` an integer matrix, `t` in periods.

    Parameters
    ----------
    A : array-like of shape (d, d)
    t : sequence of int, Fraction, str or float
        A `float` that is a fraction with a denominator of at most 24 to rounding, as spglib returns the translations
        of space groups, is that fraction; another one stays a float, and has no exact order. A `Fraction` that was
        made from such a `float` is questioned by a warning. So are three periods and more: they look like an angle.

    Examples
    --------
    >>> g = affine([[0, -1], [1, -1]], [0, Fraction(1, 2)])
    >>> (g @ g.inverse()).is_identity
    True
    >>> affine([[-1, 0], [0, 1]], [1 / 3, 0.25])
    affine([[-1, 0], [0, 1]], ['1/3', '1/4'])
    """
    given = entries(t, "a shift has a number for each coordinate", 'affine(A, ["1/3", 0])')
    periods = [*map(period_fraction, given)]
    if any(abs(p) >= _AN_ANGLE for p in periods):
        _question_periods(f"affine(A, [{', '.join(map(period_text, periods))}])")
    return affine_map(A, [*map(_of_crystals, periods)])


def _of_crystals(t: Fraction | float) -> Fraction | float:
    """The fraction that a float is to rounding; a warning where a Fraction has the binary digits of a float."""
    near = Fraction(t).limit_denominator(_OF_SPACE_GROUPS)
    if isinstance(t, float):
        return near if abs(t - near) < _ROUNDING else t
    if t.denominator > _OF_A_FLOAT:
        warnings.warn(
            f"a shift by {t} of a period looks like Fraction({float(t)!r}), the binary digits of a float, and "
            f"generates a far larger group than {near}. If {near} is meant, write '{near}' or t.limit_denominator(24).",
            stacklevel=3,
        )
    return t


def affine_map(A: ArrayLike, t: Sequence[Fraction | float]) -> SignedPermutation | Affine:
    """`affine` of shifts that are meant as they are."""
    matrix = finite_square(A, "affine")
    if np.abs(matrix).max(initial=0.0) > _LARGEST_ENTRY:
        raise ValueError(
            f"affine needs entries up to 2^53, which floating-point numbers count exactly; got "
            f"{np.abs(matrix).max():.3g}. Give the lattice a shorter basis"
        )
    integers = np.rint(matrix).astype(np.int64)
    if np.abs(matrix - integers).max(initial=0.0) > 0:
        raise ValueError(
            "affine needs an integer matrix (a torus has no other linear maps); the largest distance from an "
            f"integer is {np.abs(matrix - integers).max():.2g}"
        )
    determinant = _determinant(integers)
    if abs(determinant) != 1:
        raise ValueError(f"affine needs an invertible integer matrix, of determinant ±1; got {determinant}")
    exact = tuple(map(_wrapped, t))
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


def _determinant(A: NDArray[np.int64]) -> int:
    """The exact determinant: rounded where floating-point numbers err by less than 1/2, by fractions elsewhere."""
    largest = np.linalg.norm(A, axis=1)  # their product bounds the determinant, and by eps times d its rounding error
    if float(np.log2(np.maximum(largest, 1.0)).sum()) < 40 or np.abs(A).max(initial=0) <= 1:
        return round(float(np.linalg.det(A.astype(float))))
    return int(_exact(A).det())


def _exact_terms(A: NDArray[np.int64], X: Array) -> tuple[Array, Array]:
    """The products A_ij x_j, and what their rounding loses: together exact (Dekker's product)."""  # (..., d, d), twice
    a, x = A.astype(float), X[..., None, :]
    high_a, high_x = _leading_bits(a), _leading_bits(x)
    low_a, low_x = a - high_a, x - high_x
    product = a * x
    return product, ((high_a * high_x - product) + high_a * low_x + low_a * high_x) + low_a * low_x


def _leading_bits(x: Array) -> Array:
    """The first 26 of the 53 bits of each number (Veltkamp)."""
    scaled = 134217729.0 * x  # 2^27 + 1
    return scaled - (scaled - x)


def exact_inverse(A: NDArray[np.int64]) -> NDArray[np.int64]:
    """The exact inverse of a matrix of determinant ±1."""
    inverse = np.rint(np.linalg.inv(A))
    if np.abs(inverse).max() <= _LARGEST_ENTRY:
        integers = inverse.astype(np.int64)
        if np.array_equal(_product(A, integers), np.eye(len(A))):
            return integers
    return np.array(_exact(A).inv().to_Matrix().tolist(), dtype=np.int64)


def _exact(A: NDArray[np.int64]) -> Any:
    """The same matrix of rational numbers."""
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    return DomainMatrix([[QQ(int(a)) for a in row] for row in A], A.shape, QQ)


def _product(A: NDArray[np.int64], B: NDArray[np.int64]) -> NDArray[np.int64]:
    """A B; in Python's integers where those of 64 bits could overflow."""
    if len(A) * float(np.abs(A).max()) * float(np.abs(B).max()) < _LARGEST_ENTRY:
        return A @ B
    exact = A.astype(object) @ B.astype(object)
    if max(abs(entry) for entry in exact.ravel()) > _LARGEST_ENTRY:
        raise ValueError("a product of integer matrices has entries above 2^53: they do not generate a finite group")
    return exact.astype(np.int64)


def _integer_product(A: NDArray[np.int64], t: Sequence[Fraction | float]) -> list[Fraction | float]:
    return [sum((int(a) * s for a, s in zip(row, t, strict=True) if a), start=Fraction(0)) for row in A]


def period_fraction(t: Any, unit: str = "periods") -> Fraction | float:
    """A number of periods, or of another unit: a `Fraction` for exact kinds and for "1/3", else a finite float."""
    if isinstance(t, Rational | np.integer):
        return Fraction(int(t) if isinstance(t, np.integer) else t)
    if isinstance(t, str):
        try:
            return Fraction(t)
        except (ValueError, ZeroDivisionError):
            pass
    elif (isinstance(t, Real) or getattr(t, "is_real", None) is True) and np.isfinite(float(t)):  # or one of sympy
        return float(t)
    if unit == "periods":
        accepted = "int, Fraction, float, or a text such as '1/3'"
    else:
        accepted = (
            f"int, Fraction, float, sympy's {'2*pi/3' if unit == 'radians' else 'numbers'}, or a text such as '2.5' "
            "without names or units; a third of a period is shift(degrees=[120, ...]), "
            "shift(radians=[2 * np.pi / 3, ...]) or shift(['1/3', ...])"
        )
    raise ValueError(f"a shift is a finite number of {unit} ({accepted}); got {t!r}")


def period_text(t: Fraction | float) -> str:
    """A number of periods as Python reads it back: `1`, `'1/3'`, `0.25`."""
    if isinstance(t, Fraction):
        return str(t.numerator) if t.denominator == 1 else f"'{t}'"
    return repr(float(t))


def _wrapped(t: Fraction | float) -> Fraction | float:
    if isinstance(t, Fraction):
        return t % 1
    wrapped = t % 1.0
    return Fraction(0) if wrapped in (0.0, 1.0) else wrapped


def _from_degrees(angle: Fraction | float | str) -> Fraction | float:
    exact = period_fraction(angle, "degrees")
    if isinstance(exact, Fraction):
        return exact / 360
    written = Fraction(repr(exact)) / 360  # 22.5 is meant as written, and 360 / 7 is a seventh
    return written if written.denominator <= _FINEST else _fraction_of_a_turn(written)


def _from_radians(angle: Any) -> Fraction | float:
    return _fraction_of_a_turn(float(period_fraction(angle, "radians")) / (2 * np.pi))


def _fraction_of_a_turn(t: Fraction | float) -> Fraction | float:
    """The fraction of whole degrees, or with a smaller denominator, that `t` is to rounding; otherwise `t`."""
    near = Fraction(t).limit_denominator(_LARGEST_DENOMINATOR)
    return near if abs(t - near) <= 4e-16 * max(1.0, abs(t)) else t
