"""Types of frequencies: the sizes |k_i| > 0 of a frequency k of Z^d, without regard to signs and coordinates.

Every isometry of a box torus permutes, flips and shifts coordinates: it changes no type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from itertools import product as cartesian
from math import factorial, isqrt, perm, prod

import numpy as np
from numpy.typing import NDArray

from specavg.functions._integer_vectors import Tree, tree_of

FrequencyType = tuple[int, ...]
"""The sizes of the non-zero entries, the largest first."""


def types_of_norm(d: int, n: int) -> list[FrequencyType]:
    """The types with Σ v² = n in at most d coordinates."""

    def below(n: int, largest: int, left: int) -> Iterator[FrequencyType]:
        if n == 0:
            yield ()
        elif left:
            for v in range(min(isqrt(n), largest), 0, -1):
                if v * v * left < n:
                    break  # what is left cannot reach n with entries of at most v
                for rest in below(n - v * v, v, left - 1):
                    yield (v, *rest)

    return sorted(below(n, isqrt(n), d))


def arrangements(d: int, type: FrequencyType) -> int:
    """In how many ways the sizes stand on d coordinates."""
    return perm(d, len(type)) // prod(factorial(c) for c in Counter(type).values())


def _arranged(d: int, type: FrequencyType) -> NDArray[np.int64]:
    """The sizes on the coordinates in every way."""  # (arrangements, d)
    places = np.array(list(combinations(range(d), len(type))), dtype=np.intp)
    orders = np.array(sorted(set(permutations(type))), dtype=np.int64)
    K = np.zeros((len(places), len(orders), d), dtype=np.int64)
    np.put_along_axis(K, np.broadcast_to(places[:, None], (len(places), *orders.shape)), orders[None], axis=2)
    return K.reshape(-1, d)


def waves_of_types(d: int, types: Sequence[FrequencyType]) -> NDArray[np.int64]:
    """One of each pair ±k of the types, first non-zero entry positive, sorted."""  # (h, d)
    found = [np.empty((0, d), dtype=np.int64)]
    for type in types:
        K = _arranged(d, type)
        rank = np.cumsum(K != 0, axis=1) - 1  # which of the non-zero entries
        for signs in cartesian((1, -1), repeat=max(len(type) - 1, 0)):
            found.append(K * np.array([1, *signs], dtype=np.int64)[np.maximum(rank, 0)])
    K = np.concatenate(found)
    return K[np.lexsort(K.T[::-1])]


def type_tree(d: int, labels: Sequence[tuple[FrequencyType, ...]]) -> Tree:
    """All k ≥ 0 of Z^d of the types in `labels`, and those they grow from.

    The norm of a vector is the place of its type in `labels`, and −1 where its type is in none of them.
    """
    place = {t: i for i, label in enumerate(labels) for t in label}
    listed: dict[FrequencyType, None] = {(): None}

    def add(t: FrequencyType) -> None:
        if t not in listed:
            for i in range(len(t)):
                add((*t[:i], *t[i + 1 :]))
            listed[t] = None

    for label in labels:
        for t in label:
            add(t)
    norm = np.repeat([place.get(t, -1) for t in listed], [arrangements(d, t) for t in listed])
    return tree_of(np.concatenate([_arranged(d, t) for t in listed]), norm)
