"""A basis that was saved, as it was: rebuilt from what it is, with the same bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import Any

from specavg._arrays import Array
from specavg._config import require_memory
from specavg.groups import Group, Representation
from specavg.invariants._acting_group import check_group
from specavg.invariants._basis import InvariantBasis
from specavg.invariants._basis_table import Cutoff, Row
from specavg.invariants._building import BYTES_PER_FUNCTION
from specavg.invariants._equivariant_basis import EquivariantBasis
from specavg.invariants._output_on_space import output_representation
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._solver import Solution, carriers
from specavg.invariants.solvers._stored_arrays import Stored, StoredArraysError
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order


def restored_basis(
    space: Space,
    group: Group,
    cutoff: Cutoff,
    order: Order,
    solver: str,
    table: Sequence[Row],
    arrays: Mapping[str, Array],
) -> InvariantBasis:
    """The basis that was made from these parts, with `arrays` in place of linear algebra.

    Parameters
    ----------
    space, group, cutoff, order, solver
        What it was made from.
    table : sequence of Row
        Its eigenspaces. No more than these are solved, whatever the cutoff says.
    arrays : mapping of str to ndarray
        Its `arrays`.

    Raises
    ------
    StoredArraysError
        Where what is rebuilt is not what `table` says.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("I"), max_eigenvalue=60)
    >>> made_from = (basis.space, basis.group, basis.cutoff, basis.order, basis.solver)
    >>> same = restored_basis(*made_from, basis.table, basis.arrays)
    >>> X = basis.space.sample(5, random_state=0)
    >>> same == basis, bool((same.evaluate(X) == basis.evaluate(X)).all())
    (True, True)
    """
    check_group(space, group)
    stored = Stored(arrays)
    resolver = Resolver(space, group, solver, stored)
    solutions = _solutions(space.ordered(order), resolver, table, 1)
    stored.check_used()
    return InvariantBasis(space, group, cutoff, order, solver, solutions, table)


def restored_equivariant_basis(
    space: Space,
    output: Representation,
    cutoff: Cutoff,
    order: Order,
    solver: str,
    table: Sequence[Row],
    arrays: Mapping[str, Array],
) -> EquivariantBasis:
    """The equivariant basis that was made from these parts, with `arrays` in place of linear algebra.

    Parameters
    ----------
    space, output, cutoff, order, solver, table, arrays
        What it was made from, its eigenspaces and its arrays, as in `restored_basis`.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Sphere(3), sa.groups.point_group("D3"), "vector", max_eigenvalue=12)
    >>> made_from = (basis.space, basis.output, basis.cutoff, basis.order, basis.solver)
    >>> same = restored_equivariant_basis(*made_from, basis.table, basis.arrays)
    >>> X = basis.space.sample(5, random_state=0)
    >>> same == basis, bool((same.evaluate(X) == basis.evaluate(X)).all())
    (True, True)
    """
    check_group(space, output.group)
    output = output_representation(space, output.group, output)  # refuses tangent vectors where there are none
    stored = Stored(arrays)
    resolver = Resolver(space, output.group, solver, stored, output.of_coefficients)
    solutions = _solutions(carriers(space, order, output), resolver, table, output.dim)
    stored.check_used()
    return EquivariantBasis(space, output, cutoff, order, solver, solutions, table)


def _solutions(
    eigenspaces: Iterable[Eigenspace], resolver: Resolver, table: Sequence[Row], outputs: int
) -> list[Solution[Any]]:
    total = sum(row.invariant_dim for row in table)
    require_memory(
        BYTES_PER_FUNCTION * total * outputs,
        f"a saved basis of {total} functions",
        "The file may not be one that specavg wrote.",
    )
    solutions: list[Solution[Any]] = []
    for row, eigenspace in zip(table, eigenspaces, strict=False):  # endless: rows come first
        # Logarithms differ in the last bit from one machine to another.
        if row.dim != eigenspace.dim or not isclose(row.eigenvalue, eigenspace.eigenvalue, rel_tol=1e-12):
            raise StoredArraysError(
                f"eigenspace {len(solutions)} has {eigenspace.dim} functions of eigenvalue "
                f"{eigenspace.eigenvalue:.6g}; when it was saved, {row.dim} of {row.eigenvalue:.6g}"
            )
        solution = resolver.solve(eigenspace)
        if solution.invariant_dim != row.invariant_dim:
            raise StoredArraysError(
                f"eigenspace {len(solutions)} has {solution.invariant_dim} invariant functions; "
                f"when it was saved, {row.invariant_dim}"
            )
        solutions.append(solution)
    return solutions
