"""Rows that are left out: densities are compared on the same ones, and a mean over some stands for all."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups
from specavg.estimators._left_out import LeftOut


def some_rows(n, m, seed):
    rng = np.random.default_rng(seed)
    rows, weights = np.sort(rng.choice(n, m, replace=False)), rng.uniform(0.5, 2.0, n)
    return rows, weights, weights[rows] / weights[rows].sum()


def test_a_mean_over_some_rows_is_that_over_all_where_another_density_tells_it():
    rows, weights, shares = some_rows(500, 60, 0)
    others = np.random.default_rng(1).normal(size=500)
    told = LeftOut(rows, shares, 3.0 + 0.7 * others[rows], 500)
    wanted = 3.0 + 0.7 * np.average(others, weights=weights)
    assert abs(told.mean - wanted) > 1e-3
    assert told.mean_over_all(others, weights) == pytest.approx(wanted, abs=1e-12)
    everything = LeftOut(np.arange(500), weights / weights.sum(), others**2, 500)
    assert everything.mean_over_all(others, weights) == pytest.approx(np.average(others**2, weights=weights), abs=1e-12)


@pytest.mark.parametrize("gain", [-0.05, 0.05])
def test_small_gains_are_seen_beside_large_differences_of_rows(gain):
    rng = np.random.default_rng(2)
    rows, others = np.sort(rng.choice(5_000, 400, replace=False)), 3.0 * rng.normal(size=5_000)
    ours = others[rows] + gain + 0.1 * rng.normal(size=400)
    told = LeftOut(rows, np.full(400, 1 / 400), ours, 5_000)
    assert abs(ours.mean() - others.mean() - gain) > 0.1  # what means over other rows say
    assert told.is_better_than(others) == (stats.ttest_rel(ours, others[rows]).statistic > 1) == (gain > 0)
    assert told.least < others.mean()  # rows that happen to be likely decide nothing


@pytest.mark.parametrize("seed", [0, 7])
def test_rows_that_happen_to_be_likely_give_smooth_data_no_kernels(monkeypatch, seed):
    """Kernels are tried on 100 of 600 rows here, whose likelihood is larger by chance, 0.05 and 0.11."""
    monkeypatch.setattr("specavg.estimators._fitted_kernels.MOST_PAIRS", 1.0)
    X, Z = (
        Rotation.from_rotvec(0.3 * np.random.default_rng(s).standard_normal((n, 3))).as_matrix()
        for s, n in ((seed, 600), (99, 4_000))
    )
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("O")).fit(X)
    assert model.form_ == "exponential"
    assert model.loo_log_likelihood_ == pytest.approx(model.score(Z) / len(Z), abs=0.03)
