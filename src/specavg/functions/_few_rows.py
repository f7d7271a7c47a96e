"""Tables of few rows: they are worked on in plain NumPy, with nothing compiled and nothing loaded."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator

# At 512 rows NumPy takes a tenth of a second at most; a loop takes 1 to 9 seconds to compile, and half a second to load
# again.
FEW_ROWS = 512
_rows = threading.local()


@contextlib.contextmanager
def rows_of_a_larger_table() -> Generator[None]:
    """A context in which a table of few rows is computed like one of many, so that its rows have the same bits."""
    before = getattr(_rows, "of_many", False)
    _rows.of_many = True
    try:
        yield
    finally:
        _rows.of_many = before


def few_rows(n: int) -> bool:
    """Whether a table of n rows is left to plain NumPy."""
    return n <= FEW_ROWS and not getattr(_rows, "of_many", False)
