"""Fixed vectors of tensor representations, against emlp 1.0.3."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.emlp_peer import SECONDS, emlp_answer, ensure_emlp, first_and_later, first_call
from benchmarks.timing import best_times, row

CASES = {
    "S_20 on T(3)": ("symmetric", 20, 3),
    "S_12 on T(4)": ("symmetric", 12, 4),
    "hyperoctahedral(6) on T(4)": ("hyperoctahedral", 6, 4),
}
TARGET = 1000  # times faster than emlp
ROTATIONS = (3, 5, 100)  # SO(3) on tensors of five indices; times faster than emlp


def generators(kind: str, d: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Image and signs of a long cycle and a transposition; B_d has a sign in the cycle."""
    cycle, swap, signs = np.roll(np.arange(d), 1), np.arange(d), np.ones(d, dtype=int)
    swap[[0, 1]] = swap[[1, 0]]
    first = signs.copy()
    if kind == "hyperoctahedral":
        first[0] = -1
    return [(cycle, first), (swap, signs)]


def tensor_power(image: np.ndarray, signs: np.ndarray, order: int) -> Any:
    """The signed permutation on tensors of an order: (g⊗…⊗g)."""
    d = len(image)
    place, sign = np.zeros(1, dtype=np.int64), np.ones(1, dtype=int)
    for _ in range(order):
        place = (place[:, None] * d + image[None, :]).ravel()
        sign = (sign[:, None] * signs[None, :]).ravel()
    return sa.isometries.signed_permutation(place, sign)


def rotations(d: int) -> list[np.ndarray]:
    """Rotations of neighbouring coordinates: they generate SO(d)."""
    found = np.zeros((d - 1, d, d))
    for i in range(d - 1):
        found[i, i, i + 1], found[i, i + 1, i] = -1.0, 1.0
    return list(found)


def tensor_fields(d: int, order: int) -> list[np.ndarray]:
    """The rotations on tensors of an order: Σ 1 ⊗ … ⊗ A ⊗ … ⊗ 1."""
    found = []
    for A in rotations(d):
        total = np.zeros((1, 1))
        for _ in range(order):
            total = np.kron(total, np.eye(d)) + np.kron(np.eye(len(total)), A)
        found.append(total)
    return found


def emlp() -> list[dict[str, Any]]:
    """Permutations: ours, the best of many; emlp's, the best of up to five in a minute, never longer than 600 s."""
    python = ensure_emlp()
    rows = []
    for name, (kind, d, order) in CASES.items():
        exact = generators(kind, d)
        matrices = [tensor_power(image, signs, order) for image, signs in exact]
        found = sa.invariants.fixed_space(matrices)
        ours = best_times([lambda m=matrices: sa.invariants.fixed_space(m)], [25])[0]
        title = f"fixed_space, {name} ({d**order} dimensions), over emlp 1.0.3"
        dense = [np.eye(d)[image] * signs[:, None] for image, signs in exact]
        theirs = emlp_answer(python, dense, [], order)
        if isinstance(theirs, str):
            rows.append({**row(title, np.nan, TARGET, seconds=ours, note=f"dim {found.dim}; {theirs}"), "met": None})
        elif "dim" not in theirs:  # a bound, not a measurement of emlp
            note = f"dim {found.dim}; a lower bound: emlp did not finish in {SECONDS} s"
            rows.append(row(title, SECONDS / ours, TARGET, seconds=ours, note=note, lower_bound=True))
        else:
            agree = "emlp finds as many" if theirs["dim"] == found.dim else f"emlp finds {theirs['dim']}"
            note = f"dim {found.dim}; {agree}, with {theirs['megabytes']:.0f} MB, jax {theirs['jax']}"
            seconds = theirs["seconds"]
            rows.append(row(title, seconds / ours, TARGET, seconds=ours, baseline_seconds=seconds, note=note))
    return rows


def emlp_rotations() -> list[dict[str, Any]]:
    """SO(3) on tensors of five indices: first calls, and later calls."""
    d, order, target = ROTATIONS
    matrices = tensor_fields(d, order)
    found = sa.invariants.fixed_space(matrices)
    later = best_times([lambda: sa.invariants.fixed_space(matrices)], [50], time.process_time)[0]
    setup = f"from benchmarks.fixed_space import tensor_fields; fields = tensor_fields({d}, {order}); sa.invariants"
    first = first_call(setup, "sa.invariants.fixed_space(fields)")
    theirs = emlp_answer(ensure_emlp(), [], rotations(d), order)
    title = f"fixed_space, SO({d}) on T({order}) ({d**order} dimensions), over emlp 1.0.3"
    return first_and_later(title, found.dim, (first, later), theirs, target)
