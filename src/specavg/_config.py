"""Process-wide settings: how much memory and how many threads may be used, and whether progress is shown."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specavg._messages import whole_number

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class Settings:
    """What is in force: a bound on working memory in bytes, a number of threads, and whether progress is shown."""

    memory_limit: int
    n_threads: int
    progress: bool = False


# Where Linux tells what a container may use, of its two versions of control groups: bytes, or a word for no bound.
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def _default() -> Settings:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not a POSIX system: assume a small machine
        memory = 4 * 2**30
    for path in _CONTAINER_LIMITS:
        with contextlib.suppress(ValueError, OSError):
            memory = min(memory, int(Path(path).read_text()))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return Settings(memory_limit=memory // 2, n_threads=cores)


# What was given, the latest last, each with the `config` that gave it: a block takes its own away wherever it stands,
# whatever other threads have set since. Threads share all of it, so that those of a computation see what it was given.
_lock = threading.RLock()  # a block may end while memory is collected, here too
_layers: list[tuple[weakref.ref[config], dict[str, Any]]] = []
_base = _default()  # below the layers; what no block can take away any more becomes a part of it
_current = _base


def _update() -> None:
    """Bring what is in force up to date; the lock is held."""
    global _base, _current
    kept: list[tuple[weakref.ref[config], dict[str, Any]]] = []
    for setter, given in _layers:
        if setter() is not None or (kept and kept[-1][0]() is not None):
            kept.append((setter, given))
        elif kept:  # neighbours that nobody can take away are one
            kept[-1] = (setter, {**kept[-1][1], **given})
        else:
            _base = replace(_base, **given)
    _layers[:] = kept
    _current = _base
    for _, given in _layers:
        _current = replace(_current, **given)


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

    Settings are those of the process, for all of its threads: the latest counts. When a block ends it takes back what
    it has set, and nothing else; it may be entered again.

    Parameters
    ----------
    memory_limit : int or str, optional
        Bytes, or a string such as ``"2 GB"``: a bound on the working memory of one operation (the arrays a
        user passes in and gets back are not counted). Default: half of the memory of the machine or of its container.
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
        threads = None if n_threads is None else whole_number(n_threads, "n_threads", 1)
        if progress is not None and not isinstance(progress, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"progress must be True or False; got {progress!r}")
        limit = None if memory_limit is None else _bytes(memory_limit)
        given = {"memory_limit": limit, "n_threads": threads, "progress": progress}
        self._given = {name: value for name, value in given.items() if value is not None}
        self._is_block = False
        with _lock:
            self._set()

    def _set(self) -> None:
        _layers.append((weakref.ref(self), self._given))
        _update()
        self._settings = _current

    def _withdraw(self) -> None:
        own = [place for place, (setter, _) in enumerate(_layers) if setter() is self]
        del _layers[own[-1]]
        _update()

    def __enter__(self) -> Settings:
        with _lock:
            if not self._is_block:  # what the call itself has set ends with the block
                self._withdraw()
            self._is_block = True
            self._set()
            return self._settings

    def __exit__(self, *exception: object) -> None:
        with _lock:
            self._withdraw()

    def __repr__(self) -> str:
        shown = self._settings
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
