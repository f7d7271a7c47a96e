"""Products of spaces with a group for each factor: products of functions of the factors.

Invariants are products of the factors' invariants. Outputs may be moved by one factor, while the others change their
signs: equivariant functions of the one are then multiplied by invariant, or sign-changing, functions of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product as cartesian
from math import inf, prod
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._functions import Functions
from specavg.functions._tensor_products import ProductsOfOutputs, TensorProducts
from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Group, Representation
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._factor_eigenspaces import FactorEigenspaces, acts_on_factors
from specavg.invariants.solvers._solver import (
    QUICK,
    ClosedForm,
    OutputSolver,
    Places,
    Solution,
    Solver,
    carrier,
    eigenspace_below,
    functions_of,
    known,
    vector_functions_of,
)
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver


# For each product of eigenspaces of the factors, one solution of each factor: the functions are their products.
FactorSolutions = tuple[tuple[Solution[Any], ...], ...]


class FactorByFactor(ClosedForm, Solver[FactorSolutions]):
    """Invariant functions: products of the factors' invariants."""

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        product = known(acts_on_factors(space, group))
        self._eigenspaces = FactorEigenspaces(space, product)
        self._widths = [factor.n_features for factor in product.factors]  # columns of the points of each factor
        problems = enumerate(zip(product.factors, self._moved_by(), strict=True))
        self._resolvers = [self.resolver_of(f"factor{i}", M, G, output) for i, (M, (G, output)) in problems]

    @classmethod
    def fits(cls, space: Space, group: Any, /) -> bool:
        return acts_on_factors(space, group) is not None

    def _moved_by(self) -> list[tuple[Group, Representation | None]]:
        """The group of each factor, and how it moves the outputs of functions of this factor."""
        assert isinstance(self.group.structure, DirectProduct)
        return [(G, None) for G in self.group.structure.groups]

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        """The eigenspace of the space that one output of functions in `eigenspace` lies in."""
        return eigenspace

    def _ways(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        """The eigenspaces of the factors whose products lie in `eigenspace`, one for each factor."""
        return self._eigenspaces.of(eigenspace)

    def suits(self, eigenspace: Eigenspace) -> bool:
        return self._eigenspaces.splits(self._below(eigenspace))

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

    def _places(self, solutions: Sequence[Solution[FactorSolutions]]) -> tuple[list[Places], NDArray[np.intp]]:
        """The functions of each factor that are used, and which of them every product is made of."""  # (dim, factors)
        places = [Places() for _ in self._resolvers]
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for chosen in solution.data:
                columns = [place.columns(s) for place, s in zip(places, chosen, strict=True)]
                index.extend(cartesian(*columns))
        return places, np.array(index, dtype=np.intp).reshape(len(index), len(places))

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> Functions | VectorFunctions:
        places, index = self._places(solutions)
        return TensorProducts(self._widths, [functions_of(place.solutions) for place in places], index)


@final
class FactorsAndOutputs(OutputSolver[FactorSolutions], FactorByFactor):
    """Equivariant functions of one factor times invariant, or sign-changing, functions of the others."""

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        return super().fits(space, output.group) and _factors_of(output) is not None

    def _moved_by(self) -> list[tuple[Group, Representation | None]]:
        return [(rho.group, rho) for rho in known(_factors_of(self.output))]

    @property
    def is_closed(self) -> bool:
        return all(resolver.is_closed for resolver in self._resolvers)

    def _below(self, eigenspace: Eigenspace) -> Eigenspace:
        return eigenspace_below(eigenspace)

    @cached_property
    def _outputs(self) -> list[int]:
        """The number of outputs of functions of each factor."""
        return [rho.dim for rho in known(_factors_of(self.output))]

    def _ways(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        ways = self._eigenspaces.of(self._below(eigenspace))
        return [tuple(carrier(V, p) for V, p in zip(way, self._outputs, strict=True)) for way in ways]

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> VectorFunctions:
        places, index = self._places(solutions)
        families = [vector_functions_of(place.solutions, p) for place, p in zip(places, self._outputs, strict=True)]
        return ProductsOfOutputs(self._widths, families, index)


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
