"""What residuals of near rows have in common: a part of the function that no function of the basis shows.

Noise of different rows is independent, and a function is nearly the same at near points. So the mean product of the
residuals of a row and its nearest one is the mean square of what the fit lacks there, without the noise. In the rows
that were fitted the fit follows the noise of both: with p degrees of freedom and n rows that takes about σ²p/n away.
"""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array
from specavg._random import some_rows
from specavg.estimators._ridge_data import RidgeData
from specavg.invariants import InvariantBasis
from specavg.regression._ridge_fit import RidgeFit
from specavg.spaces import Space

# Rows from which on this is asked. The mean of n products of noise is known to σ²/√n, a tenth with so many rows, and
# variances of functions are worth a tenth of σ² where they matter.
FEWEST_ROWS = 2_000
_PAIRS = 20_000  # rows, at most, whose nearest row is compared: the mean is then known to 0.7 % of the noise variance


def unshown_variance(data: RidgeData, space: Space, basis: InvariantBasis, fit: RidgeFit) -> Array:
    """The mean square of what the fit lacks at the rows, as residuals of near rows tell it; at least zero.

    In many dimensions no two rows are near, and nothing is found.

    Parameters
    ----------
    data : RidgeData
        At least two rows.
    space : Space
    basis : InvariantBasis
    fit : RidgeFit
        Of `data` with the functions of `basis`.
    """  # (q,)
    from scipy.spatial import KDTree

    places = space.without_seam(data.points)
    spread = places.std(axis=0)
    places = places[:, spread > 0] / spread[spread > 0]  # columns may have units of their own
    rows = some_rows(len(places), _PAIRS)
    near = KDTree(places).query(places[rows], k=2)[1]
    near = np.where(near[:, 0] == rows, near[:, 1], near[:, 0])
    used, both = np.unique(np.concatenate([rows, near]), return_inverse=True)
    residual = (data.targets[used] - basis.combine(data.points[used], fit.coefficients))[both]
    weights = data.weights[rows] * data.weights[near]
    products = weights @ (residual[: len(rows)] * residual[len(rows) :]) / weights.sum()
    return np.maximum(products + fit.noise * fit.freedom / data.weights.sum(), 0.0)
