"""Values of products are sums of values: how the sums are listed in increasing order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import TypeVar

from specavg.spaces._eigenspace import SAME_EIGENVALUE, Eigenspace
from specavg.spaces._order_of_functions import Order

Part = TypeVar("Part")
_STEP = 1.0  # step of the logarithmic bound between two listings: each has a few times more parts than the last


class Values:
    """A listing of eigenspaces by increasing value that is continued as far as it is asked for."""

    def __init__(self, eigenspaces: Iterator[Eigenspace]) -> None:
        self._source = eigenspaces
        self._found = [next(eigenspaces), next(eigenspaces)]

    @property
    def first(self) -> float:
        """The smallest value above zero."""
        return self._found[1].eigenvalue

    def up_to(self, bound: float) -> list[Eigenspace]:
        """The eigenspaces of value at most `bound`."""
        top = bound * (1 + SAME_EIGENVALUE)
        while self._found[-1].eigenvalue <= top:
            self._found.append(next(self._source))
        return list(takewhile(lambda V: V.eigenvalue <= top, self._found))


def joined(
    parts_up_to: Callable[[float], list[tuple[float, int, Part]]], first_bound: float, order: Order
) -> Iterator[tuple[float, int, tuple[Part, ...]]]:
    """(eigenvalue, dim, parts) in increasing order, parts with nearly equal eigenvalues joined.

    `parts_up_to(bound)` lists all (eigenvalue, dim, part) below a bound; the bound grows as needed, in steps
    where eigenvalues are logarithms and the number of parts grows exponentially with them.
    """
    reached, bound = -1.0, first_bound
    while True:
        parts = sorted(parts_up_to(bound), key=lambda part: part[0])
        start = 0
        for end in range(1, len(parts) + 1):
            if end < len(parts) and parts[end][0] - parts[end - 1][0] <= SAME_EIGENVALUE * parts[end][0]:
                continue
            top = parts[end - 1][0]
            if top >= bound * (1 - 10 * SAME_EIGENVALUE):
                break  # more parts of this eigenvalue may lie beyond the bound
            if parts[start][0] > reached:
                group = parts[start:end]
                yield group[0][0], sum(dim for _, dim, _ in group), tuple(part for _, _, part in group)
                reached = top * (1 + SAME_EIGENVALUE)
            start = end
        bound = bound + _STEP if order.logarithmic else bound * 1.6
