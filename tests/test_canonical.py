"""Canonical points: in the orbit, and the same to the last bit from every point of it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from specavg import groups
from specavg import isometries as iso
from specavg.groups import Group, _canonical
from specavg.groups._signed_columns import on_columns
from specavg.groups.families import Alternating, SignedSubgroup


def plain(group):
    return Group(group.generators, size=group.size)


def all_minus(d):
    return iso.signed_permutation(range(d), [-1] * d)


KNOWN = [
    groups.trivial(3),
    groups.sign_flips(3),
    groups.symmetric(4),
    groups.alternating(1),
    groups.alternating(2),
    groups.alternating(4),
    groups.hyperoctahedral(3),
    groups.cyclic_shifts(1),
    groups.cyclic_shifts(6),
    groups.dihedral_shifts(2),
    groups.dihedral_shifts(5),
    groups.direct_product(groups.alternating(3), groups.sign_flips(2)),
    groups.wreath(groups.symmetric(2), 3),
    groups.wreath(groups.hyperoctahedral(2), 2),
    groups.wreath(groups.trivial(2), 3),
    groups.direct_product(groups.wreath(groups.sign_flips(1), 2), groups.cyclic_shifts(3)),
]
PLAIN = [plain(group) for group in KNOWN]
POINT = [groups.point_group(name) for name in ("C1", "-1", "mm2", "-42m", "-4", "Th", "Td", "O", "Oh", "4/mmm")]
OTHER = [
    Group([iso.signed_permutation([1, 2, 3, 0], [1, 1, 1, -1])]),  # a cycle of order 8
    Group([iso.permutation([1, 2, 0, 4, 5, 3])]),  # two rings that turn together
    Group([*groups.symmetric(4).generators, all_minus(4)]),
    Group([*groups.symmetric(4).generators, iso.signed_permutation(range(4), [-1, -1, 1, 1])]),
]
SMALL = KNOWN + PLAIN + POINT + OTHER


def points(d, rng):
    """Generic points, and points with ties, zeros and negative zeros."""
    ties = rng.integers(-1, 2, size=(40, d)).astype(float)
    return np.vstack([rng.normal(size=(10, d)), ties, -np.abs(ties)])


def bits(X):
    return np.ascontiguousarray(X).view(np.int64)


@pytest.mark.parametrize("group", SMALL, ids=repr)
def test_canonical_point_is_one_of_the_orbit_and_the_same_from_all_of_it(group):
    assert group.has_canonical
    X = points(group.columns, np.random.default_rng(0))
    expected = bits(group.canonical(X))
    reached = np.zeros(len(X), dtype=bool)
    for g in group.elements():
        moved = on_columns(g)(X)
        assert np.array_equal(bits(group.canonical(moved)), expected)
        reached |= (bits(moved + 0.0) == expected).all(axis=1)
    assert reached.all()


@pytest.mark.parametrize(
    "group", [groups.sign_flips(3), groups.symmetric(3), groups.point_group("Oh"), groups.cyclic_shifts(3)]
)
def test_canonical_points_have_one_order_in_memory(group):
    """Products of matrices round differently where columns, and not rows, are next to each other in memory."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    for Y in (X, np.asfortranarray(X), X[:, [2, 0, 1]], X[::-1]):
        assert group.canonical(Y).flags.c_contiguous


@pytest.mark.parametrize("group", SMALL, ids=repr)
def test_different_orbits_have_different_canonical_points(group):
    X = np.unique(points(group.columns, np.random.default_rng(1)) + 0.0, axis=0)
    orbits = {frozenset(map(tuple, (on_columns(g)(x) + 0.0 for g in group.elements()))) for x in X}
    assert len(np.unique(group.canonical(X), axis=0)) == len(orbits)


LARGE = {
    "S_200": plain(groups.symmetric(200)),
    "A_60": plain(groups.alternating(60)),
    "B_60": plain(groups.hyperoctahedral(60)),
    "D_40": Group([*groups.symmetric(40).generators, iso.signed_permutation(range(40), [-1, -1] + [1] * 38)]),
    "±S_40": Group([*groups.symmetric(40).generators, all_minus(40)]),
    "±A_41": Group([*groups.alternating(41).generators, all_minus(41)]),
    "Z_200": groups.cyclic_shifts(200),
    "wreath": groups.wreath(groups.dihedral_shifts(7), 30),
}


@pytest.mark.parametrize("group", LARGE.values(), ids=LARGE.keys())
def test_large_groups(group):
    rng = np.random.default_rng(2)
    X = points(group.columns, rng)
    expected = group.canonical(X)
    for _ in range(5):
        g = on_columns(group.random(rng))
        assert np.array_equal(bits(group.canonical(g(X))), bits(expected))
    assert np.array_equal(np.sort(np.abs(expected)), np.sort(np.abs(X)))


def mathieu_24():
    p, infinity = 23, 23
    squares = {x * x % p for x in range(1, p)}
    inverse = {x: pow(x, -1, p) for x in range(1, p)}
    images = [
        [(x + 1) % p for x in range(p)] + [infinity],
        [infinity, *(-inverse[x] % p for x in range(1, p)), 0],
        [x**3 * (inverse[9] if x in squares else 9) % p for x in range(p)] + [infinity],
    ]
    return [iso.permutation(image) for image in images]


def test_sporadic_group_with_and_without_ties():
    group = Group(mathieu_24())
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(50, 24)), rng.integers(0, 8, size=(10, 24))])
    expected = group.canonical(X)
    for _ in range(3):
        assert np.array_equal(bits(group.canonical(group.random(rng)(X))), bits(expected))


SIGNED_MATHIEU_24 = {
    "even": Group([*mathieu_24(), iso.signed_permutation(range(24), [-1, -1] + [1] * 22)]),
    "all": Group([*mathieu_24(), iso.signed_permutation(range(24), [-1] + [1] * 23)]),
    "negation": Group([*mathieu_24(), all_minus(24)]),
}


@pytest.mark.parametrize("group", SIGNED_MATHIEU_24.values(), ids=SIGNED_MATHIEU_24.keys())
def test_sporadic_group_with_sign_changes_and_moderate_ties(group):
    rng = np.random.default_rng(12)
    X = np.vstack([rng.normal(size=(20, 24)), rng.integers(-6, 6, size=(60, 24))])
    expected = group.canonical(X)
    assert np.array_equal(np.sort(np.abs(expected)), np.sort(np.abs(X)))
    for _ in range(2):
        assert np.array_equal(bits(group.canonical(group.random(rng)(X))), bits(expected))


def test_sporadic_group_with_five_different_values():
    group, rng = Group(mathieu_24()), np.random.default_rng(5)
    X = rng.integers(0, 5, size=(40, 24)).astype(float)
    assert np.array_equal(bits(group.canonical(group.random(rng)(X))), bits(group.canonical(X)))


@pytest.mark.parametrize("group", SIGNED_MATHIEU_24.values(), ids=SIGNED_MATHIEU_24.keys())
def test_points_with_very_many_ties_are_of_their_orbit_bounded_in_work_and_alone_as_beside_others(group, monkeypatch):
    seen = []

    def counted(candidates, owner, n):
        seen.append(candidates.size)
        return merged(candidates, owner, n)

    merged = _canonical._merged
    monkeypatch.setattr(_canonical, "_merged", counted)
    X = np.random.default_rng(0).choice([-0.5, 0.0, 0.5], (30, 24))
    Y = group.canonical(X)
    assert sum(seen) < 100_000 * len(X)
    assert np.array_equal(np.sort(np.abs(Y)), np.sort(np.abs(X)))
    assert np.array_equal(bits(np.vstack([group.canonical(x[None]) for x in X])), bits(Y))


@given(hnp.arrays(float, (6, 5), elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0])), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_index_two_and_four_subgroups_of_signed_permutations(X, seed):
    for signatures in ({(0, 0)}, {(0, 0), (1, 1)}, {(0, 0), (0, 1)}, {(0, 0), (1, 0)}):
        structure = SignedSubgroup(5, frozenset(signatures))
        g = structure.random(np.random.default_rng(seed))
        assert np.array_equal(bits(structure.canonical(X)), bits(structure.canonical(g(X))))


@given(
    hnp.arrays(float, (4, 6), elements=st.sampled_from([-1.0, -0.0, 0.0, 3.0, 4.0, 5.0, 6.0])),
    st.integers(0, 10**6),
)
@settings(max_examples=50, deadline=None)
def test_alternating_with_ties(X, seed):
    structure = Alternating(6)
    g = structure.random(np.random.default_rng(seed))
    assert np.array_equal(bits(structure.canonical(X)), bits(structure.canonical(g(X))))


def test_closed_forms():
    X = [[0.5, -2.0, 1.0]]
    assert groups.sign_flips(3).canonical(X).tolist() == [[0.5, 2.0, 1.0]]
    assert groups.symmetric(3).canonical(X).tolist() == [[-2.0, 0.5, 1.0]]
    assert groups.hyperoctahedral(3).canonical(X).tolist() == [[0.5, 1.0, 2.0]]
    assert groups.cyclic_shifts(3).canonical([[3.0, 1.0, 2.0]]).tolist() == [[1.0, 2.0, 3.0]]
    assert groups.dihedral_shifts(4).canonical([[3.0, 1.0, 2.0, 5.0]]).tolist() == [[1.0, 2.0, 5.0, 3.0]]
    assert groups.alternating(3).canonical([[1.0, 3.0, 2.0]]).tolist() == [[1.0, 3.0, 2.0]]


def test_negative_zero_is_lost():
    for group in (groups.trivial(2), groups.symmetric(2), groups.cyclic_shifts(2), groups.point_group("-1")):
        Y = group.canonical(np.full((1, group.columns), -0.0))
        assert not np.signbit(Y).any()


def test_no_rows():
    for group in SMALL:
        assert group.canonical(np.empty((0, group.columns))).shape == (0, group.columns)


@pytest.mark.parametrize(
    "group",
    [
        groups.cyclic(3),
        groups.point_group("C3"),
        groups.point_group("I"),
        groups.direct_product(groups.sign_flips(2), groups.cyclic(3)),
        groups.wreath(groups.cyclic(4), 2),
        Group([[[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]]]),
    ],
    ids=repr,
)
def test_shifts_and_rotations_have_none(group):
    assert not group.has_canonical
    with pytest.raises(ValueError, match="round on floating-point numbers"):
        group.canonical(np.zeros((1, group.columns)))


def test_bad_points_are_refused():
    with pytest.raises(ValueError, match=r"shape \(n, 3\)"):
        groups.symmetric(3).canonical([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"shape \(n, 3\)"):
        groups.symmetric(3).canonical([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="finite"):
        groups.symmetric(3).canonical([[1.0, np.nan, 0.0]])
