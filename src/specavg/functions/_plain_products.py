"""Products along a tree, and their derivatives, by NumPy alone, for tables of few rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP, SPHERE, TORUS, FactorTable
from specavg.functions._orthonormal_matrices import normalized

if TYPE_CHECKING:
    from specavg.functions._product_tree import ProductTree

Indices = NDArray[np.intp]
# How many frequencies, for each wave of a table of one coordinate, make stepping from frequency to frequency as slow as
# a sine or cosine for each wave: a step takes 2.5 ns, and a sine with its angle 20 ns.
_STEPS_A_WAVE = 8


class TreeLevels(NamedTuple):
    """The inner nodes of a `ProductTree`, grouped by depth.

    Attributes
    ----------
    levels : list of ndarrays of int
        The nodes of each depth; the first level is the root.
    parent : ndarray of int, shape (I,)
        The parent of each node; the root is its own parent.
    owner : ndarray of int, shape (L,)
        The parent of each leaf.
    places : ndarray of int, shape (dim,)
        The place of each function in the list of all leaves followed by all nodes.
    """

    levels: list[Indices]
    parent: Indices
    owner: Indices
    places: Indices

    @classmethod
    def of(cls, tree: ProductTree) -> TreeLevels:
        """The levels of `tree`, whose nodes are listed depth first."""
        levels = [np.flatnonzero(tree.nodes[:, 0] == depth) for depth in range(tree.depth)]
        parent = np.zeros(len(tree.nodes), dtype=np.intp)
        for above, level in pairwise(levels):
            parent[level] = above[np.searchsorted(above, level) - 1]  # the last node one level up that is listed before
        functions = np.concatenate([tree.leaves[:, 1], tree.nodes[:, 2]])  # −1 for nodes that are no functions
        places = np.argsort(functions, kind="stable")[-tree.dim :] if tree.dim else np.empty(0, dtype=np.intp)
        return cls(levels, parent, np.repeat(np.arange(len(tree.nodes)), np.diff(tree.starts)), places)

    def products(self, tree: ProductTree, T: Array) -> Array:
        """The product at each inner node, from the rows T of the table of factors."""  # (F + 1, n) -> (I, n)
        product = np.ones((len(tree.nodes), T.shape[1]))
        for level in self.levels[1:]:
            product[level] = product.take(self.parent[level], axis=0) * T.take(tree.nodes[level, 1], axis=0)
        return product


def plain_products(tree: ProductTree, levels: TreeLevels, X: Array) -> Array:
    """The values of the products along a tree."""  # (n, d) -> (n, dim)
    x = _coordinates(tree.table, X)
    T = factors(tree.table, x, np.cumsum(x * x, axis=0) if tree.radii > 1 else x)
    product = levels.products(tree, T)
    leaves = product.take(levels.owner, axis=0)
    leaves *= T.take(tree.leaves[:, 0], axis=0)
    return np.concatenate([leaves, product]).take(levels.places, axis=0).T


def slopes_of_products(tree: ProductTree, levels: TreeLevels, X: Array, c: Array) -> Array:
    """The gradient of Σ c φ, where φ are the products along a tree.

    Parameters
    ----------
    tree, levels : ProductTree and TreeLevels
    X : ndarray of shape (n, d)
    c : ndarray of shape (dim, 1) or (dim, n)
        One set of coefficients, or one for each point.
    """  # -> (n, d)
    x = _coordinates(tree.table, X)
    radius2 = np.cumsum(x * x, axis=0)
    T = factors(tree.table, x, radius2)
    by = _by_factors(tree, levels, T, c)
    back: Array = np.zeros(x.shape)
    radius_back: Array = np.zeros(x.shape)
    for f in range(tree.table.size - 1, -1, -1):
        (op, i, f1, f2, k), (a, b) = tree.table.operations[f], tree.table.constants[f]
        if op in (COSINE, SINE):
            back[i] += by[f] * _wave_slope(op, a, x[i])
            continue
        back[i] += a * T[f1] * by[f]  # f1 = −1 is the last row, which is 1
        by[f1] += a * x[i] * by[f]
        if op == PAIR:
            back[k] += b * T[f2] * by[f]
        elif op == SOLID_STEP:
            radius_back[i] += b * T[f2] * by[f]
        by[f2] += b * by[f] * (x[k] if op == PAIR else radius2[i] if op == SOLID_STEP else 1.0)
    back += 2.0 * x * np.cumsum(radius_back[::-1], axis=0)[::-1]  # x_k is part of every later sum of squares
    if tree.table.mode == SPHERE:  # x are unit vectors times the scale
        along = np.einsum("in,in->n", x, back) / tree.table.scale[0] ** 2
        back -= along * x
    scale: Array = np.broadcast_to(tree.table.scale, len(x))
    return (back * scale[:, None]).T


def _by_factors(tree: ProductTree, levels: TreeLevels, T: Array, c: Array) -> Array:
    """The derivative of Σ c φ by every factor.

    It is the sum, over all nodes with that factor, of the product at the parent times the combination of all that
    follows: `below` is Σ c (product of the factors after the node) over the functions at the node and below it.
    """  # (F + 1, n) -> (F + 1, n)
    nodes, leaves, (steps, parent, owner, _) = tree.nodes, tree.leaves, levels
    product = levels.products(tree, T)
    below, by = np.zeros(product.shape), np.zeros(T.shape)
    mine = np.flatnonzero(nodes[:, 2] >= 0)
    below[mine] = c[nodes[mine, 2]]
    np.add.at(below, owner, c[leaves[:, 1]] * T[leaves[:, 0]])
    np.add.at(by, leaves[:, 0], c[leaves[:, 1]] * product[owner])
    for level in steps[:0:-1]:
        f, above = nodes[level, 1], parent[level]
        np.add.at(by, f, product[above] * below[level])
        np.add.at(below, above, T[f] * below[level])
    return by


def _coordinates(table: FactorTable, X: Array) -> Array:
    """The coordinates x of a table of factors at given points; see `FactorTable.mode`."""  # (n, d) -> (d, n)
    if table.mode == SPHERE:
        return table.scale[0] * normalized(X).T
    if table.mode == TORUS:
        turns = X.T * np.broadcast_to(table.scale, X.shape[1])[:, None]
        return turns - np.rint(turns)
    return np.ascontiguousarray(X.T)


def factors(table: FactorTable, x: Array, radius2: Array) -> Array:
    """All rows of a table of factors, and a last row of ones.

    Parameters
    ----------
    table : FactorTable
    x : ndarray of shape (d, n)
        Coordinates, as `_coordinates` gives them.
    radius2 : ndarray of shape (d, n)
        The sums x_1² + … + x_i². Only `SOLID_STEP` reads them.
    """  # -> (F + 1, n)
    T = np.ones((table.size + 1, x.shape[1]))
    if table.mode == TORUS and len(x) == 1 and table.constants[:, 0].max(initial=0.0) <= _STEPS_A_WAVE * table.size:
        return _waves_by_addition(table, x[0], T)
    for wave, function in ((COSINE, np.cos), (SINE, np.sin)):  # all rows at once: T^1000 has thousands
        rows = np.flatnonzero(table.operations[:, 0] == wave)
        if len(rows):
            turns = x.take(table.operations[rows, 1], axis=0)
            turns = np.abs(turns) if wave == COSINE else turns  # cosines then have the same bits at x and −x
            T[rows] = np.sqrt(2) * function(2 * np.pi * table.constants[rows, :1] * turns)
    recurrences = np.flatnonzero((table.operations[:, 0] != COSINE) & (table.operations[:, 0] != SINE))
    for f in recurrences.tolist():
        (op, i, f1, f2, k), (a, b) = table.operations[f].tolist(), table.constants[f].tolist()
        np.multiply(a * x[i], T[f1], out=T[f])
        if b:
            T[f] += b * T[f2] if op not in (PAIR, SOLID_STEP) else b * T[f2] * (x[k] if op == PAIR else radius2[i])
    return T


def _waves_by_addition(table: FactorTable, x: Array, T: Array) -> Array:
    """T, after the waves of one coordinate are written to its rows, by e^{2πikx} = e^{2πi(k−1)x} e^{2πix}.

    Errors grow as the rounding of the angles 2πkx does: to 1e-13 at k = 256.
    """
    cosine, sine = np.cos(2 * np.pi * np.abs(x)), np.sin(2 * np.pi * x)
    wave = np.full(len(x), np.sqrt(2)), np.zeros(len(x))  # √2cos 2πkx and √2sin 2πkx
    rows: dict[int, list[tuple[int, bool]]] = {}
    for f, (op, k) in enumerate(zip(table.operations[:, 0], table.constants[:, 0].tolist(), strict=True)):
        rows.setdefault(int(k), []).append((f, bool(op == SINE)))
    for k in range(1, max(rows, default=0) + 1):
        wave = wave[0] * cosine - wave[1] * sine, wave[1] * cosine + wave[0] * sine
        for f, is_sine in rows.get(k, ()):
            T[f] = wave[is_sine]
    return T


def slopes_of_factors(table: FactorTable, x: Array, T: Array) -> Array:
    """The derivatives of the rows T of a table of one coordinate x."""  # (n,), (F + 1, n) -> (F + 1, n)
    if table.mode == TORUS:  # waves only: cosines become sines, and sines cosines
        other, sines = table.operations.copy(), table.operations[:, 0] == SINE
        other[:, 0] = np.where(sines, COSINE, SINE)
        slopes = factors(table._replace(operations=other), x[None], x[None])
        slopes[:-1] *= (2 * np.pi * table.constants[:, 0] * np.where(sines, 1.0, -1.0))[:, None]
        slopes[-1] = 0.0
        return slopes
    slopes = np.zeros(T.shape)
    for f, ((_, _, f1, f2, _), (a, b)) in enumerate(zip(table.operations, table.constants, strict=True)):
        slopes[f] = a * (T[f1] + x * slopes[f1]) + b * slopes[f2]
    return slopes


def _wave_slope(op: int, a: float, x: Array) -> Array:
    """The derivative of √2 cos 2πax, or of √2 sin 2πax."""
    angle = 2 * np.pi * a * x
    return np.sqrt(2) * 2 * np.pi * a * (np.cos(angle) if op == SINE else -np.sin(angle))
