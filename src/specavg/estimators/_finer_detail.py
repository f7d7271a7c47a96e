"""Finer detail that stands out: eigenspaces beyond the first ones in which a function has more than chance gives.

Samples bear so many functions, and the first eigenspaces are compared. A function may have a part in a finer one, a
wave cos 3(θ₁ − θ₂) say, and if that part alone breaks a symmetry, what the first eigenspaces leave looks like noise.
So each finer one is tested (F) against the residuals of the first ones. Those that chance gives in fewer than one
search of 10⁴ are added; those that they hid are looked for next. If that is more than the samples bear, those that
stand out come first and then the coarsest. Eigenspaces are taken whole: no function is favoured, whatever the group.

An eigenspace that no samples bear is looked at type by type (functions cos 2θ_i of one coordinate, and products of four
coordinates with the same eigenvalue): no isometry mixes types. With many coordinates types of many of them have
thousands of functions; they are passed over, so that the second and third waves of one coordinate, which come after
them, are looked at. What samples bear is taken whole: waves of single coordinates in the place of coarse products gave
17 false alarms in 100 instead of 2, where points were crowded and a kinked function had no noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.data._checked_samples import without_copies
from specavg.invariants._building import up_to_dim
from specavg.regression._sums_of_products import Chunks, directions_with_data
from specavg.regression._target_units import Units
from specavg.spaces import Eigenspace, Space
from specavg.spaces._order_of_functions import BY_EIGENVALUE, ByType, Order

FURTHEST = 2000  # functions looked at, the first ones included: their values at `MOST_ROWS` points take 80 MB
MOST_ROWS = 5000  # rows looked at: a hundredth of the residual variance stands out in them
_PASSED_OVER = 200  # types in a row without room, after which no more are listed: 3 have to be passed on Torus(20)
_SAME = 1e-9  # relative difference of eigenvalues that is rounding
_CHANCE = 1e-4  # probability of taking noise for detail in one search
_ROUNDS = 3  # of looking: each finds what larger detail hid, and a second one is rarely needed
_ROUNDING = 1e-10  # part of the variance of y that no detail is looked for in: as the least noise of `Information`
WORTH_SAYING = 0.005  # share of the variance of y that was not tested, from which on a result says so


def untested_detail(share: float, reached: str = "") -> str:
    """The sentences of a result that left out a share of the variance of y, and how its functions are reached."""
    return (
        f"Detail finer than the functions compared explains {100 * share:.1f} % of the variance of y: whether "
        f"it has the symmetry was not tested.{reached}"
    )


def order_compared(space: Space) -> Order:
    """The order of what is compared: by eigenvalue, type by type where a space has types."""
    return ByType() if space.has_types else BY_EIGENVALUE


def first_eigenspaces(space: Space, most: float) -> tuple[Eigenspace, ...]:
    """The first eigenspaces after the constant that have at most `most` functions together, all types of each."""
    return tuple(up_to_dim(_after_the_constant(space), sum(V.dim for V in whole_eigenspaces(space, most))))


def whole_eigenspaces(space: Space, most: float) -> tuple[Eigenspace, ...]:
    """The functions of `first_eigenspaces` by eigenvalue alone, for what does not ask for types."""
    return tuple(up_to_dim(islice(space.eigenspaces(), 1, None), most))


def _blocks(space: Space, most: float) -> Iterator[tuple[Eigenspace, ...]]:
    """What is looked at as one: all types of an eigenvalue if they have at most `most` functions, otherwise each."""
    types: list[Eigenspace] = []
    for V in _after_the_constant(space):
        if types and V.eigenvalue > types[0].eigenvalue * (1 + _SAME):
            yield from _whole_or_apart(types, most)
            types = []
        types.append(V)


def _whole_or_apart(types: list[Eigenspace], most: float) -> list[tuple[Eigenspace, ...]]:
    return [tuple(types)] if sum(V.dim for V in types) <= most else [(V,) for V in types]


def _with_finer_blocks(space: Space, most: float) -> list[tuple[Eigenspace, ...]]:
    """Blocks of at most `FURTHEST` functions together, or `most`; those without room are passed over."""
    found: list[tuple[Eigenspace, ...]] = []
    room, passed_over = max(FURTHEST, most), 0
    for block in _blocks(space, most):
        size = sum(V.dim for V in block)
        if size <= room:
            found.append(block)
            room, passed_over = room - size, 0
        else:
            passed_over += 1
            if room < 1 or passed_over > _PASSED_OVER:
                break
    return found


def _after_the_constant(space: Space) -> Iterator[Eigenspace]:
    return islice(space.ordered(order_compared(space)), 1, None)


@final
@dataclass(frozen=True)
class Compared:
    """The eigenspaces to compare, and what stands out beside them.

    Attributes
    ----------
    eigenspaces : tuple of Eigenspace
        In their order, without the constant.
    untested : float
        Share of the variance of y in eigenspaces that stand out and are not among them, noise subtracted.
    n_needed : int
        Functions of all eigenspaces that stand out, if some of them are not among those compared; otherwise 0.
    """

    eigenspaces: tuple[Eigenspace, ...]
    untested: float = 0.0
    n_needed: int = 0

    def samples_needed(self, per_function: int, most: int) -> int:
        """Samples that would bear what stands out; 0 where all of it is compared, or it has more than `most`."""
        return per_function * (1 + self.n_needed) if 0 < self.n_needed < most else 0


def compared_eigenspaces(
    space: Space,
    most: float,
    values: Callable[[Callable[[Array], Array]], Array],
    targets: Array,
    weights: Array,
    *,
    only_first: bool = False,
) -> Compared:
    """The first eigenspaces that have `most` functions together, and finer ones that stand out.

    Parameters
    ----------
    space : Space
    most : float
    values : callable
        Functions of points to their values at n rows.
    targets : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Relative precisions.
    only_first : bool, default False
        Whether to compare the first eigenspaces, and to say only what stands out beside them.
    """
    first = first_eigenspaces(space, most)
    every = _with_finer_blocks(space, most)
    n_first = sum(block[-1] in first for block in every)
    if len(every) == n_first or not first:
        return Compared(first)
    W = values(space.functions([V for block in every for V in block]).evaluate)
    sizes = [sum(V.dim for V in block) for block in every]
    kept, untested, n_needed = blocks_to_compare(W, sizes, n_first, most, targets, weights, only_first=only_first)
    return Compared(tuple(V for i in kept for V in every[i]), untested, n_needed)


def some_samples(chunks: Chunks) -> tuple[Array, Array, Array]:
    """Points, targets and weights of some rows, the same in every call; copies of a point are one."""
    rng = np.random.default_rng(OWN_SEED)
    kept: tuple[Array, ...] = ()
    for X, y, *given in chunks:
        new = (rng.random(len(y)), X, y, given[0] if given else np.ones(len(y)))
        kept = tuple(map(np.concatenate, zip(kept, new, strict=True))) if kept else new
        if len(kept[0]) > MOST_ROWS:
            few = np.sort(np.argpartition(kept[0], MOST_ROWS)[:MOST_ROWS])
            kept = tuple(part[few] for part in kept)
    if not kept:
        raise ValueError("there are no samples")
    points, targets, weights = without_copies(*kept[1:])
    return points, targets, weights


def blocks_to_compare(
    W: Array,
    sizes: Sequence[int],
    first: int,
    most: float,
    targets: Array,
    weights: Array,
    *,
    only_first: bool = False,
) -> tuple[list[int], float, int]:
    """Which blocks to compare, the share of the variance of y in others that stand out, and how many functions then do.

    Parameters
    ----------
    W : ndarray of shape (n, p)
        Values of the functions, coarse ones first.
    sizes : sequence of int
        How many functions each block has.
    first : int
        Blocks that are compared if no other stands out.
    most : float
        Functions that may be compared.
    targets, weights, only_first
        As in `compared_eigenspaces`.
    """
    fit = _Fit(W, sizes, targets, weights)
    blocks, level = list(range(first)), _CHANCE / len(sizes)
    fit.add(0, first)
    too_large: list[_Block] = []
    for _ in range(_ROUNDS):
        found = sorted(block for block in fit.others(first, len(sizes)) if block.p_value < level)
        # What one of them explains another may explain too, on a regular grid say: each is asked again.
        added = [block.number for block in found if fit.added_if(block.number, level)]
        blocks += added
        too_large = [block for block in found if block.number not in blocks]
        if not added:
            break
    kept, untested = set(blocks), max((block.gain for block in too_large), default=0.0)
    needed = max((sizes[block.number] for block in too_large), default=0)  # of one: they may be aliases of one another
    if len(blocks) > first:
        found = sorted(fit.own(sorted(blocks)))
        outstanding = [block for block in found if block.p_value < level]
        coarse = sorted(block.number for block in found if block.p_value >= level)
        kept, room = set[int](), most
        for i in range(first) if only_first else [*(block.number for block in outstanding), *coarse]:
            if sizes[i] <= room:
                kept.add(i)
                room -= sizes[i]
        left_out = [block for block in outstanding if block.number not in kept]
        untested += sum(block.gain for block in left_out)
        needed += sum(sizes[block.number] for block in outstanding) if left_out or needed else 0
    return sorted(kept), float(np.clip(untested / fit.total, 0.0, 1.0)) if untested else 0.0, needed


@final
@dataclass(frozen=True, order=True)
class _Block:
    """How much a block of functions explains beside others: the surest first, and of equals the coarsest."""

    p_value: float
    number: int
    gain: float  # noise subtracted


@final
class _Fit:
    """Least squares with the constant, and with blocks of functions that are added one after the other.

    Parameters
    ----------
    W, sizes, targets, weights
        As in `blocks_to_compare`.
    """

    def __init__(self, W: Array, sizes: Sequence[int], targets: Array, weights: Array) -> None:
        root = np.sqrt(weights / weights.mean())
        self._W = W if (root == 1).all() else root[:, None] * W
        self._ends = np.concatenate([[0], np.cumsum(sizes)])
        self._Q = (root / np.linalg.norm(root))[:, None]  # (n, r), orthonormal: what is fitted
        y = root * Units.of(targets[:, None]).applied(targets[:, None])[:, 0]
        self._y = self._residuals = y - self._Q @ (self._Q.T @ y)
        self.total = float(self._y @ self._y)

    def added_if(self, number: int, level: float) -> bool:
        """Fit a block too if its p-value is below a level and half of the rows stay free; whether it was."""
        W = self._columns(number, number + 1)
        wanted = any(block.p_value < level for block in self.others(number, number + 1))
        if not wanted or 2 * (self._Q.shape[1] + W.shape[1]) > len(W):
            return False
        self.add(number, number + 1)
        return True

    def add(self, first: int, end: int) -> None:
        """Fit some blocks too."""
        W = self._columns(first, end)
        for _ in range(2):  # what the first time leaves of Q is rounding
            W = W - self._Q @ (self._Q.T @ W)
        values, vectors = directions_with_data(W.T @ W, len(W))
        U = W @ (vectors / np.sqrt(values))
        self._Q = np.hstack([self._Q, U])
        self._residuals = self._residuals - U @ (U.T @ self._residuals)

    def others(self, first: int, end: int) -> list[_Block]:
        """Blocks that are not fitted, each beside what is, if that leaves a quarter of the rows free."""
        W, start = self._columns(first, end), self._ends[first]
        fitted, cross = self._Q.T @ W, W.T @ self._residuals
        squares = float(self._residuals @ self._residuals)
        found: list[_Block] = []
        for i in range(first, end):
            part = slice(self._ends[i] - start, self._ends[i + 1] - start)
            if 4 * (self._Q.shape[1] + part.stop - part.start) <= 3 * len(W):
                gram = W[:, part].T @ W[:, part] - fitted[:, part].T @ fitted[:, part]
                values, vectors = directions_with_data(gram, len(W))
                gain = float(np.sum((vectors.T @ cross[part]) ** 2 / values))
                found.append(self._block(i, gain, len(values), squares - gain, self._Q.shape[1] + len(values)))
        return found

    def own(self, blocks: Sequence[int]) -> list[_Block]:
        """The blocks of a model with these and no others, each beside the others."""
        W = np.hstack([self._columns(i, i + 1) for i in blocks])
        W = W - self._Q[:, :1] @ (self._Q[:, :1].T @ W)
        values, vectors = directions_with_data(W.T @ W, len(W))
        inverse = (vectors / values) @ vectors.T
        coef = inverse @ (W.T @ self._y)
        squares = float(np.sum((self._y - W @ coef) ** 2))
        found: list[_Block] = []
        start = 0
        for i in blocks:
            part = slice(start, start := start + int(self._ends[i + 1] - self._ends[i]))
            loss = float(coef[part] @ np.linalg.lstsq(inverse[part, part], coef[part], rcond=1e-10)[0])
            found.append(self._block(i, loss, part.stop - part.start, squares, 1 + len(values)))
        return found

    def _columns(self, first: int, end: int) -> Array:
        return self._W[:, self._ends[first] : self._ends[end]]

    def _block(self, number: int, gain: float, functions: int, left: float, fitted: int) -> _Block:
        """A block whose functions explain `gain`, in a model of so many functions that leaves `left` (F test)."""
        from scipy.special import fdtrc

        freedom = len(self._W) - fitted
        noise = max(left, _ROUNDING * self.total) / freedom
        if functions == 0 or noise == 0:
            return _Block(1.0, number, 0.0)
        p_value = float(
            f"{fdtrc(functions, freedom, gain / functions / noise):.6g}"
        )  # of aliases, to rounding the same
        return _Block(p_value, number, gain - functions * noise)
