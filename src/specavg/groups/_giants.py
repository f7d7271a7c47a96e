"""Recognising the largest groups of (signed) permutations, whose stabiliser chains would be long."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg.groups._canonical import parity
from specavg.groups._central import WithInversion
from specavg.groups._chain import random_products
from specavg.groups._structure import Alternating, Hyperoctahedral, SignFlips, Structure, Symmetric
from specavg.isometries import Isometry, SignedPermutation

__all__ = ["SignedSubgroup", "giant", "named", "order_bound", "signature_rank"]

_SMALLEST = 12  # coordinates; below, a stabiliser chain is quick
_TRIES = 200  # random elements looked at; S_1000 shows itself in one of ten

Signature = tuple[int, int]  # parity of the permutation, parity of the number of signs


@final
@dataclass(frozen=True)
class SignedSubgroup(Structure):
    """The signed permutations of `size` coordinates whose signature is among `signatures`.

    These are a subgroup of (Z/2)². With an even number of signs, for instance, this is the Weyl group D_d.
    """

    size: int
    signatures: frozenset[Signature]

    @property
    def order(self) -> int:
        return 2**self.size * math.factorial(self.size) * len(self.signatures) // 4

    @cached_property
    def _all(self) -> Hyperoctahedral:
        return Hyperoctahedral(self.size)

    def random(self, rng: np.random.Generator) -> Isometry:
        while True:  # four rounds on average at most
            g = self._all.random(rng)
            if isinstance(g, SignedPermutation) and signature(g) in self.signatures:
                return g

    def elements(self) -> Iterator[Isometry]:
        everything = self._all.elements()
        return (g for g in everything if isinstance(g, SignedPermutation) and signature(g) in self.signatures)

    @property
    def has_canonical(self) -> bool:
        return True

    def canonical(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Absolute values, sorted; then one exchange or sign, where that point is in another orbit.

        Equal absolute values make either parity available, and a zero either sign.
        """
        sizes = np.abs(X)
        order = np.argsort(sizes, axis=1, kind="stable")
        Y = np.take_along_axis(sizes, order, axis=1)
        odd, signs = parity(order), (X < 0).sum(axis=1) % 2 == 1
        tie, zero = (Y[:, 1:] == Y[:, :-1]).any(axis=1), Y[:, 0] == 0
        for case in itertools.product((False, True), repeat=4):
            rows = np.all(np.stack([odd, signs, tie, zero], axis=1) == case, axis=1)
            swap, flip = self._correction(*case)
            if swap:
                Y[rows, -2], Y[rows, -1] = Y[rows, -1], Y[rows, -2]
            if flip:
                Y[rows, -1] = 0.0 - Y[rows, -1]
        return Y

    def _correction(self, odd: bool, signs: bool, tie: bool, zero: bool) -> Signature:
        free = {(a * tie, b * zero) for a in (0, 1) for b in (0, 1)}
        reached = {((a + c) % 2, (b + e) % 2) for a, b in self.signatures for c, e in free}
        return next(
            (a, b) for a, b in itertools.product((0, 1), repeat=2) if ((odd + a) % 2, (signs + b) % 2) in reached
        )


def giant(generators: Sequence[SignedPermutation]) -> Structure | None:
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
    points = [np.concatenate([_doubled(g), (_doubled(g) + d) % (2 * d)]) for g in generators] if signed else images
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


def named(generators: Sequence[SignedPermutation], order: int) -> Structure | None:
    """S_d, A_d, B_d, a subgroup of it by signature or all sign changes, where the order shows it; else None."""
    structure = _of_signature(generators)
    if structure.order == order:
        return structure
    flips = SignFlips(generators[0].size)
    return flips if flips.order == order and not any(any(_moves(g)) for g in generators) else None


def _of_signature(generators: Sequence[SignedPermutation]) -> Structure:
    """The largest group with the signatures of these generators, without signs if they have none."""
    d = generators[0].size
    signatures = _generated({signature(g) for g in generators})
    if all(g.is_permutation for g in generators):
        return Symmetric(d) if len(signatures) == 2 else Alternating(d)
    return Hyperoctahedral(d) if len(signatures) == 4 or d == 1 else SignedSubgroup(d, frozenset(signatures))


def _moves(g: SignedPermutation) -> Iterator[bool]:
    return (i != j for i, j in enumerate(g.image))


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


def signature(g: SignedPermutation) -> Signature:
    """Whether the permutation is odd, and whether the number of signs is."""
    return int(parity(g.image_array[None])[0]), sum(s < 0 for s in g.signs) % 2


def _generated(signatures: set[Signature]) -> set[Signature]:
    closed = {(0, 0)}
    for a, b in signatures:
        closed |= {((a + c) % 2, (b + e) % 2) for c, e in closed}
    return closed


def _doubled(g: SignedPermutation) -> NDArray[np.intp]:
    return g.image_array + g.size * (g.signs_array < 0)


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
