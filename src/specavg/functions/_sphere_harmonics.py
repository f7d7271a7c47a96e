"""Spherical harmonics in any dimension, one coordinate split off at a time, compiled and by plain recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._factor_table import PAIR, SOLID_STEP, SPHERE, FactorTable
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._product_tree import Products, ProductTree

__all__ = [
    "SphereHarmonics",
    "even_harmonics_count",
    "gegenbauer_recurrence",
    "harmonics",
    "harmonics_count",
]

Array = NDArray[np.float64]


@final
class SphereHarmonics(Products):
    """Harmonics of some degrees on the unit sphere of R^d; with `even`, those even in every coordinate only."""

    def __init__(self, d: int, degrees: Sequence[int], *, even: bool = False) -> None:
        self._d = d
        self._degrees = tuple(degrees)
        self._even = even
        count = even_harmonics_count if even else harmonics_count
        self._dim = sum(count(d, degree) for degree in degrees)

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def row_bytes(self) -> float:
        return 8.0 * 6 * max(self.dim, 1)

    @cached_property
    def _weighted_tree(self) -> tuple[ProductTree, Array]:
        return _harmonic_tree(self._d, self._degrees, even=self._even)

    @cached_property
    def tree(self) -> ProductTree:
        return self._weighted_tree[0]

    @property
    def weights(self) -> Array:
        return self._weighted_tree[1]

    def plain_values(self, X: Array) -> Array:
        unit = normalized(X)
        columns = [harmonics(unit, degree, even=self._even) for degree in self._degrees]
        return np.concatenate([np.empty((len(X), 0)), *columns], axis=1)


def harmonics_count(d: int, degree: int) -> int:
    """How many harmonics of one degree the sphere of R^d has."""
    return comb(degree + d - 1, d - 1) - (comb(degree + d - 3, d - 1) if degree >= 2 else 0)


def even_harmonics_count(d: int, degree: int) -> int:
    """How many harmonics of one degree are even in every coordinate."""
    return 0 if degree % 2 else comb(degree // 2 + d - 2, d - 2)


def _harmonic_tree(d: int, degrees: Sequence[int], even: bool = False) -> tuple[ProductTree, Array]:
    """Harmonics of several degrees on the sphere of R^d as products along a tree, and their weights; `even` ones only.

    Y(x) = p(x_i) · Y'(x_1, …, x_{i−1}), one coordinate after the other, in the order of `Sphere`. Where p is
    constant there is no factor, so that a product has at most `degree` of them, whatever d is.
    """
    top = max(degrees, default=0)
    operations: list[tuple[int, int, int, int, int]] = []
    constants: list[tuple[float, float]] = []
    for j in range(1, top + 1):  # rows 2j − 2 and 2j − 1: real and imaginary part of (x + iy)^j
        re, im = (2 * j - 4, 2 * j - 3) if j > 1 else (-1, -1)
        operations += [(PAIR, 0, re, im, 1), (PAIR, 0 if j > 1 else 1, im, re, 1)]
        constants += [(1.0, -1.0), (1.0, 1.0)] if j > 1 else [(1.0, 0.0), (1.0, 0.0)]
    parents, factors = [np.zeros(1, dtype=np.int64)], [np.full(1, -1, dtype=np.int64)]
    count = 1

    def grown(parent: NDArray[np.int64], factor: NDArray[np.int64]) -> NDArray[np.int64]:
        nonlocal count
        parents.append(parent)
        factors.append(factor)
        count += len(parent)
        return np.arange(count - len(parent), count)

    nodes = [np.zeros(1, dtype=np.int64)]
    weights = [np.ones(1)]
    for j in range(1, top + 1):
        rows = np.array([2 * j - 2] if even else [2 * j - 2, 2 * j - 1], dtype=np.int64)
        nodes.append(grown(np.zeros(len(rows), dtype=np.int64), rows))
        weights.append(np.full(len(rows), np.sqrt(2.0)))
    for i in range(3, d + 1):
        lifted: list[list[NDArray[np.int64]]] = [[] for _ in range(top + 1)]
        lifted_weights: list[list[Array]] = [[] for _ in range(top + 1)]
        scale = 1.0  # 1/√E[(1 − t²)^j]
        for j in range(top + 1):
            if not (even and j % 2):
                first = len(operations)
                a = gegenbauer_recurrence(np.arange(1.0, top - j + 1), j + (i - 2) / 2)
                for n in range(1, top - j + 1):
                    one, two = (first + n - 2 if n > 1 else -1), (first + n - 3 if n > 2 else -1)
                    operations.append((SOLID_STEP, i - 1, one, two, 0))
                    constants.append((1.0 / a[n - 1], -a[n - 2] / a[n - 1] if n > 1 else 0.0))
                for k in range(j, top + 1, 2 if even else 1):
                    row = np.full(len(nodes[j]), first + k - j - 1, dtype=np.int64)
                    lifted[k].append(nodes[j] if k == j else grown(nodes[j], row))
                    lifted_weights[k].append(scale * weights[j])
            scale *= np.sqrt((i / 2 + j) / ((i - 1) / 2 + j))
        nodes = [np.concatenate([np.empty(0, dtype=np.int64), *part]) for part in lifted]
        weights = [np.concatenate([np.empty(0), *part]) for part in lifted_weights]
    tree = ProductTree.of(
        FactorTable.of(SPHERE, np.ones(1), np.array(operations, dtype=np.int64), np.array(constants)),
        np.concatenate(parents),
        np.concatenate(factors),
        np.concatenate([np.empty(0, dtype=np.int64), *(nodes[k] for k in degrees)]),
        radii=d,
    )
    return tree, np.concatenate([np.empty(0), *(weights[k] for k in degrees)])


def gegenbauer_recurrence(n: NDArray[np.float64], order: float) -> NDArray[np.float64]:
    """a_n of t p_n = a_{n+1} p_{n+1} + a_n p_{n−1}, p orthonormal for the weight (1 − t²)^{order − 1/2}."""
    if order == 0:  # Chebyshev: the general formula is 0/0 at n = 1
        return np.where(n == 1, np.sqrt(0.5), 0.5)
    return np.sqrt(n * (n + 2 * order - 1) / (4 * (n + order) * (n + order - 1)))


def harmonics(X: NDArray[np.float64], degree: int, even: bool = False) -> NDArray[np.float64]:
    """Orthonormal spherical harmonics of one degree at unit vectors; only those `even` in every coordinate."""
    # (n, d) -> (n, m)
    # Solid harmonics of degrees 0..degree in the first two coordinates: √2 Re, Im of (x + iy)^j.
    n, d = X.shape
    z = X[:, 0] + 1j * X[:, 1]
    power = np.ones(n, dtype=complex)
    solid = [np.ones((n, 1))]
    for _ in range(degree):
        power = power * z
        both = [power.real, power.imag][: 1 if even else 2]
        solid.append(np.sqrt(2) * np.stack(both, axis=1))
    radius2 = X[:, 0] ** 2 + X[:, 1] ** 2
    # From R^{i−1} to R^i: Y_k = Σ_j [ρ^{k−j} p_{k−j}(x_i / ρ)] · Y'_j, p orthonormal for order j + (i − 2)/2.
    for i in range(3, d + 1):
        t = X[:, i - 1]
        radius2 = radius2 + t**2
        wanted = range(degree + 1) if i < d else (degree,)
        lifted: list[list[NDArray[np.float64]]] = [[] for _ in range(degree + 1)]
        scale = 1.0  # 1/√E[(1 − t²)^j], so that p · Y' has norm one
        for j in range(degree + 1):
            if even and j % 2:
                scale *= np.sqrt((i / 2 + j) / ((i - 1) / 2 + j))
                continue
            radial = _homogeneous_gegenbauer(t, radius2, degree - j, j + (i - 2) / 2)
            for k in wanted:
                if k >= j and not (even and (k - j) % 2):
                    lifted[k].append((scale * radial[k - j])[:, None] * solid[j])
            scale *= np.sqrt((i / 2 + j) / ((i - 1) / 2 + j))
        solid = [np.concatenate(parts, axis=1) if parts else np.empty((n, 0)) for parts in lifted]
    return solid[degree]


def _homogeneous_gegenbauer(
    t: NDArray[np.float64], radius2: NDArray[np.float64], degree: int, order: float
) -> list[NDArray[np.float64]]:
    """ρ^n p_n(t/ρ) for n = 0..degree: polynomials in t and ρ², by their three-term recurrence."""
    a = gegenbauer_recurrence(np.arange(1.0, degree + 1), order)
    values = [np.ones_like(t)]
    if degree >= 1:
        values.append(t / a[0])
    for n in range(1, degree):
        values.append((t * values[n] - a[n - 1] * radius2 * values[n - 1]) / a[n])
    return values
