"""Symmetric functions of copies, ready to run, with threads over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory, settings
from specavg.functions._product_tree import TABLE, block_size, depth_first
from specavg.functions._threads import compensated_sum, in_order, read_only, row_chunks

__all__ = ["CopyTable", "SymmetricSums"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
_SUMS, _COMBINE, _VALUES = range(3)
_NOTHING = np.zeros((0, 0, 0))


@dataclass(frozen=True, eq=False)
class CopyTable:
    """How one-copy functions of a single coordinate follow from it: the rows of a factor table.

    Attributes
    ----------
    mode, scale, operations, constants
        As in `ProductTree`; every row refers to coordinate 0.
    """

    mode: int
    scale: Array
    operations: Indices
    constants: Array


@final
class SymmetricSums:
    """Injective sums over copies.

    Parameters
    ----------
    table : CopyTable or None
        None where the one-copy values are given with every call.
    functions : int
        Number of one-copy functions.
    entries : ndarray of int, shape (E, 3)
        Few copies: state, one-copy function, smaller state; larger states first. Empty for many copies.
    tree : (parent, factor, wanted)
        Many copies: power sums as products of one-copy functions along a tree.
    steps, merged_starts, merged : ndarrays of int
        Many copies: the program from power sums to injective sums.
    size : int
        States, or results of the program with the constant before them.
    outputs : ndarray of int, shape (dim,)
    weights : ndarray of shape (dim,)
    """

    def __init__(
        self,
        table: CopyTable | None,
        functions: int,
        entries: Indices,
        tree: tuple[Indices, Indices, Indices],
        steps: tuple[Indices, Indices, Indices],
        size: int,
        outputs: Indices,
        weights: Array,
    ) -> None:
        self.dim = len(outputs)
        self._few = len(steps[0]) == 0
        if table is None:
            table = CopyTable(TABLE, np.ones(1), np.empty((0, 5), dtype=np.int64), np.empty((0, 2)))
        self._given = len(table.operations) == 0
        self._functions = functions
        self._size = size
        self._weights = weights
        self._scale = np.ascontiguousarray(table.scale, dtype=float)
        self._arguments: tuple[Any, ...] = (
            np.ascontiguousarray(table.operations, dtype=np.int64),
            np.ascontiguousarray(table.constants, dtype=float),
            *depth_first(*tree),
            np.ascontiguousarray(entries, dtype=np.int64).reshape(-1, 3),
            *(np.ascontiguousarray(part, dtype=np.int64) for part in steps),
            size,
            np.ascontiguousarray(outputs, dtype=np.int64),
        )
        self._mode = table.mode

    def _run(self, operation: int, X: Array, given: Array | None, data: Array, out: Array, n: int) -> None:
        from specavg.functions.loops._copies import symmetric

        loop: Any = symmetric
        scale = self._scale
        if self._few and len(scale) == 1 and self._mode != TABLE:
            scale = np.repeat(scale, X.shape[1])
        values = read_only(_NOTHING if given is None else given)
        size = block_size(n, self._size + self._functions)
        loop(
            operation, self._few, self._mode, scale, *self._arguments, read_only(X), values, read_only(data), size, out
        )

    def _check_memory(self, X: Array) -> None:
        rows = self._size + self._functions + X.shape[1]
        require_memory(
            8.0 * 64 * rows * settings().n_threads, f"{self.dim} symmetric functions at 64 points", "Lower the cutoff."
        )

    def sums(self, X: Array, Y: Array, given: Array | None = None) -> Array:
        """Φᵀ Y; `given` are the one-copy values (n, m, functions) where there is no table."""  # -> (dim, q)
        self._check_memory(X)
        q = Y.shape[1]

        def work(rows: slice) -> Array:
            out = np.zeros((q, self.dim))
            self._run(_SUMS, X[rows], None if given is None else given[rows], Y[rows], out, len(X))
            return out

        total = compensated_sum(in_order(work, row_chunks(len(X), q * self.dim)), (q, self.dim))
        return np.ascontiguousarray((total * self._weights).T)

    def combine(self, X: Array, C: Array, given: Array | None = None) -> Array:
        """Φ C."""  # (dim, q) -> (n, q)
        self._check_memory(X)
        weighted = np.ascontiguousarray((C * self._weights[:, None]).T)
        out = np.empty((len(X), C.shape[1]))

        def work(rows: slice) -> None:
            self._run(_COMBINE, X[rows], None if given is None else given[rows], weighted, out[rows], len(X))

        for _ in in_order(work, row_chunks(len(X))):
            pass
        return out

    def values(self, X: Array, given: Array | None = None) -> Array:
        """Φ."""  # (n, dim)
        self._check_memory(X)
        out = np.empty((len(X), self.dim))

        def work(rows: slice) -> None:
            self._run(_VALUES, X[rows], None if given is None else given[rows], np.empty((0, 0)), out[rows], len(X))
            out[rows] *= self._weights

        for _ in in_order(work, row_chunks(len(X))):
            pass
        return out
