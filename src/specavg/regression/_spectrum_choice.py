"""The automatic choice of spectrum and penalty: leave-one-out over a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.regression import _measured_limits as _limits
from specavg.regression._functions_that_stand_out import bounds, price
from specavg.regression._regression_problem import ROUGH_ALPHA, Path, Problem, Scored, Scores, comparable
from specavg.regression._ridge_fit import RidgeFit, Trial
from specavg.regression._spectra import Grid, Levels, Spectrum, grids_of

_LARGEST_ALPHA = 10.0**1.5  # largest penalty tried, in units of `Scored.top`: only the mean survives it
_STEPS_PER_DECADE = 2  # penalties tried in each decade while a spectrum is chosen
_FINE_STEPS_PER_DECADE = 4  # penalties tried in each decade once the spectrum is known
# Part of the last penalty down to which penalties are tried after functions that stand out were named. Mostly the best
# is larger: what looked like noise was a function.
_SMALLER = 0.1
# Multiple of the smallest penalty up to which no function of more than `SEARCH_ROWS` rows is named: a decade, whose
# steps differ little. Nothing is taken for noise there. On nine smooth targets of 1,000 rows functions were named in
# vain, 0.4 s each time; with 200 rows, which take 0.02 s, naming lowered errors from 8e-11 to 2e-11.
_NEAR_THE_SMALLEST = 10.0
# A spectrum that is behind the best by more than so many times the gain of its last decade of penalties does not catch
# up with smaller penalties, which need all digits and take several times as long.
_GAINS = 3.0
_TIE = 1e-3  # nats, over all rows: far above rounding, far below what data can tell apart
# An error of what is left out, in standard deviations of the target, that is taken for rounding: targets have 16
# digits, and functions that are in a basis had errors between 1e-15 and 1e-14. No other spectrum can do better.
_TO_ROUNDING = 1e-13


def ridge_fit(problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None) -> RidgeFit:
    """The fit with the spectrum and α that predict best what was left out; one decomposition per spectrum, no refits.

    The error alone is a noisy guide. The predictive density of what is left out weighs an error by the certainty it
    was predicted with, which separates spectra that the plain error cannot tell apart. The density of all rows together
    sees predictions from few of them too; `Trial.score` joins the three.

    Parameters
    ----------
    problem : Problem
    levels : Levels
        Of the constant and the functions whose values are the features of `problem`.
    candidates : sequence of Spectrum
        The roughest first.
    alpha : float or None
        Given: only the spectrum is chosen.
    """
    tried = _tried(problem, levels, candidates, alpha)
    compared: Sequence[_Tried] = tried
    if problem.count <= _limits.SEARCH_ROWS:  # with more rows, naming functions beside each would take too long
        compared = _promising(problem, tried, grids_of(candidates), _limits.SHORTLIST)
        if len(compared) > 1:
            compared = [_best_named(problem, levels, compared, alpha)[0]]
    best, k = _smallest(problem, compared)
    trials = tuple(each.trial(i) for each in tried for i in range(len(each.alphas)))
    return fit_of_trial(problem, levels, best.trial(k), float(best.alphas[k]), trials, given=alpha is not None)


def best_density(problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None) -> float:
    """The best density of what is left out, over spectra and penalties."""
    return min(float(comparable(each.scores.density).min()) for each in _tried(problem, levels, candidates, alpha))


def fit_of_trial(
    problem: Problem, levels: Levels, trial: Trial, alpha: float, trials: tuple[Trial, ...], *, given: bool
) -> RidgeFit:
    """The fit of one of `trials`, whose penalty is `alpha` in units of its first value of the spectrum.

    Where it was given it is used as it is, for all outputs.
    """
    scale, unit = relative_scale(trial.spectrum, levels, len(problem.mean_features))
    path = problem.path(scale) if given or problem.small_alpha else _path(problem, scale, alpha)
    directions = None if given else path.directions(_alphas(problem, path, _FINE_STEPS_PER_DECADE))
    if directions is not None:
        return RidgeFit(
            problem.solver,
            trial.spectrum,
            directions.alphas * unit,
            directions.error,
            trials,
            problem.with_constant(directions.coefficients()),
            directions.noise().sum(axis=0),
            directions.posterior(),
            directions.back,
            freedom=directions.path.freedom(directions.alphas),
        ).of_targets(problem.units)
    found = _Named(path, trial, alpha) if given else _with_all_named(problem, path, trial, alpha)
    path, trial, alpha = found.path, found.trial, found.alpha
    coefficients = problem.with_constant(path.coefficients(alpha))
    iterations = problem.iterations
    noise, *slope_noise = path.noise_of_kinds(alpha)
    return RidgeFit(
        problem.solver,
        trial.spectrum,
        trial.alpha,
        path.error_of_rows(alpha, trial.error),
        trials,
        coefficients,
        noise,
        path.posterior(alpha, None if given else path.calibration(np.array([alpha]), found.hidden)),
        iterations=iterations,
        outstanding=1 + np.sort(found.functions),
        freedom=path.freedom(alpha),
        slope_noise=slope_noise[0] if slope_noise else None,
        relative_noise=(float(noise[0]) ** 0.5, float(slope_noise[0][0]) ** 0.5) if slope_noise else None,
    ).of_targets(problem.units)


def best_named(
    problem: Problem, levels: Levels, spectra: Sequence[Spectrum], alpha: float | None
) -> tuple[Spectrum, float]:
    """The best spectrum once functions that stand out are named beside each, and its score.

    A rough spectrum is the better one as long as functions that stand out are taken for noise, and a smooth one with
    these functions beside it may be far better. So the most promising spectra, and bases, are compared by this score.
    """
    compared = _Comparison(problem, levels, alpha)
    compared.add(spectra)
    best, score = _best_named(problem, levels, [compared.found[each] for each in spectra], alpha)
    return best.spectrum, score


def _best_named(
    problem: Problem, levels: Levels, promising: Sequence[_Tried], alpha: float | None
) -> tuple[_Tried, float]:
    """`best_named` of spectra whose penalties were tried; of scores that differ by rounding the first is taken."""
    scores = [_named_score(problem, levels, each, alpha) for each in promising]
    bound = min(scores) + _tie(problem, promising[int(np.argmin(scores))])
    return next((each, score) for each, score in zip(promising, scores, strict=True) if score <= bound)


def _named_score(problem: Problem, levels: Levels, tried: _Tried, alpha: float | None) -> float:
    if alpha is not None or len(problem.mean_targets) > 1:  # no functions are named
        return tried.best
    k = int(np.argmin(tried.joint))
    penalty = float(tried.alphas[k])
    path = _path(problem, relative_scale(tried.spectrum, levels, len(problem.mean_features))[0], penalty)
    return _with_all_named(problem, path, tried.trial(k), penalty).trial.score


@final
@dataclass(frozen=True, eq=False)
class _Named:
    """A path with its best penalty once functions that stand out are penalised like the first.

    Attributes
    ----------
    path : Path
    trial : Trial
    alpha : float
        In units of `path`.
    functions : ndarray of int
        Numbers of these functions.
    hidden : float
        What each had to exceed, summed over them.
    """

    path: Path
    trial: Trial
    alpha: float
    functions: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    hidden: float = 0.0


def _with_all_named(problem: Problem, path: Path, trial: Trial, alpha: float) -> _Named:
    """Functions that stand out are named, and those that they hid are looked for, until none stands out."""
    found = _Named(path, trial, alpha)
    nothing_is_noise = _NEAR_THE_SMALLEST * problem.smallest_alpha if problem.count > _limits.SEARCH_ROWS else 0.0
    while found.alpha > nothing_is_noise * found.path.top:
        new = found.path.standing_out(found.alpha)
        if not len(new) or (better := _with_named(problem, found.path, found.trial, found.alpha, new)) is None:
            break
        functions = np.append(found.functions, new)
        found = _Named(*better, functions, found.hidden + float(bounds(found.path.scale)[new].sum()))
    return found


def _with_named(
    problem: Problem, path: Path, trial: Trial, alpha: float, named: NDArray[np.intp]
) -> tuple[Path, Trial, float] | None:
    """The path with `named` functions penalised like the first, and its best penalty; None if little is gained."""
    scale = path.scale.copy()
    scale[named] = 1.0
    # Larger penalised functions only raise the top: where half of the digits were too few before, they are too few now.
    rough = max(_SMALLER * alpha, path.bottom) >= ROUGH_ALPHA * path.top
    other = _path(problem, scale, _SMALLER * alpha) if rough else problem.path(scale)
    alphas = _alphas(problem, other, _FINE_STEPS_PER_DECADE)
    alphas = alphas[alphas >= _SMALLER * alpha]  # the largest is above `alpha`: the top has grown
    scores = other.scores(alphas)
    best = int(np.argmin(scores.joint))
    if problem.count * (trial.score - scores.joint[best]) < price(named, path.scale):
        return None
    a, *numbers = scores.of(best, alphas)
    return other, Trial(trial.spectrum, a * trial.alpha / alpha, *numbers), a


def _path(problem: Problem, scale: Array, alpha: float) -> Path:
    """The path for penalties of at least `alpha`."""
    rough = problem.rough_path(scale)
    return rough if rough is not None and max(alpha, rough.bottom) >= ROUGH_ALPHA * rough.top else problem.path(scale)


class Shortlist(NamedTuple):
    """The most promising spectra, in the order of the candidates, and how well the best of them does.

    Attributes
    ----------
    spectra : list of Spectrum
    score : float
    to_rounding : bool
        Whether the best predicts what is left out to rounding: no other can do better, and it is the only one.
    best : Spectrum
    small_alpha : float or None
        The penalty of the best, relative to the top, where it needs all digits: hardly anything is noise.
    """

    spectra: list[Spectrum]
    score: float
    to_rounding: bool
    best: Spectrum
    small_alpha: float | None


def shortlist(
    problem: Problem,
    levels: Levels,
    candidates: Sequence[Spectrum],
    alpha: float | None,
    size: int,
    start: Sequence[Spectrum] | None = None,
) -> Shortlist:
    """The `size` most promising spectra; `start` is what `screened` left."""
    tried = _tried(problem, levels, candidates, alpha, start)
    promising = _promising(problem, tried, grids_of(candidates), size)
    best, k = _smallest(problem, promising[:1])
    chosen = float(best.alphas[k] / best.alphas[0]) * _LARGEST_ALPHA
    spectra = {each.spectrum for each in promising}
    return Shortlist(
        [spectrum for spectrum in candidates if spectrum in spectra],
        float(best.joint[k]),
        bool(best.scores.error[k] <= _TO_ROUNDING**2),
        best.spectrum,
        chosen if alpha is None and chosen < ROUGH_ALPHA else None,
    )


def _promising(problem: Problem, tried: Sequence[_Tried], grids: Sequence[Grid], size: int) -> list[_Tried]:
    """The `size` best, the best first, without neighbours that data cannot tell from a better one.

    What predicts to rounding is the only one.
    """
    best, k = _smallest(problem, tried)
    if best.scores.error[k] <= _TO_ROUNDING**2:
        return [best]
    found = {best.spectrum: best}
    for each in sorted(tried, key=lambda each: each.best):
        found.setdefault(each.spectrum, each)
    scores = {spectrum: each.best for spectrum, each in islice(found.items(), size)}
    scores[best.spectrum] = float(best.joint[k])
    return [found[spectrum] for spectrum in _apart(scores, grids, problem.count)]


def screened(
    problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None
) -> dict[Spectrum, float]:
    """The best of every second spectrum, and their scores: what a first look at few rows leaves."""
    compared, coarse = _Comparison(problem, levels, alpha), _coarse(grids_of(candidates))
    compared.add(coarse)
    first = sorted(coarse, key=compared.score)[: _limits.SCREENED]
    return _apart({spectrum: compared.score(spectrum) for spectrum in first}, grids_of(candidates), problem.count)


def _apart(scores: Mapping[Spectrum, float], grids: Sequence[Grid], rows: int) -> dict[Spectrum, float]:
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


def relative_scale(spectrum: Spectrum, levels: Levels, dim: int) -> tuple[Array, float]:
    """√spectrum of the first `dim` non-constant functions relative to the first, and that first value."""
    logs = spectrum.log_values(levels)[1 : dim + 1]
    first = float(logs[0])
    return np.exp(0.5 * (logs - first)), float(np.exp(first))


@final
@dataclass(frozen=True, eq=False)
class _Tried:
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

    @property
    def is_to_rounding(self) -> bool:
        """Whether what is left out is predicted to rounding."""
        return bool(self.scores.error.min() <= _TO_ROUNDING**2)

    def best_down_to(self, alpha: float) -> float:
        """The best score with penalties of at least `alpha`."""
        return float(self.joint[self.alphas >= alpha].min(initial=np.inf))

    def trial(self, k: int) -> Trial:
        """The spectrum with its k-th penalty."""
        a, *numbers = self.scores.of(k, self.alphas)
        return Trial(self.spectrum, a * self.unit, *numbers)


def _tried(
    problem: Problem,
    levels: Levels,
    candidates: Sequence[Spectrum],
    alpha: float | None,
    start: Sequence[Spectrum] | None = None,
) -> list[_Tried]:
    """Candidates with all penalties: `start`, then the neighbours of the best of a family.

    Without `start`: every second of a large grid, of which some of the rows say first which are worth all of them.
    """
    grids = grids_of(candidates)
    if start is None:
        start = _coarse(grids)
        some = problem.some_rows(_limits.SCREEN_ROWS) if len(start) > _limits.SCREENED else None
        start = start if some is None else list(screened(some, levels, candidates, alpha))
    compared = _Comparison(problem, levels, alpha)
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


def _coarse(grids: Sequence[Grid]) -> list[Spectrum]:
    return [spectrum for grid in grids for spectrum in grid.coarse()]


@final
class _Comparison:
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
        self.found: dict[Spectrum, _Tried] = {}
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
            self._to_rounding = tried.is_to_rounding

    def _add_alone(self, new: Sequence[Spectrum], relative: float) -> None:
        """Compare these with one penalty up to the first that predicts to rounding; then all penalties of the best."""
        if len(new) == 1:
            self.found[new[0]] = self._exactly(new[0])
            return
        steps = ((spectrum, self._with_one(spectrum, relative)) for spectrum in new)
        for spectrum, tried in reported(steps, "choice of a spectrum", "spectra", len(new)):
            self.found[spectrum] = tried
            if tried.is_to_rounding:
                break
        best = min(self.found, key=self.score)
        if len(self.found[best].alphas) == 1:
            self.found[best] = self._exactly(best)

    def _with_one(self, spectrum: Spectrum, relative: float) -> _Tried:
        """A spectrum with one penalty, or with all of them where that takes no longer."""
        scale, unit = self._scale(spectrum)
        scored = self._problem.scored_alone(scale, relative)
        return self._exactly(spectrum) if scored is None else _of(spectrum, unit, *scored)

    def _scale(self, spectrum: Spectrum) -> tuple[Array, float]:
        return relative_scale(spectrum, self._levels, len(self._problem.mean_features))

    def _roughly(self, spectrum: Spectrum) -> tuple[_Tried | None, float]:
        """A spectrum with the penalties that half of the digits are enough for, and the smallest that always is."""
        if self._alpha is not None:
            return None, 0.0
        scale, unit = self._scale(spectrum)
        rough = self._problem.roughly_scored(scale)
        if rough is None:
            return None, 0.0
        alphas, smallest = _alphas(self._problem, rough, _STEPS_PER_DECADE), ROUGH_ALPHA * rough.top
        return _of(spectrum, unit, rough, alphas[np.maximum(alphas, rough.bottom) >= smallest]), smallest

    def _exactly(self, spectrum: Spectrum) -> _Tried:
        scale, unit = self._scale(spectrum)
        scored = self._problem.scored(scale)
        alphas = _alphas(self._problem, scored, _STEPS_PER_DECADE)
        return _of(spectrum, unit, scored, alphas if self._alpha is None else np.array([self._alpha / unit]))


def _of(spectrum: Spectrum, unit: float, scored: Scored, alphas: Array) -> _Tried:
    """A spectrum with each of `alphas`, which are in units of its first value, `unit`."""
    scores = scored.scores(alphas)
    return _Tried(spectrum, unit, alphas, scores, scores.joint)


def _lowest_hope(tried: _Tried) -> float:
    """The lowest score that a spectrum may reach with penalties below those that were tried.

    Infinite where the best penalty lies a decade above the smallest: the score grows again. Otherwise the best score
    less `_GAINS` times what the last decade of penalties gained.
    """
    scores = tried.joint
    if int(np.argmin(scores)) < len(scores) - _STEPS_PER_DECADE:
        return np.inf
    return tried.best - _GAINS * max(float(scores[-1 - _STEPS_PER_DECADE] - scores[-1]), 0.0)


def _alphas(problem: Problem, scored: Scored, per_decade: int) -> Array:
    """The penalties to try, the larger first."""
    decades = np.log10(_LARGEST_ALPHA / problem.smallest_alpha)
    steps = np.arange(round(float(decades) * per_decade) + 1) / per_decade
    return (scored.top or 1.0) * _LARGEST_ALPHA * 10.0**-steps


def _smallest(problem: Problem, tried: Sequence[_Tried]) -> tuple[_Tried, int]:
    """The spectrum of smallest score, and the number of its penalty.

    Of scores that differ by rounding the first is taken: it has the larger penalty.
    """
    best = min(tried, key=lambda each: each.best)
    if not np.isfinite(best.best):
        raise ValueError(
            f"none of {len(tried)} spectra has a penalty with a finite score, so none can be chosen. Squares of the "
            "targets times the weights are too large or too small for numbers of 64 bits: divide both by their size"
        )
    bound = best.best + _tie(problem, best)
    first = next(each for each in tried if each.best <= bound)
    return first, int(np.argmax(first.joint <= bound))


def _tie(problem: Problem, tried: _Tried) -> float:
    """Up to what difference from the best score of a spectrum another is as good."""
    error = float(np.sqrt(tried.scores.error[np.argmin(tried.joint)]))
    return max(_TIE / problem.count, problem.rounding / max(error, 1e-150) ** 2)
