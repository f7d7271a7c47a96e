"""Products of spaces with a group for each factor: products of the factors' invariants."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from itertools import product as cartesian
from math import inf, prod
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Functions
from specavg.functions._tensor_products import TensorProducts
from specavg.groups import Group
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._factor_eigenspaces import FactorEigenspaces, acts_on_factors
from specavg.invariants.solvers._solver import QUICK, ClosedForm, Places, Solution, Solver, functions_of, known
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Product, Space

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver


# The functions are products: for each entry, those of one solution of each factor.
FactorSolutions = tuple[tuple[Solution[Any], ...], ...]


class FactorwiseSolver(Solver[FactorSolutions], abc.ABC):
    """What solvers share that solve each factor by itself: a resolver a factor, and products of their solutions."""

    _product: Product
    _resolvers: list[Resolver]
    _eigenspaces: FactorEigenspaces

    @staticmethod
    def _of_functions(eigenspace: Eigenspace) -> Eigenspace:
        """The eigenspace of the product that one output of functions in `eigenspace` lies in."""
        return eigenspace

    @abc.abstractmethod
    def _ways(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        """The eigenspaces of the factors whose products lie in `eigenspace`, one for each factor."""

    def suits(self, eigenspace: Eigenspace) -> bool:
        return self._eigenspaces.splits(self._of_functions(eigenspace))

    def seconds(self, eigenspace: Eigenspace) -> float:
        return 2 * QUICK + sum(resolver.seconds(V) for resolver, V in self._pairs(eigenspace))

    def memory(self, eigenspace: Eigenspace) -> float:
        if not self.suits(eigenspace):
            return inf
        return max((resolver.memory(V) for resolver, V in self._pairs(eigenspace)), default=0.0)

    def _pairs(self, eigenspace: Eigenspace) -> Iterator[tuple[Resolver, Eigenspace]]:
        return (pair for way in self._ways(eigenspace) for pair in zip(self._resolvers, way, strict=True))

    def count(self, eigenspace: Eigenspace) -> int | None:
        if not self.suits(eigenspace):
            return None
        counts = [[r.count(V) for r, V in zip(self._resolvers, way, strict=True)] for way in self._ways(eigenspace)]
        known = [[c for c in way if c is not None] for way in counts]
        return sum(map(prod, known)) if counts == known else None

    def solve(self, eigenspace: Eigenspace) -> Solution[FactorSolutions]:
        products = tuple(
            tuple(resolver.solve(V) for resolver, V in zip(self._resolvers, way, strict=True))
            for way in self._ways(eigenspace)
        )
        parts = {(i, s.eigenspace): s for chosen in products for i, s in enumerate(chosen)}
        count = sum(prod(s.invariant_dim for s in chosen) for chosen in products)
        named = ((f"factor{i}", s) for (i, _), s in parts.items())
        return Solution.made_of(named, eigenspace, count, self, products)

    @staticmethod
    def _index(places: Sequence[Places], solutions: Sequence[Solution[FactorSolutions]]) -> NDArray[np.intp]:
        """Which function of each factor every product is made of."""  # (dim, number of factors)
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for chosen in solution.data:
                columns = [place.columns(s) for place, s in zip(places, chosen, strict=True)]
                index.extend(cartesian(*columns))
        return np.array(index, dtype=np.intp).reshape(len(index), len(places))

    @property
    def _widths(self) -> list[int]:
        """How many columns the points of each factor have."""
        return [factor.n_features for factor in self._product.factors]


@final
class FactorByFactor(ClosedForm, FactorwiseSolver):
    """Products of the factors' invariants."""

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._product = known(acts_on_factors(space, group))
        self._eigenspaces = FactorEigenspaces(space, self._product)
        assert isinstance(group.structure, DirectProduct)
        pairs = zip(self._product.factors, group.structure.groups, strict=True)
        self._resolvers = [self.resolver_of(f"factor{i}", M, G) for i, (M, G) in enumerate(pairs)]

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return acts_on_factors(space, group) is not None

    def _ways(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        return self._eigenspaces.of(eigenspace)

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> Functions:
        places = [Places() for _ in self._resolvers]
        index = self._index(places, solutions)  # first: the places collect what is used
        return TensorProducts(self._widths, [functions_of(place.solutions) for place in places], index)
