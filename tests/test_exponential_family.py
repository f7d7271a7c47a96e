"""Exponential densities: what is left out is predicted as fits without it do, and rules really check each other."""

from itertools import islice, pairwise

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.estimators import _exponential_family as exponential_family
from specavg.estimators._exponential_family import Nodes, exponential_fit
from specavg.estimators._quadrature import quadratures


def left_out(features, weights, nodes, penalty):
    """Mean log density of each row under the fit without it, and log density of all under the fit with all."""
    total, fit = weights.sum(), exponential_fit(features, weights, nodes, penalty, 0 * penalty)
    logs = []
    for i in range(len(features)):
        others = np.delete(np.arange(len(features)), i)
        scaled = penalty * total / weights[others].sum()
        one = exponential_fit(features[others], weights[others], nodes, scaled, fit.coefficients, floor=np.inf)
        logs.append(features[i] @ one.coefficients - one.log_z)
    return weights @ logs / total, weights @ (features @ fit.coefficients - fit.log_z) / total


@pytest.mark.parametrize("alpha, share", [(1.0, 0.05), (0.1, 0.15), (0.01, 0.25)])
@pytest.mark.parametrize("heaviest", [1, 4])
def test_left_out_likelihood_is_that_of_fits_without_the_row(alpha, share, heaviest):
    """To a share of what is lost; with hardly a penalty on 48 functions of 50 rows 0.23 of 1.2 nats too much is."""
    rng, space = np.random.default_rng(0), sa.Sphere(3)
    peak = space.von_mises.sample(np.tile([[0.0, 0.6, 0.8]], (40, 1)), np.full(40, 30.0), rng)
    X, weights = np.concatenate([peak, space.sample(10, rng)]), rng.integers(1, heaviest + 1, 50).astype(float)
    basis = sa.invariant_basis(space, None, max_eigenvalue=42)
    nodes = tuple(Nodes(basis.evaluate(P)[:, 1:], w) for P, w in map(space.quadrature, (30 * 31, 40 * 41)))
    penalty = alpha * (1 + basis.eigenvalues[1:] / 2) ** 2 / weights.sum()
    features = basis.evaluate(X)[:, 1:]
    exact, with_all = left_out(features, weights, nodes, penalty)
    found = exponential_fit(features, weights, nodes, penalty, 0 * penalty).loo_log_likelihood
    assert found == pytest.approx(exact, abs=share * (with_all - exact))


@pytest.mark.parametrize("alpha", [1.0, 0.01, 1e-4])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_few_rows_are_left_out_by_fits_without_them(n, alpha):
    """The closed form was up to 60 nats too high, and sharp densities of uniform data were chosen by it."""
    space = sa.Sphere(3)
    basis = sa.invariant_basis(space, None, max_eigenvalue=42)
    nodes = tuple(Nodes(basis.evaluate(P)[:, 1:], w) for P, w in map(space.quadrature, (60 * 61, 70 * 71)))
    features = basis.evaluate(space.sample(n, 3))[:, 1:]
    weights = 1 + 0.5 * (np.arange(n) % 2)  # unequal, and all of them at least a fifteenth of the sum
    penalty = alpha * (1 + basis.eigenvalues[1:] / 2) ** 2 / weights.sum()
    exact, _ = left_out(features, weights, nodes, penalty)
    found = exponential_fit(features, weights, nodes, penalty, 0 * penalty, tolerance=1e-14).loo_log_likelihood
    assert found == pytest.approx(exact, rel=1e-3, abs=1e-3)  # what is compared ends at a decrement of 1e-8


@pytest.mark.parametrize("alpha, anywhere", [(1e-2, 6), (1e-3, 6), (1e-3, 30)])
def test_rows_far_from_a_sharp_peak_are_left_out_by_fits_without_them(alpha, anywhere):
    """The closed form has losses of 3 to 7 nats at such rows, where fits have 10 to 300; of many rows 16 are fitted."""
    rng, space = np.random.default_rng(0), sa.Sphere(3)
    peak = space.von_mises.sample(np.tile([[0.0, 0.6, 0.8]], (54, 1)), np.full(54, 500.0), rng)
    X = np.concatenate([peak, space.sample(anywhere, rng)])
    basis = sa.invariant_basis(space, None, max_eigenvalue=42)
    nodes = tuple(Nodes(basis.evaluate(P)[:, 1:], w) for P, w in map(space.quadrature, (40 * 41, 50 * 51)))
    features, weights = basis.evaluate(X)[:, 1:], np.ones(len(X))
    penalty = alpha * (1 + basis.eigenvalues[1:] / 2) ** 2 / len(X)
    exact, with_all = left_out(features, weights, nodes, penalty)
    fit = exponential_fit(features, weights, nodes, penalty, 0 * penalty)
    assert fit.error < 0.05
    assert fit.loo_log_likelihood == pytest.approx(exact, abs=0.03 if anywhere == 6 else 0.25 * (with_all - exact))
    # Below a floor it is not told how far below, and hardly a fit is made.
    assert exponential_fit(features, weights, nodes, penalty, 0 * penalty, floor=with_all).loo_log_likelihood < with_all


def test_without_a_penalty_a_histogram_loses_one_of_its_rows():
    counts = np.array([3, 5, 12, 20])
    bins = np.repeat(np.arange(4), counts)
    values = 1.0 * np.eye(4)[:, 1:]  # indicators of all bins but the first
    nodes = Nodes(values, np.full(4, 0.25))
    fit = exponential_fit(values[bins], np.ones(40), (nodes, nodes), np.full(3, 1e-12), np.zeros(3), tolerance=1e-16)
    without = np.log((counts[bins] - 1) / 39 * 4)
    # The loss of a row is log(1 − 1/k + 1/n), k the rows of its bin: it differs by 1/(kn), whose mean is bins/n².
    loss = np.log(1 - 1 / counts[bins] + 1 / 40)
    assert fit.loo_log_likelihood == pytest.approx(np.mean(np.log(counts[bins] / 10) + loss), abs=1e-6)
    assert fit.loo_log_likelihood == pytest.approx(without.mean(), abs=4 / 40**2)


def test_steps_end_at_rounding(monkeypatch):
    """Five points in one peak of 1°: most of 6,147 values of log Z were of steps of 1e-9 that rounding asked for."""
    asked = []
    weights = exponential_family._weights
    monkeypatch.setattr(exponential_family, "_weights", lambda *given: asked.append(1) or weights(*given))
    space, rng = sa.Sphere(3), np.random.default_rng(5)
    X = space.von_mises.sample(np.repeat(space.sample(1, rng), 5, axis=0), np.full(5, 4551.0), rng)
    sa.InvariantDensity(space).fit(X)
    assert 20 < len(asked) < 1_000


def test_rules_that_check_each_other_share_no_grid():
    """Rotations of the same angles around the axis agree where both are wrong."""
    basis = sa.invariant_basis(sa.Rotations(), groups.crystal_symmetry("O"), max_invariant_dim=192)
    rules = list(islice(quadratures(basis, 6_000, stretch=10), 4))
    angles = [len(np.unique(np.round(np.arctan2(r.points[:, 7], r.points[:, 6]), 9))) for r in rules]
    assert all(a < b for a, b in pairwise(angles))
