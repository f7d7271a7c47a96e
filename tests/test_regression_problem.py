"""Scores of penalties: the evidence against the density of a Gaussian."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import specavg as sa
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._leave_one_out import LeaveOneOut
from specavg.regression._regression_problem import EVIDENCE_ROWS, Scores, evidence, evidence_sums


@pytest.mark.parametrize("D", [5, 40])
def test_evidence_is_the_density_of_all_rows_without_their_mean(D):
    rng = np.random.default_rng(0)
    n, alpha = 20, 0.3
    features, y = rng.normal(size=(n, D)), rng.normal(size=n)
    problem = FeatureProblem(features, y[:, None], np.ones(n))
    left_out = problem.scored(np.ones(D))
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0][:, 1:]  # (n, n − 1)
    K = contrasts.T @ (features @ features.T) @ contrasts + alpha * np.eye(n - 1)
    z = contrasts.T @ y / float(problem.units.unit[0])
    sums = evidence_sums(left_out.s, left_out.c, left_out.rows.rest, n - 1, np.array([alpha]))
    assert sums[0][0, 0] == pytest.approx(z @ np.linalg.solve(K, z), rel=1e-10)
    assert sums[1][0] == pytest.approx(np.linalg.slogdet(K)[1], rel=1e-10)
    size = z @ np.linalg.solve(K, z) / (n - 1)  # the noise that makes the rows most likely
    density = multivariate_normal(np.zeros(n - 1), size * K).logpdf(z)
    constant = 0.5 * (1 + np.log(2 * np.pi))
    expected = EVIDENCE_ROWS / (n - 1) * (-density / (n - 1) - constant)
    assert evidence(sums[0][:, 0], sums[1], n - 1)[0] == pytest.approx(expected, rel=1e-10)
    difference = left_out.scores(np.array([alpha])).evidence - expected  # in units of the variance of y
    assert difference == pytest.approx(-0.5 * EVIDENCE_ROWS / (n - 1) * np.log(problem.rows.variance[0]), rel=1e-9)


@pytest.mark.parametrize("seed", [3, 6, 9])
def test_few_noisy_rows_do_not_deceive_the_choice(seed):
    # Leave-one-out alone has errors of 1.05, 1.8 and 2.0 standard deviations of the function here.
    space, group = sa.Torus(6), sa.groups.dihedral_shifts(6)
    rng = np.random.default_rng(seed)
    X, Z = space.sample(30, rng), space.sample(200, rng)
    f, g = (np.cos(np.pi * points).sum(axis=1) for points in (X, Z))
    model = sa.InvariantKernelRidge(space, group).fit(X, f + 2 * rng.normal(size=30))
    assert np.sqrt(np.mean((model.predict(Z) - g) ** 2)) < 0.9 * 3**0.5


def test_a_score_that_is_no_number_is_never_chosen(monkeypatch):
    space, score = sa.Torus(2), LeaveOneOut.scores
    X = space.sample(60, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)

    def but_some(left_out, alphas):
        found = score(left_out, alphas)
        unknown = np.full(len(alphas), np.nan)
        return replace(found, error=np.where(alphas > limit * left_out.top, unknown, found.error))

    monkeypatch.setattr(LeaveOneOut, "scores", but_some)
    limit = 1e-3
    model = sa.InvariantKernelRidge(space, max_invariant_dim=20).fit(X, y)
    assert np.isfinite([model.alpha_, model.loo_error_]).all()
    assert np.abs(model.predict(X) - y).max() < 1e-6
    limit = 0.0
    with pytest.raises(ValueError, match=r"none of .* spectra has a penalty with a finite score"):
        sa.InvariantKernelRidge(space, max_invariant_dim=20).fit(X, y)
    assert Scores(np.array([np.nan, 1.0]), np.array([0.0, 0.0])).joint.argmin() == 1
