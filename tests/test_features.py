"""InvariantFeatures: exactly invariant columns with names, in front of any model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor, QuantileRegressor
from sklearn.pipeline import make_pipeline

import specavg as sa
from specavg import groups


def test_columns_are_the_non_constant_invariant_functions():
    space, group = sa.Sphere(3), groups.symmetric(3)
    X = space.sample(20, random_state=0)
    features = sa.InvariantFeatures(space, group, max_invariant_dim=30).fit(X)
    basis = sa.invariant_basis(space, group, max_invariant_dim=30)
    np.testing.assert_allclose(features.transform(X), basis.evaluate(X)[:, 1:], atol=1e-12)


def test_features_are_equal_bit_by_bit_on_an_orbit():
    space, group = sa.Torus(30), groups.hyperoctahedral(30)
    rng = np.random.default_rng(0)
    X = space.sample(10, random_state=rng)
    moved = X[:, rng.permutation(30)] * rng.choice([-1, 1], 30)
    features = sa.InvariantFeatures(space, group).fit(X)
    assert (features.transform(X) == features.transform(moved)).all()


def test_names_and_data_frames():
    frame = pd.DataFrame(sa.Torus(2).sample(5, random_state=0), columns=["phi", "psi"], index=list("abcde"))
    features = sa.InvariantFeatures(sa.Torus(2), groups.sign_flips(2), max_invariant_dim=4).set_output(
        transform="pandas"
    )
    table = features.fit_transform(frame)
    assert list(table.columns) == list(features.get_feature_names_out())
    assert list(table.index) == list("abcde")
    assert table.columns[0] == f"invariant1_eigenvalue{np.pi**2:.6g}"
    assert list(features.feature_names_in_) == ["phi", "psi"]


def test_an_exactly_invariant_classifier_is_a_pipeline_away():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X, Z = space.sample(400, random_state=0), space.sample(400, random_state=1)

    def label(X):
        return np.digitize((X**4).sum(axis=1), [0.45, 0.65])

    model = make_pipeline(
        sa.InvariantFeatures(space, group, max_invariant_dim=12), LogisticRegression(C=1e3, max_iter=2000)
    ).fit(X, label(X))
    assert model.score(Z, label(Z)) > 0.97
    plain = LogisticRegression().fit(X, label(X))
    assert plain.score(Z, label(Z)) < 0.7
    moved = -Z[:, [2, 0, 1]]
    assert (model.predict_proba(Z) == model.predict_proba(moved)).all()


@pytest.mark.parametrize("last", [QuantileRegressor(alpha=0, quantile=0.9), PoissonRegressor(max_iter=1000)])
def test_quantile_and_poisson_regression(last):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(200, random_state=0)
    rate = np.exp(np.cos(np.pi * X).sum(axis=1))
    y = np.random.default_rng(0).poisson(rate)
    model = make_pipeline(sa.InvariantFeatures(space, group, max_invariant_dim=10), last).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(-X[:, ::-1]))
    assert np.corrcoef(model.predict(X), rate)[0, 1] > 0.9


def test_many_functions_in_the_first_eigenspace_are_all_taken():
    X = sa.Torus(50).sample(5, random_state=0)
    assert sa.InvariantFeatures().fit_transform(X).shape == (5, 100)


def test_a_cutoff_without_features_is_refused():
    with pytest.raises(ValueError, match="no features"):
        sa.InvariantFeatures(sa.Torus(2), max_eigenvalue=1.0).fit(sa.Torus(2).sample(3, random_state=0))
