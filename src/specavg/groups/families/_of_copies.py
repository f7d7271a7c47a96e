"""What groups on the copies of a power share, if they are made from a group on one copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specavg.groups._structure import Structure
from specavg.isometries import Isometry, copies

if TYPE_CHECKING:
    from specavg.groups._group import Group


@dataclass(frozen=True)
class OfCopies(Structure):
    """Elements of `group` on each of `copies` copies: abstract."""

    group: Group
    copies: int

    @property
    def size(self) -> int:
        """How many copies the group acts on."""
        return self.copies

    @property
    def columns(self) -> int:
        return self.copies * self.group.columns

    @property
    def identity(self) -> Isometry:
        return self._everywhere(self.group.identity)

    def _everywhere(self, g: Isometry) -> Isometry:
        """The same element on every copy."""
        return copies(range(self.copies), [g] * self.copies)
