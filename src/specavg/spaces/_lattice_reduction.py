"""A lattice has many bases; the functions of a torus are listed in a short one.

In a skewed basis kᵀWk is a small difference of large terms: frequencies are lost to rounding, and the box around an
ellipsoid of them is far too large. The reduction of Lenstra, Lenstra and Lovász gives a nearly orthogonal basis of the
same lattice, by exact integers.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.isometries._affine import exact_inverse

_LARGEST = 2**31  # integers of the change of basis: frequencies times these stay far below 2^63
_LOVASZ = Fraction(3, 4)
_EXACT = 1e-12  # functions of a torus are invariant to this, unless a warning says otherwise


@dataclass(frozen=True, eq=False)
class ReducedLattice:
    """A short basis `vectors` = `change` @ given basis, of the same lattice.

    A frequency k belongs to the frequency change @ k of the short basis, and a point u in periods to u @ inverse.
    """

    vectors: Array  # (d, d)
    change: NDArray[np.int64]  # (d, d), of determinant ±1
    inverse: NDArray[np.int64]  # (d, d)

    @property
    def metric(self) -> Array:
        """M with |δ|² = δᵀMδ for a displacement δ in periods of the short basis."""
        return self.vectors @ self.vectors.T

    @property
    def rounding(self) -> float:
        """How much a wave of frequency 1 of the short basis changes when coordinates of the given one are rounded."""
        return float(2 * np.pi * np.finfo(float).eps / 2 * np.abs(self.inverse).sum(axis=0).max())

    def frequencies(self, K: NDArray[np.int64]) -> NDArray[np.int64]:
        """Frequencies of the given basis from those of the short one."""  # (n, d) -> (n, d)
        return K @ self.inverse.T

    def points(self, U: Array) -> Array:
        """Points in periods of the given basis, in [0, 1), from those of the short one."""  # (n, d) -> (n, d)
        moved = U @ self.change
        return moved - np.floor(moved)

    def matrix(self, A: NDArray[np.int64]) -> Array:
        """An integer map u ↦ Au of the given coordinates, in those of the short basis; exact."""  # (d, d) -> (d, d)
        inverse, change = self.inverse.astype(object), self.change.astype(object)
        return (inverse.T @ A.astype(object) @ change.T).astype(float)


def reduced(lattice: Array) -> ReducedLattice:
    """A nearly orthogonal basis of the lattice of the rows, in exact rational arithmetic.

    Examples
    --------
    >>> import numpy as np
    >>> reduced(np.array([[1.0, 0.0], [1000.0, 1.0]])).vectors
    array([[1., 0.],
           [0., 1.]])
    """
    d = len(lattice)
    basis = [[Fraction(float(x)) for x in row] for row in lattice]
    change = [[int(i == j) for j in range(d)] for i in range(d)]
    i = 1
    while i < d:
        for j in range(i - 1, -1, -1):
            q = round(_orthogonalised(basis)[1][i][j])
            if q:
                basis[i] = [a - q * b for a, b in zip(basis[i], basis[j], strict=True)]
                change[i] = [a - q * b for a, b in zip(change[i], change[j], strict=True)]
        squares, shares = _orthogonalised(basis)
        if squares[i] >= (_LOVASZ - shares[i][i - 1] ** 2) * squares[i - 1]:
            i += 1
        else:
            basis[i - 1], basis[i] = basis[i], basis[i - 1]
            change[i - 1], change[i] = change[i], change[i - 1]
            i = max(i - 1, 1)
    _refuse_large(np.array(change, dtype=object))
    exact = np.array(change, dtype=np.int64)
    inverse = exact_inverse(exact)
    _refuse_large(inverse)
    vectors = np.array([[float(x) for x in row] for row in basis])
    found = ReducedLattice(vectors, exact, inverse)
    if found.rounding > _EXACT:
        warnings.warn(
            f"the lattice vectors are so skewed that the rounding of coordinates in periods moves a wave of the first "
            f"frequencies by up to {found.rounding:.0e}: functions are no more exact than that. Use the short basis of "
            f"the same lattice, {vectors.tolist()}, with the points X @ {found.inverse.tolist()}",
            stacklevel=2,
        )
    return found


def _orthogonalised(basis: list[list[Fraction]]) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Gram and Schmidt: the squared lengths of the orthogonal vectors, and the share of each in the later ones."""
    across: list[list[Fraction]] = []
    squares: list[Fraction] = []
    shares: list[list[Fraction]] = []
    for row in basis:
        share = [_dot(row, v) / s for v, s in zip(across, squares, strict=True)]
        rest = list(row)
        for q, v in zip(share, across, strict=True):
            rest = [a - q * b for a, b in zip(rest, v, strict=True)]
        across.append(rest)
        squares.append(_dot(rest, rest))
        shares.append(share)
    return squares, shares


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _refuse_large(integers: NDArray[Any]) -> None:
    if np.abs(integers).max() > _LARGEST:
        raise ValueError(
            "the lattice vectors are so skewed that a short basis of the same lattice differs from them by integers "
            f"above {_LARGEST}: give shorter lattice vectors"
        )
