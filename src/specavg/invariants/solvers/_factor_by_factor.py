"""Products of spaces with a group for each factor: products of the factors' invariants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from itertools import product as cartesian
from math import prod
from typing import ClassVar, final

import numpy as np

from specavg.functions._functions import Functions
from specavg.functions._tensor_products import TensorProducts
from specavg.groups import Group
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._parts import Listing, Places, resolver_of
from specavg.invariants.solvers._solver import Solution, Solver
from specavg.spaces import Eigenspace, MixedTorus, Product, Space, Torus

__all__ = ["FactorByFactor"]


def _as_product(space: Space, group: Group) -> Product | None:
    """`space` as a product on which `group` acts factor by factor, if it is one."""
    structure = group.structure
    if not isinstance(structure, DirectProduct):
        return None
    if isinstance(space, Product):
        return space if len(space.factors) == len(structure.groups) else None
    sizes = [part.size for part in structure.groups]
    if isinstance(space, Torus) and space.lattice is None and sum(sizes) == space.dim:
        blocks = pairwise(np.cumsum([0, *sizes]))
        return Product(*(Torus(int(b - a), period=space.period[a:b]) for a, b in blocks))
    if isinstance(space, MixedTorus) and (found := _as_product(space.torus, group)):
        return Product(*(MixedTorus(M, space.steepness) for M in found.factors if isinstance(M, Torus)))
    return None


def _mixed_parts(blocks: Sequence[Space], size: int) -> list[tuple[Eigenspace, ...]]:
    """Ways to write e^μ of a mixed torus as a product of those of its blocks: all of them integers, so exact."""
    first = blocks[0]
    assert isinstance(first, MixedTorus)
    if len(blocks) == 1:
        V = first.with_size(size)
        return [] if V is None else [(V,)]
    return [
        (V, *rest)
        for V in first.factors(size)
        if isinstance(V.label, int)
        for rest in _mixed_parts(blocks[1:], size // V.label)
    ]


@final
class FactorByFactor(Solver):
    """Products of the factors' invariants."""

    name: ClassVar[str] = "closed form"

    def __init__(self, space: Space, group: Group) -> None:
        super().__init__(space, group)
        product = _as_product(space, group)
        assert product is not None
        assert isinstance(group.structure, DirectProduct)
        self._product = product
        self._listing = Listing(product._parts_up_to)  # pyright: ignore[reportPrivateUsage]
        self._resolvers = [resolver_of(M, G) for M, G in zip(product.factors, group.structure.groups, strict=True)]

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _as_product(space, group) is not None

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        parts = [
            [resolver.solve(V) for resolver, V in zip(self._resolvers, part, strict=True)]
            for part in self._parts(eigenspace)
        ]
        count = sum(prod(s.invariant_dim for s in part) for part in parts)
        solved = [s for part in parts for s in part]
        return Solution(
            eigenspace,
            count,
            self,
            parts,
            residual=max((s.residual for s in solved), default=0.0),
            gap=min((s.gap for s in solved), default=np.inf),
            inner_products=sum(s.inner_products for s in solved),
        )

    def _parts(self, eigenspace: Eigenspace) -> tuple[tuple[Eigenspace, ...], ...]:
        if isinstance(self.space, Product):
            return eigenspace.label  # pyright: ignore[reportReturnType]
        if isinstance(self.space, MixedTorus):
            assert isinstance(eigenspace.label, int)
            return tuple(_mixed_parts(self._product.factors, eigenspace.label))
        return tuple(self._listing.at(eigenspace.eigenvalue))

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        places = [Places(resolver) for resolver in self._resolvers]
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for part in solution.data:
                columns = [place.columns(s) for place, s in zip(places, part, strict=True)]
                index.extend(cartesian(*columns))
        table = np.array(index, dtype=np.intp).reshape(len(index), len(places))
        widths = [factor.n_features for factor in self._product.factors]
        return TensorProducts(widths, [place.functions() for place in places], table)
