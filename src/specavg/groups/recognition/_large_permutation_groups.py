"""Recognising the largest groups of (signed) permutations and all changes of signs, without proving a long chain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import components
from specavg.groups._structure import Structure
from specavg.groups.families import Alternating, Hyperoctahedral, SignedSubgroup, SignFlips, Symmetric, WithInversion
from specavg.groups.families._permutations import Signature, signature
from specavg.groups.recognition._actions import SignedAction
from specavg.groups.recognition._chain import Chain, random_products
from specavg.isometries import SignedPermutation

_SMALLEST = 12  # coordinates: with fewer, the levels of a stabiliser chain are filled in 1 to 8 ms
_TRIES = 200  # random elements looked at: one of ten elements of S_1000 has a suitable cycle


def permutation_family(generators: Sequence[SignedPermutation]) -> Structure | None:
    """S_d, A_d, B_d, a subgroup of it by signature, all changes of signs, ±S_d and ±A_d (d ≥ 12), where that is proved.

    Other groups, and those that a few random elements do not show, are None: that takes milliseconds too.

    Examples
    --------
    >>> from specavg.isometries import permutation
    >>> permutation_family([permutation([1, 2, 3, 4, 0]), permutation([1, 0, 2, 3, 4])])
    Symmetric(size=5)
    >>> permutation_family([permutation([1, 2, 3, 4, 0])]) is None
    True
    """
    d = generators[0].size
    if all(map(_fixes_coordinates, generators)):
        return SignFlips(d) if _independent_signs(generators) == d else None
    if orbit_numbers(generators).any():
        return None
    if d >= _SMALLEST:
        return large_permutation_group(generators)
    largest, action = _of_signature(generators), SignedAction(d)
    guessed = Chain([action.permutation(g) for g in generators], action.degree, int(largest.order), prove=False)
    return largest if guessed.order == largest.order else None


def _fixes_coordinates(g: SignedPermutation) -> bool:
    """Whether `g` only changes signs."""
    return np.array_equal(g.image_array, np.arange(g.size))


def _independent_signs(generators: Sequence[SignedPermutation]) -> int:
    """The rank over GF(2) of the signs that elements change."""
    pivots: dict[int, int] = {}  # by their leading bits
    for g in generators:
        row = sum(1 << i for i in np.flatnonzero(g.signs_array < 0).tolist())
        while row and row.bit_length() in pivots:
            row ^= pivots[row.bit_length()]
        if row:
            pivots[row.bit_length()] = row
    return len(pivots)


def large_permutation_group(generators: Sequence[SignedPermutation]) -> Structure | None:
    """S_d, A_d, either with x ↦ −x, B_d or a subgroup of it by signature, where that is proved; else None.

    A transitive group with an element that has a cycle of prime length p, d/2 < p < d − 2, contains A_d
    (Jordan). If there are signs, and a power of some element changes some signs and not others while fixing
    the coordinates, all even changes of signs are there too (for d ≥ 5), and the signature decides the rest.
    """
    d = generators[0].size
    if d < _SMALLEST or orbit_numbers(generators).any():
        return None
    signed = any(not g.is_permutation for g in generators)
    action = SignedAction(d)
    central = all(len(set(g.signs)) == 1 for g in generators)  # the signs, if any, are all of x ↦ −x
    # Elements that only change signs are left out of the products: a thousand of them would hide what the others do.
    moving = [g for g in generators if not _fixes_coordinates(g)]
    jordan, flips = False, central or any(_fixes_coordinates(g) and len(set(g.signs)) == 2 for g in generators)
    products = random_products([action.permutation(g) for g in moving], np.random.default_rng(0))
    for cycles in (action.isometry(g).cycles for g in itertools.islice(products, _TRIES)):
        jordan = jordan or any(d / 2 < length < d - 2 and _is_prime(length) for length, _ in cycles)
        flips = flips or _changes_some_signs(cycles)
        if jordan and flips:
            break
    if not (jordan and flips):
        return None
    if central and signed:  # A_d is perfect: it is there without signs
        inverting = {(signature(g)[0], int(g.signs[0] < 0)) for g in generators}
        return WithInversion(d, frozenset(_generated(inverting)))
    return _of_signature(generators)


def permutation_group_of_order(generators: Sequence[SignedPermutation], order: int) -> Structure | None:
    """S_d, A_d, B_d or a subgroup of it by signature, where the order shows it; else None."""
    structure = _of_signature(generators)
    return structure if structure.order == order else None


def _of_signature(generators: Sequence[SignedPermutation]) -> Structure:
    """The largest group with the signatures of these generators, without signs if they have none."""
    d = generators[0].size
    signatures = _generated({signature(g) for g in generators})
    if all(g.is_permutation for g in generators):
        return Symmetric(d) if len(signatures) == 2 else Alternating(d)
    return Hyperoctahedral(d) if len(signatures) == 4 or d == 1 else SignedSubgroup(d, frozenset(signatures))


def order_bound(generators: Sequence[SignedPermutation]) -> int:
    """An order that the group cannot exceed: all permutations of the orbits with the signatures there are."""
    sizes = np.bincount(orbit_numbers(generators)).tolist()
    signed = any(not g.is_permutation for g in generators)
    characters = sum(size > 1 for size in sizes) + signed * len(sizes)
    everything = math.prod(map(math.factorial, sizes)) * (2 ** sum(sizes) if signed else 1)
    return everything // 2 ** (characters - signature_rank(generators))


def signature_rank(generators: Sequence[SignedPermutation]) -> int:
    """How many signatures on the orbits are independent: the group needs at least so many generators."""
    orbit = orbit_numbers(generators)
    sizes = np.bincount(orbit)
    pivots: list[int] = []
    for g in generators:
        _, first = np.unique(orbit_numbers([g]), return_index=True)  # a coordinate of each cycle
        odd = (sizes - np.bincount(orbit[first], minlength=len(sizes))) % 2
        signs = np.bincount(orbit, g.signs_array < 0).astype(int) % 2
        row = sum(1 << i for i in np.flatnonzero(np.concatenate([odd, signs])).tolist())  # on all orbits, as bits
        for pivot in pivots:
            row = min(row, row ^ pivot)
        if row:
            pivots.append(row)
    return len(pivots)


def orbit_numbers(elements: Sequence[SignedPermutation]) -> NDArray[np.intp]:
    """The orbit of each coordinate under one or more elements, orbits numbered by their first coordinates."""  # (d,)
    d = elements[0].size
    return components(d, np.tile(np.arange(d), len(elements)), np.concatenate([g.image_array for g in elements]))


def _generated(signatures: set[Signature]) -> set[Signature]:
    closed = {(0, 0)}
    for a, b in signatures:
        closed |= {((a + c) % 2, (b + e) % 2) for c, e in closed}
    return closed


def _changes_some_signs(cycles: list[tuple[int, int]]) -> bool:
    """Whether the power that fixes all coordinates changes some signs but not all; cycles by length and sign."""
    order = math.lcm(*(length for length, _ in cycles))
    return len({sign ** (order // length) for length, sign in cycles}) == 2


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))
