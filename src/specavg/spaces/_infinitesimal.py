"""The derivative of a representation along a circle of isometries, from its values at equally spaced angles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array

if TYPE_CHECKING:
    from specavg.isometries.fields import Field
    from specavg.spaces._eigenspace import Eigenspace
    from specavg.spaces._space import Space

REPRESENTATION_TOLERANCE = 1e-9  # of D(g): interpolation rounds to 1e-13, and maps that are no isometries miss by 1e-3
_MOST_WEIGHT = 1024  # tried in any case: two functions of one angle may have any frequency
SOME_TIME = 0.6180339887498949  # the time at which a flow is checked: the golden ratio is no fraction of a period


def circle_derivative(representation: Callable[[float], Array], weight: int) -> Array:
    """d/dt at t = 0 of an orthogonal representation t ↦ D(t) of the circle of period 2π.

    D is a trigonometric polynomial, and its frequencies are at most `weight`. Its values at N = 2·weight + 1
    equally spaced angles determine it, and D(−t) is the transpose of D(t):
    D'(0) = Σ_{j=1}^{weight} (−1)^{j+1} / (2 sin(πj/N)) (D(t_j) − D(t_j)ᵀ), t_j = 2πj/N.

    Examples
    --------
    >>> def two_turns(t):
    ...     return np.array([[np.cos(2 * t), -np.sin(2 * t)], [np.sin(2 * t), np.cos(2 * t)]])
    >>> circle_derivative(two_turns, 2).round(12)
    array([[ 0., -2.],
           [ 2.,  0.]])
    """
    if weight == 0:
        return np.zeros_like(representation(0.0))
    total: Array | float = 0.0
    for t, share in circle_angles(weight):
        D = representation(t)
        total = total + share * (D - D.T)
    return np.asarray(total, dtype=np.float64)


def circle_angles(weight: int) -> Iterator[tuple[float, float]]:
    """The angles t_j of `circle_derivative`, and the factors of D(t_j) − D(t_j)ᵀ."""
    nodes = 2 * weight + 1
    for j in range(1, weight + 1):
        yield 2 * np.pi * j / nodes, (-1) ** (j + 1) / (2 * np.sin(np.pi * j / nodes))


def derivative_along(space: Space, circle: Field, eigenspace: Eigenspace) -> Array:
    """The matrix dD(ξ) of a circle of isometries of unit speed; it is checked against D at some time.

    D has no frequency above √λ, λ the eigenvalue of the Laplacian; where a value of another order is smaller, the
    check fails and higher frequencies are tried.
    """
    from scipy.linalg import expm

    weight = max(1, int(np.sqrt(eigenspace.eigenvalue * (1 + 1e-9))))
    check = space.representation(circle.flow(SOME_TIME), eigenspace)
    while weight <= max(_MOST_WEIGHT, 4 * eigenspace.dim):  # frequencies that occur are consecutive up to small gaps
        dD = circle_derivative(lambda t: space.representation(circle.flow(t), eigenspace), weight)
        if np.abs(expm(SOME_TIME * dD) - check).max() < REPRESENTATION_TOLERANCE:
            return dD
        weight *= 2
    raise ValueError(
        f"the flow of {circle!r} on {space!r} has no period of 2π on the eigenspace of eigenvalue "
        f"{eigenspace.eigenvalue:.6g}: its functions are not those of a closed circle of isometries."
    )


def kronecker_sum(parts: list[Array]) -> Array:
    """Σ_i 1 ⊗ … ⊗ A_i ⊗ … ⊗ 1: the product rule for products of functions."""
    total = np.zeros((1, 1))
    for A in parts:
        total = np.kron(total, np.eye(len(A))) + np.kron(np.eye(len(total)), A)
    return np.asarray(total, dtype=np.float64)
