"""Rows of features and targets, reduced once so that each spectrum can be decomposed at little cost."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg._arrays import Array
from specavg._reporting import announced

# Functions of a smaller scale, relative to the first, are left out of a kernel matrix: thousands of them together are
# 1e-16 of its largest eigenvalue, less than its rounding.
_NEGLIGIBLE = 1e-10
# Functions of a smaller scale are left out where spectra are compared with all digits: thousands of them together are
# 1e-24 of the largest eigenvalue, a millionth of the smallest penalty.
_VANISHING = 1e-14
# Rows for each function from which on singular values take less time than a kernel matrix: 6.7 ms where that takes
# 9 ms, with 200 functions and 400 rows.
_THIN = 2
_BLOCK = 32  # columns that LAPACK takes together in a decomposition; 16 to 64 take the same time
_POWERS = 8  # of a matrix, times a vector, for its largest eigenvalue
# Rows times functions times the fewer of both from which on a decomposition is announced: about half a second.
_LONG = 1e9


@final
@dataclass(frozen=True, eq=False)
class Decomposition:
    """U and s of scaled features, and what their V is made of.

    Attributes
    ----------
    U : ndarray of shape (m, r)
    s : ndarray of shape (r,)
        Decreasing.
    W : ndarray of shape (r, r) or (D, r)
        V, or what an orthogonal matrix turns into it.
    reflectors : tuple of ndarrays or None
        That matrix, as LAPACK keeps it.
    kept : ndarray of bool of shape (D,)
        Where V is not zero.
    """

    U: Array
    s: Array
    W: Array
    reflectors: Any
    kept: NDArray[np.bool_]

    def right_vectors(self) -> Array:
        """V."""  # (D, r)
        return self.W if self.reflectors is None else self._lengthened(self.W)

    def times(self, weights: Array) -> Array:
        """V times some columns."""  # (r, k) -> (D, k)
        short = self.W @ weights
        return short if self.reflectors is None else self._lengthened(short)

    def _lengthened(self, short: Array) -> Array:
        long = np.zeros((len(self.reflectors[0]), short.shape[1]), order="F")
        long[: len(short)] = short
        long = _turned(self.reflectors, long, "N")
        if self.kept.all():
            return long
        among_all = np.zeros((len(self.kept), short.shape[1]))
        among_all[self.kept] = long
        return among_all


@final
@dataclass(frozen=True, eq=False)
class Triangle:
    """R of scaled features F with Fᵀ = QR, and Q.

    Attributes
    ----------
    R : ndarray of shape (m, m)
    reflectors : tuple of ndarrays
        Q, as LAPACK keeps it.
    kept : ndarray of bool of shape (D,)
        The functions that are in F.
    """

    R: Array
    reflectors: Any
    kept: NDArray[np.bool_]

    def with_penalty(self, relative: float) -> tuple[float, Array, Array]:
        """α, `relative` to the largest eigenvalue of FFᵀ, and U and s with FFᵀ + αI = U⁻ᵀ diag(s² + α) U⁻¹.

        Of these U, which is triangular and not orthogonal, all formulas hold that ask for (FFᵀ + αI)⁻¹ and its
        determinant, with this α alone. They take an eighth of the time of singular values, with all digits as well.
        """  # -> (), (m, m), (m,)
        m = len(self.R)
        top = self._largest_eigenvalue()
        alpha = relative * top
        tpqrt: Any = linalg.get_lapack_funcs("tpqrt", (self.R,))
        trtri: Any = linalg.get_lapack_funcs("trtri", (self.R,))
        root = np.triu(tpqrt(m, min(_BLOCK, m), self.R, alpha**0.5 * np.eye(m, order="F"))[0])
        size = np.abs(np.diagonal(root))  # √α at least
        return alpha, trtri(root)[0] * size, np.sqrt(np.maximum(size**2 - alpha, 0.0))

    def _largest_eigenvalue(self) -> float:
        """That of FFᵀ = RᵀR, by powers: to some percent at worst, which no choice of a penalty notices."""
        v = self.R[0]
        for _ in range(_POWERS):
            v = (self.R @ (v / np.linalg.norm(v))) @ self.R
        return float(np.linalg.norm(v))


@final
@dataclass(frozen=True, eq=False)
class LongVectors:
    """V of scaled features F = core · scale = U diag(s) Vᵀ: as long as there are functions, and found in parts.

    Attributes
    ----------
    core : ndarray of shape (m, D)
    scale : ndarray of shape (D,)
    U : ndarray of shape (m, r)
    s : ndarray of shape (r,)
        Positive, decreasing.
    found : Decomposition or None
        With all digits; without it V = Fᵀ U / s.
    """

    core: Array
    scale: Array
    U: Array
    s: Array
    found: Decomposition | None = None

    def all(self) -> Array:
        """V."""  # (D, r)
        return (self.core * self.scale).T @ (self.U / self.s) if self.found is None else self.found.right_vectors()

    def times(self, weights: Array) -> Array:
        """V times some columns."""  # (r, k) -> (D, k)
        if self.found is not None:
            return self.found.times(weights)
        return self.scale[:, None] * (self.core.T @ (self.U @ (weights / self.s[:, None])))

    def reached(self, functions: NDArray[np.intp]) -> Array:
        """FᵀU = V diag(s) of some functions, to the rounding of F and without V."""  # (k,) -> (k, r)
        return self.scale[functions, None] * (self.core[:, functions].T @ self.U)

    def along(self, first: int) -> tuple[Array, Array]:
        """FᵀU of the first directions, and the squares of the columns of F."""  # (D, first), (D,)
        squares = np.einsum("ij,ij->j", self.core, self.core) * self.scale**2
        return self.scale[:, None] * (self.core.T @ self.U[:, :first]), squares


@final
class ReducedRows:
    """Weighted rows in an orthonormal basis of the complement of the k functions that are not penalised.

    Attributes
    ----------
    root : ndarray of shape (k, k)
        R of the QR decomposition of the k functions.
    free : ndarray of shape (n, k)
        Q of the same.
    along : tuple of ndarrays of shapes (k, D) and (k, q)
        The parts of features and targets along the columns of `free`.
    squares : ndarray of shape (q,)
        The sum of squares of each target in the complement.
    core : ndarray of shape (m, D)
        The features in the complement, with at most as many rows as columns: one QR serves every spectrum.
    Y : ndarray of shape (m, q)
        The targets in the same basis.
    rest : ndarray of shape (n, q)
        The part of the targets that no feature explains, in the rows that were given.
    """

    def __init__(self, constants: Array, features: Array, targets: Array) -> None:
        k = constants.shape[1]
        factors: Any = linalg.qr(constants, mode="raw", check_finite=False) if k else ((None, None), np.zeros((0, 0)))
        self._factors, R = factors
        self.root = R[:k]
        self.free = self._applied(np.eye(len(constants), k), "N")
        F, Y = self._applied(features, "T"), self._applied(targets, "T")
        self.along = F[:k], Y[:k]
        core, Y = F[k:], Y[k:]
        self.squares = np.sum(Y**2, axis=0)
        self._Q: Array | None = None
        rest = np.zeros_like(Y)
        if core.shape[0] > core.shape[1]:
            with _announced(*core.shape):
                thin: Any = linalg.qr(core, mode="economic", check_finite=False)
            Q, core = thin
            self._Q, projected = Q, Q.T @ Y
            rest, Y = Y - Q @ projected, projected
        self.core, self.Y, self.rest = core, Y, self._back(rest)

    @property
    def is_wide(self) -> bool:
        """Whether there are more functions than rows."""
        return self.core.shape[0] < self.core.shape[1]

    def decomposed(self, scale: Array) -> tuple[Array, Array, Array]:
        """U, s and V with core · scale = U diag(s) Vᵀ."""
        found = self.decomposition(scale)
        return found.U, found.s, found.right_vectors()

    def left_vectors(self, scale: Array) -> tuple[Array, Array]:
        """U and s."""
        found = self.decomposition(scale)
        return found.U, found.s

    def decomposition(self, scale: Array, triangle: Triangle | None = None) -> Decomposition:
        """U, s and V of core · scale, V as what it is made of; `triangle` is that of `scale` if it is known."""
        with _announced(*self.core.shape):
            triangle = triangle or self.triangle(scale)
            if triangle is None:
                U, s, Vt = linalg.svd(self.core * scale, full_matrices=False, check_finite=False)
                return Decomposition(U, s, Vt.T, None, np.ones(len(scale), dtype=bool))
            # V is as long as there are functions, and is not found before it is asked for.
            U, s, Vt = linalg.svd(triangle.R.T, check_finite=False)
            return Decomposition(U, s, Vt.T, triangle.reflectors, triangle.kept)

    def triangle(self, scale: Array) -> Triangle | None:
        """The triangular factor of core · scale; None where there are no more functions than rows."""
        if not self.is_wide:
            return None
        kept = scale > _VANISHING
        if np.count_nonzero(kept) < len(self.core):
            kept = np.ones_like(kept)
        F = self.core * scale if kept.all() else self.core[:, kept] * scale[kept]
        factors: Any = linalg.qr(F.T, mode="raw", overwrite_a=True, check_finite=False)
        reflectors, R = factors
        return Triangle(R[: len(self.core)], reflectors, kept)

    def few_left_vectors(self, scale: Array) -> tuple[Array, Array] | None:
        """U and s of the functions that do not vanish; None where there are as many as rows."""  # (m, r), (r,)
        kept = scale > _VANISHING
        return self._thin(kept, scale) if np.count_nonzero(kept) < len(self.core) else None

    def _thin(self, kept: NDArray[np.bool_], scale: Array) -> tuple[Array, Array]:
        return linalg.svd(self.core[:, kept] * scale[kept], full_matrices=False, check_finite=False)[:2]

    def left_vectors_by_squares(self, scale: Array) -> tuple[Array, Array]:
        """U and s by the kernel matrix: half of the digits, three times as fast.

        Fewer columns than rows where few functions count.
        """
        with _announced(*self.core.shape):
            return self._left_vectors_by_squares(scale)

    def _left_vectors_by_squares(self, scale: Array) -> tuple[Array, Array]:
        syrk: Any = linalg.get_blas_funcs("syrk", dtype=np.float64)
        kept = scale > _NEGLIGIBLE
        if np.count_nonzero(kept) * _THIN <= len(self.core):
            return self._thin(kept, scale)
        F = self.core * scale if kept.all() else self.core[:, kept] * scale[kept]
        K = syrk(1.0, F.T, trans=1)  # the upper triangle
        driver = "evd" if len(K) > 1 else "ev"  # SciPy 1.12 gives "evd" too little room for one row
        values, U = linalg.eigh(K, lower=False, driver=driver, overwrite_a=True, check_finite=False)
        return U[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))

    def in_given_rows(self, U: Array) -> Array:
        """Columns of the reduced basis in the rows that were given."""  # (m, r) -> (n, r)
        return self._back(U if self._Q is None else self._Q @ U)

    def rest_of(self, U: Array, c: Array) -> Array:
        """The part of the targets that no feature explains, and what U leaves of the others, in the rows given."""
        return self.rest if U.shape[1] == len(self.Y) else self.rest + self.in_given_rows(self.Y - U @ c)

    def _applied(self, rows: Array, transposed: str) -> Array:
        """Q or Qᵀ times rows, Q orthogonal with the k functions in its first columns."""
        return rows if self._factors[0] is None else _turned(self._factors, rows, transposed)

    def _back(self, rows: Array) -> Array:
        return self._applied(np.concatenate([np.zeros((len(self.root), rows.shape[1])), rows]), "N")


def _announced(rows: int, functions: int) -> AbstractContextManager[None]:
    """A line about a decomposition that takes long, written before it starts, where progress is asked for."""
    long = float(rows) * functions * min(rows, functions) >= _LONG
    return (
        announced(f"decomposition of {rows:,} rows by {functions:,} functions", at_once=True) if long else nullcontext()
    )


def _turned(reflectors: Any, rows: Array, transposed: str) -> Array:
    """Q or Qᵀ times rows."""
    if not rows.shape[1]:  # LAPACK takes no empty matrix
        return rows
    ormqr: Any = linalg.get_lapack_funcs("ormqr", (rows,))
    work = max(64 * rows.shape[1], 1)  # blocks of 64 columns, as LAPACK likes them
    return ormqr("L", transposed, *reflectors, rows, work)[0]
