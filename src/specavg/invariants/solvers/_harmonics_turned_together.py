"""Products of harmonics of a few directions that all rotations turn together.

Harmonics of one degree l on a sphere are irreducible under all rotations, with weights up to l. So a product of
harmonics of degrees l₁, …, l_k has no invariant where one degree is larger than the sum of the others, and under O(d)
none where the sum of the degrees is odd. Fewer than d directions see no difference between SO(d) and O(d): invariants
are then functions of the inner products, and only a determinant of d of them tells the two apart.

Two and three directions have one invariant at most under O(d), the integral ∫ Y_a(z) Y_b(z) Y_c(z) dz over the sphere
(Gaunt's coefficients), which a quadrature rule gives exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import final

import numpy as np

from specavg.functions._functions import Array
from specavg.groups._algebra import generated_algebra
from specavg.groups._linear_part import determinant
from specavg.isometries import Isometry
from specavg.isometries.fields import Field
from specavg.spaces import Eigenspace, Space, Sphere

_LARGEST = 3  # factors that one integral has all invariants of
# Entries below this part of the largest are zeros that rounding filled; without them most products are never formed.
_ROUNDED_ZERO = 1e-14


@final
class AllRotations:
    """All rotations of a sphere, with reflections (`improper`) or without.

    Parameters
    ----------
    sphere : Sphere
    improper : bool
    """

    def __init__(self, sphere: Sphere, *, improper: bool) -> None:
        self._sphere, self._improper = sphere, improper

    @classmethod
    def among(cls, space: Space, isometries: Sequence[Isometry], fields: Sequence[Field]) -> AllRotations | None:
        """All rotations, where `fields` generate them; None where they do not."""
        if not isinstance(space, Sphere) or not fields:
            return None
        d = space.n_features
        if generated_algebra([space.check_field(f) for f in fields]).dim < d * (d - 1) // 2:
            return None
        return cls(space, improper=any(determinant(space.check_isometry(g)) < 0 for g in isometries))

    def count(self, factors: Sequence[Eigenspace]) -> int | None:
        """The number of invariants of a product of harmonics of several directions, where it is known."""
        degrees = sorted(map(self._sphere.degree, factors))
        if not degrees:
            return 1
        excess = sum(degrees) - 2 * degrees[-1]
        like_improper = self._improper or len(degrees) < self._sphere.n_features  # SO(d) has the invariants of O(d)
        if excess < 0 or (like_improper and excess % 2):
            return 0
        if not like_improper or len(degrees) > _LARGEST:
            return None
        return int(self._sphere.n_features > 2 or excess == 0)  # on the circle, cosines of sums of angles

    def _nodes(self, factors: Sequence[Eigenspace]) -> float:
        degree = sum(map(self._sphere.degree, factors)) // 2
        return (2 * degree + 1.0) * (degree + 1.0) ** (self._sphere.n_features - 2)

    def seconds(self, factors: Sequence[Eigenspace]) -> float:
        """A forecast of the time of `invariant`."""
        if len(factors) < _LARGEST:
            return 0.0
        return 1e-9 * self._nodes(factors) * prod(float(V.dim) for V in factors)

    def numbers_held(self, factors: Sequence[Eigenspace]) -> float:
        """How many numbers `invariant` holds."""
        dims = [float(V.dim) for V in factors]
        if len(factors) < _LARGEST:
            return prod(dims)
        return self._nodes(factors) * (dims[0] * dims[1] + sum(dims)) + 2 * prod(dims)

    def invariant(self, factors: Sequence[Eigenspace]) -> tuple[Array, float]:
        """The one invariant where `count` is 1, of norm 1, and how far its quadrature rule is from exact.

        The array has a dimension for each factor.
        """
        if not factors:
            return np.ones(()), 0.0
        if len(factors) < _LARGEST:  # two of one degree: ∫ Y_a Y_b = δ_ab
            return np.eye(factors[0].dim) / np.sqrt(factors[0].dim), 0.0
        half = sum(map(self._sphere.degree, factors)) // 2
        a, b, c = (_at_nodes(self._sphere, V, half) for V in factors)
        weights = _rule(self._sphere, half)[1]
        error = np.abs((weights[:, None] * a).T @ a - np.eye(a.shape[1])).max()
        products = (weights[:, None, None] * a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
        tensor = (products.T @ c).reshape(a.shape[1], b.shape[1], c.shape[1])
        tensor[np.abs(tensor) < _ROUNDED_ZERO * np.abs(tensor).max()] = 0.0
        return tensor / np.linalg.norm(tensor), float(error)


@lru_cache(maxsize=64)
def _rule(sphere: Sphere, degree: int) -> tuple[Array, Array]:
    """A rule that is exact for polynomials of twice the degree."""
    return sphere.quadrature(sphere.eigenspace(degree).eigenvalue)


@lru_cache(maxsize=64)
def _at_nodes(sphere: Sphere, V: Eigenspace, degree: int) -> Array:
    return sphere.evaluate(V, _rule(sphere, degree)[0])
