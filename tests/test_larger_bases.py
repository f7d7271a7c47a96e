"""Default fits of many rows: as many functions as the data want, and no more."""

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.estimators import _larger_bases
from specavg.regression import _measured_limits as _limits
from specavg.regression._operator_path import OperatorProblem
from specavg.regression._spectra import spectrum_candidates
from specavg.regression._spectrum_choice_many_rows import likely_spectra

S2, OH = sa.Sphere(3), groups.point_group("Oh")


def rough(X):
    a, b, c = -np.sort(-np.abs(X), axis=1).T
    return np.abs(a - 2 * b) + 2 * np.exp(-300 * ((a - 0.8) ** 2 + (b - 0.5) ** 2)) + np.sin(25 * c * a)


@pytest.fixture
def many(monkeypatch):
    """Rows that count as many, and a budget that a test can wait for."""
    monkeypatch.setattr(_limits, "LARGE_ROWS", 4_000)
    monkeypatch.setattr(_limits, "WORK", 2e7)  # the first fit has 64 functions
    monkeypatch.setattr(_limits, "MOST_FUNCTIONS", 700)
    monkeypatch.setattr(_limits, "MANY_ROWS_FUNCTIONS", 64)


def test_rough_targets_are_given_more_functions_and_smooth_ones_are_not(many):
    X, Z = S2.sample(6_000, random_state=0), S2.sample(1_000, random_state=1)
    noise = 0.01 * np.random.default_rng(0).normal(size=len(X))
    large = sa.InvariantKernelRidge(S2, OH).fit(X, rough(X) + noise)
    assert large.solver_ == "grid"
    assert large.basis_.dim > 400
    small = sa.InvariantKernelRidge(S2, OH, max_invariant_dim=96).fit(X, rough(X) + noise)
    errors = [np.sqrt(np.mean((model.predict(Z) - rough(Z)) ** 2)) for model in (large, small)]
    assert errors[0] < 0.5 * errors[1]
    assert large.loo_error_ < small.loo_error_
    smooth = sa.InvariantKernelRidge(S2, OH).fit(X, (X**4).sum(axis=1) + noise)
    assert smooth.basis_.dim < 200
    assert np.abs(smooth.predict(Z) - (Z**4).sum(axis=1)).max() < 0.01


def test_larger_bases_report(many, monkeypatch, capsys):
    monkeypatch.setattr("specavg._reporting._PATIENCE", 0.0)
    X = S2.sample(4_000, random_state=0)
    with sa.config(progress=True):
        model = sa.InvariantKernelRidge(S2, OH).fit(X, rough(X))
    assert model.basis_.dim > 200
    assert "more functions for many rows: " in capsys.readouterr().err


def test_the_time_is_kept_to(many, monkeypatch):
    X = S2.sample(4_000, random_state=0)
    monkeypatch.setattr(_limits, "LARGE_SECONDS", 1e-6)
    model = sa.InvariantKernelRidge(S2, OH).fit(X, rough(X))
    assert model.solver_ == "features"


def test_what_is_given_is_used_as_it_is(many, monkeypatch):
    monkeypatch.setattr(_larger_bases, "_larger", lambda *_: pytest.fail("grown"))
    X = S2.sample(4_000, random_state=0)
    assert sa.InvariantKernelRidge(S2, OH, max_invariant_dim=30).fit(X, rough(X)).basis_.dim <= 30
    sa.InvariantKernelRidge(S2, OH, alpha=0.1).fit(X, rough(X))


def test_points_that_leave_much_empty_keep_the_first_fit(many):
    X = S2.sample(200_000, random_state=0)
    corner = -np.sort(-np.abs(X), axis=1)
    X = X[corner[:, 0] > 0.9][:5_000]  # caps around the axes
    model = sa.InvariantKernelRidge(S2, OH).fit(X, rough(X) + 0.01 * np.random.default_rng(0).normal(size=len(X)))
    assert model.loo_error_ < 0.2


def test_coefficients_tell_the_spectrum_they_were_drawn_from():
    basis = sa.invariant_basis(S2, OH, max_invariant_dim=300)
    candidates = spectrum_candidates(basis, "matern", None, None, few_first=False)
    rng = np.random.default_rng(0)
    X = S2.sample(6_000, random_state=0)
    for truth in (candidates[3], candidates[len(candidates) // 2]):
        logs = truth.log_values(basis)
        C = np.exp(0.5 * (logs - logs[1])) * rng.normal(size=basis.dim)
        y = basis.combine(X, C[:, None]) + 1e-3 * rng.normal(size=(len(X), 1))
        problem = OperatorProblem.of(basis, X, y, np.ones(len(X)))
        best, alpha = likely_spectra(problem, basis, candidates, 1)[0]
        assert np.abs(best.log_values(basis)[1:] - logs[1:] - (best.log_values(basis)[1] - logs[1])).max() < 3.0
        assert alpha > 0
