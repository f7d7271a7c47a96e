"""Types: which eigenspaces of one copy a product on all copies uses, and how many copies use each.

An eigenspace of a power can have very many types, and most groups leave nothing of most of them: of 20 copies of a
sphere with the icosahedral group on each, the eigenspaces up to 292 have 433,000 types, and 20 functions are invariant.
So eigenvalues and multiplicities are found without listing types: a table has the sums that are reached, by how many
copies, and the last eigenspaces of one copy on the way to each. Types are read off the table when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb, inf
from typing import Any, TypeAlias, final

from specavg._immutable import PickledAsMade
from specavg.spaces._eigenspace import Eigenspace

CopyType: TypeAlias = tuple[tuple[Eigenspace, int], ...]
"""Non-constant eigenspaces of one copy in increasing order, each with the number of copies that use it."""

State: TypeAlias = tuple[int, int]  # copies used, and the sum of their keys
# Sums are compared as integers, in this part of the first value: finer than any difference that separates eigenspaces
# (1e-8 of them), and coarse enough for multiples of the first value to be whole up to its 5,000-fold.
_UNIT = 1e-12
# Copies up to which every sum is followed to its end. To know which lead nowhere took longer than to follow them: half
# of the time that a default fit of two directions on S² spent on types.
_FEW_COPIES = 2


@final
@dataclass(frozen=True, eq=False)
class TypeTable:
    """The sums of values of up to m copies, up to a bound: see `sums_of_copies`."""

    base: tuple[Eigenspace, ...]  # those of one copy without the constant, in increasing order
    copies: int
    keys: tuple[int, ...]  # the values of `base`
    lasts: dict[int, list[int]]  # for each sum the places in `base` that may come last in it, in increasing order


def sums_of_copies(
    base: Sequence[Eigenspace], copies: int, bound: float
) -> tuple[TypeTable, list[tuple[float, int, int]]]:
    """The table, and value, number of functions and key of every sum.

    Parameters
    ----------
    base : sequence of Eigenspace
        Those of one copy without the constant, in increasing order.
    copies : int
        m.
    bound : float
        The largest sum.

    Examples
    --------
    >>> import specavg as sa
    >>> from itertools import islice
    >>> base = list(islice(sa.Sphere(3).eigenspaces(), 1, 3))
    >>> table, sums = sums_of_copies(base, 2, 6.0)
    >>> [(value, dim) for value, dim, _ in sums]
    [(0.0, 1), (2.0, 6), (4.0, 9), (6.0, 10)]
    """
    unit = _UNIT * base[0].eigenvalue if base else 1.0
    table = TypeTable(tuple(base), copies, tuple(round(V.eigenvalue / unit) for V in base), {})
    # The number of functions of each state, on any of the m copies, and their value.
    states: dict[State, tuple[int, float]] = {(0, 0): (1, 0.0)}
    open_states = list(states)  # those with room for one more: fewer and fewer, since values increase
    for i, (V, key) in enumerate(zip(table.base, table.keys, strict=True)):
        room = bound - V.eigenvalue
        new: dict[State, tuple[int, float]] = {}
        open_states = [s for s in open_states if states[s][1] <= room]
        for used, total in open_states:
            dim, value = states[used, total]
            for n in range(1, copies - used + 1):
                longer = value + n * V.eigenvalue
                if longer > bound:
                    break
                state = (used + n, total + n * key)
                before, longer = new.get(state, (0, longer))
                new[state] = (before + dim * comb(copies - used, n) * V.dim**n, longer)
        for total in {total for _, total in new}:
            table.lasts.setdefault(total, []).append(i)
        for state, (dim, value) in new.items():
            if state not in states and state[0] < copies:
                open_states.append(state)
            before, value = states.get(state, (0, value))
            states[state] = (before + dim, value)
    sums: dict[int, tuple[int, float]] = {}
    for (_, key), (dim, value) in states.items():
        before, value = sums.get(key, (0, value))
        sums[key] = (before + dim, value)
    return table, [(value, dim, key) for key, (dim, value) in sums.items()]


@final
class CopyTypes(PickledAsMade):
    """The types of one eigenspace of a power, listed when they are asked for.

    Parameters
    ----------
    table : TypeTable
    keys : tuple of int
        The sums of the eigenspace.
    """

    def __init__(self, table: TypeTable, keys: tuple[int, ...]) -> None:
        self._table, self._keys = table, keys

    @cached_property
    def palette(self) -> tuple[Eigenspace, ...]:
        """The non-constant eigenspaces of one copy up to the value of this one."""
        top = max(self._keys)
        return tuple(V for V, key in zip(self._table.base, self._table.keys, strict=True) if key <= top)

    def of(self, allowed: Callable[[Eigenspace], bool]) -> list[CopyType]:
        """The types that use `allowed` eigenspaces of one copy only."""
        base, keys, lasts = self._table.base, self._table.keys, self._table.lasts
        usable = cache(lambda i: allowed(base[i]))  # asked where it is met: a palette may have hundreds, a type few
        copies = self._table.copies
        fewest = self._fewest_copies(usable) if copies > _FEW_COPIES else None

        def ways(key: int, below: int, room: int) -> Iterator[tuple[tuple[int, int], ...]]:
            if key == 0:
                yield ()
            for i in lasts.get(key, ()):
                if i >= below:
                    return
                if usable(i):
                    for n in range(1, min(room, key // keys[i]) + 1):
                        if fewest is None or fewest.get(key - n * keys[i], inf) <= room - n:
                            for rest in ways(key - n * keys[i], i, room - n):
                                yield (*rest, (i, n))

        found: list[tuple[float, tuple[tuple[int, int], ...]]] = []
        for key in self._keys:
            for way in ways(key, len(base), copies):
                value = 0.0  # not `sum`, which rounds in another way since Python 3.12: types would change places
                for i, n in way:
                    value += n * base[i].eigenvalue
                found.append((value, way))
        return [tuple((base[i], n) for i, n in way) for _, way in sorted(found)]

    def _fewest_copies(self, usable: Callable[[int], bool]) -> dict[int, float]:
        """For each sum on the way to those of this eigenspace, the least number of copies that have it.

        Most sums lead nowhere where few eigenspaces of one copy are usable.
        """
        keys, lasts = self._table.keys, self._table.lasts
        met, latest = {0, *self._keys}, set(self._keys)
        for _ in range(self._table.copies - 1):  # what is left for the last copy is an eigenspace of one, or no sum
            latest = {key - keys[i] for key in latest for i in lasts.get(key, ()) if usable(i)} - met
            if not latest:
                break
            met |= latest
        fewest: dict[int, float] = {0: 0}
        for key in sorted(met - {0}):
            steps = (fewest.get(key - keys[i], inf) for i in lasts.get(key, ()) if usable(i))
            fewest[key] = 1 + min(steps, default=inf)
        return fewest

    @cached_property
    def _all(self) -> tuple[CopyType, ...]:
        return tuple(self.of(lambda _: True))

    def __iter__(self) -> Iterator[CopyType]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CopyTypes):
            return NotImplemented
        mine, theirs = (self._table.copies, self._keys), (other._table.copies, other._keys)
        return mine == theirs and self.palette == other.palette

    def __hash__(self) -> int:
        return hash((self._table.copies, self._keys))


@final
class OneType(tuple[CopyType]):
    """A single type, where functions of some copies of a larger power are asked for."""

    __slots__ = ()

    def __new__(cls, chosen: CopyType) -> OneType:
        """The type with these eigenspaces of one copy."""
        return super().__new__(cls, (chosen,))

    def __getnewargs__(self) -> Any:  # what pickle calls __new__ with
        return (self[0],)

    @property
    def palette(self) -> tuple[Eigenspace, ...]:
        """The eigenspaces of one copy that are used."""
        return tuple(V for V, _ in self[0])

    def of(self, allowed: Callable[[Eigenspace], bool]) -> list[CopyType]:
        """The type, if it uses `allowed` eigenspaces of one copy only."""
        return list(self) if all(map(allowed, self.palette)) else []


def copy_types(eigenspace: Eigenspace) -> CopyTypes | OneType:
    """The types of an eigenspace of a power."""
    label = eigenspace.label
    assert isinstance(label, CopyTypes | OneType)
    return label


def functions_of_type(chosen: CopyType, copies: int) -> int:
    """How many products of functions of one copy have a type."""
    number, left = 1, copies
    for V, n in chosen:
        number *= comb(left, n) * V.dim**n
        left -= n
    return number
