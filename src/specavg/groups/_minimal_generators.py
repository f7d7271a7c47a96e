"""Generating sets without a generator too many."""

from __future__ import annotations

from math import log2

from specavg.groups._catalogue import direct_product, wreath
from specavg.groups._group import Group
from specavg.groups.families import DirectProduct, Wreath
from specavg.groups.recognition._large_permutation_groups import signature_rank
from specavg.isometries import Isometry, SignedPermutation


def minimal_generators(group: Group) -> tuple[Isometry, ...]:
    """The generators of a group without those that the others make superfluous.

    None of what is left can be dropped (a different set might still be smaller). Their number is an upper
    bound of the paper's ρ(G), the least size of a generating set, and is at most log2 of the order.

    Parameters
    ----------
    group : Group
        The group. Generators that come last are dropped first. Those of a group with fields are kept as they are.

    Returns
    -------
    tuple of Isometry
        Some of ``group.generators``.

    Examples
    --------
    >>> from specavg import groups
    >>> everything = groups.Group(groups.symmetric(4).elements())
    >>> len(everything.generators), len(groups.minimal_generators(everything))
    (24, 3)
    """
    if not group.is_finite:  # orders do not tell
        return group.generators
    structure = group.structure
    # With factors and copies the generators of each part can be judged alone.
    if isinstance(structure, DirectProduct) and direct_product(*structure.groups) == group:
        return direct_product(*(_pruned(part) for part in structure.groups)).generators
    if isinstance(structure, Wreath) and wreath(structure.group, structure.copies) == group:
        return wreath(_pruned(structure.group), structure.copies).generators
    kept = list(dict.fromkeys(g for g in group.generators if not g.is_identity))
    signed = [g for g in kept if isinstance(g, SignedPermutation)]
    if signed and len(signed) == len(kept) == signature_rank(signed):
        return tuple(kept)
    if len(kept) > log2(group.order):  # some are superfluous
        kept = _enlarging(kept, group)
    for g in reversed(kept):
        fewer = [h for h in kept if h is not g]
        if Group(fewer, size=group.size).order == group.order:
            kept = fewer
    return tuple(kept)


def _enlarging(generators: list[Isometry], group: Group) -> list[Isometry]:
    """The generators that enlarge the group of those before them, at most log2 of the order.

    One at a time makes few groups of few generators, where leaving out one of many makes large ones.
    """
    kept: list[Isometry] = []
    order = 1
    for g in generators:
        if order == group.order:
            break
        larger = Group([*kept, g], size=group.size).order
        if larger > order:
            kept, order = [*kept, g], larger
    return kept


def _pruned(group: Group) -> Group:
    return Group(minimal_generators(group), name=group.name, structure=group.structure, size=group.size)
