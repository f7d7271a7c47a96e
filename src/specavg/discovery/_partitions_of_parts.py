"""Partitions of the parts of a point: how well data support that the parts of each block are alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.discovery._evidence import Decay, best_decay, log_evidence
from specavg.discovery._information import Information

__all__ = ["Blocks", "Parts"]

Array = NDArray[np.float64]
Blocks = list[list[int]]
_RANK_TOLERANCE = 1e-10


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """What data say about the same k functions of each of m parts.

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
        """The same in coordinates of length one, and their levels."""
        shared = self.shared(blocks)
        scale = np.repeat([len(b) ** -0.5 for b in blocks], len(self.levels))
        orthonormal = replace(shared, A=scale[:, None] * shared.A * scale, b=scale * shared.b)
        return orthonormal, np.tile(self.levels, len(blocks))

    def best_decay(self, blocks: Blocks) -> Decay:
        """The decay of the largest evidence."""
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
        """Squared differences of the coefficients of any two blocks in units of their noise, and of how many."""
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
        """Every part in the block whose coefficients are nearest to its own, as long as the score grows."""
        score = self.score(blocks, decay)
        while True:
            nearest = np.argmax(self._fits(blocks, decay)[0], axis=1)
            moved = sorted(np.flatnonzero(nearest == b).tolist() for b in np.unique(nearest))
            new = self.score(moved, decay)
            if new <= score:
                return blocks
            blocks, score = moved, new

    def _fits(self, blocks: Blocks, decay: Decay) -> tuple[Array, Array]:
        """Log densities of each part's coefficients: as a member of each block, and with coefficients of its own."""
        every = np.arange(self.count)
        own, V = self.coefficients([[i] for i in range(self.count)], decay.last)
        V = V[every, every]  # (parts, k, k)
        spread = decay(self.levels)[self.levels <= decay.last]
        prior = np.diag(spread * self.information.signal / (spread.sum() * len(blocks)))
        apart = own[:, None] - self.coefficients(blocks, decay.last)[0]  # (parts, blocks, k)
        return _log_density(apart, V), _log_density(own[:, None], V + prior)[:, 0]

    def homogeneous(self, blocks: Blocks, last: int, level: float) -> Blocks:
        """Blocks whose parts differ by no more than chance; others are cut in two where their parts lie apart."""
        from scipy.stats import f as distribution

        waiting, kept = list(blocks), list[list[int]]()
        while waiting:
            block = waiting.pop()
            if len(block) == 1:
                kept.append(block)
                continue
            coef, V = self.coefficients([*([i] for i in block), *waiting, *kept], last)
            m, k = len(block), coef.shape[1]
            coef, V = coef[1:m] - coef[0], V[:m, :m]
            V = (V - V[:1] - V[:, :1] + V[0, 0])[1:, 1:].transpose(0, 2, 1, 3).reshape(2 * [(m - 1) * k])
            statistic = float(coef.ravel() @ np.linalg.lstsq(V, coef.ravel(), rcond=_RANK_TOLERANCE)[0])
            if distribution.sf(statistic / coef.size, coef.size, self.information.freedom) >= level:
                kept.append(block)
            else:
                order, cut = _cut(np.vstack([np.zeros(k), coef]))
                waiting += [sorted(block[i] for i in order[:cut]), sorted(block[i] for i in order[cut:])]
        return sorted(kept)

    def without_doubt(self, blocks: Blocks, decay: Decay, level: float) -> tuple[Blocks, float]:
        """Blocks without the parts that may well stand elsewhere, and the probability that one is wrong."""
        while True:
            inside, alone = self._fits(blocks, decay)
            sizes = np.array([len(b) for b in blocks])
            own = np.empty(self.count, dtype=np.intp)
            for b, block in enumerate(blocks):
                own[block] = b
            weights = sizes - (np.arange(len(blocks)) == own[:, None])  # how many other parts each block has
            weights[:, sizes == 1] = 0  # a part that no other is like would have coefficients of its own
            with np.errstate(divide="ignore"):
                odds = np.column_stack([inside + np.log(weights), alone])
            odds -= odds.max(axis=1, keepdims=True)
            shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
            doubts = np.where(sizes[own] > 1, 1 - shares[np.arange(self.count), own], 0.0)
            if doubts.sum() <= level:
                return sorted(blocks), float(doubts.sum())
            i = int(np.argmax(doubts))
            blocks = [[j for j in b if j != i] for b in blocks] + [[i]]


def _distances(coef: Array, V: Array) -> Array:
    every = np.arange(len(coef))
    spread = V[every, every][:, None] + V[every, every] - V - V.transpose(1, 0, 2, 3)
    spread[every, every] = np.eye(coef.shape[1])
    apart = coef[:, None] - coef
    return np.einsum("ija,ija->ij", apart, np.linalg.solve(spread, apart[..., None])[..., 0])


def _equated(coef: Array, V: Array, i: int, j: int) -> tuple[Array, Array]:
    """Estimates and their covariance, given that blocks i and j have the same coefficients; j is dropped."""
    across = V[i] - V[j]  # (B, k, k): covariance of the difference with every block
    spread = across[i] - across[j]
    gain = np.linalg.solve(spread, across.transpose(1, 0, 2).reshape(len(spread), -1))  # (k, B·k)
    kept = np.arange(len(coef)) != j
    moved = coef - ((coef[i] - coef[j]) @ gain).reshape(coef.shape)
    flat = across.transpose(1, 0, 2).reshape(len(spread), -1)
    V = V - (flat.T @ gain).reshape(*coef.shape, *coef.shape).transpose(0, 2, 1, 3)
    return moved[kept], V[kept][:, kept]


def _log_density(apart: Array, V: Array) -> Array:
    """Normal log densities of rows with covariances V, up to a constant."""  # (m, B, k), (m, k, k) -> (m, B)
    squares = np.einsum("iba,iac,ibc->ib", apart, np.linalg.inv(V), apart)
    return -squares / 2 - np.linalg.slogdet(V)[1][:, None] / 2


def _cut(coef: Array) -> tuple[NDArray[np.intp], int]:
    """Rows ordered along their main direction, and where to cut them so that the two sides differ most."""
    centred = coef - coef.mean(axis=0)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    order = np.argsort(along)
    sums, sizes = np.cumsum(along[order])[:-1], np.arange(1, len(along))
    return order, 1 + int(np.argmax(sums**2 * (1 / sizes + 1 / (len(along) - sizes))))
