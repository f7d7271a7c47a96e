"""The derivative of a representation along a circle of isometries, from its values at equally spaced angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["circle_derivative", "kronecker_sum"]

Matrix = NDArray[np.float64]


def circle_derivative(representation: Callable[[float], Matrix], weight: int) -> Matrix:
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
    nodes = 2 * weight + 1
    total: Matrix | float = 0.0
    for j in range(1, weight + 1):
        D = representation(2 * np.pi * j / nodes)
        total = total + (-1) ** (j + 1) / (2 * np.sin(np.pi * j / nodes)) * (D - D.T)
    return np.asarray(total, dtype=np.float64)


def kronecker_sum(parts: list[Matrix]) -> Matrix:
    """Σ_i 1 ⊗ … ⊗ A_i ⊗ … ⊗ 1: the product rule for products of functions."""
    total = np.zeros((1, 1))
    for A in parts:
        total = np.kron(total, np.eye(len(A))) + np.kron(np.eye(len(total)), A)
    return np.asarray(total, dtype=np.float64)
