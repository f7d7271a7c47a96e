"""Frequencies as a tree: each is its parent, one entry less, and one more entry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._product_tree import depth_first

Indices = NDArray[np.int64]


class WaveTree(NamedTuple):
    """Waves of many frequencies as complex products along a tree, as the loops read it.

    Attributes
    ----------
    scale : ndarray of shape (d,)
        1/period.
    factors : ndarray of int, shape (F, 2)
        Coordinate j and |v| of each factor e^{2πi v u_j}.
    nodes : ndarray of int, shape (I, 4)
        Inner nodes, depth first: depth, factor, sign of v, place among the waves or -1.
    starts : ndarray of int, shape (I + 1,)
        The leaves of node i are starts[i]..starts[i + 1].
    leaves : ndarray of int, shape (L, 3)
        Factor, place of v and place of −v, or -1.
    dim : int
        How many functions there are: a cosine and a sine of each wave.
    """

    scale: Array
    factors: Indices
    nodes: Indices
    starts: Indices
    leaves: Indices
    dim: int

    @classmethod
    def of(cls, period: Array, K: Indices) -> WaveTree:
        """The tree of the rows of K, which are distinct."""
        return cls(1.0 / period, *_wave_tree(K), 2 * len(K))


def _wave_tree(K: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Factors, nodes, starts and leaves of a `WaveTree`."""
    F = len(K)
    entries, base = _entries(K)
    # All vectors met when the last entries are taken away one after the other.
    layers = [entries]
    while layers[-1].any():
        layers.append(_distinct(_without_last(layers[-1][layers[-1].any(axis=1)]))[0])
    vectors, place = _distinct(np.concatenate(layers))
    depth = (vectors != 0).sum(axis=1)
    order = np.argsort(depth, kind="stable")  # the zero vector first, a parent before its children
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    vectors, wanted = vectors[order], rank[place[:F]]
    coordinate, value = np.divmod(vectors[np.arange(len(vectors)), _last(vectors)], base)
    last, value = coordinate - 1, value - base // 2
    parent = rank[_find(_without_last(vectors), vectors[rank])]  # `vectors[rank]` is sorted as they were found
    parent[0] = 0
    pairs, factor = _distinct(np.stack([last[1:], np.abs(value[1:])], axis=1))
    code = np.concatenate([[0], 2 * factor + (value[1:] < 0)]).astype(np.int64)
    nodes, starts, leaves = depth_first(parent, code, wanted.astype(np.int64))
    inner = np.stack([nodes[:, 0], nodes[:, 1] // 2, 1 - 2 * (nodes[:, 1] % 2), nodes[:, 2]], axis=1)
    owner = np.repeat(np.arange(len(nodes)), np.diff(starts))
    keys, row = _distinct(np.stack([owner, leaves[:, 0] // 2], axis=1))
    both = np.full((len(keys), 3), -1, dtype=np.int64)
    both[:, 0] = keys[:, 1]
    both[row, 1 + leaves[:, 0] % 2] = leaves[:, 1]
    ends = np.searchsorted(keys[:, 0], np.arange(len(nodes) + 1))
    tables = (pairs.reshape(-1, 2), inner, ends, both)
    return tuple(np.ascontiguousarray(table, dtype=np.int64) for table in tables)  # pyright: ignore[reportReturnType]


def _entries(K: Indices) -> tuple[Indices, int]:
    """The non-zero entries of each row, as one integer each: (coordinate + 1) · base + value + base // 2; then zeros.

    Most of a frequency in many coordinates is zero: sorting 8,000 as they are in 4,000 coordinates took 20 s and 2 GB.
    """  # (F, d) -> (F, s)
    base = 2 * int(np.abs(K).max(initial=0)) + 1
    row, column = np.nonzero(K)
    number = np.bincount(row, minlength=len(K))
    slot = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    entries = np.zeros((len(K), max(int(number.max(initial=0)), 1)), dtype=np.int64)
    entries[row, slot] = (column + 1) * base + K[row, column] + base // 2
    return entries, base


def _last(entries: Indices) -> Indices:
    """The last entry of each row that is not zero, 0 where there is none."""
    return np.maximum((entries != 0).sum(axis=1) - 1, 0)


def _without_last(entries: Indices) -> Indices:
    """The rows without their last entries."""
    shorter = entries.copy()
    shorter[np.arange(len(entries)), _last(entries)] = 0
    return shorter


def _find(rows: Indices, table: Indices) -> Indices:
    """Where each of `rows` stands in `table`, whose rows are distinct and sorted."""
    return _distinct(np.concatenate([table, rows]))[1][len(table) :]


def _distinct(rows: Indices) -> tuple[Indices, NDArray[np.intp]]:
    """The distinct rows of non-negative integers, sorted, and the place of each row among them.

    As one number for each row where that is one: sorting rows of numbers takes five times as long.
    """
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] >= 2**62:
        found, place = np.unique(rows, axis=0, return_inverse=True)
        return found, place.ravel()
    keys = rows @ base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], place.ravel()
