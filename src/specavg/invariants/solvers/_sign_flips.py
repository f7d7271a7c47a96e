"""All changes of sign: the even harmonics of a sphere; on a box torus a product of cosines for each frequency k ≥ 0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import isqrt
from typing import final

from specavg._config import require_memory
from specavg.functions._cosine_products import CosineProducts
from specavg.functions._frequency_types import arrangements, type_tree
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import frequency_tree
from specavg.functions._sphere_harmonics import SphereHarmonics, even_harmonics_count
from specavg.groups import Group
from specavg.groups.families import SignFlips
from specavg.invariants.solvers._solver import ClosedForm, Solution, Solver, Unsuitable
from specavg.spaces import Eigenspace, Space, Sphere, Torus
from specavg.spaces._frequency_sets import FrequencySet, FrequencyTypes, Shell


@final
class EvenHarmonics(ClosedForm, Solver[int]):
    """Sign flips: each harmonic of the tree is even or odd in each coordinate; the even ones are invariant."""

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and isinstance(group.structure, SignFlips)

    def count(self, eigenspace: Eigenspace) -> int:
        return even_harmonics_count(self.space.n_features, self.space.degree(eigenspace))

    def solve(self, eigenspace: Eigenspace) -> Solution[int]:
        return Solution(eigenspace, self.count(eigenspace), self, self.space.degree(eigenspace))

    def functions(self, solutions: Sequence[Solution[int]]) -> Functions:
        degrees = [s.data for s in solutions if s.invariant_dim]
        return SphereHarmonics(self.space.n_features, degrees, even=True)


@final
class SignedFrequencies(ClosedForm, Solver[FrequencySet]):
    """Sign flips of a box: ∏ √2cos 2πk_i u_i, one for each k ≥ 0. Only invariants are ever touched."""

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        box = isinstance(space, Torus) and (space.is_cubic or space.lattice is None)
        return box and isinstance(group.structure, SignFlips)

    def suits(self, eigenspace: Eigenspace) -> bool:
        return isinstance(eigenspace.label, Shell | FrequencyTypes)

    def count(self, eigenspace: Eigenspace) -> int | None:
        d, label = self.space.dim, eigenspace.label
        if isinstance(label, Shell):  # without its types, which are many
            return _nonnegative_count(d, label.norm)
        return sum(arrangements(d, t) for t in label.listed) if isinstance(label, FrequencyTypes) else None

    def solve(self, eigenspace: Eigenspace) -> Solution[FrequencySet]:
        count, label = self.count(eigenspace), eigenspace.label
        if count is None or not isinstance(label, FrequencySet):
            raise Unsuitable("the sides of the torus differ, and eigenvalues are no integers.")
        # Flipping a sign pairs the ±k_i, so there are at most m_λ of these; often far fewer.
        require_memory(
            8.0 * 6 * count,
            f"{count} products of cosines (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        return Solution(eigenspace, count, self, label)

    def functions(self, solutions: Sequence[Solution[FrequencySet]]) -> Functions:
        assert isinstance(self.space, Torus)
        d, dim = self.space.dim, sum(s.invariant_dim for s in solutions)
        norms = [s.data.norm for s in solutions if isinstance(s.data, Shell)]
        if len(norms) == len(solutions):
            vectors = partial(frequency_tree, d, max(norms, default=0))
            return CosineProducts(self.space.period, norms, dim, vectors)
        types = [tuple(self.space.frequency_types(s.eigenspace) or ()) for s in solutions]
        return CosineProducts(self.space.period, range(len(types)), dim, partial(type_tree, d, types))


def _nonnegative_count(d: int, n: int) -> int:
    """The number of k ≥ 0 in Z^d with |k|² = n."""
    if d == 1:
        return int(isqrt(n) ** 2 == n)
    return _nonnegative_counts(d, 1 << n.bit_length())[n]


@lru_cache(maxsize=16)
def _nonnegative_counts(d: int, bound: int) -> tuple[int, ...]:
    """The coefficients of q^0 … q^bound in (1 + q + q⁴ + …)^d, by the recurrence of a power of a series."""
    counts = [1]
    for i in range(1, bound + 1):
        total = sum((j * j * (d + 1) - i) * counts[i - j * j] for j in range(1, isqrt(i) + 1))
        counts.append(total // i)
    return tuple(counts)
