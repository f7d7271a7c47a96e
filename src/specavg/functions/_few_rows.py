"""Tables of few rows: NumPy computes them, so that no loop has to be compiled or loaded."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

import numpy as np

from specavg._arrays import Array

# Rows of the largest table that NumPy computes. 512 rows take NumPy a tenth of a second at most. A loop takes 1 to 9
# seconds to compile, and half a second to load from the cache on disk.
FEW_ROWS = 512
_rows = threading.local()  # `of_many`: whether this thread is inside `rows_of_a_larger_table`


@contextlib.contextmanager
def rows_of_a_larger_table() -> Generator[None]:
    """A context in which tables of few rows are computed by loops, as larger tables are.

    A part of a larger table then has the same bits as the larger table.
    """
    before = getattr(_rows, "of_many", False)
    _rows.of_many = True
    try:
        yield
    finally:
        _rows.of_many = before


def few_rows(n: int) -> bool:
    """Whether NumPy, and no loop, computes a table of n rows."""
    return n <= FEW_ROWS and not getattr(_rows, "of_many", False)


def few_at_a_time(n: int, work: Callable[..., Array], *tables: Array) -> Array:
    """`work` on tables of all copies of n points, which may be many more rows than n.

    If n points are few, their copies are computed few at a time, so that no loop is compiled.
    """
    rows = len(tables[0])
    if rows <= FEW_ROWS or not few_rows(n):
        return work(*tables)
    starts = range(0, rows, FEW_ROWS)
    return np.concatenate([work(*(table[start : start + FEW_ROWS] for table in tables)) for start in starts])
