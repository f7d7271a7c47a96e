"""Sums of waves on a torus: values, sums over data and combinations, by a tree of products or a non-uniform FFT."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory, settings
from specavg.functions import _nufft
from specavg.functions._functions import Functions
from specavg.functions._product_tree import COSINE, NO_MIXING, SINE, TORUS, Mixing, block_size, depth_first
from specavg.functions._symmetric_sums import CopyTable
from specavg.functions._threads import by_rows, compensated_sum, in_order, read_only, row_chunks

__all__ = ["FEWEST_TO_COMBINE", "FOURIER_DIMENSIONS", "TrigonometricSums", "Waves", "by_nufft", "fourier_sums"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
FOURIER_DIMENSIONS = 3  # up to here a non-uniform FFT is worth the expansion in waves
# Below this, combinations always go by the tree, whose value at a point does not depend on the other points in its
# last bit.
FEWEST_TO_COMBINE = 1 << 14
_NANOSECONDS_A_WAVE, _NANOSECONDS_A_FACTOR = 0.25, 3.0  # of the tree, for each point; measured


@final
class TrigonometricSums(Functions):
    """Sparse combinations of √2cos 2πk·u and √2sin 2πk·u."""

    def __init__(self, period: Array, K: NDArray[np.int64], Q: Any) -> None:
        self._period = period
        self.K = K  # (F, d)
        self.Q = Q  # sparse (2F, dim)
        self.waves = Waves(period, K)

    @cached_property
    def fourier(self) -> TrigonometricSums:
        return self

    @property
    def dim(self) -> int:
        return int(self.Q.shape[1])

    @property
    def row_bytes(self) -> float:
        return 8.0 * (5 * len(self.K) + self.dim)

    @property
    def copy_table(self) -> CopyTable | None:
        # On a circle without symmetry each function is one cosine or one sine.
        Q = self.Q.tocsc()
        single = Q.nnz == self.dim and (Q.data == 1.0).all() and (np.diff(Q.indptr) == 1).all()
        if self.K.shape[1] > 1 or not self.dim or not single:
            return None
        place, F = Q.indices.astype(np.int64), len(self.K)
        value, zero = self.K[place % F, 0], np.zeros_like(place)
        operations = np.stack([np.where(place < F, COSINE, SINE), zero, zero - 1, zero - 1, zero], axis=1)
        return CopyTable(TORUS, 1.0 / self._period, operations, np.stack([value, zero], axis=1).astype(float))

    def values(self, X: Array) -> Array:
        return self.waves.values(X, self._mixing)

    def evaluate(self, X: Array) -> Array:
        self._require_values(len(X))
        return self.values(X)

    @cached_property
    def _mixing(self) -> Mixing:
        return Mixing.of(np.sqrt(2) * self.Q)

    def correlate(self, X: Array, Y: Array) -> Array:
        return np.sqrt(2) * np.asarray(self.Q.T @ self.waves.sums(X, Y))

    def combine(self, X: Array, C: Array) -> Array:
        return self.waves.combine(X, np.sqrt(2) * np.asarray(self.Q @ C))

    def plain_values(self, X: Array) -> Array:
        turns = (X / self._period) @ self.K.T
        turns -= np.rint(turns)
        turns *= 2 * np.pi
        waves = np.sqrt(2) * np.concatenate([np.cos(turns), np.sin(turns)], axis=1)
        return np.asarray(waves @ self.Q)


def fourier_sums(
    period: Array, values: NDArray[np.int64], sines: NDArray[np.bool_], columns: NDArray[Any], weights: Array, dim: int
) -> TrigonometricSums:
    """Σ weight · ∏_i (√2cos or √2sin 2πv_i u_i), each product in its column, as sums of waves; v_i = 0 is a factor 1.

    Parameters
    ----------
    values, sines : ndarrays of shape (N, d)
    columns, weights : ndarrays of shape (N,)
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
    # Real functions: c_{−k} is the conjugate of c_k, so one of each pair ±k says it all.
    first = np.take_along_axis(K, (K != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    kept = first >= 0
    frequencies, row = np.unique(K[kept], axis=0, return_inverse=True)
    row, column, coefficient = row.ravel(), column[kept], coefficient[kept]
    scale = np.where(first[kept] == 0, np.sqrt(0.5), np.sqrt(2.0))
    entries = np.concatenate([scale * coefficient.real, -scale * coefficient.imag])
    F = len(frequencies)
    Q = coo_array((entries, (np.concatenate([row, row + F]), np.tile(column, 2))), shape=(2 * F, dim)).tocsr()
    Q.data[np.abs(Q.data) < 1e-15] = 0.0
    Q.eliminate_zeros()
    return TrigonometricSums(period, frequencies, Q)


def by_nufft(
    fourier: TrigonometricSums | None, n: int, nanoseconds: float, fewest: int = 1
) -> TrigonometricSums | None:
    """`fourier` where a non-uniform FFT of n points beats a loop that takes `nanoseconds` for each."""
    if fourier is None or n < fewest or fourier.waves.nufft_cost(n) > n * nanoseconds:
        return None
    return fourier


@final
class Waves:
    """cos 2πk·u and then sin 2πk·u, for every row k of `K`; u is the point over the period.

    Parameters
    ----------
    period : ndarray of shape (d,)
    K : ndarray of int, shape (F, d)
        Distinct frequencies.
    """

    def __init__(self, period: Array, K: Indices) -> None:
        self.dim = 2 * len(K)
        self.K = np.asarray(K, dtype=np.int64)
        self.period = np.asarray(period, dtype=float)
        self._tree: tuple[Any, ...] | None = None

    @property
    def _arguments(self) -> tuple[Any, ...]:
        if self._tree is None:
            self._tree = (1.0 / self.period, *_wave_tree(self.K))
        return self._tree

    def _rows(self) -> int:
        _, factors, nodes, _, _ = self._arguments
        return 2 * len(factors) + 2 * (int(nodes[:, 0].max()) + 1) + self.K.shape[1]

    def by_nufft(self, n: int) -> bool:
        """Whether sums over n points are faster by a non-uniform FFT (and it is installed)."""
        factors = int(np.abs(self.K).max(axis=0, initial=0).sum())
        tree = _NANOSECONDS_A_WAVE * len(self.K) + _NANOSECONDS_A_FACTOR * factors
        return self.nufft_cost(n) < n * tree

    def nufft_cost(self, n: int) -> float:
        """Nanoseconds that a non-uniform FFT of n points is forecast to take; infinite where there is none."""
        return _nufft.cost(n, self.K) if _nufft.available() else np.inf

    def sums(self, X: Array, Y: Array) -> Array:
        """Σ y cos and Σ y sin."""  # (n, d), (n, q) -> (2F, q)
        if self.by_nufft(len(X)):
            return _nufft.sums(self.period, self.K, X, Y)
        from specavg.functions.loops._waves import wave_sums

        loop: Any = wave_sums
        n, q = len(X), Y.shape[1]
        points, data, arguments = read_only(X), read_only(Y), self._arguments
        size = block_size(n, self._rows())
        self._check_memory()

        def work(rows: slice) -> Array:
            out = np.zeros((q, self.dim))
            loop(*arguments, points[rows], data[rows], size, out)
            return out

        total = compensated_sum(in_order(work, row_chunks(n, q * self.dim)), (q, self.dim))
        return np.ascontiguousarray(total.T)

    def combine(self, X: Array, C: Array) -> Array:
        """Σ_k a_k cos + b_k sin, the a before the b in C."""  # (n, d), (2F, q) -> (n, q)
        if len(X) >= FEWEST_TO_COMBINE and self.by_nufft(len(X)):
            return _nufft.combine(self.period, self.K, X, C)
        from specavg.functions.loops._waves import wave_combine

        loop: Any = wave_combine
        n = len(X)
        points, coefficients, arguments = read_only(X), read_only(np.asarray(C.T)), self._arguments
        out = np.empty((n, C.shape[1]))
        size = block_size(n, self._rows())
        self._check_memory()
        return by_rows(loop, arguments, points, (coefficients, size), out)

    def values(self, X: Array, mixing: Mixing = NO_MIXING) -> Array:
        """All cosines and all sines, or sparse combinations of them."""  # (n, d) -> (n, 2F)
        from specavg.functions.loops._waves import wave_values

        loop: Any = wave_values
        n = len(X)
        points, arguments = read_only(X), self._arguments
        out = np.empty((n, len(mixing.starts) - 1 if len(mixing.starts) else self.dim))
        size = block_size(n, self._rows() + self.dim)
        self._check_memory(self.dim)
        return by_rows(loop, arguments, points, (self.dim, *mixing, size), out)

    def _check_memory(self, more: int = 0) -> None:
        need = 8.0 * 64 * (self._rows() + more) * settings().n_threads
        require_memory(need, f"{self.dim} waves at 64 points", "Lower the cutoff.")


def _wave_tree(K: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Factors (coordinate, |v|), and nodes, starts and leaves as `wave_sums` reads them."""
    F = len(K)
    # All vectors met when the last entries are taken away one after the other.
    layers = [K]
    while layers[-1].any():
        below = layers[-1][layers[-1].any(axis=1)]
        shorter = below.copy()
        shorter[np.arange(len(below)), _last(below)] = 0
        layers.append(np.unique(shorter, axis=0))
    vectors, place = np.unique(np.concatenate(layers), axis=0, return_inverse=True)
    depth = (vectors != 0).sum(axis=1)
    order = np.argsort(depth, kind="stable")  # the zero vector first, a parent before its children
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    vectors, wanted = vectors[order], rank[place.ravel()[:F]]
    last = _last(vectors)
    value = vectors[np.arange(len(vectors)), last]
    above = vectors.copy()
    above[np.arange(len(vectors)), last] = 0
    parent = rank[_find(above, vectors[rank])]  # `vectors[rank]` is sorted as np.unique left it
    parent[0] = 0
    pairs, factor = np.unique(np.stack([last[1:], np.abs(value[1:])], axis=1), axis=0, return_inverse=True)
    code = np.concatenate([[0], 2 * factor.ravel() + (value[1:] < 0)]).astype(np.int64)
    nodes, starts, leaves = depth_first(parent, code, wanted.astype(np.int64))
    inner = np.stack([nodes[:, 0], nodes[:, 1] // 2, 1 - 2 * (nodes[:, 1] % 2), nodes[:, 2]], axis=1)
    owner = np.repeat(np.arange(len(nodes)), np.diff(starts))
    keys, row = np.unique(np.stack([owner, leaves[:, 0] // 2], axis=1), axis=0, return_inverse=True)
    both = np.full((len(keys), 3), -1, dtype=np.int64)
    both[:, 0] = keys[:, 1]
    both[row.ravel(), 1 + leaves[:, 0] % 2] = leaves[:, 1]
    ends = np.searchsorted(keys[:, 0], np.arange(len(nodes) + 1))
    tables = (pairs.reshape(-1, 2), inner, ends, both)
    return tuple(np.ascontiguousarray(table, dtype=np.int64) for table in tables)  # pyright: ignore[reportReturnType]


def _last(K: Indices) -> Indices:
    """The last coordinate that is not zero."""
    return K.shape[1] - 1 - (K[:, ::-1] != 0).argmax(axis=1)


def _find(rows: Indices, table: Indices) -> Indices:
    """Where each of `rows` stands in `table`, whose rows are distinct and sorted."""
    _, place = np.unique(np.concatenate([table, rows]), axis=0, return_inverse=True)
    return place.ravel()[len(table) :]
