"""Faithful permutation actions: a group of isometries as a group of permutations of finitely many functions.

An isometry g moves functions from the right, f ↦ f∘g. A finite set of functions that the generators permute
and that separates points carries the whole group, exactly, even where the isometries themselves are floating
point:

- coordinates, with their negatives, for signed permutations;
- affine functions k·u + θ, with exact θ, for maps of a torus; without shifts, functions k·u of short orbits;
- the orbit of a few vectors for orthogonal matrices, mirror normals and rotation axes first: they have short
  orbits (240 roots for the 696,729,600 elements of the Weyl group of E8);
- those of the parts, side by side, for factors; those of one copy, carried to the others, for copies.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.groups.recognition._vectors import invariant_vectors
from specavg.isometries import Affine, Copies, Factors, Isometry, LeftRight, Orthogonal, SignedPermutation, orthogonal
from specavg.isometries._affine import affine_map

Permutation = NDArray[np.intp]

AFFINE_LIMIT = 20_000  # functions in the orbit of the coordinates
SHORT_ORBIT = 3_000  # functions in an orbit that is looked for in place of the coordinates: E8 has 240


class Action(abc.ABC):
    """A faithful action on 0..degree−1, with ``permutation(g @ h) == permutation(h)[permutation(g)]``."""

    degree: int  # how many functions are permuted

    @abc.abstractmethod
    def permutation(self, g: Isometry) -> Permutation:
        """The number of the function to which `g` takes each function."""

    @abc.abstractmethod
    def isometry(self, permutation: NDArray[np.integer]) -> Isometry:
        """The isometry that does this to the functions."""


def faithful_action(generators: Sequence[Isometry]) -> Action:
    """A faithful permutation action of the group with these generators."""
    # An identity may be written in any kind, except that maps with parts and two-sided maps show what a point is.
    kinds = {type(g) for g in generators if not g.is_identity or isinstance(g, Factors | Copies | LeftRight)}
    if kinds <= {SignedPermutation}:
        return SignedAction(generators[0].size)
    if kinds <= {SignedPermutation, Orthogonal}:
        return _LinearAction([_matrix(g) for g in generators])
    if kinds <= {SignedPermutation, Affine}:
        return _integer_action(generators) or _AffineAction(generators)
    if kinds <= {SignedPermutation, Orthogonal, LeftRight}:
        return _LeftRightAction(generators)
    if kinds <= {Factors}:
        return _FactorsAction([g for g in generators if isinstance(g, Factors)])
    if kinds <= {Copies}:
        return _CopiesAction([g for g in generators if isinstance(g, Copies)])
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(f"the generators are maps of different spaces ({names}) and cannot generate a group together")


@final
class SignedAction(Action):
    """Coordinates 0..d−1 and their negatives d..2d−1."""

    def __init__(self, d: int) -> None:
        self._d, self.degree = d, 2 * d

    def permutation(self, g: Isometry) -> Permutation:
        assert isinstance(g, SignedPermutation)
        d = self._d
        plus = g.image_array + d * (g.signs_array < 0)
        return np.concatenate([plus, (plus + d) % (2 * d)])

    def isometry(self, permutation: NDArray[np.integer]) -> SignedPermutation:
        plus = permutation[: self._d]
        signs = np.where(plus < self._d, 1, -1)
        return SignedPermutation(tuple((plus % self._d).tolist()), tuple(signs.tolist()))


@final
class _AffineAction(Action):
    """The orbit of the coordinates of a torus among the functions k·u + θ, θ modulo 1."""

    def __init__(self, generators: Sequence[Isometry]) -> None:
        d = self._d = generators[0].size
        maps = [_affine(g) for g in generators]
        zero = Fraction(0)
        self._functions = [(tuple(int(i == j) for j in range(d)), zero) for i in range(d)]
        self._index = {f: i for i, f in enumerate(self._functions)}
        for f in self._functions:  # grows while it is read
            for A, t in maps:
                moved = _composed(f, A, t)
                if moved not in self._index:
                    self._index[moved] = len(self._functions)
                    self._functions.append(moved)
            if len(self._functions) > AFFINE_LIMIT:
                raise ValueError(
                    f"the coordinates of the torus have more than {AFFINE_LIMIT} images under these maps: the group is "
                    "infinite (a shear, say) or too large to find its order from plain generators. If its structure is "
                    "known, use the catalogue (groups.cyclic, groups.direct_product, ...)."
                )
        self.degree = len(self._functions)

    def permutation(self, g: Isometry) -> Permutation:
        A, t = _affine(g)
        return np.array([self._index[_composed(f, A, t)] for f in self._functions])

    def isometry(self, permutation: NDArray[np.integer]) -> Isometry:
        moved = [self._functions[p] for p in permutation[: self._d]]
        return affine_map([k for k, _ in moved], [theta for _, theta in moved])


@final
class _IntegerAction(Action):
    """Functions k·u that integer matrices permute and that span all of them. Without shifts they tell every element."""

    def __init__(self, functions: Sequence[tuple[int, ...]]) -> None:
        self._rows = np.array(functions, dtype=np.int64)  # (N, d)
        self._index = {k: i for i, k in enumerate(functions)}
        self.degree = len(functions)

    def permutation(self, g: Isometry) -> Permutation:
        moved: list[list[int]] = (self._rows @ np.array(_affine(g)[0])).tolist()
        return np.array([self._index[tuple(k)] for k in moved])

    def isometry(self, permutation: NDArray[np.integer]) -> Isometry:
        A = np.rint(np.linalg.pinv(self._rows) @ self._rows[permutation]).astype(np.int64)
        return affine_map(A, [Fraction(0)] * len(A))


def _integer_action(generators: Sequence[Isometry]) -> _IntegerAction | None:
    """The orbits of functions k·u that a generator keeps up to a sign; None with shifts, or where orbits are long.

    The coordinates in a basis of the lattice of E8 have 483,840 images; the functions that reflections turn round, 240.
    """
    maps = [_affine(g) for g in generators]
    if any(any(t) for _, t in maps):
        return None
    matrices, found = [np.array(A, dtype=np.int64) for A, _ in maps], dict[tuple[int, ...], None]()
    for A in matrices:
        for sign in (-1, 1):
            k = _kept_function(A, sign)
            if k is None or k in found:
                continue
            orbit = {k: None}
            for row in (queue := [k]):  # grows while it is read
                for moved in (tuple((np.array(row) @ B).tolist()) for B in matrices):
                    if moved not in orbit:
                        orbit[moved] = None
                        queue.append(moved)
                if len(orbit) > SHORT_ORBIT:
                    break
            else:
                found |= orbit
                if np.linalg.matrix_rank(np.array(list(found), dtype=float)) == len(A):
                    return _IntegerAction(list(found))
    return None


def _kept_function(A: NDArray[np.int64], sign: int) -> tuple[int, ...] | None:
    """The coprime integers k with kA = ±k, if there is one such function and its integers are small."""
    _, sizes, vt = np.linalg.svd((A - sign * np.eye(len(A))).T)
    if np.sum(sizes < 1e-9) != 1:  # of integers: zeros of rounding are far smaller
        return None
    unit = [Fraction(x / np.abs(vt[-1]).max()).limit_denominator(SHORT_ORBIT) for x in vt[-1]]
    scaled = [int(x * math.lcm(*(x.denominator for x in unit))) for x in unit]
    k = np.array(scaled) // math.gcd(*scaled)
    return tuple(k.tolist()) if np.array_equal(k @ A, sign * k) else None


@final
class _LinearAction(Action):
    """An orbit, or a union of orbits, of row vectors that span R^d."""

    def __init__(self, matrices: Sequence[Array], first: Sequence[Array] = ()) -> None:
        self._vectors = invariant_vectors(matrices, first)
        self._points = self._vectors.points
        self.degree = len(self._points)

    def permutation(self, g: Isometry) -> Permutation:
        return self._vectors.permutation(_matrix(g))

    def isometry(self, permutation: NDArray[np.integer]) -> SignedPermutation | Orthogonal:
        return rounded(self.matrix(permutation))

    def matrix(self, permutation: NDArray[np.integer]) -> Array:
        """The orthogonal matrix, from all vectors at once: rounding does not build up along words."""
        u, _, vt = np.linalg.svd(self._pseudoinverse @ self._points[permutation])
        return np.asarray(u @ vt, dtype=float)

    @cached_property
    def _pseudoinverse(self) -> Array:
        return np.asarray(np.linalg.pinv(self._points), dtype=float)


@final
class _LeftRightAction(Action):
    """X ↦ A X Bᵀ as a linear map of the entries of X. (A, B) and (−A, −B) are the same map."""

    def __init__(self, generators: Sequence[Isometry]) -> None:
        self._rows, self._columns = next((g.left.size, g.right.size) for g in generators if isinstance(g, LeftRight))
        pairs = [self._pair(g) for g in generators]
        # Products of vectors with few images on either side have few images too.
        lefts, rights = (invariant_vectors(matrices).points for matrices in zip(*pairs, strict=True))
        products = [np.kron(a, b) for a in lefts for b in rights] if len(lefts) * len(rights) <= SHORT_ORBIT else []
        self._linear = _LinearAction([self._kronecker(g) for g in generators], products)
        self.degree = self._linear.degree

    def _pair(self, g: Isometry) -> tuple[Array, Array]:
        if isinstance(g, LeftRight):
            return g.left.matrix, g.right.matrix
        return _matrix(g), np.eye(self._columns)

    def _kronecker(self, g: Isometry) -> Array:
        return np.asarray(np.kron(*self._pair(g)), dtype=float)

    def permutation(self, g: Isometry) -> Permutation:
        return self._linear.permutation(Orthogonal(self._kronecker(g)))

    def isometry(self, permutation: NDArray[np.integer]) -> LeftRight:
        n, k = self._rows, self._columns
        blocks = self._linear.matrix(permutation).reshape(n, k, n, k).transpose(0, 2, 1, 3)  # A[i,j] B[a,b]
        u, _, vt = np.linalg.svd(blocks.reshape(n * n, k * k))  # of rank one
        A, B = np.sqrt(n) * u[:, 0].reshape(n, n), np.sqrt(k) * vt[0].reshape(k, k)
        sign = np.sign(np.linalg.det(A)) if n % 2 else np.sign(A.flat[np.argmax(np.abs(A) > 1e-6)])
        return LeftRight(rounded(sign * A), rounded(sign * B))


@final
class _FactorsAction(Action):
    """The functions of the factors, one after the other."""

    def __init__(self, generators: Sequence[Factors]) -> None:
        self._parts = [faithful_action([g.parts[i] for g in generators]) for i in range(generators[0].size)]
        self._ends = np.cumsum([0, *(part.degree for part in self._parts)])
        self.degree = int(self._ends[-1])

    def permutation(self, g: Isometry) -> Permutation:
        assert isinstance(g, Factors)
        moved = [a.permutation(part) + o for a, part, o in zip(self._parts, g.parts, self._ends, strict=False)]
        return np.concatenate(moved)

    def isometry(self, permutation: NDArray[np.integer]) -> Factors:
        ends = self._ends
        return Factors(
            tuple(a.isometry(permutation[i:j] - i) for a, i, j in zip(self._parts, ends, ends[1:], strict=False))
        )


@final
class _CopiesAction(Action):
    """Functions on every copy: f on copy i goes to f∘g_i on copy image[i].

    Copies that are exchanged have the functions of one of them, the root, carried to each along a path of generators:
    f∘T_i on copy i. So only what comes back to the root has to be a finite group. The maps of different copies need not
    be one together, such as turns by thirds around an axis of its own for each.
    """

    def __init__(self, generators: Sequence[Copies]) -> None:
        m = generators[0].size
        self._carried: dict[int, Isometry] = {}  # T_i
        self._roots, self._back = [0] * m, dict[int, Isometry]()  # the root of each copy, and the inverse of T_i
        self._parts: dict[int, Action] = {}  # of each root
        for root in range(m):
            if root in self._carried:
                continue
            part = generators[0].parts[root]
            self._carried[root] = part.inverse() @ part
            queue = [root]
            for i in queue:  # grows while it is read
                self._roots[i], self._back[i] = root, self._carried[i].inverse()
                for g in generators:
                    if g.image[i] not in self._carried:
                        self._carried[g.image[i]] = self._carried[i] @ g.parts[i]
                        queue.append(g.image[i])
            self._parts[root] = faithful_action([self._at_root(g, i) for g in generators for i in queue])
        degrees = [self._parts[root].degree for root in self._roots]
        self._ends = np.cumsum([0, *degrees])
        self.degree = int(self._ends[-1])

    def _at_root(self, g: Copies, i: int) -> Isometry:
        """What `g` does to the functions of copy i, as a map of the root."""
        return self._carried[i] @ g.parts[i] @ self._back[g.image[i]]

    def permutation(self, g: Isometry) -> Permutation:
        assert isinstance(g, Copies)
        moved = [
            self._parts[root].permutation(self._at_root(g, i)) + self._ends[g.image[i]]
            for i, root in enumerate(self._roots)
        ]
        return np.concatenate(moved)

    def isometry(self, permutation: NDArray[np.integer]) -> Copies:
        blocks = [permutation[i:j] for i, j in zip(self._ends, self._ends[1:], strict=False)]
        image = [int(np.searchsorted(self._ends, block[0], side="right")) - 1 for block in blocks]
        parts = (
            self._back[i] @ self._parts[self._roots[i]].isometry(block - self._ends[j]) @ self._carried[j]
            for i, (j, block) in enumerate(zip(image, blocks, strict=True))
        )
        return Copies(tuple(image), tuple(parts))


# --- helpers --------------------------------------------------------------------------------------


def rounded(R: Array) -> SignedPermutation | Orthogonal:
    """`R` as an isometry; a signed permutation where it can be nothing else."""
    integers = np.rint(R)
    return orthogonal(integers if np.abs(R - integers).max(initial=0.0) < 1e-9 else R)


def _matrix(g: Isometry) -> Array:
    return cast("SignedPermutation | Orthogonal", g).matrix


def _affine(g: Isometry) -> tuple[list[list[int]], tuple[Fraction, ...]]:
    if isinstance(g, Affine):
        if not g.is_exact:
            raise ValueError(
                f"{g!r} shifts by a floating-point number of periods, which has no exact order. Give shifts as "
                "exact fractions, such as '1/3' or Fraction(w).limit_denominator(24) of a translation w; Fraction(w) "
                "alone keeps the rounding of w. Of the cell of a crystal, crystals.positions makes the group."
            )
        return g.matrix.tolist(), cast("tuple[Fraction, ...]", g.shift)
    return _matrix(g).astype(int).tolist(), (Fraction(0),) * g.size


def _composed(
    f: tuple[tuple[int, ...], Fraction], A: list[list[int]], t: tuple[Fraction, ...]
) -> tuple[tuple[int, ...], Fraction]:
    """The function u ↦ k·(A u + t) + θ."""
    k, theta = f
    used = [(a, i) for i, a in enumerate(k) if a]
    moved = tuple(sum(a * A[i][j] for a, i in used) for j in range(len(k)))
    return moved, (theta + sum((a * t[i] for a, i in used), start=Fraction(0))) % 1
