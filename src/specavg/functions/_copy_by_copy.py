"""Sums over distinct copies, computed copy by copy: which sums there are, and how one more copy changes each.

For one-copy functions ψ and a multiset S = {a, b, …} of them, E(S) is the sum of ψ_a(x_i) ψ_b(x_k) … over all choices
of distinct copies i, k, … among the copies so far. Choices that differ by an exchange of equal functions count once.
One more copy x adds Σ_a ψ_a(x) E(S without a), over the different a of S. The sum E(S) is called a state.
"""

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
# For some states of one size: the size, the states, a one-copy function a of each, and the states without it.
Steps = list[tuple[int, Indices, Indices, Indices]]
# The most copies that NumPy adds one by one; adding more in this way would take a second. Larger numbers are halved.
_MANY_COPIES = 256
# The fewest points of a block, and the bytes that the states of a larger block may take. On T^10 with 285 states a
# point takes 830 ns in blocks of 64, 570 ns in blocks of 256 (600 kB) and 610 ns in blocks of 512. On T^40 with 2483
# states it takes 45, 35 and 56 µs.
_SMALLEST_BLOCK, _STATES_BYTES = 128, 600_000
_NO_TABLE = FactorTable.of(TABLE, np.ones(1), np.empty((0, 5), dtype=np.int64), np.empty((0, 2)))


class CopyByCopy(NamedTuple):
    """All states E(S), and how one more copy changes each, as the loops read it.

    State 0 is that of the empty multiset, the number 1. The other states are listed by decreasing size: in this order
    they can be updated in place, since a state grows from smaller ones as these were before the copy.

    Attributes
    ----------
    table : FactorTable
        The one-copy functions, if they are functions of a single coordinate that loops compute. It has no rows where
        the values of the one-copy functions are given to the loops.
    states : ndarray of int, shape (S - 1,)
        All states but state 0, as listed.
    sizes : ndarray of int, shape (S - 1,)
        The size of the multiset of each of these states.
    starts : ndarray of int, shape (S,)
        The state i of this list grows by the entries starts[i], …, starts[i + 1] − 1.
    entries : ndarray of int, shape (E, 2)
        A one-copy function a, and the state of the multiset without a.
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
        """The states of the given multisets and of all multisets inside them."""
        wanted = [tuple(sorted(multiset)) for multiset in multisets]
        found: set[Multiset] = {()}
        pending = set(wanted)
        while pending:
            multiset = pending.pop()
            if multiset not in found:
                found.add(multiset)
                pending.update(multiset[:i] + multiset[i + 1 :] for i in range(len(multiset)))
        # States that begin with the same functions are listed next to each other, since they read the same rows.
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
        """A forecast of the time for a point of m copies: on T^10 with 285 functions 590 ns, where 600 are measured."""
        # A state of size p is zero for the first p − 1 copies, which are not computed.
        touched = np.diff(self.starts) @ np.maximum(m + 1 - self.sizes, 0)
        return 0.15 * float(touched) + 0.3 * m * self.table.size + 0.3 * len(self.outputs)

    def block(self, n: int) -> int:
        """How many points a block of the loop has, for a table of n points."""
        return block_size(n, len(self.starts) + self.table.size, _SMALLEST_BLOCK, _STATES_BYTES)

    def run(self, copies: Array, steps: Steps | None = None) -> Array:
        """The states in `outputs` after all copies, by plain NumPy.

        Parameters
        ----------
        copies : ndarray of shape (A, n, m)
            The values of the one-copy functions at each copy.
        steps : Steps, optional
            What `steps()` returns, if it is known.
        """  # -> (outputs, n)
        return self._grown(copies, self.steps() if steps is None else steps)[self.outputs]

    def _grown(self, copies: Array, steps: Steps) -> Array:
        """All states after all copies."""  # (A, n, m) -> (states, n)
        A, n, m = copies.shape
        if m > _MANY_COPIES:  # the states of both halves, then all ways to share a multiset between the halves
            half = -(-m // 2)
            copies = np.concatenate([copies, np.zeros((A, n, 2 * half - m))], axis=2)  # zeros add nothing
            both = self._grown(np.concatenate([copies[:, :, :half], copies[:, :, half:]], axis=1), steps)
            return np.stack([(both[one, :n] * both[other, n:]).sum(axis=0) for one, other in self._shares()])
        sums = np.zeros((len(self.starts), n))
        sums[0] = 1.0
        for i in range(m):
            one = np.ascontiguousarray(copies[:, :, i])
            for size, state, label, rest in steps:
                if size <= i + 1:  # a state of size p is zero for the first p − 1 copies
                    sums[state] += one[label] * sums[rest]
        return sums

    def steps(self) -> Steps:
        """How one more copy changes all states, in steps that NumPy computes at once.

        A step has one entry of every state of one size, so that no state is in it twice. Steps of larger states come
        first: these grow from smaller states as they were before the copy.
        """
        count, steps = np.diff(self.starts), []
        for size in np.unique(self.sizes)[::-1]:
            same = self.sizes == size
            for j in range(int(count[same].max())):
                mine = np.flatnonzero(same & (count > j))
                steps.append((int(size), self.states[mine], *self.entries[self.starts[mine] + j].T))
        return steps

    def chains(self) -> CopyChains:
        """The same states as the loop of gradients reads them."""
        return CopyChains.of(self.table, self._multisets(), self.outputs)

    def by_function(self) -> list[tuple[int, Indices, Indices]]:
        """For each one-copy function a: the states whose multisets have it, and the states of these without a."""
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
        """For each state, all ways to split its multiset in two: the states of the first halves, and of the second."""
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
