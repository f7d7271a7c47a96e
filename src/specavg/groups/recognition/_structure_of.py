"""The structure of a finite group, from its generators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg.groups._structure import Structure
from specavg.groups.families import Trivial
from specavg.groups.recognition._actions import Action, faithful_action
from specavg.groups.recognition._affine_maps import affine_group
from specavg.groups.recognition._chain import Chain
from specavg.groups.recognition._large_permutation_groups import (
    order_bound,
    permutation_family,
    permutation_group_of_order,
)
from specavg.isometries import Affine, Isometry, SignedPermutation


@final
@dataclass(frozen=True, eq=False)
class Generated(Structure):
    """A group known through a faithful permutation action and its stabiliser chain."""

    action: Action
    chain: Chain

    @property
    def order(self) -> int:
        return self.chain.order

    def random(self, rng: np.random.Generator) -> Isometry:
        return self.action.isometry(self.chain.random(rng))

    def elements(self) -> Iterator[Isometry]:
        return (self.action.isometry(g) for g in self.chain.elements())


@final
@dataclass(frozen=True)
class OnlyIdentity(Structure):
    """The identity alone, of any kind."""

    element: Isometry

    @property
    def identity(self) -> Isometry:
        return self.element

    @property
    def order(self) -> int:
        return 1

    def random(self, rng: np.random.Generator) -> Isometry:
        return self.element

    def elements(self) -> Iterator[Isometry]:
        yield self.element


def structure_of(generators: Sequence[Isometry], identity: Isometry) -> Structure:
    """The structure of the group with these generators: a family, or a stabiliser chain."""
    moving = [g for g in generators if not g.is_identity]
    if not moving:
        return Trivial(identity.size) if isinstance(identity, SignedPermutation) else OnlyIdentity(identity)
    bound = None
    signed = [g for g in moving if isinstance(g, SignedPermutation)]
    if len(signed) == len(moving):
        structure = permutation_family(signed)
        if structure is not None:
            return structure
        bound = order_bound(signed)
    elif all(isinstance(g, SignedPermutation | Affine) for g in moving) and all(g.is_exact for g in moving):
        structure = affine_group(moving)
        if structure is not None:
            return structure
    action = faithful_action(moving)
    chain = Chain([action.permutation(g) for g in moving], action.degree, bound)
    structure = permutation_group_of_order(signed, chain.order) if bound is not None else None
    return structure or Generated(action, chain)
