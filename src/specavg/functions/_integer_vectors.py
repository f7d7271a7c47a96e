"""Lists and trees of integer vectors, which are frequencies of waves or exponents of monomials.

A shell has the vectors k ≥ 0 of Z^d of one norm Σ k_i^p: |k|² for p = 2, the degree for p = 1. In a tree of vectors the
parent of a vector is the vector without its last non-zero entry. No function loops over vectors in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array


@dataclass(frozen=True)
class VectorShell:
    """The vectors k ≥ 0 of Z^d with Σ k_i^p = n, each as its parent and its last non-zero entry.

    The parent is in the shell n − value^p. A vector takes three integers, whatever d is.
    """

    parent: NDArray[np.int64]  # row of the parent in its shell
    coordinate: NDArray[np.int64]  # coordinate of the last non-zero entry
    value: NDArray[np.int64]  # that entry

    def __len__(self) -> int:
        return len(self.parent)


def shells(d: int, n: int, *, power: int = 2) -> dict[int, VectorShell]:
    """The shells 0, …, n of Z^d: by |k|² for `power` 2, by degree for `power` 1."""
    found = {0: VectorShell(*(np.full(1, v, dtype=np.int64) for v in (-1, -1, 0)))}
    for norm in range(1, n + 1):
        parents, coordinates, values = [], [], []
        for size in range(1, _largest(norm, power) + 1):
            above = found[norm - size**power]
            rows = np.arange(len(above))
            room = d - 1 - above.coordinate  # coordinates to the right of the parent's last
            parent = np.repeat(rows, room)
            start = np.repeat(np.cumsum(room) - room, room)
            coordinate = np.arange(len(parent)) - start + np.repeat(above.coordinate + 1, room)
            parents.append(parent)
            coordinates.append(coordinate)
            values.append(np.full(len(parent), size, dtype=np.int64))
        found[norm] = VectorShell(*(np.concatenate(part).astype(np.int64) for part in (parents, coordinates, values)))
    return found


def _largest(norm: int, power: int) -> int:
    """The largest entry of a vector of this norm."""
    return isqrt(norm) if power == 2 else norm


def one_after_another(
    shells: dict[int, VectorShell], *, power: int = 2
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[NDArray[np.int64], ...]]:
    """All vectors of the shells 0, …, n in one list.

    Returns
    -------
    starts : ndarray of int, shape (n + 2,)
        Where each shell starts in the list, and the length of the list.
    norm : ndarray of int
        The norm of each vector.
    parent, coordinate, value : ndarrays of int
        As in `VectorShell`, but parents are rows of the list. The zero vector is its own parent.
    """
    starts = np.cumsum([0, *(len(part) for part in shells.values())])
    norm = np.repeat(np.arange(len(shells)), np.diff(starts))
    parent, coordinate, value = (
        np.concatenate([getattr(part, name) for part in shells.values()]) for name in ("parent", "coordinate", "value")
    )
    parent = starts[norm - value**power] + parent
    parent[0] = 0
    return starts, norm, (parent, coordinate, value)


def dense(d: int, n: int, shells: dict[int, VectorShell], *, power: int = 2) -> NDArray[np.int64]:
    """The vectors of shell n, each as a row of d entries."""  # (vectors, d)
    vectors = {0: np.zeros((1, d), dtype=np.int64)}

    def fill(norm: int) -> NDArray[np.int64]:
        if norm not in vectors:
            part = shells[norm]
            rows = np.empty((len(part), d), dtype=np.int64)
            for size in range(1, _largest(norm, power) + 1):
                mine = part.value == size
                if mine.any():
                    rows[mine] = fill(norm - size**power)[part.parent[mine]]
            rows[np.arange(len(part)), part.coordinate] = part.value
            vectors[norm] = rows
        return vectors[norm]

    return fill(n)


def shell_sizes(d: int) -> Iterator[tuple[int, int]]:
    """Each n for which there are k in Z^d with |k|² = n, and how many there are.

    The numbers are exact. They are the coefficients of θ^d, θ = 1 + 2z + 2z⁴ + 2z⁹ + …, which obey a recurrence.
    """
    yield 0, 1
    if d == 1:  # only squares occur
        yield from ((j * j, 2) for j in count(1))
    sizes: list[int] = [1]
    for n in count(1):
        total = sum(2 * (j * j * (d + 1) - n) * sizes[n - j * j] for j in range(1, isqrt(n) + 1))
        sizes.append(total // n)
        if total:
            yield n, total // n


@dataclass(frozen=True)
class Tree:
    """Vectors k ≥ 0, each as its parent and its last non-zero entry."""

    norm: NDArray[np.int64]  # |k|², or another number that vectors are grouped by
    parent: NDArray[np.int64]  # row of the parent in this tree; row 0 is the zero vector, its own parent
    coordinate: NDArray[np.int64]  # coordinate of the last non-zero entry
    value: NDArray[np.int64]  # that entry
    depth: NDArray[np.int64]  # number of non-zero entries


_FEW = 4  # the most dimensions in which all vectors of a ball are listed at once; in more, they are listed by shells


@lru_cache(maxsize=8)
def frequency_tree(d: int, bound: int) -> Tree:
    """The tree of all k ≥ 0 of Z^d with |k|² ≤ bound, by increasing norm."""
    if d <= _FEW:
        K = ellipsoid(np.eye(d), float(bound))
        K = K[(K >= 0).all(axis=1)]
        norms = (K * K).sum(axis=1)
        order = np.argsort(norms, kind="stable")
        order = order[norms[order] <= bound]
        return tree_of(K[order], norms[order])
    starts, norm, (parent, coordinate, value) = one_after_another(shells(d, bound))
    depth = np.zeros(len(norm), dtype=np.int64)
    for start, end in pairwise(starts[1:]):
        depth[start:end] = depth[parent[start:end]] + 1
    return Tree(norm, parent, coordinate, value, depth)


def tree_of(K: NDArray[np.int64], norm: NDArray[np.int64]) -> Tree:
    """The tree of the vectors k ≥ 0 in the rows of K, which have the parent of each row among them."""
    rows = np.arange(len(K))
    last = K.shape[1] - 1 - (K[:, ::-1] != 0).argmax(axis=1)
    above = K.copy()
    above[rows, last] = 0
    return Tree(norm, rows_in(above, K).astype(np.int64), last, K[rows, last], (K != 0).sum(axis=1))


def ellipsoid(W: Array, bound: float) -> NDArray[np.int64]:
    """All k of Z^d with kᵀ W k ≤ bound, and some beyond it by rounding (Fincke and Pohst).

    The last coordinate is chosen first, for all candidates at once, then the one before it.
    """  # (d, d) -> (vectors, d)
    d = len(W)
    R = np.linalg.cholesky(W).T  # upper triangular, W = RᵀR
    vectors = np.zeros((1, d), dtype=np.int64)
    room = np.full(1, bound * (1 + 1e-12))  # what the coordinates chosen so far leave of the bound
    for i in range(d - 1, -1, -1):
        centre = -(vectors[:, i + 1 :] @ R[i, i + 1 :]) / R[i, i]
        radius = np.sqrt(np.maximum(room, 0)) / R[i, i]
        low = np.ceil(centre - radius - 1e-9).astype(np.int64)
        width = np.maximum(np.floor(centre + radius + 1e-9).astype(np.int64) - low + 1, 0)
        row = np.repeat(np.arange(len(vectors)), width)
        entry = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width) + low[row]
        vectors = vectors[row]
        vectors[:, i] = entry
        room = room[row] - (R[i, i] * (entry - centre[row])) ** 2
    return vectors


@lru_cache(maxsize=64)
def _hash_weights(d: int) -> NDArray[np.int64]:
    """Random integers, the same at every call, whose dot product with a vector is its hash."""
    return np.random.default_rng(1).integers(1, 2**62, size=d, dtype=np.int64)


def rows_in(rows: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[np.intp]:
    """The place in `table` of each of `rows`; −1 where it is not there. The rows of `table` are distinct.

    Rows are found by a hash, and then compared entry by entry.
    """
    weights = _hash_weights(table.shape[1])
    with np.errstate(over="ignore"):
        wanted, keys = rows @ weights, table @ weights  # modulo 2^64
    order = np.argsort(keys)
    if len(table) > 1 and (np.diff(keys[order]) == 0).any():
        raise AssertionError("two rows of the table are equal")
    place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(table) - 1)]
    return np.where((table[place] == rows).all(axis=1), place, -1)


def vector_tree(K: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """The tree of the distinct integer vectors in the rows of K, of any sign.

    The parent of a vector is the vector without its last non-zero entry. Node 0 is the zero vector. Parents that are no
    rows of K are nodes too, and every parent comes before its children.

    Returns
    -------
    parent, coordinate, value : ndarrays of int, shape (nodes,)
        The parent of each node, the coordinate of its last non-zero entry, and that entry.
    wanted : ndarray of int, shape (len(K),)
        The node of each row of K.
    """
    entries, base = _nonzero_entries(K)
    layers = [np.zeros((1, entries.shape[1]), dtype=np.int64), entries]
    while layers[-1].any():
        layers.append(distinct_rows(_without_last(layers[-1][layers[-1].any(axis=1)]))[0])
    vectors, place = distinct_rows(np.concatenate(layers))
    order = np.argsort((vectors != 0).sum(axis=1), kind="stable")  # the zero vector first
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    above = distinct_rows(np.concatenate([vectors, _without_last(vectors)]))[1][len(vectors) :]
    parent, last = rank[above][order], vectors[np.arange(len(vectors)), _last(vectors)][order]
    coordinate, value = np.divmod(last, base)
    return parent.astype(np.int64), coordinate - 1, value - base // 2, rank[place[1 : 1 + len(K)]].astype(np.int64)


def _nonzero_entries(K: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The non-zero entries of each row, each as one positive integer, followed by zeros; and the base of the integers.

    The integer of an entry is (coordinate + 1) · base + value + base // 2. In many coordinates most entries of a
    frequency are zero: sorting 8,000 full frequencies of 4,000 coordinates took 20 s and 2 GB.
    """  # (F, d) -> (F, s), s the largest number of non-zero entries
    base = 2 * int(np.abs(K).max(initial=0)) + 1
    row, column = np.nonzero(K)
    number = np.bincount(row, minlength=len(K))
    slot = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    entries = np.zeros((len(K), max(int(number.max(initial=0)), 1)), dtype=np.int64)
    entries[row, slot] = (column + 1) * base + K[row, column] + base // 2
    return entries, base


def _last(entries: NDArray[np.int64]) -> NDArray[np.intp]:
    """The place of the last non-zero entry of each row; 0 where there is none."""
    return np.maximum((entries != 0).sum(axis=1) - 1, 0)


def _without_last(entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows, with their last non-zero entries set to zero."""
    shorter = entries.copy()
    shorter[np.arange(len(entries)), _last(entries)] = 0
    return shorter


def distinct_rows(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct ones among rows of integers ≥ 0, sorted, and the place of each row among them.

    Where each row can be read as the digits of one 64-bit integer, these integers are sorted. Sorting the rows
    themselves takes five times as long.
    """
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] >= 2**62:
        found, place = np.unique(rows, axis=0, return_inverse=True)
        return found, place.ravel()
    keys = rows @ base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], place.ravel()
