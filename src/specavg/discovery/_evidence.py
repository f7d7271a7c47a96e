"""How well data support a set of functions: the evidence of a normal prior, and a test of what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._information import Information
from specavg.regression._sums_of_products import RANK_TOLERANCE

Indices = NDArray[np.intp]
HONEST = 1 / 50  # p-value, in units of `level`, below which no candidate is accepted, however probable it is
_FIXED = 1e-9  # squared length of a change below which a vector is fixed: finite groups and circles give 0 or far more
_ROUNDS = 5  # rounds, at most, in which a symmetry and the decay are chosen in turn: two or three are enough
_EXPONENTS = (0.0, 1.0, 2.0, 4.0)  # from a flat spectrum to a steep one


@final
@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal combinations Q of the functions, each within one eigenspace.

    Attributes
    ----------
    Q : ndarray of shape (p, k)
    levels : ndarray of shape (k,)
        The eigenspace of each combination, counted from 1; the constant would be level 0.
    """

    Q: Array
    levels: Indices

    @classmethod
    def of(cls, blocks: Sequence[Array]) -> Subspace:
        """The combinations of each eigenspace's own functions, from the first after the constant on."""
        from scipy.linalg import block_diag

        levels = np.repeat(np.arange(1, len(blocks) + 1), [block.shape[1] for block in blocks])
        return cls(np.asarray(block_diag(*blocks)), levels)

    def up_to(self, last: int) -> Array:
        """The combinations of the first `last` eigenspaces, all functions being rows."""
        return self.Q[:, self.levels <= last]


def left_alone(Q: Array, *matrices: Array) -> Array:
    """The combinations of the columns of Q that every matrix leaves alone: an orthonormal basis N, so that DQN = QN."""
    moved = sum(((D @ Q - Q).T @ (D @ Q - Q) for D in matrices), np.zeros((Q.shape[1],) * 2))
    values, vectors = np.linalg.eigh(moved)
    return np.asarray(vectors[:, values < _FIXED])


@final
@dataclass(frozen=True)
class Decay:
    """The prior variance of coefficients: (1 + level)^−exponent up to the level `last`, then 0."""

    last: int
    exponent: float

    def __call__(self, levels: Indices) -> Array:
        """The prior variance at these levels, up to a factor."""
        return np.where(levels <= self.last, (1.0 + levels) ** -self.exponent, 0.0)


def log_evidence(information: Information, levels: Indices, decay: Decay) -> float:
    """The logarithm of ∫ likelihood(u) prior(u) du: 0 if nothing but the constant is left.

    The prior of u is normal and independent. Its variances follow `decay` and add up to the variance of the signal,
    so the fewer functions there are, the larger their coefficients are expected to be.

    Parameters
    ----------
    information : Information
        The likelihood of u.
    levels : ndarray of shape (k,)
        The eigenspace of each function.
    decay : Decay
    """
    spread = decay(levels)
    kept = np.flatnonzero(spread)
    if not len(kept):
        return 0.0
    scale = np.sqrt(spread[kept] * (information.signal / spread.sum()))
    k, seen = len(kept), scale * information.b[kept]
    bordered = np.empty((k + 1, k + 1))
    bordered[:k, :k] = scale[:, None] * information.A[np.ix_(kept, kept)] * scale
    bordered[np.arange(k), np.arange(k)] += 1
    bordered[k, :k] = bordered[:k, k] = seen
    bordered[k, k] = 1 + 2 * (seen @ seen)  # more than what is taken from it, so that there is a root
    factor = np.linalg.cholesky(bordered)  # its last row is L⁻¹·seen, L the factor of what is bordered
    return float(factor[k, :k] @ factor[k, :k]) / 2 - float(np.log(np.diagonal(factor)[:k]).sum())


def best_decay(information: Information, levels: Indices) -> Decay:
    """The decay with which the functions have the largest evidence; the first of equals."""
    last = range(1, int(levels.max(initial=1)) + 1)
    decays = [Decay(k, exponent) for k, exponent in product(last, _EXPONENTS)]
    return max(decays, key=lambda decay: log_evidence(information, levels, decay))


T = TypeVar("T")


def chosen_in_turn(first: T, best_decay_for: Callable[[T], Decay], choice: Callable[[Decay], T]) -> tuple[T, Decay]:
    """A choice and the decay that fits it best, one after the other until the decay stays.

    Parameters
    ----------
    first : object
        What the first decay is for.
    best_decay_for, choice : callable
    """
    decay = best_decay_for(first)
    found = choice(decay)
    for _ in range(_ROUNDS - 1):
        new = best_decay_for(found)
        if new == decay:
            break
        decay, found = new, choice(new)
    return found, decay


def p_values_outside(information: Information, subspaces: Sequence[Subspace], last: int) -> Array:
    """The p-value of each subspace: how probable coefficients so far outside of it are by chance (Wald, up to `last`).

    The first subspace must be everything. NaN where there are functions outside, and the points cannot tell any of
    them from functions inside: all points on one circle of a sphere, say.
    """
    from scipy.stats import f as distribution

    inside = [information.on(s.up_to(last)) for s in subspaces]
    explained = np.array([found.explained() for found in inside])
    sizes = np.array([len(found.b) for found in inside])
    seen = sizes if _rank(inside[0]) == sizes[0] else np.array([_rank(found) for found in inside])
    outside, tested = np.maximum(explained[0] - explained, 0.0), seen[0] - seen
    p_values = distribution.sf(outside / np.maximum(tested, 1), np.maximum(tested, 1), information.freedom)
    return np.where(tested > 0, p_values, np.where(sizes < sizes[0], np.nan, 1.0))


def _rank(information: Information) -> int:
    """How many functions the points tell apart."""
    return int(np.linalg.matrix_rank(information.A, rtol=RANK_TOLERANCE, hermitian=True)) if len(information.b) else 0
