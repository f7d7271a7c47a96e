"""Derivatives by all coordinates of sums of products, as over orbits, where each product is part of one sum.

The derivatives of a product are added to those of its sum at once, and are not stored: a sum has far fewer derivatives
than its products have together. Storing them took 27 times as long for 495 sums of 8008 products of ten coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import load, times
from specavg.functions.loops._tree_slopes import fill_slopes

_FEW = 8  # points of a block: the derivatives of 500 sums at 8 points stay in cache


@helper()
def _room(table: Any, d: int, B: int) -> Any:
    """Work space for a block: coordinates, and factors and their derivatives, with the constant 1 in their last row."""
    a = d + len(table.operations) + 1
    work = np.zeros((a + len(table.operations) + 1, B + PAD))
    work[a - 1, :] = 1.0
    return work[:d], work[d:a], work[a:]


@helper(fastmath=SAFE)
def _add(out: Any, c: float, a: Any, b: Any) -> None:
    """Add c times the products of two rows to `out`."""
    for j in range(_FEW):
        out[j] += c * a[j] * b[j]


@loop
def orbit_slopes(tree: Any, X: Any, label: Any, weights: Any, out: Any) -> None:
    """Add weights[slot] · ∇φ_slot to out[:, label[slot]], for all functions; `out` is of shape (n, p, d).

    label[slot] is the sum that a function is part of, or −1 for functions that are in none.
    """
    n, d = X.shape
    nodes, starts, leaves, ops = tree.nodes, tree.starts, tree.leaves, tree.table.operations
    B = _FEW
    x, T, D = _room(tree.table, d, B)
    # partial[depth, l] is the product at that depth with the derivative in place of its factor at depth l; for l = 0 it
    # is the product itself.
    partial = np.zeros((tree.depth, tree.depth, B))
    coordinate = np.zeros(tree.depth, dtype=np.int64)  # of the factor at each depth
    sums = np.zeros((out.shape[1], d, B))
    moved = np.ones((d, B))  # all coordinates move at once: each factor depends on one of them
    one = moved[0]
    partial[0, 0, :] = 1.0
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, x, T)
        fill_slopes(tree.table, x, moved, x, x, T, D, B)
        sums[:, :, :] = 0.0
        for i in range(len(nodes)):
            depth, f, slot = nodes[i, 0], nodes[i, 1], nodes[i, 2]
            mine = partial[depth]
            if i > 0:
                coordinate[depth] = ops[f, 1]
                above = partial[depth - 1]
                for l in range(depth):
                    times(above[l], T[f], mine[l], B)
                times(above[0], D[f], mine[depth], B)
            if slot >= 0 and label[slot] >= 0:
                for l in range(1, depth + 1):
                    _add(sums[label[slot], coordinate[l]], weights[slot], mine[l], one)
            for k in range(starts[i], starts[i + 1]):
                g, slot = leaves[k, 0], leaves[k, 1]
                if label[slot] >= 0:
                    mixed = sums[label[slot]]
                    for l in range(1, depth + 1):
                        _add(mixed[coordinate[l]], weights[slot], mine[l], T[g])
                    _add(mixed[ops[g, 1]], weights[slot], mine[0], D[g])
        for b in range(min(B, n - start)):
            for p in range(out.shape[1]):
                for i in range(d):
                    out[start + b, p, i] += sums[p, i, b]
