"""Infinitesimal isometries: flows, brackets, exact kinds, and laws that notice what is wrong."""

import copy
import pickle
from fractions import Fraction
from itertools import islice

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

import specavg as sa
from specavg import isometries as iso
from specavg import testing
from specavg.isometries import fields
from specavg.spaces import Space, Sphere
from specavg.testing import LawBroken


def skew(d, seed):
    A = np.random.default_rng(seed).standard_normal((d, d))
    return A - A.T


KINDS = [
    fields.rotation(skew(3, 0)),
    fields.shift([1, "1/3", 0.25]),
    fields.left_right(skew(3, 1), skew(2, 2)),
    fields.copies([fields.shift([1]), None]),
    fields.factors([fields.shift([1]), fields.rotation(skew(3, 3))]),
]
kinds = pytest.mark.parametrize("field", KINDS, ids=lambda field: type(field).__name__)


def test_matrices_are_taken_for_rotations_of_copies_and_factors():
    A, B = skew(3, 0), skew(3, 1)
    assert fields.copies([A, None, B.tolist()]) == fields.copies([fields.rotation(A), None, fields.rotation(B)])
    assert fields.factors([A, fields.shift([1])]) == fields.factors([fields.rotation(A), fields.shift([1])])
    group = sa.Group([], [fields.copies([[[0, -1], [1, 0]]] * 2)])
    assert group == sa.Group(fields=[fields.copies([fields.rotation([[0, -1], [1, 0]])] * 2)])
    for make in (fields.copies, fields.factors):
        with pytest.raises(ValueError, match="not skew-symmetric"):
            make([np.eye(3)])
        with pytest.raises(TypeError, match="write a list"):
            make(fields.shift([1]))
        with pytest.raises(TypeError, match=r"needs a square matrix of numbers; got .*permutation"):
            make([iso.permutation([1, 0])])


@kinds
def test_flows_are_one_parameter_groups(field):
    one = field.flow(0.3) @ field.flow(0.4) @ field.flow(-0.7)
    for f, g in ((one, field.flow(0)), (field.flow(0.2).inverse(), field.flow(-0.2))):
        assert distance(f, g) < 1e-14
    assert field.flow(0).is_identity


def distance(g, h):
    """How far two isometries of one kind are apart."""
    if isinstance(g, iso.LeftRight):
        return max(distance(g.left, h.left), distance(g.right, h.right))
    if isinstance(g, iso.Copies | iso.Factors):
        return max(distance(a, b) for a, b in zip(g.parts, h.parts, strict=True))
    shifts = [float(t) for t in getattr(g, "shift", [0])], [float(t) for t in getattr(h, "shift", [0])]
    apart = np.subtract(*np.broadcast_arrays(*shifts))
    return max(np.abs(g.matrix - h.matrix).max(), np.abs(apart - np.rint(apart)).max())


@pytest.mark.parametrize("d", [2, 3, 4, 7, 12])
def test_flow_of_a_rotation_is_the_matrix_exponential(d):
    A = skew(d, d)
    for t in (1e-9, 0.3, 5.0):
        R = fields.rotation(A).flow(t).matrix
        with mpmath.workdps(40):  # floating-point exponentials are off by more than 1e-13
            exact = mpmath.expm(mpmath.matrix((t * A).tolist()), method="taylor")
        assert np.abs(R - np.array(exact.tolist(), dtype=float)).max() < 2e-14
        assert np.abs(R @ R.T - np.eye(d)).max() < 1e-14
    small = fields.rotation(A).flow(1e-12).matrix - np.eye(d)
    assert np.abs(small - 1e-12 * A).max() < 1e-15


@kinds
def test_fields_are_values_and_a_vector_space(field):
    assert copy.deepcopy(field) is field
    assert pickle.loads(pickle.dumps(field)) == field
    assert hash(pickle.loads(pickle.dumps(field))) == hash(field)
    assert field + field == 2 * field == field * 2
    assert (field - field).is_zero
    assert -field == (-1) * field
    assert field.bracket(field).is_zero
    assert len({field, 2 * field, field + field}) == 2


@kinds
def test_reprs_evaluate_to_the_same_field(field):
    assert eval(repr(field), vars(fields)) == field


def test_brackets_are_those_of_derivatives():
    A, B, C, D = skew(3, 0), skew(3, 1), skew(2, 2), skew(2, 3)
    near = np.testing.assert_allclose
    near(fields.rotation(A).bracket(fields.rotation(B)).matrix, B @ A - A @ B, atol=1e-15)
    both = fields.left_right(A, C).bracket(fields.left_right(B, D))
    near(both.left.matrix, B @ A - A @ B, atol=1e-15)
    near(both.right.matrix, D @ C - C @ D, atol=1e-15)
    left = fields.rotation(A).bracket(fields.left_right(B, D))  # a rotation acts from the left
    assert left == fields.left_right(A, 0 * C).bracket(fields.left_right(B, D))
    assert fields.shift([1, 2]).bracket(fields.shift([3, 4])).is_zero


def test_jacobi_identity():
    a, b, c = (fields.left_right(skew(4, s), skew(3, s + 9)) for s in range(3))
    total = a.bracket(b.bracket(c)) + b.bracket(c.bracket(a)) + c.bracket(a.bracket(b))
    assert np.abs(total.vector).max() < 1e-12


def test_exact_shifts_stay_exact():
    field = fields.shift([1, "1000003", Fraction(1, 3)])
    assert field.is_exact
    assert field.flow(Fraction(1, 7)).is_exact
    assert (Fraction(1, 2) * field).velocity == (Fraction(1, 2), Fraction(1000003, 2), Fraction(1, 6))
    assert not fields.shift([0.5]).is_exact
    torus = sa.Torus(2)
    steep = fields.shift([1000003, -1])
    for V in islice(torus.eigenspaces(), 6):
        k = torus.frequencies(V)
        dD = torus.infinitesimal(steep, V)
        assert (np.abs(dD).sum(axis=0)[: len(k)] == 2 * np.pi * np.abs(k @ [1000003, -1])).all()


@pytest.mark.parametrize("d", [2, 3, 5])
def test_moved_fields_have_conjugate_flows(d):
    g = iso.orthogonal(np.linalg.qr(skew(d, 4) + np.eye(d))[0])
    field = fields.rotation(skew(d, 5))
    assert distance(field.moved(g).flow(0.7), g @ field.flow(0.7) @ g.inverse()) < 1e-13
    swap = iso.copies([1, 0], [g, iso.identity(d)])
    both = fields.copies([field, 2 * field])
    assert distance(both.moved(swap).flow(0.7), swap @ both.flow(0.7) @ swap.inverse()) < 1e-13
    h = iso.affine([[0, -1], [1, -1]], [0, "1/2"])
    drift = fields.shift([1, "1/3"])
    assert drift.moved(h).flow(Fraction(1, 5)) == h @ drift.flow(Fraction(1, 5)) @ h.inverse()


def test_circles_add_up_and_close():
    for field in (*KINDS, fields.rotation(skew(7, 8))):
        total = sum((w * circle.vector for w, circle in field.circles()), np.zeros_like(field.vector))
        assert np.abs(total - field.vector).max() < 1e-13
        for _, circle in field.circles():
            assert distance(circle.flow(2 * np.pi), circle.flow(0)) < 1e-14


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: fields.rotation([[0, 1], [1, 0]]), ValueError, "not skew-symmetric"),
        (lambda: fields.rotation([1, 0]), ValueError, "square matrix"),
        (lambda: fields.shift([np.nan]), ValueError, "finite number of periods"),
        (lambda: fields.copies([None, None]), ValueError, "one of the copies"),
        (lambda: fields.factors([]), ValueError, "each factor"),
        (lambda: fields.factors([fields.shift([1]), None]).flow(1), ValueError, "check_field"),
        (lambda: fields.shift([1]) + fields.rotation(skew(2, 0)), TypeError, "different spaces"),
        (lambda: sa.Torus(2).check_field(fields.rotation(skew(2, 0))), ValueError, "not a field of Torus"),
        (lambda: Sphere(3).check_field(fields.shift([1, 0, 0])), ValueError, "no shifts"),
        (lambda: Sphere(3).check_field(fields.rotation(skew(4, 0))), ValueError, "4 coordinates"),
        (lambda: sa.Power(Sphere(3), 2).check_field(fields.rotation(skew(3, 0))), ValueError, "fields.copies"),
        (
            lambda: sa.Product(Sphere(3), Sphere(3)).check_field(fields.rotation(skew(3, 0))),
            ValueError,
            "fields.factors",
        ),
    ],
)
def test_wrong_fields_are_refused_with_a_sentence(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_factor_that_does_not_move_is_filled_in():
    space = sa.Product(sa.Circle(), Sphere(3))
    checked = space.check_field(fields.factors([None, fields.rotation(skew(3, 0))]))
    assert checked.flow(0.3).parts[0].is_identity


# --- laws that notice -------------------------------------------------------------------------------

AROUND = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
ACROSS = fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])


class Backwards(Sphere):
    """The transposed derivative: antisymmetric, and wrong."""

    def infinitesimal(self, field, eigenspace):
        return super().infinitesimal(field, eigenspace).T


class Damped(Sphere):
    def infinitesimal(self, field, eigenspace):
        return super().infinitesimal(field, eigenspace) - 1e-9 * np.eye(eigenspace.dim)


def test_laws_notice_a_wrong_derivative():
    V = Sphere(3).eigenspace(3)
    with pytest.raises(LawBroken, match="antisymmetric"):
        testing.check_antisymmetry(Damped(3), AROUND, V)
    for law, check in (("exp", testing.check_flow), ("φ", testing.check_velocity)):
        with pytest.raises(LawBroken, match=law):
            check(Backwards(3), AROUND, V)
    with pytest.raises(LawBroken, match=r"\[ξ, η\]"):
        testing.check_bracket(Backwards(3), AROUND, ACROSS, V)


def test_every_kind_of_field_is_drawn_for_a_space():
    names = {type(field).__name__ for field in testing.random_fields(sa.Rotations())}
    assert names == {"RotationField", "LeftRightField"}
    assert [type(f).__name__ for f in testing.random_fields(sa.Power(sa.Circle(), 2))] == ["CopiesField"] * 2


@pytest.mark.parametrize("degree", [1, 10, 40])
def test_weights_of_a_circle_are_integers(degree):
    dD = Sphere(3).infinitesimal(AROUND, Sphere(3).eigenspace(degree))
    weights = np.linalg.eigvalsh(1j * dD)
    assert np.abs(weights - np.arange(-degree, degree + 1)).max() < 1e-11


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_fields_of_spheres_in_another_order(d):
    """An order has values of its own, which say nothing of the frequencies of a function."""
    A = np.zeros((d, d))
    A[0, 1], A[1, 0] = -1.0, 1.0
    space, field, degree = sa.Sphere(d), fields.rotation(A), 100 if d == 2 else 8
    V = next(V for V in space.ordered(sa.invariants.FewCoordinates(64)) if space.degree(V) == degree)
    dD = space.infinitesimal(field, V)
    assert V.eigenvalue < space.eigenspace(degree).eigenvalue / 2
    assert np.abs(expm(0.7 * dD) - space.representation(field.flow(0.7), V)).max() < 1e-11


@pytest.mark.parametrize("d, degree", [(4, 0), (4, 7), (5, 4), (8, 3)])
def test_interpolated_derivatives_are_those_of_each_circle(d, degree):
    # One least-squares problem for the sum over all circles and angles; circle by circle it was one for each.
    space, field = Sphere(d), fields.rotation(skew(d, d))
    V = space.eigenspace(degree)
    dD = space.infinitesimal(field, V)
    assert np.abs(dD + dD.T).max() < 1e-14
    assert np.abs(dD - Space._infinitesimal(space, field, V)).max() < 1e-12


def test_weights_of_a_fast_circle_in_four_dimensions_are_integers():
    A = np.zeros((4, 4))
    A[0, 1], A[1, 0], A[2, 3], A[3, 2] = -1, 1, -1000, 1000
    weights = np.linalg.eigvalsh(1j * Sphere(4).infinitesimal(fields.rotation(A), Sphere(4).eigenspace(2)))
    assert np.abs(np.unique(np.round(weights)) - [-2000, -1001, -999, -2, 0, 2, 999, 1001, 2000]).max() == 0
    assert np.abs(weights - np.round(weights)).max() < 1e-9
