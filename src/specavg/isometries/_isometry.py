"""What every isometry is: a small immutable object that acts, composes, inverts and compares."""

from __future__ import annotations

import abc
import operator
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._immutable import Immutable
from specavg._messages import shown


class Isometry(Immutable, abc.ABC):
    """A map of a space to itself that keeps distances.

    ``g(X)`` acts on points where no space is needed to know what it does, ``g @ h`` is "h first, then g",
    ``g.inverse()`` undoes it. Equality and hashes are by value.

    Examples
    --------
    >>> from specavg import isometries
    >>> g, h = isometries.permutation([1, 2, 0]), isometries.signed_permutation([0, 1, 2], [1, 1, -1])
    >>> (g @ h)([1.0, 2.0, 3.0]), g(h([1.0, 2.0, 3.0]))
    (array([ 2., -3.,  1.]), array([ 2., -3.,  1.]))
    >>> g @ g.inverse() == isometries.identity(3)
    True
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

    def _before(self, other: Isometry) -> Isometry | None:
        """``other ∘ self`` for a simpler kind, which does not know `self`; else None."""
        return None

    def __matmul__(self, other: Isometry) -> Isometry:
        if self.size != other.size:
            raise ValueError(f"cannot compose {self!r} with {other!r}: they act on {self.size} and {other.size} parts")
        if self.is_identity:
            return other
        if other.is_identity:
            return self
        composed = self._after(other)
        if composed is None:
            composed = other._before(self)
        if composed is None:
            raise TypeError(f"cannot compose {self!r} with {other!r}: they are maps of different spaces")
        return composed

    def __pow__(self, exponent: int) -> Isometry:
        """The map applied `exponent` times, by squaring; of a negative exponent, its inverse applied so often."""
        exponent = operator.index(exponent)
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent == 0:
            return self @ self.inverse()
        if exponent == 1:
            return self
        half = self ** (exponent // 2)
        return half @ half @ self if exponent % 2 else half @ half

    def __call__(self, X: ArrayLike) -> Array:
        raise TypeError(f"{self!r} cannot act on bare points: what it does depends on the space. Use space.act(g, X).")

    @property
    def is_identity(self) -> bool:
        """Whether the map moves nothing (exactly)."""
        return False

    @property
    def is_exact(self) -> bool:
        """Whether the map is stored without rounding."""
        return True


class OfAMatrix(Immutable):
    """Shared by isometries and fields that are given by a square matrix, which nobody can write to."""

    matrix: NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", read_only(self.matrix + 0))  # a copy, and no -0.0

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (self.matrix.shape, self.matrix.tobytes())

    @property
    def size(self) -> int:
        """How many coordinates the matrix moves."""
        return len(self.matrix)


def checked_points(g: Isometry, X: ArrayLike) -> Array:
    """`X` as float64 with one column per coordinate that `g` acts on, or an error."""
    points = np.asarray(X, dtype=float)
    if points.ndim == 0 or points.shape[-1] != g.size:
        raise ValueError(f"{g!r} acts on points with {g.size} coordinates; got an array of shape {points.shape}")
    return points


def entries(given: Any, what: str, example: str) -> tuple[Any, ...]:
    """The entries of a sequence, or an error that names `what` they are and shows how it is written."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{what}: write a list, as in {example}; got {shown(given)}")
    return tuple(given)


def refuse_complex(matrix: Any, what: str) -> None:
    """An error if `matrix`, dense or sparse, is complex: cast to real it would be another map."""
    if np.iscomplexobj(matrix):
        raise ValueError(
            f"{what} is a complex matrix, and the groups here act on real coordinates: A + iB on z = x + iy is "
            "the real matrix [[A, -B], [B, A]] on (x, y)"
        )


def finite_square(matrix: ArrayLike, what: str) -> Array:
    """A finite square matrix as float64, or an error; `what` needs it."""
    refuse_complex(matrix, f"what {what} was given")
    try:
        array = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what} needs a square matrix of numbers; got {shown(matrix)}") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{what} needs a square matrix; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} needs finite entries; the matrix has NaN or infinity")
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """`array`, which nobody can write to any more."""
    array.setflags(write=False)
    return array
