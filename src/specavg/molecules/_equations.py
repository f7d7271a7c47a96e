"""What energies and forces say about the coefficients of a potential: one block of equations for each geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.molecules._distances import PairScale, distances, internal_directions

_CHUNK_BYTES = 64e6  # of the equations of one chunk of geometries: large enough for BLAS, small beside any data


@dataclass(frozen=True, eq=False)
class Equations:
    """An energy, and the components of its gradient along the internal directions, at each geometry.

    Components of forces along translations and rotations say nothing: no function of distances has them. They are left
    out, and counted as an error that no potential can avoid (`unreachable`). All equations of a geometry are multiplied
    by the root of its weight; those of forces that are missing are zero.
    """

    functions: Functions
    scale: PairScale
    R: Array  # (n, N, 3)
    energies: Array  # (n,), centred; NaN where there are forces alone
    forces: Array | None  # (n, N, 3), NaN where they are missing
    weights: Array  # (n,)
    rows: NDArray[np.intp]  # (n,): where the geometries stand in the data

    @property
    def has_energies(self) -> bool:
        """Whether there are energies."""
        return not np.isnan(self.energies).any()

    @property
    def has_forces(self) -> NDArray[np.bool_]:
        """Which geometries have forces."""  # (n,)
        if self.forces is None:
            return np.zeros(self.count, dtype=bool)
        return np.asarray(np.isfinite(self.forces).all(axis=(1, 2)))

    @property
    def force_size(self) -> float:
        """Root mean square of the forces."""
        return np.nan if self.forces is None else float(np.sqrt(np.mean(self.forces[self.has_forces] ** 2)))

    @property
    def count(self) -> int:
        """The number of geometries."""
        return len(self.R)

    @property
    def block(self) -> int:
        """Equations of one geometry."""
        atoms = self.R.shape[1]
        return 1 if self.forces is None else 2 if atoms == 2 else 1 + 3 * atoms - 6

    def chunks(self) -> Iterator[NDArray[np.intp]]:
        """Groups of geometries whose equations and derivatives stay within bounds."""
        one = 8.0 * self.functions.dim * (self.block + (0 if self.forces is None else self.scale.lengths.size))
        every = np.arange(self.count, dtype=np.intp)
        return iter(np.array_split(every, max(1, int(self.count * one / _CHUNK_BYTES))))

    def some(self, chosen: NDArray[np.intp]) -> Equations:
        """Those of some geometries."""
        parts = {name: getattr(self, name)[chosen] for name in ("R", "energies", "weights", "rows")}
        return replace(self, forces=None if self.forces is None else self.forces[chosen], **parts)

    def all(self) -> tuple[Array, Array, float]:
        """The matrix and the right-hand side of all geometries, and the unreachable sum of squares."""
        # (n, block, p), (n, block)
        A = np.empty((self.count, self.block, self.functions.dim))
        y, unreachable = np.empty((self.count, self.block)), 0.0
        for rows in self.chunks():
            A[rows], y[rows], more = self.of(rows)
            unreachable += more
        return A, y, unreachable

    def of(self, rows: NDArray[np.intp]) -> tuple[Array, Array, float]:
        """The same for one chunk of geometries."""
        pairs = distances(self.R[rows])
        x, slope = self.scale(pairs.r)
        root = np.sqrt(self.weights[rows])
        values, energies = self.functions.evaluate(x) * root[:, None], np.nan_to_num(self.energies[rows]) * root
        if self.forces is None:
            return values[:, None, :], energies[:, None], 0.0
        U, J = internal_directions(pairs, self.R.shape[1])
        root = root * np.isfinite(self.forces[rows]).all(axis=(1, 2))
        G = -np.nan_to_num(self.forces[rows]).reshape(len(x), -1) * root[:, None]
        inside = np.einsum("nak,na->nk", U, G)
        A = np.empty((len(x), self.block, self.functions.dim))
        A[:, 0] = values
        J *= (slope * root[:, None])[:, None, :]
        np.matmul(J, self.functions.gradient(x).transpose(0, 2, 1), out=A[:, 1:])
        outside = G - np.einsum("nak,nk->na", U, inside)
        return A, np.concatenate([energies[:, None], inside], axis=1), float((outside * outside).sum())
