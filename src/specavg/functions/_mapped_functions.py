"""Families whose functions are fixed combinations φQ of another family φ.

Sums over data and combinations apply Q once, to the sums or to the coefficients of φ, and not at every point.
"""

from __future__ import annotations

import abc

import numpy as np

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._gram_operator import GramOperator, MappedGram


class Mapped(Functions):
    """Combinations φQ of the functions φ of another family. A subclass says what Q is.

    Parameters
    ----------
    source : Functions
        The φ.
    """

    def __init__(self, source: Functions) -> None:
        self._source = source

    @abc.abstractmethod
    def _spread(self, C: Array) -> Array:
        """Q C: the coefficients of φ that make the combination φQC."""  # (dim, q) -> (φ.dim, q)

    @abc.abstractmethod
    def _projected(self, rows: Array) -> Array:
        """Rows times Q: values of φQ from values of φ."""  # (N, φ.dim) -> (N, dim)

    def _reduced(self, sums: Array) -> Array:
        """Qᵀ times sums: sums of φQ over data from those of φ."""  # (φ.dim, q) -> (dim, q)
        return np.ascontiguousarray(self._projected(sums.T).T)

    @property
    def row_bytes(self) -> float:
        return self._source.row_bytes + 8.0 * (self._source.dim + self.dim)

    def values(self, X: Array) -> Array:
        return self._projected(self._source.values(X))

    def plain_values(self, X: Array) -> Array:
        return self._projected(self._source.plain_values(X))

    def gradient(self, X: Array) -> Array:
        rows = self._source.gradient(X).transpose(0, 2, 1).reshape(len(X) * X.shape[1], -1)
        return self._projected(rows).reshape(*X.shape, self.dim).transpose(0, 2, 1)

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._reduced(self._source.correlate(X, Y))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        return self._reduced(self._source.correlate_gradient(X, G))

    def combine(self, X: Array, C: Array) -> Array:
        return self._source.combine(X, self._spread(C))

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._source.combine_gradient(X, self._spread(C))

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        return self._source.combine_both(X, self._spread(C))

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        return self._source.pointwise_gradient(X, self._spread(W.T).T)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        found = self._source.gram_operator(X, weights, Y)
        return None if found is None else (MappedGram(found[0], self._spread, self._reduced), self._reduced(found[1]))

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        return self._source.gram_nanoseconds(n)

    def gram_of_density(self, density: Array) -> GramOperator:
        return MappedGram(self._source.gram_of_density(density), self._spread, self._reduced)
