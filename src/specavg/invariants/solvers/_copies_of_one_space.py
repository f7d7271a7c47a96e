"""Copies of one space with H ≀ S_m: symmetric functions of the one-copy invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from itertools import product as cartesian
from math import comb, factorial, prod
from typing import Any, ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Functions
from specavg.functions._symmetric_functions import symmetrized_products
from specavg.groups import Group, sign_flips, trivial
from specavg.groups.families import Alternating, Hyperoctahedral, Symmetric, Wreath
from specavg.invariants.solvers._parts import Listing, Places, resolver_of
from specavg.invariants.solvers._solver import Solution, Solver, Unsuitable
from specavg.spaces import Eigenspace, MixedTorus, Power, Space, Torus
from specavg.spaces._power import falling
from specavg.spaces._space import SAME_EIGENVALUE

__all__ = ["WreathOnCopies"]


def _as_power(space: Space, group: Group) -> tuple[Power, Group] | None:
    """(M^m, H) if `group` acts on `space` as H ≀ S_m; S_d and B_d on a cubic torus are cases of this."""
    structure = group.structure
    if isinstance(space, Power):
        if isinstance(structure, Symmetric | Alternating) and structure.size == space.copies:
            return space, trivial(space.base.shape[0])
        if isinstance(structure, Wreath) and structure.copies == space.copies:
            return space, structure.group
    if isinstance(space, Torus) and space.is_cubic and space.lattice is None:
        power = Power(Torus(1, period=float(space.period[0])), space.dim)
        if isinstance(structure, Symmetric | Alternating):
            return power, trivial(1)
        if isinstance(structure, Hyperoctahedral):
            return power, sign_flips(1)
    if isinstance(space, MixedTorus) and (found := _as_power(space.torus, group)):
        power, part = found
        assert isinstance(power.base, Torus)
        return Power(MixedTorus(power.base, space.steepness), power.copies), part
    return None


@final
class WreathOnCopies(Solver):
    """Symmetric functions of the one-copy invariants: at no cost in m! or |H|^m.

    A_m has the same invariants below the eigenvalue of the first determinant of m different functions.
    """

    name: ClassVar[str] = "closed form"

    def __init__(self, space: Space, group: Group) -> None:
        super().__init__(space, group)
        found = _as_power(space, group)
        assert found is not None
        self._power, part = found
        self._listing = Listing(self._power._types_up_to)  # pyright: ignore[reportPrivateUsage]
        self._one_copy = resolver_of(self._power.base, part)

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _as_power(space, group) is not None

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        if isinstance(self.group.structure, Alternating) and eigenspace.eigenvalue >= self._first_determinant:
            raise Unsuitable(
                f"from eigenvalue {self._first_determinant:.6g} on, {self.group!r} has invariants that the symmetric "
                "group has not, which have no closed form here."
            )
        types = self._types(eigenspace)
        solved = {V: self._one_copy.solve(V) for chosen in types for V, _ in chosen}
        count = sum(
            prod(comb(solved[V].invariant_dim + number - 1, number) for V, number in chosen) for chosen in types
        )
        require_memory(
            400.0 * count,
            f"{count} symmetric functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        multisets: list[tuple[tuple[Eigenspace, int], ...]] = []
        for chosen in types:
            options = [
                combinations_with_replacement([(V, j) for j in range(solved[V].invariant_dim)], number)
                for V, number in chosen
            ]
            multisets.extend(tuple(a for part in choice for a in part) for choice in cartesian(*options))
        return Solution(
            eigenspace,
            count,
            self,
            (multisets, solved),
            residual=max((s.residual for s in solved.values()), default=0.0),
            gap=min((s.gap for s in solved.values()), default=np.inf),
            inner_products=sum(s.inner_products for s in solved.values()),
        )

    @cached_property
    def _first_determinant(self) -> float:
        """The sum of the m smallest one-copy eigenvalues, each as often as it occurs (less rounding)."""
        total, left = 0.0, self._power.copies
        for V in self._power.base.eigenspaces():
            total += min(V.dim, left) * V.eigenvalue
            left -= V.dim
            if left <= 0:
                break
        return total * (1 - SAME_EIGENVALUE)

    def _types(self, eigenspace: Eigenspace) -> Any:
        if isinstance(self.space, Power):
            return eigenspace.label
        if isinstance(self.space, MixedTorus):  # by integers: sums of logarithms come too close to one another
            one_copy = self._power.base
            assert isinstance(one_copy, MixedTorus)
            types = self.space.types(eigenspace)
            return [tuple((one_copy.wave(v), count) for v, count in sorted(Counter(t).items())) for t in types]
        return self._listing.at(eigenspace.eigenvalue)

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        place = Places(self._one_copy)
        multisets: list[list[int]] = []
        for solution in solutions:
            labels, solved = solution.data
            for multiset in labels:
                multisets.append([place.columns(solved[V])[j] for V, j in multiset])
        m = self._power.copies
        norms = [falling(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in multisets]
        weights = np.array([1.0 / float(norm) ** 0.5 for norm in norms])
        return symmetrized_products(place.functions(), m, multisets, weights)
