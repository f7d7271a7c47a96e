"""Process-wide settings: how much memory and how many threads may be used, and whether progress is shown."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from dataclasses import dataclass, replace

from specavg._messages import whole_number

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class Settings:
    """What is in force: a bound on working memory in bytes, a number of threads, and whether progress is shown."""

    memory_limit: int
    n_threads: int
    progress: bool = False


def _default() -> Settings:
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not a POSIX system: assume a small machine
        physical = 4 * 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return Settings(memory_limit=physical // 2, n_threads=cores)


_lock = threading.Lock()
_current = _default()


def settings() -> Settings:
    """The settings in force."""
    return _current


def _bytes(limit: int | float | str) -> int:
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", limit)
        if match is None or match[2].upper() not in _UNITS:
            raise ValueError(f"memory_limit={limit!r} is not a size; write bytes, or for instance '2 GB' or '512 MiB'")
        limit = float(match[1]) * _UNITS[match[2].upper()]
    if not limit >= 1:
        raise ValueError(f"memory_limit must be positive; got {limit!r}")
    return int(limit)


class config(contextlib.AbstractContextManager["Settings"]):
    """Set the memory bound, the thread count and the reports of progress, for good or for a ``with`` block.

    Parameters
    ----------
    memory_limit : int or str, optional
        Bytes, or a string such as ``"2 GB"``: a bound on the working memory of one operation (the arrays a
        user passes in and gets back are not counted). Default: half of the machine's memory.
    n_threads : int, optional
        Threads used by compiled loops. Default: the cores this process may use.
    progress : bool, optional
        Show on standard error how far work has come that takes more than half a second: invariant bases, the choice of
        spectrum and penalty, data in chunks. One line on a terminal or in a notebook; in a log, one line for each when
        it ends. Default: nothing is shown.

    Examples
    --------
    >>> import specavg as sa
    >>> with sa.config(memory_limit="500 MB", n_threads=1) as inside:
    ...     inside.memory_limit
    500000000
    """

    def __init__(
        self,
        memory_limit: int | float | str | None = None,
        n_threads: int | None = None,
        progress: bool | None = None,
    ) -> None:
        global _current
        threads = None if n_threads is None else whole_number(n_threads, "n_threads", 1)
        if progress is not None and not isinstance(progress, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"progress must be True or False; got {progress!r}")
        limit = None if memory_limit is None else _bytes(memory_limit)
        given = {"memory_limit": limit, "n_threads": threads, "progress": progress}
        with _lock:
            self._before = _current
            self._set = _current = replace(_current, **{k: v for k, v in given.items() if v is not None})

    def __enter__(self) -> Settings:
        return self._set

    def __exit__(self, *exception: object) -> None:
        global _current
        with _lock:
            _current = self._before

    def __repr__(self) -> str:
        shown = self._set
        return f"config(memory_limit={shown.memory_limit}, n_threads={shown.n_threads}, progress={shown.progress})"


def human_size(n_bytes: float) -> str:
    """`n_bytes` for a person."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"


def require_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse, before it is tried, what would not fit in the memory limit."""
    limit = _current.memory_limit
    if n_bytes > limit:
        raise MemoryError(
            f"{what} would need {human_size(n_bytes)}; the memory limit is {human_size(limit)}. {remedy} "
            "(sa.config(memory_limit=...) sets the limit.)"
        )
