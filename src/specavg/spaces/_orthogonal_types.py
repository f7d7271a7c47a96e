"""The irreducible types of O(n), as partitions: dimensions, eigenvalues, and how often each occurs.

A type of O(n) is a partition λ whose first two columns have together at most n boxes. All numbers here are
exact integers; what is computed with floating point elsewhere is checked against them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import isqrt

Partition = tuple[int, ...]


def is_type(shape: Partition, n: int) -> bool:
    """Whether a partition is a type of O(n): its first two columns hold at most n boxes."""
    return len(shape) + sum(1 for row in shape if row >= 2) <= n


def associate(shape: Partition, n: int) -> Partition:
    """The type λ ⊗ det: the first column of length c becomes n − c."""
    columns = [row - 1 for row in shape]
    return tuple((columns[i] if i < len(shape) else 0) + 1 for i in range(n - len(shape)))


def casimir(shape: Partition, n: int) -> int:
    """The eigenvalue Σ λ_i (λ_i + n − 2i) of the Casimir operator of so(n); the same for λ and λ ⊗ det."""
    return sum(row * (row + n - 2 * i) for i, row in enumerate(shape, start=1))


@lru_cache(maxsize=4096)
def type_dim(shape: Partition, n: int) -> int:
    """The dimension of a type of O(n), by Weyl's formula.

    Examples
    --------
    >>> [type_dim((j,), 3) for j in range(4)], type_dim((2, 2), 4)
    ([1, 3, 5, 7], 10)
    """
    if 2 * len(shape) > n:
        return type_dim(associate(shape, n), n)
    half = n // 2
    offset = Fraction(n % 2, 2)
    ground = [half - i + offset for i in range(1, half + 1)]
    raised = [m + (shape[i] if i < len(shape) else 0) for i, m in enumerate(ground)]
    size = Fraction(1)
    for i in range(half):
        if n % 2:
            size *= raised[i] / ground[i]
        for j in range(i + 1, half):
            size *= (raised[i] ** 2 - raised[j] ** 2) / (ground[i] ** 2 - ground[j] ** 2)
    # With n/2 rows the two types of SO(n), exchanged by reflections, are one type of O(n).
    return int(size) * (2 if 2 * len(shape) == n and shape else 1)


@lru_cache(maxsize=65536)
def multiplicity(shape: Partition, n: int, k: int) -> int:
    """How often a type of O(n) occurs in the functions on n × k frames: its vectors fixed by O(n − k).

    Counted along O(n) ⊃ O(n−1) ⊃ …, where a type loses at most one box per column at each step.

    Examples
    --------
    >>> multiplicity((2, 2), 4, 2), multiplicity((2, 2), 4, 3)  # 6 for GL(3): n < 2k differs
    (1, 5)
    """
    if k == 0:
        return int(not shape)
    if len(shape) > k:
        return 0
    return sum(multiplicity(smaller, n - 1, k - 1) for smaller in restricted(shape, n))


def restricted(shape: Partition, n: int) -> Iterator[Partition]:
    """The types of O(n − 1) in a type of O(n), each once: row i has from λ_{i+1} to λ_i boxes."""
    for rows in product(*(range(low, high + 1) for high, low in pairwise((*shape, 0)))):
        smaller = tuple(row for row in rows if row)
        if is_type(smaller, n - 1):
            yield smaller


def types_up_to(n: int, k: int, bound: int) -> list[tuple[int, Partition]]:
    """(eigenvalue, type) for every type of O(n) in the functions on n × k frames with eigenvalue ≤ bound."""
    found: list[tuple[int, Partition]] = []
    widest = (isqrt((n - 2) ** 2 + 4 * bound) - (n - 2)) // 2  # λ₁(λ₁ + n − 2) ≤ bound

    def extend(shape: Partition, value: int) -> None:
        # Up to n/2 rows every box raises the eigenvalue; longer types are associates of shorter ones.
        twins = {shape, associate(shape, n)} if n - len(shape) <= k else {shape}
        found.extend((value, twin) for twin in twins if multiplicity(twin, n, k))
        if len(shape) == min(k, n // 2):
            return
        for row in range(1, (shape[-1] if shape else widest) + 1):
            longer = (*shape, row)
            if casimir(longer, n) > bound:
                break
            extend(longer, casimir(longer, n))

    if bound >= 0:
        extend((), 0)
    return sorted(found)
