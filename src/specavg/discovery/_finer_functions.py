"""Comparison of symmetries by finer functions: what the first functions miss of a kinked function is no noise.

Where points are spread unevenly over their orbits, the first functions fit a kinked function with a symmetry by
coefficients without it, and the more samples there are, the surer these look. So y is taken for a normal process: all
functions with the symmetry, up to fine ones, with variances that fall with the eigenvalue, and noise. Each row is
predicted from those before it, in random order. Of two symmetries the better one has the larger densities of the
targets; their differences from row to row tell how sure that is, whether or not y is such a process (Vuong).
"""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.discovery._samples import Samples
from specavg.estimators._finer_detail import FURTHEST, order_compared, some_samples
from specavg.estimators._nested_columns import Columns
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.regression._nested_models import Models
from specavg.regression._target_units import Units
from specavg.spaces import Eigenspace

_ROWS = 600  # rows predicted, at most: a matrix of so many has its eigenvalues in a tenth of a second
_SMOOTHNESS = (0.5, 1.5, 2.5)  # the variances are (1 + λ/λ₁)^−(dim/2 + this): functions with jumps, kinks, and smoother
_SHARES = (0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.997, 0.999, 0.9999)  # of the process in the variance of y
_FREE = 100.0  # variance of the constant, in variances of y: it is left free
_EVEN = 1e-3  # p-value below which points are not spread evenly: one search in a thousand is doubted for nothing


class FinerFunctions:
    """The samples, and what functions finer than those compared say about a symmetry.

    Parameters
    ----------
    samples : Samples
    eigenspaces : tuple of Eigenspace
        Those compared.
    """

    def __init__(self, samples: Samples, eigenspaces: tuple[Eigenspace, ...]) -> None:
        self._samples, self._eigenspaces = samples, eigenspaces
        X, y, weights = some_samples(samples.read())
        rows = np.random.default_rng(OWN_SEED).permutation(len(y))[:_ROWS]
        self._points, self._precisions = X[rows], weights[rows] / weights.mean()
        y = Units.of(y[:, None]).applied(y[:, None])[rows, 0]  # squares of them neither overflow nor vanish
        self._targets = (y - y.mean()) / (y.std() or 1.0)

    def explain(self, group: Group) -> bool:
        """Whether finer functions with a symmetry explain more of y, beside all those compared, than chance does."""
        columns = Columns.of(self._samples.space, group, self._samples.count, self._eigenspaces)
        if not len(columns.beyond):
            return False
        return columns.explained(Models(columns.evaluate, columns.pieces(self._samples.read())))[1] > 0

    def are_even(self, outside: Array) -> bool:
        """Whether the points are spread evenly over orbits: other functions then have means of zero (Hotelling).

        Parameters
        ----------
        outside : ndarray of shape (p, q)
            The combinations of the functions compared that have no invariant part.
        """
        from scipy.stats import f as distribution

        T = self._samples.space.functions(self._eigenspaces).evaluate(self._points) @ outside
        n, q = len(T), int(min(outside.shape[1], len(T) // 2))
        T = T[:, :q]
        if q == 0:
            return True
        mean = T.mean(axis=0)
        statistic = n * float(mean @ np.linalg.lstsq(np.cov(T.T).reshape(q, q), mean, rcond=1e-10)[0])
        return float(distribution.sf(statistic * (n - q) / (q * (n - 1)), q, n - q)) >= _EVEN

    def log_densities(self, group: Group) -> Array:
        """The log density of each target, predicted from the rows before it by functions with a symmetry."""  # (n,)
        from scipy.linalg import solve_triangular

        space, y, n = self._samples.space, self._targets, len(self._targets)
        basis = invariant_basis(space, group, max_dim=FURTHEST, order=order_compared(space))
        levels, values = basis.eigenvalues, basis.evaluate(self._points)
        root = np.sqrt(self._precisions)
        levels, values = levels[levels > 0], values[:, levels > 0] * root[:, None]
        most, chosen = -np.inf, np.eye(n)
        for smoothness in _SMOOTHNESS if len(levels) else ():
            kernel = (values * (1 + levels / levels[0]) ** -(space.dim / 2 + smoothness)) @ values.T
            kernel *= n / np.trace(kernel)
            eigenvalues, vectors = np.linalg.eigh(kernel)
            seen = (vectors.T @ (root * y)) ** 2
            for share in _SHARES:
                variances = share * np.maximum(eigenvalues, 0.0) + (1 - share)
                size = float(np.mean(seen / variances))
                likelihood = -n / 2 * np.log(size) - float(np.log(variances).sum()) / 2
                if likelihood > most:
                    most, chosen = likelihood, size * (share * kernel + (1 - share) * np.eye(n))
        factor = np.linalg.cholesky(chosen + _FREE * np.outer(root, root))
        errors = solve_triangular(factor, root * y, lower=True)
        return -(errors**2) / 2 - np.log(np.diagonal(factor))


def surely_better(one: Array, other: Array, level: float) -> bool:
    """Whether the sum of log densities is larger, by more than chance gives with probability `level`."""
    from scipy.stats import norm

    more = one - other
    return float(more.sum()) > float(norm.isf(level) * np.sqrt(len(more)) * more.std())
