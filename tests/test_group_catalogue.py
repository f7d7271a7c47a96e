"""The catalogue: orders, generating sets, names and orientations, against tables made elsewhere."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from specavg import groups
from specavg import isometries as iso
from specavg.groups import Group
from specavg.groups.families import PointGroup

REFERENCE = json.loads((Path(__file__).parent / "data" / "point_groups.json").read_text(encoding="utf-8"))["groups"]

# Schoenflies: (other Schoenflies names, Hermann–Mauguin names, number of elements).
CRYSTAL_CLASSES = {
    "C1": ([], ["1"], 1),
    "Ci": (["S2", "C1i"], ["-1"], 2),
    "Cs": (["C1h", "S1"], ["m", "-2"], 2),
    "C2": ([], ["2"], 2),
    "C2h": ([], ["2/m"], 4),
    "C2v": ([], ["mm2", "2mm", "m2m"], 4),
    "D2": (["V"], ["222"], 4),
    "D2h": (["Vh"], ["mmm", "2/m 2/m 2/m"], 8),
    "C4": ([], ["4"], 4),
    "S4": ([], ["-4"], 4),
    "C4h": ([], ["4/m"], 8),
    "D4": ([], ["422"], 8),
    "C4v": ([], ["4mm"], 8),
    "D2d": (["Vd"], ["-42m", "-4m2"], 8),
    "D4h": ([], ["4/mmm", "4/m2/m2/m"], 16),
    "C3": ([], ["3"], 3),
    "S6": (["C3i"], ["-3"], 6),
    "D3": ([], ["32", "321", "312"], 6),
    "C3v": ([], ["3m", "3m1", "31m"], 6),
    "D3d": ([], ["-3m", "-3m1", "-31m", "-32/m"], 12),
    "C6": ([], ["6"], 6),
    "C3h": (["S3"], ["-6", "3/m"], 6),
    "C6h": ([], ["6/m"], 12),
    "D6": ([], ["622"], 12),
    "C6v": ([], ["6mm"], 12),
    "D3h": ([], ["-6m2", "-62m"], 12),
    "D6h": ([], ["6/mmm"], 24),
    "T": ([], ["23"], 12),
    "Th": ([], ["m-3", "m3", "2/m-3"], 24),
    "O": ([], ["432"], 24),
    "Td": ([], ["-43m"], 24),
    "Oh": ([], ["m-3m", "m3m", "4/m-32/m"], 48),
}
ICOSAHEDRAL = {"I": ([], ["532", "235"], 60), "Ih": ([], ["m-3-5", "-5-3m", "m-35", "-53m"], 120)}
NAMES = [
    (name, symbol, order)
    for symbol, (aliases, hermann_mauguin, order) in (CRYSTAL_CLASSES | ICOSAHEDRAL).items()
    for name in (symbol, *aliases, *hermann_mauguin)
]

FAMILIES = [
    groups.trivial,
    groups.sign_flips,
    groups.symmetric,
    groups.alternating,
    groups.hyperoctahedral,
    groups.cyclic_shifts,
    groups.dihedral_shifts,
    groups.cyclic,
    groups.dihedral,
]
CATALOGUE = [family(d) for family in FAMILIES for d in range(1, 7)] + [
    groups.point_group(name) for name in dict.fromkeys(name for name, _, _ in NAMES)
]
CATALOGUE += [
    groups.point_group(f"{family}{n}{kind}")
    for family, kind in (("C", ""), ("C", "v"), ("C", "h"), ("D", ""), ("D", "h"), ("D", "d"))
    for n in (1, 2, 3, 5, 7, 8)
]
CATALOGUE += [groups.point_group(f"S{n}") for n in (2, 4, 5, 8, 10, 14)]
CATALOGUE += [
    groups.wreath(groups.cyclic(3), 1),
    groups.wreath(groups.trivial(2), 3),
    groups.wreath(groups.sign_flips(2), 2),
    groups.wreath(groups.point_group("C3v"), 2),
    groups.wreath(groups.wreath(groups.cyclic(2), 2), 2),
    groups.direct_product(groups.cyclic(3), groups.symmetric(3)),
    groups.direct_product(groups.wreath(groups.cyclic(2), 2), groups.point_group("D3")),
    groups.direct_product(groups.trivial(1), groups.trivial(2)),
]
whole_catalogue = pytest.mark.parametrize("group", CATALOGUE, ids=repr)


@whole_catalogue
def test_generators_generate_a_group_of_the_stated_order(group):
    assert Group(group.generators, size=group.size).order == group.order


@whole_catalogue
def test_elements_are_as_many_as_the_order(group):
    if group.order <= 2000:
        elements = list(group.elements())
        assert len(elements) == len(set(elements)) == group.order


@whole_catalogue
def test_generating_sets_are_small(group):
    assert len(group.generators) <= math.log2(group.order)
    assert not any(g.is_identity for g in group.generators)


@pytest.mark.parametrize(
    "group, order",
    [
        (groups.symmetric(6), 720),
        (groups.alternating(6), 360),
        (groups.sign_flips(6), 64),
        (groups.hyperoctahedral(6), 46080),
        (groups.cyclic_shifts(6), 6),
        (groups.dihedral_shifts(6), 12),
        (groups.dihedral_shifts(2), 2),
        (groups.cyclic(10**12), 10**12),
        (groups.dihedral(10**12), 2 * 10**12),
        (groups.wreath(groups.cyclic(10**12), 2), 2 * 10**24),
    ],
    ids=repr,
)
def test_orders(group, order):
    assert group.order == order


def test_the_two_generators_of_the_paper():
    swap, cycle = groups.symmetric(5).generators
    assert swap == iso.permutation([1, 0, 2, 3, 4])
    assert cycle == iso.permutation([1, 2, 3, 4, 0])


# --- point groups ---------------------------------------------------------------------------------


def matrices(group):
    return np.array([g.matrix for g in group.elements()])


def contains(group, matrix):
    return bool((np.abs(matrices(group) - np.asarray(matrix)).max(axis=(1, 2)) < 1e-9).any())


def invariant_counts(group, degrees):
    """The mean character on harmonics of each degree: sin((k + ½)θ)/sin(θ/2), times (−1)^k if improper."""
    R = matrices(group)
    improper = np.linalg.det(R) < 0
    trace = np.where(improper, -1, 1) * np.trace(R, axis1=1, axis2=2)
    theta = np.arccos(np.clip((trace - 1) / 2, -1, 1))
    m = np.arange(1, degrees)[:, None]
    characters = 1 + np.vstack([np.zeros_like(theta), np.cumsum(2 * np.cos(m * theta), axis=0)])  # (degree, element)
    signs = np.where(improper, (-1.0) ** np.arange(degrees)[:, None], 1.0)
    return (signs * characters).mean(axis=1)


@pytest.mark.parametrize("name, symbol, order", NAMES)
def test_every_name_of_a_class(name, symbol, order):
    group = groups.point_group(name)
    assert isinstance(group.structure, PointGroup)
    assert group.structure.symbol == symbol
    assert group.order == order
    assert group.size == 3


def test_there_are_32_crystal_classes():
    assert len(CRYSTAL_CLASSES) == 32
    assert CRYSTAL_CLASSES.keys() | ICOSAHEDRAL.keys() | {"D5h"} == REFERENCE.keys()


@pytest.mark.parametrize("name", REFERENCE)
def test_invariant_harmonics_of_each_class(name):
    dims = REFERENCE[name]["dims"]
    assert groups.point_group(name).order == REFERENCE[name]["order"]
    np.testing.assert_allclose(invariant_counts(groups.point_group(name), len(dims)), dims, atol=1e-9)


@pytest.mark.parametrize("name, symbol", [(name, symbol) for name, symbol, _ in NAMES if name != symbol])
def test_all_names_of_a_class_are_conjugate(name, symbol):
    counts = [invariant_counts(groups.point_group(n), 9) for n in (name, symbol)]
    np.testing.assert_allclose(counts[0], counts[1], atol=1e-9)


TWO_X, TWO_Y, TWO_Z = np.diag([1, -1, -1]), np.diag([-1, 1, -1]), np.diag([-1, -1, 1])
TWO_XY = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])


@pytest.mark.parametrize(
    "name, present, absent",
    [
        ("-42m", [TWO_X, TWO_Z, -TWO_XY], [-TWO_X, TWO_XY]),
        ("D2d", [TWO_X, TWO_Z, -TWO_XY], [-TWO_X, TWO_XY]),
        ("-4m2", [-TWO_X, TWO_Z, TWO_XY], [TWO_X, -TWO_XY]),
        ("321", [TWO_X], [TWO_Y]),
        ("32", [TWO_X], [TWO_Y]),
        ("312", [TWO_Y], [TWO_X]),
        ("3m1", [-TWO_X], [-TWO_Y]),
        ("31m", [-TWO_Y], [-TWO_X]),
        ("-3m1", [TWO_X, -TWO_X], [TWO_Y]),
        ("-31m", [TWO_Y, -TWO_Y], [TWO_X]),
        ("-62m", [TWO_X, -TWO_Y, -TWO_Z], [-TWO_X, TWO_Y]),
        ("D3h", [TWO_X, -TWO_Y, -TWO_Z], [-TWO_X, TWO_Y]),
        ("-6m2", [-TWO_X, TWO_Y, -TWO_Z], [TWO_X, -TWO_Y]),
        ("mm2", [TWO_Z, -TWO_X, -TWO_Y], [TWO_X]),
        ("2mm", [TWO_X, -TWO_Y, -TWO_Z], [TWO_Z]),
        ("m2m", [TWO_Y, -TWO_X, -TWO_Z], [TWO_Z]),
        ("m", [-TWO_Z], [-TWO_X]),
        ("1m1", [-TWO_Y], [-TWO_Z]),
        ("2/m", [TWO_Z, -TWO_Z, -np.eye(3)], [TWO_X]),
        ("I", [TWO_X, TWO_Y, TWO_Z], [TWO_XY]),
    ],
)
def test_orientation(name, present, absent):
    group = groups.point_group(name)
    assert all(contains(group, matrix) for matrix in present)
    assert not any(contains(group, matrix) for matrix in absent)


@pytest.mark.parametrize("name", ["T", "Th", "O", "Td", "Oh", "D4h", "-4m2", "mmm", "S4", "C4v"])
def test_signed_permutations_are_exact(name):
    assert all(g.is_exact for g in groups.point_group(name).elements())


@pytest.mark.parametrize("name", ["D4h", "C4v", "O", "mmm"])
def test_cubic_subgroups_are_along_the_axes(name):
    octahedral = set(groups.point_group("Oh").elements())
    assert set(groups.point_group(name).elements()) <= octahedral


@pytest.mark.parametrize("n", [7, 12, 25])
def test_axial_families_for_any_order(n):
    orders = {f"C{n}": n, f"C{n}v": 2 * n, f"C{n}h": 2 * n, f"D{n}": 2 * n, f"D{n}h": 4 * n, f"D{n}d": 4 * n}
    orders[f"S{2 * n}"] = 2 * n
    for name, order in orders.items():
        assert groups.point_group(name).order == order
    turn = groups.point_group(f"C{n}").generators[0].matrix
    mirror = np.diag([1, 1, -1])
    assert contains(groups.point_group(f"C{n}h"), mirror)
    assert contains(groups.point_group(f"D{n}h"), mirror @ turn)
    half = groups.point_group(f"C{2 * n}").generators[0].matrix
    assert contains(groups.point_group(f"S{2 * n}"), mirror @ half)
    assert contains(groups.point_group(f"D{n}d"), mirror @ half)


def test_names_may_be_written_with_bars_spaces_and_any_case():
    assert groups.point_group("m3̄m") == groups.point_group("m-3m") == groups.point_group("m −3 m")
    assert groups.point_group("OH") == groups.point_group("Oh") == groups.point_group("O_h")


def test_powers_keep_their_accuracy():
    last = list(groups.point_group("C1000").elements())[-1]
    np.testing.assert_allclose(last.matrix, groups.point_group("C1000").generators[0].inverse().matrix, atol=1e-15)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_sizes_must_be_positive_integers(family):
    with pytest.raises(ValueError, match="at least 1; got 0"):
        family(0)
    for bad in (2.0, "3", True, None):
        with pytest.raises(TypeError, match="must be an integer"):
            family(bad)
    assert family(np.int64(3)) == family(3)


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: groups.point_group("Q7"), ValueError, "no point group is called 'Q7'"),
        (lambda: groups.point_group("m-3n"), ValueError, "Did you mean .*m-3m"),
        (lambda: groups.point_group("C4d"), ValueError, "Did you mean"),
        (lambda: groups.point_group("C0"), ValueError, "no point group"),
        (lambda: groups.point_group("C4i"), ValueError, "no point group"),
        (lambda: groups.point_group(225), TypeError, "needs a name"),
        (lambda: groups.direct_product(), ValueError, "at least one group"),
        (lambda: groups.direct_product(iso.identity(2)), TypeError, "needs groups"),
        (lambda: groups.wreath(groups.cyclic(2), 0), ValueError, "number of copies"),
        (lambda: groups.wreath(groups.cyclic(2), 2.5), TypeError, "must be an integer"),
        (lambda: groups.wreath([], 2), TypeError, "needs groups"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_importing_groups_is_light():
    import subprocess
    import sys

    code = "import sys, specavg.groups; print([m for m in ('scipy', 'sympy', 'numba') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
