"""What compiled families share: three loops over one program, run on blocks of points by several threads."""

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

FEW_COLUMNS = 8  # columns of data or coefficients: for more, values and a matrix product beat a pass of a loop for each


class Loops(NamedTuple):
    """The loops of a family. Each works on one chunk of rows, and the last argument is what it writes to.

    Attributes
    ----------
    sums : (program, X, Y, block, out)
        Adds Φᵀ Y to `out`, of shape (q, ...).
    combine : (program, X, C, block, out)
        Puts Φ C in `out`, of shape (n, q); C is of shape (q, ...).
    values : (program, X, block, out), or (program, X, mixing, block, out)
        Puts Φ in `out`, of shape (n, ...).
    """

    sums: Any
    combine: Any
    values: Any


class Compiled(Functions):
    """A family whose sums, combinations and values are loops that read one program.

    A loop may know more functions than the family has, or multiples of them: `_shape` is what it computes,
    and `_gathered`, `_spread` and `_selected` lead from there to the family and back.

    Few rows take `plain_values` instead of a loop. Which way is taken depends on the number of rows and on the family
    only, so that a call gives the same bits whatever was called before it; and a row has the same bits wherever it
    stands in a table of up to `FEW_ROWS` rows, and again in any larger one or in a part of it.
    """

    def _few(self, n: int, rows: int = 1) -> bool:
        """Whether a table of n rows is left to plain NumPy, which holds `rows` of them at a time."""
        return few_rows(n) and rows * self.row_bytes <= PLAIN_BYTES

    @property
    @abc.abstractmethod
    def _loops(self) -> Loops:
        """The loops, imported when they are asked for."""

    @cached_property
    @abc.abstractmethod
    def _program(self) -> Any:
        """What the loops read: a named tuple of numbers and arrays."""

    @abc.abstractmethod
    def _block_rows(self, d: int) -> int:
        """How many numbers a block holds for each of its points of d coordinates, without the values."""

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of what the loops compute for one point."""
        return (self.dim,)

    def _gathered(self, sums: Array) -> Array:
        """Sums of the family from those of the loop."""  # (q, *shape) -> (dim, q)
        return np.ascontiguousarray(sums.T)

    def _spread(self, C: Array) -> Array:
        """Coefficients as the loop reads them."""  # (dim, q) -> (q, *shape)
        return np.asarray(C.T)

    @property
    def _selects(self) -> bool:
        """Whether the loop also computes values of functions that the family does not have."""
        return False

    def _selected(self, values: Array) -> Array:
        """Values of the family from those of the loop."""  # (n, *shape) -> (n, dim)
        return values

    def _loaded(self, X: Array) -> Array:
        """Points as the loops read them."""
        return read_only(X)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        """Parts of a chunk that are loaded at a time."""
        yield rows

    def _block(self, X: Array, more: int = 0) -> int:
        """Points of a block, with `more` numbers for each beside those of the program."""
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
            for part in self._pieces(rows):
                loop(program, self._loaded(X[part]), data[part], block, out)
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
        in_cache = 0 < len(X) * self.row_bytes <= CACHE  # then no question of memory is asked, as for blocks of loops
        for rows in [slice(0, len(X))] if in_cache else self.chunks(len(X)):
            # A product for each row: in a product of matrices, rounding depends on the other rows.
            values = np.ascontiguousarray(self.plain_values(X[rows]))
            out[rows] = np.matmul(values[:, None, :], C)[:, 0]
        return out

    def values(self, X: Array) -> Array:
        # Points are made contiguous, as for the loops: sums over coordinates are rounded by their order in memory.
        # Where chunks of values have fewer points than the smallest block of a loop, the loop mostly idles: at degree
        # 270 of S², 27 points a chunk, it takes 1.5 ms a point, and plain NumPy 0.5 ms.
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
        """`out`, filled by ``loop(program, points, *more, out)`` on chunks of rows, in threads."""
        program = self._program

        def work(rows: slice) -> None:
            for part in self._pieces(rows):
                loop(program, self._loaded(X[part]), *more, out[part])

        for_all_rows(work, len(X))
        return out
