"""What long work is doing now: one line on a terminal or in a notebook, where the user asks for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, final

from specavg._config import settings

__all__ = ["reported"]

T = TypeVar("T")

_PATIENCE = 0.5  # seconds before anything is said: short work needs no words
_EVERY = 0.2  # seconds between two writings: a reader sees no more
_running = threading.local()


def reported(items: Iterable[T], what: str, unit: str, total: int | None = None) -> Iterator[T]:
    """`items` one by one; with `sa.config(progress=True)` a line says how many are done.

    The line is written by a thread of its own, so that one long step is seen to go on. Work inside other reported work
    says nothing of its own.

    Parameters
    ----------
    items : iterable
    what : str
        What is being done, such as "invariant basis".
    unit : str
        What the items are, such as "eigenspaces".
    total : int, optional
        How many there are, where that is known.
    """
    if not settings().progress or getattr(_running, "line", None) is not None:
        yield from items
        return
    line = _Line(what, unit, total)
    _running.line = line
    try:
        for item in items:
            yield item
            line.done += 1
    finally:
        _running.line = None
        line.end()


@final
class _Line:
    def __init__(self, what: str, unit: str, total: int | None) -> None:
        self.done = 0
        self._what, self._unit, self._total = what, unit, total
        self._start = time.monotonic()
        self._out: Any = sys.stderr
        self._rewritten = self._out.isatty() or "ipykernel" in sys.modules  # notebooks obey \r as terminals do
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def __str__(self) -> str:
        of = f" of {self._total:,}" if self._total else ""
        return f"{self._what}: {self.done:,}{of} {self._unit}, {time.monotonic() - self._start:.0f} s"

    def _write(self) -> None:
        wait, longest = _PATIENCE, 0
        while not self._ended.wait(wait):
            wait = _EVERY
            if self._rewritten:
                text = str(self)
                longest = max(longest, len(text))
                print(f"\r{text:<{longest}}", end="", file=self._out, flush=True)
        if longest:
            print(f"\r{self!s:<{longest}}", file=self._out, flush=True)
        elif wait == _EVERY:  # in a log: one line for what took long
            print(str(self), file=self._out, flush=True)

    def end(self) -> None:
        """Stop writing; the last state stays."""
        self._ended.set()
        self._thread.join()
