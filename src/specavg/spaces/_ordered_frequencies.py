"""The frequencies of a box torus in any order: an eigenspace is the types that have the same key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count, groupby, takewhile

from specavg.functions._frequency_types import FrequencyType, arrangements, types_of_norm
from specavg.functions._integer_vectors import shell_sizes
from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._frequency_sets import FrequencyTypes
from specavg.spaces._order_of_functions import CoordinateOrder


def type_eigenspaces(d: int, order: CoordinateOrder) -> Iterator[Eigenspace]:
    """The frequencies of Z^d by increasing key of `order`. Labels are `FrequencyTypes`."""
    reached, bound = -1, 1
    while True:
        bound = 4 * bound if order.logarithmic else bound + 6  # so that a listing is a few times the one before
        for key, types in groupby(_types_up_to(d, order, bound), key=lambda pair: pair[0]):
            if key > reached:
                yield type_eigenspace(d, order, tuple(t for _, t in types), key)
        reached = bound


def types_by_eigenvalue(d: int, unit: float) -> Iterator[Eigenspace]:
    """The frequencies of Z^d by |k|², one type at a time. Eigenvalues are |k|² times `unit`."""
    for n, _ in shell_sizes(d):
        for t in types_of_norm(d, n):
            yield Eigenspace(unit * n, arrangements(d, t) * 2 ** len(t), FrequencyTypes((t,)))


def type_eigenspace(d: int, order: CoordinateOrder, types: tuple[FrequencyType, ...], key: int) -> Eigenspace:
    """All frequencies of Z^d of some types that have the same key."""
    return Eigenspace(order.key_value(key), sum(arrangements(d, t) * 2 ** len(t) for t in types), FrequencyTypes(types))


@lru_cache(maxsize=32)
def _types_up_to(d: int, order: CoordinateOrder, bound: int) -> list[tuple[int, FrequencyType]]:
    """(key, type) of all types with key ≤ bound in at most d coordinates, the smallest key first."""
    found: list[tuple[int, FrequencyType]] = []

    def extend(chosen: FrequencyType, key: int) -> None:
        found.append((key, chosen))
        if len(chosen) == d:
            return
        sizes = range(1, chosen[-1] + 1) if chosen else count(1)
        larger = ((v, order.joined_keys(key, order.frequency_key(v))) for v in sizes)
        for v, joined in takewhile(lambda pair: pair[1] <= bound, larger):
            extend((*chosen, v), joined)

    extend((), order.no_frequency)
    return sorted(found)
