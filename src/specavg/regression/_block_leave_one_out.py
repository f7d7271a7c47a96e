"""Leave one block of rows out, in closed form: the rows of one point, or of all points of an orbit, go together.

With M = (K + αI)⁻¹ on the complement of what is not penalised, the rows of a block less what the others predict of
them are M_bb⁻¹ (My)_b. This is (I − H_bb)⁻¹ r_b, H the hat matrix and r the residual, without the subtraction that
loses digits where α is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._regression_problem import Scored, Scores, evidence, evidence_sums, minus_log_density
from specavg.regression._repeated_rows import joined

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
class BlockLeaveOneOut:
    """What each block of rows is, less what the others predict of it, for every penalty.

    Attributes
    ----------
    s : ndarray of shape (r,)
        Singular values of the scaled features on the complement of what is not penalised, decreasing.
    left : ndarray of shape (N, r)
        Left singular vectors U.
    free : ndarray of shape (N, k)
        Orthonormal columns that span what is not penalised.
    c : ndarray of shape (r, q)
        Uᵀy, for q targets with the same features.
    rest : ndarray of shape (N, q)
        The part of y that neither features nor `free` reach.
    blocks : list of ndarray of int, shape (blocks, size)
    """

    s: Array
    left: Array
    free: Array
    c: Array
    rest: Array
    blocks: list[Indices]

    @property
    def rows(self) -> int:
        """Rows of all targets together."""
        return self.rest.size

    def sums(self, alphas: Array) -> Array:
        """What a score needs, for each α: Σ|d|², Σ dᵀM_bb d and Σ log det M_bb over the blocks.

        Here d is what was left out less its prediction.
        """  # (3, A)
        (N, r), q = self.left.shape, self.c.shape[1]
        full = r == N - self.free.shape[1]  # then nothing lies outside the features
        G = 1.0 / (self.s[:, None] ** 2 + alphas)  # (r, A)
        My = (self.left @ (G[:, :, None] * self.c[:, None, :]).reshape(r, len(alphas) * q)).reshape(N, len(alphas), q)
        if not full:
            My = My + self.rest[:, None, :] / alphas[:, None]
        total = np.zeros((3, len(alphas)))
        for rows in self.blocks:
            size = rows.shape[1]
            together = max(1, int(_VALUES_HELD / (size**2 * max(r, len(alphas)))))
            for start in range(0, len(rows), together):
                some = rows[start : start + together]
                M = self._inverse(some, G, None if full else alphas)  # (B, A, size, size)
                values, vectors = (M[..., 0], None) if size == 1 else np.linalg.eigh(M)
                # A direction that others determine to rounding must not divide by zero: it counts as rounding.
                values = np.maximum(
                    values, np.finfo(float).eps * np.maximum(values[..., -1:], 0.0) + _TINY
                )  # (B, A, size)
                along = My[some].transpose(0, 2, 1, 3)  # (B, A, size, q)
                if vectors is not None:
                    along = vectors.swapaxes(-1, -2) @ along
                # A block that nothing but unpenalised functions reach has no prediction: its error is infinite.
                with np.errstate(over="ignore"):
                    left_out = along / values[..., None]
                    total[0] += np.sum(left_out**2, axis=(0, 2, 3))
                    total[1] += np.sum(left_out * along, axis=(0, 2, 3))
                total[2] += q * np.log(values).sum(axis=(0, 2))
        return total

    def _inverse(self, rows: Indices, G: Array, alphas: Array | None) -> Array:
        """M_bb of each block for each penalty."""
        U, (B, size) = self.left[rows], rows.shape  # (B, size, r)
        weights = G if alphas is None else np.column_stack([G, np.ones(len(G))])  # the last column: what U spans
        Q = self.free[rows]
        M = np.empty((B, size, size, G.shape[1]))
        for i in range(size):
            for j in range(i, size):  # a row of numbers for each pair: no copy of U
                found = (U[:, i] * U[:, j]) @ weights
                if alphas is not None:
                    outside = float(i == j) - np.einsum("bk,bk->b", Q[:, i], Q[:, j]) - found[:, -1]
                    if i == j:  # a squared length: negative by rounding, over a small α it would outweigh all else
                        outside = np.maximum(outside, 0.0)
                    found = found[:, :-1] + outside[:, None] / alphas
                M[:, i, j] = M[:, j, i] = found
        return M.transpose(0, 3, 1, 2)


@final
@dataclass(frozen=True, eq=False)
class LeftOutTogether(Scored):
    """The scores of several tables of rows, which share no features but the penalty.

    Attributes
    ----------
    tables : sequence of BlockLeaveOneOut
        The rows of a point may lie in each of them.
    variance : float
        Mean square of the targets less what is not penalised; infinite where that is zero.
    weight : float
        Sum of the weights of all rows.
    offset : float, default 0
        Added to the density, where rows were multiplied by what problems that are compared differ in.
    squares, repeated : float, int, default 0
        The sum of squares of what repeated observations differ by, and how many of these numbers are free.
    """

    tables: Sequence[BlockLeaveOneOut]
    variance: float
    weight: float
    offset: float = 0.0
    squares: float = 0.0
    repeated: int = 0

    @property
    def top(self) -> float:
        return max((float(table.s[0] ** 2) for table in self.tables if len(table.s)), default=0.0)

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(table.rows for table in self.tables)

    def surprise(self, alphas: Array) -> Array:
        """The mean over rows of dᵀM_bb d, d what was left out less its prediction: what a calibration asks."""  # (A,)
        return np.sum([table.sums(alphas)[1] for table in self.tables], axis=0) / self.rows

    def scores(self, alphas: Array) -> Scores:
        rows = self.rows
        squares, quadratic, logarithm = np.sum([table.sums(alphas) for table in self.tables], axis=0)
        density = minus_log_density(*self._joined(quadratic, -logarithm, alphas), rows, self.repeated) + self.offset
        return Scores(squares / (self.weight * self.variance), density, self._evidence(alphas))

    def _joined(self, quadratic: Array, logarithm: Array, alphas: Array) -> tuple[Array, Array]:
        """With what repeated observations tell, in units of the targets."""
        return joined(quadratic / self.variance, logarithm, alphas, self.squares / self.variance, self.repeated)

    def _evidence(self, alphas: Array) -> Array:
        quadratic, logarithm, freedom = np.zeros(len(alphas)), np.zeros(len(alphas)), 0
        for table in self.tables:
            N, q = table.rest.shape
            own = N - table.free.shape[1]
            squares, determinant = evidence_sums(table.s, table.c, table.rest, own, alphas)
            quadratic += squares.sum(axis=1)
            logarithm += q * determinant
            freedom += q * own
        return evidence(*self._joined(quadratic, logarithm, alphas), freedom, self.repeated)
