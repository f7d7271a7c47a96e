"""Types of functions of copies that move together, and the null space of each.

The same isometry acts on every copy. An eigenspace splits into types: which eigenspaces V of one copy are used, by how
many copies each. Without permutations every arrangement of a type on the copies has the same tensor product ⊗V, which
is solved once. With all permutations a type is a product of symmetric powers Sym^n(V), whose basis are the symmetric
functions of multisets: that closed form comes first, and only inside of it fields and isometries act. Outputs that
move with the copies are one more factor, ρᵀ, at the end.

Inside a type, the first field sorts functions by their integer weights: an invariant has weight zero. What is left is
the null space of the other fields on weight zero, and then the fixed vectors of the isometries among the few that are
left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from math import comb, factorial, perm, prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.functions._combinations import Blockwise
from specavg.functions._copy_tensors import CopyTensor, CopyTensors
from specavg.functions._functions import Array, Functions
from specavg.functions._symmetric_waves import symmetrized_products
from specavg.groups import Group
from specavg.invariants._certified_null_space import FixedSpace, common_null_space
from specavg.invariants.solvers._harmonics_turned_together import AllRotations
from specavg.invariants.solvers._moves_together import Together, copies_move_together
from specavg.invariants.solvers._solver import Unsuitable
from specavg.invariants.solvers._symmetric_powers import (
    applied_power,
    bytes_of_powers,
    in_symmetric_powers,
    multiset_array,
    multisets,
    power_of_field,
    widest_in_powers,
)
from specavg.isometries.fields import Field, integer_speed
from specavg.spaces import Eigenspace, Power, Space, Sphere
from specavg.spaces._copy_types import copy_types
from specavg.spaces._eigenspace import columns_of

_WHOLE = 1e-9  # weights closer to integers than this are integers; eigenvalues of dD are rounded to 1e-13
_DENSE = 1e5  # numbers in a matrix that is not made sparse: 1.6 MB; SciPy takes 0.1 ms for each step with a sparse one
# Tensor factors of a type: Sym^n(V) for each (V, n).
Slots = tuple[tuple[Eigenspace, int], ...]


@lru_cache(maxsize=4)  # a default fit compares up to three orders, which have the same types
def types_of_copies(space: Space, group: Group) -> TypesOfCopies:
    """The types of copies that `group` moves together, shared by all bases of the two."""
    together = copies_move_together(space, group)
    assert together is not None
    return TypesOfCopies(space, together)


@final
class TypesOfCopies:
    """The types of each eigenspace, their invariants and their functions."""

    def __init__(self, power: Space, together: Together, outputs: int = 1) -> None:
        assert isinstance(power, Power)
        self._power, self._together, self._outputs = power, together, outputs
        self._known: dict[tuple[Eigenspace, int], _Factor] = {}
        self._found: dict[Slots, FixedSpace] = {}
        self._rotations = AllRotations.among(power.base, together.isometries, together.fields)

    def of(self, eigenspace: Eigenspace) -> list[Slots]:
        """The types of an eigenspace."""
        types = copy_types(eigenspace)
        if self._together.permuted:
            return [tuple(chosen) for chosen in types]
        return [tuple((V, 1) for V, number in chosen for _ in range(number)) for chosen in types]

    def size(self, slots: Slots) -> int:
        """How many products of one-copy functions and outputs a type has."""
        return self._outputs * prod(comb(V.dim + n - 1, n) for V, n in slots)

    def count(self, slots: Slots) -> int | None:
        """The number of invariants of a type for one arrangement, where it is known without solving."""
        if self._rotations is None or self._outputs > 1 or self._moves_outputs:
            return None
        return self._rotations.count(_one_by_one(slots))

    def seconds(self, slots: Slots) -> float:
        """A forecast of the time of `invariants`."""
        known = self.count(slots)
        if known == 0:
            return 1e-5
        if known is None or self._rotations is None:
            # Seconds for a type of so many products, of which z have weight zero. No field, Oh on three directions:
            # 375, 729, 1183 products took 13, 52, 180 ms. One field, C∞v on three: 735, 1435, 2553 (z = 60, 100, 150)
            # 3, 13, 53 ms. Two, O(3) on four: 711, 3105, 5957, 13527 (z = 110, 370, 600, 1200) 4, 10, 42, 141 ms;
            # shifts and hyperoctahedral(2) on three frequencies of Torus(2), 16, 256, 768: 0.3, 0.4, 0.8 ms; three,
            # O(4) on four directions of R⁴, 20736 (z = 3000): 8 s.
            size, fields = float(self.size(slots)), len(self._together.fields)
            z = size * self._weight_zero(slots)
            seconds = 3e-4 + 4e-4 * fields + 1e-6 * size + 5e-8 * z**2 + 1.1e-10 * z**3
            seconds += 6e-10 * size * z**2 if fields == 1 else 0.0
            return seconds + self._seconds_of_powers(slots) + self._seconds_of_values(slots)
        return 4e-4 + self._rotations.seconds(_one_by_one(slots)) + self._seconds_of_values(slots)

    def _seconds_of_values(self, slots: Slots) -> float:
        """A forecast of the time for the values of the invariants at 200 points.

        These follow, take longer than most searches, and would not be bounded otherwise. Each product takes 0.5 to
        0.8 µs for each arrangement; sums over all of them take as long for two copies, and 2 to 6 µs for more.
        """
        if self._together.permuted:
            return (6e-7 if sum(n for _, n in slots) < 3 else 4e-6) * self.size(slots)
        return 6e-7 * self.size(slots) * self.arrangement_count(slots)

    def _seconds_of_powers(self, slots: Slots) -> float:
        """A forecast of the time for the isometries to move symmetric powers.

        Under O on 16 directions, 120, 225 and 390 products with up to 14 of one degree (0.9, 1.6, 2.7·10⁷ numbers at
        all steps) took 11, 30 and 100 ms.
        """
        vectors = self._vectors(slots) * len(self._together.isometries)
        # At all steps, for each product of a vector.
        numbers = sum(n * widest_in_powers(V.dim, n) / comb(V.dim + n - 1, n) for V, n in slots if n > 1)
        return 2e-9 * vectors * self.size(slots) * numbers

    def _vectors(self, slots: Slots) -> float:
        """A forecast of how many vectors are left for the isometries: few where several fields came before."""
        size, fields = float(self.size(slots)), len(self._together.fields)
        if fields > 1:
            return size**0.5
        return size * self._weight_zero(slots) if fields else size

    def _weight_zero(self, slots: Slots) -> float:
        """The part of the products of a type that has weight zero, by forecast.

        The weight of a product is the sum of those of its factors, and is spread like a normal distribution.
        """
        variance = self._spread * sum(n * V.eigenvalue for V, n in slots)
        return (1 + 2 * np.pi * variance) ** -0.5

    @cached_property
    def _spread(self) -> float:
        """The mean square of the weights of one copy, for each unit of its eigenvalue.

        This is the same for all eigenspaces of a sphere, by Casimir's operator, and on average for those of a torus:
        that of the first one is taken.
        """
        if not self._fields:
            return 0.0
        base = self._power.base
        first = next(V for V in base.eigenspaces() if V.eigenvalue > 0)
        return float(np.sum(base.infinitesimal(self._fields[0], first) ** 2)) / (first.dim * first.eigenvalue)

    def memory(self, slots: Slots) -> float:
        """A forecast of the working memory of `invariants`, in bytes."""
        size, known = float(self.size(slots)), self.count(slots)
        if known is not None and self._rotations is not None:
            return 0.0 if known == 0 else 8.0 * (4 * size + self._rotations.numbers_held(_one_by_one(slots)))
        powers = max((bytes_of_powers(V.dim, n) for V, n in slots), default=0.0)
        if not self._fields:
            # O, Oh and hyperoctahedral(5): 7 to 8 matrices of so many rows.
            return 8.0 * 8 * size**2 + powers
        # Weights of the widest factor are spread evenly, so that about 1/dim of a type has weight zero; three times
        # that, to be safe. BᴴB, its eigenvectors and work space; all of a type where no field sorts.
        widest = max((V.dim for V, _ in slots), default=1)
        # Then the vectors as functions, their real and imaginary parts and singular vectors.
        found = 16.0 * 6 * size * self._vectors(slots)
        return max(16.0 * 4 * (3 * size / widest) ** 2 + 16.0 * 40 * size, found) + powers

    def odd(self, slots: Slots) -> list[bool]:
        """Whether the functions of each slot change their sign at the antipode of a copy, on spheres."""
        base = self._power.base
        return [isinstance(base, Sphere) and base.degree(V) % 2 == 1 for V, _ in slots]

    def arrangements(self, slots: Slots) -> Iterator[tuple[int, ...]]:
        """The copies that the slots are put on; slots of one eigenspace in increasing order. With permutations, one."""
        if self._together.permuted:
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

    def arrangement_count(self, slots: Slots) -> int:
        """The number of `arrangements`, without listing them."""
        if self._together.permuted:
            return 1
        same = prod(factorial(slots.count(slot)) for slot in set(slots))
        return perm(self._power.copies, len(slots)) // same

    @cached_property
    def _fields(self) -> list[Field]:
        return [integer_speed(f) for f in self._together.fields]

    def _factor(self, V: Eigenspace, n: int) -> _Factor:
        if (V, n) not in self._known:
            base = self._power.base
            self._known[V, n] = _Factor.of(
                [base.infinitesimal(f, V) for f in self._fields],
                [base.representation(g, V) for g in self._together.isometries],
                n,
            )
        return self._known[V, n]

    @cached_property
    def _moves_outputs(self) -> bool:
        still = all(np.array_equal(image, np.eye(self._outputs)) for image in self._together.images)
        return not still or any(velocity.any() for velocity in self._together.velocities)

    @cached_property
    def _output(self) -> _Factor:
        """ρᵀ; a field at another speed moves outputs at that speed."""
        pairs = zip(self._together.fields, self._fields, self._together.velocities, strict=True)
        moved = [velocity * _speed(fast, field) for field, fast, velocity in pairs]
        return _Factor.of(moved, list(self._together.images), 1)

    def invariants(self, slots: Slots) -> FixedSpace:
        """The invariants of a type: weight zero under the first field, null under the others, fixed by isometries.

        Found once: eigenspaces of another order have the same types.
        """
        if slots not in self._found:
            self._found[slots] = self._invariants(slots)
        return self._found[slots]

    def _invariants(self, slots: Slots) -> FixedSpace:
        size, known = self.size(slots), self.count(slots)
        if known == 0:
            return _fixed(np.empty((size, 0)))
        if known is not None and self._rotations is not None:
            tensor, error = self._rotations.invariant(_one_by_one(slots))
            return _fixed(in_symmetric_powers(tensor, [(V.dim, n) for V, n in slots])[:, None], error)
        if not slots and not self._moves_outputs:
            return _fixed(np.eye(size))
        powers = [n for _, n in slots] + [1]
        factors = [self._factor(V, n) for V, n in slots] + [self._output]
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
                return _fixed(np.empty((size, 0)), residual, gap)
            # Back to real functions. The projector CC* is real, so [Re C, Im C] has singular values 1 and 0 only.
            whole = np.zeros((size, C.shape[1]), dtype=complex)
            whole[zero] = C
            whole = _applied([(factor.basis, n) for factor, n in zip(factors, powers, strict=True)], whole)
            U, singular, _ = np.linalg.svd(
                np.concatenate([np.real(whole), np.imag(whole)], axis=1), full_matrices=False
            )
            Q = U[:, : C.shape[1]]
            residual += float(np.abs(singular[: C.shape[1]] - 1).max(initial=0.0))
        if self._together.isometries and Q.shape[1]:
            moved = [
                _applied([(factor.matrices[i], n) for factor, n in zip(factors, powers, strict=True)], Q) - Q
                for i in range(len(self._together.isometries))
            ]
            fixed = common_null_space(moved, size)
            Q, residual, gap = Q @ fixed.basis, max(residual, fixed.residual), min(gap, fixed.gap)
        return _fixed(np.ascontiguousarray(Q), residual, gap)

    def functions(self, kept: Sequence[tuple[Slots, Array]]) -> Functions:
        """The invariant functions of some types, each with the columns that were found for it."""
        columns = columns_of(V for slots, _ in kept for V, _ in slots)
        one_copy, m = self._power.base.functions(list(columns)), self._power.copies
        if not self._together.permuted:
            tensors = [
                CopyTensor(tuple((copy, columns[V]) for copy, (V, _) in zip(copies, slots, strict=True)), Q)
                for slots, Q in kept
                for copies in self.arrangements(slots)
            ]
            return CopyTensors(one_copy, m, tensors)
        # Rotations about one axis leave few products in most types: the others are never formed.
        needed = [np.flatnonzero(np.any(Q != 0, axis=1)) for _, Q in kept]
        chosen: list[list[int]] = []
        for (slots, _), rows in zip(kept, needed, strict=True):
            parts = [multiset_array(V.dim, n) + columns[V].start for V, n in slots]
            places = np.unravel_index(rows, [len(part) for part in parts]) if parts else ()
            used = [part[place] for part, place in zip(parts, places, strict=True)]
            chosen.extend(np.concatenate(used, axis=1).tolist() if used else [[]] * len(rows))
        # A sum over injective assignments to copies has this squared norm.
        norms = [perm(m, len(a)) * prod(factorial(a.count(b)) for b in set(a)) for a in chosen]
        sums = symmetrized_products(one_copy, m, chosen, np.array([1.0 / float(norm) ** 0.5 for norm in norms]))
        return Blockwise(sums, [Q[rows] for (_, Q), rows in zip(kept, needed, strict=True)])


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
        weights, U = _integer_weights(fields[0])
        several = np.array([sum(weights[list(part)]) for part in multisets(len(U), n)], dtype=np.int64)
        moved = [power_of_field(_clean(U.conj().T @ A @ U), n) for A in fields[1:]]
        return cls(several, U, moved, matrices)


def _integer_weights(dD: Array) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
    """Weights w and unit vectors u with dD u = −i w u, of a field whose flow has the period 2π.

    Examples
    --------
    >>> _integer_weights(np.array([[0.0, -2.0], [2.0, 0.0]]))[0]
    array([-2,  2])
    """
    values, vectors = np.linalg.eigh(1j * dD)
    weights = np.rint(values)
    error = float(np.abs(values - weights).max(initial=0.0))
    if error > _WHOLE * max(1.0, float(np.abs(weights).max(initial=0.0))):
        raise Unsuitable(
            f"the weights of a field are {error:.1e} from integers: its flow does not close, and functions cannot be "
            "sorted by them."
        )
    return weights.astype(np.int64), vectors


def _fixed(Q: Array, residual: float = 0.0, gap: float = np.inf) -> FixedSpace:
    return FixedSpace(Q, "null space", gap, residual)


def _one_by_one(slots: Slots) -> list[Eigenspace]:
    """The eigenspace on each copy that is used."""
    return [V for V, n in slots for _ in range(n)]


def _clean(A: NDArray[Any]) -> NDArray[Any]:
    """The matrix with entries of the size of rounding set to zero, so that it is sparse."""
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
    """Columns of Σ_i 1 ⊗ … ⊗ A_i ⊗ … ⊗ 1 for sparse A_i: dense where that is small, else sparse.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A, B = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 3.0], [4.0, 0.0]])
    >>> whole = np.kron(A, np.eye(2)) + np.kron(np.eye(2), B)
    >>> np.array_equal(_kronecker_columns([csr_array(A), csr_array(B)], np.array([0, 3])), whole[:, [0, 3]])
    True
    """
    from scipy.sparse import coo_array

    size, below = prod(A.shape[0] for A in parts), 1
    rows, places, values = [], [], []
    for A in reversed(parts):  # the last varies fastest
        packed, k = A.tocsc(), columns // below % A.shape[0]
        first, number = packed.indptr[k], np.diff(packed.indptr)[k]
        place = np.repeat(np.arange(len(columns)), number)
        entry = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number) + np.repeat(first, number)
        rows.append(columns[place] + (packed.indices[entry] - k[place]) * below)
        places.append(place)
        values.append(packed.data[entry])
        below *= A.shape[0]
    where, data = (np.concatenate(rows), np.concatenate(places)), np.concatenate(values)
    if size * len(columns) > _DENSE:
        return coo_array((data, where), shape=(size, len(columns))).tocsr()
    found = np.zeros((size, len(columns)), dtype=data.dtype)
    np.add.at(found, where, data)
    return found


def _speed(fast: Field, field: Field) -> float:
    """How many times faster one of two parallel fields is."""
    speeds = [max((abs(speed) for speed, _ in f.circles()), default=1.0) for f in (fast, field)]
    return speeds[0] / speeds[1]
