"""Spherical harmonics in any dimension, built up one coordinate at a time: as a tree for loops, and by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._factor_table import PAIR, SOLID_STEP, SPHERE, FactorTable
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._product_tree import Products, ProductTree


@final
class SphereHarmonics(Products):
    """Orthonormal harmonics of some degrees on the unit sphere of R^d.

    Parameters
    ----------
    d : int
    degrees : sequence of int
    even : bool
        Whether only the harmonics that are even in every coordinate are wanted.
    """

    def __init__(self, d: int, degrees: Sequence[int], *, even: bool = False) -> None:
        self._d = d
        self._degrees = tuple(degrees)
        self._even = even
        count = even_harmonics_count if even else harmonics_count
        self.dim = sum(count(d, degree) for degree in degrees)

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
        return np.concatenate([np.empty((len(X), 0)), *harmonics(unit, self._degrees, even=self._even)], axis=1)


def harmonics_count(d: int, degree: int) -> int:
    """How many harmonics of one degree the sphere of R^d has."""
    return comb(degree + d - 1, d - 1) - (comb(degree + d - 3, d - 1) if degree >= 2 else 0)


def even_harmonics_count(d: int, degree: int) -> int:
    """How many harmonics of one degree are even in every coordinate."""
    return 0 if degree % 2 else comb(degree // 2 + d - 2, d - 2)


def _harmonic_tree(d: int, degrees: Sequence[int], even: bool = False) -> tuple[ProductTree, Array]:
    """Harmonics of several degrees on the sphere of R^d as products along a tree, and their weights.

    A harmonic of R^i is Y(x) = p(x_i) · Y'(x_1, …, x_{i−1}), with a harmonic Y' of R^{i−1}. Where p is constant there
    is no factor, so that a product has at most as many factors as its degree, whatever d is. The functions come in the
    order of `Sphere`; with `even`, only those that are even in every coordinate.
    """
    top = max(degrees, default=0)
    operations: list[tuple[int, int, int, int, int]] = []
    constants: list[tuple[float, float]] = []
    for j in range(1, top + 1):  # rows 2j − 2 and 2j − 1: real and imaginary part of (x_1 + i x_2)^j
        re, im = (2 * j - 4, 2 * j - 3) if j > 1 else (-1, -1)
        operations += [(PAIR, 0, re, im, 1), (PAIR, 0 if j > 1 else 1, im, re, 1)]
        constants += [(1.0, -1.0), (1.0, 1.0)] if j > 1 else [(1.0, 0.0), (1.0, 0.0)]
    parents, factors = [np.zeros(1, dtype=np.int64)], [np.full(1, -1, dtype=np.int64)]
    count = 1

    def grown(parent: NDArray[np.int64], factor: NDArray[np.int64]) -> NDArray[np.int64]:
        """New nodes with these parents and factors."""
        nonlocal count
        parents.append(parent)
        factors.append(factor)
        count += len(parent)
        return np.arange(count - len(parent), count)

    nodes = [np.zeros(1, dtype=np.int64)]  # the harmonics of each degree in the coordinates so far
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


def gegenbauer_recurrence(n: Array, order: float) -> Array:
    """The a_n of t p_n = a_{n+1} p_{n+1} + a_n p_{n−1}, with p orthonormal for the weight (1 − t²)^{order − 1/2}."""
    if order == 0:  # Chebyshev polynomials: the general formula is 0/0 at n = 1
        return np.where(n == 1, np.sqrt(0.5), 0.5)
    return np.sqrt(n * (n + 2 * order - 1) / (4 * (n + order) * (n + order - 1)))


def harmonics(X: Array, degrees: Sequence[int], even: bool = False) -> list[Array]:
    """Orthonormal spherical harmonics of each of `degrees` at unit vectors, by NumPy.

    With `even`, only those that are even in every coordinate.
    """  # (n, d) -> (n, m) for each degree
    # On the circle of the first two coordinates: √2 times the real and imaginary part of z^j, z = (x_1 + i x_2)/radius.
    (n, d), degree = X.shape, max(degrees, default=0)
    radius = np.hypot(X[:, 0], X[:, 1])
    z = (X[:, 0] + 1j * X[:, 1]) / np.where(radius == 0, 1.0, radius)
    power = np.ones(n, dtype=complex)
    below = [np.ones((n, 1))]
    for _ in range(degree):
        power = power * z
        both = [power.real, power.imag][: 1 if even else 2]
        below.append(np.sqrt(2) * np.stack(both, axis=1))
    # From the sphere of R^{i−1} to that of R^i: at the unit vector (s·X', c) the harmonics of degree k are
    # s^j p_{k−j}(c) · Y'_j(X') for all j ≤ k, with harmonics Y'_j of degree j and p of the order j + (i − 2)/2.
    for i in range(3, d + 1):
        inner, radius = radius, np.hypot(radius, X[:, i - 1])
        unit = np.where(radius == 0, 1.0, radius)
        c, s = X[:, i - 1] / unit, inner / unit
        wanted = range(degree + 1) if i < d else sorted(set(degrees))
        lifted: list[list[Array]] = [[] for _ in range(degree + 1)]
        start = _Scaled(np.ones(n), np.zeros(n, dtype=np.int64))  # s^j/√E[(1 − t²)^j]: products then have norm one
        for j in range(degree + 1):
            if not (even and j % 2):
                factors = _associated(start, c, degree - j, j + (i - 2) / 2)
                for k in wanted:
                    if k >= j and not (even and (k - j) % 2):
                        lifted[k].append(np.ldexp(*factors[k - j])[:, None] * below[j])
            start = _Scaled.of(start.mantissa * (s * np.sqrt((i / 2 + j) / ((i - 1) / 2 + j))), start.exponent)
        below = [np.concatenate(parts, axis=1) if parts else np.empty((n, 0)) for parts in lifted]
    return [below[k] for k in degrees]


class _Scaled(NamedTuple):
    """The numbers mantissa · 2^exponent.

    Where a product s^j p_n(c) is of size one, s^j alone may be too small for a float, and p_n(c) too large.
    """

    mantissa: Array
    exponent: NDArray[np.int64]

    @classmethod
    def of(cls, mantissa: Array, exponent: NDArray[np.int64]) -> _Scaled:
        """The same numbers with mantissas of size 1/2 to 1."""
        mantissa, more = np.frexp(mantissa)
        return cls(mantissa, exponent + more)


# Steps of the recurrence between two scalings. One step grows by a factor of about √(2 · order), which is below 2^8 up
# to degree 30,000: 64 steps grow by less than 2^512.
_STEPS = 64


def _associated(start: _Scaled, c: Array, degree: int, order: float) -> list[_Scaled]:
    """The products of `start` and p_n(c) for n = 0, …, degree, by the three-term recurrence of p."""
    a = gegenbauer_recurrence(np.arange(1.0, degree + 1), order)
    before, now, exponent = np.zeros_like(c), start.mantissa, start.exponent
    values = [start]
    for n in range(degree):
        before, now = now, (c * now - (a[n - 1] * before if n else 0.0)) / a[n]
        if n % _STEPS == _STEPS - 1:
            more = np.frexp(np.maximum(np.abs(before), np.abs(now)))[1]
            before, now, exponent = np.ldexp(before, -more), np.ldexp(now, -more), exponent + more
        values.append(_Scaled(now, exponent))
    return values
