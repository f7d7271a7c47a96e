"""Error bars of energies: the posterior of a potential's ridge regression, calibrated by what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg.molecules._candidate_fit import Fit
from specavg.regression._calibration import Calibration, shrunk_surprise


@final
@dataclass(frozen=True, eq=False)
class EnergyPosterior:
    """The variance of an energy φ·c, in units of `unit`²: `noise` |R⁻ᵀ(prior φ)|² + `floor`."""

    prior: Array  # (p,), standard deviations of the coefficients
    factor: Array  # (p, p), R: upper triangular
    noise: float
    floor: float  # of what no function shows
    unit: float  # of the energies: squares of energies may be no numbers

    @classmethod
    def of(cls, fit: Fit, prior: Array, unit: float, dimension: int) -> EnergyPosterior | None:
        """That of a chosen fit in which energies count; None with more functions than it is kept for.

        Parameters
        ----------
        fit : Fit
        prior : ndarray of shape (p,)
        unit : float
            The unit of the energies that were fitted.
        dimension : int
            Of the internal coordinates.
        """
        if fit.factor is None:
            return None
        n = len(fit.rows)
        # What is left out of many geometries is some of them: the sum over these may be negative, that over all is not.
        noise: Array = np.array([max(fit.noise, 1e-12 * fit.left_squares)])
        freedom: Array = np.array([n * fit.freedom])
        surprise = shrunk_surprise(np.array([fit.left_squares]), n, noise)
        calibration = Calibration.of(surprise, freedom, np.zeros(1), n, dimension)
        of_energies = noise / (fit.energy_weight**2 * float(np.mean(fit.weights)))
        scaled, floor = calibration.factor * noise, calibration.share * of_energies
        return cls(prior, fit.factor(), float(scaled[0]), float(floor[0]), unit)

    def deviation(self, values: Array) -> Array:
        """Standard deviations of energies, from the values of the functions."""  # (n, p) -> (n,)
        from scipy.linalg import solve_triangular

        found: Any = solve_triangular(self.factor, (values * self.prior).T, trans=1, check_finite=False)
        return self.unit * np.sqrt(self.noise * np.einsum("pn,pn->n", found, found) + self.floor)
