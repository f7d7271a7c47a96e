"""Orbit sums of monomials, or of Hermite products, under all permutations of the coordinates of a sphere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, prod

import numpy as np

from specavg.functions._monomials import norm_constant
from specavg.functions._one_coordinate import hermite_polynomials_and_powers
from specavg.functions._symmetric_functions import SymmetrizedProducts


def orbit_sums(d: int, degrees: Sequence[tuple[int, bool]], step: int) -> SymmetrizedProducts:
    """Orbit sums of unit norm for all partitions of given degrees.

    Parameters
    ----------
    d : int
        The number of coordinates.
    degrees : sequence of (int, bool)
        Each degree, and whether Hermite products stand in place of monomials.
    step : int
        2 where all exponents are even, else 1.
    """
    top = max((degree for degree, _ in degrees), default=0)
    multisets: list[list[int]] = []
    weights: list[float] = []
    for degree, hermite in degrees:
        for partition in partitions(degree, d, step):
            # The injective sum counts each monomial ∏ count! times; |O| = d!/(d − p)!/∏ count!.
            exchanges = prod(factorial(number) for number in Counter(partition).values())
            arrangements = prod(range(d - len(partition) + 1, d + 1)) // exchanges
            fischer = arrangements * prod(factorial(part) for part in partition)
            weights.append(float(np.sqrt(norm_constant(d, degree)) / (float(fischer) ** 0.5 * exchanges)))
            multisets.append([part - 1 + (0 if hermite else top) for part in partition])
    return SymmetrizedProducts(hermite_polynomials_and_powers(d, top), d, multisets, np.array(weights))


def partitions(n: int, parts: int, step: int) -> Iterator[tuple[int, ...]]:
    """Partitions of n into at most `parts` parts, each a multiple of `step`, parts decreasing."""

    def below(n: int, largest: int, left: int) -> Iterator[tuple[int, ...]]:
        if n == 0:
            yield ()
        elif left:
            for part in range(min(n, largest), 0, -1):
                if part % step == 0:
                    for rest in below(n - part, part, left - 1):
                        yield (part, *rest)

    yield from below(n, n, parts)
