"""Types of frequencies: the sizes |k_i| > 0 of a frequency k of Z^d, whatever their signs and coordinates are.

An isometry of a box torus permutes, flips and shifts coordinates, and so changes no type.
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
                    break  # `left` entries of at most v do not reach n
                for rest in below(n - v * v, v, left - 1):
                    yield (v, *rest)

    return sorted(below(n, isqrt(n), d))


def arrangements(d: int, type: FrequencyType) -> int:
    """How many k ≥ 0 of Z^d have this type."""
    return perm(d, len(type)) // prod(factorial(c) for c in Counter(type).values())


def _arranged(d: int, type: FrequencyType) -> NDArray[np.int64]:
    """All k ≥ 0 of Z^d of this type."""  # (arrangements, d)
    places = np.array(list(combinations(range(d), len(type))), dtype=np.intp)
    orders = np.array(sorted(set(permutations(type))), dtype=np.int64)
    K = np.zeros((len(places), len(orders), d), dtype=np.int64)
    np.put_along_axis(K, np.broadcast_to(places[:, None], (len(places), *orders.shape)), orders[None], axis=2)
    return K.reshape(-1, d)


def waves_of_types(d: int, types: Sequence[FrequencyType]) -> NDArray[np.int64]:
    """The frequencies of these types whose first non-zero entry is positive: one of each pair ±k, sorted."""  # (h, d)
    found = [np.empty((0, d), dtype=np.int64)]
    for type in types:
        K = _arranged(d, type)
        rank = np.cumsum(K != 0, axis=1) - 1  # a non-zero entry is the first (0), the second (1), …
        for signs in cartesian((1, -1), repeat=max(len(type) - 1, 0)):
            found.append(K * np.array([1, *signs], dtype=np.int64)[np.maximum(rank, 0)])
    K = np.concatenate(found)
    return K[np.lexsort(K.T[::-1])]


def type_tree(d: int, labels: Sequence[tuple[FrequencyType, ...]]) -> Tree:
    """The tree of all k ≥ 0 of Z^d of the types in `labels`, with all their parents.

    The `norm` of a vector in the tree is the place in `labels` where its type is listed, and −1 where it is not.
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
