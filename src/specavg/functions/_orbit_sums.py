"""Sums of monomials, or of Hermite products, over orbits of all permutations of the coordinates of a sphere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, prod

import numpy as np

from specavg.functions._monomials import norm_constant
from specavg.functions._one_coordinate import hermite_polynomials_and_powers
from specavg.functions._symmetric_functions import SymmetrizedProducts


def orbit_sums(d: int, degrees: Sequence[tuple[int, bool]], step: int) -> SymmetrizedProducts:
    """The orbit sums, one for each partition of each degree: the parts of the partition are the exponents.

    The sums have weights with which all have the same Fischer norm: that of a harmonic whose L² norm is one.

    Parameters
    ----------
    d : int
        The number of coordinates.
    degrees : sequence of (int, bool)
        Each degree, and whether Hermite products stand in place of monomials.
    step : int
        2 where only even exponents are wanted, else 1.
    """
    top = max((degree for degree, _ in degrees), default=0)
    multisets: list[list[int]] = []
    weights: list[float] = []
    for degree, hermite in degrees:
        for partition in partitions(degree, d, step):
            # A sum over distinct coordinates counts each monomial ∏ count! times (`exchanges`). With p parts an orbit
            # has d!/(d − p)!/∏ count! monomials (`arrangements`).
            exchanges = prod(factorial(number) for number in Counter(partition).values())
            arrangements = prod(range(d - len(partition) + 1, d + 1)) // exchanges
            fischer = arrangements * prod(factorial(part) for part in partition)
            weights.append(float(np.sqrt(norm_constant(d, degree)) / (float(fischer) ** 0.5 * exchanges)))
            multisets.append([part - 1 + (0 if hermite else top) for part in partition])
    return SymmetrizedProducts(hermite_polynomials_and_powers(d, top), d, multisets, np.array(weights))


def partitions(n: int, parts: int, step: int) -> Iterator[tuple[int, ...]]:
    """The partitions of n into at most `parts` multiples of `step`, each as a tuple that does not increase."""

    def below(n: int, largest: int, left: int) -> Iterator[tuple[int, ...]]:
        if n == 0:
            yield ()
        elif left:
            for part in range(min(n, largest), 0, -1):
                if part % step == 0:
                    for rest in below(n - part, part, left - 1):
                        yield (part, *rest)

    yield from below(n, n, parts)
