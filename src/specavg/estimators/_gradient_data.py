"""Gradients as observations: rows of derivatives beside rows of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.data._gradient_moments import ONE_VALUE, checked_gradients, gradient_moments
from specavg.estimators._number_of_functions import are_held
from specavg.invariants import InvariantBasis
from specavg.regression import _measured_limits as _limits
from specavg.regression._feature_path import orbits
from specavg.regression._gradient_problem import GradientProblem, Observations, of_each_orbit
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem
from specavg.regression._ridge_fit import RidgeFit
from specavg.regression._spectra import Levels, Spectrum
from specavg.regression._spectrum_choice import best_density, ridge_fit, shortlist
from specavg.regression._target_units import Units, size_of
from specavg.spaces import Space
from specavg.spaces._parts_of_columns import column_units

_FARTHEST_RATIO = 1e30  # of values to derivatives, a length: no space is so large or so small
NO_VALUE = f"every y is NaN: {ONE_VALUE}"


@final
@dataclass(frozen=True, eq=False)
class GradientData:
    """Points with values, gradients or both.

    Attributes
    ----------
    points : ndarray of shape (n, n_features)
        As given: gradients at canonical points would be others.
    targets : ndarray of shape (n,)
        NaN where a value is missing.
    gradients : ndarray of shape (n, n_features)
        Rows of NaN where a gradient is missing.
    weights : ndarray of shape (n,)
    """

    points: Array
    targets: Array
    gradients: Array
    weights: Array

    @classmethod
    def of(cls, space: Space, points: Array, y: Any, gradient: Any, weights: Array) -> GradientData:
        """From what users give, checked."""
        targets, G = checked_gradients(space, points, y, gradient)
        if np.isnan(targets).all():
            raise ValueError(NO_VALUE)
        kept = (weights > 0) & ~(np.isnan(targets) & np.isnan(G).any(axis=1))
        return cls(points[kept], targets[kept], G[kept], weights[kept])

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Which points have a value."""  # (n,)
        return ~np.isnan(self.targets)

    @property
    def has_gradient(self) -> NDArray[np.bool_]:
        """Which points have a gradient."""  # (n,)
        return np.asarray(np.isfinite(self.gradients).all(axis=1))

    def rows(self, dim: int) -> int:
        """Rows on a space of dimension `dim`."""
        return int(self.has_value.sum() + dim * self.has_gradient.sum())

    def sample(self, rows: int, dim: int) -> GradientData:
        """Some of the points, about as many as give `rows` rows, chosen without regard to the targets."""
        total = self.rows(dim)
        if total <= rows:
            return self
        count = max(2, len(self.points) * rows // total)
        order = np.random.default_rng(OWN_SEED).permutation(len(self.points))
        order = np.concatenate([order[self.has_value[order]][:1], order])  # one value at least
        some = np.sort(np.unique(order[:count]))
        return GradientData(self.points[some], self.targets[some], self.gradients[some], self.weights[some])

    def observations(self, basis: InvariantBasis, most: int | None = None) -> tuple[Observations, Observations]:
        """Values, and tangential components of gradients; `most` is how many functions are used.

        Derivatives by unlike columns have the units of these, or one noise variance would mean nothing for them.
        """
        with_value, with_gradient = self.has_value, self.has_gradient
        features = basis.evaluate(basis.evaluation_points(self.points))[:, 1:most]
        _, label = orbits(features)
        values = Observations(
            features[with_value], self.targets[with_value], self.weights[with_value], label[with_value]
        )
        X, G = basis.check_points(self.points[with_gradient]), self.gradients[with_gradient]
        tangents = basis.tangents(X) * column_units(basis.space)[:, None]
        d = tangents.shape[2]
        slopes = np.empty((len(X), d, features.shape[1]))
        for rows, gradient in basis.gradients_in_chunks(X):  # (m, dim, n_features)
            slopes[rows] = (gradient[:, 1:most] @ tangents[rows]).transpose(0, 2, 1)
        along = np.einsum("nf,nfd->nd", G, tangents)
        weights, labels = np.repeat(self.weights[with_gradient], d), np.repeat(label[with_gradient], d)
        derivatives = Observations(slopes.reshape(len(X) * d, slopes.shape[2]), along.ravel(), weights, labels)
        return of_each_orbit(values, derivatives, d)

    def searched(self, basis: InvariantBasis) -> tuple[Observations, Observations]:
        """Rows that a search compares spectra and ratios on."""
        sample = self.sample(_limits.SEARCH_ROWS, basis.dimension)
        return sample.observations(basis, min(basis.dim, _limits.FUNCTIONS_PER_POINT * _limits.SEARCH_ROWS))

    def problem(self, basis: InvariantBasis, ratio: float) -> Problem:
        """All rows: their features where they can be held, else their moments."""
        if are_held(self.rows(basis.dimension) * basis.dim):
            return GradientProblem(*self.observations(basis), ratio, dimension=basis.dimension)
        moments = gradient_moments(basis, self.points, self.targets, self.gradients, self.weights)
        return MomentProblem(moments, ratio)


# Ratios that are tried, as multiples of a first guess. Outside of this range one of the two kinds of rows says nothing
# that the other does not say better.
RATIOS = 10.0 ** np.arange(-2.0, 2.1, 0.5)


# Steps from the best of these to the ratio of the noise that each kind of rows shows by itself. The noise that it shows
# hardly depends on the ratio (1 % over two decades, with noise in both), so that one step is enough. Where one kind has
# no noise there is no such ratio, and each step goes farther.
_STEPS = 3
_SQUARED_ROUNDING = 1e-32  # of features, which are not squared
_NEAR_RATIO = 0.05  # of a ratio, in logarithms: noise from 100 rows is known to 0.07


class RatioChoice(NamedTuple):
    """The best ratio, the density that it reaches (the smaller the better), and promising spectra."""

    density: float
    candidates: list[Spectrum]
    ratio: float


def noise_ratio_of_rows(values: Array, slopes: Array) -> float:
    """A first guess of the noise of a value over that of a derivative: their sizes have that ratio."""  # (n,), (m,)
    unit = float(Units.without_shift(values[:, None]).unit[0])  # a mean of very large values is no number
    return _ratio(unit * size_of(values / unit - (values / unit).mean()), size_of(slopes))


def _ratio(deviation: float, size: float) -> float:
    """Their quotient, one in place of zeros, and no farther from one than sums of its fourth powers are numbers."""
    return float(np.clip((deviation or 1.0) / (size or 1.0), _FARTHEST_RATIO**-1, _FARTHEST_RATIO))


def _ratio_of_noise(fit: RidgeFit) -> float:
    """The noise of a value over that of a derivative, each as its own rows show it."""
    assert fit.relative_noise is not None
    return _ratio(*fit.relative_noise)


def noise_ratio_of_moments(moments: Moments) -> float:
    """The same guess from moments of values and derivatives."""
    slopes = moments.slopes
    assert slopes is not None
    deviation = float(np.sqrt(moments.centred()[2][0] / moments.weight.value) * moments.units.unit[0])
    size = float(np.sqrt(slopes.shifted_squares.value[0] / slopes.weight.value) * slopes.units.unit[0])
    return _ratio(deviation, size)


@final
@dataclass(frozen=True, eq=False)
class RatioSearch:
    """The spectra that are worth a search for the ratio, and how well they do with a guess of it.

    Attributes
    ----------
    problem : callable
        The problem with a given ratio.
    guess : float
        The middle of the ratios that are tried.
    levels : Levels
    spectra : list of Spectrum
        All of them.
    candidates : list of Spectrum
        A short-list with the guess; all of them where nothing can be left out.
    score : float
        The best score with the guess; infinite where nothing can be left out.
    to_rounding : bool
        Whether what is left out is predicted to rounding: then there is no noise whose ratio could be found.
    """

    problem: Callable[[float], Problem]
    guess: float
    levels: Levels
    spectra: list[Spectrum]
    candidates: list[Spectrum]
    score: float
    to_rounding: bool

    @classmethod
    def of(
        cls, problem: Callable[[float], Problem], guess: float, levels: Levels, spectra: list[Spectrum], a: float | None
    ) -> RatioSearch:
        """A search with the penalty `a`; None where it is chosen."""
        first = problem(guess)
        if len(first.mean_features) and first.count > 1:
            found = shortlist(first, levels, spectra, a, _limits.SHORTLIST)
            return cls(problem, guess, levels, spectra, found.spectra, found.score, found.to_rounding)
        return cls(problem, guess, levels, spectra, spectra, np.inf, to_rounding=False)

    def best(self, alpha: float | None) -> RatioChoice:
        """The ratio that makes most likely what was left out; the guess where nothing can be told."""
        if self.to_rounding or self.score == np.inf:
            return RatioChoice(self.score, self.candidates, self.guess)
        ratios = self.guess * RATIOS
        densities = [best_density(self.problem(float(r)), self.levels, self.candidates, alpha) for r in ratios]
        ratio = float(ratios[int(np.argmin(densities))])
        problem, candidates = self.problem(ratio), self.candidates
        if ratio != self.guess:
            # Where the guess is ten times too large, noisy gradients count too much, and rough spectra seem the best.
            candidates = shortlist(problem, self.levels, self.spectra, alpha, _limits.SHORTLIST).spectra
        # Sums of squares of both kinds are added: each keeps half of its digits.
        farthest = max(problem.rounding, _SQUARED_ROUNDING) ** -0.25
        for _ in range(_STEPS):
            fit = ridge_fit(problem, self.levels, candidates, alpha)
            before, ratio = ratio, float(np.clip(_ratio_of_noise(fit), self.guess / farthest, self.guess * farthest))
            if abs(np.log(ratio / before)) < _NEAR_RATIO:
                break
            problem = self.problem(ratio)
        return RatioChoice(min(densities), candidates, ratio)
