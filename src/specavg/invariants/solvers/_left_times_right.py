"""Invariants of matrices under a group from the left times a group from the right: small problems only.

On rotations and on Stiefel manifolds X ↦ A X Bᵀ acts on each type of functions by D_left ⊗ D_right. If every
generator acts from one side only, the invariants are products of the fixed vectors of the two sides.

Signed permutations from the left permute classes of basis vectors. If every matrix takes each class to one class, a
fixed vector is known from its part v in one class of each orbit: its part in class c is T_c v, with T_c the product of
blocks on the way from the first class to c. And v is any vector that every way round fixes: Schreier's generators of
the stabiliser of the first class, T_{gc}ᵀ D(g) T_c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array, Functions
from specavg.functions._two_sided_sums import SidedBlock, TwoSidedSums
from specavg.groups import Group
from specavg.invariants._certified_null_space import FixedSpace, null_space
from specavg.invariants.solvers._functions_of_a_direction import reduction_to_directions
from specavg.invariants.solvers._solver import QUICK, ClosedForm, Solution, StoringSolver
from specavg.invariants.solvers._stored_arrays import orthonormal
from specavg.isometries import Isometry, LeftRight, SignedPermutation
from specavg.isometries.fields import Field, integer_speed, two_sided
from specavg.spaces import Eigenspace, Space, Stiefel
from specavg.spaces._matrix_space import MatrixSpace

_SIDES = ("left", "right")


# The fixed vectors of both sides, for each type of functions.
SidedBlocks = tuple[SidedBlock, ...]


@final
class LeftTimesRight(ClosedForm, StoringSolver[SidedBlocks]):
    """Each generator acts from one side only, so D(g) is D_left ⊗ I or I ⊗ D_right and invariants are products.

    The same holds for fields: dD(ξ) is dD_left ⊗ I or I ⊗ dD_right.
    """

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, MatrixSpace) or not (group.generators or group.fields):
            return False
        if reduction_to_directions(space, group) is not None:  # functions of one direction are far fewer
            return False
        solver = cls(space, group)
        return all(len(solver._moving(g)) < 2 for g in group.generators) and all(
            len(solver._flowing(f)) < 2 for f in group.fields
        )

    def _moving(self, g: Isometry) -> list[str]:
        """The sides from which an isometry acts."""
        checked = self.space.check_isometry(g)
        assert isinstance(checked, LeftRight)
        return [name for name in _SIDES if not getattr(checked, name).is_identity]

    def _flowing(self, field: Field) -> list[str]:
        """The sides from which a field acts."""
        halves = two_sided(self.space.check_field(field), self.space.shape[-1])
        return [name for name, half in zip(_SIDES, halves, strict=True) if not half.is_zero]

    @cached_property
    def _turns_over(self) -> bool:
        """Whether X ↦ −X is among the signed permutations of the columns: functions of odd degree change their sign."""
        right = [self.space.check_isometry(g) for g in self.group.generators if self._moving(g) == ["right"]]
        sides = [g.right for g in right if isinstance(g, LeftRight) and isinstance(g.right, SignedPermutation)]
        if not sides or not isinstance(self.space, Stiefel):
            return False
        size = sides[0].size
        minus = SignedPermutation(tuple(range(size)), (-1,) * size)
        return Group([*sides, minus]).order == Group(sides).order

    def _has_none(self, eigenspace: Eigenspace) -> bool:
        """Whether it is known beforehand that nothing is invariant."""
        if not isinstance(self.space, Stiefel) or not self._turns_over:
            return False
        return all(degree % 2 for degree in self.space.type_degrees(eigenspace))

    def count(self, eigenspace: Eigenspace) -> int | None:
        return 0 if self._has_none(eigenspace) else super().count(eigenspace)

    def seconds(self, eigenspace: Eigenspace) -> float:
        if self._has_none(eigenspace):
            return QUICK
        # crystal_symmetry("O", "D2") at degree 1, 10, 30 (m = 9, 441, 3721) took 1.7, 2.6, 4.9 ms.
        # On Stiefel(5, 3), signed permutations of the columns, 24 types with 33,000 functions took 0.4 s; two fields,
        # 107 types with 155,000 functions, 20 s. Generators from the left, two orthogonal matrices on Stiefel(n, 2)
        # and (n, 3), n = 4 to 7, are dense: those of 384, 735, 1470, 2156 rows took 0.07, 0.25, 1.6, 6.0 s.
        if isinstance(self.space, Stiefel):
            sizes = 2e-6 * (1 + len(self.group.generators)) + 6e-5 * len(self.group.fields)
            left = np.array(self.space.left_sizes(eigenspace), dtype=np.float64)
            if self._permutes_rows:  # symmetric(10), types of 660, 945, 1386 rows with their matrices: 0.4 to 1 s
                return 120 * QUICK * len(left) + sizes * eigenspace.dim + 6e-4 * float(left.sum())
            dense = float(np.sum(2e-7 * left**2 + 2e-10 * left**3))
            return 120 * QUICK * len(left) + sizes * eigenspace.dim + self._from_the_left * dense
        return 15 * QUICK + 3e-9 * (1 + len(self.group.generators)) * float(eigenspace.dim) ** 1.5

    def memory(self, eigenspace: Eigenspace) -> float:
        if not isinstance(self.space, Stiefel) or self._has_none(eigenspace):
            return 0.0
        left = np.array(self.space.left_sizes(eigenspace), dtype=np.float64)
        if not self._permutes_rows:
            return 8.0 * (self._from_the_left + 6) * float(left.max()) ** 2
        # Matrices of all planes, in blocks; the largest class has some three times the vectors of the mean.
        n, classes = self.space.shape[0], np.array(self.space.parity_classes(eigenspace), dtype=np.float64)
        return 16.0 * (n * (n - 1) / 2 + 4 * n) * float((left * np.maximum(3 * left / classes, 3)).max())

    @cached_property
    def _permutes_rows(self) -> bool:
        """Whether what acts from the left are signed permutations, whose matrices are sparse."""
        if not isinstance(self.space, Stiefel) or not self._from_the_left:
            return False
        if any("left" in self._flowing(f) for f in self.group.fields):
            return False
        return all(
            isinstance(self.space.check_isometry(g).left, SignedPermutation)
            for g in self.group.generators
            if "left" in self._moving(g)
        )

    @cached_property
    def _from_the_left(self) -> int:
        """Generators and fields that act from the left."""
        moving = [self._moving(g) for g in self.group.generators] + [self._flowing(f) for f in self.group.fields]
        return sum("left" in sides for sides in moving)

    def solve(self, eigenspace: Eigenspace) -> Solution[SidedBlocks]:
        require_memory(
            self.memory(eigenspace),
            f"the fixed vectors of both sides on an eigenspace of {eigenspace.dim} functions (eigenvalue "
            f"{eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        sizes = self._sizes(eigenspace)
        if self._has_none(eigenspace):
            empty = {name: np.empty((size, 0)) for name, size in self._stored_sizes(sizes).items()}
            return self._solution(eigenspace, sizes, empty)
        vectors: dict[str, Array] = {}
        residual, gap, inner_products = 0.0, np.inf, 0
        for side, name in enumerate(_SIDES):
            moving = [g for g in self.group.generators if name in self._moving(g)]
            fields = [f for f in self.group.fields if name in self._flowing(f)]
            if not moving and not fields:
                continue
            for i, found in enumerate(self._fixed(eigenspace, side, moving, fields)):
                vectors[f"{name}{i}"] = np.ascontiguousarray(found.basis)
                residual, gap = max(residual, found.residual), min(gap, found.gap)
                inner_products += (len(moving) + len(fields)) * sizes[i][side] ** 2
        if not vectors:  # nothing moves: this is stored too, so that it is known who found it
            vectors["left0"] = np.eye(sizes[0][0])
        return self._solution(eigenspace, sizes, vectors, residual, gap, inner_products)

    def _sizes(self, eigenspace: Eigenspace) -> list[tuple[int, int]]:
        """The sizes of D_left and D_right of each type."""
        assert isinstance(self.space, MatrixSpace)
        return list(zip(self.space.left_sizes(eigenspace), self.space.right_sizes(eigenspace), strict=True))

    def _fixed(
        self, eigenspace: Eigenspace, side: int, moving: list[Isometry], fields: list[Field]
    ) -> Iterator[FixedSpace]:
        """The vectors that all that acts from one side fixes, for each type."""
        space = self.space
        assert isinstance(space, MatrixSpace)
        if side == 0 and isinstance(space, Stiefel) and self._permutes_rows:
            for matrices in zip(*(space.left_classes(g, eigenspace) for g in moving), strict=True):
                yield fixed_by_classes([D for D, _ in matrices], matrices[0][1])
            return
        actions = [space.one_sided_representations(g, eigenspace, side) for g in moving]
        flows = [space.factor_infinitesimals(integer_speed(f), eigenspace) for f in fields]
        for i, pair in enumerate(self._sizes(eigenspace)):
            # Matrices of one side are cut out of those of all functions of the type, and rounded as those are.
            parts = [flow[i][side] for flow in flows]
            yield null_space([D[i] for D in actions], parts, pair[0] * pair[1], space.steepness(eigenspace))

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[SidedBlocks]:
        sizes = self._sizes(eigenspace)
        vectors = {name: orthonormal(arrays, name, size) for name, size in self._stored_sizes(sizes).items()}
        return self._solution(eigenspace, sizes, vectors)

    def _stored_sizes(self, sizes: Sequence[tuple[int, int]]) -> dict[str, int]:
        """The names of the arrays of an eigenspace, and how many rows each has."""
        moving = {
            *(name for g in self.group.generators for name in self._moving(g)),
            *(name for f in self.group.fields for name in self._flowing(f)),
        }
        rows = {f"{name}{i}": pair[_SIDES.index(name)] for i, pair in enumerate(sizes) for name in moving}
        return rows or {"left0": sizes[0][0]}

    def _solution(
        self,
        eigenspace: Eigenspace,
        sizes: Sequence[tuple[int, int]],
        vectors: Mapping[str, Array],
        residual: float = 0.0,
        gap: float = np.inf,
        inner_products: int = 0,
    ) -> Solution[SidedBlocks]:
        """All of a side is fixed where nothing acts from there: no vectors are given for it."""
        blocks = tuple(
            SidedBlock(*(vectors.get(f"{name}{i}", np.eye(size)) for name, size in zip(_SIDES, pair, strict=True)))
            for i, pair in enumerate(sizes)
        )
        count = sum(block.dim for block in blocks)
        return Solution(eigenspace, count, self, blocks, residual, gap, inner_products, vectors)

    def functions(self, solutions: Sequence[Solution[SidedBlocks]]) -> Functions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return TwoSidedSums(functions, [block for s in kept for block in s.data])


def fixed_by_classes(matrices: Sequence[Any], classes: Sequence[tuple[int, int]]) -> FixedSpace:
    """The vectors that all matrices fix, certified as in `null_space`.

    Parameters
    ----------
    matrices : sequence of sparse arrays of shape (m, m)
        Orthogonal.
    classes : sequence of (int, int)
        From where to where each class of basis vectors goes; together they are all.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> swap = csr_array(np.eye(4)[[2, 3, 0, 1]])
    >>> fixed_by_classes([swap], [(0, 2), (2, 4)]).basis.round(4)
    array([[0.7071, 0.    ],
           [0.    , 0.7071],
           [0.7071, 0.    ],
           [0.    , 0.7071]])
    """
    found = fixed_by_moves([_moves(D, classes) for D in matrices], classes)
    Q = found.basis
    residual = max(float(np.linalg.norm(D @ Q - Q, axis=0).max(initial=0.0)) for D in matrices)
    return FixedSpace(Q, "null space", found.gap, residual)


def fixed_by_moves(moves: Sequence[Sequence[tuple[int, Array]]], classes: Sequence[tuple[int, int]]) -> FixedSpace:
    """The vectors that all moves fix, certified as in `null_space`.

    Parameters
    ----------
    moves : sequence of sequence of (int, ndarray)
        For each move, the class that each class goes to, and the orthogonal block that takes it there.
    classes : sequence of (int, int)
        From where to where each class of basis vectors goes; together they are all.

    Examples
    --------
    >>> turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> back_and_forth = [(1, turn), (0, turn.T)]
    >>> fixed_by_moves([back_and_forth], [(0, 2), (2, 4)]).basis.round(4)
    array([[ 0.7071,  0.    ],
           [ 0.    ,  0.7071],
           [ 0.    , -0.7071],
           [ 0.7071,  0.    ]])
    """
    m = classes[-1][1]
    gap, residual, columns = np.inf, 0.0, [np.zeros((m, 0))]
    left = set(range(len(classes)))
    while left:
        first = min(left)
        size = classes[first][1] - classes[first][0]
        ways: dict[int, Array] = {first: np.eye(size)}
        reached, around = [first], []
        for c in reached:  # grows while it is read
            for move in moves:
                to, block = move[c]
                if to not in ways:
                    ways[to] = block @ ways[c]
                    reached.append(to)
                else:
                    around.append(ways[to].T @ (block @ ways[c]))
        left.difference_update(reached)
        found = null_space(around, (), m)
        gap, residual = min(gap, found.gap), max(residual, found.residual)
        part = np.zeros((m, found.dim))
        for c in reached:
            part[slice(*classes[c])] = ways[c] @ found.basis
        columns.append(part / np.sqrt(len(reached)))
    return FixedSpace(np.concatenate(columns, axis=1), "null space", gap, residual)


def _moves(D: Any, classes: Sequence[tuple[int, int]]) -> list[tuple[int, Array]]:
    """The class that each class goes to, and the block that takes it there."""
    by_column = D.tocsc()
    starts = np.array([start for start, _ in classes])
    moves: list[tuple[int, Array]] = []
    for start, stop in classes:
        entries = slice(by_column.indptr[start], by_column.indptr[stop])
        rows = by_column.indices[entries]
        column = np.repeat(np.arange(stop - start), np.diff(by_column.indptr[start : stop + 1]))
        to = np.unique(np.searchsorted(starts, rows, side="right") - 1)
        low, high = classes[int(to[0])]
        if len(to) > 1 or high - low != stop - start:
            raise ArithmeticError("a signed permutation takes a class of parities to several")
        block = np.zeros((high - low, stop - start))
        block[rows - low, column] = by_column.data[entries]
        moves.append((int(to[0]), block))
    return moves
