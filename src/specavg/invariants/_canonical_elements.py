"""The element that takes a point to one place of its orbit, and what it does to outputs: both exact."""

from __future__ import annotations

import abc
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups import Representation
from specavg.invariants._acting_group import group_of_columns
from specavg.isometries import SignedPermutation
from specavg.spaces import Space

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
        """Outputs as they are at those places."""  # (n, p) -> (n, p)

    @abc.abstractmethod
    def taken_back(self, values: Array, leading: Any) -> Array:
        """Outputs at the points themselves, without those that a stabiliser forbids."""  # (n, p) -> (n, p)


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
        probe = np.exp2(-2.0 - np.arange(space.n_features))[None]  # different sizes tell where a column came from
        places = np.array([space._act(space.check_isometry(g), probe)[0] for g, _ in pairs])  # pyright: ignore[reportPrivateUsage]
        columns = np.rint(-2.0 - np.log2(np.abs(places))).astype(np.intp)
        rho = [image for _, image in pairs]
        assert all(isinstance(image, SignedPermutation) for image in rho)
        images = np.array([image.image for image in rho if isinstance(image, SignedPermutation)], dtype=np.intp)
        signs = np.array([image.signs for image in rho if isinstance(image, SignedPermutation)], dtype=float)
        return cls(columns, np.sign(places), images, signs)

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
        """ρ(g)⁻¹ of the values at the least points, those that a stabiliser forbids removed."""  # (n, p) -> (n, p)
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
