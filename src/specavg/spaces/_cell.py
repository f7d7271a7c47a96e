"""The cell of a flat torus: the sides of a box, or the vectors of a lattice. Lengths and volume follow from it."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array, with_fractions
from specavg._config import require_memory
from specavg._messages import shown
from specavg.isometries import Affine, SignedPermutation
from specavg.spaces._lattice_reduction import ReducedLattice, reduced

_INDEPENDENT = 1e-12  # volume beside that of a box with sides of the same lengths: rounding changes it by 1e-16
_SHORTEST, _LONGEST = 1e-140, 1e140  # lengths: eigenvalues are made from their squares, which stay numbers


def checked_periods(d: Any, period: float | ArrayLike) -> Array:
    """The sides of a box, one for each of its dimensions."""  # (d,)
    if isinstance(d, list | tuple | np.ndarray):
        raise ValueError(
            f"Torus takes the number of coordinates first, and got {shown(d)}. If these are periods, write "
            f"Torus({np.size(d)}, period={shown(d)})"
        )
    if d is None and isinstance(period, list | tuple | np.ndarray) and np.ndim(period) == 1:
        d = len(period)
    if d is None or d < 1 or int(d) != d:
        raise ValueError(f"Torus needs a dimension d ≥ 1 (or a lattice); got {d!r}")
    try:
        periods = np.array(period, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"period must be one number or {d} numbers, 360 for degrees and 2π for radians; got {shown(period)}"
        ) from None
    if periods.ndim > 1 or (periods.ndim == 1 and len(periods) != d):
        raise ValueError(f"period must be one number or {d} numbers; got shape {periods.shape}")
    if not (np.isfinite(periods).all() and (periods > 0).all()):
        raise ValueError(f"periods must be positive and finite; got {period!r}")
    if periods.min() <= _SHORTEST or periods.max() >= _LONGEST:
        raise _out_of_range(periods, "periods")
    return np.broadcast_to(periods, (int(d),)).copy()


def checked_lattice(lattice: ArrayLike, d: int | None) -> Array:
    """Lattice vectors as the rows of a matrix; `d` is their number, if it is given."""
    B = np.array(with_fractions(lattice), dtype=float)
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.isfinite(B).all():
        raise ValueError(f"lattice must be a finite square matrix of row vectors; got shape {B.shape}")
    if d is not None and d != len(B):
        raise ValueError(f"d = {d} but the lattice has {len(B)} vectors: leave d out")
    longest = np.abs(B).max(axis=1)
    if longest.all() and (longest.min() <= _SHORTEST or longest.max() >= _LONGEST):
        raise _out_of_range(longest, "lattice vectors")
    unit = B / np.where(longest, longest, 1.0)[:, None]  # determinants of very long vectors are no numbers
    share = abs(np.linalg.det(unit))
    if share < _INDEPENDENT:
        raise ValueError(
            "the lattice vectors are linearly dependent, or so skewed that rounding hides whether they are: "
            f"their cell has {share:.1g} of the volume of a box of such lengths. Give shorter vectors of the "
            "same lattice"
        )
    return B


def _out_of_range(lengths: Array, what: str) -> ValueError:
    """The refusal of lengths whose squares, which eigenvalues are made from, may be no numbers."""
    return ValueError(
        f"{what} must be between {_SHORTEST:.0e} and {_LONGEST:.0e}, since eigenvalues go with their squares; got "
        f"lengths from {lengths.min():.3g} to {lengths.max():.3g}. Use another unit of length"
    )


@final
class Cell:
    """The cell of a flat torus.

    Attributes
    ----------
    periods : ndarray of shape (d,)
        The period of each coordinate of the points.
    lattice : ndarray of shape (d, d) or None
        The lattice vectors as rows; None for a box.
    corner : float
        The first coordinate of the cell, in periods: boxes lie around zero, cells of lattices begin there.
    """

    def __init__(self, periods: Array, lattice: Array | None) -> None:
        self.periods, self.lattice = periods, lattice
        self.corner = -0.5 if lattice is None else 0.0

    @cached_property
    def metric(self) -> Array:
        """M with |δ|² = δᵀMδ for a displacement δ in periods."""  # (d, d), made when it is asked for
        M = np.diag(self.periods**2) if self.lattice is None else self.lattice @ self.lattice.T
        M.setflags(write=False)
        return M

    @cached_property
    def short_basis(self) -> ReducedLattice | None:
        """A nearly orthogonal basis of the lattice; None for a box, which has one."""
        return None if self.lattice is None else reduced(self.lattice)

    @property
    def short_metric(self) -> Array:
        """The metric in the coordinates of the short basis."""  # (d, d)
        return self.metric if self.short_basis is None else self.short_basis.metric

    @cached_property
    def dual_metric(self) -> Array:
        """W with eigenvalue kᵀWk for a frequency k of the short basis."""  # (d, d)
        return np.asarray(4 * np.pi**2 * np.linalg.inv(self.short_metric), dtype=np.float64)

    def short_frequencies(self, K: NDArray[np.int64]) -> NDArray[np.int64]:
        """Frequencies of the given basis as those of the short one."""  # (n, d) -> (n, d)
        return K if self.short_basis is None else K @ self.short_basis.change.T

    @property
    def volume(self) -> float:
        """The volume; infinite or zero where it is beyond floating-point numbers."""
        if self.short_basis is None:
            return prod(self.periods.tolist())
        return abs(float(np.linalg.det(self.short_basis.vectors)))

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        if self.short_basis is None:
            return float(np.log(self.periods).sum())
        return float(np.linalg.slogdet(self.short_basis.vectors)[1])

    def wrapped(self, u: Array) -> Array:
        """Points in periods, moved into the cell and written in the coordinates of the space."""  # (n, d) -> (n, d)
        return (u - np.floor(u - self.corner)) * self.periods

    def stretch(self, g: SignedPermutation | Affine) -> float:
        """By how much `g` changes a scalar product of lattice vectors, relative to their lengths: 0 for an isometry."""
        M, A = self.short_metric, g.matrix
        if self.short_basis is not None:
            A = self.short_basis.matrix(np.asarray(A, dtype=np.int64))
        moved = A.T @ M @ A
        # Each entry beside the lengths that belong to it: a long period must not hide what happens to short ones.
        lengths = np.sqrt(np.diag(M))
        return float((np.abs(moved - M) / np.outer(lengths, lengths)).max())

    def grid(self, highest: NDArray[np.intp]) -> tuple[Array, Array]:
        """Equally spaced points and weights that integrate products of two waves up to these frequencies exactly."""
        counts = 2 * highest + 1
        total = float(np.prod(counts, dtype=float))
        require_memory(8.0 * 3 * total * len(counts), f"a product grid of {total:.3g} points", "Lower max_eigenvalue.")
        axes = [(np.arange(n) / n + self.corner) * p for n, p in zip(counts, self.periods, strict=True)]
        points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        return points, np.full(len(points), 1.0 / len(points))

    def cartesian(self, gradients: Array) -> Array:
        """Gradients by the coordinates of points as gradients by lengths."""  # (..., d)
        return gradients if self.lattice is None else gradients @ np.linalg.inv(self.lattice).T
