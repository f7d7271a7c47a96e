"""Sums over distinct copies, listed in chains, as the loop of gradients reads them.

A state is the sum E(S) of `CopyByCopy` for one multiset S of one-copy functions. One of these functions is called
`along`. The chain of a multiset R without `along` has the states of R, of R and `along`, of R and twice `along`, and so
on. With one more copy, a state grows from the state before it in its own chain, and from the states at the same place
in the chains of R without one of its functions. So four neighbours in a chain read neighbouring rows, and one pass of a
loop computes all four.
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
# Bytes of the states of a block of points after every copy. Where they would take more, they are kept for a stretch of
# copies at a time, and computed twice. On T^10 with 285 functions (3.2 MB) a point takes 1.4 µs with the states of all
# copies, and 2.8 µs with stretches of four copies.
_STATES_BYTES = 8e6
_GUARD = 4  # rows of zeros after the last chain: the loop reads four rows where a chain has no partner


class CopyChains(NamedTuple):
    """The chains with states that others grow from, those of smaller multisets first.

    The loop works on two arrays. `bar` has the derivatives of a combination by all states, one row for each. The *kept*
    states, those that others grow from, have their values in rows of another array. Both have a row of zeros before
    each chain, and row 1 of both is the state of the empty multiset.

    Attributes
    ----------
    table : FactorTable
        The one-copy functions of a single coordinate; no rows where their values are given to the loop.
    along : int
        The one-copy function that is repeated along the chains.
    rows, kept : int
        The number of rows of `bar`, and of rows for kept states.
    largest : int
        The largest size of a multiset.
    chains : ndarray of int, shape (c, 4)
        For each chain: the row before its first kept state, how many of its states are kept, the size of R, and the row
        of `bar` before its first state.
    starts : ndarray of int, shape (c + 1,)
        Chain i grows from other chains by the links starts[i], …, starts[i + 1] − 1.
    links : ndarray of int, shape (L, 2)
        A one-copy function a of R, and the row before the first kept state of the chain of R without a.
    ends : ndarray of int, shape (c + 1,)
        The chains that grow from chain i are ends[i], …, ends[i + 1] − 1 of `grown`.
    grown : ndarray of int, shape (M, 3)
        A one-copy function a, the row of `bar` before the chain of R with a, and how many states that chain has. Longer
        chains come first.
    outputs : ndarray of int, shape (dim,)
        The rows of `bar` of the states that are functions of the family.
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
        """The chains of all states.

        Parameters
        ----------
        table : FactorTable
        multisets : sequence of tuples of int
            The multiset of each state, in increasing order. With a multiset all multisets inside it are listed.
        outputs : ndarray of int, shape (dim,)
            The states that are functions of the family.
        """
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
        # Kept are the states that others grow from: all of a chain but the last, and as many as a chain above has.
        inner = {R: max([length[R] - 1, *(up[2] for up in ups[R])]) for R in chains}
        inner[()] = max(inner[()], 1)  # the state of the empty multiset is always kept
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
        """After how many of m copies the states are kept at a time: all m, or about √m."""
        from specavg.functions.loops._copies_backwards import BLOCK

        def numbers(stretch: int) -> int:
            """How many numbers the loop keeps for each point."""
            return (stretch - m // -stretch) * self.kept + self.rows + stretch * self.table.size

        stretch = m if 8.0 * BLOCK * numbers(m) <= _STATES_BYTES else int(np.ceil(np.sqrt(m)))
        what = f"{self.rows} sums over {stretch} of {m} copies at {BLOCK} points"
        require_memory(8.0 * BLOCK * numbers(stretch), what, "Lower the cutoff.")
        return stretch


def _places(chains: Sequence[Multiset], lengths: Sequence[int]) -> dict[Multiset, int]:
    """The row before the first state of each chain."""
    return dict(zip(chains, np.cumsum([0, *(count + 1 for count in lengths[:-1])]).tolist(), strict=True))


def _without(R: Multiset, a: int) -> Multiset:
    """R without one a."""
    i = R.index(a)
    return R[:i] + R[i + 1 :]


def _rest(S: Multiset, along: int) -> Multiset:
    """S without any `along`: the R of its chain."""
    return tuple(a for a in S if a != along)


def _integers(rows: Sequence[Sequence[int]], width: int) -> Indices:
    """An array of these rows, also if there are none."""
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _ends(lists: Sequence[Sequence[object]]) -> Indices:
    """Where each list starts when all are written one after the other, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)
