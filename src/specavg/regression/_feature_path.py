"""Ridge regression from the features themselves: singular values, and leave-one-out in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg._arrays import Array
from specavg._random import OWN_SEED, some_rows
from specavg.regression import _measured_limits as _limits
from specavg.regression._calibration import Calibration, left_out_by_truncation, shrunk_surprise
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._functions_that_stand_out import of_its_own, standing_out
from specavg.regression._leave_one_out import LeaveOneOut, Rows
from specavg.regression._moment_path import MomentProblem
from specavg.regression._reduced_rows import Decomposition, LongVectors, ReducedRows
from specavg.regression._regression_problem import (
    ROUGH_ALPHA,
    Posterior,
    Problem,
    Scores,
    SharedOrbits,
    degrees_of_freedom,
    variation,
)
from specavg.regression._repeated_rows import Averaged, averaged
from specavg.regression._target_units import Units

_UNDECIDED = 0.5  # nats over all rows that data cannot tell apart: of penalties within it the largest is taken
_LEAST_ERROR = 1e-8  # an output predicted better than this, in its standard deviations, counts as noise-free


@final
@dataclass(frozen=True, eq=False)
class Directions:
    """What is fitted in place of the outputs: combinations of them, each with its own penalty.

    Attributes
    ----------
    path : FeaturePath
        The decomposition with the directions as its outputs.
    back : ndarray of shape (r, q)
        What a direction adds to each output.
    alphas : ndarray of shape (r,)
        In the units of `path`.
    error : float
        Root mean squared leave-one-out error of the outputs in their standard deviations, the directions being given.
    """

    path: FeaturePath
    back: Array
    alphas: Array
    error: float

    def coefficients(self) -> Array:
        """Coefficients of the unscaled features, for the outputs."""  # (D, q)
        return self.path.coefficients(self.alphas) @ self.back

    def posterior(self) -> Posterior:
        """What predictions of the outputs with a standard deviation need, each direction calibrated by itself."""
        return self.path.posterior_of(self.alphas, self.noise(), self.path.calibration(self.alphas))

    def noise(self) -> Array:
        """What each direction adds to the noise variance of each output."""  # (r, q)
        # Directions separate what varies; noise may still be common to several. The noise of an output is therefore
        # that of all directions together, and is shared out in proportion to what each has by itself.
        shares = self.path.noise_variance(self.alphas)[:, None] * self.back**2
        total = shares.sum(axis=0)
        together = self.path.noise_variance(self.alphas, self.back)
        return shares * np.divide(together, total, out=np.ones_like(total), where=total > 0)


def directions_of(path: FeaturePath, alphas: Array) -> Directions:
    """The principal directions of the outputs in units of their noise, and a penalty for each.

    Outputs that vary together carry the same signal: their mean has less noise than each, their differences have
    little but noise. Measured in units of its own leave-one-out error every output has noise of the same size, and
    the singular vectors of the targets separate the two. The score of a direction is the mean of its own and that of
    all outputs together: by itself alone, the choice follows the noise.

    Parameters
    ----------
    path : FeaturePath
        Of the chosen spectrum.
    alphas : ndarray of shape (A,)
        To choose from, decreasing.
    """
    left_out, rows = path.left_out, path.left_out.rows
    by_output = left_out.scores_by_output(alphas)
    best = np.argmin(by_output.joint, axis=0)
    deviation = np.sqrt(rows.variance)  # infinite for a constant, which then takes no part
    error = np.sqrt(np.take_along_axis(by_output.error, best[None], axis=0)[0])
    unit = deviation * np.maximum(error, _LEAST_ERROR)
    _, size, Vt = linalg.svd(rows.centred / unit, full_matrices=False, check_finite=False)
    Vt = Vt[size > np.finfo(float).eps * rows.count * size[0]]
    directed = path.combined(Vt.T / unit[:, None])
    back = Vt * np.where(np.isfinite(unit), unit, 0.0)
    score = 0.5 * (directed.left_out.scores_by_output(alphas).joint + left_out.scores_of_all(alphas).joint[:, None])
    nats = rows.count * score
    first = np.argmax(nats <= nats.min(axis=0) + _UNDECIDED, axis=0)
    chosen = alphas[first]
    residuals = directed.left_out.residuals_by_output(chosen)[0] @ back / deviation
    error = rows.error_of_all(np.sum(residuals**2, axis=0) / rows.weight)
    return Directions(directed, back, chosen, error)


FEWER = 1.2  # a sample is taken only of so many times its rows: of hardly more, all rows take hardly longer
_SAME_ORBIT = 1e-10  # features closer than this, relative to their size, are those of one orbit: far above rounding


@final
class FeatureProblem(Problem):
    """From the features themselves: singular values keep the digits that squaring would lose.

    Rows on one orbit have the same features: leaving out one of them would leave its twin. They are merged into
    one row (their weights added, their targets averaged), which is the same least-squares problem, and
    leave-one-out becomes leave-one-orbit-out.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Without the constant.
    targets : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    dimension : int, default 2
        Of the space: error bars need it, a comparison of spectra does not.
    half_digits : bool, default False
        Whether `scored` decomposes the kernel matrix: three times as fast, where what follows has half of the digits
        anyway.
    before : Averaged, optional
        Where rows were averaged before: what was lost.
    """

    smallest_alpha = 1e-18
    rounding: ClassVar[float] = 0.0  # negligible: errors are not differences of squares
    solver = "features"

    def __init__(
        self,
        features: Array,
        targets: Array,
        weights: Array,
        *,
        dimension: int = 2,
        half_digits: bool = False,
        before: Averaged | None = None,
    ) -> None:
        self.dimension = dimension
        self.units = Units.of(targets) if before is None else before.units
        targets = self.units.applied(targets)
        first, label = orbits(features)
        means, w, lost = averaged(targets, label, weights)
        if before is not None:
            lost = before.over(self.units.unit).then(lost)
        self.count = len(w)
        self.weight = float(w.sum())
        features = features[first]
        self.mean_features = w @ features / self.weight
        self.mean_targets = w @ means / self.weight
        root = np.sqrt(w)
        centred = (means - self.mean_targets) * root[:, None]
        floor = self.weight * (1e-14 * np.abs(means).max(axis=0, initial=0.0)) ** 2 + self.units.rounding(self.weight)
        between, apart = np.sum(centred**2, axis=0), np.sum(lost.within**2, axis=0)
        variance, total = (variation(squares, self.weight, floor) for squares in (between, between + apart))
        self._reduced = ReducedRows(root[:, None], (features - self.mean_features) * root[:, None], centred)
        self.rows = Rows(root, centred, self._reduced.rest, lost.within, lost.repeats, variance, total)
        if self.count < lost.rows:
            freedom = self.weight * (1 - self.count / lost.rows)
            self.shared = SharedOrbits(lost.rows, self.count, float(np.sqrt(np.mean(apart / freedom / total))))
        self._lost = lost  # in `units`
        self.copies = lost.copies(self.count)
        few = self.count <= _limits.SEARCH_ROWS  # then they are held twice
        self._held = (features, means, w) if few else None
        # The best of the last few spectra is asked for again.
        keep, reduced = lru_cache(_limits.SHORTLIST if self.count <= _limits.KEPT_ROWS else 1), self._reduced
        self._squared = keep(lambda scale: reduced.left_vectors_by_squares(np.frombuffer(scale)))
        self._triangle = triangle = keep(lambda scale: reduced.triangle(np.frombuffer(scale)))
        self._exactly = keep(lambda scale: reduced.decomposition(np.frombuffer(scale), triangle(scale)))
        self._half_digits = half_digits and self._reduced.is_wide
        if self._half_digits:
            self.smallest_alpha = MomentProblem.smallest_alpha

    def path(self, scale: Array) -> FeaturePath:
        found, reduced = self._exact(scale), self._reduced
        V = LongVectors(reduced.core, scale, found.U, found.s, found) if reduced.is_wide else found.right_vectors()
        return FeaturePath(self, scale, V, self._left_out(found.U, found.s))

    def scored(self, scale: Array) -> LeaveOneOut:
        if self._half_digits:
            return self._left_out(*self._reduced.left_vectors_by_squares(scale))
        few = self._reduced.few_left_vectors(scale)
        if few is not None:
            return self._left_out(*few)
        found = self._exact(scale)
        return self._left_out(found.U, found.s)

    def _exact(self, scale: Array) -> Decomposition:
        return self._exactly(scale.tobytes())

    def roughly_scored(self, scale: Array) -> LeaveOneOut | None:
        if self._half_digits or not self._allows_squares:
            return None
        return self._left_out(*self._by_squares(scale))

    def expect(self, small_alpha: float | None) -> None:
        if self._reduced.is_wide and not self._half_digits:
            self.small_alpha = small_alpha

    def scored_alone(self, scale: Array, relative: float) -> tuple[LeaveOneOut, Array] | None:
        triangle = self._triangle(scale.tobytes())
        if triangle is None or self._half_digits:
            return None
        alpha, U, s = triangle.with_penalty(relative)
        return self._left_out(U, s), np.array([alpha])

    @property
    def _allows_squares(self) -> bool:
        # Beside a noisy output, one without noise would lose its digits.
        return self._reduced.Y.shape[1] == 1

    def _by_squares(self, scale: Array) -> tuple[Array, Array]:
        return self._squared(scale.tobytes())

    def some_rows(self, rows: int) -> FeatureProblem | None:
        if self._held is None or self.count < FEWER * rows:
            return None
        features, targets, weights = self._held
        some = some_rows(self.count, rows)
        few = min(features.shape[1], _limits.FUNCTIONS_PER_POINT * rows)
        given = features[some, :few], targets[some], weights[some]
        return FeatureProblem(*given, half_digits=self._half_digits, before=self._lost)

    def rough_path(self, scale: Array) -> FeaturePath | None:
        reduced = self._reduced
        if self.count <= _limits.SCREEN_ROWS or not self._allows_squares:
            return None
        U, s = self._by_squares(scale)
        kept = s > 1e-2 * ROUGH_ALPHA**0.5 * s[0]  # the others are as good as unseen beside the penalty
        U, s = U[:, kept], s[kept]
        return FeaturePath(self, scale, LongVectors(reduced.core, scale, U, s), self._left_out(U, s))

    def centred_features(self, functions: NDArray[np.intp]) -> Array:
        """The features of some functions less their mean, times √w, row by row."""  # (k,) -> (n, k)
        return self._reduced.in_given_rows(self._reduced.core[:, functions])

    def _left_out(self, U: Array, s: Array) -> LeaveOneOut:
        reduced, c = self._reduced, U.T @ self._reduced.Y
        return LeaveOneOut(replace(self.rows, rest=reduced.rest_of(U, c)), s, reduced.in_given_rows(U), c)


@final
class FeaturePath(DecomposedPath):
    """Solutions from singular values, scored by exact leave-one-out; α may be one number for each output."""

    def __init__(self, problem: FeatureProblem, scale: Array, V: Array | LongVectors, left_out: LeaveOneOut) -> None:
        super().__init__(problem, scale, left_out.s, V, left_out.c)
        self.left_out = left_out
        self._features = problem

    @property
    def bottom(self) -> float:
        return self.left_out.bottom

    def combined(self, weights: Array) -> FeaturePath:
        """The same decomposition for combinations of the outputs, in units of their own."""  # (q, r)
        return FeaturePath(self._features, self.scale, self.V, self.left_out.combined(weights))

    def scores(self, alphas: Array) -> Scores:
        return self.left_out.scores(alphas)

    def error_of_rows(self, alpha: float, error: float) -> float:
        if self._features.shared is None:
            return error
        return self.left_out.rows.error_of_all(self.left_out.scores_by_output(np.array([alpha])).error[0])

    def noise_variance(self, alpha: float | Array, back: Array | None = None) -> Array:
        """σ² of each output, or of their combinations with the columns of `back`."""
        rows = self.left_out.rows
        shrunk = np.sqrt(alpha / (self.s[:, None] ** 2 + alpha)) * self.c
        parts = (shrunk, rows.rest, rows.within)
        squares = [np.sum((part if back is None else part @ back) ** 2, axis=0) for part in parts]
        return np.sum(squares, axis=0) / degrees_of_freedom(self._features.weight, rows.count)

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration:
        """That of each output by itself; `alphas` has one penalty for each."""
        residual, h = self.left_out.residuals_by_output(alphas)
        squares, noise = np.mean(residual**2 * h, axis=0), self.noise_variance(alphas)
        freedom = 1.0 + np.sum(self.s[:, None] ** 2 / (self.s[:, None] ** 2 + alphas), axis=0)
        truncated, rows, p = left_out_by_truncation(self.scale**2) / alphas, self.left_out.rows.count, self._features
        surprise = shrunk_surprise(squares, rows, noise / alphas)
        return Calibration.of(surprise, freedom, truncated, rows, p.dimension, p.weight, p.copies, hidden)

    def standing_out(self, alpha: float) -> NDArray[np.intp]:
        named = standing_out(self, self.left_out, alpha)
        if not len(named):
            return named
        values = self._features.centred_features(named)
        return named[of_its_own(self.left_out, values, self.scale[named] ** 2, alpha)]

    def directions(self, alphas: Array) -> Directions | None:
        return directions_of(self, alphas) if self.c.shape[1] > 1 else None


def orbits(features: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One row of each orbit, and the number of the orbit of each row."""
    n, D = features.shape
    direction = np.random.default_rng(OWN_SEED).normal(size=D) / max(D, 1) ** 0.5
    shadow = features @ direction
    order = np.argsort(shadow, kind="stable")
    size = np.sqrt(np.mean(features**2)) if features.size else 1.0
    tolerance = _SAME_ORBIT * max(float(size), 1e-300)
    near = np.diff(shadow[order]) <= tolerance
    new = np.ones(n, dtype=bool)
    for i in np.flatnonzero(near):  # few: candidates only
        difference = features[order[i + 1]] - features[order[i]]
        new[i + 1] = np.abs(difference).max(initial=0.0) > 10 * tolerance * max(D, 1) ** 0.5
    label = np.empty(n, dtype=np.intp)
    label[order] = np.cumsum(new) - 1
    return order[new], label
