"""Reverse passes by plain NumPy, for tables of few rows: the same steps as in `loops`, with nothing compiled."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP, SPHERE, TORUS, FactorTable
from specavg.functions._orthonormal_matrices import normalized

if TYPE_CHECKING:
    from specavg.functions._product_tree import ProductTree


def slopes_of_products(tree: ProductTree, X: Array, c: Array) -> Array:
    """The gradient of Σ c φ, the φ products along a tree; c (dim, 1), or (dim, n) with coefficients of each point."""
    # (n, d) -> (n, d)
    x = _coordinates(tree.table, X)
    radius2 = np.cumsum(x * x, axis=0)
    T = factors(tree.table, x, radius2)
    by = _by_factors(tree, T, c)
    back: Array = np.zeros(x.shape)
    radius_back: Array = np.zeros(x.shape)
    for f in range(tree.table.size - 1, -1, -1):
        (op, i, f1, f2, k), (a, b) = tree.table.operations[f], tree.table.constants[f]
        if op in (COSINE, SINE):
            back[i] += by[f] * _wave_slope(op, a, x[i])
            continue
        back[i] += a * T[f1] * by[f]  # a negative number means the last row, which is 1
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


def _by_factors(tree: ProductTree, T: Array, c: Array) -> Array:
    """What Σ c φ changes with every factor: the product above a node times the combination below it."""
    nodes, leaves = tree.nodes, tree.leaves
    owner = np.repeat(np.arange(len(nodes)), np.diff(tree.starts))
    levels = [np.flatnonzero(nodes[:, 0] == k) for k in range(tree.depth)]
    parent = np.zeros(len(nodes), dtype=np.intp)
    for above, level in pairwise(levels):
        parent[level] = above[np.searchsorted(above, level) - 1]  # the last one before it
    product = np.ones((len(nodes), T.shape[1]))
    for level in levels[1:]:
        product[level] = product[parent[level]] * T[nodes[level, 1]]
    below, by = np.zeros(product.shape), np.zeros(T.shape)
    mine = np.flatnonzero(nodes[:, 2] >= 0)
    below[mine] = c[nodes[mine, 2]]
    np.add.at(below, owner, c[leaves[:, 1]] * T[leaves[:, 0]])
    np.add.at(by, leaves[:, 0], c[leaves[:, 1]] * product[owner])
    for level in levels[:0:-1]:
        f, above = nodes[level, 1], parent[level]
        np.add.at(by, f, product[above] * below[level])
        np.add.at(below, above, T[f] * below[level])
    return by


def _coordinates(table: FactorTable, X: Array) -> Array:
    if table.mode == SPHERE:
        return table.scale[0] * normalized(X).T
    if table.mode == TORUS:
        turns = X.T * np.broadcast_to(table.scale, X.shape[1])[:, None]
        return turns - np.rint(turns)
    return np.ascontiguousarray(X.T)


def factors(table: FactorTable, x: Array, radius2: Array) -> Array:
    """Every row of the table; the row after them is 1."""  # (d, n) -> (F + 1, n)
    T = np.ones((table.size + 1, x.shape[1]))
    for f, ((op, i, f1, f2, k), (a, b)) in enumerate(zip(table.operations, table.constants, strict=True)):
        if op in (COSINE, SINE):
            T[f] = np.sqrt(2) * (np.cos if op == COSINE else np.sin)(2 * np.pi * a * x[i])
        else:
            T[f] = a * x[i] * T[f1] + b * T[f2] * (x[k] if op == PAIR else radius2[i] if op == SOLID_STEP else 1.0)
    return T


def slopes_of_factors(table: FactorTable, x: Array, T: Array) -> Array:
    """The derivatives of the rows of a table of one coordinate."""  # (n,), (F + 1, n) -> (F, n)
    slopes = np.zeros(T.shape)
    for f, ((op, _, f1, f2, _), (a, b)) in enumerate(zip(table.operations, table.constants, strict=True)):
        if op in (COSINE, SINE):
            slopes[f] = _wave_slope(op, a, x)
        else:
            slopes[f] = a * (T[f1] + x * slopes[f1]) + b * slopes[f2]
    return slopes[:-1]


def _wave_slope(op: int, a: float, x: Array) -> Array:
    """The derivative of √2 cos 2πax, or of √2 sin 2πax."""
    angle = 2 * np.pi * a * x
    return np.sqrt(2) * 2 * np.pi * a * (np.cos(angle) if op == SINE else -np.sin(angle))
