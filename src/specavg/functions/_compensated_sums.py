"""Compensated sums of arrays: what rounding loses is summed beside them (Neumaier's summation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from specavg._arrays import Array


@final
@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of arrays, and beside it the sum of all rounding errors.

    Adding the same terms in another order changes the `value` in its last bit at most. So chunks, threads and machines
    agree.

    Attributes
    ----------
    total : ndarray
        The sum, rounded at each addition.
    lost : ndarray of the same shape
        What these roundings have lost together.
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
    """The rounded sum a + b, and its rounding error: exact, by Knuth's formula, whichever of a and b is larger."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def compensated_sum(terms: Iterable[Array], shape: tuple[int, ...]) -> Array:
    """The sum of arrays of one shape, zeros if there are none. Its error does not grow with the number of terms."""
    return compensated_sums(((term,) for term in terms), (shape,))[0]


def compensated_sums(terms: Iterable[tuple[Array, ...]], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Several compensated sums at once.

    Parameters
    ----------
    terms : iterable of tuples of ndarrays
        Each tuple has one term of every sum.
    shapes : sequence of tuples of int
        The shapes of the sums, for sums without terms.
    """
    totals: list[Array] | None = None
    lost: list[Array] | None = None  # a single term has no rounding error, and needs no memory for it
    for term in terms:
        if totals is None:
            totals = list(term)
            continue
        totals, errors = map(list, zip(*map(_two_sum, totals, term), strict=True))
        lost = errors if lost is None else [a + b for a, b in zip(lost, errors, strict=True)]
    if totals is None:
        return [np.zeros(shape) for shape in shapes]
    return totals if lost is None else [a + b for a, b in zip(totals, lost, strict=True)]
