"""Tensors that flows of rotations leave alone, found among those of weight zero.

A generic field X of the algebra turns planes of R^d. In complex coordinates along these planes a unit tensor
u_i ⊗ u_j ⊗ … turns with the sum of the speeds of its indices, its *weight*. What all flows leave alone, X leaves alone:
it is combined from unit tensors of weight zero, and there are few of them (511 of 16,807 for five indices and SO(7)).
The other fields decide among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._random import OWN_SEED
from specavg._reporting import reported
from specavg.groups._index_symmetry import IndexSymmetry
from specavg.invariants._certified_null_space import (
    FixedSpace,
    UnclearRank,
    clear_zeros,
    common_null_space,
    rounding,
    triangular,
)
from specavg.isometries import Orthogonal, SignedPermutation

_TRIES = 16  # generic fields, of which the one with the clearest weights is taken: 0.3 ms each
_ROUNDING = 1e-15  # entries of fields in complex coordinates that are zeros: the largest is 1
_SAME = 1e-11  # weights nearer than this are the same: the fastest plane has speed 1, and rounding is 1e-15


def fixed_tensors(
    index: IndexSymmetry, maps: Sequence[tuple[SignedPermutation | Orthogonal, int]], velocities: Sequence[Array]
) -> FixedSpace:
    """The tensors, by their components, that flows exp(tA) and maps T ↦ sign · (g ⊗ g ⊗ …) T leave alone.

    No matrix of all components is made: with N tensors of weight zero and r indices of d values, the time is that of
    the eigenvectors of an N × N matrix, and the memory that of this matrix and of the tensors that are found.

    Parameters
    ----------
    index : IndexSymmetry
    maps : sequence of (isometry, int)
        Orthogonal maps g of vectors, each with a sign.
    velocities : sequence of (d, d) ndarray
        Antisymmetric matrices A, at least one of them not zero.

    Examples
    --------
    >>> from specavg.groups._index_symmetry import index_symmetry
    >>> around_z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> fixed_tensors(index_symmetry("ij", 3), [], [around_z]).dim  # zz, xx + yy and xy − yx
    3
    """
    fields = [A / np.abs(A).max() for A in velocities if A.any()]  # how fast a field flows changes nothing
    frame, weights = _frame(fields, index.rank)
    sums = np.abs(_sums(index, weights))
    still = np.flatnonzero(clear_zeros(sums, rounding(index.dim)))
    _require(index, len(still), len(fields))
    gap = float(np.where(sums > rounding(index.dim), sums, np.inf).min(initial=np.inf))
    real = _real_coordinates(index, still, weights)
    changes = [_change(index, still, frame.conj().T @ A @ frame, real) for A in fields]
    found = common_null_space(changes, index.dim)
    basis = triangular(_components(index, still, frame, real @ found.basis))
    gap = min(gap, found.gap)
    if maps and basis.shape[1]:
        together = common_null_space([_moved(index, g, sign, basis) - basis for g, sign in maps], index.dim)
        basis, gap = basis @ together.basis, min(gap, together.gap)
    residual = _residual(index, maps, fields, basis)
    if residual > 100 * rounding(index.dim):
        raise UnclearRank(
            f"a tensor that should not move moves by {residual:.2g}, more than rounding "
            f"({100 * rounding(index.dim):.1e}): are the fields and generators accurate to rounding?"
        )
    return FixedSpace(basis, "null space", gap, residual)


def _require(index: IndexSymmetry, still: int, fields: int) -> None:
    """Refuse, before it is made, what does not fit in memory."""
    changes = 2 * 16.0 * 3 * still * index.rank * index.size * fields  # real and imaginary parts, and their transposes
    require_memory(
        8.0 * 5 * still**2 + changes,
        f"the invariants among {still} unit tensors of weight zero (of {index.dim} components)",
        "Take a lower rank, or more index symmetries.",
    )


def _frame(fields: Sequence[Array], rank: int) -> tuple[NDArray[np.complex128], Array]:
    """Orthonormal complex coordinates of R^d in which a generic field is diagonal, and its speed along each of them.

    Coordinates of speeds ±s are conjugate to each other, and those of speed 0 are real: in the order s, −s, 0.
    """
    rng = np.random.default_rng(OWN_SEED)
    best, clearest = np.zeros_like(fields[0]), -1.0
    for _ in range(_TRIES):
        X = _generic(fields, rng)
        clear = _clear(np.asarray(np.linalg.eigvalsh(1j * X), dtype=np.float64), rank)
        if clear > clearest:
            best, clearest = X, clear
    values, vectors = np.linalg.eigh(1j * best)
    turning = values > _SAME
    u = vectors[:, turning].conj()  # the conjugate has the speed −s
    planes = np.hstack([np.real(u), np.imag(u)])
    fixed = np.linalg.svd(planes)[0][:, planes.shape[1] :]
    speeds = values[turning]
    return np.hstack([u, u.conj(), fixed]), np.concatenate([speeds, -speeds, np.zeros(fixed.shape[1])])


def _generic(fields: Sequence[Array], rng: np.random.Generator) -> Array:
    """A random element of the algebra of some fields, with brackets of brackets, whose fastest plane has speed 1."""
    X = np.tensordot(rng.normal(size=len(fields)), np.asarray(fields), axes=1)
    for _ in range(4):  # which fills so(7) from two fields that generate it
        Y = np.tensordot(rng.normal(size=len(fields)), np.asarray(fields), axes=1)
        bracket = X @ Y - Y @ X
        X = X + bracket / max(1.0, float(np.abs(bracket).max()))
    return X / np.linalg.norm(X, 2)


def _clear(speeds: Array, rank: int) -> float:
    """The smallest weight that is not zero: sums of `rank` speeds, and differences of two."""
    sums = np.zeros(1)
    for _ in range(rank):
        sums = np.unique(np.round(np.add.outer(sums, speeds), 10))
    both = np.abs(np.concatenate([sums, np.subtract.outer(speeds, speeds).ravel()]))
    return float(both[both > 10 * _SAME].min(initial=np.inf))


def _sums(index: IndexSymmetry, weights: Array) -> Array:
    """The weight of each component."""  # (dim,)
    return weights[index.entries].sum(axis=1)


def _real_coordinates(index: IndexSymmetry, still: NDArray[np.intp], weights: Array) -> Any:
    """The unitary matrix from real coordinates of real tensors of weight zero to their complex components."""
    from scipy.sparse import csr_array

    planes = int((weights > 0).sum())
    conjugate = np.arange(index.size)
    conjugate[: 2 * planes] = np.roll(conjugate[: 2 * planes], planes)
    partner, sign = index.relabelled(conjugate, still)
    partner, here = np.searchsorted(still, partner), np.arange(len(still))
    alone, first = partner == here, partner > here
    pair, other, s = here[first], partner[first], sign[first] * 0.5**0.5
    r = np.full(len(pair), 0.5**0.5)
    entries = [
        (here[alone], here[alone], np.where(sign[alone] > 0, 1.0, 1j)),
        (pair, pair, r),  # (e + ē) / √2
        (other, pair, s),
        (pair, other, 1j * r),  # i (e − ē) / √2
        (other, other, -1j * s),
    ]
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return csr_array((value, (row, column)), shape=(len(still), len(still)))


def _change(index: IndexSymmetry, still: NDArray[np.intp], A: NDArray[np.complex128], real: Any) -> Any:
    """What a field makes of tensors of weight zero in real coordinates: real parts, then imaginary parts."""
    from scipy.sparse import csr_array, vstack

    row, column, value = index.velocity_entries(np.where(np.abs(A) > _ROUNDING, A, 0.0), still)
    reached, row = np.unique(row, return_inverse=True)
    B = csr_array((value, (row, column)), shape=(len(reached), len(still))) @ real
    return vstack([B.real, B.imag], format="csr")


def _components(index: IndexSymmetry, still: NDArray[np.intp], frame: NDArray[Any], found: NDArray[Any]) -> Array:
    """The components in R^d of real tensors that are given by their complex components of weight zero."""
    count = index.size**index.rank
    require_memory(
        8.0 * (4 * found.shape[1] + 8) * count,
        f"{found.shape[1]} tensors with {count} entries each",
        "Take fewer dimensions or a lower rank.",
    )
    basis = np.empty((index.dim, found.shape[1]))
    for i, column in enumerate(reported(found.T, "invariant tensors", "tensors", found.shape[1])):
        parts = np.zeros((2, index.dim))
        parts[0, still], parts[1, still] = np.real(column), np.imag(column)
        T = index.tensors(parts)
        Z = T[0] + 1j * T[1]
        for axis in range(index.rank):
            Z = np.moveaxis(np.tensordot(Z, frame, axes=(axis, 1)), -1, axis)
        basis[:, i] = index.components_of_nearest(np.real(Z))
    return basis


def _residual(
    index: IndexSymmetry,
    maps: Sequence[tuple[SignedPermutation | Orthogonal, int]],
    fields: Sequence[Array],
    basis: Array,
) -> float:
    """How far a map or a field moves a column, at most."""
    from scipy.sparse import csr_array

    largest = 0.0
    for g, sign in maps:
        largest = max(largest, _longest(_moved(index, g, sign, basis) - basis))
    for A in fields if basis.shape[1] else ():
        row, column, value = index.velocity_entries(A, np.arange(index.dim))
        largest = max(largest, _longest(csr_array((value, (row, column)), shape=(index.dim, index.dim)) @ basis))
    return largest


def _longest(columns: Array) -> float:
    return float(np.linalg.norm(columns, axis=0).max(initial=0.0))


def _moved(index: IndexSymmetry, g: SignedPermutation | Orthogonal, sign: int, basis: Array) -> Array:
    """Columns of components, moved by a map of vectors."""
    return sign * index.moved_components(np.asarray(g.matrix, dtype=float), basis.T).T
