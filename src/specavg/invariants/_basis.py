"""Invariant bases: all invariant eigenfunctions up to a cutoff, independent of any data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._html import facts_html
from specavg.functions._functions import Functions
from specavg.functions._gram_operator import GramOperator
from specavg.groups import Group
from specavg.invariants._acting_group import canonical_points, group_of_columns
from specavg.invariants._basis_table import BasisTable, Cutoff, Row
from specavg.invariants._building import checked_request, solutions_in_time
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._solver import Solution, functions_of
from specavg.spaces import Space
from specavg.spaces._order_of_functions import Order


def invariant_basis(
    space: Space,
    group: Group | None = None,
    max_eigenvalue: float | None = None,
    max_dim: float | None = None,
    max_invariant_dim: float | None = None,
    solver: str = "auto",
    *,
    order: str | Order = "eigenvalue",
) -> InvariantBasis:
    """The invariant eigenfunctions of `space` under `group`, up to a cutoff.

    Whole eigenspaces only, and exactly one cutoff. The result depends on no data: it is computed once for each
    (space, group, cutoff, order, solver) and shared.

    Parameters
    ----------
    space : Space
    group : Group, optional
        The trivial group by default.
    max_eigenvalue : float, optional
        Inclusive (relative tolerance 1e-9).
    max_dim : float, optional
        D_λ ≤ max_dim, *all* functions counted, as in the paper's theorem.
    max_invariant_dim : float, optional
        *Invariant* functions counted, as in the paper's experiments.
    solver : {"auto", "closed form", "orbits", "null space", "random elements"}
        "auto" takes the cheapest exact way for each eigenspace; `table` shows which. "random elements" is for
        comparison: the algorithm of the paper's sequel, which draws r² elements for an eigenspace of r functions, takes
        minutes for some hundred of them, and may be wrong.
    order : {"eigenvalue", "few coordinates", "degree", "type"} or Order
        Which functions come first: the smoothest; those of few coordinates, copies or factors (`FewCoordinates`);
        those of low total degree; the smoothest, one type at a time (`ByType`). In "few coordinates" and "degree",
        `max_eigenvalue` bounds the value of the order.

    Returns
    -------
    InvariantBasis

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(10), sa.groups.sign_flips(10), max_invariant_dim=176)
    >>> [(row.dim, row.invariant_dim) for row in basis.table]
    [(1, 1), (20, 10), (180, 45), (960, 120)]
    """
    given = Cutoff.of(max_eigenvalue, max_dim, max_invariant_dim)
    group, cutoff, chosen = checked_request(space, group, given, order)
    return built_basis(space, group, cutoff, chosen, solver, inf)


@lru_cache(maxsize=32)
def built_basis(
    space: Space, group: Group, cutoff: Cutoff, order: Order, solver: str, seconds: float
) -> InvariantBasis:
    """The basis of a checked request within a time, as `solutions_in_time` explains; the last 32 are kept."""
    resolver = Resolver(space, group, solver)
    what = f"invariant basis on {space!r}"
    solutions, cutoff = solutions_in_time(space.ordered(order), resolver, cutoff, seconds, what)
    return InvariantBasis(space, group, cutoff, order, solver, solutions)


@final
class InvariantBasis(BasisTable):
    """Orthonormal invariant functions ψ_1, …, ψ_r, by increasing value of `order`.

    Made by `invariant_basis`; immutable, compared by what it was made from, and reused over fits.

    Attributes
    ----------
    space, group, cutoff, order, solver
        What it was made from.
    dim : int
        Number of invariant functions, the paper's D_{λ,G}.
    total_dim : int
        Number of all functions up to the cutoff, the paper's D_λ.
    eigenvalues : ndarray of shape (dim,)
        λ of each function; in another order than that of eigenvalues, its value in that order.
    counts : ndarray of shape (dim,)
        D_λ up to and with the eigenspace of each function.
    dimension : int
        The dimension d of the space.
    types : Types or None
        The type of each function, in the order "type" on spaces that have types.
    von_mises : callable or None
        κ to the logarithms of the coefficients of a kernel: `Space.von_mises_series`, for every function.
    table : tuple of Row
        One row per eigenspace: .eigenvalue, .dim, .invariant_dim, .solver, .residual, .gap.
    arrays : dict of str to ndarray
        What linear algebra decided: `restored_basis` rebuilds the same functions from it, to the last bit.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Oh"), max_eigenvalue=50)
    >>> basis
    <InvariantBasis: 3 of 49 functions on Sphere(3) under point_group('Oh'), 7 eigenspaces>
    >>> basis.eigenvalues
    array([ 0., 20., 42.])
    >>> values = basis.evaluate([[0.0, 0.6, 0.8], [0.0, -0.8, 0.6]])  # the second point is the first one, rotated
    >>> values.shape, bool(abs(values[0] - values[1]).max() < 1e-12)
    ((2, 3), True)
    """

    kind: ClassVar[str] = "invariant"
    made_from: ClassVar[tuple[str, ...]] = ("space", "group", "cutoff", "order", "solver", "table")

    def __init__(
        self,
        space: Space,
        group: Group,
        cutoff: Cutoff,
        order: Order,
        solver: str,
        solutions: Sequence[Solution[Any]],
        table: Sequence[Row] | None = None,
    ) -> None:
        super().__init__((space, group, cutoff, order, solver), [s.eigenspace for s in solutions], solutions, table)
        self.group = group
        self.functions: Functions = functions_of(solutions)
        self.inner_products = sum(s.inner_products for s in solutions)
        self._exact_as_given = self.functions.invariant_to_sign_bits

    def evaluate(self, X: ArrayLike) -> Array:
        """The invariant functions at `X`.

        Returns
        -------
        ndarray of shape (n, dim)
        """
        return self._announced(self.functions.evaluate, self.space.check_points(X))

    def gradient(self, X: ArrayLike) -> Array:
        """The gradients of the invariant functions at `X`.

        Returns
        -------
        ndarray of shape (n, dim, n_features)
            By the coordinates of `X` on tori, lattices and intervals; on embedded spaces (spheres, rotations, Stiefel
            manifolds) the tangential gradient in the coordinates of `X`; on products and powers side by side.

        Examples
        --------
        >>> import specavg as sa
        >>> basis = sa.invariant_basis(sa.Torus(1), sa.groups.sign_flips(1), max_eigenvalue=10)  # 1 and √2 cos πx
        >>> basis.gradient([[0.5]]).round(6)
        array([[[ 0.      ],
                [-4.442883]]])
        """
        return self._announced(self.functions.evaluate_gradient, self.space.check_points(X))

    def gradients_in_chunks(self, X: ArrayLike) -> Iterator[tuple[slice, Array]]:
        """Slices of the rows of `X`, and the gradients there: arrays of bounded size."""  # (m, dim, n_features)
        points = self.space.check_points(X)
        for rows in self._reported(self.functions.gradient_chunks(points), points):
            yield rows, self.functions.gradient(points[rows])

    def combine_gradient(self, X: ArrayLike, C: Array) -> Array:
        """The gradient of Σ_j C_j ψ_j at `X`, without an array of the gradients of all functions.

        Parameters
        ----------
        X : array-like of n points
        C : ndarray of shape (dim, q)

        Returns
        -------
        ndarray of shape (n, n_features, q)
        """
        return self._announced(lambda at: self.functions.combine_gradient(at, C), self.space.check_points(X))

    def correlate_gradient(self, X: ArrayLike, G: Array) -> Array:
        """Σ_i Σ_j ∂_jψ(x_i) G_ij without holding the gradients.

        Parameters
        ----------
        X : array-like of n points
        G : ndarray of shape (n, n_features, q)

        Returns
        -------
        ndarray of shape (dim, q)
        """
        return self._announced(lambda at: self.functions.correlate_gradient(at, G), self.space.check_points(X))

    def values_in_chunks(self, X: ArrayLike) -> Iterator[tuple[slice, Array]]:
        """Slices of the rows of `X`, and the values there: arrays of bounded size."""  # (m, dim)
        points = self.space.check_points(X)
        for rows in self._reported(self.functions.chunks(len(points)), points):
            yield rows, self.functions.evaluate(points[rows])

    def correlate(self, X: ArrayLike, Y: Array) -> Array:
        """Σ_i ψ(x_i) y_i without holding the values.

        Parameters
        ----------
        X : array-like of n points
        Y : ndarray of shape (n, q)

        Returns
        -------
        ndarray of shape (dim, q)
        """
        return self._at_checked(lambda points: self.functions.correlate(points, Y), X)

    def combine(self, X: ArrayLike, C: Array) -> Array:
        """Σ_j C_j ψ_j(X) without holding the values.

        Parameters
        ----------
        X : array-like of n points
        C : ndarray of shape (dim, q)

        Returns
        -------
        ndarray of shape (n, q)
        """
        return self._at_checked(lambda points: self.functions.combine(points, C), X)

    def _at_checked(self, work: Callable[[Array], Array], X: ArrayLike) -> Array:
        """`work` at checked points. Where only NaN and large numbers are refused, the extremes show them."""
        points: Any = X
        plain = isinstance(points, np.ndarray) and points.dtype == np.float64 and points.shape[1:] == self.space.shape
        if plain and max(points.max(initial=0.0), -points.min(initial=0.0)) < self.space.takes_rows_below:
            return self._announced(work, points)
        return self._announced(work, self.space.check_points(X))

    def gram(self, X: ArrayLike, weights: Array | None = None) -> Array:
        """Σ_i w_i ψ(x_i) ψ(x_i)ᵀ without holding the values.

        Parameters
        ----------
        X : array-like of n points
        weights : ndarray of shape (n,), optional
            Non-negative; ones by default.

        Returns
        -------
        ndarray of shape (dim, dim)
        """
        return self._announced(lambda at: self.functions.gram(at, weights), self.space.check_points(X))

    def gram_operator(self, X: ArrayLike, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        """The Gram matrix as an operator, without its entries, where it follows from a density; None elsewhere.

        That is on Sphere(3) and Rotations(), and on tori of up to three dimensions with the extra ``specavg[nufft]``
        installed. Beside it Σ w ψ and Σ w ψ yᵀ side by side, of shape (dim, 1 + q).

        Parameters
        ----------
        X : array-like of n points
        weights : ndarray of shape (n,)
        Y : ndarray of shape (n, q)
        """
        return self.functions.gram_operator(self.space.check_points(X), weights, Y)

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        """Forecasts: to make `gram_operator` of `n` rows, and to multiply one column by it; None where it is None."""
        return self.functions.gram_nanoseconds(n)

    def gram_of_density(self, density: Array) -> GramOperator:
        """The operator of `gram_operator` again, from its attribute `density`: it keeps nothing else of the data."""
        return self.functions.gram_of_density(density)

    def canonical(self, X: ArrayLike) -> Array:
        """A point of each orbit, the same bits for all of the orbit, where the group has such a choice.

        Canonical points change an invariant function by rounding only; estimators use them so that predictions
        are equal to the last bit. `evaluate` does not: the laws are checked on the path without it.
        """
        return canonical_points(self.space, self.group, X)

    def evaluation_points(self, X: ArrayLike) -> Array:
        """`canonical` points, or `X` itself where the functions are invariant to the last bit anyway."""
        return np.asarray(self.space.as_table(X), dtype=np.float64) if self._exact_as_given else self.canonical(X)

    def orbit_points(self, places: Array) -> Array:
        """A point of each orbit for what `evaluation_points` gave: values at the same point have the same bits."""
        return self.canonical(places) if self._exact_as_given else places

    @property
    def has_canonical(self) -> bool:
        """Whether `canonical` moves points at all: the group acts exactly on floating-point numbers."""
        return group_of_columns(self.space, self.group) is not None

    def __repr__(self) -> str:
        return (
            f"<InvariantBasis: {self.dim} of {self.total_dim} functions on {self.space!r} under {self.group!r}, "
            f"{len(self.table)} eigenspaces>"
        )

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        facts = [("space", repr(self.space)), ("group", repr(self.group)), ("cutoff", repr(self.cutoff))]
        facts += [("functions", f"{self.dim:,} invariant of {self.total_dim:,}")]
        return facts_html("InvariantBasis", facts) + self.table.as_html()
