"""The automatic choice of spectrum and penalty: leave-one-out over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

import numpy as np

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.regression._averaging import Member, average, shares
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._regression_problem import ROUGH_ALPHA, Path, Posterior, Problem, Scored, joint_score
from specavg.regression._spectra import Levels, Spectrum, grids_of
from specavg.regression._target_units import Units

__all__ = ["RidgeFit", "Trial", "mean_fit", "ridge_fit", "shortlist"]

_LARGEST_ALPHA = 10.0**1.5  # largest penalty tried, in units of `Scored.top`: only the mean survives it
_STEPS_PER_DECADE = 2  # penalties tried in each decade while a spectrum is chosen
_FINE_STEPS_PER_DECADE = 4  # penalties tried in each decade for combinations of outputs, whose spectrum is known
_TIE = 1e-3  # nats, over all rows: far above rounding, far below what data can tell apart


@dataclass(frozen=True)
class Trial:
    """One spectrum with one penalty, and how well it predicted what was left out.

    Attributes
    ----------
    spectrum : Spectrum
    alpha : float
        The penalty: α Σ c²/spectrum(λ) is added to the sum of squares.
    error : float
        Leave-one-out root mean squared error, in standard deviations of the target.
    density : float
        Minus the mean leave-one-out log predictive density, up to a constant.

    Examples
    --------
    >>> import numpy as np
    >>> import specavg as sa
    >>> X = sa.Circle().sample(40, random_state=0)
    >>> model = sa.InvariantKernelRidge(sa.Circle(), sa.groups.dihedral(3)).fit(X, np.cos(3 * X[:, 0]))
    >>> min(trial.error for trial in model.trials_) < 1e-3
    True
    """

    spectrum: Spectrum
    alpha: float
    error: float
    density: float

    @property
    def score(self) -> float:
        """What is compared: the density, and half as much the logarithm of the error."""
        return float(joint_score(self.error, self.density))


@final
@dataclass(frozen=True, eq=False)
class RidgeFit:
    """What a regression found: all that an estimator keeps of it.

    Attributes
    ----------
    solver : str
    spectrum : Spectrum
    alpha : float or ndarray of shape (r,)
        The penalty, or one for each of `directions`.
    error : float
        Leave-one-out root mean squared error, in standard deviations of the target.
    trials : tuple of Trial
        All that was compared.
    coefficients : ndarray of shape (1 + D, q)
        That of the constant first.
    noise : ndarray of shape (q,)
        The variance of the noise of an observation of weight one.
    posterior : Posterior or None
        None where only the mean was fitted.
    directions : ndarray of shape (r, q) or None
        What each combination of outputs that was fitted by itself adds to the outputs.
    iterations : int
        Steps of the solver; 0 where it does not iterate.
    """

    solver: str
    spectrum: Spectrum
    alpha: Any
    error: float
    trials: tuple[Trial, ...]
    coefficients: Array
    noise: Array
    posterior: Posterior | None
    directions: Array | None = None
    iterations: int = 0

    def of_targets(self, units: Units) -> RidgeFit:
        """The fit of the targets themselves, where this is the fit of (y − shift) / unit."""
        unit = units.unit
        coefficients = self.coefficients * unit
        coefficients[0] += units.shift
        with np.errstate(over="ignore", under="ignore"):  # the square of a number may be no number
            noise = self.noise * unit**2
        posterior = None if self.posterior is None else replace(cast(Any, self.posterior), unit=unit)
        directions = None if self.directions is None else self.directions * unit
        return replace(self, coefficients=coefficients, noise=noise, posterior=posterior, directions=directions)


def mean_fit(problem: Problem, spectrum: Spectrum, alpha: float | None) -> RidgeFit:
    """The mean of the targets: what is left where there is no other function, or a single point."""
    flat = np.zeros((len(problem.mean_features), len(problem.mean_targets)))
    coefficients = problem.with_constant(flat)
    fit = RidgeFit("mean", spectrum, alpha or 1.0, 1.0, (), coefficients, np.zeros(flat.shape[1]), None)
    return fit.of_targets(problem.units)


def ridge_fit(problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None) -> RidgeFit:
    """The fit with the spectrum and α that predict best what was left out; one decomposition per spectrum, no refits.

    The error alone is a noisy guide. The predictive density of what is left out weighs an error by the certainty it
    was predicted with, which separates spectra that the plain error cannot tell apart; `Trial.score` joins the two.

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
    best = _smallest(problem, tried)
    trial, trials = best.trial, tuple(t.trial for t in tried)
    scale, unit = relative_scale(trial.spectrum, levels, len(problem.mean_features))
    if problem.averages and len(tried) > 1:  # what a user has chosen is used as it is
        coefficients, noise, posterior = _averaged(problem, levels, tried)
        return RidgeFit(
            problem.solver,
            trial.spectrum,
            trial.alpha,
            trial.error,
            trials,
            problem.with_constant(coefficients),
            noise,
            posterior,
        ).of_targets(problem.units)
    path = problem.path(scale)
    directions = path.directions(_alphas(problem, path, _FINE_STEPS_PER_DECADE)) if alpha is None else None
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
        ).of_targets(problem.units)
    coefficients = problem.with_constant(path.coefficients(best.relative_alpha))
    iterations = problem.iterations
    return RidgeFit(
        problem.solver,
        trial.spectrum,
        trial.alpha,
        trial.error,
        trials,
        coefficients,
        path.noise_variance(best.relative_alpha),
        path.posterior(best.relative_alpha),
        iterations=iterations,
    ).of_targets(problem.units)


def _averaged(problem: Problem, levels: Levels, tried: Sequence[_Try]) -> tuple[Array, Array, Posterior]:
    """The average of all that the data cannot tell apart."""
    weights = shares(np.array([t.trial.score for t in tried]), problem.count)
    members: list[Member] = []
    for spectrum in dict.fromkeys(t.trial.spectrum for t, w in zip(tried, weights, strict=True) if w):
        mine = [
            (t.relative_alpha, w) for t, w in zip(tried, weights, strict=True) if w and t.trial.spectrum == spectrum
        ]
        path = _path(problem, relative_scale(spectrum, levels, len(problem.mean_features))[0], min(a for a, _ in mine))
        assert isinstance(path, DecomposedPath)
        members.append(Member(path, *(np.array(part) for part in zip(*mine, strict=True))))
    return average(members, problem.mean_features)


def _path(problem: Problem, scale: Array, alpha: float) -> Path:
    """The path for penalties of at least `alpha`."""
    rough = problem.rough_path(scale)
    return rough if rough is not None and alpha >= ROUGH_ALPHA * rough.top else problem.path(scale)


def shortlist(
    problem: Problem,
    levels: Levels,
    candidates: Sequence[Spectrum],
    alpha: float | None,
    size: int,
    *,
    all_rows: bool = False,
) -> tuple[list[Spectrum], float]:
    """The most promising spectra, in their order, and the score of the best: `size`, or all with a share in an average.

    An average of all rows needs all of its spectra again; from some of the rows only the first `size` are of use.
    """
    tried = _tried(problem, levels, candidates, alpha)
    best = _smallest(problem, tried)
    order = [best, *sorted(tried, key=lambda t: t.trial.score)]
    promising = list(dict.fromkeys(t.trial.spectrum for t in order))[:size]
    if all_rows:
        weights = shares(np.array([t.trial.score for t in tried]), problem.count)
        promising += [t.trial.spectrum for t, w in zip(tried, weights, strict=True) if w]
    return [spectrum for spectrum in candidates if spectrum in promising], best.trial.score


def relative_scale(spectrum: Spectrum, levels: Levels, dim: int) -> tuple[Array, float]:
    """√spectrum of the first `dim` non-constant functions relative to the first, and that first value."""
    logs = spectrum.log_values(levels)[1 : dim + 1]
    first = float(logs[0])
    return np.exp(0.5 * (logs - first)), float(np.exp(first))


@dataclass(frozen=True)
class _Try:
    trial: Trial
    relative_alpha: float


def _tried(problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None) -> list[_Try]:
    """Candidates with all penalties: every second of a large grid, then the neighbours of the best of a family."""
    found: dict[Spectrum, list[_Try]] = {}

    def add(chosen: Sequence[Spectrum]) -> None:
        new = [spectrum for spectrum in chosen if spectrum not in found]
        steps = (_with_all_penalties(problem, levels, spectrum, alpha) for spectrum in new)
        for spectrum, tries in zip(
            new, reported(steps, "choice of spectrum and penalty", "spectra", len(new)), strict=True
        ):
            found[spectrum] = tries

    def score(spectrum: Spectrum) -> float:
        return min(t.trial.score for t in found[spectrum])

    grids = grids_of(candidates)
    add([spectrum for grid in grids for spectrum in grid.coarse()])
    for grid in grids:
        centre: Spectrum | None = None
        while centre != (best := min(filter(found.__contains__, grid.spectra), key=score)):
            centre = best
            add(grid.around(best))
    return [t for spectrum in candidates if spectrum in found for t in found[spectrum]]


def _with_all_penalties(problem: Problem, levels: Levels, spectrum: Spectrum, alpha: float | None) -> list[_Try]:
    scale, unit = relative_scale(spectrum, levels, len(problem.mean_features))

    def tries(scored: Scored, alphas: Array) -> list[_Try]:
        scores = scored.scores(alphas)
        table = zip(alphas.tolist(), np.sqrt(scores.error).tolist(), scores.density.tolist(), strict=True)
        return [_Try(Trial(spectrum, a * unit, error, density), a) for a, error, density in table]

    if alpha is not None:
        return tries(problem.scored(scale), np.array([alpha / unit]))
    rough = problem.roughly_scored(scale)
    if rough is not None:
        alphas = _alphas(problem, rough, _STEPS_PER_DECADE)
        found = tries(rough, alphas[alphas >= ROUGH_ALPHA * rough.top])
        best = min(range(len(found)), key=lambda i: found[i].trial.score)
        if best < len(found) - 2 * _STEPS_PER_DECADE:  # the best penalty is well above what needs all digits
            return found
    scored = problem.scored(scale)
    return tries(scored, _alphas(problem, scored, _STEPS_PER_DECADE))


def _alphas(problem: Problem, scored: Scored, per_decade: int) -> Array:
    """The penalties to try, the larger first."""
    decades = np.log10(_LARGEST_ALPHA / problem.smallest_alpha)
    steps = np.arange(round(float(decades) * per_decade) + 1) / per_decade
    return (scored.top or 1.0) * _LARGEST_ALPHA * 10.0**-steps


def _smallest(problem: Problem, tried: Sequence[_Try]) -> _Try:
    """The trial of smallest score. Of scores that differ by rounding the first is taken: it has the larger penalty."""
    best = min(tried, key=lambda t: t.trial.score).trial
    bound = best.score + max(_TIE / problem.count, problem.rounding / max(best.error, 1e-150) ** 2)
    return next(t for t in tried if t.trial.score <= bound)
