"""Several outputs: combinations of them that are fitted one by one, each with a penalty of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._regression_problem import Posterior

if TYPE_CHECKING:
    from specavg.regression._feature_path import FeaturePath

_UNDECIDED = 0.5  # nats over all rows: what data cannot tell apart. The larger penalty is taken
_LEAST_ERROR = 1e-8  # an output predicted better than this, in its standard deviations, counts as noise-free


@final
@dataclass(frozen=True, eq=False)
class Directions:
    """What is fitted in place of the outputs: combinations of them, each with its own penalty.

    Attributes
    ----------
    path : FeaturePath
        The decomposition with the directions as its outputs.
    back : ndarray of shape (r, q)
        What a direction adds to each output.
    alphas : ndarray of shape (r,)
        In the units of `path`.
    error : float
        Root mean squared leave-one-out error of the outputs in their standard deviations, the directions being given.
    """

    path: FeaturePath
    back: Array
    alphas: Array
    error: float

    def coefficients(self) -> Array:
        """Coefficients of the unscaled features, for the outputs."""  # (D, q)
        return self.path.coefficients(self.alphas) @ self.back

    def posterior(self) -> Posterior:
        """What predictions of the outputs with a standard deviation need, each direction calibrated by itself."""
        return self.path.posterior_of(self.alphas, self.noise(), self.path.calibration(self.alphas))

    def noise(self) -> Array:
        """What each direction adds to the noise variance of each output."""  # (r, q)
        # Directions separate what varies; noise may still be common to several. The noise of an output is therefore
        # that of all directions together, and is shared out in proportion to what each has by itself.
        shares = self.path.noise_variance(self.alphas)[:, None] * self.back**2
        total = shares.sum(axis=0)
        together = self.path.noise_variance(self.alphas, self.back)
        return shares * np.divide(together, total, out=np.ones_like(total), where=total > 0)


def directions_of(path: FeaturePath, alphas: Array) -> Directions:
    """The principal directions of the outputs in units of their noise, and a penalty for each.

    Outputs that vary together carry the same signal: their mean has less noise than each, their differences have
    little but noise. Measured in units of its own leave-one-out error every output has noise of the same size, and
    the singular vectors of the targets separate the two. The score of a direction is the mean of its own and that of
    all outputs together: by itself alone, the choice follows the noise.

    Parameters
    ----------
    path : FeaturePath
        Of the chosen spectrum.
    alphas : ndarray of shape (A,)
        To choose from, decreasing.
    """
    left_out, rows = path.left_out, path.left_out.rows
    by_output = left_out.scores_by_output(alphas)
    best = np.argmin(by_output.joint, axis=0)
    deviation = np.sqrt(rows.variance)  # infinite for a constant, which then takes no part
    error = np.sqrt(np.take_along_axis(by_output.error, best[None], axis=0)[0])
    unit = deviation * np.maximum(error, _LEAST_ERROR)
    _, size, Vt = linalg.svd(rows.centred / unit, full_matrices=False, check_finite=False)
    Vt = Vt[size > np.finfo(float).eps * rows.count * size[0]]
    directed = path.combined(Vt.T / unit[:, None])
    back = Vt * np.where(np.isfinite(unit), unit, 0.0)
    score = 0.5 * (directed.left_out.scores_by_output(alphas).joint + left_out.scores_of_all(alphas).joint[:, None])
    nats = rows.count * score
    first = np.argmax(nats <= nats.min(axis=0) + _UNDECIDED, axis=0)
    chosen = alphas[first]
    residuals = directed.left_out.residuals_by_output(chosen)[0] @ back / deviation
    return Directions(directed, back, chosen, float(np.sqrt(np.sum(np.mean(residuals**2, axis=1)) / rows.weight)))
