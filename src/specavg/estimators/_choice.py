"""The automatic choice of spectrum and penalty: leave-one-out over a grid, and a rule for near-ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specavg.estimators._ridge_paths import Path, Problem
from specavg.estimators._spectra import Spectrum

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["Choice", "Trial", "choose", "relative_scale", "shortlist"]

Array = NDArray[np.float64]
_LARGEST_ALPHA = 10.0**1.5  # relative to the largest squared singular value
_STEPS_PER_DECADE = 2
_FINE_STEPS = tuple(k / 8 for k in (3, 2, 1, 0, -1, -2, -3))  # decades around the winner; larger penalties first


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
    """

    spectrum: Spectrum
    alpha: float
    error: float
    density: float


@dataclass(frozen=True)
class Choice:
    """What was chosen, its decomposition, and everything that was tried."""

    trial: Trial
    relative_alpha: float  # in the units of `path`
    path: Path
    tried: tuple[Trial, ...]


@dataclass(frozen=True)
class _Try:
    trial: Trial
    relative_alpha: float
    rows: Array | None


def relative_scale(spectrum: Spectrum, basis: InvariantBasis, dim: int) -> tuple[Array, float]:
    """√spectrum of the first `dim` non-constant functions relative to the first, and log of that first value."""
    logs = spectrum.log_values(basis)[1 : dim + 1]
    first = float(logs[0])
    return np.exp(0.5 * (logs - first)), first


def choose(
    problem: Problem,
    basis: InvariantBasis,
    candidates: Sequence[Spectrum],
    alpha: float | None = None,
    *,
    refine: bool = True,
) -> Choice:
    """The spectrum and α that predict best what was left out; one decomposition per spectrum, no refits.

    The smallest leave-one-out error is a noisy guide: many candidates come within its standard error. Among
    those (paired differences, one standard error) the one with the largest leave-one-out predictive density is
    taken. The density weighs an error by the certainty it was predicted with, which separates spectra that the
    plain error cannot tell apart; among equals the larger penalty wins.

    Parameters
    ----------
    problem : Problem
    basis : InvariantBasis
        Its first `len(problem.mean_features)` non-constant functions are the features.
    candidates : sequence of Spectrum
    alpha : float, optional
        Given: only the spectrum is chosen.
    refine : bool, default True
        Whether to look between grid points around the winner.
    """
    tried = [t for spectrum in candidates for t in _attempts(problem, basis, spectrum, alpha)]
    best = tried[_winner(tried)]
    if refine and len(candidates) > 1:
        for spectrum in best.trial.spectrum.neighbours():
            tried += _attempts(problem, basis, spectrum, alpha)
        best = tried[_winner(tried)]
    path, unit = _path(problem, basis, best.trial.spectrum)
    if alpha is None and best.relative_alpha > 0:
        fine = best.relative_alpha * 10.0 ** np.array(_FINE_STEPS)
        extra = _score(path, unit, best.trial.spectrum, fine)
        tried += extra
        best = min(extra, key=lambda t: t.trial.density)
    return Choice(best.trial, best.relative_alpha, path, tuple(t.trial for t in tried))


def shortlist(
    problem: Problem, basis: InvariantBasis, candidates: Sequence[Spectrum], alpha: float | None, size: int
) -> list[Spectrum]:
    """The `size` most promising spectra, by the same rule."""
    tried = [t for spectrum in candidates for t in _attempts(problem, basis, spectrum, alpha)]
    order = [tried[_winner(tried)], *sorted(tried, key=lambda t: t.trial.density)]
    return list(dict.fromkeys(t.trial.spectrum for t in order))[:size]


def _path(problem: Problem, basis: InvariantBasis, spectrum: Spectrum) -> tuple[Path, float]:
    scale, log_first = relative_scale(spectrum, basis, len(problem.mean_features))
    return problem.path(scale), float(np.exp(log_first))


def _attempts(problem: Problem, basis: InvariantBasis, spectrum: Spectrum, alpha: float | None) -> list[_Try]:
    path, unit = _path(problem, basis, spectrum)
    if alpha is not None:
        return _score(path, unit, spectrum, np.array([alpha / unit]))
    top = path.top or 1.0
    decades = np.log10(_LARGEST_ALPHA / problem.smallest_alpha)
    steps = np.arange(int(round(decades * _STEPS_PER_DECADE)) + 1) / _STEPS_PER_DECADE
    return _score(path, unit, spectrum, top * _LARGEST_ALPHA * 10.0**-steps)  # larger penalties first


def _score(path: Path, unit: float, spectrum: Spectrum, alphas: Array) -> list[_Try]:
    scores = path.scores(alphas)
    return [
        _Try(
            Trial(spectrum, float(a) * unit, float(scores.error[i]) ** 0.5, float(scores.density[i])),
            float(a),
            None if scores.rows is None else scores.rows[i],
        )
        for i, a in enumerate(alphas)
    ]


def _winner(tried: Sequence[_Try]) -> int:
    error = np.array([t.trial.error**2 for t in tried])
    density = np.array([t.trial.density for t in tried])
    best = int(error.argmin())
    reference = tried[best].rows
    if reference is None:
        return int(density.argmin())
    tied = np.empty(len(tried), dtype=bool)
    for i, t in enumerate(tried):
        assert t.rows is not None
        difference = t.rows - reference
        tied[i] = error[i] - error[best] <= difference.std() / len(reference) ** 0.5
    return int(np.where(tied, density, np.inf).argmin())
