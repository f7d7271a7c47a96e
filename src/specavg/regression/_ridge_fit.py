"""What a regression found: the spectra and penalties that were compared, and the coefficients of the best."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._regression_problem import Posterior, Problem, joint_score
from specavg.regression._spectra import Spectrum
from specavg.regression._target_units import Units

_NO_OTHER_FUNCTION = 1e300  # a penalty so large that every function but the constant has the coefficient zero


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
    evidence : float
        Minus the log density of all rows together, for each row, times its weight in the score, up to a constant; 0
        where it is not known.

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
    evidence: float = 0.0

    @property
    def score(self) -> float:
        """What is compared: the density, the evidence, and half the logarithm of the error."""
        return float(joint_score(self.error, self.density, self.evidence))


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
    slope_noise : ndarray of shape (q,) or None
        That of a derivative; None where there are none.
    posterior : Posterior or None
        None where nothing tells it: the data have a single orbit.
    directions : ndarray of shape (r, q) or None
        What each combination of outputs that was fitted by itself adds to the outputs.
    iterations : int
        Steps of the solver; 0 where it does not iterate.
    outstanding : ndarray of int
        Functions, counted from the constant, that are penalised like the first.
    freedom : float
        Degrees of freedom, tr H with the constant; 0 if not known.
    relative_noise : tuple of float, or None
        The standard deviations of the noise of a value and of a derivative in one unit, in which squares are numbers.
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
    outstanding: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    slope_noise: Array | None = None
    freedom: float = 0.0
    relative_noise: tuple[float, float] | None = None

    def of_targets(self, units: Units) -> RidgeFit:
        """The fit of the targets themselves, where this is the fit of (y − shift) / unit."""
        unit = units.unit
        coefficients = self.coefficients * unit
        coefficients[0] += units.shift
        with np.errstate(over="ignore", under="ignore"):  # the square of a number may be no number
            noise = self.noise * unit**2
            slope_noise = None if self.slope_noise is None else self.slope_noise * unit**2
        posterior = None if self.posterior is None else self.posterior.in_units(unit)
        directions = None if self.directions is None else self.directions * unit
        found = {"noise": noise, "slope_noise": slope_noise, "posterior": posterior, "directions": directions}
        return replace(self, coefficients=coefficients, **found)

    def of_weights(self, unit: float) -> RidgeFit:
        """The fit with the weights themselves, where this is the fit with weights divided by `unit`.

        An observation of weight one has `unit` times the noise variance of one whose divided weight is one; what is
        known of the function is the same.
        """
        if unit == 1:
            return self
        trials = tuple(replace(trial, alpha=trial.alpha * unit) for trial in self.trials)
        slope_noise = None if self.slope_noise is None else self.slope_noise * unit
        return replace(self, alpha=self.alpha * unit, trials=trials, noise=self.noise * unit, slope_noise=slope_noise)

    def with_unshown(self, variance: Array) -> RidgeFit:
        """The fit where what no function of the basis shows has this variance at least."""  # (q,)
        return self if self.posterior is None else replace(self, posterior=self.posterior.with_unshown(variance))


def mean_fit(problem: Problem, spectrum: Spectrum, alpha: float | None) -> RidgeFit:
    """The mean of the targets: what is left where there is no other function, or a single orbit.

    All that targets vary by is noise. Where there are other functions, a single orbit does not tell their size, and
    there is no posterior.
    """
    dim = len(problem.mean_features)
    coefficients = problem.with_constant(np.zeros((dim, len(problem.mean_targets))))
    path = problem.path(np.ones(dim))
    noise, *slope_noise = path.noise_of_kinds(_NO_OTHER_FUNCTION)
    posterior = path.posterior(_NO_OTHER_FUNCTION)
    if problem.weight <= 1:  # one observation
        noise, posterior = np.full_like(noise, np.nan), None
    elif dim:
        posterior = None
    slopes = slope_noise[0] if slope_noise else None
    fit = RidgeFit("mean", spectrum, alpha or 1.0, 1.0, (), coefficients, noise, posterior, slope_noise=slopes)
    return fit.of_targets(problem.units)
