"""Compiled harmonics of spheres: which kernel serves which sphere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from specavg.kernels._harmonics import HarmonicsOfS2
from specavg.kernels._products import PAIR, SOLID_STEP, SPHERE, ProductTree
from specavg.spaces import Eigenspace, Space, Sphere
from specavg.spaces._sphere import gegenbauer_recurrence

__all__ = ["Kernel", "harmonic_tree", "harmonics_kernel"]

Array = NDArray[np.float64]
_NOISE = 1e-14  # entries of an orthonormal Q below this are rounding


class Kernel(Protocol):
    """Three operations on all functions of some eigenspaces."""

    dim: int

    def sums(self, X: Array, Y: Array) -> Array: ...
    def combine(self, X: Array, C: Array) -> Array: ...
    def values(self, X: Array) -> Array: ...


def harmonics_kernel(
    space: Space, parts: Sequence[tuple[Eigenspace, Array | None]]
) -> tuple[Kernel, list[slice]] | None:
    """A compiled kernel for eigenspaces and where each has its columns; None where only NumPy can do it."""
    if not isinstance(space, Sphere) or not parts:
        return None
    degrees = [_degree(V) for V, _ in parts]
    if space.n_features == 3:
        orders = np.zeros(max(degrees) + 1, dtype=bool)
        for degree, (_, Q) in zip(degrees, parts, strict=True):
            orders[: degree + 1] |= _orders(degree, Q)
        return HarmonicsOfS2(max(degrees), orders), [slice(k * k, (k + 1) ** 2) for k in degrees]
    ends = np.cumsum([0, *(V.dim for V, _ in parts)])
    places = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    return harmonic_tree(space.n_features, degrees), places


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
