"""Groups of exact affine maps x ↦ A x + t of a torus: their structure, and the frequencies that shifts leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg.groups.families._affine_group import AffineGroup, Shift
from specavg.isometries import Affine, Isometry
from specavg.isometries._affine import affine_map, as_affine

LINEAR_LIMIT = 2_000  # integer matrices listed, in some 0.1 s; every crystal has at most 48
_LARGEST_MODULUS = 2**31  # of shifts in 64-bit integers: products of two stay below 2^63


@dataclass(frozen=True, eq=False)
class ListedMaps:
    """One element x ↦ A x + t for each matrix A of a group, breadth first, and shifts that generate its pure shifts.

    Attributes
    ----------
    maps : list of (ndarray of shape (d, d), ndarray of shape (d,))
        A, and t as integers over `modulus`. The identity is first.
    shifts : list of tuple of int
        Integers over `modulus`.
    modulus : int
    complete : bool
        Whether all matrices are listed: there are at most `LINEAR_LIMIT`. Otherwise shifts may be missing.
    """

    maps: list[tuple[NDArray[np.int64], NDArray[Any]]]
    shifts: list[tuple[int, ...]]
    modulus: int
    complete: bool


def listed_maps(generators: Sequence[Isometry]) -> ListedMaps:
    """The matrices and the pure shifts of the group that exact affine maps generate."""
    given = [as_affine(g) for g in generators]
    modulus = lcm(1, *(Fraction(t).denominator for g in given for t in g.shift))
    kind: Any = np.int64 if modulus <= _LARGEST_MODULUS else object
    steps = [(g.matrix, np.array([int(t * modulus) for t in g.shift], dtype=kind)) for g in given]
    d = given[0].size
    maps = [(np.eye(d, dtype=np.int64), np.zeros(d, dtype=kind))]
    known, shifts = {maps[0][0].tobytes(): maps[0][1]}, dict[tuple[int, ...], None]()
    for A, t in maps:  # grows while it is read
        for B, s in steps:
            C, u = A @ B, (A @ s + t) % modulus
            v = known.setdefault(C.tobytes(), u)
            if v is u:
                maps.append((C, u))
            else:  # Schreier's lemma: what two ways to one matrix differ by generates the shifts
                shifts[tuple(((u - v) % modulus).tolist())] = None
        if len(maps) > LINEAR_LIMIT:
            return ListedMaps(maps, list(shifts), modulus, False)
    return ListedMaps(maps, list(shifts), modulus, True)


def affine_group(generators: Sequence[Isometry]) -> AffineGroup | None:
    """The structure of a group of exact affine maps, or None if it has more than LINEAR_LIMIT matrices."""
    found = listed_maps(generators)
    if not found.complete:
        return None

    def exact(shift: Sequence[int]) -> Shift:
        return tuple(Fraction(int(t), found.modulus) for t in shift)

    elements = tuple(affine_map(A, exact(t.tolist())) for A, t in found.maps)
    return AffineGroup(elements, shift_group(sorted(map(exact, found.shifts))))


def shift_group(shifts: Sequence[Shift]) -> tuple[tuple[Shift, int], ...]:
    """The subgroup of (Q/Z)^d that `shifts` generate, as shifts with relative orders.

    One column after the other is cleared by Euclid's algorithm; what is left of the pivot, times its relative
    order, and the other rows generate the shifts that vanish in the columns so far.
    """
    rows = [list(t) for t in shifts if any(t)]
    steps: list[tuple[Shift, int]] = []
    for j in range(len(rows[0]) if rows else 0):
        while True:
            rows.sort(key=lambda row: row[j] or Fraction(2))  # the least positive entry first
            pivot = rows[0][j]
            if not pivot:
                break
            reduced = [[(a - (row[j] // pivot) * b) % 1 for a, b in zip(row, rows[0], strict=True)] for row in rows[1:]]
            rows[1:] = reduced
            # Multiples of the pivot also reach -1 mod pivot: the entry must divide a full period.
            wrapped = -1 % pivot
            if wrapped:
                times = -(-1 // pivot)
                rows.append([times * a % 1 for a in rows[0]])
            elif not any(row[j] for row in reduced):
                break
        if rows[0][j]:
            n = int(1 / rows[0][j])
            steps.append((tuple(rows[0]), n))
            rows[0] = [n * a % 1 for a in rows[0]]
        rows = [row for row in rows if any(row)]
        if not rows:
            break
    return tuple(steps)


Integers = NDArray[np.int64]


def dual_lattice(generators: Sequence[Isometry], d: int) -> Integers:
    """A basis, as rows, of the frequencies k with k·t an integer for every pure shift t that is found in the group.

    A group with more than 2,000 matrices is searched no further, and there may then be more frequencies than the shifts
    of the whole group leave. They are those of all conjugates of the shifts that were found, so that the generators
    map them to each other.
    """
    basis = np.eye(d, dtype=np.int64)
    if not any(isinstance(g, Affine) and any(g.shift) for g in generators):
        return basis
    found = listed_maps(generators)
    if found.modulus > _LARGEST_MODULUS:
        return basis
    matrices = [as_affine(g).matrix for g in generators]
    shifts = [np.array(shift, dtype=np.int64) for shift in found.shifts]
    for shift in shifts:  # grows while it is read, and ends: each time the lattice becomes a part of itself
        if (basis @ shift % found.modulus).any():
            basis = _orthogonal_to(basis, shift, found.modulus)
            shifts += [A @ shift % found.modulus for A in matrices]
    return basis


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
