"""CPU seconds of a first fit: a fresh process with nothing compiled, and the same again with the loops cached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.timing import row

CASES = {
    "T^10, sign flips (README)": "sa.Torus(10), sa.groups.sign_flips(10)",
    "T², hyperoctahedral": "sa.Torus(2), sa.groups.hyperoctahedral(2)",
    "S², octahedral": "sa.Sphere(3), sa.groups.point_group('Oh')",
    "rotations, cubic": "sa.Rotations(), sa.groups.crystal_symmetry('O')",
    "five points of T²": "sa.Power(sa.Torus(2), 5), sa.groups.symmetric(5)",
}
_SCRIPT = """
import json, os
import specavg as sa
space, group = {case}
X = space.sample(300, random_state=0)
model = sa.InvariantKernelRidge(space, group).fit(X, (X**4).sum(axis=1))
sa.invariance_discrepancy(model, space, group, X[:100], n_elements=20, random_state=0)
used = os.times()
print(json.dumps(used.user + used.system))
"""
FIRST_TARGET, CACHED_TARGET = 4.0, 1.5  # CPU seconds: what a newcomer takes for at once


def first_use(cases: dict[str, str] = CASES) -> list[dict[str, Any]]:
    """Two rows for each case; imports are part of it."""
    rows: list[dict[str, Any]] = []
    for name, case in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            first, cached = (_cpu_seconds(case, folder) for _ in range(2))
        targets = (FIRST_TARGET, CACHED_TARGET) if "README" in name else (None, None)
        for state, seconds, target in zip(
            ("nothing compiled yet", "loops cached"), (first, cached), targets, strict=True
        ):
            rows.append(row(f"CPU of a first fit, {state}, {name}", seconds, target, at_most=True, unit=" s"))
    return rows


def _cpu_seconds(case: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _SCRIPT.format(case=case)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(json.loads(done.stdout.splitlines()[-1]))
