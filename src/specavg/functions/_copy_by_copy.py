"""Sums over distinct copies, computed copy by copy: which sums there are, and how one more copy changes each.

For one-copy functions ψ and a multiset S = {a, b, …} of them, E(S) is the sum of ψ_a(x_i) ψ_b(x_k) … over all choices
of distinct copies i, k, … among the copies so far. Choices that differ by an exchange of equal functions count once.
One more copy x adds Σ_a ψ_a(x) E(S without a), over the different a of S. The sum E(S) is called a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from itertools import zip_longest
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._copy_chains import CopyChains
from specavg.functions._factor_table import GIVEN, FactorTable
from specavg.functions._threads import block_size

Indices = NDArray[np.int64]
Multiset = tuple[int, ...]
# The most copies that NumPy adds one by one. More are divided into parts: a copy takes 10 µs at least, for any points.
_MANY_COPIES = 128
COPIES_HELD = 64  # copies whose one-copy values NumPy holds at a time: 512 functions at 30 points take 8 MB
# Points, times parts, that NumPy adds a copy to at once. On T^1000 with 649 states, an entry of the 1654 takes 1.7 ns
# with 8 of them, 1.1 ns with 64, 1.3 ns with 200 and 2.3 ns with 800, which are not in the cache.
_COLUMNS = 128
# The fewest points of a block, and the bytes that the states of a larger block may take. On T^10 with 285 states a
# point takes 830 ns in blocks of 64, 570 ns in blocks of 256 (600 kB) and 610 ns in blocks of 512. On T^40 with 2483
# states it takes 45, 35 and 56 µs.
_SMALLEST_BLOCK, _STATES_BYTES = 128, 600_000
_NO_TABLE = FactorTable.of(GIVEN, np.ones(1), np.empty((0, 5), dtype=np.int64), np.empty((0, 2)))


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

    def chains(self) -> CopyChains:
        """The same states as the loop of gradients reads them."""
        return CopyChains.of(self.table, self.multisets(), self.outputs)

    def multisets(self) -> list[Multiset]:
        """The multiset of each state."""
        multisets: list[Multiset] = [()] * len(self.starts)
        for state, start in zip(self.states[::-1], self.starts[:-1][::-1], strict=True):  # smaller ones first
            label, rest = self.entries[start]
            multisets[state] = tuple(sorted((int(label), *multisets[rest])))
        return multisets


@final
class PlainStates:
    """All states by plain NumPy and SciPy, with what follows from the program alone.

    Parameters
    ----------
    program : CopyByCopy
    copies : int
        The number of copies, m. Many copies are divided into `parts`, whose states are computed side by side.
    """

    def __init__(self, program: CopyByCopy, copies: int) -> None:
        self._program, self._copies = program, copies
        self._labels, self._rest = np.ascontiguousarray(program.entries.T)
        self._states = np.repeat(program.states, np.diff(program.starts))  # of each entry
        self.parts = 1 << max(-(-copies // _MANY_COPIES) - 1, 0).bit_length()

    def nothing_yet(self, n: int) -> Array:
        """The states of n points before the first copy."""  # (states, n)
        states = np.zeros((len(self._program.starts), n))
        states[0] = 1.0
        return states

    def after(self, states: Array, copy: Array) -> Array:
        """The states after one more copy, at which the one-copy functions have the values `copy`."""
        # (states, n), (A, n) -> (states, n)
        return states + self._by_state @ (copy.take(self._labels, axis=0) * states.take(self._rest, axis=0))

    def slopes_of_states(self, states: Array, slopes: Array) -> Array:
        """The derivatives of all states by one copy: `states` are those of the other copies."""
        # (states, n), (A, n, f) -> (states, n, f)
        terms = slopes.take(self._labels, axis=0) * states.take(self._rest, axis=0)[:, :, None]
        _, n, f = terms.shape
        return (self._by_state @ terms.reshape(len(terms), n * f)).reshape(len(states), n, f)

    def back(self, bar: Array, states: Array, copy: Array) -> tuple[Array, Array]:
        """The derivatives of a function by the values and the states before a copy, from those by the states after it.

        Parameters
        ----------
        bar : ndarray of shape (states, n)
            The derivatives by the states after the copy.
        states, copy : ndarrays of shape (states, n) and (A, n)
            The states before the copy, and the one-copy values at it.
        """  # -> (A, n), (states, n)
        mine = bar.take(self._states, axis=0)
        by = self._by_label(len(copy)) @ (states.take(self._rest, axis=0) * mine)
        return by, bar + self._by_rest @ (copy.take(self._labels, axis=0) * mine)

    @cached_property
    def _by_state(self) -> Any:
        """Sums of the entries of each state."""  # sparse (states, entries)
        return _sums_by(self._states, len(self._program.starts))

    @cached_property
    def _by_rest(self) -> Any:
        return _sums_by(self._rest, len(self._program.starts))

    def _by_label(self, A: int) -> Any:
        return _sums_by(self._labels, A)

    def run(self, values: Callable[[slice], Array], n: int) -> Array:
        """The states in `outputs` of n points after all copies.

        Parameters
        ----------
        values : callable
            Returns the values of the one-copy functions at some copies, of shape (A, copies, n).
        """  # -> (outputs, n)
        m, parts = self._copies, self.parts
        states, step = self.nothing_yet(n * parts), parts * -(-COPIES_HELD // parts)
        for start in range(0, m, step):
            some = values(slice(start, min(start + step, m)))
            if more := -some.shape[1] % parts:
                some = np.concatenate([some, np.zeros((len(some), more, n))], axis=1)  # zeros add nothing
            some = some.reshape(len(some), some.shape[1] // parts, parts * n)  # copy i belongs to part i modulo `parts`
            for first in range(0, parts * n, _COLUMNS):
                columns = slice(first, first + _COLUMNS)
                grown = (np.ascontiguousarray(some[:, i, columns]) for i in range(some.shape[1]))
                states[:, columns] = reduce(self.after, grown, states[:, columns])
        while states.shape[1] > n:
            halves = states.reshape(2 * len(states), -1)  # a row of the first half of the parts, and one of the second
            states = np.zeros((len(states), halves.shape[1]))
            for mine, one, other in self._shares:
                states[mine] += halves.take(2 * one, axis=0) * halves.take(2 * other + 1, axis=0)
        return states[self._program.outputs]

    @cached_property
    def _shares(self) -> list[Indices]:
        """All ways to split multisets in two: some states, those of their first parts, and those of their second.

        The first entry of the list has one way to split every state; the next has another way where there is one, ….
        """
        multisets = self._program.multisets()
        place = {multiset: i for i, multiset in enumerate(multisets)}
        splits: dict[Multiset, list[tuple[Multiset, Multiset]]] = {(): [((), ())]}
        for S in sorted(multisets, key=len)[1:]:
            a, often = S[:1], S.count(S[0])
            splits[S] = [(i * a + X, (often - i) * a + Y) for i in range(often + 1) for X, Y in splits[S[often:]]]
        ways = [[(place[S], place[X], place[Y]) for X, Y in split] for S, split in splits.items()]
        return [np.array([each for each in way if each is not None]).T for way in zip_longest(*ways)]


def _sums_by(index: Indices, rows: int) -> Any:
    """The matrix that sums rows with the same index."""  # sparse (rows, len(index))
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(index)), (index, np.arange(len(index)))), shape=(rows, len(index)))
