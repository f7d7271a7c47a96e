"""A torus with its waves in another order: those of few coordinates first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations, groupby, permutations
from itertools import product as cartesian
from math import factorial, isqrt, log, perm, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._integer_vectors import Tree, tree_of
from specavg.spaces._flat_torus import FlatTorus, product_grid
from specavg.spaces._reordered import Reordered
from specavg.spaces._space import Eigenspace
from specavg.spaces._torus import Torus

__all__ = ["MixedTorus", "mixed_tree"]

_FIRST_BOUND = 1 << 10

Type = tuple[int, ...]
"""The sizes |k_i| > 0 of a frequency, the largest first: what permutations and signs of coordinates do not change."""


@final
class MixedTorus(Reordered, FlatTorus):
    """A box torus with its waves in the order of ∏(1 + c k_i²): functions of few coordinates come first.

    In many dimensions the eigenspaces of the Laplacian fill up with products of many coordinates before the second or
    third frequency of a single one. Here eigenspaces are those of Σ log(1 + c Δ_i), Δ_i the Laplacian of one
    coordinate in units of its first eigenvalue. Isometries of a box permute, flip and shift coordinates, and commute
    with this operator as with the Laplacian. The "heat" spectrum is ∏(1 + c k_i²)^(−s) with s = ℓ²/2: the kernel of a
    Sobolev space of mixed smoothness.

    Parameters
    ----------
    torus : Torus
        A box, not a lattice.
    steepness : int, default 4
        c. The larger, the later come products of several coordinates.

    Examples
    --------
    >>> from itertools import islice
    >>> [(round(np.exp(V.eigenvalue)), V.dim) for V in islice(MixedTorus(Torus(10)).eigenspaces(), 5)]
    [(1, 1), (5, 20), (17, 20), (25, 180), (37, 20)]
    """

    def __init__(self, torus: Torus, steepness: int = 4) -> None:
        if not isinstance(torus, Torus) or torus.lattice is not None:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"MixedTorus orders the waves of a box torus such as Torus(10); got {torus!r}")
        if int(steepness) != steepness or steepness < 1:
            raise ValueError(f"steepness must be an integer of at least 1; got {steepness!r}")
        super().__init__(torus, int(steepness))
        self._torus = torus

    @property
    def steepness(self) -> int:
        return int(self._steepness)

    @property
    def torus(self) -> Torus:
        """The torus with its waves in the order of the Laplacian."""
        return self._torus

    @property
    def period(self) -> NDArray[np.float64]:
        return self._torus.period

    def eigenspaces(self) -> Iterator[Eigenspace]:
        reached, bound = 0, _FIRST_BOUND
        while True:
            for size, types in groupby(self._types_up_to(bound), key=self._size):
                if size > reached:
                    yield self._eigenspace(size, types)
            reached, bound = bound, 4 * bound

    def types(self, eigenspace: Eigenspace) -> list[Type]:
        """The sizes of frequencies, up to permutations and signs of coordinates, that make up `eigenspace`."""
        size = eigenspace.label
        assert isinstance(size, int)
        return self._types_of(size)

    def with_size(self, size: int) -> Eigenspace | None:
        """The eigenspace of eigenvalue log(size), if there is one."""
        types = self._types_of(size)
        return self._eigenspace(size, types) if types else None

    def wave(self, k: int) -> Eigenspace:
        """The eigenspace of the frequency k > 0 of a single coordinate."""
        found = self.with_size(self._size((k,)))
        assert found is not None
        return found

    def factors(self, size: int) -> list[Eigenspace]:
        """The eigenspaces whose e^μ divides `size`."""
        sizes = [self._size(t) for t in self._types_up_to(_power_of_four(size))]
        return [V for s in dict.fromkeys(sizes) if size % s == 0 and (V := self.with_size(s))]

    def sizes_count(self, eigenspace: Eigenspace) -> int:
        """The number of frequencies k ≥ 0 of `eigenspace`."""
        return sum(_count(self.dim, t) for t in self.types(eigenspace))

    def _eigenspace(self, size: int, types: Iterable[Type]) -> Eigenspace:
        return Eigenspace(log(size), sum(_count(self.dim, t) * 2 ** len(t) for t in types), size)

    def _size(self, type: Type) -> int:
        return _size(self.steepness, type)

    def _types_up_to(self, bound: int) -> tuple[Type, ...]:
        return _types_up_to(self.dim, self.steepness, bound)

    def _types_of(self, size: int) -> list[Type]:
        return _types_by_size(self.dim, self.steepness, _power_of_four(size)).get(size, [])

    def _frequencies(self, eigenspace: Eigenspace) -> NDArray[np.int64]:
        return _signed(self, eigenspace)

    def quadrature(self, max_eigenvalue: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        highest = isqrt(int((np.exp(max_eigenvalue) * (1 + 1e-9) - 1) / self.steepness))
        return product_grid(np.full(self.dim, 2 * highest + 1), self.period, -0.5)


@lru_cache(maxsize=8)
def mixed_tree(steepness: int, d: int, bound: int) -> Tree:
    """All k ≥ 0 of Z^d with ∏(1 + c k_i²) ≤ bound, in that order, which is their norm."""
    types = _types_up_to(d, steepness, bound)
    norm = np.repeat([_size(steepness, t) for t in types], [_count(d, t) for t in types])
    return tree_of(np.concatenate([_arranged(d, t) for t in types]), norm)


def _size(steepness: int, type: Type) -> int:
    return prod(1 + steepness * v * v for v in type)


def _power_of_four(size: int) -> int:
    """The first bound of a listing that has `size`: few bounds, so that few listings are held."""
    bound = _FIRST_BOUND
    while bound < size:
        bound *= 4
    return bound


@lru_cache(maxsize=32)
def _types_up_to(d: int, steepness: int, bound: int) -> tuple[Type, ...]:
    """Types with ∏(1 + c v²) ≤ bound in at most d coordinates, the smallest product first."""
    found: list[Type] = []

    def extend(chosen: Type, size: int) -> None:
        found.append(chosen)
        if len(chosen) == d:
            return
        largest = isqrt(max(bound // size - 1, 0) // steepness)
        for v in range(1, min(largest, chosen[-1] if chosen else largest) + 1):
            extend((*chosen, v), size * (1 + steepness * v * v))

    extend((), 1)
    return tuple(sorted(found, key=lambda t: (_size(steepness, t), t)))


@lru_cache(maxsize=32)
def _types_by_size(d: int, steepness: int, bound: int) -> dict[int, list[Type]]:
    by_size: dict[int, list[Type]] = {}
    for t in _types_up_to(d, steepness, bound):
        by_size.setdefault(_size(steepness, t), []).append(t)
    return by_size


def _count(d: int, type: Type) -> int:
    """In how many ways the sizes stand on d coordinates."""
    return perm(d, len(type)) // prod(factorial(c) for c in Counter(type).values())


def _arranged(d: int, type: Type) -> NDArray[np.int64]:
    """The sizes on the coordinates in every way."""  # (count, d)
    places = np.array(list(combinations(range(d), len(type))), dtype=np.intp)
    orders = np.array(sorted(set(permutations(type))), dtype=np.int64)
    K = np.zeros((len(places), len(orders), d), dtype=np.int64)
    np.put_along_axis(K, np.broadcast_to(places[:, None], (len(places), *orders.shape)), orders[None], axis=2)
    return K.reshape(-1, d)


@lru_cache(maxsize=64)
def _signed(space: MixedTorus, eigenspace: Eigenspace) -> NDArray[np.int64]:
    """One of each pair ±k, first non-zero entry positive, sorted."""  # (h, d)
    found = []
    for type in space.types(eigenspace):
        K = _arranged(space.dim, type)
        rank = np.cumsum(K != 0, axis=1) - 1  # which of the non-zero entries
        for signs in cartesian((1, -1), repeat=max(len(type) - 1, 0)):
            found.append(K * np.array([1, *signs], dtype=np.int64)[np.maximum(rank, 0)])
    K = np.concatenate(found)
    return K[np.lexsort(K.T[::-1])]
