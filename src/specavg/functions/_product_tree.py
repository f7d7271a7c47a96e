"""Families of products, ready to run: a table of factors, a tree over it, and threads over the rows."""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory, settings
from specavg.functions._functions import Functions
from specavg.functions._threads import by_rows, compensated_sum, in_order, read_only, row_chunks

__all__ = [
    "COLUMN",
    "COSINE",
    "NO_MIXING",
    "PAIR",
    "SINE",
    "SOLID_STEP",
    "SPHERE",
    "STEP",
    "TABLE",
    "TORUS",
    "Mixing",
    "ProductTree",
    "Products",
    "block_size",
]

COSINE, STEP, SOLID_STEP, PAIR, COLUMN, SINE = range(6)
TORUS, SPHERE, TABLE = range(3)  # how points become coordinates: reduced modulo the period, normalised, as they are

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
_CACHE = 256 * 1024  # bytes that a block may fill: half of a common second-level cache
_SMALLEST, _LARGEST = 64, 512


def block_size(n: int, rows: int) -> int:
    """Points in a block, a multiple of 64, such that `rows` numbers a point stay in cache."""
    fitting = _CACHE // (8 * max(rows, 1)) // _SMALLEST * _SMALLEST
    return int(min(max(fitting, _SMALLEST), _LARGEST, -(-max(n, 1) // _SMALLEST) * _SMALLEST))


@final
class ProductTree:
    """weight · ∏ factors, one function for each wanted node of a tree.

    Parameters
    ----------
    mode : int
        How points become coordinates: `TORUS`, `SPHERE` or `TABLE`.
    scale : ndarray
        1/period of each coordinate on a torus; the radius of the sphere.
    operations : ndarray of int, shape (F, 5)
        The table: operation, coordinate, first row, second row, second coordinate.
    constants : ndarray of shape (F, 2)
    parent, factor : ndarray of int, shape (N,)
        The tree; node 0 is the constant 1, a parent comes before its children.
    wanted : ndarray of int, shape (dim,)
        Nodes that are functions of the family, in order.
    weights : ndarray of shape (dim,), optional
    solid : bool
        Whether the table needs the sums of the first squares of the coordinates.
    """

    def __init__(
        self,
        mode: int,
        scale: Array,
        operations: Indices,
        constants: Array,
        parent: Indices,
        factor: Indices,
        wanted: Indices,
        weights: Array | None = None,
        *,
        solid: bool = False,
    ) -> None:
        self.dim = len(wanted)
        self._weights = weights
        self._solid = solid
        nodes, starts, leaves = depth_first(parent, factor, wanted)
        self._depth = int(nodes[:, 0].max()) + 1
        self._scale = np.ascontiguousarray(scale, dtype=np.float64)
        self._mode = mode
        self._table = (
            np.ascontiguousarray(operations, dtype=np.int64).reshape(-1, 5),
            np.ascontiguousarray(constants, dtype=np.float64).reshape(-1, 2),
        )
        self._tree = (nodes, starts, leaves)

    @property
    def nanoseconds(self) -> float:
        """A forecast of the time for a point."""
        return 0.15 * self.dim + 1.5 * len(self._table[0])

    def _rows(self, d: int) -> int:
        return len(self._table[0]) + self._depth + d * (2 if self._solid else 1) + 1

    def _arguments(self, d: int) -> tuple[Any, ...]:
        radii = d if self._solid else 1
        return (self._mode, self._scale, radii, *self._table, *self._tree)

    def _check_memory(self, d: int, more: int) -> None:
        need = 8.0 * _SMALLEST * (self._rows(d) + more) * settings().n_threads
        require_memory(need, f"{self.dim} functions at {_SMALLEST} points", "Lower the cutoff.")

    def sums(self, X: Array, Y: Array) -> Array:
        """Φᵀ Y."""  # (n, d), (n, q) -> (dim, q)
        from specavg.functions.loops._tree import tree_sums

        loop: Any = tree_sums
        n, d = X.shape
        q = Y.shape[1]
        self._check_memory(d, 0)
        points, data = read_only(X), read_only(Y)
        size, arguments = block_size(n, self._rows(d)), self._arguments(d)

        def work(rows: slice) -> Array:
            out = np.zeros((q, self.dim))
            loop(*arguments, points[rows], data[rows], size, out)
            return out

        total = compensated_sum(in_order(work, row_chunks(n, q * self.dim)), (q, self.dim))
        return np.ascontiguousarray((total if self._weights is None else total * self._weights).T)

    def combine(self, X: Array, C: Array) -> Array:
        """Φ C."""  # (n, d), (dim, q) -> (n, q)
        from specavg.functions.loops._tree import tree_combine

        loop: Any = tree_combine
        n, d = X.shape
        self._check_memory(d, 0)
        weighted = C if self._weights is None else C * self._weights[:, None]
        points, coefficients = read_only(X), read_only(np.asarray(weighted.T))
        size, arguments = block_size(n, self._rows(d)), self._arguments(d)
        out = np.empty((n, C.shape[1]))
        return by_rows(loop, arguments, points, (coefficients, size), out)

    def values(self, X: Array, mixing: Mixing | None = None) -> Array:
        """Φ, or Φ Q for a sparse Q: the product is taken block by block, and Φ is never held."""  # (n, d) -> (n, dim)
        from specavg.functions.loops._tree import tree_values

        loop: Any = tree_values
        n, d = X.shape
        self._check_memory(d, self.dim)
        weights = self._weights
        if mixing is not None and weights is not None:
            mixing, weights = Mixing(mixing.starts, mixing.rows, mixing.weights * weights[mixing.rows]), None
        mixing = mixing or NO_MIXING
        points = read_only(X)
        width = len(mixing.starts) - 1 if len(mixing.starts) else self.dim
        size, arguments = block_size(n, self._rows(d) + self.dim), self._arguments(d)
        out = np.empty((n, width))
        by_rows(loop, arguments, points, (self.dim, *mixing, size), out)
        return out if weights is None else np.multiply(out, weights, out=out)


class Mixing(NamedTuple):
    """A sparse matrix Q by columns, as loops read it: column c has the entries starts[c]..starts[c + 1]."""

    starts: Indices
    rows: Indices
    weights: Array

    @classmethod
    def of(cls, Q: Any) -> Mixing:
        """From any SciPy sparse matrix."""
        columns = Q.tocsc()
        return cls(
            np.ascontiguousarray(columns.indptr, dtype=np.int64),
            np.ascontiguousarray(columns.indices, dtype=np.int64),
            np.ascontiguousarray(columns.data, dtype=np.float64),
        )


NO_MIXING = Mixing(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


def depth_first(parent: Indices, factor: Indices, wanted: Indices) -> tuple[Indices, Indices, Indices]:
    """The tree as the loops read it, without the branches that nobody wants.

    Returns
    -------
    nodes : ndarray of int, shape (I, 3)
        Inner nodes in depth-first order: depth, factor, place among the functions or -1.
    starts : ndarray of int, shape (I + 1,)
        The leaves of node i are starts[i]..starts[i + 1].
    leaves : ndarray of int, shape (L, 2)
        Factor and place of each leaf.
    """
    n = len(parent)
    parent = np.asarray(parent, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)
    place[wanted] = np.arange(len(wanted))
    depth = _depths(parent)
    levels = [np.flatnonzero(depth == k) for k in range(int(depth.max()) + 1)]
    kept = place >= 0
    kept[0] = True
    for level in levels[:0:-1]:
        kept[parent[level[kept[level]]]] = True
    inner = np.zeros(n, dtype=bool)
    inner[0] = True
    below = np.flatnonzero(kept)[1:]
    inner[parent[below]] = True
    size = inner.astype(np.int64)  # inner nodes of each subtree
    for level in levels[:0:-1]:
        np.add.at(size, parent[level], np.where(kept[level], size[level], 0))
    # A node stands right after its parent and the subtrees of the siblings before it.
    position = np.zeros(n, dtype=np.int64)
    for level in levels[1:]:
        mine = level[inner[level]]
        mine = mine[np.argsort(parent[mine], kind="stable")]
        before = np.cumsum(size[mine]) - size[mine]
        first = np.ones(len(mine), dtype=bool)
        first[1:] = parent[mine[1:]] != parent[mine[:-1]]
        family = np.cumsum(first) - 1
        position[mine] = position[parent[mine]] + 1 + before - before[first][family]
    order = np.flatnonzero(inner)
    order = order[np.argsort(position[order])]
    nodes = np.stack([depth[order], factor[order], place[order]], axis=1)
    ends = np.flatnonzero(kept & ~inner)
    owner = position[parent[ends]]
    sort = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[sort], np.arange(len(order) + 1))
    leaves = np.stack([factor[ends[sort]], place[ends[sort]]], axis=1)
    return tuple(np.ascontiguousarray(a, dtype=np.int64) for a in (nodes, starts, leaves))  # pyright: ignore[reportReturnType]


def _depths(parent: Indices) -> Indices:
    """Steps to the root, by doubling."""
    n = len(parent)
    steps = (np.arange(n) > 0).astype(np.int64)
    above = parent.copy()
    above[0] = 0
    while above.any():
        steps += steps[above]
        above = above[above]
    return steps


class Products(Functions):
    """Products of factors along a tree, compiled. A subclass says which tree, and keeps a plain version to check it."""

    _FEW = 8  # columns of data up to which one run through the tree for each beats values and a matrix product

    @cached_property
    def program(self) -> ProductTree:
        """The compiled tree."""
        raise NotImplementedError

    @abc.abstractmethod
    def plain_values(self, X: Array) -> Array:
        """The same values by plain NumPy: what the compiled ones are tested against."""

    def values(self, X: Array) -> Array:
        return self.program.values(X)

    def evaluate(self, X: Array) -> Array:
        self._require_values(len(X))
        return self.values(X)

    def correlate(self, X: Array, Y: Array) -> Array:
        return self.program.sums(X, Y) if Y.shape[1] <= self._FEW else super().correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self.program.combine(X, C) if C.shape[1] <= self._FEW else super().combine(X, C)
