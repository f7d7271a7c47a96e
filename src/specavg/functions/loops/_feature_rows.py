"""Writing a block of values, in which each function is a row, to a table in which each point is a row."""

from __future__ import annotations

from typing import Any

from specavg.functions.loops._jit import SAFE, helper


@helper()
def transpose(values: Any, count: int, out: Any) -> None:
    """Write the first `count` columns of `values` to the rows of `out`, 16 functions at a time.

    A cache line of `out` has 8 numbers, and is then written at once.
    """
    for first in range(0, out.shape[1], 16):
        last = min(first + 16, out.shape[1])
        for b in range(count):
            row = out[b]
            for k in range(first, last):
                row[k] = values[k, b]


@helper(fastmath=SAFE)
def add_multiple(out: Any, c: float, a: Any, B: int) -> None:
    """Add c times the row a to the row `out`."""
    for j in range(B):
        out[j] += c * a[j]


@helper()
def finish(values: Any, mixing: Any, mixed: Any, count: int, out: Any) -> None:
    """Write the values at `count` points, or sparse combinations of them, to the rows of `out`.

    Parameters
    ----------
    values : array of shape (functions, B)
    mixing : Mixing
        The sparse matrix of the combinations; for `NO_MIXING` the values are written.
    mixed : array of shape (combinations, B)
        Work space.
    count : int
        The number of points.
    out : array of shape (count, functions or combinations)
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
