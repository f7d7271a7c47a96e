"""Families of functions: what an invariant basis evaluates, sums over data, and combines."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory, settings
from specavg.spaces import Eigenspace, Space

__all__ = ["Combinations", "Functions", "HarmonicSums", "Joined", "compensated_sum"]

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

    def evaluate(self, X: Array) -> Array:
        """Values at checked points, in chunks."""  # (n, n_features) -> (n, dim)
        require_memory(
            8.0 * len(X) * self.dim,
            f"{self.dim} functions at {len(X)} points",
            "Fit and predict never hold that array; to hold it yourself, evaluate chunks of rows.",
        )
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

    def chunks(self, n: int) -> Iterator[slice]:
        """Row ranges whose working memory stays within bounds."""
        budget = min(_CHUNK_BYTES, settings().memory_limit / 4)
        rows = max(1, int(budget / max(self.row_bytes, 8.0)))
        require_memory(4 * self.row_bytes, f"{self.dim} functions at one point", "Lower the cutoff.")
        for start in range(0, n, rows):
            yield slice(start, min(start + rows, n))


def compensated_sum(parts: Iterator[Array], shape: tuple[int, ...]) -> Array:
    """Neumaier's sum of arrays: the error does not grow with the number of parts."""
    total, lost = np.zeros(shape), np.zeros(shape)
    for part in parts:
        new = total + part
        lost += np.where(np.abs(total) >= np.abs(part), (total - new) + part, (part - new) + total)
        total = new
    return total + lost


@final
class HarmonicSums(Functions):
    """Combinations φ·Q of the eigenfunctions of each eigenspace (all of them where Q is None)."""

    def __init__(self, space: Space, parts: Sequence[tuple[Eigenspace, Array | None]]) -> None:
        self._space = space
        self._parts = [(V, Q) for V, Q in parts if Q is None or Q.shape[1]]
        self._dim = sum(V.dim if Q is None else Q.shape[1] for V, Q in self._parts)

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def row_bytes(self) -> float:
        return 8.0 * (4 * max((V.dim for V, _ in self._parts), default=1) + self.dim)

    def _values(self, X: Array) -> Array:
        columns = [np.empty((len(X), 0))]
        for V, Q in self._parts:
            values = self._space._evaluate(V, X)  # pyright: ignore[reportPrivateUsage]
            columns.append(values if Q is None else values @ Q)
        return np.concatenate(columns, axis=1)


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
