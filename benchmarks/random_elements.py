"""Invariants of SO(3) from two fields, against Algorithm 1 of the paper's sequel, which draws random elements."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, row
from specavg.invariants._basis import built_basis
from specavg.invariants.solvers._random_elements import number_of_draws, randomly_fixed

DRAWS = 20  # measured at the beginning, and as many later, of T = r² + r log(1/δ): the rest take as long each


def random_elements() -> list[dict[str, Any]]:
    """One eigenspace of three directions under all rotations, of about 500 functions; T draws are extrapolated."""
    space, group = sa.Power(sa.Sphere(3), 3), sa.groups.diagonal(sa.groups.special_orthogonal(3), 3)
    V = next(V for V in space.eigenspaces() if V.dim >= 450)

    def ours() -> None:
        built_basis.cache_clear()
        sa.invariant_basis(space, group, max_eigenvalue=V.eigenvalue)

    seconds = best_times([ours], [3])[0]  # all eigenspaces up to this one
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    found = randomly_fixed(lambda: space.representation(group.random(rng), V), V.dim, rng, draws=DRAWS)
    first = time.perf_counter() - start
    start, x = time.perf_counter(), found.Q.sum(axis=1)
    for _ in range(DRAWS):  # later elements move nothing that is left: they are drawn and tested
        np.linalg.norm(space.representation(group.random(rng), V) @ x - x)
    draws = number_of_draws(V.dim)
    theirs = first + (time.perf_counter() - start) / DRAWS * (draws - DRAWS)
    right = sa.invariant_basis(space, group, max_eigenvalue=V.eigenvalue).table[-1].invariant_dim
    note = (
        f"{2 * DRAWS} of {draws} draws measured, {theirs:.0f} s for all; {right} invariants, "
        f"{found.Q.shape[1]} after {DRAWS} draws; ours includes all smaller eigenspaces"
    )
    title = f"invariants of SO(3), {V.dim} functions of three directions, over random elements"
    return [row(title, theirs / seconds, 1000, seconds=seconds, baseline_seconds=theirs, note=note)]
