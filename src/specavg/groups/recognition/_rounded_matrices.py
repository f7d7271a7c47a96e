"""Matrices of a finite group that were rounded, as files and printouts give them, replaced by the exact ones.

The group is listed up to a limit, with a tolerance that goes with how far the matrices are from orthogonal ones. Its
list A_g nearly is a representation. The mean of A_hᵀ A_hg over all h, made orthogonal, is nearer to one, and the error
is squared each time (Newton's method: Grove, Karcher, Ruh 1974). What comes out multiplies to rounding and lies beside
what was given, which proves that a finite group was meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.isometries import Isometry, Orthogonal, SignedPermutation

_EXACT = 3e-14  # largest |RᵀR − I| that is not questioned: computed matrices and those of fourteen digits are within
_ROUGHEST = 2e-2  # largest |RᵀR − I| of a matrix of two decimals
_MOST_ROWS = 8
_LIMIT = 480  # elements that are listed, as for point groups
# Products that differ by less are one element: 20 times the error, for words of some twenty matrices, but no less than
# the first number (elements of C480 differ by 0.013) and no more than the last (those of the icosahedron by 0.3).
_SAME = (3e-3, 20, 0.1)
_BESIDE = 3  # times the error: how far exact matrices may be from those given
# Cn and Cn+1 turn by angles that differ by 2π/n², and the least turn changes an entry by g = 2π/n: g²/40 is 1/n².
_TELLS = 1 / 40
_DECIMALS = range(2, 14)
_STEPS = 6  # the error is squared in each: 1e-2, 1e-4, 1e-8, 1e-16


def exact_matrices(generators: Iterable[Any]) -> Iterable[Any]:
    """Generators of the finite group that was meant, with a warning; those given where none is, or all are exact."""
    if hasattr(generators, "as_matrix"):  # rotations of SciPy are orthogonal to rounding
        return generators
    given = list(generators)
    matrices = [_matrix(g) for g in given]
    rows = {len(A) for A in matrices if A is not None}
    square = [A for A in matrices if A is not None and A.shape == (len(A), len(A)) and np.isfinite(A).all()]
    if len(square) < len(given) or len(rows) != 1 or max(rows) > _MOST_ROWS:
        return given
    R = np.array(square)
    off = float(np.abs(R.mT @ R - np.eye(R.shape[1])).max())
    if not _EXACT < off < _ROUGHEST:
        return given
    last = next((10.0**-k for k in _DECIMALS if (R.round(k) == R).all()), 0.0)
    off = max(off, last)  # c² + s² may be nearer to 1 by chance
    least, times, most = _SAME
    same = min(max(least, times * off), most)
    elements = _representation(_listed(_orthonormal(R), same))
    if elements is None or len(elements) == 1:
        return given
    exact = elements[[int(np.abs(elements - A).max(axis=(1, 2)).argmin()) for A in R]]
    moved = float(np.abs(exact - R).max())
    gap = float(np.abs(elements[1:] - elements[0]).max(axis=(1, 2)).min())
    if moved > min(_BESIDE * off, _TELLS * gap**2):
        return given
    warnings.warn(
        f"the matrices are those of a finite group of {len(elements)} elements to {moved:.1g}, as rounding leaves "
        "them, and were replaced by exact ones: rounded matrices generate an infinite group, with fewer invariants.",
        stacklevel=3,
    )
    return list(exact)


def _matrix(g: Any) -> Array | None:
    """The matrix that was given, or that a linear isometry has."""
    if isinstance(g, Isometry):
        return np.asarray(g.matrix, dtype=float) if isinstance(g, SignedPermutation | Orthogonal) else None
    try:
        A = np.asarray(g)
    except (TypeError, ValueError):
        return None
    return A.astype(float) if A.ndim == 2 and A.dtype.kind in "fiu" else None


def _orthonormal(R: Array) -> Array:
    """The nearest orthogonal matrices."""  # (n, d, d)
    U, _, Vt = np.linalg.svd(R)
    return np.asarray(U @ Vt, dtype=np.float64)


def _listed(generators: Array, same: float) -> Array | None:
    """One matrix for each element, the identity first; None where they are too many or not clearly apart."""
    known = np.eye(generators.shape[1])[None]
    new = known
    while len(new):
        start = len(known)
        for product in (new[:, None] @ generators).reshape(-1, *known.shape[1:]):
            nearest = float(np.abs(known - product).max(axis=(1, 2)).min())
            if same < nearest < 2 * same or len(known) > _LIMIT:
                return None
            if nearest >= same:
                known = np.concatenate([known, product[None]])
        new = known[start:]
    return known


def _representation(elements: Array | None) -> Array | None:
    """The exact representation beside a list that nearly is one; None where there is none."""
    from scipy.spatial import KDTree  # only here: groups need NumPy alone

    if elements is None:
        return None
    n, d, _ = elements.shape
    products = (elements[:, None] @ elements).reshape(n * n, d * d)
    table: NDArray[np.intp] = KDTree(elements.reshape(n, -1)).query(products)[1].reshape(n, n)  # hg for each h and g
    if any(len(set(row)) < n for row in table.tolist()):
        return None
    for _ in range(_STEPS):
        elements = _orthonormal(np.einsum("hji,hgjk->gik", elements, elements[table]) / n)
    closing = float(np.abs(elements[:, None] @ elements - elements[table]).max())
    return elements if closing < _EXACT else None
