"""Families of vector functions: fixed combinations of scalar functions, one set of coefficients for each output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory
from specavg.functions._compensated_sums import Sum
from specavg.functions._functions import Functions

__all__ = ["VectorFunctions"]


@final
class VectorFunctions:
    """F_j(x) = Cᵀφ(x) with p outputs, part by part: each part has its scalar functions φ and its coefficients C.

    The coefficients are applied after a sum over points and before a combination, never once a point. Sums and
    combinations therefore cost as much as those of φ with p targets.

    Parameters
    ----------
    n_outputs : int
        p.
    parts : sequence of (Functions, ndarray or sparse array of shape (φ.dim · p, r))
        Row k · p + i of a matrix has what function k adds to output i of each of the r functions.
    """

    def __init__(self, n_outputs: int, parts: Sequence[tuple[Functions, Any]]) -> None:
        from scipy.sparse import csr_array

        self.n_outputs = n_outputs
        matrices: list[Any] = [csr_array(C) for _, C in parts]
        self._matrices = matrices
        self._families = [
            phi.restricted(abs(C).max(axis=1).toarray().reshape(phi.dim, n_outputs).max(axis=1)) if phi.dim else phi
            for (phi, _), C in zip(parts, matrices, strict=True)
        ]
        self._by_output = [[C[i::n_outputs].tocsc() for i in range(n_outputs)] for C in matrices]
        self._ends = np.cumsum([0, *(C.shape[1] for C in matrices)])

    @property
    def dim(self) -> int:
        """How many vector functions."""
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        """Working memory for the values at one point."""
        scalar = max((phi.row_bytes + 8.0 * phi.dim for phi in self._families), default=8.0)
        return scalar + 16.0 * self.n_outputs * self.dim

    def values(self, X: Array) -> Array:
        """Values at one chunk of checked points."""  # (n, n_features) -> (n, p, dim)
        values = np.empty((len(X), self.n_outputs, self.dim))
        for phi, matrices, (a, b) in zip(self._families, self._by_output, pairwise(self._ends), strict=True):
            scalars = phi.values(X)
            for i, C in enumerate(matrices):
                values[:, i, a:b] = scalars @ C
        return values

    def evaluate(self, X: Array) -> Array:
        """Values at checked points, in chunks."""  # (n, n_features) -> (n, p, dim)
        require_memory(
            8.0 * len(X) * self.n_outputs * self.dim,
            f"{self.dim} functions with {self.n_outputs} outputs at {len(X)} points",
            "Fit and predict in chunks of rows.",
        )
        values = np.empty((len(X), self.n_outputs, self.dim))
        for rows in self.chunks(len(X)):
            values[rows] = self.values(X[rows])
        return values

    def correlate(self, X: Array, Y: Array) -> Array:
        """Σ over points and outputs of F_j(x)·y."""  # (n, p) -> (dim,)
        sums = [
            C.T @ phi.correlate(X, Y).ravel() for phi, C in zip(self._families, self._matrices, strict=True)
        ]  # fmt: skip
        return np.concatenate([np.empty(0), *sums])

    def combine(self, X: Array, c: Array) -> Array:
        """Σ_j c_j F_j(x)."""  # (dim,) -> (n, p)
        total = np.zeros((len(X), self.n_outputs))
        for phi, C, (a, b) in zip(self._families, self._matrices, pairwise(self._ends), strict=True):
            if b > a:
                total += phi.combine(X, np.ascontiguousarray((C @ c[a:b]).reshape(-1, self.n_outputs)))
        return total

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array) -> tuple[Array, Array]:
        """Σ F_j(x)·y and Σ w F_j(x)·F_l(x), over points and outputs, in one pass."""  # (dim,), (dim, dim)
        from scipy.linalg import get_blas_funcs

        require_memory(
            48.0 * self.dim**2, f"the Gram matrix of {self.dim} functions", "Lower the cutoff, or take more memory."
        )
        syrk: Any = get_blas_funcs("syrk", dtype=np.float64)
        sums, gram = Sum.of(np.zeros(self.dim)), Sum.of(np.zeros((self.dim, self.dim)))
        for rows in self.chunks(len(X)):
            values = self.values(X[rows])
            sums += Sum.of(values.reshape(-1, self.dim).T @ Y[rows].ravel())
            values *= np.sqrt(weights[rows])[:, None, None]
            gram += Sum.of(syrk(1.0, values.reshape(-1, self.dim).T))  # the upper triangle
        upper = gram.value
        return sums.value, np.triu(upper) + np.triu(upper, 1).T

    def chunks(self, n: int) -> Iterator[slice]:
        """Row ranges whose working memory stays within bounds."""
        rows = max(1, int(32e6 / max(self.row_bytes, 8.0)))  # 32 MB, as for scalar functions
        for start in range(0, n, rows):
            yield slice(start, min(start + rows, n))
