"""Spheres: harmonics against exact integrals and SciPy, D(g), and what is refused."""

from fractions import Fraction
from itertools import combinations_with_replacement, islice
from math import lgamma, pi

import numpy as np
import pytest
from complex_harmonics import sph_harm_y
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk
from scipy.special import eval_gegenbauer
from scipy.stats import ortho_group

import specavg as sa
from specavg import isometries, testing
from specavg.spaces import Sphere

TOLERANCE = 1e-12


def rotation(d, seed=0):
    return isometries.orthogonal(ortho_group.rvs(d, random_state=seed))


# --- what it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 4, 10])
def test_multiplicities_are_those_of_harmonic_polynomials(d):
    # Harmonic polynomials of degree k: all homogeneous ones less those of degree k − 2 (times |x|²).
    monomials = [sum(1 for _ in combinations_with_replacement(range(d), k)) for k in range(7)]
    for k, V in enumerate(islice(Sphere(d).eigenspaces(), 7)):
        assert V.eigenvalue == k * (k + d - 2)
        assert V.dim == monomials[k] - (monomials[k - 2] if k >= 2 else 0)


def test_volume_and_dimension():
    assert Sphere(2).volume == pytest.approx(2 * pi)
    assert Sphere(3).volume == pytest.approx(4 * pi)
    assert Sphere(4).volume == pytest.approx(2 * pi**2)
    assert (Sphere(10_000).dim, Sphere(10_000).shape) == (9_999, (10_000,))


def test_no_cap_on_degree_or_dimension():
    values = Sphere(3).evaluate(Sphere(3).eigenspace(500), Sphere(3).sample(3, 0))
    np.testing.assert_allclose((values**2).sum(axis=1), 1001, rtol=1e-11)
    values = Sphere(4).evaluate(Sphere(4).eigenspace(171), Sphere(4).sample(2, 0))  # 171! overflows
    np.testing.assert_allclose((values**2).sum(axis=1), 172**2, rtol=1e-11)
    assert Sphere(10**6).eigenspace(1).dim == 10**6


def test_spheres_are_values():
    assert Sphere(3) == Sphere(3) != Sphere(4)
    assert hash(Sphere(3)) == hash(Sphere(3))


# --- orthonormality ----------------------------------------------------------------------------------------


def test_orthonormal_on_the_two_sphere_to_degree_60():
    # Gauss–Legendre in z and equal steps around: exact to degree 121, and not the library's own rule.
    z, wz = np.polynomial.legendre.leggauss(61)
    angle = 2 * pi * np.arange(121) / 121
    rho = np.sqrt((1 - z) * (1 + z))
    X = np.stack(
        [np.outer(rho, np.cos(angle)), np.outer(rho, np.sin(angle)), np.outer(z, np.ones(121))], axis=-1
    ).reshape(-1, 3)
    weights = np.repeat(wz / 2, 121) / 121
    values = np.concatenate([Sphere(3).evaluate(V, X) for V in islice(Sphere(3).eigenspaces(), 61)], axis=1)
    values *= np.sqrt(weights)[:, None]
    gram = np.tril(dsyrk(1.0, values.T, lower=1))
    assert gram.shape == (3721, 3721)
    assert np.abs(gram - np.eye(3721)).max() < TOLERANCE


@pytest.mark.parametrize("d", [2, 4, 5])
def test_orthonormal_by_the_own_quadrature(d):
    spaces = list(islice(Sphere(d).eigenspaces(), {2: 200, 4: 9, 5: 6}[d]))
    testing.check_orthonormality(Sphere(d), spaces)


def sphere_moments(exponents):
    """∫ x^a over S^{d−1}, total measure one: Γ(d/2)/Γ((d+|a|)/2) · ∏ Γ((a_i+1)/2)/Γ(1/2) where a is even."""
    d, top = exponents.shape[1], int(exponents.sum(axis=1).max())
    half = np.array([lgamma((a + 1) / 2) - lgamma(0.5) for a in range(top + 1)])
    degree = exponents.sum(axis=1)
    ratio = np.array([lgamma(d / 2) - lgamma((d + k) / 2) for k in range(top + 1)])
    values = np.exp(half[exponents].sum(axis=1) + ratio[degree])
    return np.where((exponents % 2).any(axis=1), 0.0, values)


def monomial_exponents(d, degree):
    rows = [np.bincount(c, minlength=d) for c in combinations_with_replacement(range(d), degree)]
    return np.array(rows, dtype=int).reshape(-1, d)


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_orthonormal_in_ten_dimensions_by_exact_integrals_of_monomials(degree):
    # On the sphere every harmonic of degree k, k − 2, … is a homogeneous polynomial of degree k: find its
    # coefficients from values at random points, then integrate monomials by the Gamma function.
    d, space = 10, Sphere(10)
    a = monomial_exponents(d, degree)
    X = space.sample(int(1.3 * len(a)) + 20, 0)
    norm = np.sqrt(sphere_moments(2 * a))
    values = np.ones((len(X), len(a)))
    for i in range(d):
        values *= X[:, i, None] ** a[:, i]
    degrees = range(degree % 2, degree + 1, 2)
    phi = np.concatenate([space.evaluate(space.eigenspace(k), X) for k in degrees], axis=1)
    assert phi.shape[1] == len(a)
    scaled = values / norm
    normal = cho_factor(scaled.T @ scaled)
    C = cho_solve(normal, scaled.T @ phi)
    C += cho_solve(normal, scaled.T @ (phi - scaled @ C))  # one refinement
    assert np.abs(scaled @ C - phi).max() < 1e-11  # they are polynomials
    table = np.ones((len(a), len(a)))
    odd = np.zeros((len(a), len(a)), dtype=bool)
    factor = np.array([np.exp(lgamma((s + 1) / 2) - lgamma(0.5)) for s in range(2 * degree + 1)])
    for i in range(d):
        total = a[:, i, None] + a[:, i]
        table *= factor[total]
        odd |= total % 2 == 1
    table *= np.exp(lgamma(d / 2) - lgamma(d / 2 + degree))
    table[odd] = 0.0
    gram = C.T @ (table / np.outer(norm, norm)) @ C
    assert np.abs(gram - np.eye(len(a))).max() < TOLERANCE


# --- against SciPy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 30, 60])
def test_harmonics_of_the_two_sphere_are_those_of_scipy(degree):
    X = Sphere(3).sample(200, 1)
    values = Sphere(3).evaluate(Sphere(3).eigenspace(degree), X)
    polar, azimuth = np.arccos(X[:, 2]), np.arctan2(X[:, 1], X[:, 0])
    for m in range(degree + 1):
        Y = np.sqrt(4 * pi) * sph_harm_y(degree, m, polar, azimuth)
        pair = [Y.real] if m == 0 else [np.sqrt(2) * (-1) ** m * part for part in (Y.real, Y.imag)]
        mine = values[:, [0]] if m == 0 else values[:, 2 * m - 1 : 2 * m + 1]
        np.testing.assert_allclose(mine, np.stack(pair, axis=1), atol=3e-12)


@pytest.mark.parametrize("d, degree", [(3, 60), (4, 20), (10, 5), (100, 2)])
def test_addition_theorem_is_the_zonal_harmonic(d, degree):
    # Σ φ(x)φ(y) = m C_k(x·y)/C_k(1), C the Gegenbauer polynomial of order (d − 2)/2.
    space = Sphere(d)
    V, X = space.eigenspace(degree), space.sample(30, 2)
    values = space.evaluate(V, X)
    order = (d - 2) / 2
    zonal = eval_gegenbauer(degree, order, np.clip(X @ X.T, -1, 1)) / eval_gegenbauer(degree, order, 1.0)
    assert np.abs(values @ values.T / V.dim - zonal).max() < TOLERANCE
    testing.check_addition_theorem(space, V)


def test_poles_and_axes_are_ordinary_points():
    space = Sphere(4)
    X = np.concatenate([np.eye(4), -np.eye(4)])
    for V in islice(space.eigenspaces(), 8):
        np.testing.assert_allclose((space.evaluate(V, X) ** 2).sum(axis=1), V.dim, rtol=1e-13)


# --- isometries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d, degree", [(2, 50), (3, 1), (3, 30), (3, 60), (4, 12), (10, 3)])
def test_functions_move_by_the_representation(d, degree):
    space, V = Sphere(d), Sphere(d).eigenspace(degree)
    g, h = rotation(d, 1), rotation(d, 2)
    testing.check_equivariance(space, g, V)
    testing.check_orthogonality(space, g, V)
    testing.check_composition(space, g, h, V)


def test_functions_move_by_the_representation_in_ten_dimensions_at_degree_5():
    space, V, g = Sphere(10), Sphere(10).eigenspace(5), rotation(10, 1)
    assert V.dim == 1782
    testing.check_equivariance(space, g, V)
    testing.check_orthogonality(space, g, V)


def test_degree_one_is_the_matrix_itself():
    # φ is √d x up to the order of coordinates, so D(g) is the matrix up to the same order.
    space, g = Sphere(5), rotation(5, 3)
    order = np.abs(space.evaluate(space.eigenspace(1), np.eye(5))).argmax(axis=0)
    D = space.representation(g, space.eigenspace(1))
    np.testing.assert_allclose(D, g.matrix.T[np.ix_(order, order)], atol=1e-14)


def test_samples_are_uniform():
    X = Sphere(4).sample(40_000, 0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-15)
    values = np.concatenate([Sphere(4).evaluate(V, X) for V in islice(Sphere(4).eigenspaces(), 1, 4)], axis=1)
    assert np.abs(values.mean(axis=0)).max() < 5 / np.sqrt(len(X))  # five standard errors
    assert np.array_equal(Sphere(4).sample(3, 7), Sphere(4).sample(3, 7))


# --- bad input --------------------------------------------------------------------------------------------------


def test_points_off_the_sphere_are_named_with_row_and_distance():
    X = Sphere(3).sample(6, 0)
    X[4] *= 1.25
    with pytest.raises(ValueError, match=r"1 of 6 points are not on Sphere\(3\): row 4 is off by 0\.25"):
        Sphere(3).evaluate(Sphere(3).eigenspace(1), X)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(bad):
    X = Sphere(3).sample(6, 0)
    X[2, 1] = bad
    with pytest.raises(ValueError, match=r"NaN or infinity in 1 of 6 rows \(first: row 2\)"):
        Sphere(3).evaluate(Sphere(3).eigenspace(1), X)


@pytest.mark.parametrize("shape", [(3,), (2, 4), (2, 3, 3), (0, 2)])
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"points of Sphere\(3\) have shape \(n, 3\)"):
        Sphere(3).evaluate(Sphere(3).eigenspace(1), np.ones(shape))


@pytest.mark.parametrize("d", [1, 0, -3, 2.5])
def test_impossible_spheres_are_refused(d):
    with pytest.raises(ValueError, match="needs d ≥ 2"):
        Sphere(d)


def test_shifts_and_wrong_sizes_are_refused():
    X = Sphere(3).sample(2, 0)
    with pytest.raises(ValueError, match="a sphere has no shifts"):
        Sphere(3).act(isometries.shift([Fraction(1, 2), 0, 0]), X)
    with pytest.raises(ValueError, match="not orthogonal"):
        Sphere(2).act(isometries.affine([[1, 1], [0, 1]], [0, 0]), X[:, :2])
    with pytest.raises(ValueError, match="acts on 2 coordinates"):
        Sphere(3).act(isometries.permutation([1, 0]), X)
    with pytest.raises(ValueError, match="does not act on"):
        Sphere(3).act(isometries.left_right(np.eye(3), np.eye(3)), X)


def test_too_much_memory_is_refused_before_it_is_tried():
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError, match=r"would need .* the memory limit is 1 MB"):
        Sphere(3).evaluate(Sphere(3).eigenspace(100), Sphere(3).sample(1000, 0))
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError, match="representation"):
        Sphere(10).representation(rotation(10), Sphere(10).eigenspace(4))
    with pytest.raises(MemoryError, match="product rule"):
        Sphere(40).quadrature(Sphere(40).eigenspace(3).eigenvalue)


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 400])
@pytest.mark.parametrize("proper", [True, False])
def test_the_circle_has_its_matrices_by_the_addition_theorem(degree, proper):
    space = Sphere(2)
    V, angle = space.eigenspace(degree), 0.7
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag(
        [1.0, 1.0 if proper else -1.0]
    )
    X = space.sample(30, random_state=0)
    D = space.representation(isometries.orthogonal(R), V)
    # Angles are known to some ε, and functions of high degree to as many times more.
    assert np.abs(space.evaluate(V, X @ R.T) - space.evaluate(V, X) @ D).max() < 1e-13 * (degree + 1)
