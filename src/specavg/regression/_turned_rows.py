"""Vectors that were observed at points of one orbit, where the functions tell it: ΦᵀΦ is the same there.

With Φ(x) the values of all functions at x, a row for each output, Φ(gx) = ρ(g)Φ(x): the values at two points of an
orbit differ by an orthogonal matrix, the polar factor of Φ(gx)Φ(x)ᵀ. Outputs that no function has at x are left open.
Whatever the group is, points that differ by an orthogonal matrix are one point to every fit of these functions. The
derivatives of invariant functions, a row for each direction, differ in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.regression._feature_path import orbits
from specavg.regression._repeated_rows import Averaged, Repeats, averaged
from specavg.regression._target_units import Units

Indices = NDArray[np.intp]

# Of the largest value: by how much values at points of one orbit may differ. Those of points that were turned in
# floating-point numbers differ by some 1e-14, derivatives by 1e-13, and points at random by 1e-2 and more.
_ONE_ORBIT = 1e-8


@final
@dataclass(frozen=True, eq=False)
class TurnedRows:
    """Rows of which some were made one.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        Those that are left, one of each set.
    targets, weights : ndarrays of shape (m, p), (m,)
        The mean of the targets of each set, turned to its row, and the sum of the weights.
    lost : Averaged
        What the mean lost.
    """

    rows: Indices
    targets: Array
    weights: Array
    lost: Averaged

    @classmethod
    def of(cls, seen: Array, targets: Array, weights: Array, *, copies_only: bool = False) -> TurnedRows:
        """From all rows.

        A row that an orthogonal matrix takes to another with its target is a copy of that observation. Other rows on
        one orbit are observations of their own, which differ by noise.

        Parameters
        ----------
        seen : ndarray of shape (n, p, k)
            More than p random combinations of the functions at each point, each of mean square one.
        targets : ndarray of shape (n, p)
        weights : ndarray of shape (n,)
        copies_only : bool, default False
            Whether observations of their own stay rows of their own.
        """
        units = Units.without_shift(targets.reshape(-1, 1))
        first, _ = _turned(np.concatenate([seen, (targets / units.unit)[:, :, None]], axis=2), targets)
        kept, label = np.unique(first, return_inverse=True)
        own, total = weights[kept], np.asarray(np.bincount(label.reshape(-1), weights), dtype=np.float64)
        Y, place = targets[kept], np.arange(len(kept))
        if not copies_only:
            place, Y = _turned(seen[kept], Y)
        there, place = np.unique(place, return_inverse=True)
        means, total, lost = averaged(Y, place.reshape(-1), total)
        lost = replace(lost, rows=len(targets), repeats=Repeats.of(Y, place.reshape(-1), own))
        return cls(kept[there], means, total, lost)


def turned_to_first(values: Array, first: Indices, vectors: Array) -> tuple[Indices, Array]:
    """Which row each is turned to, and its vector turned along.

    Parameters
    ----------
    values : ndarray of shape (n, p, k)
        Of functions, or of their derivatives in p directions.
    first : ndarray of int, shape (n,)
        The row that each may be turned to. One that no orthogonal matrix takes there stays as it is: at points of
        different orbits few functions may be alike, and squares near their extremes.
    vectors : ndarray of shape (n, p)
    """
    first, vectors = first.copy(), vectors.copy()
    again = np.flatnonzero(first != np.arange(len(first)))
    U, _, Vt = np.linalg.svd(values[first[again]] @ values[again].swapaxes(1, 2))
    back = U @ Vt
    apart = np.abs(back @ values[again] - values[first[again]]).max(axis=(1, 2), initial=0.0)
    there = apart <= _ONE_ORBIT * max(values.max(initial=0.0), -values.min(initial=0.0))
    vectors[again[there]] = np.einsum("nij,nj->ni", back[there], vectors[again[there]])
    first[again[~there]] = again[~there]
    return first, vectors


def _turned(values: Array, vectors: Array) -> tuple[Indices, Array]:
    """`turned_to_first` with the first row that has the same ΦᵀΦ."""
    k = values.shape[2]
    mixed = values @ (np.random.default_rng(OWN_SEED).normal(size=(k, k)) / k**0.5)
    found, label = orbits(np.einsum("npk,npk->nk", mixed, mixed))
    return turned_to_first(values, found[label], vectors)
