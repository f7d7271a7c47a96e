"""Sums over distinct copies, computed copy by copy (`CopyByCopy`): E(S) += Σ_a ψ_a(x_i) E(S without a), in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import GIVEN, SPHERE, TABLE, TORUS
from specavg.functions.loops._feature_rows import add_multiple
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import dot, fill

TILE = 8  # copies whose coordinates are read together: a cache line of each point has 8 numbers


@helper(fastmath=SAFE)
def grow1(out: Any, a: Any, b: Any, B: int) -> None:
    """Add the products of the rows a and b to `out`."""
    for j in range(B):
        out[j] += a[j] * b[j]


@helper(fastmath=SAFE)
def grow2(out: Any, a: Any, b: Any, c: Any, d: Any, B: int) -> None:
    """Add the products of the rows a and b, and of c and d, to `out`."""
    for j in range(B):
        out[j] = out[j] + a[j] * b[j] + c[j] * d[j]


@helper(fastmath=True)
def norm(point: Any) -> float:
    """The norm of one point. The order in which squares are added depends on the number of coordinates only."""
    total = 0.0
    for i in range(len(point)):
        total += point[i, 0] * point[i, 0]
    return np.sqrt(total)


@helper(fastmath=SAFE)
def coordinates(table: Any, X: Any, start: int, first: int, last: int, scale: Any, x: Any, B: int) -> None:
    """Write the coordinates of the copies first, …, last − 1 at one block of points to the rows of x.

    They are multiplied by `scale`, one number for each point, and on tori reduced to |x| ≤ 1/2.
    """
    n = len(X)
    for b in range(B):
        point = X[min(start + b, n - 1)]
        for i in range(first, last):
            x[i - first, b] = point[i, 0]
    for i in range(last - first):
        row = x[i]
        for b in range(B):
            row[b] *= scale[b]
        if table.mode == TORUS:
            for b in range(B):
                row[b] -= np.rint(row[b])


@helper()
def _block(program: Any, X: Any, start: int, B: int, scale: Any, x: Any, T: Any, nodes: Any) -> None:
    """Write the states at one block of points, after all copies, to `nodes`; the other arrays are work space."""
    n, m, given = X.shape
    table, states, starts, entries = program.table, program.states, program.starts, program.entries
    nodes[:, :] = 0.0
    nodes[0, :] = 1.0
    for b in range(B):
        scale[b] = 1.0 if table.mode == TABLE else table.scale[0]
        if table.mode == SPHERE:
            scale[b] /= norm(X[min(start + b, n - 1)])
    begin = len(states)
    for i in range(m):
        if table.mode == GIVEN:
            for b in range(B):
                point = X[min(start + b, n - 1), i]
                for a in range(given):
                    T[a, b] = point[a]
        else:
            if i % TILE == 0:
                coordinates(table, X, start, i, min(i + TILE, m), scale, x, B)
            fill(table, x[i % TILE : i % TILE + 1], x, B, T)
        while begin > 0 and program.sizes[begin - 1] <= i + 1:  # states of more than i + 1 factors are still zero
            begin -= 1
        for k in range(begin, len(states)):
            node, e, end = nodes[states[k]], starts[k], starts[k + 1]
            while e + 2 <= end:
                grow2(node, T[entries[e, 0]], nodes[entries[e, 1]], T[entries[e + 1, 0]], nodes[entries[e + 1, 1]], B)
                e += 2
            if e < end:
                grow1(node, T[entries[e, 0]], nodes[entries[e, 1]], B)


@helper()
def _room(program: Any, X: Any, B: int) -> Any:
    """Work space for a block: scale, x, T and nodes of `_block`, and a row for data or a combination."""
    a = 1 + TILE
    b = a + max(len(program.table.operations), X.shape[2]) + 1
    work = np.empty((b + len(program.starts) + 1, B + PAD))
    work[b - 1, :] = 1.0
    return work[0], work[1:a], work[a:b], work[b:-1], work[-1]


@loop
def copies_sums(program: Any, X: Any, Y: Any, B: int, out: Any) -> None:
    """Add Φᵀ Y to `out` (q, dim)."""
    n, outputs = len(X), program.outputs
    scale, x, T, nodes, w = _room(program, X, B)
    for start in range(0, n, B):
        _block(program, X, start, B, scale, x, T, nodes)
        for column in range(Y.shape[1]):
            w[:] = 0.0
            for b in range(min(B, n - start)):
                w[b] = Y[start + b, column]
            for k in range(len(outputs)):
                out[column, k] += dot(nodes[outputs[k]], w, B)


@loop
def copies_combine(program: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put Φ Cᵀ in `out` (n, q); C is of shape (q, dim)."""
    n, outputs = len(X), program.outputs
    scale, x, T, nodes, w = _room(program, X, B)
    for start in range(0, n, B):
        _block(program, X, start, B, scale, x, T, nodes)
        for column in range(len(C)):
            w[:] = 0.0
            for k in range(len(outputs)):
                add_multiple(w, C[column, k], nodes[outputs[k]], B)
            for b in range(min(B, n - start)):
                out[start + b, column] = w[b]


@loop
def copies_values(program: Any, X: Any, B: int, out: Any) -> None:
    """Put Φ in `out` (n, dim)."""
    n, outputs = len(X), program.outputs
    scale, x, T, nodes, _ = _room(program, X, B)
    for start in range(0, n, B):
        _block(program, X, start, B, scale, x, T, nodes)
        for first in range(0, len(outputs), 16):  # 16 functions at a time, as in `transpose`
            for b in range(min(B, n - start)):
                for k in range(first, min(first + 16, len(outputs))):
                    out[start + b, k] = nodes[outputs[k], b]
