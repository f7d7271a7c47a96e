"""Vectors and tensors: invariant tensors against emlp 1.0.3, and what a fit of vectors costs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.fixed_space import SECONDS, ensure_emlp
from benchmarks.timing import best_times, row

RANK = "ijkl"
TENSORS = {
    "S_8": sa.groups.symmetric(8),
    "Oh": sa.groups.point_group("Oh"),
    "D3d": sa.groups.point_group("D3d"),
    "D6h": sa.groups.point_group("D6h"),
    "Ih": sa.groups.point_group("Ih"),
}
SCRIPT = """
import json, sys, time
import numpy as np
import jax
jax.config.update("jax_enable_x64", True)
from emlp.groups import Group
from emlp.reps import T

matrices = np.array(json.load(sys.stdin))

class Given(Group):
    def __init__(self):
        self.d = matrices.shape[1]
        self.discrete_generators = matrices
        super().__init__()

rep = T(4)(Given())
times, start = [], time.perf_counter()
while not times or (len(times) < 5 and time.perf_counter() - start < 60):  # the first run compiles
    if hasattr(rep, "solcache"):
        rep.solcache.clear()
    begin = time.perf_counter()
    size = int(np.asarray(rep.equivariant_basis()).shape[-1])
    times.append(time.perf_counter() - begin)
print(json.dumps({"seconds": min(times), "first": times[0], "dim": size, "jax": jax.__version__}))
"""


def invariant_tensors() -> list[dict[str, Any]]:
    """Tensors of rank 4 without index symmetries: ours, the best of 25; emlp's, the best of five within a minute.

    With 81 entries emlp takes a dense decomposition. Its first call compiles it for some seconds, which the note has; a
    later call, with its cache of answers cleared, takes some 30 ms. Larger tensors are in `fixed_space`: S_12 with
    20,736 entries.
    """
    python = ensure_emlp()
    rows = []
    for name, group in TENSORS.items():
        found = sa.invariant_tensors(group, RANK)
        ours = best_times([lambda group=group: sa.invariant_tensors(group, RANK)], [25])[0]
        title = f"invariant_tensors, {name}, rank 4 ({group.size**4} entries), over emlp 1.0.3"
        theirs = python if isinstance(python, str) else _emlp(python, group)
        if isinstance(theirs, str):
            rows.append({**row(title, np.nan, 1000, seconds=ours, note=f"dim {found.dim}; {theirs}"), "met": None})
            continue
        agree = "emlp finds as many" if theirs["dim"] == found.dim else f"emlp finds {theirs['dim']}"
        note = f"dim {found.dim} by {found.solver}; {agree}, its first call took {theirs['first']:.1f} s"
        rows.append(row(title, theirs["seconds"] / ours, 1000, seconds=ours, note=note))
        rows[-1]["baseline_seconds"] = theirs["seconds"]
    return rows


def _emlp(python: Path, group: sa.groups.Group) -> dict[str, Any] | str:
    """What emlp says: its time and dimension, or how it failed."""
    given = json.dumps([g.matrix.tolist() for g in group.generators])
    try:
        answer = subprocess.run(
            [str(python), "-c", SCRIPT], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"emlp did not finish in {SECONDS} s"
    if answer.returncode:
        return "emlp failed: " + (answer.stderr.strip().splitlines() or ["no message"])[-1][-100:]
    return json.loads(answer.stdout.strip().splitlines()[-1])


FITS: dict[str, tuple[Any, Any, str, float, int]] = {
    "S², O, vector": (sa.Sphere(3), sa.groups.point_group("O"), "vector", 16 * 17.0, 3000),
    "S², D3d, ij=ji": (sa.Sphere(3), sa.groups.point_group("D3d"), "ij=ji", 12 * 13.0, 2000),
    "S², Oh, ij=ji": (sa.Sphere(3), sa.groups.point_group("Oh"), "ij=ji", 16 * 17.0, 2000),
    "T², B_2, vector": (sa.Torus(2), sa.groups.hyperoctahedral(2), "vector", 600.0, 3000),
}


def cost_of_a_fit() -> list[dict[str, Any]]:
    """A fit of vectors over a fit of the same columns as p numbers without a group, up to the same eigenvalue.

    Decomposing p·n rows of p·D/|G| functions beside n rows of D takes p³/|G|² times the operations: groups with fewer
    elements than p^(3/2) cost more, as D3d does with the six outputs "ij=ji".
    """
    rows = []
    for name, (space, group, output, top, n) in FITS.items():
        X = space.sample(n, random_state=0)
        p = sa.equivariant_basis(space, group, output, max_eigenvalue=0).n_outputs
        Y = np.random.default_rng(0).normal(size=(n, p))
        given: dict[str, Any] = {"spectrum": "heat", "length_scale": 0.3, "alpha": 1.0, "max_eigenvalue": top}
        vectors = sa.EquivariantKernelRidge(space, group, output, **given)
        numbers = sa.InvariantKernelRidge(space, **given)
        tasks = [lambda: vectors.fit(X, Y), lambda: numbers.fit(X, Y)]  # noqa: B023
        for task in tasks:
            task()
        times = best_times(tasks, [4, 4])
        note = f"{vectors.basis_.dim} vector functions; {numbers.basis_.dim} functions and {p} columns; {n} points"
        rows.append(row(f"fit of {name} over {p} numbers", times[0] / times[1], 1.5, at_most=True, note=note))
    return rows
