"""How far long work has come: one line on a terminal, nothing in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import final

__all__ = ["Progress"]


@final
class Progress:
    """A line such as ``reading  42 %  1,234,567 rows`` on standard error, if that is a terminal.

    Parameters
    ----------
    what : str
    total : int or None
        How many rows there are, if that is known.
    quiet : bool
        Say nothing at all.
    """

    def __init__(self, what: str, total: int | None = None, *, quiet: bool = False) -> None:
        self._what, self._total = what, total
        self._shown = not quiet and sys.stderr.isatty()
        self._last = time.monotonic()
        self._written = False

    def __call__(self, rows: int) -> None:
        """Say that so many rows are done; at most ten times a second, and not in the first half second."""
        now = time.monotonic()
        if not self._shown or now - self._last < (0.1 if self._written else 0.5):
            return
        self._last, self._written = now, True
        share = f"{100 * rows // max(self._total, 1):3d} %  " if self._total else ""
        print(f"\r\033[K{self._what}  {share}{rows:,} rows", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._written:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
