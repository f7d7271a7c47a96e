"""A progress bar: rich where it is installed and the output is a terminal, plain lines otherwise."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar

from specavg.experiments._result import Track

T = TypeVar("T")


@contextmanager
def progress(stream: Any = None) -> Generator[Track]:
    """A `track(items, description)` that shows how far each loop has come."""
    out = sys.stderr if stream is None else stream
    if not out.isatty() or importlib.util.find_spec("rich") is None:
        yield _logged(out)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=out)) as bars:

        def track(items: Iterable[T], description: str) -> Iterable[T]:
            return bars.track(list(items), description=description)

        yield track


def _logged(out: Any) -> Track:
    """One line when a loop has ended, so that logs stay short."""

    def track(items: Iterable[T], description: str) -> Iterable[T]:
        start, count = time.perf_counter(), 0
        for item in items:
            yield item
            count += 1
        print(f"{description:<44} {count:>4} steps  {time.perf_counter() - start:6.1f} s", file=out, flush=True)

    return track
