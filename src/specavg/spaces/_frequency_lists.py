"""The frequencies of a flat torus, listed by eigenvalue: all of them, or those of a lattice of frequencies.

Lists are cached by the value of the torus, and bounds are rounded up to powers of two, so that few of them serve all
eigenspaces.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from specavg.functions._frequency_types import waves_of_types
from specavg.functions._integer_vectors import ellipsoid, shell_vectors
from specavg.spaces._eigenspace import SAME_EIGENVALUE, Eigenspace

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus

__all__ = ["eigenspaces_below", "frequencies_in_lattice", "listed_frequencies"]

Frequencies = NDArray[np.int64]
# Part by which a range of eigenvalues is widened when its frequencies are picked out again: far above rounding and far
# below `SAME_EIGENVALUE`. The second is for eigenvalues in the basis of a lattice, whose entries may be large.
_ROUNDING, _ROUNDING_IN_LATTICE = 1e-12, 1e-10


@lru_cache(maxsize=64)
def listed_frequencies(space: Torus, eigenspace: Eigenspace) -> Frequencies:
    """One of each pair ±k of an eigenspace, first non-zero entry positive."""  # (⌈m/2⌉, d)
    label: Any = eigenspace.label
    if isinstance(label, int):  # |k|² on a cube
        return shell_vectors(space.dim, label)
    if isinstance(label[0], tuple):  # types of frequencies, in another order than the Laplacian's
        return waves_of_types(space.dim, label)
    low, high = label  # a range of eigenvalues
    K, values = _ball(space, _rounded_up(high))
    return _halved(K[_between(values, low, high, _ROUNDING)])


def _rounded_up(bound: float) -> float:
    """The next power of two, so that few listings serve all eigenspaces."""
    return float(2.0 ** np.ceil(np.log2(bound))) if bound > 0 else 0.0


@lru_cache(maxsize=8)
def _ball(space: Torus, bound: float) -> tuple[Frequencies, NDArray[np.float64]]:
    """All frequencies with eigenvalue up to a little more than `bound`, by eigenvalue."""
    W = space.dual_metric
    short = space.short_basis
    K, values = _by_value(W, bound)
    return (K if short is None else short.frequencies(K)), values


def _by_value(W: NDArray[np.float64], bound: float) -> tuple[Frequencies, NDArray[np.float64]]:
    """All integer vectors k with kᵀWk up to a little more than `bound`, and these values, the smallest first."""
    K = ellipsoid(W, bound * (1 + 1e-9))
    values = np.einsum("ki,ij,kj->k", K, W, K)
    order = np.argsort(values, kind="stable")
    return K[order], values[order]


def _between(values: NDArray[np.float64], low: float, high: float, rounding: float) -> slice:
    """The places of sorted values from `low` to `high`, up to rounding, both included: the constant has 0 and 0."""
    first = np.searchsorted(values, low * (1 - rounding), "left")
    return slice(int(first), int(np.searchsorted(values, high * (1 + rounding), "right")))


def _halved(K: Frequencies) -> Frequencies:
    """One of each pair ±k, first non-zero entry positive, sorted."""
    first = np.take_along_axis(K, (K != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    K = K[(first > 0) | ~K.any(axis=1)]
    return K[np.lexsort(K.T[::-1])]


@lru_cache(maxsize=64)
def frequencies_in_lattice(space: Torus, eigenspace: Eigenspace, shape: tuple[int, int], basis: bytes) -> Frequencies:
    """Those of them that lie in a lattice, whose basis is given as the bytes of its rows."""  # (h, d)
    B = np.frombuffer(basis, dtype=np.int64).reshape(shape)
    label: Any = eigenspace.label
    step = int(B[0, 0])
    if np.array_equal(B, step * np.eye(len(B), dtype=np.int64)):  # every step-th frequency of each coordinate
        if isinstance(label, int):
            return step * shell_vectors(space.dim, label // step**2) if label % step**2 == 0 else B[:0]
        if isinstance(label[0], tuple):
            types = [tuple(k // step for k in t) for t in label if all(k % step == 0 for k in t)]
            return step * waves_of_types(space.dim, types) if types else B[:0]
    if not isinstance(label, int) and isinstance(label[0], tuple):
        K = waves_of_types(space.dim, label)
        inside = K @ np.linalg.inv(B)
        return K[(np.abs(inside - np.rint(inside)) < 1e-6).all(axis=1)]
    low, high = (eigenspace.eigenvalue, eigenspace.eigenvalue) if isinstance(label, int) else label
    K, values = _ball_in(space, shape, basis, _rounded_up(high))
    return _halved(K[_between(values, low, high, _ROUNDING_IN_LATTICE)])


@lru_cache(maxsize=8)
def _ball_in(
    space: Torus, shape: tuple[int, int], basis: bytes, bound: float
) -> tuple[Frequencies, NDArray[np.float64]]:
    """All frequencies of a lattice with eigenvalue up to a little more than `bound`, by eigenvalue."""
    B = np.frombuffer(basis, dtype=np.int64).reshape(shape)
    short = space.short_basis
    # In the short basis, whose metric is not a difference of large terms.
    S = B if short is None else B @ short.change.T
    M, values = _by_value(S @ space.dual_metric @ S.T, bound)
    return M @ B, values


@lru_cache(maxsize=64)
def eigenspaces_below(space: Torus, bound: float) -> list[Eigenspace]:
    """Eigenspaces certainly complete below `bound`, nearly equal eigenvalues joined."""
    W = space.dual_metric
    K = ellipsoid(W, bound)
    values = np.sort(np.einsum("ki,ij,kj->k", K, W, K))
    breaks = np.flatnonzero(np.diff(values) > SAME_EIGENVALUE * values[1:]) + 1
    found = []
    for group in np.split(values, breaks):
        if group[-1] < bound * (1 - 10 * SAME_EIGENVALUE):
            found.append(Eigenspace(float(group.mean()), len(group), (float(group[0]), float(group[-1]))))
    return found
