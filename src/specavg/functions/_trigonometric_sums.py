"""Waves on a torus, and sparse combinations of them, by a tree of products or by a non-uniform FFT."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions import _nufft
from specavg.functions._compiled import Loops
from specavg.functions._derivations import Derivations
from specavg.functions._factor_table import FactorTable
from specavg.functions._few_rows import few_rows
from specavg.functions._mapped_functions import Mapped
from specavg.functions._product_tree import MixedValues
from specavg.functions._toeplitz_gram import (
    ToeplitzGram,
    column_nanoseconds,
    density_of_sums,
    difference_count,
    differences,
)
from specavg.functions._wave_tree import WaveTree

Indices = NDArray[np.int64]
# The fewest points at which combinations use a transform (a non-uniform FFT). The last bit of what it gives at a point
# depends on the other points; that of the tree does not.
FEWEST_TO_COMBINE = 1 << 14
_GIGAFLOPS = 25.0  # operations a nanosecond of a symmetric rank-n update, n·dim² in all, on one thread; measured
_NANOSECONDS_A_WAVE, _NANOSECONDS_A_FACTOR = 0.25, 3.0  # of sums by the tree, for each point; measured
_NANOSECONDS_A_NODE = 7000.0  # of making the tree, for each wave; measured
# How many times as long as a formed Gram matrix a Gram operator may take to make. The formed matrix has to be
# decomposed as well, and does not fit in memory for larger bases.
_LONGEST_OPERATOR = 4.0


@final
class Waves(MixedValues, Derivations):
    """cos 2πk·u for every row k of `K`, and then sin 2πk·u; u is the point divided by the period.

    Parameters
    ----------
    period : ndarray of shape (d,)
    K : ndarray of int, shape (F, d)
        Distinct frequencies.
    """

    def __init__(self, period: Array, K: Indices) -> None:
        self.K = np.asarray(K, dtype=np.int64)
        self.dim = 2 * len(self.K)
        self.period = np.asarray(period, dtype=float)

    @property
    def row_bytes(self) -> float:
        return 8.0 * 4 * len(self.K)

    @cached_property
    def _program(self) -> WaveTree:
        return WaveTree.of(self.period, self.K)

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._waves import wave_combine, wave_sums, wave_values

        return Loops(wave_sums, wave_combine, wave_values)

    def _block_rows(self, d: int) -> int:
        tree = self._program
        return 2 * len(tree.factors) + 2 * (int(tree.nodes[:, 0].max()) + 1) + d

    def plain_values(self, X: Array) -> Array:
        angles = np.zeros((len(X), len(self.K)))
        U = X / self.period
        U -= np.rint(U)
        for columns, k in zip(*self._entries, strict=True):  # in a matrix product, rounding depends on the other rows
            angles += np.take(U, columns, axis=1) * k
        angles -= np.rint(angles)
        angles *= 2 * np.pi
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

    @cached_property
    def _entries(self) -> tuple[Indices, Indices]:
        """The coordinates of the first, second, … non-zero entry of each frequency, and these entries.

        Frequencies of many coordinates have few non-zero entries: for M24, sums over all 24 coordinates took three
        times as long.
        """  # (most, F), (most, F)
        nonzero = self.K != 0
        most = int(nonzero.sum(axis=1).max(initial=0))
        columns = np.argsort(~nonzero, axis=1, kind="stable")[:, :most]
        return np.ascontiguousarray(columns.T), np.ascontiguousarray(np.take_along_axis(self.K, columns, axis=1).T)

    @cached_property
    def _derivations(self) -> list[Any]:
        from scipy.sparse import block_array, diags_array

        # ∂_j cos 2πk·u = −(2πk_j/period_j) sin 2πk·u, and ∂_j sin 2πk·u = (2πk_j/period_j) cos 2πk·u.
        waves = [diags_array(2 * np.pi * k / p, format="csr") for k, p in zip(self.K.T, self.period, strict=True)]
        return [block_array([[None, D], [-D, None]], format="csr") for D in waves]

    def _lifted(self, X: Array, slopes: Array) -> Array:
        return slopes

    def _lowered(self, X: Array, G: Array) -> Array:
        return G

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        F, speeds, slopes = len(self.K), 2 * np.pi * self.K / self.period, np.empty(X.shape)
        for rows in self.chunks(len(X)) if few_rows(len(X)) else [slice(None)]:  # chunks that NumPy computes
            values = self.values(X[rows])
            slopes[rows] = (W[rows, F:] * values[:, :F] - W[rows, :F] * values[:, F:]) @ speeds
        return slopes

    def mixed_gradient(self, X: Array, Q: Any) -> Array:
        return np.stack([self.mixed_values(X, D @ Q) for D in self._derivations], axis=2)

    def by_transform(self, n: int) -> bool:
        """Whether a non-uniform FFT is forecast to sum over n points faster than the tree."""
        factors = int(np.abs(self.K).max(axis=0, initial=0).sum())
        tree = _NANOSECONDS_A_WAVE * len(self.K) + _NANOSECONDS_A_FACTOR * factors
        return _nufft.cost(n, self.K) < n * tree

    def correlate(self, X: Array, Y: Array) -> Array:
        if self.by_transform(len(X)):
            return _nufft.sums(self.period, self.K, X, Y)
        return super().correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        if len(X) >= FEWEST_TO_COMBINE and self.by_transform(len(X)):
            return _nufft.combine(self.period, self.K, X, C)
        return super().combine(X, C)


@final
class TrigonometricSums(Mapped):
    """Sparse combinations of √2cos 2πk·u and √2sin 2πk·u; u is the point divided by the period.

    Parameters
    ----------
    period : ndarray of shape (d,)
    K : ndarray of int, shape (F, d)
        Distinct frequencies.
    Q : sparse matrix of shape (2F, dim)
        The coefficients of all cosines, and then of all sines, in each function.
    """

    def __init__(self, period: Array, K: Indices, Q: Any) -> None:
        self.waves = Waves(period, K)
        super().__init__(self.waves)
        self.Q = Q
        self.dim = int(Q.shape[1])

    @property
    def row_bytes(self) -> float:
        return 8.0 * (5 * len(self.waves.K) + self.dim)

    @property
    def copy_table(self) -> FactorTable | None:
        # On a circle without symmetry each function is one cosine or one sine.
        K, Q = self.waves.K, self.Q.tocsc()
        single = Q.nnz == self.dim and (Q.data == 1.0).all() and (np.diff(Q.indptr) == 1).all()
        if K.shape[1] > 1 or not self.dim or not single:
            return None
        place = Q.indices.astype(np.int64)
        return FactorTable.of_waves(
            self.waves.period, K[place % len(K), 0], np.zeros_like(place), np.asarray(place >= len(K))
        )

    @cached_property
    def _scaled(self) -> Any:
        """The coefficients of the waves without their factor √2."""
        return (np.sqrt(2) * self.Q).tocsc()

    def values(self, X: Array) -> Array:
        return self.waves.mixed_values(X, self._scaled)

    def evaluate(self, X: Array) -> Array:
        if few_rows(len(X)):
            return super().evaluate(X)
        self._require_values(len(X))
        return self.values(X)

    def gradient(self, X: Array) -> Array:
        return self.waves.mixed_gradient(X, self._scaled)

    def _spread(self, C: Array) -> Array:
        return np.asarray(self._scaled @ C)

    def _projected(self, rows: Array) -> Array:
        return np.asarray(rows @ self._scaled)

    def gram_by_transform(self, n: int) -> bool:
        """Whether a Toeplitz operator is forecast to form the Gram matrix over n points faster than the values do."""
        columns = self._transform_nanoseconds(n) + column_nanoseconds(self.waves.K) * self.dim
        return columns < n * float(self.dim) ** 2 / _GIGAFLOPS

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array | None = None) -> tuple[Array, Array]:
        if self.gram_by_transform(len(X)):
            w = np.ones(len(X)) if weights is None else weights
            found = self.gram_operator(X, w, np.empty((len(X), 0)))
            if found is not None:
                return self.correlate(X, Y), found[0].dense()
        return super().correlate_and_gram(X, Y, weights)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[ToeplitzGram, Array] | None:
        if self.gram_nanoseconds(len(X)) is None:
            return None
        period, K = self.waves.period, self.waves.K
        strengths, reach = np.column_stack([weights, weights[:, None] * Y]), np.abs(K).max(axis=0)
        if np.isfinite(self._transform_nanoseconds(len(X))):
            grid = _nufft.grid_sums(period, 2 * reach, X, strengths)  # (q, 4 reach + 1, …)
            density, chosen = density_of_sums(grid[0]), grid[(slice(None), *(K + 2 * reach).T)]
            sums = np.concatenate([chosen.real, chosen.imag], axis=1).T
        else:
            among, sums = differences(K), self.waves.correlate(X, strengths)
            real, imaginary = Waves(period, among).correlate(X, weights[:, None])[:, 0].reshape(2, -1)
            grid = np.zeros(tuple(4 * reach + 1), dtype=complex)
            grid[tuple((2 * reach - among).T)] = real - 1j * imaginary
            grid[tuple((2 * reach + among).T)] = real + 1j * imaginary
            density = density_of_sums(grid)
        return self.gram_of_density(density), self._reduced(sums)

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        K = self.waves.K
        if K.shape[1] > 3 or not len(K):
            return None
        build = self._transform_nanoseconds(n)
        if build == np.inf:
            build = difference_count(K) * (_NANOSECONDS_A_WAVE * n + _NANOSECONDS_A_NODE)
            if build > _LONGEST_OPERATOR * n * float(self.dim) ** 2 / _GIGAFLOPS:
                return None
        return build, column_nanoseconds(K)

    def _transform_nanoseconds(self, n: int) -> float:
        """A forecast of a non-uniform FFT of n points at twice the frequencies; infinite where there is none."""
        return _nufft.cost(n, 2 * self.waves.K)

    def gram_of_density(self, density: Array) -> ToeplitzGram:
        return ToeplitzGram(self.waves.K, self._scaled, density)


def fourier_sums(
    period: Array, values: NDArray[np.int64], sines: NDArray[np.bool_], columns: NDArray[Any], weights: Array, dim: int
) -> TrigonometricSums:
    """Sums of weighted products ∏_i (√2cos or √2sin of 2πv_i u_i), written as sums of waves.

    Parameters
    ----------
    period : ndarray of shape (d,)
    values : ndarray of int, shape (N, d)
        The frequencies v_i ≥ 0 of each product; v_i = 0 stands for the factor 1.
    sines : ndarray of bool, shape (N, d)
        Whether the factor is a sine.
    columns : ndarray of int, shape (N,)
        The function that each product is a term of.
    weights : ndarray of shape (N,)
        The weight of each product.
    dim : int
        The number of functions.
    """
    from scipy.sparse import coo_array

    d = values.shape[1]
    K, column = values, columns
    coefficient: NDArray[np.complex128] = weights.astype(np.complex128)
    for i in range(d):  # √2cos = (e₊ + e₋)/√2, √2sin = (e₊ − e₋)/(√2 i)
        split = K[:, i] != 0
        scale = np.where(split, np.sqrt(0.5) * np.where(sines[:, i], -1j, 1.0), 1.0)
        mirrored = K[split].copy()
        mirrored[:, i] *= -1
        minus = (scale * coefficient * np.where(sines[:, i], -1.0, 1.0))[split]
        K = np.concatenate([K, mirrored])
        coefficient = np.concatenate([scale * coefficient, minus])
        column, sines = np.concatenate([column, column[split]]), np.concatenate([sines, sines[split]])
    # The functions are real: c_{−k} is the conjugate of c_k, so that one of each pair ±k is enough.
    first = np.take_along_axis(K, (K != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    kept = first >= 0
    frequencies, row = np.unique(K[kept], axis=0, return_inverse=True)
    row, column, coefficient = row.ravel(), column[kept], coefficient[kept]
    scale = np.where(first[kept] == 0, np.sqrt(0.5), np.sqrt(2.0))
    entries = np.concatenate([scale * coefficient.real, -scale * coefficient.imag])
    F = len(frequencies)
    Q = coo_array((entries, (np.concatenate([row, row + F]), np.tile(column, 2))), shape=(2 * F, dim)).tocsr()
    Q.data[np.abs(Q.data) < 1e-15] = 0.0  # sums of terms that cancel: rounding errors
    Q.eliminate_zeros()
    return TrigonometricSums(period, frequencies, Q)
