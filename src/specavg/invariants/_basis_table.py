"""The table of a basis: a row for each eigenspace, and the cutoff where it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._html import Records
from specavg._immutable import Immutable
from specavg._reporting import announced, reported
from specavg.functions._bessel_series import Series
from specavg.functions._types_of_functions import Types
from specavg.invariants.solvers._solver import Solution, arrays_of
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order

Result = TypeVar("Result")
_EXACTNESS = ("closed form", "orbits", "null space", "random elements")  # the most exact solver first
# Relative: an eigenvalue or a number of functions that exceeds a cutoff by less is rounding, and belongs to it
# (1000^(1/3) is 9.999999999999998).
TOLERANCE = 1e-9
_SOON = 100_000  # values that are there before a line about them could be read


@dataclass(frozen=True)
class Cutoff:
    """Where a basis ends: whole eigenspaces only, exactly one bound.

    Attributes
    ----------
    kind : str
        "max_eigenvalue", "max_dim" or "max_invariant_dim".
    value : float

    Examples
    --------
    >>> import specavg as sa
    >>> sa.invariant_basis(sa.Torus(2), max_dim=10).cutoff
    Cutoff(kind='max_dim', value=10.0)
    """

    kind: str
    value: float

    @property
    def most(self) -> float:
        """The value, with what may be rounding added."""
        return self.value * (1 + TOLERANCE)

    @classmethod
    def of(cls, max_eigenvalue: float | None, max_dim: float | None, max_invariant_dim: float | None) -> Cutoff | None:
        """The one cutoff that is given; None if there is none, an error if there are several."""
        bounds = {"max_eigenvalue": max_eigenvalue, "max_dim": max_dim, "max_invariant_dim": max_invariant_dim}
        given = {kind: value for kind, value in bounds.items() if value is not None}
        if not given:
            return None
        if len(given) > 1:
            raise ValueError(f"give exactly one cutoff; got {' and '.join(f'{k}={v!r}' for k, v in given.items())}")
        kind, value = next(iter(given.items()))
        lowest = 0.0 if kind == "max_eigenvalue" else 1.0
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = None
        if number is None or isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"{kind} must be a number; got {value!r}")
        if not number >= lowest or not np.isfinite(number):
            raise ValueError(
                f"{kind} = {value!r} is impossible: it must be finite and at least {lowest:g} "
                "(the constant function is always there)"
            )
        return cls(kind, number)


@dataclass(frozen=True)
class Row:
    """One eigenspace of an invariant basis.

    Attributes
    ----------
    eigenvalue : float
        λ, or the value in the order of the basis.
    dim : int
        m_λ, all functions counted.
    invariant_dim : int
        m_{λ,G}, invariant functions counted.
    solver : str
        "closed form", "orbits" or "null space".
    residual : float
        max‖D(g)Q − Q‖ over the generators; 0 where the solver is exact. Polynomials that are invariant by
        construction have here the error with which they are harmonic.
    gap : float
        The smallest singular value that was not taken for zero; infinite where no rank was decided.

    Examples
    --------
    >>> import specavg as sa
    >>> row = sa.invariant_basis(sa.Torus(10), sa.groups.symmetric(10), max_eigenvalue=20).table[1]
    >>> row.dim, row.invariant_dim, row.solver
    (20, 2, 'closed form')
    """

    eigenvalue: float
    dim: int
    invariant_dim: int
    solver: str
    residual: float
    gap: float


def _columns(solutions: Sequence[Solution[Any]]) -> list[list[Any]]:
    """The fields of the rows of solutions, one list each: a default fit has thousands of rows that nobody reads."""
    return [
        [s.eigenspace.eigenvalue for s in solutions],
        [s.eigenspace.dim for s in solutions],
        [s.invariant_dim for s in solutions],
        [_name(s) for s in solutions],
        [s.residual for s in solutions],
        [s.gap for s in solutions],
    ]


def _name(solution: Solution[Any]) -> str:
    """The name of the solver; where it left the work to others, the name of the least exact of them."""
    if not solution.solver.delegates:
        return solution.solver.name
    return max((_name(part) for _, part in solution.parts), key=_EXACTNESS.index)


class BasisTable(Immutable):
    """Functions by increasing value of an order, eigenspace after eigenspace; immutable."""

    kind: ClassVar[str]  # "invariant" or "equivariant": what messages call its functions
    made_from: ClassVar[tuple[str, ...]]  # the attributes that say which basis it is
    functions: Any  # a family of functions, or of vector functions

    def __init__(
        self,
        made_from: tuple[Space, Any, Cutoff, Order, str],
        eigenspaces: Sequence[Eigenspace],
        solutions: Sequence[Solution[Any]],
        table: Sequence[Row] | None,
    ) -> None:
        self._key = made_from
        self.space, _, self.cutoff, self.order, self.solver = made_from
        # Residuals and gaps of a saved basis are those that were certified when it was made: its table is given.
        given = None if table is None else [[getattr(row, field.name) for row in table] for field in fields(Row)]
        self._columns = given or _columns(solutions)
        self.arrays = arrays_of(solutions)
        values, all_dims, self._dims = self._columns[:3]
        self.eigenvalues = np.repeat(values, self._dims).astype(float)
        below = np.cumsum([0.0, *all_dims])  # types of one eigenvalue count together
        self.counts = below[np.searchsorted(values, self.eigenvalues, side="right")]
        for array in (self.eigenvalues, self.counts):
            array.setflags(write=False)
        self.dim = len(self.eigenvalues)  # number of functions
        self.dimension = self.space.dim
        self._eigenspaces = list(eigenspaces)
        self.types = self._types()
        self.von_mises = self._von_mises()

    def _types(self) -> Types | None:
        """The types of all functions, where every eigenspace has one."""
        family = self.space.type_spectrum if self.order.separates_types else None
        found = [self.space.type_of(V) for V in self._eigenspaces] if family is not None else [None]
        known = [t for t in found if t is not None]
        if family is None or len(known) < len(found):
            return None
        return Types.of(family, known, self._dims)

    def _von_mises(self) -> Series | None:
        series = self.space.von_mises_series(self._eigenspaces, self.order)
        if series is None:
            return None
        dims = self._dims
        return lru_cache(maxsize=64)(lambda kappa: np.repeat(series(kappa), dims))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["von_mises"]  # a closure
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.von_mises = self._von_mises()

    @cached_property
    def table(self) -> Records[Row]:
        """One row for each eigenspace."""
        return Records(map(Row, *self._columns))

    @property
    def n_constants(self) -> int:
        """Number of functions that are constant; they come first."""
        return 1

    @property
    def total_dim(self) -> int:
        """Number of all functions up to the cutoff, whether the group leaves them alone or not."""
        return sum(self._columns[1])

    @property
    def residual(self) -> float:
        """The largest residual of any eigenspace."""
        return max(self._columns[4], default=0.0)

    def correlate_and_gram(self, X: ArrayLike, Y: Array, weights: Array) -> tuple[Array, Array]:
        """`correlate` and the Gram matrix Σ w ψψᵀ, over points and outputs, from values that are computed once."""
        return self._announced(
            lambda points: self.functions.correlate_and_gram(points, Y, weights), self.check_points(X)
        )

    def _announced(self, work: Callable[[Array], Result], points: Array) -> Result:
        """`work` at checked points; where progress is asked for, a line says that it goes on."""
        if len(points) * self.dim < _SOON:
            return work(points)
        with announced(self._named(points)):
            return work(points)

    def _reported(self, chunks: Iterable[slice], points: Array) -> Iterator[slice]:
        """Row ranges of checked points, reported as progress."""
        return iter(chunks) if len(points) * self.dim < _SOON else reported(chunks, self._named(points), "chunks")

    def _named(self, points: Array) -> str:
        return f"{self.dim:,} functions at {len(points):,} points"

    def check_points(self, X: ArrayLike) -> Array:
        """`X` as points of the space, one in each row; an error that says why if they are none."""  # (n, n_features)
        return self.space.check_points(X)

    def tangents(self, X: Array) -> Array:
        """An orthonormal basis of the tangent space at each of checked points."""  # (n, n_features, d)
        return self.space.tangents(X)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """`n` independent uniform points of the space."""  # (n, n_features)
        return self.space.sample(n, random_state)

    def quadrature(self, value: float) -> tuple[Array, Array]:
        """Points and weights that integrate products of two functions exactly, if their values are up to `value`."""
        return self.space.ordered_quadrature(self.order, value)
