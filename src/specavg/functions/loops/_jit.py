"""Compilation with a cache on disk that notices every change of the loops.

Numba's cache watches the file of the function that is called, and no other: after a change to a helper in another file,
or an upgrade of the package, it would go on running the old machine code. Here a digest of all sources of this
package is part of the name under which a function is cached, so that any change compiles anew. Where the package's
folder cannot be written, numba itself turns to the cache of the user; where there is none either, nothing is cached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import resources
from typing import Any

from numba import njit

# Rounding must be the same for a point wherever it stands in a block: products may be fused, sums not reordered.
SAFE = frozenset({"contract", "nsz"})
PAD = 8  # numbers after each row of a block: rows of a whole number of pages would fall on the same cache sets


def _digest() -> str:
    """A short name for the text of all sources of this package."""
    text = hashlib.sha256()
    for source in sorted(resources.files(__name__.rpartition(".")[0]).iterdir(), key=lambda file: file.name):
        if source.name.endswith(".py"):
            text.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return text.hexdigest()[:12]


digest = _digest()


def loop(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python."""
    # Numba names the cached file after `__qualname__`, as it does for any function: no part of numba is replaced.
    function.__qualname__ = f"{function.__qualname__}_{digest}"
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # "no locator available": no folder can be written
        return njit(nogil=True)(function)


def helper(*, fastmath: bool | frozenset[str] = False, early: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that becomes part of the loops that call it, and is stored with them only.

    Parameters
    ----------
    fastmath : bool or frozenset of str
        `SAFE`, or True where the order of a sum may change.
    early : bool
        Put in place before types are known, which small formulas inside a loop need to be vectorised.

    Notes
    -----
    Without inlining, a process that compiles would call the helper's own machine code, one that loads from the
    cache the copy inside its caller, and the two would round differently.
    """
    options: dict[str, Any] = {"inline": "always"} if early else {"forceinline": True}
    flags = set(fastmath) if isinstance(fastmath, frozenset) else fastmath

    def decorate(function: Callable[..., Any]) -> Any:
        return njit(nogil=True, fastmath=flags, **options)(function)

    return decorate
