"""Work on chunks of rows in several threads. Results do not depend on the number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from specavg._arrays import Array
from specavg._config import settings
from specavg._reporting import counted

Result = TypeVar("Result")
ROWS = 1 << 14  # rows of one chunk: milliseconds of work, beside which starting a task and adding its sums is little
CACHE = 256 * 1024  # bytes that a block of points may fill: half of a common second-level cache
SMALLEST_BLOCK, _LARGEST_BLOCK = 64, 512  # points in a block: fewer waste vector registers, more bring nothing


def block_size(n: int, rows: int, smallest: int = SMALLEST_BLOCK, cache: int = CACHE) -> int:
    """How many points a block of a loop has: a multiple of 64.

    Parameters
    ----------
    n : int
        The number of points; a block is not larger than it has to be for them.
    rows : int
        How many numbers the loop keeps for each point.
    smallest : int
        The fewest points of a block, unless n is smaller.
    cache : int
        Bytes that all numbers of a block may take.
    """
    fitting = cache // (8 * max(rows, 1)) // SMALLEST_BLOCK * SMALLEST_BLOCK
    needed = -(-max(n, 1) // SMALLEST_BLOCK) * SMALLEST_BLOCK
    return int(min(max(fitting, smallest), _LARGEST_BLOCK, needed))


def read_only(X: Array) -> Array:
    """A contiguous view or copy of `X` that cannot be written to: loops are then compiled for one type of array."""
    view = np.require(X, dtype=np.float64, requirements=["C", "A"]).view()
    view.flags.writeable = False
    return view


def row_chunks(n: int, results: int = 0) -> list[slice]:
    """Consecutive row ranges of n rows, one for each chunk. They do not depend on the number of threads.

    Parameters
    ----------
    n : int
    results : int
        How many numbers the result of a chunk has. A chunk has at least as many rows, so that adding up the results of
        all chunks takes little time.
    """
    rows = max(ROWS, results)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def for_all_rows(work: Callable[[slice], None], n: int) -> None:
    """Call `work` on every chunk of n rows, in threads."""
    for _ in in_order(work, row_chunks(n)):
        pass


def in_order(work: Callable[[slice], Result], chunks: list[slice]) -> Iterator[Result]:
    """The results of `work` on every chunk, computed in threads and given in the order of the chunks.

    No more than about two results for each thread are held at a time.
    """
    return counted(_in_order(work, chunks), len(chunks))


def _in_order(work: Callable[[slice], Result], chunks: list[slice]) -> Iterator[Result]:
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
