"""The data of a ridge regression in memory, and the cheapest accurate way to solve it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.data._given_data import equal_rows
from specavg.estimators._number_of_functions import are_held
from specavg.invariants import InvariantBasis
from specavg.regression import _measured_limits as _limits
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._operator_path import OperatorProblem
from specavg.regression._regression_problem import Problem
from specavg.regression._repeated_rows import Averaged, averaged
from specavg.regression._spectra import Spectrum
from specavg.regression._tried_spectra import relative_scale

_ROUNDING = 1e-14  # part of its size by which a constant varies when it is computed: Σx_i² on spheres varies by 4e-16


@final
@dataclass(frozen=True, eq=False)
class RidgeData:
    """Points, targets and positive weights.

    Attributes
    ----------
    points : ndarray of shape (n, n_features)
    targets : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    given : RidgeData or None
        All rows, where those at one point were averaged.
    lost : Averaged or None
        What the average lost.
    """

    points: Array
    targets: Array
    weights: Array
    given: RidgeData | None = None
    lost: Averaged | None = None

    @classmethod
    def of(cls, points: Array, targets: Array, weights: Array) -> RidgeData:
        """From all rows: one of weight zero is one that is not there, and those at one point become their mean."""
        columns = targets.reshape(len(points), -1)
        if not weights.all():
            kept = weights > 0
            points, columns, weights = points[kept], columns[kept], weights[kept]
        given, same = cls(points, columns, weights), equal_rows(points)
        if same is None or len(same[0]) == len(points):
            return given
        means, total, lost = averaged(columns, same[1], weights)
        return cls(points[same[0]], means, total, given, lost)

    def not_averaged(self) -> RidgeData:
        """All rows, one by one."""
        return self if self.given is None else self.given

    @property
    def count(self) -> int:
        """Different points, where rows were averaged; else rows."""
        return len(self.points)

    @property
    def is_constant(self) -> bool:
        """Whether targets vary by rounding only: then there is nothing to choose."""
        targets = self.not_averaged().targets
        low, high = targets.min(axis=0), targets.max(axis=0)
        return bool(
            (high / 2 - low / 2 <= _ROUNDING * np.maximum(np.abs(low), np.abs(high))).all()
        )  # nothing overflows

    def at(self, rows: NDArray[np.intp]) -> RidgeData:
        """These rows; repeated observations of all points tell the noise."""
        return RidgeData(self.points[rows], self.targets[rows], self.weights[rows], None, self.lost)

    def held(self, basis: InvariantBasis) -> bool:
        """Whether the features are held and decomposed, rather than their moments."""
        return are_held(self.count * basis.dim)

    def features(self, basis: InvariantBasis) -> Array | None:
        """The values of all functions but the constant, where they are held."""  # (n, dim - 1)
        return basis.evaluate(self.points)[:, 1:] if self.held(basis) else None

    def searched(self, features: Array, *, half_digits: bool = False) -> FeatureProblem:
        """The problem that a search compares spectra on: as many functions as so few rows can use."""
        few = _limits.FUNCTIONS_PER_POINT * max(self.count, _limits.SEARCH_ROWS)
        given = features[:, :few], self.targets, self.weights
        return FeatureProblem(*given, half_digits=half_digits, before=self.lost)

    def operator_seconds(self, basis: InvariantBasis) -> float:
        """A forecast of a fit whose Gram matrix is an operator; infinite where it is none or does not fit in memory."""
        forecast = basis.gram_nanoseconds(self.count)
        if forecast is None:
            return np.inf
        build, column = forecast
        root = min((basis.dim / self.count) ** 0.5, 0.9)
        columns = _limits.COLUMNS * (1.0 + root) / (1.0 - root) * self.targets.shape[1]
        return 1e-9 * float(build + column * columns)

    def problem(
        self, basis: InvariantBasis, features: Array | None, candidates: list[Spectrum], alpha: float | None
    ) -> Problem:
        """Features where they can be held; the Gram matrix as an operator where that is faster; else moments.

        Parameters
        ----------
        basis : InvariantBasis
        features : ndarray of shape (n, dim - 1) or None
        candidates : list of Spectrum
            The roughest first.
        alpha : float or None
            The penalty; None where it is chosen.
        """
        if features is not None:
            return FeatureProblem(features, self.targets, self.weights, dimension=basis.dimension, before=self.lost)
        data = self.not_averaged()
        found: OperatorProblem | None = None
        one_solution = alpha is not None and len(candidates) == 1  # then nothing has to be decomposed
        sums = (self.count + _limits.DECOMPOSITION_ROWS * basis.dim) * basis.dim**2 / _limits.SUMS_A_SECOND
        faster = basis.dim > _limits.DECOMPOSED and self.operator_seconds(basis) <= max(sums, _limits.OPERATOR_SECONDS)
        if basis.dim > 1 and (one_solution or faster):
            found = OperatorProblem.of(basis, data.points, data.targets, data.weights)
        if found is not None:
            scale, unit = relative_scale(candidates[0], basis, basis.dim - 1)
            if found.is_easy(scale, None if alpha is None else alpha / unit):
                return found
        # Points that leave a part of the space empty are no task for conjugate gradients.
        try:
            moments = Moments.of(basis, data.points, data.targets, data.weights)
            return MomentProblem(moments, dimension=basis.dimension)
        except MemoryError:
            if found is None:
                raise
            return found
