"""Functions that stand out: the statistic against a dense computation, and what naming them gives."""

from types import SimpleNamespace

import numpy as np
import pytest

import specavg as sa
from specavg.regression import _functions_that_stand_out as _outstanding
from specavg.regression._feature_path import FeaturePath, FeatureProblem
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice import ridge_fit
from specavg.regression._tried_spectra import relative_scale


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
    spent = 1 / np.arange(1, D + 1) / np.sum(1 / np.arange(1, D + 1))  # the variances decrease
    for chance in (0.5, 2.0, 8.0):
        monkeypatch.setattr(_outstanding, "_CHANCE", chance)
        named = path.standing_out(alpha)
        np.testing.assert_array_equal(named, 1 + np.flatnonzero((squares > -2 * np.log(chance * spent))[1:]))
        twice = FeatureProblem(np.repeat(features, 2, axis=0), np.repeat(y, 2)[:, None], np.ones(2 * n)).path(scale)
        np.testing.assert_array_equal(twice.standing_out(2 * alpha), named)  # a row said twice is no further evidence


def test_functions_of_the_same_variance_have_the_same_part_of_the_chance():
    spent = _outstanding.shares(np.array([1.0, 0.5, 0.5, 0.25, 0.5, 0.1]))
    np.testing.assert_allclose(spent / spent[0], [1, 1 / 4, 1 / 4, 1 / 5, 1 / 4, 1 / 6])
    assert spent.sum() == pytest.approx(1.0)


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


def test_a_function_that_another_hides_is_found_after_it():
    rng, n, D = np.random.default_rng(0), 80, 60
    levels = SimpleNamespace(eigenvalues=np.arange(D + 1.0), counts=np.arange(1.0, D + 2), dimension=1)
    spectrum = Spectrum("heat", length_scale=1.0)  # variances fall by e at every second function
    features, coefficients = rng.normal(size=(n, D)), np.exp(-0.25 * np.arange(1, D + 1)) * rng.normal(size=D)
    coefficients[[20, 40]] = 0.7, 3.0
    problem = FeatureProblem(features, (features @ coefficients + 0.1 * rng.normal(size=n))[:, None], np.ones(n))
    path = problem.path(relative_scale(spectrum, levels, D)[0])
    fit = ridge_fit(problem, levels, [spectrum], None)
    first = min(fit.trials, key=lambda trial: trial.score).alpha / np.exp(-0.5)
    assert len(path.standing_out(first)) == 1  # beside it the other one looks like noise
    np.testing.assert_array_equal(fit.outstanding, [21, 41])
    np.testing.assert_allclose(fit.coefficients[[21, 41], 0], [0.7, 3.0], atol=0.1)


def test_no_function_of_many_rows_is_asked_for_where_nothing_is_taken_for_noise(monkeypatch):
    """With the smallest penalties data are interpolated; naming functions there, in vain, took a decomposition."""
    asked = []
    monkeypatch.setattr(FeaturePath, "standing_out", lambda path, alpha: asked.append(alpha) or np.empty(0, np.intp))
    space, group = sa.Torus(3), sa.groups.sign_flips(3)
    X = space.sample(450, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1))
    assert sa.InvariantKernelRidge(space, group).fit(X, y).loo_error_ < 1e-6
    assert not asked
    sa.InvariantKernelRidge(space, group).fit(X, y + 0.01 * np.random.default_rng(0).normal(size=450))
    assert asked


def test_noise_names_no_function():
    space, group = sa.Torus(2), sa.groups.hyperoctahedral(2)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = space.sample(60, rng)
        y = np.exp(np.cos(np.pi * X).sum(axis=1)) + rng.normal(size=60)
        assert len(sa.InvariantKernelRidge(space, group).fit(X, y).outstanding_) == 0


def test_what_others_predict_of_a_function_equals_fits_without_a_row_and_without_it():
    rng = np.random.default_rng(3)
    n, D, alpha, scale = 14, 40, 0.05, np.exp(-0.1 * np.arange(40))
    features, weights = rng.normal(size=(n, D)), rng.uniform(0.5, 2.0, n)
    features[:, 9] = features[:, 2] + 0.1 * rng.normal(size=n)  # nearly an alias
    path = FeatureProblem(features, rng.normal(size=(n, 1)), weights).path(scale)
    named = np.array([2, 9, 30])
    shares = []
    for j in named:
        others = np.delete(features * scale, j, axis=1)
        left = []
        for i in range(n):
            rows = np.arange(n) != i
            w, F, t = weights[rows], others[rows], features[rows, j]
            mean, centre = w @ F / w.sum(), w @ t / w.sum()
            A = (F - mean).T @ (w[:, None] * (F - mean)) + alpha * np.eye(D - 1)
            coefficients = np.linalg.solve(A, (F - mean).T @ (w * (t - centre)))
            left.append(features[i, j] - centre - (others[i] - mean) @ coefficients)
        t = features[:, j] - weights @ features[:, j] / weights.sum()
        shares.append(weights @ np.square(left) / (weights @ t**2))
    values = path._features.centred_features(named)
    centred = (features - weights @ features / weights.sum())[:, named] * weights[:, None] ** 0.5
    np.testing.assert_allclose(np.sort(values, axis=0), np.sort(centred, axis=0))  # rows stand in another order
    assert max(shares[:2]) < 0.5 < shares[2]
    for bound in (0.99, 1.01):
        for k, share in enumerate(shares):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_outstanding, "_OF_ITS_OWN", bound * share)
                own = _outstanding.of_its_own(path.left_out, values, scale[named] ** 2, alpha)
            assert own[k] == (bound < 1)


@pytest.mark.parametrize("step", [5, 10, 15])
@pytest.mark.parametrize("group", [None, sa.groups.sign_flips(1)], ids=["no group", "mirror"])
def test_a_wave_on_a_regular_grid_is_not_taken_for_its_aliases(step, group):
    space = sa.Torus(1, period=360)
    X = np.arange(-180.0, 180.0, step)[:, None]

    def torsion(points):
        a = np.deg2rad(points[:, 0])
        return 1.5 * np.cos(a) - 0.3 * np.cos(2 * a) + 1.6 * np.cos(3 * a)

    model = sa.InvariantKernelRidge(space, group).fit(X, torsion(X))
    between = X + 0.37 * step
    np.testing.assert_allclose(model.predict(between), torsion(between), atol=1e-9)


def test_noise_on_a_regular_grid_of_two_angles_names_no_alias():
    space = sa.Torus(2, period=360)
    angles = np.arange(-180.0, 180.0, 30)
    X = np.stack(np.meshgrid(angles, angles), axis=-1).reshape(-1, 2)

    def energy(points):
        a = np.deg2rad(3 * points)
        return -1.5 * np.cos(a).sum(axis=1) + 0.4 * np.cos(a).prod(axis=1) + 0.2 * np.sin(a).prod(axis=1)

    model = sa.InvariantKernelRidge(space).fit(X, energy(X) + 0.02 * np.random.default_rng(0).normal(size=len(X)))
    Z = space.sample(500, random_state=1)
    assert np.sqrt(np.mean((model.predict(Z) - energy(Z)) ** 2)) < 0.03  # 0.2 with aliases
