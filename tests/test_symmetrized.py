"""Symmetrized: any regressor, projected on the invariants."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor

import specavg as sa
from specavg import groups
from specavg.spaces._cell import Cell

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)
MODELS = {
    "forest": RandomForestRegressor(100, random_state=0),
    "network": MLPRegressor(
        hidden_layer_sizes=(50, 50), solver="lbfgs", max_iter=300, alpha=1e-3, random_state=0, tol=1e-3
    ),
    "process": GaussianProcessRegressor(RBF(0.5), alpha=1e-6, optimizer=None),
}


def target(X):
    return np.cos(np.pi * X).sum(axis=1) + np.cos(np.pi * X).prod(axis=1)


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_regressor_becomes_exactly_invariant_and_better(name):
    rng = np.random.default_rng(0)
    X, Z = SPACE.sample(150, random_state=rng), SPACE.sample(1000, random_state=rng)
    y = target(X) + 0.1 * rng.normal(size=150)
    model = sa.Symmetrized(MODELS[name], SPACE, GROUP, max_invariant_dim=30).fit(X, y)
    assert (model.predict(Z) == model.predict(-Z[:, ::-1])).all()

    def error(prediction):
        return np.sqrt(np.mean((prediction - target(Z)) ** 2))

    assert error(model.predict(Z)) < 0.9 * error(model.estimator_.predict(Z))
    assert model.quadrature_error_ < 0.05 * target(Z).std()
    assert "product rule" in model.quadrature_


class Known:
    """A regressor that has learned a known function."""

    def __init__(self, function=None):
        self.function = function

    def get_params(self, deep=True):
        return {"function": self.function}

    def set_params(self, **params):
        self.function = params["function"]
        return self

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.function(X)


def test_coefficients_are_those_of_the_average_over_the_listed_group():
    space, group = sa.Sphere(3), groups.point_group("Oh")

    def h(X):
        return np.exp(X[:, 0]) + X[:, 1] ** 3 * X[:, 2]

    X = space.sample(10, random_state=0)
    model = sa.Symmetrized(Known(h), space, group, max_invariant_dim=10).fit(X, h(X))
    elements = list(group.elements())
    nodes, weights = space.quadrature(80.0 * 81.0)
    mean = sum(h(space.act(g, nodes)) for g in elements) / len(elements)
    expected = model.basis_.evaluate(nodes).T @ (weights * mean)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12)
    assert model.quadrature_error_ < 1e-12


def test_an_invariant_function_in_the_span_is_returned():
    def h(X):
        return np.stack([target(X), np.cos(2 * np.pi * X).sum(axis=1)], axis=1)

    X = SPACE.sample(20, random_state=0)
    model = sa.Symmetrized(Known(h), SPACE, GROUP, max_invariant_dim=30).fit(X, h(X))
    np.testing.assert_allclose(model.predict(X), h(X), atol=1e-12)


def test_random_nodes_in_high_dimension_state_an_error_that_holds():
    space, group = sa.Torus(12), groups.hyperoctahedral(12)

    def h(X):
        c = np.cos(np.pi * X)
        return c.sum(axis=1) + 0.3 * c[:, 0] ** 3 + 0.5 * np.sin(np.pi * X[:, 1])

    X = space.sample(30, random_state=0)
    model = sa.Symmetrized(Known(h), space, group, n_nodes=4000, max_invariant_dim=10).fit(X, h(X))
    assert "random" in model.quadrature_
    # <h, ψ_1> for ψ_1 = √(2/12) Σ cos: 12 cosines, and 3/4·0.3 of one more.
    exact = np.zeros(model.basis_.dim)
    exact[1] = (12 + 0.3 * 0.75) * np.sqrt(0.5 / 12)
    keep = model.basis_.eigenvalues < 8 * np.pi**2  # the cube also has a third harmonic
    distance = np.linalg.norm((np.abs(model.coef_) - exact)[keep])
    assert distance < 4 * model.quadrature_error_
    assert model.quadrature_error_ < 0.05


def test_no_grid_is_made_that_has_too_many_nodes_to_be_used(monkeypatch):
    """The grid of Torus(8) that is exact for the 306,049 functions of this basis has 7⁸ nodes, and 20,000 are used."""
    made = []
    monkeypatch.setattr(Cell, "grid", lambda *_: made.append(_) or (np.zeros((7**8, 8)), np.ones(7**8)))
    space, group = sa.Torus(8), groups.symmetric(8)
    X = space.sample(100, random_state=0)
    model = sa.Symmetrized(Ridge(), space, group).fit(X, np.cos(np.pi * X).sum(axis=1) ** 2)
    assert model.basis_.total_dim > model.n_nodes
    assert "random" in model.quadrature_
    assert not made


def test_values_far_from_random_nodes_are_those_of_the_average():
    """Of a linear model it is b + mean(w) Σx. Fine functions of S₄₀ are large at e₁ and at (1, ..., 1)."""
    space, group = sa.Sphere(40), groups.symmetric(40)
    X = space.sample(400, random_state=0)
    model = sa.Symmetrized(Ridge(), space, group, n_nodes=4000, max_invariant_dim=100).fit(X, X.sum(axis=1))
    half = np.repeat([1.0, 0.0], 20)
    points = np.stack([np.eye(40)[0], half / np.linalg.norm(half), np.full(40, 40**-0.5), *X[:5]])
    exact = model.estimator_.intercept_ + model.estimator_.coef_.mean() * points.sum(axis=1)
    np.testing.assert_allclose(model.predict(points), exact, atol=0.02)
    constant = sa.Symmetrized(Known(lambda X: np.full(len(X), 3.0)), space, group, n_nodes=400, max_invariant_dim=20)
    np.testing.assert_allclose(constant.fit(X, X[:, 0]).predict(points), 3.0, atol=1e-12)
    only = sa.Symmetrized(Ridge(), space, group, n_nodes=400, max_invariant_dim=1).fit(X, 2 + X[:, 0])
    np.testing.assert_allclose(only.predict(points), 2.0, atol=0.05)


def test_weights_reach_the_regressor():
    X = SPACE.sample(50, random_state=0)
    y, w = target(X), np.arange(50.0)
    model = sa.Symmetrized(Ridge(), SPACE, GROUP, max_invariant_dim=5).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.estimator_.coef_, Ridge().fit(X, y, w).coef_)


def test_refusals():
    X = SPACE.sample(10, random_state=0)
    with pytest.raises(ValueError, match="n_nodes must be"):
        sa.Symmetrized(Ridge(), SPACE, GROUP, n_nodes=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"LogisticRegression predicts classes.*InvariantFeatures"):
        sa.Symmetrized(LogisticRegression(), SPACE, GROUP).fit(X, (X[:, 0] > 0).astype(int))
    big = sa.Torus(12).sample(10, random_state=0)
    with pytest.raises(ValueError, match="too few"):
        sa.Symmetrized(Ridge(), sa.Torus(12), n_nodes=30, max_invariant_dim=30).fit(big, big[:, 0])


@pytest.mark.parametrize("kind", ["iterator", "path", "dask"])
def test_data_in_parts_are_refused_with_what_to_do(kind, tmp_path):
    X = SPACE.sample(10, random_state=0)
    if kind == "dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(5, 2))
    else:
        data = iter([(X, X[:, 0])]) if kind == "iterator" else tmp_path / "data.parquet"
    model = sa.Symmetrized(Ridge(), SPACE, GROUP)
    with pytest.raises(TypeError, match=r"fits Ridge on all data at once.*fit an InvariantKernelRidge"):
        model.fit(data, None if kind != "dask" else data[:, 0])
    assert not hasattr(model, "basis_")


@pytest.mark.parametrize("weights", [np.array([-1.0, *np.ones(39)]), np.zeros(40), np.ones(7), np.full(40, np.nan)])
def test_impossible_weights_are_refused_as_by_the_other_estimators(weights):
    X = SPACE.sample(40, random_state=0)
    model = sa.Symmetrized(Ridge(), SPACE, GROUP, max_invariant_dim=10)
    with pytest.raises(ValueError, match="weight"):
        model.fit(X, target(X), sample_weight=weights)


def test_a_default_has_no_more_functions_than_a_product_rule_integrates():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(400, random_state=0)
    y = (X**4).sum(axis=1)
    model = sa.Symmetrized(Ridge(), space, group).fit(X, y)
    assert model.quadrature_.startswith("product rule")
    assert 96 <= model.basis_.dim < 384
    with_more = sa.Symmetrized(Ridge(), space, group, n_nodes=40_000).fit(X, y)
    assert with_more.quadrature_.startswith("product rule")
    assert with_more.basis_.dim > model.basis_.dim
    far = sa.Torus(10)  # no product rule at all: as many functions as there are rows
    many = sa.Symmetrized(Ridge(), far, groups.symmetric(10), n_nodes=2_000).fit(far.sample(400, 0), y)
    assert "random" in many.quadrature_
    assert many.basis_.dim > 300
