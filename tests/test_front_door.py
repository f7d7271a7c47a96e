"""The public surface: every name is where users look for it, and importing it costs little."""

import subprocess
import sys

import pytest

import specavg as sa
from specavg import groups, isometries, spaces

SPACES = ["Circle", "Power", "Product", "Rotations", "Sphere", "Stiefel", "Torus"]
ESTIMATORS = ["InvariantDensity", "InvariantFeatures", "InvariantKernelRidge", "SpecAvgRegressor", "Symmetrized"]
FUNCTIONS = ["config", "invariance_discrepancy", "invariant_basis", "load", "symmetry_test"]
MODULES = ["baselines", "groups", "invariants", "isometries", "plot", "testing", "theory"]


@pytest.mark.parametrize("name", SPACES + ESTIMATORS + FUNCTIONS + MODULES)
def test_the_front_door_has(name):
    assert name in sa.__all__
    assert getattr(sa, name) is not None


def test_every_listed_name_exists():
    for name in sa.__all__:
        assert getattr(sa, name) is not None, name


def test_every_space_is_at_the_front_door():
    classes = [name for name in spaces.__all__ if name[0].isupper() and name not in ("Eigenspace", "Space")]
    assert set(classes) <= set(sa.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Klein'"):
        _ = sa.Klein


@pytest.mark.parametrize(
    "name",
    [
        "Group",
        "trivial",
        "sign_flips",
        "symmetric",
        "alternating",
        "hyperoctahedral",
        "cyclic_shifts",
        "dihedral_shifts",
        "cyclic",
        "dihedral",
        "point_group",
        "crystal_symmetry",
        "space_group",
        "direct_product",
        "wreath",
    ],
)
def test_the_catalogue_has(name):
    assert name in groups.__all__


@pytest.mark.parametrize(
    "name", ["permutation", "signed_permutation", "orthogonal", "left_right", "shift", "affine", "copies", "factors"]
)
def test_the_isometries_have(name):
    assert name in isometries.__all__


def test_importing_loads_nothing_heavy():
    script = (
        "import specavg, sys; print([m for m in ('numpy', 'scipy', 'sklearn', 'sympy', 'numba') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
