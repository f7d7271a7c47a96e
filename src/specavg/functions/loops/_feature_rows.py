"""From a block of values, one row a function, to the rows of a table of features, one row a point."""

from __future__ import annotations

from typing import Any

from specavg.functions.loops._jit import SAFE, helper


@helper()
def transpose(values: Any, count: int, out: Any) -> None:
    """The first `count` columns of `values` as rows of `out`, tile by tile: a cache line is used whole."""
    for first in range(0, out.shape[1], 16):
        last = min(first + 16, out.shape[1])
        for b in range(count):
            row = out[b]
            for k in range(first, last):
                row[k] = values[k, b]


@helper(fastmath=SAFE)
def add_multiple(out: Any, c: float, a: Any, B: int) -> None:
    """Add c times a row to another."""
    for j in range(B):
        out[j] += c * a[j]


@helper()
def finish(values: Any, mixing: Any, mixed: Any, count: int, out: Any) -> None:
    """Rows of `out` for `count` points: the values, or sparse combinations of them, mixed[c] = Σ weight · values[row].

    Combination c has the entries starts[c]..starts[c + 1] of `mixing`; no starts, no combinations.
    """
    starts, rows, weights = mixing.starts, mixing.rows, mixing.weights
    if len(starts) == 0:
        transpose(values, count, out)
        return
    B = values.shape[1]
    for c in range(len(mixed)):
        e, end = starts[c], starts[c + 1]
        row = mixed[c]
        for b in range(B):
            row[b] = 0.0
        for i in range(e, end):
            add_multiple(row, weights[i], values[rows[i]], B)
    transpose(mixed, count, out)
