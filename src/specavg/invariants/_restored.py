"""A basis that was saved, as it was: rebuilt from what it is, with the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

import numpy as np
from numpy.typing import NDArray

from specavg.groups import Group
from specavg.invariants._basis import InvariantBasis, Row, check_group
from specavg.invariants._cutoff import Cutoff
from specavg.invariants._solver_choice import Resolver
from specavg.invariants._tape import TapeError, playing
from specavg.invariants.solvers._solver import Solution
from specavg.spaces import Space

__all__ = ["restored_basis"]


def restored_basis(
    space: Space,
    group: Group,
    cutoff: Cutoff,
    solver: str,
    table: Sequence[Row],
    tape: Sequence[NDArray[np.float64]],
) -> InvariantBasis:
    """The basis that was made from these parts, with the arrays of `tape` in place of linear algebra.

    Parameters
    ----------
    space, group, cutoff, solver
        What it was made from.
    table : sequence of Row
        Its eigenspaces. No more than these are solved, whatever the cutoff says.
    tape : sequence of ndarray
        Its `tape`.

    Raises
    ------
    TapeError
        Where what is rebuilt is not what `table` says.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("I"), max_eigenvalue=60)
    >>> same = restored_basis(basis.space, basis.group, basis.cutoff, basis.solver, basis.table, basis.tape)
    >>> X = basis.space.sample(5, random_state=0)
    >>> same == basis, bool((same.evaluate(X) == basis.evaluate(X)).all())
    (True, True)
    """
    check_group(space, group)
    resolver = Resolver(space, group, solver)
    solutions: list[Solution] = []
    with playing(tape):
        for row, eigenspace in zip(table, space.eigenspaces(), strict=False):  # endless: rows come first
            # Logarithms differ in the last bit from one machine to another.
            if row.dim != eigenspace.dim or not isclose(row.eigenvalue, eigenspace.eigenvalue, rel_tol=1e-12):
                raise TapeError(
                    f"eigenspace {len(solutions)} has {eigenspace.dim} functions of eigenvalue "
                    f"{eigenspace.eigenvalue:.6g}; when it was saved, {row.dim} of {row.eigenvalue:.6g}"
                )
            solution = resolver.solve(eigenspace)
            if solution.invariant_dim != row.invariant_dim:
                raise TapeError(
                    f"eigenspace {len(solutions)} has {solution.invariant_dim} invariant functions; "
                    f"when it was saved, {row.invariant_dim}"
                )
            solutions.append(solution)
    basis = InvariantBasis(space, group, cutoff, solver, solutions, resolver.functions(solutions), tape)
    basis.table = tuple(table)  # solvers, residuals and gaps as they were certified
    return basis
