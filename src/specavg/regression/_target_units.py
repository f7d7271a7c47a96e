"""Units of the targets: an offset and a size for each, so that sums of squares keep their digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array

_ORDINARY = (1e-75, 1e75)  # sizes whose fourth powers are numbers: nothing is divided, and sums are plain sums
_NO_SIZE = 2.0**-1000  # the unit of targets that are all the same: smaller than any other
_ROUNDING = 1e-14  # targets that vary by less than this part of their offset are constant


@final
@dataclass(frozen=True, eq=False)
class Units:
    """Targets are summed and fitted as (y − shift) / unit.

    Without a shift Σy² − (Σy)²/n loses all digits where the mean of y is 1e8 times its standard deviation, as total
    energies are. Without a unit the squares of targets near 1e-200 or 1e155 are no numbers.

    Attributes
    ----------
    shift : ndarray of shape (q,)
        The mean, rounded to a multiple of a power of two between four and eight standard deviations: zero for
        targets without an offset, and the same for chunks of the same data.
    unit : ndarray of shape (q,)
        A power of two; one for targets of ordinary size.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[3e7, 1.0], [3e7 + 1, -1.0]])
    >>> Units.of(y).shift, Units.of(y).unit
    (array([30000000.,        0.]), array([1., 1.]))
    """

    shift: Array
    unit: Array

    @classmethod
    def of(cls, Y: Array) -> Units:
        """The units of one data set, of shape (n, q)."""
        Y = np.asarray(Y, dtype=np.float64)  # units of targets in 32 bits are no numbers of 32 bits
        if not Y.size:
            return cls(np.zeros(Y.shape[1]), np.full(Y.shape[1], _NO_SIZE))
        least, most = Y.min(axis=0), Y.max(axis=0)
        size = _unit_of(np.maximum(np.abs(least), np.abs(most)))
        Z = Y if (size == 1).all() else Y / size
        mean = Z.mean(axis=0)
        Z = Z - mean
        rest = Z.mean(axis=0)  # what rounding left of it: targets may vary by no more than that
        variance = np.maximum(np.einsum("nj,nj->j", Z, Z) / len(Z) - rest**2, 0.0)
        step = _power_of_two(8.0 * np.sqrt(variance))
        offset = step * np.rint(mean / step)
        largest = np.finfo(float).max / np.maximum(size, 1.0)  # in units of `size`: what is farther away is no number
        far = np.maximum(np.maximum(most / size - offset, offset - least / size), np.abs(offset))
        shift = np.where(least < most, size * np.where(far < largest, offset, 0.0), least)
        return cls(shift, _unit_of(np.maximum(most - shift, shift - least)))

    @classmethod
    def without_shift(cls, Y: Array) -> Units:
        """The units of targets that no constant may be subtracted from, as those of vectors."""  # (n, q)
        return cls(np.zeros(Y.shape[1]), _unit_of(np.abs(Y).max(axis=0, initial=0.0).astype(np.float64)))

    def common(self, other: Units, *, keep: bool) -> Units:
        """Units for both data sets together, with the shift of this one if `keep`, else of the other."""
        shift = self.shift if keep else other.shift
        apart = _unit_of(np.abs(self.shift - other.shift))
        return Units(shift, np.maximum(np.maximum(self.unit, other.unit), apart))

    def applied(self, Y: Array) -> Array:
        """(Y − shift) / unit."""  # (n, q)
        shifted = Y - self.shift
        return shifted if (self.unit == 1).all() else np.divide(shifted, self.unit, out=shifted)

    def rounding(self, weight: float) -> Array:
        """Below this sum of squares, in squares of `unit`, a target varies by rounding only."""  # (q,)
        most = 1e150 * np.minimum(self.unit, 1e150)  # a quotient of 1e150, whose square is a number
        return weight * (np.minimum(_ROUNDING * np.abs(self.shift), most) / self.unit) ** 2


def size_of(values: Array) -> float:
    """The root of the mean square, also where squares are no numbers."""  # (n,)
    unit = float(Units.without_shift(values[:, None]).unit[0])
    return unit * float(np.sqrt(np.mean((values / unit) ** 2)))


def _power_of_two(size: Array) -> Array:
    """The power of two at or just below; one for zero."""
    return np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))))


def _unit_of(size: Array) -> Array:
    ordinary = (size >= _ORDINARY[0]) & (size <= _ORDINARY[1])
    return np.where(size == 0, _NO_SIZE, np.where(ordinary, 1.0, _power_of_two(size)))
