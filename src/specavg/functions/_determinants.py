"""Antisymmetric functions of copies: determinants of one-copy functions (Slater determinants).

With orthonormal ψ on one copy, the functions det[ψ_{a_j}(x_i)] / √m! for a_1 < … < a_m are orthonormal on m copies, and
change their sign when two copies are exchanged.

Determinants are computed by Gaussian elimination, column by column. Sets {a_1, …, a_m} with the same first functions
share the elimination of these columns. When m − 1 columns are eliminated, one row of the elimination matrix has the
cofactors of the last column. A determinant whose first m − 1 functions are shared therefore takes O(m) operations, and
no determinant takes more than O(m³).
"""

from __future__ import annotations

from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._few_rows import few_at_a_time
from specavg.functions._functions import Array, Functions

Indices = NDArray[np.intp]
# The largest condition number at which cofactors are computed from the inverse, with errors of 1e-14. Beyond it they
# are computed from singular values, which takes ten times as long.
_CONDITION = 100.0
Branches: TypeAlias = "dict[int, Branches] | tuple[Indices, Indices]"
"""All sets with the same first functions: by the next function, or the last functions and the places of the sets."""


@final
class Determinants(Functions):
    """det[ψ_{a_j}(x_i)] / √m!, one for each set of m one-copy functions.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        The number of copies, m.
    sets : array of int, shape (dim, m)
        The functions a_1 < … < a_m of each determinant, as places in `one_copy`.
    """

    def __init__(self, one_copy: Functions, copies: int, sets: NDArray[np.integer]) -> None:
        if sets.shape[1] != copies or np.any(np.diff(sets, axis=1) <= 0):
            raise ValueError(f"a determinant of {copies} copies needs {copies} different functions in increasing order")
        self._one_copy = one_copy
        self._m = copies
        self.dim = len(sets)
        self._sets = np.asarray(sets, dtype=np.intp)
        self._tree = _branches(self._sets, np.arange(len(sets)), 0)

    @property
    def row_bytes(self) -> float:
        one_copy = self._m * (self._one_copy.row_bytes + 8.0 * self._one_copy.dim)
        return one_copy + 8.0 * (self._m**2 * (2 + _alive(self._tree)) + 2 * self.dim)

    def values(self, X: Array) -> Array:
        copies = self._one_copy_values(X)
        values = np.empty((len(X), self.dim))
        eliminated = np.repeat(np.eye(self._m)[None], len(X), axis=0)
        _fill(self._tree, copies, eliminated, np.ones(len(X)), 0, values)
        return values

    def gradient(self, X: Array) -> Array:
        m, columns = self._m, np.sqrt(np.arange(1, self._m + 1))
        copies = self._one_copy_values(X)
        slopes = few_at_a_time(len(X), self._one_copy.gradient, X.reshape(len(X) * m, -1))
        slopes = slopes.reshape(len(X), m, self._one_copy.dim, X.shape[1] // m)
        gradient = np.empty((len(X), self.dim, m, slopes.shape[3]))
        for i, a in enumerate(self._sets):
            cofactors = _cofactors(copies[:, :, a] / columns) / columns
            gradient[:, i] = np.einsum("nij,nijf->nif", cofactors, slopes[:, :, a])
        return gradient.reshape(len(X), self.dim, -1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        combined, columns = np.empty((*X.shape, C.shape[1])), np.sqrt(np.arange(1, self._m + 1))
        for rows in self.chunks(len(X), (1 + C.shape[1]) * self.row_bytes):
            copies, flat = self._one_copy_values(X[rows]), X[rows].reshape(-1, X.shape[1] // self._m)
            by_value = np.zeros((C.shape[1], *copies.shape))  # derivatives of the combinations by all ψ_a(x_i)
            for c, a in zip(C, self._sets, strict=True):
                by_value[..., a] += c[:, None, None, None] * (_cofactors(copies[:, :, a] / columns) / columns)
            for q, W in enumerate(by_value):
                flat_W = W.reshape(len(flat), -1)
                slopes = few_at_a_time(len(copies), self._one_copy.pointwise_gradient, flat, flat_W)
                combined[rows, :, q] = slopes.reshape(len(copies), -1)
        return combined

    def _one_copy_values(self, X: Array) -> Array:
        """The values of all ψ at every copy."""  # (n, n_features) -> (n, m, ψ)
        flat = X.reshape(len(X) * self._m, -1)
        return few_at_a_time(len(X), self._one_copy.values, flat).reshape(len(X), self._m, -1)


def _cofactors(A: Array) -> Array:
    """The derivatives of determinants by their entries, also where a determinant is zero."""  # (n, m, m) -> (n, m, m)
    determinant = np.linalg.det(A)
    inverse = np.linalg.inv(np.where(determinant[:, None, None] == 0, np.eye(A.shape[1]), A))
    cofactors = determinant[:, None, None] * inverse.transpose(0, 2, 1)
    size = np.abs(A).max(axis=(1, 2)) * np.abs(inverse).max(axis=(1, 2))
    hard = ~(size < _CONDITION) | (determinant == 0)
    if hard.any():
        cofactors[hard] = _cofactors_by_singular_values(A[hard])
    return cofactors


def _cofactors_by_singular_values(A: Array) -> Array:
    """The cofactors of U diag(s) Vᵀ: det U · det V · U diag(∏ of all other s) Vᵀ."""  # (n, m, m) -> (n, m, m)
    U, s, Vt = np.linalg.svd(A)
    m = A.shape[1]
    others = np.stack([np.prod(np.delete(s, i, axis=1), axis=1) for i in range(m)], axis=1)
    sign = np.linalg.det(U) * np.linalg.det(Vt)
    return (U * (sign[:, None] * others)[:, None, :]) @ Vt


def _branches(sets: Indices, rows: Indices, level: int) -> Branches:
    """The branches of the sets in `rows`, which have the first `level` functions in common."""
    column = sets[rows, level]
    if level == sets.shape[1] - 1:
        return column, rows
    return {int(a): _branches(sets, rows[column == a], level + 1) for a in np.unique(column)}


def _alive(tree: Branches) -> int:
    """How many elimination matrices `_fill` keeps at once: a branch that is not the last works on a copy."""
    if isinstance(tree, tuple):
        return 0
    needs = [_alive(branch) for branch in tree.values()]
    return max([1 + need for need in needs[:-1]] + needs[-1:], default=0)


def _fill(tree: Branches, copies: Array, M: Array, factor: Array, level: int, values: Array) -> None:
    """Write the determinants of all sets of a branch to `values`.

    Parameters
    ----------
    tree : Branches
        The sets, which have the first `level` functions in common.
    copies : ndarray of shape (n, m, ψ)
        The values of all ψ at every copy.
    M : ndarray of shape (n, m, m)
        The elimination matrix of these functions: M times their columns is upper triangular. It is overwritten.
    factor : ndarray of shape (n,)
        The signed product of the pivots so far, divided by √level!.
    level : int
    values : ndarray of shape (n, dim)
    """
    m = M.shape[1]
    if isinstance(tree, tuple):
        columns, places = tree
        cofactors = M[:, m - 1, :] * (factor / np.sqrt(m))[:, None]
        values[:, places] = np.matmul(cofactors[:, None, :], copies[:, :, columns])[:, 0]
        return
    point = np.arange(len(M))
    last = next(reversed(tree))
    for a, branch in tree.items():
        E = M if a == last else M.copy()
        w = np.matmul(E[:, level:], copies[:, :, a, None])[:, :, 0]  # the new column, in rows without a pivot
        row = np.abs(w).argmax(axis=1)
        pivot = w[point, row]
        # Swap the row of the pivot with the first of these rows: the sign of the determinant changes.
        w[point, row] = w[:, 0]
        chosen = E[point, level + row].copy()
        E[point, level + row] = E[:, level]
        E[:, level] = chosen
        sign = np.where(row == 0, 1.0, -1.0)
        nonzero = np.where(pivot == 0, 1.0, pivot)  # if the pivot is zero, so are w and the determinant
        E[:, level + 1 :] -= (w[:, 1:] / nonzero[:, None])[:, :, None] * chosen[:, None, :]
        # A factor 1/√(level + 1) for each column makes 1/√m!, without an overflow on the way.
        _fill(branch, copies, E, factor * sign * pivot / np.sqrt(level + 1), level + 1, values)
