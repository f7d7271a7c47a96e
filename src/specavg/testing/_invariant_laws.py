"""The laws of invariants: what an invariant basis must be, whichever solver made it.

A basis of one eigenspace is only determined up to a rotation; its projector is not. So bases are compared
through the kernel Σ_j ψ_j(x) ψ_j(y), which is φ(x)ᵀ P φ(y).
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.groups import Group
from specavg.invariants import InvariantBasis, invariant_basis
from specavg.invariants._certified_null_space import UnclearRank
from specavg.invariants._solver_choice import SOLVERS
from specavg.invariants.solvers._solver import Unsuitable
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order
from specavg.testing._law import kept
from specavg.testing._projectors import average_projector

INVARIANCE = 1e-12  # of max|ψ|
PROJECTOR = 1e-10  # entries of two projectors that were made in different ways
CHARACTER = 1e-8  # a mean of traces beside an integer


def check_invariance(
    basis: InvariantBasis, *, n_elements: int = 20, random_state: Any = 0, tolerance: float = INVARIANCE
) -> float:
    """Law: ψ(gx) = ψ(x), evaluated at gx itself and not at the canonical point of the orbit.

    Canonical points make *any* function invariant, even a wrong one; so this law never uses them.

    Parameters
    ----------
    basis : InvariantBasis
    n_elements : int
        Random elements, besides the generators.
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest |ψ_j(gx) − ψ_j(x)| / max|ψ_j|.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Ih"), max_invariant_dim=4)
    >>> check_invariance(basis) < 1e-12
    True
    """
    rng = np.random.default_rng(random_state)
    space, group = basis.space, basis.group
    X = space.sample(5, rng)
    before = basis.evaluate(X)
    elements = [*group.generators, *(group.random(rng) for _ in range(n_elements))]
    after = np.stack([basis.evaluate(space.act(g, X)) for g in elements] or [before])
    scale = np.maximum(np.abs(after).max(axis=(0, 1), initial=0.0), np.abs(before).max(axis=0, initial=0.0))
    change = np.abs(after - before).max(axis=(0, 1), initial=0.0)
    residual = float((change / np.maximum(scale, 1e-300)).max(initial=0.0))
    return kept("ψ(gx) = ψ(x)", residual, tolerance, repr(basis))


def check_projector(
    basis: InvariantBasis,
    eigenspace: Eigenspace,
    projector: Array,
    *,
    law: str = "the projector is the average over the group",
    random_state: Any = 0,
    tolerance: float = PROJECTOR,
) -> float:
    """Law: Σ_j ψ_j(x) ψ_j(y) = φ(x)ᵀ P φ(y) in one eigenspace, for a projector found in another way.

    Parameters
    ----------
    basis : InvariantBasis
        It must contain the eigenspace.
    eigenspace : Eigenspace
    projector : ndarray of shape (m, m)
        For instance `average_projector(space, group, eigenspace)`.
    law : str
        What is being checked, for the message.
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest difference of the kernels over random points, relative to the largest value.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Td")
    >>> basis = sa.invariant_basis(space, group, max_eigenvalue=12)
    >>> V = space.eigenspace(3)
    >>> check_projector(basis, V, average_projector(space, group, V)) < 1e-12
    True
    """
    X = basis.space.sample(min(40, 2 * eigenspace.dim + 5), random_state)
    found = _kernels(basis, X)[_place(basis, eigenspace)]
    phi = basis.space.evaluate(eigenspace, X)
    where = f"{basis!r}, λ = {eigenspace.eigenvalue:.6g}"
    return kept(law, _difference(found, phi @ projector @ phi.T), tolerance, where)


def check_mean_character(
    basis: InvariantBasis, eigenspace: Eigenspace, *, projector: Array | None = None, tolerance: float = CHARACTER
) -> float:
    """Law: the number of invariants is the mean of trace D(g) over the group.

    Parameters
    ----------
    basis : InvariantBasis
    eigenspace : Eigenspace
    projector : ndarray of shape (m, m), optional
        The average of D(g); computed from the listed group by default.
    tolerance : float
        On the distance between an integer and a mean.

    Returns
    -------
    float
        The residual.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Oh"), max_eigenvalue=20)
    >>> check_mean_character(basis, sa.Sphere(3).eigenspace(4)) < 1e-9
    True
    """
    if projector is None:
        projector = average_projector(basis.space, basis.group, eigenspace)
    count = basis.table[_place(basis, eigenspace)].invariant_dim
    residual = abs(float(projector.trace()) - count)
    where = f"{basis!r}, λ = {eigenspace.eigenvalue:.6g}"
    return kept("the number of invariants is the mean character", residual, tolerance, where)


def check_solvers_agree(
    space: Space,
    group: Group,
    max_eigenvalue: float,
    *,
    order: str | Order = "eigenvalue",
    random_state: Any = 0,
    tolerance: float = PROJECTOR,
) -> float:
    """Law: every solver that applies finds the same projector in every eigenspace.

    A solver may refuse an eigenspace, where it would lose digits or cannot certify a rank; it is then left out.

    Parameters
    ----------
    space : Space
    group : Group
    max_eigenvalue : float
    order : str or Order
        Which functions come first, as in `invariant_basis`.
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest difference from `solver="auto"`, relative to the largest value of the kernel.

    Examples
    --------
    >>> import specavg as sa
    >>> solver_names(sa.Sphere(4), sa.groups.symmetric(4))
    ('closed form', 'null space', 'orbits')
    >>> check_solvers_agree(sa.Sphere(4), sa.groups.symmetric(4), max_eigenvalue=24) < 1e-10
    True
    """
    X = space.sample(30, random_state)
    reference = _kernels(invariant_basis(space, group, max_eigenvalue=max_eigenvalue, order=order), X)
    worst = 0.0
    for solver in solver_names(space, group):
        try:
            basis = invariant_basis(space, group, max_eigenvalue=max_eigenvalue, solver=solver, order=order)
        except (MemoryError, UnclearRank, Unsuitable):
            continue
        for row, mine, other in zip(basis.table, _kernels(basis, X), reference, strict=True):
            where = f"{group!r} on {space!r}, λ = {row.eigenvalue:.6g}, solver {solver!r}"
            worst = max(worst, kept("all solvers find the same projector", _difference(mine, other), tolerance, where))
    return worst


def solver_names(space: Space, group: Group) -> tuple[str, ...]:
    """The solvers that apply to a space and a group.

    Examples
    --------
    >>> import specavg as sa
    >>> solver_names(sa.Torus(3), sa.groups.symmetric(3))
    ('closed form', 'null space', 'orbits')
    """
    return tuple(sorted({kind.name for kind in SOLVERS if kind.fits(space, group)}))


def _kernels(basis: InvariantBasis, X: Array) -> list[Array]:
    """Σ_j ψ_j(x) ψ_j(y) of every eigenspace."""
    ends = np.cumsum([row.invariant_dim for row in basis.table])[:-1]
    return [values @ values.T for values in np.split(basis.evaluate(X), ends, axis=1)]


def _place(basis: InvariantBasis, eigenspace: Eigenspace) -> int:
    distance = np.array([abs(row.eigenvalue - eigenspace.eigenvalue) for row in basis.table])
    places = np.flatnonzero(distance <= 1e-9 * max(1.0, eigenspace.eigenvalue)).tolist()
    if not places:
        raise ValueError(f"{basis!r} ends before eigenvalue {eigenspace.eigenvalue:.6g}")
    if len(places) > 1:  # types of one eigenvalue
        labels = [V.label for V in islice(basis.space.ordered(basis.order), len(basis.table))]
        return labels.index(eigenspace.label)
    return places[0]


def _difference(A: Array, B: Array) -> float:
    return float(np.abs(A - B).max(initial=0.0) / max(1.0, np.abs(B).max(initial=0.0)))
