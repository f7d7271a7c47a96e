"""Invariants of products and powers: built from those of the factors and of one copy, never from all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from itertools import product as cartesian
from math import comb, factorial, prod
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.groups import Group, sign_flips, trivial
from specavg.groups._structure import Alternating, DirectProduct, Hyperoctahedral, Symmetric, Wreath
from specavg.invariants._functions import Array, Functions
from specavg.invariants._solver import Solution, Solver, Unsuitable
from specavg.invariants._symmetric import SymmetrizedProducts
from specavg.spaces import Eigenspace, MixedTorus, Power, Product, Space, Torus
from specavg.spaces._power import falling
from specavg.spaces._space import SAME_EIGENVALUE

__all__ = ["FactorByFactor", "TensorProducts", "WreathOnCopies"]

_GROWTH = 1.3  # of a listing beyond what is asked: the number of ways grows with the power d/2 of the bound


def _resolver(space: Space, group: Group) -> Any:
    from specavg.invariants._choice import Resolver  # a resolver uses these solvers, and they use it

    return Resolver(space, group)


class _Listing:
    """Ways to write an eigenvalue as a sum, listed once up to a bound that grows, then looked up."""

    def __init__(self, up_to: Callable[[float], list[tuple[float, int, Any]]]) -> None:
        self._up_to = up_to
        self._bound = -1.0
        self._totals: list[float] = []
        self._ways: list[Any] = []

    def at(self, value: float) -> list[Any]:
        """The ways whose total is `value`."""
        high = value * (1 + SAME_EIGENVALUE)
        if high > self._bound:
            self._bound = high * _GROWTH
            # Stable: ways with the same total stay in the order of their listing.
            found = sorted(self._up_to(self._bound), key=lambda way: way[0])
            self._totals = [total for total, _, _ in found]
            self._ways = [way for _, _, way in found]
        return self._ways[bisect_left(self._totals, value * (1 - SAME_EIGENVALUE)) : bisect_right(self._totals, high)]


# --- M1 × M2 × … with G1 × G2 × … ----------------------------------------------------------------------


def _as_product(space: Space, group: Group) -> Product | None:
    """`space` as a product on which `group` acts factor by factor, if it is one."""
    structure = group.evident
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
        assert isinstance(group.evident, DirectProduct)
        self._product = product
        self._listing = _Listing(product._parts_up_to)  # pyright: ignore[reportPrivateUsage]
        self._resolvers = [_resolver(M, G) for M, G in zip(product.factors, group.evident.groups, strict=True)]

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
        places = [_Places(resolver) for resolver in self._resolvers]
        index: list[tuple[int, ...]] = []
        for solution in solutions:
            for part in solution.data:
                columns = [place.columns(s) for place, s in zip(places, part, strict=True)]
                index.extend(cartesian(*columns))
        table = np.array(index, dtype=np.intp).reshape(len(index), len(places))
        return TensorProducts(self._product, [place.functions() for place in places], table)


class _Places:
    """Which columns of a factor's functions belong to which of its solutions."""

    def __init__(self, resolver: Any) -> None:
        self._resolver = resolver
        self._solutions: dict[Eigenspace, tuple[Solution, range]] = {}
        self._end = 0

    def columns(self, solution: Solution) -> range:
        if solution.eigenspace not in self._solutions:
            start, self._end = self._end, self._end + solution.invariant_dim
            self._solutions[solution.eigenspace] = (solution, range(start, self._end))
        return self._solutions[solution.eigenspace][1]

    def functions(self) -> Functions:
        return self._resolver.functions([solution for solution, _ in self._solutions.values()])


@final
class TensorProducts(Functions):
    """∏_i f_i(x_i), one function f_i of each factor."""

    def __init__(self, product: Product, factors: Sequence[Functions], index: NDArray[np.intp]) -> None:
        self._product = product
        self._factors = list(factors)
        self._index = index  # (dim, number of factors)

    @property
    def dim(self) -> int:
        return len(self._index)

    @property
    def row_bytes(self) -> float:
        return sum(f.row_bytes + 8.0 * f.dim for f in self._factors) + 8.0 * 2 * self.dim

    def _values(self, X: Array) -> Array:
        values = np.ones((len(X), self.dim))
        for functions, block, column in zip(self._factors, self._product.blocks(X), self._index.T, strict=True):
            values *= functions._values(np.ascontiguousarray(block))[:, column]  # pyright: ignore[reportPrivateUsage]
        return values


# --- M^m with H ≀ S_m ----------------------------------------------------------------------------------


def _as_power(space: Space, group: Group) -> tuple[Power, Group] | None:
    """(M^m, H) if `group` acts on `space` as H ≀ S_m; S_d and B_d on a cubic torus are cases of this."""
    structure = group.evident
    if isinstance(space, Power):
        if isinstance(structure, Symmetric | Alternating) and structure.size == space.copies:
            return space, trivial(space.base.shape[0])
        if isinstance(structure, Wreath) and structure.copies == space.copies:
            return space, structure.group
    if isinstance(space, Torus) and space.is_cubic and space.lattice is None:
        power = Power(Torus(1, period=float(space.period[0])), space.dim)
        if isinstance(structure, Symmetric | Alternating):
            return power, trivial(1)
        if isinstance(structure, Hyperoctahedral):
            return power, sign_flips(1)
    if isinstance(space, MixedTorus) and (found := _as_power(space.torus, group)):
        power, part = found
        assert isinstance(power.base, Torus)
        return Power(MixedTorus(power.base, space.steepness), power.copies), part
    return None


@final
class WreathOnCopies(Solver):
    """Symmetric functions of the one-copy invariants: at no cost in m! or |H|^m.

    A_m has the same invariants below the eigenvalue of the first determinant of m different functions.
    """

    name: ClassVar[str] = "closed form"

    def __init__(self, space: Space, group: Group) -> None:
        super().__init__(space, group)
        found = _as_power(space, group)
        assert found is not None
        self._power, part = found
        self._listing = _Listing(self._power._types_up_to)  # pyright: ignore[reportPrivateUsage]
        self._one_copy = _resolver(self._power.base, part)

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _as_power(space, group) is not None

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        if isinstance(self.group.evident, Alternating) and eigenspace.eigenvalue >= self._first_determinant:
            raise Unsuitable(
                f"from eigenvalue {self._first_determinant:.6g} on, {self.group!r} has invariants that the symmetric "
                "group has not, which have no closed form here."
            )
        types = self._types(eigenspace)
        solved = {V: self._one_copy.solve(V) for chosen in types for V, _ in chosen}
        count = sum(
            prod(comb(solved[V].invariant_dim + number - 1, number) for V, number in chosen) for chosen in types
        )
        require_memory(
            400.0 * count,
            f"{count} symmetric functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        multisets: list[tuple[tuple[Eigenspace, int], ...]] = []
        for chosen in types:
            options = [
                combinations_with_replacement([(V, j) for j in range(solved[V].invariant_dim)], number)
                for V, number in chosen
            ]
            multisets.extend(tuple(a for part in choice for a in part) for choice in cartesian(*options))
        return Solution(
            eigenspace,
            count,
            self,
            (multisets, solved),
            residual=max((s.residual for s in solved.values()), default=0.0),
            gap=min((s.gap for s in solved.values()), default=np.inf),
            inner_products=sum(s.inner_products for s in solved.values()),
        )

    @cached_property
    def _first_determinant(self) -> float:
        """The sum of the m smallest one-copy eigenvalues, each as often as it occurs (less rounding)."""
        total, left = 0.0, self._power.copies
        for V in self._power.base.eigenspaces():
            total += min(V.dim, left) * V.eigenvalue
            left -= V.dim
            if left <= 0:
                break
        return total * (1 - SAME_EIGENVALUE)

    def _types(self, eigenspace: Eigenspace) -> Any:
        if isinstance(self.space, Power):
            return eigenspace.label
        if isinstance(self.space, MixedTorus):  # by integers: sums of logarithms come too close to one another
            one_copy = self._power.base
            assert isinstance(one_copy, MixedTorus)
            types = self.space.types(eigenspace)
            return [tuple((one_copy.wave(v), count) for v, count in sorted(Counter(t).items())) for t in types]
        return self._listing.at(eigenspace.eigenvalue)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        place = _Places(self._one_copy)
        multisets: list[list[int]] = []
        for solution in solutions:
            labels, solved = solution.data
            for multiset in labels:
                multisets.append([place.columns(solved[V])[j] for V, j in multiset])
        m = self._power.copies
        norms = [falling(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in multisets]
        weights = np.array([1.0 / float(norm) ** 0.5 for norm in norms])
        return SymmetrizedProducts(place.functions(), m, multisets, weights)
