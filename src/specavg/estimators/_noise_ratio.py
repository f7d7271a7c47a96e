"""How much values and gradients are trusted: the ratio of the sizes of their noise, chosen with the spectra."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from specavg._arrays import Array
from specavg.regression import _measured_limits as _limits
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem
from specavg.regression._spectra import Levels, Spectrum
from specavg.regression._spectrum_choice import ridge_fit, shortlist
from specavg.regression._target_units import Units

# Noise of a value over that of a derivative, each in units of its own size. Outside of this range one of the two kinds
# says nothing that the other does not say better.
RATIOS = 10.0 ** np.arange(-2.0, 2.1, 0.5)


class RatioChoice(NamedTuple):
    """The best ratio, the density that it reaches (the smaller the better), and promising spectra."""

    density: float
    candidates: list[Spectrum]
    ratio: float


def _ratios(deviation: float, size: float) -> Array:
    """Ratios of noise to choose from, around that of the standard deviation of values and the size of derivatives."""
    return RATIOS * (deviation or 1.0) / (size or 1.0)


def ratios_of_rows(values: Array, slopes: Array) -> Array:
    """The same from values and derivatives."""  # (n,), (m,) -> (R,)
    return _ratios(_size(values - values.mean()), _size(slopes))


def _size(values: Array) -> float:
    """The root of the mean square, also where squares are no numbers."""  # (n,)
    unit = float(Units.without_shift(values[:, None]).unit[0])
    return unit * float(np.sqrt(np.mean((values / unit) ** 2)))


def ratios_of_moments(moments: Moments) -> Array:
    """The same from moments of values and derivatives."""
    slopes = moments.slopes
    assert slopes is not None
    deviation = float(np.sqrt(moments.centred()[2][0] / moments.weight.value) * moments.units.unit[0])
    size = float(np.sqrt(slopes.shifted_squares.value[0] / slopes.weight.value) * slopes.units.unit[0])
    return _ratios(deviation, size)


def best_ratio(
    problem: Callable[[float], Problem], ratios: Array, levels: Levels, candidates: list[Spectrum], alpha: float | None
) -> RatioChoice:
    """The ratio that makes most likely what was left out.

    Parameters
    ----------
    problem : callable
        The problem with a given ratio.
    ratios : ndarray of shape (R,)
    levels : Levels
    candidates : list of Spectrum
        They are short-listed with the middle ratio.
    alpha : float or None
        The penalty; None where it is chosen.
    """
    middle = float(ratios[len(ratios) // 2])
    first = problem(middle)
    if not len(first.mean_features) or first.count <= 1:
        return RatioChoice(np.inf, candidates, middle)
    candidates, _ = shortlist(first, levels, candidates, alpha, _limits.SHORTLIST)
    fits = [ridge_fit(problem(float(ratio)), levels, candidates, alpha) for ratio in ratios]
    densities = [min(trial.density for trial in fit.trials) for fit in fits]
    return RatioChoice(min(densities), candidates, float(ratios[int(np.argmin(densities))]))
