"""Functions that stand out: the statistic against a dense computation, and what naming them gives."""

import numpy as np
import pytest

import specavg as sa
from specavg.regression import _outstanding
from specavg.regression._feature_path import FeatureProblem


@pytest.mark.parametrize("D", [6, 60])
def test_a_coefficient_is_compared_with_its_variance_under_the_prior(D, monkeypatch):
    rng = np.random.default_rng(0)
    n, alpha, scale = 25, 0.2, np.exp(-0.2 * np.arange(D))
    features, y = rng.normal(size=(n, D)), rng.normal(size=n)
    path = FeatureProblem(features, y[:, None], np.ones(n)).path(scale)
    centred = features - features.mean(axis=0)
    hat = np.linalg.solve((centred * scale**2) @ centred.T + alpha * np.eye(n), np.eye(n))
    size = float(path.noise_variance(alpha)[0]) / alpha
    unit = float(path._problem.units.unit[0])
    coefficients = scale**2 * (centred.T @ hat @ (y - y.mean())) / unit
    variances = size * scale**4 * np.einsum("nj,nm,mj->j", centred, hat, centred)
    squares = coefficients**2 / variances
    for bound in (0.5, 1.0, 2.0):
        monkeypatch.setattr(_outstanding, "_CHANCE", D * np.exp(-bound / 2))
        np.testing.assert_array_equal(path.standing_out(alpha), np.flatnonzero(squares > bound))


def test_a_function_of_all_coordinates_beside_functions_of_pairs_is_found():
    space, group = sa.Torus(6), sa.groups.dihedral_shifts(6)
    X, Z = space.sample(300, random_state=0), space.sample(300, random_state=1)

    def target(points):
        a = np.pi * points
        return np.exp(0.8 * np.cos(a - np.roll(a, 1, axis=1))).sum(axis=1) + 0.2 * np.cos(a.sum(axis=1))

    model = sa.InvariantKernelRidge(space, group).fit(X, target(X))
    found = model.basis_.evaluate(Z)[:, model.outstanding_]
    wave = np.cos(np.pi * Z.sum(axis=1))
    assert np.abs(found.T @ wave / len(Z)).max() == pytest.approx(0.5**0.5, abs=0.1)  # √2 cos is orthonormal
    assert np.sqrt(np.mean((model.predict(Z) - target(Z)) ** 2)) < 0.07  # without it 0.17, the size of the wave 0.14


def test_noise_names_no_function():
    space, group = sa.Torus(2), sa.groups.hyperoctahedral(2)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = space.sample(60, rng)
        y = np.exp(np.cos(np.pi * X).sum(axis=1)) + rng.normal(size=60)
        assert len(sa.InvariantKernelRidge(space, group).fit(X, y).outstanding_) == 0
