"""How far the experiments have come: a line that is written again on a terminal, and one for each loop in any case."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar

from specavg._reporting import WrittenLine
from specavg.experiments._result import Track

T = TypeVar("T")


@contextmanager
def progress(stream: Any = None) -> Generator[Track]:
    """A `track(items, description)` that shows how far each loop has come."""
    out = sys.stderr if stream is None else stream

    def track(items: Iterable[T], description: str) -> Iterable[T]:
        start, done = time.perf_counter(), 0

        def text() -> str:
            return f"{description:<44} {done:>4} steps  {time.perf_counter() - start:6.1f} s"

        line = WrittenLine(text, stays=False) if out is sys.stderr and out.isatty() else None
        try:
            for item in items:
                yield item
                done += 1
        finally:
            if line is not None:
                line.end()
        print(text(), file=out, flush=True)

    yield track
