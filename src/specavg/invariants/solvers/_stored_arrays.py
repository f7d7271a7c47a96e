"""Arrays of a saved basis: what linear algebra decided when it was built.

An orthonormal basis of a null space is unique only up to a rotation, and even on one machine its last bits may
depend on the number of threads. A solution therefore carries what LAPACK returned: a saved basis is rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from specavg._arrays import Array

_ORTHONORMAL = 1e-8  # largest |QᵀQ − I| of columns that are read: those that are written are off by 1e-13


class StoredArraysError(ValueError):
    """The arrays of a saved basis are not those that it needs.

    Examples
    --------
    >>> import specavg as sa
    >>> issubclass(sa.invariants.StoredArraysError, ValueError)
    True
    """


class Stored:
    """Arrays by name, as `InvariantBasis.arrays` names them: path of the part, number, solver, name."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = {tuple(name.split(".")): array for name, array in arrays.items()}
        self._used: set[tuple[str, ...]] = set()
        self._path: tuple[str, ...] = ()

    def below(self, part: str) -> Stored:
        """The arrays of one copy or one factor."""
        inner = Stored({})
        inner._arrays, inner._used, inner._path = self._arrays, self._used, (*self._path, part)
        return inner

    def take(self, number: int, solver: str) -> dict[str, Array] | None:
        """The arrays of the solution with this number by this solver; None if it has none."""
        place = (*self._path, str(number), solver)
        found = {name[-1]: array for name, array in self._arrays.items() if name[:-1] == place}
        self._used.update((*place, name) for name in found)
        return found or None

    def check_used(self) -> None:
        """Refuse arrays that no solution has asked for."""
        unused = set(self._arrays) - self._used
        if unused:
            raise StoredArraysError(
                f"more arrays are stored than the basis needs: {'.'.join(min(unused))!r} is not used"
            )


def orthonormal(arrays: Mapping[str, Array], name: str, rows: int) -> Array:
    """The array `name` of `arrays`, if it has this many rows and orthonormal columns."""
    array = arrays.get(name)
    if array is None:
        raise StoredArraysError(f"the array {name!r} is not stored")
    if array.ndim != 2 or len(array) != rows or array.dtype != np.float64 or array.shape[1] > rows:
        raise StoredArraysError(f"an array of shape {array.shape} is stored where {rows} rows are needed")
    if np.abs(array.T @ array - np.eye(array.shape[1])).max(initial=0.0) > _ORTHONORMAL:
        raise StoredArraysError("the stored functions are not orthonormal")
    return np.ascontiguousarray(array)  # products with it round the same way as before it was saved
