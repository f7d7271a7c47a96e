"""Gradients: right at special points, the same by every way to compute them, and those of every estimator."""

from itertools import islice

import numpy as np
import pytest
from cases import CASES, case_id
from same_bits import assert_same_bits

import specavg as sa
from specavg import groups, testing
from specavg.functions._determinants import Determinants
from specavg.isometries import fields
from specavg.spaces._rotation_gradients import rotations_in_planes


def _turn(d):
    """The field that turns the first two coordinates of R^d."""
    A = np.zeros((d, d))
    A[0, 1], A[1, 0] = -1.0, 1.0
    return fields.rotation(A)


BASES = [
    pytest.param(sa.Torus(2), groups.trivial(2), {"max_dim": 60}, id="waves"),
    pytest.param(sa.Torus(10), groups.sign_flips(10), {"max_invariant_dim": 176}, id="cosine products"),
    pytest.param(sa.Torus(5), groups.hyperoctahedral(5), {"max_invariant_dim": 20}, id="symmetric functions"),
    pytest.param(sa.Sphere(3), groups.trivial(3), {"max_dim": 100}, id="harmonics of S²"),
    pytest.param(sa.Sphere(3), groups.point_group("D6h"), {"max_invariant_dim": 20}, id="some orders of S²"),
    pytest.param(sa.Sphere(6), groups.trivial(6), {"max_dim": 100}, id="Gegenbauer products"),
    pytest.param(sa.Sphere(6), groups.symmetric(6), {"max_invariant_dim": 10}, id="orbit sums"),
    pytest.param(sa.Sphere(6), groups.cyclic_shifts(6), {"max_invariant_dim": 20}, id="monomials"),
    pytest.param(sa.Rotations(), groups.trivial(3), {"max_dim": 100}, id="Wigner functions"),
    pytest.param(sa.Stiefel(4, 2), groups.trivial(4), {"max_dim": 60}, id="frames"),
    pytest.param(sa.Power(sa.Interval(0, 2), 3), groups.symmetric(3), {"max_invariant_dim": 20}, id="boxes"),
    pytest.param(sa.Power(sa.Sphere(3), 2), groups.symmetric(2), {"max_invariant_dim": 30}, id="pairs of points"),
    pytest.param(
        sa.Power(sa.Sphere(3), 3),
        groups.diagonal(groups.special_orthogonal(3), 3),
        {"max_dim": 300},
        id="points up to rotations",
    ),
    pytest.param(sa.Torus(4), groups.alternating(4), {"max_invariant_dim": 60}, id="determinants"),
    pytest.param(sa.Sphere(4), groups.Group(fields=[_turn(4)]), {"max_dim": 60}, id="radii of blocks"),
    pytest.param(
        sa.Product(sa.Circle(), sa.Sphere(3)),
        groups.direct_product(groups.cyclic(2), groups.point_group("C3")),
        {"max_invariant_dim": 30},
        id="products",
    ),
]


@pytest.mark.parametrize("space, group, cutoff", BASES)
def test_combinations_and_sums_are_those_of_the_gradients(space, group, cutoff):
    basis = sa.invariant_basis(space, group, **cutoff)
    X = space.check_points(space.sample(70, random_state=0))
    rng = np.random.default_rng(1)
    C, G = rng.standard_normal((basis.dim, 3)), rng.standard_normal((*X.shape, 2))
    gradient = basis.gradient(X)
    assert gradient.shape == (70, basis.dim, X.shape[1])
    scale = np.abs(gradient).max() * basis.dim
    assert np.abs(basis.combine_gradient(X, C) - np.einsum("ndj,dq->njq", gradient, C)).max() < 1e-13 * scale
    assert np.abs(basis.correlate_gradient(X, G) - np.einsum("ndj,njq->dq", gradient, G)).max() < 1e-13 * scale
    testing.check_gradient(basis)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_gradients_of_combinations_are_combinations_of_gradients(case):
    basis = sa.invariant_basis(case.space, case.group, max_dim=case.max_functions, order=case.order)
    X = case.space.check_points(case.space.sample(9, random_state=0))
    C = np.random.default_rng(1).standard_normal((basis.dim, 2))
    gradient = basis.gradient(X)
    scale = max(np.abs(gradient).max(), 1.0) * basis.dim
    assert np.abs(basis.combine_gradient(X, C) - np.einsum("ndj,dq->njq", gradient, C)).max() < 1e-13 * scale


def test_more_rows_than_a_chunk():
    basis = sa.invariant_basis(sa.Torus(3), groups.hyperoctahedral(3), max_invariant_dim=20)
    X = sa.Torus(3).sample(40_000, random_state=0)
    C = np.random.default_rng(0).standard_normal((basis.dim, 1))
    with sa.config(memory_limit="40 MB"):
        several = basis.functions.combine_gradient(X, C)
    assert np.abs(several[-5:] - basis.combine_gradient(X[-5:], C)).max() < 1e-11


@pytest.mark.parametrize("making", [2e5, 0.0], ids=["copy by copy", "few sums over copies"])
def test_many_copies_are_kept_in_stretches(making, monkeypatch):
    from specavg.functions import _copy_chains, _symmetric_functions

    monkeypatch.setattr(_symmetric_functions, "_MAKING", making)
    monkeypatch.setattr(_copy_chains, "_STATES_BYTES", 1.5e6)
    functions = sa.invariant_basis(sa.Torus(60), groups.symmetric(60), max_invariant_dim=78).functions
    assert functions._chains.stretch(60) < 60
    assert (functions._faster(600) is None) == (making > 0)
    X = sa.Torus(60).sample(600, random_state=0)  # more than few rows, and more than a block
    C = np.random.default_rng(0).standard_normal((functions.dim, 2))
    wanted = np.einsum("ndj,dq->njq", functions.gradient(X[[0, 599]]), C)
    assert np.abs(functions.combine_gradient(X, C)[[0, 599]] - wanted).max() < 1e-13 * np.abs(wanted).max()


@pytest.mark.parametrize("space, group, cutoff", BASES)
def test_both_together_are_each_of_them(space, group, cutoff):
    functions = sa.invariant_basis(space, group, **cutoff).functions
    X = space.check_points(space.sample(70, random_state=0))
    C = np.random.default_rng(1).standard_normal((functions.dim, 2))
    values, gradient = functions.combine_both(X, C)
    assert np.abs(values - functions.combine(X, C)).max() < 1e-13 * functions.dim * np.abs(values).max()
    assert_same_bits(gradient, functions.combine_gradient(X, C))


# --- special points ------------------------------------------------------------------------------------


def gradient_of_x4(X):
    """The tangential gradient of Σ x_i⁴ on a sphere."""
    return 4 * X**3 - 4 * (X**4).sum(axis=1)[:, None] * X


@pytest.mark.parametrize("group", [groups.trivial(3), groups.point_group("Oh"), groups.symmetric(3)], ids=str)
def test_poles_axes_and_mirror_planes_of_a_sphere(group):
    special = np.concatenate([np.eye(3), -np.eye(3), sa.Sphere(3).sample(5, 0)])
    special = np.concatenate([special, [[0.6, 0.8, 0.0], [0.0, -0.6, 0.8], [2**-0.5, 2**-0.5, 0.0], [3**-0.5] * 3]])
    basis = sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=20)
    nodes, w = sa.Sphere(3).quadrature(20)
    C = basis.correlate(nodes, (w * (nodes**4).sum(axis=1))[:, None])  # Σ x⁴ has degrees 0 and 4
    assert np.abs(basis.combine_gradient(special, C)[:, :, 0] - gradient_of_x4(special)).max() < 1e-13


def test_rotations_at_euler_angles_that_are_not_unique():
    # f(X) = tr(AᵀX) has the tangential gradient (A − X AᵀX)/2.
    A = np.random.default_rng(0).standard_normal((3, 3))
    special = [np.eye(3), np.diag([1.0, -1, -1]), np.diag([-1.0, -1, 1]), np.diag([-1.0, 1, -1])]
    X = np.concatenate([special, sa.Rotations().sample(5, 0).reshape(-1, 3, 3)])
    basis = sa.invariant_basis(sa.Rotations(), groups.trivial(3), max_eigenvalue=2)
    nodes, w = sa.Rotations().quadrature(2)
    C = basis.correlate(nodes, (w * (nodes @ A.ravel()))[:, None])
    wanted = (A - X @ A.T @ X) / 2
    assert np.abs(basis.combine_gradient(X, C)[:, :, 0] - wanted.reshape(len(X), 9)).max() < 1e-13


def test_copies_that_coincide():
    space = sa.Power(sa.Circle(), 3)
    basis = sa.invariant_basis(space, groups.symmetric(3), max_invariant_dim=15)
    same = np.array([[0.3, 0.3, 1.0], [0.5, 0.5, 0.5]])
    gradient = basis.gradient(same)
    assert np.abs(gradient[0, :, 0] - gradient[0, :, 1]).max() < 1e-13
    assert np.abs(gradient[1, :, 0] - gradient[1, :, 2]).max() < 1e-13


def test_determinants_where_they_vanish():
    waves = sa.Torus(1).functions(_first(4))
    functions = Determinants(waves, 3, np.array([[0, 1, 2], [1, 3, 5]]))
    X = np.array([[0.2, 0.2, 0.7], [0.1, 0.1, 0.1], [-0.3, 0.9, 0.4]])
    h, slopes = 1e-3, np.zeros((3, 2, 3))
    for i in range(3):
        for j, c in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)):
            step = j * h * np.eye(3)[i]
            slopes[:, :, i] += c / h * (functions.values(X + step) - functions.values(X - step))
    assert np.abs(functions.gradient(X) - slopes).max() < 1e-10


def _first(count):
    from itertools import islice

    return list(islice(sa.Torus(1).eigenspaces(), count))


# --- differentials -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_differential_is_how_points_move(case):
    g = case.group.random(np.random.default_rng(0))
    space = case.space
    X = space.check_points(space.sample(20, 0))
    step = 1e-6 * np.random.default_rng(1).standard_normal(X.shape)
    act = space._act
    moved = act(space.check_isometry(g), X + step) - act(space.check_isometry(g), X)
    near = np.abs(moved).max(axis=1) < 1e-3  # others wrapped around a torus
    assert near.sum() >= 10
    assert np.abs(moved - step @ space.differential(g).T)[near].max() < 1e-12


# --- estimators ----------------------------------------------------------------------------------------


def models(X, y):
    from sklearn.linear_model import LinearRegression

    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    yield sa.InvariantKernelRidge(space, group).fit(X, y)
    yield sa.InvariantKernelRidge(space, group).fit(X, np.stack([y, y**2], axis=1))
    yield sa.SpecAvgRegressor(space, group, max_invariant_dim=20).fit(X, y)
    yield sa.Symmetrized(LinearRegression(), space, group, max_invariant_dim=20).fit(X, y)


def test_gradients_of_regressors_are_those_of_their_predictions():
    X = sa.Torus(2).sample(80, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1))
    Z, h = sa.Torus(2).sample(10, random_state=1), 1e-3
    for model in models(X, y):
        gradient = model.gradient(Z)
        assert gradient.shape == (10, 2, *model.coef_.shape[1:])
        for i in range(2):
            step = h * np.eye(2)[i]
            slope = sum(
                c / h * (model.predict(Z + j * step) - model.predict(Z - j * step))
                for j, c in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
            )
            assert np.abs(gradient[:, i] - slope).max() < 1e-8 * np.abs(gradient).max()
        assert np.abs(model.gradient(-Z[:, ::-1]) + gradient[:, ::-1]).max() < 1e-12 * np.abs(gradient).max()


def test_gradients_of_densities():
    X = sa.Sphere(3).sample(500, random_state=0)
    X = X[X[:, 2] ** 2 > 0.3]
    Z = sa.Sphere(3).sample(6, random_state=1)
    for positive in (True, False):
        model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("D2h"), positive=positive, max_eigenvalue=20).fit(
            X
        )
        gradient, h = model.gradient(Z), 1e-4
        assert np.abs((gradient * Z).sum(axis=1)).max() < 1e-12
        way = np.cross(Z, [0.3, 0.5, -0.8])
        ahead, behind = (Z + s * h * way for s in (1, -1))
        ahead, behind = (p / np.linalg.norm(p, axis=1)[:, None] for p in (ahead, behind))
        slope = (model.score_samples(ahead) - model.score_samples(behind)) / (2 * h)
        assert np.abs((gradient * way).sum(axis=1) - slope).max() < 1e-5


def test_standard_deviation_of_gradients():
    # Beside the mean, the posterior of a derivative is the limit of that of a difference.
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (30, 1))
    model = sa.InvariantKernelRidge(sa.Torus(1), max_dim=21).fit(X, np.cos(np.pi * X[:, 0]) + 0.1 * rng.normal(size=30))
    Z = np.array([[0.1], [0.9]])
    mean, std = model.gradient(Z, return_std=True)
    assert mean.shape == std.shape == (2, 1)
    assert 0 < std[0, 0] < std[1, 0]  # there are no data at 0.9
    assert np.array_equal(mean, model.gradient(Z))
    h, posterior = 1e-4, model._posterior
    difference = (model.basis_.evaluate(Z + h) - model.basis_.evaluate(Z - h)) / (2 * h)
    limit = posterior.deviation(difference[:, 1:], slopes=True)
    assert np.abs(limit - std).max() < 1e-6 * std.max()


def test_gradients_from_dask_and_saved_models(tmp_path):
    da = pytest.importorskip("dask.array")
    X = sa.Torus(2).sample(60, random_state=0)
    model = sa.InvariantKernelRidge(sa.Torus(2)).fit(X, np.cos(np.pi * X).sum(axis=1))
    gradient = model.gradient(X)
    assert np.array_equal(model.gradient(da.from_array(X, chunks=(20, 2))).compute(), gradient)
    model.save(tmp_path / "model")
    assert np.array_equal(sa.load(tmp_path / "model").gradient(X), gradient)


def test_points_of_one_coordinate_have_no_gradient_by_rotations():
    """A space of a user without a gradient of its own is refused, and does not get zeros."""
    space = sa.Interval()
    V = next(islice(space.eigenspaces(), 3, None))
    with pytest.raises(ValueError, match=r"no gradient of functions on Interval.*0 planes .* 1 dimensions"):
        rotations_in_planes(space, V)
