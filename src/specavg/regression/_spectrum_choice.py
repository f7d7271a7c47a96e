"""The automatic choice of spectrum and penalty: leave-one-out over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression import _measured_limits as _limits
from specavg.regression._functions_that_stand_out import bounds, price
from specavg.regression._regression_problem import ROUGH_ALPHA, Path, Problem, comparable
from specavg.regression._ridge_fit import RidgeFit, Trial
from specavg.regression._spectra import Grid, Levels, Spectrum, grids_of
from specavg.regression._tried_spectra import (
    LARGEST_ALPHA,
    Comparison,
    Tried,
    apart,
    penalties,
    relative_scale,
    smallest_score,
    tie,
    tried_spectra,
)

_FINE_STEPS_PER_DECADE = 4  # penalties tried in each decade once the spectrum is known
# Part of the last penalty down to which penalties are tried after functions that stand out were named. Mostly the best
# is larger: what looked like noise was a function.
_SMALLER = 0.1
# Multiple of the smallest penalty up to which no function of more than `SEARCH_ROWS` rows is named: a decade, whose
# steps differ little. Nothing is taken for noise there. On nine smooth targets of 1,000 rows functions were named in
# vain, 0.4 s each time; with 200 rows, which take 0.02 s, naming lowered errors from 8e-11 to 2e-11.
_NEAR_THE_SMALLEST = 10.0


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
    tried = tried_spectra(problem, levels, candidates, alpha)
    compared: Sequence[Tried] = tried
    if problem.count <= _limits.SEARCH_ROWS:  # with more rows, naming functions beside each would take too long
        compared = _promising(problem, tried, grids_of(candidates), _limits.SHORTLIST)
        if len(compared) > 1:
            compared = [_best_named(problem, levels, compared, alpha)[0]]
    best, k = smallest_score(problem, compared)
    trials = tuple(each.trial(i) for each in tried for i in range(len(each.alphas)))
    return fit_of_trial(problem, levels, best.trial(k), float(best.alphas[k]), trials, given=alpha is not None)


def best_density(problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None) -> float:
    """The best density of what is left out, over spectra and penalties."""
    tried = tried_spectra(problem, levels, candidates, alpha)
    return min(float(comparable(each.scores.density).min()) for each in tried)


def fit_of_trial(
    problem: Problem, levels: Levels, trial: Trial, alpha: float, trials: tuple[Trial, ...], *, given: bool
) -> RidgeFit:
    """The fit of one of `trials`, whose penalty is `alpha` in units of its first value of the spectrum.

    Where it was given it is used as it is, for all outputs.
    """
    scale, unit = relative_scale(trial.spectrum, levels, len(problem.mean_features))
    path = problem.path(scale) if given or problem.small_alpha else _path(problem, scale, alpha)
    directions = None if given else path.directions(penalties(problem, path, _FINE_STEPS_PER_DECADE))
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
    compared = Comparison(problem, levels, alpha)
    compared.add(spectra)
    best, score = _best_named(problem, levels, [compared.found[each] for each in spectra], alpha)
    return best.spectrum, score


def _best_named(
    problem: Problem, levels: Levels, promising: Sequence[Tried], alpha: float | None
) -> tuple[Tried, float]:
    """`best_named` of spectra whose penalties were tried; of scores that differ by rounding the first is taken."""
    scores = [_named_score(problem, levels, each, alpha) for each in promising]
    bound = min(scores) + tie(problem, promising[int(np.argmin(scores))])
    return next((each, score) for each, score in zip(promising, scores, strict=True) if score <= bound)


def _named_score(problem: Problem, levels: Levels, tried: Tried, alpha: float | None) -> float:
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
    alphas = penalties(problem, other, _FINE_STEPS_PER_DECADE)
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
    tried = tried_spectra(problem, levels, candidates, alpha, start)
    promising = _promising(problem, tried, grids_of(candidates), size)
    best, k = smallest_score(problem, promising[:1])
    chosen = float(best.alphas[k] / best.alphas[0]) * LARGEST_ALPHA
    spectra = {each.spectrum for each in promising}
    return Shortlist(
        [spectrum for spectrum in candidates if spectrum in spectra],
        float(best.joint[k]),
        best.is_to_rounding(k),
        best.spectrum,
        chosen if alpha is None and chosen < ROUGH_ALPHA else None,
    )


def _promising(problem: Problem, tried: Sequence[Tried], grids: Sequence[Grid], size: int) -> list[Tried]:
    """The `size` best, the best first, without neighbours that data cannot tell from a better one.

    What predicts to rounding is the only one.
    """
    best, k = smallest_score(problem, tried)
    if best.is_to_rounding(k):
        return [best]
    found = {best.spectrum: best}
    for each in sorted(tried, key=lambda each: each.best):
        found.setdefault(each.spectrum, each)
    scores = {spectrum: each.best for spectrum, each in islice(found.items(), size)}
    scores[best.spectrum] = float(best.joint[k])
    return [found[spectrum] for spectrum in apart(scores, grids, problem.count)]
