"""The first waves of a lattice, and the exponential of their sum.

The shortest vectors v of the dual lattice that span the space are permuted by every isometry. So is the kernel
exp(κ Σ cos 2πv·(x − y)/λ_v), which is the product of von Mises kernels on a box. Its series has positive terms only: it
is computed by convolutions, one wave at a time, to full precision however small its coefficients are.

Waves of different length that are not orthogonal have the geometric mean of their λ_v instead, so that all waves of one
part of a lattice count alike. On oblique lattices of the plane, 18 draws of 60 points of wells and poles made of waves,
errors are 0.75 of those with a λ_v for each. Wells that are round are better met by the heat kernel in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components
from specavg.functions._bessel_series import Series, log_bessel
from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._frequency_sets import FrequencyRange

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus

Frequencies = NDArray[np.int64]
_STEPS = 2  # largest multiple of a vector of a reduced basis that a shortest vector has in three dimensions
_SAME = 1e-7  # relative difference of lengths that are one: far above rounding, far below true differences
# Coefficients below this part of the largest are replaced by it, so that they have logarithms. It is about the square
# root of the smallest number with all digits, so that products of two coefficients have all digits too.
_SMALLEST = 1e-150


@final
@dataclass(frozen=True, eq=False)
class FirstWaves:
    """The first waves, one of each pair ±v.

    Attributes
    ----------
    basis : ndarray of int, shape (d, d)
        As many as there are dimensions, which every frequency is an integer combination of.
    others : ndarray of int, shape (p, d)
        The rest, as combinations of `basis`.
    units : ndarray of shape (d + p,)
        What κ is divided by, for both: λ_v, or its geometric mean over waves that are not orthogonal.
    inverse : ndarray of int, shape (d, d)
        Of `basis`.
    """

    basis: Frequencies
    others: Frequencies
    units: Array
    inverse: Frequencies

    def coordinates(self, K: Frequencies) -> Frequencies:
        """Frequencies as combinations of `basis`."""  # (n, d) -> (n, d)
        return K @ self.inverse

    def sizes_of_types(self, K: Frequencies, dual_metric: Array) -> Array:
        """Σ|k·v|^(5/2) over the first waves: a number that is the same for all k that isometries exchange.

        The power is no integer, so that other k of one eigenvalue differ in it. Where they do not, by chance, they
        count as one type.
        """  # (n, d) -> (n,)
        waves = np.concatenate([np.eye(len(self.basis), dtype=np.int64), self.others]) @ self.basis
        return (np.abs(K @ (dual_metric @ waves.T)) ** 2.5).sum(axis=1)

    def log_coefficients(self, K: Frequencies, kappa: float) -> Array:
        """Log of the coefficients of exp(κ Σ cos 2πv·x/λ_v) at frequencies, relative to that of the constant."""
        M, d = self.coordinates(K), K.shape[1]
        sharpness, reach = kappa / self.units, np.abs(M).max(axis=0, initial=0)
        joined = self.others.any(axis=0)  # coordinates that further waves join: the others are factors
        logs = np.zeros(len(K))
        for i in np.flatnonzero(~joined):
            logs += log_bessel(0.0, int(reach[i]) + 1, float(sharpness[i]))[np.abs(M[:, i])]
        if not joined.any():
            return logs
        # Sums that leave the grid and come back are lost: steps that far are beyond three standard deviations.
        sides = reach + 8 + np.ceil(3 * np.sqrt(sharpness.max())).astype(int)
        grid, axes = np.ones(()), list[int]()
        *earlier, last = zip(self.others, sharpness[d:].tolist(), strict=True)
        for v, s in earlier:
            grid = _with_axes(grid, axes, np.flatnonzero(v), sides, sharpness)  # small while it can be
            grid = _Lines.along(v[axes], s).convolved(grid)
        grid = _with_axes(grid, axes, np.flatnonzero(joined), sides, sharpness)
        places = np.concatenate([M, np.zeros_like(M[:1])]) + sides  # the last is the constant
        values = _Lines.along(last[0][axes], last[1]).convolved_at(grid, places[:, axes])
        return logs + np.log(np.maximum(values[:-1] / values[-1], _SMALLEST))


def _with_axes(grid: Array, axes: list[int], wanted: NDArray[np.intp], sides: Frequencies, sharpness: Array) -> Array:
    """The grid times the series of the coordinates that are `wanted` and not yet in `axes`, which they join."""
    for i in wanted.tolist():
        if i not in axes:
            grid = np.multiply.outer(grid, _both_sides(int(sides[i]), float(sharpness[i])))
            axes.append(i)
    return grid


def _both_sides(reach: int, sharpness: float) -> Array:
    """The series of exp(s cos θ) from −`reach` to `reach`, beside its constant."""  # (2 reach + 1,)
    half = _without_smallest(np.exp(log_bessel(0.0, reach + 1, sharpness)))
    return np.concatenate([half[:0:-1], half])


def _without_smallest(values: Array) -> Array:
    """The values, with zero for those below `_SMALLEST`: arithmetic with subnormal numbers takes long."""
    return np.where(values < _SMALLEST, 0.0, values)


@final
@dataclass(frozen=True)
class _Lines:
    """The lines of a grid in the direction of a wave v, along which its series exp(s cos 2πv·x) is convolved.

    Along `axis` every line has a point at each step; the other coordinates move by `steps`.
    """

    axis: int
    steps: Frequencies
    sharpness: float

    @classmethod
    def along(cls, v: Frequencies, sharpness: float) -> _Lines:
        axis = int(np.flatnonzero(np.abs(v) == 1)[0])
        return cls(axis, np.delete(v, axis) * v[axis], sharpness)

    def _starts(self, length: int) -> Frequencies:
        """Where each row is put so that lines become columns: row i is moved by −i steps."""  # (length, d − 1)
        starts = np.multiply.outer(-np.arange(length), self.steps)
        return starts - starts.min(axis=0, initial=0)

    def _sheared(self, grid: Array) -> tuple[Array, Array]:
        """The matrix of the convolution of a line, and the grid with lines as columns."""
        rows = np.moveaxis(grid, self.axis, 0)
        starts = self._starts(len(rows))
        sheared = np.zeros((len(rows), *(starts.max(axis=0, initial=0) + rows.shape[1:])))
        for i, place in enumerate(_boxes(starts, rows.shape[1:])):
            sheared[i][place] = rows[i]
        weights = _both_sides(len(rows) - 1, self.sharpness)
        return np.lib.stride_tricks.sliding_window_view(weights, len(rows))[::-1], sheared

    def convolved(self, grid: Array) -> Array:
        """The series on the grid times that of the wave, up to a factor."""
        toeplitz, sheared = self._sheared(grid)
        found = (toeplitz @ sheared.reshape(len(sheared), -1)).reshape(sheared.shape)
        shape = np.delete(grid.shape, self.axis)
        rows = [found[i][place] for i, place in enumerate(_boxes(self._starts(len(found)), shape))]
        return _without_smallest(np.moveaxis(np.stack(rows), 0, self.axis))

    def convolved_at(self, grid: Array, places: Frequencies) -> Array:
        """The same at some places of the grid only."""  # (n, d) -> (n,)
        toeplitz, sheared = self._sheared(grid)
        row = places[:, self.axis]
        column = np.delete(places, self.axis, axis=1) + self._starts(len(sheared))[row]
        return np.einsum("nj,jn->n", toeplitz[row], sheared[(slice(None), *column.T)])


def _boxes(starts: Frequencies, shape: Sequence[int] | NDArray[np.intp]) -> list[tuple[slice, ...]]:
    return [tuple(slice(s, s + n) for s, n in zip(start, shape, strict=True)) for start in starts.tolist()]


def first_waves(dual_metric: Array) -> FirstWaves:
    """The first waves of a lattice whose reduced basis has the eigenvalue kᵀWk at the frequency k.

    Examples
    --------
    >>> hexagonal = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> waves = first_waves(hexagonal)
    >>> waves.basis.tolist(), waves.others.tolist(), waves.units.round(9).tolist()
    ([[0, 1], [1, -1]], [[1, 1]], [2.0, 2.0, 2.0])
    """
    d = len(dual_metric)
    steps = np.array([k for k in product(range(-_STEPS, _STEPS + 1), repeat=d) if k > (0,) * d])
    lengths = np.einsum("ki,ij,kj->k", steps, dual_metric, steps)
    order = np.argsort(lengths, kind="stable")
    steps, lengths = steps[order], lengths[order]
    chosen: list[int] = []
    start = 0
    while len(chosen) == 0 or np.linalg.matrix_rank(steps[chosen]) < d:
        end = int(np.searchsorted(lengths, lengths[start] * (1 + _SAME), side="right"))
        rank = np.linalg.matrix_rank(steps[chosen]) if chosen else 0
        chosen += [i for i in range(start, end) if np.linalg.matrix_rank(steps[[*chosen, i]]) > rank]
        start = end
    for places in combinations(chosen, d):
        basis = steps[list(places)]
        if abs(round(float(np.linalg.det(basis)))) == 1:
            inverse = np.rint(np.linalg.inv(basis)).astype(np.int64)
            rest = [i for i in chosen if i not in places]
            units = _means_of_parts(steps[chosen] @ dual_metric @ steps[chosen].T)
            by_place = dict(zip(chosen, units, strict=True))
            return FirstWaves(basis, steps[rest] @ inverse, np.array([by_place[i] for i in (*places, *rest)]), inverse)
    raise AssertionError("the shortest independent vectors of a lattice of up to three dimensions are a basis")


def _means_of_parts(products: Array) -> Array:
    """The geometric mean of the diagonal over vectors that are joined by inner products other than zero."""
    lengths = np.diag(products)
    joined = np.abs(products) > _SAME * np.sqrt(np.multiply.outer(lengths, lengths))
    part = components(len(products), *np.nonzero(joined))
    return np.exp(np.bincount(part, np.log(lengths)) / np.bincount(part))[part]


def _means_of_logarithms(logs: Array, sizes: Sequence[int] | NDArray[np.intp]) -> Array:
    """Logarithms of the means of consecutive e^logs, so many at a time."""
    starts = np.cumsum([0, *sizes[:-1]])
    top = np.maximum.reduceat(logs, starts)
    sums = np.add.reduceat(np.exp(logs - np.repeat(top, sizes)), starts)
    return top + np.log(sums / np.asarray(sizes))


def lattice_series(space: Torus, waves: FirstWaves, eigenspaces: Sequence[Eigenspace]) -> Series:
    """The series of a torus whose coordinates are not alike.

    All functions of one type share a coefficient. Where types of an eigenvalue are not apart they have their mean.
    """

    @cache  # listed when a coefficient is first asked for: most bases need none, and it takes as long as the basis
    def frequencies() -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        K, counts = space.frequencies_together(eigenspaces)
        # One of each type; those of other sets may be of several types.
        one_type = [isinstance(V.label, FrequencyRange) and V.label.is_one_type for V in eigenspaces]
        sizes = np.where(one_type, 1, counts)
        chosen = np.arange(len(K)) - np.repeat(np.cumsum(counts) - counts, counts) < np.repeat(sizes, counts)
        return space.cell.short_frequencies(K[chosen]), sizes

    def logarithms(kappa: float) -> Array:
        K, sizes = frequencies()
        return _means_of_logarithms(waves.log_coefficients(K, kappa), sizes)

    return logarithms
