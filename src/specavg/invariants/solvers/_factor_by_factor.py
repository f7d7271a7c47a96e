"""Products of spaces with a group for each factor: products of the factors' invariants."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from itertools import product as cartesian
from math import prod
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._frequency_types import Type, arrangements
from specavg.functions._functions import Functions
from specavg.functions._tensor_products import TensorProducts
from specavg.groups import Group
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._solver import QUICK, Solution, Solver
from specavg.invariants.solvers._stored import Stored
from specavg.spaces import Eigenspace, Product, Space, Torus
from specavg.spaces._product import parts_up_to
from specavg.spaces._sums import Values

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
    return None


class _Listing:
    """Products of one eigenspace of each factor by eigenvalue, listed up to a bound that grows, then looked up."""

    _GROWTH = 1.3  # of the bound beyond what is asked: the number of products grows with the power d/2 of it
    _ROUNDING = 1e-12  # relative: eigenspaces are further apart than SAME_EIGENVALUE, sums are rounded to 1e-15

    def __init__(self, product: Product) -> None:
        self._factors = [Values(factor.eigenspaces()) for factor in product.factors]
        self._bound = -1.0
        self._totals: list[float] = []
        self._ways: list[tuple[Eigenspace, ...]] = []

    def between(self, low: float, high: float) -> list[tuple[Eigenspace, ...]]:
        """The products with eigenvalues from `low` to `high`."""
        low, high = low * (1 - self._ROUNDING), high * (1 + self._ROUNDING)
        if high > self._bound:
            self._bound = high * self._GROWTH
            # Stable: products with the same eigenvalue stay in the order of their listing.
            found = sorted(parts_up_to(self._bound, self._factors), key=lambda way: way[0])
            self._totals = [total for total, _, _ in found]
            self._ways = [way for _, _, way in found]
        return self._ways[bisect_left(self._totals, low) : bisect_right(self._totals, high)]


def _splits(whole: Type, sizes: Sequence[int]) -> Iterator[tuple[Type, ...]]:
    """The ways to write a type of frequencies of all coordinates as one type for each block of them."""
    if len(sizes) == 1:
        if len(whole) <= sizes[0]:
            yield (whole,)
        return
    for number in range(min(len(whole), sizes[0]) + 1):
        for mine in set(combinations(whole, number)):
            rest = tuple(sorted((Counter(whole) - Counter(mine)).elements(), reverse=True))
            yield from ((mine, *others) for others in _splits(rest, sizes[1:]))


def _of_type(d: int, type: Type) -> Eigenspace:
    """All waves of one type on d coordinates. Its value is never compared: any that grows with frequencies will do."""
    return Eigenspace(float(sum(v * v for v in type)), arrangements(d, type) * 2 ** len(type), (type,))


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
        product = _as_product(space, group)
        assert product is not None
        assert isinstance(group.structure, DirectProduct)
        self._product = product
        self._listing = _Listing(product)
        pairs = zip(product.factors, group.structure.groups, strict=True)
        self._resolvers = [self.resolver_of(f"factor{i}", M, G) for i, (M, G) in enumerate(pairs)]

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _as_product(space, group) is not None

    def seconds(self, eigenspace: Eigenspace) -> float:
        return 2 * QUICK + sum(
            resolver.seconds(V)
            for part in self._parts(eigenspace)
            for resolver, V in zip(self._resolvers, part, strict=True)
        )

    def memory(self, eigenspace: Eigenspace) -> float:
        needs = (
            resolver.memory(V)
            for part in self._parts(eigenspace)
            for resolver, V in zip(self._resolvers, part, strict=True)
        )
        return max(needs, default=0.0)

    def count(self, eigenspace: Eigenspace) -> int | None:
        counts = [
            [resolver.count(V) for resolver, V in zip(self._resolvers, part, strict=True)]
            for part in self._parts(eigenspace)
        ]
        known = [[c for c in part if c is not None] for part in counts]
        return sum(map(prod, known)) if counts == known else None

    def solve(self, eigenspace: Eigenspace) -> Solution[FactorSolutions]:
        products = tuple(
            tuple(resolver.solve(V) for resolver, V in zip(self._resolvers, part, strict=True))
            for part in self._parts(eigenspace)
        )
        parts = {(i, s.eigenspace): s for chosen in products for i, s in enumerate(chosen)}
        count = sum(prod(s.invariant_dim for s in chosen) for chosen in products)
        named = ((f"factor{i}", s) for (i, _), s in parts.items())
        return Solution.made_of(named, eigenspace, count, self, FactorSolutions(products))

    def _parts(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        """Which eigenspaces of the factors make up an eigenspace of the product."""
        if isinstance(self.space, Product):
            return eigenspace.label  # pyright: ignore[reportReturnType]
        label: Any = eigenspace.label
        if isinstance(label, int):  # a cube, with equally spaced eigenvalues
            return self._listing.between(eigenspace.eigenvalue, eigenspace.eigenvalue)
        if not isinstance(label[0], tuple):  # nearly equal eigenvalues from the first to the second
            return self._listing.between(*label)
        sizes = [M.dim for M in self._product.factors]
        return [
            tuple(_of_type(d, t) for d, t in zip(sizes, split, strict=True))
            for whole in label
            for split in sorted(_splits(whole, sizes))
        ]

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
