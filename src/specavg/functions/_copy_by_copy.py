"""Sums over distinct copies that grow copy by copy: which sums there are, and how each follows from smaller ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._copy_chains import CopyChains
from specavg.functions._factor_table import TABLE, FactorTable
from specavg.functions._threads import block_size

Indices = NDArray[np.int64]
Multiset = tuple[int, ...]
Steps = list[tuple[int, Indices, Indices, Indices]]  # factors of the states, the states, one-copy functions, the rest
_MANY_COPIES = 256  # plain NumPy joins halves from this many copies on: one step a copy would take a second
# Points of a block and memory of its states: 285 states on T^10 take 830 ns a point in blocks of 64, 570 in blocks of
# 256 (which is 600 kB) and 610 in blocks of 512; 2483 states on T^40 take 45, 35 and 56 µs.
_SMALLEST_BLOCK, _STATES_BYTES = 128, 600_000
_NO_TABLE = FactorTable.of(TABLE, np.ones(1), np.empty((0, 5), dtype=np.int64), np.empty((0, 2)))


class CopyByCopy(NamedTuple):
    """How sums over distinct copies grow by one copy, as the loops read it.

    A state is such a sum: Σ ψ_a(x_i) ψ_b(x_k) … over distinct copies i, k, …, for one multiset {a, b, …} of one-copy
    functions. State 0 is that of the empty multiset, the number 1.

    Attributes
    ----------
    table : FactorTable
        The one-copy functions of a single coordinate; no rows where their values are given.
    states : ndarray of int, shape (S - 1,)
        All states but the first, in the order in which they grow: a state before the smaller ones it grows from.
    sizes : ndarray of int, shape (S - 1,)
        How many factors each of these has.
    starts : ndarray of int, shape (S,)
        State i of this order grows by the entries starts[i]..starts[i + 1].
    entries : ndarray of int, shape (E, 2)
        One-copy function, and the state without it.
    outputs : ndarray of int, shape (dim,)
        The states that are functions of the family.
    """

    table: FactorTable
    states: Indices
    sizes: Indices
    starts: Indices
    entries: Indices
    outputs: Indices

    @classmethod
    def of(cls, multisets: Sequence[Sequence[int]], table: FactorTable | None = None) -> CopyByCopy:
        """The states are all multisets inside the given ones."""
        wanted = [tuple(sorted(multiset)) for multiset in multisets]
        found: set[Multiset] = {()}
        pending = set(wanted)
        while pending:
            multiset = pending.pop()
            if multiset not in found:
                found.add(multiset)
                pending.update(multiset[:i] + multiset[i + 1 :] for i in range(len(multiset)))
        # Larger states first, and beside each other those that begin alike: they read the same rows.
        growing = sorted(found - {()}, key=lambda multiset: (-len(multiset), multiset))
        place = {(): 0} | {multiset: i for i, multiset in enumerate(growing, start=1)}
        starts, entries = [0], []
        for multiset in growing:
            for a in sorted(set(multiset)):
                i = multiset.index(a)
                entries.append((a, place[multiset[:i] + multiset[i + 1 :]]))
            starts.append(len(entries))
        return cls(
            _NO_TABLE if table is None else table,
            np.arange(1, len(place)),
            np.array([len(multiset) for multiset in growing], dtype=np.int64),
            np.array(starts, dtype=np.int64),
            np.array(entries, dtype=np.int64).reshape(-1, 2),
            np.array([place[multiset] for multiset in wanted], dtype=np.int64),
        )

    def nanoseconds(self, m: int) -> float:
        """A forecast of the time for a point of m copies: 590 ns on T^10 with 285 functions (600 measured)."""
        # A state with p factors is zero for the first p − 1 copies.
        touched = np.diff(self.starts) @ np.maximum(m + 1 - self.sizes, 0)
        return 0.15 * float(touched) + 0.3 * m * self.table.size + 0.3 * len(self.outputs)

    def block(self, n: int) -> int:
        """Points in a block: as many as keep the states in cache, since they share the cost of beginning a step."""
        return block_size(n, len(self.starts) + self.table.size, _SMALLEST_BLOCK, _STATES_BYTES)

    def run(self, copies: Array, steps: Steps | None = None) -> Array:
        """The sums over choices of copies, from the one-copy values, by plain NumPy; with `steps` if they are known."""
        return self._grown(copies, self.steps() if steps is None else steps)[self.outputs]  # (A, n, m) -> (outputs, n)

    def _grown(self, copies: Array, steps: Steps) -> Array:
        """All states after all copies."""  # (A, n, m) -> (states, n)
        A, n, m = copies.shape
        if m > _MANY_COPIES:  # both halves side by side, then all ways to share the factors between them
            half = -(-m // 2)
            copies = np.concatenate([copies, np.zeros((A, n, 2 * half - m))], axis=2)  # zeros add nothing
            both = self._grown(np.concatenate([copies[:, :, :half], copies[:, :, half:]], axis=1), steps)
            return np.stack([(both[one, :n] * both[other, n:]).sum(axis=0) for one, other in self._shares()])
        sums = np.zeros((len(self.starts), n))
        sums[0] = 1.0
        for i in range(m):
            one = np.ascontiguousarray(copies[:, :, i])
            for size, state, label, rest in steps:
                if size <= i + 1:  # a state of p factors is zero for the first p − 1 copies
                    sums[state] += one[label] * sums[rest]
        return sums

    def steps(self) -> Steps:
        """How states of one size grow by a copy: their first entries, then the second ones, no state twice in a step.

        The larger ones first: they grow from smaller ones as these were before.
        """
        count, steps = np.diff(self.starts), []
        for size in np.unique(self.sizes)[::-1]:
            same = self.sizes == size
            for j in range(int(count[same].max())):
                mine = np.flatnonzero(same & (count > j))
                steps.append((int(size), self.states[mine], *self.entries[self.starts[mine] + j].T))
        return steps

    def chains(self) -> CopyChains:
        """The same growth as the reverse pass of gradients reads it."""
        return CopyChains.of(self.table, self._multisets(), self.outputs)

    def by_function(self) -> list[tuple[int, Indices, Indices]]:
        """For each one-copy function: the states that have it, and the same states without it."""
        states = np.repeat(self.states, np.diff(self.starts))
        labels, rest = self.entries.T
        return [(int(a), states[labels == a], rest[labels == a]) for a in np.unique(labels)]

    def _multisets(self) -> list[Multiset]:
        """The multiset of each state."""
        multisets: list[Multiset] = [()] * len(self.starts)
        for state, start in zip(self.states[::-1], self.starts[:-1][::-1], strict=True):  # smaller ones first
            label, rest = self.entries[start]
            multisets[state] = tuple(sorted((int(label), *multisets[rest])))
        return multisets

    def _shares(self) -> list[tuple[list[int], list[int]]]:
        """For each state, the states of all its parts, and those of what is left."""
        multisets = self._multisets()
        place = {multiset: i for i, multiset in enumerate(multisets)}
        shares: list[tuple[list[int], list[int]]] = []
        for multiset in multisets:
            count = Counter(multiset)
            numbers = product(*(range(often + 1) for often in count.values()))
            parts = [Counter(dict(zip(count, taken, strict=True))) for taken in numbers]
            mine, left = ([tuple(sorted(c.elements())) for c in side] for side in (parts, [count - p for p in parts]))
            shares.append(([place[part] for part in mine], [place[part] for part in left]))
        return shares
