"""Leave one block of rows out, in closed form: the rows of one point, or of all points of an orbit, go together.

With M = (K + αI)⁻¹ on the complement of what is not penalised, the rows of a block less what the others predict of
them are M_bb⁻¹ (My)_b. This is (I − H_bb)⁻¹ r_b, H the hat matrix and r the residual, without the subtraction that
loses digits where α is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._regression_problem import Scored, Scores

__all__ = ["BlockLeaveOneOut", "blocks_of"]

Indices = NDArray[np.intp]
_TINY = float(np.finfo(float).tiny)
_VALUES_HELD = 4e6  # products of two rows held at once: 32 MB


def blocks_of(labels: Indices) -> list[Indices]:
    """The rows of each label, blocks of the same size together."""  # (N,) -> arrays of shape (blocks, size)
    order = np.argsort(labels, kind="stable")
    _, sizes = np.unique(labels, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    return [order[starts[sizes == size][:, None] + np.arange(size)] for size in np.unique(sizes)]


@final
@dataclass(frozen=True, eq=False)
class BlockLeaveOneOut(Scored):
    """What each block of rows is, less what the others predict of it, for every penalty.

    Attributes
    ----------
    s : ndarray of shape (r,)
        Singular values of the scaled features on the complement of what is not penalised, decreasing.
    left : ndarray of shape (N, r)
        Left singular vectors U.
    free : ndarray of shape (N, k)
        Orthonormal columns that span what is not penalised.
    c : ndarray of shape (r,)
        Uᵀy.
    rest : ndarray of shape (N,)
        The part of y that neither features nor `free` reach.
    variance : float
        Mean square of the targets less what is not penalised; infinite where that is zero.
    weight : float
        Sum of the weights of all rows.
    blocks : list of ndarray of int, shape (blocks, size)
    """

    s: Array
    left: Array
    free: Array
    c: Array
    rest: Array
    variance: float
    weight: float
    blocks: list[Indices]

    @property
    def top(self) -> float:
        return float(self.s[0] ** 2) if len(self.s) else 0.0

    def scores(self, alphas: Array) -> Scores:
        N, r = self.left.shape
        full = r == N - self.free.shape[1]  # then nothing lies outside the features
        G = 1.0 / (self.s[:, None] ** 2 + alphas)  # (r, A)
        My = self.left @ (G * self.c[:, None])  # (N, A)
        if not full:
            My = My + self.rest[:, None] / alphas
        squares, quadratic, logarithm = (np.zeros(len(alphas)) for _ in range(3))
        for rows in self.blocks:
            size = rows.shape[1]
            together = max(1, int(_VALUES_HELD / (size**2 * max(r, len(alphas)))))
            for start in range(0, len(rows), together):
                some = rows[start : start + together]
                M = self._inverse(some, G, None if full else alphas)  # (B, A, size, size)
                y = My[some].transpose(0, 2, 1)  # (B, A, size)
                values, vectors = np.linalg.eigh(M)
                # A direction that others determine to rounding must not divide by zero: it counts as rounding.
                values = np.maximum(values, np.finfo(float).eps * values[..., -1:] + _TINY)
                along = (vectors.swapaxes(-1, -2) @ y[..., None])[..., 0]
                squares += np.sum((along / values) ** 2, axis=(0, 2))
                quadratic += np.sum(along**2 / values, axis=(0, 2))
                logarithm += np.log(values).sum(axis=(0, 2))
        error = squares / (self.weight * self.variance)
        profile = np.maximum(quadratic / (N * self.variance), _TINY)
        return Scores(error, 0.5 * (np.log(profile) - logarithm / N))

    def _inverse(self, rows: Indices, G: Array, alphas: Array | None) -> Array:
        """M_bb of each block for each penalty."""
        U, (B, size), r = self.left[rows], rows.shape, len(self.s)  # (B, size, r)
        pairs = (U[:, :, None, :] * U[:, None, :, :]).reshape(-1, r)
        M = (pairs @ G).reshape(B, size, size, -1)
        if alphas is not None:
            Q = self.free[rows]
            outside = np.eye(size) - Q @ Q.transpose(0, 2, 1) - U @ U.transpose(0, 2, 1)
            M = M + outside[..., None] / alphas
        return M.transpose(0, 3, 1, 2)
