"""Geometries as distances of pairs of atoms, on a bounded scale, and derivatives back to positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

Indices = NDArray[np.intp]
_TOUCHING = 1e-6  # of the typical distance: closer atoms have no direction between them that means anything


def pairs_of(atoms: int) -> Indices:
    """All pairs i < j."""  # (m, 2)
    return np.array(list(combinations(range(atoms), 2)), dtype=np.intp).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distances of the pairs of atoms, and the directions in which they grow."""

    r: Array  # (n, m)
    direction: Array  # (3, n, m): of the first atom of the pair, seen from the second; one matrix product serves all n

    def forces_on_atoms(self, slope: Array) -> Array:
        """−Σ slope · ∂r/∂R."""  # (n, m) -> (n, N, 3)
        n, m = slope.shape
        ends = _ends(round((1 + (1 + 8 * m) ** 0.5) / 2))
        pulls = (slope * self.direction).reshape(3 * n, m) @ -ends.T
        return np.ascontiguousarray(pulls.reshape(3, n, -1).transpose(1, 2, 0))


def distances(R: Array, start: int = 0, lengths: Array | None = None) -> Pairs:
    """The distances of all pairs; atoms at the same place are refused.

    Parameters
    ----------
    R : ndarray of shape (n, N, 3)
    start : int
        The number of the first geometry.
    lengths : ndarray, optional
        Typical distances, for what is said of atoms at the same place; those of `R` by default.
    """
    n, N = R.shape[:2]
    apart = (R.transpose(2, 0, 1).reshape(3 * n, N) @ _ends(N)).reshape(3, n, -1)
    r = np.sqrt(apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2)
    if r.size and r.min() <= _TOUCHING * r.max():  # else none is close, and the median need not be known
        _refuse_touching(r, start, lengths)
    return Pairs(r, apart / r)


def _ends(atoms: int) -> Array:
    """What a pair takes of each atom: 1 of its first and −1 of its second."""  # (N, m)
    first, second = pairs_of(atoms).T
    ends, pair = np.zeros((atoms, len(first))), np.arange(len(first))
    ends[first, pair], ends[second, pair] = 1.0, -1.0
    return ends


def _refuse_touching(r: Array, start: int, lengths: Array | None) -> None:
    typical, (first, second) = np.median(r), pairs_of(round((1 + (1 + 8 * r.shape[1]) ** 0.5) / 2)).T
    close = np.argwhere(r <= _TOUCHING * typical)
    if len(close):
        geometry, pair = close[0]
        raise ValueError(
            f"atoms {first[pair]} and {second[pair]} of geometry {start + geometry} are at the same place (distance "
            f"{r[geometry, pair]:.3g}; typical distances are {typical if lengths is None else np.median(lengths):.3g})."
            f" Remove such geometries; there are {len(np.unique(close[:, 0]))}."
        )


@dataclass(frozen=True, eq=False)
class PairScale:
    """x = 2·2^(−r/length) − 1: all distances r > 0 fall into (−1, 1), the typical one to 0.

    Because every distance has a place inside the interval, no geometry is outside the range of a fitted potential.
    """

    lengths: Array  # (m,)

    @classmethod
    def of(cls, r: Array, orbits: Indices) -> PairScale:
        """The median distance of each orbit of pairs."""  # r (n, m), orbits (m,)
        return cls(over_orbits(np.median, r, orbits))

    def __call__(self, r: Array) -> tuple[Array, Array]:
        """The coordinates x, and dx/dr."""
        y = np.exp2(1.0 - r / self.lengths)
        return y - 1.0, -np.log(2.0) / self.lengths * y


def over_orbits(statistic: Callable[[Array], Any], r: Array, orbits: Indices) -> Array:
    """A statistic of the distances of all pairs of an orbit, for each pair."""  # r (n, m), orbits (m,) -> (m,)
    first, place = np.unique(orbits, return_inverse=True)
    return np.array([statistic(r[:, orbits == orbit]) for orbit in first])[place]


def internal_directions(pairs: Pairs, atoms: int) -> tuple[Array, Array]:
    """Orthonormal directions U of the motions that change distances, and Uᵀ ∂r/∂R.

    Gradients of a function of distances have no other components. There are 3N − 6 such directions, one for two
    atoms; a geometry on a line has fewer, and zeros in place of the rest.
    """  # (n, 3N, k), (n, k, m)
    n, m = pairs.r.shape
    J = -np.stack([pairs.forces_on_atoms(np.broadcast_to(e, (n, m))).reshape(n, -1) for e in np.eye(m)], axis=2)
    U, s, Vt = np.linalg.svd(J, full_matrices=False)  # J: (n, 3N, m)
    k = 1 if atoms == 2 else 3 * atoms - 6
    U, s, Vt = U[:, :, :k], s[:, :k], Vt[:, :k]
    alive = s > 1e-10 * s[:, :1]
    return U * alive[:, None, :], (s * alive)[:, :, None] * Vt
