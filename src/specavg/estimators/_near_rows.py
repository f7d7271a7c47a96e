"""What residuals of near rows have in common: a part of the function that no function of the basis shows.

Noise of different rows is independent, and a function is nearly the same at near points. So the mean product of the
residuals of a row and its nearest one is the mean square of what the fit lacks there, without the noise. In the rows
that were fitted the fit follows the noise of both: with p degrees of freedom and n rows that takes about σ²p/n away.
How nearly the same the function is at near points, the last functions of the basis tell: those that are missing come
after them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED, some_rows
from specavg.estimators._ridge_data import RidgeData
from specavg.invariants import InvariantBasis
from specavg.regression._ridge_fit import RidgeFit
from specavg.spaces import Space

# Rows from which on this is asked. The mean of n products of noise is known to σ²/√n, 0.7 % with so many rows. With
# 10,000 rows intervals of a kinked function of two columns held 77 % by this and 94 % by the rule for fewer rows.
FEWEST_ROWS = 20_000
# Rows, at most, whose nearest row is compared: the mean is then known to 0.6 % of the noise variance, in a second.
_PAIRS = 40_000
_LAST = 0.1  # part of the functions that are taken for those that are missing
_NEAR = 0.5  # correlation of these at near rows, below which the rows are too far apart to tell


def unshown_variance(data: RidgeData, space: Space, basis: InvariantBasis, fit: RidgeFit) -> Array | None:
    """The mean square of what the fit lacks at the rows, as residuals of near rows tell it; at least zero.

    One standard error is taken off: chance alone then seldom widens error bars. None where rows are too far apart, as
    in many dimensions.

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
    tree: Any = KDTree(places)
    near = tree.query(places[rows], k=2)[1]
    near = np.where(near[:, 0] == rows, near[:, 1], near[:, 0])
    pairs = np.unique(np.sort(np.column_stack([rows, near]), axis=1), axis=0)  # two rows may be nearest to each other
    used = np.unique(pairs)
    first, second = np.searchsorted(used, pairs[:, 0]), np.searchsorted(used, pairs[:, 1])
    last = np.zeros((basis.dim, 1))
    some = slice(-max(int(_LAST * basis.dim), 1), None)
    last[some, 0] = np.random.default_rng(OWN_SEED).choice([-1.0, 1.0], len(last[some]))
    values = basis.combine(data.points[used], np.hstack([last, fit.coefficients]))
    likeness = float(np.mean(values[first, 0] * values[second, 0]) / np.mean(values[first, 0] ** 2))
    if likeness < _NEAR:
        return None
    residual = data.targets[used] - values[:, 1:]
    products, shares = residual[first] * residual[second], data.weights[used][first] * data.weights[used][second]
    shares /= shares.sum()
    mean = shares @ products
    error = np.sqrt(shares**2 @ (products - mean) ** 2)
    return np.maximum(mean - error + fit.noise * fit.freedom / data.weights.sum(), 0.0) / likeness
