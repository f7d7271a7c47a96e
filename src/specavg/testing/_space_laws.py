"""The laws of a space: its spectrum, its functions, and how isometries move them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specavg.isometries import Isometry
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import BY_EIGENVALUE, ByType, Order
from specavg.testing._law import kept, largest, place, scale

TOLERANCE = 1e-12  # entries of orthogonal matrices and of values of order one
ROWS = 20_000  # points of a quadrature rule whose values are held at one time


def check_spectrum(
    space: Space, eigenspaces: Sequence[Eigenspace], *, order: Order = BY_EIGENVALUE, tolerance: float = TOLERANCE
) -> float:
    """Law: eigenvalues increase strictly from 0, whose only function is the constant 1.

    Parameters
    ----------
    space : Space
    eigenspaces : sequence of Eigenspace
        The first ones of the space in `order`.
    order : Order
        Types of one eigenvalue are listed one after the other (`ByType`): there eigenvalues do not decrease.
    tolerance : float

    Returns
    -------
    float
        The residual.

    Examples
    --------
    >>> from itertools import islice
    >>> import specavg as sa
    >>> check_spectrum(sa.Torus(2), list(islice(sa.Torus(2).eigenspaces(), 8))) < 1e-12
    True
    """
    law, where = "eigenvalues increase from 0, whose function is the constant 1", repr(space)
    values = np.array([V.eigenvalue for V in eigenspaces])
    first = eigenspaces[0]
    kept(law, float(abs(first.eigenvalue) + abs(first.dim - 1)), 0.0, where)
    steps = np.diff(values)
    kept(law, float(np.count_nonzero(steps < 0 if isinstance(order, ByType) else steps <= 0)), 0.0, where)
    constant = space.evaluate(first, space.sample(8, 0))
    sign = 1.0 if constant[0, 0] > 0 else -1.0
    return kept(law, largest(sign * constant - 1.0), tolerance, where)


def check_orthonormality(
    space: Space, eigenspaces: Sequence[Eigenspace], *, order: Order = BY_EIGENVALUE, tolerance: float = TOLERANCE
) -> float:
    """Law: the eigenfunctions are orthonormal, by `space.quadrature`, which is exact for their products.

    Parameters
    ----------
    space : Space
    eigenspaces : sequence of Eigenspace
        All their functions together must be orthonormal.
    order : Order
        The order that they were listed in.
    tolerance : float
        On max|<φ_l, φ_k> − δ_lk|.

    Returns
    -------
    float
        The residual.

    Examples
    --------
    >>> from itertools import islice
    >>> import specavg as sa
    >>> residual = check_orthonormality(sa.Sphere(3), list(islice(sa.Sphere(3).eigenspaces(), 4)))
    >>> residual < 1e-12
    True
    """
    top = max(V.eigenvalue for V in eigenspaces)
    X, weights = space.ordered_quadrature(order, top)
    size = sum(V.dim for V in eigenspaces)
    gram = np.zeros((size, size))
    for start in range(0, len(X), ROWS):
        rows = slice(start, start + ROWS)
        values = np.concatenate([space.evaluate(V, X[rows]) for V in eigenspaces], axis=1)
        gram += (values.T * weights[rows]) @ values
    residual = largest(gram - np.eye(size))
    return kept("the basis is orthonormal", residual, tolerance, f"{space!r}, {size} functions up to λ = {top:.6g}")


def check_addition_theorem(
    space: Space, eigenspace: Eigenspace, *, random_state: Any = 0, tolerance: float = TOLERANCE
) -> float:
    """Law of homogeneous spaces: Σ_l φ_l(x)² = m at every x.

    Returns
    -------
    float
        The largest |Σ φ² − m| / m over random points.

    Examples
    --------
    >>> import specavg as sa
    >>> check_addition_theorem(sa.Sphere(3), sa.Sphere(3).eigenspace(10)) < 1e-12
    True
    """
    values = space.evaluate(eigenspace, space.sample(20, random_state))
    residual = largest(np.einsum("nl,nl->n", values, values) / eigenspace.dim - 1.0)
    advice = "give homogeneous=False for a space whose points are not all alike, such as a product with an interval"
    return kept("the squares of the functions sum to m", residual, tolerance, f"{place(space, eigenspace)} ({advice})")


def check_equivariance(
    space: Space, g: Isometry, eigenspace: Eigenspace, *, random_state: Any = 0, tolerance: float = TOLERANCE
) -> float:
    """Law: φ(gx) = D(g)ᵀ φ(x).

    Returns
    -------
    float
        The largest difference over random points, relative to the largest |φ|.

    Examples
    --------
    >>> import specavg as sa
    >>> g = sa.isometries.orthogonal([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])
    >>> check_equivariance(sa.Sphere(3), g, sa.Sphere(3).eigenspace(5)) < 1e-12
    True
    """
    X = space.sample(20, random_state)
    before, after = space.evaluate(eigenspace, X), space.evaluate(eigenspace, space.act(g, X))
    residual = largest(after - before @ space.representation(g, eigenspace)) / scale(before)
    return kept("φ(gx) = D(g)ᵀφ(x)", residual, tolerance, place(space, eigenspace, g))


def check_action(
    space: Space,
    g: Isometry,
    h: Isometry,
    eigenspace: Eigenspace,
    *,
    random_state: Any = 0,
    tolerance: float = TOLERANCE,
) -> float:
    """Law: (g @ h)x = g(hx), as seen by the eigenfunctions (a torus may name one point in two ways).

    Returns
    -------
    float
        The largest |φ((gh)x) − φ(g(hx))|, relative to the largest |φ|.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    >>> check_action(space, group.random(0), group.random(1), space.eigenspace(4)) < 1e-12
    True
    """
    X = space.sample(20, random_state)
    once = space.evaluate(eigenspace, space.act(g @ h, X))
    twice = space.evaluate(eigenspace, space.act(g, space.act(h, X)))
    return kept("(gh)x = g(hx)", largest(once - twice) / scale(once), tolerance, place(space, eigenspace, g, h))


def check_composition(
    space: Space, g: Isometry, h: Isometry, eigenspace: Eigenspace, *, tolerance: float = TOLERANCE
) -> float:
    """Law: D(gh) = D(h) D(g), in that order.

    Returns
    -------
    float
        The largest difference of entries.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    >>> check_composition(space, group.random(0), group.random(1), space.eigenspace(4)) < 1e-12
    True
    """
    D = [space.representation(f, eigenspace) for f in (g @ h, h, g)]
    return kept("D(gh) = D(h)D(g)", largest(D[0] - D[1] @ D[2]), tolerance, place(space, eigenspace, g, h))


def check_orthogonality(space: Space, g: Isometry, eigenspace: Eigenspace, *, tolerance: float = TOLERANCE) -> float:
    """Law: D(g)ᵀ D(g) = I.

    Returns
    -------
    float
        The largest difference of entries.

    Examples
    --------
    >>> import specavg as sa
    >>> check_orthogonality(sa.Sphere(3), sa.groups.point_group("I").random(0), sa.Sphere(3).eigenspace(6)) < 1e-12
    True
    """
    D = space.representation(g, eigenspace)
    residual = largest(D.T @ D - np.eye(eigenspace.dim))
    return kept("D(g) is orthogonal", residual, tolerance, place(space, eigenspace, g))
