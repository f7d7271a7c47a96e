"""What compiled families share: loops for sums, combinations and values, which read one program and run in threads."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._few_rows import few_rows
from specavg.functions._functions import CHUNK_BYTES, PLAIN_BYTES, Functions
from specavg.functions._threads import CACHE, SMALLEST_BLOCK, block_size, for_all_rows, in_order, read_only, row_chunks

# The most columns of data or coefficients that a loop takes, one pass each. Beyond, a matrix product with the values is
# faster.
FEW_COLUMNS = 8


class Loops(NamedTuple):
    """The loops of a family. Each works on one chunk of rows, in blocks of `block` points, and writes to `out`.

    Attributes
    ----------
    sums : callable of (program, X, Y, block, out)
        Adds Φᵀ Y to `out`, of shape (q, ...).
    combine : callable of (program, X, C, block, out)
        Puts Φ C in `out`, of shape (n, q). The coefficients are of shape (q, ...).
    values : callable of (program, X, block, out), or of (program, X, mixing, block, out)
        Puts Φ, or Φ Q with the matrix Q in `mixing`, in `out`, of shape (n, ...).
    """

    sums: Any
    combine: Any
    values: Any


class Compiled(Functions):
    """A family whose sums, combinations and values are computed by loops that read one program.

    The loops may compute other functions than the family has: more of them, or multiples. `_shape` is the shape of
    what they compute for one point. `_gathered`, `_spread` and `_selected` convert their sums, coefficients and values.

    NumPy computes few rows, by `plain_values`. The choice depends on the number of rows and on the family alone, so
    that a call gives the same bits whatever was called before it. A row has the same bits in all tables of up to
    `FEW_ROWS` rows, and the same bits in all larger tables and their parts.
    """

    def _few(self, n: int, rows: int = 1) -> bool:
        """Whether NumPy computes a table of n rows; it then holds the values of `rows` rows at a time."""
        return few_rows(n) and rows * self.row_bytes <= PLAIN_BYTES

    @property
    @abc.abstractmethod
    def _loops(self) -> Loops:
        """The loops. They are imported here, so that Numba is imported at the first use and not before."""

    @cached_property
    @abc.abstractmethod
    def _program(self) -> Any:
        """The named tuple of numbers and arrays that the loops read."""

    @abc.abstractmethod
    def _block_rows(self, d: int) -> int:
        """How many numbers a loop keeps for each point of d coordinates, the values not counted."""

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of what the loops compute for one point."""
        return (self.dim,)

    def _gathered(self, sums: Array) -> Array:
        """The sums of the family, from those of the loop."""  # (q, *shape) -> (dim, q)
        return np.ascontiguousarray(sums.T)

    def _spread(self, C: Array) -> Array:
        """The coefficients that the loop reads, from those of the family."""  # (dim, q) -> (q, *shape)
        return np.asarray(C.T)

    @property
    def _selects(self) -> bool:
        """Whether the loop also computes values of functions that the family does not have."""
        return False

    def _selected(self, values: Array) -> Array:
        """The values of the family, from those of the loop."""  # (n, width) -> (n, dim)
        return values

    def _loaded(self, X: Array) -> Array:
        """Points as the loops read them."""
        return read_only(X)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        """Row ranges inside a chunk; `_loaded` is called for one of them at a time."""
        yield rows

    def _block(self, X: Array, more: int = 0) -> int:
        """How many points a block of a loop has.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        more : int
            How many numbers the loop keeps for each point beside those of `_block_rows`.
        """
        rows = self._block_rows(X.shape[1]) + more
        if (need := 8.0 * SMALLEST_BLOCK * rows) > CACHE:
            what = f"{self.dim} functions at {SMALLEST_BLOCK} points"
            require_memory(need * settings().n_threads, what, "Lower the cutoff.")
        return block_size(len(X), rows)

    def correlate(self, X: Array, Y: Array) -> Array:
        if self._few(len(X)):
            return super().correlate(X, Y)
        loop, program, block = self._loops.sums, self._program, self._block(X)
        data, shape = read_only(Y), (Y.shape[1], *self._shape)
        numbers = int(np.prod(shape))
        require_memory(8.0 * numbers * settings().n_threads, f"{numbers} sums in each thread", "Lower the cutoff.")

        def work(rows: slice) -> Array:
            out = np.zeros(shape)
            for piece in self._pieces(rows):
                loop(program, self._loaded(X[piece]), data[piece], block, out)
            return out

        chunks = row_chunks(len(X), numbers)
        return self._gathered(compensated_sum(in_order(work, chunks), shape))

    def combine(self, X: Array, C: Array) -> Array:
        if self._few(len(X)):
            return self._plain_combination(read_only(X), C)
        out = np.empty((len(X), C.shape[1]))
        return self._filled(self._loops.combine, X, (read_only(self._spread(C)), self._block(X)), out)

    def _plain_combination(self, X: Array, C: Array) -> Array:
        """Φ C by plain NumPy, each row with the bits that it has alone."""
        out = np.empty((len(X), C.shape[1]))
        in_cache = 0 < len(X) * self.row_bytes <= CACHE  # so little memory is not compared with the limit
        for rows in [slice(0, len(X))] if in_cache else self.chunks(len(X)):
            # One product for each row: in a product of two matrices, the rounding of a row depends on the other rows.
            values = np.ascontiguousarray(self.plain_values(X[rows]))
            out[rows] = np.matmul(values[:, None, :], C)[:, 0]
        return out

    def values(self, X: Array) -> Array:
        # Points are made contiguous, as for the loops: the rounding of sums over coordinates depends on where they lie
        # in memory. Where a chunk has fewer points than the smallest block of a loop, most of the block is padding: at
        # degree 270 of S², with 27 points a chunk, the loop takes 1.5 ms a point and NumPy 0.5 ms.
        plain = self._few(len(X), len(X)) or SMALLEST_BLOCK * self.row_bytes > CHUNK_BYTES
        return self.plain_values(read_only(X)) if plain else self._looped_values(X)

    @property
    def _width(self) -> int:
        """How many values the loop of values computes for one point."""
        return int(np.prod(self._shape))

    def _looped_values(self, X: Array) -> Array:
        """`values` by the loop."""
        out = np.empty((len(X), self._width))
        return self._selected(self._filled(self._loops.values, X, (self._block(X, self._width),), out))

    def evaluate(self, X: Array) -> Array:
        if self._selects or self._few(len(X)):
            return super().evaluate(X)
        self._require_values(len(X))
        return self._looped_values(X)

    def _filled(self, loop: Any, X: Array, more: tuple[Any, ...], out: Array) -> Array:
        """`out`, after ``loop(program, points, *more, out)`` has filled its rows, chunk by chunk, in threads."""
        program = self._program

        def work(rows: slice) -> None:
            for piece in self._pieces(rows):
                loop(program, self._loaded(X[piece]), *more, out[piece])

        for_all_rows(work, len(X))
        return out
