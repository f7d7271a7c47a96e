"""Derivatives of combinations of sums over distinct copies by the coordinates of every copy: a reverse pass.

Forwards, from the first copy to the last, the states grow: E(S) += Σ_a ψ_a(x_i) E(S without a). The values of all
states that others grow from are kept after each copy. Backwards, from the last copy to the first, bar(S) is the
derivative of the combination by the state of S. It follows from the states that grow from S:
bar(S) += Σ_a ψ_a(x_i) bar(S with a). The derivative by ψ_a(x_i) is the sum, over all S, of E(S) before copy i times
bar(S with a). Four neighbours in a chain (`CopyChains`) are computed in one pass, which reads each row once. Where the
states of all copies take too much memory, they are kept for a stretch of copies at a time, and are computed twice.

In the reverse pass a row of a one-copy function ψ_a has four parts, at a fixed distance `ROW` so that the compiler sees
that they do not overlap: ψ_a, the derivative of the combination by it, the function `along` of the chains, and what ψ_a
adds to the derivative by `along`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions._factor_table import COSINE, GIVEN, SINE, SPHERE, TABLE
from specavg.functions.loops._copies import TILE, coordinates, grow1, norm
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import ANGLE, cosine, fill, sine

# Points of a block. Gradients on T^40 under S_40 (250 functions) take 8.8 µs a point in blocks of 64, and 12 µs in
# blocks of 128 to 256, in which the states of all copies are no longer kept (`_STATES_BYTES`). T^10 takes 1.6 µs and
# T^100 23 µs in blocks of all these sizes.
BLOCK = 64
ROW = BLOCK + PAD  # numbers of a row, or of one of the four parts of a row
_FULL_TURN = float(2 * np.pi)


@helper()
def _load(table: Any, X: Any, start: int, B: int, copies: Any, scale: Any, x: Any, T: Any) -> None:
    """Write the values of the one-copy functions at one block of points to T, for each copy of a range.

    `copies` has the first copy and the one after the last. `x` is written too: the coordinates of these copies.
    """
    n, (first, last) = len(X), copies
    for i in range(first, last):
        now = T[i - first]
        if table.mode == GIVEN:
            for b in range(B):
                point = X[min(start + b, n - 1), i]
                for a in range(len(point)):
                    now[a, b] = point[a]
        else:
            if (i - first) % TILE == 0:
                coordinates(table, X, start, i, min(i + TILE, last), scale, x[i - first :], B)
            fill(table, x[i - first : i - first + 1], x, B, now)


@helper(fastmath=SAFE)
def _grown4(old: Any, m: Any, a: Any, b: Any, new: Any, B: int) -> None:
    """Four neighbours of a chain after one more copy, from the chain before it and from another chain m.

    a is the value of `along` at the copy, and b that of the function by which the other chain differs.
    """
    for j in range(B):
        new[3 * ROW + j] = old[4 * ROW + j] + a[j] * old[3 * ROW + j] + b[j] * m[3 * ROW + j]
        new[2 * ROW + j] = old[3 * ROW + j] + a[j] * old[2 * ROW + j] + b[j] * m[2 * ROW + j]
        new[ROW + j] = old[2 * ROW + j] + a[j] * old[ROW + j] + b[j] * m[ROW + j]
        new[j] = old[ROW + j] + a[j] * old[j] + b[j] * m[j]


@helper(fastmath=SAFE)
def _grown1(old: Any, m: Any, a: Any, b: Any, new: Any, B: int) -> None:
    """`_grown4` for one state."""
    for j in range(B):
        new[j] = old[ROW + j] + a[j] * old[j] + b[j] * m[j]


@helper()
def _forwards(program: Any, i: int, T: Any, old: Any, new: Any, B: int) -> None:
    """Write the kept states after copy i to `new`, from those before it in `old`; T has the one-copy values."""
    chains, starts, links = program.chains, program.starts, program.links
    a, zeros, nothing = T[program.along], T[len(T) - 2], old[(program.kept - 4) * ROW :]
    for c in range(len(chains)):
        first, size = chains[c, 0], chains[c, 2]
        high = min(chains[c, 1], i + 2 - size)
        if size > i + 1:
            break  # states of more than i + 1 factors are still zero
        e, k, b, m = starts[c], 0 if size > 0 else 1, zeros, nothing
        if size > 0:
            b, m = T[links[e, 0]], old[(links[e, 1] + 1) * ROW :]
        while k + 4 <= high:
            before, after = old[(first + k) * ROW :], new[(first + 1 + k) * ROW :]
            _grown4(before, m[k * ROW :] if size > 0 else m, a, b, after, B)
            k += 4
        while k < high:
            before, after = old[(first + k) * ROW :], new[(first + 1 + k) * ROW :]
            _grown1(before, m[k * ROW :] if size > 0 else m, a, b, after, B)
            k += 1
        for more in range(e + 1, starts[c + 1]):
            for k in range(high):
                grow1(new[(first + 1 + k) * ROW :], T[links[more, 0]], old[(links[more, 1] + 1 + k) * ROW :], B)


@helper(fastmath=SAFE)
def _pull4(bar: Any, E: Any, m: Any, T: Any, B: int) -> None:
    """Go back by one copy in four neighbours of a chain.

    Their derivatives `bar` follow from those of the next state in the chain, and of the states m of another chain. E
    are the states before the copy, and T is the row, with its four parts, of the function by which m differs.
    """
    for j in range(B):
        b, a = T[j], T[2 * ROW + j]
        n0, n1, n2, n3, n4 = bar[j], bar[ROW + j], bar[2 * ROW + j], bar[3 * ROW + j], bar[4 * ROW + j]
        m0, m1, m2, m3 = m[j], m[ROW + j], m[2 * ROW + j], m[3 * ROW + j]
        e0, e1, e2, e3 = E[j], E[ROW + j], E[2 * ROW + j], E[3 * ROW + j]
        bar[j] = n0 + a * n1 + b * m0
        bar[ROW + j] = n1 + a * n2 + b * m1
        bar[2 * ROW + j] = n2 + a * n3 + b * m2
        bar[3 * ROW + j] = n3 + a * n4 + b * m3
        T[ROW + j] = T[ROW + j] + e0 * m0 + e1 * m1 + e2 * m2 + e3 * m3
        T[3 * ROW + j] = T[3 * ROW + j] + e0 * n1 + e1 * n2 + e2 * n3 + e3 * n4


@helper(fastmath=SAFE)
def _pull1(bar: Any, E: Any, m: Any, T: Any, B: int) -> None:
    """`_pull4` for one state."""
    for j in range(B):
        after, other, e = bar[ROW + j], m[j], E[j]
        bar[j] = bar[j] + T[2 * ROW + j] * after + T[j] * other
        T[ROW + j] += e * other
        T[3 * ROW + j] += e * after


@helper(fastmath=SAFE)
def _pull_other(bar: Any, E: Any, m: Any, T: Any, B: int) -> None:
    """What one more other chain m adds in `_pull1`."""
    for j in range(B):
        bar[j] += T[j] * m[j]
        T[ROW + j] += E[j] * m[j]


@helper()
def _pull(bar: Any, E: Any, m: Any, moves: bool, T: Any, low: int, high: int, B: int) -> None:
    """`_pull4` or `_pull1` for the states low, …, high − 1 of a chain.

    If `moves`, m is another chain, of which the states at the same places are read; else m is four rows of zeros.
    """
    k = low
    while k + 4 <= high:
        _pull4(bar[k * ROW :], E[k * ROW :], m[k * ROW :] if moves else m, T, B)
        k += 4
    while k < high:
        _pull1(bar[k * ROW :], E[k * ROW :], m[k * ROW :] if moves else m, T, B)
        k += 1


@helper()
def _backwards(program: Any, i: int, T: Any, E: Any, bar: Any, B: int) -> None:
    """Go back by copy i: change `bar`, and add the derivatives by the one-copy functions at copy i to their rows T."""
    chains, ends, grown, zeros = program.chains, program.ends, program.grown, len(T) - 2
    nothing = bar[(program.rows - 4) * ROW :]
    for c in range(len(chains)):  # smaller states first: they read the derivatives by larger ones as they were
        size = chains[c, 2]
        if size > i:
            break  # states of more than i factors are zero before copy i
        count, g, end = min(chains[c, 1], i + 1 - size), ends[c], ends[c + 1]
        mine, before = bar[(chains[c, 3] + 1) * ROW :], E[(chains[c, 0] + 1) * ROW :]
        both = 0
        if g < end:
            both = min(count, grown[g, 2])
            _pull(mine, before, bar[(grown[g, 1] + 1) * ROW :], True, T[grown[g, 0]], 0, both, B)
        _pull(mine, before, nothing, False, T[zeros], both, count, B)
        for more in range(g + 1, end):
            m, row = bar[(grown[more, 1] + 1) * ROW :], T[grown[more, 0]]
            for k in range(min(count, grown[more, 2])):
                _pull_other(mine[k * ROW :], before[k * ROW :], m[k * ROW :], row, B)


@helper(fastmath=SAFE)
def _begin(along: int, T: Any, now: Any, B: int) -> None:
    """Write the four parts of the row of each one-copy function to `now`, with zero for the derivatives."""
    a = T[along]
    for f in range(len(T) - 1):
        value, row = T[f], now[f]
        for j in range(B):
            row[j] = value[j]
            row[ROW + j] = 0.0
            row[2 * ROW + j] = a[j]
            row[3 * ROW + j] = 0.0


@helper(fastmath=SAFE)
def _gather(along: int, T: Any, B: int) -> None:
    """Add what all rows have for the derivative by the function `along` to its own row."""
    total = T[along]
    for f in range(len(T) - 1):
        row = T[f]
        for j in range(B):
            total[ROW + j] += row[3 * ROW + j]


@helper()
def _other_wave(table: Any, f: int) -> int:
    """The row with the sine of the same frequency if row f is a cosine, or with the cosine if it is a sine; else −1."""
    ops, ab = table.operations, table.constants
    for g in range(len(ops)):
        if ops[g, 0] == COSINE + SINE - ops[f, 0] and ab[g, 0] == ab[f, 0]:
            return g
    return -1


@helper(fastmath=SAFE)
def _slope(table: Any, x: Any, T: Any, slopes: Any, out: Any, B: int) -> None:
    """Write Σ_a (derivative by ψ_a) · ψ_a′(x), for all one-copy functions of a coordinate x, to `out`.

    `slopes` is work space for the ψ_a′; its last row has to be zero.
    """
    ops, ab = table.operations, table.constants
    for j in range(B):
        out[j] = 0.0
    for f in range(len(ops)):
        op, a, b, by, slope = ops[f, 0], ab[f, 0], ab[f, 1], T[f], slopes[f]
        if op == COSINE or op == SINE:  # noqa: SIM109 - numba compiles it to one comparison each
            other = _other_wave(table, f)
            if other >= 0:
                row, factor = T[other], _FULL_TURN * a if op == SINE else -_FULL_TURN * a
                for j in range(B):
                    slope[j] = factor * row[j]
            elif op == COSINE:
                for j in range(B):
                    slope[j] = -ANGLE * a * sine(a * x[j])
            else:
                for j in range(B):
                    slope[j] = ANGLE * a * cosine(a * x[j])
        else:
            first, one, two = T[ops[f, 2]], slopes[ops[f, 2]], slopes[ops[f, 3]]  # −1 is the last row, that of 1
            for j in range(B):
                slope[j] = a * (first[j] + x[j] * one[j]) + b * two[j]
        for j in range(B):
            out[j] += by[ROW + j] * slope[j]


@helper()
def _copy(row: Any, out: Any) -> None:
    """Copy an array of one axis."""
    for j in range(len(row)):
        out[j] = row[j]


@loop
def copies_gradient(program: Any, X: Any, C: Any, stretch: int, out: Any) -> None:
    """Put the derivatives of Σ c φ by the coordinate of each copy in `out` (n, m, 1, q).

    Where X has the values of the one-copy functions, these are the derivatives by all values, in `out` (n, m, A, q).

    Parameters
    ----------
    program : CopyChains
    X : array of shape (n, m, 1) or (n, m, A)
        The coordinate of each copy, or the values of the A one-copy functions at each copy.
    C : array of shape (q, 1, dim) or (q, n, dim)
        The coefficients c, the same for all points or for each point.
    stretch : int
        After how many copies the states are kept at a time. They are also kept at the beginning of each stretch, from
        where they are computed again on the way back.
    out : array
    """
    n, m, given = X.shape
    B = BLOCK
    table, outputs = program.table, program.outputs
    A, stretches = max(len(table.operations), given), -(-m // stretch)
    T, before = np.zeros((stretch, A + 2, ROW)), np.zeros((stretch + 1, program.kept * ROW))
    begin = np.zeros((stretches, program.kept * ROW))  # the states before the first copy of each stretch
    bar = np.zeros(program.rows * ROW)
    x, scale, slopes = np.zeros((stretch, ROW)), np.zeros(ROW), np.zeros((A + 1, ROW))
    total = np.zeros((TILE, ROW))  # the derivatives by eight copies, which are written together
    now = np.zeros((A + 2, 4 * ROW))  # the rows of the one-copy functions at one copy, with four parts each
    T[:, A + 1, :] = 1.0
    now[A + 1, :ROW] = 1.0
    before[:, ROW : ROW + B] = 1.0
    begin[:, ROW : ROW + B] = 1.0
    for start in range(0, n, B):
        inside = min(B, n - start)
        for b in range(B):
            scale[b] = 1.0 if table.mode == TABLE else table.scale[0]
            if table.mode == SPHERE:
                scale[b] /= norm(X[min(start + b, n - 1)])
        for column in range(len(C)):
            bar[:] = 0.0
            if C.shape[1] == 1:
                for k in range(len(outputs)):
                    c, row = C[column, 0, k], bar[outputs[k] * ROW :]
                    for b in range(B):
                        row[b] += c
            else:
                for b in range(inside):
                    for k in range(len(outputs)):
                        bar[outputs[k] * ROW + b] += C[column, start + b, k]
            for step in range(2 * stretches - 1):  # forwards through all stretches, then backwards from the last one
                s = step if step < stretches else 2 * (stretches - 1) - step
                first, last = s * stretch, min((s + 1) * stretch, m)
                if column == 0 or stretches > 1:
                    if stretches > 1 and first < program.largest:
                        before[:, 2 * ROW :] = 0.0  # states of more factors than copies are not written
                    _copy(begin[s], before[0])
                    _load(table, X, start, B, (first, last), scale, x, T)
                    for i in range(first, last - 1 if step >= stretches - 1 else last):
                        _forwards(program, i, T[i - first], before[i - first], before[i - first + 1], B)
                if step < stretches - 1:
                    _copy(before[last - first], begin[s + 1])
                    continue
                for i in range(last - 1, first - 1, -1):
                    _begin(program.along, T[i - first], now, B)
                    _backwards(program, i, now, before[i - first], bar, B)
                    _gather(program.along, now, B)
                    if table.mode == GIVEN:
                        for a in range(given):
                            for b in range(inside):
                                out[start + b, i, a, column] = now[a, ROW + b]
                        continue
                    _slope(table, x[i - first], now, slopes, total[i % TILE], B)
                    if i % TILE == 0 or i == first:
                        top = min(i - i % TILE + TILE, last)
                        for b in range(inside):
                            for k in range(i, top):
                                out[start + b, k, 0, column] = table.scale[0] * total[k % TILE, b]
