"""Groups with a continuous part: fields, algebras, uniform random elements, and what needs a finite group."""

import itertools
import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from cases import E8, H4
from scipy.stats import kstest

import specavg as sa
from specavg import groups
from specavg import isometries as iso
from specavg.groups import Group
from specavg.groups._molien import LISTED, _degrees_of_reflections
from specavg.isometries import fields

AROUND_Z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
AROUND_X = fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])


def plane(i, j, d=4):
    """The rotation in the plane of two coordinates."""
    A = np.zeros((d, d))
    A[i, j], A[j, i] = -1.0, 1.0
    return A


CONJUGATION = [fields.left_right(f.matrix, f.matrix) for f in (AROUND_Z, AROUND_X)]
SU2 = [fields.rotation(plane(0, 1) + plane(2, 3)), fields.rotation(plane(0, 2) - plane(1, 3))]
U1 = fields.rotation(plane(0, 1) - plane(2, 3))
SU3 = [  # real and imaginary parts side by side; SO(3) on both, and one more
    *(fields.rotation(np.kron(np.eye(2), f.matrix)) for f in (AROUND_Z, AROUND_X)),
    fields.rotation(np.kron([[0, -1], [1, 0]], np.diag([1, -1, 0]))),
]
FROM_THE_RIGHT = [fields.left_right(np.zeros((3, 3)), f.matrix) for f in (AROUND_Z, AROUND_X)]

CATALOGUE = {
    "SO(3)": (groups.special_orthogonal(3), sa.Sphere(3)),
    "O(4)": (groups.orthogonal(4), sa.Sphere(4)),
    "shifts": (groups.shifts([1, 1000003], ["1/2", 0]), sa.Torus(2)),
    **{name: (groups.point_group(name), sa.Sphere(3)) for name in ("C∞", "C∞v", "C∞h", "D∞", "D∞h", "K", "Kh")},
    "fibre": (groups.crystal_symmetry("O", specimen="C∞"), sa.Rotations()),
    "product": (groups.direct_product(groups.shifts([1]), groups.orthogonal(3)), sa.Product(sa.Circle(), sa.Sphere(3))),
    "wreath": (groups.wreath(groups.shifts([1]), 3), sa.Power(sa.Circle(), 3)),
    "diagonal": (groups.diagonal(groups.special_orthogonal(3), 3), sa.Power(sa.Sphere(3), 3)),
    "joined": (
        groups.joined(groups.symmetric(3), groups.diagonal(groups.orthogonal(3), 3)),
        sa.Power(sa.Sphere(3), 3),
    ),
    "A R Aᵀ": (Group(fields=CONJUGATION), sa.Rotations()),
    "A R Aᵀ and inverses of half turns": (
        Group([iso.left_right(np.diag([1, -1, -1]), np.eye(3))], CONJUGATION),
        sa.Rotations(),
    ),
    "copies of A R Aᵀ": (groups.diagonal(Group(fields=CONJUGATION), 2), sa.Power(sa.Rotations(), 2)),
    "SU(2)": (Group(fields=SU2), sa.Sphere(4)),
    "U(2)": (Group(fields=[SU2[0] + 3 * U1, SU2[1]]), sa.Sphere(4)),
    "SU(3)": (Group(fields=SU3), sa.Sphere(6)),
    "SO(2) × SO(2)": (Group(fields=[fields.rotation(plane(0, 1)), fields.rotation(plane(2, 3))]), sa.Sphere(4)),
    "an axis and an angle": (
        Group(fields=[fields.factors([2 * np.pi * AROUND_Z, fields.shift([1])])]),
        sa.Product(sa.Sphere(3), sa.Circle()),
    ),
    "R and x together": (
        Group(fields=[fields.factors([a, b]) for a, b in zip(FROM_THE_RIGHT, (AROUND_Z, AROUND_X), strict=True)]),
        sa.Product(sa.Rotations(), sa.Sphere(3)),
    ),
    "copies of a product": (
        groups.joined(
            groups.diagonal(groups.direct_product(groups.orthogonal(3), groups.shifts([1])), 2), groups.symmetric(2)
        ),
        sa.Power(sa.Product(sa.Sphere(3), sa.Circle()), 2),
    ),
    "moved axis": (Group(groups.point_group("T").generators, [AROUND_Z]), sa.Sphere(3)),
    "plain": (Group([iso.signed_permutation([0, 1, 2], [1, -1, -1])], [AROUND_Z]), sa.Sphere(3)),
}
catalogue = pytest.mark.parametrize("group, space", CATALOGUE.values(), ids=CATALOGUE.keys())


@catalogue
def test_fields_and_elements_act_on_the_space(group, space):
    assert group.order == math.inf
    assert not group.is_finite
    assert not group.has_canonical
    for field in group.fields:
        space.check_field(field)
    X = space.sample(4, 0)
    for g in (group.identity, *group.generators, group.random(0)):
        space.check_points(space.act(g, X))
    assert np.array_equal(space.act(group.identity, X), X)
    assert group.columns == space.n_features


@catalogue
def test_groups_with_fields_are_values(group, space):
    again = pickle.loads(pickle.dumps(group))
    assert again == group
    assert hash(again) == hash(group)
    assert group != Group(group.generators, size=group.size)
    assert group.random(3) == again.random(3)


@catalogue
def test_a_uniform_element_does_not_change_when_an_element_is_multiplied(group, space):
    """Means of D over random elements g, and over h g with h fixed, agree: both are the projector on the invariants."""
    rng, (_, V) = np.random.default_rng(0), (lambda it: (next(it), next(it)))(space.eigenspaces())
    elements = [group.random(rng) for _ in range(400)]
    mean = np.mean([space.representation(g, V) for g in elements], axis=0)
    for field in group.fields:
        D = space.representation(space.check_field(field).flow(0.7), V)
        assert np.abs(D @ mean - mean).max() < 0.25  # 400 draws: standard deviation at most 0.05
    for g in group.generators:
        assert np.abs(space.representation(g, V) @ mean - mean).max() < 0.25


def test_haar_of_so3_by_the_angle_and_of_o3_by_the_determinant():
    """The angle of a uniform rotation has the distribution function (θ − sin θ)/π."""
    rng = np.random.default_rng(1)
    traces = [np.trace(groups.special_orthogonal(3).random(rng).matrix) for _ in range(2000)]
    angles = np.arccos(np.clip((np.array(traces) - 1) / 2, -1, 1))
    assert kstest(angles, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3
    signs = [np.linalg.det(groups.orthogonal(3).random(rng).matrix) for _ in range(400)]
    assert 140 < sum(s > 0 for s in signs) < 260
    assert all(np.linalg.det(groups.point_group("D∞").random(rng).matrix) > 0 for _ in range(50))


def test_uniform_elements_of_a_lie_algebra():
    """A of R ↦ A R Aᵀ has the angles of a uniform rotation; columns of SU(2) and U(2) are uniform on S³, so is det."""
    rng = np.random.default_rng(2)
    conjugation = Group(fields=CONJUGATION)
    both = [conjugation.random(rng) for _ in range(500)]
    assert all(np.array_equal(g.left.matrix, g.right.matrix) for g in both)
    angles = np.arccos(np.clip((np.array([np.trace(g.left.matrix) for g in both]) - 1) / 2, -1, 1))
    assert kstest(angles, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3
    for extra in ([], [U1]):
        unitary = Group(fields=[*SU2, *extra])
        drawn = np.array([unitary.random(rng).matrix for _ in range(500)])
        for i in range(4):  # a coordinate of a uniform point of S³ has the density 2/π √(1 − x²)
            x = np.clip(drawn[:, i, 1], -1, 1)
            assert kstest(x, lambda x: 0.5 + (x * np.sqrt(1 - x * x) + np.arcsin(x)) / np.pi).pvalue > 1e-3
    J = U1.matrix  # the complex structure that SU(2) and U(2) keep: z = a + ib with i acting as J
    assert np.abs(J @ drawn - drawn @ J).max() < 1e-13
    rows = np.array([[1, 0, 0, 0], [0, 0, 1, 0]], dtype=float)  # a complex basis is e_0, e_2
    complex_entries = np.einsum("ai,nij,bj->nab", rows, drawn, rows) - 1j * np.einsum(
        "ai,ik,nkj,bj->nab", rows, J, drawn, rows
    )
    determinants = np.linalg.det(complex_entries)
    np.testing.assert_allclose(np.abs(determinants), 1, atol=1e-12)
    assert kstest(np.angle(determinants) / (2 * np.pi) % 1, "uniform").pvalue > 1e-3


def _irreducible(degree):
    """Rotations of R³ on the harmonics of a degree, as fields of R^(2l + 1)."""
    V = sa.Sphere(3).eigenspace(degree)
    return [fields.rotation(sa.Sphere(3).infinitesimal(f, V)) for f in (AROUND_Z, AROUND_X)]


@pytest.mark.parametrize(
    "given",
    [[AROUND_Z, AROUND_X], _irreducible(2), _irreducible(3), SU2, SU3, groups.special_orthogonal(5).fields],
    ids=["SO(3)", "degree 2", "degree 3", "SU(2)", "SU(3)", "SO(5)"],
)
def test_a_step_keeps_a_third_of_what_is_not_uniform(given):
    """The mean of D over one step is c on each irreducible representation: c ≤ 1/3, or 1 on invariants."""
    from specavg.groups.families._connected import Semisimple, combination

    structure, rng = Semisimple(Group(fields=given).algebra.fields), np.random.default_rng(0)
    steps = rng.standard_normal((1000, len(structure.fields))) @ structure._spread.T
    moves = [combination(step, structure.fields).flow(1.0) for step in steps]
    space = sa.Sphere(structure.size)
    for degree in (1, 2):
        V = space.eigenspace(degree)
        mean = np.mean([space.representation(g, V) for g in moves], axis=0)
        fixed = sa.invariant_basis(space, Group(fields=given), max_eigenvalue=V.eigenvalue).table[-1].invariant_dim
        kept = np.sort(np.linalg.eigvalsh((mean + mean.T) / 2))[: V.dim - fixed]
        assert np.abs(kept).max() < 1 / 3 + 0.1  # 1000 draws: a standard deviation of 0.03 an entry at most


def test_a_field_that_is_moved_elsewhere_makes_the_group_larger():
    """An axis and the rotations of a tetrahedron generate all rotations; with a mirror, all of O(3)."""
    from specavg.groups.families import OrthogonalGroup

    for name, proper in (("T", True), ("Td", False)):
        group = Group(groups.point_group(name).generators, [AROUND_Z])
        assert group.recognise() == OrthogonalGroup(3, special=proper)
    around = Group(groups.hyperoctahedral(4).generators, [fields.rotation(plane(0, 1) + 2 * plane(2, 3))])
    assert around.recognise() == OrthogonalGroup(4, special=False)


def test_names_of_point_groups():
    for name in ("C∞v", "Cinfv", "cinfv", "C_infinity_v", "∞m"):
        assert groups.point_group(name) == groups.point_group("C∞v")
    assert repr(groups.point_group("Cinfv")) == "point_group('C∞v')"
    assert groups.point_group("K") == groups.special_orthogonal(3)
    assert groups.point_group("Kh") == groups.orthogonal(3)
    with pytest.raises(ValueError, match="D∞"):
        groups.crystal_symmetry("O", specimen="C∞v")


def test_the_algebra_that_fields_generate_is_said():
    algebra = Group(fields=[AROUND_Z, AROUND_X]).algebra
    assert (algebra.dim, algebra.independent, algebra.is_closed, algebra.is_abelian) == (3, 2, False, False)
    assert AROUND_Z.bracket(AROUND_X) in algebra
    assert "1 more from their brackets" in repr(algebra)
    for d in (2, 4, 6):
        assert groups.special_orthogonal(d).algebra.dim == d * (d - 1) // 2
    twice = Group(fields=[AROUND_Z, 2 * AROUND_Z]).algebra
    assert (twice.dim, twice.is_closed, twice.is_abelian) == (1, True, True)
    large = Group(fields=[1e6 * AROUND_Z, 1e6 * AROUND_X]).algebra
    assert large.dim == 3


def test_large_algebras_are_found_at_once():
    start = time.process_time()
    assert groups.diagonal(groups.special_orthogonal(20), 2).algebra.dim == 190
    assert time.process_time() - start < 10.0  # 0.8 s; a new basis for each bracket took more than a minute at d = 16


def test_brackets_with_the_given_fields_are_enough():
    # Two general elements of su(n), real and imaginary parts side by side, generate all of it.
    rng = np.random.default_rng(0)
    for n in (2, 3, 4):
        Z = rng.standard_normal((2, n, n)) + 1j * rng.standard_normal((2, n, n))
        Z = Z - Z.conj().transpose(0, 2, 1)
        Z -= np.trace(Z, axis1=1, axis2=2)[:, None, None] * np.eye(n) / n
        given = [fields.rotation(np.block([[A.real, -A.imag], [A.imag, A.real]])) for A in Z]
        algebra = Group(fields=given).algebra
        assert (algebra.dim, algebra.independent) == (n**2 - 1, 2)
        assert all(a.bracket(b) in algebra for a, b in itertools.combinations(algebra.fields, 2))


def test_plain_fields_are_recognised():
    from specavg.groups.families import CircleSubgroup, OrthogonalGroup, ShiftGroup

    assert Group(fields=[AROUND_Z, AROUND_X]).recognise() == OrthogonalGroup(3, special=True)
    assert isinstance(Group(fields=[3 * AROUND_Z]).recognise(), CircleSubgroup)
    assert Group(fields=[fields.shift(["1/2", "1/3"])]).recognise() == ShiftGroup(((3, 2),))


def test_shifts_are_exact_along_their_directions():
    group = groups.shifts([1, 1000003])
    for seed in range(20):
        g = group.random(seed)
        a, b = g.shift
        assert isinstance(a, Fraction)
        assert (1000003 * a - b) % 1 == 0


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: groups.special_orthogonal(3).elements(), ValueError, "infinitely many"),
        (lambda: groups.direct_product(groups.shifts([1]), groups.cyclic(2)).elements(), ValueError, "infinitely many"),
        (lambda: groups.orthogonal(3).molien(), ValueError, "infinitely many"),
        (lambda: groups.point_group("Oh").molien(-1), ValueError, "last degree of a Molien series is 0, 1, 2"),
        (lambda: groups.symmetric(3).molien(2.5), ValueError, "last degree of a Molien series is 0, 1, 2"),
        (lambda: groups.Group([np.diag([1j, -1j])]), ValueError, "generator 0 is a complex matrix"),
        (lambda: groups.Group([], [1j * np.array([[0, -1], [1, 0]])]), ValueError, "rotation was given is a complex"),
        (lambda: iso.orthogonal(np.diag([1j, -1j])), ValueError, "orthogonal was given is a complex matrix"),
        (lambda: iso.affine([[1j]], [0]), ValueError, "affine was given is a complex matrix"),
        (
            lambda: groups.Representation(groups.cyclic(3), [[[np.exp(2j * np.pi / 3)]]]),
            ValueError,
            r"image 0 is a complex matrix.*\[\[A, -B\], \[B, A\]\]",
        ),
        (
            lambda: groups.Representation(groups.point_group("C∞"), [], [[[1j]]]),
            ValueError,
            "rotation was given is a complex matrix",
        ),
        (lambda: groups.shifts([1, math.sqrt(2)]), ValueError, "irrational slope"),
        (lambda: groups.shifts([0, 0]), ValueError, "none of them zero"),
        (lambda: groups.shifts([1], [1, 2]), ValueError, "one length"),
        (lambda: Group(fields=[fields.shift([1.0, 0.5])]).random(0), ValueError, "irrational slope"),
        (
            lambda: Group(fields=[fields.rotation(np.diag([1, 0, 2**0.5], 1) - np.diag([1, 0, 2**0.5], -1))]).random(0),
            ValueError,
            "Haar",
        ),
        (
            lambda: Group([AROUND_Z.flow(1.0)], [AROUND_Z]).random(0),
            ValueError,
            "too large for this search, or infinite",
        ),
        (
            lambda: Group(fields=[fields.factors([AROUND_Z, fields.shift([1])])]).random(0),
            ValueError,
            "does not come back.*periods",
        ),
        (lambda: Group(fields=AROUND_Z), TypeError, r"fields=\[f\]"),
        (lambda: Group([AROUND_Z]), TypeError, r"fields=\["),
        (lambda: groups.orthogonal(3).canonical([[1.0, 0, 0]]), ValueError, "no canonical points"),
        (lambda: groups.joined(), ValueError, "at least one"),
    ],
)
def test_what_needs_a_finite_or_a_closed_group_says_so(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_what_others_call_rotations_and_permutations_are_generators():
    from scipy.spatial.transform import Rotation
    from sympy.combinatorics import Permutation

    assert Group([Permutation([1, 2, 0]), Permutation(0, 1)]).order == 6
    assert Group([Permutation(0, 1), Permutation([1, 2, 3, 0])]).generators[0].size == 4
    turn = Rotation.from_rotvec([0, 0, 2 * np.pi / 5])
    assert Group([turn]).order == 5
    assert Group([Rotation.concatenate([turn, turn * turn])]).order == 5
    assert Group(Rotation.create_group("O")).order == 24
    with pytest.raises(ValueError, match=r"isometries\.affine"):
        Group([[[0, -1, 0], [1, -1, 0], [0, 0, 1]]])  # a three-fold axis of a hexagonal cell


@pytest.mark.parametrize("right", [2, 3])
def test_factors_and_copies_of_two_sided_maps_have_an_order(right):
    one, still = np.eye(3), np.eye(right)
    turn = iso.left_right(np.diag([1.0, -1.0, -1.0]), still)
    neutral, other = iso.left_right(one, still), iso.left_right(one, np.roll(still, 1, axis=0))
    for parts, order in (
        ([iso.factors([turn, iso.identity(2)]), iso.factors([neutral, iso.permutation([1, 0])])], 4),
        ([iso.factors([neutral, iso.permutation([1, 0])])], 2),
        ([iso.copies([1, 0], [neutral, neutral]), iso.copies([0, 1], [turn, neutral])], 8),
        ([iso.copies([1, 0], [neutral, neutral])], 2),
        ([iso.copies([0, 1], [other, neutral]), iso.permutation([1, 0])], 2 * right**2),
    ):
        group = Group(parts)
        assert group.order == order
        assert len(list(group.elements())) == order
        assert group.random(0).size == 2


def test_the_degree_of_a_molien_series_may_be_a_whole_float():
    assert groups.symmetric(3).molien(4.0) == groups.symmetric(3).molien(4) == (1, 1, 2, 3, 4)


def test_molien_series_of_two_sided_maps():
    """X ↦ A X Bᵀ is linear: the symmetric powers of tr A · tr B, for all pairs."""
    left, right = groups.point_group("O"), groups.point_group("D3")
    total = np.zeros(4)
    for a in left.elements():
        for b in right.elements():
            p = [
                np.trace(np.linalg.matrix_power(a.matrix, k)) * np.trace(np.linalg.matrix_power(b.matrix, k))
                for k in (1, 2, 3)
            ]
            total += [1.0, p[0], (p[0] ** 2 + p[1]) / 2, (p[0] ** 3 + 3 * p[0] * p[1] + 2 * p[2]) / 6]
    expected = tuple(np.rint(total / (left.order * right.order)).astype(int).tolist())
    assert groups.left_right(left, right).molien(3) == expected


def test_molien_series_of_integer_matrices_is_that_of_the_rotations_they_are():
    """A sixth of a turn in a hexagonal cell: z^6 and z̄^6 are the first invariants beside powers of |z|²."""
    oblique = Group([iso.affine([[1, -1], [1, 0]], [0, 0])])
    turn = Group([iso.orthogonal([[0.5, -(0.75**0.5)], [0.75**0.5, 0.5]])])
    assert oblique.molien(12) == turn.molien(12) == (1, 0, 1, 0, 1, 0, 3, 0, 3, 0, 3, 0, 5)
    with pytest.raises(TypeError, match="not linear"):
        Group([iso.affine([[1, -1], [1, 0]], ["1/2", 0])]).molien(3)


def test_molien_series_of_continuous_groups_say_what_to_use():
    with pytest.raises(ValueError, match=r"not implemented.*invariant_basis\(.*\.table"):
        groups.special_orthogonal(3).molien(5)


@pytest.mark.parametrize(
    "group",
    [groups.symmetric(4), groups.alternating(4), groups.hyperoctahedral(3), groups.sign_flips(3), groups.trivial(2)],
)
def test_molien_series_of_families_and_of_their_elements_agree(group):
    listed = Group([*group.elements()], size=group.size)
    exact = [0] * 9
    for g in listed.elements():
        series = np.array([1.0])
        for value in np.linalg.eigvals(g.matrix):
            series = np.convolve(series, value ** np.arange(9))[:9]
        exact = exact + series
    assert group.molien(8) == tuple(np.rint(np.real(exact) / group.order).astype(int))


def test_simple_reflections_have_the_degrees_of_their_group():
    """Against the tables of Coxeter, and against the elements where these are few; other reflections are not simple."""
    for group, degrees in [(H4, [2, 12, 20, 30]), (E8, [2, 8, 12, 14, 18, 20, 24, 30])]:
        assert sorted(_degrees_of_reflections(group.generators)) == degrees
    assert E8.molien(12) == (1, 0, 1, 0, 1, 0, 1, 0, 2, 0, 2, 0, 3)  # without 696,729,600 elements
    swap, flip, still = (
        iso.permutation([1, 0, 2, 3]),
        iso.signed_permutation([0, 1, 2, 3], [1, 1, 1, -1]),
        iso.identity(4),
    )
    assert sorted(_degrees_of_reflections([swap, flip])) == [1, 1, 2, 2]
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    both = Group([turned @ g.matrix @ turned.T for g in (swap, flip)])
    assert both.molien(6) == Group([swap, flip]).molien(6) == (1, 2, 5, 8, 14, 20, 30)
    pentagon = [np.eye(2) - 2 * np.outer(v, v) for v in np.array([[1, 0], [np.cos(np.pi / 5), np.sin(np.pi / 5)]])]
    assert sorted(_degrees_of_reflections(Group(pentagon).generators)) == [2, 5]
    star = Group([pentagon[0], pentagon[1] @ pentagon[0] @ pentagon[1]])  # at the angle 2π/5: the same group
    tiny = iso.orthogonal([[np.cos(1e-9), -np.sin(1e-9)], [np.sin(1e-9), np.cos(1e-9)]])  # nearly the identity
    for not_simple in (star.generators, [swap, swap], [swap, still], [tiny], []):
        assert _degrees_of_reflections(not_simple) is None
    assert star.molien(10) == Group(pentagon).molien(10)


def test_molien_series_of_copies_and_factors_are_those_of_their_matrices():
    assert groups.wreath(groups.sign_flips(1), 3).molien(6) == groups.hyperoctahedral(3).molien(6)
    both = np.convolve(groups.symmetric(2).molien(6), groups.symmetric(3).molien(6))[:7]
    assert groups.direct_product(groups.symmetric(2), groups.symmetric(3)).molien(6) == tuple(both)
    # The cube of one copy's series, averaged with those of cycles of copies: (a(t)³ + 3 a(t) a(t²) + 2 a(t³)) / 6.
    a = np.array(groups.symmetric(2).molien(6))
    square, cube = np.zeros(7, dtype=int), np.zeros(7, dtype=int)
    square[::2], cube[::3] = a[:4], a[:3]
    three = np.convolve(np.convolve(a, a)[:7], a)[:7] + 3 * np.convolve(a, square)[:7] + 2 * cube
    assert groups.wreath(groups.symmetric(2), 3).molien(6) == tuple(three // 6)
    # Two copies that move together: 1/det(1 − t g) is squared.
    traces = [1 / np.linalg.det(np.eye(3) - 0.1 * g.matrix) ** 2 for g in groups.symmetric(3).elements()]
    series = groups.diagonal(groups.symmetric(3), 2).molien(12)
    np.testing.assert_allclose(np.polyval(series[::-1], 0.1), np.mean(traces), rtol=1e-7)
    large = groups.wreath(groups.symmetric(3), 5)  # 933,120 elements
    assert large.order > LISTED
    # Cycles of copies: (1/5!) Σ over permutations of Π a(t^length).
    a, total = groups.symmetric(3).molien(8), np.zeros(9)
    for image in itertools.permutations(range(5)):
        series = np.eye(9)[0]
        for length, _ in iso.permutation(list(image)).cycles:
            series = np.convolve(series, np.kron(a, np.eye(length)[0])[:9])[:9]
        total += series
    assert large.molien(8) == tuple(np.rint(total / 120).astype(int))
    assert groups.direct_product(large, large).molien(4) == tuple(np.convolve(large.molien(4), large.molien(4))[:5])
    with pytest.raises(TypeError, match="groups of matrices"):
        groups.wreath(groups.cyclic(3), 12).molien(6)  # 3¹² · 12! elements are not what is wrong with it


def test_molien_series_of_matrices_is_that_of_the_harmonics():
    for name in ("Ih", "D5", "Td", "C7v"):
        group = groups.point_group(name)
        series = group.molien(12)
        basis = sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=12 * 13)
        harmonic = [a - b for a, b in zip(series, (0, 0, *series), strict=False)]
        assert harmonic == [row.invariant_dim for row in basis.table]
    with pytest.raises(TypeError, match="groups of matrices"):
        groups.cyclic(5).molien()


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1e-6, 1e6, 1e12])
def test_how_fast_a_field_flows_does_not_matter(scale):
    space, group = sa.Sphere(3), Group(fields=[scale * AROUND_Z])
    assert sa.invariant_basis(space, group, max_eigenvalue=30).dim == 6
    turn = group.random(0).matrix
    assert turn[2, 2] == 1
    assert abs(turn[0, 0]) < 1
    both = Group(fields=[scale * AROUND_Z, AROUND_X])
    assert sa.invariant_basis(sa.Power(space, 3), groups.diagonal(both, 3), max_eigenvalue=6).dim == 5
    A = scale * np.kron(AROUND_Z.matrix, np.eye(2))
    assert sa.invariants.fixed_space([A]).dim == 2


def test_a_field_that_moves_nothing_says_on_how_many_coordinates():
    group = Group(fields=[0 * AROUND_Z])
    assert (group.size, group.fields, group.is_finite) == (3, (), True)
    assert sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=6).dim == 9


def test_a_factor_that_no_field_moves_may_be_none():
    space, group = sa.Product(sa.Sphere(3), sa.Circle()), Group(fields=[fields.factors([AROUND_Z, None])])
    assert "order" in group._repr_html_()
    basis = sa.invariant_basis(space, group, max_eigenvalue=6)
    whole = sa.invariant_basis(
        space, groups.direct_product(groups.point_group("C∞"), groups.trivial(1)), max_eigenvalue=6
    )
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in whole.table]
    X = space.sample(5, 0)
    assert sa.invariance_discrepancy(lambda X: X[:, 2] * X[:, 3], space, group, X, n_elements=4, random_state=0) == 0
    assert sa.invariance_discrepancy(lambda X: X[:, 0], space, group, X, n_elements=4, random_state=0) > 0.01


@pytest.mark.parametrize(
    "copies, permuted",
    [
        (sa.Power(sa.Circle(), 3), groups.symmetric(3)),
        (sa.Power(sa.Interval(), 2), groups.symmetric(2)),
        (sa.Power(sa.Sphere(3), 3), groups.direct_product(groups.symmetric(2), groups.trivial(1))),
        (sa.Power(sa.Sphere(3), 2), groups.trivial(2)),
    ],
    ids=repr,
)
def test_fields_beside_permutations_of_copies(copies, permuted):
    """All rotations of a direction leave the functions of the copies: fields came with a matrix, which was refused."""
    space, group = sa.Product(sa.Sphere(3), copies), groups.direct_product(groups.orthogonal(3), permuted)
    alone = sa.invariant_basis(copies, permuted, max_eigenvalue=6)
    basis = sa.invariant_basis(space, group, max_eigenvalue=6)
    assert basis.eigenvalues == pytest.approx(alone.eigenvalues, abs=1e-12)
    X = space.sample(5, 0)
    found, expected = basis.evaluate(X), alone.evaluate(X[:, 3:])
    gram = found @ found.T  # that of the same functions, in whatever basis
    assert gram == pytest.approx(expected @ expected.T, abs=1e-10)


def test_plain_fields_have_uniform_elements_where_their_flows_close():
    """Planes at speeds 1 and 2, the same rotation of copies, and rotations from the right."""
    two = fields.rotation(np.diag([1, 0, 2.0], 1) - np.diag([1, 0, 2.0], -1))
    right = [fields.left_right(np.zeros((4, 4)), f.matrix) for f in (AROUND_Z, AROUND_X)]
    for space, group in (
        (sa.Sphere(4), Group(fields=[two])),
        (sa.Power(sa.Sphere(3), 2), Group(fields=[fields.copies([f, f]) for f in (AROUND_Z, AROUND_X)])),
        (sa.Stiefel(4, 3), Group(fields=right)),
    ):
        basis = sa.invariant_basis(space, group, max_eigenvalue=10)
        assert basis.dim > 1
        assert sa.testing.check_invariance(basis, n_elements=3) <= 1e-12


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Group(fields=[fields.shift([1, 0, 0]), AROUND_Z]), "different spaces"),
        (lambda: Group([iso.permutation([1, 0])], [AROUND_Z]), "field 0.*acts on 3 parts but generator 0 says 2"),
        (lambda: sa.invariant_basis(sa.Torus(2), groups.orthogonal(2), max_eigenvalue=9), "not a field of Torus"),
        (lambda: sa.invariant_basis(sa.Sphere(4), groups.special_orthogonal(3), max_eigenvalue=9), "has 4"),
        (lambda: sa.invariant_basis(sa.Interval(), groups.shifts([1]), max_eigenvalue=9), "not a field of Interval"),
    ],
)
def test_groups_that_do_not_fit_are_refused_with_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_direct_product_of_permutations_acts_on_the_copies_of_a_power():
    together = groups.diagonal(groups.orthogonal(3), 4)
    product = groups.joined(together, groups.direct_product(groups.symmetric(2), groups.symmetric(2)))
    swaps = [iso.permutation([1, 0, 2, 3]), iso.permutation([0, 1, 3, 2])]
    by_hand = groups.joined(together, groups.Group(swaps))
    space = sa.Power(sa.Sphere(3), 4)
    found, known = (sa.invariant_basis(space, G, max_eigenvalue=8) for G in (product, by_hand))
    assert [row.invariant_dim for row in found.table] == [row.invariant_dim for row in known.table]
