"""Values that never change, and so copy to themselves."""

from __future__ import annotations

from typing import Any, Self


class Immutable:
    """Shared by spaces, isometries, fields, groups, representations and bases: `clone` and `deepcopy` keep them."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
