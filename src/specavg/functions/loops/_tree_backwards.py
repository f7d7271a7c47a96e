"""Combinations of products along a tree, and their derivatives by all coordinates, in one walk through the tree.

A node is *open* while the nodes below it are visited. When it is opened, its product is computed: that of the parent
times one factor. When it is closed, the combination below it is complete, as in Horner's rule: its coefficient plus the
sum, over its children, of factor · (combination below the child). The derivative of a combination Σ c φ by a factor is
the sum, over all nodes with that factor, of the product of the parent times the combination below the node. From the
derivatives by all factors, those by the coordinates follow, from the last row of the table of factors to the first.
Only one product and one combination for each depth are kept, so that everything stays in cache.

Every row has two halves. The first half is a value; the second half, `HALF` further, is the derivative of the
combination by it. (In the rows of the stack: the product of a node, and the combination below it.) A fixed distance
lets the compiler see that the two halves do not overlap. With halves as rows of their own it would not vectorise loops
that write to several rows, and T^10 with 738 functions would take 300 ns a point instead of 215.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, PAIR, SINE, SOLID_STEP, SPHERE
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import ANGLE, cosine, load, sine

# Points of the largest block. On T^10 a point takes 271 ns in blocks of 64, 232 in 128, 219 in 192 and 216 in 256.
LARGEST_BLOCK = 256
HALF = LARGEST_BLOCK + PAD  # numbers of half a row


@helper(fastmath=SAFE)
def _open(above: Any, factor: Any, here: Any, c: float, B: int) -> None:
    """Open a node: its product from that of its parent `above`, and its coefficient c."""
    for j in range(B):
        here[j] = above[j] * factor[j]
        here[HALF + j] = c


@helper(fastmath=SAFE)
def _open_leaf(above: Any, factor: Any, here: Any, c: float, w: float, a: Any, B: int) -> None:
    """Open a node, and add its first leaf, of the coefficient w and the factor a."""
    for j in range(B):
        product = above[j] * factor[j]
        here[j] = product
        here[HALF + j] = c + w * a[j]
        a[HALF + j] += w * product


@helper(fastmath=SAFE)
def _leaf(here: Any, w: float, a: Any, B: int) -> None:
    """Add a leaf, of the coefficient w and the factor a, to an open node."""
    for j in range(B):
        here[HALF + j] += w * a[j]
        a[HALF + j] += w * here[j]


@helper(fastmath=SAFE)
def _leaves3(here: Any, u: float, a: Any, v: float, b: Any, w: float, c: Any, B: int) -> None:
    """Add three leaves, of the coefficients u, v, w and the factors a, b, c, to an open node."""
    for j in range(B):
        product = here[j]
        here[HALF + j] = here[HALF + j] + u * a[j] + v * b[j] + w * c[j]
        a[HALF + j] += u * product
        b[HALF + j] += v * product
        c[HALF + j] += w * product


@helper(fastmath=SAFE)
def _close(above: Any, factor: Any, here: Any, B: int) -> None:
    """Close a node: its combination is added to that of its parent `above`, and to the derivative by its factor."""
    for j in range(B):
        below = here[HALF + j]
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper(fastmath=SAFE)
def _twig1(above: Any, factor: Any, c: float, w: float, a: Any, B: int) -> None:
    """Open and close a node that has a single leaf, of the coefficient w and the factor a, and no other children."""
    for j in range(B):
        below = c + w * a[j]
        a[HALF + j] += w * (above[j] * factor[j])
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper(fastmath=SAFE)
def _twig2(above: Any, factor: Any, c: float, v: float, a: Any, w: float, b: Any, B: int) -> None:
    """Open and close a node with two leaves, of the coefficients v, w and the factors a, b, and no other children."""
    for j in range(B):
        product, below = above[j] * factor[j], c + v * a[j] + w * b[j]
        a[HALF + j] += v * product
        b[HALF + j] += w * product
        factor[HALF + j] += above[j] * below
        above[HALF + j] += factor[j] * below


@helper()
def _walk(tree: Any, c: Any, T: Any, stack: Any, path: Any, B: int) -> None:
    """Write the combination to the second half of stack[0], and its derivatives by all factors to those of T.

    `path` has the factors of the nodes that are open.
    """
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    inside = 0  # the depth of the node that was opened last
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
            lowest = i + 1 == len(nodes) or nodes[i + 1, 0] <= depth  # whether all children are leaves
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
    """Add to the derivative by x what follows from that by the row √2 cos 2πax, or √2 sin 2πax."""
    if sines:
        for j in range(B):
            x[HALF + j] += row[HALF + j] * (ANGLE * a * cosine(a * x[j]))
    else:
        for j in range(B):
            x[HALF + j] -= row[HALF + j] * (ANGLE * a * sine(a * x[j]))


@helper(fastmath=SAFE)
def _product_back(a: float, first: Any, second: Any, row: Any, B: int) -> None:
    """Add to the derivatives by `first` and `second` what follows from that by `row`, which has a·first·second."""
    for j in range(B):
        change = a * row[HALF + j]
        first[HALF + j] += second[j] * change
        second[HALF + j] += first[j] * change


@helper(fastmath=SAFE)
def _square_back(x: Any, before: Any, total: Any, B: int) -> None:
    """Add to the derivatives by x and `before` what follows from that by `total`, which is before + x²."""
    for j in range(B):
        change = total[HALF + j]
        x[HALF + j] += 2.0 * x[j] * change
        before[HALF + j] += change


@helper()
def _table_back(table: Any, x: Any, radius2: Any, T: Any, B: int) -> None:
    """Write the derivatives by the coordinates, from those by the rows of the table, to the second halves of x."""
    ops, ab = table.operations, table.constants
    for f in range(len(ops) - 1, -1, -1):
        op, i, f1, f2, k = ops[f, 0], ops[f, 1], ops[f, 2], ops[f, 3], ops[f, 4]
        a, b = ab[f, 0], ab[f, 1]
        if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
            _wave_back(op == SINE, a, x[i], T[f], B)
            continue
        _product_back(a, x[i], T[f1], T[f], B)  # f1 = −1 is the last row, whose derivative is not used
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
    """Make gradients by the coordinates of points from derivatives by those of the table.

    They are scaled, and on spheres projected to the tangent space. `along` is work space of one row.
    """
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
    """Put Φ Cᵀ in `values` (n, q) and its gradient in `out` (n, d, q); C is of shape (q, dim)."""
    n, d = X.shape
    table = tree.table
    a = d + tree.radii
    b = a + len(table.operations) + 1
    work = np.zeros((b + tree.depth, 2 * HALF))
    x, radius2, T, stack = work[:d], work[d:a], work[a:b], work[b:]
    T[-1, :] = 1.0
    path = np.zeros(tree.depth, dtype=np.int64)
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
