"""Sums over choices of copies, backwards: what a combination of them changes with every one-copy value.

Forwards E(S) += Σ_a ψ_a(x_i) E(S without a), copy by copy, with all states kept. Backwards, from the last copy to the
first, the derivative by ψ_a(x_i) is Σ_S bar(S) E(S without a), and bar(S without a) += ψ_a(x_i) bar(S).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._jit import SAFE, helper, loop

__all__ = ["copies_backwards"]

_PAD = 8


@helper(fastmath=SAFE)
def _grow(out: Any, a: Any, b: Any, B: int) -> None:
    for j in range(B):
        out[j] += a[j] * b[j]


@helper(fastmath=SAFE)
def _shrink(bar: Any, value: Any, before: Any, by_value: Any, rest: Any, B: int) -> None:
    for j in range(B):
        by_value[j] += bar[j] * before[j]
        rest[j] += value[j] * bar[j]


@loop
def copies_backwards(program: Any, V: Any, C: Any, B: int, out: Any) -> None:
    """Put the derivatives of Σ c φ by all one-copy values V (A, n, m) in `out` (A, n, m, q); C is (q, dim)."""
    A, n, m = V.shape
    states, starts, entries, outputs = program.states, program.starts, program.entries, program.outputs
    T, before = np.zeros((m, A, B + _PAD)), np.zeros((m + 1, len(starts), B + _PAD))
    bar, by_value = np.zeros((len(starts), B + _PAD)), np.zeros((A, B + _PAD))
    before[0, 0, :] = 1.0
    for start in range(0, n, B):
        inside = min(B, n - start)
        for a in range(A):
            for b in range(inside):
                for i in range(m):
                    T[i, a, b] = V[a, start + b, i]
        begin = len(states)
        for i in range(m):
            old, new, now = before[i], before[i + 1], T[i]
            while begin > 0 and program.sizes[begin - 1] <= i + 1:  # larger states are still zero
                begin -= 1
            for k in range(len(old)):
                source, target = old[k], new[k]
                for b in range(B):
                    target[b] = source[b]
            for k in range(begin, len(states)):
                state = new[states[k]]
                for e in range(starts[k], starts[k + 1]):
                    _grow(state, now[entries[e, 0]], old[entries[e, 1]], B)
        for column in range(len(C)):
            bar[:, :] = 0.0
            for k in range(len(outputs)):
                row, c = bar[outputs[k]], C[column, k]
                for b in range(B):
                    row[b] += c
            for i in range(m - 1, -1, -1):
                old, now = before[i], T[i]
                by_value[:, :] = 0.0
                for k in range(len(states) - 1, -1, -1):  # smaller states first: larger ones change them
                    if program.sizes[k] > i + 1:  # what it grew from was zero, and so were all states before
                        break
                    mine = bar[states[k]]
                    for e in range(starts[k], starts[k + 1]):
                        a, rest = entries[e, 0], entries[e, 1]
                        _shrink(mine, now[a], old[rest], by_value[a], bar[rest], B)
                for a in range(A):
                    for b in range(inside):
                        out[a, start + b, i, column] = by_value[a, b]
