"""Symmetric functions of copies: sums over injective assignments of one-copy functions to copies.

For one-copy functions ψ_1, ψ_2, … and m copies x_1, …, x_m, the sum Σ ψ_{a_1}(x_{i_1}) ⋯ ψ_{a_p}(x_{i_p}) over
*distinct* i_1, …, i_p is what S_m leaves of the product. The sums are built up copy by copy: with E(S) the sum for the
multiset S over the copies so far, one more copy x adds Σ_a ψ_a(x) E(S without a). Nothing is subtracted, so that no
digits cancel, however many copies and factors there are. (Polynomials in power sums, the other way to compute them,
lose all digits from about 20 factors on.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._compiled import Compiled, Loops
from specavg.functions._copy_chains import CopyChains
from specavg.functions._factor_table import SPHERE, TABLE, FactorTable
from specavg.functions._few_rows import FEW_ROWS
from specavg.functions._functions import Array, Functions
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._plain_slopes import factors, slopes_of_factors
from specavg.functions._threads import block_size, for_all_rows, read_only

Indices = NDArray[np.int64]
Multiset = tuple[int, ...]
Steps = list[tuple[int, Indices, Indices, Indices]]  # factors of the states, the states, one-copy functions, the rest
_MANY_COPIES = 256  # plain NumPy joins halves from this many copies on: one step a copy would take a second
# Points of a block and memory of its states: 285 states on T^10 take 830 ns a point in blocks of 64, 570 in blocks of
# 256 (which is 600 kB) and 610 in blocks of 512; 2483 states on T^40 take 45, 35 and 56 µs.
_SMALLEST_BLOCK, _STATES_BYTES = 128, 600_000
_FEW_HELD = 8  # points whose states, after every copy, fit in memory for few rows: plain NumPy is used for gradients
_MAKING = 2e5  # nanoseconds for each function that polynomials take to be made, on T^10
_NO_TABLE = FactorTable.of(TABLE, np.ones(1), np.empty((0, 5), dtype=np.int64), np.empty((0, 2)))


class CopyByCopy(NamedTuple):
    """How injective sums grow by one copy, as the loops read it. State 0 is the empty multiset.

    Attributes
    ----------
    table : FactorTable
        The one-copy functions of a single coordinate; no rows where their values are given.
    states : ndarray of int, shape (S - 1,)
        All states but the first, in the order in which they grow: a state before the smaller ones it grows from.
    sizes : ndarray of int, shape (S - 1,)
        How many factors each of these has.
    starts : ndarray of int, shape (S,)
        State i of this order grows by the entries starts[i]..starts[i + 1].
    entries : ndarray of int, shape (E, 2)
        One-copy function, and the state without it.
    outputs : ndarray of int, shape (dim,)
        The states that are functions of the family.
    """

    table: FactorTable
    states: Indices
    sizes: Indices
    starts: Indices
    entries: Indices
    outputs: Indices

    @classmethod
    def of(cls, multisets: Sequence[Sequence[int]], table: FactorTable | None = None) -> CopyByCopy:
        """The states are all multisets inside the given ones."""
        wanted = [tuple(sorted(multiset)) for multiset in multisets]
        found: set[Multiset] = {()}
        pending = set(wanted)
        while pending:
            multiset = pending.pop()
            if multiset not in found:
                found.add(multiset)
                pending.update(multiset[:i] + multiset[i + 1 :] for i in range(len(multiset)))
        # Larger states first, and beside each other those that begin alike: they read the same rows.
        growing = sorted(found - {()}, key=lambda multiset: (-len(multiset), multiset))
        place = {(): 0} | {multiset: i for i, multiset in enumerate(growing, start=1)}
        starts, entries = [0], []
        for multiset in growing:
            for a in sorted(set(multiset)):
                i = multiset.index(a)
                entries.append((a, place[multiset[:i] + multiset[i + 1 :]]))
            starts.append(len(entries))
        return cls(
            _NO_TABLE if table is None else table,
            np.arange(1, len(place)),
            np.array([len(multiset) for multiset in growing], dtype=np.int64),
            np.array(starts, dtype=np.int64),
            np.array(entries, dtype=np.int64).reshape(-1, 2),
            np.array([place[multiset] for multiset in wanted], dtype=np.int64),
        )

    def nanoseconds(self, m: int) -> float:
        """A forecast of the time for a point of m copies: 590 ns on T^10 with 285 functions (600 measured)."""
        # A state with p factors is zero for the first p − 1 copies.
        touched = np.diff(self.starts) @ np.maximum(m + 1 - self.sizes, 0)
        return 0.15 * float(touched) + 0.3 * m * self.table.size + 0.3 * len(self.outputs)

    def block(self, n: int) -> int:
        """Points in a block: as many as keep the states in cache, since they share the cost of beginning a step."""
        return block_size(n, len(self.starts) + self.table.size, _SMALLEST_BLOCK, _STATES_BYTES)

    def run(self, copies: Array, steps: Steps | None = None) -> Array:
        """The sums over choices of copies, from the one-copy values, by plain NumPy; with `steps` if they are known."""
        return self._grown(copies, self.steps() if steps is None else steps)[self.outputs]  # (A, n, m) -> (outputs, n)

    def _grown(self, copies: Array, steps: Steps) -> Array:
        """All states after all copies."""  # (A, n, m) -> (states, n)
        A, n, m = copies.shape
        if m > _MANY_COPIES:  # both halves side by side, then all ways to share the factors between them
            half = -(-m // 2)
            copies = np.concatenate([copies, np.zeros((A, n, 2 * half - m))], axis=2)  # zeros add nothing
            both = self._grown(np.concatenate([copies[:, :, :half], copies[:, :, half:]], axis=1), steps)
            return np.stack([(both[one, :n] * both[other, n:]).sum(axis=0) for one, other in self._shares()])
        sums = np.zeros((len(self.starts), n))
        sums[0] = 1.0
        for i in range(m):
            one = np.ascontiguousarray(copies[:, :, i])
            for size, state, label, rest in steps:
                if size <= i + 1:  # a state of p factors is zero for the first p − 1 copies
                    sums[state] += one[label] * sums[rest]
        return sums

    def steps(self) -> Steps:
        """How states of one size grow by a copy: their first entries, then the second ones, no state twice in a step.

        The larger ones first: they grow from smaller ones as these were before.
        """
        count, steps = np.diff(self.starts), []
        for size in np.unique(self.sizes)[::-1]:
            same = self.sizes == size
            for j in range(int(count[same].max())):
                mine = np.flatnonzero(same & (count > j))
                steps.append((int(size), self.states[mine], *self.entries[self.starts[mine] + j].T))
        return steps

    def chains(self) -> CopyChains:
        """The same growth as the reverse pass of gradients reads it."""
        return CopyChains.of(self.table, self._multisets(), self.outputs)

    def by_function(self) -> list[tuple[int, Indices, Indices]]:
        """For each one-copy function: the states that have it, and the same states without it."""
        states = np.repeat(self.states, np.diff(self.starts))
        labels, rest = self.entries.T
        return [(int(a), states[labels == a], rest[labels == a]) for a in np.unique(labels)]

    def _multisets(self) -> list[Multiset]:
        """The multiset of each state."""
        multisets: list[Multiset] = [()] * len(self.starts)
        for state, start in zip(self.states[::-1], self.starts[:-1][::-1], strict=True):  # smaller ones first
            label, rest = self.entries[start]
            multisets[state] = tuple(sorted((int(label), *multisets[rest])))
        return multisets

    def _shares(self) -> list[tuple[list[int], list[int]]]:
        """For each state, the states of all its parts, and those of what is left."""
        multisets = self._multisets()
        place = {multiset: i for i, multiset in enumerate(multisets)}
        shares = []
        for multiset in multisets:
            count = Counter(multiset)
            parts = [Counter(dict(zip(count, taken, strict=True))) for taken in _up_to(list(count.values()))]
            one, other = (
                [place[tuple(sorted(c.elements()))] for c in side] for side in (parts, [count - p for p in parts])
            )
            shares.append((one, other))
        return shares


def _up_to(counts: list[int]) -> Iterator[tuple[int, ...]]:
    return product(*(range(count + 1) for count in counts))


@final
class SymmetrizedProducts(Compiled):
    """weight · Σ over distinct copies of ∏ ψ_a(x_i), one for each multiset of one-copy functions.

    Parameters
    ----------
    one_copy : Functions
        The ψ, on points of one copy.
    copies : int
        m.
    multisets : sequence of sequences of int
        Columns of `one_copy`; the empty one is the constant.
    weights : ndarray of shape (len(multisets),)
    polynomials : callable or None
        Makes the same functions as polynomials in few sums over copies; None where these take about as long.
    """

    def __init__(
        self,
        one_copy: Functions,
        copies: int,
        multisets: Sequence[Sequence[int]],
        weights: Array,
        polynomials: Callable[..., Functions | None] | None = None,
    ) -> None:
        self._one_copy = one_copy
        self._copies = copies
        self._multisets = multisets
        self.dim = len(multisets)
        self._make_polynomials = polynomials
        # A sum over injective assignments counts each choice of copies ∏ count! times.
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
        """A forecast of the time for a point."""
        return self._program.nanoseconds(self._copies)

    @cached_property
    def _polynomials(self) -> Functions | None:
        return None if self._make_polynomials is None else self._make_polynomials(nanoseconds=self.nanoseconds())

    def _faster(self, n: int) -> Functions | None:
        """The polynomials, where sums over n points gain more by them than it takes to make them."""
        return self._polynomials if n * self.nanoseconds() >= _MAKING * self.dim else None

    def correlate(self, X: Array, Y: Array) -> Array:
        faster = self._faster(len(X))
        return super().correlate(X, Y) if faster is None else faster.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        faster = self._faster(len(X))
        return super().combine(X, C) if faster is None else faster.combine(X, C)

    def _block_rows(self, d: int) -> int:
        return len(self._program.starts) + self._one_copy.dim

    def _block(self, X: Array, more: int = 0) -> int:
        super()._block(X, more)  # refuses what does not fit in memory
        return self._program.block(len(X))

    def _loaded(self, X: Array) -> Array:
        """The coordinate of each copy, or the one-copy values where a loop cannot compute them itself."""
        if self._program.table.mode != TABLE:
            return read_only(X)[:, :, None]
        return read_only(self._copy_values(X))

    def _copy_values(self, X: Array) -> Array:
        flat = X.reshape(len(X) * self._copies, -1)
        return self._one_copy.values(flat).reshape(len(X), self._copies, self._one_copy.dim)  # (n, m, A)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        if self._program.table.mode != TABLE:
            yield rows
            return
        for part in self.chunks(rows.stop - rows.start):
            yield slice(rows.start + part.start, rows.start + part.stop)

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

    # --- gradients -----------------------------------------------------------------------------------

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

        if (faster := self._faster(len(X))) is not None:
            return faster.combine_gradient(X, C)
        program, m = self._chains, self._copies
        coefficients = read_only(self._spread(C)[:, None, :])
        stretch = program.stretch(m)
        given, combined = program.table.mode == TABLE, np.empty((*X.shape, C.shape[1]))

        def work(rows: slice) -> None:
            for part in self._pieces(rows):
                points, slopes = X[part], combined[part]
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
        """The gradient of Φ C by plain NumPy: the reverse pass of the loop."""  # (n, n_features, q)
        X, program, m, spread = read_only(X), self._program, self._copies, self._spread(C)
        grows, parts = program.by_function(), []
        for rows in self.chunks(len(X), 8.0 * (m + 4) * len(program.starts)):
            values, pull = self._plain_copies(X[rows])
            before = [_nothing_yet(program, values.shape[1])]
            for i in range(m - 1):
                before.append(_one_copy_more(grows, values[:, :, i], before[-1]))
            combined = np.empty((values.shape[1], X.shape[1], len(spread)))
            for q, c in enumerate(spread):
                bar, by = np.zeros(before[0].shape), np.zeros(values.shape)  # by: the derivatives by all values
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
        """One-copy values on each copy, and what takes derivatives by them to a gradient."""  # (A, n, m)
        table, n, m = self._program.table, len(X), self._copies
        if table.mode == TABLE:
            flat = X.reshape(n * m, -1)
            values = self._one_copy.plain_values(flat).reshape(n, m, -1).transpose(2, 0, 1)

            def pull(by: Array) -> Array:
                W = np.ascontiguousarray(by.transpose(1, 2, 0)).reshape(n * m, -1)
                pieces = [slice(i, i + FEW_ROWS) for i in range(0, n * m, FEW_ROWS)]  # nothing is compiled for these
                return np.concatenate([self._one_copy.pointwise_gradient(flat[p], W[p]) for p in pieces]).reshape(n, -1)

            return values, pull
        x = table.scale[0] * (normalized(X) if table.mode == SPHERE else X).reshape(1, -1)
        T = factors(table, x, x * x)
        slopes = table.scale[0] * slopes_of_factors(table, x[0], T).reshape(-1, n, m)

        def along(by: Array) -> Array:
            return self._tangential(X, np.einsum("anm,anm->nm", by, slopes)[:, None])[:, 0]

        return T[:-1].reshape(-1, n, m), along

    @cached_property
    def _chains(self) -> CopyChains:
        return self._program.chains()

    def _copies_and_slopes(self, X: Array) -> tuple[Array, Array]:
        """Values and gradients of the one-copy functions on each copy."""  # (A, n, m), (A, n, m, f)
        if self._program.table.mode == SPHERE:
            X = normalized(X)
        flat = X.reshape(len(X) * self._copies, -1)
        slopes = self._one_copy.gradient(flat).reshape(len(X), self._copies, self._one_copy.dim, flat.shape[1])
        return self._copy_values(X).transpose(2, 0, 1), slopes.transpose(2, 0, 1, 3)

    def _tangential(self, X: Array, gradient: Array) -> Array:
        """Gradients along the sphere, where the copies are the coordinates of a sphere."""  # (n, q, n_features)
        if self._program.table.mode != SPHERE:
            return gradient
        unit = normalized(X)
        return gradient - np.einsum("nqj,nj->nq", gradient, unit)[:, :, None] * unit[:, None, :]


def _nothing_yet(program: CopyByCopy, n: int) -> Array:
    """The states without any copy."""
    states = np.zeros((len(program.starts), n))
    states[0] = 1.0
    return states


def _one_copy_more(grows: list[tuple[int, Indices, Indices]], values: Array, states: Array) -> Array:
    """The states after one more copy, whose one-copy functions have these values."""  # (A, n), (states, n)
    grown = states.copy()
    for a, state, rest in grows:
        grown[state] += values[a] * states[rest]
    return grown


def _all_but_one(
    grows: list[tuple[int, Indices, Indices]], copies: Array, states: Array, left: range
) -> Iterator[tuple[int, Array]]:
    """For each copy of `left`, the states of all other copies: m log m steps by halving, without a subtraction."""
    if len(left) == 1:
        yield left[0], states
        return
    halves = left[: len(left) // 2], left[len(left) // 2 :]
    for mine, others in (halves, halves[::-1]):
        grown = states
        for i in others:
            grown = _one_copy_more(grows, copies[:, :, i], grown)
        yield from _all_but_one(grows, copies, grown, mine)
