"""Ridge regression of vector functions from moments alone: any number of rows, and generalised cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.functions._vector_functions import Summand
from specavg.regression._block_problem import Decomposed, Solved, SummandPlaces, VectorPath, VectorProblem
from specavg.regression._moment_path import cross_validated_error
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Scores

_TINY = float(np.finfo(float).tiny)


@final
class BlockMomentProblem(VectorProblem):
    """From moments alone: any number of rows, half of the digits, generalised cross-validation.

    Parameters
    ----------
    moments : Moments
        Made by `Moments.of_vectors`.
    summands : sequence of Summand
        Those of the functions.
    constants : int
        The first functions, which are not penalised.
    rows : int
        Independent numbers of a value at one point.
    """

    smallest_alpha = 1e-13
    rounding: ClassVar[float] = 1e-14
    solver = "moments"

    def __init__(self, moments: Moments, summands: Sequence[Summand], constants: int, rows: int) -> None:
        gram, cross, squares = moments.centred()  # nothing is centred: their first sums are zero
        self.units, self.count = moments.units, moments.count
        solved: list[Solved] = []
        self.grams: list[Array] = []
        self.crosses: list[Array] = []
        self.squares = float(squares[0])
        for summand in summands:
            at = SummandPlaces.of(summand, constants, len(gram))
            k, others = at.constants[0], at.others[0]
            between, y = gram[np.ix_(k, others)], cross[at.constants.T, 0]
            root = linalg.cholesky(gram[np.ix_(k, k)]) if len(k) else np.zeros((0, 0))
            mean, alone = (linalg.cho_solve((root, False), Z) if len(k) else Z for Z in (between, y))
            solved.append(Solved(at, root, mean, alone))
            self.grams.append(gram[np.ix_(others, others)] - between.T @ mean)
            self.crosses.append(cross[at.others.T, 0] - between.T @ alone)
            self.squares -= float(np.sum(y * alone))
        self._shared(solved, len(gram), float(moments.weight.value) * rows)
        self.variance = self.squares / self.weight if self.squares > self.rounding * squares[0] else np.inf

    def path(self, scale: Array) -> BlockMomentPath:
        summands: list[Decomposed] = []
        for gram, cross, own in zip(self.grams, self.crosses, self.scales(scale), strict=True):
            values, V = linalg.eigh(gram * own * own[:, None], check_finite=False)
            s, V = np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1]
            summands.append(Decomposed(s, V, V.T @ (own[:, None] * cross) / np.maximum(s, _TINY)[:, None]))
        return BlockMomentPath(self, scale, summands)


@final
class BlockMomentPath(VectorPath):
    """Generalised cross-validation, which needs no rows."""

    def __init__(self, problem: BlockMomentProblem, scale: Array, summands: Sequence[Decomposed]) -> None:
        super().__init__(problem, scale, summands)
        self._sums = problem

    def scores(self, alphas: Array) -> Scores:
        parts: list[tuple[Array, Array, int, int]] = []
        for summand, known in zip(self._summands, self._sums.solved, strict=True):
            most = known.places.frames.shape[2] * self._sums.count - known.places.constants.shape[1]
            b2 = np.sum((summand.s[:, None] * summand.c) ** 2, axis=1, keepdims=True)
            parts.append((summand.s, b2, summand.c.shape[1], most))
        error = cross_validated_error(self._sums, parts, alphas)
        return Scores(error, 0.5 * np.log(np.maximum(error, _TINY)))

    def noise_variance(self, alpha: float) -> Array:
        explained = sum(float(np.sum((1.0 / (p.s**2 + alpha)) @ (p.s[:, None] * p.c) ** 2)) for p in self._summands)
        return np.array([max(self._sums.squares - explained, 0.0) / self._sums.freedom])
