"""Repeated observations tell the noise, and copies of one observation tell nothing."""

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._regression_problem import EVIDENCE_ROWS
from specavg.regression._repeated_rows import Repeats, averaged

_HOURS = np.arange(24.0)[:, None]
_RUSH = np.where(np.isin(_HOURS[:, 0], (8, 17)), 3.0, 0.0) + ((_HOURS[:, 0] > 6) & (_HOURS[:, 0] < 22))


def _repeated_problem(rng):
    first = rng.normal(size=(9, 6))
    at = np.repeat(np.arange(9), [1, 4, 2, 1, 5, 3, 1, 2, 1])
    return first[at], at, rng.normal(size=9)[at] + 0.3 * rng.normal(size=len(at)), rng.uniform(0.5, 2.0, size=len(at))


@pytest.mark.parametrize("averaged_before", [False, True])
def test_evidence_is_that_of_all_rows_one_by_one(averaged_before):
    features, at, y, w = _repeated_problem(np.random.default_rng(0))
    if averaged_before:
        means, total, lost = averaged(y[:, None], at, w)
        problem = FeatureProblem(features[np.unique(at, return_index=True)[1]], means, total, before=lost)
    else:
        problem = FeatureProblem(features, y[:, None], w)
    alphas = np.array([1e-3, 0.1, 3.0])
    found = problem.scored(np.ones(6)).scores(alphas).evidence
    # Restricted likelihood of all 20 rows: of what no constant explains, τ² profiled out.
    root = np.sqrt(w)
    contrasts = np.linalg.svd(root[:, None])[0][:, 1:]
    z, F, N = contrasts.T @ (root * y), contrasts.T @ (root[:, None] * features), len(y)
    wanted = []
    for alpha in alphas:
        K = F @ F.T + alpha * np.eye(N - 1)
        wanted.append(0.5 * ((N - 1) * np.log(z @ np.linalg.solve(K, z) / (N - 1)) + np.linalg.slogdet(K)[1]))
    n = problem.count
    assert n == 9
    assert np.diff(found) == pytest.approx(EVIDENCE_ROWS / (n - 1) ** 2 * np.diff(wanted), rel=1e-10)


def test_density_of_an_orbit_left_out_counts_what_its_rows_differ_by():
    features, _, y, w = _repeated_problem(np.random.default_rng(1))
    problem = FeatureProblem(features, y[:, None], w)
    rows, alphas = problem.rows, np.array([0.03, 0.5])
    found = problem.scored(np.ones(6)).scores(alphas).density
    wanted = []
    for (_, residual, h), alpha in zip(
        (next(problem.scored(np.ones(6)).residuals(alphas[[i]])) for i in (0, 1)), alphas, strict=True
    ):
        d, h = residual[:, 0, 0], h[:, 0]
        total = (np.sum(d**2 * h) + np.sum(rows.within**2) / alpha) / (len(y) * rows.variance[0])
        wanted.append(0.5 * (len(y) * np.log(total) - np.log(h).sum() + (len(y) - rows.count) * np.log(alpha)))
    assert rows.count * found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("rows, noise", [(1_000, 0.1), (5_000, 0.1), (5_000, 1.0), (100_000, 1.0)])
def test_hours_that_were_observed_many_times_have_their_mean(rows, noise):
    rng = np.random.default_rng(0)
    hour = rng.integers(0, 24, rows)
    y = _RUSH[hour] + noise * rng.normal(size=rows)
    model = sa.InvariantKernelRidge(sa.Torus(1, period=24)).fit(_HOURS[hour], y)
    means = np.array([y[hour == h].mean() for h in range(24)])
    error, of_means = (np.sqrt(np.mean((values - _RUSH) ** 2)) for values in (model.predict(_HOURS), means))
    assert error < 1.1 * of_means
    assert model.noise_variance_ == pytest.approx(noise**2, rel=0.15)


@pytest.mark.parametrize("constant", [5.0, 0.1, -7.3e12, 1e-200, 1e200])
@pytest.mark.parametrize(
    "given", [{}, {"alpha": 1.0}, {"max_invariant_dim": 5}, {"spectrum": "heat", "max_eigenvalue": 2}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_that_was_observed_many_times_is_that_constant(constant, given, weighted):
    rng = np.random.default_rng(0)
    hour, y = rng.integers(0, 24, 500), np.full(500, constant)
    weights = rng.uniform(0.5, 2.0, size=500) if weighted else None
    model = sa.InvariantKernelRidge(sa.Torus(1, period=24), **given).fit(_HOURS[hour], y, sample_weight=weights)
    values, deviations = model.predict(_HOURS, return_std=True)
    assert values == pytest.approx(np.full(24, constant), rel=1e-15, abs=0)
    assert (deviations == 0).all()
    assert model.loo_error_ == model.noise_variance_ == 0


def test_a_constant_beside_other_outputs_leaves_them_as_they_are():
    rng = np.random.default_rng(0)
    hour = rng.integers(0, 24, 500)
    t = np.cos(np.pi * hour / 12) + 0.1 * rng.normal(size=500)
    alone, beside = (
        sa.InvariantKernelRidge(sa.Torus(1, period=24)).fit(_HOURS[hour], np.stack(outputs, axis=1)).predict(_HOURS)
        for outputs in ((t, t**2), (t, np.full(500, 0.1), t**2))
    )
    assert beside[:, [0, 2]] == pytest.approx(alone, abs=1e-13)
    assert beside[:, 1] == pytest.approx(np.full(24, 0.1), rel=1e-14)


def test_a_smooth_function_is_smoothed_below_the_errors_of_means():
    rng = np.random.default_rng(0)
    hour, truth = rng.integers(0, 24, 5_000), np.exp(np.cos(np.pi * _HOURS[:, 0] / 12))
    y = truth[hour] + rng.normal(size=5_000)
    model = sa.InvariantKernelRidge(sa.Torus(1, period=24)).fit(_HOURS[hour], y)
    means = np.array([y[hour == h].mean() for h in range(24)])
    assert np.linalg.norm(model.predict(_HOURS) - truth) < 0.7 * np.linalg.norm(means - truth)


@pytest.mark.filterwarnings("ignore::UserWarning")  # values without a rule between the points are doubted
def test_several_outputs_and_vectors_keep_what_was_observed_many_times():
    rng = np.random.default_rng(0)
    P, V = sa.Sphere(3).sample(40, random_state=1), rng.normal(size=(40, 3))
    at = rng.integers(0, 40, 4_000)
    Y = V[at] + 0.3 * rng.normal(size=(4_000, 3))
    for model in (
        sa.InvariantKernelRidge(sa.Sphere(3)),
        sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("C2v"), "vector"),
    ):
        error = np.sqrt(np.mean((model.fit(P[at], Y).predict(P) - V) ** 2))
        assert error < 0.04  # the means of a hundred rows have 0.03


def test_points_that_tell_nothing_of_each_other_are_said_to():
    rng = np.random.default_rng(2)
    P, at = sa.Sphere(3).sample(40, random_state=1), rng.integers(0, 40, 2_000)
    values = rng.normal(size=40)[at]
    with pytest.warns(UserWarning, match="the 40 different points tell almost nothing of each other"):
        sa.InvariantKernelRidge(sa.Sphere(3)).fit(P[at], values + 0.3 * rng.normal(size=2_000))
    with pytest.warns(UserWarning, match="the fit explains almost nothing"):
        sa.InvariantKernelRidge(sa.Sphere(3)).fit(P[at], rng.normal(size=2_000))


def test_copies_of_observations_change_nothing():
    rng = np.random.default_rng(0)
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(100, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.3 * rng.normal(size=100)
    elements = list(group.elements())
    augmented = np.concatenate([space.act(g, X) for g in elements])
    once = sa.InvariantKernelRidge(space, group).fit(X, y)
    copied = sa.InvariantKernelRidge(space, group).fit(augmented, np.tile(y, len(elements)))
    assert copied.predict(X) == pytest.approx(once.predict(X), rel=1e-8)


def test_copies_of_observations_leave_error_bars_as_they_are():
    # Copies have no noise of their own: what surprises of them is the one noise that they share.
    rng = np.random.default_rng(0)
    space = sa.Torus(2, period=[24, 360])
    X = np.stack([rng.integers(0, 24, 120), rng.uniform(0, 360, 120)], axis=1)
    y = np.cos(np.pi * X[:, 0] / 12) + np.sin(np.deg2rad(X[:, 1])) + 0.1 * rng.normal(size=120)
    P = sa.Sphere(3).sample(60, random_state=0)
    V = P * P[:, 2:] + 0.1 * rng.normal(size=(60, 3))
    vectors = sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("C2v"), "vector")
    half = np.r_[np.arange(120), np.arange(0, 120, 2)]
    for model, points, targets, copies in (
        (sa.InvariantKernelRidge(space), X, y, np.tile(np.arange(120), 2)),
        (sa.InvariantKernelRidge(space), X, y, np.tile(np.arange(120), 4)),
        (sa.InvariantKernelRidge(space), X, y, half),
        (vectors, P, V, np.tile(np.arange(60), 2)),
    ):
        Z = points[:50]
        once = model.fit(points, targets).predict(Z, return_std=True)[1]
        copied = model.fit(points[copies], targets[copies]).predict(Z, return_std=True)[1]
        assert copied.mean() == pytest.approx(once.mean(), rel=0.1)


def test_equal_targets_on_one_orbit_count_once():
    label = np.array([0, 0, 0, 1, 1, 2])
    found = Repeats.of(np.array([1.1, 1.1, 1.3, 2.7, 2.7, 0.4])[:, None], label, np.ones(6))
    assert found.freedom == 1
    assert found.squares == pytest.approx([0.02])  # 1.1 and 1.3


def test_counts_at_hours_keep_their_means():
    rng = np.random.default_rng(0)
    hour = rng.integers(0, 24, 3_000)
    y = rng.poisson(1 + _RUSH[hour]).astype(float)
    model = sa.InvariantKernelRidge(sa.Torus(1, period=24)).fit(_HOURS[hour], y)
    means = np.array([y[hour == h].mean() for h in range(24)])
    assert np.linalg.norm(model.predict(_HOURS) - 1 - _RUSH) < 1.1 * np.linalg.norm(means - 1 - _RUSH)


def test_largest_numbers_are_averaged():
    means, weight, lost = averaged(np.array([[1e308], [1.5e308], [-1e308]]), np.array([0, 0, 1]), np.ones(3))
    assert means[:, 0] == pytest.approx([1.25e308, -1e308])
    assert weight == pytest.approx([2.0, 1.0])
    assert lost.within[:, 0] == pytest.approx([-0.25e308, 0.25e308, 0.0])
