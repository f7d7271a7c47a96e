"""Symmetric matrices that fall into blocks: the small end of the spectrum, one block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import components

__all__ = ["independent_blocks", "small_end", "unpacked"]

_MOSTLY_ZERO = 0.5  # where more entries than this are nonzero, one block is all there is
_WHOLE = 512  # rows: up to here all eigenvectors of a block are computed, in 50 ms at most


def independent_blocks(square: Any) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
    """The blocks into which a symmetric matrix, dense or sparse, falls: blocks of one size at a time.

    Two rows are in one block where nonzero entries join them. This asks for zeros to the last bit, so that nothing is
    lost. Fields of tensors are like this: rotations of five-index tensors fall into blocks of 60 and 61 of 243.

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
    if sparse:
        packed = square.tocsr()
        row, column, entry = np.repeat(np.arange(m), np.diff(packed.indptr)), packed.indices, packed.data
    else:
        place = np.flatnonzero(square != 0)
        row, column, entry = place // m, place % m, square.ravel()[place]
    label = components(m, row, column)
    order = np.argsort(label, kind="stable")  # the members of a block side by side
    sizes = np.bincount(label)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(m, dtype=np.intp)  # of a row in its block
    place[order] = np.arange(m) - np.repeat(starts, sizes)
    block, row, column = label[row], place[row], place[column]
    by_size = np.argsort(sizes[block], kind="stable")
    ends = np.cumsum(np.bincount(sizes[block]))
    for size in np.flatnonzero(np.bincount(sizes)):
        chosen = np.flatnonzero(sizes == size)
        number = np.empty(len(sizes), dtype=np.intp)
        number[chosen] = np.arange(len(chosen))
        here = by_size[ends[size - 1] : ends[size]] if size < len(ends) else by_size[:0]
        blocks = np.zeros((len(chosen), size, size), dtype=entry.dtype)
        blocks[number[block[here]], row[here], column[here]] = entry[here]
        yield order[starts[chosen][:, None] + np.arange(size)], blocks


def small_end(blocks: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any], bool]:
    """Eigenvalues and eigenvectors of symmetric blocks, and whether these are all of them.

    Of blocks with more than 512 rows only the eigenvalues below 1e-2 are computed.
    """  # (b, s, s) -> (b, r), (b, s, r)
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
