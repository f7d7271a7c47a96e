"""Points as rows of a table: what shape they have, whether what was given are points, and when two spaces are one."""

from __future__ import annotations

import abc
from collections.abc import Hashable
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array, check_real, with_matrices
from specavg._immutable import Immutable


class Points(Immutable, abc.ABC):
    """The points of a space, each a row of numbers."""

    _key: Hashable = None  # what equal spaces share; a space of another library without it is equal to itself only
    membership_tolerance: ClassVar[float] = 1e-6  # how far off the manifold a point may be, in the units of its entries

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Points) and type(self) is type(other) and self._key == other._key
        return self is other or (same and self._key is not None)

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    @property
    def takes_rows_below(self) -> float:
        """Every row of numbers below this size is a point; 0 where there is more to ask."""
        return 0.0

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one point."""

    @abc.abstractmethod
    def _membership_error(self, X: Array) -> Array | None:
        """How far each row of `X` is off the manifold; None where every row is a point."""

    @property
    def n_features(self) -> int:
        """Number of columns of the points written as a 2-D array."""
        return prod(self.shape)

    @property
    def column_periods(self) -> Array:
        """In which period each column of a point repeats; infinite where it does not."""  # (n_features,)
        return np.full(self.n_features, np.inf)

    def wrapped(self, X: Array) -> Array:
        """Checked points with each periodic column in [−p/2, p/2), p its period; other columns as they are.

        One name for each point, for whatever knows nothing of periods: a foreign model, a sort. Numbers that lie in
        this range keep their bits.

        Examples
        --------
        >>> import specavg as sa
        >>> sa.Torus(1, period=24).wrapped(np.array([[23.0], [12.0], [-1.0]])).ravel()
        array([ -1., -12.,  -1.])
        """
        period = self.column_periods
        turns = X / period
        row, column = np.nonzero((turns < -0.5) | (turns >= 0.5))
        if not len(row):
            return X
        inside = X.copy()
        moved = turns[row, column]
        inside[row, column] = (moved - np.floor(moved + 0.5)) * period[column]
        return inside

    def without_seam(self, X: Array) -> Array:
        """Checked points where nearby ones have nearby numbers: each angle is a point of a circle of the same length.

        Examples
        --------
        >>> import specavg as sa
        >>> X = sa.Circle().without_seam(np.array([[0.001], [2 * np.pi - 0.001]]))
        >>> bool(np.abs(X[0] - X[1]).max() < 0.003)
        True
        """
        periodic = np.isfinite(self.column_periods)
        radius = self.column_periods[periodic] / (2 * np.pi)
        angle = X[:, periodic] / radius
        return np.hstack([radius * np.cos(angle), radius * np.sin(angle), X[:, ~periodic]])

    def as_table(self, X: Any) -> Any:
        """`X` with two dimensions, one row per point; what has two already (arrays, data frames) is left alone.

        Axes of size 1 at the end may be left out.
        """
        matrices = X if isinstance(X, np.ndarray) else with_matrices(X)
        if matrices is not X:
            return matrices.reshape(-1, 9)
        shape = tuple(getattr(X, "shape", ()))
        if len(shape) <= 2:
            return X
        left_out = self.shape[len(shape) - 1 :]
        # Another shape with as many numbers would be taken in another order.
        if shape[1:] + left_out != self.shape or any(size != 1 for size in left_out):
            raise self._wrong_shape(shape)
        return np.reshape(X, (len(X), self.n_features))

    def _wrong_shape(self, shape: tuple[int, ...]) -> ValueError:
        flat = "" if len(self.shape) == 1 else f" or (n, {self.n_features})"
        wanted = "(n, " + ", ".join(map(str, self.shape)) + ")"
        advice = self._shape_advice(shape[1:])
        if len(self.shape) == 2 and shape[1:] == self.shape[::-1]:
            advice = ". Its axes are in another order: X.transpose(0, 2, 1)"
        return ValueError(f"points of {self!r} have shape {wanted}{flat}; got an array of shape {shape}{advice}")

    def _shape_advice(self, shape: tuple[int, ...]) -> str:
        """The end of a message about points of another shape: what they might be, and what to do."""
        return ""

    def check_points(self, X: ArrayLike) -> Array:
        """`X` as float64 (n, n_features), or an error: wrong shape, NaN, or off the manifold by how much.

        Values are never moved: what is returned is what was given, reshaped.
        """
        given = np.asarray(self.as_table(X))
        check_real(given, "X")
        points = np.asarray(given, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.n_features:
            raise self._wrong_shape(points.shape)
        if not certainly_finite(points):
            bad = ~np.isfinite(points).all(axis=1)
            if bad.any():
                row = int(bad.argmax())
                column = int((~np.isfinite(points[row])).argmax())
                raise ValueError(
                    f"X has NaN or infinity in {int(bad.sum())} of {len(points)} rows (first: row {row}), "
                    f"there in column {column}"
                )
        errors = self._membership_error(points)
        if errors is not None and len(errors):
            row = int(errors.argmax())
            if errors[row] > self.membership_tolerance:
                count = int((errors > self.membership_tolerance).sum())
                unit = self._membership_unit(points[row : row + 1])
                raise ValueError(
                    f"{count} of {len(points)} points are not on {self!r}: row {row} is off by "
                    f"{unit * errors[row]:.3g} (tolerance {unit * self.membership_tolerance:.0e}). "
                    f"{self._remedy(points)}"
                )
        return points

    def _membership_unit(self, point: Array) -> float:
        """The unit of `_membership_error` of one row, in the unit of the columns that are off."""
        return 1.0

    _membership_remedy = "Project the data on the manifold first."

    def _remedy(self, points: Array) -> str:
        """What to do about points that are not on this space."""
        return self._membership_remedy


def certainly_finite(array: Array) -> bool:
    """Whether the sum of squares is finite: one fast pass. False may also be an overflow of the squares."""
    flat = array.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(flat @ flat))
