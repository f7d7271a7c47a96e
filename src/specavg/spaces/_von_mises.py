"""Narrow positive kernels: k(x, y) = exp(−κ|e(x) − e(y)|²/2) / mass(κ), e an embedding that isometries keep.

On spheres this is the kernel of von Mises and Fisher, on tori a product of von Mises kernels, on rotations
exp(κ cos ω), ω the angle between x and y. A density of integral one for every y, as narrow as one likes: no series has
to be summed, which would take some (3/width)^d functions.
"""

from __future__ import annotations

import abc
from typing import final

import numpy as np

from specavg._arrays import Array

_TABLE = 4097  # nodes at which the distribution of distances is tabulated, to be inverted by interpolation
_REACH = 12.0  # distances beyond so many standard deviations have a probability of 1e-31


class VonMises(abc.ABC):
    """The kernels of one space, for all κ; at distances r far below the size of the space they are exp(−κr²/2)."""

    @property
    @abc.abstractmethod
    def square(self) -> float:
        """|e(x)|², the same for all x."""

    @abc.abstractmethod
    def embedded(self, X: Array) -> Array:
        """e(x): points of a Euclidean space."""  # (n, n_features) -> (n, m)

    @abc.abstractmethod
    def pulled(self, X: Array, V: Array) -> Array:
        """The gradient of x ↦ ⟨v, e(x)⟩ as the space has gradients."""  # (n, m) -> (n, n_features)

    @abc.abstractmethod
    def log_mass(self, kappa: Array) -> Array:
        """Log ∫ exp(−κ|e(x) − e(y)|²/2) over the uniform probability measure."""

    @abc.abstractmethod
    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        """A point from the kernel around each centre."""  # (n, n_features), (n,) -> (n, n_features)


@final
class OnSphere(VonMises):
    """On the unit sphere of R^d: |x − y|²/2 = 1 − cos θ."""

    def __init__(self, d: int) -> None:
        self._d = d

    @property
    def square(self) -> float:
        return 1.0

    def embedded(self, X: Array) -> Array:
        return X / np.linalg.norm(X, axis=1, keepdims=True)

    def pulled(self, X: Array, V: Array) -> Array:
        x = self.embedded(X)
        return V - x * np.sum(x * V, axis=1, keepdims=True)

    def log_mass(self, kappa: Array) -> Array:
        from scipy.special import gammaln, ive

        order = self._d / 2 - 1
        return gammaln(order + 1) + order * np.log(2.0 / kappa) + np.log(ive(order, kappa))

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        x = self.embedded(centres)
        angle = _angles(kappa, lambda a: np.sin(a) ** (self._d - 2), rng)[:, None]
        side = self.pulled(x, rng.normal(size=x.shape))
        return np.cos(angle) * x + np.sin(angle) * side / np.linalg.norm(side, axis=1, keepdims=True)


@final
class OnRotations(VonMises):
    """On rotation matrices, e(x) = x/√2: |e(x) − e(y)|²/2 = 1 − cos ω."""

    @property
    def square(self) -> float:
        return 1.5

    def embedded(self, X: Array) -> Array:
        return X / np.sqrt(2.0)

    def pulled(self, X: Array, V: Array) -> Array:
        x, v = X.reshape(-1, 3, 3), V.reshape(-1, 3, 3)
        return (0.5**1.5 * (v - x @ v.transpose(0, 2, 1) @ x)).reshape(len(X), 9)

    def log_mass(self, kappa: Array) -> Array:
        from scipy.special import ive

        # ∫(1 − cos ω)e^{κ(cos ω − 1)}dω/π = I₀ − I₁, scaled. For large κ the two agree in their first digits, and the
        # expansion of their difference has the rest.
        large = np.maximum(kappa, 1e4)
        tail = -np.log(2.0 * large * np.sqrt(2 * np.pi * large)) + np.log1p(0.375 / large * (1 + 0.9375 / large))
        return np.where(kappa < 1e4, np.log(ive(0, kappa) - ive(1, kappa)), tail)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        angle = _angles(kappa, lambda a: 1 - np.cos(a), rng)[:, None, None]
        axis = rng.normal(size=(len(centres), 3))
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        # Rows e_i × axis: the matrix of v ↦ axis × v.
        cross: Array = np.asarray(np.cross(np.eye(3)[None], axis[:, None]), dtype=np.float64)
        turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
        return (turn @ centres.reshape(-1, 3, 3)).reshape(-1, 9)


@final
class OnTorus(VonMises):
    """On a box with periods p: |e(x) − e(y)|²/2 = Σ (p_i/2π)² (1 − cos 2π(x_i − y_i)/p_i)."""

    def __init__(self, period: Array) -> None:
        self._radius = period / (2 * np.pi)

    @property
    def square(self) -> float:
        return float(np.sum(self._radius**2))

    def embedded(self, X: Array) -> Array:
        angle = X / self._radius
        return np.concatenate([self._radius * np.cos(angle), self._radius * np.sin(angle)], axis=1)

    def pulled(self, X: Array, V: Array) -> Array:
        angle, d = X / self._radius, X.shape[1]
        return np.cos(angle) * V[:, d:] - np.sin(angle) * V[:, :d]

    def log_mass(self, kappa: Array) -> Array:
        from scipy.special import ive

        return np.sum(np.log(ive(0, np.multiply.outer(kappa, self._radius**2))), axis=-1)

    def sample(self, centres: Array, kappa: Array, rng: np.random.Generator) -> Array:
        return centres + self._radius * rng.vonmises(0.0, np.multiply.outer(kappa, self._radius**2))


def _angles(kappa: Array, area: object, rng: np.random.Generator) -> Array:
    """Angles from the density area(a)·exp(κ(cos a − 1)) on [0, π], one for each κ."""
    assert callable(area)
    found = np.empty(len(kappa))
    for value in np.unique(kappa):
        mine = kappa == value
        nodes = np.linspace(0.0, min(np.pi, _REACH / np.sqrt(value)), _TABLE)
        density = np.asarray(area(nodes)) * np.exp(-2 * value * np.sin(nodes / 2) ** 2)
        below = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        found[mine] = np.interp(rng.uniform(size=int(mine.sum())), below / below[-1], nodes)
    return found
