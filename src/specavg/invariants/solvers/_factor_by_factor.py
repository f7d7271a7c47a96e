"""Products of spaces with a group for each factor: products of the factors' invariants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as cartesian
from math import prod
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._functions import Functions
from specavg.functions._tensor_products import TensorProducts
from specavg.groups import Group
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._factor_eigenspaces import FactorEigenspaces, acts_on_factors
from specavg.invariants.solvers._solver import QUICK, Solution, Solver
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Space

__all__ = ["FactorByFactor"]


@dataclass(frozen=True, eq=False)
class FactorSolutions:
    """The invariants are products: for each entry, those of one solution of each factor."""

    products: tuple[tuple[Solution[Any], ...], ...]


@final
class FactorByFactor(Solver[FactorSolutions]):
    """Products of the factors' invariants."""

    name: ClassVar[str] = "closed form"
    preference: int = 0

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        product = acts_on_factors(space, group)
        assert product is not None
        assert isinstance(group.structure, DirectProduct)
        self._product = product
        self._eigenspaces = FactorEigenspaces(space, product)
        pairs = zip(product.factors, group.structure.groups, strict=True)
        self._resolvers = [self.resolver_of(f"factor{i}", M, G) for i, (M, G) in enumerate(pairs)]

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return acts_on_factors(space, group) is not None

    def seconds(self, eigenspace: Eigenspace) -> float:
        return 2 * QUICK + sum(
            resolver.seconds(V)
            for part in self._eigenspaces.of(eigenspace)
            for resolver, V in zip(self._resolvers, part, strict=True)
        )

    def memory(self, eigenspace: Eigenspace) -> float:
        needs = (
            resolver.memory(V)
            for part in self._eigenspaces.of(eigenspace)
            for resolver, V in zip(self._resolvers, part, strict=True)
        )
        return max(needs, default=0.0)

    def count(self, eigenspace: Eigenspace) -> int | None:
        counts = [
            [resolver.count(V) for resolver, V in zip(self._resolvers, part, strict=True)]
            for part in self._eigenspaces.of(eigenspace)
        ]
        known = [[c for c in part if c is not None] for part in counts]
        return sum(map(prod, known)) if counts == known else None

    def solve(self, eigenspace: Eigenspace) -> Solution[FactorSolutions]:
        products = tuple(
            tuple(resolver.solve(V) for resolver, V in zip(self._resolvers, part, strict=True))
            for part in self._eigenspaces.of(eigenspace)
        )
        parts = {(i, s.eigenspace): s for chosen in products for i, s in enumerate(chosen)}
        count = sum(prod(s.invariant_dim for s in chosen) for chosen in products)
        named = ((f"factor{i}", s) for (i, _), s in parts.items())
        return Solution.made_of(named, eigenspace, count, self, FactorSolutions(products))

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> Functions:
        places = [resolver.places() for resolver in self._resolvers]
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for chosen in solution.data.products:
                columns = [place.columns(s) for place, s in zip(places, chosen, strict=True)]
                index.extend(cartesian(*columns))
        table = np.array(index, dtype=np.intp).reshape(len(index), len(places))
        widths = [factor.n_features for factor in self._product.factors]
        return TensorProducts(widths, [place.functions() for place in places], table)
