"""Families made from callables or from other families: fixed linear combinations, and families side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg.functions._few_rows import few_rows
from specavg.functions._functions import Functions
from specavg.functions._mapped_functions import Mapped


@final
class Given(Functions):
    """A family whose values and gradients are given by callables.

    Parameters
    ----------
    dim : int
        The number of functions.
    values : callable
        Maps points (n, n_features) to values (n, dim).
    gradient : callable
        Maps points to gradients (n, dim, n_features).
    combined_gradient : callable
        Maps points and coefficients (dim, q) to the gradients of the combinations (n, q, n_features).
    """

    def __init__(
        self,
        dim: int,
        values: Callable[[Array], Array],
        gradient: Callable[[Array], Array],
        combined_gradient: Callable[[Array, Array], Array],
    ) -> None:
        self.dim, self._values, self._gradient, self._combined = dim, values, gradient, combined_gradient

    @property
    def row_bytes(self) -> float:
        return 8.0 * 5 * max(self.dim, 1)

    def values(self, X: Array) -> Array:
        return self._values(X)

    def gradient(self, X: Array) -> Array:
        return self._gradient(X)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        combined = np.empty((*X.shape, C.shape[1]))
        for rows in self.chunks(len(X), self.row_bytes + 32.0 * C.shape[1] * X.shape[1] ** 2):
            combined[rows] = self._combined(X[rows], C).transpose(0, 2, 1)
        return combined


@final
class Blockwise(Mapped):
    """Combinations φQ with a block-diagonal matrix Q: consecutive functions φ share a block.

    Parameters
    ----------
    functions : Functions
        The φ.
    matrices : sequence of ndarray
        The blocks of Q. Together they have as many rows as there are functions φ.
    """

    def __init__(self, functions: Functions, matrices: Sequence[Array]) -> None:
        used = [np.abs(Q).max(axis=1, initial=0.0) for Q in matrices]
        super().__init__(functions.restricted(np.concatenate([np.empty(0), *used])))
        self._matrices = matrices
        self._rows, self._columns = (np.cumsum([0, *(Q.shape[axis] for Q in matrices)]) for axis in (0, 1))
        self.dim = int(self._columns[-1])

    def evaluate(self, X: Array) -> Array:
        row_bytes = self._source.degree_bytes if few_rows(len(X)) else None
        if row_bytes is None:
            return super().evaluate(X)
        self._require_values(len(X))
        values = np.empty((len(X), self.dim))
        for rows in self.chunks(len(X), row_bytes):
            blocks = self._source.degree_values(X[rows], self._matrices)
            for (a, b), block in zip(pairwise(self._columns), blocks, strict=True):
                values[rows, a:b] = block
        return values

    def _projected(self, rows: Array) -> Array:
        parts = [rows[:, a:b] @ Q for Q, (a, b) in zip(self._matrices, pairwise(self._rows), strict=True)]
        return np.concatenate([np.empty((len(rows), 0)), *parts], axis=1)

    def _spread(self, C: Array) -> Array:
        parts = [Q @ C[a:b] for Q, (a, b) in zip(self._matrices, pairwise(self._columns), strict=True)]
        return np.concatenate([np.empty((0, C.shape[1])), *parts])


@final
class Combinations(Mapped):
    """Combinations φQ of the functions φ of another family, with one dense or sparse matrix Q.

    Parameters
    ----------
    functions : Functions
        The φ.
    matrix : ndarray or sparse matrix of shape (functions.dim, dim)
        Q, one column for each combination.
    """

    def __init__(self, functions: Functions, matrix: Any) -> None:
        super().__init__(functions)
        self._matrix = matrix if isinstance(matrix, np.ndarray) else matrix.tocsc()
        self.dim = int(matrix.shape[1])

    def values(self, X: Array) -> Array:
        return self._source.mixed_values(X, self._matrix)

    def gradient(self, X: Array) -> Array:
        return self._source.mixed_gradient(X, self._matrix)

    def _projected(self, rows: Array) -> Array:
        return np.asarray(rows @ self._matrix)

    def _spread(self, C: Array) -> Array:
        return np.asarray(self._matrix @ C)


@final
class Joined(Functions):
    """The functions of several families on the same points: those of the first family, then those of the second, ….

    Parameters
    ----------
    families : sequence of Functions
    """

    def __init__(self, families: Sequence[Functions]) -> None:
        self._families = list(families)
        self._ends = np.cumsum([0, *(family.dim for family in families)])
        self.dim = int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        return max((family.row_bytes for family in self._families), default=8.0) + 8.0 * self.dim

    def values(self, X: Array) -> Array:
        parts = [family.values(X) for family in self._families]
        return np.concatenate([np.empty((len(X), 0)), *parts], axis=1)

    def correlate(self, X: Array, Y: Array) -> Array:
        parts = [family.correlate(X, Y) for family in self._families]
        return np.concatenate([np.empty((0, Y.shape[1])), *parts])

    def combine(self, X: Array, C: Array) -> Array:
        total = np.zeros((len(X), C.shape[1]))
        for family, (a, b) in zip(self._families, pairwise(self._ends), strict=True):
            total += family.combine(X, C[a:b])
        return total

    def gradient(self, X: Array) -> Array:
        parts = [family.gradient(X) for family in self._families]
        return np.concatenate([np.empty((len(X), 0, X.shape[1])), *parts], axis=1)

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        parts = [family.correlate_gradient(X, G) for family in self._families]
        return np.concatenate([np.empty((0, G.shape[2])), *parts])

    def combine_gradient(self, X: Array, C: Array) -> Array:
        total = np.zeros((len(X), X.shape[1], C.shape[1]))
        for family, (a, b) in zip(self._families, pairwise(self._ends), strict=True):
            total += family.combine_gradient(X, C[a:b])
        return total
