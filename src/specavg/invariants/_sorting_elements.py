"""The element that sorts the coordinates or copies of a point, and their outputs with them: exact for large groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups import Representation
from specavg.groups.families import Hyperoctahedral, SignFlips, Symmetric
from specavg.invariants._canonical_elements import ExactElements
from specavg.isometries import SignedPermutation, permutation
from specavg.spaces import Power, Space


@final
@dataclass(frozen=True, eq=False)
class Sorting:
    """For each point the signs that make coordinates positive, the order that sorts them, and what is left free.

    `first` is the place of the first of equal coordinates, and `allowed` is 0 where a coordinate is its own opposite:
    values at such a point have one output for all equal coordinates, and none that a sign would change.
    """

    signs: Array  # (n, m), of the coordinates as they were
    order: NDArray[np.intp]  # (n, m)
    first: NDArray[np.intp]  # (n, m)
    allowed: Array  # (n, m)


@final
class SortingElements(ExactElements):
    """S_m, B_m or all sign changes, where each coordinate or copy has one output that goes with it."""

    def __init__(self, parts: int, *, sorts: bool, signs: bool) -> None:
        self._parts, self._sorts, self._signs = parts, sorts, signs

    @classmethod
    def of(cls, space: Space, output: Representation) -> SortingElements | None:
        """The sorting of points of `space`; None where the group is another one, or outputs move in another way."""
        structure = output.group.structure
        if not isinstance(structure, Symmetric | Hyperoctahedral | SignFlips) or not output.group.generators:
            return None
        parts = space.copies if isinstance(space, Power) else space.n_features
        signs = not isinstance(structure, Symmetric)
        if parts != output.dim or (signs and isinstance(space, Power)):
            return None
        moved = [permutation(g.image) if isinstance(space, Power) else g for g in _signed(output)]
        if list(output.images) != moved or not all(map(space.columns_follow, map(space.check_isometry, moved))):
            return None
        return cls(parts, sorts=not isinstance(structure, SignFlips), signs=signs)

    def places(self, X: Array) -> tuple[Array, Sorting]:
        """The sorted point of each orbit, and what leads there."""
        n = len(X)
        parts = (X + 0.0).reshape(n, self._parts, -1)
        signs = np.ones((n, self._parts))
        if self._signs:
            signs = np.where(parts[:, :, 0] < 0, -1.0, 1.0)
            parts = np.abs(parts)
        own = np.broadcast_to(np.arange(self._parts), (n, self._parts))
        order = np.lexsort(np.moveaxis(parts[:, :, ::-1], 2, 0), axis=-1) if self._sorts else own
        parts = np.take_along_axis(parts, order[:, :, None], axis=1)
        first = own
        if self._sorts:
            new = np.ones((n, self._parts), dtype=bool)
            new[:, 1:] = (parts[:, 1:] != parts[:, :-1]).any(axis=2)
            first = np.maximum.accumulate(np.where(new, own, 0), axis=1)
        allowed = np.where(self._signs & (parts[:, :, 0] == 0), 0.0, 1.0)
        return parts.reshape(n, -1), Sorting(signs, order, first, allowed)

    def taken_along(self, values: Array, leading: Sorting) -> Array:
        """Outputs as they are at the sorted points."""  # (n, p) -> (n, p)
        return np.take_along_axis(values * leading.signs, leading.order, axis=1)

    def taken_back(self, values: Array, leading: Sorting) -> Array:
        """Outputs at the points themselves, with nothing that a stabiliser forbids."""  # (n, p) -> (n, p)
        back = np.empty_like(values)
        free = np.take_along_axis(values, leading.first, axis=1) * leading.allowed
        np.put_along_axis(back, leading.order, free, axis=1)
        return back * leading.signs + 0.0


def _signed(output: Representation) -> list[SignedPermutation]:
    return [g for g in output.group.generators if isinstance(g, SignedPermutation)]
