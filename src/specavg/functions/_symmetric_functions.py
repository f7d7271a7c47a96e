"""Symmetric functions of copies: sums, over distinct copies, of products of one-copy functions.

For one-copy functions ψ_1, ψ_2, … and m copies x_1, …, x_m, the sum Σ ψ_{a_1}(x_{i_1}) ⋯ ψ_{a_p}(x_{i_p}) over
*distinct* i_1, …, i_p is what the average over all permutations makes of a product, up to a factor. The sums are
computed copy by copy (`_copy_by_copy`): with E(S) the sum for the multiset S over the copies so far, one more copy x
adds Σ_a ψ_a(x) E(S without a). Nothing is subtracted, so that no digits cancel, however many copies and factors there
are. (Polynomials in power sums, the other way to compute these sums, lose all digits from about 20 factors on.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import accumulate
from math import factorial, prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._compiled import Compiled, Loops
from specavg.functions._copy_by_copy import COPIES_HELD, CopyByCopy, PlainStates
from specavg.functions._copy_chains import CopyChains
from specavg.functions._expanded_in_waves import ExpandedInWaves
from specavg.functions._factor_table import GIVEN, SPHERE, TABLE, TORUS
from specavg.functions._few_rows import few_at_a_time
from specavg.functions._functions import CHUNK_BYTES, PLAIN_BYTES, Array, Functions, row_ranges
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._plain_products import factors, slopes_of_factors
from specavg.functions._threads import SMALLEST_BLOCK, for_all_rows, read_only
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

Indices = NDArray[np.int64]
# NumPy computes gradients of few rows if the states of this many points, after every copy, fit in `PLAIN_BYTES`.
_FEW_HELD = 8
# The longest that a loop may take for a point if NumPy is to compute few rows, which takes six to ten times as long. A
# default fit of 400 points of T^1000 under hyperoctahedral(1000), with 600 µs a point, took NumPy 14 s. The loops take
# 4 s to compile the first time.
_PLAIN_NANOSECONDS = 3e5
# Nanoseconds that making the polynomials takes, for each coefficient: 1,450 to 1,830 were measured on T^10 to T^1000.
_MAKING = 1.6e3
# The fewest coefficients of a function. There were 39 on T^20 and 65 on T^10; on T^1000 there are 3,000 of each of 600
# functions, and 6,000 of each of 900.
_FEWEST_COEFFICIENTS = 40


@final
class SymmetrizedProducts(ExpandedInWaves, Compiled):
    """weight · Σ ∏ ψ_a(x_i) over distinct copies i, one function for each multiset of one-copy functions ψ_a.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        The number of copies, m.
    multisets : sequence of sequences of int
        The functions a of each multiset, as places in `one_copy`; the empty multiset is the constant.
    weights : ndarray of shape (len(multisets),)
    polynomials : callable, optional
        Returns the same functions as polynomials in few sums over copies, and how many coefficients had to be found:
        see `_symmetric_waves.polynomials`.
    expansion : callable, optional
        Returns the same functions as sums of waves.
    """

    def __init__(
        self,
        one_copy: Functions,
        copies: int,
        multisets: Sequence[Sequence[int]],
        weights: Array,
        polynomials: Callable[..., tuple[Functions | None, float]] | None = None,
        expansion: Callable[[], TrigonometricSums] | None = None,
    ) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._multisets = multisets
        self.dim = len(multisets)
        self._make_polynomials, self._make_expansion = polynomials, expansion
        self._polynomials: Functions | None = None
        self._coefficients = 0.0  # those of the polynomials; before they are made, a number that they exceed
        # A sum over distinct copies has each term ∏ count! times; the states E(S) have it once.
        self._weights = weights * [float(prod(map(factorial, Counter(multiset).values()))) for multiset in multisets]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_polynomials": None, "_coefficients": 0.0}

    @cached_property
    def _program(self) -> CopyByCopy:
        table, rows = self._one_copy.copy_table, self._one_copy.copy_rows
        multisets = self._multisets if table is None else [[rows[a] for a in multiset] for multiset in self._multisets]
        return CopyByCopy.of(multisets, table)

    @cached_property
    def _plain_states(self) -> PlainStates:
        return PlainStates(self._program, self._copies)

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._copies import copies_combine, copies_sums, copies_values

        return Loops(copies_sums, copies_combine, copies_values)

    @property
    def row_bytes(self) -> float:
        held = self._one_copy_bytes * (min(COPIES_HELD, self._copies) + self._plain_states.parts)
        return held + 8.0 * ((2 + 2 * self._plain_states.parts) * len(self._program.starts) + self.dim)

    @property
    def _one_copy_bytes(self) -> float:
        """Bytes of working memory that the one-copy functions at one copy take."""
        return self._one_copy.row_bytes + 8.0 * self._one_copy.dim

    def nanoseconds(self) -> float:
        return self._program.nanoseconds(self._copies)

    @cached_property
    def expansion(self) -> TrigonometricSums | None:
        return None if self._make_expansion is None else self._make_expansion()

    def _faster(self, n: int, fewest: int = 1) -> Functions | None:
        waves, make = self._waves_if_faster(n, fewest), self._make_polynomials
        # As many coefficients as are found in the time that the loops take for n points.
        most = n * self.nanoseconds() / _MAKING if _MAKING else np.inf
        if waves is not None or make is None or most < _FEWEST_COEFFICIENTS * self.dim:
            return waves
        if self._polynomials is None and self._coefficients < most:
            self._polynomials, self._coefficients = make(nanoseconds=self.nanoseconds(), most=most)
        return self._polynomials if self._coefficients <= most else None

    def _few(self, n: int, rows: int = 1) -> bool:
        return super()._few(n, rows) and self.nanoseconds() <= _PLAIN_NANOSECONDS

    def _block_rows(self, d: int) -> int:
        return len(self._program.starts) + self._one_copy.dim

    def _block(self, X: Array, more: int = 0) -> int:
        super()._block(X, more)  # refuses what does not fit in memory
        return self._program.block(len(X))

    def _loaded(self, X: Array) -> Array:
        """The coordinate of each copy, or all one-copy values where the loop does not compute them itself."""
        # (n, n_features) -> (n, m, 1) or (n, m, A)
        if self._program.table.mode != GIVEN:
            return read_only(self._one_copy.copy_coordinates(X))[:, :, None]
        return read_only(self._copy_values(X))

    def _copy_values(self, X: Array) -> Array:
        """The values of the one-copy functions at every copy."""  # (n, n_features) -> (n, m, A)
        flat = X.reshape(len(X) * self._copies, -1)
        if len(flat) * self._one_copy_bytes <= CHUNK_BYTES:
            values = self._one_copy.values(flat)
        else:
            values = np.empty((len(flat), self._one_copy.dim))
            for some in row_ranges(len(flat), self._one_copy_bytes):
                values[some] = self._one_copy.values(flat[some])
        return values.reshape(len(X), self._copies, self._one_copy.dim)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        if self._program.table.mode != GIVEN:
            yield rows
            return
        # A block of the loop takes the same time for fewer points: a piece has at least as many as the smallest block,
        # where their values fit in memory.
        row_bytes = 8.0 * self._copies * self._one_copy.dim
        usual = CHUNK_BYTES / (self._copies * self._one_copy_bytes)
        for piece in row_ranges(rows.stop - rows.start, row_bytes, row_bytes * max(usual, SMALLEST_BLOCK)):
            yield slice(rows.start + piece.start, rows.start + piece.stop)

    def _gathered(self, sums: Array) -> Array:
        return np.ascontiguousarray((sums * self._weights).T)

    def _spread(self, C: Array) -> Array:
        return (C * self._weights[:, None]).T

    def _selected(self, values: Array) -> Array:
        return np.multiply(values, self._weights, out=values)

    def plain_values(self, X: Array) -> Array:
        copies = self._split(X)
        return (self._weights[:, None] * self._plain_states.run(lambda some: self._at_copies(copies[some]), len(X))).T

    def _split(self, X: Array) -> Array:
        """The copies, each as a table of points; on spheres the coordinates, normalised."""
        # (n, n_features) -> (m, n, f)
        X = normalized(X) if self._program.table.mode == SPHERE else self._one_copy.copy_coordinates(X)
        return np.ascontiguousarray(X.reshape(len(X), self._copies, -1).transpose(1, 0, 2))

    def _at_copies(self, copies: Array) -> Array:
        """The one-copy functions, or the rows of their table, without a loop."""  # (c, n, f) -> (A, c, n)
        flat = copies.reshape(-1, copies.shape[2])
        given = self._program.table.mode == GIVEN
        values = self._one_copy.plain_values(flat).T if given else self._factors(copies)[1][:-1]
        return values.reshape(len(values), *copies.shape[:2])

    def _factors(self, copies: Array) -> tuple[Array, Array]:
        """The coordinates of a table of factors, and its rows there, with a last row of ones."""
        # (c, n, 1) -> (c · n,), (A + 1, c · n)
        table = self._program.table
        x = copies.reshape(1, -1) * (1.0 if table.mode == TABLE else table.scale[0])
        if table.mode == TORUS:
            x -= np.rint(x)
        return x[0], factors(table, x, x)

    # --- gradients ---

    def gradient(self, X: Array) -> Array:
        copies, states = self._split(X), self._plain_states
        values, slopes = self._at_copies(copies), self._slopes_at(copies)
        gradient = np.empty((len(self._program.starts), len(X), *slopes.shape[1::2]))
        for i, others in _all_but_one(states, values, states.nothing_yet(len(X)), range(self._copies)):
            gradient[:, :, i] = states.slopes_of_states(others, slopes[:, i])
        outputs = gradient[self._program.outputs].transpose(1, 0, 2, 3) * self._weights[:, None, None]
        return self._tangential(X, outputs.reshape(len(X), self.dim, -1))

    def _slopes_at(self, copies: Array) -> Array:
        """The gradients of the one-copy functions."""  # (c, n, f) -> (A, c, n, f)
        table, (c, n, f) = self._program.table, copies.shape
        if table.mode != GIVEN:
            return table.scale[0] * slopes_of_factors(table, *self._factors(copies))[:-1].reshape(table.size, c, n, f)
        slopes = few_at_a_time(n, self._one_copy.gradient, copies.reshape(c * n, f))
        return slopes.reshape(c, n, self._one_copy.dim, f).transpose(2, 0, 1, 3)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        if self._few(len(X)) and _FEW_HELD * self._slope_bytes <= PLAIN_BYTES:
            return self._plain_slopes(X, C)
        from specavg.functions.loops._copies_backwards import copies_gradient

        if (faster := self._faster(len(X), FEWEST_TO_COMBINE)) is not None:
            return faster.combine_gradient(X, C)
        program, m = self._chains, self._copies
        coefficients = read_only(self._spread(C)[:, None, :])
        stretch = program.stretch(m)
        given, combined = program.table.mode == GIVEN, np.empty((*X.shape, C.shape[1]))

        def work(rows: slice) -> None:
            for piece in self._pieces(rows):
                points, slopes = X[piece], combined[piece]
                by = np.empty((len(points), m, self._one_copy.dim, C.shape[1])) if given else slopes[:, :, None]
                copies_gradient(program, self._loaded(points), coefficients, stretch, by)
                for q in range(C.shape[1]) if given else ():
                    flat, W = points.reshape(len(points) * m, -1), by[..., q].reshape(len(points) * m, -1)
                    slopes[:, :, q] = self._one_copy.pointwise_gradient(flat, W).reshape(points.shape)
                if program.table.mode == SPHERE:
                    slopes[:] = self._tangential(points, slopes.transpose(0, 2, 1)).transpose(0, 2, 1)

        for_all_rows(work, len(X))
        return combined

    @property
    def _stretch(self) -> int:
        """After how many copies NumPy keeps the states at a time, for gradients: all copies, or about √m."""
        m = self._copies
        return m if 64 * 8.0 * m * len(self._program.starts) <= PLAIN_BYTES else int(np.ceil(np.sqrt(m)))

    @property
    def _slope_bytes(self) -> float:
        """Bytes of working memory that NumPy takes for the gradient of a combination at one point."""
        kept = self._stretch + self._copies // self._stretch + 4
        return 8.0 * kept * len(self._program.starts) + 2 * self._stretch * self._one_copy_bytes

    def _plain_slopes(self, X: Array, C: Array) -> Array:
        """The gradient of Φ C by plain NumPy, in the way of the loop `copies_gradient`."""
        # (n, n_features), (dim, q) -> (n, n_features, q)
        X, states, combined = read_only(X), self._plain_states, np.empty((*X.shape, C.shape[1]))
        stretches = [slice(start, start + self._stretch) for start in range(0, self._copies, self._stretch)]
        for rows in self.chunks(len(X), self._slope_bytes):
            copies = self._split(X[rows])
            slopes = np.empty((*copies.shape, C.shape[1]))
            kept = [states.nothing_yet(copies.shape[1])]  # the states before each stretch
            for some in stretches[:-1]:
                kept.append(reduce(states.after, self._at_copies(copies[some]).transpose(1, 0, 2), kept[-1]))
            bars = []  # the derivatives of each combination by all states
            for c in self._spread(C):
                bars.append(np.zeros(kept[0].shape))
                np.add.at(bars[-1], self._program.outputs, c[:, None])
            for some in stretches[::-1]:
                values = self._at_copies(copies[some]).transpose(1, 0, 2)  # (c, A, n)
                before = list(accumulate(values[:-1], states.after, initial=kept.pop()))
                for q in range(C.shape[1]):
                    by = np.empty(values.shape)  # derivatives by all one-copy values
                    for i in range(len(values) - 1, -1, -1):
                        by[i], bars[q] = states.back(bars[q], before[i], values[i])
                    slopes[some, :, :, q] = self._pulled(copies[some], by.transpose(1, 0, 2))
            combined[rows] = slopes.transpose(1, 0, 2, 3).reshape(combined[rows].shape)
            combined[rows] = self._tangential(X[rows], combined[rows].transpose(0, 2, 1)).transpose(0, 2, 1)
        return combined

    def _pulled(self, copies: Array, by: Array) -> Array:
        """The gradient of a function, from its derivatives by the one-copy values."""
        # (c, n, f), (A, c, n) -> (c, n, f)
        if self._program.table.mode != GIVEN:
            return np.einsum("acn,acnf->cnf", by, self._slopes_at(copies))
        c, n, f = copies.shape
        flat, W = copies.reshape(c * n, f), np.ascontiguousarray(by.reshape(len(by), c * n).T)
        return few_at_a_time(n, self._one_copy.pointwise_gradient, flat, W).reshape(copies.shape)

    @cached_property
    def _chains(self) -> CopyChains:
        return self._program.chains()

    def _tangential(self, X: Array, gradient: Array) -> Array:
        """Gradients, projected to the tangent space where the copies are the coordinates of a sphere."""
        # (n, n_features), (n, q, n_features) -> (n, q, n_features)
        if self._program.table.mode != SPHERE:
            return gradient
        unit = normalized(X)
        return gradient - np.einsum("nqj,nj->nq", gradient, unit)[:, :, None] * unit[:, None, :]


def _all_but_one(plain: PlainStates, values: Array, states: Array, left: range) -> Iterator[tuple[int, Array]]:
    """For each copy i of `left`, the number i and the states of all copies but i.

    `states` are those of all copies that are not in `left`. Halving `left` again and again takes m log m steps for m
    copies, and subtracts nothing.
    """
    if len(left) == 1:
        yield left[0], states
        return
    halves = left[: len(left) // 2], left[len(left) // 2 :]
    for mine, others in (halves, halves[::-1]):
        grown = reduce(plain.after, (values[:, i] for i in others), states)
        yield from _all_but_one(plain, values, grown, mine)
