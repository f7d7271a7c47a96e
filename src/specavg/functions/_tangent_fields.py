"""Tangent vector fields on the unit sphere of R³: gradients ∇f, and gradients turned by a right angle, x × ∇g."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._one_direction import frames
from specavg.functions._vector_functions import VectorFunctions


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """What the components of fields are expanded by: harmonics, and a quadrature rule.

    Attributes
    ----------
    functions : Functions
        All harmonics of degree up to one above that of the potentials.
    nodes : ndarray of shape (N, 3)
        Points of a quadrature rule that is exact for products of two of these harmonics.
    weights : ndarray of shape (N,)
        Its weights, of sum one.
    """

    functions: Functions
    nodes: Array
    weights: Array


@final
class TangentFields(VectorFunctions):
    """F(x) = (∇f(x) + x × ∇g(x)) / √λ, with two potentials f and g of one eigenvalue λ.

    The mean of |∇f|² is λ times that of f² (Green's formula), and gradients are orthogonal to turned gradients. So the
    fields F are orthonormal where the pairs (f, g) are.

    Parameters
    ----------
    potentials : VectorFunctions
        The pairs (f, g), as functions with two outputs.
    eigenvalues : ndarray of shape (dim,)
        λ > 0 of each pair.
    projection : callable
        Returns the `Projection`; it is called when derivatives of F are first asked for. The components of a field
        with potentials of degree l are combinations of harmonics of degree l − 1, l and l + 1, which are
        differentiated in their place.
    """

    n_outputs = 3

    def __init__(self, potentials: VectorFunctions, eigenvalues: Array, projection: Callable[[], Projection]) -> None:
        self._potentials, self._projection = potentials, projection
        self.dim = potentials.dim
        self._last: tuple[Array, Array] | None = None  # the last coefficients, and `_in_harmonics` of them
        self._factors = 1.0 / np.sqrt(eigenvalues)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_last": None}

    @property
    def n_rows(self) -> int:
        return 2

    @property
    def row_bytes(self) -> float:
        return 4 * (self._potentials.row_bytes + 16.0 * self.dim)  # gradients by three coordinates, and their values

    def values(self, X: Array) -> Array:
        return _fields(X, self._potentials.gradient(X)) * self._factors

    def combine(self, X: Array, c: Array) -> Array:
        X = np.ascontiguousarray(X)  # the last bits of sums depend on how points lie in memory
        scaled = self._factors.reshape(-1, *(1,) * (c.ndim - 1)) * c
        return _fields(X, self._potentials.combine_gradient(X, scaled))

    def gradient(self, X: Array) -> Array:
        return self.combine_gradient(X, np.eye(self.dim))

    def combine_gradient(self, X: Array, c: Array) -> Array:
        last = self._last  # read once: another thread may replace it
        if last is None or not np.array_equal(last[0], c):
            self._last = last = c.copy(), self._in_harmonics(c)
        found = self._harmonics.functions.combine_gradient(X, last[1])
        return found.reshape(*X.shape, 3, *c.shape[1:])

    def _in_harmonics(self, c: Array) -> Array:
        """The coefficients by harmonics of the three components of Σ_j c_j F_j."""
        # (dim[, q]) -> (harmonics, 3 [· q])
        within = self._harmonics
        fields = self.combine(within.nodes, c).reshape(len(within.nodes), -1)
        return within.functions.correlate(within.nodes, fields * within.weights[:, None])

    @cached_property
    def _harmonics(self) -> Projection:
        return self._projection()

    def possible(self, X: Array, Y: Array) -> Array:
        return Y - np.sum(X * Y, axis=1, keepdims=True) * X

    def rows(self, X: Array, values: Array) -> Array:
        return np.einsum("nir,ni...->nr...", frames(X)[:, :, :2], values)  # components along two tangent vectors


def _fields(X: Array, gradients: Array) -> Array:
    """∇f + x × ∇g."""  # (n, 3, 2, ...) -> (n, 3, ...)
    at = X.reshape(*X.shape, *(1,) * (gradients.ndim - 3))
    turned: Any = np.cross(at, gradients[:, :, 1], axis=1)
    return gradients[:, :, 0] + turned
