"""Null spaces whose dimension is certified: a rank that the singular values leave in doubt is an error.

Symmetric matrices that fall into blocks are decomposed one block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, as_given, components
from specavg._config import require_memory

_MOSTLY_ZERO = 0.5  # where more entries than this are nonzero, one block is all there is
_WHOLE = 512  # rows: up to here all eigenvectors of a block are computed, in 50 ms at most


def independent_blocks(square: Any) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
    """The blocks into which a symmetric matrix, dense or sparse, falls: blocks of one size at a time.

    Two rows are in one block where nonzero entries join them, on either side of the diagonal: the two may differ by
    rounding. This asks for zeros to the last bit, so that nothing is lost. Fields of tensors are like this: rotations
    of five-index tensors fall into blocks of 60 and 61 of 243.

    Returns
    -------
    Iterator of (members, blocks)
        The rows of each block, of shape (number, size), and the blocks themselves, (number, size, size).

    Examples
    --------
    >>> A = np.diag([1.0, 2.0, 3.0, 4.0])
    >>> A[0, 2] = A[2, 0] = 5.0
    >>> [members.tolist() for members, _ in independent_blocks(A)]
    [[[1], [3]], [[0, 2]]]
    """
    m = square.shape[0]
    sparse = hasattr(square, "tocsr")
    entries = square.nnz if sparse else np.count_nonzero(square)
    if entries > _MOSTLY_ZERO * m * m:
        yield np.arange(m)[None], unpacked(square)[None]
        return
    packed = square.tocsr() if sparse else None
    if packed is not None:
        row, column = np.repeat(np.arange(m), np.diff(packed.indptr)), packed.indices
    else:
        row, column = np.divmod(np.flatnonzero(square != 0), m)
    label = components(m, row, column)
    order = np.argsort(label, kind="stable")  # the members of a block side by side
    sizes = np.bincount(label)
    starts = np.cumsum(sizes) - sizes
    for size in sorted(set(sizes.tolist())):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        dense = packed is None
        yield members, square[members[:, :, None], members[:, None, :]] if dense else _cut(packed, members)


def _cut(packed: Any, members: NDArray[np.intp]) -> NDArray[Any]:
    """Dense blocks of a sparse matrix, given the rows of each; nothing lies outside."""  # (b, s) -> (b, s, s)
    number, size = members.shape
    place = np.full(packed.shape[0], size)  # of a row in its block: for rows of other blocks an index out of range
    place[members] = np.arange(size)
    rows = packed[members.ravel()]
    row = np.repeat(np.arange(members.size), np.diff(rows.indptr))
    blocks = np.zeros((number, size, size), dtype=packed.dtype)
    blocks[row // size, row % size, place[rows.indices]] = rows.data
    return blocks


def small_end(blocks: NDArray[Any]) -> tuple[Array, NDArray[Any], bool]:
    """Eigenvalues and eigenvectors of symmetric blocks, and whether these are all of them.

    Of blocks with more than 512 rows only the eigenvalues below 1e-2 are computed.
    """  # (b, s, s) -> (b, r), (b, s, r)
    if blocks.shape[1] == 1:
        return np.real(blocks[:, 0]), np.ones_like(blocks), True
    if blocks.shape[1] <= _WHOLE:
        values, vectors = np.linalg.eigh(blocks)
        return values, vectors, True
    from scipy.linalg import eigh

    found = [eigh(block, subset_by_value=(-1.0, 1e-2), check_finite=False) for block in blocks]
    most = max(len(values) for values, _ in found)
    values = np.full((len(blocks), most), 1e-2)
    vectors = np.zeros((len(blocks), blocks.shape[1], most), dtype=blocks.dtype)
    for i, (some, columns) in enumerate(found):
        values[i, : len(some)], vectors[i, :, : len(some)] = some, columns
    return values, vectors, False


def unpacked(matrix: Any) -> NDArray[Any]:
    """A dense or sparse matrix as a dense one."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


# Singular values of B from the first number on are clearly not zero: rounding is 1e-13, and a rotation by 1/N of a turn
# has 2π/N. BᵀB has their squares: where one of these lies between rounding and the second number, squaring has blurred
# it, and B itself is decomposed.
_CLEAR = 1e-7
_CLEAR_SQUARE = 1e-6
# Rows up to which NumPy chooses them one by one. SciPy does so in 40 µs, of many rows in less time; to import it takes
# 0.13 s, far more than a null space of so few vectors.
_FEW_ROWS_CHOSEN = 16


class UnclearRank(ValueError):
    """The singular values do not tell how many vectors are fixed."""


@dataclass(frozen=True, eq=False)
class FixedSpace:
    """An orthonormal basis of the vectors fixed by every matrix (by its flow, if antisymmetric), with its certificate.

    Attributes
    ----------
    basis : ndarray of shape (m, r)
        Orthonormal columns.
    solver : str
        "orbits" (exact) or "null space".
    gap : float
        The smallest singular value of the stacked D(g) − I and dD(ξ) that was *not* taken for zero (a lower bound
        where only small ones were computed); infinite where no rank had to be decided.
    residual : float
        max over the matrices of the largest column norm of D(g)Q − Q, or of dD(ξ)Q.

    Examples
    --------
    >>> import specavg as sa
    >>> found = sa.invariants.fixed_space([[[0.0, 1.0], [1.0, 0.0]]])
    >>> found.basis.round(4), found.solver
    (array([[0.7071],
           [0.7071]]), 'orbits')
    """

    basis: Array
    solver: str
    gap: float
    residual: float

    @property
    def dim(self) -> int:
        """Number of independent fixed vectors."""
        return self.basis.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `basis`."""
        return self.basis.shape

    @property
    def T(self) -> Array:
        """`basis` transposed."""
        return self.basis.T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return as_given(self.basis, dtype, copy)

    def __matmul__(self, other: Any) -> Any:
        return self.basis @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.basis


def null_space(
    matrices: list[Array], fields: Sequence[Array] = (), rounding_size: int | None = None, steepness: float = 0.0
) -> FixedSpace:
    """The fixed space from a null space of the stacked D(g) − I and dD(ξ), never by luck: unclear ranks raise.

    Matrices cut out of larger ones carry the rounding of those: `rounding_size` is then the size of the larger.
    `steepness` is that of the functions (`Space.steepness`).
    """
    size = [*matrices, *fields][0].shape[0]
    for i, D in enumerate([*matrices, *fields]):
        if not np.isfinite(entries_of(D)).all():
            raise ValueError(f"matrix {i} has NaN or infinity: no null space can be certified")
    # BᵀB = Σ (2I − D − Dᵀ) + Σ AᵀA
    first, *others = [2.0 * one_like(D) - D - D.T for D in matrices] + [A.T @ A for A in fields]
    square: Any = sum(others, first)
    return _certified(
        square,
        lambda: (*(D - one_like(D) for D in matrices), *fields),
        len(matrices) + len(fields),
        rounding(rounding_size or size, steepness) * _scale(fields),
    )


def common_null_space(stacked: Sequence[Any], rounding_size: int, steepness: float = 0.0) -> FixedSpace:
    """The vectors v with Bv = 0 for every B, certified as in `null_space`.

    The matrices may be tall, D(g) − I or dD(ξ) cut to columns outside of which nothing can be fixed. They may be
    complex, and sparse.
    """
    first, *others = [B.conj().T @ B for B in stacked]
    square: Any = sum(others, first)
    return _certified(square, lambda: stacked, len(stacked), rounding(rounding_size, steepness) * _scale(stacked))


def _certified(square: Any, deviations: Callable[[], Iterable[Array]], count: int, zero: float) -> FixedSpace:
    """The null space of the `count` stacked matrices B, from BᵀB = `square` or, where squaring leaves a doubt, from B.

    `zero` is the largest singular value that is rounding.
    """
    Q, gap = _from_square(square, count) or _from_stack(list(deviations()), zero)
    residual = _residual(deviations(), Q)
    if residual > zero:  # squaring hides singular values below 1e-7: where the residual is not rounding, look
        Q, gap = _from_stack(list(deviations()), zero)
        residual = _residual(deviations(), Q)
    if residual > 100 * zero:
        raise UnclearRank(
            f"the null space of the stacked D(g) - I has residual {residual:.2g}, too large for exact invariance "
            f"(tolerance {100 * zero:.1e}): are the matrices accurate to rounding?"
        )
    return FixedSpace(Q, "null space", gap, residual)


def _residual(deviations: Iterable[Array], Q: Array) -> float:
    """max‖Bq‖ over the matrices and the columns q of Q."""
    return max((float(np.linalg.norm(B @ Q, axis=0).max(initial=0.0)) for B in deviations), default=0.0)


def rounding(size: int, steepness: float = 0.0) -> float:
    """The largest singular value of D(g) − I that can be rounding of a zero.

    Linear algebra on `size` functions of order one errs by a small multiple of ε√size. The numbers of a generator are
    known to some ε as well: its angles are off by a few ε, and D(g) by `steepness` (the degree) times as much.
    """
    # Turns of the circle by 1/3, 1/5, 1/7 and 1/12 left 1.0 ε a degree, frames of the plane 1.8 ε: 16 ε is allowed.
    return 3e-14 * np.sqrt(size) + 16 * np.finfo(float).eps * steepness


def _scale(fields: Sequence[Any]) -> float:
    """The largest sum of absolute values in a row, at least one: rounding grows with the weights of fields."""
    return max([1.0, *(float(abs(A).sum(axis=1).max(initial=0.0)) for A in fields)])


def clear_zeros(values: Array, zero: float) -> NDArray[np.bool_]:
    """Which singular values of D(g) − I are zero; raises `UnclearRank` where some are neither zero nor clearly not.

    `zero` is the largest that can be rounding.
    """
    null = values <= zero
    doubtful = values[~null & (values < _CLEAR)]
    if doubtful.size:
        raise UnclearRank(
            f"the singular values of D(g) - I leave the number of invariants in doubt: {doubtful.size} of them lie "
            f"between rounding ({zero:.1e}) and {_CLEAR:.0e} (smallest {doubtful.min():.2g}). A "
            "generator is nearly, but not exactly, the identity on a function. Give the generators exactly "
            "(permutations, Fractions of the period, integer matrices) or correct them if they are rounded: where "
            "group.structure is a point group, [turn.isometry for turn in group.structure.turns] are exact generators; "
            "along the usual axes groups.point_group('Oh') and the like have them."
        )
    return null


def _from_square(square: Any, count: int) -> tuple[Array, float] | None:
    """Eigenvectors of BᵀB for `count` matrices, or None where a small eigenvalue leaves a doubt."""
    m = square.shape[0]
    largest = float(np.abs(entries_of(square)).max(initial=0.0))
    zero = 4e-15 * count * m**0.5 * 8 * max(1.0, largest / (4 * count))
    found: list[tuple[NDArray[np.intp], Array]] = []  # rows and entries of null vectors, of some blocks each
    smallest = np.inf
    for members, blocks in independent_blocks(square):
        values, vectors, all_of_them = small_end(blocks)
        null = np.abs(values) <= zero
        smallest = min(
            smallest, float(np.where(null, np.inf, values).min(initial=np.inf)), np.inf if all_of_them else 1e-2
        )
        if smallest < _CLEAR_SQUARE:
            return None
        block, column = null.nonzero()
        if not len(block):
            continue
        entries = _turned(vectors[block, :, column])  # a null vector in each row
        for one in np.flatnonzero(null.sum(axis=1) > 1):
            entries[block == one] = triangular(entries[block == one].T).T
        found.append((members[block], entries))
    Q = np.zeros((m, sum(len(rows) for rows, _ in found)), dtype=square.dtype)
    last = 0
    for rows, entries in found:
        first, last = last, last + len(rows)
        Q[rows, np.arange(first, last)[:, None]] = entries
    return _orthonormal(Q), float(np.sqrt(smallest))


def _orthonormal(Q: Array) -> Array:
    """Nearly orthonormal columns, made orthonormal to rounding.

    The eigenvectors of one eigenvalue that LAPACK finds were off by 2e-13 with some processors. One step of Newton's
    method for the polar factor squares that.
    """
    return Q @ (1.5 * np.eye(Q.shape[1]) - 0.5 * (Q.conj().T @ Q))


def triangular(Q: Array) -> Array:
    """The orthonormal basis of the columns of `Q` in which a choice of rows is triangular, the same on every machine.

    Which basis of a null space LAPACK finds is a matter of rounding, and a model that names single functions of it
    would be too. Rows are chosen from the largest on; of equal ones, which symmetries make, the first is taken, since
    rows lose a part of their size with their number that is far above rounding.
    """
    r = Q.shape[1]
    if r <= 1:
        return _turned(Q.T).T
    U, R = np.linalg.qr(Q[_largest_rows(Q * _by_place(len(Q))[:, None])].conj().T)
    return Q @ (U * np.where(np.real(np.diagonal(R)) < 0, -1.0, 1.0))


def _turned(rows: Array) -> Array:
    """Vectors, each with a positive number where it is largest."""  # (k, m) -> (k, m)
    lead = rows[np.arange(len(rows)), np.argmax(np.abs(rows) * _by_place(rows.shape[1]), axis=1)]
    return rows * (np.conj(lead) / np.abs(lead))[:, None]


def _by_place(m: int) -> Array:
    """What rows are multiplied by, so that the first of equal ones is the largest."""
    return 1.0 - 1e-3 * np.arange(m) / m


def _largest_rows(rest: Array) -> Any:
    """As many rows as there are columns: each is the largest in what the others leave of it."""  # (m, r) -> (r,)
    r = rest.shape[1]
    if r > _FEW_ROWS_CHOSEN:
        from scipy.linalg import qr

        pivoted: Any = qr(rest.conj().T, mode="r", pivoting=True, check_finite=False)
        return pivoted[1][:r]
    chosen = np.empty(r, dtype=np.intp)
    for k in range(r):
        squares = np.einsum("ij,ij->i", rest, rest.conj()).real
        chosen[k] = i = int(np.argmax(squares))
        rest = rest - np.multiply.outer(rest @ rest[i].conj(), rest[i] / squares[i])
    return chosen


def _from_stack(deviations: list[Array], zero: float) -> tuple[Array, float]:
    """Right singular vectors of the stacked D(g) − I; singular values up to `zero` are rounding."""
    m = deviations[0].shape[1]
    require_memory(
        8.0 * 4 * len(deviations) * deviations[0].shape[0] * m,
        f"the singular values of {len(deviations)} stacked {deviations[0].shape[0]} x {m} matrices",
        "Lower the cutoff.",
    )
    R = np.linalg.qr(np.concatenate([unpacked(B) for B in deviations]), mode="r")
    _, values, vectors = np.linalg.svd(R)
    null = clear_zeros(values, zero)
    return triangular(vectors[null].conj().T), float(values[~null].min(initial=np.inf))


def entries_of(matrix: Any) -> Array:
    """The entries of a dense matrix; of a sparse one, those that are stored."""
    return matrix.data if hasattr(matrix, "tocsr") else matrix


def one_like(matrix: Any) -> Any:
    """The identity, dense or sparse as `matrix` is."""
    m = matrix.shape[0]
    if not hasattr(matrix, "tocsr"):
        return np.eye(m)
    from scipy.sparse import eye_array

    return eye_array(m, format="csr")
