"""Copies of one space that move together, with or without all permutations of the copies.

The same isometry acts on every copy. An eigenspace splits into types: which eigenspaces V of one copy are used, by how
many copies each. Without permutations every arrangement of a type on the copies has the same tensor product ⊗V, which
is solved once. With all permutations a type is a product of symmetric powers Sym^n(V), whose basis are the symmetric
functions of multisets: that closed form comes first, and only inside of it fields and isometries act.

Inside a type, the first field sorts functions by their integer weights: an invariant has weight zero. What is left is
the null space of the other fields on weight zero, and then the fixed vectors of the isometries among the few that are
left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product as cartesian
from math import comb, factorial, perm, prod
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._combinations import Blockwise
from specavg.functions._copy_tensors import CopyTensor, CopyTensors
from specavg.functions._functions import Array, Functions
from specavg.functions._symmetric_functions import symmetrized_products
from specavg.groups import Group
from specavg.groups.families import Symmetric
from specavg.invariants._fixed_space import common_null_space
from specavg.invariants.solvers._solver import QUICK, Solution, StoringSolver
from specavg.invariants.solvers._stored import Stored, orthonormal
from specavg.invariants.solvers._symmetric_powers import applied_power, multisets, power_of_field
from specavg.invariants.solvers._weights import integer_weights
from specavg.isometries import Copies, Isometry, SignedPermutation
from specavg.isometries.fields import CopiesField, Field, integer_speed
from specavg.spaces import Eigenspace, Power, Space
from specavg.spaces._copy_types import Type

if TYPE_CHECKING:
    from specavg.invariants._solver_choice import Resolver

__all__ = ["CopiesTogether"]

Slots = tuple[tuple[Eigenspace, int], ...]
"""Tensor factors of a type: Sym^n(V) for each (V, n)."""


@dataclass(frozen=True)
class _Action:
    """What acts on every copy alike, and whether the copies are permuted in all ways."""

    isometries: tuple[Isometry, ...]
    fields: tuple[Field, ...]
    permuted: bool


def _action(space: Space, group: Group) -> _Action | None:
    """How `group` moves copies together; None where it does something else."""
    if not isinstance(space, Power) or space.copies < 2:
        return None
    moved = [space.check_field(f) for f in group.fields]
    fields = [f.parts[0] for f in moved if isinstance(f, CopiesField) and len(set(f.parts)) == 1]
    isometries, permutations = [], []
    for g in (space.check_isometry(g) for g in group.generators):
        assert isinstance(g, Copies)
        if g.image == tuple(range(g.size)) and len(set(g.parts)) == 1:
            isometries.append(g.parts[0])
        elif all(part.is_identity for part in g.parts):
            permutations.append(SignedPermutation(g.image, (1,) * g.size))
        else:
            return None
    if len(fields) < len(moved) or not (fields or isometries):
        return None
    if permutations and not isinstance(Group(permutations).recognise(), Symmetric):
        return None
    return _Action(tuple(isometries), tuple(f for f in fields if not f.is_zero), bool(permutations))


@dataclass(frozen=True, eq=False)
class TypeVectors:
    """The invariants of each type, as columns of coefficients of its tensor products."""

    Q: tuple[Array, ...]


@final
class CopiesTogether(StoringSolver[TypeVectors]):
    """A small null space for each type of functions, never the matrix of the whole eigenspace."""

    name: ClassVar[str] = "null space"

    def __init__(self, space: Space, group: Group, stored: Stored | None = None) -> None:
        super().__init__(space, group, stored)
        action = _action(space, group)
        assert action is not None
        assert isinstance(space, Power)
        self._power = space
        self._action = action

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return _action(space, group) is not None

    def seconds(self, eigenspace: Eigenspace) -> float:
        # O(3) on Power(Sphere(3), 4), types of 225, 405, 875 functions: 8, 15, 40 ms; with permutations 3 to 10 ms.
        return 20 * QUICK + sum(3e-3 + 4e-5 * self._size(slots) for slots in self._types(eigenspace))

    def memory(self, eigenspace: Eigenspace) -> float:
        # Weights of the widest factor are spread evenly, so that about 1/dim of a type has weight zero; three times
        # that, to be safe. BᴴB, its eigenvectors and work space; all of a type where no field sorts.
        largest = float(max(map(self._size, self._types(eigenspace))))
        if not self._action.fields:
            return 8.0 * 6 * largest**2
        widest = max((V.dim for slots in self._types(eigenspace) for V, _ in slots), default=1)
        return 16.0 * 4 * (3 * largest / widest) ** 2 + 16.0 * 40 * largest

    def solve(self, eigenspace: Eigenspace) -> Solution[TypeVectors]:
        types = self._types(eigenspace)
        largest = max(map(self._size, types))
        require_memory(
            self.memory(eigenspace),
            f"the null space on {largest} products of one-copy functions (eigenvalue {eigenspace.eigenvalue:.6g})",
            "Lower the cutoff.",
        )
        found = [self._invariants(slots) for slots in types]
        residual, gap = max(part.residual for part in found), min(part.gap for part in found)
        matrices = len(self._action.fields) + len(self._action.isometries)
        entries = matrices * sum(V.dim**2 for V in self._power.palette(eigenspace))
        return self._solution(eigenspace, [part.Q for part in found], residual, gap, entries)

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[TypeVectors]:
        sizes = enumerate(map(self._size, self._types(eigenspace)))
        return self._solution(eigenspace, [orthonormal(arrays, f"Q{i}", size) for i, size in sizes])

    def _solution(
        self, eigenspace: Eigenspace, vectors: list[Array], residual: float = 0.0, gap: float = np.inf, entries: int = 0
    ) -> Solution[TypeVectors]:
        arrangements = [len(list(self._arrangements(slots))) for slots in self._types(eigenspace)]
        count = sum(Q.shape[1] * number for Q, number in zip(vectors, arrangements, strict=True))
        arrays = {f"Q{i}": Q for i, Q in enumerate(vectors)}
        return Solution(eigenspace, count, self, TypeVectors(tuple(vectors)), residual, gap, entries, arrays)

    # --- types -------------------------------------------------------------------------------------

    def _types(self, eigenspace: Eigenspace) -> list[Slots]:
        label: Any = eigenspace.label
        types: Sequence[Type] = label
        if self._action.permuted:
            return [tuple(chosen) for chosen in types]
        return [tuple((V, 1) for V, number in chosen for _ in range(number)) for chosen in types]

    def _size(self, slots: Slots) -> int:
        return prod(comb(V.dim + n - 1, n) for V, n in slots)

    def _arrangements(self, slots: Slots) -> Iterator[tuple[int, ...]]:
        """The copies that the slots are put on; slots of one eigenspace in increasing order. With permutations, one."""
        if self._action.permuted:
            yield ()
            return

        def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            if len(chosen) == len(slots):
                yield chosen
                return
            place = len(chosen)
            again = place > 0 and slots[place] == slots[place - 1]
            for copy in range(chosen[-1] + 1 if again else 0, self._power.copies):
                if copy not in chosen:
                    yield from extend((*chosen, copy))

        yield from extend(())

    # --- the null space of one type ------------------------------------------------------------------

    @cached_property
    def _one_copy(self) -> Resolver:
        return self.resolver_of("copy", self._power.base, Group(self._action.isometries, self._action.fields))

    @cached_property
    def _fields(self) -> list[Field]:
        return [integer_speed(f) for f in self._action.fields]

    @cached_property
    def _factors(self) -> dict[tuple[Eigenspace, int], _Factor]:
        return {}

    def _factor(self, V: Eigenspace, n: int) -> _Factor:
        if (V, n) not in self._factors:
            base = self._power.base
            self._factors[V, n] = _Factor.of(
                [base.infinitesimal(f, V) for f in self._fields],
                [base.representation(g, V) for g in self._action.isometries],
                n,
            )
        return self._factors[V, n]

    def _invariants(self, slots: Slots) -> _Found:
        """Weight zero under the first field, the null space of the others, the fixed vectors of the isometries."""
        size = self._size(slots)
        if not slots:
            return _Found(np.ones((1, 1)), 0.0, np.inf)
        if len(slots) == 1 and slots[0][1] == 1 and self._one_copy.count(slots[0][0]) == 0:
            return _Found(np.empty((size, 0)), 0.0, np.inf)
        factors = [self._factor(V, n) for V, n in slots]
        residual, gap = 0.0, np.inf
        if not self._fields:
            Q = np.eye(size)
        else:
            weights = reduce(np.add.outer, [factor.weights for factor in factors]).ravel()
            zero = np.flatnonzero(weights == 0)
            gap = 1.0 if len(zero) < size else np.inf
            C = np.eye(len(zero), dtype=complex)
            if len(self._fields) > 1 and len(zero):
                others = [
                    _kronecker_columns([factor.fields[i] for factor in factors], zero)
                    for i in range(len(self._fields) - 1)
                ]
                null = common_null_space(others, size)
                C, residual, gap = null.basis, null.residual, min(gap, null.gap)
            if not C.shape[1]:
                return _Found(np.empty((size, 0)), residual, gap)
            # Back to real functions. The projector CC* is real, so [Re C, Im C] has singular values 1 and 0 only.
            whole = np.zeros((size, C.shape[1]), dtype=complex)
            whole[zero] = C
            whole = _applied([(factor.basis, n) for factor, (_, n) in zip(factors, slots, strict=True)], whole)
            U, singular, _ = np.linalg.svd(
                np.concatenate([np.real(whole), np.imag(whole)], axis=1), full_matrices=False
            )
            Q = U[:, : C.shape[1]]
            residual += float(np.abs(singular[: C.shape[1]] - 1).max(initial=0.0))
        if self._action.isometries and Q.shape[1]:
            moved = [
                _applied([(factor.matrices[i], n) for factor, (_, n) in zip(factors, slots, strict=True)], Q) - Q
                for i in range(len(self._action.isometries))
            ]
            fixed = common_null_space(moved, size)
            Q, residual, gap = Q @ fixed.basis, max(residual, fixed.residual), min(gap, fixed.gap)
        return _Found(np.ascontiguousarray(Q), residual, gap)

    # --- functions -----------------------------------------------------------------------------------

    def functions(self, solutions: Sequence[Solution[TypeVectors]]) -> Functions:
        kept = [
            (slots, Q)
            for s in solutions
            for slots, Q in zip(self._types(s.eigenspace), s.data.Q, strict=True)
            if Q.shape[1]
        ]
        palette = list(dict.fromkeys(V for slots, _ in kept for V, _ in slots))
        ends = np.cumsum([0, *(V.dim for V in palette)])
        columns = {V: range(int(end), int(end) + V.dim) for V, end in zip(palette, ends, strict=False)}
        one_copy, m = self._power.base.functions(palette), self._power.copies
        if not self._action.permuted:
            tensors = [
                CopyTensor(tuple((copy, columns[V]) for copy, (V, _) in zip(copies, slots, strict=True)), Q)
                for slots, Q in kept
                for copies in self._arrangements(slots)
            ]
            return CopyTensors(one_copy, m, tensors)
        chosen: list[list[int]] = []
        for slots, _ in kept:
            parts = [[[columns[V][a] for a in part] for part in multisets(V.dim, n)] for V, n in slots]
            chosen.extend([a for part in choice for a in part] for choice in cartesian(*parts))
        # A sum over injective assignments to copies has this squared norm.
        norms = [perm(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in chosen]
        sums = symmetrized_products(one_copy, m, chosen, np.array([1.0 / float(norm) ** 0.5 for norm in norms]))
        return Blockwise(sums, [(len(Q), Q) for _, Q in kept])


@dataclass(frozen=True, eq=False)
class _Found:
    Q: Array
    residual: float
    gap: float


@dataclass(frozen=True, eq=False)
class _Factor:
    """V and Sym^n(V): a basis of weight vectors of V under the first field, and how V moves.

    `weights` and `fields` (sparse, without the first) are those of Sym^n, in its basis of products of weight vectors.
    """

    weights: NDArray[np.int64]
    basis: NDArray[np.complex128]
    fields: list[Any]
    matrices: list[Array]

    @classmethod
    def of(cls, fields: list[Array], matrices: list[Array], n: int) -> _Factor:
        if not fields:
            return cls(np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=complex), [], matrices)
        weights, U = integer_weights(fields[0])
        several = np.array([sum(weights[list(part)]) for part in multisets(len(U), n)], dtype=np.int64)
        moved = [power_of_field(_clean(U.conj().T @ A @ U), n) for A in fields[1:]]
        return cls(several, U, moved, matrices)


def _clean(A: NDArray[Any]) -> NDArray[Any]:
    """Without entries that are rounding: the others stay sparse."""
    return np.where(np.abs(A) > 1e-13 * max(1.0, float(np.abs(A).max(initial=0.0))), A, 0.0)


def _applied(powers: Sequence[tuple[NDArray[Any], int]], Q: NDArray[Any]) -> NDArray[Any]:
    """(Sym^n(M) ⊗ Sym^k(N) ⊗ …) Q, one factor after the other."""
    tensor = Q.reshape(*(comb(len(M) + n - 1, n) for M, n in powers), -1)
    for i, (M, n) in enumerate(powers):
        front = np.moveaxis(tensor, i, 0)
        moved = applied_power(M, n, front.reshape(len(front), -1))
        tensor = np.moveaxis(moved.reshape(front.shape), 0, i)
    return tensor.reshape(Q.shape)


def _kronecker_columns(parts: Sequence[Any], columns: NDArray[np.intp]) -> Any:
    """Columns of Σ_i 1 ⊗ … ⊗ A_i ⊗ … ⊗ 1, sparse."""
    from scipy.sparse import kronsum

    # kronsum(A, B) is B ⊗ 1 + 1 ⊗ A.
    whole = reduce(lambda total, A: kronsum(A, total, format="csr"), parts)
    return whole.tocsc()[:, columns].tocsr()
