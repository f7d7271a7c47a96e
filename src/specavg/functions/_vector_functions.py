"""Families of vector functions: what an equivariant basis evaluates, sums over data, and combines."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._immutable import PickledAsMade
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._functions import VALUES_REMEDY, Functions, chunk_ranges, sums_and_gram

Indices = NDArray[np.intp]


class VectorFunctions(PickledAsMade, abc.ABC):
    """A family of finitely many functions F_1, …, F_dim with p outputs: values, sums against data, combinations.

    Gradients are by the columns of X, for every output.
    """

    dim: int  # the number of vector functions
    n_outputs: int  # p

    @property
    def n_rows(self) -> int:
        """How many independent numbers a value has at one point: 2 for tangent vectors of S², which have 3 outputs."""
        return self.n_outputs

    def rows(self, X: Array, values: Array) -> Array:
        """The independent numbers of `values`: components along orthonormal directions, which depend on the point."""
        # (n, n_features), (n, p, ...) -> (n, n_rows, ...)
        return values

    def possible(self, X: Array, Y: Array) -> Array:
        """Targets without what no function of the family has, as the normal component on a sphere."""
        # (n, p) -> (n, p)
        return Y

    @property
    @abc.abstractmethod
    def row_bytes(self) -> float:
        """Bytes of working memory that the values at one point take."""

    @abc.abstractmethod
    def values(self, X: Array) -> Array:
        """Values at one chunk of checked points."""  # (n, n_features) -> (n, p, dim)

    @abc.abstractmethod
    def gradient(self, X: Array) -> Array:
        """Gradients of every output at one chunk of checked points."""  # (n, n_features) -> (n, n_features, p, dim)

    @property
    def summands(self) -> list[Summand]:
        """The functions, grouped by summands of the outputs; a single group of all where no summands are known."""
        return [Summand(self, np.eye(self.n_outputs)[None], np.arange(self.dim)[None])]

    def correlate(self, X: Array, Y: Array) -> Array:
        """Σ F_j(x)·y over all points, for one target y or for q of them."""  # (n, p[, q]) -> (dim[, q])
        terms = (np.tensordot(self.values(X[rows]), Y[rows], ((0, 1), (0, 1))) for rows in self.chunks(len(X)))
        return compensated_sum(terms, (self.dim, *Y.shape[2:]))

    def combine(self, X: Array, c: Array) -> Array:
        """Σ_j c_j F_j(x), for one column of coefficients or for q of them."""  # (dim[, q]) -> (n, p[, q])
        total = np.empty((len(X), self.n_outputs, *c.shape[1:]))
        for rows in self.chunks(len(X)):
            total[rows] = self.values(X[rows]) @ c
        return total

    def combine_gradient(self, X: Array, c: Array) -> Array:
        """The gradient of every output of Σ_j c_j F_j, by the columns of X."""  # (dim[, q]) -> (n, n_features, p[, q])
        total = np.empty((*X.shape, self.n_outputs, *c.shape[1:]))
        for rows in self.chunks(len(X), 1 + X.shape[1]):
            total[rows] = self.gradient(X[rows]) @ c
        return total

    def evaluate(self, X: Array) -> Array:
        """Values at checked points, in chunks."""  # (n, n_features) -> (n, p, dim)
        require_memory(
            8.0 * len(X) * self.n_outputs * self.dim,
            f"{self.dim} functions with {self.n_outputs} outputs at {len(X)} points",
            VALUES_REMEDY,
        )
        values = np.empty((len(X), self.n_outputs, self.dim))
        for rows in self.chunks(len(X)):
            values[rows] = self.values(X[rows])
        return values

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array) -> tuple[Array, Array]:
        """Σ F_j(x)·y and Σ w F_j(x)·F_l(x) over all points, in one pass; weights w ≥ 0."""
        # (n, p), (n,) -> (dim,), (dim, dim)
        p = self.n_outputs
        chunks = (
            (self.values(X[rows]).reshape(-1, self.dim), Y[rows].reshape(-1, 1), np.repeat(weights[rows], p))
            for rows in self.chunks(len(X))
        )
        sums, gram = sums_and_gram(self.dim, 1, chunks)
        return sums[:, 0], gram

    def chunks(self, n: int, times: int = 1) -> Iterator[slice]:
        """Row ranges of n rows, one for each chunk: the working memory of a row is `times` that of its values."""
        return chunk_ranges(n, times * self.row_bytes)


@final
class CombinedOutputs(VectorFunctions):
    """Vector functions each of whose outputs is a fixed combination of scalar functions φ.

    The coefficients are applied to the sums over data, and to the coefficients of a combination, and not at every
    point. Sums and combinations therefore cost as much as those of φ with p targets.

    Parameters
    ----------
    n_outputs : int
        p.
    functions : Functions
        The φ.
    matrix : ndarray or sparse array of shape (φ.dim · p, dim)
        Row k · p + i has the coefficients of φ_k in output i of every vector function.
    """

    def __init__(self, n_outputs: int, functions: Functions, matrix: Any) -> None:
        from scipy.sparse import csr_array, eye_array

        self.n_outputs = n_outputs
        C: Any = csr_array(matrix)
        self._matrix = C
        self.dim = int(C.shape[1])
        if functions.dim and C.shape[1]:
            functions = functions.restricted(abs(C).max(axis=1).toarray().reshape(functions.dim, n_outputs).max(axis=1))
        self._functions = functions
        self._by_output = [C[i::n_outputs].tocsc() for i in range(n_outputs)]
        # Whether the functions are the φ themselves: a product with a sparse identity takes as long as their values.
        self._is_identity = n_outputs == 1 and C.shape[0] == C.shape[1] == C.nnz and (eye_array(C.nnz) != C).nnz == 0

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes + 8.0 * self._functions.dim + 16.0 * self.n_outputs * self.dim

    def along(self, frame: Array, mixed: Any) -> CombinedOutputs:
        """The components, along the columns of `frame`, of combinations of the functions.

        Parameters
        ----------
        frame : ndarray of shape (p, d)
            Orthonormal columns.
        mixed : ndarray or sparse array of shape (dim, r)
            The coefficients of each combination.
        """
        return CombinedOutputs(frame.shape[1], self._functions, self._mapped(frame.T) @ mixed)

    def product(self, projector: Array) -> Any:
        """The mean products ⟨F_j, P F_l⟩, with a matrix P that acts on the outputs."""  # (p, p) -> sparse (dim, dim)
        return self._matrix.T @ self._mapped(projector)

    def _mapped(self, matrix: Array) -> Any:
        """The coefficients of `matrix` times the outputs, as in the parameter `matrix` of the class."""
        # (k, p) -> sparse (φ.dim · k, dim)
        from scipy.sparse import csr_array, eye_array, kron

        return kron(eye_array(self._functions.dim, format="csr"), csr_array(matrix), format="csr") @ self._matrix

    def values(self, X: Array) -> Array:
        scalars = self._functions.values(X)
        if self._is_identity:
            return scalars[:, None]
        values = np.empty((len(X), self.n_outputs, self.dim))
        for i, C in enumerate(self._by_output):
            values[:, i] = scalars @ C
        return values

    def gradient(self, X: Array) -> Array:
        scalars = self._functions.gradient(X)  # (n, φ.dim, n_features)
        gradient = np.empty((*X.shape, self.n_outputs, self.dim))
        for j in range(X.shape[1]):
            for i, C in enumerate(self._by_output):
                gradient[:, j, i] = scalars[:, :, j] @ C
        return gradient

    def correlate(self, X: Array, Y: Array) -> Array:
        sums = self._functions.correlate(X, np.ascontiguousarray(Y.reshape(len(Y), -1)))  # (φ.dim, p · q)
        return self._matrix.T @ sums.reshape(-1, *Y.shape[2:])

    def combine(self, X: Array, c: Array) -> Array:
        return self._functions.combine(X, self._spread(c)).reshape(len(X), self.n_outputs, *c.shape[1:])

    def combine_gradient(self, X: Array, c: Array) -> Array:
        found = self._functions.combine_gradient(X, self._spread(c))
        return found.reshape(*X.shape, self.n_outputs, *c.shape[1:])

    def _spread(self, c: Array) -> Array:
        """The coefficients of φ for every output of Σ_j c_j F_j."""  # (dim[, q]) -> (φ.dim, p · q)
        return np.ascontiguousarray((self._matrix @ c).reshape(self._functions.dim, -1))


@final
@dataclass(frozen=True, eq=False)
class Move:
    """An isometry g that permutes the columns of points and changes signs: (gx)[i] = signs[i] x[columns[i]]."""

    columns: Indices  # (n_features,)
    signs: Array  # (n_features,)

    def __call__(self, X: Array) -> Array:
        return X[:, self.columns] * self.signs

    def taken_back(self, gradient: Array) -> Array:
        """The gradient of f∘g at x, from that of f at gx."""  # (n, n_features, ...) -> (n, n_features, ...)
        back = np.empty_like(gradient)
        back[:, self.columns] = gradient * self.signs.reshape(-1, *(1,) * (gradient.ndim - 2))
        return back


@final
class MovedOutputs(VectorFunctions):
    """Vector functions whose outputs a group permutes, up to signs: all outputs follow from the first.

    Output b of a function F is F_b(x) = s_b f(g_b x) / √p, where f is a function with one output.

    Parameters
    ----------
    functions : VectorFunctions
        The functions f, with one output.
    moves : sequence of Move
        The isometries g_b, one for each output.
    signs : ndarray of shape (p,)
        The signs s_b.
    """

    def __init__(self, functions: VectorFunctions, moves: Sequence[Move], signs: Array) -> None:
        self._functions = functions
        self._moves = list(zip(moves, signs / np.sqrt(len(signs)), strict=True))  # g_b and s_b/√p of each output
        self.n_outputs = len(signs)
        self.dim = functions.dim

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes + 8.0 * self.n_outputs * self.dim

    def values(self, X: Array) -> Array:
        return np.stack([s * self._functions.values(g(X))[:, 0] for g, s in self._moves], axis=1)

    def gradient(self, X: Array) -> Array:
        slopes = ((g, s * self._functions.gradient(g(X))[:, :, 0]) for g, s in self._moves)
        return np.stack([g.taken_back(slope) for g, slope in slopes], axis=2)

    def correlate(self, X: Array, Y: Array) -> Array:
        moves = enumerate(self._moves)
        return np.sum([self._functions.correlate(g(X), s * Y[:, [b]]) for b, (g, s) in moves], axis=0)

    def combine(self, X: Array, c: Array) -> Array:
        return np.stack([s * self._functions.combine(g(X), c)[:, 0] for g, s in self._moves], axis=1)

    def combine_gradient(self, X: Array, c: Array) -> Array:
        slopes = ((g, s * self._functions.combine_gradient(g(X), c)[:, :, 0]) for g, s in self._moves)
        return np.stack([g.taken_back(slope) for g, slope in slopes], axis=2)


@final
@dataclass(frozen=True, eq=False)
class Summand:
    """The functions of equivalent summands of the outputs, which are called copies.

    All copies have the same functions f, up to the frame of the copy: the functions with p outputs are frame · f.

    Attributes
    ----------
    functions : VectorFunctions
        The functions f, with d outputs.
    frames : ndarray of shape (copies, p, d)
        For each copy the orthonormal columns that span it.
    places : ndarray of int, shape (copies, f.dim)
        The places of the functions of each copy among all functions.
    """

    functions: VectorFunctions
    frames: Array
    places: Indices

    def frame(self, copy: int) -> tuple[Indices, Array]:
        """The r outputs that are not zero for all functions of a copy, and the rows of its frame for them."""
        # (r,), (r, d)
        rows = np.flatnonzero(self.frames[copy].any(axis=1))
        return rows, self.frames[copy][rows]

    @property
    def summands(self) -> list[Summand]:
        """The summands of `functions`, with frames and places among the outputs and functions of the whole family."""
        found: list[Summand] = []
        for inner in self.functions.summands:
            frames = self.frames[:, None] @ inner.frames  # (copies, inner copies, p, inner d)
            places = self.places[:, inner.places]  # (copies, inner copies, functions)
            found.append(
                Summand(inner.functions, frames.reshape(-1, *frames.shape[2:]), places.reshape(-1, places.shape[2]))
            )
        return found

    def targets(self, Y: Array) -> Array:
        """The components of targets along the frame of every copy."""  # (n, p, ...) -> (n, d, copies, ...)
        return np.ascontiguousarray(np.moveaxis(np.tensordot(Y, self.frames, (1, 1)), (-1, -2), (1, 2)))


@final
class JoinedOutputs(VectorFunctions):
    """The functions of several summands of the outputs, joined to one family.

    Parameters
    ----------
    n_outputs : int
        p.
    summands : sequence of Summand
        Together their places are 0, …, dim − 1, each of them once.
    apart : bool
        Whether the frames of different summands are orthogonal to each other.
    """

    def __init__(self, n_outputs: int, summands: Sequence[Summand], *, apart: bool) -> None:
        self.n_outputs = n_outputs
        self._summands = list(summands)
        self._apart = apart
        self.dim = sum(summand.places.size for summand in summands)

    @property
    def row_bytes(self) -> float:
        most = max((summand.functions.row_bytes for summand in self._summands), default=8.0)
        return most + 8.0 * self.n_outputs * self.dim

    @property
    def summands(self) -> list[Summand]:
        return [inner for summand in self._summands for inner in summand.summands] if self._apart else super().summands

    def values(self, X: Array) -> Array:
        return self._placed((len(X),), lambda functions: functions.values(X))

    def gradient(self, X: Array) -> Array:
        return self._placed(X.shape, lambda functions: functions.gradient(X))

    def _placed(self, shape: tuple[int, ...], own: Callable[[VectorFunctions], Array]) -> Array:
        """Values or gradients of all functions; `own` computes those of one summand."""
        # (*shape, d, f.dim) each -> (*shape, p, dim)
        found = np.zeros((*shape, self.n_outputs, self.dim))
        for summand in self._summands:
            mine = own(summand.functions)
            for copy, places in enumerate(summand.places):
                rows, frame = summand.frame(copy)
                found[..., rows[:, None], places] = frame @ mine
        return found

    def correlate(self, X: Array, Y: Array) -> Array:
        sums = np.empty((self.dim, *Y.shape[2:]))
        for summand in self._summands:
            targets = summand.targets(Y)  # (n, d, copies, ...)
            found = summand.functions.correlate(X, targets.reshape(*targets.shape[:2], -1))
            sums[summand.places.T] = found.reshape(-1, *targets.shape[2:])
        return sums

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array) -> tuple[Array, Array]:
        if not self._apart:
            return super().correlate_and_gram(X, Y, weights)
        require_memory(
            16.0 * self.dim**2, f"the Gram matrix of {self.dim} functions", "Lower the cutoff, or take more memory."
        )
        gram = np.zeros((self.dim, self.dim))
        for summand in self._summands:  # functions of different copies, or different summands, are orthogonal
            _, own = summand.functions.correlate_and_gram(X, summand.targets(Y)[:, :, 0], weights)
            for places in summand.places:
                gram[np.ix_(places, places)] = own
        return self.correlate(X, Y), gram

    def combine(self, X: Array, c: Array) -> Array:
        return self._combined((len(X),), c, lambda functions, mine: functions.combine(X, mine))

    def combine_gradient(self, X: Array, c: Array) -> Array:
        return self._combined(X.shape, c, lambda functions, mine: functions.combine_gradient(X, mine))

    def _combined(self, shape: tuple[int, ...], c: Array, own: Callable[[VectorFunctions, Array], Array]) -> Array:
        """Values or gradients of a combination; `own` computes them for one summand, a column for each copy."""
        total, axis = np.zeros((*shape, self.n_outputs, *c.shape[1:])), len(shape)
        for summand in self._summands:
            copies, count = summand.places.shape
            found = own(summand.functions, c[summand.places.T].reshape(count, -1))
            found = found.reshape(*found.shape[: axis + 1], copies, *c.shape[1:])  # (*shape, d, copies, ...)
            total += np.moveaxis(np.tensordot(found, summand.frames, ((axis, axis + 1), (2, 0))), -1, axis)
        return total
