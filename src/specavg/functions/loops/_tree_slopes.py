"""Derivatives of products along a tree (`ProductTree`) along a direction v at each point.

Each row has its derivative along v in a row of its own, whose name begins with d: dT beside T, dp beside p.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import ANGLE, cosine, load, row_sum, sine


@helper(fastmath=SAFE)
def _directions(V: Any, start: int, B: int, x: Any, v: Any, radius2: Any, dr: Any) -> None:
    """Write the directions of one block to v, zero past the last point, and the derivatives of `radius2` to dr."""
    n, d = V.shape
    inside = min(B, n - start)
    for i in range(d):
        row = v[i]
        for b in range(inside):
            row[b] = V[start + b, i]
        for b in range(inside, B):
            row[b] = 0.0
    if len(radius2) == d:
        for i in range(d):
            row, xi, vi, before = dr[i], x[i], v[i], dr[max(i - 1, 0)]
            for b in range(B):
                row[b] = (before[b] if i > 0 else 0.0) + 2.0 * xi[b] * vi[b]


@helper(fastmath=SAFE)
def fill_slopes(table: Any, x: Any, v: Any, radius2: Any, dr: Any, T: Any, dT: Any, B: int) -> None:
    """Write the derivatives of all rows T of a table of factors along v to dT; its last row, that of 1, is zero."""
    ops, ab = table.operations, table.constants
    last = dT[-1]
    for j in range(B):
        last[j] = 0.0
    for f in range(len(ops)):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        row, xi, vi = dT[f], x[i], v[i]
        if op == COSINE:
            for j in range(B):
                row[j] = -ANGLE * a * sine(a * xi[j]) * vi[j]
        elif op == SINE:
            for j in range(B):
                row[j] = ANGLE * a * cosine(a * xi[j]) * vi[j]
        else:
            first, second, dfirst, dsecond, other, dother = T[f1], T[f2], dT[f1], dT[f2], T[-1], last
            if op == PAIR:
                other, dother = x[k], v[k]
            elif op == SOLID_STEP:
                other, dother = radius2[i], dr[i]
            for j in range(B):
                row[j] = a * (vi[j] * first[j] + xi[j] * dfirst[j]) + b * (
                    dother[j] * second[j] + other[j] * dsecond[j]
                )


@helper(fastmath=SAFE)
def _times(p: Any, dp: Any, a: Any, da: Any, out: Any, dout: Any, B: int) -> None:
    """Write the product of two rows, and its derivative."""
    for j in range(B):
        out[j] = p[j] * a[j]
        dout[j] = p[j] * da[j] + dp[j] * a[j]


@helper(fastmath=SAFE)
def _slope(p: Any, dp: Any, a: Any, da: Any, out: Any, B: int) -> None:
    """Write the derivative of the product of two rows."""
    for j in range(B):
        out[j] = p[j] * da[j] + dp[j] * a[j]


@helper(fastmath=True)
def _slope_sum(p: Any, dp: Any, a: Any, da: Any, B: int) -> float:
    """The sum, over the block, of the derivative of the product of two rows."""
    s = 0.0
    for j in range(B):
        s += p[j] * da[j] + dp[j] * a[j]
    return s


@helper()
def _room(tree: Any, d: int, B: int) -> Any:
    """Work space: x, radius2 and T of `load`, a stack with one product for each depth, and the derivatives of all."""
    a = d + tree.radii
    b = a + len(tree.table.operations) + 1
    c = b + tree.depth
    work = np.zeros((2 * c, B + PAD))
    work[b - 1, :] = 1.0
    work[b, :] = 1.0
    values, slopes = work[:c], work[c:]
    return values[:d], values[d:a], values[a:b], values[b:], slopes[:d], slopes[d:a], slopes[a:b], slopes[b:]


@loop
def tree_slope_sums(tree: Any, X: Any, V: Any, B: int, out: Any) -> None:
    """Add Σ_i (v_i·∇)φ(x_i) to `out` (q, dim); V is of shape (q, n, d)."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    x, radius2, T, stack, v, dr, dT, dstack = _room(tree, d, B)
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, radius2, T)
        for column in range(len(V)):
            _directions(V[column], start, B, x, v, radius2, dr)
            fill_slopes(tree.table, x, v, radius2, dr, T, dT, B)
            sums = out[column]
            for i in range(len(nodes)):
                depth, f, slot = nodes[i, 0], nodes[i, 1], nodes[i, 2]
                p, dp = stack[depth], dstack[depth]
                if i > 0:
                    _times(stack[depth - 1], dstack[depth - 1], T[f], dT[f], p, dp, B)
                if slot >= 0:
                    sums[slot] += row_sum(dp, B)
                for k in range(starts[i], starts[i + 1]):
                    g = leaves[k, 0]
                    sums[leaves[k, 1]] += _slope_sum(p, dp, T[g], dT[g], B)


@loop
def tree_slopes(tree: Any, X: Any, V: Any, B: int, out: Any) -> None:
    """Put (v·∇)φ in `out` (n, dim, q); V is of shape (q, n, d)."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    x, radius2, T, stack, v, dr, dT, dstack = _room(tree, d, B)
    row = np.empty(B + PAD)
    for start in range(0, n, B):
        inside = min(B, n - start)
        load(tree.table, X, start, B, x, radius2, T)
        for column in range(len(V)):
            _directions(V[column], start, B, x, v, radius2, dr)
            fill_slopes(tree.table, x, v, radius2, dr, T, dT, B)
            for i in range(len(nodes)):
                depth, f, slot = nodes[i, 0], nodes[i, 1], nodes[i, 2]
                p, dp = stack[depth], dstack[depth]
                if i > 0:
                    _times(stack[depth - 1], dstack[depth - 1], T[f], dT[f], p, dp, B)
                if slot >= 0:
                    for j in range(inside):
                        out[start + j, slot, column] = dp[j]
                for k in range(starts[i], starts[i + 1]):
                    g, slot = leaves[k, 0], leaves[k, 1]
                    _slope(p, dp, T[g], dT[g], row, B)
                    for j in range(inside):
                        out[start + j, slot, column] = row[j]
