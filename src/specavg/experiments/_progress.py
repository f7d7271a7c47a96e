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
    if out.isatty() and importlib.util.find_spec("rich") is not None:
        with _rich(out) as track:
            yield track
    else:
        yield _Plain(out)


@contextmanager
def _rich(out: Any) -> Generator[Track]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=out)) as bars:

        def track(items: Iterable[T], description: str, total: int | None = None) -> Iterable[T]:
            held = list(items) if total is None else items
            yield from bars.track(held, total=total or len(held), description=description)  # pyright: ignore[reportArgumentType]

        yield track


class _Plain:
    """One line when a loop begins and one when it ends, so that logs stay short."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def __call__(self, items: Iterable[T], description: str, total: int | None = None) -> Iterable[T]:
        start = time.perf_counter()
        count = 0
        for item in items:
            yield item
            count += 1
        print(f"{description:<44} {count:>4} steps  {time.perf_counter() - start:6.1f} s", file=self._out, flush=True)
