"""Fixed vectors of matrices that permute classes of basis vectors: a small problem for one class of each orbit.

If every matrix takes each class to one class, a fixed vector is known from its part v in one class of each orbit: its
part in class c is T_c v, with T_c the product of blocks on the way from the first class to c. And v is any vector that
every way round fixes: Schreier's generators of the stabiliser of the first class, T_{gc}ᵀ D(g) T_c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specavg.functions._functions import Array
from specavg.invariants._certified_null_space import FixedSpace, null_space


def fixed_by_classes(matrices: Sequence[Any], classes: Sequence[tuple[int, int]]) -> FixedSpace:
    """The vectors that all matrices fix, certified as in `null_space`.

    Parameters
    ----------
    matrices : sequence of sparse arrays of shape (m, m)
        Orthogonal.
    classes : sequence of (int, int)
        From where to where each class of basis vectors goes; together they are all.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> swap = csr_array(np.eye(4)[[2, 3, 0, 1]])
    >>> fixed_by_classes([swap], [(0, 2), (2, 4)]).basis.round(4)
    array([[0.7071, 0.    ],
           [0.    , 0.7071],
           [0.7071, 0.    ],
           [0.    , 0.7071]])
    """
    m = classes[-1][1]
    moves = [_moves(D, classes) for D in matrices]
    gap, columns = np.inf, [np.zeros((m, 0))]
    left = set(range(len(classes)))
    while left:
        first = min(left)
        size = classes[first][1] - classes[first][0]
        ways: dict[int, Array] = {first: np.eye(size)}
        reached, around = [first], []
        for c in reached:  # grows while it is read
            for move in moves:
                to, block = move[c]
                if to not in ways:
                    ways[to] = block @ ways[c]
                    reached.append(to)
                else:
                    around.append(ways[to].T @ (block @ ways[c]))
        left.difference_update(reached)
        found = null_space(around, (), m)
        gap = min(gap, found.gap)
        part = np.zeros((m, found.dim))
        for c in reached:
            part[slice(*classes[c])] = ways[c] @ found.basis
        columns.append(part / np.sqrt(len(reached)))
    Q = np.concatenate(columns, axis=1)
    residual = max(float(np.linalg.norm(D @ Q - Q, axis=0).max(initial=0.0)) for D in matrices)
    return FixedSpace(Q, "null space", gap, residual)


def _moves(D: Any, classes: Sequence[tuple[int, int]]) -> list[tuple[int, Array]]:
    """The class that each class goes to, and the block that takes it there."""
    by_column = D.tocsc()
    starts = np.array([start for start, _ in classes])
    moves: list[tuple[int, Array]] = []
    for start, stop in classes:
        entries = slice(by_column.indptr[start], by_column.indptr[stop])
        rows = by_column.indices[entries]
        column = np.repeat(np.arange(stop - start), np.diff(by_column.indptr[start : stop + 1]))
        to = np.unique(np.searchsorted(starts, rows, side="right") - 1)
        low, high = classes[int(to[0])]
        if len(to) > 1 or high - low != stop - start:
            raise ArithmeticError("a signed permutation takes a class of parities to several")
        block = np.zeros((high - low, stop - start))
        block[rows - low, column] = by_column.data[entries]
        moves.append((int(to[0]), block))
    return moves
