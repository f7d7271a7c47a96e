"""Products of factors along a tree (`ProductTree`): sums against data, combinations and values, block by block.

Every node is its parent times one factor, a row of the `FactorTable`. Inner nodes are visited depth first, so that only
one product for each depth is kept, in `stack`. Leaves are not kept: sums need only the dot product of the parent and
the factor. Combinations go through the same tree from the last node to the first, as in Horner's rule: the value of a
node is its coefficient plus the sum, over its children, of factor · (value of the child).

`slot` is the place of a node among the functions, or −1, and T[f] is factor f at the points of a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP, SPHERE, TORUS
from specavg.functions.loops._feature_rows import add_multiple, finish
from specavg.functions.loops._jit import PAD, SAFE, helper, loop

_ROOT2 = float(np.sqrt(2.0))
ANGLE = float(np.sqrt(2.0) * 2 * np.pi)  # the derivative of √2 sin 2πax is this times a cos 2πax


@helper(fastmath=SAFE, early=True)
def _quarter(u: float) -> float:
    """The sine of 2πu for |u| ≤ 1/4, by an odd polynomial that interpolates it at Chebyshev points; error 1e-16."""
    v = u * u
    p = 0.10089695501646812
    p = p * v - 0.7177337921413454
    p = p * v + 3.8199280942271643
    p = p * v - 15.0946416761179
    p = p * v + 42.058693925428685
    p = p * v - 76.70585975282492
    p = p * v + 81.60524927607362
    p = p * v - 41.341702240399755
    p = p * v + 6.283185307179586
    return p * u


@helper(fastmath=SAFE, early=True)
def cosine(x: float) -> float:
    """The cosine of 2πx. It is even, and of period 1, to the last bit."""
    return _quarter(0.25 - abs(x - np.rint(x)))


@helper(fastmath=SAFE, early=True)
def sine(x: float) -> float:
    """The sine of 2πx. It is odd to the last bit."""
    r = x - np.rint(x)
    return _quarter(np.copysign(0.25 - abs(abs(r) - 0.25), r))


@helper(fastmath=SAFE)
def fill(table: Any, x: Any, radius2: Any, B: int, T: Any) -> None:
    """Write all rows of a table of factors at one block of points to T.

    Parameters
    ----------
    table : FactorTable
    x : array of shape (d, B)
        The coordinates.
    radius2 : array of shape (d, B)
        The sums x_1² + … + x_i². Only `SOLID_STEP` reads them.
    B : int
    T : array of shape (F + 1, B)
        The rows. Its last row has to be 1: a number −1 of a row means it.
    """
    ops, ab = table.operations, table.constants
    for f in range(len(ops)):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        row, xi = T[f], x[i]
        if op == COSINE:
            for j in range(B):
                row[j] = _ROOT2 * cosine(a * xi[j])
        elif op == SINE:
            for j in range(B):
                row[j] = _ROOT2 * sine(a * xi[j])
        else:  # one formula for all recurrences, so that it is compiled once
            first, second, other = T[f1], T[f2], T[-1]
            if op == PAIR:
                other = x[k]
            elif op == SOLID_STEP:
                other = radius2[i]
            for j in range(B):
                row[j] = a * xi[j] * first[j] + b * other[j] * second[j]


@helper(fastmath=SAFE)
def load(table: Any, X: Any, start: int, B: int, x: Any, radius2: Any, T: Any) -> None:
    """Read one block of points from X, and write its coordinates, sums of squares and factors.

    Parameters
    ----------
    table : FactorTable
    X : array of shape (n, d)
    start, B : int
        The first point of the block, and how many points it has. It is padded with the last point of X.
    x, radius2, T : arrays
        As in `fill`; all of them are written.
    """
    n, d = X.shape
    mode, scale = table.mode, table.scale
    for b in range(B):
        point = X[min(start + b, n - 1)]
        for i in range(d):
            x[i, b] = point[i]
    if mode == TORUS:
        for i in range(d):
            xi, per_period = x[i], scale[i]
            for b in range(B):
                u = xi[b] * per_period
                xi[b] = u - np.rint(u)
    elif mode == SPHERE:
        total = radius2[0]
        for b in range(B):
            total[b] = 0.0
        for i in range(d):
            xi = x[i]
            for b in range(B):
                total[b] += xi[b] * xi[b]
        for b in range(B):
            total[b] = scale[0] / np.sqrt(total[b])
        for i in range(d):
            xi = x[i]
            for b in range(B):
                xi[b] *= total[b]
        if len(radius2) == d:  # the sums x_1² + … + x_i², for `SOLID_STEP`
            xi = x[0]
            for b in range(B):
                total[b] = xi[b] * xi[b]
            for i in range(1, d):
                xi, before, after = x[i], radius2[i - 1], radius2[i]
                for b in range(B):
                    after[b] = before[b] + xi[b] * xi[b]
    fill(table, x, radius2, B, T)


@helper(fastmath=True)
def dot(p: Any, a: Any, B: int) -> float:
    """The sum of the products of two rows."""
    s = 0.0
    for j in range(B):
        s += p[j] * a[j]
    return s


@helper(fastmath=True)
def row_sum(p: Any, B: int) -> float:
    """The sum of the first B numbers of a row."""
    s = 0.0
    for j in range(B):
        s += p[j]
    return s


@helper()
def _rows4(T: Any, leaves: Any, k: int) -> Any:
    """The factors of the leaves k to k + 3."""
    return T[leaves[k, 0]], T[leaves[k + 1, 0]], T[leaves[k + 2, 0]], T[leaves[k + 3, 0]]


@helper(fastmath=True)
def _dot4(p: Any, rows: Any, B: int) -> tuple[float, float, float, float]:
    """The dot products of the row p with four rows: p is read once for all four."""
    a, b, c, d = rows
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(B):
        q = p[j]
        s0 += q * a[j]
        s1 += q * b[j]
        s2 += q * c[j]
        s3 += q * d[j]
    return s0, s1, s2, s3


@helper(fastmath=True)
def _dots2(p: Any, q: Any, a: Any, B: int) -> tuple[float, float]:
    """The dot products of the rows p and q with the row a, which is read once for both."""
    s, t = 0.0, 0.0
    for j in range(B):
        s += p[j] * a[j]
        t += q[j] * a[j]
    return s, t


@helper(fastmath=SAFE)
def times(p: Any, a: Any, out: Any, B: int) -> None:
    """Write the products of two rows to `out`."""
    for j in range(B):
        out[j] = p[j] * a[j]


@helper(fastmath=SAFE)
def _add4(out: Any, coefficients: Any, rows: Any, B: int) -> None:
    """Add multiples of four rows to `out`."""
    (c0, c1, c2, c3), (a, b, c, d) = coefficients, rows
    for j in range(B):
        out[j] = out[j] + c0 * a[j] + c1 * b[j] + c2 * c[j] + c3 * d[j]


@helper()
def _block_sums(tree: Any, T: Any, B: int, stack: Any, out: Any) -> None:
    """Add Σ_b y_b φ_slot(b) to out[slot] for all functions; stack[0] has the data y."""
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    for i in range(len(nodes)):
        depth, slot = nodes[i, 0], nodes[i, 2]
        if i > 0:
            times(stack[depth - 1], T[nodes[i, 1]], stack[depth], B)
        product = stack[depth]
        if slot >= 0:
            out[slot] += row_sum(product, B)
        k, end = starts[i], starts[i + 1]
        while k + 4 <= end:
            s0, s1, s2, s3 = _dot4(product, _rows4(T, leaves, k), B)
            out[leaves[k, 1]] += s0
            out[leaves[k + 1, 1]] += s1
            out[leaves[k + 2, 1]] += s2
            out[leaves[k + 3, 1]] += s3
            k += 4
        while k < end:
            out[leaves[k, 1]] += dot(product, T[leaves[k, 0]], B)
            k += 1


@helper()
def _block_sums2(tree: Any, T: Any, B: int, stack: Any, other: Any, out: Any, more: Any) -> None:
    """`_block_sums` for two columns of data at once, in `stack` and `other`: each factor is read once for both."""
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    for i in range(len(nodes)):
        depth, slot = nodes[i, 0], nodes[i, 2]
        if i > 0:
            times(stack[depth - 1], T[nodes[i, 1]], stack[depth], B)
            times(other[depth - 1], T[nodes[i, 1]], other[depth], B)
        p, q = stack[depth], other[depth]
        if slot >= 0:
            out[slot] += row_sum(p, B)
            more[slot] += row_sum(q, B)
        for k in range(starts[i], starts[i + 1]):
            s, t = _dots2(p, q, T[leaves[k, 0]], B)
            out[leaves[k, 1]] += s
            more[leaves[k, 1]] += t


@helper()
def _block_combine(tree: Any, T: Any, C: Any, B: int, stack: Any) -> None:
    """Write Σ_slot C[slot] φ_slot(b) to stack[0].

    The stack has to be zero before. Afterwards it is zero but for stack[0].
    """
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    for i in range(len(nodes) - 1, -1, -1):
        depth, slot = nodes[i, 0], nodes[i, 2]
        product = stack[depth]  # so far the sum of factor · value over the children that are inner nodes
        k, end = starts[i], starts[i + 1]
        while k + 4 <= end:
            four = C[leaves[k, 1]], C[leaves[k + 1, 1]], C[leaves[k + 2, 1]], C[leaves[k + 3, 1]]
            _add4(product, four, _rows4(T, leaves, k), B)
            k += 4
        while k < end:
            add_multiple(product, C[leaves[k, 1]], T[leaves[k, 0]], B)
            k += 1
        c = C[slot] if slot >= 0 else 0.0
        if i > 0:
            _close(stack[depth - 1], product, c, T[nodes[i, 1]], B)
        else:
            for j in range(B):
                product[j] += c


@helper(fastmath=SAFE)
def _close(above: Any, product: Any, c: float, factor: Any, B: int) -> None:
    """Add factor · (value of a node) to the row of its parent, and clear the row of the node."""
    for j in range(B):
        above[j] += factor[j] * (product[j] + c)
        product[j] = 0.0


@helper()
def _block_values(tree: Any, T: Any, B: int, stack: Any, values: Any) -> None:
    """Write φ_slot(b) to values[slot, b] for all functions."""
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    for i in range(len(nodes)):
        depth, slot = nodes[i, 0], nodes[i, 2]
        product = stack[depth]
        if i > 0:
            times(stack[depth - 1], T[nodes[i, 1]], product, B)
        if slot >= 0:
            row = values[slot]
            for j in range(B):  # numba takes seconds to compile an assignment between slices
                row[j] = product[j]
        for k in range(starts[i], starts[i + 1]):
            times(product, T[leaves[k, 0]], values[leaves[k, 1]], B)


@helper()
def _room(tree: Any, d: int, B: int) -> Any:
    """Work space for a block: x, radius2 and T of `load`, and two stacks with one product for each depth."""
    a = d + tree.radii
    b = a + len(tree.table.operations) + 1
    c = b + tree.depth
    work = np.empty((c + tree.depth, B + PAD))  # one array: Numba takes time to compile each call that makes one
    work[b - 1, :] = 1.0
    work[b:, :] = 0.0
    return work[:d], work[d:a], work[a:b], work[b:c], work[c:]


@loop
def tree_sums(tree: Any, X: Any, Y: Any, B: int, out: Any) -> None:
    """Add Φᵀ Y to `out` (q, dim)."""
    n, d = X.shape
    x, radius2, T, stack, other = _room(tree, d, B)
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, radius2, T)
        inside = min(B, n - start)
        column, last = 0, Y.shape[1]
        while column < last:
            stack[0, inside:] = 0.0
            for b in range(inside):
                stack[0, b] = Y[start + b, column]
            if column + 1 < last:
                other[0, inside:] = 0.0
                for b in range(inside):
                    other[0, b] = Y[start + b, column + 1]
                _block_sums2(tree, T, B, stack, other, out[column], out[column + 1])
                column += 2
            else:
                _block_sums(tree, T, B, stack, out[column])
                column += 1


@loop
def tree_combine(tree: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put Φ Cᵀ in `out` (n, q); C is of shape (q, dim)."""
    n, d = X.shape
    x, radius2, T, stack, _ = _room(tree, d, B)
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, radius2, T)
        for column in range(len(C)):
            _block_combine(tree, T, C[column], B, stack)
            for b in range(min(B, n - start)):
                out[start + b, column] = stack[0, b]
            stack[0, :] = 0.0


@loop
def tree_values(tree: Any, X: Any, mixing: Any, B: int, out: Any) -> None:
    """Put Φ, or with `mixing` sparse combinations Φ Q, in `out`."""
    n, d = X.shape
    x, radius2, T, stack, _ = _room(tree, d, B)
    values = np.empty((tree.dim, B + PAD))
    mixed = np.empty((max(len(mixing.starts) - 1, 0), B + PAD))
    stack[0, :] = 1.0
    for start in range(0, n, B):
        load(tree.table, X, start, B, x, radius2, T)
        _block_values(tree, T, B, stack, values)
        finish(values, mixing, mixed, min(B, n - start), out[start:])
