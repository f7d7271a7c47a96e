"""Families of functions: what an invariant basis evaluates, sums over data, and combines."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg.functions._compensated_sums import compensated_sum, compensated_sums
from specavg.functions._few_rows import few_rows

if TYPE_CHECKING:
    from specavg.functions._factor_table import FactorTable
    from specavg.functions._gram_operator import GramOperator

CHUNK_BYTES = 32e6  # working memory of one chunk: large enough for BLAS, small beside any data set
PLAIN_BYTES = 16e6  # largest working memory of few rows in plain NumPy; families that need more use a loop
# Working memory of one chunk of few rows, as long as the chunk has 64 rows or more. On T^10 500 rows at once take 8 ms,
# most of it to get memory from the system, and 2 ms in chunks of 4 MB.
_PLAIN_CACHED = 4e6


def sums_and_gram(dim: int, q: int, chunks: Iterable[tuple[Array, Array, Array | None]]) -> tuple[Array, Array]:
    """Φᵀ Y and Φᵀ diag(w) Φ from chunks of Φ, Y and w ≥ 0; one triangle is computed."""  # (dim, q), (dim, dim)
    from scipy.linalg import get_blas_funcs

    require_memory(48.0 * dim**2, f"the Gram matrix of {dim} functions", "Lower the cutoff, or take more memory.")
    syrk: Any = get_blas_funcs("syrk", dtype=np.float64)

    def part(values: Array, Y: Array, w: Array | None) -> tuple[Array, Array]:
        return values.T @ Y, syrk(1.0, (values if w is None else values * np.sqrt(w)[:, None]).T)

    sums, upper = compensated_sums((part(*chunk) for chunk in chunks), ((dim, q), (dim, dim)))
    return sums, np.triu(upper) + np.triu(upper, 1).T


class Functions(abc.ABC):
    """Finitely many real functions on points.

    Three operations: their values, their sums against data (Φᵀ Y) and their combinations (Φ C), and the same three
    for their gradients. Sums and combinations never hold more than a chunk of Φ. A subclass writes `values` and
    `gradient`; it may write faster versions of the rest.

    Gradients are by the columns of X. On a space embedded in R^N (spheres, rotations, frames) they are tangential.
    """

    dim: int  # how many functions

    @property
    @abc.abstractmethod
    def row_bytes(self) -> float:
        """Working memory for the values at one point."""

    @abc.abstractmethod
    def values(self, X: Array) -> Array:
        """Values at one chunk of checked points."""  # (n, n_features) -> (n, dim)

    @abc.abstractmethod
    def gradient(self, X: Array) -> Array:
        """Gradients at one chunk of checked points."""  # (n, n_features) -> (n, dim, n_features)

    def plain_values(self, X: Array) -> Array:
        """Values by plain NumPy, with nothing compiled; compiled `values` are tested against them."""
        return self.values(X)

    def restricted(self, size: Array) -> Functions:
        """The same family where function j has coefficients of at most size[j]: it may skip functions of size zero."""
        return self

    @property
    def sided_bytes(self) -> float | None:
        """Working memory of `sided_values` at one point; None where `values` are the better way."""
        return None

    def sided_values(self, X: Array, sides: Sequence[tuple[Array, Array]]) -> Iterator[Array]:
        """LᵀM(x)R for each type in turn, M(x) the matrix of its functions and (L, R) its two `sides`.

        Only the entries of M that L and R use are computed.
        """  # (n, n_features) -> (n, columns of L, columns of R) each
        raise NotImplementedError

    @property
    def part_bytes(self) -> float | None:
        """Working memory of `part_values` at one point; None where `values` are the better way."""
        return None

    def part_values(self, X: Array, parts: Sequence[Array]) -> Iterator[Array]:
        """φQ for the functions φ of each degree in turn, from those functions that matter."""
        raise NotImplementedError

    @property
    def copy_table(self) -> FactorTable | None:
        """The table of recurrences that computes functions of one coordinate; None for functions of several."""
        return None

    @property
    def invariant_to_sign_bits(self) -> bool:
        """Whether changing signs of coordinates changes no bit of a value."""
        return False

    def mixed_values(self, X: Array, Q: Any) -> Array:
        """Φ Q at one chunk of checked points, Q dense or sparse."""  # (dim, k) -> (n, k)
        return np.asarray(self.values(X) @ Q)

    def mixed_gradient(self, X: Array, Q: Any) -> Array:
        """The gradient of Φ Q at one chunk of checked points, Q dense or sparse."""  # (dim, k) -> (n, k, n_features)
        gradient = self.gradient(X)
        return np.stack([np.asarray(gradient[:, :, j] @ Q) for j in range(X.shape[1])], axis=2)

    def evaluate(self, X: Array) -> Array:
        """Values at checked points, in chunks."""  # (n, n_features) -> (n, dim)
        self._require_values(len(X))
        values = np.empty((len(X), self.dim))
        for rows in self.chunks(len(X)):
            values[rows] = self.values(X[rows])
        return values

    def correlate(self, X: Array, Y: Array) -> Array:
        """Φᵀ Y, compensated over chunks, so that the chunking does not matter."""  # (n, q) -> (dim, q)
        parts = (self.values(X[rows]).T @ Y[rows] for rows in self.chunks(len(X)))
        return compensated_sum(parts, (self.dim, Y.shape[1]))

    def combine(self, X: Array, C: Array) -> Array:
        """Φ C."""  # (dim, q) -> (n, q)
        combined = np.empty((len(X), C.shape[1]))
        for rows in self.chunks(len(X)):
            combined[rows] = self.values(X[rows]) @ C
        return combined

    def evaluate_gradient(self, X: Array) -> Array:
        """Gradients at checked points, in chunks."""  # (n, n_features) -> (n, dim, n_features)
        self._require_values(len(X) * X.shape[1])
        gradient = np.empty((len(X), self.dim, X.shape[1]))
        for rows in self.gradient_chunks(X):
            gradient[rows] = self.gradient(X[rows])
        return gradient

    def combine_gradient(self, X: Array, C: Array) -> Array:
        """The gradient of Φ C."""  # (dim, q) -> (n, n_features, q)
        combined = np.empty((len(X), X.shape[1], C.shape[1]))
        for rows in self.gradient_chunks(X):
            combined[rows] = self.gradient(X[rows]).transpose(0, 2, 1) @ C
        return combined

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        """Φ C and its gradient: in one pass where there is one for both."""  # (n, q), (n, n_features, q)
        return self.combine(X, C), self.combine_gradient(X, C)

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        """Σ_j W_ij ∇φ_j(x_i) at one chunk of checked points: each point has its own coefficients."""
        # (n, dim) -> (n, n_features)
        return np.einsum("nj,njf->nf", W, self.gradient(X))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        """Σ_i Σ_j ∂_jφ(x_i) G_ij, compensated over chunks."""  # (n, n_features, q) -> (dim, q)
        parts = (np.tensordot(self.gradient(X[rows]), G[rows], ((0, 2), (0, 1))) for rows in self.gradient_chunks(X))
        return compensated_sum(parts, (self.dim, G.shape[2]))

    def gram(self, X: Array, weights: Array | None = None) -> Array:
        """Φᵀ diag(weights) Φ, by chunks and one triangle at a time; weights ≥ 0."""  # (n,) -> (dim, dim)
        return self.correlate_and_gram(X, np.empty((len(X), 0)), weights)[1]

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array | None = None) -> tuple[Array, Array]:
        """Φᵀ Y and Φᵀ diag(weights) Φ in one pass over the data; weights ≥ 0."""  # (dim, q), (dim, dim)
        rows = self.chunks(len(X))
        chunks = ((self.values(X[r]), Y[r], None if weights is None else weights[r]) for r in rows)
        return sums_and_gram(self.dim, Y.shape[1], chunks)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        """Φᵀ diag(weights) Φ as an operator, and Φᵀ (w, wY), where it follows from a density; None elsewhere."""
        return None

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        """Nanoseconds that `gram_operator` is forecast to take for n points, and its product with one column.

        None where there is no such operator.
        """
        return None

    def gram_of_density(self, density: Array) -> GramOperator:
        """The operator of `gram_operator` again, from the density that it keeps of the data."""
        raise ValueError(
            f"the Gram matrix of these {self.dim} functions does not follow from a density: only those of functions on "
            "Sphere(3), Rotations() and tori of up to three dimensions do."
        )

    def _require_values(self, n: int) -> None:
        require_memory(
            8.0 * n * self.dim,
            f"{self.dim} functions at {n} points",
            "Fit and predict never hold that array; to hold it yourself, evaluate chunks of rows.",
        )

    def gradient_chunks(self, X: Array) -> Iterator[slice]:
        """Row ranges of `X` for gradients: each column of a point takes as much memory as a value."""
        return self.chunks(len(X), (1 + X.shape[1]) * (self.row_bytes + 8.0 * self.dim))

    def chunks(self, n: int, row_bytes: float | None = None) -> Iterator[slice]:
        """Row ranges whose working memory stays within bounds; a row takes `row_bytes`, or those of its values."""
        limit = settings().memory_limit / 4
        per_row = max(self.row_bytes if row_bytes is None else row_bytes, 8.0)
        budget = min(max(_PLAIN_CACHED, min(64 * per_row, PLAIN_BYTES)) if few_rows(n) else CHUNK_BYTES, limit)
        rows = max(1, int(budget / per_row))
        require_memory(4 * self.row_bytes, f"{self.dim} functions at one point", "Lower the cutoff.")
        for start in range(0, n, rows):
            yield slice(start, min(start + rows, n))
