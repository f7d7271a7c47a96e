"""Products of spaces with a group for each factor, and outputs that one factor moves while the others change signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from specavg.functions._tensor_products import ProductsOfOutputs
from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Representation
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._factor_by_factor import FactorSolutions, FactorwiseSolver
from specavg.invariants.solvers._factor_eigenspaces import FactorEigenspaces, acts_on_factors
from specavg.invariants.solvers._output_solver import OutputSolver, carrier, eigenspace_below
from specavg.invariants.solvers._solver import ClosedForm, Places, Solution, known, vector_functions_of
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.spaces import Eigenspace, Space


@final
class FactorsAndOutputs(ClosedForm, FactorwiseSolver, OutputSolver[FactorSolutions]):
    """Equivariant functions of one factor times invariant, or sign-changing, functions of the others."""

    def __init__(self, space: Space, output: Representation, stored: Stored | None = None) -> None:
        super().__init__(space, output, stored)
        self._product, factors = known(acts_on_factors(space, output.group)), known(_factors_of(output))
        self._outputs = [rho.dim for rho in factors]
        self._eigenspaces = FactorEigenspaces(space, self._product)
        pairs = enumerate(zip(self._product.factors, factors, strict=True))
        self._resolvers = [self.resolver_of(f"factor{i}", M, rho.group, rho) for i, (M, rho) in pairs]

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
        return acts_on_factors(space, output.group) is not None and _factors_of(output) is not None

    @property
    def is_closed(self) -> bool:
        return all(resolver.is_closed for resolver in self._resolvers)

    _of_functions = staticmethod(eigenspace_below)

    def _ways(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        ways = self._eigenspaces.of(self._of_functions(eigenspace))
        return [tuple(carrier(V, p) for V, p in zip(way, self._outputs, strict=True)) for way in ways]

    def functions(self, solutions: Sequence[Solution[FactorSolutions]]) -> VectorFunctions:
        places = [Places() for _ in self._resolvers]
        index = self._index(places, solutions)
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
