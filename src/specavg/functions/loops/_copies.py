"""Sums over injective assignments of one-copy functions to copies, block by block.

Few copies: states grow copy by copy, E(S) += ψ_a(x_i) E(S without a), larger states first, in place. Many
copies: power sums Σ_i ∏ψ_a(x_i) of one point at a time, its copies side by side, then a straight-line program
on a block of points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._product_tree import SPHERE, TORUS
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import block_sums, fill, load

__all__ = ["symmetric"]

_PAD = 8
SUMS, COMBINE, VALUES = range(3)


@helper(fastmath=SAFE)
def _multiply_add(out: Any, a: Any, b: Any, B: int) -> None:
    for j in range(B):
        out[j] += a[j] * b[j]


@helper(fastmath=SAFE)
def _axpy(out: Any, c: float, a: Any, B: int) -> None:
    for j in range(B):
        out[j] += c * a[j]


@helper(fastmath=True)
def _dot(a: Any, b: Any, B: int) -> float:
    s = 0.0
    for j in range(B):
        s += a[j] * b[j]
    return s


@helper(fastmath=SAFE)
def _row(mode: int, scale: Any, point: Any, x: Any) -> None:
    """The copies of one point as coordinates."""
    m = len(point)
    if mode == TORUS:
        for i in range(m):
            u = point[i] * scale[0]
            x[i] = u - np.rint(u)
    elif mode == SPHERE:
        total = 0.0
        for i in range(m):
            total += point[i] * point[i]
        total = scale[0] / np.sqrt(total)
        for i in range(m):
            x[i] = point[i] * total
    else:
        for i in range(m):
            x[i] = point[i]


@helper()
def _few(mode: int, scale: Any, ops: Any, ab: Any, entries: Any, X: Any, given: Any, start: int, B: int,
         x: Any, radius2: Any, T: Any, nodes: Any) -> None:  # fmt: skip
    """States of a block, copy by copy."""
    n = len(X)
    m = given.shape[1] if len(given) else X.shape[1]
    nodes[:, :] = 0.0
    nodes[0, :] = 1.0
    if not len(given):
        load(mode, scale, X, start, B, x, radius2)
    for i in range(m):
        if len(given):
            for b in range(B):
                point = given[min(start + b, n - 1), i]
                for a in range(len(point)):
                    T[a, b] = point[a]
        else:
            fill(ops, ab, x[i : i + 1], radius2, B, T)
        for e in range(len(entries)):
            _multiply_add(nodes[entries[e, 0]], T[entries[e, 1]], nodes[entries[e, 2]], B)


@helper()
def _many(mode: int, scale: Any, ops: Any, ab: Any, tree: Any, starts: Any, leaves: Any, X: Any, given: Any,
          start: int, B: int, width: int, x: Any, radius2: Any, T: Any, stack: Any, sums: Any,
          part: Any) -> None:  # fmt: skip
    """Power sums of a block, one point after the other, `width` copies at a time."""
    n = len(X)
    m = given.shape[1] if len(given) else X.shape[1]
    stack[0, :] = 1.0
    for b in range(B):
        r = min(start + b, n - 1)
        if not len(given):
            _row(mode, scale, X[r], x[0])
        part[:] = 0.0
        for first in range(0, m, width):
            size = min(width, m - first)
            if len(given):
                for i in range(size):
                    values = given[r, first + i]
                    for a in range(len(values)):
                        T[a, i] = values[a]
            else:
                fill(ops, ab, x[:, first : first + size], radius2, size, T)
            block_sums(T, tree, starts, leaves, size, stack, part)
        for k in range(len(part)):  # numba takes seconds to compile an assignment between slices
            sums[k, b] = part[k]


@helper()
def _program(steps: Any, merged_starts: Any, merged: Any, sums: Any, nodes: Any, B: int) -> None:
    """Node = power sum · rest − Σ weight · node, one after the other."""
    nodes[0, :] = 1.0
    for k in range(len(steps)):
        node = nodes[k + 1]
        power, rest = sums[steps[k, 0]], nodes[steps[k, 1]]
        for j in range(B):
            node[j] = power[j] * rest[j]
        for e in range(merged_starts[k], merged_starts[k + 1]):
            _axpy(node, -float(merged[e, 0]), nodes[merged[e, 1]], B)


@loop
def symmetric(
    operation: int, few: bool, mode: int, scale: Any, ops: Any, ab: Any, tree: Any, starts: Any, leaves: Any,
    entries: Any, steps: Any, merged_starts: Any, merged: Any, size: int, outputs: Any, X: Any, given: Any,
    data: Any, B: int, out: Any,
) -> None:  # fmt: skip
    """One of the three operations on one chunk of rows.

    data is Y (n, q) for sums, C (q, dim) for combinations; out is (q, dim), (n, q) or (n, dim).
    """
    n, d = X.shape
    width = min(512, given.shape[1] if len(given) else d)
    rows = given.shape[2] if len(given) else len(ops)
    across = B if few else width
    x = np.empty((d if few else 1, (B if few else d) + _PAD))
    radius2 = np.empty((1, across + _PAD))
    T = np.empty((rows, across + _PAD))
    stack = np.empty((tree[:, 0].max() + 1, across + _PAD))
    count = 0
    for k in range(len(tree)):
        count = max(count, tree[k, 2] + 1)
    for k in range(len(leaves)):
        count = max(count, leaves[k, 1] + 1)
    sums, part = np.empty((count, B + _PAD)), np.empty(count)
    nodes = np.empty((size, B + _PAD))
    w = np.empty(B + _PAD)
    for start in range(0, n, B):
        inside = min(B, n - start)
        if few:
            _few(mode, scale, ops, ab, entries, X, given, start, B, x, radius2, T, nodes)
        else:
            _many(
                mode,
                scale,
                ops,
                ab,
                tree,
                starts,
                leaves,
                X,
                given,
                start,
                inside,
                width,
                x,
                radius2,
                T,
                stack,
                sums,
                part,
            )
            for b in range(inside, B):
                for k in range(count):
                    sums[k, b] = sums[k, inside - 1]
            _program(steps, merged_starts, merged, sums, nodes, B)
        if operation == SUMS:
            for column in range(data.shape[1]):
                w[:] = 0.0
                for b in range(inside):
                    w[b] = data[start + b, column]
                for k in range(len(outputs)):
                    out[column, k] += _dot(nodes[outputs[k]], w, B)
        elif operation == COMBINE:
            for column in range(len(data)):
                w[:] = 0.0
                for k in range(len(outputs)):
                    _axpy(w, data[column, k], nodes[outputs[k]], B)
                for b in range(inside):
                    out[start + b, column] = w[b]
        else:
            for first in range(0, len(outputs), 16):  # tile by tile, as in `turn`
                for b in range(inside):
                    for k in range(first, min(first + 16, len(outputs))):
                        out[start + b, k] = nodes[outputs[k], b]
