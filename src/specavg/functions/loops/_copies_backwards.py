"""Sums over choices of copies, backwards: what a combination of them changes with the coordinates of every copy.

Forwards E(S) += Σ_a ψ_a(x_i) E(S without a), copy by copy, with all states kept that others grow from. Backwards,
from the last copy to the first, every state T hears of those that grow from it: bar(T) += Σ ψ_a(x_i) bar(T with a).
The same sum with derivatives of ψ_a in place of ψ_a, times E(T) before copy i, is what T adds to the derivative by x_i;
both are taken in one loop, with derivatives of ψ_a beside ψ_a, and the sum over states so far beside bar(T). With many
copies states are kept for a stretch of them at a time, so that they stay in cache, and are computed twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, SINE, SPHERE, TABLE, TURN
from specavg.functions.loops._copies import TILE, coordinates, grow1, grow2, norm
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import ANGLE, cosine, fill, sine

__all__ = ["HALF", "LARGEST_BLOCK", "copies_gradient"]

_PAD = 8  # rows of a whole number of pages would fall on the same cache sets
LARGEST_BLOCK = 256  # points
HALF = LARGEST_BLOCK + _PAD  # rows have two halves at a fixed distance, as in the reverse pass of trees


@helper(fastmath=SAFE)
def _grown1(old: Any, a: Any, b: Any, out: Any, B: int) -> None:
    for j in range(B):
        out[j] = old[j] + a[j] * b[j]


@helper(fastmath=SAFE)
def _grown2(old: Any, a: Any, b: Any, c: Any, d: Any, out: Any, B: int) -> None:
    for j in range(B):
        out[j] = old[j] + a[j] * b[j] + c[j] * d[j]


@helper()
def _load(program: Any, X: Any, start: int, B: int, first: int, last: int, scale: Any, x: Any, T: Any) -> None:
    """The values of the one-copy functions on copies first..last at one block of points."""
    n, table = len(X), program.table
    for i in range(first, last):
        now = T[i - first]
        if table.mode == TABLE:
            for b in range(B):
                point = X[min(start + b, n - 1), i]
                for a in range(len(point)):
                    now[a, b] = point[a]
        else:
            if (i - first) % TILE == 0:
                coordinates(table, X, start, i, min(i + TILE, last), scale, x[i - first :], B)
            fill(table, x[i - first : i - first + 1], x, B, now)


@helper()
def _forwards(back: Any, i: int, now: Any, old: Any, new: Any, B: int) -> None:
    """The states after copy i from those before it."""
    starts, entries = back.starts, back.entries
    for k in range(1, len(back.sizes)):
        if back.sizes[k] > i + 1:
            break  # larger states are still zero
        e, end, grown = starts[k], starts[k + 1], new[k]
        if e + 2 <= end:
            a, b, c, d = entries[e, 0], entries[e, 1], entries[e + 1, 0], entries[e + 1, 1]
            _grown2(old[k], now[a], old[b], now[c], old[d], grown, B)
            e += 2
        else:
            _grown1(old[k], now[entries[e, 0]], old[entries[e, 1]], grown, B)
            e += 1
        while e + 2 <= end:
            grow2(grown, now[entries[e, 0]], old[entries[e, 1]], now[entries[e + 1, 0]], old[entries[e + 1, 1]], B)
            e += 2
        if e < end:
            grow1(grown, now[entries[e, 0]], old[entries[e, 1]], B)


@helper()
def _copy(rows: Any, out: Any, B: int) -> None:
    for k in range(len(rows)):
        row, copy = rows[k], out[k]
        for j in range(B):
            copy[j] = row[j]


@helper(fastmath=SAFE)
def _slopes(table: Any, x: Any, T: Any, B: int) -> None:
    """The derivatives of all one-copy functions of a coordinate, in the second halves of their rows."""
    ops, ab = table.operations, table.constants
    for f in range(len(ops)):
        op, a, b, row, first, second = ops[f, 0], ab[f, 0], ab[f, 1], T[f], T[ops[f, 2]], T[ops[f, 3]]
        if op == COSINE:
            for j in range(B):
                row[HALF + j] = -ANGLE * a * sine(a * x[j])
        elif op == SINE:
            for j in range(B):
                row[HALF + j] = ANGLE * a * cosine(a * x[j])
        elif op == TURN:
            one, other = T[ops[f, 1]], T[ops[f, 4]]
            for j in range(B):
                slope = a * (one[HALF + j] * first[j] + one[j] * first[HALF + j])
                row[HALF + j] = slope + b * (other[HALF + j] * second[j] + other[j] * second[HALF + j])
        else:
            for j in range(B):
                row[HALF + j] = a * (first[j] + x[j] * first[HALF + j]) + b * second[HALF + j]


@helper(fastmath=SAFE)
def _hear1(mine: Any, before: Any, last: Any, a: Any, S: Any, B: int) -> None:
    for j in range(B):
        mine[j] += a[j] * S[j]
        mine[HALF + j] = last[HALF + j] + before[j] * (a[HALF + j] * S[j])


@helper(fastmath=SAFE)
def _hear2(mine: Any, before: Any, last: Any, a: Any, S: Any, b: Any, U: Any, B: int) -> None:
    for j in range(B):
        mine[j] = mine[j] + a[j] * S[j] + b[j] * U[j]
        mine[HALF + j] = last[HALF + j] + before[j] * (a[HALF + j] * S[j] + b[HALF + j] * U[j])


@helper(fastmath=SAFE)
def _hear3(mine: Any, before: Any, last: Any, a: Any, S: Any, b: Any, U: Any, c: Any, V: Any, B: int) -> None:
    for j in range(B):
        mine[j] = mine[j] + a[j] * S[j] + b[j] * U[j] + c[j] * V[j]
        slope = a[HALF + j] * S[j] + b[HALF + j] * U[j] + c[HALF + j] * V[j]
        mine[HALF + j] = last[HALF + j] + before[j] * slope


@helper(fastmath=SAFE)
def _hear_more(mine: Any, before: Any, a: Any, S: Any, B: int) -> None:
    for j in range(B):
        mine[j] += a[j] * S[j]
        mine[HALF + j] += before[j] * (a[HALF + j] * S[j])


@helper(fastmath=SAFE)
def _first1(mine: Any, a: Any, S: Any, B: int) -> None:
    for j in range(B):
        mine[HALF + j] += a[HALF + j] * S[j]


@helper(fastmath=SAFE)
def _first4(mine: Any, a: Any, S: Any, b: Any, U: Any, c: Any, V: Any, d: Any, W: Any, B: int) -> None:
    for j in range(B):
        slope = a[HALF + j] * S[j] + b[HALF + j] * U[j] + c[HALF + j] * V[j] + d[HALF + j] * W[j]
        mine[HALF + j] += slope


@helper()
def _hear_first(back: Any, now: Any, bar: Any, B: int) -> None:
    """What the empty state adds to the derivative. It is one, and nobody asks what it hears."""
    mine, grown, e, end = bar[0], back.grown, back.ends[0], back.ends[1]
    for j in range(B):
        mine[HALF + j] = 0.0
    while e + 4 <= end:
        _first4(
            mine, now[grown[e, 0]], bar[grown[e, 1]], now[grown[e + 1, 0]], bar[grown[e + 1, 1]],
            now[grown[e + 2, 0]], bar[grown[e + 2, 1]], now[grown[e + 3, 0]], bar[grown[e + 3, 1]], B,
        )  # fmt: skip
        e += 4
    while e < end:
        _first1(mine, now[grown[e, 0]], bar[grown[e, 1]], B)
        e += 1


@helper()
def _hear(back: Any, k: int, now: Any, bar: Any, before: Any, last: Any, B: int) -> None:
    """What one state hears of those that grow from it; what it adds to the derivative, to what the last one had."""
    mine, grown, e, end = bar[back.places[k]], back.grown, back.ends[k], back.ends[k + 1]
    a, S = now[grown[e, 0]], bar[grown[e, 1]]
    if end == e + 1:
        _hear1(mine, before, last, a, S, B)
    elif end == e + 2:
        _hear2(mine, before, last, a, S, now[grown[e + 1, 0]], bar[grown[e + 1, 1]], B)
    else:
        b, U = now[grown[e + 1, 0]], bar[grown[e + 1, 1]]
        _hear3(mine, before, last, a, S, b, U, now[grown[e + 2, 0]], bar[grown[e + 2, 1]], B)
    for more in range(e + 3, end):
        _hear_more(mine, before, now[grown[more, 0]], bar[grown[more, 1]], B)


@helper()
def _backwards(program: Any, back: Any, i: int, x: Any, now: Any, before: Any, bar: Any, total: Any, B: int) -> None:
    """Go back by copy i: the derivatives by its coordinate, or those by the given values, in `total`."""
    last, given, grown = 0, program.table.mode == TABLE, back.grown
    if given:
        total[:, :] = 0.0
    else:
        _slopes(program.table, x, now, B)
    for k in range(len(back.places)):  # smaller states first: what they hear of must not have changed
        if back.sizes[k] > i:
            break  # zero before this copy
        if given:
            for e in range(back.ends[k], back.ends[k + 1]):
                grow1(total[grown[e, 0]], before[k], bar[grown[e, 1]], B)
                grow1(bar[back.places[k]], now[grown[e, 0]], bar[grown[e, 1]], B)
        elif k == 0:
            _hear_first(back, now, bar, B)
        else:
            _hear(back, k, now, bar, before[k], bar[last], B)
            last = back.places[k]
    if not given:
        row, sums = bar[last], total[0]
        for j in range(B):
            sums[j] = row[HALF + j]


@loop
def copies_gradient(program: Any, back: Any, X: Any, C: Any, B: int, stretch: int, out: Any) -> None:
    """Put the derivatives of Σ c φ by the coordinate of each copy in `out` (n, m, 1, q).

    C is (q, 1, dim), or (q, n, dim) where every point has coefficients of its own.

    Where the values of the one-copy functions are given, those by all of these values, in `out` (n, m, A, q). `back` is
    the same growth, seen from what is grown from. States are kept for `stretch` copies at a time, and at the beginning
    of each stretch, from which they are computed again on the way back.
    """
    n, m, given = X.shape
    table, outputs = program.table, program.outputs
    A, inner, stretches = max(len(table.operations), given), len(back.places), -(-m // stretch)
    T, before = np.zeros((stretch, A + 1, 2 * HALF)), np.zeros((stretch + 1, inner, B + _PAD))
    begin = np.zeros((stretches, inner, B + _PAD))  # the states before the first copy of each stretch
    bar = np.zeros((len(program.starts), 2 * HALF))
    x, scale, total = np.zeros((stretch, B + _PAD)), np.zeros(B + _PAD), np.zeros((out.shape[2], B + _PAD))
    T[:, A, :HALF] = 1.0
    before[:, 0, :] = 1.0
    begin[:, 0, :] = 1.0
    for start in range(0, n, B):
        inside = min(B, n - start)
        for b in range(B):
            scale[b] = table.scale[0]
            if table.mode == SPHERE:
                scale[b] /= norm(X[min(start + b, n - 1)])
        for column in range(len(C)):
            bar[:, :] = 0.0
            for k in range(len(outputs)):
                row = bar[outputs[k]]
                for b in range(B):
                    row[b] += C[column, min(start + b, C.shape[1] - 1), k]
            for step in range(2 * stretches - 1):  # forth through all stretches, then back through all but the last
                s = step if step < stretches else 2 * (stretches - 1) - step
                first, last = s * stretch, min((s + 1) * stretch, m)
                if column == 0 or stretches > 1:
                    if first <= back.sizes[-1]:
                        before[:, 1:, :] = 0.0  # larger states than copies are not written to
                    _copy(begin[s], before[0], B)
                    _load(program, X, start, B, first, last, scale, x, T)
                    for i in range(first, last - 1 if step >= stretches - 1 else last):
                        _forwards(back, i, T[i - first], before[i - first], before[i - first + 1], B)
                if step < stretches - 1:
                    _copy(before[last - first], begin[s + 1], B)
                    continue
                for i in range(last - 1, first - 1, -1):
                    _backwards(program, back, i, x[i - first], T[i - first], before[i - first], bar, total, B)
                    for j in range(len(total)):
                        row = total[j]
                        for b in range(inside):
                            out[start + b, i, j, column] = row[b]
