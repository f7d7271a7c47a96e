"""The irreducible types of O(n) as real orthogonal matrices, built one box at a time.

A type λ lies once in μ ⊗ Rⁿ, μ being λ without the last box of its last row, and there it is an eigenspace of the
coupling Σ ρ_μ(E_ij) ⊗ E_ij. Eigenvalues of the coupling are integers (contents of boxes), so the eigenspace is one
or more apart from the others, and its dimension is known exactly: nothing is left to a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.spaces._orthogonal_types import Partition, associate, type_dim

__all__ = ["Irrep", "givens", "irrep"]

Array = NDArray[np.float64]
_WORKING_SET = 1 << 20  # numbers per chunk of points


@final
@dataclass(frozen=True, eq=False)
class Irrep:
    """One type of O(n): ρ(E_ij) for the turns in the coordinate planes, and ρ of the last coordinate's reflection.

    Only types with at most n/2 rows are built; the others are these times the determinant.
    """

    shape: Partition
    n: int
    generators: dict[tuple[int, int], Array] = field(repr=False)  # (m, m) each, antisymmetric
    reflection: Array = field(repr=False)  # (m, m)

    @property
    def dim(self) -> int:
        """The dimension m."""
        return len(self.reflection)

    def fixed_vectors(self, k: int, count: int, *, det: bool) -> Array:
        """Orthonormal vectors fixed by O(n − k) on the last coordinates, or multiplied by its determinant."""
        # Casimir of so(n − k) plus the wrong reflections: integer eigenvalues, the smallest above 0 at least 1.
        sign = -1.0 if det else 1.0
        operator = 0.5 * (np.eye(self.dim) - sign * self.reflection)
        for i, j in combinations(range(k, self.n), 2):
            E = self.generators[i, j]
            operator = operator - E @ E
        return _eigenspace(operator, 0.0, count, f"the vectors of {self.shape} fixed by O({self.n - k})")

    def turned(self, W: Array, turns: list[tuple[int, Array]]) -> Array:
        """ρ(g) W for g the product of plane turns, the last one applied first.

        Parameters
        ----------
        W : ndarray of shape (m, c)
        turns : list of (plane, angles)
            Turns in the planes (i, i + 1), with one angle per point, of shape (N,).

        Returns
        -------
        ndarray of shape (N, m, c)
        """
        m, c = W.shape
        N = len(turns[0][1]) if turns else 1
        moved = np.empty((N, m, c))
        step = max(1, _WORKING_SET // (m * c))
        for start in range(0, N, step):
            rows = slice(start, min(start + step, N))
            state = np.repeat(W[:, :, None], rows.stop - start, axis=2)  # (m, c, points)
            before: int | None = None
            for plane, angles in reversed(turns):
                change = self._change(before, plane)
                state = (change @ state.reshape(m, -1)).reshape(state.shape)
                _turn(state, self._planes[plane][1], angles[rows])
                before = plane
            if before is not None:
                state = (self._planes[before][0] @ state.reshape(m, -1)).reshape(state.shape)
            moved[rows] = state.transpose(2, 0, 1)
        return moved

    def matrix(self, A: Array, W: Array | None = None) -> Array:
        """ρ(A), or ρ(A) W, for an orthogonal matrix A, proper or not."""
        start = np.eye(self.dim) if W is None else W
        if np.linalg.det(A) < 0:
            start = self.reflection @ start  # A = g · diag(1, …, 1, −1) with g proper
        return self.turned(start, givens(A[None, :, : self.n - 1]))[0]

    @cached_property
    def _planes(self) -> list[tuple[Array, Array]]:
        """For each plane (i, i + 1) a basis in which its turns are plane turns, and the integers they turn by."""
        return [_normal_form(self.generators[i, i + 1]) for i in range(self.n - 1)]

    @cached_property
    def _changes(self) -> dict[tuple[int | None, int], Array]:
        return {}

    def _change(self, before: int | None, plane: int) -> Array:
        if (before, plane) not in self._changes:
            basis = self._planes[plane][0].T
            change = basis if before is None else basis @ self._planes[before][0]
            self._changes[before, plane] = np.ascontiguousarray(change)
        return self._changes[before, plane]


def givens(X: Array) -> list[tuple[int, Array]]:
    """Turns in planes (i, i + 1) whose product has the columns of X as its first columns.

    Each column is turned into a coordinate vector from the bottom up; entries are zeroed one by one, so the
    product is X to rounding at every X.
    """  # (N, n, k), k < n
    rest = X.copy()
    turns: list[tuple[int, Array]] = []
    n, k = X.shape[1:]
    for a in range(k):
        for i in range(n - 2, a - 1, -1):
            angle = np.arctan2(rest[:, i + 1, a], rest[:, i, a])
            c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
            upper, lower = rest[:, i, a:], rest[:, i + 1, a:]
            rest[:, i, a:], rest[:, i + 1, a:] = c * upper + s * lower, c * lower - s * upper
            turns.append((i, angle))
    return turns


@lru_cache(maxsize=64)
def irrep(shape: Partition, n: int) -> Irrep:
    """The type λ of O(n) with at most n/2 rows."""
    pairs = list(combinations(range(n), 2))
    if not shape:
        return Irrep(shape, n, {pair: np.zeros((1, 1)) for pair in pairs}, np.ones((1, 1)))
    row = shape[-1] - 1
    smaller = irrep((*shape[:-1], row) if row else shape[:-1], n)
    m, dim = smaller.dim, type_dim(shape, n)
    require_memory(
        8.0 * (4.0 * (n * m) ** 2 + len(pairs) * dim**2),
        f"the type {shape} of O({n}), of dimension {dim},",
        "Lower the cutoff.",
    )
    coupling = np.zeros((n, m, n, m))
    for (i, j), E in smaller.generators.items():
        coupling[i, :, j], coupling[j, :, i] = -E, E
    content = shape[-1] - len(shape)
    vectors = _eigenspace(coupling.reshape(n * m, n * m), -content, dim, f"the type {shape} of O({n})")
    L = vectors.reshape(n, m, dim)

    def on_both(E: Array, i: int, j: int) -> Array:
        moved = np.einsum("asx,ast->xt", L, np.einsum("sr,art->ast", E, L, optimize=True), optimize=True)
        moved += L[j].T @ L[i] - L[i].T @ L[j]
        return 0.5 * (moved - moved.T)

    generators = {(i, i + 1): on_both(smaller.generators[i, i + 1], i, i + 1) for i in range(n - 1)}
    for gap in range(2, n):
        for i in range(n - gap):
            left, right = generators[i, i + gap - 1], generators[i + gap - 1, i + gap]
            product = right @ left
            generators[i, i + gap] = product - product.T  # [E_jk, E_ij], both antisymmetric
    flipped = np.einsum("sr,art->ast", smaller.reflection, L, optimize=True)
    flipped[n - 1] *= -1
    reflection = np.einsum("asx,ast->xt", L, flipped, optimize=True)
    return Irrep(shape, n, generators, 0.5 * (reflection + reflection.T))


def short_type(shape: Partition, n: int) -> tuple[Irrep, bool]:
    """The matrices of a type, and whether they are to be multiplied by the determinant."""
    if 2 * len(shape) > n:
        return irrep(associate(shape, n), n), True
    return irrep(shape, n), False


def _eigenspace(operator: Array, eigenvalue: float, count: int, what: str) -> Array:
    """An orthonormal basis of an eigenspace whose dimension is known, the same on every machine.

    An eigensolver's basis of a degenerate eigenspace is arbitrary; what is returned is the polar factor of the
    projection of fixed numbers instead, which depends on the eigenspace only.
    """
    from scipy.linalg import eigh

    _, vectors = eigh(operator, subset_by_value=(eigenvalue - 0.5, eigenvalue + 0.5))
    if vectors.shape[1] != count:
        raise ArithmeticError(f"{what}: found {vectors.shape[1]} vectors where there are {count}")
    raw = np.random.MT19937(20250713).random_raw(len(operator) * count)  # raw bits: a frozen stream
    numbers = raw.astype(np.float64).reshape(len(operator), count) / 2.0**31 - 1.0
    U, s, Vt = np.linalg.svd(vectors.T @ numbers)
    if count and s[-1] < 1e-7 * s[0]:
        raise ArithmeticError(f"{what}: no stable basis (condition {s[0] / s[-1]:.1g})")
    return vectors @ (U @ Vt)


def _normal_form(E: Array) -> tuple[Array, Array]:
    """Q and μ with E = Q diag([[0, −μ], [μ, 0]], 0) Qᵀ: columns p₁…p_h, q₁…q_h, then the null vectors."""
    values, vectors = np.linalg.eigh(-1j * E)
    real, imaginary = np.real(vectors), np.imag(vectors)
    mu = np.rint(values)
    if np.abs(values - mu).max(initial=0.0) > 1e-6:
        raise ArithmeticError(f"a plane turn has a fractional weight: {np.abs(values - mu).max():.2g} off")
    up, still = mu > 0, mu == 0
    null = np.linalg.svd(np.concatenate([real[:, still], imaginary[:, still]], axis=1))[0][:, : still.sum()]
    Q = np.concatenate([np.sqrt(2) * real[:, up], -np.sqrt(2) * imaginary[:, up], null], axis=1)
    return np.ascontiguousarray(Q), mu[up]


def _turn(state: Array, mu: Array, angles: Array) -> None:
    """Turn the pairs (p, q) of a state by μ times the angle, in place."""  # (m, c, points)
    h = len(mu)
    c, s = np.cos(mu[:, None] * angles)[:, None], np.sin(mu[:, None] * angles)[:, None]
    p, q = state[:h], state[h : 2 * h]
    state[:h], state[h : 2 * h] = c * p - s * q, s * p + c * q
