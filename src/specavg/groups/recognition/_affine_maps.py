"""The structure of a group of exact affine maps of a torus, from its generators."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from specavg.groups.families._affine_group import AffineGroup, Shift
from specavg.isometries import Affine, Isometry, SignedPermutation, identity

LINEAR_LIMIT = 2_000  # integer matrices listed; every crystal has at most 48


def affine_group(generators: Sequence[Isometry]) -> AffineGroup | None:
    """The structure of a group of exact affine maps, or None if it has more than LINEAR_LIMIT matrices."""
    if _are_many([_matrix(g) for g in generators]):
        return None
    one = identity(generators[0].size)
    representatives: dict[bytes, Isometry] = {_linear_part(one): one}
    queue: list[Isometry] = [one]
    schreier: set[Shift] = set()
    for g in queue:  # grows while it is read
        for s in generators:
            product = g @ s
            known = representatives.get(_linear_part(product))
            if known is None:
                representatives[_linear_part(product)] = product
                queue.append(product)
            else:  # Schreier's lemma: these generate the shifts
                schreier.add(_translation(product @ known.inverse()))
    return AffineGroup(tuple(queue), shift_group(sorted(schreier)))


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


def _are_many(matrices: Sequence[NDArray[np.int64]]) -> bool:
    """Whether integer matrices generate more than LINEAR_LIMIT: without shifts that is known far sooner."""
    one = np.eye(len(matrices[0]), dtype=np.int64)
    seen, queue = {one.tobytes()}, [one]
    for A in queue:  # grows while it is read
        for B in matrices:
            product = A @ B
            if product.tobytes() not in seen:
                if len(queue) == LINEAR_LIMIT:
                    return True
                seen.add(product.tobytes())
                queue.append(product)
    return False


def _matrix(g: Isometry) -> NDArray[np.int64]:
    return cast("Affine | SignedPermutation", g).matrix.astype(np.int64)


def _linear_part(g: Isometry) -> bytes:
    return _matrix(g).tobytes()


def _translation(g: Isometry) -> Shift:
    return cast("Shift", g.shift) if isinstance(g, Affine) else (Fraction(0),) * g.size
