"""Values that never change: they copy to themselves, compare by what they are made from, and are pickled as that."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, cached_property
from typing import Any, Self


class PickledAsMade:
    """What cached properties hold is left out of pickles, and found again when it is asked for.

    A pickle, and a hash of it such as `joblib.hash`, is then the same before and after an object was used.
    """

    def __getstate__(self) -> dict[str, Any]:
        cached = _cached_properties(type(self))
        return {name: value for name, value in vars(self).items() if name not in cached}


@cache
def _cached_properties(kind: type) -> frozenset[str]:
    """Names of the cached properties of a class."""
    attributes: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        attributes.update(vars(base))  # a plain attribute may stand in the place of a cached property
    return frozenset(name for name, attribute in attributes.items() if isinstance(attribute, cached_property))


class Immutable(PickledAsMade):
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
