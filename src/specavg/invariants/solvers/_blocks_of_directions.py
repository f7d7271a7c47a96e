"""Rotations of some directions of a sphere: harmonics of the coordinates that stay and of the radii of the rest.

Where the flows of the fields carry a point of R^d to every point with the same radii in some orthogonal blocks and the
same coordinates in the other directions, invariants are functions of these few numbers. That the flows do so shows at
one random point: the velocities of the fields span all directions that keep the radii. An orbit of full dimension is
open, and compact, hence everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np

from specavg._arrays import components
from specavg._random import OWN_SEED
from specavg.functions._block_harmonics import BlockHarmonics, Blocks
from specavg.functions._combinations import Blockwise
from specavg.functions._functions import Array, Functions
from specavg.groups import Group
from specavg.groups._algebra import generated_algebra
from specavg.invariants._certified_null_space import common_null_space
from specavg.invariants.solvers._solver import QUICK, ClosedForm, Solution, StoringSolver, known
from specavg.invariants.solvers._stored_arrays import Stored, StoredArraysError, orthonormal
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries.fields import Field, RotationField
from specavg.spaces import Eigenspace, Space, Sphere

_RANK = 1e-10  # singular values of unit velocities below this are rounding; those of independent ones were above 1e-4
_CLEAR = 1e-6  # between the two a rank cannot be decided, and another solver is asked
_BRACKETS = 8  # dimensions up to which brackets are formed: an algebra of so(8) has 28 fields


@dataclass(frozen=True, eq=False)
class BlockVectors:
    """The invariants as columns of coefficients of the harmonics of some blocks."""

    blocks: Blocks
    Q: Array


@final
class BlocksOfDirections(ClosedForm, StoringSolver[BlockVectors]):
    """Polynomials of a few coordinates and radii: the work does not grow with the dimension of the sphere."""

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        self._blocks = known(_blocks(space, group))

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _blocks(space, group) is not None

    def seconds(self, eigenspace: Eigenspace) -> float:
        # Generators beside the fields, as D∞ has one on Sphere(3), took 8 ms at degree 600.
        degree = self.space.degree(eigenspace)
        return QUICK * (1 + len(self._blocks.indices(degree))) + 1.4e-5 * degree * len(self.group.generators)

    def count(self, eigenspace: Eigenspace) -> int | None:
        most = len(self._blocks.indices(self.space.degree(eigenspace)))
        return None if self.group.generators and most else most

    def solve(self, eigenspace: Eigenspace) -> Solution[BlockVectors]:
        degree = self.space.degree(eigenspace)
        functions = BlockHarmonics(self._blocks, [degree])
        Q, residual, gap = np.eye(functions.dim), 0.0, np.inf
        moving = [A for A in map(self._matrix, range(len(self.group.generators))) if not self._keeps(A)]
        if moving and functions.dim and degree:
            # f∘g − f is one of as many functions as f is: that it vanishes shows at as many random points.
            X = self.space.sample(2 * functions.dim + 20, np.random.default_rng(OWN_SEED))
            before = functions.values(X)
            changes = [(functions.values(X @ A.T) - before) / np.sqrt(len(X)) for A in moving]
            found = common_null_space(changes, eigenspace.dim if eigenspace.dim < 10**4 else 10**4)
            Q, residual, gap = np.ascontiguousarray(found.basis), found.residual, found.gap
        return self._solution(eigenspace, self._blocks, Q, residual, gap)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[BlockVectors]:
        Q = orthonormal(arrays, "Q", len(self._blocks.indices(self.space.degree(eigenspace))))
        fixed = orthonormal(arrays, "fixed", self.space.n_features)
        if fixed.shape != self._blocks.fixed.shape:
            raise StoredArraysError(f"{fixed.shape[1]} fixed directions are stored; the fields have others")
        return self._solution(eigenspace, replace(self._blocks, fixed=fixed), Q)

    def _solution(
        self, eigenspace: Eigenspace, blocks: Blocks, Q: Array, residual: float = 0.0, gap: float = np.inf
    ) -> Solution[BlockVectors]:
        arrays = {"Q": Q, "fixed": blocks.fixed}
        return Solution(eigenspace, Q.shape[1], self, BlockVectors(blocks, Q), residual, gap, arrays=arrays)

    def functions(self, solutions: Sequence[Solution[BlockVectors]]) -> Functions:
        kept = [s for s in solutions if s.invariant_dim]
        blocks = kept[0].data.blocks if kept else self._blocks
        functions = BlockHarmonics(blocks, [self.space.degree(s.eigenspace) for s in kept])
        return Blockwise(functions, [s.data.Q for s in kept])

    def _matrix(self, i: int) -> Array:
        g = self.space.check_isometry(self.group.generators[i])
        assert isinstance(g, SignedPermutation | Orthogonal)
        return np.asarray(g.matrix, dtype=float)

    def _keeps(self, A: Array) -> bool:
        """Whether an isometry changes neither a fixed coordinate nor a radius, to the last bit."""
        label = np.full(len(A), -1)
        for i, block in enumerate(self._blocks.blocks):
            label[block] = i
        across = label[:, None] != label[None, :]
        return np.array_equal(A @ self._blocks.fixed, self._blocks.fixed) and not A[across].any()


@lru_cache(maxsize=64)
def _blocks(space: Space, group: Group) -> Blocks | None:
    """The blocks in which the flows of the fields of `group` are transitive; None where there are none."""
    if not isinstance(space, Sphere) or not group.fields:
        return None
    fields = [space.check_field(f) for f in group.fields]
    moving = [f for f in fields if isinstance(f, RotationField) and not f.is_zero]
    if not moving or len(moving) < len([f for f in fields if not f.is_zero]):
        return None
    candidates = [_coordinate_blocks(moving), _rest(moving)]
    for blocks in candidates:
        if _transitive(moving, blocks):
            return blocks
    if space.n_features <= _BRACKETS:
        algebra = [f for f in generated_algebra(moving).fields if isinstance(f, RotationField)]
        return next((blocks for blocks in candidates if _transitive(algebra, blocks)), None)
    return None


def _coordinate_blocks(fields: Sequence[RotationField]) -> Blocks:
    """Coordinates that a field joins are in one block; those that no field moves are fixed."""
    pattern = np.any([f.matrix != 0 for f in fields], axis=0)  # symmetric: the matrices are antisymmetric
    label = components(len(pattern), *np.nonzero(pattern))
    members = [np.flatnonzero(label == i) for i in range(label.max() + 1)]
    fixed = [int(part[0]) for part in members if len(part) == 1]
    return Blocks(np.eye(len(pattern))[:, fixed], tuple(part for part in members if len(part) > 1))


def _rest(fields: Sequence[RotationField]) -> Blocks:
    """One block of all directions at right angles to those that no field moves."""
    d = fields[0].size
    scaled = [f.matrix / np.abs(f.matrix).max() for f in fields]
    square = sum(A.T @ A for A in scaled)
    values, vectors = np.linalg.eigh(square)
    return Blocks(vectors[:, values <= _RANK * max(1.0, float(values.max()))], (np.arange(d),))


def _transitive(fields: Sequence[Field], blocks: Blocks) -> bool:
    """Whether velocities at a random point span all directions that keep radii and fixed coordinates."""
    x = np.random.default_rng(OWN_SEED).standard_normal(len(blocks.fixed))
    matrices = [f.matrix for f in fields if isinstance(f, RotationField)]
    velocities = np.stack([(A / np.abs(A).max()) @ x for A in matrices], axis=1)
    velocities /= np.linalg.norm(velocities, axis=0)
    wanted = sum(size - 1 for size in blocks.sizes)
    singular = np.linalg.svd(velocities, compute_uv=False)
    if np.any((singular > _RANK) & (singular < _CLEAR)):
        return False
    return int((singular > _RANK).sum()) == wanted
