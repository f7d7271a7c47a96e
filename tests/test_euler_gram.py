"""The Gram matrix on S² and SO(3) as an operator, against the matrix formed from values."""

import numpy as np
import pytest
from scipy.special import sph_harm_y

import specavg as sa
from specavg import groups
from specavg.functions._s2_harmonics import S2Harmonics
from specavg.functions._wigner_functions import WignerFunctions

S2, SO3 = sa.Sphere(3), sa.Rotations()
CASES = [
    (S2, None, 60),
    (S2, groups.point_group("Oh"), 40),
    (S2, groups.point_group("D3"), 60),
    (S2, groups.point_group("Ci"), 50),
    (SO3, None, 180),
    (SO3, groups.crystal_symmetry("O"), 90),
    (SO3, groups.crystal_symmetry("D6"), 60),
    (SO3, groups.crystal_symmetry("O", "D2"), 40),
]


@pytest.mark.parametrize("space, group, dim", CASES, ids=str)
def test_the_operator_is_the_matrix_of_values(space, group, dim):
    basis = sa.invariant_basis(space, group, max_invariant_dim=dim)
    rng = np.random.default_rng(0)
    X = space.sample(150, random_state=1)
    X = X[np.argsort(X[:, 0])[50:]]  # an uneven density
    w, Y = rng.uniform(size=100), rng.normal(size=(100, 2))
    operator, sums = basis.gram_operator(X, w, Y)
    values = basis.evaluate(X)
    gram = (values * w[:, None]).T @ values
    np.testing.assert_allclose(operator @ np.eye(basis.dim), gram, atol=2e-12 * np.abs(gram).max())
    np.testing.assert_allclose(sums, values.T @ np.column_stack([w, w[:, None] * Y]), atol=1e-11)
    again = basis.gram_of_density(operator.density)
    assert np.array_equal(again @ values.T, operator @ values.T)


@pytest.mark.parametrize("space, group, dim", [*CASES[:2], *CASES[4:]], ids=str)
def test_sums_by_transform_are_those_of_loops(space, group, dim, monkeypatch):
    pytest.importorskip("finufft")
    basis = sa.invariant_basis(space, group, max_invariant_dim=dim)
    X = np.concatenate([space.sample(600, random_state=1), np.eye(3)[[2]] if space == S2 else np.eye(3).reshape(1, 9)])
    w, Y = np.random.default_rng(0).uniform(size=601), np.random.default_rng(1).normal(size=(601, 2))
    found = []
    for nanoseconds in (0.0, np.inf):
        monkeypatch.setattr("specavg.functions._euler_gram.transform_nanoseconds", lambda *_, t=nanoseconds: t)
        found.append(basis.gram_operator(X, w, Y))
    (transform, of_transform), (loops, of_loops) = found
    np.testing.assert_allclose(of_transform, of_loops, atol=1e-12 * 601)
    np.testing.assert_allclose(transform.density, loops.density, atol=1e-12 * np.abs(loops.density).max())


def test_some_degrees_only():
    X, w = S2.sample(80, random_state=0), np.ones(80)
    for functions, points in (
        (S2Harmonics([1, 4, 7]), X),
        (WignerFunctions([0, 3]), SO3.sample(80, random_state=0)),
    ):
        operator, _ = functions.gram_operator(points, w, np.empty((80, 0)))
        values = functions.values(points)
        np.testing.assert_allclose(operator @ np.eye(functions.dim), values.T @ values, atol=1e-10)


def test_tables_agree_with_scipy_and_with_the_addition_theorem():
    z = np.array([-0.999999, -0.3, 0.0, 0.9, 0.99999])
    orders = np.array([0, 3, 40, 79])
    table = S2Harmonics([80]).wave_table(orders, np.zeros(4, dtype=int), z)[:, :, 80]
    for j, found in zip(orders, table, strict=True):
        wanted = np.sqrt(4 * np.pi * (1 if j == 0 else 2)) * np.abs(sph_harm_y(80, int(j), np.arccos(z), 0.0).real)
        np.testing.assert_allclose(np.abs(found), wanted, rtol=1e-8, atol=1e-9)
    degree, orders = 1200, np.arange(1201)  # sin^1200 underflows
    table = S2Harmonics([degree]).wave_table(orders, 0 * orders, z)[:, :, degree]
    np.testing.assert_allclose(np.sum(table**2, axis=0), 2 * degree + 1, rtol=1e-10)


@pytest.mark.parametrize("space, group", [(S2, groups.point_group("Oh")), (SO3, groups.crystal_symmetry("O"))], ids=str)
def test_coefficients_are_those_of_moments(space, group, monkeypatch):
    from specavg.regression import _measured_limits as _limits

    X = space.sample(3000, random_state=0)
    y = np.cos(3 * X[:, :3]).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=3000)
    given = {"spectrum": "matern", "smoothness": 3.0, "length_scale": 0.3, "alpha": 0.01, "max_invariant_dim": 300}
    monkeypatch.setattr(_limits, "FEATURES_HELD", 0)
    grid = sa.InvariantKernelRidge(space, group, **given).fit(X, y)
    assert grid.solver_ == "grid"
    monkeypatch.setattr(type(grid.basis_), "gram_operator", lambda *_: None)
    moments = sa.InvariantKernelRidge(space, group, **given).fit(X, y)
    assert moments.solver_ == "moments"
    np.testing.assert_allclose(grid.coef_, moments.coef_, atol=1e-8 * np.abs(moments.coef_).max())
    Z = space.sample(20, random_state=1)
    monkeypatch.undo()
    np.testing.assert_allclose(grid.predict(Z, return_std=True)[1], moments.predict(Z, return_std=True)[1], rtol=1e-6)
