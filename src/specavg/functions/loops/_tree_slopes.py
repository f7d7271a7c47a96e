"""Derivatives of products along a tree: forwards along a direction at each point, and backwards for all coordinates.

Forwards every row has its derivative beside it. Backwards, for a combination Σ c φ, the derivative by a factor is the
product of the node above times the combination below (Horner's value of the node), summed over all nodes with that
factor; the table of factors is then run backwards in the same way. So all coordinates together cost about three
combinations, however many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import add4, cosine, fill, load, sine

__all__ = ["fill_slopes", "tree_gradient_combine", "tree_slope_sums", "tree_slopes"]

_ANGLE = float(np.sqrt(2.0) * 2 * np.pi)  # the derivative of √2 sin 2πax is this times a cos 2πax
_PAD = 8


@helper(fastmath=SAFE)
def _wave_slope(sines: bool, a: float, x: Any, row: Any, B: int) -> None:
    """The derivative of √2 cos 2πax, or of √2 sin 2πax."""
    if sines:
        for j in range(B):
            row[j] = _ANGLE * a * cosine(a * x[j])
    else:
        for j in range(B):
            row[j] = -_ANGLE * a * sine(a * x[j])


@helper(fastmath=SAFE)
def _directions(V: Any, start: int, B: int, x: Any, v: Any, radius2: Any, dr: Any) -> None:
    """Rows of one block of directions, zero past the last point, and how the sums of squares change."""
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
    """The derivative of every row of the table along the direction v. The row after them is that of 1."""
    ops, ab = table.operations, table.constants
    last = dT[-1]
    for j in range(B):
        last[j] = 0.0
    for f in range(len(ops)):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        row, xi, vi = dT[f], x[i], v[i]
        if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
            _wave_slope(op == SINE, a, xi, row, B)
            for j in range(B):
                row[j] *= vi[j]
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
    for j in range(B):
        out[j] = p[j] * a[j]
        dout[j] = p[j] * da[j] + dp[j] * a[j]


@helper(fastmath=SAFE)
def _slope(p: Any, dp: Any, a: Any, da: Any, out: Any, B: int) -> None:
    for j in range(B):
        out[j] = p[j] * da[j] + dp[j] * a[j]


@helper(fastmath=True)
def _slope_sum(p: Any, dp: Any, a: Any, da: Any, B: int) -> float:
    s = 0.0
    for j in range(B):
        s += p[j] * da[j] + dp[j] * a[j]
    return s


@helper(fastmath=True)
def _sum(p: Any, B: int) -> float:
    s = 0.0
    for j in range(B):
        s += p[j]
    return s


@helper()
def _room(tree: Any, d: int, B: int) -> Any:
    """Work space: coordinates, sums of squares, table and products of one depth each, twice: derivatives beside."""
    a = d + tree.radii
    b = a + len(tree.table.operations) + 1
    c = b + tree.depth
    work = np.zeros((2 * c, B + _PAD))
    work[b - 1, :] = 1.0
    work[b, :] = 1.0
    return work[:c], work[c:], a, b


@loop
def tree_slope_sums(tree: Any, X: Any, V: Any, B: int, out: Any) -> None:
    """Add Σ_i (v_i·∇)φ(x_i) to `out` (q, dim) for one chunk of rows; V is (q, n, d)."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    work, slopes, a, b = _room(tree, d, B)
    x, radius2, T, stack = work[:d], work[d:a], work[a:b], work[b:]
    v, dr, dT, dstack = slopes[:d], slopes[d:a], slopes[a:b], slopes[b:]
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, radius2)
        fill(tree.table, x, radius2, B, T)
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
                    sums[slot] += _sum(dp, B)
                for k in range(starts[i], starts[i + 1]):
                    g = leaves[k, 0]
                    sums[leaves[k, 1]] += _slope_sum(p, dp, T[g], dT[g], B)


@loop
def tree_slopes(tree: Any, X: Any, V: Any, B: int, out: Any) -> None:
    """Put (v·∇)φ in `out` (n, dim, q) for one chunk of rows; V is (q, n, d)."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    work, slopes, a, b = _room(tree, d, B)
    x, radius2, T, stack = work[:d], work[d:a], work[a:b], work[b:]
    v, dr, dT, dstack = slopes[:d], slopes[d:a], slopes[a:b], slopes[b:]
    row = np.empty(B + _PAD)
    for start in range(0, n, B):
        inside = min(B, n - start)
        load(tree.table, X, start, B, x, radius2)
        fill(tree.table, x, radius2, B, T)
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


@helper(fastmath=SAFE)
def _add(out: Any, c: float, a: Any, B: int) -> None:
    for j in range(B):
        out[j] += c * a[j]


@helper(fastmath=SAFE)
def _add_product(out: Any, c: float, a: Any, b: Any, B: int) -> None:
    for j in range(B):
        out[j] += c * a[j] * b[j]


@helper(fastmath=SAFE)
def _next(p: Any, a: Any, row: Any, bar: Any, B: int) -> None:
    """What the combination below a node says of its factor, and in its place the product of the node."""
    for j in range(B):
        bar[j] += p[j] * row[j]
        row[j] = p[j] * a[j]


@helper()
def _add_rows(out: Any, c: Any, rows: Any, chosen: Any, k: int, end: int, B: int) -> None:
    """Add rows with the numbers chosen[:, 0], times c at the places chosen[:, 1]."""
    while k + 4 <= end:
        add4(
            out, c,
            chosen[k, 1], rows[chosen[k, 0]], chosen[k + 1, 1], rows[chosen[k + 1, 0]],
            chosen[k + 2, 1], rows[chosen[k + 2, 0]], chosen[k + 3, 1], rows[chosen[k + 3, 0]], B,
        )  # fmt: skip
        k += 4
    while k < end:
        _add(out, c[chosen[k, 1]], rows[chosen[k, 0]], B)
        k += 1


@helper()
def _backwards(table: Any, x: Any, radius2: Any, T: Any, wave: Any, bar: Any, xbar: Any, rbar: Any, B: int) -> None:
    """From derivatives by the rows of the table to those by the coordinates."""
    ops, ab = table.operations, table.constants
    for f in range(len(ops) - 1, -1, -1):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        t = bar[f]
        if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
            _add_product(xbar[i], 1.0, t, wave[f], B)
            continue
        _add_product(xbar[i], a, T[f1], t, B)
        _add_product(bar[f1], a, x[i], t, B)
        if b != 0.0:
            if op == PAIR:
                _add_product(xbar[k], b, T[f2], t, B)
                _add_product(bar[f2], b, x[k], t, B)
            elif op == SOLID_STEP:
                _add_product(rbar[i], b, T[f2], t, B)
                _add_product(bar[f2], b, radius2[i], t, B)
            else:
                _add(bar[f2], b, t, B)
    if len(rbar) == len(x):  # x_k is part of every later sum of squares
        for i in range(len(x) - 1, -1, -1):
            if i + 1 < len(x):
                _add(rbar[i], 1.0, rbar[i + 1], B)
            _add_product(xbar[i], 2.0, x[i], rbar[i], B)


@loop
def tree_gradient_combine(tree: Any, back: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put ∇(Φ Cᵀ) by the coordinates of the table in `out` (n, d, q) for one chunk of rows, C of shape (q, dim).

    `back` is the same tree, read backwards.
    """
    n, d = X.shape
    table, nodes, starts, leaves = tree.table, tree.nodes, tree.starts, tree.leaves
    work, bars, a, b = _room(tree, d, B)
    x, radius2, T = work[:d], work[d:a], work[a:b]
    xbar, rbar, bar = bars[:d], bars[d:a], bars[a:b]
    rows = np.empty((len(nodes), B + _PAD))  # the combination below each inner node; later the product of the node
    wave = np.zeros((len(table.operations), B + _PAD))
    for start in range(0, n, B):
        load(table, X, start, B, x, radius2)
        fill(table, x, radius2, B, T)
        for f in range(len(table.operations)):
            op = table.operations[f, 0]
            if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
                _wave_slope(op == SINE, table.constants[f, 0], x[table.operations[f, 1]], wave[f], B)
        for column in range(len(C)):
            c = C[column]
            bars[:b, :] = 0.0
            for i in range(len(nodes)):
                row, constant = rows[i], c[nodes[i, 2]] if nodes[i, 2] >= 0 else 0.0
                for j in range(B):
                    row[j] = constant
            for i in range(len(nodes) - 1, 0, -1):
                _add_rows(rows[i], c, T, leaves, starts[i], starts[i + 1], B)
                _add_product(rows[back.above[i]], 1.0, T[nodes[i, 1]], rows[i], B)
            rows[0, :] = 1.0
            for i in range(1, len(nodes)):
                f = nodes[i, 1]
                _next(rows[back.above[i]], T[f], rows[i], bar[f], B)
            for f in range(len(back.starts) - 1):
                _add_rows(bar[f], c, rows, back.owners, back.starts[f], back.starts[f + 1], B)
            _backwards(table, x, radius2, T, wave, bar, xbar, rbar, B)
            for i in range(d):
                for j in range(min(B, n - start)):
                    out[start + j, i, column] = xbar[i, j]
