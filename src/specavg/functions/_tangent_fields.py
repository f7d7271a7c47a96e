"""Tangent vector fields of the unit sphere of R³: gradients, and gradients turned by a right angle."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg.functions._vector_functions import VectorFunctions

__all__ = ["TangentFields"]


@final
class TangentFields(VectorFunctions):
    """F(x) = (∇f(x) + x × ∇g(x)) / √λ, with two potentials f and g of one eigenvalue λ.

    The mean of |∇f|² is λ times that of f² (Green's formula), and gradients are orthogonal to turned gradients: F are
    orthonormal where the pairs (f, g) are.

    Parameters
    ----------
    potentials : VectorFunctions
        The pairs (f, g), two outputs each.
    eigenvalues : ndarray of shape (dim,)
        λ > 0 of each pair.
    """

    n_outputs = 3

    def __init__(self, potentials: VectorFunctions, eigenvalues: Array) -> None:
        self._potentials = potentials
        self._factors = 1.0 / np.sqrt(eigenvalues)

    @property
    def n_rows(self) -> int:
        return 2

    @property
    def dim(self) -> int:
        return self._potentials.dim

    @property
    def row_bytes(self) -> float:
        return 4 * (self._potentials.row_bytes + 16.0 * self.dim)  # gradients by three coordinates, and their values

    def values(self, X: Array) -> Array:
        return _fields(X, self._potentials.gradient(X)) * self._factors

    def combine(self, X: Array, c: Array) -> Array:
        X = np.ascontiguousarray(X)  # sums of products have other last bits where points lie in another order in memory
        scaled = self._factors.reshape(-1, *(1,) * (c.ndim - 1)) * c
        return _fields(X, self._potentials.combine_gradient(X, scaled))

    def gradient(self, X: Array) -> Array:
        raise ValueError(
            "derivatives of tangent vector fields are not available: they are second derivatives of potentials. "
            "Fit the output 'vector' where derivatives are needed"
        )

    def possible(self, X: Array, Y: Array) -> Array:
        return Y - np.sum(X * Y, axis=1, keepdims=True) * X

    def rows(self, X: Array, values: Array) -> Array:
        return np.einsum("nir,ni...->nr...", _frames(X), values)


def _fields(X: Array, gradients: Array) -> Array:
    """∇f + x × ∇g."""  # (n, 3, 2, ...) -> (n, 3, ...)
    at = X.reshape(*X.shape, *(1,) * (gradients.ndim - 3))
    turned: Any = np.cross(at, gradients[:, :, 1], axis=1)
    return gradients[:, :, 0] + turned


def _frames(X: Array) -> Array:
    """Two orthonormal tangent vectors at each point: the axis farthest from it, projected, and what is left."""
    # (n, 3) -> (n, 3, 2)
    axis = np.eye(3)[np.argmin(np.abs(X), axis=1)]
    first = axis - np.sum(axis * X, axis=1, keepdims=True) * X
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second: Any = np.cross(X, first)
    return np.stack([first, second], axis=2)
