"""What repeated observations tell: rows on one orbit differ by noise alone, whatever the function is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._target_units import Units

_EQUAL = 1e-12  # part of the largest target by which copies of one number may differ: some hundred roundings


@final
@dataclass(frozen=True, eq=False)
class Repeats:
    """Differences of observations on one orbit from their mean.

    Attributes
    ----------
    differences : ndarray of shape (m, q)
        Times √w.
    freedom : int
        How many of them are free: observations less orbits.
    """

    differences: Array
    freedom: int

    @classmethod
    def of(cls, targets: Array, label: NDArray[np.intp], weights: Array) -> Repeats:
        """From all rows; `label` is the number of the orbit of each.

        Equal targets on one orbit count once: they are copies of one observation, as in a bootstrap sample or in data
        that were augmented by the group. Of counts and rounded numbers, which may be equal by chance, the noise that
        is left is about twice as large.
        """
        orbits = int(label.max(initial=-1)) + 1
        if orbits == len(label):
            return cls(np.zeros((0, targets.shape[1])), 0)
        kept = _without_copies(targets, label)
        y, at, w = targets[kept], label[kept], weights[kept]
        return cls(np.sqrt(w)[:, None] * (y - _means(y, at, w)[0][at]), len(y) - orbits)

    def combined(self, weights: Array) -> Repeats:
        """Of combinations of the outputs."""  # (q, r)
        return replace(self, differences=self.differences @ weights)

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(np.concatenate([self.differences, other.differences]), self.freedom + other.freedom)

    @cached_property
    def squares(self) -> Array:
        """The sum of squares of each output: every spectrum asks for it."""  # (q,)
        return np.sum(self.differences**2, axis=0)


@final
@dataclass(frozen=True, eq=False)
class Averaged:
    """What was lost when rows at one point were averaged.

    Attributes
    ----------
    rows : int
        There were before.
    within : ndarray of shape (rows, q)
        Each row less the mean of its point, times √w.
    repeats : Repeats
        Those of them that are observations of their own.
    units : Units
        Of the targets of all rows: means may be equal where rows are not.
    """

    rows: int
    within: Array
    repeats: Repeats
    units: Units

    def copies(self, points: int) -> float:
        """How many times as many rows there were as are observations of their own; `points` are left."""
        return self.rows / (points + self.repeats.freedom)

    def then(self, later: Averaged) -> Averaged:
        """With what was lost when the means were averaged again."""
        within = np.concatenate([self.within, later.within])
        return Averaged(self.rows, within, self.repeats + later.repeats, self.units)

    def over(self, unit: Array) -> Averaged:
        """Of targets that were divided by `unit`."""  # (q,) or (1,)
        repeats = replace(self.repeats, differences=self.repeats.differences / unit)
        return Averaged(self.rows, self.within / unit, repeats, Units(np.zeros(1), np.ones(1)))


def averaged(targets: Array, label: NDArray[np.intp], weights: Array) -> tuple[Array, Array, Averaged]:
    """The mean of each set of rows with one label, its weight, and what was lost."""  # (m, q), (m,)
    means, total = _means(targets, label, weights)
    within = np.sqrt(weights)[:, None] * (targets - means[label])
    return means, total, Averaged(len(label), within, Repeats.of(targets, label, weights), Units.of(targets))


def joined(
    quadratic: Array, logarithm: Array, alphas: Array, squares: Array | float, repeated: int
) -> tuple[Array, Array]:
    """What `minus_log_density` asks of rows, and of repeated observations beside them: their noise variance is ατ².

    Parameters
    ----------
    quadratic, logarithm : ndarray
        Of rows with the covariance τ²(K + αI).
    alphas : ndarray
    squares : ndarray or float
        Of the repeated observations, in the units of `quadratic`.
    repeated : int
        Their `freedom`.
    """
    return (quadratic + squares / alphas, logarithm + repeated * np.log(alphas)) if repeated else (quadratic, logarithm)


def _means(targets: Array, label: NDArray[np.intp], weights: Array) -> tuple[Array, Array]:
    """The mean of the rows of each label, and their weight.

    Sums are taken in units of the targets: the means of a constant are that constant, to the last bit.
    """  # (m, q), (m,)
    total = np.bincount(label, weights)
    share = weights / total[label]  # at most one: sums of the largest numbers stay numbers
    units = Units.of(targets)
    means = np.stack([np.bincount(label, share * z) for z in units.applied(targets).T], axis=1)
    return units.shift + units.unit * means, np.asarray(total, dtype=np.float64)


def _without_copies(targets: Array, label: NDArray[np.intp]) -> NDArray[np.intp]:
    """One row of each set of equal targets on one orbit."""
    near = _EQUAL * np.abs(targets).max(axis=0, initial=0.0)
    order = np.lexsort((*targets.T[::-1], label))
    with np.errstate(over="ignore"):  # the difference of the largest numbers is infinite: not equal
        equal = (np.abs(np.diff(targets[order], axis=0)) <= near).all(axis=1)
    return order[np.concatenate([[True], ~equal | (np.diff(label[order]) != 0)])]
