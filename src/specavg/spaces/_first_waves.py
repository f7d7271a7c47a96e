"""The first waves of a lattice, and the exponential of their sum.

The shortest vectors v of the dual lattice that span the space are permuted by every isometry. So is the kernel
exp(κ Σ cos 2πv·(x − y)/λ_v), which is the product of von Mises kernels on a box. Its series has positive terms only: it
is computed by convolutions, one wave at a time, to full precision however small its coefficients are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.spaces._bessel_ratios import log_bessel

__all__ = ["FirstWaves", "first_waves", "means_of_logarithms", "types_among"]

Frequencies = NDArray[np.int64]
_MOST_DIMENSIONS = 3  # up to here the shortest independent vectors of a lattice are a basis of it, and grids are small
_STEPS = 2  # largest multiple of a vector of a reduced basis that a shortest vector has in three dimensions
_SAME = 1e-7  # relative difference of lengths, and of sums of powers: far above rounding, far below true differences
_SMALLEST = 1e-300  # a coefficient below it, beside the largest, is taken for it: its logarithm has to be a number


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
    eigenvalues : ndarray of shape (d + p,)
        λ_v of both.
    inverse : ndarray of int, shape (d, d)
        Of `basis`.
    """

    basis: Frequencies
    others: Frequencies
    eigenvalues: Array
    inverse: Frequencies

    def coordinates(self, K: Frequencies) -> Frequencies:
        """Frequencies as combinations of `basis`."""  # (n, d) -> (n, d)
        return K @ self.inverse

    def log_coefficients(self, K: Frequencies, kappa: float) -> Array:
        """Log of the coefficients of exp(κ Σ cos 2πv·x/λ_v) at frequencies, relative to that of the constant."""
        M = np.abs(self.coordinates(K)) if not len(self.others) else self.coordinates(K)
        sharpness = kappa / self.eigenvalues
        d = K.shape[1]
        reach = np.abs(M).max(axis=0, initial=0)
        if not len(self.others):
            series = [log_bessel(0.0, int(n) + 1, float(s)) for n, s in zip(reach, sharpness, strict=True)]
            return np.sum([row[column] for row, column in zip(series, M.T, strict=True)], axis=0)
        # Sums that leave the grid and come back are lost: steps that far are beyond three standard deviations.
        sides = reach + 8 + np.ceil(3 * np.sqrt(sharpness.max())).astype(int)
        grid = np.ones((1,) * d)
        for axis, (n, s) in enumerate(zip(sides, sharpness, strict=False)):
            half = np.exp(log_bessel(0.0, int(n) + 1, float(s)))
            shape = [1] * d
            shape[axis] = -1
            grid = grid * np.concatenate([half[:0:-1], half]).reshape(shape)
        for v, s in zip(self.others, sharpness[d:], strict=True):
            grid = _convolved(grid, v, float(s))
        values = grid[tuple((M + sides).T)] / grid[tuple(sides)]
        return np.log(np.maximum(values, _SMALLEST))


def _convolved(grid: Array, v: Frequencies, sharpness: float) -> Array:
    """The series times that of exp(s cos 2πv·x), up to a factor."""
    shape = np.array(grid.shape)
    most = int(min((n - 1) // abs(step) for n, step in zip(shape, v, strict=True) if step))
    weights = np.exp(log_bessel(0.0, most + 1, sharpness))
    found = grid.copy()
    for m in range(1, most + 1):
        if weights[m] < _SMALLEST:
            break
        shift = m * v
        to = tuple(slice(max(0, s), n + min(0, s)) for s, n in zip(shift, shape, strict=True))
        back = tuple(slice(max(0, -s), n + min(0, -s)) for s, n in zip(shift, shape, strict=True))
        found[to] += weights[m] * grid[back]
        found[back] += weights[m] * grid[to]
    return found


def first_waves(dual_metric: Array) -> FirstWaves:
    """The first waves of a lattice whose reduced basis has the eigenvalue kᵀWk at the frequency k.

    Examples
    --------
    >>> hexagonal = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> waves = first_waves(hexagonal)
    >>> waves.basis.tolist(), waves.others.tolist(), waves.eigenvalues.tolist()
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
            return FirstWaves(basis, steps[rest] @ inverse, lengths[[*places, *rest]], inverse)
    raise AssertionError("the shortest independent vectors of a lattice of up to three dimensions are a basis")


def means_of_logarithms(logs: Array, sizes: Sequence[int]) -> Array:
    """Logarithms of the means of consecutive e^logs, so many at a time."""
    starts = np.cumsum([0, *sizes[:-1]])
    top = np.maximum.reduceat(logs, starts)
    sums = np.add.reduceat(np.exp(logs - np.repeat(top, sizes)), starts)
    return top + np.log(sums / np.asarray(sizes))


def types_among(waves: FirstWaves, dual_metric: Array, K: Frequencies) -> list[NDArray[np.intp]]:
    """Places of the frequencies of one eigenvalue, apart where no isometry maps one to the other.

    Σ|k·v|^(5/2) over the first waves v is the same for all that isometries exchange. Others differ in it, but for chance; where they
    do not, they count as one type.
    """
    stars = np.concatenate([np.eye(len(waves.basis), dtype=np.int64), waves.others]) @ waves.basis
    sums = (np.abs(K @ dual_metric @ stars.T) ** 2.5).sum(axis=1)
    order = np.argsort(sums, kind="stable")
    breaks = np.flatnonzero(np.diff(sums[order]) > _SAME * sums[order][1:]) + 1
    return [np.sort(part) for part in np.split(order, breaks)]
