"""Every law of `specavg.testing` on every registered case, and every law noticing when it is broken."""

import inspect
from itertools import islice

import numpy as np
import pytest
from cases import CASES, case_id
from hypothesis import given, settings
from hypothesis import strategies as st

import specavg as sa
from specavg import groups, isometries, spaces, testing
from specavg.groups import Group
from specavg.spaces import Space, Sphere
from specavg.testing import LawBroken

# --- the registry is complete --------------------------------------------------------------------------


def public_spaces():
    found = [getattr(spaces, name) for name in spaces.__all__]
    return [kind for kind in found if inspect.isclass(kind) and issubclass(kind, Space) and kind is not Space]


def group_makers():
    """Functions of the catalogue that return a group."""
    found = [getattr(groups, name) for name in groups.__all__]
    makers = [f.__name__ for f in found if inspect.isfunction(f) and f.__annotations__["return"] == "Group"]
    return ["Group", *makers]


@pytest.mark.parametrize("kind", public_spaces(), ids=lambda kind: kind.__name__)
def test_every_space_has_a_case(kind):
    assert any(type(case.space) is kind for case in CASES), f"register a case of {kind.__name__} in tests/cases.py"


@pytest.mark.parametrize("maker", sorted(group_makers()))
def test_every_catalogue_group_has_a_case(maker):
    assert any(case.maker == maker for case in CASES), f"register a case of groups.{maker} in tests/cases.py"


def test_the_catalogue_is_seen():
    assert {"symmetric", "point_group", "direct_product", "Group"} <= set(group_makers())
    assert {sa.Torus, sa.Sphere, sa.Product, sa.Power} <= set(public_spaces())
    assert any(case.space == sa.Circle() for case in CASES)


# --- the laws hold ---------------------------------------------------------------------------------------


# laws that compare estimates: standard errors, and a dimension
ESTIMATED = {"the mean of φ over samples is 0": 5.0, "eigenvalues grow as dimension and volume say": 0.25}


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_every_law_holds(case):
    checked = testing.check_space(
        case.space, case.group, max_functions=case.max_functions, order=case.order, homogeneous=case.homogeneous
    )
    assert len(checked) == 23
    for law in checked:
        assert law.left_out or law.residual <= law.tolerance <= ESTIMATED.get(law.law, 1e-8)
        assert law.law not in ESTIMATED or not law.left_out
    assert sum(not law.left_out for law in checked) >= (16 if case.homogeneous else 11)  # an interval has no fields


def test_invariants_are_evaluated_without_canonical_points(monkeypatch):
    def refuse(*_):
        raise AssertionError("a law must not use canonical points")

    monkeypatch.setattr(Group, "canonical", refuse)
    testing.check_space(sa.Torus(2), groups.hyperoctahedral(2), max_functions=20)


# --- a space written by a user ---------------------------------------------------------------------------


class ProjectivePlane(Space):
    """Lines through the origin of R³, as unit vectors up to sign: harmonics of even degree."""

    sphere = Sphere(3)
    dim, volume, shape = 2, 2 * np.pi, (3,)

    def __repr__(self):
        return "ProjectivePlane()"

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def eigenspaces(self):
        for V in self.sphere.eigenspaces():
            if V.label % 2 == 0:
                yield V

    def sample(self, n, random_state=None):
        return self.sphere.sample(n, random_state)

    def quadrature(self, max_eigenvalue):
        return self.sphere.quadrature(max_eigenvalue)

    def check_isometry(self, g):
        return self.sphere.check_isometry(g)

    def _membership_error(self, X):
        return self.sphere._membership_error(X)

    def _evaluate(self, eigenspace, X):
        return self.sphere._evaluate(eigenspace, X)

    def _act(self, g, X):
        return self.sphere._act(g, X)


def test_check_space_works_for_a_space_written_by_a_user():
    laws = testing.check_space(ProjectivePlane(), groups.point_group("O"), max_eigenvalue=20)
    assert not any(law.left_out for law in laws)
    basis = sa.invariant_basis(ProjectivePlane(), groups.point_group("O"), max_eigenvalue=20)
    assert [row.invariant_dim for row in basis.table] == [1, 0, 1]


class OfPublicMethods(ProjectivePlane):
    """It refuses what are no points of it."""

    def _act(self, g, X):
        return self.sphere.act(g, X)


def test_a_space_may_move_only_points_of_it():
    group = groups.point_group("D3")
    assert not any(law.left_out for law in testing.check_space(OfPublicMethods(), group, max_eigenvalue=20))
    space = sa.Power(OfPublicMethods(), 2)
    g = groups.wreath(group, 2).random(0)
    A = space.differential(g)
    X = space.sample(10, random_state=0)
    np.testing.assert_allclose(X @ A.T, space.act(g, X), rtol=0, atol=1e-14)
    for g in groups.hyperoctahedral(3).generators:
        assert np.array_equal(OfPublicMethods().differential(g), g.matrix)


@pytest.mark.parametrize(
    "space, g",
    [
        (Sphere(4), groups.symmetric(4).random(0)),
        (sa.Interval(2, 5), sa.isometries.signed_permutation([0], [-1])),
        (sa.Rotations(), sa.isometries.left_right(groups.point_group("I").random(1).matrix, np.eye(3))),
        (sa.Stiefel(4, 2), sa.isometries.left_right(groups.symmetric(4).random(3).matrix, [[0.6, -0.8], [0.8, 0.6]])),
    ],
)
def test_differentials_are_the_linear_part_of_the_map(space, g):
    A = space.differential(g)
    X, Y = space.sample(5, random_state=0), space.sample(5, random_state=1)
    X, Y, gX, gY = (Z.reshape(5, -1) for Z in (X, Y, space.act(g, X), space.act(g, Y)))
    np.testing.assert_allclose((X - Y) @ A.T, gX - gY, rtol=0, atol=1e-14)


def test_a_product_with_an_interval_is_said_not_to_be_homogeneous():
    space = sa.Product(sa.Interval(-1, 1), Sphere(3))
    with pytest.raises(testing.LawBroken, match=r"squares of the functions.*give homogeneous=False"):
        testing.check_space(space, max_functions=8)
    assert testing.check_space(space, max_functions=8, homogeneous=False)


def test_group_is_optional():
    assert len(testing.check_space(sa.Sphere(4))) == 23


# --- and each law notices when it is broken ----------------------------------------------------------------


class Unnormalised(ProjectivePlane):
    def _evaluate(self, eigenspace, X):
        return (1.0 if eigenspace.eigenvalue == 0 else 1 + 1e-9) * super()._evaluate(eigenspace, X)


class NotHomogeneous(ProjectivePlane):
    def quadrature(self, max_eigenvalue):  # a wrong rule that hides what is wrong
        X, w = super().quadrature(max_eigenvalue)
        return X, w

    def _evaluate(self, eigenspace, X):
        values = super()._evaluate(eigenspace, X)
        return values if eigenspace.eigenvalue == 0 else values * (1 + 1e-9 * X[:, 2:])


class Transposed(ProjectivePlane):
    def representation(self, g, eigenspace):
        return super().representation(g, eigenspace).T


class Scaled(ProjectivePlane):
    def representation(self, g, eigenspace):
        return super().representation(g, eigenspace) * (1 + 1e-9)


class WrongAction(ProjectivePlane):
    def _act(self, g, X):
        return super()._act(g.inverse(), X)


class Unordered(ProjectivePlane):
    def eigenspaces(self):
        first, second, third = islice(super().eigenspaces(), 3)
        yield from (first, third, second)


class Wobbling(ProjectivePlane):
    def _evaluate(self, eigenspace, X):
        values = super()._evaluate(eigenspace, X)
        return values + 1e-9 if eigenspace.eigenvalue == 0 else values


class Polar(ProjectivePlane):
    def sample(self, n, random_state=None):  # a uniform polar angle: too many points near the poles
        angle, turn = np.random.default_rng(random_state).random((2, n)) * np.array([[np.pi], [2 * np.pi]])
        return np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)], axis=1)


class Twice(ProjectivePlane):
    volume = 4 * np.pi


class Higher(ProjectivePlane):
    dim = 3

    def tangents(self, X):
        return np.zeros((len(X), 3, 3))


class Lower(ProjectivePlane):
    dim = 1


class Squared(ProjectivePlane):
    def eigenspaces(self):
        return (spaces.Eigenspace(V.eigenvalue**2, V.dim, V.label) for V in super().eigenspaces())

    def quadrature(self, max_eigenvalue):
        return super().quadrature(max_eigenvalue**0.5)


class NearlyRight(ProjectivePlane):
    def eigenspaces(self):  # l² in place of l(l + 1)
        return (spaces.Eigenspace(float(V.label**2), V.dim, V.label) for V in super().eigenspaces())

    def quadrature(self, max_eigenvalue):
        return super().quadrature(2 * max_eigenvalue)


class NoQuadrupoles(ProjectivePlane):
    def eigenspaces(self):
        return (V for V in super().eigenspaces() if V.label != 2)


class OneLess(ProjectivePlane):
    def eigenspaces(self):
        return (spaces.Eigenspace(V.eigenvalue, V.dim - (V.label == 4), V.label) for V in super().eigenspaces())

    def _evaluate(self, eigenspace, X):
        return super()._evaluate(Sphere(3).eigenspace(eigenspace.label), X)[:, : eigenspace.dim]


BROKEN = [
    (Polar, "the mean of φ over samples"),
    (Twice, "eigenvalues grow as dimension and volume say"),
    (Higher, "eigenvalues grow as dimension and volume say"),
    (Lower, "eigenvalues grow as dimension and volume say"),
    (Squared, "the squared gradients sum to λm"),
    (NearlyRight, "the squared gradients sum to λm"),
    (NoQuadrupoles, "no function is missing"),
    (OneLess, "the squares of the functions sum to m"),
    (Unnormalised, "the basis is orthonormal"),
    (Transposed, "φ(gx) = D(g)ᵀφ(x)"),
    (Scaled, "φ(gx) = D(g)ᵀφ(x)"),
    (WrongAction, "(gh)x = g(hx)"),
    (Unordered, "eigenvalues increase"),
    (Wobbling, "eigenvalues increase"),
]


LARGER = {Squared: 400, NoQuadrupoles: 150}  # shown by functions of higher degree only


@pytest.mark.parametrize("kind, law", BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_broken_space_is_named_with_its_residual(kind, law):
    with pytest.raises(LawBroken, match="residual") as caught:
        testing.check_space(kind(), groups.point_group("O"), max_eigenvalue=LARGER.get(kind, 20))
    assert law in caught.value.law
    assert caught.value.residual > caught.value.tolerance
    assert isinstance(caught.value, AssertionError)


class OwnUnit(ProjectivePlane):
    """Of radius 3, its points still unit vectors."""

    volume = 18 * np.pi

    def eigenspaces(self):
        return (spaces.Eigenspace(V.eigenvalue / 9, V.dim, V.label) for V in super().eigenspaces())

    def quadrature(self, max_eigenvalue):
        return super().quadrature(9 * max_eigenvalue)


def test_a_metric_that_is_not_known_is_no_broken_law():
    class Own(ProjectivePlane):
        dim = 4

    X = Own().sample(2, 0)
    with pytest.raises(ValueError, match="write its method `squared_lengths`"):
        Own().squared_lengths(X, X[:, None])


def test_a_space_may_have_a_unit_of_its_own():
    assert not any(law.left_out for law in testing.check_space(OwnUnit(), groups.point_group("O")))


@pytest.mark.parametrize("space", list(dict.fromkeys(case.space for case in CASES)), ids=repr)
def test_squared_gradients_have_the_unit_of_the_eigenvalues(space):
    V = next(islice(space.eigenspaces(), 2, None))
    X, weights = space.quadrature(V.eigenvalue) if space.dim < 8 else (space.sample(1, 0), np.ones(1))
    squares = space.squared_lengths(X, space.functions([V]).gradient(X))
    np.testing.assert_allclose((weights @ squares).sum(), V.eigenvalue * V.dim, rtol=1e-12)


@pytest.mark.parametrize(
    "periods", [(1, 3000), (1, 1e5), (1, 1, 1000), (1, 1000, 1000)], ids=lambda periods: "x".join(map(str, periods))
)
def test_weyls_law_is_not_broken_by_a_thin_space(periods):
    """The first eigenspaces of a long torus are those of a circle: they do not tell of the other directions."""
    assert np.isnan(testing.check_weyl(sa.Torus(len(periods), period=periods)))


@pytest.mark.parametrize("stated", [2, 3])
def test_weyls_law_sees_a_dimension_too_many_on_a_circle(stated):
    class Thread(ProjectivePlane):
        dim, volume, log_volume = stated, 1.0, 0.0

        def eigenspaces(self):
            return sa.Torus(1, period=1.0).eigenspaces()

    with pytest.raises(LawBroken, match=r"tell of dimension 1\.00"):
        testing.check_weyl(Thread())


def test_addition_theorem_can_be_switched_off_and_notices():
    V = Sphere(3).eigenspace(2)
    with pytest.raises(LawBroken, match="sum to m"):
        testing.check_addition_theorem(NotHomogeneous(), V)
    laws = testing.check_space(sa.Sphere(3), homogeneous=False)
    assert [law.law for law in laws if law.left_out] == [
        "the squares of the functions sum to m",
        "no function is missing",
    ]


def test_representation_laws_notice():
    V = Sphere(3).eigenspace(2)
    g, h = groups.point_group("O").generators
    with pytest.raises(LawBroken, match="orthogonal"):
        testing.check_orthogonality(Scaled(), g, V)
    with pytest.raises(LawBroken, match=r"D\(gh\)"):
        testing.check_composition(Transposed(), g, h, V)  # a homomorphism instead


def test_nan_breaks_a_law():
    class Missing(ProjectivePlane):
        def _evaluate(self, eigenspace, X):
            return super()._evaluate(eigenspace, X) * np.nan

    with pytest.raises(LawBroken):
        testing.check_orthonormality(Missing(), [Sphere(3).eigenspace(2)])


def test_invariant_laws_notice_a_wrong_basis():
    space, group = sa.Sphere(3), groups.point_group("D3")
    wrong = sa.invariant_basis(space, groups.point_group("C3"), max_eigenvalue=12)
    V = space.eigenspace(3)
    average = testing.average_projector(space, group, V)
    with pytest.raises(LawBroken, match="average over the group"):
        testing.check_projector(wrong, V, average)
    with pytest.raises(LawBroken, match="mean character"):
        testing.check_mean_character(wrong, V, projector=average)
    wrong.evaluate(space.sample(3, 0))
    mixed = sa.invariants.InvariantBasis.__new__(sa.invariants.InvariantBasis)
    mixed.__dict__.update(wrong.__dict__, group=group)
    with pytest.raises(LawBroken, match="ψ"):
        testing.check_invariance(mixed)


def test_the_other_order_of_the_chain_is_not_the_projector():
    # Deepest stabiliser first; reversed, the product of averages is not even symmetric.
    space, group, V = sa.Sphere(4), groups.symmetric(4), Sphere(4).eigenspace(3)
    P = testing.chain_projector(space, group, V)
    assert np.abs(P - testing.average_projector(space, group, V)).max() < 1e-13
    assert np.abs(P @ P - P).max() < 1e-13
    from sympy.combinatorics.named_groups import SymmetricGroup

    reverse = np.eye(V.dim)
    for transversal in SymmetricGroup(4).basic_transversals:
        maps = [isometries.permutation(u.array_form) for u in transversal.values()]
        reverse = np.mean([space.representation(g, V) for g in maps], axis=0) @ reverse
    assert np.abs(reverse - P).max() > 0.1


@pytest.mark.parametrize("name, dim", [("C∞", 1), ("C∞v", 1), ("D∞h", 1), ("K", 0), ("Kh", 0)])
def test_the_chain_refuses_fields_that_the_other_projectors_take(name, dim):
    # Of degree 4 the zonal harmonic alone is left by rotations about z, even in z; nothing is left by all rotations.
    space, group = sa.Sphere(3), groups.point_group(name)
    V = space.eigenspace(4)
    for projector in (testing.average_projector, testing.paper_projector):
        assert np.trace(projector(space, group, V)) == pytest.approx(dim, abs=1e-9)
    with pytest.raises(ValueError, match=rf"has {len(group.fields)} fields?, .* average_projector or paper_projector"):
        testing.chain_projector(space, group, V)


# --- random generating sets ---------------------------------------------------------------------------------


@st.composite
def signed_permutations(draw, d, signed=True):
    image = draw(st.permutations(range(d)))
    signs = draw(st.lists(st.sampled_from([1, -1] if signed else [1]), min_size=d, max_size=d))
    return isometries.signed_permutation(image, signs)


@st.composite
def affine_maps(draw, d):
    linear = draw(signed_permutations(d)).matrix
    shift = [draw(st.sampled_from([0, 1, 2, 3, 4, 6])) for _ in range(d)]
    from fractions import Fraction

    return isometries.affine(linear, [Fraction(t, 12 if t in (2, 4) else 6) for t in shift])


def agrees_with_the_enumerated_group(space, group, top):
    basis = sa.invariant_basis(space, group, max_eigenvalue=top)
    for V in islice(space.eigenspaces(), len(basis.table)):
        average = testing.average_projector(space, group, V, limit=5_000)
        testing.check_projector(basis, V, average, tolerance=1e-11)
        testing.check_mean_character(basis, V, projector=average)
    testing.check_solvers_agree(space, group, top, tolerance=1e-11)
    testing.check_invariance(basis, n_elements=4)


@settings(max_examples=15)
@given(st.lists(signed_permutations(3), min_size=1, max_size=3))
def test_random_signed_permutations_on_a_sphere(generators):
    agrees_with_the_enumerated_group(sa.Sphere(3), Group(generators), 20)


@settings(max_examples=10)
@given(st.lists(signed_permutations(4, signed=False), min_size=1, max_size=3))
def test_random_permutations_on_a_sphere(generators):
    agrees_with_the_enumerated_group(sa.Sphere(4), Group(generators), 15)


@settings(max_examples=15)
@given(st.lists(affine_maps(2), min_size=1, max_size=3))
def test_random_affine_groups_on_a_torus(generators):
    agrees_with_the_enumerated_group(sa.Torus(2), Group(generators), 8 * np.pi**2)


@settings(max_examples=8)
@given(st.lists(signed_permutations(3), min_size=1, max_size=2), st.integers(0, 1000))
def test_random_matrix_groups_on_other_axes(generators, seed):
    from cases import random_rotation

    R = random_rotation(seed)
    turned = Group([R @ g.matrix @ R.T for g in generators])
    exact = Group(generators)
    space = sa.Sphere(3)
    counts = [
        [row.invariant_dim for row in sa.invariant_basis(space, G, max_eigenvalue=30).table] for G in (turned, exact)
    ]
    assert counts[0] == counts[1]
    assert turned.order == exact.order
