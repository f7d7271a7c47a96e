"""How far long work has come: one line on a terminal, nothing in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import final

from specavg._reporting import WrittenLine


@final
class Progress:
    """A line such as ``reading  42 %  1,234,567 rows  12 s`` on standard error, if that is a terminal.

    It is written by a thread of its own, so that work that reports nothing for a while is seen to go on.

    Parameters
    ----------
    what : str
    total : int or None
        How many rows there are, if that is known.
    quiet : bool
        Say nothing at all.
    """

    def __init__(self, what: str, total: int | None = None, *, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._written: WrittenLine | None = None
        self.phase(what, total)

    def phase(self, what: str, total: int | None = None) -> None:
        """Say what is being done from now on."""
        self._what, self._total, self._rows, self._start = what, total, 0, time.monotonic()

    def __call__(self, rows: int) -> None:
        """Say that so many rows are done."""
        self._rows = rows

    def line(self) -> str:
        """What the terminal shows now."""
        share = f"  {min(100, 100 * self._rows // self._total):3d} %" if self._total and self._rows else ""
        rows = f"  {self._rows:,} rows" if self._rows else ""
        return f"{self._what}{share}{rows}  {time.monotonic() - self._start:.0f} s"

    def __enter__(self) -> Progress:
        if self._shown:
            self._written = WrittenLine(self.line, stays=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._written is not None:
            self._written.end()
