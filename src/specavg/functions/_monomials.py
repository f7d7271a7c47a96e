"""Monomials, or products of Hermite polynomials, on a sphere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._factor_table import SPHERE, STEP, FactorTable
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import Shell, one_after_another, shells
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._product_tree import Products, ProductTree


@lru_cache(maxsize=4)
def monomial_shells(d: int, degree: int) -> dict[int, Shell]:
    """The exponents of all monomials in d coordinates, by degree, up to `degree`."""
    return shells(d, degree, power=1)


@final
class MonomialProducts(Products):
    """Some monomials of some degrees, or Hermite products with the same exponents."""

    def __init__(self, d: int, wanted: Sequence[tuple[int, NDArray[np.intp]]], *, hermite: bool) -> None:
        self._d = d
        self._wanted = list(wanted)
        self._top = max((degree for degree, _ in wanted), default=0)
        self._hermite = hermite
        self.dim = sum(len(rows) for _, rows in wanted)

    @property
    def row_bytes(self) -> float:
        total = comb(self._top + self._d, self._top)  # monomials of all degrees up to the top
        return 8.0 * (2 * total + 2 * self._d * (self._top + 1))

    @cached_property
    def tree(self) -> ProductTree:
        starts, _, (parent, coordinate, value) = one_after_another(monomial_shells(self._d, self._top), power=1)
        rows = polynomial_rows(self._top, self._d, self._hermite)
        wanted = np.concatenate([np.empty(0, dtype=np.int64), *(starts[k] + rows for k, rows in self._wanted)])
        table = FactorTable.of(SPHERE, np.array([np.sqrt(self._d)]), *rows)
        return ProductTree.of(table, parent, (value - 1) * self._d + coordinate, wanted)

    def plain_values(self, X: Array) -> Array:
        z = np.sqrt(self._d) * normalized(X).T  # (d, n)
        factor = hermite_polynomials(z, self._top) if self._hermite else [z**j for j in range(self._top + 1)]
        table = {0: np.ones((1, len(X)))}
        for degree, part in monomial_shells(self._d, self._top).items():
            if degree == 0:
                continue
            values = np.empty((len(part), len(X)))
            for size in range(1, degree + 1):
                mine = np.flatnonzero(part.value == size)
                values[mine] = table[degree - size][part.parent[mine]] * factor[size][part.coordinate[mine]]
            table[degree] = values
        return np.concatenate([np.empty((0, len(X))), *(table[k][rows] for k, rows in self._wanted)]).T


def hermite_polynomials(z: Array, degree: int) -> list[Array]:
    """He_0..He_degree, by their recurrence."""
    values = [np.ones_like(z), z]
    for j in range(1, degree):
        values.append(z * values[j] - j * values[j - 1])
    return values[: degree + 1]


def polynomial_rows(degree: int, d: int, hermite: bool) -> tuple[NDArray[np.int64], Array]:
    """A factor table: He_1..He_degree, or powers, of d coordinates; degree j of coordinate i in row (j − 1)d + i."""
    j, i = (a.ravel() for a in np.mgrid[1 : degree + 1, :d])
    row, zero = np.arange(len(j)), np.zeros_like(j)
    before, second = np.where(j > 1, row - d, -1), np.where((j > 2) & hermite, row - 2 * d, -1)
    operations = np.stack([zero + STEP, i, before, second, zero], axis=1).astype(np.int64)
    constants = np.stack([zero + 1, (1 - j) * hermite], axis=1).astype(float)
    return operations, constants


def norm_constant(d: int, degree: int) -> float:
    """∏ (d + 2j)/d for j < degree: the Fischer norm of a harmonic over its L² norm, in units of d^k."""
    return float(np.prod([(d + 2 * j) / d for j in range(degree)]))


@final
class CoordinatePolynomials(Functions):
    """He_1..He_k and then z, …, z^k of one coordinate, z = √d x."""

    def __init__(self, d: int, degree: int) -> None:
        self._scale = float(np.sqrt(d))
        self._degree = degree
        self.dim = 2 * degree

    @property
    def row_bytes(self) -> float:
        return 8.0 * 2 * self.dim

    @property
    def copy_table(self) -> FactorTable:
        rows = [polynomial_rows(self._degree, 1, hermite) for hermite in (True, False)]
        operations, constants = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        later = operations[self._degree :]  # the powers come after the Hermite polynomials
        later[:, 2:4] = np.where(later[:, 2:4] < 0, -1, later[:, 2:4] + self._degree)
        return FactorTable.of(SPHERE, np.array([self._scale]), operations, constants)

    def values(self, X: Array) -> Array:
        z = self._scale * X[:, 0]
        values = np.empty((len(z), 2 * self._degree))
        power = np.ones_like(z)
        for j, hermite in enumerate(hermite_polynomials(z, self._degree)[1:]):
            power = power * z
            values[:, j], values[:, self._degree + j] = hermite, power
        return values

    def gradient(self, X: Array) -> Array:
        z = self._scale * X[:, 0]
        gradient = np.empty((len(z), 2 * self._degree, 1))
        power = np.ones_like(z)
        for j, hermite in enumerate(hermite_polynomials(z, self._degree)[:-1]):  # He_j' = j He_{j−1}
            gradient[:, j, 0] = (j + 1) * self._scale * hermite
            gradient[:, self._degree + j, 0] = (j + 1) * self._scale * power
            power = power * z
        return gradient
