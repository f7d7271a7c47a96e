"""Questions about a fit, asked afterwards: what may be wrong where it explains little, with what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._config import human_size
from specavg._random import OWN_SEED
from specavg.data._questioned_columns import ROWS_TO_JUDGE, UNEXPLAINED, users_line
from specavg.groups import Group, Representation
from specavg.groups._signed_columns import on_columns
from specavg.invariants import InvariantBasis
from specavg.invariants._basis_table import BasisTable
from specavg.invariants._output_on_space import output_representation
from specavg.spaces import Power, Product, Space

_NOTHING_EXPLAINED = 0.99  # leave-one-out error in standard deviations of y: less than 2 % of the variance is explained
_LARGE_ERROR = 0.2  # leave-one-out error in standard deviations of y: a smaller one is no reason to wait longer
_FEW_FOR_ROWS = 8  # rows for a function: with more rows than that, more functions would hardly be overfitted
_PATIENCE = 20.0  # seconds by forecasts, good to a factor of ten, that a warning may propose to wait
# A symmetry is doubted where a fit with it is poor, and one without it is far better.
POOR = 0.03  # error in standard deviations of the targets: a thousandth of their variance is then unexplained
FAR_BETTER = 0.5  # part of the error that the fit without the symmetry has at most
# Images of some points under elements of a group are compared with other points, in milliseconds: all elements of point
# groups (at most 120), some of larger groups. Of random points k elements bring k of k + 1 closer to others.
_ALL_ELEMENTS, _SOME_ELEMENTS, _POINTS_MOVED, _POINTS_BESIDE = 120, 30, 100, 500
_CLOSER = 1 - 1e-6  # part of a distance: mirrors of a sector leave distances to points on them as they are, but rounded
_HARDLY_ANY = 0.1  # part of the points: of random points on a sphere a wrong mirror brings 0.5 closer to others


def question_vectors(basis: InvariantBasis, outputs: tuple[int, ...], error: float) -> bool:
    """Warn where y has as many columns as a vector that the group moves, and invariant functions explain little of it.

    Parameters
    ----------
    basis : InvariantBasis
    outputs : tuple of int
        The shape of one target, which is no single number.
    error : float
        Leave-one-out error in standard deviations of the targets.

    Returns
    -------
    bool
        Whether it did: other reasons for a poor fit then need not be looked for.
    """
    if outputs[0] < 2 or error < UNEXPLAINED:
        return False
    space, group = basis.space, basis.group
    try:
        vector = output_representation(space, group, "vector")
    except ValueError:  # no single matrix moves a vector here
        return False
    moves = vector.dim == outputs[0] and not vector.is_trivial
    if moves:
        warnings.warn(
            f"y has {outputs[0]} columns, as many as a vector that {group!r} moves, and invariant functions explain "
            f"little of it (leave-one-out error {error:.2g} standard deviations). If y moves with the points, use "
            "EquivariantKernelRidge(space, group, 'vector').",
            stacklevel=users_line(),
        )
    return moves


def question_fit(error: float, count: int, reasons: Callable[[], str], *, points_are_known: bool = False) -> None:
    """Warn where a fit explains almost nothing of y, and name likely reasons.

    Parameters
    ----------
    error : float
        Leave-one-out error in standard deviations of the targets.
    count : int
        Rows.
    reasons : callable
        Tells the likely ones; called only where there is something to warn of.
    points_are_known : bool, default False
        Whether each point was observed several times, so that y is known there, and nowhere else.
    """
    if count < ROWS_TO_JUDGE or not error > _NOTHING_EXPLAINED:
        return
    what = f"is {error:.3g} standard deviations of y, and that of the mean is 1."
    if points_are_known:
        message = (
            f"the {count} different points tell almost nothing of each other: the error at one that is left out with "
            f"all its rows {what} Predictions at these points follow their rows, and mean little between them: the "
            "target jumps from point to point, or the columns are others, or in another unit, than those of the space."
        )
    else:
        message = f"the fit explains almost nothing: its leave-one-out error {what} Likely reasons: {reasons()}."
    warnings.warn(message, stacklevel=users_line())


def question_orbits(rows: int, orbits: int, group: Group, error: float) -> None:
    """Warn where a fit is poor because its points lie on few orbits."""
    if not group.generators and not group.fields:  # repeated points are nobody's fault
        return
    warnings.warn(
        f"the {rows} points lie on {orbits} orbits of {group!r}, and a fit learns one number from each: its "
        f"leave-one-out error is {error:.3g} standard deviations of y. Points on more orbits help, such as those of a "
        "finer grid, or of a grid that is moved by a part of its step.",
        stacklevel=users_line(),
    )


def tells_of_group(space: Space, group: Group, points: Array, *, at_one_point: bool) -> bool:
    """Whether points can contradict a group: elements bring some closer to others than they already are.

    Points of one fundamental sector cannot. Every target on them belongs to one function with the symmetry, though it
    may be less smooth than the function that continues it beyond the sector.

    Parameters
    ----------
    space : Space
    group : Group
    points : ndarray of shape (n, n_features)
    at_one_point : bool
        Whether the group restricts the targets at a point that an element leaves alone, as it does vectors and
        gradients. A point then tells of the group where an element brings it close to itself.
    """
    from scipy.spatial import KDTree

    points = np.unique(points, axis=0)
    points = points[np.unique(np.linspace(0, len(points) - 1, _POINTS_BESIDE).astype(int))]
    moved = np.unique(np.linspace(0, len(points) - 1, _POINTS_MOVED).astype(int))
    if len(points) < 2:
        return False
    rng = np.random.default_rng(OWN_SEED)
    try:
        if not group.fields and group.finite_order <= _ALL_ELEMENTS:
            elements = list(group.elements())
        else:
            elements = [*group.generators, *(group.random(rng) for _ in range(_SOME_ELEMENTS))]
    except ValueError:  # flows that never come back have no random elements
        return True
    tree: Any = KDTree(space.without_seam(points))
    least = tree.query(space.without_seam(points[moved]), k=2)[0][:, 1]
    closer = np.zeros(len(moved), dtype=bool)
    for g in elements:
        if g.is_identity:
            continue
        distances, found = tree.query(space.without_seam(space.act(g, points[moved])), k=2)
        others = np.where(found[:, 0] == moved, distances[:, 1], distances[:, 0])
        closer |= (distances[:, 0] if at_one_point else others) < _CLOSER * least
    return bool(closer.mean() > _HARDLY_ANY)


def question_group(
    space: Space,
    group: Group,
    error: float,
    without: float,
    columns: int,
    output: str | Representation | None = None,
) -> None:
    """Warn that a fit without the group is far better.

    Parameters
    ----------
    space : Space
    group : Group
    error, without : float
        Leave-one-out errors with and without it, in standard deviations of the targets.
    columns : int
        Of y.
    output : str or Representation, optional
        How the group moves the targets.
    """
    y = "y" if columns == 1 else "y[:, 0]"
    advice = f"; sa.discover_symmetry(X, {y}, space, group) finds the part that they have"
    if output is not None:
        advice = f"; or y {_does_not_move(group, output)}"
    moved = [on_columns(g) for g in group.generators]
    exchanged = any(g is not None and g.image != tuple(range(g.size)) for g in moved)
    scales = ""
    if exchanged and space.dim == space.n_features:  # columns of other spaces, as of unit vectors, have one scale
        scales = ", the scales of columns that it exchanges (a scaler of each column by itself breaks the symmetry)"
    warnings.warn(
        f"the leave-one-out error is {error:.3g} standard deviations of y, and {without:.2g} without the group: the "
        f"data do not seem to have the symmetry of {group!r}. Compare its axes, mirrors and setting{scales}, the "
        f"convention of the points and the order of their columns{advice}.",
        stacklevel=users_line(),
    )


def _does_not_move(group: Group, output: str | Representation) -> str:
    """What may be wrong with targets that a group moves, for messages."""
    hint = tensor_hint(output)
    voigt = f". {hint}; components have factors √2, and Voigt's numbers have not: from_voigt makes tensors of them"
    return (
        f"does not move as {output!r} under {group!r}, F(gx) = ρ(g)F(x), or its columns are in another order or other "
        f"axes than those of the points{voigt if hint else ''}"
    )


def tensor_hint(output: str | Representation) -> str:
    """How arrays of tensors become targets of an output such as "ij=ji", for messages; empty for others."""
    equations = output.removeprefix("axial ") if isinstance(output, str) else ""
    if "=" not in equations or "+" in equations:
        return ""
    return f"Tensors T of shape (n, d, d, ...) become such by groups.index_symmetry({equations!r}, d).components(T)"


def question_size(basis: BasisTable, count: int, rows: int, error: float, *, wanted: bool, group_fails: bool) -> None:
    """Warn where time, and not the data, ended the search for functions, and the fit is far from its data.

    Parameters
    ----------
    basis : BasisTable
    count, rows : int
        Points, and numbers that were observed at them.
    error : float
        Leave-one-out error in standard deviations of the targets.
    wanted : bool
        Whether the penalty leaves so much of the last function that data want more of them. Any poor fit is then told;
        otherwise it may be noise that is left, and only a large error is.
    group_fails : bool
        Whether the data do not seem to have the symmetry: more functions that have it are then not proposed.
    """
    # Of constants alone the fit has warned.
    by_time = basis.cutoff.kind != "max_invariant_dim" and basis.dim > basis.n_constants
    if not by_time or not error > (POOR if wanted else _LARGE_ERROR) or basis.dim * _FEW_FOR_ROWS > rows:
        return
    advice = "" if group_fails else f" {_how_to_have_more(basis)}"
    warnings.warn(
        f"time ended the search for {basis.kind} functions at {basis.dim} of them for {count} points, and the "
        f"leave-one-out error is {error:.3g} standard deviations of y.{advice}",
        stacklevel=users_line(),
    )


def _how_to_have_more(basis: BasisTable) -> str:
    """Advice that the forecasts of the solvers allow to be followed."""
    if not isinstance(basis, InvariantBasis):
        return f"More functions may help: give max_invariant_dim={4 * basis.dim}."
    from specavg.invariants._plan import reach

    found = reach(basis.space, basis.group, basis.order, basis.cutoff.value, _PATIENCE)
    if found.eigenvalue is None:
        return (
            f"More of them are out of reach: the next eigenspace has {found.dim} functions, and would take about "
            f"{found.seconds:.2g} seconds and {human_size(found.memory)}. A larger group has fewer functions to search."
        )
    order = "" if basis.order.name in ("eigenvalue", "type") else f", order={basis.order!r}"
    return (
        f"More functions may help: max_eigenvalue={found.eigenvalue:.10g}{order} would take about {found.seconds:.2g} "
        f"seconds and {human_size(found.memory)} (sa.invariants.plan tells what other cutoffs take)."
    )


def why_nothing(space: Space, group: Group, output: str | Representation | None = None) -> str:
    """Likely reasons why a fit explains nothing, for messages; `output` says how the group moves the targets."""
    reasons = ["the target does not depend on these columns, or is mostly noise"]
    if np.isfinite(space.column_periods).any():
        sides = np.unique(space.column_periods[np.isfinite(space.column_periods)])
        shown = ", ".join(f"{side:.4g}" for side in sides[:3])
        reasons.append(f"the columns are in another unit than the space (its period is {shown})")
    if isinstance(space, Power | Product):
        reasons.append(f"the columns are in another order than {space!r} takes them (copy by copy, factor by factor)")
    if group.fields or not all(g.is_identity for g in group.generators):  # the order may not be known
        reasons.append(
            f"the target is not invariant under {group!r}: ask sa.symmetry_test(X, y, space, group)"
            if output is None
            else f"the target {_does_not_move(group, output)}"
        )
    other = ", or other ones, than were used (max_dim, order='few coordinates')"
    reasons.append("it needs more functions" + (other if space.parts > 1 else " than were used (max_dim)"))
    return "; or ".join(reasons)
