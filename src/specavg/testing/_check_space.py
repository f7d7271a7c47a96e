"""Every law, on one space and one group."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
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
from specavg.spaces._order_of_functions import BY_EIGENVALUE, Order, order_of
from specavg.testing import _field_laws as field_laws
from specavg.testing import _geometry_laws as geometry_laws
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
        Whether Σφ² = m holds on this space. Say False for a space whose points are not all alike, or whose Laplacian
        is not the Casimir operator of its isometries.
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
    the mean of φ over samples is 0 True
    the squared gradients sum to λm True
    no function is missing True
    eigenvalues grow as dimension and volume say True
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
    by_eigenvalue = chosen if by == BY_EIGENVALUE else _eigenspaces(space.eigenspaces(), None, max_functions)
    return (
        *_laws_of_space(space, group, chosen, homogeneous, by, rng),
        *_laws_of_geometry(space, by_eigenvalue, homogeneous),
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


def _checked(law: str, check: Callable[..., float], calls: Iterable[Any], tolerance: float, why_not: str) -> Checked:
    """A law with its largest residual over some calls of `check`; where there are none, why it was left out."""
    residuals = [check(*call) for call in calls]
    return Checked(law, max(residuals), tolerance) if residuals else Checked(law, np.nan, tolerance, why_not)


def _laws_of_space(
    space: Space, group: Group, chosen: list[Eigenspace], homogeneous: bool, order: Order, rng: np.random.Generator
) -> Iterator[Checked]:
    tolerance = space_laws.TOLERANCE
    space.check_points(space.sample(10, rng))
    law = "eigenvalues increase from 0, whose function is the constant 1"
    yield Checked(law, space_laws.check_spectrum(space, chosen, order=order), tolerance)
    yield _orthonormality(space, chosen, order)
    calls = [(space, V) for V in chosen if homogeneous]
    why_not = "the space is said not to be homogeneous"
    yield _checked(
        "the squares of the functions sum to m", space_laws.check_addition_theorem, calls, tolerance, why_not
    )
    elements = [group.identity, *group.generators, group.random(rng), group.random(rng)]
    for law, check, count in (
        ("φ(gx) = D(g)ᵀφ(x)", space_laws.check_equivariance, 1),
        ("D(g) is orthogonal", space_laws.check_orthogonality, 1),
        ("(gh)x = g(hx)", space_laws.check_action, 2),
        ("D(gh) = D(h)D(g)", space_laws.check_composition, 2),
    ):
        yield _checked(law, check, _calls(space, elements, count, chosen), tolerance, "")


def _calls(space: Space, moved_by: Sequence[Any], count: int, chosen: list[Eigenspace]) -> list[tuple[Any, ...]]:
    """Arguments of laws on each eigenspace about one map, or about a map and the next one (`count` 2)."""
    following = [*moved_by[1:], *moved_by[:1]]
    return [(space, *pair[:count], V) for pair in zip(moved_by, following, strict=True) for V in chosen]


def _laws_of_fields(space: Space, chosen: list[Eigenspace], rng: np.random.Generator) -> Iterator[Checked]:
    fields = field_laws.random_fields(space, rng)
    why_not = f"no infinitesimal isometry of {space!r} is known"
    for law, check, count, tolerance in (
        ("dD(ξ) is antisymmetric", field_laws.check_antisymmetry, 1, field_laws.TOLERANCE),
        ("D(exp tξ) = exp(t dD(ξ))", field_laws.check_flow, 1, field_laws.TOLERANCE),
        ("[dD(ξ), dD(η)] = dD([ξ, η])", field_laws.check_bracket, 2, field_laws.TOLERANCE),
        ("ξ·φ = dD(ξ)ᵀφ", field_laws.check_velocity, 1, DIFFERENCES),
    ):
        yield _checked(law, check, _calls(space, fields, count, chosen), tolerance, why_not)


def _orthonormality(space: Space, chosen: list[Eigenspace], order: Order) -> Checked:
    law, tolerance = "the basis is orthonormal", space_laws.TOLERANCE
    some = _with_a_small_rule(space, chosen, order)
    calls = [(space, some)] if some else []
    check = partial(space_laws.check_orthonormality, order=order)
    return _checked(law, check, calls, tolerance, f"no quadrature rule of {space!r} fits in {_RULE}")


def _with_a_small_rule(space: Space, chosen: list[Eigenspace], order: Order) -> list[Eigenspace]:
    """As many eigenspaces as a small quadrature rule integrates: rules grow with the dimension."""
    for count in range(len(chosen), 0, -1):
        try:
            with config(memory_limit=_RULE):
                space.ordered_quadrature(order, chosen[count - 1].eigenvalue)
        except MemoryError:
            continue
        return chosen[:count]
    return []


def _laws_of_geometry(space: Space, eigenspaces: list[Eigenspace], homogeneous: bool) -> Iterator[Checked]:
    """Laws about eigenvalues, on the first eigenspaces of the Laplacian."""
    calls = [(space, V) for V in eigenspaces if V.eigenvalue > 0]
    law = "the mean of φ over samples is 0"
    yield _checked(law, geometry_laws.check_samples, calls, geometry_laws.SAMPLES, "")
    law, tolerance = "the squared gradients sum to λm", geometry_laws.EXACT
    try:
        residual = geometry_laws.check_energies(space, eigenspaces, homogeneous=homogeneous)
        yield Checked(law, residual, tolerance)
    except (ValueError, MemoryError) as error:  # a space written by a user may have no gradient, and a rule be large
        yield Checked(law, np.nan, tolerance, str(error))
    first = eigenspaces[min(1, len(eigenspaces) - 1)].eigenvalue
    wanted = _eigenspaces(space.eigenspaces(), max(eigenspaces[-1].eigenvalue, 4 * first), 0)
    few = _with_a_small_rule(space, wanted, BY_EIGENVALUE)
    top = max(few[-1].eigenvalue, 4 * first) if len(few) == len(wanted) else few[-1].eigenvalue if few else 0.0
    law, calls = "no function is missing", [(space, top)] if homogeneous and 0 < 4 * first <= top else []
    why_not = "the space is said not to be homogeneous, or no quadrature rule of products fits in memory"
    yield _checked(law, geometry_laws.check_completeness, calls, geometry_laws.EXACT, why_not)
    law, residual = (
        "eigenvalues grow as dimension and volume say",
        geometry_laws.check_weyl(space, homogeneous=homogeneous),
    )
    why_not = "" if residual == residual else "the eigenspaces that were listed do not tell"
    yield Checked(law, residual, geometry_laws.WEYL, why_not)


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
    too_large = f"the group has more than {_LISTED} elements, or no uniform random ones are known"
    for way, projectors, why_not in (
        ("the average over the group", averages, too_large),
        ("the average along a stabiliser chain", chains, "the group has no short stabiliser chain"),
        ("I − Bᵀ(BBᵀ)†B", _papers(space, group, chosen), "B is too large, or its rank unclear"),
    ):
        law, calls = f"the projector is {way}", [(basis, V, P) for V, P in projectors]
        check = partial(invariant_laws.check_projector, law=law)
        yield _checked(law, check, calls, invariant_laws.PROJECTOR, why_not)

    def mean_character(V: Eigenspace, P: NDArray[np.float64]) -> float:
        return invariant_laws.check_mean_character(basis, V, projector=P)

    law = "the number of invariants is the mean character"
    why_not = "the group is too large to list and has no short stabiliser chain"
    yield _checked(law, mean_character, averages or chains, invariant_laws.CHARACTER, why_not)


def _laws_of_gradients(basis: InvariantBasis) -> Iterator[Checked]:
    calls, why_not = [(basis,)], ""
    try:
        basis.gradient(basis.space.sample(1, random_state=0))
    except ValueError as error:  # a space written by a user may have none
        calls, why_not = [], str(error)
    for law, check, tolerance in (
        ("∇ψ(x) = dgᵀ∇ψ(gx)", gradient_laws.check_gradient_equivariance, gradient_laws.EQUIVARIANCE),
        ("∇ψ is the derivative of ψ", gradient_laws.check_gradient, DIFFERENCES),
    ):
        yield _checked(law, check, calls, tolerance, why_not)


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
