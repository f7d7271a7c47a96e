"""Averages of models: shares, one vector of coefficients, and a variance with what the models disagree about."""

import numpy as np

import specavg as sa
from specavg import groups
from specavg.regression._averaging import shares
from specavg.regression._feature_path import FeaturePath, FeatureProblem

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)


def data(n, noise=0.2):
    rng = np.random.default_rng(0)
    X = SPACE.sample(n, rng)
    return X, np.abs(np.cos(np.pi * X).sum(axis=1)) + noise * rng.normal(size=n)


def test_shares_fall_with_the_score_and_small_ones_are_dropped():
    found = shares(np.array([0.0, 0.015, 0.03, 0.2]), 100)
    expected = np.exp(-np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(found[:3], expected / expected.sum(), rtol=1e-12)
    assert found[3] == 0.0


def test_the_average_is_the_mean_of_its_models_and_its_variance_has_their_spread(monkeypatch):
    monkeypatch.setattr(FeaturePath, "surprise", lambda self, alphas: np.ones((len(alphas), 1)))
    X, y = data(80)
    Z = SPACE.sample(20, random_state=1)
    model = sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=60, order="type").fit(X, y)
    weights = shares(np.array([t.score for t in model.trials_]), 80)
    kept = [(t, w) for t, w in zip(model.trials_, weights, strict=True) if w]
    assert len(kept) > 1
    means, variances = [], []
    for trial, _ in kept:
        s = trial.spectrum
        single = sa.InvariantKernelRidge(
            SPACE,
            GROUP,
            spectrum=s.name,
            smoothness=s.smoothness,
            length_scale=s.length_scale,
            alpha=trial.alpha,
            max_invariant_dim=60,
            order="type",
        ).fit(X, y)
        mean, deviation = single.predict(Z, return_std=True)
        means.append(mean)
        variances.append(deviation**2)
    shared = np.array([w for _, w in kept])
    mean, deviation = model.predict(Z, return_std=True)
    expected = shared @ np.array(means)
    np.testing.assert_allclose(mean, expected, atol=1e-9)
    spread = shared @ (np.array(variances) + (np.array(means) - expected) ** 2)
    np.testing.assert_allclose(deviation**2, spread, rtol=1e-6)


def test_rows_that_were_left_out_say_how_far_the_prior_can_be_trusted():
    X, y = data(60, noise=0.0)
    features = np.column_stack([np.cos(np.pi * k * X).sum(axis=1) for k in range(1, 9)])
    path = FeatureProblem(features, y[:, None], np.ones(60)).path(np.exp(-np.arange(8.0)))
    alpha = np.array([1e-6])
    left_out = []
    for i in range(60):
        rest = np.arange(60) != i
        one = FeatureProblem(features[rest], y[rest, None], np.ones(59)).path(path.scale)
        coefficients = one.coefficients(1e-6)
        mean, centre = y[rest].mean(), features[rest].mean(axis=0)
        error = y[i] - mean - (features[i] - centre) @ coefficients[:, 0]
        posterior = one.posterior_of(alpha, np.full((1, 1), 1e-6))  # of noise 1e-6: a prior of variance one
        left_out.append(error**2 / (1e-6 + posterior.variance(features[i : i + 1])[0, 0]))
    expected = np.mean(left_out) * 1e-6 / path.noise_variance(1e-6)[0]
    assert expected > 1
    np.testing.assert_allclose(path.surprise(alpha)[0, 0], max(expected, 1.0), rtol=1e-6)


def test_an_average_is_saved_and_loaded(tmp_path):
    X, y = data(50)
    model = sa.InvariantKernelRidge(SPACE, GROUP).fit(X, y)
    model.save(tmp_path / "model.specavg")
    again = sa.load(tmp_path / "model.specavg")
    for mine, theirs in zip(model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
