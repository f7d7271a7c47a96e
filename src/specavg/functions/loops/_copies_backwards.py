"""Sums over choices of copies, backwards: what a combination of them changes with the coordinates of every copy.

Forwards E(S) += Σ_a ψ_a(x_i) E(S without a), copy by copy, with all states kept. Backwards, from the last copy to the
first, every state T hears of the larger ones that grow from it: bar(T) += Σ ψ_a(x_i) bar(T with a). The same sum with
derivatives of ψ_a in place of ψ_a, times E(T) before copy i, is what T adds to the derivative by x_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import SPHERE, TABLE
from specavg.functions.loops._copies import TILE, coordinates, grow1, grow2, norm
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import fill
from specavg.functions.loops._tree_slopes import fill_slopes

__all__ = ["copies_gradient"]

_PAD = 8


@helper(fastmath=SAFE)
def _grown1(old: Any, a: Any, b: Any, out: Any, B: int) -> None:
    for j in range(B):
        out[j] = old[j] + a[j] * b[j]


@helper(fastmath=SAFE)
def _grown2(old: Any, a: Any, b: Any, c: Any, d: Any, out: Any, B: int) -> None:
    for j in range(B):
        out[j] = old[j] + a[j] * b[j] + c[j] * d[j]


@helper()
def _forwards(program: Any, X: Any, start: int, B: int, scale: Any, x: Any, T: Any, before: Any) -> None:
    """The values of all copies, and the states before each copy, at one block of points."""
    n, m, given = X.shape
    table, states, starts, entries = program.table, program.states, program.starts, program.entries
    for b in range(B):
        scale[b] = table.scale[0]
        if table.mode == SPHERE:
            scale[b] /= norm(X[min(start + b, n - 1)])
    begin = len(states)
    for i in range(m):
        now = T[i]
        if table.mode == TABLE:
            for b in range(B):
                point = X[min(start + b, n - 1), i]
                for a in range(given):
                    now[a, b] = point[a]
        else:
            if i % TILE == 0:
                coordinates(table, X, start, i, min(i + TILE, m), scale, x[i:], B)
            fill(table, x[i : i + 1], x, B, now)
        if i + 1 == m:
            break  # nobody asks for the states after the last copy
        old, new = before[i], before[i + 1]
        while begin > 0 and program.sizes[begin - 1] <= i + 1:  # larger states are still zero
            begin -= 1
        for k in range(begin, len(states)):
            state, e, end = states[k], starts[k], starts[k + 1]
            grown = new[state]
            if e + 2 <= end:
                a, b, c, d = entries[e, 0], entries[e, 1], entries[e + 1, 0], entries[e + 1, 1]
                _grown2(old[state], now[a], old[b], now[c], old[d], grown, B)
                e += 2
            else:
                _grown1(old[state], now[entries[e, 0]], old[entries[e, 1]], grown, B)
                e += 1
            while e + 2 <= end:
                grow2(grown, now[entries[e, 0]], old[entries[e, 1]], now[entries[e + 1, 0]], old[entries[e + 1, 1]], B)
                e += 2
            if e < end:
                grow1(grown, now[entries[e, 0]], old[entries[e, 1]], B)


@helper(fastmath=SAFE)
def _set1(out: Any, a: Any, b: Any, B: int) -> None:
    for j in range(B):
        out[j] = a[j] * b[j]


@helper(fastmath=SAFE)
def _set2(out: Any, a: Any, b: Any, c: Any, d: Any, B: int) -> None:
    for j in range(B):
        out[j] = a[j] * b[j] + c[j] * d[j]


@helper()
def _heard(back: Any, k: int, factors: Any, bar: Any, out: Any, anew: bool, B: int) -> None:
    """Add Σ factor · bar over the states that grow from one, to zero if `anew`."""
    starts, entries = back
    e, end = starts[k], starts[k + 1]
    if anew:
        if e + 2 <= end:
            a, S, c, U = entries[e, 0], entries[e, 1], entries[e + 1, 0], entries[e + 1, 1]
            _set2(out, factors[a], bar[S], factors[c], bar[U], B)
            e += 2
        else:
            _set1(out, factors[entries[e, 0]], bar[entries[e, 1]], B)
            e += 1
    while e + 2 <= end:
        a, S, c, U = entries[e, 0], entries[e, 1], entries[e + 1, 0], entries[e + 1, 1]
        grow2(out, factors[a], bar[S], factors[c], bar[U], B)
        e += 2
    if e < end:
        grow1(out, factors[entries[e, 0]], bar[entries[e, 1]], B)


@loop
def copies_gradient(program: Any, back: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put the derivatives of Σ c φ by the coordinate of each copy in `out` (n, m, 1, q); C is (q, dim).

    Where the values of the one-copy functions are given, those by all of these values, in `out` (n, m, A, q). `back` is
    the states that grow from each state.
    """
    n, m, given = X.shape
    table, outputs, (starts, entries) = program.table, program.outputs, back
    A, S = max(len(table.operations), given), len(program.starts)
    T, before = np.zeros((m, A + 1, B + _PAD)), np.zeros((m, S, B + _PAD))
    bar, dT, total = np.zeros((S, B + _PAD)), np.zeros((A + 1, B + _PAD)), np.zeros((out.shape[2], B + _PAD))
    x, scale, heard = np.zeros((m, B + _PAD)), np.zeros(B + _PAD), np.zeros(B + _PAD)
    T[:, A, :] = 1.0
    before[:, 0, :] = 1.0
    one = np.ones((1, B + _PAD))
    for start in range(0, n, B):
        inside = min(B, n - start)
        _forwards(program, X, start, B, scale, x, T, before)
        for column in range(len(C)):
            bar[:, :] = 0.0
            for k in range(len(outputs)):
                row, c = bar[outputs[k]], C[column, k]
                for b in range(B):
                    row[b] += c
            for i in range(m - 1, -1, -1):
                if table.mode != TABLE:
                    fill_slopes(table, x[i : i + 1], one, x, x, T[i], dT, B)
                total[:, :] = 0.0
                for k in range(S):  # smaller states first: what they hear of must not have changed
                    if k > 0 and program.sizes[len(program.sizes) - k] > i:
                        break  # zero before this copy
                    if starts[k] == starts[k + 1]:
                        continue
                    place = S - k if k > 0 else 0
                    if table.mode == TABLE:
                        for e in range(starts[k], starts[k + 1]):
                            grow1(total[entries[e, 0]], before[i, place], bar[entries[e, 1]], B)
                    else:
                        _heard(back, k, dT, bar, heard, True, B)
                        grow1(total[0], before[i, place], heard, B)
                    _heard(back, k, T[i], bar, bar[place], False, B)
                for b in range(inside):
                    for j in range(len(total)):
                        out[start + b, i, j, column] = total[j, b]
