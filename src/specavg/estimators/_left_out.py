"""Leave-one-out log densities at some rows of the data, and their comparison with those of another density there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

# Of log densities of two forms at one row: 0.05 to 0.5 in 32 fits of synthetic data. A form has to be better than
# another, which is the rule, by the standard error of a mean of such differences. With the spread that the rows have
# themselves 60 sharp rows were refused kernels that are better by 0.1 nats, and 300 uniform ones were given some.
_SPREAD = 0.5
_FAR = 4.0  # standard errors that the mean over some rows is not away from that over all, but once in 30,000 times


@final
@dataclass(frozen=True, eq=False)
class LeftOut:
    """What a density says of rows that are left out: of all of them, or of many of some that were taken at random.

    Means over other rows differ by more than two good densities do, so that densities are compared on the same rows.

    Attributes
    ----------
    rows : ndarray of shape (m,)
    shares : ndarray of shape (m,)
        Weights of the rows; they sum to one.
    logs : ndarray of shape (m,)
        The leave-one-out log density at each.
    count : int
        Rows of the data.
    """

    rows: NDArray[np.intp]
    shares: Array
    logs: Array
    count: int

    @property
    def mean(self) -> float:
        """Over these rows."""
        return float(self.shares @ self.logs)

    @property
    def least(self) -> float:
        """A mean over all rows below which another density is worse, whatever rows were taken."""
        if len(self.rows) == self.count:
            return self.mean - self._margin
        spread = float(np.sqrt(self.shares @ (self.logs - self.mean) ** 2))
        return self.mean - self._margin * max(_FAR * spread / _SPREAD, 1.0)

    def is_better_than(self, others: Array) -> bool:
        """Whether these are clearly larger than those of another density, which is given at all rows."""
        return float(self.shares @ (self.logs - others[self.rows])) > self._margin

    def mean_over_all(self, others: Array, weights: Array) -> float:
        """The mean over all rows, as far as another density tells it.

        Where that one is larger at these rows than at all of them, this one is too, by the slope of a line through the
        values of the two: something from 0 to 1, since both are densities of the same data.
        """
        there = others[self.rows] - self.shares @ others[self.rows]
        slope = float(self.shares @ (there * self.logs)) / max(float(self.shares @ there**2), 1e-300)
        missed = float(weights @ others / weights.sum() - self.shares @ others[self.rows])
        return self.mean + min(max(slope, 0.0), 1.0) * missed

    @property
    def _margin(self) -> float:
        return _SPREAD * float(np.linalg.norm(self.shares))  # of n equal shares 1/√n
