"""Error bars of chosen models: surprise, truncation and choice, each against what it says it is."""

import numpy as np
import pytest
from scipy.special import zeta

import specavg as sa
from specavg import groups
from specavg.estimators._near_rows import unshown_variance
from specavg.estimators._ridge_data import RidgeData
from specavg.regression._calibration import CHOSEN, ROUGHNESS, Calibration, left_out_by_truncation, shrunk_surprise
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._spectra import spectrum_candidates
from specavg.regression._spectrum_choice import ridge_fit

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)


def data(n, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = SPACE.sample(n, rng)
    return X, np.abs(np.cos(np.pi * X).sum(axis=1)) + noise * rng.normal(size=n)


def test_surprise_is_the_mean_square_of_what_refits_predict():
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
    surprise = shrunk_surprise(np.mean(left_out) * 1e-6 / path.noise_variance(1e-6)[0], 60)
    hat = features - features.mean(axis=0)
    hat = hat * path.scale
    freedom = 1 + np.trace(hat @ np.linalg.solve(hat.T @ hat + 1e-6 * np.eye(8), hat.T))
    found = path.calibration(alpha)
    chosen = (60 + CHOSEN) / (60 - CHOSEN)
    np.testing.assert_allclose(found.factor, surprise * chosen, rtol=1e-6)
    rough = np.clip(left_out_by_truncation(path.scale**2) / alpha, ROUGHNESS * freedom / 60, 1)
    np.testing.assert_allclose(found.share, chosen * (max(surprise - 1, 0) + rough), rtol=1e-6)


def test_surprise_from_sums_is_nearly_that_of_rows():
    """With many more rows than functions all rows tell as much."""
    X, y = data(3_000)
    basis = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=40)
    weights, scale = np.ones(len(X)), (1.0 + basis.eigenvalues[1:]) ** -1.0
    rows = FeatureProblem(basis.evaluate(X)[:, 1:], y[:, None], weights).path(scale)
    sums = MomentProblem(Moments.of(basis, X, y[:, None], weights)).path(scale)
    for alpha in (np.array([1.0]), np.array([100.0])):
        found, wanted = sums.calibration(alpha), rows.calibration(alpha)
        np.testing.assert_allclose(found.factor, wanted.factor, rtol=2e-3)
        np.testing.assert_allclose(found.share, wanted.share, atol=2e-3)


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_residuals_of_near_rows_tell_what_no_function_shows(noise):
    """A fast wave beyond the cutoff is taken for noise by every other rule; so it is not by the rows beside each."""
    rng = np.random.default_rng(0)
    X, Z = SPACE.sample(20_000, rng), SPACE.sample(1_000, rng)

    def f(X):
        return np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.3 * np.cos(14 * np.pi * X).sum(axis=1)

    model = sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=60)  # the wave is the 89th
    mean, deviation = model.fit(X, f(X) + noise * rng.normal(size=len(X))).predict(Z, return_std=True)
    missing = np.sqrt(np.mean((mean - f(Z)) ** 2))
    assert missing > 0.25
    assert np.sqrt(np.mean(deviation**2)) == pytest.approx(missing, rel=0.15)


def test_near_rows_make_no_error_bars_smaller():
    """They see too little of a kink between rows that lie apart."""
    space, rng = sa.Power(sa.Interval(0, 1), 3), np.random.default_rng(100)
    X, Z = rng.random((20_000, 3)), rng.random((1_000, 3))

    def f(X):
        return np.abs(X - 0.5).max(axis=1)

    y = f(X) + 0.3 * f(X).std() * rng.normal(size=len(X))
    model = sa.InvariantKernelRidge(space, groups.symmetric(3), max_invariant_dim=500).fit(X, y)
    mean, deviation = model.predict(Z, return_std=True)
    assert 0.85 <= np.mean(np.abs(mean - f(Z)) <= 1.645 * deviation) <= 0.98  # of 90 % intervals


def test_rows_that_are_far_apart_tell_nothing():
    space, rng = sa.Torus(8), np.random.default_rng(0)
    X = space.sample(300, rng)
    basis = sa.invariant_basis(space, groups.symmetric(8), max_invariant_dim=30)
    data = RidgeData.of(X, rng.normal(size=(300, 1)), np.ones(300))
    problem = data.problem(basis, data.features(basis), [], None)
    fit = ridge_fit(problem, basis, spectrum_candidates(basis, "heat", None, 1.0), None)
    assert unshown_variance(data, space, basis, fit) is None


@pytest.mark.parametrize("power", [1.5, 2.0, 4.0])
def test_what_truncation_leaves_out_is_the_rest_of_the_series(power):
    j = np.arange(1.0, 2001.0)
    exact = zeta(power) - np.sum(j**-power)
    assert left_out_by_truncation(j**-power) == pytest.approx(exact, rel=0.01)


def test_variances_that_fall_too_slowly_have_no_finite_rest():
    assert left_out_by_truncation(1 / np.arange(1.0, 100.0)) == np.inf
    assert left_out_by_truncation(np.exp(-np.arange(200.0))) < 1e-80


def test_noise_that_truncation_explains_belongs_to_the_function():
    found = Calibration.of(np.ones(2), np.full(2, 7.0), np.array([0.25, np.inf]), 100, 2)
    np.testing.assert_allclose(found.factor, 108 / 92)
    np.testing.assert_allclose(found.share, [0.25 * 108 / 92, 108 / 92])


def test_a_fit_that_uses_half_of_the_rows_may_take_roughness_for_noise():
    surprise, truncated = np.array([1.0, 1.5]), np.zeros(2)
    found = Calibration.of(surprise, np.array([50.0, 4.0]), truncated, 100, 2)
    np.testing.assert_allclose(found.share, np.array([0.25, 0.52]) * 108 / 92)


@pytest.mark.parametrize("dimension, share", [(1, 0.1), (2, 0.1), (4, 0.2), (6, 0.3), (40, 1.0)])
def test_roughness_beyond_what_is_fitted_grows_with_the_dimension(dimension, share):
    # Variances j^(−1−4/d) that are one at p = 20 have a sum beyond it of pd/4: of 100 rows, d/20.
    found = Calibration.of(np.ones(1), np.array([20.0]), np.zeros(1), 100, dimension)
    np.testing.assert_allclose(found.share, share * 108 / 92)


def test_rows_on_one_orbit_are_observations_of_their_own():
    found = Calibration.of(np.array([1.0, 1.5]), np.array([50.0, 4.0]), np.zeros(2), 100, 2, 500.0)
    np.testing.assert_allclose(found.share, np.array([0.05, 0.104]) * 108 / 92)


def test_no_more_than_the_noise_of_a_mean_belongs_to_the_function():
    truncated = np.array([np.inf, 0.15])  # rows of five observations have the noise variance σ²/5
    found = Calibration.of(np.ones(2), np.full(2, 7.0), truncated, 100, 2, 500.0)
    np.testing.assert_allclose(found.share, np.array([0.2, 0.15]) * 108 / 92)


@pytest.mark.filterwarnings("ignore:the fit explains almost nothing")  # values without a rule between the points
def test_error_bars_of_repeated_observations_are_those_of_means():
    rng = np.random.default_rng(0)
    hour, hours = rng.integers(0, 24, 5_000), np.arange(24.0)
    rough = np.cos(np.pi * hours / 12) + 3 * (hours == 8) + 2 * (hours == 17)
    P, at = sa.Sphere(3).sample(40, random_state=1), rng.integers(0, 40, 5_000)
    V = rng.normal(size=(40, 3))
    vectors = sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("C2v"), "vector")
    day = sa.InvariantKernelRidge(sa.Torus(1, period=24))
    vectors.fit(P[at], V[at] + 0.1 * rng.normal(size=(5_000, 3)))
    for model, X, truth, k in (
        (day.fit(hours[hour, None], rough[hour] + 0.1 * rng.normal(size=5_000)), hours[:, None], rough, 5_000 / 24),
        (vectors, P, V, 5_000 / 40),
    ):
        mean, deviation = model.predict(X, return_std=True)
        assert np.mean(np.abs(mean - truth) <= 1.645 * deviation) > 0.85
        # Where nothing is smoothed v is σ²/k, and T adds as much: with all 24 hours (n + 8)/(n − 8) is 2.
        assert 0.9 < deviation.mean() * k**0.5 / 0.1 < 2.5  # 20 where all the noise may belong to the function


def test_as_many_functions_as_stand_out_may_be_hidden_below_the_bound():
    surprise, freedom, truncated = np.ones(2), np.array([50.0, 4.0]), np.zeros(2)
    found = Calibration.of(surprise, freedom, truncated, 100, 2, hidden=60.0)
    np.testing.assert_allclose(found.share, np.array([0.85, 0.62]) * 108 / 92)
    found = Calibration.of(surprise, freedom, truncated, 100, 2, 500.0, hidden=60.0)
    np.testing.assert_allclose(found.share, np.array([0.17, 0.124]) * 108 / 92)


def test_intervals_hold_what_they_promise_where_functions_stand_out():
    space, group, inside = sa.Torus(4), groups.cyclic_shifts(4), []

    def target(X):
        a = np.pi * X
        pairs = np.exp(np.cos(a - np.roll(a, 1, axis=1))).sum(axis=1)
        return pairs + np.exp(np.cos(a.sum(axis=1)))

    for seed in range(2):
        X = space.sample(500, random_state=seed)
        model = sa.InvariantKernelRidge(space, group).fit(X[:200], target(X[:200]))
        assert len(model.outstanding_) > 2
        mean, deviation = model.predict(X[200:], return_std=True)
        inside.append(np.mean(np.abs(mean - target(X[200:])) <= 1.645 * deviation))
    assert 0.82 < np.mean(inside) < 0.97  # 0.6 without room for hidden functions


def test_error_bars_on_a_noisy_grid_are_as_wide_as_errors():
    steps = np.arange(20) / 10 - 1
    X = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)  # 400 points on 66 orbits
    Z = SPACE.sample(300, random_state=1)
    ratios = []
    for seed in range(6):
        noise = np.random.default_rng(seed).normal(size=len(X))
        model = sa.InvariantKernelRidge(SPACE, GROUP).fit(X, np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.5 * noise)
        mean, deviation = model.predict(Z, return_std=True)
        error = mean - np.exp(np.cos(np.pi * Z).sum(axis=1))
        ratios.append(np.mean(error**2) / np.mean(deviation**2))
    assert 0.4 < np.mean(ratios) < 1.5  # 0.55; 0.19 where the noise of an orbit is taken for that of one observation


def test_several_outputs_are_calibrated_direction_by_direction():
    X, y = data(60)
    Z = SPACE.sample(300, random_state=1)
    wave = np.cos(np.pi * X).prod(axis=1) + 0.2 * np.random.default_rng(3).normal(size=60)
    model = sa.InvariantKernelRidge(SPACE, GROUP).fit(X, np.column_stack([y, wave, y]))
    mean, deviation = model.predict(Z, return_std=True)
    truth = np.abs(np.cos(np.pi * Z).sum(axis=1))
    truth = np.column_stack([truth, np.cos(np.pi * Z).prod(axis=1), truth])
    np.testing.assert_allclose(deviation[:, 0], deviation[:, 2], rtol=1e-6)
    assert np.mean(np.abs(mean - truth) <= 1.645 * deviation) > 0.8


def test_a_given_model_keeps_its_posterior_and_a_chosen_one_is_calibrated():
    X, y = data(80)
    Z = SPACE.sample(20, random_state=1)
    chosen = sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=60, order="type").fit(X, y)
    s = chosen.spectrum_
    given = sa.InvariantKernelRidge(
        SPACE,
        GROUP,
        spectrum=s.name,
        smoothness=s.smoothness,
        length_scale=s.length_scale,
        alpha=chosen.alpha_,
        max_invariant_dim=60,
        order="type",
    ).fit(X, y)
    np.testing.assert_allclose(given.predict(Z), chosen.predict(Z), atol=1e-9)
    (_, plain), (_, calibrated) = given.predict(Z, return_std=True), chosen.predict(Z, return_std=True)
    factor, share = np.polyfit(plain**2, calibrated**2, 1)
    np.testing.assert_allclose(calibrated**2, factor * plain**2 + share, rtol=1e-8)
    assert share >= 0
    assert factor > 0


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("n", [40, 150])
def test_intervals_hold_what_they_promise(n, noise):
    inside = []
    for seed in range(8):
        X, y = data(n + 200, noise=0.0, seed=seed)
        seen = y[:n] + noise * np.random.default_rng(seed).normal(size=n)
        mean, deviation = sa.InvariantKernelRidge(SPACE, GROUP).fit(X[:n], seen).predict(X[n:], return_std=True)
        inside.append(np.mean(np.abs(mean - y[n:]) <= 1.645 * deviation))
    assert 0.82 < np.mean(inside) < 0.97


def test_a_calibrated_model_is_saved_and_loaded(tmp_path):
    X, y = data(50)
    model = sa.InvariantKernelRidge(SPACE, GROUP).fit(X, y)
    model.save(tmp_path / "model.specavg")
    again = sa.load(tmp_path / "model.specavg")
    for mine, theirs in zip(model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def _weighted_data():
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    rng = np.random.default_rng(0)
    X, Z = space.sample(200, rng), space.sample(50, rng)
    sigma = np.where(rng.random(200) < 0.5, 0.02, 0.2)
    return space, group, X, Z, 1 / (0.4 + (X**4).sum(axis=1)) + sigma * rng.normal(size=200), sigma


@pytest.mark.parametrize("way", ["rows", "chunks", "vectors", "gradients", "given alpha"])
def test_error_bars_do_not_depend_on_the_unit_of_the_weights(way):
    space, group, X, Z, y, sigma = _weighted_data()

    def fitted(weights):
        if way == "chunks":
            return sa.InvariantKernelRidge(space, group, max_invariant_dim=30).fit(iter([(X, y, weights)]))
        if way == "vectors":
            return sa.EquivariantKernelRidge(space, group, "vector").fit(X, y[:, None] * X, sample_weight=weights)
        if way == "gradients":
            G = -4 * (X**3 - (X**4).sum(axis=1)[:, None] * X) / (0.4 + (X**4).sum(axis=1, keepdims=True)) ** 2
            return sa.InvariantKernelRidge(space, group).fit(X, y, sample_weight=weights, gradient=G + 0.1 * y[:, None])
        alpha = 0.1 * weights.mean() if way == "given alpha" else "auto"
        return sa.InvariantKernelRidge(space, group, alpha=alpha).fit(X, y, sample_weight=weights)

    one, other = fitted(sigma**-2), fitted(1e4 * sigma**-2)
    for a, b in zip(one.predict(Z, return_std=True), other.predict(Z, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert other.noise_variance_ == pytest.approx(1e4 * one.noise_variance_, rel=1e-6)
    assert other.alpha_ == pytest.approx(1e4 * one.alpha_, rel=1e-6)


def test_with_inverse_variances_as_weights_the_noise_of_weight_one_has_variance_one():
    space, group, X, _, y, sigma = _weighted_data()
    model = sa.InvariantKernelRidge(space, group).fit(X, y, sample_weight=sigma**-2)
    assert model.noise_variance_ == pytest.approx(1.0, abs=0.3)  # 3 standard errors of 200 squares: 2 · 3/√200
