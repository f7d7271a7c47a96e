"""Families that derivatives map to themselves: a gradient of a combination is a few combinations of the same family."""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._functions import Functions

_MOST_DENSE = 200  # the most functions for which a product with dense matrices D_a is faster than with sparse ones


class Derivations(Functions):
    """A family φ whose derivatives along a few fields ξ_a are combinations of φ: ξ_a·φ = φ D_a.

    On a torus the fields are the shifts along each coordinate; on S² and SO(3) they are the rotations around three
    axes. `_lifted` makes gradients of these derivatives.
    """

    @cached_property
    @abc.abstractmethod
    def _derivations(self) -> list[Any]:
        """The sparse matrices D_a."""  # (dim, dim) each

    @abc.abstractmethod
    def _lifted(self, X: Array, slopes: Array) -> Array:
        """The gradients of functions, from their derivatives along the fields."""
        # (n, fields, q) -> (n, n_features, q)

    @abc.abstractmethod
    def _lowered(self, X: Array, G: Array) -> Array:
        """The transpose of the linear map `_lifted`, point by point."""  # (n, n_features, q) -> (n, fields, q)

    @cached_property
    def _all_functions(self) -> Functions:
        """The same family, in which `restricted` has left out no function that a derivative φ D_a may have."""
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
        if self.dim <= _MOST_DENSE:
            moved = (W @ self._side_by_side).reshape(len(X), fields, self.dim)
        else:
            moved = np.stack([np.asarray(W @ D.T) for D in self._derivations], axis=1)
        return self._lifted(X, np.einsum("nad,nd->na", moved, values)[:, :, None])[:, :, 0]

    @cached_property
    def _side_by_side(self) -> Array:
        """The dense matrices D_aᵀ, side by side."""  # (dim, fields · dim)
        return np.concatenate([D.T.toarray() for D in self._derivations], axis=1)

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        fields, q = len(self._derivations), G.shape[2]
        columns = np.ascontiguousarray(self._lowered(X, G)).reshape(len(X), fields * q)
        sums = self._all_functions.correlate(X, columns).reshape(self.dim, fields, q)
        terms = (np.asarray(D.T @ sums[:, a]) for a, D in enumerate(self._derivations))
        return compensated_sum(terms, (self.dim, q))
