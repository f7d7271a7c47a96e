"""Leave-one-out in closed form: every penalty tried from one decomposition, without a refit.

With M = (K + αI)⁻¹ on the complement of the constant, a row less what the others predict of it is (My)_i / M_ii. This
is (y − ŷ)_i / (1 − H_ii), H the hat matrix, without the subtractions that lose digits where α is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.regression._regression_problem import Scored, Scores, evidence, evidence_sums, minus_log_density
from specavg.regression._repeated_rows import Repeats, joined

_TINY = float(np.finfo(float).tiny)
_VALUES_HELD = 4e6  # residuals held at once: 32 MB


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Centred targets, row by row, and what no feature explains of them.

    Attributes
    ----------
    root : ndarray of shape (n,)
        √w.
    centred : ndarray of shape (n, q)
        The targets less their mean, times √w.
    rest : ndarray of shape (n, q)
        The part of `centred` that no feature reaches.
    within : ndarray of shape (N, q)
        The targets of all rows less the mean of their orbit, times √w.
    repeats : Repeats
        Those of them that are observations of their own.
    variance : ndarray of shape (q,)
        The variance of each output; infinite where it is a constant.
    total : ndarray of shape (q,)
        The same of all rows, those of one orbit not merged.
    """

    root: Array
    centred: Array
    rest: Array
    within: Array
    repeats: Repeats
    variance: Array
    total: Array

    @property
    def count(self) -> int:
        """Rows, those on one orbit counted once."""
        return len(self.root)

    @property
    def weight(self) -> float:
        """Σw."""
        return float(self.root @ self.root)

    def combined(self, weights: Array) -> Rows:
        """Rows of combinations of the outputs, in units of their own."""  # (q, r)
        centred, rest, within = (part @ weights for part in (self.centred, self.rest, self.within))
        ones = np.ones(weights.shape[1])
        return Rows(self.root, centred, rest, within, self.repeats.combined(weights), ones, ones)

    def error_of_all(self, merged: Array) -> float:
        """The error of all rows in their standard deviations, those of one orbit left out together.

        A row differs from its prediction by what the mean of its orbit differs, and by what it differs from that mean.

        Parameters
        ----------
        merged : ndarray of shape (q,)
            The mean squared errors of the means of orbits, in their variances.
        """
        variance = np.where(np.isfinite(self.variance), self.variance, 0.0)
        within = np.sum(self.within**2, axis=0) / self.weight
        return float(np.sqrt(np.mean((merged * variance + within) / self.total)))


@final
@dataclass(frozen=True, eq=False)
class LeaveOneOut(Scored):
    """What each row is, less what the others predict of it, for every penalty.

    Attributes
    ----------
    rows : Rows
    s : ndarray of shape (r,)
        Singular values of the centred scaled features, decreasing.
    left : ndarray of shape (n, r)
        Left singular vectors U.
    c : ndarray of shape (r, q)
        Uᵀy.
    """

    rows: Rows
    s: Array
    left: Array
    c: Array

    @property
    def top(self) -> float:
        return float(self.s[0] ** 2) if len(self.s) else 0.0

    @property
    def bottom(self) -> float:
        return float(self.s[-1] ** 2) if self._is_full and len(self.s) else 0.0

    @property
    def _is_full(self) -> bool:
        """Whether the features reach every row: nothing but the constant lies outside."""
        return len(self.s) == self.rows.count - 1

    def combined(self, weights: Array) -> LeaveOneOut:
        """The same decomposition for combinations of the outputs."""  # (q, r)
        return replace(self, rows=self.rows.combined(weights), c=self.c @ weights)

    def residuals(self, alphas: Array) -> Iterator[tuple[slice, Array, Array]]:
        """What is left out less its prediction, times the root of its weight, for each of `alphas`.

        Yields
        ------
        some : slice
            Of `alphas`: as many as fit in memory together.
        residual : ndarray of shape (n, A, q)
        h : ndarray of shape (n, A)
            [(K + αI)⁻¹]_ii on the complement of the constant: the inverse variance of the prediction.
        """
        rows, squares = self.rows, self.left**2
        outside = np.maximum(1.0 - rows.root**2 / rows.weight - squares.sum(axis=1), 0.0)[:, None]
        (n, _), q = self.left.shape, self.c.shape[1]
        together = max(1, int(_VALUES_HELD / max(n * q, 1)))
        for start in range(0, len(alphas), together):
            some = slice(start, start + together)
            a = alphas[some]
            G = 1.0 / (self.s[:, None] ** 2 + a)  # (r, A)
            residual = self.left @ (G[:, :, None] * self.c[:, None, :]).reshape(len(self.s), -1)
            residual = residual.reshape(n, len(a), q)
            h = squares @ G  # (n, A)
            if not self._is_full:
                residual, h = residual + rows.rest[:, None, :] / a[:, None], h + outside / a
            h = np.maximum(h, _TINY)
            yield some, residual / h[:, :, None], h

    def residuals_by_output(self, alpha: Array) -> tuple[Array, Array]:
        """`residuals` with the α of each output, and their h."""  # (q,) -> (n, q), (n, q)
        values, inverse = (np.empty((self.rows.count, len(alpha))) for _ in range(2))
        different, mine = np.unique(alpha, return_inverse=True)
        for some, residual, h in self.residuals(different):
            for i, a in enumerate(range(*some.indices(len(different)))):
                values[:, mine == a], inverse[:, mine == a] = residual[:, i, mine == a], h[:, i, None]
        return values, inverse

    def scores(self, alphas: Array) -> Scores:
        # Every output has noise of its own size, which is profiled out of the density. The evidence of several outputs
        # with one penalty is none: each direction of them will have its own.
        each = self.scores_by_output(alphas)
        together = self._evidence(alphas) if self.c.shape[1] == 1 else 0.0
        return Scores(each.error.mean(axis=1), each.density.mean(axis=1), together)

    def scores_of_all(self, alphas: Array) -> Scores:
        """The scores with noise of the same size, in standard deviations, in all outputs: the noisiest decide."""
        error, density = np.empty(len(alphas)), np.empty(len(alphas))
        for some, residual, h in self.residuals(alphas):
            squared = np.mean(residual**2 / self.rows.variance, axis=2)  # (n, A)
            repeated = float(np.mean(self.rows.repeats.squares / self.rows.variance))
            error[some], density[some] = self._scores(squared, h, alphas[some], repeated)
        return Scores(error, density)

    def scores_by_output(self, alphas: Array) -> Scores:
        """The scores of each output by itself; arrays of shape (n_alphas, q)."""
        error, density = (np.empty((len(alphas), self.c.shape[1])) for _ in range(2))
        repeated = self.rows.repeats.squares / self.rows.variance
        for some, residual, h in self.residuals(alphas):
            squared = residual**2 / self.rows.variance
            error[some], density[some] = self._scores(squared, h[:, :, None], alphas[some, None], repeated)
        return Scores(error, density)

    def _scores(self, squared: Array, h: Array, alphas: Array, repeated: Array | float) -> tuple[Array, Array]:
        """Mean squared errors and densities, from squared residuals and squares of repeats, in units of the targets."""
        n, k = self.rows.count, self.rows.repeats.freedom
        sums = joined(np.sum(squared * h, axis=0), -np.sum(np.log(h), axis=0), alphas, repeated, k)
        return squared.sum(axis=0) / self.rows.weight, minus_log_density(*sums, n, k)

    def _evidence(self, alphas: Array) -> Array:
        """Of a single output."""  # (A,)
        rows, k, variance = self.rows, self.rows.repeats.freedom, float(self.rows.variance[0])
        quadratic, logarithm = evidence_sums(self.s, self.c, rows.rest, rows.count - 1, alphas)
        repeated = float(rows.repeats.squares[0]) / variance
        sums = joined(quadratic[:, 0] / variance, logarithm, alphas, repeated, k)
        return evidence(*sums, rows.count - 1, k)
