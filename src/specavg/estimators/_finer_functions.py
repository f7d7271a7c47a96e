"""Comparison of symmetries by finer functions: what the first functions miss of a kinked function is no noise.

Where points are spread unevenly over their orbits, the first functions fit a kinked function with a symmetry by
coefficients without it, and the more samples there are, the surer these look. So y is taken for a normal process: all
functions with the symmetry, up to fine ones, with variances that fall with the eigenvalue, and noise.

Each row is predicted from those before it, in random order. Of two symmetries the better one has the larger densities
of the targets; their differences from row to row tell how sure that is, whether or not y is such a process (Vuong).
And what functions without the symmetry have in common with y has a law, if y is such a process: of a rejection by the
first functions it tells whether it stands (the score test of their variance).
"""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.estimators._finer_detail import order_compared
from specavg.estimators._nested_columns import FURTHER
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.regression._target_units import Units
from specavg.spaces import Space

ROWS = 600  # rows looked at, at most: a matrix of so many has its eigenvalues in a tenth of a second
_SMOOTHNESS = (0.5, 1.5, 2.5)  # the variances are (1 + λ/λ₁)^−(dim/2 + this): functions with jumps, kinks, and smoother
_SHARES = (0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.997, 0.999, 0.9999)  # of the process in the variance of y
_FREE = 100.0  # variance of the constant, in variances of y: it is left free


class FinerFunctions:
    """Samples, and what functions finer than those compared say about a symmetry.

    Parameters
    ----------
    space : Space
    X : ndarray of shape (n, n_features)
        Some of the rows are looked at.
    y : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Relative precisions.
    """

    def __init__(self, space: Space, X: Array, y: Array, weights: Array) -> None:
        rows = np.random.default_rng(OWN_SEED).permutation(len(y))[:ROWS]
        self._space, self.points = space, X[rows]
        self._root = np.sqrt(weights[rows] / weights.mean())
        y = Units.of(y[:, None]).applied(y[:, None])[rows, 0]  # squares of them neither overflow nor vanish
        self._targets = self._root * (y - y.mean()) / (y.std() or 1.0)

    def log_densities(self, group: Group) -> Array:
        """The log density of each target, predicted from the rows before it by functions with a symmetry."""  # (n,)
        factor = self._factor(group)
        return -(_solved(factor, self._targets) ** 2) / 2 - np.log(np.diagonal(factor))

    def p_value(self, group: Group, values: Array) -> float:
        """How often y, if it is a process with a symmetry, has as much in common with functions that have none of it.

        Parameters
        ----------
        group : Group
        values : ndarray of shape (n, q)
            Of the functions without an invariant part, at `points`.
        """
        from scipy.stats import gamma as distribution

        factor = self._factor(group)
        T = _solved(factor, self._root[:, None] * values)
        products = T.T @ T
        mean, variance = float(np.trace(products)), 2 * float(np.sum(products**2))
        if variance == 0:
            return 1.0
        statistic = float(np.sum((T.T @ _solved(factor, self._targets)) ** 2))
        return float(distribution.sf(statistic, mean**2 / variance, scale=variance / mean))

    def _factor(self, group: Group) -> Array:
        """Cholesky's factor of the covariances of the targets, if y is the likeliest process with a symmetry."""
        space, y, n = self._space, self._targets, len(self._targets)
        basis = invariant_basis(space, group, max_dim=FURTHER, order=order_compared(space))
        levels, values = basis.eigenvalues, basis.evaluate(self.points)
        levels, values = levels[levels > 0], values[:, levels > 0] * self._root[:, None]
        most, chosen = -np.inf, np.eye(n)
        for smoothness in _SMOOTHNESS if len(levels) else ():
            kernel = (values * (1 + levels / levels[0]) ** -(space.dim / 2 + smoothness)) @ values.T
            kernel *= n / np.trace(kernel)
            eigenvalues, vectors = np.linalg.eigh(kernel)
            seen = (vectors.T @ y) ** 2
            for share in _SHARES:
                variances = share * np.maximum(eigenvalues, 0.0) + (1 - share)
                size = float(np.mean(seen / variances))
                likelihood = -n / 2 * np.log(size) - float(np.log(variances).sum()) / 2
                if likelihood > most:
                    most, chosen = likelihood, size * (share * kernel + (1 - share) * np.eye(n))
        return np.asarray(np.linalg.cholesky(chosen + _FREE * np.outer(self._root, self._root)), dtype=np.float64)


def _solved(factor: Array, values: Array) -> Array:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, values, lower=True))


def surely_better(one: Array, other: Array, level: float) -> bool:
    """Whether the sum of log densities is larger, by more than chance gives with probability `level`."""
    from scipy.stats import norm

    more = one - other
    return float(more.sum()) > float(norm.isf(level) * np.sqrt(len(more)) * more.std())
