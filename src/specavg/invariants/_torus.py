"""Invariants on a torus: orbit sums of exponentials, and products of cosines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from math import isqrt, lcm
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.groups import Group
from specavg.groups._structure import SignFlips
from specavg.invariants._functions import Array, Functions, Products
from specavg.invariants._orbits import orbits
from specavg.invariants._solver import Solution, Solver
from specavg.kernels._copies import CopyTable
from specavg.kernels._frequencies import FEWEST_TO_COMBINE, Waves
from specavg.kernels._products import COSINE, SINE, TORUS, Mixing, ProductTree
from specavg.spaces import Eigenspace, MixedTorus, Space, Torus
from specavg.spaces._flat_torus import FlatTorus
from specavg.spaces._frequencies import Tree, frequency_tree
from specavg.spaces._mixed_torus import mixed_tree

__all__ = [
    "CosineProducts",
    "FrequencyOrbits",
    "SignedFrequencies",
    "TrigonometricSums",
    "by_nufft",
    "fourier_sums",
]

FOURIER_DIMENSIONS = 3  # up to here a non-uniform FFT is worth the expansion in waves


@final
class FrequencyOrbits(Solver):
    """Orbits of frequencies under integer matrices, with exact rational phases from the shifts."""

    name: ClassVar[str] = "orbits"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, FlatTorus) and all(space.check_isometry(g).is_exact for g in group.generators)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 50.0 * (len(self.group.generators) + 1) * eigenspace.dim * self.space.dim

    def memory(self, eigenspace: Eigenspace) -> float:
        return 4.0 * 8 * eigenspace.dim * self.space.dim

    def solve(self, eigenspace: Eigenspace) -> Solution:
        assert isinstance(self.space, FlatTorus)
        K = self.space.frequencies(eigenspace)
        if eigenspace.eigenvalue == 0:
            constant = (np.zeros(1, dtype=int), np.zeros(1, dtype=int), np.full(1, np.sqrt(0.5)))  # √2 cos 0, halved
            return Solution(eigenspace, 1, self, (K, constant))
        actions = [self.space.frequency_action(self.space.check_isometry(g), eigenspace) for g in self.group.generators]
        count, (rows, columns, values) = _real_invariants(len(K), actions)
        used, place = np.unique(rows % len(K), return_inverse=True)  # frequencies that occur
        entries = (place + len(used) * (rows >= len(K)), columns, values)
        return Solution(eigenspace, count, self, (K[used], entries))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        from scipy.sparse import coo_array

        assert isinstance(self.space, FlatTorus)
        sizes = np.array([len(s.data[0]) for s in solutions])
        total, starts = int(sizes.sum()), np.cumsum(sizes) - sizes
        ends = np.cumsum([0, *(s.invariant_dim for s in solutions)])
        # Each solution has its cosines before its sines; together, all cosines before all sines.
        rows = [
            np.where(s.data[1][0] < size, s.data[1][0] + start, s.data[1][0] - size + start + total)
            for s, size, start in zip(solutions, sizes, starts, strict=True)
        ]
        columns = [s.data[1][1] + end for s, end in zip(solutions, ends, strict=False)]
        values = np.concatenate([s.data[1][2] for s in solutions])
        places = (np.concatenate(rows), np.concatenate(columns))
        Q = coo_array((values, places), shape=(2 * total, int(ends[-1]))).tocsr()
        Q.data[np.abs(Q.data) < 1e-15] = 0.0  # sums of opposite terms
        Q.eliminate_zeros()
        return TrigonometricSums(self.space.period, np.concatenate([s.data[0] for s in solutions]), Q)


def _real_invariants(
    h: int, actions: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]]
) -> tuple[int, tuple[NDArray[Any], NDArray[Any], Array]]:
    """Orthonormal invariants in the basis √2cos, √2sin of h frequencies: how many; rows, columns, entries."""
    modulus = lcm(*(N for *_, N in actions)) if actions else 1
    kind = np.int64 if modulus < 2**61 else object
    targets, phases = [], []
    for target, sign, phase, N in actions:
        # Function k < h is e_k, function h + k is e_{-k}.
        plus = np.where(sign > 0, target, target + h)
        minus = np.where(sign > 0, target + h, target)
        scaled = phase.astype(kind) * (modulus // N)
        targets.append(np.concatenate([plus, minus]))
        phases.append(np.concatenate([scaled, -scaled % modulus]))
    found = orbits(2 * h, targets, phases, modulus)
    opposite = np.concatenate([np.arange(h, 2 * h), np.arange(h)])
    partner = found.label[opposite[found.first]]  # the orbit of -k, for one k of each orbit
    own = partner == np.arange(found.count)
    chosen = own | (partner > np.arange(found.count))  # one orbit of each pair of opposite ones
    # An orbit that is its own opposite: c_k c_{-k} is one constant, and half its phase makes the sum real.
    half_turn = np.zeros(found.count)
    half_turn[own] = _turns(found.phase[opposite[found.first[own]]], modulus) / 2
    columns = np.cumsum(np.where(chosen, np.where(own, 1, 2), 0)) - np.where(own, 1, 2)
    k = np.flatnonzero(found.label >= 0)
    k = k[chosen[found.label[k]]]
    label = found.label[k]
    angle = 2 * np.pi * (_turns(found.phase[k], modulus) - half_turn[label])
    row, sign = np.where(k < h, k, k - h), np.where(k < h, 1.0, -1.0)
    # Σ cos(±2πk·u + angle)/√|O| over an orbit that is its own opposite; otherwise √2 times that, and its sine.
    scale = np.where(own[label], np.sqrt(0.5), 1.0) / np.sqrt(found.size[label])
    pair = ~own[label]
    entries = [
        (row, columns[label], scale * np.cos(angle)),
        (row + h, columns[label], -sign * scale * np.sin(angle)),
        (row[pair], columns[label[pair]] + 1, scale[pair] * np.sin(angle[pair])),
        (row[pair] + h, columns[label[pair]] + 1, (sign * scale * np.cos(angle))[pair]),
    ]
    rows, cols, values = (np.concatenate([entry[i] for entry in entries]) for i in range(3))
    count = int(np.where(chosen, np.where(own, 1, 2), 0).sum())
    kept = np.abs(values) >= 1e-15  # cos(π/2) is zero
    return count, (rows[kept], cols[kept], values[kept])


def _turns(phase: NDArray[Any], modulus: int) -> Array:
    return (phase / modulus).astype(float)


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

    def _values(self, X: Array) -> Array:
        return self.waves.values(X, self._mixing)

    def evaluate(self, X: Array) -> Array:
        self._require_values(len(X))
        return self._values(X)

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
    """`fourier` where a non-uniform FFT of n points beats a kernel that takes `nanoseconds` for each."""
    if fourier is None or n < fewest or fourier.waves.nufft_cost(n) > n * nanoseconds:
        return None
    return fourier


@final
class SignedFrequencies(Solver):
    """Sign flips of a cubic torus: ∏ √2cos 2πk_i u_i, one for each k ≥ 0. Only invariants are ever touched."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        cubic = isinstance(space, MixedTorus) or (isinstance(space, Torus) and space.is_cubic)
        return cubic and isinstance(group.evident, SignFlips)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        n = eigenspace.label
        assert isinstance(n, int)
        # Flipping a sign pairs the ±k_i, so there are at most m_λ of these; often far fewer.
        if isinstance(self.space, MixedTorus):
            count = self.space.sizes_count(eigenspace)
        else:
            count = _nonnegative_count(self.space.dim, n)
        require_memory(
            8.0 * 6 * count,
            f"{count} products of cosines (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        return Solution(eigenspace, count, self, n)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        assert isinstance(self.space, FlatTorus)
        tree = partial(mixed_tree, self.space.steepness) if isinstance(self.space, MixedTorus) else frequency_tree
        return CosineProducts(self.space.period, self.space.dim, [s.data for s in solutions], tree)


def _nonnegative_count(d: int, n: int) -> int:
    """The number of k ≥ 0 in Z^d with |k|² = n: the coefficient of q^n in (1 + q + q⁴ + …)^d."""
    counts = _nonnegative_counts(d)
    for i in range(len(counts), n + 1):
        total = sum((j * j * (d + 1) - i) * counts[i - j * j] for j in range(1, isqrt(i) + 1))
        counts.append(total // i)
    return counts[n]


@lru_cache(maxsize=16)
def _nonnegative_counts(d: int) -> list[int]:
    """The counts found so far; the list grows as they are asked for."""
    return [1]


@final
class CosineProducts(Products):
    """∏_i √2cos 2πk_i u_i for every k ≥ 0 with its norm in `norms`: each is its parent times one more factor.

    The norm is |k|², or what else `frequencies` (d, bound) lists them by.
    """

    def __init__(
        self, period: Array, d: int, norms: Sequence[int], frequencies: Callable[[int, int], Tree] = frequency_tree
    ) -> None:
        self._period = period
        self._d = d
        self._norms = tuple(norms)
        self._frequencies = frequencies

    @property
    def flips_exactly(self) -> bool:
        # The compiled cosine is even to the last bit; a non-uniform FFT is even to rounding.
        return self._d > FOURIER_DIMENSIONS

    @cached_property
    def tree(self) -> Tree:
        """The frequencies, and those they grow from."""
        return self._frequencies(self._d, max(self._norms, default=0))

    @cached_property
    def wanted(self) -> NDArray[np.intp]:
        """Rows of the tree that are functions of this family."""
        return np.flatnonzero(np.isin(self.tree.norm, self._norms))

    @property
    def dim(self) -> int:
        return len(self.wanted)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (3 * len(self.tree.norm) + 2 * self._d * self._highest)

    @cached_property
    def _highest(self) -> int:
        return int(self.tree.value.max(initial=0))

    @property
    def copy_table(self) -> CopyTable | None:
        if self._d > 1 or not len(self.wanted):
            return None
        value = self.tree.value[self.wanted]  # 0 for the constant: cos 0, but for the factor √2
        if (value == 0).any():
            return None
        zero = np.zeros_like(value)
        operations = np.stack([zero + COSINE, zero, zero - 1, zero - 1, zero], axis=1)
        return CopyTable(TORUS, 1.0 / self._period, operations, np.stack([value, zero], axis=1).astype(float))

    @cached_property
    def program(self) -> ProductTree:
        d, tree = self._d, self.tree
        value, coordinate = (a.ravel() for a in np.mgrid[1 : self._highest + 1, :d])
        zero = np.zeros_like(value)
        operations = np.stack([zero + COSINE, coordinate, zero - 1, zero - 1, zero], axis=1)
        constants = np.stack([value, zero], axis=1).astype(float)
        factor = (tree.value - 1) * d + tree.coordinate
        return ProductTree(TORUS, 1.0 / self._period, operations, constants, tree.parent, factor, self.wanted)

    @cached_property
    def fourier(self) -> TrigonometricSums | None:
        if self._d > FOURIER_DIMENSIONS or not self.dim:
            return None
        tree, rows = self.tree, self.wanted
        K = np.zeros((len(rows), self._d), dtype=np.int64)
        while tree.depth[rows].any():
            K[np.arange(len(rows)), tree.coordinate[rows]] += tree.value[rows]  # 0 once the root is reached
            rows = tree.parent[rows]
        return fourier_sums(self._period, K, np.zeros(K.shape, dtype=bool), np.arange(len(K)), np.ones(len(K)), len(K))

    def correlate(self, X: Array, Y: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self.program.nanoseconds)
        return super().correlate(X, Y) if faster is None else faster.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self.program.nanoseconds, FEWEST_TO_COMBINE)
        return super().combine(X, C) if faster is None else faster.combine(X, C)

    def plain_values(self, X: Array) -> Array:
        tree = self.tree
        turns = (X / self._period).T
        turns -= np.rint(turns)
        cosines = np.empty((self._highest + 1, self._d, len(X)))
        for value in range(1, self._highest + 1):
            cosines[value] = np.sqrt(2) * np.cos(2 * np.pi * value * turns)
        values = np.empty((len(tree.norm), len(X)))
        values[0] = 1.0
        for depth in range(1, int(tree.depth.max(initial=0)) + 1):
            rows = np.flatnonzero(tree.depth == depth)
            values[rows] = values[tree.parent[rows]] * cosines[tree.value[rows], tree.coordinate[rows]]
        return values[self.wanted].T
