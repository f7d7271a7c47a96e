"""Parts of a point as a mixture of a few kinds: which kind each of them is, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array

_ROUNDS = 40  # rounds of shares and centres in turn: after 20, shares of kinds 2 σ apart move by less than 1e-3


@final
@dataclass(frozen=True, eq=False)
class Kinds:
    """Measured coefficients of the parts, those of a kind being equal but for the error of measurement.

    Errors of different parts are taken to be independent.

    Attributes
    ----------
    own : ndarray of shape (m, k)
        The measured coefficients of each part.
    V : ndarray of shape (m, k, k)
        The covariance of their errors.
    prior : ndarray of shape (k,)
        The variance of the coefficients from kind to kind.
    """

    own: Array
    V: Array
    prior: Array

    def shares(self, blocks: list[list[int]]) -> Array:
        """The probability of each kind for each part, starting from blocks; the last column is a kind of its own.

        A part is judged by what the others of a kind are, not by itself. A kind is as probable as it has other
        parts, and a new one as probable as a kind with one (the Chinese restaurant process).

        Returns
        -------
        ndarray of shape (m, len(blocks) + 1)
        """
        shares = np.zeros((len(self.own), len(blocks)))
        for b, block in enumerate(blocks):
            shares[block, b] = 1
        every = shares
        for _ in range(_ROUNDS):
            every = self._judged(shares)
            shares = every[:, :-1]
        return every

    def _judged(self, shares: Array) -> Array:
        W = np.linalg.inv(self.V)  # (m, k, k)
        pulls = np.einsum("iac,ic->ia", W, self.own)
        mine = shares[:, :, None, None] * W[:, None]  # (m, B, k, k)
        precision = mine.sum(axis=0) - mine + np.diag(1 / self.prior)  # of the centre of each kind without part i
        spread = np.linalg.inv(precision)
        pull = shares[:, :, None] * pulls[:, None]
        centres = np.einsum("ibac,ibc->iba", spread, pull.sum(axis=0) - pull)
        inside = log_density(self.own[:, None] - centres, self.V[:, None] + spread)
        alone = log_density(self.own[:, None], (self.V + np.diag(self.prior))[:, None])
        others = np.maximum(shares.sum(axis=0) - shares, 0.0)
        with np.errstate(divide="ignore"):
            odds = np.column_stack([inside + np.log(others), alone])
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def p_value_of_one_kind(self, one: list[int], other: list[int]) -> float:
        """The probability that two kinds explain these parts so much better than one does, by chance.

        The likelihood ratio of a mixture of two kinds, found from a first division of the parts, against one kind.
        Twice its logarithm has no simple law. That of χ² with two more degrees than the kinds have coefficients was
        exceeded less often than it should be.
        """
        from scipy.special import logsumexp
        from scipy.stats import chi2

        chosen = one + other
        own, V = self.own[chosen], self.V[chosen]
        W = np.linalg.inv(V)

        def centre(weights: Array) -> Array:
            precision = np.einsum("i,iac->ac", weights, W)
            return np.asarray(np.linalg.solve(precision, np.einsum("i,iac,ic->a", weights, W, own)))

        together = float(log_density(own - centre(np.ones(len(own))), V).sum())
        shares = np.zeros((len(own), 2))
        shares[: len(one), 0] = shares[len(one) :, 1] = 1
        apart = together
        for _ in range(_ROUNDS):
            sizes = shares.sum(axis=0)
            if sizes.min() < 1e-3:  # one kind is left
                break
            logs = np.column_stack([log_density(own - centre(shares[:, b]), V) for b in (0, 1)]) + np.log(sizes)
            total = np.asarray(logsumexp(logs, axis=1))
            apart = float((total - np.log(sizes.sum())).sum())
            shares = np.exp(logs - total[:, None])
        return float(chi2.sf(2 * max(apart - together, 0.0), own.shape[1] + 2))


def log_density(apart: Array, V: Array) -> Array:
    """Normal log densities of vectors with covariances V, up to a constant."""  # (..., k), (..., k, k) -> (...)
    squares = np.einsum("...a,...a->...", apart, np.linalg.solve(V, apart[..., None])[..., 0])
    return -squares / 2 - np.linalg.slogdet(V)[1] / 2
