"""Compilation with a cache on disk that notices every change of what is compiled.

Numba's cache notices changes of the file of the function that is called, and of no other file: after a change to a
helper in another file, or an upgrade of the package, it would run the old machine code. Here the name under which a
function is cached contains a digest of all files in `loops`, and of `_factor_table`, whose constants are compiled in,
so that any change of them compiles anew. Where the folder of the package cannot be written to, Numba uses the cache
folder of the user; where there is none, nothing is cached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

# Flags of LLVM with which the rounding at a point does not depend on its place in a block: a product and a sum may be
# fused, and signs of zeros may be ignored, but sums may not be reordered.
SAFE = frozenset({"contract", "nsz"})
PAD = 8  # unused numbers after each row of a block: without them rows a power of two apart would share cache sets


def compiled_files() -> list[Traversable]:
    """The files whose functions or constants are compiled: those of `loops`, and `_factor_table`."""
    package = __name__.rpartition(".")[0]
    loops = [file for file in resources.files(package).iterdir() if file.name.endswith(".py")]
    above = package.rpartition(".")[0]
    constants = [file for file in resources.files(above).iterdir() if file.name == "_factor_table.py"] if above else []
    return sorted(loops + constants, key=lambda file: file.name)


def _digest() -> str:
    """A short hash of the text of all files that are compiled."""
    text = hashlib.sha256()
    for source in compiled_files():
        text.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return text.hexdigest()[:12]


digest = _digest()


def loop(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python."""
    # Numba names the cached file after `__qualname__`.
    function.__qualname__ = f"{function.__qualname__}_{digest}"
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # "no locator available": no folder can be written
        return njit(nogil=True)(function)


def helper(*, fastmath: bool | frozenset[str] = False, early: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that is inlined in the loops that call it, and is cached as a part of them.

    Parameters
    ----------
    fastmath : bool or frozenset of str
        `SAFE`, or True where the terms of a sum may be added in another order.
    early : bool
        Whether the function is inlined before types are known. Small formulas inside a loop are vectorised only then.

    Notes
    -----
    Without inlining, a process that compiles would call the machine code of the helper itself, and a process that loads
    from the cache would call the copy inside the caller. The two would round differently.
    """
    options: dict[str, Any] = {"inline": "always"} if early else {"forceinline": True}
    flags = set(fastmath) if isinstance(fastmath, frozenset) else fastmath

    def decorate(function: Callable[..., Any]) -> Any:
        return njit(nogil=True, fastmath=flags, **options)(function)

    return decorate
