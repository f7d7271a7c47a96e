"""Isometries as signed permutations of all columns, factors and copies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._canonical import Level, least_image
from specavg.groups.recognition._actions import SignedAction
from specavg.groups.recognition._chain import Chain
from specavg.isometries import Copies, Factors, Isometry, LeftRight, SignedPermutation


def on_columns(g: Isometry) -> SignedPermutation | None:
    """`g` as one signed permutation of the columns, or None if it is not one."""
    if isinstance(g, SignedPermutation):
        return g
    if isinstance(g, LeftRight):  # of matrices, row by row in the columns
        left, right = on_columns(g.left), on_columns(g.right)
        if left is None or right is None:
            return None
        image = [i * right.size + j for i in left.image for j in right.image]
        return SignedPermutation(tuple(image), tuple(s * t for s in left.signs for t in right.signs))
    if not isinstance(g, Factors | Copies):
        return None
    parts = [on_columns(part) for part in g.parts]
    blocks = [part for part in parts if part is not None]
    if len(blocks) < len(parts):
        return None
    source = g.image if isinstance(g, Copies) else range(len(blocks))
    # Copies are of one size, and factors stay where they are: the block of columns `j` starts at starts[j].
    starts = np.cumsum([0, *(block.size for block in blocks)]).tolist()
    image = [starts[j] + i for block, j in zip(blocks, source, strict=True) for i in block.image]
    return SignedPermutation(tuple(image), tuple(s for block in blocks for s in block.signs))


@final
class LeastImages:
    """Canonical points of a group of signed permutations of the columns, by its stabiliser chain."""

    def __init__(self, generators: Sequence[SignedPermutation]) -> None:
        self._generators = generators

    @classmethod
    def of(cls, generators: Sequence[Isometry]) -> LeastImages | None:
        """Canonical points under these generators; None where one of them does more than permute and change signs."""
        signed = [on_columns(g) for g in generators]
        exact = [g for g in signed if g is not None]
        return cls(exact) if len(exact) == len(signed) else None

    @cached_property
    def _signed(self) -> bool:
        return any(s < 0 for g in self._generators for s in g.signs)

    @cached_property
    def _levels(self) -> list[Level]:
        if not self._generators:
            return []
        d = self._generators[0].size
        action = SignedAction(d)
        chain = Chain([action.permutation(g) for g in self._generators], 2 * d)
        return [_level(u, base, d) for u, base in zip(chain.transversals, chain.base, strict=True)]

    def canonical(self, X: Array) -> Array:
        """One point of each orbit."""  # (n, d) -> (n, d)
        return least_image(X, self._levels, signed=self._signed)


def _level(elements: np.ndarray[tuple[int, int], np.dtype[np.int32]], base: int, d: int) -> Level:
    return Level(elements[:, base].astype(np.intp), lambda e: elements[e, :d].astype(np.intp))
