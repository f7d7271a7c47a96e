"""Vectors that were observed at points of one orbit, where the functions tell it: ΦᵀΦ is the same there.

With Φ(x) the values of all functions at x, a row for each output, Φ(gx) = ρ(g)Φ(x): the values at two points of an
orbit differ by an orthogonal matrix, the polar factor of Φ(gx)Φ(x)ᵀ. Outputs that no function has at x are left open.
Whatever the group is, points that differ by an orthogonal matrix are one point to every fit of these functions.
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
# floating-point numbers differ by some 1e-14, and points at random by 1e-2 and more.
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
        first, _ = _turned(np.concatenate([seen, (targets / units.unit)[:, :, None]], axis=2))
        kept, label = np.unique(first, return_inverse=True)
        own, total = weights[kept], np.asarray(np.bincount(label.reshape(-1), weights), dtype=np.float64)
        Y, place = targets[kept], np.arange(len(kept))
        if not copies_only:
            place, back = _turned(seen[kept])
            Y = np.einsum("nij,nj->ni", back, Y)
        there, place = np.unique(place, return_inverse=True)
        means, total, lost = averaged(Y, place.reshape(-1), total)
        lost = replace(lost, rows=len(targets), repeats=Repeats.of(Y, place.reshape(-1), own))
        return cls(kept[there], means, total, lost)


def _turned(values: Array) -> tuple[Indices, Array]:
    """For each row the first that an orthogonal matrix takes it to, and that matrix."""  # (n, p, k) -> (n,), (n, p, p)
    n, p, k = values.shape
    mixed = values @ (np.random.default_rng(OWN_SEED).normal(size=(k, k)) / k**0.5)
    found, label = orbits(np.einsum("npk,npk->nk", mixed, mixed))
    first, back = found[label], np.tile(np.eye(p), (n, 1, 1))
    again = np.flatnonzero(first != np.arange(n))
    U, _, Vt = np.linalg.svd(values[first[again]] @ values[again].swapaxes(1, 2))
    back[again] = U @ Vt
    apart = np.abs(back[again] @ values[again] - values[first[again]]).max(axis=(1, 2), initial=0.0)
    other = again[apart > _ONE_ORBIT * np.abs(values).max(initial=0.0)]  # squares differ by less near their extremes
    first[other], back[other] = other, np.eye(p)
    return first, back
