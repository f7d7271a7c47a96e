"""Every estimator with scikit-learn's own tools."""

import pickle

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import parametrize_with_checks

import specavg as sa
from specavg import groups
from specavg.invariants._basis import built_basis as cached_basis

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)
ESTIMATORS = [
    sa.SpecAvgRegressor(),
    sa.InvariantKernelRidge(),
    sa.InvariantKernelRidge(spectrum="matern", smoothness=6.0, length_scale=0.3, alpha=0.1),
    sa.EquivariantKernelRidge(),
    sa.InvariantFeatures(),
    sa.InvariantDensity(),
    sa.InvariantDensity(positive=False),
    sa.Symmetrized(Ridge(), n_nodes=1000),
]


@pytest.mark.filterwarnings("ignore:only the constant")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(n=60):
    X = SPACE.sample(n, random_state=0)
    return X, np.exp(np.cos(np.pi * X).sum(axis=1))


NAMED = {
    "SpecAvgRegressor": sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=10),
    "InvariantKernelRidge": sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=20),
    "InvariantFeatures": sa.InvariantFeatures(SPACE, GROUP, max_invariant_dim=10),
    "InvariantDensity": sa.InvariantDensity(SPACE, GROUP, max_invariant_dim=10),
    "Symmetrized": sa.Symmetrized(Ridge(), SPACE, GROUP, max_invariant_dim=10),
}


def output(model, X):
    method = next(m for m in ("predict", "transform", "score_samples") if hasattr(model, m))
    return getattr(model, method)(X)


@pytest.mark.parametrize("name", NAMED)
def test_clone_keeps_space_and_group_and_pickles_predict_the_same(name, tmp_path):
    X, y = data()
    copy = clone(NAMED[name])
    assert copy.space is SPACE
    assert copy.group is GROUP
    model = copy.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model.joblib")
    for other in (again, joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(output(other, X), output(model, X))


@pytest.mark.parametrize("name", NAMED)
def test_html_repr_names_the_space_and_the_group(name):
    html = estimator_html_repr(clone(NAMED[name]))
    assert name in html
    assert "Torus(2)" in html
    assert "hyperoctahedral(2)" in html


@pytest.mark.parametrize("name", NAMED)
def test_data_frames_in_and_names_checked(name):
    X, y = data()
    frame = pd.DataFrame(X, columns=["phi", "psi"])
    model = clone(NAMED[name]).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == ["phi", "psi"]
    plain = output(clone(NAMED[name]).fit(X, y), X)
    np.testing.assert_allclose(output(model, frame), plain, rtol=1e-11)  # column order changes sums inside regressors
    with pytest.raises(ValueError, match="feature names"):
        output(model, frame.rename(columns={"phi": "chi"}))


@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_the_library_asks_models_with_named_columns_without_a_warning(tmp_path):
    space, group = sa.Torus(2), groups.sign_flips(2)
    table = pd.DataFrame(space.sample(100, random_state=0), columns=["phi", "psi"])
    X, y = table.to_numpy(), np.cos(np.pi * table["phi"])
    model = sa.InvariantKernelRidge(space, group, max_dim=30).fit(table, y)
    plain = clone(model).fit(X, y)
    asked = sa.invariance_discrepancy(model, space, group, table)
    assert asked == sa.invariance_discrepancy(plain, space, group, X)
    assert sa.invariance_discrepancy(model.predict, space, group, X) == asked
    for drawn in (model, model.predict, sa.InvariantDensity(space, max_dim=9).fit(table)):
        panel = sa.plot.torus(drawn)
        assert (panel.get_xlabel(), panel.get_ylabel()) == ("phi", "psi")
        plt.close(panel.figure)
    assert sa.plot.torus(plain).get_xlabel() == "x₁"
    plt.close("all")
    np.testing.assert_array_equal(model.gradient(table, return_std=True), plain.gradient(X, return_std=True))
    for settings in ({}, {"max_dim": 9}, {"max_dim": 9, "positive": False}):
        density = sa.InvariantDensity(space, group, **settings).fit(table)
        same = clone(density).fit(X)
        np.testing.assert_array_equal(density.sample(20, random_state=0), same.sample(20, random_state=0))
    turns = pd.DataFrame(sa.Rotations().sample(50, random_state=0))
    turns.columns = [f"r{i}" for i in range(9)]
    texture = sa.InvariantDensity(sa.Rotations(), max_dim=10).fit(turns)
    assert sa.textures.texture_index(texture) > 1
    assert sa.textures.volume_fraction(texture, np.eye(3), 12.0) > 0
    vectors = sa.EquivariantKernelRidge(space, group, "vector", max_dim=30).fit(table, np.sin(np.pi * X))
    assert sa.invariance_discrepancy(vectors, space, group, table) < 1e-12
    vectors.gradient(table, return_std=True)
    vectors.save(tmp_path / "model.specavg")
    sa.load(tmp_path / "model.specavg")


def test_grid_search_shares_each_basis_between_folds_and_grid_points():
    X, y = data(100)
    cached_basis.cache_clear()
    search = GridSearchCV(
        sa.InvariantKernelRidge(SPACE, GROUP, spectrum="heat", length_scale=0.3),
        {"alpha": [1e-8, 1e-4, 1.0], "max_invariant_dim": [10, 50]},
        cv=5,
    ).fit(X, y)
    info = cached_basis.cache_info()
    assert info.misses == 2  # one for each cutoff …
    assert info.hits == 5 * 3 * 2 + 1 - 2  # … in 30 fits and the last one
    assert search.best_params_ == {"alpha": 1e-8, "max_invariant_dim": 50}


def test_folds_of_different_size_share_the_default_basis():
    X, y = data(103)  # folds of 82 and 83
    cached_basis.cache_clear()
    scores = cross_val_score(sa.InvariantKernelRidge(SPACE, GROUP, spectrum="heat"), X, y, cv=KFold(5))
    assert scores.min() > 0.999
    first = cached_basis.cache_info().misses
    sa.InvariantKernelRidge(SPACE, GROUP, spectrum="heat").fit(X[:80], y[:80])
    assert cached_basis.cache_info().misses == first


def test_pipeline_with_steps_before_and_after():
    X, y = data()
    degrees = FunctionTransformer(lambda table: table / 180.0)
    model = Pipeline([("units", degrees), ("model", sa.InvariantKernelRidge(SPACE, GROUP))]).fit(180 * X, y)
    np.testing.assert_allclose(model.predict(180 * X), y, atol=1e-6)
    linear = make_pipeline(sa.InvariantFeatures(SPACE, GROUP, max_invariant_dim=20), LinearRegression()).fit(X, y)
    assert linear.score(X, y) > 0.99


@pytest.mark.parametrize("name", ["SpecAvgRegressor", "InvariantKernelRidge", "Symmetrized"])
def test_metadata_routing_of_sample_weight(name):
    X, y = data()
    y = y + np.random.default_rng(0).normal(size=60)
    w = np.where(np.arange(60) % 2, 1.0, 0.01)
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(NAMED[name])
        if name == "Symmetrized":
            model.set_params(estimator=Ridge().set_fit_request(sample_weight=True))
            model.set_score_request(sample_weight=False)
        else:
            model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        folds = KFold(3)
        routed = cross_validate(model, X, y, cv=folds, params={"sample_weight": w}, return_estimator=True)
        train, _ = next(iter(folds.split(X)))
        alone = clone(model).fit(X[train], y[train], sample_weight=w[train])
        np.testing.assert_allclose(routed["estimator"][0].coef_, alone.coef_)
    unweighted = clone(NAMED[name]).fit(X[train], y[train])
    assert not np.allclose(unweighted.coef_, alone.coef_, rtol=1e-3)


def test_points_with_three_dimensions_are_flattened():
    space, group = sa.spaces.Rotations(), groups.crystal_symmetry("D2")
    X = space.sample(30, random_state=0)
    y = X[:, 0] ** 2
    options = {"spectrum": "heat", "length_scale": 0.5, "alpha": 1e-3, "max_invariant_dim": 40}
    model = sa.InvariantKernelRidge(space, group, **options)
    flat = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X.reshape(-1, 3, 3), y).predict(X.reshape(-1, 3, 3)), flat)
