"""Spectra with all penalties, and how well each predicts rows that are left out; few of a grid are decomposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.regression import _measured_limits as _limits
from specavg.regression._regression_problem import ROUGH_ALPHA, Problem, Scored, Scores
from specavg.regression._ridge_fit import Trial
from specavg.regression._spectra import Grid, Levels, Spectrum, grids_of

LARGEST_ALPHA = 10.0**1.5  # largest penalty tried, in units of `Scored.top`: only the mean survives it
_STEPS_PER_DECADE = 2  # penalties tried in each decade while a spectrum is chosen
# A spectrum that is behind the best by more than so many times the gain of its last decade of penalties does not catch
# up with smaller penalties, which need all digits and take several times as long.
_GAINS = 3.0
_TIE = 1e-3  # nats, over all rows: far above rounding, far below what data can tell apart
# An error of what is left out, in standard deviations of the target, that is taken for rounding: targets have 16
# digits, and functions that are in a basis had errors between 1e-15 and 1e-14. No other spectrum can do better.
_TO_ROUNDING = 1e-13


@final
@dataclass(frozen=True, eq=False)
class Tried:
    """A spectrum with several penalties, and how well each predicts.

    Attributes
    ----------
    spectrum : Spectrum
    unit : float
        The first value of the spectrum.
    alphas : ndarray of shape (A,)
        The penalties in units of that, the largest first.
    scores : Scores
    joint : ndarray of shape (A,)
        What is compared.
    """

    spectrum: Spectrum
    unit: float
    alphas: Array
    scores: Scores
    joint: Array

    @property
    def best(self) -> float:
        """The best score."""
        return float(self.joint.min())

    def is_to_rounding(self, k: int | None = None) -> bool:
        """Whether what is left out is predicted to rounding, with the k-th penalty or with any."""
        error = self.scores.error.min() if k is None else self.scores.error[k]
        return bool(error <= _TO_ROUNDING**2)

    def best_down_to(self, alpha: float) -> float:
        """The best score with penalties of at least `alpha`."""
        return float(self.joint[self.alphas >= alpha].min(initial=np.inf))

    def trial(self, k: int) -> Trial:
        """The spectrum with its k-th penalty."""
        a, *numbers = self.scores.of(k, self.alphas)
        return Trial(self.spectrum, a * self.unit, *numbers)


def tried_spectra(
    problem: Problem,
    levels: Levels,
    candidates: Sequence[Spectrum],
    alpha: float | None,
    start: Sequence[Spectrum] | None = None,
) -> list[Tried]:
    """Candidates with all penalties: `start`, then the neighbours of the best of a family.

    Without `start`: every second of a large grid, of which some of the rows say first which are worth all of them.
    """
    grids = grids_of(candidates)
    if start is None:
        start = _coarse(grids)
        some = problem.some_rows(_limits.SCREEN_ROWS) if len(start) > _limits.SCREENED else None
        start = start if some is None else list(screened(some, levels, candidates, alpha))
    compared = Comparison(problem, levels, alpha)
    compared.add(start)
    for grid in grids:
        # A step to a neighbour that is not told apart is the last. None is made where the mean is not told apart, and
        # none in a family that is far behind another.
        last, ahead = compared.of_the_mean, min(map(compared.score, compared.found))
        while (known := [s for s in grid.spectra if s in compared.found]) and (
            compared.score(best := min(known, key=compared.score))
            < min(last - _limits.UNDECIDED / problem.count, ahead + _limits.FAMILY_BEHIND)
        ):
            last = compared.score(best)
            compared.add(grid.around(best))
    return [compared.found[spectrum] for spectrum in candidates if spectrum in compared.found]


def screened(
    problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None
) -> dict[Spectrum, float]:
    """The best of every second spectrum, and their scores: what a first look at few rows leaves."""
    compared, coarse = Comparison(problem, levels, alpha), _coarse(grids_of(candidates))
    compared.add(coarse)
    first = sorted(coarse, key=compared.score)[: _limits.SCREENED]
    return apart({spectrum: compared.score(spectrum) for spectrum in first}, grids_of(candidates), problem.count)


def apart(scores: Mapping[Spectrum, float], grids: Sequence[Grid], rows: int) -> dict[Spectrum, float]:
    """Spectra, the best first, without neighbours of a better one whose scores differ by less than data can tell."""
    kept: dict[Spectrum, float] = {}
    skipped: dict[Spectrum, float] = {}  # neighbours of what is kept, and the score up to which they are the same
    for spectrum, score in scores.items():
        if score <= skipped.get(spectrum, -np.inf):
            continue
        kept[spectrum] = score
        for near in next(grid for grid in grids if spectrum in grid.spectra).around(spectrum):
            skipped.setdefault(near, score + _limits.UNDECIDED / rows)
    return kept


def _coarse(grids: Sequence[Grid]) -> list[Spectrum]:
    return [spectrum for grid in grids for spectrum in grid.coarse()]


@final
class Comparison:
    """Spectra with all penalties, on the rows of one problem.

    Parameters
    ----------
    problem : Problem
    levels : Levels
    alpha : float or None
        Given: the only penalty.
    """

    def __init__(self, problem: Problem, levels: Levels, alpha: float | None) -> None:
        self._problem, self._levels, self._alpha = problem, levels, alpha
        self.found: dict[Spectrum, Tried] = {}
        self._best_rough = np.inf  # the best score with penalties of at least `ROUGH_ALPHA`
        self._to_rounding = False  # whether a spectrum predicts what is left out to rounding

    def score(self, spectrum: Spectrum) -> float:
        """The best score of a spectrum."""
        return self.found[spectrum].best

    @property
    def of_the_mean(self) -> float:
        """The best score with the largest penalty, which leaves little but the mean; infinite where one is given."""
        return np.inf if self._alpha is not None else min(float(tried.joint[0]) for tried in self.found.values())

    def add(self, spectra: Sequence[Spectrum]) -> None:
        """Compare these too, those that are not yet known.

        Penalties below `ROUGH_ALPHA` need all digits, which take several times as long, unless no eigenvalue of the
        kernel matrix lies below it. They are tried where the score still falls with the penalty, and may fall by what
        data can tell below the best of larger penalties; and no more once a spectrum predicts to rounding.
        """
        new = [spectrum for spectrum in spectra if spectrum not in self.found]
        if self._problem.small_alpha and self._alpha is None:
            return self._add_alone(new, self._problem.small_alpha)
        hopes: dict[Spectrum, float] = {}  # of those that were not tried with all penalties
        steps = ((spectrum, *self._roughly(spectrum)) for spectrum in new)
        for spectrum, tried, smallest in reported(steps, "choice of spectrum and penalty", "spectra", len(new)):
            self.found[spectrum] = self._exactly(spectrum) if tried is None else tried
            if tried is not None:
                self._best_rough = min(self._best_rough, tried.best_down_to(smallest))
                if tried.alphas[-1] >= smallest:
                    hopes[spectrum] = _lowest_hope(tried)
        bound = self._best_rough - _limits.UNDECIDED / self._problem.count
        for spectrum in sorted(hopes, key=lambda spectrum: hopes[spectrum]):
            if hopes[spectrum] >= bound or self._to_rounding:
                break
            self.found[spectrum] = tried = self._exactly(spectrum)
            self._to_rounding = tried.is_to_rounding()

    def _add_alone(self, new: Sequence[Spectrum], relative: float) -> None:
        """Compare these with one penalty up to the first that predicts to rounding; then all penalties of the best."""
        if len(new) == 1:
            self.found[new[0]] = self._exactly(new[0])
            return
        steps = ((spectrum, self._with_one(spectrum, relative)) for spectrum in new)
        for spectrum, tried in reported(steps, "choice of a spectrum", "spectra", len(new)):
            self.found[spectrum] = tried
            if tried.is_to_rounding():
                break
        best = min(self.found, key=self.score)
        if len(self.found[best].alphas) == 1:
            self.found[best] = self._exactly(best)

    def _with_one(self, spectrum: Spectrum, relative: float) -> Tried:
        """A spectrum with one penalty, or with all of them where that takes no longer."""
        scale, unit = self._scale(spectrum)
        scored = self._problem.scored_alone(scale, relative)
        return self._exactly(spectrum) if scored is None else _of(spectrum, unit, *scored)

    def _scale(self, spectrum: Spectrum) -> tuple[Array, float]:
        return relative_scale(spectrum, self._levels, len(self._problem.mean_features))

    def _roughly(self, spectrum: Spectrum) -> tuple[Tried | None, float]:
        """A spectrum with the penalties that half of the digits are enough for, and the smallest that always is."""
        if self._alpha is not None:
            return None, 0.0
        scale, unit = self._scale(spectrum)
        rough = self._problem.roughly_scored(scale)
        if rough is None:
            return None, 0.0
        alphas, smallest = penalties(self._problem, rough, _STEPS_PER_DECADE), ROUGH_ALPHA * rough.top
        return _of(spectrum, unit, rough, alphas[np.maximum(alphas, rough.bottom) >= smallest]), smallest

    def _exactly(self, spectrum: Spectrum) -> Tried:
        scale, unit = self._scale(spectrum)
        scored = self._problem.scored(scale)
        alphas = penalties(self._problem, scored, _STEPS_PER_DECADE)
        return _of(spectrum, unit, scored, alphas if self._alpha is None else np.array([self._alpha / unit]))


def _of(spectrum: Spectrum, unit: float, scored: Scored, alphas: Array) -> Tried:
    """A spectrum with each of `alphas`, which are in units of its first value, `unit`."""
    scores = scored.scores(alphas)
    return Tried(spectrum, unit, alphas, scores, scores.joint)


def _lowest_hope(tried: Tried) -> float:
    """The lowest score that a spectrum may reach with penalties below those that were tried.

    Infinite where the best penalty lies a decade above the smallest: the score grows again. Otherwise the best score
    less `_GAINS` times what the last decade of penalties gained.
    """
    scores = tried.joint
    if int(np.argmin(scores)) < len(scores) - _STEPS_PER_DECADE:
        return np.inf
    return tried.best - _GAINS * max(float(scores[-1 - _STEPS_PER_DECADE] - scores[-1]), 0.0)


def penalties(problem: Problem, scored: Scored, per_decade: int) -> Array:
    """The penalties to try, the larger first."""
    decades = np.log10(LARGEST_ALPHA / problem.smallest_alpha)
    steps = np.arange(round(float(decades) * per_decade) + 1) / per_decade
    return (scored.top or 1.0) * LARGEST_ALPHA * 10.0**-steps


def smallest_score(problem: Problem, tried: Sequence[Tried]) -> tuple[Tried, int]:
    """The spectrum of smallest score, and the number of its penalty.

    Of scores that differ by rounding the first is taken: it has the larger penalty.
    """
    best = min(tried, key=lambda each: each.best)
    if not np.isfinite(best.best):
        raise ValueError(
            f"none of {len(tried)} spectra has a penalty with a finite score, so none can be chosen. Squares of the "
            "targets times the weights are too large or too small for numbers of 64 bits: divide both by their size"
        )
    bound = best.best + tie(problem, best)
    first = next(each for each in tried if each.best <= bound)
    return first, int(np.argmax(first.joint <= bound))


def tie(problem: Problem, tried: Tried) -> float:
    """Up to what difference from the best score of a spectrum another is as good."""
    error = float(np.sqrt(tried.scores.error[np.argmin(tried.joint)]))
    return max(_TIE / problem.count, problem.rounding / max(error, 1e-150) ** 2)


def relative_scale(spectrum: Spectrum, levels: Levels, dim: int) -> tuple[Array, float]:
    """√spectrum of the first `dim` non-constant functions relative to the first, and that first value."""
    logs = spectrum.log_values(levels)[1 : dim + 1]
    first = float(logs[0])
    return np.exp(0.5 * (logs - first)), float(np.exp(first))
