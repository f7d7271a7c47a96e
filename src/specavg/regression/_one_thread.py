"""Few rows on one thread: small decompositions gain nothing from more, and threads that wait take time too."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, final

from specavg.regression import _measured_limits as _limits


def one_thread(rows: int) -> AbstractContextManager[None]:
    """A context for linear algebra of so many rows: one thread for few, all that there are for many."""
    return _ONE if rows <= _limits.ONE_THREAD_ROWS else nullcontext()


@final
class _OneThread(AbstractContextManager[None]):
    """One thread for linear algebra while anyone is inside.

    The number of threads belongs to the process. The first who enters sets it and the last who leaves sets it back, so
    that fits in several threads, and contexts in each other, leave it as it was.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._limit = threading.Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit: Any = _thread_pools().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


_ONE = _OneThread()


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # which scikit-learn needs too

    return ThreadpoolController()
