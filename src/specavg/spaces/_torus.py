"""Flat tori: boxes with periodic sides, and the cells of crystal lattices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._messages import whole_number
from specavg._random import as_generator
from specavg.functions._bessel_series import Series, bessel_series
from specavg.functions._frequency_types import FrequencyType, types_of_norm
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import shell_sizes
from specavg.functions._types_of_functions import Type
from specavg.functions._zonal_sums import difference_cosines, shell_sum
from specavg.isometries import Affine, Isometry, SignedPermutation
from specavg.isometries._affine import as_affine
from specavg.isometries.fields import Field, ShiftField
from specavg.spaces._cell import Cell, checked_lattice, checked_periods
from specavg.spaces._eigenspace import Eigenspace, Weighted
from specavg.spaces._first_waves import FirstWaves, first_waves, lattice_series
from specavg.spaces._frequency_action import (
    FrequencyAction,
    frequency_action,
    wave_derivative,
    wave_functions,
    wave_matrix,
)
from specavg.spaces._frequency_sets import (
    FrequencySet,
    FrequencyTypes,
    InOtherUnits,
    Shell,
    frequencies_together,
    frequency_ranges,
    listed_frequencies,
    shell_weights,
)
from specavg.spaces._order_of_functions import ByType, CoordinateOrder, Order
from specavg.spaces._ordered_frequencies import type_eigenspaces, types_by_eigenvalue
from specavg.spaces._space import Space
from specavg.spaces._torus_isometries import checked_torus_isometry
from specavg.spaces._unlike_directions import UnlikeDirection, in_other_units, unlike_directions
from specavg.spaces._von_mises import OnTorus, VonMises

_PERIOD = 2.0  # of the paper, whose torus is [-1, 1)^d


@final
class Torus(Space):
    """A flat torus: the box [−p/2, p/2)^d with opposite sides joined, or the cell of a lattice.

    Parameters
    ----------
    d : int
        Dimension; may be left out where `period` is a sequence.
    period : float or sequence of d floats, default 2.0
        Length of each side; points outside wrap. 2 is the paper's [−1, 1)^d.
    lattice : array-like of shape (d, d), optional
        Rows are lattice vectors; then points are *fractional* coordinates (period 1) and lengths are those of
        the lattice. Instead of `d` and `period`.

    Notes
    -----
    Eigenfunctions are √2 cos 2πk·u and √2 sin 2πk·u, u the point in periods, one pair for each ±k of Z^d;
    the eigenvalue is 4π² kᵀM⁻¹k with M the metric (on [−1, 1)^d: π²|k|²).

    Sides are lengths in one unit. Columns in different units (hours of period 24 beside days of period 365.25) make
    frequency 1 of the one come with frequency 15 of the other in the order of eigenvalues: divide each column by its
    period and take period=1, or take the order ``ByType(balanced=True)``.

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
        self, d: int | None = None, period: float | ArrayLike = _PERIOD, *, lattice: ArrayLike | None = None
    ) -> None:
        given = not (np.isscalar(period) and period == _PERIOD)
        if lattice is not None and given and not np.array_equal(period, np.ones(np.shape(period))):  # fractions have 1
            raise ValueError(
                f"a torus has a lattice or periods, and both were given (period={period!r}): the rows of lattice= are "
                "the periods"
            )
        self._lattice = None if lattice is None else checked_lattice(lattice, d)
        self._periods = checked_periods(d, period) if self._lattice is None else np.ones(len(self._lattice))
        self._periods.setflags(write=False)
        self._d = len(self._periods)
        self._key = (self._periods.tobytes(), None if self._lattice is None else self._lattice.tobytes())

    # --- what it is --------------------------------------------------------------------------------

    @property
    def dim(self) -> int:
        return self._d

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    @property
    def volume(self) -> float:
        return self.cell.volume

    @property
    def log_volume(self) -> float:
        return self.cell.log_volume

    @property
    def period(self) -> Array:
        """Period of each coordinate of the points."""  # (d,)
        return self._periods

    @property
    def column_periods(self) -> Array:
        return self._periods

    @property
    def lattice(self) -> Array | None:
        """The lattice vectors as rows, or None for a box."""  # (d, d)
        return self._lattice

    @cached_property
    def cell(self) -> Cell:
        """Lengths, angles and volume."""
        return Cell(self._periods, self._lattice)

    @property
    def metric(self) -> Array:
        """M with |δ|² = δᵀMδ for a displacement δ in periods."""  # (d, d)
        return self.cell.metric

    @property
    def side(self) -> float:
        """The side length of a cubic box."""
        return float(self.period[0]) if self.lattice is None else float(np.sqrt(self.metric[0, 0]))

    @cached_property
    def is_cubic(self) -> bool:
        """Whether the cell is a cube: signed permutations are isometries, and eigenvalues go with the integers |k|²."""
        if self._lattice is None:
            return bool(np.all(self._periods == self._periods[0]))
        return bool(np.array_equal(self.metric, self.metric[0, 0] * np.eye(self.dim)))

    def __repr__(self) -> str:
        if self.lattice is not None:
            return f"Torus(lattice={self.lattice.tolist()})"  # every digit: rounded, it would have other isometries
        if not self.is_cubic:
            return f"Torus({self.dim}, period={self.period.tolist()})"
        if self.period[0] == _PERIOD:
            return f"Torus({self.dim})"
        if self.dim == 1 and self.period[0] == 2 * np.pi:
            return "Circle()"
        return f"Torus({self.dim}, period={float(self.period[0])!r})"

    # --- eigenspaces -------------------------------------------------------------------------------

    def eigenspaces(self) -> Iterator[Eigenspace]:
        if self.is_cubic:
            unit = (2 * np.pi / self.side) ** 2
            for n, size in shell_sizes(self.dim):
                yield Eigenspace(float(unit * n), size, Shell(n))
            return
        yield from frequency_ranges(self)

    @property
    def first_bound(self) -> float:
        """Up to which eigenvalue a list of functions starts: four times that of the first wave."""
        return float(np.diag(self.cell.dual_metric).min()) * 4

    @property
    def parts(self) -> int:
        return self.dim if self.lattice is None else 1

    @property
    def one_part(self) -> Torus | None:
        return Torus(1, period=self._periods[0]) if self.is_cubic else None

    @cached_property
    def _directions(self) -> list[UnlikeDirection]:
        """The directions that no isometry mixes; none where there is only one, and in more than three dimensions."""
        if self.is_cubic:
            return []
        short = self.cell.short_basis  # None for a box
        return unlike_directions(np.diag(self._periods) if short is None else short.vectors)

    @property
    def unlike_parts(self) -> int:
        return max(1, len(self._directions))

    @property
    def has_own_units(self) -> bool:
        return self.lattice is None and self.unlike_parts > 1

    def in_units_of(self, order: ByType) -> Torus:
        """The torus of the same functions whose Laplacian has the values of `order` as its eigenvalues."""
        if order not in self._other_units:
            lengths = in_other_units(self._directions, [order.weight(i) for i in range(self.unlike_parts)])
            vectors = np.diag(self._periods) if self.lattice is None else self.lattice
            self._other_units[order] = Torus(lattice=vectors @ lengths)
        return self._other_units[order]

    @cached_property
    def _other_units(self) -> dict[ByType, Torus]:
        return {}

    def check_order(self, order: str | Order) -> Order:
        chosen = super().check_order(order)
        if self.lattice is not None and isinstance(chosen, CoordinateOrder):
            raise ValueError(
                f'{self!r} is a lattice, whose symmetries mix coordinates: it has the orders "eigenvalue" '
                f'and "type"; got {order!r}. Other orders are for boxes, as Torus(d, period=...) makes them.'
            )
        return chosen

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        if isinstance(order, CoordinateOrder) and self.parts > 1:
            return type_eigenspaces(self.dim, order)
        if isinstance(order, ByType) and self._has_types:
            unit = (2 * np.pi / self.side) ** 2
            return types_by_eigenvalue(self.dim, float(unit))
        if isinstance(order, ByType) and order.balanced and self._directions:
            listed = self.in_units_of(order).ordered(ByType())
            return (Eigenspace(V.eigenvalue, V.dim, InOtherUnits(order, self.frequency_set(V))) for V in listed)
        if isinstance(order, ByType) and self.first_waves is not None:
            return frequency_ranges(self, by_type=True)
        return self.as_a_whole(order)

    @cached_property
    def first_waves(self) -> FirstWaves | None:
        """The first waves of a torus of two or three dimensions whose coordinates are not alike; None elsewhere."""
        return first_waves(self.cell.dual_metric) if not self._has_types and self.dim in (2, 3) else None

    @property
    def _has_types(self) -> bool:
        """Whether coordinates are alike: isometries of a cube permute, flip and shift them."""
        return self.is_cubic and self.parts > 1

    @property
    def type_spectrum(self) -> str | None:
        return "product" if self._has_types else None

    @property
    def has_types(self) -> bool:
        return self._has_types or self.first_waves is not None

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series | None:
        if isinstance(order, ByType) and order.balanced and self.unlike_parts > 1:
            inner = [Eigenspace(V.eigenvalue, V.dim, cast(InOtherUnits, V.label).inner) for V in eigenspaces]
            return self.in_units_of(order).von_mises_series(inner, ByType())
        if self.first_waves is not None:
            return lattice_series(self, self.first_waves, eigenspaces)
        sizes = np.zeros((len(eigenspaces), self.dim), dtype=np.intp)
        for row, V in zip(sizes, eigenspaces, strict=True):
            types = self.frequency_types(V) if self.is_cubic else None
            if types is None or len(types) != 1:
                return None
            row[: len(types[0])] = types[0]
        return bessel_series(0.0, sizes, (self.side / (2 * np.pi)) ** 2)

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        label = self.frequency_set(eigenspace)
        if not isinstance(label, FrequencyTypes) or len(label.listed) != 1:
            return None
        return tuple(float((2 * np.pi * k / self.side) ** 2) for k in label.listed[0])

    def frequency_set(self, eigenspace: Eigenspace) -> FrequencySet:
        """The frequencies of an eigenspace, as the set that is its label."""
        assert isinstance(eigenspace.label, FrequencySet)
        return eigenspace.label

    def frequency_types(self, eigenspace: Eigenspace) -> Sequence[FrequencyType] | None:
        """The types whose frequencies these are; None where a type may belong to several eigenspaces."""
        label = self.frequency_set(eigenspace)
        if isinstance(label, Shell):
            return types_of_norm(self.dim, label.norm)
        return label.listed if isinstance(label, FrequencyTypes) else None

    def degree(self, eigenspace: Eigenspace) -> int:
        if self.dim > 1 or self.lattice is not None:
            return super().degree(eigenspace)
        return int(np.abs(self.frequencies(eigenspace)).max())

    def frequencies(self, eigenspace: Eigenspace) -> NDArray[np.int64]:
        """One of each pair ±k of an eigenspace, first non-zero entry positive."""  # (⌈m/2⌉, d)
        require_memory(
            4.0 * 8 * eigenspace.dim * self.dim,
            f"listing {eigenspace.dim} frequencies in {self.dim} dimensions",
            "Lower the cutoff, or use a group whose invariants have a closed form.",
        )
        return listed_frequencies(self, self.frequency_set(eigenspace))

    def frequencies_together(
        self, eigenspaces: Sequence[Eigenspace], basis: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The `frequencies` of several eigenspaces, one after the other, and how many each has.

        With the basis of a lattice, as rows, those that lie in it.
        """
        return frequencies_together(self, [self.frequency_set(V) for V in eigenspaces], basis)

    def _units(self, X: Array) -> Array:
        return X / self.period  # in periods

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        K = self.frequencies(eigenspace)
        if eigenspace.dim == 1:
            return np.ones((len(X), 1))
        periods = self._units(X) @ K.T  # (n, m/2)
        periods -= np.rint(periods)
        periods *= 2 * np.pi
        return np.sqrt(2) * np.concatenate([np.cos(periods), np.sin(periods)], axis=1)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        return wave_functions(self.period, [self.frequencies(V) for V in eigenspaces])

    def zonal_sum(self, weighted: Weighted, X: Array, Y: Array) -> Array:
        shells = shell_weights(weighted)
        # Per pair: about a nanosecond for each elementwise step, a tenth of one for a step of a matrix product.
        if shells is not None and 7 * self.dim * max(1, *shells) ** 1.5 < sum(V.dim for V, _ in weighted):
            return shell_sum(2 * np.pi * self._units(X), 2 * np.pi * self._units(Y), shells, difference_cosines)
        return super().zonal_sum(weighted, X, Y)

    # --- isometries --------------------------------------------------------------------------------

    def check_isometry(self, g: Isometry) -> Isometry:
        if self.is_cubic and isinstance(g, SignedPermutation) and len(g.image) == self.dim:
            return g
        return checked_torus_isometry(self, g)

    def frequency_action(self, g: Isometry, eigenspace: Eigenspace) -> FrequencyAction:
        """How `g` moves the exponentials e_k of an eigenspace."""
        return self.moved_frequencies(g, self.frequencies(eigenspace))

    def moved_frequencies(self, g: Isometry, K: NDArray[np.int64]) -> FrequencyAction:
        """How `g` moves the exponentials of frequencies that are listed: a list that every isometry maps to itself."""
        found = frequency_action(g, K)
        if found is None:
            raise ValueError(f"{g!r} does not permute the frequencies of {self!r}: it is not an isometry of it")
        return found

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        if eigenspace.dim == 1:
            return np.ones((1, 1))
        return wave_matrix(self.frequency_action(g, eigenspace))

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        assert isinstance(field, ShiftField)
        if eigenspace.dim == 1:
            return np.zeros((1, 1))
        return wave_derivative(self.frequencies(eigenspace), field)

    def _act(self, g: Isometry, X: Array) -> Array:
        if isinstance(g, SignedPermutation):
            return g(X)  # exact on floats; wrapping would not be
        assert isinstance(g, Affine)
        return self.cell.wrapped(g.applied(self._units(X)))

    def tangents(self, X: Array) -> Array:
        return np.broadcast_to(np.eye(self.dim), (len(X), self.dim, self.dim))

    def squared_lengths(self, X: Array, gradients: Array) -> Array:
        return np.sum(self.cell.cartesian(gradients) ** 2, axis=2)

    def _differential(self, g: Isometry) -> Array:
        # Points that are moved wrap, and vectors do not.
        return as_affine(g).matrix * self.period[:, None] / self.period

    # --- points ------------------------------------------------------------------------------------

    @property
    def von_mises(self) -> VonMises | None:
        return OnTorus(self.period) if self.lattice is None else None

    def sample(self, n: int, random_state: Any = None) -> Array:
        n = whole_number(n, "n", 0)
        return (as_generator(random_state).random((n, self.dim)) + self.cell.corner) * self.period

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        reach = np.sqrt(max_eigenvalue * np.diag(self.cell.short_metric)) / (2 * np.pi)
        X, weights = self.cell.grid(np.floor(reach * (1 + 1e-9)).astype(int))
        short = self.cell.short_basis
        return (X if short is None else short.points(X)), weights

    def ordered_quadrature(self, order: Order, top: float) -> tuple[Array, Array]:
        if isinstance(order, CoordinateOrder) and self.parts > 1:
            return self.cell.grid(np.full(self.dim, order.highest_frequency(top)))
        if isinstance(order, ByType) and order.balanced and self._directions:
            X, weights = self.in_units_of(order).quadrature(top)
            return X * self._periods, weights
        return super().ordered_quadrature(order, top)

    @property
    def takes_rows_below(self) -> float:
        return self.membership_tolerance / np.finfo(float).eps * float(self._periods.min())

    def _membership_error(self, X: Array) -> Array | None:
        """How far apart neighbouring numbers of this size are, in periods: so well is the place within one known."""
        if max(X.max(initial=0.0), -X.min(initial=0.0)) < self.takes_rows_below:
            return None
        return np.max(np.spacing(np.abs(X)) / self._periods, axis=1, initial=0.0)

    def _remedy(self, points: Array) -> str:
        periods = np.abs(points) / self._periods
        column = int(periods.max(axis=0).argmax())
        return (
            f"Column {column} has values of up to {periods[:, column].max():.3g} periods, and neighbouring numbers of "
            "that size are so many periods apart: the place within the period is lost. Take values modulo the period "
            "where they are computed, with all their digits."
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
