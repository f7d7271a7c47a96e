"""Equivariant bases: all equivariant functions up to a cutoff, independent of any data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import takewhile
from math import inf
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg.functions._tangent_fields import Projection, TangentFields
from specavg.functions._vector_functions import Summand, VectorFunctions
from specavg.groups import Group, Representation
from specavg.invariants._basis_table import BasisTable, Cutoff, Row
from specavg.invariants._building import checked_request, solutions_in_time
from specavg.invariants._exact_elements import CanonicalElements, ExactElements, SortingElements
from specavg.invariants._one_orbit import functions_on_one_orbit
from specavg.invariants._output_on_space import output_representation
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._solver import Solution, carriers, eigenspace_below, vector_functions_of
from specavg.spaces import Space, Sphere
from specavg.spaces._order_of_functions import Order


@final
class EquivariantBasis(BasisTable):
    """Orthonormal functions F_1, …, F_r with F(gx) = ρ(g)F(x), by increasing value of `order`.

    Made by `equivariant_basis`; immutable, compared by what it was made from, and reused over fits. Orthonormal means
    that the mean of F_j(x)·F_l(x) over uniform points x is 1 for j = l and 0 otherwise.

    Attributes
    ----------
    space, group, output, cutoff, order, solver
        What it was made from; `output` is the `Representation` ρ.
    dim : int
        Number of equivariant functions.
    n_outputs : int
        p, the number of values of each.
    n_constants : int
        How many of them are constant vectors, those that ρ leaves alone; they come first. Tangent fields: none.
    eigenvalues : ndarray of shape (dim,)
        λ of each function.
    counts : ndarray of shape (dim,)
        How many vector functions there are up to and with its eigenspace, equivariant or not: p·D_λ; tangent fields
        2·D_λ − 2.
    dimension : int
        The dimension d of the space.
    types : Types or None
        The type of each function, in the order "type" on spaces that have types.
    table : tuple of Row
        One row per eigenspace; `.dim` is p·m_λ (tangent fields: 2·m_λ, λ > 0), and `.invariant_dim` the number of
        equivariant functions.
    arrays : dict of str to ndarray
        What linear algebra decided.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Sphere(3), sa.groups.point_group("Oh"), "vector", max_eigenvalue=12)
    >>> basis
    <EquivariantBasis: 2 of 48 functions with 3 outputs on Sphere(3) under point_group('Oh'), 4 eigenspaces>
    >>> abs(basis.evaluate([[0.0, 0.0, 1.0]])[0]).round(12)  # along the axis that keeps the point
    array([[0.        , 0.        , 1.        ],
           [0.        , 0.        , 1.52752523]])
    """

    kind: ClassVar[str] = "equivariant"
    made_from: ClassVar[tuple[str, ...]] = ("space", "output", "cutoff", "order", "solver", "table")

    def __init__(
        self,
        space: Space,
        output: Representation,
        cutoff: Cutoff,
        order: Order,
        solver: str,
        solutions: Sequence[Solution[Any]],
        table: Sequence[Row] | None = None,
    ) -> None:
        eigenspaces = [eigenspace_below(s.eigenspace) for s in solutions]
        super().__init__((space, output, cutoff, order, solver), eigenspaces, solutions, table)
        self.group = output.group
        self.output = output
        self.functions: VectorFunctions = _functions_of(solutions, output)

    @property
    def n_outputs(self) -> int:
        """Number of outputs, p."""
        return self.output.dim

    @property
    def n_constants(self) -> int:
        """Number of functions that are constant vectors."""
        return self.table[0].invariant_dim if self.table and not self.output.tangent else 0

    @cached_property
    def is_complete(self) -> bool:
        """Whether there are no other functions, as where flows take every point to every other: finitely many exist."""
        most = functions_on_one_orbit(self.space, self.output) if self.group.fields else None
        return most is not None and self.dim >= most

    @property
    def n_rows(self) -> int:
        """Number of independent numbers that a value has at one point: p, and 2 for tangent vectors."""
        return self.functions.n_rows

    def possible(self, X: ArrayLike, Y: Array) -> Array:
        """Targets without the part that no function can have: the tangential part of tangent vectors."""  # (n, p)
        return self.functions.possible(self.space.check_points(X), Y)

    @property
    def summands(self) -> Sequence[Summand]:
        """The functions of each summand of the outputs."""
        return self.functions.summands

    def evaluate(self, X: ArrayLike) -> Array:
        """The equivariant functions at `X`.

        Returns
        -------
        ndarray of shape (n, dim, p)
        """
        return self._announced(self.functions.evaluate, self.space.check_points(X)).transpose(0, 2, 1)

    def values_in_chunks(self, X: ArrayLike) -> Iterator[tuple[slice, Array]]:
        """Values of the functions at `X`, some rows at a time, with the outputs before the functions."""  # (m, p, dim)
        points = self.space.check_points(X)
        for rows in self._reported(self.functions.chunks(len(points)), points):
            yield rows, self.functions.values(points[rows])

    def correlate(self, X: ArrayLike, Y: Array) -> Array:
        """Σ_i F(x_i)·y_i without holding the values."""  # (n, p) -> (dim,)
        return self._announced(lambda at: self.functions.correlate(at, Y), self.space.check_points(X))

    def combine(self, X: ArrayLike, c: Array) -> Array:
        """Σ_j c_j F_j(X) without holding the values."""  # (dim,) -> (n, p)
        return self._announced(lambda at: self.functions.combine(at, c), self.space.check_points(X))

    def gradient(self, X: ArrayLike) -> Array:
        """Gradients of every output of the equivariant functions at `X`.

        Returns
        -------
        ndarray of shape (n, dim, p, n_features)
            By the coordinates of `X`, with the meaning of `InvariantBasis.gradient`.
        """
        chunks = [slopes for _, slopes in self.gradients_in_chunks(X)]
        nothing = np.empty((0, self.space.n_features, self.n_outputs, self.dim))
        return np.concatenate([nothing, *chunks]).transpose(0, 3, 2, 1)

    def gradients_in_chunks(self, X: ArrayLike) -> Iterator[tuple[slice, Array]]:
        """Gradients at `X`, some rows at a time, with functions last."""  # (m, n_features, p, dim)
        points = self.space.check_points(X)
        for rows in self._reported(self.functions.chunks(len(points), 1 + points.shape[1]), points):
            yield rows, self.functions.gradient(points[rows])

    def combine_gradient(self, X: ArrayLike, c: Array) -> Array:
        """The gradient of every output of Σ_j c_j F_j(X)."""  # (dim,) -> (n, n_features, p)
        return self._announced(lambda at: self.functions.combine_gradient(at, c), self.space.check_points(X))

    @cached_property
    def canonical_elements(self) -> ExactElements | None:
        """For each point the element that takes it to one place of its orbit, where these are exact; else None."""
        return SortingElements.of(self.space, self.output) or CanonicalElements.of(self.space, self.output)

    def __repr__(self) -> str:
        return (
            f"<EquivariantBasis: {self.dim} of {self.total_dim} functions with {self.n_outputs} outputs on "
            f"{self.space!r} under {self.group!r}, {len(self.table)} eigenspaces>"
        )


def equivariant_basis(
    space: Space,
    group: Group | None,
    output: str | Representation,
    max_eigenvalue: float | None = None,
    max_dim: float | None = None,
    max_invariant_dim: float | None = None,
    solver: str = "auto",
    *,
    order: str | Order = "eigenvalue",
) -> EquivariantBasis:
    """The functions F with F(gx) = ρ(g)F(x) on `space`, up to a cutoff.

    In coefficients this is D(g) C ρ(g) = C: fixed vectors again. With the output "scalar" they are the invariant
    functions of `invariant_basis`, found by the same solvers.

    Parameters
    ----------
    space : Space
        Where the points live.
    group : Group or None
        The trivial group if None.
    output : str or Representation
        How the group moves the outputs: "scalar", "pseudoscalar" (det g), "vector" (the matrix of g), "axial vector"
        (det g times it), a tensor by its index symmetries such as "ij=ji", or a `groups.Representation`. Vectors and
        tensors have Cartesian components where points have fractional coordinates of a lattice. On
        `Sphere(3)` also "tangent vector" and "axial tangent vector": fields F(x) orthogonal to x, made from gradients
        ∇f and turned gradients x × ∇g of functions f and g.
    max_eigenvalue, max_dim, max_invariant_dim : float, optional
        Exactly one cutoff, as in `invariant_basis`. `max_dim` counts all vector functions, p for each scalar one;
        `max_invariant_dim` counts equivariant ones.
    solver : {"auto", "closed form", "orbits", "null space"}
        "auto" takes the cheapest exact way.
    order : str or Order
        Which functions come first, as in `invariant_basis`.

    Returns
    -------
    EquivariantBasis

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Torus(2), sa.groups.symmetric(2), "vector", max_eigenvalue=10)
    >>> basis.dim, basis.n_outputs, basis.table[1].solver
    (5, 2, 'orbits')
    >>> x = [[0.3, -0.2]]
    >>> swapped = basis.evaluate([[-0.2, 0.3]])
    >>> bool(abs(swapped - basis.evaluate(x)[:, :, ::-1]).max() < 1e-12)
    True
    """
    given = Cutoff.of(max_eigenvalue, max_dim, max_invariant_dim)
    group, cutoff, chosen = checked_request(space, group, given, order)
    return built_equivariant_basis(space, output_representation(space, group, output), cutoff, chosen, solver, inf)


def _functions_of(solutions: Sequence[Solution[Any]], output: Representation) -> VectorFunctions:
    """The equivariant functions of all solutions; for tangent vectors the fields whose potentials were solved for."""
    found = vector_functions_of(solutions, output.of_coefficients.dim)
    if not output.tangent:
        return found
    eigenvalues = np.repeat([s.eigenspace.eigenvalue for s in solutions], [s.invariant_dim for s in solutions])
    return TangentFields(found, eigenvalues, partial(_one_degree_further, float(eigenvalues.max(initial=0.0))))


def _one_degree_further(eigenvalue: float) -> Projection:
    """The harmonics of S² up to (l + 1)(l + 2), where the eigenvalue is l(l + 1)."""
    space, top = Sphere(3), (eigenvalue + 1 + 2 * (eigenvalue + 0.25) ** 0.5) * (1 + 1e-9)
    harmonics = space.functions(list(takewhile(lambda V: V.eigenvalue <= top, space.eigenspaces())))
    return Projection(harmonics, *space.quadrature(top))


@lru_cache(maxsize=32)
def built_equivariant_basis(
    space: Space, output: Representation, cutoff: Cutoff, order: Order, solver: str, seconds: float
) -> EquivariantBasis:
    """The basis of a checked request within a time, as `solutions_in_time` explains; the last 32 are kept."""
    resolver = Resolver(space, output.group, solver, output=output)
    what = f"equivariant basis on {space!r}"
    solutions, cutoff = solutions_in_time(carriers(space, order, output), resolver, cutoff, seconds, what)
    return EquivariantBasis(space, output, cutoff, order, solver, solutions)
