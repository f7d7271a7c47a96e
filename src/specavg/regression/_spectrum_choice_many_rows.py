"""The choice of spectrum and penalty with many more rows than functions: first by the coefficients themselves.

Least squares then finds every coefficient with about the same error, v = σ²/Σw. A spectrum s says that coefficients
have variances τ²s + v: the likelihood of what was found compares all spectra in one pass over D numbers, and gives
α = σ²/τ². Generalised cross-validation decides between the best of them, and between penalties nearby.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.regression._operator_path import FEW_STEPS, OperatorProblem
from specavg.regression._regression_problem import Problem, degrees_of_freedom
from specavg.regression._ridge_fit import RidgeFit, Trial
from specavg.regression._spectra import Levels, Spectrum
from specavg.regression._spectrum_choice import fit_of_trial
from specavg.regression._tried_spectra import relative_scale

_STEPS = (0.5, 0.0, -0.5, -1.0)  # decades from the penalty that coefficients suggest
_ROUNDS = 4  # of such steps, each going on where the last one ended
# Penalty of least squares, of the top: functions that the data cannot tell apart stay finite, and 8,192 of them take
# fewer steps with 20,000 points. Coefficients lose a thousandth.
_UNPENALISED = 1e-3
_SIZES = np.geomspace(1e-12, 1e3, 91)  # τ² that are tried, in units of the largest squared coefficient


def weakest_share(fit: RidgeFit, levels: Levels, weight: float) -> float:
    """How much of its coefficient the last function keeps: w s/(w s + α), s the spectrum; near 0 if none is missing."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.min(fit.alpha) / weight * np.exp(-float(fit.spectrum.log_values(levels)[-1]))
        return float(1.0 / (1.0 + ratio))


def likely_spectra(
    problem: OperatorProblem, levels: Levels, candidates: Sequence[Spectrum], most: int
) -> list[tuple[Spectrum, float]]:
    """The spectra under which the coefficients of least squares are likeliest, with their penalties; the best first.

    Raises `NotConverged` where least squares take many steps: points leave a part of the space empty.
    """
    flat = np.ones(len(problem.mean_features))
    C, _ = problem.estimate(flat, _UNPENALISED * problem.weight, FEW_STEPS)  # (D, q)
    left_over = np.maximum(problem.squares - np.sum(problem.cross * C, axis=0), 0.0)
    v = left_over / degrees_of_freedom(problem.weight, problem.count) / problem.weight  # (q,)
    peak = np.maximum(np.max(C**2, axis=0), np.finfo(float).tiny)
    sizes = _SIZES[:, None] * peak  # (T, q)
    found: list[tuple[float, Spectrum, float]] = []
    for spectrum in candidates:
        scale, unit = relative_scale(spectrum, levels, len(C))
        likelihood = _log_likelihood(C, scale**2, v, sizes)  # (T, q)
        best = likelihood.argmax(axis=0)
        ratio = v * problem.weight / sizes[best, np.arange(C.shape[1])]
        found.append((float(likelihood.max(axis=0).sum()), spectrum, float(np.exp(np.mean(np.log(ratio)))) * unit))
    found.sort(key=lambda entry: -entry[0])
    return [(spectrum, penalty) for _, spectrum, penalty in found[:most]]


def _log_likelihood(C: Array, s: Array, v: Array, sizes: Array) -> Array:
    """Of independent coefficients with variances τ²s + v, for every τ² and output."""  # (D, q), (D,), (q,), (T, q)
    floor = np.maximum(v, 1e-30 * np.max(C**2, axis=0) + np.finfo(float).tiny)
    table = np.empty(sizes.shape)
    for t, size in enumerate(sizes):
        variance = np.multiply.outer(s, size) + floor
        table[t] = -0.5 * np.sum(np.log(variance) + C**2 / variance, axis=0)
    return table


def nearby_fit(problem: Problem, levels: Levels, starts: Sequence[tuple[Spectrum, float]]) -> RidgeFit:
    """The best of some spectra, each with penalties near the one it starts from."""
    trials: list[Trial] = []
    for spectrum, start in reported(starts, "choice of the penalty", "spectra", len(starts)):
        scale, unit = relative_scale(spectrum, levels, len(problem.mean_features))
        scored, lowest = problem.scored(scale), start
        for _ in range(_ROUNDS):
            alphas = np.maximum(lowest / unit * 10.0 ** np.array(_STEPS), problem.smallest_alpha * scored.top)
            alphas = np.unique(alphas)[::-1]
            scores = scored.scores(alphas)
            trials += [Trial(spectrum, a * unit, *numbers) for a, *numbers in scores.table(alphas)]
            if int(np.argmin(scores.joint)) < len(alphas) - 1 or len(alphas) == 1:
                break
            lowest = float(alphas[-1]) * unit * 10.0 ** -_STEPS[0]
    best = min(trials, key=lambda trial: trial.score)
    unit = relative_scale(best.spectrum, levels, len(problem.mean_features))[1]
    return fit_of_trial(problem, levels, best, best.alpha / unit, tuple(trials), given=False)
