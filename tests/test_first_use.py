"""A first session with a few hundred points: nothing is compiled, and numba is not even imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

CASES = {
    "cosines": "sa.Torus(10), sa.groups.sign_flips(10)",
    "copies of a circle, permuted": "sa.Torus(5), sa.groups.symmetric(5)",
    "copies of a circle": "sa.Torus(2), sa.groups.hyperoctahedral(2)",
    "waves": "sa.Torus(3), sa.groups.cyclic_shifts(3)",
    "S²": "sa.Sphere(3), sa.groups.point_group('Oh')",
    "sphere in R⁶": "sa.Sphere(6), sa.groups.sign_flips(6)",
    "sphere in R⁶, permuted": "sa.Sphere(6), sa.groups.symmetric(6)",
    "rotations": "sa.Rotations(), sa.groups.crystal_symmetry('O')",
    "copies of a torus": "sa.Power(sa.Torus(2), 5), sa.groups.symmetric(5)",
    "wreath": "sa.Power(sa.Torus(2), 3), sa.groups.wreath(sa.groups.hyperoctahedral(2), 3)",
    "spheres": "sa.Power(sa.Sphere(4), 3), sa.groups.symmetric(3)",
    "interval": "sa.Power(sa.Interval(), 3), sa.groups.symmetric(3)",
}
SCRIPT = """
import sys
import specavg as sa
space, group = {case}
X = space.sample(300, random_state=0)
model = sa.InvariantKernelRidge(space, group).fit(X, (X**2).sum(axis=1))
model.predict(X[:100], return_std=True)
model.gradient(X[:100])
sa.invariance_discrepancy(model, space, group, X[:100], n_elements=20, random_state=0)
print(sorted({{"numba", "sympy", "dask", "matplotlib"}} & set(sys.modules)))
"""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_few_points_need_no_compiler(case):
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(case=case)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[]"]
