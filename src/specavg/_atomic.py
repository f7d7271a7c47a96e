"""Files that are either complete or not there at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Generator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path` only if the block ends well.

    An exception or an interruption inside the block removes it and leaves whatever was at `path` untouched. A
    symbolic link stays, and the file it points to is replaced. A file that was there keeps its permissions. Pipes and
    devices are written to directly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder) / "a.txt") as unfinished:
    ...         _ = unfinished.write_text("complete")
    ...     (Path(folder) / "a.txt").read_text()
    'complete'
    """
    if is_pipe(Path(path)):
        yield Path(path)
        return
    target = Path(path).resolve() if Path(path).is_symlink() else Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".unfinished", dir=target.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())  # or a power cut could leave a complete name with an empty file
        # mkstemp makes files that only their owner may read.
        unfinished.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def is_pipe(path: Path) -> bool:
    """Whether a pipe or a device is there: nothing to complete or to replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
