"""Families of products of factors. Products that begin with the same factors share them, as the nodes of a tree."""

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
_SLOPE_BYTES = 1e6  # bytes of a block of points with its derivatives: the size of a common second-level cache
# Points of the largest block whose derivatives are computed at once. On T^10 a point takes 425 ns in blocks of 64,
# 350 ns in blocks of 192 and 380 ns in blocks of 512.
_SLOPE_BLOCK = 192


class ProductTree(NamedTuple):
    """Products of factors along a tree, as the loops read it.

    The root is the constant 1. Every other node is its parent times one factor. Some of the nodes are the functions of
    the family.

    Attributes
    ----------
    table : FactorTable
        The factors.
    nodes, starts, leaves : ndarrays of int
        The tree, as `depth_first` returns it.
    dim : int
        The number of functions.
    depth : int
        The largest number of inner nodes on a path from the root, with the root.
    radii : int
        How many of the sums x_1² + … + x_i² the loops keep: d for homogeneous polynomials, else 1.
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
        """The products of a tree that is given node by node.

        Parameters
        ----------
        table : FactorTable
        parent, factor : ndarrays of int, shape (nodes,)
            The parent of each node, and the row of the table that it is multiplied by. Node 0 is the constant.
        wanted : ndarray of int, shape (dim,)
            The nodes that are functions.
        radii : int
            See the attribute.
        """
        nodes, starts, leaves = depth_first(parent, factor, wanted)
        return cls(table, nodes, starts, leaves, len(wanted), int(nodes[:, 0].max()) + 1, radii)

    @property
    def nanoseconds(self) -> float:
        """A forecast of the time that sums over data take for one point; measured on T^10."""
        return 0.15 * self.dim + 1.5 * self.table.size


class Mixing(NamedTuple):
    """A sparse matrix Q by columns, as loops read it: column c has the entries starts[c], …, starts[c + 1] − 1."""

    starts: Indices  # (columns + 1,)
    rows: Indices  # of each entry
    weights: Array  # the entries

    @classmethod
    def of(cls, Q: Any) -> Mixing:
        """Q from any SciPy sparse matrix."""
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


NO_MIXING = Mixing(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))  # loops then write Φ itself


def depth_first(parent: Indices, factor: Indices, wanted: Indices) -> tuple[Indices, Indices, Indices]:
    """A tree as the loops read it, without the nodes that have no wanted node below them.

    Parameters
    ----------
    parent, factor : ndarrays of int, shape (nodes,)
        The parent of each node, and the factor that it is multiplied by. Node 0 is the root.
    wanted : ndarray of int, shape (dim,)
        The nodes that are functions.

    Returns
    -------
    nodes : ndarray of int, shape (I, 3)
        The nodes with children, and the root, depth first: depth, factor, and place among the functions or −1.
    starts : ndarray of int, shape (I + 1,)
        The leaves below node i are starts[i], …, starts[i + 1] − 1.
    leaves : ndarray of int, shape (L, 2)
        The nodes without children: factor, and place among the functions.
    """
    n = len(parent)
    parent = np.asarray(parent, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)
    place[wanted] = np.arange(len(wanted))
    depth = _depths(parent)
    levels = [np.flatnonzero(depth == k) for k in range(int(depth.max()) + 1)]
    kept = place >= 0  # nodes that are functions, or that a function is below
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
    # Depth first, a node comes after its parent and after the subtrees of the siblings before it.
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
    """The number of steps from each node to the root, by pointer doubling."""
    n = len(parent)
    steps = (np.arange(n) > 0).astype(np.int64)
    above = parent.copy()  # the node that many steps up
    above[0] = 0
    while above.any():
        steps += steps[above]
        above = above[above]
    return steps


class MixedValues(Compiled):
    """A family whose loop of values also makes sparse combinations Φ Q, block by block, without holding Φ."""

    @property
    def weights(self) -> Array | None:
        """The number that each product of the loop is multiplied by; None where all are one."""  # (dim,)
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
    """Products of factors along a tree, times `weights`. A subclass says which tree and which weights."""

    @cached_property
    @abc.abstractmethod
    def tree(self) -> ProductTree:
        """The products, without their weights."""

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

    # --- gradients ---

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
        block = min(self._block(X, self._block_rows(X.shape[1])), LARGEST_BLOCK)  # a value and a derivative in each row
        coordinates = self._loaded(X[:1]).shape[1]
        values, out = np.empty((len(X), C.shape[1])), np.empty((len(X), coordinates, C.shape[1]))

        def work(rows: slice) -> None:
            tree_gradient_combine(program, self._loaded(X[rows]), coefficients, block, values[rows], out[rows])

        for_all_rows(work, len(X))
        return values, out

    def _plain_slopes(self, X: Array, C: Array) -> Array:
        """The gradient of Φ C by plain NumPy."""  # (n, d), (dim, q) -> (n, coordinates, q)
        spread, parts = self._spread(C), []
        for rows in self.chunks(len(X), 8.0 * (4 * self.dim + 2 * self._block_rows(X.shape[1]))):
            points = self._loaded(X[rows])
            slopes = [slopes_of_products(self.tree, self._levels, points, c[:, None]) for c in spread]
            parts.append(np.stack(slopes, axis=2))
        return np.concatenate(parts)

    def _slope_block(self, X: Array) -> int:
        """How many points a block of the loops of derivatives has."""
        rows = 2 * self._block_rows(X.shape[1]) + self.tree.table.size
        smallest = self._block(X, rows)  # raises an error where even this takes too much memory
        return min(max(smallest, int(_SLOPE_BYTES / (8 * rows)) // 64 * 64), _SLOPE_BLOCK)

    def _moved(self, X: Array, V: Array) -> Array:
        """The derivatives of the table's coordinates along the directions V at X: scaled, tangential on a sphere."""
        # (n, d), (q, n, d) -> (q, n, d)
        table = self.tree.table
        if table.mode == SPHERE:
            unit = normalized(X)
            V = V - np.einsum("qni,ni->qn", V, unit)[:, :, None] * unit
        return np.ascontiguousarray(V * table.scale)
