"""Von Mises kernels averaged over the flows of a group, in closed form.

A flow has infinitely many elements, which no sum lists. Where it turns the points of a sphere about an axis, the
average of exp(κ⟨x, y⟩) is one of Bessel's functions; where it turns rotations from one side, a density is one of a
direction, and the kernel may as well be that of the direction. Both are exact, positive and of integral one.
"""

from __future__ import annotations

from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.functions._one_direction import Direction
from specavg.spaces._von_mises import OnSphere, VonMises

_SMALL = 1e-8  # below, two terms of a series in u are exact


@final
class AroundAnAxis(VonMises):
    """On the unit sphere of R^d, averaged over all rotations of a subspace V of dimension k ≥ 2.

    A point is embedded as its part across V and the length r of its part in V. The mean of exp(u(cos t − 1)), u = κrr',
    over the angles t between directions of V is the `share` of a kernel that is left by the average.

    Parameters
    ----------
    turned : ndarray of shape (d, k)
        An orthonormal basis of V.
    still : ndarray of shape (d, d - k)
        The same of what is at right angles.
    """

    def __init__(self, turned: Array, still: Array) -> None:
        self._turned, self._still = turned, still
        self._sphere = OnSphere(len(turned))
        self._order = turned.shape[1] / 2 - 1

    @property
    def square(self) -> float:
        return 1.0

    @property
    def is_averaged(self) -> bool:
        return True

    def embedded(self, X: Array) -> Array:
        x = self._sphere.embedded(X)
        return np.concatenate([x @ self._still, np.linalg.norm(x @ self._turned, axis=1, keepdims=True)], axis=1)

    def share(self, u: Array) -> Array:
        from scipy.special import gamma, i0e, ive

        if self._order == 0:
            return i0e(u)
        safe = np.maximum(u, _SMALL)
        return np.where(
            u < _SMALL, 1.0 - u, gamma(self._order + 1) * (2.0 / safe) ** self._order * ive(self._order, safe)
        )

    def share_slope(self, u: Array) -> Array:
        from scipy.special import i0e, i1e, ive

        if self._order == 0:
            return i1e(u) / i0e(u) - 1.0
        safe = np.maximum(u, _SMALL)
        return ive(self._order + 1, safe) / ive(self._order, safe) - 1.0

    def pulled(self, X: Array, V: Array) -> Array:
        x = self._sphere.embedded(X)
        part = x @ self._turned
        length = np.linalg.norm(part, axis=1, keepdims=True)
        outwards = part / np.where(length > 0, length, 1.0)  # the slope at the axis is zero
        return self._sphere.pulled(x, V[:, :-1] @ self._still.T + (V[:, -1:] * outwards) @ self._turned.T)

    def log_mass(self, kappa: Array) -> Array:
        return self._sphere.log_mass(kappa)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        x = self._sphere.sample(centres, kappa, rng)
        side = rng.normal(size=(len(x), self._turned.shape[1]))
        side *= np.linalg.norm(x @ self._turned, axis=1, keepdims=True) / np.linalg.norm(side, axis=1, keepdims=True)
        return x @ self._still @ self._still.T + side @ self._turned.T


@final
class OfADirection(VonMises):
    """On rotations that are turned from one side: the kernel of the sphere at the direction that this leaves alone."""

    def __init__(self, direction: Direction, family: VonMises) -> None:
        self._direction, self._family = direction, family

    @property
    def square(self) -> float:
        return self._family.square

    @property
    def is_averaged(self) -> bool:
        return self._family.is_averaged

    def embedded(self, X: Array) -> Array:
        return self._family.embedded(self._direction.of(X))

    def share(self, u: Array) -> Array:
        return self._family.share(u)

    def share_slope(self, u: Array) -> Array:
        return self._family.share_slope(u)

    def pulled(self, X: Array, V: Array) -> Array:
        slopes = self._family.pulled(self._direction.of(X), V)
        return self._direction.lifted(X, slopes[:, :, None])[:, :, 0]

    def log_mass(self, kappa: Array) -> Array:
        return self._family.log_mass(kappa)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        directions = self._family.sample(self._direction.of(centres), kappa, rng)
        return self._direction.rotations(directions, 2 * np.pi * rng.random(len(directions)))
