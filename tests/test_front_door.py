"""The public surface: every name is where users look for it, and importing it costs little."""

import importlib
import inspect
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


DOCUMENTED = [
    "baselines",
    "datasets",
    "estimators",
    "experiments",
    "groups",
    "invariants",
    "io",
    "isometries",
    "molecules",
    "plot",
    "spaces",
    "testing",
    "theory",
]


@pytest.mark.parametrize("module", ["", *DOCUMENTED])
def test_every_public_object_has_an_example_that_runs(module):
    """The doctests of the package run every ``>>>``; this says that each public class and function has one."""
    home = importlib.import_module(f"specavg.{module}" if module else "specavg")
    objects = [getattr(home, name) for name in home.__all__]
    without = [o.__name__ for o in objects if (inspect.isclass(o) or inspect.isfunction(o)) and not has_example(o)]
    assert not without


def has_example(o):
    lines = inspect.cleandoc(o.__doc__ or "").splitlines()
    return "Examples" in lines and any(line.startswith(">>>") for line in lines[lines.index("Examples") :])


def test_an_object_without_an_example_is_noticed():
    assert not has_example(test_every_listed_name_exists)


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
