"""Columns of gradients: those that contradict the values are noticed, and their units do not matter."""

import warnings

import numpy as np
import pytest

import specavg as sa
from specavg import isometries


def stiff_and_soft(X):
    """Two torsions, of which the first has forty times the energy, and the gradient."""
    p, a = np.deg2rad(X.T)
    y = 4 * (1 - np.cos(p)) + 0.8 * np.cos(2 * p) + 0.5 * (1 - np.cos(3 * a)) + 0.15 * np.sin(p) * np.sin(3 * a)
    G = [4 * np.sin(p) - 1.6 * np.sin(2 * p) + 0.15 * np.cos(p) * np.sin(3 * a)]
    G.append(1.5 * np.sin(3 * a) + 0.45 * np.sin(p) * np.cos(3 * a))
    return y, np.deg2rad(np.column_stack(G))


def bonds_and_angle(X):
    """Two bonds and the angle between them in degrees, and the gradient."""
    bonds, t = X[:, :2] - 0.97, np.deg2rad(X[:, 2] - 104)
    decayed, both = np.exp(-2 * bonds), bonds.sum(axis=1)
    y = np.sum((1 - decayed) ** 2, axis=1) + 3 * t**2 + 0.4 * t * both
    slopes = 4 * (1 - decayed) * decayed + 0.4 * t[:, None]
    return y, np.column_stack([slopes, np.deg2rad(6 * t + 0.4 * both)])


BOX = sa.Product(sa.Power(sa.Interval(0.8, 1.2), 2), sa.Interval(80, 130))
TORSIONS, INVERSION = sa.Torus(2, period=360), sa.Group([isometries.signed_permutation([0, 1], [-1, -1])])


def said_of(model, X, y, G, size=None):
    """What is warned of, of arrays or of chunks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if size is None:
            model.fit(X, y, gradient=G)
        else:
            model.fit((X[i : i + size], y[i : i + size], None, G[i : i + size]) for i in range(0, len(X), size))
    return [str(one.message) for one in caught if "one of the two is wrong" in str(one.message)]


@pytest.mark.parametrize("size", [None, 25])
@pytest.mark.parametrize("factor", [1.0, -1.0, np.pi / 180, 0.0])
@pytest.mark.parametrize("space, group, f", [(TORSIONS, INVERSION, stiff_and_soft), (BOX, None, bonds_and_angle)])
def test_one_wrong_column_is_noticed_and_named(space, group, f, factor, size):
    rng, X = np.random.default_rng(0), space.sample(60, random_state=0)
    y, G = f(X)
    last = X.shape[1] - 1
    G[:, last] *= factor
    model = sa.InvariantKernelRidge(space, group, max_invariant_dim=100)
    said = said_of(model, X, y + 0.03 * rng.normal(size=60), G, size)
    assert len(said) == (factor != 1)
    assert all(text.startswith(f"of the gradient given, column {last} is ") for text in said)
    assert all(("sign" in text) == (factor == -1) for text in said)


def test_the_columns_of_a_unit_vector_are_one_part():
    space = sa.Product(sa.Sphere(3), sa.Circle())
    X = space.sample(60, random_state=0)
    y, G = X[:, 0] ** 2 + 5 * np.cos(X[:, 3]), np.zeros((60, 4))
    G[:, 0], G[:, 3] = -2 * X[:, 0], -5 * np.sin(X[:, 3])
    (said,) = said_of(sa.InvariantKernelRidge(space, max_dim=100), X, y, G)
    assert said.startswith("of the gradient given, columns 0–2 are -1 ± ")


def test_a_wrong_sign_of_all_columns_is_said_of_the_gradient():
    X = TORSIONS.sample(60, random_state=0)
    y, G = stiff_and_soft(X)
    (said,) = said_of(sa.InvariantKernelRidge(TORSIONS, INVERSION), X, y, -G)
    assert said.startswith("the gradient given is -1 ± ")
    assert "Forces are minus the gradient" in said


@pytest.mark.parametrize("n, noise", [(8, 0.0), (8, 0.3), (20, 0.1), (200, 0.5)])
def test_right_gradients_are_not_questioned(n, noise):
    for seed in range(3):
        rng, X = np.random.default_rng(seed), BOX.sample(n, random_state=seed)
        y, G = bonds_and_angle(X)
        y += noise * y.std() * rng.normal(size=n)
        G += noise * G.std(axis=0) * rng.normal(size=G.shape)
        model = sa.InvariantKernelRidge(BOX, max_invariant_dim=60)
        assert said_of(model, X, y, G, size=None if seed else 8) == []


def test_what_chunks_show_of_gradients_is_bounded_and_even():
    from specavg.regression._moments import SHOWN, Moments

    basis = sa.invariant_basis(sa.Torus(1), max_invariant_dim=3)
    X, parts = np.linspace(-0.9, 0.9, 1200)[:, None], list[Moments]()
    for rows in np.split(np.arange(1200), 12):
        parts.append(Moments.of_slopes(basis, X[rows], 2 * X[rows], np.ones(100)))
    points, gradients = Moments.total(parts).shown
    assert SHOWN - 12 <= len(points) <= SHOWN
    assert np.array_equal(gradients, 2 * points)
    held = np.histogram(points, bins=4, range=(-0.9, 0.9))[0]
    assert held.min() > 0.15 * len(points)


@pytest.mark.parametrize("size", [None, 20])
def test_whether_an_angle_is_in_degrees_does_not_matter(size):
    # Noise of 2 % of each column: in degrees that of the angle is 0.003 of that of the bonds.
    rng, X = np.random.default_rng(0), BOX.sample(60, random_state=0)
    y, G = bonds_and_angle(X)
    y += 0.03 * rng.normal(size=60)
    G += 0.02 * G.std(axis=0) * rng.normal(size=G.shape)
    found, Z = list[tuple](), BOX.sample(50, random_state=1)
    for unit in (np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, np.pi / 180])):
        space = sa.Product(sa.Power(sa.Interval(0.8, 1.2), 2), sa.Interval(80 * unit[2], 130 * unit[2]))
        model = sa.InvariantKernelRidge(space, max_invariant_dim=60)
        assert said_of(model, X * unit, y, G / unit, size) == []
        found.append((*model.predict(Z * unit, return_std=True), model.gradient_noise_variance_ * unit**2))
    for degrees, radians in zip(*found, strict=True):
        np.testing.assert_allclose(degrees, radians, rtol=1e-6)
    noise = np.sqrt(found[0][2]) / (0.02 * G.std(axis=0))
    assert ((noise > 0.3) & (noise < 4)).all()  # in one unit of all columns that of the angle was 23 times too large
    assert np.sqrt(np.mean((found[0][0] - bonds_and_angle(Z)[0]) ** 2)) < 0.01
