"""Products of a few subgroups, one of which is continuous."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, final

import numpy as np

from specavg.groups._structure import Continuous
from specavg.isometries import Isometry

if TYPE_CHECKING:
    from specavg.groups._group import Group


@final
@dataclass(frozen=True)
class Composite(Continuous):
    """Every element is a product of one element of each of `groups`; each group is normalised by the later ones.

    A product of uniform elements is then uniform: it is uniform under multiplication from the left by the first
    group, and so on.
    """

    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.groups[0].size

    def random(self, rng: np.random.Generator) -> Isometry:
        return reduce(lambda g, h: g @ h, [group.random(rng) for group in self.groups])
