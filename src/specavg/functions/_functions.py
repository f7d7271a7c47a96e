"""Families of functions: what an invariant basis evaluates, sums over data, and combines."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg._immutable import PickledAsMade
from specavg._reporting import counted
from specavg.functions._compensated_sums import compensated_sum, compensated_sums
from specavg.functions._few_rows import few_rows

if TYPE_CHECKING:
    from specavg.functions._factor_table import FactorTable
    from specavg.functions._gram_operator import GramOperator

# Bytes of working memory of one chunk of rows. Chosen so that matrix products of a chunk run at the full speed of BLAS
# and a chunk stays small beside any data set.
CHUNK_BYTES = 32e6
# Bytes for each pair of functions that the sums over data of their products take: the sum, its compensation, the sum of
# one chunk, and three more while they are added and decomposed.
GRAM_BYTES = 48.0
# Bytes of working memory that few rows may take in plain NumPy. A family that needs more uses a loop.
PLAIN_BYTES = 16e6
# Bytes of working memory of one chunk of few rows. A chunk of 64 rows may take more, up to `PLAIN_BYTES`. On T^10, 500
# rows take 8 ms at once, most of it to get memory from the system, and 2 ms in chunks of 4 MB.
_PLAIN_CHUNK_BYTES = 4e6
# Bytes of working memory that 64 rows may take as one chunk. A loop computes 64 points in any case: a chunk of fewer is
# filled up. On S⁷ under a group of 168 permutations, 829 functions of up to 330,000 monomials had chunks of six rows:
# 1,000 rows took 12.7 s, and take 1.3 s.
_BLOCK_BYTES = 400e6

VALUES_REMEDY = "Take fewer functions (a lower cutoff), or evaluate chunks of rows."


def row_ranges(n: int, row_bytes: float, chunk_bytes: float = CHUNK_BYTES) -> Iterator[slice]:
    """Row ranges of n rows whose working memory is at most `chunk_bytes`, and a quarter of the memory limit."""
    rows = max(1, int(min(chunk_bytes, settings().memory_limit / 4) / max(row_bytes, 8.0)))
    starts = range(0, n, rows)
    for start in counted(starts, len(starts)):
        yield slice(start, min(start + rows, n))


def chunk_ranges(n: int, row_bytes: float) -> Iterator[slice]:
    """Row ranges of n rows, one for each chunk; the values of few rows at a time are few enough for plain NumPy."""
    least, most = (_PLAIN_CHUNK_BYTES, PLAIN_BYTES) if few_rows(n) else (CHUNK_BYTES, _BLOCK_BYTES)
    yield from row_ranges(n, row_bytes, max(least, min(64 * row_bytes, most)))


def sums_and_gram(dim: int, q: int, chunks: Iterable[tuple[Array, Array, Array | None]]) -> tuple[Array, Array]:
    """Φᵀ Y and Φᵀ diag(w) Φ, summed over chunks of rows.

    Parameters
    ----------
    dim, q : int
        The number of columns of Φ and of Y.
    chunks : iterable of (Φ, Y, w)
        The rows of one chunk. The weights w are not negative; None stands for weights of one.
    """  # -> (dim, q), (dim, dim)
    from scipy.linalg import get_blas_funcs

    require_memory(GRAM_BYTES * dim**2, f"the Gram matrix of {dim} functions", "Lower the cutoff, or take more memory.")
    syrk: Any = get_blas_funcs("syrk", dtype=np.float64)

    def products(values: Array, Y: Array, w: Array | None) -> tuple[Array, Array]:
        return values.T @ Y, syrk(1.0, (values if w is None else values * np.sqrt(w)[:, None]).T)

    sums, upper = compensated_sums((products(*chunk) for chunk in chunks), ((dim, q), (dim, dim)))
    return sums, np.triu(upper) + np.triu(upper, 1).T  # syrk computes the upper triangle only


class Functions(PickledAsMade, abc.ABC):
    """A family: finitely many real functions φ_1, …, φ_dim on points.

    Φ is the matrix of their values, with one row for each point and one column for each function. A family computes
    Φ, the sums Φᵀ Y against data Y, the combinations Φ C with coefficients C, and the same three for gradients. Sums
    and combinations hold one chunk of rows of Φ at a time. A subclass writes `values` and `gradient`, and may write
    faster versions of the other methods.

    Gradients are by the columns of X. On a space embedded in R^N (spheres, rotations, frames) they are tangential.
    Methods that say "checked points" expect an array that `space.check_points` has returned.
    """

    dim: int  # the number of functions

    @property
    @abc.abstractmethod
    def row_bytes(self) -> float:
        """Bytes of working memory that the values at one point take."""

    @abc.abstractmethod
    def values(self, X: Array) -> Array:
        """Values at one chunk of checked points."""  # (n, n_features) -> (n, dim)

    @abc.abstractmethod
    def gradient(self, X: Array) -> Array:
        """Gradients at one chunk of checked points."""  # (n, n_features) -> (n, dim, n_features)

    def plain_values(self, X: Array) -> Array:
        """The same as `values`, by NumPy alone, without a loop; the tests compare loops with it."""
        return self.values(X)

    def restricted(self, size: Array) -> Functions:
        """The same functions, for a caller whose coefficients of function j are at most size[j] in absolute value.

        The family that is returned may leave out the work for functions of size zero. What it gives for these functions
        is not to be used.
        """
        return self

    @property
    def sided_bytes(self) -> float | None:
        """Bytes of working memory of `sided_values` at one point; None where a caller should use `values`."""
        return None

    def sided_values(self, X: Array, sides: Sequence[tuple[Array, Array]]) -> Iterator[Array]:
        """LᵀM(x)R, one type of functions after the other.

        M(x) is the matrix of the functions of a type, and `sides` has one pair (L, R) for each type. Only the entries
        of M that L and R use are computed.
        """  # (n, n_features) -> (n, columns of L, columns of R) each
        raise NotImplementedError

    @property
    def degree_bytes(self) -> float | None:
        """Bytes of working memory of `degree_values` at one point; None where a caller should use `values`."""
        return None

    def degree_values(self, X: Array, matrices: Sequence[Array]) -> Iterator[Array]:
        """φQ, one degree after the other: φ the functions of the degree, and Q its matrix in `matrices`.

        Only the functions that `restricted` has left are computed.
        """  # (n, n_features) -> (n, columns of Q) each
        raise NotImplementedError

    @property
    def copy_table(self) -> FactorTable | None:
        """The recurrences that compute these functions of one coordinate; None where loops cannot compute them."""
        return None

    @property
    def copy_rows(self) -> Sequence[int]:
        """The row of each function in `copy_table`."""
        return range(self.dim)

    def copy_coordinates(self, X: Array) -> Array:
        """Coordinates as `copy_table` reads them, of any shape."""
        return X

    @property
    def invariant_to_sign_bits(self) -> bool:
        """Whether values at a point keep every bit when signs of its coordinates change."""
        return False

    def mixed_values(self, X: Array, Q: Any) -> Array:
        """Φ Q at one chunk of checked points, with a dense or sparse matrix Q."""  # (dim, k) -> (n, k)
        return np.asarray(self.values(X) @ Q)

    def mixed_gradient(self, X: Array, Q: Any) -> Array:
        """The gradient of Φ Q at one chunk of checked points, with a dense or sparse matrix Q."""
        # (dim, k) -> (n, k, n_features)
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
        """Φᵀ Y. Sums of chunks are added with compensation, so that rounding does not grow with their number."""
        # (n, q) -> (dim, q)
        terms = (self.values(X[rows]).T @ Y[rows] for rows in self.chunks(len(X)))
        return compensated_sum(terms, (self.dim, Y.shape[1]))

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
        """Φ C and its gradient; some families compute both in one pass."""  # (n, q), (n, n_features, q)
        return self.combine(X, C), self.combine_gradient(X, C)

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        """Σ_j W_ij ∇φ_j(x_i) at one chunk of checked points: row i of W has the coefficients for point i."""
        # (n, dim) -> (n, n_features)
        return np.einsum("nj,njf->nf", W, self.gradient(X))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        """Σ_i Σ_j ∂_jφ(x_i) G_ij: the sums of the gradients against data G."""  # (n, n_features, q) -> (dim, q)
        terms = (np.tensordot(self.gradient(X[rows]), G[rows], ((0, 2), (0, 1))) for rows in self.gradient_chunks(X))
        return compensated_sum(terms, (self.dim, G.shape[2]))

    def gram(self, X: Array, weights: Array | None = None) -> Array:
        """Φᵀ diag(weights) Φ, with weights ≥ 0; None stands for weights of one."""  # (n,) -> (dim, dim)
        return self.correlate_and_gram(X, np.empty((len(X), 0)), weights)[1]

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array | None = None) -> tuple[Array, Array]:
        """Φᵀ Y and Φᵀ diag(weights) Φ in one pass over the data; weights ≥ 0."""  # (dim, q), (dim, dim)
        rows = self.chunks(len(X))
        chunks = ((self.values(X[r]), Y[r], None if weights is None else weights[r]) for r in rows)
        return sums_and_gram(self.dim, Y.shape[1], chunks)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[GramOperator, Array] | None:
        """Φᵀ diag(w) Φ as an operator, and the sums Φᵀ (w, wY), with w the `weights`.

        None where the family has no such operator, or where it would take too long to make.
        """  # (n,), (n, q) -> operator, (dim, 1 + q)
        return None

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        """Forecasts in nanoseconds: of `gram_operator` for n points, and of its product with one column.

        None where `gram_operator` is None.
        """
        return None

    def gram_of_density(self, density: Array) -> GramOperator:
        """The operator that `gram_operator` made, made again from its `density`."""
        raise ValueError(
            f"the Gram matrix of these {self.dim} functions does not follow from a density: only those of functions on "
            "Sphere(3), Rotations() and tori of up to three dimensions do."
        )

    def _require_values(self, n: int) -> None:
        require_memory(
            8.0 * n * self.dim,
            f"{self.dim} functions at {n} points",
            VALUES_REMEDY,
        )

    def gradient_chunks(self, X: Array) -> Iterator[slice]:
        """Row ranges of `X` for gradients, which take as much memory for each column of X as the values take."""
        return self.chunks(len(X), (1 + X.shape[1]) * (self.row_bytes + 8.0 * self.dim))

    def chunks(self, n: int, row_bytes: float | None = None) -> Iterator[slice]:
        """Row ranges of n rows, one for each chunk, such that the working memory of a chunk stays within bounds.

        Parameters
        ----------
        n : int
        row_bytes : float, optional
            Bytes of working memory of one row; those of the values by default.
        """
        require_memory(4 * self.row_bytes, f"{self.dim} functions at one point", "Lower the cutoff.")
        per_row = max(self.row_bytes if row_bytes is None else row_bytes, 8.0)
        yield from chunk_ranges(n, per_row)
