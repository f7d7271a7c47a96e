"""What long work is doing now: one line on a terminal or in a notebook, where the user asks for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, final

from specavg._config import settings

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
    done, start = 0, time.monotonic()
    of = f" of {total:,}" if total else ""
    _running.line = line = WrittenLine(lambda: f"{what}: {done:,}{of} {unit}, {time.monotonic() - start:.0f} s")
    try:
        for item in items:
            yield item
            done += 1
    finally:
        _running.line = None
        line.end()


@final
class WrittenLine:
    """A line of text on standard error that is written again and again by a thread of its own, until `end`.

    Parameters
    ----------
    text : callable
        What is to be read now.
    stays : bool, default True
        Whether the last text stays; otherwise the line is cleared, and a log gets nothing.
    """

    def __init__(self, text: Callable[[], str], *, stays: bool = True) -> None:
        self._text, self._stays = text, stays
        self._out: Any = sys.stderr
        self._rewritten = self._out.isatty() or "ipykernel" in sys.modules  # notebooks obey \r as terminals do
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        wait, longest = _PATIENCE, 0
        while not self._ended.wait(wait):
            wait = _EVERY
            if self._rewritten:
                text = self._text()
                longest = max(longest, len(text))
                print(f"\r{text:<{longest}}", end="", file=self._out, flush=True)
        if longest:
            last = f"{self._text():<{longest}}\n" if self._stays else "\033[K"  # which clears a line of a terminal
            print(f"\r{last}", end="", file=self._out, flush=True)
        elif self._stays and wait == _EVERY:  # in a log: one line for what took long
            print(self._text(), file=self._out, flush=True)

    def end(self) -> None:
        """Stop writing."""
        self._ended.set()
        self._thread.join()
