"""Stiefel manifolds: k orthonormal vectors in Rⁿ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb, fsum, prod
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._messages import whole_number
from specavg._random import as_generator
from specavg.functions._orthonormal_matrices import nearest_orthonormal, orthonormality_error, random_orthonormal
from specavg.functions._types_of_functions import Type
from specavg.isometries import Isometry
from specavg.isometries.fields import Field, two_sided
from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._matrix_space import MatrixSpace
from specavg.spaces._order_of_functions import Order
from specavg.spaces._orthogonal_irreps import givens, short_type
from specavg.spaces._orthogonal_types import Partition, multiplicity, type_dim, types_up_to
from specavg.spaces._rotation_gradients import gradient_by_rotations
from specavg.spaces._sphere import Sphere


@final
class Stiefel(MatrixSpace):
    """The n × k matrices with orthonormal columns, k < n: k-frames in Rⁿ.

    Points are (N, n, k) or flattened (N, n·k). Isometries are X ↦ A X Bᵀ with A and B orthogonal, n × n and k × k.

    Parameters
    ----------
    n : int
        Length of the vectors.
    k : int
        How many of them, 1 ≤ k < n.

    Notes
    -----
    The Laplacian is that of the canonical metric, the Casimir operator of so(n). Eigenspaces are sums of types λ
    of O(n), partitions with at most k rows, and the eigenvalue is Σ λ_i(λ_i + n − 2i). Functions of type λ are
    polynomials of degree |λ| in the entries, but eigenvalues are *not* in the order of degrees.

    With g any rotation whose first k columns are X, the functions of a type are √m ⟨t| ρ(g) |w⟩ over an
    orthonormal basis t of the type and w of its vectors fixed by O(n − k); they are listed with w fastest. So
    D(g) has one block per type, the Kronecker product of a left and a right matrix.

    Right multiplication by all of O(k) leaves functions on the Grassmann manifold of k-planes.

    The matrices of a type are sparse in the basis used here, so that tall manifolds are affordable: all functions of
    degree 4 on ``Stiefel(10, 3)`` (43,000) or of degree 3 on ``Stiefel(20, 2)`` (12,000) take seconds to build and
    some hundred megabytes. The number of functions is then what limits: it grows like (nk)^degree. Signed permutations
    of the rows have sparse matrices too. Other matrices from the left are dense, and a type of m dimensions takes m³
    steps. Eigenvalues are not in the order of degrees: up to 48, the last of degree 4 on ``Stiefel(10, 3)``, there are
    types of degree 5 as well.

    Examples
    --------
    >>> from itertools import islice
    >>> [(V.eigenvalue, V.dim, V.label) for V in islice(Stiefel(6, 3).eigenspaces(), 5)]
    [(0.0, 1, ((),)), (5.0, 18, ((1,),)), (8.0, 45, ((1, 1),)), (9.0, 20, ((1, 1, 1),)), (12.0, 120, ((2,),))]
    """

    _membership_remedy = (
        "Points are matrices with orthonormal columns: orthonormalise them, for instance with np.linalg.qr."
    )

    def __init__(self, n: int, k: int) -> None:
        if int(n) != n or int(k) != k or not 1 <= k <= n:
            raise ValueError(f"Stiefel(n, k) is k orthonormal vectors in R^n and needs 1 ≤ k < n; got {n!r}, {k!r}")
        if k == n:
            raise ValueError(
                f"Stiefel({n}, {n}) is O({n}), which has two separate parts; its rotations are Stiefel({n}, {n - 1}) "
                "(the last column follows from the others)" + ("; see also Rotations()" if n == 3 else "")
            )
        self._n, self._k = self._key = (int(n), int(k))

    @property
    def n(self) -> int:
        """Length of the vectors."""
        return self._n

    @property
    def k(self) -> int:
        """How many vectors."""
        return self._k

    @property
    def dim(self) -> int:
        return self._n * self._k - self._k * (self._k + 1) // 2

    @property
    def volume(self) -> float:
        return prod(sphere.volume for sphere in self._spheres)

    @property
    def log_volume(self) -> float:
        return fsum(sphere.log_volume for sphere in self._spheres)

    @property
    def _spheres(self) -> list[Sphere]:
        """The unit sphere in which each column lies when the columns after it are given."""
        return [Sphere(d) for d in range(self._n - self._k + 1, self._n + 1)]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._n, self._k)

    def __repr__(self) -> str:
        return f"Stiefel({self._n}, {self._k})"

    # --- eigenspaces -------------------------------------------------------------------------------

    def eigenspaces(self) -> Iterator[Eigenspace]:
        reached, bound = -1, 2 * self._n
        while True:
            types: dict[int, list[Partition]] = {}
            for value, shape in types_up_to(self._n, self._k, bound):
                types.setdefault(value, []).append(shape)
            for value, shapes in types.items():
                if value > reached:
                    dim = sum(self._type_dim(shape) for shape in shapes)
                    yield Eigenspace(float(value), dim, tuple(shapes))
            reached, bound = bound, 2 * bound

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        if not order.separates_types:
            return super().ordered(order)
        types = ((V, shape) for V in self.eigenspaces() for shape in _types(V))
        return (Eigenspace(V.eigenvalue, self._type_dim(shape), (shape,)) for V, shape in types)

    @property
    def type_spectrum(self) -> str | None:
        return "partition"

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        shapes = _types(eigenspace)
        return tuple(map(float, shapes[0])) if len(shapes) == 1 else None

    def _type_dim(self, shape: Partition) -> int:
        return type_dim(shape, self._n) * multiplicity(shape, self._n, self._k)

    def left_sizes(self, eigenspace: Eigenspace) -> list[int]:
        return [type_dim(shape, self._n) for shape in _types(eigenspace)]

    def degree(self, eigenspace: Eigenspace) -> int:
        """The degree of its functions as polynomials in the entries of X."""
        return max(sum(shape) for shape in _types(eigenspace))

    def _combined_gradient(self, eigenspace: Eigenspace, X: Array, C: Array) -> Array:
        return gradient_by_rotations(self._n, X, self._evaluate(eigenspace, X), self._turned(eigenspace, C))

    def _turned(self, eigenspace: Eigenspace, C: Array) -> Iterator[Array]:
        """The products dD C for the rotations in every plane of two coordinates, which act on t and leave w alone."""
        shapes = _types(eigenspace)
        blocks = np.split(C, np.cumsum([self._type_dim(shape) for shape in shapes])[:-1])
        types = [(short_type(shape, self._n)[0], block) for shape, block in zip(shapes, blocks, strict=True)]
        for plane in combinations(range(self._n), 2):
            moved = [rho.generators[plane] @ block.reshape(rho.dim, -1) for rho, block in types]
            yield np.concatenate([rows.reshape(block.shape) for rows, block in zip(moved, blocks, strict=True)])

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        turns = givens(nearest_orthonormal(X.reshape(-1, self._n, self._k)))
        parts: list[Array] = []
        for shape in _types(eigenspace):
            rho, _ = short_type(shape, self._n)
            values = rho.turned(_fixed(shape, self._n, self._k), turns)
            parts.append(np.sqrt(rho.dim) * values.reshape(len(X), self._type_dim(shape)))
        return np.concatenate(parts, axis=1)

    # --- isometries --------------------------------------------------------------------------------

    def one_sided_representations(self, g: Isometry, eigenspace: Eigenspace, side: int) -> list[Array]:
        checked = self.check_isometry(g)
        A = np.asarray((checked.right if side else checked.left).matrix, dtype=np.float64)
        inside = np.eye(self._n)
        inside[: len(A), : len(A)] = A
        found: list[Array] = []
        for shape in _types(eigenspace):
            rho, det = short_type(shape, self._n)
            if side:
                W = _fixed(shape, self._n, self._k)
                matrix = W.T @ rho.matrix(inside, W)
            else:
                matrix = rho.matrix(inside)
            found.append((matrix * np.sign(np.linalg.det(A)) if det else matrix).T)
        return found

    def left_classes(self, g: Isometry, eigenspace: Eigenspace) -> list[tuple[Any, list[tuple[int, int]]]]:
        """D_left of each type, sparse, for a signed permutation from the left, and the classes that it permutes."""
        A = np.asarray(self.check_isometry(g).left.matrix, dtype=np.float64)
        found: list[tuple[Any, list[tuple[int, int]]]] = []
        for shape in _types(eigenspace):
            rho, det = short_type(shape, self._n)
            matrix = rho.quarter_turned(A)
            found.append(((matrix * np.sign(np.linalg.det(A)) if det else matrix).T.tocsr(), rho.classes))
        return found

    def right_sizes(self, eigenspace: Eigenspace) -> list[int]:
        return [multiplicity(shape, self._n, self._k) for shape in _types(eigenspace)]

    def type_degrees(self, eigenspace: Eigenspace) -> list[int]:
        """The degree of the functions of each type in the eigenspace."""
        return [sum(shape) for shape in _types(eigenspace)]

    def parity_classes(self, eigenspace: Eigenspace) -> list[int]:
        """How many classes of parities the vectors of each type have, at most."""
        return [
            sum(comb(self._n, odd) for odd in range(degree % 2, min(degree, self._n) + 1, 2))
            for degree in self.type_degrees(eigenspace)
        ]

    def factor_infinitesimals(self, field: Field, eigenspace: Eigenspace) -> list[tuple[Array, Array]]:
        left, right = two_sided(self.check_field(field), self._k)
        inside = np.zeros((self._n, self._n))
        inside[: self._k, : self._k] = right.matrix
        pairs: list[tuple[Array, Array]] = []
        for shape in _types(eigenspace):
            rho, _ = short_type(shape, self._n)  # the determinant of a rotation is 1
            W = _fixed(shape, self._n, self._k)
            pairs.append((rho.derivative(left.matrix).toarray().T, (W.T @ (rho.derivative(inside) @ W)).T))
        return pairs

    # --- points ------------------------------------------------------------------------------------

    def _membership_error(self, X: Array) -> Array:
        return orthonormality_error(X.reshape(-1, self._n, self._k)) / self._membership_unit(X)

    def sample(self, n: int, random_state: Any = None) -> Array:
        n = whole_number(n, "n", 0)
        frames = random_orthonormal(n, self._n, self._k, as_generator(random_state))
        return frames.reshape(n, self.n_features)

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        # The first column by a rule on the sphere, the others by a rule on the frames across it. The inner rule is
        # exact whatever basis of the complement is used, and what it leaves is a polynomial of the first column.
        bound = int(np.floor(max_eigenvalue * (1 + 1e-9) + 1e-9))
        degree = max(sum(shape) for _, shape in types_up_to(self._n, self._k, bound))
        sizes = [(2 * degree + 1) * (degree + 1.0) ** (d - 2) for d in self._sphere_sizes]
        total = prod(sizes)
        require_memory(8.0 * 4 * total * self._n**2, f"a product rule of {total:.3g} frames", "Lower max_eigenvalue.")
        X, weights = np.zeros((1, self._n - self._k, 0)), np.ones(1)
        for d in reversed(self._sphere_sizes):
            first, w = Sphere(d).quadrature(float(degree * (degree + d - 2)))
            across = np.einsum("pij,qja->pqia", _complements(first), X)  # (p, q, d, columns so far)
            column = np.broadcast_to(first[:, None, :, None], (*across.shape[:3], 1))
            X = np.concatenate([column, across], axis=3).reshape(len(w) * len(weights), d, -1)
            weights = np.kron(w, weights)
        return X.reshape(len(X), -1), np.asarray(weights, dtype=np.float64)

    @property
    def _sphere_sizes(self) -> list[int]:
        return list(range(self._n, self._n - self._k, -1))


def _types(eigenspace: Eigenspace) -> tuple[Partition, ...]:
    return eigenspace.label  # pyright: ignore[reportReturnType]


@lru_cache(maxsize=1024)
def _fixed(shape: Partition, n: int, k: int) -> Array:
    if not shape:
        return np.ones((1, 1))  # the constant is +1: an eigenvector could be −1 as well
    rho, det = short_type(shape, n)
    return rho.fixed_vectors(k, multiplicity(shape, n, k), det=det)  # (m, multiplicity)


def _complements(x: Array) -> Array:
    """An orthonormal basis of the complement of each unit vector: the other columns of a reflection."""
    # (p, d) -> (p, d, d − 1); the reflection takes e₁ to ∓x, the sign that cancels nothing
    v = x.copy()
    v[:, 0] += np.where(x[:, 0] < 0, -1.0, 1.0)
    v /= np.sqrt(np.einsum("pi,pi->p", v, v))[:, None]
    d = x.shape[1]
    return np.eye(d)[:, 1:] - 2 * v[:, :, None] * v[:, None, 1:]
