"""A density of kernels with several widths: group-averaged von Mises kernels around points.

f(x) = s_0 + Σ_k s_k Σ_j w_kj k_κ(x, x_j), every kernel averaged over the images of x_j, and over flows in closed form
(`_orbit_space`). How it is fitted: `_fitted_kernels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.spatial.distance import cdist

from specavg._arrays import Array
from specavg.estimators._leaves_of_points import Leaves, Places
from specavg.spaces import Space
from specavg.spaces._von_mises import VonMises

_NEGLIGIBLE = 1e-14  # what all kernels beyond their reach together may add, relative to the uniform part
_LEAF = 16  # images in a leaf of the tree, at most
_TOGETHER = 4  # points whose near images are looked up together: more reach further, fewer make more steps
_ROWS = 4_096  # points at a time: their distances to 10,000 leaves take 20 MB
_CHUNK = 4e6  # pairs at a time: 32 MB


@final
@dataclass(frozen=True, eq=False)
class KernelMixture:
    """A fitted density.

    Attributes
    ----------
    images : ndarray of shape (N, n_features)
        Points of the data, moved by all elements of the group, or by one of each of its components: of many, some.
    weights : ndarray of shape (N,) or (K, N)
        Of all widths, or of each; they sum to one. A point that is not kept counts for the nearest image.
    concentrations : ndarray of shape (K,)
        κ of each width: at small distances r a kernel is exp(−κr²/2).
    shares : ndarray of shape (K + 1,)
        That of the uniform density first; they sum to one.
    loo_log_likelihood : float
        Mean leave-one-out log density.
    """

    images: Array
    weights: Array
    concentrations: Array
    shares: Array
    loo_log_likelihood: float

    def density(self, family: VonMises, X: Array) -> Array:
        """At points of the space that `family` belongs to."""  # (n, n_features) -> (n,)
        found = np.full(len(X), self.shares[0])
        for rows, images, k, kernel in self._near(family, X):
            found[rows] += kernel @ self.weights_of(k)[images]
        return found

    def parts(self, family: VonMises, X: Array, negligible: float) -> Array:
        """The density of each width, up to what is negligible beside the uniform part."""  # -> (n, K)
        found = np.zeros((len(X), len(self.concentrations)))
        for rows, images, k, kernel in self._near(family, X, negligible):
            found[rows, k] += kernel @ self.weights_of(k)[images]
        return found

    def gradient(self, family: VonMises, X: Array) -> Array:
        """The gradient of the log density."""  # (n, n_features) -> (n, n_features)
        targets, places = family.embedded(self.images), family.embedded(X)
        pulls, density = np.zeros((len(X), targets.shape[1])), np.full(len(X), self.shares[0])
        for rows, images, k, kernel in self._near(family, X):
            kappa, terms = float(self.concentrations[k]), kernel * self.weights_of(k)[images]
            density[rows] += terms.sum(axis=1)
            pulls[rows] += kappa * (terms @ targets[images])
            if family.is_averaged:
                slopes = family.share_slope(kappa * np.outer(places[rows, -1], targets[images, -1]))
                pulls[rows, -1] += kappa * ((terms * slopes) @ targets[images, -1])
        return family.pulled(X, pulls / density[:, None])

    def sample(self, space: Space, family: VonMises, n: int, rng: np.random.Generator) -> Array:
        """Independent points."""  # (n, n_features)
        which = rng.choice(len(self.shares), size=n, p=self.shares)
        points = space.sample(n, rng)
        for k, kappa in enumerate(self.concentrations):
            near = which == k + 1
            count = int(near.sum())
            centres = self.images[rng.choice(len(self.images), size=count, p=self.weights_of(k))]
            points[near] = family.sample(centres, np.full(count, kappa), rng)
        return points

    def weights_of(self, k: int) -> Array:
        """The weights of images for one width."""  # (N,)
        return self.weights if self.weights.ndim == 1 else self.weights[k]

    def _near(
        self, family: VonMises, X: Array, negligible: float = _NEGLIGIBLE
    ) -> Iterator[tuple[Places, Places, int, Array]]:
        """Some rows, the images within reach of one of them, a width, and its kernel between them times its share."""
        scales = self.shares[1:] * np.exp(-family.log_mass(self.concentrations))
        with np.errstate(divide="ignore"):  # without a uniform part nothing is negligible
            exponents = np.log(scales * len(scales) / (negligible * self.shares[0]))
        reaches = np.sqrt(2 * np.maximum(exponents, 0.0) / self.concentrations)  # exp(−κ reach²/2) is negligible
        targets = family.embedded(self.images)
        leaves = self._leaves(targets)
        targets = targets[leaves.order]
        for start in range(0, len(X), _ROWS):
            points = family.embedded(X[start : start + _ROWS])
            rows_of = Leaves.of(points, int(np.clip(_CHUNK / len(targets), 1, _TOGETHER)))
            apart = cdist(rows_of.centres, leaves.centres) - rows_of.radii[:, None] - leaves.radii
            for leaf, distances in enumerate(apart):
                rows = rows_of.order[rows_of.places(np.array([leaf]))]
                chosen = np.flatnonzero(distances <= reaches.max(initial=0.0))
                places, far = leaves.places(chosen), np.repeat(distances[chosen], leaves.counts[chosen])
                pairs = np.minimum(points[rows] @ targets[places].T - family.square, 0.0)
                arms = np.outer(points[rows, -1], targets[places, -1]) if family.is_averaged else None
                widths = zip(self.concentrations.tolist(), scales.tolist(), reaches, strict=True)
                for k, (kappa, scale, reach) in enumerate(widths):
                    near = np.flatnonzero(far <= reach)
                    part = pairs if len(near) == len(places) else pairs[:, near]
                    kernel = scale * np.exp(kappa * part)
                    if arms is not None:
                        kernel *= family.share(kappa * arms[:, near])
                    yield start + rows, leaves.order[places[near]], k, kernel

    def _leaves(self, targets: Array) -> Leaves:
        """The leaves of the embedded images, made once."""
        known = vars(self).get("_made_leaves")
        if known is None:
            known = vars(self)["_made_leaves"] = Leaves.of(targets, _LEAF)
        return known
