"""Families of products: a table of factors, and a tree over it."""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._compiled import FEW_COLUMNS, Compiled, Loops
from specavg.functions._factor_table import SPHERE, FactorTable
from specavg.functions._functions import Functions
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._plain_products import TreeLevels, plain_products, slopes_of_products
from specavg.functions._threads import for_all_rows, in_order, read_only, row_chunks

Indices = NDArray[np.int64]
_SLOPE_BYTES = 1e6  # memory of a block and its derivatives: the size of a common second-level cache
_SLOPE_BLOCK = 192  # points: on T^10 64 take 425 ns a point, 192 take 350 and 512 take 380


class ProductTree(NamedTuple):
    """∏ factors for each wanted node of a tree, as the loops read it.

    Attributes
    ----------
    table : FactorTable
    nodes, starts, leaves : ndarrays of int
        See `depth_first`.
    dim : int
        The number of functions.
    depth : int
        How many inner nodes stand above one another, the root counted.
    radii : int
        How many sums of the first squares of the coordinates are kept: d for homogeneous polynomials, else 1.
    """

    table: FactorTable
    nodes: Indices
    starts: Indices
    leaves: Indices
    dim: int
    depth: int
    radii: int = 1

    @classmethod
    def of(cls, table: FactorTable, parent: Indices, factor: Indices, wanted: Indices, radii: int = 1) -> ProductTree:
        """From the parent and the last factor of each node, node 0 the constant, and the nodes that are functions."""
        nodes, starts, leaves = depth_first(parent, factor, wanted)
        return cls(table, nodes, starts, leaves, len(wanted), int(nodes[:, 0].max()) + 1, radii)

    @property
    def nanoseconds(self) -> float:
        """A forecast of the time for a point; measured on T^10."""
        return 0.15 * self.dim + 1.5 * self.table.size


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

    @property
    def dim(self) -> int:
        """The number of columns."""
        return len(self.starts) - 1

    def weighted(self, factors: Array | float) -> Mixing:
        """diag(factors) Q, or a multiple of Q."""
        scale = factors[self.rows] if isinstance(factors, np.ndarray) else factors
        return self._replace(weights=self.weights * scale)


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


class MixedValues(Compiled):
    """A family whose loop of values also makes sparse combinations, block by block: Φ is never held for them."""

    @property
    def weights(self) -> Array | None:
        """A factor of each function; None where all are one."""  # (dim,)
        return None

    def _looped_values(self, X: Array) -> Array:
        values = self._mixed(X, NO_MIXING, self.dim)
        return values if self.weights is None else np.multiply(values, self.weights, out=values)

    def mixed_values(self, X: Array, Q: Any) -> Array:
        if isinstance(Q, np.ndarray) or self._few(len(X), len(X)):
            return super().mixed_values(X, Q)
        mixing = Mixing.of(Q)
        return self._mixed(X, mixing if self.weights is None else mixing.weighted(self.weights), mixing.dim)

    def _mixed(self, X: Array, mixing: Mixing, width: int) -> Array:
        out = np.empty((len(X), width))
        return self._filled(self._loops.values, X, (mixing, self._block(X, self.dim)), out)


class Products(MixedValues):
    """Weighted products of factors along a tree. A subclass says which tree."""

    @cached_property
    @abc.abstractmethod
    def tree(self) -> ProductTree:
        """The products."""

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._tree import tree_combine, tree_sums, tree_values

        return Loops(tree_sums, tree_combine, tree_values)

    @cached_property
    def _program(self) -> ProductTree:
        return self.tree

    @cached_property
    def _levels(self) -> TreeLevels:
        return TreeLevels.of(self.tree)

    def plain_values(self, X: Array) -> Array:
        values = plain_products(self.tree, self._levels, self._loaded(X))
        return values if self.weights is None else values * self.weights

    def _block_rows(self, d: int) -> int:
        return self.tree.table.size + 2 * self.tree.depth + 1 + d + self.tree.radii

    def _gathered(self, sums: Array) -> Array:
        return np.ascontiguousarray((sums if self.weights is None else sums * self.weights).T)

    def _spread(self, C: Array) -> Array:
        return np.asarray(C.T if self.weights is None else (C * self.weights[:, None]).T)

    def correlate(self, X: Array, Y: Array) -> Array:
        return super().correlate(X, Y) if Y.shape[1] <= FEW_COLUMNS else Functions.correlate(self, X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return super().combine(X, C) if C.shape[1] <= FEW_COLUMNS else Functions.combine(self, X, C)

    # --- gradients -----------------------------------------------------------------------------------

    def gradient(self, X: Array) -> Array:
        from specavg.functions.loops._tree_slopes import tree_slopes

        program, block, d = self._program, self._slope_block(X), X.shape[1]
        slopes = np.empty((len(X), self.dim, d))

        def work(rows: slice) -> None:
            points = X[rows]
            along = np.broadcast_to(np.eye(d)[:, None, :], (d, *points.shape))  # a direction for each coordinate
            tree_slopes(program, self._loaded(points), self._moved(points, along), block, slopes[rows])

        for_all_rows(work, len(X))
        return slopes if self.weights is None else slopes * self.weights[:, None]

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        from specavg.functions.loops._tree_slopes import tree_slope_sums

        program, block, shape = self._program, self._slope_block(X), (G.shape[2], self.dim)
        directions = G.transpose(2, 0, 1)

        def work(rows: slice) -> Array:
            out = np.zeros(shape)
            V = self._moved(X[rows], directions[:, rows])
            tree_slope_sums(program, self._loaded(X[rows]), V, block, out)
            return out

        chunks = row_chunks(len(X), int(np.prod(shape)))
        return self._gathered(compensated_sum(in_order(work, chunks), shape))

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self.combine_both(X, C)[1]

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        if not self._few(len(X), len(X)):
            return super().pointwise_gradient(X, W)
        return slopes_of_products(self.tree, self._levels, self._loaded(X), self._spread(W.T).T)

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        if self._few(len(X)):
            return self.combine(X, C), self._plain_slopes(X, C)
        from specavg.functions.loops._tree_backwards import LARGEST_BLOCK, tree_gradient_combine

        program, coefficients = self._program, read_only(self._spread(C))
        block = min(self._block(X, self._block_rows(X.shape[1])), LARGEST_BLOCK)  # every row has two halves
        coordinates = self._loaded(X[:1]).shape[1]
        values, out = np.empty((len(X), C.shape[1])), np.empty((len(X), coordinates, C.shape[1]))

        def work(rows: slice) -> None:
            tree_gradient_combine(program, self._loaded(X[rows]), coefficients, block, values[rows], out[rows])

        for_all_rows(work, len(X))
        return values, out

    def _plain_slopes(self, X: Array, C: Array) -> Array:
        """The gradient of Φ C by plain NumPy."""  # (n, coordinates, q)
        spread, parts = self._spread(C), []
        for rows in self.chunks(len(X), 8.0 * (4 * self.dim + 2 * self._block_rows(X.shape[1]))):
            points = self._loaded(X[rows])
            slopes = [slopes_of_products(self.tree, self._levels, points, c[:, None]) for c in spread]
            parts.append(np.stack(slopes, axis=2))
        return np.concatenate(parts)

    def _slope_block(self, X: Array) -> int:
        rows = 2 * self._block_rows(X.shape[1]) + self.tree.table.size
        smallest = self._block(X, rows)  # refused where even this is too much memory
        return min(max(smallest, int(_SLOPE_BYTES / (8 * rows)) // 64 * 64), _SLOPE_BLOCK)

    def _moved(self, X: Array, V: Array) -> Array:
        """Directions as the coordinates of the table move: scaled, and tangential on a sphere."""  # (q, n, d)
        table = self.tree.table
        if table.mode == SPHERE:
            unit = normalized(X)
            V = V - np.einsum("qni,ni->qn", V, unit)[:, :, None] * unit
        return np.ascontiguousarray(V * table.scale)
