"""Rows shared between threads, with results that do not depend on how many threads there are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from specavg._arrays import Array
from specavg._config import settings

Result = TypeVar("Result")
ROWS = 1 << 14  # rows of one task: some milliseconds of work, and few enough tasks that adding them is free
CACHE = 256 * 1024  # bytes that a block may fill: half of a common second-level cache
SMALLEST_BLOCK, _LARGEST_BLOCK = 64, 512  # points: fewer waste vector registers, more bring nothing


def block_size(n: int, rows: int, smallest: int = SMALLEST_BLOCK, cache: int = CACHE) -> int:
    """Points in a block, a multiple of 64, such that `rows` numbers a point stay in cache."""
    fitting = cache // (8 * max(rows, 1)) // SMALLEST_BLOCK * SMALLEST_BLOCK
    needed = -(-max(n, 1) // SMALLEST_BLOCK) * SMALLEST_BLOCK
    return int(min(max(fitting, smallest), _LARGEST_BLOCK, needed))


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


def for_all_rows(work: Callable[[slice], None], n: int) -> None:
    """`work` on every chunk of n rows, in threads."""
    for _ in in_order(work, row_chunks(n)):
        pass


def in_order(work: Callable[[slice], Result], chunks: list[slice]) -> Iterator[Result]:
    """`work` on every chunk, in threads, results in the order of the chunks; few are held at a time."""
    if len(chunks) <= 1 or (threads := min(settings().n_threads, len(chunks))) <= 1:
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
