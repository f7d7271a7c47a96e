"""Families that derivatives map to themselves: a gradient is a few combinations with other coefficients."""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._functions import Functions

_DENSE = 200  # functions up to which a dense matrix product is faster than a sparse one


class Derivations(Functions):
    """A family φ with matrices D_a for which the derivatives along a few fields ξ_a are ξ_a·φ = φ D_a.

    On a torus the fields are the shifts of each coordinate, on spheres and rotations the rotations around three axes.
    A gradient is a combination of the derivatives with vectors that depend on the point: `_lifted`.
    """

    @cached_property
    @abc.abstractmethod
    def _derivations(self) -> list[Any]:
        """The sparse matrices D_a."""  # (dim, dim) each

    @abc.abstractmethod
    def _lifted(self, X: Array, slopes: Array) -> Array:
        """Gradients from the derivatives along the fields."""  # (n, fields, q) -> (n, n_features, q)

    @abc.abstractmethod
    def _lowered(self, X: Array, G: Array) -> Array:
        """The transpose of `_lifted`."""  # (n, n_features, q) -> (n, fields, q)

    @cached_property
    def _all_functions(self) -> Functions:
        """A family with the same functions that computes all that a derivative may need."""
        return self

    def gradient(self, X: Array) -> Array:
        values = self._all_functions.values(X)
        slopes = np.stack([np.asarray(values @ D) for D in self._derivations], axis=1)  # (n, fields, dim)
        return self._lifted(X, slopes).transpose(0, 2, 1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        columns = np.concatenate([np.asarray(D @ C) for D in self._derivations], axis=1)
        slopes = self._all_functions.combine(X, columns)
        return self._lifted(X, slopes.reshape(len(X), len(self._derivations), C.shape[1]))

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        values, fields = self._all_functions.values(X), len(self._derivations)
        if self.dim <= _DENSE:
            moved = (W @ self._side_by_side).reshape(len(X), fields, self.dim)
        else:
            moved = np.stack([np.asarray(W @ D.T) for D in self._derivations], axis=1)
        return self._lifted(X, np.einsum("nad,nd->na", moved, values)[:, :, None])[:, :, 0]

    @cached_property
    def _side_by_side(self) -> Array:
        """All D_aᵀ, dense."""  # (dim, fields · dim)
        return np.concatenate([D.T.toarray() for D in self._derivations], axis=1)

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        fields, q = len(self._derivations), G.shape[2]
        columns = np.ascontiguousarray(self._lowered(X, G)).reshape(len(X), fields * q)
        sums = self._all_functions.correlate(X, columns).reshape(self.dim, fields, q)
        parts = (np.asarray(D.T @ sums[:, a]) for a, D in enumerate(self._derivations))
        return compensated_sum(parts, (self.dim, q))
