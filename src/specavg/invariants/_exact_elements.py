"""The element that takes a point to one place of its orbit, and what it does to outputs: both exact."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups import Representation
from specavg.groups.families import Hyperoctahedral, SignFlips, Symmetric
from specavg.invariants._acting_group import group_of_columns
from specavg.isometries import SignedPermutation, permutation
from specavg.isometries._linear import exact_signed
from specavg.spaces import Power, Space

Indices = NDArray[np.intp]
_MOST_ELEMENTS = 1000  # all elements are tried at every point: larger groups would cost more than the prediction
_VALUES_HELD = 4_000_000  # coordinates held at once: 32 MB


class ExactElements(abc.ABC):
    """For each point an element that takes it to one place of its orbit, and what that does to outputs."""

    @abc.abstractmethod
    def places(self, X: Array) -> tuple[Array, Any]:
        """One point of each orbit, and what leads there."""

    @abc.abstractmethod
    def taken_along(self, values: Array, leading: Any) -> Array:
        """Outputs at the points X, as the elements move them to the places of `places`."""  # (n, p) -> (n, p)

    @abc.abstractmethod
    def taken_back(self, values: Array, leading: Any) -> Array:
        """Outputs at the places, moved back to X; zero where a stabiliser would change them."""  # (n, p) -> (n, p)


@final
class CanonicalElements(ExactElements):
    """All elements of a small group of signed permutations, with signed permutations ρ(g) of the outputs.

    Permutations and sign changes are exact on floating-point numbers. So F(x) = ρ(g)⁻¹F(gx), with gx the least
    point of the orbit, is equivariant to the last bit. Where several elements lead there, x has a stabiliser: the
    values that it leaves alone are the only ones that F may have, and they are taken from the first output of each
    orbit of outputs.
    """

    def __init__(self, columns: Indices, signs: Array, images: Indices, image_signs: Array) -> None:
        self._columns, self._signs = columns, signs  # (gx)[i] = signs[i] x[columns[i]]; (N, d)
        self._images, self._image_signs = images, image_signs  # the same of ρ(g); (N, p)

    @classmethod
    def of(cls, space: Space, output: Representation) -> CanonicalElements | None:
        """The elements of `output.group` on `space`; None where they are not exact, or too many."""
        group = output.group
        if not output.is_exact or group_of_columns(space, group) is None:
            return None
        if group.fields or group.order > _MOST_ELEMENTS:
            return None
        pairs = list(output.elements())
        moved = [exact_signed(space.differential(g)) for g, _ in pairs]
        return cls(*_arrays(moved), *_arrays([image for _, image in pairs]))

    def places(self, X: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The least point of each orbit, and which elements lead there."""  # (n, d), (n, N)
        points = X + 0.0
        count = len(self._columns)
        rows = max(1, _VALUES_HELD // (count * X.shape[1]))
        least, leading = np.empty_like(points), np.empty((len(points), count), dtype=bool)
        for start in range(0, len(points), rows):
            moved = points[start : start + rows, self._columns] * self._signs + 0.0  # (m, N, d)
            alive = np.ones(moved.shape[:2], dtype=bool)
            for i in range(moved.shape[2]):
                column = np.where(alive, moved[:, :, i], np.inf)
                alive &= column == column.min(axis=1, keepdims=True)
            leading[start : start + rows] = alive
            least[start : start + rows] = moved[np.arange(len(moved)), alive.argmax(axis=1)]
        return least, leading

    def taken_along(self, values: Array, leading: NDArray[np.bool_]) -> Array:
        """ρ(g) of values at points, g the first element that leads to the least point."""  # (n, p) -> (n, p)
        first = leading.argmax(axis=1)
        return np.take_along_axis(values, self._images[first], axis=1) * self._image_signs[first]

    def taken_back(self, values: Array, leading: NDArray[np.bool_]) -> Array:
        """ρ(g)⁻¹ of the values at the least points; zero where a stabiliser would change them."""  # (n, p) -> (n, p)
        values = values.copy()
        for row in np.flatnonzero(leading.sum(axis=1) > 1):
            values[row] = self._allowed(values[row], np.flatnonzero(leading[row]))
        first = leading.argmax(axis=1)
        back = np.empty_like(values)
        # (ρv)[i] = s[i] v[image[i]], so v[image[i]] = s[i] (ρv)[i].
        np.put_along_axis(back, self._images[first], self._image_signs[first] * values, axis=1)
        return back + 0.0

    def _allowed(self, value: Array, elements: Indices) -> Array:
        """`value` at a least point y where several g x = y: fixed by every ρ(h), h = g g₀⁻¹."""
        g0 = elements[0]
        p = len(value)
        label, sign, alive = np.arange(p), np.ones(p), np.ones(p, dtype=bool)
        back = np.argsort(self._images[g0])
        for g in elements[1:]:
            # ρ(h) = ρ(g)ρ(g₀)⁻¹: (ρ(h)v)[i] = s_g[i] s_g₀[j] v[j], j the place with image_g₀[j] = image_g[i].
            j = back[self._images[g]]
            s = self._image_signs[g] * self._image_signs[g0][j]
            # elements of a stabiliser form a group: each output is compared with the first one that it is tied to
            better = j < label
            label, sign = np.where(better, j, label), np.where(better, s, sign)
            alive &= ~((j == np.arange(p)) & (s < 0))
        return np.where(alive & alive[label], sign * value[label], 0.0)


def _arrays(maps: Sequence[object]) -> tuple[Indices, Array]:
    """The images and the signs of signed permutations."""  # (N, d) each
    signed = [g for g in maps if isinstance(g, SignedPermutation)]
    assert len(signed) == len(maps)
    return np.array([g.image for g in signed], dtype=np.intp), np.array([g.signs for g in signed], dtype=float)


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
        signed = [g for g in output.group.generators if isinstance(g, SignedPermutation)]
        moved = [permutation(g.image) if isinstance(space, Power) else g for g in signed]
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
