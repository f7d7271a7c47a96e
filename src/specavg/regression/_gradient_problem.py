"""Ridge regression of values and derivatives together: rows of both kinds, and points left out with all their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression import _measured_limits as _limits
from specavg.regression._block_leave_one_out import BlockLeaveOneOut, LeftOutTogether, blocks_of
from specavg.regression._calibration import Calibration, left_out_by_truncation, shrunk_surprise
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._noise_of_kinds import noise_of_kind
from specavg.regression._reduced_rows import ReducedRows
from specavg.regression._regression_problem import Problem, Scores
from specavg.regression._repeated_rows import Averaged, averaged
from specavg.regression._target_units import Units
from specavg.regression._turned_rows import turned_to_first


@final
@dataclass(frozen=True, eq=False)
class Observations:
    """Rows of one kind.

    Attributes
    ----------
    features : ndarray of shape (N, D)
        Values of the functions, or derivatives of them, without the constant.
    targets : ndarray of shape (N,)
    weights : ndarray of shape (N,)
    labels : ndarray of int, shape (N,)
        The number of the orbit of the point: rows with the same label, of both kinds, are left out together.
    lost : Averaged, optional
        Where rows of several points of an orbit were averaged: what was lost.
    """

    features: Array
    targets: Array
    weights: Array
    labels: NDArray[np.intp]
    lost: Averaged | None = None

    def averaged(self, rows: NDArray[np.intp], places: NDArray[np.intp], targets: Array) -> Observations:
        """These rows, with the means of the targets of all points of a place, and their weights together."""
        # (m · d,), (n,), (n, d)
        d = targets.shape[1]
        if len(rows) == targets.size:
            return self
        place = np.unique(places, return_inverse=True)[1].reshape(-1)
        means, total, lost = averaged(targets, place, self.weights[::d])
        return Observations(self.features[rows], means.ravel(), np.repeat(total, d), self.labels[rows], lost)

    @property
    def given(self) -> int:
        """Rows before points of one orbit were averaged."""
        return len(self.weights) if self.lost is None else self.lost.within.size

    @property
    def repeated(self) -> int:
        """Differences of repeated observations that are free."""
        return 0 if self.lost is None else self.lost.repeats.freedom * self.lost.within.shape[1]

    def squares_lost(self, unit: Array, ratio: float) -> tuple[float, float]:
        """Sums of squares in `unit`, times `ratio`²: of all that was averaged less its mean, and of repetitions."""
        if self.lost is None:
            return 0.0, 0.0
        lost = self.lost.over(unit / ratio)
        return float(np.sum(lost.within**2)), float(lost.repeats.squares.sum())


def of_each_orbit(values: Observations, slopes: Observations, dimension: int) -> tuple[Observations, Observations]:
    """One point of each orbit, with the means of what was observed at all of them.

    Functions have one value on an orbit. Their derivatives there, a row for each direction, are turned to the first
    with what was observed (`turned_to_first`). Left out together, copies would be rows that others determine to
    rounding, and no error could be told of them.
    """
    d, label = dimension, slopes.labels[::dimension]
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    derivatives = slopes.features.reshape(len(label), d, slopes.features.shape[1])
    first, along = turned_to_first(derivatives, first[place.reshape(-1)], slopes.targets.reshape(len(label), d))
    there = np.unique(first)
    each = (there[:, None] * d + np.arange(d)).ravel()
    _, at = np.unique(values.labels, return_index=True)
    return values.averaged(at, values.labels, values.targets[:, None]), slopes.averaged(each, first, along)


@final
class GradientProblem(Problem):
    """Values and derivatives in one least-squares problem, from the features themselves.

    The constant is part of the values and of no derivative, so that centring concerns the values alone.

    Parameters
    ----------
    values, slopes : Observations
        At least one value.
    ratio : float
        The standard deviation of the noise of a value over that of a derivative: derivatives are multiplied by it.
    dimension : int, default 2
        d, of the space: error bars need it, a comparison of spectra does not.
    """

    smallest_alpha = 1e-18
    rounding: ClassVar[float] = 0.0
    solver = "features"
    without_functions: ClassVar[str] = ". Gradients are not used"

    def __init__(self, values: Observations, slopes: Observations, ratio: float, *, dimension: int = 2) -> None:
        self.dimension = dimension
        units = Units.of(values.targets[:, None])
        self.units = replace(units, unit=np.maximum(units.unit, Units.of(slopes.targets[:, None]).unit))
        y, g = self.units.applied(values.targets[:, None]), slopes.targets[:, None] / self.units.unit
        self.weight = float(values.weights.sum())
        self.mean_features = values.weights @ values.features / self.weight
        self.mean_targets = values.weights @ y / self.weight
        self.freedom = max(self.weight + float(slopes.weights.sum()) - 1.0, 1.0)
        root = np.concatenate([np.sqrt(values.weights), ratio * np.sqrt(slopes.weights)])
        constant = np.concatenate([np.sqrt(values.weights), np.zeros(len(slopes.weights))])
        features = np.concatenate([values.features - self.mean_features, slopes.features]) * root[:, None]
        targets = np.concatenate([y - self.mean_targets, g]) * root[:, None]
        self._reduced = ReducedRows(constant[:, None], features, targets)
        # The best of the last few spectra is asked for again.
        keep, reduced = lru_cache(_limits.SHORTLIST if len(root) <= _limits.KEPT_ROWS else 1), self._reduced
        self._exactly = keep(lambda scale: reduced.decomposition(np.frombuffer(scale)))
        self._blocks = blocks_of(np.concatenate([values.labels, slopes.labels]))
        self.count = sum(map(len, self._blocks))
        self._total = float(root @ root)
        squares = float(self._reduced.squares[0])
        self._variance = squares / self._total if squares > 0 else np.inf
        lost = [o.squares_lost(self.units.unit, times) for o, times in ((values, 1.0), (slopes, ratio))]
        self.within, repeats = np.sum(lost, axis=0).tolist()
        self._kinds = [  # rows, their weights, what their means have lost, what they are multiplied by
            (slice(None, len(y)), self.weight, lost[0][0], 1.0),
            (slice(len(y), None), float(slopes.weights.sum()), lost[1][0], ratio),
        ]
        self._repeats = repeats, values.repeated + slopes.repeated
        own = len(root) + self._repeats[1]
        self.copies = (values.given + slopes.given) / own
        # The score is a density of rows that were multiplied by `ratio` and divided by their size. Their own density,
        # which problems with other ratios are compared by, differs by this.
        size = max(squares, 1e-300) / self._total
        derivatives = len(slopes.weights) + slopes.repeated
        self._offset = (0.5 * own * np.log(size) - derivatives * np.log(ratio)) / len(root)

    def noise_of_kinds(self, table: BlockLeaveOneOut, alpha: float, common: Array) -> Array:
        """The noise variance of values, and of derivatives, given that of both in common."""  # (q,) -> (2, q)
        shown = table.s**2 / (table.s**2 + alpha)
        residual = table.left @ ((1.0 - shown)[:, None] * table.c) + table.rest
        fitted = table.left**2 @ shown + np.sum(table.free**2, axis=1)
        return np.stack(
            [
                noise_of_kind(np.sum(residual[rows] ** 2, axis=0) + within, weight - fitted[rows].sum(), common) / m**2
                for rows, weight, within, m in self._kinds
            ]
        )

    def path(self, scale: Array) -> GradientPath:
        found = self._exactly(scale.tobytes())
        return GradientPath(self, scale, found.right_vectors(), self._left_out(found.U, found.s))

    def scored(self, scale: Array) -> LeftOutTogether:
        found = self._exactly(scale.tobytes())
        return self._left_out(found.U, found.s)

    def roughly_scored(self, scale: Array) -> LeftOutTogether:
        return self._left_out(*self._reduced.left_vectors_by_squares(scale))

    @property
    def numbers(self) -> int:
        """Rows, of an orbit at most a value and a gradient: at other points of it they are the same."""
        return sum(len(block) * min(block.shape[1], 1 + self.dimension) for block in self._blocks)

    def told(self) -> Array:
        """What rows of both kinds tell of each function, in rows of values: its sum of squares."""  # (D,)
        return np.sum(self._reduced.core**2, axis=0)

    def _left_out(self, U: Array, s: Array) -> LeftOutTogether:
        rows, c = self._reduced, U.T @ self._reduced.Y
        blocks = BlockLeaveOneOut(s, rows.in_given_rows(U), rows.free, c, rows.rest_of(U, c), self._blocks)
        return LeftOutTogether([blocks], self._variance, self._total, self._offset, *self._repeats)


@final
class GradientPath(DecomposedPath):
    """Solutions from singular values, scored by leaving out points."""

    def __init__(self, problem: GradientProblem, scale: Array, V: Array, left_out: LeftOutTogether) -> None:
        (table,) = left_out.tables
        super().__init__(problem, scale, table.s, V, table.c)
        self._left_out, self._joint, self._rest = left_out, problem, float(np.sum(table.rest**2))

    def scores(self, alphas: Array) -> Scores:
        return self._left_out.scores(alphas)

    def noise_variance(self, alpha: float) -> Array:
        """The noise variance of a value, by restricted maximum likelihood from the rows of both kinds."""
        squares = alpha / (self.s**2 + alpha) @ self.c**2 + self._rest + self._joint.within
        return squares / self._joint.freedom

    def noise_of_kinds(self, alpha: float) -> Array:
        return self._joint.noise_of_kinds(self._left_out.tables[0], alpha, self.noise_variance(alpha))

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration:
        """By points that were left out with all their rows; `alphas` is the one penalty of values and derivatives.

        Error bars count observations in rows of values, and a derivative tells more of a function the larger the
        eigenvalue of that function is. So κ = Σ(feature)² is how many rows of values all rows are worth for a function
        of prior variance f. The functions that matter are those that the data hardly show, fκ near α: the worth of all
        rows is the mean of κ with the weights fκα/(fκ + α)².
        """
        problem, alpha = self._joint, float(alphas[0])
        freedom = np.array([1.0 + np.sum(self.s**2 / (self.s**2 + alpha))])
        told = problem.told()
        shown = self.scale**2 * told
        edge = shown * alpha / (shown + alpha) ** 2
        worth = float(edge @ told / np.maximum(edge.sum(), np.finfo(float).tiny))
        truncated, rows = left_out_by_truncation(self.scale**2) / alphas, problem.numbers
        surprise = shrunk_surprise(self._left_out.surprise(alphas), rows, self.noise_variance(alpha) / alphas)
        return Calibration.of(surprise, freedom, truncated, rows, problem.dimension, worth, problem.copies, hidden)
