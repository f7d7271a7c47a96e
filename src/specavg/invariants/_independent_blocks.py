"""Symmetric matrices that fall into blocks: the small end of the spectrum, one block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components

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
    """The blocks of a sparse matrix with these rows, which have no entries outside."""  # (b, s) -> (b, s, s)
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
