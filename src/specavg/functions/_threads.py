"""Rows shared between threads, with results that do not depend on how many threads there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from specavg._config import settings

__all__ = ["by_rows", "compensated_sum", "in_order", "read_only", "row_chunks"]

Array = NDArray[np.float64]
Result = TypeVar("Result")
ROWS = 1 << 14  # rows of one task: some milliseconds of work, and few enough tasks that adding them is free


def read_only(X: Array) -> Array:
    """`X` contiguous and without permission to write: one type for the compiler, whatever users pass."""
    view = np.require(X, dtype=np.float64, requirements=["C", "A"]).view()
    view.flags.writeable = False
    return view


def row_chunks(n: int, results: int = 0) -> list[slice]:
    """Consecutive ranges of rows: fixed by n and the size of a result, never by the number of threads.

    A chunk has at least as many rows as its result has numbers, so that adding results up costs nothing.
    """
    rows = max(ROWS, results)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def in_order(work: Callable[[slice], Result], chunks: list[slice]) -> Iterator[Result]:
    """`work` on every chunk, in threads, results in the order of the chunks; few are held at a time."""
    threads = min(settings().n_threads, len(chunks))
    if threads <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(work, chunk))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def by_rows(loop: Any, arguments: tuple[Any, ...], points: Array, more: tuple[Any, ...], out: Array) -> Array:
    """`out`, filled by ``loop(*arguments, points[rows], *more, out[rows])`` on chunks of rows, in threads."""

    def work(rows: slice) -> None:
        loop(*arguments, points[rows], *more, out[rows])

    for _ in in_order(work, row_chunks(len(points))):
        pass
    return out


def compensated_sum(parts: Iterator[Array], shape: tuple[int, ...]) -> Array:
    """Neumaier's sum of arrays: the error does not grow with the number of parts."""
    total, lost = np.zeros(shape), np.zeros(shape)
    for part in parts:
        new = total + part
        lost += np.where(np.abs(total) >= np.abs(part), (total - new) + part, (part - new) + total)
        total = new
    return total + lost
