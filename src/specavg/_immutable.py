"""Values that never change: they copy to themselves, and compare by what they are made from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self


class Immutable:
    """Shared by spaces, isometries, fields, groups, representations and bases: `clone` and `deepcopy` keep them."""

    _key: Hashable  # what equal values of one class share

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Immutable) and type(self) is type(other) and self._key == other._key

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
