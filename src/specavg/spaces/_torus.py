"""Flat tori: boxes with periodic sides, and the cells of crystal lattices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._config import require_memory
from specavg._random import as_generator
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import shell_sizes
from specavg.functions._trigonometric_sums import TrigonometricSums
from specavg.functions._types_of_functions import Type
from specavg.isometries import Affine, Copies, Isometry, SignedPermutation, flatten
from specavg.isometries._affine import as_affine
from specavg.isometries.fields import Field, ShiftField
from specavg.spaces._eigenspace import SAME_EIGENVALUE, Eigenspace
from specavg.spaces._frequency_action import FrequencyAction, frequency_action, frequency_speeds
from specavg.spaces._frequency_lists import eigenspaces_below, frequencies_in_lattice, listed_frequencies
from specavg.spaces._lattice_reduction import ReducedLattice, reduced
from specavg.spaces._ordered_frequencies import type_eigenspaces, types_by_eigenvalue
from specavg.spaces._orders import ByEigenvalue, ByType, CoordinateOrder, Order
from specavg.spaces._space import Space
from specavg.spaces._unlike_directions import Direction, unlike_directions
from specavg.spaces._von_mises import OnTorus, VonMises

__all__ = ["Circle", "Torus", "default_space"]

METRIC_TOLERANCE = 1e-9  # relative change of a scalar product of lattice vectors: cells are published with ten digits


@final
class Torus(Space):
    """A flat torus: the box [−p/2, p/2)^d with opposite sides joined, or the cell of a lattice.

    Parameters
    ----------
    d : int
        Dimension.
    period : float or sequence of d floats, default 2.0
        Length of each side; points outside wrap. 2 is the paper's [−1, 1)^d.
    lattice : array-like of shape (d, d), optional
        Rows are lattice vectors; then points are *fractional* coordinates (period 1) and lengths are those of
        the lattice. Instead of `d` and `period`.

    Notes
    -----
    Eigenfunctions are √2 cos 2πk·u and √2 sin 2πk·u, u the point in periods, one pair for each ±k of Z^d;
    the eigenvalue is 4π² kᵀM⁻¹k with M the metric (on [−1, 1)^d: π²|k|²).

    In a skewed basis of a lattice fractional coordinates lose digits, whatever is done with them: where a short basis
    differs by integers of size s, rounding moves a point by s · 10⁻¹⁶ of a period, and functions are invariant to about
    2π|k| s · 10⁻¹⁶ (8 · 10⁻¹⁰ was measured at s = 10⁶). A short basis loses none.

    Examples
    --------
    >>> from itertools import islice
    >>> [(round(V.eigenvalue / np.pi**2), V.dim) for V in islice(Torus(10).eigenspaces(), 5)]
    [(0, 1), (1, 20), (2, 180), (3, 960), (4, 3380)]
    """

    def __init__(
        self, d: int | None = None, period: float | ArrayLike = 2.0, *, lattice: ArrayLike | None = None
    ) -> None:
        if lattice is not None:
            B = np.array(lattice, dtype=float)
            if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.isfinite(B).all():
                raise ValueError(f"lattice must be a finite square matrix of row vectors; got shape {B.shape}")
            if d is not None and d != len(B):
                raise ValueError(f"d = {d} but the lattice has {len(B)} vectors: leave d out")
            longest = np.abs(B).max(axis=1)
            if longest.all():
                _check_lengths(longest, "lattice vectors")
            unit = B / np.where(longest, longest, 1.0)[:, None]  # determinants of very long vectors are no numbers
            share = abs(np.linalg.det(unit))
            if share < 1e-12:  # rounding of the vectors alone changes it by 1e-16
                raise ValueError(
                    "the lattice vectors are linearly dependent, or so skewed that rounding hides whether they are: "
                    f"their cell has {share:.1g} of the volume of a box of such lengths. Give shorter vectors of the "
                    "same lattice"
                )
            self._periods = np.ones(len(B))
            self._lattice: NDArray[np.float64] | None = B
        else:
            if d is None or d < 1 or int(d) != d:
                raise ValueError(f"Torus needs a dimension d ≥ 1 (or a lattice); got {d!r}")
            periods = np.array(period, dtype=float)
            if periods.ndim > 1 or (periods.ndim == 1 and len(periods) != d):
                raise ValueError(f"period must be one number or {d} numbers; got shape {periods.shape}")
            if not (np.isfinite(periods).all() and (periods > 0).all()):
                raise ValueError(f"periods must be positive and finite; got {period!r}")
            _check_lengths(periods, "periods")
            self._periods = np.broadcast_to(periods, (int(d),)).copy()
            self._lattice = None
        self._d = len(self._periods)
        self._periods.setflags(write=False)
        # A cubic box has eigenvalues in exact proportion to the integers |k|².
        if self._lattice is None:
            self._cubic = bool(np.all(self._periods == self._periods[0]))
        else:
            self._cubic = bool(np.array_equal(self.metric, self.metric[0, 0] * np.eye(self.dim)))

    # --- what it is --------------------------------------------------------------------------------

    @property
    def dim(self) -> int:
        return len(self._periods)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    @property
    def volume(self) -> float:
        return (
            prod(self._periods.tolist())
            if self.short_basis is None
            else abs(float(np.linalg.det(self.short_basis.vectors)))
        )

    @property
    def log_volume(self) -> float:
        if self.short_basis is None:
            return float(np.log(self._periods).sum())
        return float(np.linalg.slogdet(self.short_basis.vectors)[1])

    @property
    def period(self) -> NDArray[np.float64]:
        """Period of each coordinate of the points."""  # (d,)
        return self._periods

    @property
    def column_periods(self) -> NDArray[np.float64]:
        return self._periods

    @property
    def lattice(self) -> NDArray[np.float64] | None:
        """The lattice vectors as rows, or None for a box."""  # (d, d)
        return self._lattice

    @cached_property
    def metric(self) -> NDArray[np.float64]:
        """M with |δ|² = δᵀMδ for a displacement δ in periods."""  # (d, d), made when it is asked for
        M = np.diag(self._periods**2) if self._lattice is None else self._lattice @ self._lattice.T
        M.setflags(write=False)
        return M

    @cached_property
    def short_basis(self) -> ReducedLattice | None:
        """A nearly orthogonal basis of the lattice; None for a box, which has one."""
        return None if self._lattice is None else reduced(self._lattice)

    @property
    def _short_metric(self) -> NDArray[np.float64]:
        """The metric in the coordinates of the short basis."""  # (d, d)
        return self.metric if self.short_basis is None else self.short_basis.metric

    @property
    def side(self) -> float:
        """The side length of a cubic box."""
        return float(self._periods[0]) if self._lattice is None else float(np.sqrt(self.metric[0, 0]))

    @property
    def is_cubic(self) -> bool:
        """Whether the box is a cube, so that every signed permutation of coordinates is an isometry."""
        return self._cubic

    def _key(self) -> tuple[Any, ...]:
        return (self._periods.tobytes(), None if self._lattice is None else self._lattice.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Torus) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        if self._lattice is not None:
            return f"Torus(lattice={self._lattice.tolist()})"  # every digit: rounded, it would have other isometries
        if not np.all(self._periods == self._periods[0]):
            return f"Torus({self.dim}, period={self._periods.tolist()})"
        if self._periods[0] == 2.0:
            return f"Torus({self.dim})"
        if self.dim == 1 and self._periods[0] == 2 * np.pi:
            return "Circle()"
        return f"Torus({self.dim}, period={float(self._periods[0])!r})"

    # --- eigenspaces -------------------------------------------------------------------------------

    def eigenspaces(self) -> Iterator[Eigenspace]:
        if self._cubic:
            unit = (2 * np.pi / self.side) ** 2
            for n, size in shell_sizes(self.dim):
                yield Eigenspace(float(unit * n), size, n)
            return
        W = self.dual_metric
        reached, bound = -1.0, float(np.diag(W).min()) * 4
        while True:
            for V in eigenspaces_below(self, bound):
                if V.eigenvalue > reached:
                    yield V
                    reached = V.eigenvalue * (1 + SAME_EIGENVALUE)
            bound *= 2.0

    @property
    def parts(self) -> int:
        return self.dim if self._lattice is None else 1

    @cached_property
    def _directions(self) -> list[Direction]:
        """What no isometry mixes; none where there is nothing to tell apart, and on a box."""
        return [] if self.short_basis is None else unlike_directions(self.short_basis.vectors)

    @property
    def unlike_parts(self) -> int:
        return max(1, len(self._directions))

    def in_units_of(self, order: ByType) -> Torus:
        """The torus of the same functions whose Laplacian has the values of `order` as its eigenvalues."""
        if order not in self._other_units:
            self._other_units[order] = self._measured_by(order)
        return self._other_units[order]

    @cached_property
    def _other_units(self) -> dict[ByType, Torus]:
        return {}

    def _measured_by(self, order: ByType) -> Torus:
        assert self._lattice is not None
        lengths = sum(
            np.sqrt(direction.first / order.weight(i)) * direction.projection
            for i, direction in enumerate(self._directions)
        )
        return Torus(lattice=self._lattice @ lengths)

    def check_order(self, order: str | Order) -> Order:
        chosen = super().check_order(order)
        if self._lattice is not None and not isinstance(chosen, ByEigenvalue | ByType):
            raise ValueError(
                f'{self!r} is a lattice, whose symmetries mix coordinates: it has the orders "eigenvalue" '
                f'and "type"; got {order!r}. Other orders are for boxes, as Torus(d, period=...) makes them.'
            )
        return chosen

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        if self._lattice is None and self.dim > 1 and isinstance(order, CoordinateOrder):
            return type_eigenspaces(self.dim, order)
        if self._has_types and isinstance(order, ByType):
            unit = (2 * np.pi / self.side) ** 2
            return types_by_eigenvalue(self.dim, float(unit))
        if self._directions and isinstance(order, ByType) and order.balanced:
            listed = self.in_units_of(order).eigenspaces()
            return (Eigenspace(V.eigenvalue, V.dim, (order, V.label)) for V in listed)
        return self.as_a_whole(order)

    @property
    def _has_types(self) -> bool:
        """Whether coordinates are alike: isometries of a cube permute, flip and shift them."""
        return self._cubic and self._lattice is None and self.dim > 1

    @property
    def type_spectrum(self) -> str | None:
        return "product" if self._has_types else None

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        label: Any = eigenspace.label
        if isinstance(label, int) or not isinstance(label[0], tuple) or len(label) > 1:
            return None
        return tuple(float((2 * np.pi * k / self.side) ** 2) for k in label[0])

    def degree(self, eigenspace: Eigenspace) -> int:
        if self.dim > 1 or self._lattice is not None:
            return super().degree(eigenspace)
        return int(np.abs(self.frequencies(eigenspace)).max())

    def frequencies(self, eigenspace: Eigenspace) -> NDArray[np.int64]:
        """One of each pair ±k of an eigenspace, first non-zero entry positive.

        Returns
        -------
        ndarray of shape (⌈m/2⌉, d)
        """
        require_memory(
            4.0 * 8 * eigenspace.dim * self.dim,
            f"listing {eigenspace.dim} frequencies in {self.dim} dimensions",
            "Lower the cutoff, or use a group whose invariants have a closed form.",
        )
        return listed_frequencies(self, eigenspace)

    def frequencies_in(self, eigenspace: Eigenspace, basis: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of `frequencies` that lie in a lattice, given by a basis as rows. Only these are listed."""  # (h, d)
        return frequencies_in_lattice(self, eigenspace, basis.shape, basis.tobytes())

    def _units(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X / self.period  # in periods

    def _evaluate(self, eigenspace: Eigenspace, X: NDArray[np.float64]) -> NDArray[np.float64]:
        K = self.frequencies(eigenspace)
        if eigenspace.dim == 1:
            return np.ones((len(X), 1))
        periods = self._units(X) @ K.T  # (n, m/2)
        periods -= np.rint(periods)
        periods *= 2 * np.pi
        return np.sqrt(2) * np.concatenate([np.cos(periods), np.sin(periods)], axis=1)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        from scipy.sparse import coo_array

        listed = [self.frequencies(V) for V in eigenspaces]
        K = np.concatenate([np.empty((0, self.dim), dtype=np.int64), *listed])
        rows: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
        end = 0
        for V, part in zip(eigenspaces, listed, strict=True):
            cosines = np.arange(end, end := end + len(part))
            rows += [cosines] if V.dim == 1 else [cosines, cosines + len(K)]
        row = np.concatenate(rows)
        values = np.where(K[row % max(len(K), 1)].any(axis=1), 1.0, np.sqrt(0.5))  # the constant is 1, not √2
        Q = coo_array((values, (row, np.arange(len(row)))), shape=(2 * len(K), len(row)))
        return TrigonometricSums(self.period, K, Q.tocsr())

    @cached_property
    def dual_metric(self) -> NDArray[np.float64]:
        """W with eigenvalue kᵀWk for a frequency k of the short basis."""  # (d, d)
        return np.asarray(4 * np.pi**2 * np.linalg.inv(self._short_metric), dtype=np.float64)

    # --- isometries --------------------------------------------------------------------------------

    def check_isometry(self, g: Isometry) -> Isometry:
        if self._cubic and isinstance(g, SignedPermutation) and len(g.image) == self.dim:
            return g
        g = flatten(g)
        if isinstance(g, Copies):
            one = "Circle()" if self.dim == g.size else "Torus(d)"
            raise ValueError(
                f"{g!r} acts on {g.size} copies of a space, and {self!r} is one space. Use "
                f"Power({one}, {g.size}), whose points have the same columns (Circle() has period 2π)."
            )
        if not isinstance(g, SignedPermutation | Affine):
            raise ValueError(
                f"{g!r} does not act on {self!r}: the isometries of a torus are integer matrices with shifts "
                "(isometries.permutation, signed_permutation, shift, affine)."
            )
        if g.size != self.dim:
            raise ValueError(f"{g!r} acts on {g.size} coordinates; {self!r} has {self.dim}")
        M = self._short_metric
        if self.short_basis is not None:
            A = self.short_basis.matrix(np.asarray(g.matrix, dtype=np.int64))
            moved = A.T @ M @ A
        elif isinstance(g, SignedPermutation):
            image, signs = g.image_array, g.signs_array
            pulled = (signs[:, None] * signs) * M  # AᵀMA, without the matrices
            moved = np.empty_like(pulled)
            moved[np.ix_(image, image)] = pulled
        else:
            moved = g.matrix.T @ M @ g.matrix
        # Each entry beside the lengths that belong to it: a long period must not hide what happens to short ones.
        lengths = np.sqrt(np.diag(M))
        residual = float((np.abs(moved - M) / np.outer(lengths, lengths)).max())
        if residual > METRIC_TOLERANCE:
            raise ValueError(
                f"{g!r} is not an isometry of {self!r}: AᵀMA differs from the metric M by {residual:.2g} of its "
                f"size (tolerance {METRIC_TOLERANCE:.0e}). Exact invariance needs isometries: give coordinates "
                "that are exchanged the same period, or a lattice in which the map is an isometry."
            )
        return g

    def frequency_action(self, g: Isometry, eigenspace: Eigenspace) -> FrequencyAction:
        """How `g` moves the exponentials e_k of an eigenspace."""
        return self.moved_frequencies(g, self.frequencies(eigenspace))

    def moved_frequencies(self, g: Isometry, K: NDArray[np.int64]) -> FrequencyAction:
        """The same for any list of frequencies that every isometry maps to itself."""
        found = frequency_action(g, K)
        if found is None:
            raise ValueError(f"{g!r} does not permute the frequencies of {self!r}: it is not an isometry of it")
        return found

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> NDArray[np.float64]:
        target, sign, phase, modulus = self.frequency_action(g, eigenspace)
        h = len(target)
        if eigenspace.dim == 1:
            return np.ones((1, 1))
        angle = 2 * np.pi * (phase / modulus).astype(float)
        column = np.arange(h)
        D = np.zeros((2 * h, 2 * h))
        D[target, column] = np.cos(angle)
        D[h + target, column] = -sign * np.sin(angle)
        D[target, h + column] = np.sin(angle)
        D[h + target, h + column] = sign * np.cos(angle)
        return D

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> NDArray[np.float64]:
        # ξ cos 2πk·u = −2π(k·v) sin 2πk·u and ξ sin 2πk·u = 2π(k·v) cos 2πk·u.
        assert isinstance(field, ShiftField)
        if eigenspace.dim == 1:
            return np.zeros((1, 1))
        speed = 2 * np.pi * frequency_speeds(self.frequencies(eigenspace), field).astype(float)
        h, column = len(speed), np.arange(len(speed))
        dD = np.zeros((2 * h, 2 * h))
        dD[h + column, column] = -speed
        dD[column, h + column] = speed
        return dD

    def _act(self, g: Isometry, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(g, SignedPermutation):
            return g(X)  # exact on floats; wrapping would not be
        assert isinstance(g, Affine)
        u = g.turned(self._units(X))
        start = 0.0 if self._lattice is not None else -0.5
        return (u - np.floor(u - start)) * self._periods

    def tangents(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(np.eye(self.dim), (len(X), self.dim, self.dim))

    def _differential(self, g: Isometry) -> NDArray[np.float64]:
        period = np.broadcast_to(self.period, self.dim)
        return as_affine(g).matrix * period[:, None] / period  # points that are moved wrap, and vectors do not

    # --- points ------------------------------------------------------------------------------------

    @property
    def von_mises(self) -> VonMises | None:
        return OnTorus(self._periods) if self._lattice is None else None

    def sample(self, n: int, random_state: Any = None) -> NDArray[np.float64]:
        u = as_generator(random_state).random((n, self.dim))
        return u if self._lattice is not None else (u - 0.5) * self._periods

    def quadrature(self, max_eigenvalue: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        reach = np.sqrt(max_eigenvalue * np.diag(self._short_metric)) / (2 * np.pi)
        X, weights = self._grid(np.floor(reach * (1 + 1e-9)).astype(int))
        return (X if self.short_basis is None else self.short_basis.points(X)), weights

    def ordered_quadrature(self, order: Order, top: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._lattice is None and self.dim > 1 and isinstance(order, CoordinateOrder):
            return self._grid(np.full(self.dim, order.highest_frequency(top)))
        if self._directions and isinstance(order, ByType) and order.balanced:
            return self.in_units_of(order).quadrature(top)
        return super().ordered_quadrature(order, top)

    def _grid(self, highest: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The product of equally spaced nodes, exact for products of two waves up to these frequencies."""
        nodes = 2 * highest + 1
        total = float(np.prod(nodes.astype(float)))
        require_memory(8.0 * 3 * total * len(nodes), f"a product grid of {total:.3g} points", "Lower max_eigenvalue.")
        start = 0.0 if self._lattice is not None else -0.5
        axes = [(np.arange(count) / count + start) * p for count, p in zip(nodes, self._periods, strict=True)]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        return grid, np.full(len(grid), 1.0 / len(grid))

    def _membership_error(self, X: NDArray[np.float64]) -> None:
        return None


def _check_lengths(lengths: NDArray[np.float64], what: str) -> None:
    """Refuse lengths whose squares, which eigenvalues are made from, leave the range of floating-point numbers."""
    if not ((lengths > 1e-140) & (lengths < 1e140)).all():
        raise ValueError(
            f"{what} must be between 1e-140 and 1e140, since eigenvalues go with their squares; got lengths from "
            f"{lengths.min():.3g} to {lengths.max():.3g}. Use another unit of length"
        )


def Circle() -> Torus:
    """The circle of angles in radians: `Torus(1, period=2π)`, frequency k having eigenvalue k².

    Examples
    --------
    >>> from itertools import islice
    >>> [(V.eigenvalue, V.dim) for V in islice(Circle().eigenspaces(), 3)]
    [(0.0, 1), (1.0, 2), (4.0, 2)]
    """
    return Torus(1, period=2 * np.pi)


def default_space(n_features: int) -> Torus:
    """What `space=None` means: the paper's torus [−1, 1)^d.

    Examples
    --------
    >>> default_space(3)
    Torus(3)
    """
    return Torus(n_features)
