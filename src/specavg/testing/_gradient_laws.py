"""The laws of gradients: they are derivatives, and they move with the points."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.invariants import InvariantBasis
from specavg.testing._law import DIFFERENCES, central_difference, kept

EQUIVARIANCE = 1e-12  # of the largest entry of ∇ψ
_STEP = 0.05  # step of a difference, in units of |ψ|/|∇ψ|: small beside a wave, and rounding grows to 1e-13 only
_LONGEST = 2e-3  # step: points beside a frame are taken back to it by two Newton steps, exact to 1e-12 from there
_POINTS = 5  # random points of a law: a wrong derivative shows at any of them


def check_gradient_equivariance(
    basis: InvariantBasis, *, n_elements: int = 10, random_state: Any = 0, tolerance: float = EQUIVARIANCE
) -> float:
    """Law: ∇ψ(x) = dgᵀ∇ψ(gx), evaluated at x and at gx, never at the canonical point of the orbit.

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
        The largest difference, relative to the largest entry of ∇ψ_j.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Ih"), max_invariant_dim=4)
    >>> check_gradient_equivariance(basis) < 1e-12
    True
    """
    rng = np.random.default_rng(random_state)
    space, group = basis.space, basis.group
    X = space.check_points(space.sample(_POINTS, rng))
    before = basis.gradient(X)
    scale, change = np.abs(before).max(axis=(0, 2), initial=0.0), np.zeros(basis.dim)
    for g in [*group.generators, *(group.random(rng) for _ in range(n_elements))]:
        after = basis.gradient(space.act(g, X))
        scale = np.maximum(scale, np.abs(after).max(axis=(0, 2), initial=0.0))
        change = np.maximum(change, np.abs(after @ space.differential(g) - before).max(axis=(0, 2), initial=0.0))
    residual = float((change / np.maximum(scale, 1.0)).max(initial=0.0))
    return kept("∇ψ(x) = dgᵀ∇ψ(gx)", residual, tolerance, repr(basis))


def check_gradient(basis: InvariantBasis, *, random_state: Any = 0, tolerance: float = DIFFERENCES) -> float:
    """Law: ∇ψ is the derivative of ψ, by central differences.

    Beside its space a function is taken to be that of the nearest point, so that the derivative across the space is
    zero. Points whose neighbours are farthest from the space (near the ends of an interval) are not tried.

    Returns
    -------
    float
        The largest difference over random points, relative to the largest entry of ∇ψ_j.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Ih"), max_invariant_dim=4)
    >>> check_gradient(basis) < 1e-9
    True
    """
    space, functions = basis.space, basis.functions
    X = space.check_points(space.sample(40 * _POINTS, random_state))
    largest = np.abs(functions.values(X)).max(axis=0, initial=1e-300)
    slope = float((np.abs(functions.gradient(X)).max(axis=(0, 2), initial=0.0) / largest).max())
    step = min(_LONGEST, _STEP / max(slope, 1e-300))
    ways = np.eye(space.n_features)

    def outside(points: Array) -> Array:
        error = space._membership_error(points)  # pyright: ignore[reportPrivateUsage]
        return np.zeros(len(points)) if error is None else error

    distance = np.max([outside(X + j * way) for way in step * ways for j in (4, -4)], axis=0)
    X = X[np.argsort(distance, kind="stable")[:_POINTS]]
    gradient, slopes = functions.gradient(X), np.zeros((len(X), basis.dim, space.n_features))
    for i, way in enumerate(ways):
        slopes[:, :, i] = central_difference(lambda t, way=way: functions.values(X + t * way), step)
    scale = np.maximum(np.abs(gradient).max(axis=(0, 2), initial=0.0), 1.0)
    residual = float((np.abs(slopes - gradient).max(axis=(0, 2), initial=0.0) / scale).max(initial=0.0))
    return kept("∇ψ is the derivative of ψ", residual, tolerance, repr(basis))
