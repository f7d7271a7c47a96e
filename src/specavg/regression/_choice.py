"""The automatic choice of spectrum and penalty: leave-one-out over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast, final

import numpy as np

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.regression._regression_problem import Posterior, Problem, Scored, joint_score
from specavg.regression._spectra import Levels, Spectrum
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


def shortlist(
    problem: Problem, levels: Levels, candidates: Sequence[Spectrum], alpha: float | None, size: int
) -> tuple[list[Spectrum], float]:
    """The `size` most promising spectra, in their order, and the score of the best."""
    tried = _tried(problem, levels, candidates, alpha)
    best = _smallest(problem, tried)
    order = [best, *sorted(tried, key=lambda t: t.trial.score)]
    promising = list(dict.fromkeys(t.trial.spectrum for t in order))[:size]
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
    """All candidates with all penalties."""

    def with_all_penalties(spectrum: Spectrum) -> list[_Try]:
        scale, unit = relative_scale(spectrum, levels, len(problem.mean_features))
        scored = problem.scored(scale)
        alphas = _alphas(problem, scored, _STEPS_PER_DECADE) if alpha is None else np.array([alpha / unit])
        scores = scored.scores(alphas)
        table = zip(alphas.tolist(), np.sqrt(scores.error).tolist(), scores.density.tolist(), strict=True)
        return [_Try(Trial(spectrum, a * unit, error, density), a) for a, error, density in table]

    steps = map(with_all_penalties, candidates)
    return list(chain(*reported(steps, "choice of spectrum and penalty", "spectra", len(candidates))))


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
