"""Ridge regression of vector functions: several rows a point, several constants, and one penalty for all outputs.

Outputs that are a direct sum are solved summand by summand: rows of different summands share no function. Copies of a
summand have the same features, so that one decomposition serves the targets of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg._arrays import Array
from specavg.functions._vector_functions import Summand
from specavg.regression._block_leave_one_out import BlockLeaveOneOut, Indices, LeftOutTogether, blocks_of
from specavg.regression._calibration import Calibration, left_out_by_truncation, shrunk_surprise
from specavg.regression._reduced_rows import ReducedRows
from specavg.regression._regression_problem import Path, Problem, Scores
from specavg.regression._repeated_rows import Averaged
from specavg.regression._target_units import Units
from specavg.regression._vector_posterior import BlockPosterior, SummandPosterior


@final
@dataclass(frozen=True, eq=False)
class SummandPlaces:
    """Where the functions of a summand are among all functions, for each of its copies.

    Attributes
    ----------
    frames : ndarray of shape (copies, p, d)
        The outputs of each copy.
    constants : ndarray of int, shape (copies, k)
        Functions that are not penalised.
    others : ndarray of int, shape (copies, D)
    """

    frames: Array
    constants: Indices
    others: Indices

    @classmethod
    def of(cls, summand: Summand, constants: int, most: int) -> SummandPlaces:
        """Of the first `most` functions, the first so many of them constant."""
        places = summand.places
        free = places[0] < constants
        return cls(summand.frames, places[:, free], places[:, ~free & (places.max(axis=0) < most)])


@final
@dataclass(frozen=True, eq=False)
class SummandRows:
    """The rows of one summand: one for each point and output of a copy.

    Attributes
    ----------
    places : SummandPlaces
    features : ndarray of shape (n · d, D)
    constants : ndarray of shape (n · d, k)
        Values of the functions that are not penalised.
    targets : ndarray of shape (n · d, copies)
    """

    places: SummandPlaces
    features: Array
    constants: Array
    targets: Array


@final
@dataclass(frozen=True, eq=False)
class Solved:
    """What every spectrum needs of one summand.

    `root` is R with RᵀR the Gram matrix of the k constants, `mean` (k, D) what each function has of them, and
    `constants` (k, copies) their coefficients where all others are zero.
    """

    places: SummandPlaces
    root: Array
    mean: Array
    constants: Array


@final
@dataclass(frozen=True, eq=False)
class Decomposed:
    """The scaled features of one summand, U diag(s) Vᵀ, and c = Uᵀy."""

    s: Array  # (r,)
    V: Array  # (D, r)
    c: Array  # (r, copies)


class VectorProblem(Problem):
    """What both ways to solve share: K functions that are not penalised come first.

    Attributes
    ----------
    solved : list of Solved
        One for each summand.
    freedom : float
        Rows, by weight, less K.
    """

    solved: list[Solved]
    freedom: float

    def _shared(self, solved: list[Solved], dim: int, rows: float) -> None:
        """Keep what both ways need: the summands, how many functions are penalised, and the rows by weight."""
        self.solved = solved
        self.weight = self.rows = rows
        self.free = sum(summand.places.constants.size for summand in solved)
        self.freedom = max(rows - self.free, 1.0)
        self.mean_features, self.mean_targets = np.zeros(dim - self.free), np.zeros(1)

    def with_constant(self, coefficients: Array) -> Array:
        full = np.concatenate([np.zeros((self.free, 1)), coefficients])
        for summand in self.solved:
            own = full[summand.places.others.T, 0]  # (D, copies)
            full[summand.places.constants.T, 0] = summand.constants - summand.mean @ own
        return full

    def scales(self, scale: Array) -> list[Array]:
        """The scale of the functions of each summand, the same for all copies."""
        return [scale[summand.places.others[0] - self.free] for summand in self.solved]


class VectorPath(Path):
    """The solutions for one spectrum, summand by summand."""

    def __init__(self, problem: VectorProblem, scale: Array, summands: Sequence[Decomposed]) -> None:
        self.scale, self._vector, self._scales = scale, problem, problem.scales(scale)
        self._summands = summands

    @property
    def top(self) -> float:
        return max((float(summand.s[0] ** 2) for summand in self._summands if len(summand.s)), default=0.0)

    def coefficients(self, alpha: float) -> Array:
        found = np.zeros((len(self._vector.mean_features), 1))
        for summand, scale, known in zip(self._summands, self._scales, self._vector.solved, strict=True):
            s = summand.s[:, None]
            own = scale[:, None] * (summand.V @ (s / (s**2 + alpha) * summand.c))  # (D, copies)
            found[known.places.others.T - self._vector.free, 0] = own
        return found

    def posterior(self, alpha: float, calibration: Calibration | None = None) -> BlockPosterior:
        noise, floor = self.noise_variance(alpha), np.zeros(1)
        if calibration is not None:
            noise, floor = calibration.factor * noise, calibration.share * noise
        summands: list[SummandPosterior] = []
        for summand, scale, known in zip(self._summands, self._scales, self._vector.solved, strict=True):
            at = known.places
            first = np.concatenate([at.constants[0], at.others[0]])
            summands.append(SummandPosterior(at.frames, first, known.root, known.mean, scale, summand.V, summand.s))
        return BlockPosterior(tuple(summands), alpha, noise, floor)


@final
class BlockProblem(VectorProblem):
    """From the features themselves: singular values, and the rows of a point left out together.

    Parameters
    ----------
    summands : sequence of SummandRows
    weights : ndarray of shape (n,)
        Of the points.
    dim : int
        How many functions there are, constants included.
    lost : Averaged, optional
        Where observations of one point were averaged before: what was lost.
    numbers : int, default 1
        That an observation is made of.
    dimension : int, default 2
        Of the space: error bars need it.
    complete : bool, default False
        Whether there are no other functions than these.
    """

    smallest_alpha = 1e-18
    rounding: ClassVar[float] = 0.0
    solver = "features"

    def __init__(
        self,
        summands: Sequence[SummandRows],
        weights: Array,
        dim: int,
        lost: Averaged | None = None,
        numbers: int = 1,
        dimension: int = 2,
        *,
        complete: bool = False,
    ) -> None:
        self.dimension, self.complete = dimension, complete
        sizes = [summand.targets.reshape(-1, 1) for summand in summands]
        self.units = Units.without_shift(
            np.concatenate([*sizes, *([] if lost is None else [lost.within.reshape(-1, 1)])])
        )
        self.within, self._repeats, self.copies = 0.0, (0.0, 0), 1.0
        if lost is not None:
            lost = lost.over(self.units.unit)
            self.within = float(np.sum(lost.within**2))
            self._repeats = float(lost.repeats.squares.sum()), numbers * lost.repeats.freedom
            self.copies = lost.copies(len(weights))
        self.count = len(weights)
        self._reduced: list[ReducedRows] = []
        self._blocks: list[list[NDArray[np.intp]]] = []
        solved: list[Solved] = []
        for summand in summands:
            d = len(summand.features) // self.count
            root, y = np.sqrt(np.repeat(weights, d))[:, None], summand.targets / self.units.unit
            rows = ReducedRows(root * summand.constants, root * summand.features, root * y)
            k = summand.constants.shape[1]
            F, Y = (linalg.solve_triangular(rows.root, along) if k else along for along in rows.along)
            solved.append(Solved(summand.places, rows.root, F, Y))
            self._reduced.append(rows)
            self._blocks.append(blocks_of(np.repeat(np.arange(self.count), d)))
        self._shared(solved, dim, float(weights.sum()) * sum(p.targets.size for p in summands) / max(self.count, 1))
        squares = sum(float(rows.squares.sum()) for rows in self._reduced)
        largest = max(float(np.abs(summand.targets).max(initial=0.0)) for summand in summands)
        floor = self.weight * (1e-14 * largest / float(self.units.unit[0])) ** 2
        self.variance = squares / self.weight if squares > floor else np.inf
        self._last: tuple[Array, BlockPath] | None = None

    @cached_property
    def rest_squares(self) -> float:
        """The sum of squares that no feature explains."""
        return sum(float(np.sum(rows.rest**2)) for rows in self._reduced)

    def path(self, scale: Array) -> BlockPath:
        if self._last is None or not np.array_equal(self._last[0], scale):
            pairs = zip(self._reduced, self.scales(scale), strict=True)
            found = [rows.decomposed(own) for rows, own in pairs]
            self._last = scale, BlockPath(self, scale, found, self._left_out([(U, s) for U, s, _ in found]))
        return self._last[1]

    def scored(self, scale: Array) -> LeftOutTogether:
        if not any(rows.is_wide for rows in self._reduced):
            return self.path(scale).left_out
        return self._left_out([r.left_vectors(own) for r, own in zip(self._reduced, self.scales(scale), strict=True)])

    def _left_out(self, decomposed: Sequence[tuple[Array, Array]]) -> LeftOutTogether:
        tables = [
            BlockLeaveOneOut(s, rows.in_given_rows(U), rows.free, U.T @ rows.Y, rows.rest, blocks)
            for (U, s), rows, blocks in zip(decomposed, self._reduced, self._blocks, strict=True)
        ]
        return LeftOutTogether(tables, self.variance, self.weight, 0.0, *self._repeats)


@final
class BlockPath(VectorPath):
    """Solutions from singular values, scored by leaving out points."""

    def __init__(
        self,
        problem: BlockProblem,
        scale: Array,
        decomposed: Sequence[tuple[Array, Array, Array]],
        left_out: LeftOutTogether,
    ) -> None:
        right = (table.c for table in left_out.tables)
        super().__init__(problem, scale, [Decomposed(s, V, c) for (_, s, V), c in zip(decomposed, right, strict=True)])
        self.left_out, self._rows = left_out, problem

    def scores(self, alphas: Array) -> Scores:
        return self.left_out.scores(alphas)

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration:
        """By points that were left out with all their outputs, which have the same penalty."""
        squares, rows = self.left_out.surprise(alphas), self.left_out.rows
        freedom = np.full(len(alphas), float(self._rows.free))
        for summand in self._summands:
            freedom += summand.c.shape[1] * np.sum(summand.s[:, None] ** 2 / (summand.s[:, None] ** 2 + alphas), axis=0)
        noise = np.concatenate([self.noise_variance(alpha) for alpha in alphas])
        # A function has the mean square one over all numbers of a point together.
        truncated = left_out_by_truncation(self.scale**2) * self._rows.count / rows / alphas
        surprise = shrunk_surprise(squares, rows, noise / alphas)
        p = self._rows
        found = Calibration.of(surprise, freedom, truncated, rows, p.dimension, p.rows, p.copies, hidden)
        # Where there are no other functions, what surprises is noise.
        return replace(found, share=np.zeros(len(alphas))) if p.complete else found

    def noise_variance(self, alpha: float) -> Array:
        shrunk = sum(float(np.sum(alpha / (p.s**2 + alpha) @ p.c**2)) for p in self._summands)
        return np.array([(shrunk + self._rows.rest_squares + self._rows.within) / self._rows.freedom])
