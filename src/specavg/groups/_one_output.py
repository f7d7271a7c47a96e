"""Outputs that a group permutes: the subgroup that keeps one of them says everything.

Where F(gx) = ρ(g)F(x) and ρ permutes the outputs up to signs, F_0(hx) = ±F_0(x) for every h that keeps output 0, and
F_b(x) = ±F_0(g_b x) for any g_b that brings output b there. So F_0 may be any function that this subgroup H leaves
alone up to the sign, and F_0 determines F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import components
from specavg._random import OWN_SEED
from specavg.groups._catalogue import direct_product
from specavg.groups._group import Group
from specavg.groups._product_replacement import random_product
from specavg.groups._representation import Representation
from specavg.groups._structure import Structure
from specavg.isometries import Copies, Factors, Isometry, SignedPermutation, identity

_TRIES = 40  # random elements of H that are looked at; S_2 × S_48 needed 3


@final
@dataclass(frozen=True, eq=False)
class OneOutput:
    """H with the sign that it gives to output 0, and how the other outputs follow."""

    output: Representation  # of H, on the coordinates in the order `order`
    order: NDArray[np.intp]
    moves: tuple[SignedPermutation, ...]  # g_b, before the coordinates are put in order
    signs: NDArray[np.float64]  # F_b(x) = sign · F_0(g_b x)

    @property
    def group(self) -> Group:
        """H."""
        return self.output.group


@final
@dataclass(frozen=True)
class _Pair:
    """An element and its image."""

    g: SignedPermutation
    rho: SignedPermutation

    def __matmul__(self, other: _Pair) -> _Pair:
        return _Pair(_signed(self.g @ other.g), _signed(self.rho @ other.rho))

    def inverse(self) -> _Pair:
        return _Pair(_signed(self.g.inverse()), _signed(self.rho.inverse()))

    def power(self, exponent: int) -> _Pair:
        result, base = _Pair(identity(self.g.size), identity(self.rho.size)), self
        while exponent:
            if exponent % 2:
                result = result @ base
            base, exponent = base @ base, exponent // 2
        return result


def _signed(g: Isometry) -> SignedPermutation:
    assert isinstance(g, SignedPermutation)
    return g


@lru_cache(maxsize=32)
def one_output(output: Representation) -> OneOutput | None:
    """H of output 0, where signed permutations of coordinates or copies permute all outputs; None elsewhere.

    Examples
    --------
    >>> from specavg import groups
    >>> G = groups.symmetric(50)
    >>> found = one_output(groups.Representation(G, G.generators))
    >>> found.group.order == groups.symmetric(49).order
    True
    """
    group = output.group
    points = [_on_coordinates(g) for g in group.generators]
    if not output.is_exact or not points or any(g is None for g in points):
        return None
    pairs = [_Pair(_signed(g), _signed(rho)) for g, rho in zip(points, output.images, strict=True) if g is not None]
    leading: dict[int, _Pair] = {0: _Pair(identity(pairs[0].g.size), identity(output.dim))}
    kept: dict[SignedPermutation, _Pair] = {}
    for b in (reached := [0]):  # grows while it is read
        for s in pairs:
            there, new = s.rho.image[b], leading[b] @ s
            if there not in leading:
                leading[there] = new
                reached.append(there)
    if len(leading) < output.dim:
        return None
    for b in range(output.dim):
        for s in pairs:
            h = leading[b] @ s @ leading[s.rho.image[b]].inverse()  # Schreier: these generate H
            if not h.g.is_identity:
                kept.setdefault(h.g, h)
    factors, order = _factors(list(kept.values()), pairs[0].g.size, group.finite_order // output.dim)
    groups = [Group([h.g for h in part], structure=_family(part, len(at)), size=len(at)) for part, at in factors]
    H = direct_product(*groups) if len(groups) > 1 else groups[0]
    images = [SignedPermutation((0,), (h.rho.signs[0],)) for part, _ in factors for h in part]
    sigma = Representation._built(H, images, [], 1)  # pyright: ignore[reportPrivateUsage]
    signs = np.array([float(leading[b].rho.signs[0]) for b in range(output.dim)])
    return OneOutput(sigma, order, tuple(leading[b].g for b in range(output.dim)), signs)


def _on_coordinates(g: Isometry) -> SignedPermutation | None:
    """`g` as a signed permutation of coordinates, or a permutation of copies."""
    if isinstance(g, Copies) and all(part.is_identity for part in g.parts):
        return SignedPermutation(g.image, (1,) * g.size)
    return g if isinstance(g, SignedPermutation) else None


def _family(part: Sequence[_Pair], size: int) -> Structure | None:
    """What the elements generate, where it is a family with a closed form."""
    return Group([h.g for h in part], size=size).recognise() if part else None


Factor = tuple[list[_Pair], NDArray[np.intp]]


def _factors(kept: list[_Pair], size: int, order: int) -> tuple[list[Factor], NDArray[np.intp]]:
    """H as a product of groups on its orbits of coordinates, if it is one; else as it is."""
    orbits = _orbits([h.g for h in kept], size)
    everything = np.arange(size)
    if len(orbits) == 1 or not kept:
        return [(kept, everything)], everything
    found: list[dict[SignedPermutation, _Pair]] = [{} for _ in orbits]
    rng = np.random.default_rng(OWN_SEED)
    for tried in range(_TRIES):
        for h in kept if tried == 0 else [_random(kept, rng) for _ in range(3)]:
            for orbit, mine in zip(orbits, found, strict=True):
                rest = np.setdiff1d(everything, orbit)
                alone = h.power(_order_on(h.g, rest))
                restricted = _restricted(alone.g, orbit)
                if not restricted.is_identity:
                    mine.setdefault(restricted, _Pair(restricted, alone.rho))
        parts: list[Factor] = [(list(mine.values()), orbit) for mine, orbit in zip(found, orbits, strict=True)]
        sizes = [Group([h.g for h in part], size=len(at)).finite_order for part, at in parts]
        if prod(sizes) == order:
            return parts, np.concatenate(orbits)
    return [(kept, everything)], everything


def _random(kept: list[_Pair], rng: np.random.Generator) -> _Pair:
    start = Factors((identity(kept[0].g.size), identity(kept[0].rho.size)))
    found = random_product([Factors((h.g, h.rho)) for h in kept], start, rng)
    assert isinstance(found, Factors)
    return _Pair(_signed(found.parts[0]), _signed(found.parts[1]))


def _orbits(elements: Sequence[SignedPermutation], size: int) -> list[NDArray[np.intp]]:
    at = np.tile(np.arange(size), len(elements))
    to = np.concatenate([g.image_array for g in elements] or [np.empty(0, dtype=np.intp)])
    label = components(size, at, to)
    return [np.flatnonzero(label == k) for k in range(label.max(initial=-1) + 1)]


def _order_on(g: SignedPermutation, coordinates: NDArray[np.intp]) -> int:
    """The least power that fixes these coordinates, with their signs."""
    order = 1
    for start in coordinates.tolist():
        i, length, sign = g.image[start], 1, g.signs[start]
        while i != start:
            sign, i, length = sign * g.signs[i], g.image[i], length + 1
        order = lcm(order, length if sign > 0 else 2 * length)
    return order


def _restricted(g: SignedPermutation, coordinates: NDArray[np.intp]) -> SignedPermutation:
    place = {int(c): i for i, c in enumerate(coordinates)}
    image = tuple(place[g.image[int(c)]] for c in coordinates)
    return SignedPermutation(image, tuple(g.signs[int(c)] for c in coordinates))
