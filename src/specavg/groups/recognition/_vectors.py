"""A finite set of vectors that a group of orthogonal matrices permutes and that spans the space."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups.recognition._questioned_turns import questioned_turn

SAME = 1e-7  # distance of unit vectors up to which they are one vector: products of many matrices err by 1e-12
APART = 1e-5  # distance from which on they are two vectors; between the two it cannot be decided
_FEW_GENERATORS = 10  # the products of each two of them are all looked at for axes
LIMITS = (300, 3_000, 30_000)  # orbit lengths tried, short ones first
_TURN = 1e-10  # of a turn: how near angles of a finite group are to fractions; matrices of ten digits err by as much
_TURNS = 10**6  # operations that eigenvalues of words may take, but for a factor of 25: 20 ms
# Descents to vectors that many elements fix, and the words of each: at most 6 descents were needed for M11 to M24,
# alternating groups and the rotations of E6 to E8 in general axes. One word in 20 starts afresh: some are short, as
# mirrors want it, some are like random elements, as M24 does.
_DESCENTS, _STEPS, _AFRESH = 10, 400, 0.05
# Generators that move a plane, or a part of the space at most: reflections of complex spaces of four or more
# dimensions move a quarter or less. One of them is enough where all are conjugate, as in G34.
_MOVED, _SMALL_PART = 3, 4
_IMAGES = 400_000  # of each of these lengths, looked at in orbits that do not close: 2 s
# Vectors that are tried however many generators there are: eigenvectors of the first generators may have long orbits
# where those of others, or vectors that many elements fix, have short ones.
_FAILED = 4


@final
class Vectors:
    """Unit vectors that can be looked up with a tolerance."""

    def __init__(self, d: int) -> None:
        self._rows: list[Array] = []
        # A vector is filed under its component in one direction, in bins much wider than the tolerance;
        # neighbouring bins are searched too, so nothing is lost at a boundary.
        self._direction = np.random.default_rng(0).normal(size=d)
        self._direction /= np.linalg.norm(self._direction)
        self._bins: defaultdict[int, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def points(self) -> Array:
        """All vectors, one in each row."""  # (N, d)
        return np.array(self._rows)

    def row(self, i: int) -> Array:
        """The vector of this number."""
        return self._rows[i]

    def find(self, v: Array) -> int | None:
        """The number of the vector `v`; None where it is not among them."""
        b = math.floor(float(v @ self._direction) / APART)
        for i in (*self._bins.get(b, ()), *self._bins.get(b - 1, ()), *self._bins.get(b + 1, ())):
            distance = float(np.abs(self._rows[i] - v).max())
            if distance < SAME:
                return i
            if distance < APART:
                raise ValueError(
                    f"two images of a vector are {distance:.1g} apart: too close to be different and too far to be "
                    f"rounding (below {SAME:.0e}). The matrices generate an infinite or a very large group, or they "
                    "are not accurate enough; use exact kinds (permutation, signed_permutation, shift) where possible."
                )
        return None

    def add(self, v: Array) -> None:
        """File a vector that is not there yet."""
        self._bins[math.floor(float(v @ self._direction) / APART)].append(len(self._rows))
        self._rows.append(v)

    def permutation(self, R: Array) -> NDArray[np.intp]:
        """The number of the vector to which v ↦ v R takes each vector."""
        moved = [self.find(v) for v in self.points @ R]
        if any(i is None for i in moved):
            raise ValueError("the matrix is not an element of the group: it takes a vector of an orbit out of it")
        return np.array(moved, dtype=np.intp)


def invariant_vectors(matrices: Sequence[Array], first: Sequence[Array] = ()) -> Vectors:
    """Unit vectors that the maps v ↦ v R permute and that span R^d: a few orbits, short ones if there are any.

    Orbits of the vectors `first` are tried before others.
    """
    d = len(matrices[0])
    for R in matrices:
        moved = float(np.abs(R - np.eye(d)).max())
        if 1e-12 < moved < APART:
            raise ValueError(
                f"a generator moves no vector by more than about {moved:.1g}: too little to tell it from rounding. "
                "Rotations about an axis by a small part of a turn are groups.point_group('C99991'), say; those of a "
                "circle are groups.cyclic(n), and shifts of a torus take a Fraction."
            )
    if any(map(_slow_turn, itertools.islice(_words(matrices), max(_FEW_GENERATORS, _TURNS // d**3)))):
        turns = "a generator or a product of few turns by no fraction of a turn with a denominator up to"
        raise _too_large(f"{turns} {LIMITS[-1]}", matrices)
    vectors = Vectors(d)
    span = np.zeros((d, 0))  # an orthonormal basis of what the orbits span, in columns
    limit = LIMITS[0]
    for limit in LIMITS:
        failed = 0
        for v in itertools.chain(first, _axes(matrices), _complement(span)):
            rest = v - span @ (span.T @ v)
            if np.linalg.norm(rest) < 1e-6 or vectors.find(v) is not None:
                continue
            orbit = _orbit(v, matrices, limit)
            if orbit is None:
                failed += 1
                if failed >= _FAILED and failed * limit * len(matrices) > _IMAGES:
                    break
                continue
            for w in orbit.points:
                if vectors.find(w) is None:
                    vectors.add(w)
            span = _span(vectors.points)
            if span.shape[1] == d:
                return vectors
        if d == 3 and not len(vectors) and len(matrices) <= _FEW_GENERATORS:
            break  # of a finite group one of these axes has at most 60 images, that of a prism at most 2
    raise _too_large(f"the orbits of the vectors tried did not close within {limit} images", matrices)


def _too_large(seen: str, matrices: Sequence[Array]) -> ValueError:
    question = questioned_turn(matrices, matrices)
    why = "A rotation by an irrational part of a turn generates an infinite group."
    if question is not None:
        what, turns = question
        why = f"{what[0].upper()}{what[1:]} {turns}"
    return ValueError(
        f"the matrices generate a group that is too large for this search, or infinite: {seen}. {why} If this one "
        "is finite, use exact kinds (permutation, signed_permutation) or the catalogue (groups.point_group, ...)."
    )


def _slow_turn(R: Array) -> bool:
    """Whether a plane turns by no fraction of a turn with a small denominator: its vectors have many images."""
    turns = np.abs(np.angle(np.linalg.eigvals(R))) / (2 * np.pi)
    return any(abs(t - Fraction(t).limit_denominator(LIMITS[-1])) > _TURN for t in turns.tolist())


def _words(matrices: Sequence[Array]) -> Iterator[Array]:
    """The matrices other than the identity, and products of two and three of them."""
    short = [R for R in matrices if np.abs(R - np.eye(len(R))).max() > 1e-12]
    yield from short
    yield from (A @ B for A, B in itertools.islice(itertools.product(short, short), 100))
    yield from (A @ B @ C for A, B, C in itertools.islice(itertools.product(short, short, short), 200))


def _axes(matrices: Sequence[Array]) -> Iterator[Array]:
    """Mirror normals, rotation axes and other simple eigenvectors ±1 of generators, and then of short products.

    In between vectors that many elements fix: rotations in even dimensions have no simple eigenvector ±1, and that of a
    permutation of coordinates in general axes is moved by all others.
    """
    short = [R for R in matrices if np.abs(R - np.eye(len(R))).max() > 1e-12]
    yield from _simple_eigenvectors(short)
    yield from _moved_by_few(short)
    yield from _fixed_by_many(short)
    yield from _simple_eigenvectors(itertools.islice(_words(short), len(short), None))


def _simple_eigenvectors(words: Iterable[Array]) -> Iterator[Array]:
    """The unit vectors v with v R = ±v, where there is only one."""
    for word in words:
        for sign in (-1.0, 1.0):
            found = _kernel(word.T - sign * np.eye(len(word)))
            if len(found) == 1:
                yield found[0]


def _moved_by_few(matrices: Sequence[Array]) -> Iterator[Array]:
    """A vector of the space that a generator moves, where that space is small: a plane of a complex reflection.

    Vectors of the plane of a complex reflection are multiples of its root by numbers e^{it}, which commute with the
    group: each has as many images as a root has.
    """
    found = 0
    for R in matrices:
        moved = _kernel(_kernel(R.T - np.eye(len(R))))
        if 2 <= len(moved) <= len(R) / _SMALL_PART and found < _MOVED:
            found += 1
            yield moved[0]


def _fixed_by_many(matrices: Sequence[Array]) -> Iterator[Array]:
    """Vectors that all matrices fix, and vectors beside them that as many elements fix as random words show.

    The more elements fix a vector, the fewer images it has. Each word makes the vectors that are left fewer where it
    fixes some of them and not all. What is left in the end (in M24, turned, one vector of 24 or 276 images) is fixed by
    the same elements, whichever vector of it is taken.
    """
    if not matrices:
        return
    one = np.eye(len(matrices[0]))
    together = np.concatenate([R.T - one for R in matrices])
    yield from _kernel(together)
    moved = _kernel(_kernel(together))  # what is orthogonal to these
    rng = np.random.default_rng(0)  # a fixed seed: what is guessed changes the time, not the order of the group
    for _ in range(_DESCENTS):
        left, word = moved, one
        for _ in range(_STEPS):
            if rng.random() < _AFRESH:
                word = one
            word = word @ matrices[int(rng.integers(len(matrices)))]
            kept = _kernel((word.T - one) @ left.T) @ left
            if 0 < len(kept) < len(left):
                left = kept
            if len(left) == 1:
                break
        if len(left) < len(moved):
            yield from left


def _kernel(A: Array) -> Array:
    """Orthonormal rows v with A v = 0."""
    _, s, vt = np.linalg.svd(A, full_matrices=len(A) < A.shape[1])
    return vt[np.count_nonzero(s > 1e-8) :]


def _complement(span: Array) -> Iterator[Array]:
    """Coordinate vectors, projected on what is not spanned yet (which the group maps to itself)."""
    rest = np.eye(len(span)) - span @ span.T
    for v in rest:
        length = float(np.linalg.norm(v))
        if length > 1e-3:
            yield v / length


def _orbit(v: Array, matrices: Sequence[Array], limit: int) -> Vectors | None:
    orbit = Vectors(len(v))
    orbit.add(v)
    i = 0
    while i < len(orbit):
        for R in matrices:
            w = orbit.row(i) @ R
            if orbit.find(w) is None:
                orbit.add(w)
        if len(orbit) > limit:
            return None
        i += 1
    return orbit


def _span(points: Array) -> Array:
    _, s, vt = np.linalg.svd(points.T @ points)
    return vt[s > 1e-6].T
