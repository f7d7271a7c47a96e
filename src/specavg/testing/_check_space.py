"""Every law, on one space and one group."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._config import config
from specavg.groups import Group
from specavg.invariants import InvariantBasis, default_group, invariant_basis
from specavg.invariants._acting_group import group_order
from specavg.invariants._certified_null_space import UnclearRank
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import Order, order_of
from specavg.testing import _field_laws as field_laws
from specavg.testing import _gradient_laws as gradient_laws
from specavg.testing import _invariant_laws as invariant_laws
from specavg.testing import _space_laws as space_laws
from specavg.testing._law import DIFFERENCES, Checked
from specavg.testing._projectors import average_projector, chain_projector, paper_projector

_LISTED = 1_000  # elements of a group whose average is taken one by one
_STACKED = 400  # rows of B in the paper's formula
_RULE = "50 MB"  # a quadrature rule larger than this is not for a quick check


def check_space(
    space: Space,
    group: Group | None = None,
    *,
    max_eigenvalue: float | None = None,
    max_functions: int = 100,
    homogeneous: bool = True,
    order: str | Order = "eigenvalue",
    random_state: Any = 0,
) -> tuple[Checked, ...]:
    """Run every law on a space, and on a group that acts on it.

    Parameters
    ----------
    space : Space
        Any space, also one written by a user.
    group : Group, optional
        Who acts; the trivial group by default, and then the laws of isometries say little.
    max_eigenvalue : float, optional
        Which eigenspaces to check. Default: the first ones, `max_functions` functions together, at least two.
    max_functions : int
        See `max_eigenvalue`.
    homogeneous : bool
        Whether Σφ² = m holds on this space. Say False for a space whose points are not all alike.
    order : str or Order
        Which functions come first, as in `invariant_basis`.
    random_state : int, Generator or None
        Which random points and elements are tried.

    Returns
    -------
    tuple of Checked
        Each law with its largest residual, or why it was left out.

    Raises
    ------
    LawBroken
        With the law's name and the residual.

    Examples
    --------
    >>> import specavg as sa
    >>> for checked in sa.testing.check_space(sa.Sphere(3), sa.groups.point_group("D3")):
    ...     print(checked.law, checked.residual <= checked.tolerance)
    eigenvalues increase from 0, whose function is the constant 1 True
    the basis is orthonormal True
    the squares of the functions sum to m True
    φ(gx) = D(g)ᵀφ(x) True
    D(g) is orthogonal True
    (gh)x = g(hx) True
    D(gh) = D(h)D(g) True
    dD(ξ) is antisymmetric True
    D(exp tξ) = exp(t dD(ξ)) True
    [dD(ξ), dD(η)] = dD([ξ, η]) True
    ξ·φ = dD(ξ)ᵀφ True
    ψ(gx) = ψ(x) True
    ∇ψ(x) = dgᵀ∇ψ(gx) True
    ∇ψ is the derivative of ψ True
    all solvers find the same projector True
    the projector is the average over the group True
    the projector is the average along a stabiliser chain True
    the projector is I − Bᵀ(BBᵀ)†B True
    the number of invariants is the mean character True
    """
    group = default_group(space) if group is None else group
    rng = np.random.default_rng(random_state)
    by = order_of(order)
    chosen = _eigenspaces(space.ordered(by), max_eigenvalue, max_functions)
    return (
        *_laws_of_space(space, group, chosen, homogeneous, by, rng),
        *_laws_of_fields(space, chosen, rng),
        *_laws_of_invariants(space, group, chosen, by),
    )


def _eigenspaces(
    eigenspaces: Iterator[Eigenspace], max_eigenvalue: float | None, max_functions: int
) -> list[Eigenspace]:
    if max_eigenvalue is not None:
        top = max_eigenvalue * (1 + 1e-9)
        return list(takewhile(lambda V: V.eigenvalue <= top, eigenspaces))
    chosen: list[Eigenspace] = []
    for V in islice(eigenspaces, max_functions):
        if len(chosen) >= 2 and sum(W.dim for W in chosen) + V.dim > max_functions:
            break
        chosen.append(V)
    return chosen


def _laws_of_space(
    space: Space, group: Group, chosen: list[Eigenspace], homogeneous: bool, order: Order, rng: np.random.Generator
) -> Iterator[Checked]:
    tolerance = space_laws.TOLERANCE
    space.check_points(space.sample(10, rng))
    law = "eigenvalues increase from 0, whose function is the constant 1"
    yield Checked(law, space_laws.check_spectrum(space, chosen, order=order), tolerance)
    yield _orthonormality(space, chosen, order)
    law = "the squares of the functions sum to m"
    if homogeneous:
        yield Checked(law, max(space_laws.check_addition_theorem(space, V) for V in chosen), tolerance)
    else:
        yield Checked(law, np.nan, tolerance, "the space is said not to be homogeneous")
    elements = [group.identity, *group.generators, group.random(rng), group.random(rng)]
    pairs = list(zip(elements, [*elements[1:], elements[0]], strict=True))
    laws: list[tuple[str, Callable[..., float], Any]] = [
        ("φ(gx) = D(g)ᵀφ(x)", space_laws.check_equivariance, zip(elements, strict=True)),
        ("D(g) is orthogonal", space_laws.check_orthogonality, zip(elements, strict=True)),
        ("(gh)x = g(hx)", space_laws.check_action, pairs),
        ("D(gh) = D(h)D(g)", space_laws.check_composition, pairs),
    ]
    for law, check, moved_by in laws:
        yield Checked(law, max(check(space, *maps, V) for maps in moved_by for V in chosen), tolerance)


def _laws_of_fields(space: Space, chosen: list[Eigenspace], rng: np.random.Generator) -> Iterator[Checked]:
    fields = field_laws.random_fields(space, rng)
    pairs = list(zip(fields, [*fields[1:], *fields[:1]], strict=True))
    exact = field_laws.TOLERANCE
    laws: list[tuple[str, Callable[..., float], Any, float]] = [
        ("dD(ξ) is antisymmetric", field_laws.check_antisymmetry, zip(fields, strict=True), exact),
        ("D(exp tξ) = exp(t dD(ξ))", field_laws.check_flow, zip(fields, strict=True), exact),
        ("[dD(ξ), dD(η)] = dD([ξ, η])", field_laws.check_bracket, pairs, exact),
        ("ξ·φ = dD(ξ)ᵀφ", field_laws.check_velocity, zip(fields, strict=True), DIFFERENCES),
    ]
    for law, check, moved_by, tolerance in laws:
        if fields:
            yield Checked(law, max(check(space, *maps, V) for maps in moved_by for V in chosen), tolerance)
        else:
            yield Checked(law, np.nan, tolerance, f"no infinitesimal isometry of {space!r} is known")


def _orthonormality(space: Space, chosen: list[Eigenspace], order: Order) -> Checked:
    """As many eigenspaces as an affordable quadrature rule can hold: its size grows fast with the dimension."""
    law, tolerance = "the basis is orthonormal", space_laws.TOLERANCE
    for count in range(len(chosen), 0, -1):
        try:
            with config(memory_limit=_RULE):
                space.ordered_quadrature(order, chosen[count - 1].eigenvalue)
        except MemoryError:
            continue
        return Checked(law, space_laws.check_orthonormality(space, chosen[:count], order=order), tolerance)
    return Checked(law, np.nan, tolerance, f"no quadrature rule of {space!r} fits in {_RULE}")


def _laws_of_invariants(space: Space, group: Group, chosen: list[Eigenspace], by: Order) -> Iterator[Checked]:
    top = max(V.eigenvalue for V in chosen)
    basis = invariant_basis(space, group, max_eigenvalue=top, order=by)
    yield Checked("ψ(gx) = ψ(x)", invariant_laws.check_invariance(basis), invariant_laws.INVARIANCE)
    yield from _laws_of_gradients(basis)
    agree = invariant_laws.check_solvers_agree(space, group, top, order=by)
    yield Checked("all solvers find the same projector", agree, invariant_laws.PROJECTOR)
    listed = _has_random(group) if group.fields else group_order(group) <= _LISTED
    averages = [(V, average_projector(space, group, V)) for V in chosen] if listed else []
    chains = [(V, chain_projector(space, group, V)) for V in chosen] if _short_chain(group) else []
    papers = _papers(space, group, chosen)
    for way, projectors, reason in (
        (
            "the average over the group",
            averages,
            f"the group has more than {_LISTED} elements, or no uniform random ones are known",
        ),
        ("the average along a stabiliser chain", chains, "the group has no short stabiliser chain"),
        ("I − Bᵀ(BBᵀ)†B", papers, "B is too large, or its rank unclear"),
    ):
        law = f"the projector is {way}"
        if not projectors:
            yield Checked(law, np.nan, invariant_laws.PROJECTOR, reason)
            continue
        residuals = (invariant_laws.check_projector(basis, V, P, law=law) for V, P in projectors)
        yield Checked(law, max(residuals), invariant_laws.PROJECTOR)
    law = "the number of invariants is the mean character"
    if averages or chains:
        counts = (invariant_laws.check_mean_character(basis, V, projector=P) for V, P in averages or chains)
        yield Checked(law, max(counts), invariant_laws.CHARACTER)
    else:
        reason = "the group is too large to list and has no short stabiliser chain"
        yield Checked(law, np.nan, invariant_laws.CHARACTER, reason)


def _laws_of_gradients(basis: InvariantBasis) -> Iterator[Checked]:
    why = ""
    try:
        basis.gradient(basis.space.sample(1, random_state=0))
    except ValueError as error:  # a space written by a user may have none
        why = str(error)
    for law, check, tolerance in (
        ("∇ψ(x) = dgᵀ∇ψ(gx)", gradient_laws.check_gradient_equivariance, gradient_laws.EQUIVARIANCE),
        ("∇ψ is the derivative of ψ", gradient_laws.check_gradient, DIFFERENCES),
    ):
        yield Checked(law, np.nan if why else check(basis), tolerance, why)


def _papers(space: Space, group: Group, chosen: list[Eigenspace]) -> list[tuple[Eigenspace, NDArray[np.float64]]]:
    """The paper's projector where B is small and its rank is clear."""
    found: list[tuple[Eigenspace, NDArray[np.float64]]] = []
    for V in chosen:
        if (len(group.generators) + len(group.fields)) * V.dim <= _STACKED:
            with contextlib.suppress(UnclearRank):
                found.append((V, paper_projector(space, group, V)))
    return found


def _has_random(group: Group) -> bool:
    try:
        group.random(0)
    except ValueError:
        return False
    return True


def _short_chain(group: Group) -> bool:
    """Whether the group permutes few functions, so that transversals are short."""
    from specavg.groups.recognition._actions import faithful_action

    if group.fields:
        return False
    if not group.generators:
        return True
    try:
        return faithful_action(group.generators).degree <= _LISTED
    except ValueError:
        return False
