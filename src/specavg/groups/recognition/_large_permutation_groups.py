"""Recognising the largest groups of (signed) permutations, whose stabiliser chains would be long."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specavg.groups._structure import Structure
from specavg.groups.families import Alternating, Hyperoctahedral, SignedSubgroup, SignFlips, Symmetric, WithInversion
from specavg.groups.families._signatures import Signature, signature
from specavg.groups.recognition._actions import SignedAction
from specavg.groups.recognition._chain import random_products
from specavg.isometries import SignedPermutation

_SMALLEST = 12  # coordinates: with fewer, a stabiliser chain takes milliseconds
_TRIES = 200  # random elements looked at: one of ten elements of S_1000 has a suitable cycle


def large_permutation_group(generators: Sequence[SignedPermutation]) -> Structure | None:
    """S_d, A_d, either with x ↦ −x, B_d or a subgroup of it by signature, where that is proved; else None.

    A transitive group with an element that has a cycle of prime length p, d/2 < p < d − 2, contains A_d
    (Jordan). If there are signs, and a power of some element changes some signs and not others while fixing
    the coordinates, all even changes of signs are there too (for d ≥ 5), and the signature decides the rest.
    """
    d = generators[0].size
    images = [g.image_array for g in generators]
    if d < _SMALLEST or len(_orbits(images, d)) > 1:
        return None
    signed = any(not g.is_permutation for g in generators)
    points = [SignedAction(d).permutation(g) for g in generators] if signed else images
    central = all(len(set(g.signs)) == 1 for g in generators)  # the signs, if any, are all of x ↦ −x
    jordan, flips = False, central
    for g in itertools.islice(random_products(points, np.random.default_rng(0)), _TRIES):
        cycles = _cycles(g[:d] % d)
        jordan = jordan or any(d / 2 < len(c) < d - 2 and _is_prime(len(c)) for c in cycles)
        flips = flips or _changes_some_signs(g[:d], cycles)
        if jordan and flips:
            break
    if not (jordan and flips):
        return None
    if central and signed:  # A_d is perfect: it is there without signs
        inverting = {(signature(g)[0], int(g.signs[0] < 0)) for g in generators}
        return WithInversion(d, frozenset(_generated(inverting)))
    return _of_signature(generators)


def permutation_group_of_order(generators: Sequence[SignedPermutation], order: int) -> Structure | None:
    """S_d, A_d, B_d, a subgroup of it by signature or all sign changes, where the order shows it; else None."""
    structure = _of_signature(generators)
    if structure.order == order:
        return structure
    flips = SignFlips(generators[0].size)
    fixed = all(g.image == tuple(range(g.size)) for g in generators)
    return flips if flips.order == order and fixed else None


def _of_signature(generators: Sequence[SignedPermutation]) -> Structure:
    """The largest group with the signatures of these generators, without signs if they have none."""
    d = generators[0].size
    signatures = _generated({signature(g) for g in generators})
    if all(g.is_permutation for g in generators):
        return Symmetric(d) if len(signatures) == 2 else Alternating(d)
    return Hyperoctahedral(d) if len(signatures) == 4 or d == 1 else SignedSubgroup(d, frozenset(signatures))


def order_bound(generators: Sequence[SignedPermutation]) -> int:
    """An order that the group cannot exceed: all permutations of the orbits with the signatures there are."""
    d = generators[0].size
    orbits = _orbits([g.image_array for g in generators], d)
    signed = any(not g.is_permutation for g in generators)
    characters = sum(len(orbit) > 1 for orbit in orbits) + signed * len(orbits)
    everything = math.prod(math.factorial(len(orbit)) for orbit in orbits) * (2**d if signed else 1)
    return everything // 2 ** (characters - signature_rank(generators))


def signature_rank(generators: Sequence[SignedPermutation]) -> int:
    """How many signatures on the orbits are independent: the group needs at least so many generators."""
    d = generators[0].size
    label = [0] * d
    for k, orbit in enumerate(_orbits([g.image_array for g in generators], d)):
        for i in orbit:
            label[i] = k
    rows: list[int] = []  # the signatures of a generator on all orbits, as bits
    for g in generators:
        bits = 0
        for cycle in _cycles(g.image_array):
            odd, signs = (len(cycle) - 1) % 2, sum(g.signs[i] < 0 for i in cycle) % 2
            bits ^= (odd + 2 * signs) << (2 * label[cycle[0]])
        rows.append(bits)
    pivots: list[int] = []
    for row in rows:
        for pivot in pivots:
            row = min(row, row ^ pivot)
        if row:
            pivots.append(row)
    return len(pivots)


def _generated(signatures: set[Signature]) -> set[Signature]:
    closed = {(0, 0)}
    for a, b in signatures:
        closed |= {((a + c) % 2, (b + e) % 2) for c, e in closed}
    return closed


def _orbits(images: Sequence[NDArray[np.integer]], d: int) -> list[list[int]]:
    seen = [False] * d
    maps = [image.tolist() for image in images]
    orbits: list[list[int]] = []
    for start in range(d):
        if seen[start]:
            continue
        seen[start] = True
        orbit = [start]
        for i in orbit:  # grows while it is read
            for image in maps:
                if not seen[image[i]]:
                    seen[image[i]] = True
                    orbit.append(image[i])
        orbits.append(orbit)
    return orbits


def _cycles(image: NDArray[np.integer]) -> list[list[int]]:
    return _orbits([image], len(image))


def _changes_some_signs(g: NDArray[np.integer], cycles: list[list[int]]) -> bool:
    """Whether the power of `g` that fixes all coordinates changes some signs but not all."""
    d = len(g)
    order = math.lcm(*(len(cycle) for cycle in cycles))
    negative = {sum(int(g[i]) >= d for i in cycle) * (order // len(cycle)) % 2 for cycle in cycles}
    return len(negative) == 2


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))
