"""Fields of tori: shifts at a constant velocity, exact where it is rational."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, cast, final

import numpy as np

from specavg._arrays import Array
from specavg.isometries._affine import affine_map, as_affine, period_fraction, period_text
from specavg.isometries._isometry import Isometry, entries
from specavg.isometries.fields._field import Field, Scalar


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
    def vector(self) -> Array:
        return np.array([float(v) for v in self.velocity])

    def flow(self, t: Scalar) -> Isometry:
        t = Fraction(t) if isinstance(t, Rational) else float(t)
        return affine_map(np.eye(self.size, dtype=np.int64), [v * t for v in self.velocity])

    def circles(self) -> Iterator[tuple[float, Field]]:
        for i, v in enumerate(self.velocity):
            if v:
                axis = [1 / (2 * np.pi) if j == i else Fraction(0) for j in range(self.size)]
                yield 2 * np.pi * float(v), ShiftField(tuple(axis))

    def moved(self, g: Isometry) -> Field:
        matrix = as_affine(g).matrix.tolist()
        return ShiftField(
            tuple(sum((a * v for a, v in zip(row, self.velocity, strict=True) if a), Fraction(0)) for row in matrix)
        )

    def combined(self, other: Field, entry: Callable[[Any, Any], Any]) -> ShiftField:
        velocities = zip(self.velocity, cast(ShiftField, other).velocity, strict=True)
        return ShiftField(tuple(entry(a, b) for a, b in velocities))

    def bracket_of_same_kind(self, other: Field) -> ShiftField:
        return ShiftField((Fraction(0),) * self.size)

    def __repr__(self) -> str:
        return f"shift([{', '.join(period_text(v) for v in self.velocity)}])"


def shift(v: Sequence[Scalar | str]) -> ShiftField:
    """The field dx/dt = v on a torus, `v` in periods; `int`, `Fraction` and strings such as "1/3" stay exact.

    Examples
    --------
    >>> shift([1, 2]).flow(Fraction(1, 3))
    shift(['1/3', '2/3'])
    """
    velocity = entries(v, "a velocity has a number for each coordinate", "fields.shift([1, 0])")
    if not velocity:
        raise ValueError(
            "a velocity has a number for each coordinate, and this one has none: write fields.shift([1, 0])"
        )
    return ShiftField(tuple(period_fraction(entry) for entry in velocity))
