"""cos 2πk·u and sin 2πk·u for many frequencies k: complex products along a tree (`WaveTree`), block by block.

The wave e^{2πik·u} is that of k without its last non-zero entry v, times one factor e^{2πi v u_j}. Leaves are not kept:
sums need only dot products of the parent and the factor. The leaves of v and −v share these products, since their
factors are conjugates. A complex number has two rows: its real and its imaginary part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._feature_rows import finish
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import cosine, sine


@helper(fastmath=SAFE)
def _load(tree: Any, X: Any, start: int, B: int, x: Any, T: Any) -> None:
    """Write the coordinates of one block, in periods and reduced to |x| ≤ 1/2, to x, and all factors to T.

    T[f] has two rows: the cosine and the sine of factor f.
    """
    n, d = X.shape
    scale, factors = tree.scale, tree.factors
    for b in range(B):
        point = X[min(start + b, n - 1)]
        for i in range(d):
            u = point[i] * scale[i]
            x[i, b] = u - np.rint(u)
    for f in range(len(factors)):
        xi, v, c, s = x[factors[f, 0]], float(factors[f, 1]), T[f, 0], T[f, 1]
        for b in range(B):
            c[b] = cosine(v * xi[b])
        for b in range(B):
            s[b] = sine(v * xi[b])


@helper(fastmath=SAFE)
def _times(wave: Any, factor: Any, sign: float, re: Any, im: Any, B: int) -> None:
    """Write wave · factor, or for the sign −1 wave · (conjugate of the factor), to re and im."""
    pr, pi, c, s = wave[0], wave[1], factor[0], factor[1]
    for b in range(B):
        t = sign * s[b]
        re[b] = pr[b] * c[b] - pi[b] * t
        im[b] = pr[b] * t + pi[b] * c[b]


@helper(fastmath=True)
def _dots(wave: Any, factor: Any, B: int) -> Any:
    """The four dot products of real and imaginary part of the wave with those of the factor."""
    pr, pi, c, s = wave[0], wave[1], factor[0], factor[1]
    rc, rs, ic, iss = 0.0, 0.0, 0.0, 0.0
    for b in range(B):
        rc += pr[b] * c[b]
        rs += pr[b] * s[b]
        ic += pi[b] * c[b]
        iss += pi[b] * s[b]
    return rc, rs, ic, iss


@helper(fastmath=True)
def _totals(wave: Any, B: int) -> Any:
    """The sums of real and imaginary part over the block."""
    re, im = wave[0], wave[1]
    a, c = 0.0, 0.0
    for b in range(B):
        a += re[b]
        c += im[b]
    return a, c


@helper(fastmath=SAFE)
def _add(node: Any, coefficients: Any, factor: Any, B: int) -> None:
    """Add combinations of cosine and sine of a factor to real and imaginary part of a node."""
    re, im, c, s = node[0], node[1], factor[0], factor[1]
    p, q, r, t = coefficients
    for b in range(B):
        re[b] = re[b] + p * c[b] + q * s[b]
        im[b] = im[b] + r * c[b] + t * s[b]


@helper(fastmath=SAFE)
def _close(above: Any, node: Any, own: Any, factor: Any, sign: float, B: int) -> None:
    """Add factor · (node + its own coefficient) to the parent `above`, and clear the node."""
    ar, ai, re, im, c, s = above[0], above[1], node[0], node[1], factor[0], factor[1]
    x, y = own
    for b in range(B):
        vr, vi, t = re[b] + x, im[b] + y, sign * s[b]
        ar[b] += vr * c[b] - vi * t
        ai[b] += vr * t + vi * c[b]
        re[b] = 0.0
        im[b] = 0.0


@helper()
def _room(tree: Any, d: int, B: int) -> Any:
    """Work space for a block: x and T of `_load`, and a stack with one wave for each depth."""
    depths = tree.nodes[:, 0].max() + 1
    return np.empty((d, B + PAD)), np.empty((len(tree.factors), 2, B + PAD)), np.zeros((depths, 2, B + PAD))


@loop
def wave_sums(tree: Any, X: Any, Y: Any, B: int, out: Any) -> None:
    """Add Σ y cos 2πk·u, for all k, and then Σ y sin 2πk·u, to `out` (q, 2F)."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    x, T, stack = _room(tree, d, B)
    half = out.shape[1] // 2
    for start in range(0, n, B):
        _load(tree, X, start, B, x, T)
        inside = min(B, n - start)
        for column in range(Y.shape[1]):
            sums = out[column]
            stack[0, :, :] = 0.0
            for b in range(inside):
                stack[0, 0, b] = Y[start + b, column]
            for i in range(len(nodes)):
                depth, f, place = nodes[i, 0], nodes[i, 1], nodes[i, 3]
                wave = stack[depth]
                if i > 0:
                    _times(stack[depth - 1], T[f], float(nodes[i, 2]), wave[0], wave[1], B)
                if place >= 0:
                    a, c = _totals(wave, B)
                    sums[place] += a
                    sums[half + place] += c
                for k in range(starts[i], starts[i + 1]):
                    g, plus, minus = leaves[k, 0], leaves[k, 1], leaves[k, 2]
                    rc, rs, ic, iss = _dots(wave, T[g], B)
                    if plus >= 0:
                        sums[plus] += rc - iss
                        sums[half + plus] += rs + ic
                    if minus >= 0:
                        sums[minus] += rc + iss
                        sums[half + minus] += ic - rs


@loop
def wave_combine(tree: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put Σ_k a_k cos 2πk·u + b_k sin 2πk·u in `out` (n, q); C is of shape (q, 2F) and has all a before all b."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    x, T, stack = _room(tree, d, B)
    half = C.shape[1] // 2
    for start in range(0, n, B):
        _load(tree, X, start, B, x, T)
        for column in range(len(C)):
            c = C[column]
            # This is the real part of Σ (a − ib) e^{2πik·u}, by Horner's rule from the last node to the first.
            for i in range(len(nodes) - 1, -1, -1):
                depth, f, place = nodes[i, 0], nodes[i, 1], nodes[i, 3]
                node = stack[depth]
                for k in range(starts[i], starts[i + 1]):
                    g, plus, minus = leaves[k, 0], leaves[k, 1], leaves[k, 2]
                    a, b, e, h = 0.0, 0.0, 0.0, 0.0
                    if plus >= 0:
                        a, b = c[plus], c[half + plus]
                    if minus >= 0:
                        e, h = c[minus], c[half + minus]
                    _add(node, (a + e, b - h, -b - h, a - e), T[g], B)
                own = (c[place], -c[half + place]) if place >= 0 else (0.0, 0.0)
                if i > 0:
                    _close(stack[depth - 1], node, own, T[f], float(nodes[i, 2]), B)
                else:
                    for b in range(min(B, n - start)):
                        out[start + b, column] = node[0, b] + own[0]
                    stack[0, :, :] = 0.0


@loop
def wave_values(tree: Any, X: Any, mixing: Any, B: int, out: Any) -> None:
    """Put all cosines and then all sines, or with `mixing` sparse combinations of them, in `out`."""
    n, d = X.shape
    nodes, starts, leaves = tree.nodes, tree.starts, tree.leaves
    x, T, stack = _room(tree, d, B)
    values = np.empty((tree.dim, B + PAD))
    mixed = np.empty((max(len(mixing.starts) - 1, 0), B + PAD))
    half = tree.dim // 2
    for start in range(0, n, B):
        _load(tree, X, start, B, x, T)
        stack[0, 0, :] = 1.0
        stack[0, 1, :] = 0.0
        for i in range(len(nodes)):
            depth, f, place = nodes[i, 0], nodes[i, 1], nodes[i, 3]
            wave = stack[depth]
            if i > 0:
                _times(stack[depth - 1], T[f], float(nodes[i, 2]), wave[0], wave[1], B)
            if place >= 0:
                cosines, sines = values[place], values[half + place]
                for b in range(B):  # numba takes seconds to compile assignments between slices
                    cosines[b], sines[b] = wave[0, b], wave[1, b]
            for k in range(starts[i], starts[i + 1]):
                g = leaves[k, 0]
                for side in range(1, 3):
                    place = leaves[k, side]
                    if place >= 0:
                        _times(wave, T[g], 3.0 - 2.0 * side, values[place], values[half + place], B)
        finish(values, mixing, mixed, min(B, n - start), out[start:])
