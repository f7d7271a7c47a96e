"""Symmetric functions on tori: sums, over distinct copies, of products of waves of one coordinate each.

Write F(S) for the sum, over distinct copies, of the product of the waves of a multiset S. Computed copy by copy
(`_copy_by_copy`), every state is updated for each of the m copies. A faster way splits off a wave a, of which only the
sum over all copies p_a is needed:

    F(S) = p_a F(S without a) − Σ_b F(S without a and b, with the product ab),

where b are the other waves of S. The product of two waves is a sum of up to two waves and a number. Splitting
off all waves but those of the lowest frequencies makes F a polynomial: a combination of products of sums p_a and of few
states, which are still computed copy by copy. The coefficients of the combination are applied after sums over points.

This way subtracts, and so loses digits. If r of the p waves of S are not split off, terms may be larger than F(S) by a
factor of ∏ (m + j)/(m − j), j from r to p − 1. The lowest frequencies are chosen such that the factor stays below
`_LARGEST_LOSS`. (If all waves are split off, F is a polynomial in power sums, which loses all digits from about twenty
waves on.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import permutations
from math import factorial, prod
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._combinations import Combinations
from specavg.functions._copy_by_copy import CopyByCopy, PlainStates
from specavg.functions._copy_chains import CopyChains
from specavg.functions._expanded_in_waves import FOURIER_DIMENSIONS
from specavg.functions._factor_table import SINE, STEP, TABLE, TORUS, FactorTable
from specavg.functions._functions import Functions
from specavg.functions._plain_products import factors
from specavg.functions._product_tree import Products, ProductTree
from specavg.functions._symmetric_functions import SymmetrizedProducts
from specavg.functions._threads import for_all_rows, read_only
from specavg.functions._trigonometric_sums import TrigonometricSums, fourier_sums

Indices = NDArray[np.int64]
Wave = tuple[int, bool]  # the frequency, and whether it is a sine
WaveTuple = tuple[Wave, ...]  # a multiset of waves, in increasing order
Polynomial = dict[tuple[WaveTuple, WaveTuple], float]  # for (R, P) the coefficient of F(R) · ∏ p_a over the a of P

_LARGEST_LOSS = 32.0  # the largest factor by which rounding may grow: one and a half of sixteen digits
# The most waves that are split off. Random points, at which functions are small, lose more than the factor above: with
# 41 waves on T^1000 five digits, with 16 less than three.
_MOST_SPLIT = 16
_PIECE = 2048  # points whose sums over copies are held at a time: 100 sums take 1.6 MB
_WORTH = 0.8  # polynomials are used if they are forecast to take at most this share of the time: forecasts are rough


def symmetrized_products(
    one_copy: Functions, copies: int, multisets: Sequence[Sequence[int]], weights: Array
) -> Functions:
    """`SymmetrizedProducts`; on tori with their polynomials, and in few dimensions with their expansion in waves."""
    table = one_copy.copy_table
    if table is None or table.mode != TORUS:
        return SymmetrizedProducts(one_copy, copies, multisets, weights)
    # No lambdas: these functions are pickled with the family.
    made = partial(polynomials, table, copies, multisets, weights)
    expansion = partial(_expansion, table, copies, multisets, weights) if copies <= FOURIER_DIMENSIONS else None
    return SymmetrizedProducts(one_copy, copies, multisets, weights, made, expansion)


# --- polynomials in sums over copies ---


class PowerSums(NamedTuple):
    """The sums over copies of √2cos 2πkx and √2sin 2πkx for k = unit, 2·unit, …, as the loops read them.

    Attributes
    ----------
    scale : float
        1/period.
    unit : float
        The first frequency k.
    frequencies : int
        The number of frequencies.
    outputs : ndarray of int
        The sums that are wanted: 2i is that of the cosine, and 2i + 1 that of the sine, of frequency (i + 1)·unit.
    """

    scale: float
    unit: float
    frequencies: int
    outputs: Indices

    def nanoseconds(self, m: int) -> float:
        """A forecast of the time for a point of m copies: 450 ns on T^100 with eight frequencies (measured: 410)."""
        return 4.5 * m * -(-self.frequencies // 8)  # the loop computes eight frequencies at a time

    def run(self, X: Array) -> Array:
        """The sums, by plain NumPy."""  # (n, m) -> (outputs, n)
        values = self.unit * (self.outputs // 2 + 1)
        angles = 2 * np.pi * self.scale * values[:, None, None] * X
        waves = np.where((self.outputs % 2 == 1)[:, None, None], np.sin(angles), np.cos(angles))
        return np.sqrt(2) * waves.sum(axis=2)


@final
class SumsOverCopies(Products):
    """Products of sums over copies: the terms of the polynomials.

    Parameters
    ----------
    powers : PowerSums
        The sums p_a of single waves.
    states : CopyByCopy
        The sums of products of several waves at distinct copies.
    products : sequence of tuples of int
        The factors of each product: places in the list of all `powers`, followed by all `states`. The empty product is
        the constant.
    """

    def __init__(self, powers: PowerSums, states: CopyByCopy, products: Sequence[tuple[int, ...]]) -> None:
        self._powers = powers
        self._states = states
        self._products = products
        self.dim = len(products)

    @property
    def _sums(self) -> int:
        """The number of sums over copies."""
        return len(self._powers.outputs) + len(self._states.outputs)

    @cached_property
    def tree(self) -> ProductTree:
        place: dict[tuple[int, ...], int] = {(): 0}
        parent, factor = [0], [0]
        for product in self._products:
            for i in range(1, len(product) + 1):
                if product[:i] not in place:
                    parent.append(place[product[: i - 1]])
                    factor.append(product[i - 1])
                    place[product[:i]] = len(place)
        K = self._sums
        rows = np.full((K, 5), -1, dtype=np.int64)  # the sums are the coordinates of the table, and also its factors
        rows[:, 0], rows[:, 1], rows[:, 4] = STEP, np.arange(K), 0
        table = FactorTable.of(TABLE, np.ones(1), rows, np.tile([1.0, 0.0], (K, 1)))
        wanted = np.array([place[product] for product in self._products], dtype=np.int64)
        return ProductTree.of(table, np.array(parent), np.array(factor), wanted)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (2 * self.dim + self._sums)

    def _block_rows(self, d: int) -> int:
        return super()._block_rows(self._sums)

    def _pieces(self, rows: slice) -> Iterator[slice]:
        for start in range(rows.start, rows.stop, _PIECE):
            yield slice(start, min(start + _PIECE, rows.stop))

    def plain_values(self, X: Array) -> Array:
        turns = X.T.reshape(1, -1) * self._states.table.scale[0]
        waves = factors(self._states.table, turns - np.rint(turns), turns)[:-1].reshape(-1, *X.T.shape)  # (A, m, n)
        states = PlainStates(self._states, X.shape[1]).run(lambda some: waves[:, some], len(X))
        sums = np.concatenate([self._powers.run(X), states])  # (K, n)
        values = np.ones((len(X), self.dim))
        for column, product in zip(values.T, self._products, strict=True):
            column *= sums[list(product)].prod(axis=0)
        return values

    def _loaded(self, X: Array) -> Array:
        from specavg.functions.loops._copies import copies_values
        from specavg.functions.loops._power_sums import power_sums

        points, powers, states = read_only(X), self._powers, self._states
        sums = np.empty((len(X), len(powers.outputs)))
        power_sums(powers, points, sums)
        if not len(states.outputs):
            return read_only(sums)
        more = np.empty((len(X), len(states.outputs)))
        copies_values(states, points[:, :, None], states.block(len(X)), more)
        return read_only(np.concatenate([sums, more], axis=1))

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        from specavg.functions.loops._copies_backwards import copies_gradient
        from specavg.functions.loops._power_sums import power_sums_gradient

        m, q, K, chains = X.shape[1], C.shape[1], len(self._powers.outputs), self._chains
        stretch = chains.stretch(m)
        values, out = np.empty((len(X), q)), np.empty((*X.shape, q))

        def work(rows: slice) -> None:
            for piece in self._pieces(rows):
                values[piece], by_sums = super(SumsOverCopies, self).combine_both(X[piece], C)  # (n, sums, q)
                points, weights = read_only(X[piece]), by_sums.transpose(2, 0, 1)
                power_sums_gradient(self._powers, points, read_only(weights[:, :, :K]), out[piece])
                if len(chains.outputs):
                    slopes = np.empty((len(points), m, 1, q))
                    more = read_only(weights[:, :, K:])
                    copies_gradient(chains, points[:, :, None], more, stretch, slopes)
                    out[piece] += slopes[:, :, 0]

        for_all_rows(work, len(X))
        return values, out

    @cached_property
    def _chains(self) -> CopyChains:
        return self._states.chains()


def polynomials(
    table: FactorTable,
    m: int,
    multisets: Sequence[Sequence[int]],
    weights: Array,
    nanoseconds: float,
    most: float = np.inf,
) -> tuple[Combinations | None, float]:
    """The functions as polynomials in sums over copies, and how many coefficients were found on the way to them.

    There are no polynomials where they are not much faster, for any number of coefficients, or where they would need
    more than `most`.

    Parameters
    ----------
    table : FactorTable
        The waves of one copy.
    m : int
        The number of copies.
    multisets, weights : sequence of sequences of int, and ndarray
        The functions: see `SymmetrizedProducts`.
    nanoseconds : float
        What the functions take for a point without polynomials.
    most : float
        The number of coefficients after which the search is given up.
    """
    frequencies = table.constants[:, 0].astype(np.int64).tolist()
    waves: list[Wave] = list(zip(frequencies, (table.operations[:, 0] == SINE).tolist(), strict=True))
    wanted = [tuple(sorted(waves[a] for a in multiset)) for multiset in multisets]
    lowest = next(
        low
        for low in (0, *sorted(set(frequencies)))
        if max((_loss(m, S, low) for S in wanted), default=1.0) <= _LARGEST_LOSS
    )
    whole = [[a for a in multiset if frequencies[a] <= lowest] for multiset in multisets]
    if CopyByCopy.of(whole, table).nanoseconds(m) > _WORTH * nanoseconds:
        return None, np.inf  # the states of the lowest frequencies alone take as long
    expansions = _Expansions(m, lowest, most)
    try:
        expanded = [expansions.of(S) for S in wanted]
    except _TooMany:
        return None, most
    terms = {term: i for i, term in enumerate(dict.fromkeys(term for polynomial in expanded for term in polynomial))}
    single = sorted({a for R, P in terms for a in (*P, *(R if len(R) == 1 else ()))})
    several = list(dict.fromkeys(R for R, _ in terms if len(R) > 1))
    unit = int(np.gcd.reduce([f for f, _ in single] or [1]))
    count = max((f // unit for f, _ in single), default=0)
    outputs = np.array([2 * (f // unit - 1) + sine for f, sine in single], dtype=np.int64)
    powers = PowerSums(float(table.scale[0]), float(unit), count, outputs)
    low = sorted({a for R in several for a in R})
    values, sines = np.array([f for f, _ in low], dtype=np.int64), np.array([sine for _, sine in low], dtype=bool)
    few = FactorTable.of_waves(1.0 / table.scale, values, np.zeros_like(values), sines)
    states = CopyByCopy.of([[low.index(a) for a in R] for R in several], few)
    forecast = powers.nanoseconds(m) + states.nanoseconds(m) if several else powers.nanoseconds(m)
    if forecast + 0.15 * len(terms) + 1.5 * (len(single) + len(several)) > _WORTH * nanoseconds:
        return None, np.inf
    place: dict[WaveTuple, int] = {S: i for i, S in enumerate([*((a,) for a in single), *several])}
    products = [(*(place[(a,)] for a in P), *([place[R]] if R else [])) for R, P in terms]
    sums = SumsOverCopies(powers, states, products)
    return Combinations(sums, _matrix(expanded, terms, weights)), expansions.coefficients


def _matrix(expanded: Iterable[Polynomial], terms: dict[tuple[WaveTuple, WaveTuple], int], weights: Array) -> Any:
    """The coefficients of all terms, as sums over copies and states, in each function."""  # sparse (terms, functions)
    from scipy.sparse import csc_array

    # F has each product ∏ count! times; a state of `CopyByCopy` has it once.
    often = np.array([float(prod(map(factorial, Counter(R).values()))) for R, _ in terms])
    rows = [[terms[term] for term in polynomial] for polynomial in expanded]
    values = [np.fromiter(p.values(), float) * w for p, w in zip(expanded, weights, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    flat = np.concatenate([np.empty(0, dtype=np.int64), *(np.array(row, dtype=np.int64) for row in rows)])
    return csc_array(
        (np.concatenate([np.empty(0), *values]) * often[flat], flat, starts), shape=(len(terms), len(weights))
    )


def _loss(m: int, S: WaveTuple, lowest: int) -> float:
    """How much larger than F(S) the terms of its polynomial may be: rounding errors grow by this factor."""
    whole = sum(f <= lowest for f, _ in S)
    return prod((m + j) / (m - j) for j in range(whole, len(S))) if len(S) - whole <= _MOST_SPLIT else np.inf


class _TooMany(Exception):
    """More coefficients than allowed."""


class _Expansions:
    """Sums F(S) as polynomials.

    Parameters
    ----------
    m : int
        The number of copies.
    lowest : int
        Waves of frequencies up to this one are not split off.
    most : float
        The number of coefficients that may be found.
    """

    def __init__(self, m: int, lowest: int, most: float) -> None:
        self._m, self._lowest, self._most = m, lowest, most
        self._known: dict[WaveTuple, Polynomial] = {}
        self.coefficients = 0  # of all that are known

    def of(self, S: WaveTuple) -> Polynomial:
        """F(S)."""
        found = self._known.get(S)
        if found is None:
            found = self._known[S] = self._found(S)
            self.coefficients += len(found)
            if self.coefficients > self._most:
                raise _TooMany
        return found

    def _found(self, S: WaveTuple) -> Polynomial:
        if not S or S[-1][0] <= self._lowest:
            return {(S, ()): 1.0}
        a, rest = S[-1], S[:-1]
        total: Polynomial = {(R, tuple(sorted((*P, a)))): c for (R, P), c in self.of(rest).items()}
        for b, count in Counter(rest).items():
            i = rest.index(b)
            others = rest[:i] + rest[i + 1 :]
            for wave, factor in _product(a, b):
                if wave is None:  # a number, which every copy that the others do not use adds once
                    part, factor = self.of(others), factor * (self._m - len(others))
                else:
                    part = self.of(tuple(sorted((*others, wave))))
                for term, c in part.items():
                    total[term] = total.get(term, 0.0) - count * factor * c
        return {term: c for term, c in total.items() if c != 0.0}


def _product(a: Wave, b: Wave) -> list[tuple[Wave | None, float]]:
    """The product of two waves √2cos or √2sin as waves and their coefficients; None stands for the constant 1."""
    (j, first), (k, second) = a, b
    half = 0.5**0.5
    if first == second:
        difference: tuple[Wave | None, float] = (None, 1.0) if j == k else ((abs(j - k), False), half)
        return [((j + k, False), -half if first else half), difference]
    if first:
        j, k = k, j  # k is the frequency of the sine
    total: list[tuple[Wave | None, float]] = [((j + k, True), half)]
    if j != k:
        total.append(((abs(k - j), True), half if k > j else -half))
    return total


# --- sums of waves ---


def _expansion(table: FactorTable, m: int, multisets: Sequence[Sequence[int]], weights: Array) -> TrigonometricSums:
    """The functions as sums of waves on a torus of m dimensions; parameters as in `polynomials`."""
    value, sine = table.constants[:, 0].astype(np.int64), table.operations[:, 0] == SINE
    blocks: list[tuple[Indices, NDArray[np.bool_], Indices, Array]] = []
    for size in range(m + 1):
        mine = np.array([i for i, a in enumerate(multisets) if len(a) == size], dtype=np.int64)
        labels = np.array([multisets[i] for i in mine], dtype=np.int64).reshape(len(mine), size)
        for copies in permutations(range(m), size):
            K, S = np.zeros((len(mine), m), dtype=np.int64), np.zeros((len(mine), m), dtype=bool)
            K[:, copies], S[:, copies] = value[labels], sine[labels]
            blocks.append((K, S, mine, weights[mine]))
    K, S, columns, scale = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return fourier_sums(np.repeat(1.0 / table.scale, m), K, S, columns, scale, len(weights))
