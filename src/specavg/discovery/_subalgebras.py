"""Subalgebras of the Lie algebra of a group that data may have as symmetries, from the form ⟨ξf, ηf⟩ of a function f.

The algebra is divided into parts that commute: shifts, and the algebras so(d) of rotations of d directions. Of so(d)
the rotations so(W) of some of the directions are looked for. Let L_uw rotate u towards w. If f is invariant under
so(W), the matrix N_uv = Σ_w ⟨L_uw f, L_vw f⟩ is a multiple of the identity on W: W is spanned by neighbours among its
eigenvectors. In four and more dimensions N may be a multiple of the identity on more than W, as for a function of
x² + y² on S³; then W is what the fields turn that move f least. The rotations of the other directions among themselves
may come beside them, so(W) + so(W⊥). Of the shifts those are looked for that leave alone the frequencies that f
surely has: they are rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations, product
from operator import add
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components
from specavg.isometries.fields import Field

_ZERO = 1e-9  # brackets of fields of length one that commute round to 1e-15
_NEAR = 1e-2  # two searches that end in the same axis differ by 1e-5; two axes of one function by far more
_DENOMINATOR = 1000  # weights over 2π are rational; those of functions that data can bear are far below this


@final
@dataclass(frozen=True, eq=False)
class Subalgebra:
    """Fields Σ_i C_ik ξ_i, and for each part of rotations the orthonormal directions W that are turned.

    Attributes
    ----------
    C : ndarray of shape (r, k), floats or Fractions
    turned : tuple of ndarray of shape (d, q)
    both : tuple of bool
        For each part, whether the directions beside W are turned among themselves too.
    moves : int
        How many numbers say which conjugate it is: they were chosen with the data.
    """

    C: NDArray[np.generic]
    turned: tuple[Array, ...]
    both: tuple[bool, ...]
    moves: int

    @property
    def dim(self) -> int:
        """The dimension."""
        return self.C.shape[1]

    @property
    def shifts(self) -> NDArray[np.generic]:
        """The columns of C that are no rotations: the first ones."""
        sizes = [(W.shape[1], (len(W) - W.shape[1]) * two) for W, two in zip(self.turned, self.both, strict=True)]
        return self.C[:, : self.dim - sum(q * (q - 1) // 2 for pair in sizes for q in pair)]

    def near(self, other: Subalgebra) -> bool:
        """Whether two subalgebras span nearly the same fields: two searches that ended in the same place."""
        mine, theirs = (np.linalg.qr(np.asarray(a.C, dtype=float))[0] for a in (self, other))
        return mine.shape == theirs.shape and bool(np.abs(mine @ mine.T - theirs @ theirs.T).max() < _NEAR)

    def fields(self, basis: Sequence[Field]) -> tuple[Field, ...]:
        """The fields, in a basis of the algebra."""
        fields: list[Field] = []
        for column in self.C.T.tolist():
            terms = [c * field for c, field in zip(column, basis, strict=True) if c]
            fields.append(reduce(add, terms))
        return tuple(fields)


@final
@dataclass(frozen=True, eq=False)
class RotationPart:
    """The algebra so(d) inside an algebra: where its basis is, and the matrix of each of its fields."""

    places: tuple[int, ...]
    matrices: Array  # (r, d, d)

    @property
    def size(self) -> int:
        """How many directions there are."""
        return self.matrices.shape[1]

    def coordinates(self, W: Array, both: bool, count: int) -> Array:
        """The rotations of the columns of W, in the basis of the whole algebra of dimension `count`.

        With `both`, those of the directions beside W come after them.
        """
        frames = (W, np.linalg.svd(W)[0][:, W.shape[1] :]) if both else (W,)
        planes = [np.outer(a, b) - np.outer(b, a) for frame in frames for a, b in combinations(frame.T, 2)]
        C = np.zeros((count, len(planes)))
        if planes:
            flat = self.matrices.reshape(len(self.places), -1).T
            C[list(self.places)] = np.linalg.lstsq(flat, np.stack(planes).reshape(len(planes), -1).T)[0]
        return C

    def runs(self, form: Array) -> Iterator[Array]:
        """Candidates for W: nothing, runs of neighbours among eigenvectors of N, and what the least fields turn."""
        d = self.size
        yield np.zeros((d, 0))
        L = self.coordinates(np.eye(d), False, len(form))  # columns: planes (u, w), u < w
        N = np.zeros((d, d))
        place = {pair: k for k, pair in enumerate(combinations(range(d), 2))}
        F = L.T @ form @ L
        for u, v, w in product(range(d), repeat=3):
            if w not in (u, v):
                sign = (1 if u < w else -1) * (1 if v < w else -1)
                N[u, v] += sign * F[place[min(u, w), max(u, w)], place[min(v, w), max(v, w)]]
        vectors = np.linalg.eigh(N)[1]
        for length in range(2, d + 1):
            for start in range(d - length + 1):
                yield vectors[:, start : start + length]
        least = np.linalg.eigh(F)[1]
        for q in range(2, d - 1) if d > 3 else ():  # in three dimensions these are the runs again
            turned = np.zeros((d, d))
            for column in least[:, : q * (q - 1) // 2].T:
                M = np.zeros((d, d))
                M[np.triu_indices(d, 1)] = column  # of the planes (u, w), u < w, in this order
                turned += (M - M.T) @ (M - M.T).T
            yield np.linalg.eigh(turned)[1][:, -q:]


@final
@dataclass(frozen=True, eq=False)
class AlgebraParts:
    """A Lie algebra, divided into shifts and rotations.

    Attributes
    ----------
    basis : tuple of Field
    """

    basis: tuple[Field, ...]

    @cached_property
    def _components(self) -> list[list[int]]:
        """Places of basis fields that are linked by brackets."""
        pairs = combinations(range(len(self.basis)), 2)
        linked = [p for p in pairs if np.linalg.norm(self.basis[p[0]].bracket(self.basis[p[1]]).vector) > _ZERO]
        label = components(len(self.basis), *np.array(linked, dtype=np.intp).reshape(-1, 2).T)
        return [np.flatnonzero(label == k).tolist() for k in range(label.max(initial=-1) + 1)]

    @cached_property
    def abelian(self) -> list[int]:
        """Places of fields that commute with all others."""
        return [c[0] for c in self._components if len(c) == 1]

    @cached_property
    def rotations(self) -> list[RotationPart]:
        """The parts that are algebras so(d); an error where there is another kind."""
        parts: list[RotationPart] = []
        for c in self._components:
            if len(c) == 1:
                continue
            matrices = np.stack([_matrix(self.basis[i]) for i in c])
            d = matrices.shape[1]
            if len(c) != d * (d - 1) // 2 or np.linalg.matrix_rank(matrices.reshape(len(c), -1)) < len(c):
                raise ValueError(
                    f"the continuous part of the group has {len(c)} linked fields that are not all rotations of {d} "
                    "directions: give special_orthogonal(d), orthogonal(d) or shifts, or groups made of them"
                )
            parts.append(RotationPart(tuple(c), matrices))
        return parts

    def candidates(self, form: Array, weights: Array, sizes: Array) -> Iterator[Subalgebra]:
        """Subalgebras that may leave the function alone.

        Parameters
        ----------
        form : ndarray of shape (r, r)
            ⟨ξ_i f, ξ_j f⟩, the part of noise subtracted.
        weights : ndarray of shape (functions, r)
            How fast each function changes along the commuting fields, up to a sign.
        sizes : ndarray of shape (functions,)
            The coefficients of f in units of their noise, squared.
        """
        shifts = list(self._shifts(weights, sizes))
        runs = [list(part.runs(form)) for part in self.rotations]
        for C, turned in product(shifts, product(*runs)):
            yield self.joined(C, turned, (False,) * len(turned))

    def with_those_beside(self, algebra: Subalgebra) -> Subalgebra:
        """An algebra with the rotations of the directions that it does not turn, where there are at least two."""
        both = tuple(2 <= W.shape[1] <= len(W) - 2 for W in algebra.turned)
        return self.joined(algebra.shifts, algebra.turned, both)

    def joined(self, shifts: NDArray[np.generic], turned: tuple[Array, ...], both: tuple[bool, ...]) -> Subalgebra:
        """The subalgebra of some shifts and of the rotations of some directions of each part."""
        r = len(self.basis)
        pieces = [part.coordinates(W, two, r) for part, W, two in zip(self.rotations, turned, both, strict=True)]
        moves = sum(W.shape[1] * (len(W) - W.shape[1]) for W in turned)
        first = shifts if shifts.shape[1] else np.zeros((r, 0))  # floats where no shift has exact coefficients
        return Subalgebra(np.hstack([first, *pieces]), turned, both, moves)

    def _shifts(self, weights: Array, sizes: Array) -> Iterator[NDArray[np.object_]]:
        """Combinations that leave more and more functions alone, the largest coefficients first."""
        found = _null_space([], len(self.abelian))
        rows: list[list[Fraction]] = []
        yield self._combinations(found)
        for row in weights[np.argsort(-sizes)][:, self.abelian].tolist():
            if not found:
                return
            exact = [Fraction(w / (2 * np.pi)).limit_denominator(_DENOMINATOR) for w in row]
            fewer = _null_space([*rows, exact], len(self.abelian))
            if len(fewer) < len(found):
                rows, found = [*rows, exact], fewer
                yield self._combinations(found)

    def _combinations(self, vectors: list[list[Fraction]]) -> NDArray[np.object_]:
        """Vectors of coefficients of the shifts as columns of C."""
        C = np.full((len(self.basis), len(vectors)), Fraction(0), dtype=object)
        for k, vector in enumerate(vectors):
            C[self.abelian, k] = vector
        return C


def _null_space(rows: Sequence[Sequence[Fraction]], size: int) -> list[list[Fraction]]:
    """Exact vectors that are orthogonal to all rows."""
    from sympy import Matrix

    found = Matrix(len(rows), size, [x for row in rows for x in row]).nullspace()
    return [[Fraction(int(x.p), int(x.q)) for x in vector] for vector in found]


def _matrix(field: Field) -> Array:
    """The skew matrix of a field that rotates; where it rotates several copies together, that of one of them."""
    for matrix in field.skew_matrices():
        return matrix
    raise ValueError(f"{field!r} is not a rotation")
