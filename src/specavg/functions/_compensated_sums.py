"""Sums of arrays that keep what rounding loses (Neumaier's summation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from specavg._arrays import Array


@final
@dataclass(frozen=True, eq=False)
class Sum:
    """An array that is a sum, with what rounding lost kept beside it.

    Adding many of them in any order gives the same `value` but for the last bit, so that chunks, threads and
    machines agree.

    Attributes
    ----------
    total : ndarray
        The sum as floating point gives it.
    lost : ndarray of the same shape
        What was rounded away on the way.
    """

    total: Array
    lost: Array

    @classmethod
    def of(cls, total: Array) -> Sum:
        """A sum of one term."""
        return cls(total, np.zeros_like(total))

    @property
    def value(self) -> Array:
        """The sum, rounded once."""
        return self.total + self.lost

    def __getitem__(self, key: Any) -> Sum:
        return Sum(self.total[key], self.lost[key])

    def __mul__(self, factor: Any) -> Sum:
        return Sum(self.total * factor, self.lost * factor)

    def __add__(self, other: Sum) -> Sum:
        if self.total.shape != other.total.shape:
            raise ValueError(
                f"sums of shapes {self.total.shape} and {other.total.shape} do not add: they are of different things"
            )
        total, error = _two_sum(self.total, other.total)
        return Sum(total, self.lost + other.lost + error)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum and what its rounding loses: Knuth's formula, exact whichever of the two is larger."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def compensated_sum(parts: Iterable[Array], shape: tuple[int, ...]) -> Array:
    """The sum of arrays of one shape: the error does not grow with the number of parts."""
    return compensated_sums(((part,) for part in parts), (shape,))[0]


def compensated_sums(parts: Iterable[tuple[Array, ...]], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Compensated sums of several arrays at once; each part is a tuple with one term of every sum."""
    totals: list[Array] | None = None
    lost: list[Array] | None = None  # a single part loses nothing, and takes no more memory
    for part in parts:
        if totals is None:
            totals = list(part)
            continue
        totals, errors = map(list, zip(*map(_two_sum, totals, part), strict=True))
        lost = errors if lost is None else [a + b for a, b in zip(lost, errors, strict=True)]
    if totals is None:
        return [np.zeros(shape) for shape in shapes]
    return totals if lost is None else [a + b for a, b in zip(totals, lost, strict=True)]
