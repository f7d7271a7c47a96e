"""Invariants of rotations under a group from the left times a group from the right: two small problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, final

import numpy as np

from specavg.groups import Group
from specavg.invariants._fixed_space import FixedSpace, null_space
from specavg.invariants._functions import Array, Functions, HarmonicSums
from specavg.invariants._solver import Solution, Solver
from specavg.isometries import LeftRight
from specavg.spaces import Eigenspace, Rotations, Space

__all__ = ["LeftTimesRight"]


@final
class LeftTimesRight(Solver):
    """Each generator acts from one side only, so D(g) is D_left ⊗ I or I ⊗ D_right and invariants are products."""

    name: ClassVar[str] = "closed form"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Rotations) or not group.generators:
            return False
        checked = [space.check_isometry(g) for g in group.generators]
        return all(g.left.is_identity or g.right.is_identity for g in checked)

    def cost(self, eigenspace: Eigenspace) -> float:
        return 1.0

    def solve(self, eigenspace: Eigenspace) -> Solution:
        assert isinstance(self.space, Rotations)
        left, right = [], []
        for g in self.group.generators:
            checked = self.space.check_isometry(g)
            assert isinstance(checked, LeftRight)
            D_left, D_right = self.space.factor_representations(checked, eigenspace)
            if not checked.left.is_identity:
                left.append(D_left)
            elif not checked.right.is_identity:
                right.append(D_right)
        side = round(eigenspace.dim**0.5)
        found = [_fixed(side, matrices) for matrices in (left, right)]
        return Solution(
            eigenspace,
            found[0].dim * found[1].dim,
            self,
            (found[0].basis, found[1].basis),
            residual=max(part.residual for part in found),
            gap=min(part.gap for part in found),
            inner_products=(len(left) + len(right)) * side**2,
        )

    def functions(self, solutions: Sequence[Solution]) -> Functions:
        return _TwoSidedSums(self.space, [(s.eigenspace, *s.data) for s in solutions if s.invariant_dim])


def _fixed(side: int, matrices: list[Array]) -> FixedSpace:
    return null_space(matrices) if matrices else FixedSpace(np.eye(side), "null space", np.inf, 0.0)


@final
class _TwoSidedSums(Functions):
    """Lᵀ M(X) R for the matrix M(X) of Wigner functions of each degree."""

    def __init__(self, space: Space, parts: Sequence[tuple[Eigenspace, Array, Array]]) -> None:
        self._parts = list(parts)
        self._all = HarmonicSums(space, [(V, None) for V, _, _ in parts])
        self._ends = np.cumsum([0, *(L.shape[1] * R.shape[1] for _, L, R in parts)])
        self._full_ends = np.cumsum([0, *(V.dim for V, _, _ in parts)])

    @property
    def dim(self) -> int:
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        return self._all.row_bytes + 8.0 * self.dim

    def _values(self, X: Array) -> Array:
        full = self._all._values(X)  # pyright: ignore[reportPrivateUsage]
        values = np.empty((len(X), self.dim))
        for (_, L, R), (a, b), (start, end) in self._blocks():
            M = full[:, start:end].reshape(len(X), len(L), len(R))
            values[:, a:b] = (L.T @ M @ R).reshape(len(X), b - a)
        return values

    def correlate(self, X: Array, Y: Array) -> Array:
        full = self._all.correlate(X, Y)
        sums = np.empty((self.dim, Y.shape[1]))
        for (_, L, R), (a, b), (start, end) in self._blocks():
            M = full[start:end].reshape(len(L), len(R), -1)
            sums[a:b] = np.einsum("ai,abq,bj->ijq", L, M, R, optimize=True).reshape(b - a, -1)
        return sums

    def combine(self, X: Array, C: Array) -> Array:
        full = np.empty((int(self._full_ends[-1]), C.shape[1]))
        for (_, L, R), (a, b), (start, end) in self._blocks():
            c = C[a:b].reshape(L.shape[1], R.shape[1], -1)
            full[start:end] = np.einsum("ai,ijq,bj->abq", L, c, R, optimize=True).reshape(end - start, -1)
        return self._all.combine(X, full)

    def _blocks(self) -> zip[tuple[tuple[Eigenspace, Array, Array], tuple[int, int], tuple[int, int]]]:
        return zip(self._parts, pairwise(self._ends), pairwise(self._full_ends), strict=True)
