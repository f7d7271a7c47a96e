"""Symmetric functions of copies: sums over injective assignments, as polynomials in power sums.

For one-copy functions ψ_1, ψ_2, … and m copies x_1, …, x_m, the sum Σ ψ_{a_1}(x_{i_1}) ⋯ ψ_{a_p}(x_{i_p}) over
*distinct* i_1, …, i_p is what S_m leaves of the product. Peeling off one factor,

    M(a_1, …, a_p) = P(a_p) M(a_1, …, a_{p−1}) − Σ_j M(…, a_j a_p, …),    P(a) = Σ_i ψ_a(x_i),

where a_j a_p is the pointwise product: Möbius inversion over set partitions, one step at a time, with every
intermediate result shared. The cost is O(m) for each power sum, never m!. With few copies the differences
cancel, and the sums are built up copy by copy instead: E(S) grows by Σ_a ψ_a(x_i) E(S without a).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Array, Functions
from specavg.functions._product_tree import SINE, TORUS
from specavg.functions._symmetric_sums import SymmetricSums
from specavg.functions._threads import compensated_sum
from specavg.functions._trigonometric_sums import (
    FEWEST_TO_COMBINE,
    FOURIER_DIMENSIONS,
    TrigonometricSums,
    by_nufft,
    fourier_sums,
)

__all__ = ["CopyByCopy", "PowerSumProgram", "SymmetrizedProducts"]

Indices = NDArray[np.int64]
Merged = tuple[int, ...]  # a pointwise product of one-copy functions
Key = tuple[Merged, ...]  # the factors of an injective sum


@dataclass(frozen=True)
class _Step:
    """node = P[power_sum] · nodes[rest] − Σ weight · nodes[merged]."""

    power_sum: int
    rest: int
    merged: tuple[tuple[int, int], ...]  # (weight, node)


@final
class PowerSumProgram:
    """A straight-line program that computes injective sums from power sums."""

    def __init__(self, multisets: Sequence[Sequence[int]]) -> None:
        self.power_sums: dict[Merged, int] = {}
        self._nodes: dict[Key, int] = {(): 0}
        self._steps: list[_Step] = []
        self.outputs = [self._node(tuple((a,) for a in sorted(multiset))) for multiset in multisets]

    def _node(self, key: Key) -> int:
        if key in self._nodes:
            return self._nodes[key]
        *others, last = key
        merged: Counter[int] = Counter()
        for j, other in enumerate(others):
            joined = tuple(sorted(other + last))
            merged[self._node(tuple(sorted([*others[:j], joined, *others[j + 1 :]])))] += 1
        rest = self._node(tuple(others))
        power_sum = self.power_sums.setdefault(last, len(self.power_sums))
        self._steps.append(_Step(power_sum, rest, tuple((w, node) for node, w in merged.items())))
        self._nodes[key] = len(self._steps)
        return len(self._steps)

    @property
    def size(self) -> int:
        """Number of intermediate results."""
        return len(self._steps)

    def run(self, power_sums: Array) -> Array:
        """The injective sums from the power sums."""  # (P, n) -> (outputs, n)
        nodes = np.empty((len(self._steps) + 1, power_sums.shape[1]))
        nodes[0] = 1.0
        for i, step in enumerate(self._steps, start=1):
            node = power_sums[step.power_sum] * nodes[step.rest]
            for weight, other in step.merged:
                node -= weight * nodes[other]
            nodes[i] = node
        return nodes[self.outputs]

    @property
    def steps(self) -> tuple[Indices, Indices, Indices]:
        """(power sum, rest) of each step, where its subtractions start, and (weight, node) of each of those."""
        pairs = np.array([(step.power_sum, step.rest) for step in self._steps], dtype=np.int64).reshape(-1, 2)
        starts = np.cumsum([0, *(len(step.merged) for step in self._steps)])
        merged = np.array([pair for step in self._steps for pair in step.merged], dtype=np.int64).reshape(-1, 2)
        return pairs, starts, merged


@final
class CopyByCopy:
    """Injective sums by adding one copy at a time: no subtraction, so no cancellation."""

    def __init__(self, multisets: Sequence[Sequence[int]]) -> None:
        place: dict[Merged, int] = {(): 0}
        pending = {tuple(sorted(multiset)) for multiset in multisets}
        while pending:  # every sub-multiset is a state
            multiset = pending.pop()
            if multiset not in place:
                place[multiset] = len(place)
                pending.update(multiset[:i] + multiset[i + 1 :] for i in range(len(multiset)))
        self.size = len(place)
        self.outputs = [place[tuple(sorted(multiset))] for multiset in multisets]
        # An injective sum over a multiset counts each choice of copies ∏ count! times.
        self.exchanges = np.array(
            [float(prod(factorial(c) for c in Counter(multiset).values())) for multiset in multisets]
        )
        slots: dict[int, list[tuple[int, int, int]]] = {}
        for multiset, state in place.items():
            for slot, a in enumerate(sorted(set(multiset))):
                i = multiset.index(a)
                slots.setdefault(slot, []).append((state, a, place[multiset[:i] + multiset[i + 1 :]]))
        self._slots = [np.array(entries, dtype=np.intp).T for entries in slots.values()]
        # In place, a state must grow before the smaller ones that it grows from.
        sizes = {state: len(multiset) for multiset, state in place.items()}
        flat = [entry for entries in slots.values() for entry in entries]
        flat.sort(key=lambda entry: (-sizes[entry[0]], entry))
        self.entries = np.array(flat, dtype=np.int64).reshape(-1, 3)

    def run(self, copies: Array) -> Array:
        """The injective sums from the one-copy values."""  # (A, n, m) -> (outputs, n)
        sums = np.zeros((self.size, copies.shape[1]))
        sums[0] = 1.0
        for i in range(copies.shape[2]):
            before = sums.copy()
            for state, label, rest in self._slots:
                sums[state] += copies[label, :, i] * before[rest]
        return sums[self.outputs] * self.exchanges[:, None]


_FEW_COPIES = 16


@final
class SymmetrizedProducts(Functions):
    """weight · Σ over distinct copies of ∏ ψ_a(x_i), one for each multiset of one-copy functions.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        m.
    multisets : sequence of sequences of int
        Columns of `one_copy`; the empty one is the constant.
    weights : ndarray of shape (len(multisets),)
    """

    def __init__(self, one_copy: Functions, copies: int, multisets: Sequence[Sequence[int]], weights: Array) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._weights = weights
        self._multisets = [tuple(multiset) for multiset in multisets]
        few = copies <= _FEW_COPIES
        self._by_copy = CopyByCopy(multisets) if few else None
        self._program = PowerSumProgram([] if few else multisets)

    @cached_property
    def _compiled(self) -> SymmetricSums:
        if self._by_copy:
            size, outputs = self._by_copy.size, self._by_copy.outputs
            weights = self._weights * self._by_copy.exchanges
            entries = self._by_copy.entries
        else:
            size, outputs, weights = self._program.size + 1, self._program.outputs, self._weights
            entries = np.empty((0, 3), dtype=np.int64)
        return SymmetricSums(
            self._one_copy.copy_table,
            self._one_copy.dim,
            entries,
            _power_sum_tree(self._program.power_sums),
            self._program.steps,
            size,
            np.array(outputs, dtype=np.int64),
            weights,
        )

    @property
    def dim(self) -> int:
        return len(self._weights)

    @property
    def row_bytes(self) -> float:
        depth = max((len(merged) for merged in self._program.power_sums), default=1)
        per_copy = self._one_copy.row_bytes + 8.0 * (self._one_copy.dim + depth)
        states = 4 * self._by_copy.size if self._by_copy else self._program.size + len(self._program.power_sums)
        return self._copies * per_copy + 8.0 * (states + self.dim)

    def _given(self, X: Array) -> Array | None:
        """The one-copy values, where the loop cannot compute them itself."""  # (n, m, A)
        if self._one_copy.copy_table is not None:
            return None
        flat = X.reshape(len(X) * self._copies, -1)
        return self._one_copy.values(flat).reshape(len(X), self._copies, -1)

    def values(self, X: Array) -> Array:
        return self._compiled.values(X, self._given(X))

    @cached_property
    def fourier(self) -> TrigonometricSums | None:
        table, m = self._one_copy.copy_table, self._copies
        if table is None or table.mode != TORUS or m > FOURIER_DIMENSIONS:
            return None
        value, sine = table.constants[:, 0].astype(np.int64), table.operations[:, 0] == SINE
        blocks: list[tuple[Indices, NDArray[np.bool_], Indices, Array]] = []
        for size in range(m + 1):
            mine = np.array([i for i, a in enumerate(self._multisets) if len(a) == size], dtype=np.int64)
            labels = np.array([self._multisets[i] for i in mine], dtype=np.int64).reshape(len(mine), size)
            for copies in permutations(range(m), size):
                K, S = np.zeros((len(mine), m), dtype=np.int64), np.zeros((len(mine), m), dtype=bool)
                K[:, copies], S[:, copies] = value[labels], sine[labels]
                blocks.append((K, S, mine, self._weights[mine]))
        K, S, columns, weights = (np.concatenate(part) for part in zip(*blocks, strict=True))
        return fourier_sums(np.repeat(1.0 / table.scale, m), K, S, columns, weights, self.dim)

    @property
    def _nanoseconds(self) -> float:
        """A forecast of the time for a point."""
        if self._by_copy:
            return self._copies * (0.15 * len(self._by_copy.entries) + 1.5 * self._one_copy.dim)
        return np.inf

    def correlate(self, X: Array, Y: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self._nanoseconds)
        if faster is not None:
            return faster.correlate(X, Y)
        if self._one_copy.copy_table is not None:
            return self._compiled.sums(X, Y)
        parts = (self._compiled.sums(X[rows], Y[rows], self._given(X[rows])) for rows in self.chunks(len(X)))
        return compensated_sum(parts, (self.dim, Y.shape[1]))

    def combine(self, X: Array, C: Array) -> Array:
        faster = by_nufft(self.fourier, len(X), self._nanoseconds, FEWEST_TO_COMBINE)
        if faster is not None:
            return faster.combine(X, C)
        if self._one_copy.copy_table is not None:
            return self._compiled.combine(X, C)
        values = np.empty((len(X), C.shape[1]))
        for rows in self.chunks(len(X)):
            values[rows] = self._compiled.combine(X[rows], C, self._given(X[rows]))
        return values

    def plain_values(self, X: Array) -> Array:
        """The same values by plain NumPy: what the compiled ones are tested against."""
        flat = X.reshape(len(X) * self._copies, -1)
        values = self._one_copy.values(flat)
        copies = np.ascontiguousarray(values.T).reshape(-1, len(X), self._copies)  # (A, n, m)
        if self._by_copy:
            return (self._weights[:, None] * self._by_copy.run(copies)).T
        sums = np.empty((len(self._program.power_sums), len(X)))
        _accumulate(copies, self._program.power_sums, sums)
        return (self._weights[:, None] * self._program.run(sums)).T


def _power_sum_tree(power_sums: dict[Merged, int]) -> tuple[Indices, Indices, Indices]:
    """Parents, factors and wanted nodes: products share their beginnings."""
    beginnings = sorted({merged[:end] for merged in power_sums for end in range(1, len(merged) + 1)})
    place = {(): 0} | {merged: i for i, merged in enumerate(beginnings, start=1)}
    parent = np.array([0, *(place[merged[:-1]] for merged in beginnings)], dtype=np.int64)
    factor = np.array([-1, *(merged[-1] for merged in beginnings)], dtype=np.int64)
    wanted = np.empty(len(power_sums), dtype=np.int64)
    for merged, i in power_sums.items():
        wanted[i] = place[merged]
    return parent, factor, wanted


def _accumulate(copies: Array, power_sums: dict[Merged, int], sums: Array) -> None:
    """Σ_i ∏ ψ_a(x_i) for every product wanted; products share their beginnings, a few are alive at a time."""
    beginnings = {merged[:end] for merged in power_sums for end in range(1, len(merged) + 1)}
    stack: list[tuple[Merged, Array]] = []
    for merged in sorted(beginnings):  # depth first: a beginning sorts before what continues it
        while stack and merged[: len(stack[-1][0])] != stack[-1][0]:
            stack.pop()
        product = copies[merged[-1]] if not stack else stack[-1][1] * copies[merged[-1]]
        stack.append((merged, product))
        if merged in power_sums:
            sums[power_sums[merged]] = product.sum(axis=1)
