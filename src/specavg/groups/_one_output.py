"""Outputs that a group permutes: the subgroup that keeps one of them says everything.

Where F(gx) = ρ(g)F(x) and ρ permutes the outputs up to signs, F_0(hx) = ±F_0(x) for every h that keeps output 0, and
F_b(x) = ±F_0(g_b x) for any g_b that brings output b there. So F_0 may be any function that this subgroup H leaves
alone up to the sign, and F_0 determines F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.groups._catalogue import direct_product
from specavg.groups._group import Group
from specavg.groups._product_replacement import random_product
from specavg.groups._representation import Representation
from specavg.groups._structure import Structure
from specavg.groups.recognition._large_permutation_groups import orbit_numbers
from specavg.isometries import Copies, Isometry, SignedPermutation, identity

_TRIES = 40  # random elements of H that are looked at; S_2 × S_48 needed 3


@final
@dataclass(frozen=True, eq=False)
class OneOutput:
    """H with the sign that it gives to output 0, and how the other outputs follow."""

    output: Representation  # of H, on the coordinates in the order `order`
    order: NDArray[np.intp]
    moves: tuple[SignedPermutation, ...]  # g_b, before the coordinates are put in order
    signs: Array  # F_b(x) = sign · F_0(g_b x)

    @property
    def group(self) -> Group:
        """H."""
        return self.output.group


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
    group, p = output.group, output.dim
    points = [g for g in map(_on_coordinates, group.generators) if g is not None]
    if not output.is_exact or not points or len(points) < len(group.generators):
        return None
    n = points[0].size
    pairs = [_beside(g, _signed(rho)) for g, rho in zip(points, output.images, strict=True)]
    leading: dict[int, SignedPermutation] = {0: identity(n + p)}
    for b in (reached := [0]):  # grows while it is read
        for s in pairs:
            there = s.image[n + b] - n
            if there not in leading:
                leading[there] = _signed(leading[b] @ s)
                reached.append(there)
    if len(leading) < p:
        return None
    kept: dict[SignedPermutation, SignedPermutation] = {}
    for b in range(p):
        for s in pairs:
            h = _signed(leading[b] @ s @ leading[s.image[n + b] - n].inverse())  # Schreier: these generate H
            g = _restricted(h, np.arange(n))
            if not g.is_identity:
                kept.setdefault(g, h)
    factors, order = _factors(list(kept.values()), n, p, group.finite_order // p)
    groups = [Group(_elements(part, len(at)), structure=_family(part, len(at)), size=len(at)) for part, at in factors]
    H = direct_product(*groups) if len(groups) > 1 else groups[0]
    images = [SignedPermutation((0,), (h.signs[len(at)],)) for part, at in factors for h in part]
    sigma = Representation._built(H, images, [], 1)  # pyright: ignore[reportPrivateUsage]
    signs = np.array([float(leading[b].signs[n]) for b in range(p)])
    return OneOutput(sigma, order, tuple(_restricted(leading[b], np.arange(n)) for b in range(p)), signs)


def _beside(g: SignedPermutation, rho: SignedPermutation) -> SignedPermutation:
    """A pair: g on the coordinates, and ρ(g) on the outputs, which come after them."""
    return SignedPermutation((*g.image, *(g.size + i for i in rho.image)), g.signs + rho.signs)


def _signed(g: Isometry) -> SignedPermutation:
    assert isinstance(g, SignedPermutation)
    return g


def _on_coordinates(g: Isometry) -> SignedPermutation | None:
    """`g` as a signed permutation of coordinates, or a permutation of copies."""
    if isinstance(g, Copies) and all(part.is_identity for part in g.parts):
        return SignedPermutation(g.image, (1,) * g.size)
    return g if isinstance(g, SignedPermutation) else None


def _elements(pairs: Sequence[SignedPermutation], size: int) -> list[SignedPermutation]:
    """The elements g of pairs (g, ρ(g)), as maps of the first `size` coordinates."""
    return [_restricted(h, np.arange(size)) for h in pairs]


def _family(part: Sequence[SignedPermutation], size: int) -> Structure | None:
    """The structure of the group that the elements of pairs generate; None without elements."""
    return Group(_elements(part, size), size=size).recognise() if part else None


Factor = tuple[list[SignedPermutation], NDArray[np.intp]]
"""Pairs on some coordinates and all outputs, and which coordinates these are."""


def _factors(kept: list[SignedPermutation], size: int, p: int, order: int) -> tuple[list[Factor], NDArray[np.intp]]:
    """H as a product of groups on its orbits of coordinates, if it is one; else as it is."""
    everything, outputs = np.arange(size), np.arange(size, size + p)
    orbit_of = orbit_numbers(_elements(kept, size)) if kept else np.zeros(size, dtype=np.intp)
    if not orbit_of.any():
        return [(kept, everything)], everything
    orbits = [np.flatnonzero(orbit_of == k) for k in range(orbit_of.max() + 1)]
    found: list[dict[SignedPermutation, SignedPermutation]] = [{} for _ in orbits]
    rng = np.random.default_rng(OWN_SEED)
    for tried in range(_TRIES):
        for h in kept if tried == 0 else [_signed(random_product(kept, identity(size + p), rng)) for _ in range(3)]:
            for orbit, mine in zip(orbits, found, strict=True):
                rest = np.setdiff1d(everything, orbit)
                alone = _signed(h ** _restricted(h, rest).order)
                restricted = _restricted(alone, orbit)
                if not restricted.is_identity:
                    mine.setdefault(restricted, _restricted(alone, np.concatenate([orbit, outputs])))
        parts: list[Factor] = [(list(mine.values()), orbit) for mine, orbit in zip(found, orbits, strict=True)]
        sizes = [Group(_elements(part, len(at)), size=len(at)).finite_order for part, at in parts]
        if prod(sizes) == order:
            return parts, np.concatenate(orbits)
    return [(kept, everything)], everything


def _restricted(g: SignedPermutation, coordinates: NDArray[np.intp]) -> SignedPermutation:
    place = {int(c): i for i, c in enumerate(coordinates)}
    image = tuple(place[g.image[int(c)]] for c in coordinates)
    return SignedPermutation(image, tuple(g.signs[int(c)] for c in coordinates))
