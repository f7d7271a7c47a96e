"""Products of spaces with a group for each factor: which eigenspaces of the factors make up one of the product."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, pairwise
from math import perm, prod
from typing import Any, TypeVar, final

import numpy as np

from specavg.functions._frequency_types import Type, arrangements
from specavg.groups import Group
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._solver import Unsuitable
from specavg.isometries import Isometry, SignedPermutation
from specavg.spaces import Eigenspace, Power, Product, Space, Torus
from specavg.spaces._copy_types import OneType, copy_types
from specavg.spaces._frequency_sets import FrequencyTypes
from specavg.spaces._product import factor_eigenspaces, parts_up_to
from specavg.spaces._sums_of_eigenvalues import Values

Item = TypeVar("Item", bound=Hashable)


def acts_on_factors(space: Space, group: Group) -> Product | None:
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
    exchanged = all(not G.fields and all(map(_exchanges, G.generators)) for G in structure.groups)
    if isinstance(space, Power) and sum(sizes) == space.copies and exchanged:
        return Product(*(Power(space.base, size) for size in sizes))
    return None


def _exchanges(g: Isometry) -> bool:
    """Whether `g` permutes, so that on a power it is a permutation of copies."""
    return isinstance(g, SignedPermutation) and g.is_permutation


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


def _splits(whole: tuple[Item, ...], sizes: Sequence[int]) -> Iterator[tuple[tuple[Item, ...], ...]]:
    """The ways to write what all coordinates or copies use as what each block of them uses."""
    if len(sizes) == 1:
        if len(whole) <= sizes[0]:
            yield (whole,)
        return
    for number in range(min(len(whole), sizes[0]) + 1):
        for mine in dict.fromkeys(combinations(whole, number)):
            left = Counter(whole) - Counter(mine)
            rest = tuple(item for item in dict.fromkeys(whole) for _ in range(left[item]))
            yield from ((mine, *others) for others in _splits(rest, sizes[1:]))


def _of_type(d: int, type: Type) -> Eigenspace:
    """All waves of one type on d coordinates. Its value is never compared: any that grows with frequencies will do."""
    return Eigenspace(float(sum(v * v for v in type)), arrangements(d, type) * 2 ** len(type), FrequencyTypes((type,)))


def _of_copies(power: Power, used: tuple[Eigenspace, ...]) -> Eigenspace:
    """All products of these functions of one copy, on any of the copies."""
    counts = Counter(used)
    arranged = perm(power.copies, len(used)) // prod(perm(n, n) for n in counts.values())
    value = sum(V.eigenvalue for V in used)
    return Eigenspace(value, arranged * prod(V.dim for V in used), OneType(tuple(counts.items())))


@final
class FactorEigenspaces:
    """Which eigenspaces of the factors make up an eigenspace of the product."""

    def __init__(self, space: Space, product: Product) -> None:
        self._space, self._product = space, product
        self._listing = _Listing(product)

    def splits(self, eigenspace: Eigenspace) -> bool:
        """Whether the eigenspaces of the factors that make it up are known: for some sets of waves they are not."""
        if not isinstance(self._space, Torus):
            return True
        label = self._space.frequency_set(eigenspace)
        return isinstance(label, FrequencyTypes) or label.bounds(self._space) is not None

    def of(self, eigenspace: Eigenspace) -> Sequence[tuple[Eigenspace, ...]]:
        """The ways to write it as a product: each a tuple of one eigenspace for each factor."""
        if isinstance(self._space, Product):
            return factor_eigenspaces(eigenspace)
        if isinstance(self._space, Power):
            factors: Any = self._product.factors
            return [
                tuple(_of_copies(power, used) for power, used in zip(factors, split, strict=True))
                for one in copy_types(eigenspace)
                for split in _splits(tuple(V for V, n in one for _ in range(n)), [power.copies for power in factors])
            ]
        assert isinstance(self._space, Torus)
        label = self._space.frequency_set(eigenspace)
        if (bounds := label.bounds(self._space)) is not None:
            return self._listing.between(*bounds)
        if not isinstance(label, FrequencyTypes):
            raise Unsuitable(f"{label!r} is not known as products of functions of the factors.")
        sizes = [M.dim for M in self._product.factors]
        return [
            tuple(_of_type(d, t) for d, t in zip(sizes, split, strict=True))
            for whole in label.listed
            for split in sorted(_splits(whole, sizes))
        ]
