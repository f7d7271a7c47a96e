"""Monomials, or products of Hermite polynomials, of the coordinates of a sphere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._factor_table import SPHERE, FactorTable
from specavg.functions._integer_vectors import VectorShell, one_after_another, shells
from specavg.functions._one_coordinate import monomial_rows
from specavg.functions._product_tree import Products, ProductTree


@lru_cache(maxsize=4)
def monomial_shells(d: int, degree: int) -> dict[int, VectorShell]:
    """The exponents of all monomials in d coordinates of each degree up to `degree`."""
    return shells(d, degree, power=1)


@final
class MonomialProducts(Products):
    """∏_i z_i^{k_i}, or with `hermite` ∏_i He_{k_i}(z_i), where z = √d x for a point x of the unit sphere of R^d.

    Parameters
    ----------
    d : int
        The number of coordinates.
    wanted : sequence of (int, ndarray of int)
        Each degree, and the monomials of that degree, as rows of `monomial_shells`.
    hermite : bool
        Whether Hermite polynomials stand in place of powers.
    """

    def __init__(self, d: int, wanted: Sequence[tuple[int, NDArray[np.intp]]], *, hermite: bool) -> None:
        self._d = d
        self._wanted = list(wanted)
        self._top = max((degree for degree, _ in wanted), default=0)
        self._hermite = hermite
        self.dim = sum(len(rows) for _, rows in wanted)

    @property
    def row_bytes(self) -> float:
        total = comb(self._top + self._d, self._top)  # monomials of all degrees up to the highest
        return 8.0 * (2 * total + 2 * self._d * (self._top + 1))

    @cached_property
    def tree(self) -> ProductTree:
        starts, _, (parent, coordinate, value) = one_after_another(monomial_shells(self._d, self._top), power=1)
        rows = monomial_rows(self._top, self._d, hermite=self._hermite)
        wanted = np.concatenate([np.empty(0, dtype=np.int64), *(starts[k] + rows for k, rows in self._wanted)])
        table = FactorTable.of(SPHERE, np.array([np.sqrt(self._d)]), *rows)
        return ProductTree.of(table, parent, (value - 1) * self._d + coordinate, wanted)


def norm_constant(d: int, degree: int) -> float:
    """∏ (d + 2j)/d for j < degree.

    It is the square of the Fischer norm of a harmonic of that degree over the square of its L² norm, over d^degree.
    """
    return float(np.prod([(d + 2 * j) / d for j in range(degree)]))
