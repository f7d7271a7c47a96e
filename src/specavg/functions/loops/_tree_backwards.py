"""Combinations of products along a tree, and their derivatives by all coordinates, in one walk through the tree.

On the way down the product of a node is its parent's times one factor; on the way up the combination below it, as in
Horner's rule, is complete. What a combination Σ c φ changes with a factor is the product above a node times the
combination below, summed over all nodes with that factor; the table of factors is then run backwards in the same way.
Only one product and one combination per depth are alive, so that everything stays in cache.

Every row has two halves: a value, and in the place `HALF` further what the combination changes with it (for a depth of
the tree: the product, and the combination below). A fixed distance between them lets the compiler see that the two do
not overlap. With halves as rows of their own it would not vectorise loops that write to several rows, and T^10 with 738
functions took 300 ns a point, not 215.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP, SPHERE
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import ANGLE, cosine, load, sine

LARGEST_BLOCK = 256  # points: on T^10 64 take 271 ns a point, 128 take 232, 192 take 219 and 256 take 216
HALF = LARGEST_BLOCK + 8  # halves of a whole number of pages would fall on the same cache sets


@helper(fastmath=SAFE)
def _open(above: Any, factor: Any, here: Any, c: float, B: int) -> None:
    for j in range(B):
        here[j] = above[j] * factor[j]
        here[HALF + j] = c


@helper(fastmath=SAFE)
def _open_leaf(above: Any, factor: Any, here: Any, c: float, w: float, a: Any, B: int) -> None:
    """Open a node with its first leaf."""
    for j in range(B):
        product = above[j] * factor[j]
        here[j] = product
        here[HALF + j] = c + w * a[j]
        a[HALF + j] += w * product


@helper(fastmath=SAFE)
def _leaf(here: Any, w: float, a: Any, B: int) -> None:
    for j in range(B):
        here[HALF + j] += w * a[j]
        a[HALF + j] += w * here[j]


@helper(fastmath=SAFE)
def _leaves3(here: Any, u: float, a: Any, v: float, b: Any, w: float, c: Any, B: int) -> None:
    for j in range(B):
        product = here[j]
        here[HALF + j] = here[HALF + j] + u * a[j] + v * b[j] + w * c[j]
        a[HALF + j] += u * product
        b[HALF + j] += v * product
        c[HALF + j] += w * product


@helper(fastmath=SAFE)
def _close(above: Any, factor: Any, here: Any, B: int) -> None:
    for j in range(B):
        below = here[HALF + j]
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper(fastmath=SAFE)
def _twig1(above: Any, factor: Any, c: float, w: float, a: Any, B: int) -> None:
    """A node with a single leaf and nothing else below it: opened and closed at once."""
    for j in range(B):
        below = c + w * a[j]
        a[HALF + j] += w * (above[j] * factor[j])
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper(fastmath=SAFE)
def _twig2(above: Any, factor: Any, c: float, v: float, a: Any, w: float, b: Any, B: int) -> None:
    """The same with two leaves."""
    for j in range(B):
        product, below = above[j] * factor[j], c + v * a[j] + w * b[j]
        a[HALF + j] += v * product
        b[HALF + j] += w * product
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper()
def _walk(tree: Any, c: Any, T: Any, stack: Any, path: Any, B: int) -> None:
    """The combination in the second half of stack[0], and what it changes with every factor in those of T."""
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    inside = 0  # the depth of the last node that is open
    for i in range(len(nodes)):
        depth, f, slot, k, end = nodes[i, 0], nodes[i, 1], nodes[i, 2], starts[i], starts[i + 1]
        while inside >= max(depth, 1):
            _close(stack[inside - 1], T[path[inside]], stack[inside], B)
            inside -= 1
        constant = c[slot] if slot >= 0 else 0.0
        if depth == 0:
            root = stack[0]
            for j in range(B):
                root[j] = 1.0
                root[HALF + j] = constant
        else:
            lowest = i + 1 == len(nodes) or nodes[i + 1, 0] <= depth
            above, g = stack[depth - 1], leaves[k, 0] if k < end else 0
            if lowest and end == k + 1:
                _twig1(above, T[f], constant, c[leaves[k, 1]], T[g], B)
                continue
            if lowest and end == k + 2:
                _twig2(above, T[f], constant, c[leaves[k, 1]], T[g], c[leaves[k + 1, 1]], T[leaves[k + 1, 0]], B)
                continue
            if (end - k) % 3 == 0:
                _open(above, T[f], stack[depth], constant, B)
            else:
                _open_leaf(above, T[f], stack[depth], constant, c[leaves[k, 1]], T[g], B)
                k += 1
            path[depth] = f
        inside = depth
        here = stack[depth]
        while k + 3 <= end:
            _leaves3(
                here, c[leaves[k, 1]], T[leaves[k, 0]], c[leaves[k + 1, 1]], T[leaves[k + 1, 0]],
                c[leaves[k + 2, 1]], T[leaves[k + 2, 0]], B,
            )  # fmt: skip
            k += 3
        while k < end:
            _leaf(here, c[leaves[k, 1]], T[leaves[k, 0]], B)
            k += 1
    while inside > 0:
        _close(stack[inside - 1], T[path[inside]], stack[inside], B)
        inside -= 1


@helper(fastmath=SAFE)
def _wave_back(sines: bool, a: float, x: Any, row: Any, B: int) -> None:
    """From √2 cos 2πax, or √2 sin 2πax, to x."""
    if sines:
        for j in range(B):
            x[HALF + j] += row[HALF + j] * (ANGLE * a * cosine(a * x[j]))
    else:
        for j in range(B):
            x[HALF + j] -= row[HALF + j] * (ANGLE * a * sine(a * x[j]))


@helper(fastmath=SAFE)
def _product_back(a: float, first: Any, second: Any, row: Any, B: int) -> None:
    """From a·first·second, a part of a row, to both factors."""
    for j in range(B):
        change = a * row[HALF + j]
        first[HALF + j] += second[j] * change
        second[HALF + j] += first[j] * change


@helper(fastmath=SAFE)
def _square_back(x: Any, before: Any, total: Any, B: int) -> None:
    """From the sum of squares `before` + x² to both."""
    for j in range(B):
        change = total[HALF + j]
        x[HALF + j] += 2.0 * x[j] * change
        before[HALF + j] += change


@helper()
def _table_back(table: Any, x: Any, radius2: Any, T: Any, B: int) -> None:
    """From what the combination changes with the rows of the table to what it changes with the coordinates."""
    ops, ab = table.operations, table.constants
    for f in range(len(ops) - 1, -1, -1):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
            _wave_back(op == SINE, a, x[i], T[f], B)
            continue
        _product_back(a, x[i], T[f1], T[f], B)  # a negative number means the last row: what is added to it is not read
        if b != 0.0:
            other = T[-1]
            if op == PAIR:
                other = x[k]
            elif op == SOLID_STEP:
                other = radius2[i]
            _product_back(b, other, T[f2], T[f], B)
    if len(radius2) == len(x):  # x_k is part of every later sum of squares
        for i in range(len(x) - 1, -1, -1):
            _square_back(x[i], radius2[i - 1] if i > 0 else T[-1], radius2[i], B)


@helper(fastmath=SAFE)
def _points_back(table: Any, x: Any, along: Any, B: int) -> None:
    """From coordinates of the table to those of points: scaled, and tangential on a sphere."""
    scale = table.scale
    for j in range(B):
        along[j] = 0.0
    if table.mode == SPHERE:
        for i in range(len(x)):
            xi = x[i]
            for j in range(B):
                along[j] += xi[j] * xi[HALF + j]
        for j in range(B):
            along[j] /= scale[0]
    for i in range(len(x)):
        xi, factor = x[i], scale[i] if len(scale) > 1 else scale[0]
        for j in range(B):
            xi[HALF + j] = factor * xi[HALF + j] - xi[j] * along[j]


@loop
def tree_gradient_combine(tree: Any, X: Any, C: Any, B: int, values: Any, out: Any) -> None:
    """Put Φ Cᵀ in `values` (n, q) and its gradient in `out` (n, d, q), for one chunk of rows; C of shape (q, dim)."""
    n, d = X.shape
    table = tree.table
    a = d + tree.radii
    b = a + len(table.operations) + 1
    work = np.zeros((b + tree.depth, 2 * HALF))
    x, radius2, T, stack = work[:d], work[d:a], work[a:b], work[b:]
    T[-1, :] = 1.0
    path = np.zeros(tree.depth, dtype=np.int64)  # the factors of the nodes that are open
    for start in range(0, n, B):
        load(table, X, start, B, x, radius2, T)
        for column in range(len(C)):
            work[:b, HALF:] = 0.0
            _walk(tree, C[column], T, stack, path, B)
            _table_back(table, x, radius2, T, B)
            _points_back(table, x, T[-1, HALF:], B)
            root, inside = stack[0], min(B, n - start)
            for j in range(inside):
                values[start + j, column] = root[HALF + j]
            for i in range(d):
                xi = x[i]
                for j in range(inside):
                    out[start + j, i, column] = xi[HALF + j]
