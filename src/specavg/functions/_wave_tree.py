"""Frequencies as a tree: the parent of a frequency is the frequency without its last non-zero entry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._integer_vectors import distinct_rows, vector_tree
from specavg.functions._product_tree import depth_first

Indices = NDArray[np.int64]


class WaveTree(NamedTuple):
    """Waves e^{2πik·u} of many frequencies k as complex products along a tree, as the loops read it.

    Attributes
    ----------
    scale : ndarray of shape (d,)
        1/period of each coordinate.
    factors : ndarray of int, shape (F, 2)
        The coordinate j and the size |v| of each factor e^{2πi|v|u_j}.
    nodes : ndarray of int, shape (I, 4)
        The nodes with children, and the root, depth first: depth, factor, sign of the entry v (a factor is conjugated
        where it is −1), and place among the waves or −1.
    starts : ndarray of int, shape (I + 1,)
        The leaves below node i are starts[i], …, starts[i + 1] − 1.
    leaves : ndarray of int, shape (L, 3)
        The nodes without children, v and −v together: factor, place of the wave with |v|, and place of that with −|v|;
        −1 where there is no such wave.
    dim : int
        The number of functions: a cosine and a sine of each wave.
    """

    scale: Array
    factors: Indices
    nodes: Indices
    starts: Indices
    leaves: Indices
    dim: int

    @classmethod
    def of(cls, period: Array, K: Indices) -> WaveTree:
        """The tree of the frequencies in the rows of K, which are distinct."""  # (F, d)
        return cls(1.0 / period, *_wave_tree(K), 2 * len(K))


def _wave_tree(K: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Factors, nodes, starts and leaves of a `WaveTree`."""
    parent, last, value, wanted = vector_tree(K)
    pairs, factor = distinct_rows(np.stack([last[1:], np.abs(value[1:])], axis=1))
    code = np.concatenate([[0], 2 * factor + (value[1:] < 0)]).astype(np.int64)
    nodes, starts, leaves = depth_first(parent, code, wanted)
    inner = np.stack([nodes[:, 0], nodes[:, 1] // 2, 1 - 2 * (nodes[:, 1] % 2), nodes[:, 2]], axis=1)
    owner = np.repeat(np.arange(len(nodes)), np.diff(starts))
    keys, row = distinct_rows(np.stack([owner, leaves[:, 0] // 2], axis=1))
    both = np.full((len(keys), 3), -1, dtype=np.int64)
    both[:, 0] = keys[:, 1]
    both[row, 1 + leaves[:, 0] % 2] = leaves[:, 1]
    ends = np.searchsorted(keys[:, 0], np.arange(len(nodes) + 1))
    tables = (pairs.reshape(-1, 2), inner, ends, both)
    return tuple(np.ascontiguousarray(table, dtype=np.int64) for table in tables)  # pyright: ignore[reportReturnType]
