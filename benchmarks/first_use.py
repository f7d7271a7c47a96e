"""CPU seconds of a first session: a fresh process with nothing compiled, and the same again with the loops cached.

README's five lines, with other spaces and groups in the place of its own, and a target that is constant on none. All
threads count, and so do the start of Python and all imports. Python's bytecode is there, as an installed package has
it; numba's cache is empty at first. Pandas is hidden: a plain installation has none, and scikit-learn imports it where
it is installed (0.25 s more).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import specavg
from benchmarks.timing import row

CASES = {
    "T^10, sign flips (README)": "sa.Torus(10), sa.groups.sign_flips(10)",
    "T², hyperoctahedral": "sa.Torus(2), sa.groups.hyperoctahedral(2)",
    "S², octahedral": "sa.Sphere(3), sa.groups.point_group('Oh')",
    "rotations, cubic": "sa.Rotations(), sa.groups.crystal_symmetry('O')",
    "five points of T²": "sa.Power(sa.Torus(2), 5), sa.groups.symmetric(5)",
    "five points of T², wreath": "sa.Power(sa.Torus(2), 5), sa.groups.wreath(sa.groups.hyperoctahedral(2), 5)",
}
SCRIPT = """
import specavg as sa
space, group = {case}
X = space.sample(300, random_state=0)
y = (X**2).sum(axis=1)
model = sa.InvariantKernelRidge(space, group).fit(X, y)
sa.invariance_discrepancy(model, space, group, X[:100], random_state=0)
"""
PLAIN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
sys.meta_path.insert(0, Hidden())
"""
FIRST_TARGET, LATER_TARGET = 4.0, 1.5  # CPU seconds: what a newcomer takes for at once
_REPEATS = 5  # the best counts, as everywhere in these tables: other processes disturb some


def first_use(cases: dict[str, str] = CASES) -> list[dict[str, Any]]:
    """Two rows for each case, and one for the imports of scikit-learn alone, which no estimator can do without."""
    package = str(Path(specavg.__file__).parent)
    subprocess.run([sys.executable, "-m", "compileall", "-q", package], check=True)  # as pip does
    rows: list[dict[str, Any]] = []
    for name, case in cases.items():
        # A sum of squares is constant on spheres and rotations, and a constant takes no choice.
        script = SCRIPT.format(case=case).replace("X**2", "X**2" if "Torus" in case else "X**4")
        firsts, laters = [], []
        for _ in range(_REPEATS):
            with tempfile.TemporaryDirectory() as folder:
                firsts.append(_cpu_seconds(script, folder))
                laters.append(_cpu_seconds(script, folder))
        states = (("nothing compiled yet", firsts, FIRST_TARGET), ("loops cached", laters, LATER_TARGET))
        for state, seconds, target in states:
            rows.append(row(f"CPU of a first fit, {state}, {name}", min(seconds), target, at_most=True, unit=" s"))
    with tempfile.TemporaryDirectory() as folder:
        floor = min(_cpu_seconds("import sklearn.base", folder) for _ in range(_REPEATS))
    note = "which no estimator can do without; pandas is hidden here and in the rows above"
    rows.append(row("CPU of a process that imports sklearn.base", floor, at_most=True, unit=" s", note=note))
    return rows


def _cpu_seconds(script: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    subprocess.run([sys.executable, "-c", PLAIN + script], check=True, capture_output=True, env=environment)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
