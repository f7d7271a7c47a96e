"""Products of spaces with a group for each factor, and outputs that one factor moves while the others change signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as cartesian
from math import prod
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._products_of_outputs import ProductsOfOutputs
from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Representation
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._factor_eigenspaces import FactorEigenspaces, acts_on_factors
from specavg.invariants.solvers._output_solver import OutputSolver, carrier, eigenspace_below
from specavg.invariants.solvers._solver import QUICK, Solution
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Space

__all__ = ["FactorsAndOutputs"]


@dataclass(frozen=True, eq=False)
class FactorSolutions:
    """The functions are products: for each entry, those of one solution of each factor."""

    products: tuple[tuple[Solution[Any], ...], ...]


@final
class FactorsAndOutputs(OutputSolver[FactorSolutions]):
    """Equivariant functions of one factor times invariant, or sign-changing, functions of the others."""

    name: ClassVar[str] = "closed form"
    preference: int = 0

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        product, factors = acts_on_factors(space, output.group), _factors_of(output)
        assert product is not None
        assert factors is not None
        self._product, self._outputs = product, [rho.dim for rho in factors]
        self._eigenspaces = FactorEigenspaces(space, product)
        pairs = enumerate(zip(product.factors, factors, strict=True))
        self._resolvers = [self.resolver_of(f"factor{i}", M, rho.group, rho) for i, (M, rho) in pairs]

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return acts_on_factors(space, output.group) is not None and _factors_of(output) is not None

    @property
    def is_closed(self) -> bool:
        return all(resolver.is_closed for resolver in self._resolvers)

    def _carriers(self, eigenspace: Eigenspace) -> list[tuple[Eigenspace, ...]]:
        ways = self._eigenspaces.of(eigenspace_below(eigenspace))
        return [tuple(carrier(V, p) for V, p in zip(way, self._outputs, strict=True)) for way in ways]

    def seconds(self, eigenspace: Eigenspace) -> float:
        pairs = (pair for way in self._carriers(eigenspace) for pair in zip(self._resolvers, way, strict=True))
        return 2 * QUICK + sum(resolver.seconds(V) for resolver, V in pairs)

    def memory(self, eigenspace: Eigenspace) -> float:
        pairs = (pair for way in self._carriers(eigenspace) for pair in zip(self._resolvers, way, strict=True))
        return max((resolver.memory(V) for resolver, V in pairs), default=0.0)

    def count(self, eigenspace: Eigenspace) -> int | None:
        counts = [[r.count(V) for r, V in zip(self._resolvers, way, strict=True)] for way in self._carriers(eigenspace)]
        known = [[c for c in way if c is not None] for way in counts]
        return sum(map(prod, known)) if counts == known else None

    def solve(self, eigenspace: Eigenspace) -> Solution[FactorSolutions]:
        products = tuple(
            tuple(resolver.solve(V) for resolver, V in zip(self._resolvers, way, strict=True))
            for way in self._carriers(eigenspace)
        )
        parts = {(i, s.eigenspace): s for chosen in products for i, s in enumerate(chosen)}
        count = sum(prod(s.invariant_dim for s in chosen) for chosen in products)
        named = ((f"factor{i}", s) for (i, _), s in parts.items())
        return Solution.made_of(named, eigenspace, count, self, FactorSolutions(products))

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> VectorFunctions:
        places = [resolver.places() for resolver in self._resolvers]
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for chosen in solution.data.products:
                columns = [place.columns(s) for place, s in zip(places, chosen, strict=True)]
                index.extend(cartesian(*columns))
        table = np.array(index, dtype=np.intp).reshape(len(index), len(places))
        widths = [factor.n_features for factor in self._product.factors]
        families = [place.vector_functions(p) for place, p in zip(places, self._outputs, strict=True)]
        return ProductsOfOutputs(widths, families, table)


def _factors_of(output: Representation) -> list[Representation] | None:
    """One representation for each factor: ρ = χ_1 · … · ρ_k · …, where at most one of them is more than a sign."""
    structure = output.group.structure
    assert isinstance(structure, DirectProduct)
    if output.is_trivial:
        return None
    images, fields = list(output.images), list(output.field_images)
    if len(images) != sum(len(G.generators) for G in structure.groups):
        return None  # a group that is known to be this product, but was given by other generators
    found: list[Representation] = []
    moving = 0
    for G in structure.groups:
        mine, images = images[: len(G.generators)], images[len(G.generators) :]
        flows, fields = fields[: len(G.fields)], fields[len(G.fields) :]
        signs = [_sign(g.matrix) for g in mine]
        if all(signs) and all(flow.is_zero for flow in flows):
            still = [np.zeros((1, 1))] * len(flows)
            found.append(Representation(G, [np.array([[float(s)]]) for s in signs], still, dim=1))
        else:
            moving += 1
            found.append(Representation(G, mine, flows, dim=output.dim))
    return found if moving == (output.dim > 1) else None


def _sign(matrix: Any) -> int:
    """1 for the identity, −1 for minus it, and 0 for anything else."""
    one = np.eye(len(matrix))
    return int(np.array_equal(matrix, one)) - int(np.array_equal(matrix, -one))
