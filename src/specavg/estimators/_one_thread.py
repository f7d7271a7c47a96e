"""Few rows on one thread: small decompositions gain nothing from more, and threads that wait take time too."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, final

from specavg.regression import _measured_limits as _limits


def one_thread(rows: float) -> AbstractContextManager[None]:
    """A context for linear algebra of so many rows: one thread for few, all that there are for many."""
    return _ONE if rows <= _limits.ONE_THREAD_ROWS else nullcontext()


@final
class _OneThread(AbstractContextManager[None]):
    """One thread for linear algebra while the caller who set it is inside.

    The number belongs to the process, and OpenBLAS lets it be set back only where it was set. So the first thread that
    enters sets it, and sets it back when it leaves. Others that come meanwhile leave it alone: some of their work may
    then have all threads, and the number is as it was when all have left.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._owner is None:
                self._owner, self._limit = threading.get_ident(), _thread_pools().limit(limits=1, user_api="blas")
            self._depth += self._owner == threading.get_ident()

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            if self._owner == threading.get_ident():
                self._depth -= 1
                if not self._depth:
                    self._owner = None
                    self._limit.restore_original_limits()


_ONE = _OneThread()


@lru_cache(maxsize=1)
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # which scikit-learn needs too

    return ThreadpoolController()
