"""Combinations of all eigenfunctions of eigenspaces, and the compiled kernels that serve spheres."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from specavg.invariants._functions import Functions, compensated_sum
from specavg.kernels._harmonics import HarmonicsOfS2
from specavg.kernels._products import PAIR, SOLID_STEP, SPHERE, ProductTree
from specavg.kernels._rotations import WignerFunctions
from specavg.spaces import Eigenspace, Rotations, Space, Sphere
from specavg.spaces._matrices import nearest_orthonormal
from specavg.spaces._sphere import gegenbauer_recurrence
from specavg.spaces._wigner import euler_angles

__all__ = ["HarmonicSums", "harmonic_tree"]

Array = NDArray[np.float64]
_NOISE = 1e-14  # entries of an orthonormal Q below this are rounding


class Kernel(Protocol):
    """Three operations on all functions of some eigenspaces."""

    dim: int

    def sums(self, X: Array, Y: Array) -> Array: ...
    def combine(self, X: Array, C: Array) -> Array: ...
    def values(self, X: Array) -> Array: ...


@final
class HarmonicSums(Functions):
    """Combinations φ·Q of the eigenfunctions of each eigenspace (all of them where Q is None)."""

    def __init__(self, space: Space, parts: Sequence[tuple[Eigenspace, Array | None]]) -> None:
        self._space = space
        self._parts = [(V, Q) for V, Q in parts if Q is None or Q.shape[1]]
        self._ends = np.cumsum([0, *(V.dim if Q is None else Q.shape[1] for V, Q in self._parts)])

    @cached_property
    def _kernel(self) -> tuple[Kernel, list[slice]] | None:
        return harmonics_kernel(self._space, self._parts)

    @property
    def dim(self) -> int:
        return int(self._ends[-1])

    @property
    def row_bytes(self) -> float:
        if self._kernel is not None:
            return 8.0 * (self._kernel[0].dim + self.dim)
        return 8.0 * (4 * max((V.dim for V, _ in self._parts), default=1) + self.dim)

    def _values(self, X: Array) -> Array:
        if self._kernel is None:
            return self.plain_values(X)
        kernel, places = self._kernel
        harmonics = kernel.values(X)
        if self._everything:
            return harmonics
        columns = [
            harmonics[:, place] if Q is None else harmonics[:, place] @ Q
            for (_, Q), place in zip(self._parts, places, strict=True)
        ]
        return np.concatenate([np.empty((len(X), 0)), *columns], axis=1)

    @cached_property
    def _everything(self) -> bool:
        """Whether the functions of the kernel are the functions of the family, in the same order."""
        return self._kernel is not None and self.dim == self._kernel[0].dim and all(Q is None for _, Q in self._parts)

    def evaluate(self, X: Array) -> Array:
        if not self._everything:
            return super().evaluate(X)
        self._require_values(len(X))
        return self._values(X)

    def plain_values(self, X: Array) -> Array:
        columns = [np.empty((len(X), 0))]
        for V, Q in self._parts:
            values = self._space._evaluate(V, X)  # pyright: ignore[reportPrivateUsage]
            columns.append(values if Q is None else values @ Q)
        return np.concatenate(columns, axis=1)

    # The projection Q comes after a sum over points, and before a combination: never once a point.

    def correlate(self, X: Array, Y: Array) -> Array:
        if self._kernel is not None:
            kernel, places = self._kernel
            sums = kernel.sums(X, Y)
            totals = [sums[place] for place in places]
        else:
            totals = [self._sums(V, X, Y) for V, _ in self._parts]
        projected = [S if Q is None else Q.T @ S for (_, Q), S in zip(self._parts, totals, strict=True)]
        return np.concatenate([np.empty((0, Y.shape[1])), *projected])

    def combine(self, X: Array, C: Array) -> Array:
        blocks = zip(self._parts, self._ends[:-1], self._ends[1:], strict=True)
        mixed = [C[a:b] if Q is None else Q @ C[a:b] for (_, Q), a, b in blocks]
        if self._kernel is not None:
            kernel, places = self._kernel
            coefficients = np.zeros((kernel.dim, C.shape[1]))
            for place, part in zip(places, mixed, strict=True):
                coefficients[place] = part
            return kernel.combine(X, coefficients)
        values = np.zeros((len(X), C.shape[1]))
        for (V, _), part in zip(self._parts, mixed, strict=True):
            for rows in self.chunks(len(X)):
                values[rows] += self._space._evaluate(V, X[rows]) @ part  # pyright: ignore[reportPrivateUsage]
        return values

    def _sums(self, V: Eigenspace, X: Array, Y: Array) -> Array:
        parts = (self._space._evaluate(V, X[rows]).T @ Y[rows] for rows in self.chunks(len(X)))  # pyright: ignore[reportPrivateUsage]
        return compensated_sum(parts, (V.dim, Y.shape[1]))


def harmonics_kernel(
    space: Space, parts: Sequence[tuple[Eigenspace, Array | None]]
) -> tuple[Kernel, list[slice]] | None:
    """A compiled kernel for eigenspaces and where each has its columns; None where only NumPy can do it."""
    if not isinstance(space, Rotations | Sphere) or not parts:
        return None
    degrees = [_degree(V) for V, _ in parts]
    if isinstance(space, Rotations):
        ends = np.cumsum([0, *((2 * l + 1) ** 2 for l in range(max(degrees) + 1))])
        return _OnRotations(max(degrees)), [slice(int(ends[l]), int(ends[l + 1])) for l in degrees]
    if space.n_features == 3:
        orders = np.zeros(max(degrees) + 1, dtype=bool)
        for degree, (_, Q) in zip(degrees, parts, strict=True):
            orders[: degree + 1] |= _orders(degree, Q)
        return HarmonicsOfS2(max(degrees), orders), [slice(k * k, (k + 1) ** 2) for k in degrees]
    ends = np.cumsum([0, *(V.dim for V, _ in parts)])
    places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    return harmonic_tree(space.n_features, degrees), places


@final
class _OnRotations:
    """The compiled Wigner functions at rotation matrices."""

    def __init__(self, degree: int) -> None:
        self._functions = WignerFunctions(degree)
        self.dim = self._functions.dim

    def sums(self, X: Array, Y: Array) -> Array:
        return self._functions.sums(_euler(X), Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._functions.combine(_euler(X), C)

    def values(self, X: Array) -> Array:
        return self._functions.values(_euler(X))


def _euler(X: Array) -> Array:
    """What the Wigner kernel reads: cos α, sin α, cos γ, sin γ, cos β, cos β/2, sin β/2."""  # (n, 9) -> (n, 7)
    alpha, beta, gamma = euler_angles(nearest_orthonormal(X.reshape(-1, 3, 3)))
    around = [function(angle) for angle in (alpha, gamma) for function in (np.cos, np.sin)]
    return np.stack([*around, np.cos(beta), np.cos(beta / 2), np.sin(beta / 2)], axis=1)


def _degree(V: Eigenspace) -> int:
    assert isinstance(V.label, int)
    return V.label


def _orders(degree: int, Q: Array | None) -> NDArray[np.bool_]:
    """The orders 0..degree on which invariants of S² depend: a k-fold axis leaves one in k."""
    if Q is None:
        return np.ones(degree + 1, dtype=bool)
    rows = np.abs(Q).max(axis=1, initial=0.0) > _NOISE
    return np.concatenate([rows[:1], rows[1::2] | rows[2::2]])


def harmonic_tree(d: int, degrees: Sequence[int], even: bool = False) -> ProductTree:
    """Harmonics of several degrees on the sphere of R^d as products along a tree; `even` ones only.

    Y(x) = p(x_i) · Y'(x_1, …, x_{i−1}), one coordinate after the other, in the order of `Sphere`. Where p is
    constant there is no factor, so that a product has at most `degree` of them, whatever d is.
    """
    top = max(degrees, default=0)
    operations: list[tuple[int, int, int, int, int]] = []
    constants: list[tuple[float, float]] = []
    for j in range(1, top + 1):  # rows 2j − 2 and 2j − 1: real and imaginary part of (x + iy)^j
        re, im = (2 * j - 4, 2 * j - 3) if j > 1 else (-1, -1)
        operations += [(PAIR, 0, re, im, 1), (PAIR, 0 if j > 1 else 1, im, re, 1)]
        constants += [(1.0, -1.0), (1.0, 1.0)]
    parents, factors = [np.zeros(1, dtype=np.int64)], [np.full(1, -1, dtype=np.int64)]
    count = 1

    def grown(parent: NDArray[np.int64], factor: NDArray[np.int64]) -> NDArray[np.int64]:
        nonlocal count
        parents.append(parent)
        factors.append(factor)
        count += len(parent)
        return np.arange(count - len(parent), count)

    nodes = [np.zeros(1, dtype=np.int64)]
    weights = [np.ones(1)]
    for j in range(1, top + 1):
        rows = np.array([2 * j - 2] if even else [2 * j - 2, 2 * j - 1], dtype=np.int64)
        nodes.append(grown(np.zeros(len(rows), dtype=np.int64), rows))
        weights.append(np.full(len(rows), np.sqrt(2.0)))
    for i in range(3, d + 1):
        lifted: list[list[NDArray[np.int64]]] = [[] for _ in range(top + 1)]
        lifted_weights: list[list[Array]] = [[] for _ in range(top + 1)]
        scale = 1.0  # 1/√E[(1 − t²)^j]
        for j in range(top + 1):
            if not (even and j % 2):
                first = len(operations)
                a = gegenbauer_recurrence(np.arange(1.0, top - j + 1), j + (i - 2) / 2)
                for n in range(1, top - j + 1):
                    one, two = (first + n - 2 if n > 1 else -1), (first + n - 3 if n > 2 else -1)
                    operations.append((SOLID_STEP, i - 1, one, two, 0))
                    constants.append((1.0 / a[n - 1], a[n - 2] / a[n - 1] if n > 1 else 0.0))
                for k in range(j, top + 1, 2 if even else 1):
                    row = np.full(len(nodes[j]), first + k - j - 1, dtype=np.int64)
                    lifted[k].append(nodes[j] if k == j else grown(nodes[j], row))
                    lifted_weights[k].append(scale * weights[j])
            scale *= np.sqrt((i / 2 + j) / ((i - 1) / 2 + j))
        nodes = [np.concatenate([np.empty(0, dtype=np.int64), *part]) for part in lifted]
        weights = [np.concatenate([np.empty(0), *part]) for part in lifted_weights]
    return ProductTree(
        SPHERE,
        np.ones(1),
        np.array(operations, dtype=np.int64),
        np.array(constants),
        np.concatenate(parents),
        np.concatenate(factors),
        np.concatenate([np.empty(0, dtype=np.int64), *(nodes[k] for k in degrees)]),
        np.concatenate([np.empty(0), *(weights[k] for k in degrees)]),
        solid=True,
    )
