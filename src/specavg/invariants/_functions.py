"""Families of functions: what an invariant basis evaluates, sums over data, and combines."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory, settings
from specavg.kernels._copies import CopyTable
from specavg.kernels._products import ProductTree
from specavg.kernels._threads import compensated_sum

__all__ = ["Combinations", "Functions", "Joined", "Products", "compensated_sum"]

Array = NDArray[np.float64]
_CHUNK_BYTES = 32e6  # working memory of one chunk: large enough for BLAS, small beside any data set


class Functions(abc.ABC):
    """Finitely many real functions on points.

    Three operations: their values, their sums against data (Φᵀ Y) and their combinations (Φ C). The last two
    never hold more than a chunk of Φ. A subclass writes `_values`; it may write faster versions of the rest.
    """

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """How many functions."""

    @property
    @abc.abstractmethod
    def row_bytes(self) -> float:
        """Working memory for the values at one point."""

    @abc.abstractmethod
    def _values(self, X: Array) -> Array:
        """Values at one chunk of checked points."""  # (n, n_features) -> (n, dim)

    @property
    def copy_table(self) -> CopyTable | None:
        """How a kernel computes these functions of a single coordinate by itself, if it can."""
        return None

    @property
    def flips_exactly(self) -> bool:
        """Whether changing signs of coordinates changes no bit of a value."""
        return False

    @cached_property
    def fourier(self) -> Any:
        """The same functions on a torus of few dimensions as `TrigonometricSums`; None elsewhere."""
        return None

    def evaluate(self, X: Array) -> Array:
        """Values at checked points, in chunks."""  # (n, n_features) -> (n, dim)
        self._require_values(len(X))
        values = np.empty((len(X), self.dim))
        for rows in self.chunks(len(X)):
            values[rows] = self._values(X[rows])
        return values

    def correlate(self, X: Array, Y: Array) -> Array:
        """Φᵀ Y, compensated over chunks, so that the chunking does not matter."""  # (n, q) -> (dim, q)
        return compensated_sum(
            (self._values(X[rows]).T @ Y[rows] for rows in self.chunks(len(X))), (self.dim, Y.shape[1])
        )

    def combine(self, X: Array, C: Array) -> Array:
        """Φ C."""  # (dim, q) -> (n, q)
        values = np.empty((len(X), C.shape[1]))
        for rows in self.chunks(len(X)):
            values[rows] = self._values(X[rows]) @ C
        return values

    def gram(self, X: Array, weights: Array | None = None) -> Array:
        """Φᵀ diag(weights) Φ, by chunks and one triangle at a time; weights ≥ 0."""  # (n,) -> (dim, dim)
        from scipy.linalg import get_blas_funcs

        from specavg.invariants._toeplitz import dense_is_faster, toeplitz_gram

        if dense_is_faster(self, len(X)):
            found = toeplitz_gram(self, X, np.ones(len(X)) if weights is None else weights)
            if found is not None:
                return found[0].dense()
        require_memory(
            48.0 * self.dim**2, f"the Gram matrix of {self.dim} functions", "Lower the cutoff, or take more memory."
        )

        syrk: Any = get_blas_funcs("syrk", dtype=np.float64)

        def update(rows: slice) -> Array:
            values = self._values(X[rows])
            if weights is not None:
                values = values * np.sqrt(weights[rows])[:, None]
            return syrk(1.0, values.T)  # the upper triangle

        total = compensated_sum(map(update, self.chunks(len(X))), (self.dim, self.dim))
        return np.triu(total) + np.triu(total, 1).T

    def _require_values(self, n: int) -> None:
        require_memory(
            8.0 * n * self.dim,
            f"{self.dim} functions at {n} points",
            "Fit and predict never hold that array; to hold it yourself, evaluate chunks of rows.",
        )

    def chunks(self, n: int) -> Iterator[slice]:
        """Row ranges whose working memory stays within bounds."""
        budget = min(_CHUNK_BYTES, settings().memory_limit / 4)
        rows = max(1, int(budget / max(self.row_bytes, 8.0)))
        require_memory(4 * self.row_bytes, f"{self.dim} functions at one point", "Lower the cutoff.")
        for start in range(0, n, rows):
            yield slice(start, min(start + rows, n))


class Products(Functions):
    """Products of factors along a tree, compiled. A subclass says which tree, and keeps a plain version to check it."""

    _FEW = 8  # columns of data up to which one run through the tree for each beats values and a matrix product

    @cached_property
    def program(self) -> ProductTree:
        """The compiled tree."""
        raise NotImplementedError

    @abc.abstractmethod
    def plain_values(self, X: Array) -> Array:
        """The same values by plain NumPy: what the compiled ones are tested against."""

    def _values(self, X: Array) -> Array:
        return self.program.values(X)

    def evaluate(self, X: Array) -> Array:
        self._require_values(len(X))
        return self._values(X)

    def correlate(self, X: Array, Y: Array) -> Array:
        return self.program.sums(X, Y) if Y.shape[1] <= self._FEW else super().correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self.program.combine(X, C) if C.shape[1] <= self._FEW else super().combine(X, C)


@final
class Combinations(Functions):
    """Fixed linear combinations of other functions; the map is applied after sums, never per point."""

    def __init__(self, functions: Functions, matrix: Any) -> None:
        self._functions = functions
        self._matrix = matrix  # (functions.dim, dim), dense or sparse

    @property
    def dim(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes + 8.0 * (self._functions.dim + self.dim)

    def _values(self, X: Array) -> Array:
        return np.asarray(self._functions._values(X) @ self._matrix)  # pyright: ignore[reportPrivateUsage]

    def correlate(self, X: Array, Y: Array) -> Array:
        return np.asarray(self._matrix.T @ self._functions.correlate(X, Y))

    def combine(self, X: Array, C: Array) -> Array:
        return self._functions.combine(X, np.asarray(self._matrix @ C))


@final
class Joined(Functions):
    """Several families one after the other."""

    def __init__(self, families: Sequence[Functions]) -> None:
        self._families = list(families)
        self._ends = np.cumsum([0, *(family.dim for family in families)])

    @property
    def dim(self) -> int:
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        return max((family.row_bytes for family in self._families), default=8.0) + 8.0 * self.dim

    def _values(self, X: Array) -> Array:
        parts = [family._values(X) for family in self._families]  # pyright: ignore[reportPrivateUsage]
        return np.concatenate([np.empty((len(X), 0)), *parts], axis=1)

    def correlate(self, X: Array, Y: Array) -> Array:
        parts = [family.correlate(X, Y) for family in self._families]
        return np.concatenate([np.empty((0, Y.shape[1])), *parts])

    def combine(self, X: Array, C: Array) -> Array:
        total = np.zeros((len(X), C.shape[1]))
        for family, a, b in zip(self._families, self._ends[:-1], self._ends[1:], strict=True):
            total += family.combine(X, C[a:b])
        return total
