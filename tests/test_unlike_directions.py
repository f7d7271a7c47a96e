"""Parts of a lattice that no isometry mixes: found in any basis, and functions in units of their own."""

import numpy as np
import pytest

import specavg as sa
from specavg.invariants import ByType, further_orders
from specavg.spaces._unlike_directions import unlike_directions

HEXAGONAL = np.array([[1, 0, 0], [-0.5, 0.75**0.5, 0], [0, 0, 1.6]])
SKEWED = np.array([[1, 2, 0], [0, 1, 0], [3, 1, 1]])  # of determinant one


@pytest.mark.parametrize(
    "vectors, ranks",
    [
        (HEXAGONAL, [1, 2]),
        (np.diag([1.0, 1.0, 2.0]), [1, 2]),
        (np.diag([1.0, 1.3, 2.0]), [1, 1, 1]),
        (np.diag([2.0, 2.0, 2.0]), []),
        (np.array([[1.0, 0, 0], [0.3, 1, 0], [0, 0, 1.0]]), [1, 2]),  # the axis is as long as a vector of the plane
        (np.array([[-1.0, 1, 1], [1, -1, 1], [1, 1, -1]]), []),
        (np.diag([1.0, 2.0, 3.0, 4.0]), []),
        (np.diag([1.0, 3.0]), [1, 1]),
    ],
)
def test_directions_are_those_of_the_orthogonal_sum(vectors, ranks):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=vectors.shape))[0]
    found = unlike_directions(vectors @ turn)
    assert sorted(round(float(np.trace(part.projection))) for part in found) == ranks
    if found:
        np.testing.assert_allclose(sum(part.projection for part in found), np.eye(len(vectors)), atol=1e-14)


def test_directions_do_not_depend_on_the_basis():
    torus = sa.Torus(lattice=SKEWED @ HEXAGONAL)
    assert torus.unlike_parts == 2
    plain = sa.Torus(lattice=HEXAGONAL)
    for order in further_orders(plain):
        values = [
            [(V.eigenvalue, V.dim) for V, _ in zip(space.ordered(order), range(30), strict=False)]
            for space in (torus, plain)
        ]
        np.testing.assert_allclose(*values, rtol=1e-12)


@pytest.mark.parametrize("late, weights", [(None, (1, 1)), (0, (1, 4)), (1, (4, 1))])
def test_values_are_squares_in_units_of_each_direction(late, weights):
    """In the plane k₁² + k₁k₂ + k₂² is 1 for the first functions, along the axis k₃² is; the axis is longer."""
    order = ByType(balanced=True, late=late)
    basis = sa.invariant_basis(sa.Torus(lattice=HEXAGONAL), max_dim=400, order=order)
    k = np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3), axis=-1).reshape(-1, 3)
    plane, axis = k[:, 0] ** 2 + k[:, 0] * k[:, 1] + k[:, 1] ** 2, k[:, 2] ** 2
    expected = np.sort(weights[0] * plane + weights[1] * axis)[: basis.dim]
    np.testing.assert_allclose(basis.eigenvalues, expected, atol=1e-11)


@pytest.mark.parametrize("periods", [[4.0, 360.0], [2.0, 3.0, 1.0]])
def test_a_box_is_the_lattice_of_its_sides(periods):
    box, lattice = sa.Torus(len(periods), period=periods), sa.Torus(lattice=np.diag(periods))
    assert further_orders(box) == further_orders(lattice) != ()
    for order in further_orders(box):
        found, other = (sa.invariant_basis(space, max_dim=200, order=order) for space in (box, lattice))
        np.testing.assert_allclose(found.eigenvalues, other.eigenvalues, rtol=1e-12)
        points, weights = box.ordered_quadrature(order, found.table[-1].eigenvalue)
        at = found.evaluate(points)
        np.testing.assert_allclose(at.T @ (weights[:, None] * at), np.eye(found.dim), atol=1e-12)


def test_an_angle_in_degrees_beside_a_length():
    """By eigenvalue all 96 first functions vary along the long side alone."""
    space = sa.Torus(2, period=[4, 360])
    X, Z = space.sample(200, random_state=0), space.sample(500, random_state=1)

    def target(X):
        return np.cos(6 * np.pi * X[:, 0] / 4) * np.exp(np.cos(np.deg2rad(X[:, 1])))

    model = sa.InvariantKernelRidge(space).fit(X, target(X))
    np.testing.assert_allclose(model.predict(Z), target(Z), atol=1e-5)


@pytest.mark.parametrize("number, lattice", [(191, HEXAGONAL), (136, np.diag([1, 1, 0.7])), (62, np.diag([1, 1.3, 2]))])
def test_functions_in_other_units_are_orthonormal_and_invariant(number, lattice):
    space, group = sa.Torus(lattice=lattice), sa.groups.space_group(number)
    X = space.sample(5, random_state=0)
    for order in further_orders(space):
        basis = sa.invariant_basis(space, group, max_invariant_dim=40, order=order)
        assert basis.dim > 20
        values = basis.evaluate(X)
        for g in group.elements():
            np.testing.assert_allclose(basis.functions.values(space.act(g, X)), values, atol=1e-12)
        points, weights = space.ordered_quadrature(order, basis.table[-1].eigenvalue)
        at = basis.evaluate(points)
        np.testing.assert_allclose(at.T @ (weights[:, None] * at), np.eye(basis.dim), atol=1e-12)


def test_a_default_takes_the_units_that_the_target_has(tmp_path):
    """A sheet with kinks that hardly changes along the axis: functions of high frequency along the axis come late."""
    space, group = sa.Torus(lattice=HEXAGONAL), sa.groups.space_group(191)
    X, Z = space.sample(100, random_state=0), space.sample(1000, random_state=1)

    def target(X):
        a = 2 * np.pi * X
        sheet = np.abs(1 + np.exp(1j * a[:, 0]) + np.exp(1j * a[:, 1]))
        return sheet + 0.1 * np.cos(a[:, 2]) * sheet**2

    y = target(X)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.basis_.order == ByType(balanced=True, late=0)
    given = sa.InvariantKernelRidge(space, group, order="eigenvalue").fit(X, y)
    error, other = (np.std(m.predict(Z) - target(Z)) for m in (model, given))
    assert error < 0.7 * other
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(sa.load(tmp_path / "model").predict(Z), model.predict(Z))


def test_late_needs_balanced():
    with pytest.raises(ValueError, match="late=0 needs balanced=True"):
        ByType(late=0)
    with pytest.raises(ValueError, match="late=2"):
        sa.Torus(lattice=HEXAGONAL).check_order(ByType(balanced=True, late=2))


def particles(m, length):
    """Positions on a circle of this length, each with a direction."""
    return sa.Power(sa.Product(sa.Torus(1, period=length), sa.Sphere(3)), m)


@pytest.mark.parametrize(
    "space, group",
    [
        (particles(2, 5.0), sa.groups.symmetric(2)),
        (sa.Power(sa.Torus(2, period=[4, 360]), 2), sa.groups.symmetric(2)),
        (sa.Power(sa.Power(sa.Torus(lattice=HEXAGONAL), 1), 2), sa.groups.symmetric(2)),
        (sa.Product(sa.Torus(2, period=[4, 360]), sa.Circle()), None),
        (sa.Product(sa.Power(sa.Sphere(3), 2), sa.Circle()), None),
    ],
    ids=str,
)
def test_rules_for_quadrature_suffice_for_powers_and_products_in_every_order(space, group):
    for order in (*further_orders(space), sa.invariants.default_order(space)):
        basis = sa.invariant_basis(space, group, max_invariant_dim=20, order=order)
        points, weights = space.ordered_quadrature(order, basis.table[-1].eigenvalue)
        at = basis.evaluate(points)
        np.testing.assert_allclose(at.T @ (weights[:, None] * at), np.eye(basis.dim), atol=1e-12)


def test_copies_of_a_product_do_not_depend_on_the_unit_of_length():
    group, rng = sa.groups.symmetric(3), np.random.default_rng(0)
    U = particles(3, 2.0).sample(400, rng).reshape(400, 3, 4)
    a, z = np.pi * U[:, :, 0], U[:, :, 3]
    y = (np.cos(a) * np.exp(0.7 * z)).sum(axis=1) + 0.5 * np.cos(2 * a).sum(axis=1) * z.sum(axis=1)
    found = []
    for length in (0.1, 2.0, 360.0):
        X = (U * [length / 2, 1, 1, 1]).reshape(400, 12)
        model = sa.InvariantKernelRidge(particles(3, length), group).fit(X[:200], y[:200])
        found.append(model.predict(X[200:]))
        assert np.std(found[-1] - y[200:]) < 0.1 * np.std(y[200:])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-6)
