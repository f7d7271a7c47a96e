"""The automatic choice of spectrum and penalty: leave-one-out over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specavg.regression._directions import Directions, directions_of
from specavg.regression._ridge_paths import FeaturePath, Path, Problem, joint_score
from specavg.regression._spectra import Spectrum

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["Choice", "Trial", "choose", "relative_scale", "shortlist"]

Array = NDArray[np.float64]
_LARGEST_ALPHA = 10.0**1.5  # relative to the largest squared singular value
_STEPS_PER_DECADE = 2
_FINE_STEPS_PER_DECADE = 4
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


@dataclass(frozen=True)
class Choice:
    """What was chosen, its decomposition, and everything that was tried."""

    trial: Trial
    relative_alpha: float  # in the units of `path`
    unit: float  # of those
    path: Path
    directions: Directions | None  # where outputs are combined and each combination has its own penalty
    tried: tuple[Trial, ...]


@dataclass(frozen=True)
class _Try:
    trial: Trial
    relative_alpha: float


def relative_scale(spectrum: Spectrum, basis: InvariantBasis, dim: int) -> tuple[Array, float]:
    """√spectrum of the first `dim` non-constant functions relative to the first, and log of that first value."""
    logs = spectrum.log_values(basis)[1 : dim + 1]
    first = float(logs[0])
    return np.exp(0.5 * (logs - first)), first


def choose(
    problem: Problem, basis: InvariantBasis, candidates: Sequence[Spectrum], alpha: float | None = None
) -> Choice:
    """The spectrum and α that predict best what was left out; one decomposition per spectrum, no refits.

    The error alone is a noisy guide. The predictive density of what is left out weighs an error by the certainty it
    was predicted with, which separates spectra that the plain error cannot tell apart; `Trial.score` joins the two.

    Parameters
    ----------
    problem : Problem
    basis : InvariantBasis
        Its first `len(problem.mean_features)` non-constant functions are the features.
    candidates : sequence of Spectrum
        The roughest first.
    alpha : float, optional
        Given: only the spectrum is chosen.
    """
    tried = [t for spectrum in candidates for t in _attempts(problem, basis, spectrum, alpha)]
    best = _smallest(problem, tried)
    path, unit = _path(problem, basis, best.trial.spectrum)
    directions = None
    if alpha is None and isinstance(path, FeaturePath) and path.targets.shape[1] > 1:
        directions = directions_of(path, _alphas(problem, path, _FINE_STEPS_PER_DECADE))
    return Choice(best.trial, best.relative_alpha, unit, path, directions, tuple(t.trial for t in tried))


def shortlist(
    problem: Problem, basis: InvariantBasis, candidates: Sequence[Spectrum], alpha: float | None, size: int
) -> tuple[list[Spectrum], float]:
    """The `size` most promising spectra, in their order, and the score of the best."""
    tried = [t for spectrum in candidates for t in _attempts(problem, basis, spectrum, alpha)]
    best = _smallest(problem, tried)
    order = [best, *sorted(tried, key=lambda t: t.trial.score)]
    promising = list(dict.fromkeys(t.trial.spectrum for t in order))[:size]
    return [spectrum for spectrum in candidates if spectrum in promising], best.trial.score


def _path(
    problem: Problem, basis: InvariantBasis, spectrum: Spectrum, *, scores_only: bool = False
) -> tuple[Path, float]:
    scale, log_first = relative_scale(spectrum, basis, len(problem.mean_features))
    return problem.path(scale, scores_only=scores_only), float(np.exp(log_first))


def _attempts(problem: Problem, basis: InvariantBasis, spectrum: Spectrum, alpha: float | None) -> list[_Try]:
    path, unit = _path(problem, basis, spectrum, scores_only=True)
    if alpha is not None:
        return _score(path, unit, spectrum, np.array([alpha / unit]))
    return _score(path, unit, spectrum, _alphas(problem, path, _STEPS_PER_DECADE))


def _alphas(problem: Problem, path: Path, per_decade: int) -> Array:
    """The penalties to try, the larger first."""
    decades = np.log10(_LARGEST_ALPHA / problem.smallest_alpha)
    steps = np.arange(round(float(decades) * per_decade) + 1) / per_decade
    return (path.top or 1.0) * _LARGEST_ALPHA * 10.0**-steps


def _score(path: Path, unit: float, spectrum: Spectrum, alphas: Array) -> list[_Try]:
    scores = path.scores(alphas)
    table = zip(alphas.tolist(), np.sqrt(scores.error).tolist(), scores.density.tolist(), strict=True)
    return [_Try(Trial(spectrum, a * unit, error, density), a) for a, error, density in table]


def _smallest(problem: Problem, tried: Sequence[_Try]) -> _Try:
    """Of the smallest score; where rounding alone would decide, the first: the roughest, with the larger penalty."""
    best = min(tried, key=lambda t: t.trial.score).trial
    bound = best.score + max(_TIE / problem.count, problem.rounding / max(best.error, 1e-150) ** 2)
    return next(t for t in tried if t.trial.score <= bound)
