"""Orbits of basis functions that a group permutes up to phases: union-find with exact phases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import numbered
from specavg.functions._integer_vectors import rows_in

_SMALL = 256  # functions: up to here neighbours exchange labels in NumPy, above SciPy searches the graph


@dataclass(frozen=True)
class Orbits:
    """The orbits that carry an invariant.

    Attributes
    ----------
    label : ndarray of int, shape (m,)
        Orbit of each basis function, -1 where phases around the orbit cancel.
    phase : ndarray of int, shape (m,)
        The invariant has coefficient exp(2πi phase/N) on each function of its orbit, N the modulus.
    size : ndarray of int, shape (count,)
        Number of functions in each surviving orbit.
    first : ndarray of int, shape (count,)
        One function of each orbit, with phase 0.
    """

    label: NDArray[np.int64]
    phase: NDArray[Any]
    size: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of surviving orbits."""
        return len(self.size)


def orbits(m: int, targets: Sequence[NDArray[Any]], phases: Sequence[NDArray[Any]], modulus: int) -> Orbits:
    """Orbits under maps that send function k to ω^{phase[k]} · function target[k], ω = exp(2πi/modulus).

    Phases are integers, so that 'equal to 1' is decided exactly whatever the modulus.
    """
    if m <= _SMALL:
        return _small_orbits(m, targets, phases, modulus)
    from scipy.sparse.csgraph import connected_components

    edges = np.stack(targets, axis=1).ravel() if len(targets) else np.empty(0, dtype=np.intp)
    starts = np.arange(m + 1) * len(targets)
    count, label = connected_components(_graph(edges, starts), directed=False)
    label = label.astype(np.int64)
    first = np.full(count, m, dtype=np.int64)
    np.minimum.at(first, label, np.arange(m))
    if modulus == 1 or not any(np.any(phase) for phase in phases):
        phase = np.zeros(m, dtype=np.int64)
        return _survivors(label, phase, first, np.ones(count, dtype=bool))
    # A root joined to one function of every orbit makes the forest one tree: one search, no loop over orbits.
    rooted = _graph(np.concatenate([edges, first]), np.append(starts, len(edges) + count))
    phase = _potentials(m, rooted, targets, phases, modulus)
    alive = np.ones(count, dtype=bool)
    for t, p in zip(targets, phases, strict=True):
        wrong = (phase + p - phase[t]) % modulus != 0
        alive[label[wrong]] = False
    return _survivors(label, phase, first, alive)


def orbits_of_exponents(K: NDArray[np.int64], moves: Iterable[tuple[Any, Any]]) -> Orbits:
    """Orbits of products x^k under signed permutations: of each the image, and which coordinates change their sign.

    Every image of a row of `K` is a row again. (x∘g)^k = ± x^{k'} with k'[image[i]] = k[i], and the sign (−1)^k for
    each coordinate that changes its own; Chebyshev polynomials T_k have the same parities.
    """
    targets, signs = [], []
    for image, flipped in moves:
        moved = np.empty_like(K)
        moved[:, image] = K
        targets.append(rows_in(moved, K))
        signs.append(K @ np.asarray(flipped, dtype=np.int64) % 2)
    return orbits(len(K), targets, signs, 2)


def _small_orbits(m: int, targets: Sequence[NDArray[Any]], phases: Sequence[NDArray[Any]], modulus: int) -> Orbits:
    """`orbits` of a few functions, without a graph: each takes the least label of its neighbours, and its phase."""
    label = np.arange(m)
    phase = np.zeros(m, dtype=phases[0].dtype if phases else np.int64)
    changed = True
    while changed:
        changed = False
        for t, p in zip(targets, phases, strict=True):
            there = label[t]
            forward = np.flatnonzero(label < there)
            if len(forward):
                label[t[forward]] = label[forward]
                phase[t[forward]] = (phase[forward] + p[forward]) % modulus
                changed = True
            backward = np.flatnonzero(label > there)
            if len(backward):
                label[backward] = there[backward]
                phase[backward] = (phase[t[backward]] - p[backward]) % modulus
                changed = True
    first, label = numbered(label)
    alive = np.ones(len(first), dtype=bool)
    if modulus > 1:
        for t, p in zip(targets, phases, strict=True):
            alive[label[(phase + p - phase[t]) % modulus != 0]] = False
    return _survivors(label, phase, first, alive)


def _survivors(
    label: NDArray[np.int64], phase: NDArray[Any], first: NDArray[np.int64], alive: NDArray[np.bool_]
) -> Orbits:
    sizes = np.bincount(label, minlength=len(alive))
    number = np.where(alive, np.cumsum(alive) - 1, -1)
    return Orbits(number[label], phase, sizes[alive], first[alive])


def _graph(edges: NDArray[Any], starts: NDArray[Any]) -> Any:
    """The graph with edges from i to edges[starts[i]:starts[i + 1]]."""
    from scipy.sparse import csr_array

    m = len(starts) - 1
    return csr_array((np.ones(len(edges)), edges, starts), shape=(m, m))


def _potentials(
    m: int, rooted: Any, targets: Sequence[NDArray[Any]], phases: Sequence[NDArray[Any]], modulus: int
) -> NDArray[Any]:
    """Phase of each function relative to the first of its orbit, along the breadth-first tree from the root m."""
    from scipy.sparse.csgraph import breadth_first_order

    before = breadth_first_order(rooted, m, directed=False, return_predecessors=True)[1][:m].astype(np.int64)
    inner = np.flatnonzero(before != m)  # functions that are not the first of their orbit
    parent = before[inner]
    step = np.zeros(m, dtype=phases[0].dtype)
    found = np.zeros(len(inner), dtype=bool)
    for t, p in zip(targets, phases, strict=True):
        forward = ~found & (t[parent] == inner)
        step[inner[forward]] = p[parent[forward]]
        found |= forward
        backward = ~found & (t[inner] == parent)
        step[inner[backward]] = -p[inner[backward]]
        found |= backward
    # Sum the steps up the tree by doubling: log2(depth) passes. The first of an orbit has step 0.
    total, ancestor = step % modulus, np.where(before == m, np.arange(m), before)
    while True:
        total = (total + total[ancestor]) % modulus
        above = ancestor[ancestor]
        if np.array_equal(above, ancestor):
            return total
        ancestor = above
