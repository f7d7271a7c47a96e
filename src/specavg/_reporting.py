"""What long work is doing now: one line on a terminal or in a notebook, where the user asks for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
@dataclass
class _Announced:
    """Work that a line names, and how many chunks of it are done, where it has chunks."""

    what: str
    start: float
    done: int = 0
    total: int = 0

    def text(self) -> str:
        chunks = f"{self.done:,} of {self.total:,} chunks, " if self.total > 1 else ""
        return f"{self.what}: {chunks}{time.monotonic() - self.start:.0f} s"


@contextmanager
def announced(what: str, *, at_once: bool = False) -> Generator[None, None, None]:
    """Work that is one long step: with `sa.config(progress=True)` a line says what it is and how long it takes.

    Chunks that `counted` goes through inside it, in the same thread, are counted in the line.

    Parameters
    ----------
    what : str
        What is being done, such as "values of 800 functions at 20,000 points".
    at_once : bool, default False
        Whether the line is written before the work starts, and not after half a second: LAPACK lets no other thread
        write while it works.
    """
    if not settings().progress or getattr(_running, "line", None) is not None:
        yield
        return
    work = _running.work = _Announced(what, time.monotonic())
    _running.line = line = WrittenLine(work.text, before=f"{what} ..." if at_once else None)
    try:
        yield
    finally:
        _running.line = _running.work = None
        line.end()


def counted(items: Iterable[T], total: int) -> Iterator[T]:
    """`items`, `total` of them, one by one; the line of the `announced` work that they are chunks of counts them."""
    work: _Announced | None = getattr(_running, "work", None)
    if work is None or work.total:  # chunks of chunks are not counted
        yield from items
        return
    work.done, work.total = 0, total
    try:
        for item in items:
            yield item
            work.done += 1
    finally:
        work.done = work.total = 0


@final
class WrittenLine:
    """A line of text on standard error that is written again and again by a thread of its own, until `end`.

    Parameters
    ----------
    text : callable
        What is to be read now.
    stays : bool, default True
        Whether the last text stays; otherwise the line is cleared, and a log gets nothing.
    before : str, optional
        Written at once, before the first text.
    """

    def __init__(self, text: Callable[[], str], *, stays: bool = True, before: str | None = None) -> None:
        self._text, self._stays = text, stays
        self._out: Any = sys.stderr
        self._rewritten = self._out.isatty() or "ipykernel" in sys.modules  # notebooks obey \r as terminals do
        self._longest = 0
        if before is not None:
            self._longest = len(before) if self._rewritten else 0
            print(
                f"\r{before}" if self._rewritten else before,
                end="" if self._rewritten else "\n",
                file=self._out,
                flush=True,
            )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        wait, longest = _PATIENCE, self._longest
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
