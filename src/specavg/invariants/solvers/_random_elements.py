"""Fixed spaces of random elements: Algorithm 1 of the sequel to the paper, as published, for comparison.

Soleymani, Tahmasebi, Jaillet and Jegelka (COLT 2026) draw T = O(r² + r log 1/δ) uniform elements for r functions, keep
each that moves a random vector of the space fixed so far, and intersect fixed spaces. The test ‖(D(g) − I)x‖ > 0 is for
real numbers: in floating point it is true of every element, and a tolerance has to stand for zero. There is no gap to
choose it by, since a random element may move a function by as little as it likes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array
from specavg.groups import Group
from specavg.invariants.solvers._solver import QUICK, FixedVectorSolver, Solution
from specavg.spaces import Eigenspace, Space

FAILURE = 0.05  # δ: the probability of a wrong answer that the number of draws allows for
ZERO = 1e-10  # in place of the published 0: rounding of D(g) is 1e-14, and random elements left singular values of 1e-4


@dataclass(frozen=True, eq=False)
class RandomlyFixed:
    """What random elements fix: orthonormal columns Q, how many elements were kept, and the number of the last one."""

    Q: Array
    kept: int
    last: int
    gap: float


def number_of_draws(r: int) -> int:
    """T = r² + r log(1/δ), with the constants of the order symbol taken as one."""
    return ceil(r * r + r * log(1 / FAILURE))


def randomly_fixed(
    draw: Callable[[], Array], r: int, rng: np.random.Generator, *, draws: int | None = None, zero: float = ZERO
) -> RandomlyFixed:
    """Algorithm 1 on r functions: `draw` gives D(g) of a uniform element.

    With `zero` = 0 every element is kept, and no vector survives: the published test, in floating point.
    """
    Q, kept, last, gap = np.eye(r), 0, 0, np.inf
    for t in range(1, (number_of_draws(r) if draws is None else draws) + 1):
        D = draw()
        x = Q @ rng.standard_normal(Q.shape[1])
        if np.linalg.norm(D @ x - x) <= zero * np.linalg.norm(x):
            continue
        kept, last = kept + 1, t
        _, singular, vectors = np.linalg.svd(D @ Q - Q, full_matrices=True)
        small = np.zeros(len(vectors), dtype=bool)
        small[: len(singular)] = singular <= zero
        small[len(singular) :] = True
        gap = min(gap, float(singular[singular > zero].min(initial=np.inf)))
        Q = Q @ vectors[small].T
        if not Q.shape[1]:
            break
    return RandomlyFixed(Q, kept, last, gap)


@final
class RandomElements(FixedVectorSolver):
    """Never chosen by itself: it takes r² elements where a few fields are enough, and may be wrong."""

    name: ClassVar[str] = "random elements"
    preference: int = 3

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return True

    def seconds(self, eigenspace: Eigenspace) -> float:
        # SO(3) on the harmonics of degree 5 and 10 (r = 11, 21): 154 and 504 draws took 0.03 and 0.2 s.
        return QUICK + number_of_draws(eigenspace.dim) * (2e-4 + 1e-9 * float(eigenspace.dim) ** 2)

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * 6 * float(eigenspace.dim) ** 2

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        m = eigenspace.dim
        require_memory(self.memory(eigenspace), f"random elements on {m} functions", "Lower the cutoff.")
        rng = np.random.default_rng(0)
        found = randomly_fixed(lambda: self.space.representation(self.group.random(rng), eigenspace), m, rng)
        moved = [self.space.representation(g, eigenspace) @ found.Q - found.Q for g in self.group.generators]
        moved += [self.space.infinitesimal(f, eigenspace) @ found.Q for f in self.group.fields]
        residual = max((float(np.linalg.norm(change, 2)) for change in moved if change.size), default=0.0)
        return self.fixed(eigenspace, found.Q, residual, found.gap, number_of_draws(m) * m * m)
