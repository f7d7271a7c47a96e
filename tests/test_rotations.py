"""Rotations: Wigner functions, the left and right actions, and what users pass in."""

from itertools import islice

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import isometries
from specavg.functions._wigner_matrices import wigner_matrices
from specavg.spaces import Rotations, Sphere, rotations_from_bunge, rotations_from_quaternions

SPACE = Rotations()
TOLERANCE = 1e-12


def matrices(n, seed=0):
    return Rotation.random(n, random_state=seed).as_matrix()


def random_map(seed, improper=False):
    A, B = matrices(2, seed)
    return isometries.left_right(-A, -B) if improper else isometries.left_right(A, B)


def near_the_poles():
    """Rotations where Euler angles are degenerate, or nearly so."""
    small = Rotation.from_rotvec(1e-9 * np.random.default_rng(0).standard_normal((5, 3))).as_matrix()
    half = np.array([np.diag(d) for d in ([-1, 1, -1], [1, -1, -1], [-1, -1, 1], [1, 1, 1])], dtype=float)
    return np.concatenate([half, small, small @ half[0]])


def test_eigenvalues_and_multiplicities():
    spaces = list(islice(SPACE.eigenspaces(), 6))
    assert [V.eigenvalue for V in spaces] == [0, 2, 6, 12, 20, 30]
    assert [V.dim for V in spaces] == [1, 9, 25, 49, 81, 121]
    assert sum(V.dim for V in islice(SPACE.eigenspaces(), 23)) == 16215
    assert SPACE.volume == pytest.approx(8 * np.pi**2)
    assert SPACE.dim == 3


def test_basis_is_orthonormal_by_exact_quadrature():
    spaces = list(islice(SPACE.eigenspaces(), 6))
    X, w = SPACE.quadrature(spaces[-1].eigenvalue)
    values = np.concatenate([SPACE.evaluate(V, X) for V in spaces], axis=1)
    assert w.sum() == pytest.approx(1, abs=1e-14)
    assert np.abs((values.T * w) @ values - np.eye(values.shape[1])).max() < TOLERANCE


@pytest.mark.parametrize("degree", [1, 2, 5, 22, 40, 60])
def test_matrices_move_the_harmonics_of_the_sphere(degree):
    R = np.concatenate([matrices(20), near_the_poles()])
    x = Sphere(3).sample(len(R), 1)
    sphere, V = Sphere(3), Sphere(3).eigenspace(degree)
    moved = sphere.evaluate(V, np.einsum("nij,nj->ni", R, x))
    expected = np.einsum("nab,nb->na", wigner_matrices(R, degree), sphere.evaluate(V, x))
    assert np.abs(moved - expected).max() < TOLERANCE


@pytest.mark.parametrize("degree", [1, 4, 22, 60])
def test_trace_is_the_character(degree):
    angle = np.linspace(0.1, 3.1, 40)
    axes = Sphere(3).sample(40, 0)
    M = wigner_matrices(Rotation.from_rotvec(axes * angle[:, None]).as_matrix(), degree)
    expected = np.sin((2 * degree + 1) * angle / 2) / np.sin(angle / 2)
    assert np.abs(np.trace(M, axis1=1, axis2=2) - expected).max() < TOLERANCE


def test_against_scipy_rotated_complex_harmonics():
    from complex_harmonics import sph_harm_y

    degree = 7
    R = matrices(1, 5)[0]
    x = Sphere(3).sample(200, 2)

    def complex_harmonics(points):
        theta, phi = np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])
        return np.stack([sph_harm_y(degree, m, theta, phi) for m in range(-degree, degree + 1)], axis=1)

    wigner, *_ = np.linalg.lstsq(complex_harmonics(x), complex_harmonics(x @ R.T), rcond=None)
    change, *_ = np.linalg.lstsq(
        complex_harmonics(x), Sphere(3).evaluate(Sphere(3).eigenspace(degree), x).astype(complex), rcond=None
    )
    real = np.linalg.solve(change, wigner @ change)  # D(g), a column per function
    assert np.abs(real.T - wigner_matrices(R[None], degree)[0]).max() < 1e-11


@pytest.mark.parametrize("degree", [40, 100])
def test_matrices_are_orthogonal_and_multiply(degree):
    R = matrices(20)
    M = wigner_matrices(R, degree)
    assert np.abs(M @ M.transpose(0, 2, 1) - np.eye(2 * degree + 1)).max() < TOLERANCE
    assert np.abs(M[:10] @ M[10:] - wigner_matrices(R[:10] @ R[10:], degree)).max() < TOLERANCE


@pytest.mark.parametrize("improper", [False, True])
@pytest.mark.parametrize("degree", [0, 1, 3, 8])
def test_functions_move_by_the_representation(degree, improper):
    V, g, h = SPACE.eigenspace(degree), random_map(3, improper), random_map(4)
    X = SPACE.sample(50, 0)
    D, E = SPACE.representation(g, V), SPACE.representation(h, V)
    assert np.abs(SPACE.evaluate(V, SPACE.act(g, X)) - SPACE.evaluate(V, X) @ D).max() < TOLERANCE
    assert np.abs(SPACE.representation(g @ h, V) - E @ D).max() < TOLERANCE
    assert np.abs(D @ D.T - np.eye(V.dim)).max() < TOLERANCE
    assert np.abs((SPACE.evaluate(V, X) ** 2).sum(axis=1) - V.dim).max() < TOLERANCE * V.dim


def test_representation_is_the_product_of_its_factors():
    V, g = SPACE.eigenspace(4), random_map(0)
    ((left, right),) = SPACE.factor_representations(g, V)
    assert left.shape == right.shape == (9, 9)
    assert np.array_equal(np.kron(left, right), SPACE.representation(g, V))
    sphere, W = Sphere(3), Sphere(3).eigenspace(4)
    assert np.abs(left - sphere.representation(g.left, W)).max() < TOLERANCE
    assert np.abs(right - sphere.representation(g.right, W)).max() < TOLERANCE


def test_representation_agrees_with_least_squares():
    V, g = SPACE.eigenspace(3), random_map(9)
    general = super(Rotations, SPACE)._representation(SPACE.check_isometry(g), V)
    assert np.abs(general - SPACE.representation(g, V)).max() < 1e-11


def test_points_slightly_off_lose_no_invariance():
    V, g = SPACE.eigenspace(10), random_map(1)
    X = matrices(30) + 1e-7 * np.random.default_rng(0).standard_normal((30, 3, 3))
    difference = SPACE.evaluate(V, SPACE.act(g, X)) - SPACE.evaluate(V, X) @ SPACE.representation(g, V)
    assert np.abs(difference).max() < TOLERANCE


def test_one_orthogonal_matrix_is_the_left_factor():
    A = matrices(1)[0]
    X = matrices(5, 1)
    assert np.abs(SPACE.act(isometries.orthogonal(A), X) - A @ X).max() < 1e-15
    cycle = isometries.permutation([1, 2, 0])
    assert np.array_equal(SPACE.act(cycle, X), cycle.matrix @ X)
    assert SPACE.check_isometry(isometries.left_right(-np.eye(3), -np.eye(3))).is_identity


@pytest.mark.parametrize(
    "g, words",
    [
        (isometries.orthogonal(-matrices(1)[0]), "det A · det B = −1"),
        (isometries.permutation([1, 0, 2]), "maps rotations to reflections"),
        (isometries.left_right(np.eye(3), np.diag([1, 1, -1])), "det A · det B = −1"),
        (isometries.left_right(np.eye(3), np.eye(2)), "size 3 and 2"),
        (isometries.permutation([1, 0]), "size 2"),
        (isometries.shift([0.5, 0, 0]), "X ↦ A X Bᵀ"),
    ],
)
def test_what_is_no_isometry_is_refused(g, words):
    with pytest.raises(ValueError, match=words):
        SPACE.check_isometry(g)


def test_all_forms_of_points_agree():
    rotations = Rotation.random(6, random_state=0)
    V, g = SPACE.eigenspace(2), random_map(0)
    expected = SPACE.evaluate(V, rotations.as_matrix())
    assert np.array_equal(SPACE.evaluate(V, rotations), expected)
    assert np.array_equal(SPACE.evaluate(V, rotations.as_matrix().reshape(6, 9)), expected)
    converted = SPACE.evaluate(V, rotations_from_quaternions(rotations.as_quat()))
    assert np.abs(converted - expected).max() < TOLERANCE
    assert np.array_equal(SPACE.act(g, rotations), SPACE.act(g, rotations.as_matrix()))
    assert SPACE.check_points(rotations[0]).shape == (1, 9)


def test_quaternions_are_scipys():
    rotations = Rotation.random(20, random_state=0)
    q = rotations.as_quat()
    assert np.abs(rotations_from_quaternions(3 * q) - rotations.as_matrix()).max() < 1e-14
    first = rotations_from_quaternions(q[:, [3, 0, 1, 2]], scalar_first=True)
    assert np.abs(first - rotations.as_matrix()).max() < 1e-14
    with pytest.raises(ValueError, match="row 1"):
        rotations_from_quaternions([[0, 0, 0, 1], [0, 0, 0, 0]])
    with pytest.raises(ValueError, match=r"\(n, 4\)"):
        rotations_from_quaternions(np.ones((2, 3)))


def test_bunge_angles_give_the_passive_matrix():
    angles = np.random.default_rng(0).uniform([0, 0, 0], [2 * np.pi, np.pi, 2 * np.pi], (20, 3))
    active = Rotation.from_euler("ZXZ", angles).as_matrix()
    assert np.abs(rotations_from_bunge(angles) - active.transpose(0, 2, 1)).max() < 1e-14
    in_degrees = rotations_from_bunge(np.rad2deg(angles), degrees=True)
    assert np.abs(in_degrees - rotations_from_bunge(angles)).max() < 1e-14
    f1, F, f2 = angles[0]
    c1, s1, c2, s2, C, S = np.cos(f1), np.sin(f1), np.cos(f2), np.sin(f2), np.cos(F), np.sin(F)
    bunge = [
        [c1 * c2 - s1 * s2 * C, s1 * c2 + c1 * s2 * C, s2 * S],
        [-c1 * s2 - s1 * c2 * C, -s1 * s2 + c1 * c2 * C, c2 * S],
        [s1 * S, -c1 * S, C],
    ]
    assert np.abs(rotations_from_bunge(angles)[0] - bunge).max() < 1e-14
    with pytest.raises(ValueError, match=r"\(n, 3\)"):
        rotations_from_bunge([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN"):
        rotations_from_bunge([[np.nan, 0, 0]])


@pytest.mark.parametrize(
    "X, words",
    [
        (np.ones((2, 4)), "quaternions"),
        (np.ones((2, 3)), "Euler angles"),
        (np.ones((2, 5)), r"\(n, 3, 3\) or \(n, 9\)"),
        (-np.eye(3)[None], "determinant \\+1"),
        (1.1 * np.eye(3)[None], "off by 0.21"),
        (np.full((1, 9), np.nan), "NaN"),
    ],
)
def test_points_off_the_manifold_are_refused(X, words):
    with pytest.raises(ValueError, match=words):
        SPACE.check_points(X)


def test_samples_are_uniform():
    X = SPACE.sample(20000, 0)
    SPACE.check_points(X)
    for degree in (1, 2):
        assert np.abs(SPACE.evaluate(SPACE.eigenspace(degree), X).mean(axis=0)).max() < 0.03
    assert np.array_equal(SPACE.sample(3, 1), SPACE.sample(3, 1))


def test_equal_by_value():
    assert Rotations() == SPACE
    assert hash(Rotations()) == hash(SPACE)
    assert Sphere(3) != SPACE
    assert repr(SPACE) == "Rotations()"


@pytest.mark.parametrize("crystal, specimen", [("O", "D2"), ("D6", "D2"), ("O", "O")])
def test_values_without_the_orders_that_do_not_matter_are_the_same(crystal, specimen):
    space = sa.Rotations()
    basis = sa.invariant_basis(space, sa.groups.crystal_symmetry(crystal, specimen=specimen), max_invariant_dim=60)
    functions = basis.functions
    assert functions._source.sided_bytes is not None
    X = space.check_points(space.sample(30, 0))
    np.testing.assert_allclose(functions.values(X), functions.plain_values(X), atol=1e-12)
    C = np.random.default_rng(0).normal(size=(basis.dim, 2))
    np.testing.assert_allclose(functions.values(X) @ C, functions.combine(X, C), atol=1e-11)
