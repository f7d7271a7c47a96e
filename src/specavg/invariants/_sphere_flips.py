"""Sign flips on a sphere: the even harmonics, no more and no less."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb
from typing import ClassVar, final

import numpy as np

from specavg.groups import Group
from specavg.groups._structure import SignFlips
from specavg.invariants._functions import Array, Functions, Products
from specavg.invariants._harmonics import harmonic_tree
from specavg.invariants._solver import Solution, Solver
from specavg.kernels._products import ProductTree
from specavg.spaces import Eigenspace, Space, Sphere
from specavg.spaces._sphere import harmonics, normalized

__all__ = ["EvenHarmonics"]


@final
class EvenHarmonics(Solver):
    """Sign flips: each harmonic of the tree is even or odd in each coordinate; the even ones are invariant."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.evident, SignFlips)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        degree, d = eigenspace.label, self.space.n_features
        assert isinstance(degree, int)
        count = 0 if degree % 2 else comb(degree // 2 + d - 2, d - 2)
        return Solution(eigenspace, count, self, degree)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        return _EvenHarmonics(self.space.n_features, [s.data for s in solutions if s.invariant_dim])


@final
class _EvenHarmonics(Products):
    def __init__(self, d: int, degrees: Sequence[int]) -> None:
        self._d = d
        self._degrees = tuple(degrees)
        self._dim = sum(comb(degree // 2 + d - 2, d - 2) for degree in degrees)

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def row_bytes(self) -> float:
        return 8.0 * 6 * max(self.dim, 1)

    @cached_property
    def program(self) -> ProductTree:
        return harmonic_tree(self._d, self._degrees, even=True)

    def plain_values(self, X: Array) -> Array:
        unit = normalized(X)
        columns = [harmonics(unit, degree, even=True) for degree in self._degrees]
        return np.concatenate([np.empty((len(X), 0)), *columns], axis=1)
