"""What explains the centres of kernels: the weights of a width at each, and what these say of points left out.

A row that the others explain by one width has its kernel of this width: with equal weights, rows that lie anywhere
would take their part of the narrow kernels away from a peak beside them, however many rows there are. The weights are
the posterior probabilities of a width at each row, by the density of all others with equal weights (one step of the
semiparametric mixtures of Robin, Bar-Hen, Daudin and Pierre, 2007). Equal weights stay beside them, as far as the
leave-one-out likelihood asks for them: small grains of one or two rows are explained by nothing else.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._leaves_of_points import Places
from specavg.spaces._von_mises import VonMises

MOST_PAIRS = 3e8
"""Pairs of a point and an image that shares are chosen by: 4 s for all widths."""

# Kernel values, at most 1, that are left out: at κ = 2¹⁹ they are multiplied by 1e8, which is 1e-12 of f.
VANISHING = 1e-20
DENSE = 6  # widths for which all pairs are taken: at the next one, four in five have vanished on rotations
# Weights are the posterior probabilities of a width, and these times the eighth power of the probability of any width,
# which leaves out rows that may lie anywhere. Cubic misorientations of 2,000 grain boundaries, of which 40 % and 60 %
# are twins, had 0.30 and 0.55 of the volume around the twin with the first alone, and 0.38 and 0.59 with both.
_SQUARED = 3
NONE = np.finfo(float).tiny  # a sum of weights that is not divided by
# Posterior weights need no more: what kernels out of reach add to a density relative to its uniform part; the volume
# that a kernel then reaches, in masses of the kernel; and centres that are looked at, at least, where it reaches all.
_ROUGH, _REACHED, _SOURCES = 1e-3, 40.0, 500


@final
class Centres:
    """Centres of kernels with equal weights, and what explains each of them.

    Parameters
    ----------
    family : VonMises
    mixture : KernelMixture
        Around n centres, of which its images are: element after element.
    counts, weights : ndarray of shape (n,)
        What each centre counts for, and its own weight in it.
    total : float
    """

    def __init__(self, family: VonMises, mixture: KernelMixture, counts: Array, weights: Array, total: float) -> None:
        self._family, self._mixture, self._total = family, mixture, total
        self._counts, self._weights, self._n = counts, weights, len(counts)
        self._targets = family.embedded(mixture.images)
        self._order = len(mixture.images) // len(counts)
        self._scales = np.exp(-family.log_mass(mixture.concentrations)) / self._order

    def explained(self, others: Array, owner: Places, weights: Array, rng: np.random.Generator) -> Array:
        """The density of each width at every centre, by all points but the centre itself.

        Parameters
        ----------
        others : ndarray of shape (m, features)
            Embedded points that are not kept.
        owner, weights : ndarray of shape (m,)
            The centre that each counts for, and its weight.
        rng : Generator
        """  # (n, K)
        kappas, shares, whole = self._mixture.concentrations, self._mixture.shares, self._mixture.weights
        found = np.empty((self._n, len(kappas)))
        blocks, order = self._n * np.arange(self._order), rng.permutation(self._n)
        reached = np.minimum(_REACHED * np.exp(self._family.log_mass(kappas)), 1.0)
        sources = np.clip(MOST_PAIRS / (reached * len(self._targets)), _SOURCES, self._n).astype(np.intp)
        for count in np.unique(sources):
            some, mine = order[:count], np.flatnonzero(sources == count)
            images = (some + blocks[:, None]).ravel()
            each = whole[images] / whole[images].sum()
            part = KernelMixture(self._mixture.images[images], each, kappas[mine], shares[np.append(0, mine + 1)], 0.0)
            parts = part.parts(self._family, self._mixture.images[: self._n], _ROUGH)
            for k, density in zip(mine, parts.T, strict=True):
                sums = density * self._counts[some].sum() / (shares[k + 1] * self._scales[k])
                itself = [
                    self._kernels(kappas[k], self._targets[some], self._targets[some + block]) for block in blocks
                ]
                sums[some] -= self._counts[some] * np.sum(itself, axis=0)
                beside = [self._kernels(kappas[k], others, self._targets[owner + block]) for block in blocks]
                sums += np.bincount(owner, weights * np.sum(beside, axis=0), self._n)
                rest = self._counts[some].sum() + self._counts - self._weights
                rest[some] -= self._counts[some]
                found[:, k] = self._scales[k] * np.maximum(sums, 0.0) / np.maximum(rest, NONE)
        return found

    def left_out(self, places: Array, owner: Places, weights: Array, explained: Array) -> Array:
        """The density of each width at points that are left out, with weights that do not know them.

        Parameters
        ----------
        places : ndarray of shape (m, features)
            Embedded points.
        owner, weights : ndarray of shape (m,)
        explained : ndarray of shape (n, K)
        """  # (m, 2K)
        pairs = np.minimum(places @ self._targets.T - self._family.square, 0.0)
        arms = np.outer(places[:, -1], self._targets[:, -1]) if self._family.is_averaged else None
        left = np.broadcast_to(self._counts, (len(places), self._n)).copy()
        left[np.arange(len(places)), owner] -= weights
        others = (self._total - self._weights) * np.ones((len(places), 1))
        kernels, parts = [], []
        for k, kappa in enumerate(self._mixture.concentrations.tolist()):
            kernels.append(self._scales[k] * self._of_orbits(kappa, pairs, arms))
            without = np.maximum(explained[:, k] * others - weights[:, None] * kernels[-1], 0.0)
            parts.append(self._mixture.shares[k + 1] * without / np.maximum(others - weights[:, None], NONE))
        density: Array = self._mixture.shares[0] + np.sum(parts, axis=0)
        sure = left * squared(1 - self._mixture.shares[0] / density) / density
        left /= density
        found = np.empty((len(places), 2 * len(kernels)))
        for k, (kernel, part) in enumerate(zip(kernels, parts, strict=True)):
            for column, share in ((k, left), (k + len(kernels), sure)):
                weighted = share * part
                sums = np.einsum("ij,ij->i", kernel, weighted)
                found[:, column] = sums / np.maximum(weighted.sum(axis=1), NONE)
        return found

    def _of_orbits(self, kappa: float, pairs: Array, arms: Array | None) -> Array:
        """Sums of kernels over the images of each centre; of narrow ones, those that have not vanished."""
        if kappa * self._family.square < 2.0**DENSE:
            kernel = np.exp(kappa * pairs)
            if arms is not None:
                kernel *= self._family.share(kappa * arms)
            return kernel.reshape(len(pairs), self._order, self._n).sum(axis=1)
        near = np.flatnonzero(pairs > np.log(VANISHING) / kappa)
        kernel = np.exp(kappa * pairs.ravel()[near])
        if arms is not None:
            kernel *= self._family.share(kappa * arms.ravel()[near])
        row, image = np.divmod(near, pairs.shape[1])
        sums: Any = np.bincount(row * self._n + image % self._n, kernel, len(pairs) * self._n)
        return sums.reshape(len(pairs), self._n)

    def _kernels(self, kappa: float, places: Array, targets: Array) -> Array:
        """Of one embedded point with another, pair by pair."""  # (m, features) twice -> (m,)
        found = np.exp(kappa * np.minimum(np.sum(places * targets, axis=1) - self._family.square, 0.0))
        return found * self._family.share(kappa * places[:, -1] * targets[:, -1]) if self._family.is_averaged else found


def squared(values: Array) -> Array:
    """Squared `_SQUARED` times: a power of them takes ten times as long."""
    for _ in range(_SQUARED):
        values = np.square(values)
    return values
