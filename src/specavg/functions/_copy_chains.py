"""The growth of sums over distinct copies, ordered in chains as the reverse pass of gradients reads it.

A state is the sum for one multiset of one-copy functions (`CopyByCopy`). One function, `along`, is the same for all
chains: the states of R, of R and `along`, of R and twice `along`, … are the chain of the multiset R. By one more copy,
a state grows from the state before it in its own chain, and from the states at the same place in the chains of R
without one of its functions. So four neighbours in a chain read neighbouring rows, and one loop serves all four.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._factor_table import FactorTable

Indices = NDArray[np.int64]
Multiset = tuple[int, ...]
# Memory of the states at a block of points; beyond it they are kept for some copies only, and computed twice. On T^10
# with 285 functions, which take 3.2 MB, all copies take 1.4 µs a point and four at a time 2.8 µs.
_STATES_BYTES = 8e6
_GUARD = 4  # rows of zeros at the end, in the place of the neighbours of chains that have none


class CopyChains(NamedTuple):
    """The chains that other states grow from, those of smaller multisets first.

    The derivatives of a combination by all states (`bar`) have a row for every state, with a row of zeros before each
    chain. Values are kept of the states that others grow from, in rows of their own.

    Attributes
    ----------
    table : FactorTable
        The one-copy functions of a single coordinate; no rows where their values are given.
    along : int
        The one-copy function that chains are repeated by.
    rows, kept : int
        Rows of `bar`, and rows that are kept for each copy. Row 1 of both is the empty multiset.
    largest : int
        The largest size of a multiset.
    chains : ndarray of int, shape (c, 4)
        The row before the first state that is kept, how many are, the size of R, and the row before the first in `bar`.
    starts : ndarray of int, shape (c + 1,)
        Chain i grows by the links starts[i]..starts[i + 1].
    links : ndarray of int, shape (L, 2)
        One-copy function, and the row before the chain without it among those kept.
    ends : ndarray of int, shape (c + 1,)
        Chain i is grown from by ends[i]..ends[i + 1] of `grown`.
    grown : ndarray of int, shape (M, 3)
        One-copy function, the row of `bar` before the chain with it, and how many states that one has; longer ones
        first.
    outputs : ndarray of int, shape (dim,)
        The rows of `bar` that are functions of the family.
    """

    table: FactorTable
    along: int
    rows: int
    kept: int
    largest: int
    chains: Indices
    starts: Indices
    links: Indices
    ends: Indices
    grown: Indices
    outputs: Indices

    @classmethod
    def of(cls, table: FactorTable, multisets: Sequence[Multiset], outputs: Indices) -> CopyChains:
        """From all states, with everything inside of them, and the numbers of those that are functions."""
        often = Counter(a for multiset in multisets for a in set(multiset))
        along = max(often, key=lambda a: (often[a], -a), default=0)
        length = Counter(_rest(multiset, along) for multiset in multisets)
        chains = sorted(length, key=lambda R: (len(R), R))
        first = _places(chains, [length[R] for R in chains])
        without = {R: [(a, _without(R, a)) for a in sorted(set(R))] for R in chains}
        ups: dict[Multiset, list[tuple[int, int, int]]] = {R: [] for R in chains}
        for R in chains:
            for a, S in without[R]:
                ups[S].append((a, first[R], length[R]))
        # Others grow from all states but the last, and from those that a longer multiset has too.
        inner = {R: max([length[R] - 1, *(up[2] for up in ups[R])]) for R in chains}
        inner[()] = max(inner[()], 1)  # kept even if there is nothing else
        kept = [R for R in chains if inner[R]]
        place = _places(kept, [inner[R] for R in kept])
        links = [[(a, place[S]) for a, S in without[R]] for R in kept]
        above = [sorted(ups[R], key=lambda up: -up[2]) for R in kept]
        return cls(
            table,
            along,
            sum(length[R] + 1 for R in chains) + _GUARD,
            sum(inner[R] + 1 for R in kept) + _GUARD,
            max(map(len, multisets)),
            _integers([(place[R], inner[R], len(R), first[R]) for R in kept], 4),
            _ends(links),
            _integers([link for mine in links for link in mine], 2),
            _ends(above),
            _integers([up for mine in above for up in mine], 3),
            np.array([first[_rest(S, along)] + 1 + S.count(along) for S in (multisets[i] for i in outputs)], np.int64),
        )

    def stretch(self, m: int) -> int:
        """Copies of m whose states are kept at a time: all, or about √m."""
        from specavg.functions.loops._copies_backwards import BLOCK

        def numbers(stretch: int) -> int:
            return (stretch - m // -stretch) * self.kept + self.rows + stretch * self.table.size

        stretch = m if 8.0 * BLOCK * numbers(m) <= _STATES_BYTES else int(np.ceil(np.sqrt(m)))
        what = f"{self.rows} sums over {stretch} of {m} copies at {BLOCK} points"
        require_memory(8.0 * BLOCK * numbers(stretch), what, "Lower the cutoff.")
        return stretch


def _places(chains: Sequence[Multiset], lengths: Sequence[int]) -> dict[Multiset, int]:
    """The row before the first state of each chain."""
    return dict(zip(chains, np.cumsum([0, *(count + 1 for count in lengths[:-1])]).tolist(), strict=True))


def _without(R: Multiset, a: int) -> Multiset:
    i = R.index(a)
    return R[:i] + R[i + 1 :]


def _rest(S: Multiset, along: int) -> Multiset:
    return tuple(a for a in S if a != along)


def _integers(rows: Sequence[Sequence[int]], width: int) -> Indices:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _ends(lists: Sequence[Sequence[object]]) -> Indices:
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)
