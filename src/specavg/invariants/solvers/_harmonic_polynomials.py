"""Harmonic polynomials written in orbit sums: what every group of signed permutations on a sphere shares.

Invariant homogeneous polynomials of degree k are orbit sums s_O of monomials; the harmonic ones are the null space
of the Laplacian, a small integer matrix between the orbits of degree k and those of degree k − 2, and onto, so
that the number of invariants is a difference of two counts and no rank is ever decided. On harmonics the
Fischer product <x^a, x^b> = δ_ab a! is L²(S^{d−1}) up to the constant d(d + 2)…(d + 2k − 2).

A harmonic polynomial may be written in Hermite polynomials with the *same* coefficients,
Σ c_a x^a = r^{−k} Σ c_a ∏ He_{a_i}(r x_i) for any r, because exp(−Δ/2) turns monomials into Hermite products
and leaves harmonics alone. With r = √d the terms are centred, and the cancellation of Σ x_i² = 1 against d,
which costs six digits at d = 10⁴, never happens. At small d and high degree plain monomials are better. Both
are measured, the better is used, and if neither keeps twelve digits the solver says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import components
from specavg.functions._functions import Array, Functions
from specavg.invariants.solvers._solver import Unsuitable
from specavg.invariants.solvers._stored_arrays import StoredArraysError, orthonormal
from specavg.spaces import Space

LARGEST_DEGREE = 170  # 171! is beyond floating-point numbers
_SMALL = 2**14  # entries of a matrix that takes no longer as a whole than its blocks take to be found
_AMPLIFICATION = 500.0  # terms larger than this beside their sum cost more than three digits


def harmonic_combinations(laplacian: Array) -> tuple[Array, float]:
    """An orthonormal basis of the null space of a matrix of full row rank, and by how much rounding leaves it.

    The second is the largest product of a column with a row of length one: orbit sums are invariant whatever their
    coefficients, and what rounding costs is that they are harmonic.
    """  # (p, q) -> (q, q - p)
    p, q = laplacian.shape
    Q, found = np.zeros((q, q - p)), 0
    for rows, columns in _blocks(laplacian):
        size = len(columns) - len(rows)
        block = laplacian[np.ix_(rows, columns)]
        basis = np.linalg.qr(block.T, mode="complete")[0][:, len(rows) :] if len(rows) else np.eye(size)
        Q[columns, found : found + size] = basis
        found += size
    left = np.abs(laplacian @ Q) / np.linalg.norm(laplacian, axis=1)[:, None]
    return Q, float(left.max(initial=0.0))


def _blocks(matrix: Array) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows and columns that share an entry, directly or by way of others: the Laplacian keeps parities of exponents."""
    p, q = matrix.shape
    if matrix.size <= _SMALL or not p:
        return [(np.arange(p), np.arange(q))]
    rows, columns = np.nonzero(matrix)
    label = components(p + q, rows, columns + p)
    return [(np.flatnonzero(label[:p] == i), np.flatnonzero(label[p:] == i)) for i in range(label.max() + 1)]


def better_family(degree: int, Q: Array, space: Space, n: int, sums: Callable[[bool], Functions]) -> bool:
    """Whether to write the sums ·Q in Hermite products (True) or in monomials, by what each loses at `n` points.

    `sums(hermite)` are the orbit sums in either family. Raises `Unsuitable` where neither keeps twelve digits.
    """
    if not Q.shape[1]:
        return True
    X = space.sample(n, np.random.default_rng(7))
    hermite, monomial = (_amplification(sums(family), Q, X) for family in (True, False))
    loss = min(hermite, monomial)
    if loss > _AMPLIFICATION:
        raise Unsuitable(
            f"polynomials of degree {degree} on {space!r} cancel by a factor of {loss:.1e} when written in "
            "monomials or Hermite products: twelve digits cannot be kept. Use solver='null space', or a lower cutoff."
        )
    return hermite <= monomial


def _amplification(sums: Functions, Q: Array, X: Array) -> float:
    """Size of the terms of `sums`·Q beside the results (which have mean square one), at points X."""
    values = sums.plain_values(X)  # a few points: not worth compiling for
    return float(np.sqrt(np.mean((np.abs(values) @ np.abs(Q)) ** 2, axis=0)).max())


@dataclass(frozen=True, eq=False)
class InvariantHarmonics:
    """Invariant harmonics of one degree: coefficients of normalised orbit sums, and the family to use."""

    degree: int
    Q: Array  # (orbits, invariants)
    hermite: bool

    @property
    def arrays(self) -> dict[str, Array]:
        """What a saved basis keeps."""
        return {"Q": self.Q, "hermite": np.array([float(self.hermite)])}

    @classmethod
    def of(cls, degree: int, orbits: int, arrays: Mapping[str, Array]) -> InvariantHarmonics:
        """The harmonics of a saved basis: what had these `arrays`, of this degree and with this many orbits."""
        hermite = arrays.get("hermite")
        if hermite is None or hermite.shape != (1,) or hermite[0] not in (0.0, 1.0):
            raise StoredArraysError("the array 'hermite' must hold 0 or 1")
        return cls(degree, orthonormal(arrays, "Q", orbits), bool(hermite[0]))
