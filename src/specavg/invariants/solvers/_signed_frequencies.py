"""Sign flips of a cubic torus: one product of cosines for each frequency k ≥ 0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import isqrt
from typing import ClassVar, final

from specavg._config import require_memory
from specavg.functions._cosine_products import cosine_products
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import frequency_tree
from specavg.groups import Group
from specavg.groups.families import SignFlips
from specavg.invariants.solvers._solver import Solution, Solver
from specavg.spaces import Eigenspace, MixedTorus, Space, Torus
from specavg.spaces._flat_torus import FlatTorus
from specavg.spaces._mixed_torus import mixed_tree

__all__ = ["SignedFrequencies"]


@final
class SignedFrequencies(Solver):
    """Sign flips of a cubic torus: ∏ √2cos 2πk_i u_i, one for each k ≥ 0. Only invariants are ever touched."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        cubic = isinstance(space, MixedTorus) or (isinstance(space, Torus) and space.is_cubic)
        return cubic and isinstance(group.structure, SignFlips)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        n = eigenspace.label
        assert isinstance(n, int)
        # Flipping a sign pairs the ±k_i, so there are at most m_λ of these; often far fewer.
        if isinstance(self.space, MixedTorus):
            count = self.space.sizes_count(eigenspace)
        else:
            count = _nonnegative_count(self.space.dim, n)
        require_memory(
            8.0 * 6 * count,
            f"{count} products of cosines (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        return Solution(eigenspace, count, self, n)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        assert isinstance(self.space, FlatTorus)
        tree = partial(mixed_tree, self.space.steepness) if isinstance(self.space, MixedTorus) else frequency_tree
        return cosine_products(self.space.period, self.space.dim, [s.data for s in solutions], tree)


def _nonnegative_count(d: int, n: int) -> int:
    """The number of k ≥ 0 in Z^d with |k|² = n: the coefficient of q^n in (1 + q + q⁴ + …)^d."""
    if d == 1:
        return int(isqrt(n) ** 2 == n)
    return _nonnegative_counts(d, (1 << n.bit_length()) - 1)[n]  # a bound that few values of n share


@lru_cache(maxsize=64)
def _nonnegative_counts(d: int, bound: int) -> tuple[int, ...]:
    """The counts for n = 0..bound."""
    counts = [1]
    for i in range(1, bound + 1):
        total = sum((j * j * (d + 1) - i) * counts[i - j * j] for j in range(1, isqrt(i) + 1))
        counts.append(total // i)
    return tuple(counts)
