"""Vectors and tensors: invariant tensors against emlp 1.0.3, and what a fit of vectors costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.emlp_peer import emlp_answer, ensure_emlp, first_and_later, first_call
from benchmarks.timing import best_times, row

RANK = "ijkl"
TENSORS = {
    "S_8": "symmetric(8)",
    "Oh": "point_group('Oh')",
    "D3d": "point_group('D3d')",
    "D6h": "point_group('D6h')",
    "Ih": "point_group('Ih')",
}


def invariant_tensors() -> list[dict[str, Any]]:
    """Tensors of rank 4 without index symmetries: first calls in fresh processes, and later calls (ours: best of 50).

    With 81 entries emlp takes a dense decomposition: its first call compiles for some seconds, and a later one, with
    its store of answers cleared, takes some 10 ms. Ours stores no answers: a later call finds only the table of entries
    of a rank, and names of the independent entries are found when they are asked for (emlp has none). A thousandth of
    emlp's later calls is 10 µs, two or three calls of NumPy: only a store of answers would reach it. Larger tensors are
    in `fixed_space`: S_12 with 20,736 entries.
    """
    python = ensure_emlp()
    rows = []
    for name, text in TENSORS.items():
        group: Any = eval(f"sa.groups.{text}")
        found = sa.invariant_tensors(group, RANK)
        later = best_times([lambda group=group: sa.invariant_tensors(group, RANK)], [50], time.process_time)[0]
        first = first_call(f"group = sa.groups.{text}; sa.invariant_tensors", f"sa.invariant_tensors(group, {RANK!r})")
        theirs = emlp_answer(python, [g.matrix for g in group.generators], [], len(RANK))
        title = f"invariant_tensors, {name}, rank 4 ({group.size**4} entries), over emlp 1.0.3"
        rows += first_and_later(title, found.dim, (first, later), theirs, 1000, f", by {found.solver}")
    return rows


FITS: dict[str, tuple[Any, Any, Any, float, int]] = {
    "S², O, vector": (sa.Sphere(3), sa.groups.point_group("O"), "vector", 16 * 17.0, 3000),
    "S², D3d, ij=ji": (sa.Sphere(3), sa.groups.point_group("D3d"), "ij=ji", 12 * 13.0, 2000),
    "S², Oh, ij=ji": (sa.Sphere(3), sa.groups.point_group("Oh"), "ij=ji", 16 * 17.0, 2000),
    "S², C1, ij=ji": (sa.Sphere(3), sa.groups.point_group("C1"), "ij=ji", 12 * 13.0, 2000),
    "S², C3, vector": (sa.Sphere(3), sa.groups.point_group("C3"), "vector", 12 * 13.0, 2000),
    "S², D6h, ij=ji": (sa.Sphere(3), sa.groups.point_group("D6h"), "ij=ji", 12 * 13.0, 2000),
    "S², I, ij=ji": (sa.Sphere(3), sa.groups.point_group("I"), "ij=ji", 12 * 13.0, 2000),
    "S², Td, ijk": (sa.Sphere(3), sa.groups.point_group("Td"), "ijk", 12 * 13.0, 1000),
    "S², C∞v, ij=ji": (sa.Sphere(3), sa.groups.point_group("C∞v"), "ij=ji", 12 * 13.0, 2000),
    "T², B_2, vector": (sa.Torus(2), sa.groups.hyperoctahedral(2), "vector", 600.0, 3000),
    "T², S_2, vector": (sa.Torus(2), sa.groups.symmetric(2), "vector", 400.0, 2000),
    "T⁵, cyclic shifts, vector": (sa.Torus(5), sa.groups.cyclic_shifts(5), "vector", 30.0, 2000),
    "(S²)², S_2, exchanged numbers": (sa.Power(sa.Sphere(3), 2), sa.groups.symmetric(2), "exchanged", 24.0, 1000),
}


def cost_of_a_fit() -> list[dict[str, Any]]:
    """A fit of vectors over a fit of the same columns as p numbers without a group, up to the same eigenvalue.

    Outputs are decomposed in irreducible summands, equivalent ones once: one with d outputs has d·n rows of d·D/|G|
    functions, d³/|G|² times the operations of n rows of D.
    """
    rows = []
    for name, (space, group, output, top, n) in FITS.items():
        X = space.sample(n, random_state=0)
        if output == "exchanged":  # one number for each copy
            output = sa.groups.Representation(group, group.generators)
        p = sa.equivariant_basis(space, group, output, max_eigenvalue=0).n_outputs
        Y = np.random.default_rng(0).normal(size=(n, p))
        given: dict[str, Any] = {"spectrum": "heat", "length_scale": 0.3, "alpha": 1.0, "max_eigenvalue": top}
        vectors = sa.EquivariantKernelRidge(space, group, output, **given)
        numbers = sa.InvariantKernelRidge(space, **given)
        tasks = [lambda: vectors.fit(X, Y), lambda: numbers.fit(X, Y)]  # noqa: B023
        for task in tasks:
            task()
        times = best_times(tasks, [6, 6], time.process_time)
        note = f"{vectors.basis_.dim} vector functions; {numbers.basis_.dim} functions and {p} columns; {n} points"
        rows.append(row(f"fit of {name} over {p} numbers", times[0] / times[1], 1.5, at_most=True, note=note))
    return rows
