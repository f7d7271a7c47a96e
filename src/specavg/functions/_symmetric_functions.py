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
from functools import cached_property
from math import factorial, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._compiled import Compiled, Loops
from specavg.functions._copy_by_copy import CopyByCopy, Steps
from specavg.functions._copy_chains import CopyChains
from specavg.functions._expanded_in_waves import ExpandedInWaves
from specavg.functions._factor_table import SPHERE, TABLE
from specavg.functions._few_rows import FEW_ROWS
from specavg.functions._functions import Array, Functions
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._plain_products import factors, slopes_of_factors
from specavg.functions._threads import for_all_rows, read_only
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

Indices = NDArray[np.int64]
# NumPy computes gradients of few rows if the states of this many points, after every copy, fit in `PLAIN_BYTES`.
_FEW_HELD = 8
_MAKING = 2e5  # nanoseconds that making the polynomials takes, for each function; measured on T^10


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
        Called with the argument `nanoseconds`, the time that this family takes for a point. Returns the same functions
        as polynomials in few sums over copies, or None where these are not much faster.
    expansion : callable, optional
        Returns the same functions as sums of waves.
    """

    def __init__(
        self,
        one_copy: Functions,
        copies: int,
        multisets: Sequence[Sequence[int]],
        weights: Array,
        polynomials: Callable[..., Functions | None] | None = None,
        expansion: Callable[[], TrigonometricSums] | None = None,
    ) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._multisets = multisets
        self.dim = len(multisets)
        self._make_polynomials, self._make_expansion = polynomials, expansion
        # A sum over distinct copies has each term ∏ count! times; the states E(S) have it once.
        self._weights = weights * [float(prod(map(factorial, Counter(multiset).values()))) for multiset in multisets]

    @cached_property
    def _program(self) -> CopyByCopy:
        return CopyByCopy.of(self._multisets, self._one_copy.copy_table)

    @cached_property
    def _steps(self) -> Steps:
        return self._program.steps()

    @property
    def _loops(self) -> Loops:
        from specavg.functions.loops._copies import copies_combine, copies_sums, copies_values

        return Loops(copies_sums, copies_combine, copies_values)

    @property
    def row_bytes(self) -> float:
        per_copy = self._one_copy.row_bytes + 8.0 * self._one_copy.dim
        return self._copies * per_copy + 8.0 * (4 * len(self._program.starts) + self.dim)

    def nanoseconds(self) -> float:
        return self._program.nanoseconds(self._copies)

    @cached_property
    def _polynomials(self) -> Functions | None:
        return None if self._make_polynomials is None else self._make_polynomials(nanoseconds=self.nanoseconds())

    @cached_property
    def expansion(self) -> TrigonometricSums | None:
        return None if self._make_expansion is None else self._make_expansion()

    def _faster(self, n: int, fewest: int = 1) -> Functions | None:
        waves = self._waves_if_faster(n, fewest)
        if waves is not None or n * self.nanoseconds() < _MAKING * self.dim:
            return waves
        return self._polynomials

    def _block_rows(self, d: int) -> int:
        return len(self._program.starts) + self._one_copy.dim

    def _block(self, X: Array, more: int = 0) -> int:
        super()._block(X, more)  # refuses what does not fit in memory
        return self._program.block(len(X))

    def _loaded(self, X: Array) -> Array:
        """The coordinate of each copy, or all one-copy values where the loop does not compute them itself."""
        # (n, n_features) -> (n, m, 1) or (n, m, A)
        if self._program.table.mode != TABLE:
            return read_only(X)[:, :, None]
        return read_only(self._copy_values(X))

    def _copy_values(self, X: Array) -> Array:
        """The values of the one-copy functions at every copy."""  # (n, n_features) -> (n, m, A)
        flat = X.reshape(len(X) * self._copies, -1)
        return self._one_copy.values(flat).reshape(len(X), self._copies, self._one_copy.dim)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        if self._program.table.mode != TABLE:
            yield rows
            return
        for piece in self.chunks(rows.stop - rows.start):
            yield slice(rows.start + piece.start, rows.start + piece.stop)

    def _gathered(self, sums: Array) -> Array:
        return np.ascontiguousarray((sums * self._weights).T)

    def _spread(self, C: Array) -> Array:
        return (C * self._weights[:, None]).T

    def _selected(self, values: Array) -> Array:
        return np.multiply(values, self._weights, out=values)

    def plain_values(self, X: Array) -> Array:
        if self._program.table.mode == SPHERE:  # the loops normalise points themselves
            X = normalized(X)
        flat = X.reshape(len(X) * self._copies, -1)
        values = self._one_copy.plain_values(flat).reshape(len(X), self._copies, self._one_copy.dim)
        copies = np.ascontiguousarray(values.transpose(2, 0, 1))  # (A, n, m)
        return (self._weights[:, None] * self._program.run(copies, self._steps)).T

    # --- gradients ---

    def gradient(self, X: Array) -> Array:
        copies, slopes = self._copies_and_slopes(X)
        m, f = slopes.shape[2:]
        grows = self._program.by_function()
        gradient = np.zeros((len(self._program.starts), len(X), m, f))
        for i, others in _all_but_one(grows, copies, _nothing_yet(self._program, len(X)), range(m)):
            for a, state, rest in grows:
                gradient[state, :, i] += others[rest][:, :, None] * slopes[a, :, i]
        outputs = gradient[self._program.outputs].transpose(1, 0, 2, 3) * self._weights[:, None, None]
        return self._tangential(X, outputs.reshape(len(X), self.dim, -1))

    def combine_gradient(self, X: Array, C: Array) -> Array:
        if self._few(len(X), _FEW_HELD * self._copies):
            return self._plain_slopes(X, C)
        from specavg.functions.loops._copies_backwards import copies_gradient

        if (faster := self._faster(len(X), FEWEST_TO_COMBINE)) is not None:
            return faster.combine_gradient(X, C)
        program, m = self._chains, self._copies
        coefficients = read_only(self._spread(C)[:, None, :])
        stretch = program.stretch(m)
        given, combined = program.table.mode == TABLE, np.empty((*X.shape, C.shape[1]))

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

    def _plain_slopes(self, X: Array, C: Array) -> Array:
        """The gradient of Φ C by plain NumPy, in the way of the loop `copies_gradient`."""
        # (n, n_features), (dim, q) -> (n, n_features, q)
        X, program, m, spread = read_only(X), self._program, self._copies, self._spread(C)
        grows, parts = program.by_function(), []
        for rows in self.chunks(len(X), 8.0 * (m + 4) * len(program.starts)):
            values, pull = self._plain_copies(X[rows])
            before = [_nothing_yet(program, values.shape[1])]
            for i in range(m - 1):
                before.append(_one_copy_more(grows, values[:, :, i], before[-1]))
            combined = np.empty((values.shape[1], X.shape[1], len(spread)))
            for q, c in enumerate(spread):
                # bar: the derivatives of the combination by all states; by: those by all one-copy values.
                bar, by = np.zeros(before[0].shape), np.zeros(values.shape)
                np.add.at(bar, program.outputs, np.broadcast_to(c[:, None], (len(c), values.shape[1])))
                for i in range(m - 1, -1, -1):
                    after = bar.copy()
                    for a, state, rest in grows:
                        by[a, :, i] = np.einsum("sn,sn->n", before[i][rest], bar[state])
                        after[rest] += values[a, :, i] * bar[state]
                    bar = after
                combined[:, :, q] = pull(by)
            parts.append(combined)
        return np.concatenate(parts)

    def _plain_copies(self, X: Array) -> tuple[Array, Callable[[Array], Array]]:
        """The one-copy values at each copy, and a function that makes a gradient of derivatives by these values."""
        # (n, n_features) -> (A, n, m), and (A, n, m) -> (n, n_features)
        table, n, m = self._program.table, len(X), self._copies
        if table.mode == TABLE:
            flat = X.reshape(n * m, -1)
            values = self._one_copy.plain_values(flat).reshape(n, m, -1).transpose(2, 0, 1)

            def pull(by: Array) -> Array:
                W = np.ascontiguousarray(by.transpose(1, 2, 0)).reshape(n * m, -1)
                pieces = [slice(i, i + FEW_ROWS) for i in range(0, n * m, FEW_ROWS)]  # so that no loop is compiled
                return np.concatenate([self._one_copy.pointwise_gradient(flat[p], W[p]) for p in pieces]).reshape(n, -1)

            return values, pull
        x = table.scale[0] * (normalized(X) if table.mode == SPHERE else X).reshape(1, -1)
        T = factors(table, x, x * x)
        slopes = table.scale[0] * slopes_of_factors(table, x[0], T)[:-1].reshape(-1, n, m)

        def along(by: Array) -> Array:
            return self._tangential(X, np.einsum("anm,anm->nm", by, slopes)[:, None])[:, 0]

        return T[:-1].reshape(-1, n, m), along

    @cached_property
    def _chains(self) -> CopyChains:
        return self._program.chains()

    def _copies_and_slopes(self, X: Array) -> tuple[Array, Array]:
        """The values and gradients of the one-copy functions at each copy."""  # (A, n, m), (A, n, m, f)
        if self._program.table.mode == SPHERE:
            X = normalized(X)
        flat = X.reshape(len(X) * self._copies, -1)
        slopes = self._one_copy.gradient(flat).reshape(len(X), self._copies, self._one_copy.dim, flat.shape[1])
        return self._copy_values(X).transpose(2, 0, 1), slopes.transpose(2, 0, 1, 3)

    def _tangential(self, X: Array, gradient: Array) -> Array:
        """Gradients, projected to the tangent space where the copies are the coordinates of a sphere."""
        # (n, n_features), (n, q, n_features) -> (n, q, n_features)
        if self._program.table.mode != SPHERE:
            return gradient
        unit = normalized(X)
        return gradient - np.einsum("nqj,nj->nq", gradient, unit)[:, :, None] * unit[:, None, :]


def _nothing_yet(program: CopyByCopy, n: int) -> Array:
    """All states before the first copy."""  # (states, n)
    states = np.zeros((len(program.starts), n))
    states[0] = 1.0
    return states


def _one_copy_more(grows: list[tuple[int, Indices, Indices]], values: Array, states: Array) -> Array:
    """The states after one more copy, at which the one-copy functions have these values; `grows` is `by_function`."""
    # (A, n), (states, n) -> (states, n)
    grown = states.copy()
    for a, state, rest in grows:
        grown[state] += values[a] * states[rest]
    return grown


def _all_but_one(
    grows: list[tuple[int, Indices, Indices]], copies: Array, states: Array, left: range
) -> Iterator[tuple[int, Array]]:
    """For each copy i of `left`, the number i and the states of all copies but i.

    `states` are those of all copies that are not in `left`. Halving `left` again and again takes m log m steps for m
    copies, and subtracts nothing.
    """
    if len(left) == 1:
        yield left[0], states
        return
    halves = left[: len(left) // 2], left[len(left) // 2 :]
    for mine, others in (halves, halves[::-1]):
        grown = states
        for i in others:
            grown = _one_copy_more(grows, copies[:, :, i], grown)
        yield from _all_but_one(grows, copies, grown, mine)
