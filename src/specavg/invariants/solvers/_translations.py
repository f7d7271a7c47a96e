"""The pure shifts in a group of a torus, and the dual lattice: the frequencies that all of them leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from specavg.isometries import Isometry
from specavg.isometries._affine import as_affine

Integers = NDArray[np.int64]
_LISTED = 2_000  # matrices of a group that are listed: some 0.1 s
_LARGEST_MODULUS = 2**31  # of shifts: products of two stay below 2^63


def dual_lattice(generators: Sequence[Isometry], d: int) -> Integers:
    """A basis, as rows, of the frequencies k with k·t an integer for every pure shift t that is found in the group.

    A group with more than 2,000 matrices is searched no further: the frequencies are then too many, never too few.
    """
    maps = [as_affine(g) for g in generators]
    modulus = lcm(1, *(t.denominator for g in maps for t in g.shift))  # pyright: ignore[reportAttributeAccessIssue]
    if modulus == 1 or modulus > _LARGEST_MODULUS:
        return np.eye(d, dtype=np.int64)
    matrices = [np.asarray(g.matrix, dtype=np.int64) for g in maps]
    shifts = [np.array([int(t * modulus) for t in g.shift], dtype=np.int64) % modulus for g in maps]
    basis = np.eye(d, dtype=np.int64)
    for shift in _pure_shifts(matrices, shifts, modulus):
        basis = _orthogonal_to(basis, shift, modulus)
    return basis


def _pure_shifts(matrices: Sequence[Integers], shifts: Sequence[Integers], modulus: int) -> Sequence[Integers]:
    """Schreier's generators of the shifts: those by which two ways to the same matrix differ; integers over `modulus`.

    The ways are x ↦ A x + t, listed breadth first with one t for each matrix A.
    """
    d = len(shifts[0])
    start = np.eye(d, dtype=np.int64)
    found = {start.tobytes(): (start, np.zeros(d, dtype=np.int64))}
    queue, differences = [start.tobytes()], {}
    for key in queue:
        A, t = found[key]
        for B, s in zip(matrices, shifts, strict=True):
            C, u = B @ A, (B @ t + s) % modulus
            there = found.setdefault(C.tobytes(), (C, u))[1]
            if there is u:
                queue.append(C.tobytes())
            elif (u != there).any():  # the inverse of x ↦ C x + v, after x ↦ C x + u, is the shift by C⁻¹(u − v)
                inverse = np.rint(np.linalg.inv(C)).astype(np.int64)
                difference = inverse @ (u - there) % modulus
                differences.setdefault(difference.tobytes(), difference)
        if len(found) > _LISTED:
            break
    return list(differences.values())


def _orthogonal_to(basis: Integers, shift: Integers, modulus: int) -> Integers:
    """The vectors k of a lattice with k·shift divisible by `modulus`: Euclid's algorithm on the rows of its basis."""
    rows = [list(map(int, row)) for row in basis]
    values = [int(v) % modulus for v in basis @ shift]
    while sum(v > 0 for v in values) > 1:
        _, pivot = min((v, i) for i, v in enumerate(values) if v > 0)
        for i, v in enumerate(values):
            if i != pivot and v:
                times = v // values[pivot]
                rows[i] = [a - times * b for a, b in zip(rows[i], rows[pivot], strict=True)]
                values[i] -= times * values[pivot]
    for i, v in enumerate(values):
        times = modulus // gcd(v, modulus)
        rows[i] = [times * a for a in rows[i]]
    return np.array(rows, dtype=np.int64)
