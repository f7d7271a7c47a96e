"""Partitions of the parts of a point: how well data support that the parts of each block are alike.

The parts are a mixture of a few kinds: which kind each of them is, and how surely, decides who may stay in a block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.discovery._evidence import HONEST, Decay, best_decay, log_evidence
from specavg.regression._information import Information

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


Blocks = list[list[int]]
_RANK_TOLERANCE = 1e-10  # relative to the largest eigenvalue of a covariance: a smaller one is rounding
_TWO_KINDS = 1.0  # p-value, in units of `level`, below which a block is cut: 1 to 4 of 100 searches cut a true one


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """The information of data about the coefficients of the same k functions of each of m parts.

    Attributes
    ----------
    information : Information
        Of the m·k coefficients, part by part.
    count : int
        m.
    levels : ndarray of shape (k,)
        The level of each function.
    """

    information: Information
    count: int
    levels: NDArray[np.intp]

    def shared(self, blocks: Blocks) -> Information:
        """The likelihood of the coefficients that all parts of a block share, block by block."""
        k = len(self.levels)
        order, starts = np.concatenate(blocks), np.cumsum([0, *(len(b) for b in blocks)])[:-1]
        A = self.information.A.reshape(self.count, k, self.count, k)[order][:, :, order]
        A = np.add.reduceat(np.add.reduceat(A, starts, axis=0), starts, axis=2)
        b = np.add.reduceat(self.information.b.reshape(self.count, k)[order], starts, axis=0)
        size = len(blocks) * k
        return replace(self.information, A=A.reshape(size, size), b=b.ravel())

    def _orthonormal(self, blocks: Blocks) -> tuple[Information, NDArray[np.intp]]:
        """The likelihood of shared coefficients, as those of functions of norm one, and the level of each."""
        shared = self.shared(blocks)
        scale = np.repeat([len(b) ** -0.5 for b in blocks], len(self.levels))
        orthonormal = replace(shared, A=scale[:, None] * shared.A * scale, b=scale * shared.b)
        return orthonormal, np.tile(self.levels, len(blocks))

    def best_decay(self, blocks: Blocks) -> Decay:
        """The decay with which a partition has the largest evidence."""
        return best_decay(*self._orthonormal(blocks))

    def evidence(self, blocks: Blocks, decay: Decay) -> float:
        """The log evidence of a partition."""
        return log_evidence(*self._orthonormal(blocks), decay)

    def score(self, blocks: Blocks, decay: Decay) -> float:
        """Log evidence plus log prior ∏(size − 1)!, the number of permutations whose cycles are these blocks."""
        return self.evidence(blocks, decay) + sum(math.lgamma(len(block)) for block in blocks)

    def coefficients(self, blocks: Blocks, last: int) -> tuple[Array, Array]:
        """The coefficients of blocks up to a level, and their covariance."""  # (B, k), (B, B, k, k)
        whole, levels = self._orthonormal(blocks)  # so that what no data point has is zero, whatever the blocks
        kept = levels <= last
        V = np.linalg.pinv(whole.A[np.ix_(kept, kept)], rcond=_RANK_TOLERANCE, hermitian=True)
        scale = np.repeat([len(b) ** -0.5 for b in blocks], int(kept.sum()) // len(blocks))
        coef = (scale * (V @ whole.b[kept])).reshape(len(blocks), -1)
        V = scale[:, None] * V * scale
        return coef, np.asarray(V, dtype=np.float64).reshape(*coef.shape, *coef.shape).transpose(0, 2, 1, 3)

    def distances(self, blocks: Blocks, last: int) -> tuple[Array, int]:
        """Squared distances of the coefficients of any two blocks, in units of noise, and how many coefficients."""
        coef, V = self.coefficients(blocks, last)
        return _distances(coef, V), coef.shape[1]

    def merged(self, decay: Decay) -> Blocks:
        """Blocks merged from single parts, the nearest two first; of all steps, the one with the largest score."""
        blocks: Blocks = [[i] for i in range(self.count)]
        coef, V = self.coefficients(blocks, decay.last)
        best, score = blocks, self.score(blocks, decay)
        while len(blocks) > 1:
            distances = _distances(coef, V)
            np.fill_diagonal(distances, np.inf)
            i, j = sorted(divmod(int(np.argmin(distances)), len(blocks)))
            coef, V = _equated(coef, V, i, j)
            blocks = [sorted(b + blocks[j]) if b is blocks[i] else b for b in blocks if b is not blocks[j]]
            if (new := self.score(blocks, decay)) >= score:
                best, score = blocks, new
        return sorted(best)

    def reassigned(self, blocks: Blocks, decay: Decay) -> Blocks:
        """Every part moved to the block whose coefficients are nearest to its own, while the score grows."""
        score = self.score(blocks, decay)
        while True:
            own, V = self._own(decay.last)
            apart = own[:, None] - self.coefficients(blocks, decay.last)[0]  # (parts, blocks, k)
            nearest = np.argmax(log_density(apart, V[:, None]), axis=1)
            moved = sorted(np.flatnonzero(nearest == b).tolist() for b in np.unique(nearest))
            new = self.score(moved, decay)
            if new <= score:
                return blocks
            blocks, score = moved, new

    def _own(self, last: int) -> tuple[Array, Array]:
        """The coefficients of every part, and the covariance of each part's own."""  # (m, k), (m, k, k)
        own, V = self.coefficients([[i] for i in range(self.count)], last)
        every = np.arange(self.count)
        return own, V[every, every]

    def _kinds(self, decay: Decay) -> Kinds:
        """The parts as a mixture of kinds; all parts together are expected to have the variance of the signal."""
        spread = decay(self.levels)[self.levels <= decay.last]
        return Kinds(*self._own(decay.last), spread * self.information.signal / (spread.sum() * self.count))

    def homogeneous(self, blocks: Blocks, decay: Decay, level: float) -> Blocks:
        """Blocks whose parts differ by no more than chance; others are cut in two where their parts lie apart.

        A block is cut if all differences together are too large (Wald's test, for parts that differ a little each), or
        if two kinds explain its parts better than one (for two kinds so near that no part is surely of either).
        """
        waiting, kept = list(blocks), list[list[int]]()
        kinds = self._kinds(decay)
        while waiting:
            block = waiting.pop()
            if len(block) == 1:
                kept.append(block)
                continue
            order, cut = _cut(kinds.own[block])
            two = [sorted(block[i] for i in order[:cut]), sorted(block[i] for i in order[cut:])]
            alike = kinds.p_value_of_one_kind(*two) >= level * _TWO_KINDS
            if alike and self._p_value_alike(block, [*waiting, *kept], decay.last) >= level * HONEST:
                kept.append(block)
            else:
                waiting += two
        return sorted(kept)

    def _p_value_alike(self, block: list[int], others: Blocks, last: int) -> float:
        """Wald's test that the parts of a block have the same coefficients."""
        from scipy.stats import f as distribution

        coef, V = self.coefficients([*([i] for i in block), *others], last)
        m, k = len(block), coef.shape[1]
        coef, V = coef[1:m] - coef[0], V[:m, :m]
        V = (V - V[:1] - V[:, :1] + V[0, 0])[1:, 1:].transpose(0, 2, 1, 3).reshape(2 * [(m - 1) * k])
        statistic = float(coef.ravel() @ np.linalg.lstsq(V, coef.ravel(), rcond=_RANK_TOLERANCE)[0])
        return float(distribution.sf(statistic / coef.size, coef.size, self.information.freedom))

    def without_doubt(self, blocks: Blocks, decay: Decay, level: float) -> tuple[Blocks, float]:
        """Blocks without the parts that may well stand elsewhere, and the probability that one is wrong."""
        shares = self._kinds(decay).shares(blocks)  # the last column: of a kind of its own
        kind_of = np.argmax(shares, axis=1)
        doubts = np.where(kind_of < len(blocks), 1 - shares.max(axis=1), 0.0)
        surest = np.argsort(doubts, kind="stable")
        sure = np.zeros(self.count, dtype=bool)
        sure[surest[np.cumsum(doubts[surest]) <= level]] = True
        sure &= kind_of < len(blocks)
        together = [np.flatnonzero(sure & (kind_of == b)).tolist() for b in range(len(blocks))]
        alone = [[i] for i in np.flatnonzero(~sure).tolist()]
        return sorted([b for b in together if b] + alone), float(doubts[sure].sum())


def _distances(coef: Array, V: Array) -> Array:
    every = np.arange(len(coef))
    spread = V[every, every][:, None] + V[every, every] - V - V.transpose(1, 0, 2, 3)
    spread[every, every] = np.eye(coef.shape[1])
    apart = coef[:, None] - coef
    return np.einsum("ija,ijac,ijc->ij", apart, _inverse(spread), apart)


def _inverse(spread: Array) -> Array:
    """Inverses of covariances, zero along directions without data: one function may be counted with two parts."""
    return np.asarray(np.linalg.pinv(spread, rcond=_RANK_TOLERANCE, hermitian=True), dtype=np.float64)


def _equated(coef: Array, V: Array, i: int, j: int) -> tuple[Array, Array]:
    """Estimates and their covariance, given that blocks i and j have the same coefficients; j is dropped."""
    across = V[i] - V[j]  # (B, k, k): covariance of the difference with every block
    spread = across[i] - across[j]
    gain = _inverse(spread) @ across.transpose(1, 0, 2).reshape(len(spread), -1)  # (k, B·k)
    kept = np.arange(len(coef)) != j
    moved = coef - ((coef[i] - coef[j]) @ gain).reshape(coef.shape)
    flat = across.transpose(1, 0, 2).reshape(len(spread), -1)
    V = V - (flat.T @ gain).reshape(*coef.shape, *coef.shape).transpose(0, 2, 1, 3)
    return moved[kept], V[kept][:, kept]


def _cut(coef: Array) -> tuple[NDArray[np.intp], int]:
    """Rows ordered along their main direction, and where to cut them so that the two sides differ most."""
    centred = coef - coef.mean(axis=0)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    order = np.argsort(along)
    sums, sizes = np.cumsum(along[order])[:-1], np.arange(1, len(along))
    return order, 1 + int(np.argmax(sums**2 * (1 / sizes + 1 / (len(along) - sizes))))
