"""What linear algebra decided while a basis was built: kept, so that a saved model gets the same bits back.

An orthonormal basis of a null space is unique only up to a rotation, and even on one machine its last bits may
depend on the number of threads. Solvers therefore pass what LAPACK returned through `taped`: while a basis is
built the arrays are recorded in order; when a saved basis is restored they are played back in the same order
instead of being computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["TapeError", "playing", "recording", "taped"]

Array = NDArray[np.float64]
_ORTHONORMAL = 1e-8


class TapeError(ValueError):
    """What is played back is not what this basis needs.

    Examples
    --------
    >>> import specavg as sa
    >>> issubclass(sa.invariants.TapeError, ValueError)
    True
    """


_recorded: ContextVar[list[Array] | None] = ContextVar("_recorded", default=None)
_played: ContextVar[Iterator[Array] | None] = ContextVar("_played", default=None)


@contextmanager
def recording() -> Generator[list[Array]]:
    """Inside, `taped` arrays are added to the list."""
    arrays: list[Array] = []
    token = _recorded.set(arrays)
    try:
        yield arrays
    finally:
        _recorded.reset(token)


@contextmanager
def playing(arrays: Sequence[Array]) -> Generator[None]:
    """Inside, `taped` arrays come from `arrays` in order; all of them must be used."""
    source = iter(arrays)
    token = _played.set(source)
    try:
        yield
    finally:
        _played.reset(token)
    if next(source, None) is not None:
        raise TapeError("more arrays are stored than the basis needs")


def taped(compute: Callable[[], Array], rows: int) -> Array:
    """`compute()`, an orthonormal (rows, r) array, recorded; or the array recorded when it was computed."""
    source = _played.get()
    if source is None:
        array = np.ascontiguousarray(compute())  # products with it round the same way after loading
    else:
        played = next(source, None)
        if played is None:
            raise TapeError("fewer arrays are stored than the basis needs")
        array = _checked(played, rows)
    recorded = _recorded.get()
    if recorded is not None:
        recorded.append(array)
    return array


def _checked(array: Array, rows: int) -> Array:
    if array.ndim != 2 or len(array) != rows or array.dtype != np.float64 or array.shape[1] > rows:
        raise TapeError(f"an array of shape {array.shape} is stored where {rows} rows are needed")
    if np.abs(array.T @ array - np.eye(array.shape[1])).max(initial=0.0) > _ORTHONORMAL:
        raise TapeError("the stored functions are not orthonormal")
    return array
