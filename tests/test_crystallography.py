"""Crystal symmetry on rotations, and the 230 space groups and 17 plane groups on lattices."""

import sys
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from specavg import Group, groups, isometries
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import Affine
from specavg.spaces import Rotations

# Orders of the point groups of the 230 space groups, by ranges of their numbers (International Tables).
POINT_GROUP_ORDERS = [
    (1, 1), (2, 2), (9, 2), (15, 4), (24, 4), (46, 4), (74, 8), (80, 4), (82, 4), (88, 8), (98, 8), (110, 8),
    (122, 8), (142, 16), (146, 3), (148, 6), (155, 6), (161, 6), (167, 12), (173, 6), (174, 6), (176, 12),
    (182, 12), (186, 12), (190, 12), (194, 24), (199, 12), (206, 24), (214, 24), (220, 24), (230, 48),
]  # fmt: skip


def parts(g):
    """The matrix and shift of an affine map, hashable."""
    shift = g.shift if isinstance(g, Affine) else (Fraction(0),) * g.size
    return tuple(map(tuple, np.asarray(g.matrix, dtype=int).tolist())), tuple(shift)


# --- crystal symmetry -----------------------------------------------------------------------------


def invariant_counts(crystal, specimen, degrees):
    """Products of the mean characters of the two groups."""
    counts = []
    for degree in degrees:
        both = []
        for name in (crystal, specimen):
            R = np.array([g.matrix for g in groups.point_group(name).elements()])
            angle = Rotation.from_matrix(R).magnitude()
            orders = np.arange(-degree, degree + 1)
            both.append(round(np.cos(angle[:, None] * orders).sum(axis=1).mean()))
        counts.append(both[0] * both[1])
    return counts


def test_known_numbers_of_invariant_functions():
    assert sum(invariant_counts("O", "D2", range(23))) == 179
    assert sum(invariant_counts("O", "C1", range(23))) == 689


@pytest.mark.parametrize("degree", [4, 9, 22])
def test_invariants_are_products_of_two_small_problems(degree):
    space, G = Rotations(), groups.crystal_symmetry("O", specimen="D2")
    V = space.eigenspace(degree)
    sides = [np.zeros((0, 2 * degree + 1)), np.zeros((0, 2 * degree + 1))]
    for g in G.generators:
        for i, D in enumerate(space.factor_representations(g, V)[0]):
            sides[i] = np.concatenate([sides[i], D - np.eye(len(D))])
    fixed = [int((np.linalg.svd(B)[1] < 1e-9).sum()) for B in sides]
    assert fixed[0] * fixed[1] == invariant_counts("O", "D2", [degree])[0]


def test_crystal_acts_from_the_left_and_specimen_from_the_right():
    G = groups.crystal_symmetry("D3", specimen="C2")
    assert isinstance(G.structure, CrystalSymmetry)
    assert G.order == 12
    elements = list(G.elements())
    assert len(set(elements)) == 12
    lefts = {np.round(g.left.matrix, 9).tobytes() for g in elements}
    assert len(lefts) == 6
    X = Rotations().sample(3, 0).reshape(3, 3, 3)
    g = G.random(0)
    assert np.abs(Rotations().act(g, X) - g.left.matrix @ X @ g.right.matrix.T).max() < 1e-15
    same = groups.crystal_symmetry(groups.point_group("D3"), specimen=groups.point_group("C2"))
    assert same == G


def test_no_symmetry_at_all():
    G = groups.crystal_symmetry("C1")
    assert G.order == 1
    assert not G.generators
    assert len(list(G.elements())) == 1


@pytest.mark.parametrize(
    "name, rotations",
    [("-6m2", "D6"), ("-43m", "O"), ("mm2", "D2"), ("1m1", "121"), ("31m", "312"), ("3m1", "D3"), ("D5h", "D10")],
)
def test_reflections_are_refused_with_the_rotation_group_to_use(name, rotations):
    with pytest.raises(ValueError, match=f"not the inversion.* its rotations, '{rotations}'"):
        groups.crystal_symmetry(name)


def test_what_is_no_point_group_is_refused():
    with pytest.raises(ValueError, match="point group of R"):
        groups.crystal_symmetry(groups.cyclic(3))
    with pytest.raises(ValueError, match="no point group"):
        groups.crystal_symmetry("Q8")


# --- plane groups ---------------------------------------------------------------------------------

PLANE_ORDERS = [1, 2, 2, 2, 4, 4, 4, 4, 8, 4, 8, 8, 3, 6, 6, 6, 12]
# The space groups without change of height whose section is the plane group (setting with its axis along c).
SECTIONS = {
    1: (1, None), 2: (3, "c"), 3: (6, "a"), 4: (7, "a1"), 5: (8, "a2"), 6: (25, None), 7: (28, None), 8: (32, None),
    9: (35, None), 10: (75, None), 11: (99, None), 12: (100, None), 13: (143, None), 14: (156, None),
    15: (157, None), 16: (168, None), 17: (183, None),
}  # fmt: skip


def section(G):
    """The maps of the plane z = 0 among the elements, of a group that never moves z."""
    found = set()
    for g in G.elements():
        A, t = parts(g)
        assert A[2] == (0, 0, 1)
        assert t[2] == 0
        found.add((tuple(row[:2] for row in A[:2]), t[:2]))
    return found


@pytest.mark.parametrize("number", range(1, 18))
def test_plane_groups_are_sections_of_space_groups(number):
    G = groups.plane_group(number)
    assert G.order == PLANE_ORDERS[number - 1]
    pytest.importorskip("spglib")
    assert {parts(g) for g in G.elements()} == section(groups.space_group(*SECTIONS[number]))


def test_plane_groups_by_all_their_names():
    for names in [("p4mm", "p4m", 11), ("c2mm", "cmm", 9), ("p6mm", "p6m", 17), ("p1", 1)]:
        assert len({groups.plane_group(name) for name in names}) == 1
    assert repr(groups.plane_group("pgg")) == "plane_group('p2gg')"
    with pytest.raises(ValueError, match="p31m"):
        groups.plane_group("p5")


# --- space groups ---------------------------------------------------------------------------------


def point_group_order(number):
    return next(order for last, order in POINT_GROUP_ORDERS if number <= last)


def test_orders_of_all_space_groups():
    pytest.importorskip("spglib")
    for number in range(1, 231):
        G = groups.space_group(number)
        assert G.order % point_group_order(number) == 0
        assert G.order // point_group_order(number) in (1, 2, 3, 4)
        assert len(G.generators) <= log2(G.order)
        assert all(g.is_exact for g in G.generators)
    assert [groups.space_group(n).order for n in (1, 2, 14, 62, 136, 166, 194, 225, 227, 229)] == [
        1, 2, 4, 8, 16, 36, 24, 192, 192, 96,
    ]  # fmt: skip


@pytest.mark.parametrize("number", [14, 70, 136, 152, 166, 194, 205, 227])
def test_generators_reach_exactly_the_tabulated_operations(number):
    pytest.importorskip("spglib")
    from specavg.groups._space_group_settings import hall_number
    from specavg.groups._space_groups import _tables

    W, w = _tables(hall_number(number, None))
    expected = {
        (tuple(map(tuple, A.tolist())), tuple(Fraction(int(t), 24) for t in shift))
        for A, shift in zip(W, w, strict=True)
    }
    plain = groups.Group(groups.space_group(number).generators, size=3)  # the order from the generators alone
    assert {parts(g) for g in plain.elements()} == expected


def test_settings():
    pytest.importorskip("spglib")
    first, second = groups.space_group(227), groups.space_group(227, setting="2")
    assert first != second
    assert first.order == second.order == 192
    assert groups.space_group(227, setting=526) == second
    assert repr(second) == "space_group(227, setting='2')"
    assert groups.space_group(166, setting="R").order == 12
    with pytest.raises(ValueError, match="'H' \\(Hall number 458\\), 'R'"):
        groups.space_group(166, setting="X")
    for number in (0, 231, True):
        with pytest.raises(ValueError, match="1 to 230"):
            groups.space_group(number)


def test_without_spglib_the_message_says_how_to_install_it(monkeypatch):
    from specavg.groups import _space_group_settings

    _space_group_settings.database.cache_clear()
    monkeypatch.setitem(sys.modules, "spglib", None)
    with pytest.raises(ImportError, match=r"specavg\[crystal\]"):
        groups.space_group(225)


def test_an_origin_choice_may_be_a_number():
    for choice in (1, 2):
        assert groups.space_group(227, choice) == groups.space_group(227, str(choice))
    assert groups.space_group(2, 2) == groups.space_group(2)  # where the only setting has this Hall number
    with pytest.raises(ValueError, match="227 has no setting 3"):
        groups.space_group(227, 3)


@pytest.mark.filterwarnings("ignore:Set OLD_ERROR_HANDLING")
def test_all_530_symbols_name_their_own_setting():
    spglib = pytest.importorskip("spglib")
    from specavg.groups._space_group_settings import hall_number

    kinds = {hall: spglib.get_spacegroup_type(hall) for hall in range(1, 531)}
    first = {kind.international_full: hall for hall, kind in reversed(kinds.items())}
    for hall, kind in kinds.items():
        full, number = kind.international_full, kind.number
        assert hall_number(full, None) == first[full]
        assert hall_number(number, kind.choice) == hall_number(full, kind.choice) == hall
        if number > 15:  # short symbols of monoclinic groups are those of the first setting
            assert kinds[hall_number(kind.international_short, None)].international_full == full
        table = spglib.get_symmetry_from_database(hall)
        if first[full] != hall or len(table["rotations"]) > 32:
            continue
        shifts = [tuple(Fraction(t).limit_denominator(24) % 1 for t in w) for w in table["translations"]]
        expected = {(tuple(map(tuple, A.tolist())), w) for A, w in zip(table["rotations"], shifts, strict=True)}
        group = groups.space_group(full)
        assert group.order == len(expected)
        assert {parts(g) for g in group.generators} <= expected


@pytest.mark.parametrize("hall", [419, 458, 488, 523])
@pytest.mark.filterwarnings("ignore:Set OLD_ERROR_HANDLING")
def test_operations_as_spglib_returns_them_generate_the_group(hall):
    spglib = pytest.importorskip("spglib")
    table = spglib.get_symmetry_from_database(hall)
    maps = [isometries.affine(W, w) for W, w in zip(table["rotations"], table["translations"], strict=True)]
    assert groups.Group(maps).order == len(maps)
    assert {parts(g) for g in groups.Group(maps).elements()} == {parts(g) for g in maps}


# International Tables, volume A, table 4.3.2.1: the axes abc, ba-c, cab, -cba, bca, a-cb.
OLD_SYMBOLS = {
    39: "Abm2 Bma2 B2cm C2mb Cm2a Ac2m",
    41: "Aba2 Bba2 B2cb C2cb Cc2a Ac2a",
    64: "Cmca Ccmb Abma Acam Bbcm Bmab",
    67: "Cmma Cmmb Abmm Acmm Bmcm Bmam",
    68: "Ccca Cccb Abaa Acaa Bbcb Bbab",
}


@pytest.mark.parametrize("number", OLD_SYMBOLS)
def test_old_symbols_with_glides_that_are_called_e_today(number):
    pytest.importorskip("spglib")
    for symbol, axes in zip(OLD_SYMBOLS[number].split(), ("", "ba-c", "cab", "-cba", "bca", "a-cb"), strict=True):
        choice = f"1{axes}" if number == 68 else axes  # origin choice 1
        assert groups.space_group(symbol) == groups.space_group(number, choice)


@pytest.mark.parametrize(
    "symbol, number, setting",
    [
        ("Pbnm", 62, "cab"), ("P2_1/n", 14, "b2"), ("P21/n", 14, "b2"), ("P 1 21/n 1", 14, "b2"), ("P2_1/a", 14, "b3"),
        ("P2_1/b", 14, "c3"), ("P2_1/c", 14, "b1"), ("I2/a", 15, "b3"), ("I12/a1", 15, "b3"), ("P112/m", 10, "c"),
        ("B2/b", 15, "-c1"), ("Pnam", 62, "a-cb"), ("Pcab", 61, "ba-c"), ("Ammm", 65, "cab"), ("Imcm", 74, "bca"),
        ("Fm3m", 225, ""), ("Ia3d", 230, ""), ("Fd-3m", 227, "1"), ("Fd3m:2", 227, "2"), ("R -3 m :R", 166, "R"),
        ("R-3m", 166, "H"),
    ],
)  # fmt: skip
def test_a_symbol_stands_for_its_own_setting(symbol, number, setting):
    pytest.importorskip("spglib")
    group = groups.space_group(symbol)
    assert group == groups.space_group(number, setting)
    assert eval(repr(group), vars(groups)) == group
    assert groups.reciprocal_point_group(symbol) == groups.reciprocal_point_group(number, setting)


def test_a_symbol_and_the_setting_of_another_contradict():
    pytest.importorskip("spglib")
    assert groups.space_group("Fd-3m", "2") == groups.space_group(227, "2")
    assert groups.space_group("P2_1/c", "c1") == groups.space_group(14, "c1")
    with pytest.raises(ValueError, match=r"symbol of the setting 'cab' of space group 62, and not of 'bca'"):
        groups.space_group("Pbnm", "bca")


# --- wave vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [5, 15, 38, 70, 136, 139, 146, 166, 225, 227])
def test_wave_vectors_move_against_positions(number):
    # q·x is kept when x moves by W and q by W⁻ᵀ, both in coordinates of the primitive cell: x_c = P x_p.
    pytest.importorskip("spglib")
    G = groups.reciprocal_point_group(number, time_reversal=False)
    P = groups.primitive_lattice(number, np.eye(3)).T
    expected = set()
    for g in groups.space_group(number).elements():
        W = np.linalg.inv(P) @ np.array(parts(g)[0]) @ P
        assert np.abs(W - np.rint(W)).max() < 1e-12
        expected.add(tuple(map(tuple, np.rint(np.linalg.inv(W).T).astype(int).tolist())))
    assert {parts(g)[0] for g in G.elements()} == expected
    assert G.order == point_group_order(number)


def test_time_reversal_adds_the_inversion():
    pytest.importorskip("spglib")
    minus = isometries.signed_permutation([0, 1, 2], [-1, -1, -1])
    for number, order in [(216, 48), (225, 48), (1, 2), (136, 16)]:
        G = groups.reciprocal_point_group(number)
        assert G.order == order
        assert minus in set(G.elements())


def test_reciprocal_lattice_is_dual():
    B = np.random.default_rng(0).standard_normal((3, 3))
    assert np.abs(groups.reciprocal_lattice(B) @ B.T - np.eye(3)).max() < 1e-12


def _proper(group, turn=None):
    """The rotations among all elements, turned."""
    turn = np.eye(3) if turn is None else turn
    matrices = np.array([np.asarray(g.matrix, dtype=float) for g in group.elements()])
    return turn @ matrices[np.linalg.det(matrices) > 0] @ turn.T


def _same_elements(a, b):
    return len(a) == len(b) and all(np.abs(b - A).max(axis=(1, 2)).min() < 1e-12 for A in a)


_WITH_INVERSION = ["-1", "2/m", "12/m1", "2/m11", "mmm", "4/m", "4/mmm", "-3", "-3m1", "-31m", "6/m", "6/mmm", "m-3",
                   "m-3m", "m-3-5", "D5d", "D9d", "S10", "D8h"]  # fmt: skip


@pytest.mark.parametrize("name", _WITH_INVERSION)
def test_a_class_with_the_inversion_stands_for_its_rotations_in_its_own_orientation(name):
    given = groups.point_group(name)
    found = groups.crystal_symmetry(name)
    assert _same_elements(_proper(found.structure.crystal), _proper(given))
    assert eval(repr(found), vars(groups)) == found
    for turn in (np.eye(3)[[2, 0, 1]], Rotation.from_rotvec([0.3, 0.4, 0.5]).as_matrix()):
        tilted = Group([turn @ np.asarray(g.matrix, dtype=float) @ turn.T for g in given.generators])
        left, right = groups.crystal_symmetry(tilted), groups.crystal_symmetry("1", specimen=tilted)
        assert _same_elements(_proper(left.structure.crystal), _proper(given, turn))
        assert _same_elements(_proper(right.structure.specimen), _proper(given, turn))
