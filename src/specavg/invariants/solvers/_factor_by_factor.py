"""Products of spaces with a group for each factor: products of functions of the factors.

Invariants are products of the factors' invariants. Outputs may be moved by one factor, while the others change their
signs: equivariant functions of the one are then multiplied by invariant, or sign-changing, functions of the others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from itertools import product as cartesian
from math import inf, perm, prod
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._frequency_types import FrequencyType, arrangements
from specavg.functions._functions import Functions
from specavg.functions._tensor_products import ProductsOfOutputs, TensorProducts
from specavg.functions._vector_functions import VectorFunctions
from specavg.groups import Group, Representation, trivial
from specavg.groups.families import DirectProduct
from specavg.invariants.solvers._solver import (
    QUICK,
    ClosedForm,
    OutputSolver,
    Places,
    Solution,
    Solver,
    Unsuitable,
    carrier,
    eigenspace_below,
    functions_of,
    known,
    vector_functions_of,
)
from specavg.invariants.solvers._stored_arrays import Stored
from specavg.isometries import Isometry, SignedPermutation
from specavg.spaces import Eigenspace, Power, Product, Space, Torus
from specavg.spaces._copy_types import OneType, copy_types
from specavg.spaces._frequency_sets import FrequencyTypes
from specavg.spaces._product import factor_eigenspaces, parts_up_to
from specavg.spaces._sums_of_eigenvalues import Values

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver

Item = TypeVar("Item", bound=Hashable)


def acts_on_factors(space: Space, group: Group) -> Product | None:
    """`space` as a product on which `group` acts factor by factor, if it is one."""
    structure = group.structure
    if isinstance(structure, DirectProduct):
        groups = structure.groups
    elif structure is None and isinstance(space, Torus | Power):
        groups = _groups_of_blocks(group)
    else:
        return None
    if isinstance(space, Product):
        return space if len(space.factors) == len(groups) else None
    sizes = [part.size for part in groups]
    if not sizes:
        return None
    if isinstance(space, Torus) and space.lattice is None and sum(sizes) == space.dim:
        blocks = pairwise(np.cumsum([0, *sizes]))
        return Product(*(Torus(int(b - a), period=space.period[a:b]) for a, b in blocks))
    exchanged = all(not G.fields and all(map(_exchanges, G.generators)) for G in groups)
    if isinstance(space, Power) and sum(sizes) == space.copies and exchanged:
        return Product(*(Power(space.base, size) for size in sizes))
    return None


@lru_cache(maxsize=32)  # asked for by every choice of solvers
def _groups_of_blocks(group: Group) -> tuple[Group, ...]:
    """Families that the generators are of, each on coordinates of its own, side by side; none where there are others.

    Every generator moves coordinates of one block only, so that the group is the product of those on the blocks.
    """
    generators = [g for g in group.generators if isinstance(g, SignedPermutation) and not g.is_identity]
    if group.fields or not generators or len(generators) < sum(not g.is_identity for g in group.generators):
        return ()
    moved = [np.flatnonzero((g.image_array != np.arange(g.size)) | (g.signs_array < 0)) for g in generators]
    starts = np.ones(group.size + 1, dtype=bool)  # where a block may begin
    for places in moved:
        starts[places[0] + 1 : places[-1] + 1] = False
    still = np.ones(group.size, dtype=bool)
    still[np.concatenate(moved)] = False
    starts[1:-1] &= ~(still[1:] & still[:-1])  # coordinates that nothing moves are one block
    found: list[Group] = []
    for a, b in pairwise(np.flatnonzero(starts).tolist()):
        mine = [g for g, places in zip(generators, moved, strict=True) if a <= places[0] < b]
        parts = [SignedPermutation(tuple(i - a for i in g.image[a:b]), g.signs[a:b]) for g in mine]
        found.append(Group(parts, size=b - a) if parts else trivial(b - a))
    return tuple(found) if len(found) > 1 and all(part.structure is not None for part in found) else ()


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


def _of_type(d: int, type: FrequencyType) -> Eigenspace:
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
        structure = self.group.structure
        groups = structure.groups if isinstance(structure, DirectProduct) else _groups_of_blocks(self.group)
        return [(G, None) for G in groups]

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
        is_product = isinstance(output.group.structure, DirectProduct)
        return is_product and super().fits(space, output.group) and _factors_of(output) is not None

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
