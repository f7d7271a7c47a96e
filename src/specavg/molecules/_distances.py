"""Geometries as distances of pairs of atoms, on a bounded scale, and derivatives back to positions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairScale", "Pairs", "distances", "internal_directions", "pairs_of"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
_TOUCHING = 1e-6  # of the typical distance: closer atoms have no direction between them that means anything


def pairs_of(atoms: int) -> Indices:
    """All pairs i < j."""  # (m, 2)
    return np.array(list(combinations(range(atoms), 2)), dtype=np.intp).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distances of the pairs of atoms, and the directions in which they grow."""

    r: Array  # (n, m)
    direction: Array  # (n, m, 3): of the first atom of the pair, seen from the second

    def forces_on_atoms(self, slope: Array) -> Array:
        """−Σ slope · ∂r/∂R."""  # (n, m) -> (n, N, 3)
        m = slope.shape[1]
        atoms = round((1 + (1 + 8 * m) ** 0.5) / 2)
        first, second = pairs_of(atoms).T
        ends = np.zeros((atoms, m))
        ends[second, np.arange(m)], ends[first, np.arange(m)] = 1.0, -1.0
        return np.asarray(ends @ (slope[:, :, None] * self.direction))


def distances(R: Array) -> Pairs:
    """The distances of all pairs; atoms at the same place are refused."""  # (n, N, 3)
    first, second = pairs_of(R.shape[1]).T
    apart = R[:, first] - R[:, second]
    r = np.sqrt((apart * apart).sum(axis=-1))
    typical = np.median(r) if r.size else 1.0
    close = np.argwhere(r <= _TOUCHING * typical)
    if len(close):
        geometry, pair = close[0]
        raise ValueError(
            f"atoms {first[pair]} and {second[pair]} of geometry {geometry} are at the same place (distance "
            f"{r[geometry, pair]:.3g}; typical distances are {typical:.3g}). Remove such geometries; "
            f"there are {len(np.unique(close[:, 0]))}."
        )
    return Pairs(r, apart / r[:, :, None])


@dataclass(frozen=True, eq=False)
class PairScale:
    """x = 2·2^(−r/length) − 1: all distances r > 0 fall into (−1, 1), the typical one to 0.

    Because every distance has a place inside the interval, no geometry is outside the range of a fitted potential.
    """

    lengths: Array  # (m,)

    @classmethod
    def of(cls, r: Array, orbits: Indices) -> PairScale:
        """The median distance of each orbit of pairs."""  # r (n, m), orbits (m,)
        lengths = np.empty(r.shape[1])
        for orbit in np.unique(orbits):
            lengths[orbits == orbit] = np.median(r[:, orbits == orbit])
        return cls(lengths)

    def __call__(self, r: Array) -> tuple[Array, Array]:
        """The coordinates x, and dx/dr."""
        y = 2.0 ** (1.0 - r / self.lengths)
        return y - 1.0, -np.log(2.0) / self.lengths * y


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
