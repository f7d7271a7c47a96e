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
    "many copies of a circle": "sa.Torus(300), sa.groups.symmetric(300)",
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
OTHERS = {
    "density on T²": """
space = sa.Torus(2)
X = space.sample(200, random_state=0)
sa.InvariantDensity(space, sa.groups.hyperoctahedral(2)).fit(X).score_samples(X)
""",
    "density on S²": """
space = sa.Sphere(3)
X = space.sample(200, random_state=0)
sa.InvariantDensity(space, sa.groups.point_group("Oh")).fit(X).score_samples(X)
""",
    "gradients of all functions": """
space = sa.Torus(3)
sa.invariant_basis(space, sa.groups.hyperoctahedral(3), max_eigenvalue=150).gradient(space.sample(6, random_state=1))
""",
    "many copies of few points": """
import numpy as np
from specavg.functions._copy_tensors import CopyTensor, CopyTensors
from specavg.functions._determinants import Determinants
one_copy = sa.invariant_basis(sa.Torus(2), sa.groups.trivial(2), max_eigenvalue=20).functions
X = sa.Torus(6).sample(300, random_state=0)
tensors = CopyTensors(one_copy, 3, [CopyTensor(((0, range(3)), (2, range(3))))])
tensors.combine_gradient(X, np.ones((9, 1)))
Determinants(one_copy, 3, np.array([[0, 1, 2], [0, 1, 3]])).evaluate(X)
""",
    "vectors with more values than one chunk of NumPy holds": """
space = sa.Power(sa.Sphere(3), 2)
group = sa.groups.joined(sa.groups.diagonal(sa.groups.orthogonal(3), 2), sa.groups.symmetric(2))
X, Z = space.sample(40, random_state=0), space.sample(400, random_state=1)
model = sa.EquivariantKernelRidge(space, group, "vector").fit(X, X[:, :3] + X[:, 3:])
model.predict(Z, return_std=True)
model.gradient(Z)
model.basis_.gradient(Z[:60])
""",
    "potential": """
import numpy as np
R = np.array([[0.0, 0, 0], [0, 0.76, 0.59], [0, -0.76, 0.59]]) + 0.05 * np.random.default_rng(0).normal(size=(60, 3, 3))
v = R[:, 1:] - R[:, :1]
r = np.linalg.norm(v, axis=2, keepdims=True)
slopes = 2 * (r - 0.96) * v / r
forces = np.concatenate([slopes.sum(axis=1, keepdims=True), -slopes], axis=1)
model = sa.molecules.InvariantPotential(["O", "H", "H"]).fit(R, ((r - 0.96) ** 2).sum(axis=(1, 2)), forces=forces)
model.predict(R)
model.forces(R)
""",
}
# What a fit and a prediction of `InvariantKernelRidge` have no use for.
NOT_NEEDED = {
    "estimators._density",
    "estimators._equivariant_kernel_ridge",
    "estimators._specavg",
    "estimators._symmetry_test",
    "invariants._equivariant_basis",
    "invariants._plan",
    "persistence._saved_model",
    "persistence._values",
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_few_points_need_no_compiler(case):
    assert _run(SCRIPT.format(case=case)).stdout.split() == ["[]"]


@pytest.mark.parametrize("lines", OTHERS.values(), ids=OTHERS)
def test_few_points_of_other_models_need_no_compiler(lines):
    done = _run(f"import sys\nimport specavg as sa\n{lines}\nprint('numba' in sys.modules)")
    assert done.stdout.split() == ["False"]


def test_a_fit_imports_what_it_needs():
    script = SCRIPT.format(case=CASES["copies of a circle"])
    done = _run(f"{script}\nprint(*(m.removeprefix('specavg.') for m in sys.modules))")
    imported = set(done.stdout.split())
    assert "estimators._kernel_ridge" in imported
    assert not imported & NOT_NEEDED


def test_invariant_tensors_need_numpy_only():
    lines = "sa.invariant_tensors(sa.groups.point_group('D3d'), 'ijkl=jikl=klij').names"
    done = _run(f"import sys\nimport specavg as sa\n{lines}\nprint('scipy' in sys.modules, 'sklearn' in sys.modules)")
    assert done.stdout.split() == ["False", "False"]


def _run(script: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done
