"""Functions of one direction of a rotation: harmonics of R a, or of Rᵀ a, for a fixed axis a."""

from __future__ import annotations

from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._orthonormal_matrices import nearest_orthonormal


@final
class OneDirection(Functions):
    """F(R a) for functions F on the sphere, or F(Rᵀ a) where `transposed`.

    For a uniform rotation R the direction is uniform, so that orthonormal functions stay orthonormal.
    """

    def __init__(self, functions: Functions, axis: Array, *, transposed: bool) -> None:
        self._functions = functions
        self._axis = axis
        self._transposed = transposed

    @property
    def dim(self) -> int:
        return self._functions.dim

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes + 8.0 * 12

    def values(self, X: Array) -> Array:
        return self._functions.values(self._directions(X))

    def plain_values(self, X: Array) -> Array:
        return self._functions.plain_values(self._directions(X))

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._functions.correlate(self._directions(X), Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._functions.combine(self._directions(X), C)

    def gradient(self, X: Array) -> Array:
        slopes = self._functions.gradient(self._directions(X))  # (n, dim, 3)
        return self._lifted(X, slopes.transpose(0, 2, 1)).transpose(0, 2, 1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._lifted(X, self._functions.combine_gradient(self._directions(X), C))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        tangent = _tangential(self._matrices(X), G.reshape(len(X), 3, 3, -1))
        subscripts = "i,nijq->njq" if self._transposed else "j,nijq->niq"
        return self._functions.correlate_gradient(self._directions(X), np.einsum(subscripts, self._axis, tangent))

    def _matrices(self, X: Array) -> Array:
        return nearest_orthonormal(X.reshape(-1, 3, 3))

    def _directions(self, X: Array) -> Array:
        R = self._matrices(X)
        return np.ascontiguousarray((R.transpose(0, 2, 1) if self._transposed else R) @ self._axis)

    def _lifted(self, X: Array, slopes: Array) -> Array:
        """The tangential gradient by the entries of R, from that by the direction."""  # (n, 3, q) -> (n, 9, q)
        subscripts = "i,njq->nijq" if self._transposed else "niq,j->nijq"
        operands = (self._axis, slopes) if self._transposed else (slopes, self._axis)
        return _tangential(self._matrices(X), np.einsum(subscripts, *operands)).reshape(len(X), 9, -1)


def _tangential(R: Array, G: Array) -> Array:
    """(G − R Gᵀ R) / 2, the part of a matrix along the rotations near R."""  # (n, 3, 3), (n, 3, 3, q)
    return 0.5 * (G - np.einsum("nia,nbaq,nbj->nijq", R, G, R, optimize=True))
