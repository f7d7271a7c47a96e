"""The public surface: every name is where users look for it, and importing it costs little."""

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import specavg as sa
from specavg import groups, isometries, spaces

SPACES = ["Circle", "Power", "Product", "Rotations", "Sphere", "Stiefel", "Torus"]
ESTIMATORS = ["InvariantDensity", "InvariantFeatures", "InvariantKernelRidge", "SpecAvgRegressor", "Symmetrized"]
FUNCTIONS = ["config", "discover_symmetry", "invariance_discrepancy", "invariant_basis", "load", "symmetry_test"]
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
    "crystals",
    "datasets",
    "discovery",
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
    "textures",
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


def test_fields_are_there_in_a_fresh_process():
    code = "import sys, specavg as sa; assert 'numpy' not in sys.modules; print(sa.isometries.fields.rotation.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "rotation", done.stderr


def test_importing_loads_nothing_heavy():
    script = (
        "import specavg, sys; print([m for m in ('numpy', 'scipy', 'sklearn', 'sympy', 'numba') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("module", [*DOCUMENTED, "discovery", "isometries.fields"])
def test_tab_completion_offers_public_names_only(module):
    home = importlib.import_module(f"specavg.{module}")
    offered = {name for name in dir(home) if not name.startswith("_")}
    assert offered - {"fields"} == set(home.__all__) - {"fields"}


# --- notebooks ------------------------------------------------------------------------------------------------


def test_spaces_groups_bases_and_tests_are_shown_as_html():
    space, group = sa.Torus(2), groups.symmetric(2)
    X = space.sample(60, random_state=0)
    assert "<th>dimension</th><td>2</td>" in space._repr_html_()
    assert "permutation([1, 0])" in group._repr_html_()
    assert "<th>order</th><td>2</td>" in group._repr_html_()
    assert "C11" in sa.invariant_tensors(sa.groups.point_group("Oh"), "ijkl=jikl=klij")._repr_html_()
    assert sa.invariants.plan(space, group, max_eigenvalue=30)._repr_html_().startswith("<pre>plan of a basis")
    own = groups.Group([isometries.permutation([1, 0, 2]), isometries.shift(["1/3", 0, 0])])
    assert "see .order" in own._repr_html_()
    basis = sa.invariant_basis(space, group, max_dim=30)
    html = basis._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") == 4 + 1 + len(basis.table)
    assert "p-value" in sa.symmetry_test(X, X[:, 0] + X[:, 1], space, group)._repr_html_()
    assert "&lt;" in groups.Group([isometries.permutation([1, 0, 2])])._repr_html_()  # what looks like a tag is none


def test_a_table_prints_as_a_table_and_stays_a_tuple():
    basis = sa.invariant_basis(sa.Torus(2), groups.symmetric(2), max_eigenvalue=900)
    table = basis.table
    lines = repr(table).splitlines()
    assert lines[0].split() == ["eigenvalue", "dim", "invariant_dim", "solver", "residual", "gap"]
    assert len(lines) == 1 + 25  # the first twenty, a gap, the last four
    assert len({line.index("closed") for line in lines if "closed" in line}) == 1
    assert table == tuple(table)
    assert pickle.loads(pickle.dumps(table)) == table
    assert isinstance(table, tuple)


def test_lengths_are_taken_as_fractions_in_texts():
    assert sa.Torus(lattice=[["1/2", 0], [0, 1]]) == sa.Torus(lattice=[[0.5, 0], [0, 1]])
    assert sa.Interval("1/3", "2") == sa.Interval(1 / 3, 2)
    with pytest.raises(ValueError, match="a text such as '1/3', is needed; got 'a'"):
        sa.Torus(lattice=[["a", 0], [0, 1]])
    with pytest.raises(ValueError, match="got '1/0'"):
        sa.Interval("1/0")
