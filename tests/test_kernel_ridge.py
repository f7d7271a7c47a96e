"""InvariantKernelRidge: equal to the group-averaged kernel, closed-form leave-one-out, and accurate."""

from fractions import Fraction

import numpy as np
import pytest

import specavg as sa
from specavg import datasets, groups, isometries
from specavg.estimators import Moments, Spectrum
from specavg.estimators._number_of_functions import affordable_basis, affordable_dim
from specavg.estimators._ridge_data import RidgeData
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._tried_spectra import relative_scale

MIRROR = groups.Group([isometries.signed_permutation([0, 1, 2], [1, 1, -1])], "mirror")
CASES = {
    "torus B2": (sa.Torus(2), groups.hyperoctahedral(2), 60.0),
    "torus shifts": (
        sa.Torus(2),
        groups.Group(
            [isometries.affine([[0, 1], [1, 0]], [0, 0]), isometries.affine(np.eye(2, dtype=int), [Fraction(1, 3), 0])]
        ),
        120.0,
    ),
    "sphere Oh": (sa.Sphere(3), groups.point_group("Oh"), 110.0),
    "sphere S4": (sa.Sphere(4), groups.symmetric(4), 24.0),
    "few coordinates B3": (sa.Torus(3), groups.hyperoctahedral(3), np.log(2000.0)),
    "few coordinates shifts": (
        sa.Torus(3),
        groups.Group([isometries.shift([Fraction(1, 3), 0, 0]), isometries.permutation([1, 2, 0])]),
        np.log(2000.0),
    ),
    "few copies": (sa.Power(sa.Sphere(3), 2), groups.wreath(MIRROR, 2), np.log(150.0)),
    "few factors": (
        sa.Product(sa.Power(sa.Circle(), 3), sa.Sphere(3)),
        groups.direct_product(groups.symmetric(3), MIRROR),
        np.log(60.0),
    ),
}
SPECTRA = {
    "sobolev": {"spectrum": "sobolev", "smoothness": 2.0},
    "matern": {"spectrum": "matern", "smoothness": 2.5, "length_scale": 0.4},
    "heat": {"spectrum": "heat", "length_scale": 0.3},
    "wide heat": {"spectrum": "heat", "length_scale": 1.5},
}


def target(X):
    return np.exp(np.cos(2 * X).sum(axis=1)) + X[:, 0]


def order_of(case):
    return "few coordinates" if case.startswith("few") else "eigenvalue"


def brute_force(space, group, spectrum, max_eigenvalue, alpha, X, y, w, Z, order):
    """Kernel ridge with K averaged over the listed group, an unpenalised constant, and noise σ²/w."""
    full = sa.invariant_basis(space, max_eigenvalue=max_eigenvalue, order=order)
    q = Spectrum(spectrum["spectrum"], spectrum.get("smoothness"), spectrum.get("length_scale")).values(full)[1:]
    elements = list(group.elements())

    def kernel(A, B):
        moved = [full.evaluate(space.act(g, A))[:, 1:] for g in elements]
        return (sum(moved) / len(moved) * q) @ full.evaluate(B)[:, 1:].T

    n = len(X)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = kernel(X, X) + alpha * np.diag(1 / w)
    system[n, :n] = system[:n, n] = 1
    solution = np.linalg.solve(system, np.concatenate([y, np.zeros((1, *y.shape[1:]))]))
    return kernel(Z, X) @ solution[:n] + solution[n]


@pytest.mark.filterwarnings("ignore:y has 2 columns")  # two unrelated targets are no vector
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("spectrum", SPECTRA.values(), ids=SPECTRA)
def test_equals_kernel_ridge_summed_over_the_group(case, spectrum):
    space, group, top = CASES[case]
    rng = np.random.default_rng(0)
    X, Z = space.sample(40, random_state=rng), space.sample(50, random_state=rng)
    y = np.stack([target(X), rng.normal(size=40)], axis=1)
    w = rng.uniform(0.5, 2, 40)
    order = order_of(case)
    model = sa.InvariantKernelRidge(space, group, alpha=1e-3, max_eigenvalue=top, order=order, **spectrum).fit(X, y, w)
    expected = brute_force(space, group, spectrum, top, 1e-3, X, y, w, Z, order)
    np.testing.assert_allclose(model.predict(Z), expected, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("spectrum", SPECTRA.values(), ids=SPECTRA)
def test_equals_the_group_averaged_baseline(case, spectrum):
    space, group, top = CASES[case]
    X, Z = space.sample(60, random_state=0), space.sample(50, random_state=1)
    given = {"max_eigenvalue": top, "order": order_of(case), **spectrum}
    kernel = sa.baselines.SpectralKernel(space, constant=False, **given)
    baseline = sa.baselines.GroupAveragedKernelRidge(kernel, group, 1e-2, fit_intercept=True).fit(X, target(X))
    model = sa.InvariantKernelRidge(space, group, alpha=1e-2, **given).fit(X, target(X))
    np.testing.assert_allclose(model.predict(Z), baseline.predict(Z), atol=1e-8)


@pytest.mark.parametrize("n, D", [(20, 50), (50, 20)])
def test_leave_one_out_equals_refitting(n, D):
    rng = np.random.default_rng(1)
    F, Y, w = rng.normal(size=(n, D)), rng.normal(size=(n, 2)), rng.uniform(0.5, 2, n)
    scale = np.geomspace(1, 1e-2, D)
    alphas = np.array([1e-6, 1e-2, 1.0])
    scores = FeatureProblem(F, Y, w).path(scale).scores(alphas)
    unit = w @ (Y - w @ Y / w.sum()) ** 2 / w.sum()
    for alpha, got in zip(alphas, scores.error, strict=True):
        total = 0.0
        for i in range(n):
            keep = np.arange(n) != i
            f, yy, ww = F[keep] * scale, Y[keep], w[keep]
            mf, my = ww @ f / ww.sum(), ww @ yy / ww.sum()
            A = (f - mf).T * ww
            c = np.linalg.solve(A @ (f - mf) + alpha * np.eye(D), A @ (yy - my))
            total += w[i] * np.mean((Y[i] - my - (F[i] * scale - mf) @ c) ** 2 / unit)
        assert got == pytest.approx(total / w.sum(), rel=1e-6)


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_leave_one_out_error_is_that_of_rows_whose_orbit_is_left_out(outputs):
    rng = np.random.default_rng(3)
    space, group = sa.Torus(2), groups.sign_flips(2)
    places = space.sample(12, random_state=0)
    X = np.concatenate([places[:, :], [1, -1] * places[:7], [-1, -1] * places[:4], places[:3]])
    y = np.cos(np.pi * X).sum(axis=1, keepdims=True) + rng.normal(size=(len(X), outputs)) * [0.7, 0.2][:outputs]
    fixed = {"max_invariant_dim": 20, "spectrum": "matern", "smoothness": 3.0, "length_scale": 0.5, "alpha": 0.1}

    def fitted(rows):
        return sa.InvariantKernelRidge(space, group, **fixed).fit(X[rows], y[rows])

    orbit = np.abs(X)
    refits = [y[i] - fitted((orbit != orbit[i]).any(axis=1)).predict(X[i : i + 1])[0] for i in range(len(X))]
    expected = np.sqrt(np.mean(np.mean(np.square(refits), axis=0) / y.var(axis=0)))
    assert fitted(slice(None)).loo_error_ == pytest.approx(expected, rel=1e-10)


def test_leave_one_out_density_is_that_of_the_gaussian_process():
    rng = np.random.default_rng(2)
    F, Y = rng.normal(size=(15, 40)), rng.normal(size=(15, 1))
    alpha = 0.3
    scores = FeatureProblem(F, Y, np.ones(15)).path(np.ones(40)).scores(np.array([alpha]))
    # Universal kriging: predict each point from the others, with mean and variance.
    K = F @ F.T + alpha * np.eye(15)
    errors, variances = [], []
    for i in range(15):
        keep = np.arange(15) != i
        inverse = np.linalg.inv(K[np.ix_(keep, keep)])
        k, one = K[keep, i], np.ones(14)
        mean = one @ inverse @ Y[keep, 0] / (one @ inverse @ one)
        errors.append(Y[i, 0] - mean - k @ inverse @ (Y[keep, 0] - mean))
        variances.append(K[i, i] - k @ inverse @ k + (1 - one @ inverse @ k) ** 2 / (one @ inverse @ one))
    e2, v = np.array(errors) ** 2, np.array(variances)
    unit = Y.var()
    expected = 0.5 * (np.log(np.mean(e2 / v) / unit) + np.mean(np.log(v)))
    assert scores.density[0] == pytest.approx(expected, rel=1e-9)


def test_rows_on_one_orbit_are_left_out_together():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(40, random_state=0)
    noise = np.random.default_rng(0).normal(size=40)
    twins = np.concatenate([X, -X[:, [1, 0]]])
    once = sa.InvariantKernelRidge(space, group).fit(X, noise)
    twice = sa.InvariantKernelRidge(space, group).fit(twins, np.tile(noise, 2))
    # Leaving out one of two twins would make pure noise look perfectly predictable.
    assert twice.loo_error_ > 0.9
    assert twice.loo_error_ == pytest.approx(once.loo_error_, rel=1e-9)


def test_moments_give_the_same_model_as_features():
    space, group = sa.Torus(3), groups.hyperoctahedral(3)
    rng = np.random.default_rng(3)
    X, w = space.sample(800, random_state=rng), rng.uniform(0, 2, 800)
    Y = np.stack([target(X) + rng.normal(size=800), X[:, 0] ** 2], axis=1)
    basis = sa.invariant_basis(space, group, max_invariant_dim=60)
    scale = Spectrum("sobolev", smoothness=4.0).values(basis)[1:] ** 0.5
    features = FeatureProblem(basis.evaluate(X)[:, 1:], Y, w)
    moments = MomentProblem(Moments.of(basis, X, Y, w))
    for alpha in (1e-6, 1e-2, 1.0):
        a, b = features.path(scale), moments.path(scale)
        np.testing.assert_allclose(a.coefficients(alpha), b.coefficients(alpha), atol=1e-9)
        np.testing.assert_allclose(a.noise_variance(alpha), b.noise_variance(alpha), rtol=1e-9)
    # With equal weights generalised cross-validation is close to leave-one-out.
    a = FeatureProblem(basis.evaluate(X)[:, 1:], Y, np.ones(800)).path(scale)
    b = MomentProblem(Moments.of(basis, X, Y)).path(scale)
    alphas = np.array([1e-6, 1e-2, 1.0])
    np.testing.assert_allclose(a.scores(alphas).error, b.scores(alphas).error, rtol=0.02)


def test_moments_are_used_where_features_would_not_fit():
    space, group = sa.Sphere(3), groups.symmetric(3)
    X = space.sample(3000, random_state=0)
    y = target(np.sort(X, axis=1))
    options = {"spectrum": "heat", "length_scale": 0.2, "alpha": 1e-3, "max_invariant_dim": 100}
    held = sa.InvariantKernelRidge(space, group, **options).fit(X, y)
    with sa.config(memory_limit="12 MB"):
        streamed = sa.InvariantKernelRidge(space, group, **options).fit(X, y)
    assert (held.solver_, streamed.solver_) == ("features", "moments")
    np.testing.assert_allclose(streamed.coef_, held.coef_, atol=1e-9)
    Z = space.sample(50, random_state=1)
    for a, b in zip(held.predict(Z, return_std=True), streamed.predict(Z, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def analytic(X):
    return np.exp(np.cos(np.pi * X).sum(axis=1))


def test_noise_free_analytic_targets_are_learned_to_nine_digits():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, Z = space.sample(100, random_state=0), space.sample(2000, random_state=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, analytic(X))
    error = np.sqrt(np.mean((model.predict(Z) - analytic(Z)) ** 2))
    assert error < 1e-9 * analytic(Z).std()


def test_young_modulus_of_copper_from_thirty_directions():
    # 1/E is a polynomial of degree 4 in the direction; constants in GPa. Group-averaged kernel ridge with a tuned
    # Gaussian kernel has an error of 0.0046 on such a task, where the standard deviation is 32.
    c11, c12, c44 = 168.4, 121.4, 75.4
    s = np.linalg.inv(np.array([[c11, c12, c12], [c12, c11, c12], [c12, c12, c11]]))

    def modulus(n):
        products = (n[:, 0] * n[:, 1]) ** 2 + (n[:, 1] * n[:, 2]) ** 2 + (n[:, 0] * n[:, 2]) ** 2
        return 1 / (s[0, 0] - 2 * (s[0, 0] - s[0, 1] - 0.5 / c44) * products)

    space, group = sa.Sphere(3), groups.point_group("Oh")
    X, Z = space.sample(30, random_state=0), space.sample(1000, random_state=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, modulus(X))
    assert np.sqrt(np.mean((model.predict(Z) - modulus(Z)) ** 2)) < 0.0046


def test_noise_is_estimated_and_smoothed_away():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, Z = space.sample(300, random_state=0), space.sample(2000, random_state=1)
    y = analytic(X) + 0.5 * np.random.default_rng(0).normal(size=300)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    mean, std = model.predict(Z, return_std=True)
    assert model.noise_variance_ == pytest.approx(0.25, rel=0.25)
    assert np.sqrt(np.mean((mean - analytic(Z)) ** 2)) < 0.2
    assert 0.85 < np.mean(np.abs(mean - analytic(Z)) < 1.96 * std) <= 1


def test_standard_deviation_is_that_of_universal_kriging():
    space, group, top = CASES["sphere Oh"]
    X, Z = space.sample(25, random_state=0), space.sample(30, random_state=1)
    y = target(X)
    spectrum = SPECTRA["heat"]
    model = sa.InvariantKernelRidge(space, group, alpha=1e-4, max_eigenvalue=top, **spectrum).fit(X, y)
    F, T = model.basis_.evaluate(X)[:, 1:], model.basis_.evaluate(Z)[:, 1:]
    q = model.spectrum_.values(model.basis_)[1:]
    K = (F * q) @ F.T + 1e-4 * np.eye(25)
    inverse, one, k = np.linalg.inv(K), np.ones(25), (T * q) @ F.T
    mean = one @ inverse @ y / (one @ inverse @ one)
    scale = (y - mean) @ inverse @ (y - mean) / 24
    variance = np.sum(T**2 * q, axis=1) - np.sum(k @ inverse * k, axis=1)
    variance += (1 - k @ inverse @ one) ** 2 / (one @ inverse @ one)
    np.testing.assert_allclose(model.noise_variance_, scale * 1e-4, rtol=1e-8)
    np.testing.assert_allclose(model.predict(Z, return_std=True)[1] ** 2, scale * variance, rtol=1e-6)


def test_a_weight_is_a_repetition_and_zero_is_absence():
    space, group = sa.Torus(2), groups.sign_flips(2)
    rng = np.random.default_rng(0)
    X, w = space.sample(50, random_state=rng), rng.integers(0, 4, 50)
    y = analytic(X) + 0.1 * rng.normal(size=50)
    weighted = sa.InvariantKernelRidge(space, group).fit(X, y, w)
    repeated = sa.InvariantKernelRidge(space, group).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.spectrum_ == repeated.spectrum_
    assert weighted.alpha_ == pytest.approx(repeated.alpha_, rel=1e-9)
    Z = space.sample(100, random_state=1)
    np.testing.assert_allclose(weighted.predict(Z), repeated.predict(Z), rtol=1e-7, atol=1e-9)
    absent = sa.InvariantKernelRidge(space, group).fit(X[w > 0], y[w > 0], w[w > 0])
    for a, b in zip(weighted.predict(Z, return_std=True), absent.predict(Z, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_predictions_are_invariant_to_the_last_bit_for_an_astronomical_group():
    d = 40
    space, group = sa.Torus(d), groups.hyperoctahedral(d)  # 10^59 elements
    rng = np.random.default_rng(0)
    X = space.sample(80, random_state=rng)
    model = sa.InvariantKernelRidge(space, group).fit(X, np.cos(np.pi * X).sum(axis=1) ** 2)
    moved = X[:, rng.permutation(d)] * rng.choice([-1, 1], d)
    for a, b in zip(model.predict(X, return_std=True), model.predict(moved, return_std=True), strict=True):
        assert (a == b).all()


def noisy_outputs(n=50):
    """Five outputs: two of one function, one of another, noise, and a constant."""
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    rng = np.random.default_rng(0)
    X = space.sample(n, random_state=rng)
    f, g = analytic(X), X[:, 0] ** 2 * X[:, 1] ** 2
    Y = np.stack([f, 1e6 * f, g, 0 * f, 0 * f + 3.0], axis=1)
    Y[:, :4] += rng.normal(size=(n, 4)) * [0.3, 3e5, 0.1, 1.0]
    return space, group, X, Y


def test_a_given_penalty_fits_outputs_one_by_one():
    space, group, X, Y = noisy_outputs()
    together = sa.InvariantKernelRidge(space, group, alpha=1e-3).fit(X, Y)
    s = together.spectrum_
    alone = sa.InvariantKernelRidge(
        space, group, spectrum=s.name, smoothness=s.smoothness, length_scale=s.length_scale, alpha=1e-3
    )
    for j in range(5):
        mean, std = alone.fit(X, Y[:, j]).predict(X, return_std=True)
        np.testing.assert_allclose(together.predict(X)[:, j], mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(together.predict(X, return_std=True)[1][:, j], std, rtol=1e-9, atol=1e-12)
    assert together.noise_variance_.shape == (5,)
    assert not hasattr(together, "directions_")
    with pytest.raises(ValueError, match="one number for all outputs"):
        sa.InvariantKernelRidge(space, group, alpha=[1.0, 2.0]).fit(X, Y)


def test_several_outputs_are_fitted_direction_by_direction():
    space, group, X, Y = noisy_outputs()
    w = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    model = sa.InvariantKernelRidge(space, group).fit(X, Y, w)
    mean = w @ Y / w.sum()
    forth = (
        np.linalg.pinv(model.directions_ / Y.std(axis=0).clip(1e-9), rcond=1e-13) / Y.std(axis=0).clip(1e-9)[:, None]
    )
    s, Z = model.spectrum_, space.sample(30, random_state=2)
    total, variance, noise = np.tile(mean, (30, 1)), np.zeros((30, 5)), np.zeros(5)
    for row, alpha, column in zip(model.directions_, model.alpha_, forth.T, strict=True):
        one = sa.InvariantKernelRidge(
            space, group, spectrum=s.name, smoothness=s.smoothness, length_scale=s.length_scale, alpha=float(alpha)
        ).fit(X, (Y - mean) @ column, w)
        fitted, std = one.predict(Z, return_std=True)
        features, (scale, unit) = one.basis_.evaluate(X)[:, 1:], relative_scale(s, one.basis_, one.basis_.dim - 1)
        path = FeatureProblem(features, ((Y - mean) @ column)[:, None], w / w.mean()).path(scale)
        known = path.calibration(np.array([alpha / w.mean() / unit]))  # of this direction as a single output
        total += np.outer(fitted, row)
        variance += np.outer(known.factor * std**2 + known.share * one.noise_variance_ / w.mean(), row**2)
        noise += one.noise_variance_ * row**2
    predicted, std = model.predict(Z, return_std=True)
    size = np.abs(Y).max(axis=0)
    np.testing.assert_allclose(predicted / size, total / size, atol=1e-9)
    ratio = np.divide(model.noise_variance_, noise, out=np.ones(5), where=noise > 0)  # noise is common to directions
    np.testing.assert_allclose(std / size, np.sqrt(variance * ratio) / size, atol=1e-9)
    assert (predicted[:, 4] == 3.0).all()
    assert (std[:, 4] == 0.0).all()
    assert len(set(model.alpha_)) > 1


def test_the_error_of_several_outputs_is_that_of_leaving_out_each_row():
    space, group, X, Y = noisy_outputs()
    Y = Y[:, :4]
    model = sa.InvariantKernelRidge(space, group).fit(X, Y)
    forth = np.linalg.inv(model.directions_)
    F = model.basis_.evaluate(X)[:, 1:] * np.sqrt(model.spectrum_.values(model.basis_)[1:])
    left_out = np.empty_like(Y)
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        f, z = F[keep] - F[keep].mean(axis=0), (Y[keep] - Y[keep].mean(axis=0)) @ forth
        for j, alpha in enumerate(model.alpha_):
            dual = np.linalg.solve(f @ f.T + alpha * np.eye(len(f)), z[:, j])
            left_out[i, j] = (F[i] - F[keep].mean(axis=0)) @ f.T @ dual
        left_out[i] = Y[i] - Y[keep].mean(axis=0) - left_out[i] @ model.directions_
    assert model.loo_error_ == pytest.approx(np.sqrt(np.mean(left_out**2 / Y.var(axis=0))), rel=1e-7)


def test_units_and_order_of_the_outputs_do_not_matter():
    space, group, X, Y = noisy_outputs()
    units, order = np.array([1e-5, 3.0, 1e4, 7.0, 1.0]), [3, 1, 4, 0, 2]
    plain = sa.InvariantKernelRidge(space, group).fit(X, Y)
    other = sa.InvariantKernelRidge(space, group).fit(X, (units * Y)[:, order])
    for a, b in zip(plain.predict(X, return_std=True), other.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(b / units[order], a[:, order], rtol=1e-7, atol=1e-9)


def test_outputs_may_all_be_constant():
    space, group, X, _ = noisy_outputs()
    model = sa.InvariantKernelRidge(space, group).fit(X, np.tile([1.0, -2.0], (len(X), 1)))
    mean, std = model.predict(X[:4], return_std=True)
    assert (mean == [1.0, -2.0]).all()
    assert (std == 0.0).all()
    assert model.directions_.shape == (0, 2)


def test_noise_of_one_output_stays_out_of_another():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, Z = space.sample(60, random_state=0), space.sample(200, random_state=1)
    noisy = analytic(X) + 0.5 * np.random.default_rng(2).normal(size=60)
    model = sa.InvariantKernelRidge(space, group).fit(X, np.stack([analytic(X), noisy], axis=1))
    errors = np.abs(model.predict(Z) - analytic(Z)[:, None]).max(axis=0)
    assert errors[0] < 1e-6
    assert errors[1] < 1.0


@pytest.mark.parametrize("common", [1.0, -1.0, 0.0])
def test_noise_that_outputs_have_in_common_is_told_apart_from_signal(common):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = space.sample(80, random_state=rng)
        h = np.abs(X).max(axis=1)
        noise = 0.3 * rng.normal(size=(80, 2))
        if common:
            noise[:, 1] = common * noise[:, 0]
        Y = np.stack([1.5 * np.cos(np.pi * X).sum(axis=1) + h, h], axis=1) + noise
        ratios.append(sa.InvariantKernelRidge(space, group).fit(X, Y).noise_variance_ / 0.3**2)
    assert (np.abs(np.mean(ratios, axis=0) - 1) < 0.25).all()


def test_what_measured_outputs_have_in_common_is_averaged():
    data = datasets.load_diffusion_mri()  # 48 voxels
    ratios = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(data.X))
        train, test = order[:44], order[44:]
        chosen = sa.InvariantKernelRidge(data.space, data.group).fit(data.X[train], data.y[train])
        common = min(chosen.trials_, key=lambda trial: trial.score)
        s = common.spectrum
        alike = sa.InvariantKernelRidge(
            data.space,
            data.group,
            spectrum=s.name,
            smoothness=s.smoothness,
            length_scale=s.length_scale,
            alpha=common.alpha,
        ).fit(data.X[train], data.y[train])
        errors = [np.sum((m.predict(data.X[test]) - data.y[test]) ** 2) for m in (chosen, alike)]
        ratios.append(errors[0] / errors[1])
    assert max(ratios) < 1.0
    assert np.mean(ratios) < 0.95


def test_the_default_cutoff_counts_invariant_functions():
    space, group = sa.Torus(10), groups.sign_flips(10)
    X = space.sample(200, random_state=0)
    model = sa.InvariantKernelRidge(space, group, spectrum="sobolev", smoothness=10, alpha=1.0).fit(X, X[:, 0] ** 2)
    assert model.cutoff_.kind == "max_invariant_dim"
    assert 396 <= model.basis_.dim <= model.cutoff_.value == 768
    assert affordable_dim(190) == affordable_dim(200)  # folds share a basis
    assert affordable_dim(10**6) <= 1000


def test_more_rows_are_not_given_fewer_and_fewer_functions():
    dims = [affordable_dim(n) for n in (10_000, 30_000, 100_000, 300_000, 900_000)]
    assert min(dims) >= 768


@pytest.mark.filterwarnings("ignore:the leave-one-out error is")  # the target has another symmetry
def test_the_first_invariants_are_found_however_late_or_many():
    many = affordable_basis(lambda cutoff: sa.invariant_basis(sa.Torus(200), None, **{cutoff.kind: cutoff.value}), 96)
    assert many.dim == 401
    late = sa.InvariantKernelRidge(sa.Torus(1), groups.cyclic(50)).fit(np.linspace(-1, 1, 30)[:, None], np.arange(30))
    assert late.basis_.eigenvalues[1] == pytest.approx((50 * np.pi) ** 2)


@pytest.mark.parametrize("name", ["sobolev", "matern", "heat"])
def test_parameters_given_are_kept(name):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(40, random_state=0)
    model = sa.InvariantKernelRidge(space, group, spectrum=name, max_invariant_dim=50).fit(X, analytic(X))
    assert model.spectrum_.name == name
    assert model.basis_.cutoff.value == 50
    chosen = next(t for t in model.trials_ if (t.spectrum, t.alpha) == (model.spectrum_, model.alpha_))
    assert chosen.error == pytest.approx(model.loo_error_, rel=1e-6)
    assert chosen.score <= min(t.score for t in model.trials_) + 1e-4
    fixed = sa.InvariantKernelRidge(space, group, alpha=0.5).fit(X, analytic(X))
    assert fixed.alpha_ == pytest.approx(0.5)
    long = sa.InvariantKernelRidge(space, group, length_scale=0.7).fit(X, analytic(X))
    assert {t.spectrum.length_scale for t in long.trials_} == {0.7}
    rough = sa.InvariantKernelRidge(space, group, smoothness=1.7).fit(X, analytic(X))
    assert {t.spectrum.smoothness for t in rough.trials_} == {1.7}


def test_many_rows_are_searched_on_few():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, Z = space.sample(1500, random_state=0), space.sample(500, random_state=1)
    model = sa.InvariantKernelRidge(space, group, max_invariant_dim=200).fit(X, analytic(X))
    assert np.abs(model.predict(Z) - analytic(Z)).max() < 1e-8


def test_one_orbit_or_no_function_is_the_mean_with_a_warning():
    space, group = sa.Torus(2), groups.sign_flips(2)
    X = np.array([[0.3, 0.4], [-0.3, 0.4]])
    with pytest.warns(UserWarning, match="one orbit"):
        model = sa.InvariantKernelRidge(space, group).fit(X, [1.0, 3.0])
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 2.0)
    np.testing.assert_array_equal(std, [np.inf, np.inf])  # nothing tells how much the function varies
    assert model.noise_variance_ == pytest.approx(2.0)
    with pytest.warns(UserWarning, match="only the constant"):
        model = sa.InvariantKernelRidge(space, group, max_eigenvalue=1).fit(space.sample(5, random_state=0), range(5))
    assert model.noise_variance_ == pytest.approx(2.5)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], (2.5 / 5) ** 0.5)  # that of the mean
    np.testing.assert_array_equal(model.gradient(X, return_std=True)[1], np.zeros((2, 2)))
    with pytest.warns(UserWarning, match="one orbit"):
        model = sa.InvariantKernelRidge(space, group).fit(X[:1], [1.0])
    assert np.isnan(model.noise_variance_)
    assert np.isinf(model.predict(X, return_std=True)[1]).all()


def test_a_mean_of_vectors_has_the_error_of_a_mean():
    space, group = sa.Sphere(3), groups.point_group("C3v")
    rng = np.random.default_rng(0)
    X, Y = space.sample(400, random_state=1), rng.standard_normal((400, 3))
    with pytest.warns(UserWarning, match="only the constant"):
        model = sa.EquivariantKernelRidge(space, group, "vector", max_eigenvalue=1).fit(X, Y)
    _, cov = model.predict(X[:2], return_cov=True)
    np.testing.assert_allclose(cov, np.tile(np.diag([0, 0, model.noise_variance_ / 400]), (2, 1, 1)), atol=1e-12)
    assert model.noise_variance_ == pytest.approx(1, rel=0.1)
    with pytest.warns(UserWarning, match="one orbit"):
        model = sa.EquivariantKernelRidge(space, group, "vector").fit(np.repeat(X[:1], 5, 0), Y[:5])
    assert np.isinf(model.predict(X[:2], return_std=True)[1]).all()


def test_a_constant_target_is_predicted_exactly():
    X = sa.Torus(2).sample(30, random_state=0)
    model = sa.InvariantKernelRidge().fit(X, np.full(30, 0.1))
    np.testing.assert_allclose(model.predict(X), 0.1, rtol=1e-14)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"spectrum": "gauss"}, "spectrum must be"),
        ({"smoothness": -1}, "smoothness must be positive"),
        ({"spectrum": "sobolev", "length_scale": 1}, "no length scale"),
        ({"spectrum": "heat", "smoothness": 2}, "no smoothness"),
        ({"alpha": 0.0}, "alpha must be positive"),
        ({"alpha": "best"}, "alpha must be"),
        ({"max_dim": 10, "max_eigenvalue": 3}, "exactly one cutoff"),
    ],
)
def test_impossible_parameters_are_refused(options, message):
    X = sa.Torus(2).sample(10, random_state=0)
    with pytest.raises(ValueError, match=message):
        sa.InvariantKernelRidge(**options).fit(X, X[:, 0])


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
def test_targets_that_vary_by_rounding_are_constant(size):
    X = sa.Sphere(3).sample(100, random_state=0)
    y = size * (X**2).sum(axis=1)
    assert np.ptp(y) > 0
    model = sa.InvariantKernelRidge(sa.Sphere(3), sa.groups.point_group("Oh")).fit(X, y)
    np.testing.assert_allclose(model.predict(X), size, rtol=1e-13)
    assert len({trial.spectrum for trial in model.trials_}) <= 1


@pytest.mark.parametrize(
    "values, constant",
    [
        ([3.0, 3.0, 3.0], True),
        ([0.0, 0.0], True),
        ([1.0, 1.0 + 4e-16, 1.0 - 4e-16], True),  # a sum of squares on a sphere
        ([1.0, 1.0 + 1e-12], False),
        ([1e-300, 2e-300], False),  # small, and not constant
        ([-1e308, 1e308], False),  # their difference is no number
        ([[1.0, 5.0], [1.0, 6.0]], False),  # one output of two
        ([[1.0, 5.0], [1.0, 5.0]], True),
    ],
)
def test_targets_are_constant_if_they_vary_by_rounding_only(values, constant):
    y = np.array(values)
    assert RidgeData.of(np.zeros((len(y), 2)), y, np.ones(len(y))).is_constant is constant


def test_trials_print_as_a_short_table_also_after_loading(tmp_path):
    X = sa.Circle().sample(60, random_state=0)
    y = np.cos(3 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=60)
    model = sa.InvariantKernelRidge(sa.Circle(), groups.dihedral(3)).fit(X, y)
    model.save(tmp_path / "m.specavg")
    for trials in (model.trials_, sa.load(tmp_path / "m.specavg").trials_):
        lines = repr(trials).splitlines()
        assert len(trials) > 30
        assert len(lines) == 26
        assert lines[0].split() == ["spectrum", "alpha", "error", "density", "evidence"]
        assert trials == tuple(trials)


@pytest.mark.parametrize(
    "given, complaint", [({"alpha": None}, "alpha must be"), ({"max_dim": "10"}, "max_dim must be")]
)
def test_what_is_no_number_is_refused(given, complaint):
    X = sa.Sphere(3).sample(30, random_state=0)
    with pytest.raises(ValueError, match=rf"{complaint} a .*number.*; got (None|'10')"):
        sa.InvariantKernelRidge(sa.Sphere(3), groups.point_group("Oh"), **given).fit(X, X[:, 0] ** 2)


def test_what_is_set_after_a_fit_belongs_to_the_next_one():
    X = sa.Sphere(3).sample(60, random_state=0)
    model = sa.InvariantKernelRidge(sa.Sphere(3), groups.point_group("D4h"), max_dim=25).fit(X, X[:, 2] ** 2)
    before = model.predict(X), model.gradient(X)
    model.set_params(space=sa.Sphere(4), group=groups.symmetric(4))
    np.testing.assert_array_equal(model.predict(X), before[0])
    np.testing.assert_array_equal(model.gradient(X), before[1])
    with pytest.raises(ValueError, match=r"3 columns|3 features"):
        model.fit(X, X[:, 2] ** 2)


@pytest.mark.parametrize("space", [sa.Torus(6), sa.Torus(12)], ids=repr)
def test_a_group_is_doubted_in_the_order_that_sees_it_fail(space):
    """A second wave of one of many columns has an error of 1 in the order of eigenvalues, group or no group."""
    rng = np.random.default_rng(0)
    X = space.sample(200, random_state=rng)
    y = np.cos(2 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=200)
    with pytest.warns(UserWarning, match=r"0\.1\d without the group: the data do not seem to have the symmetry"):
        sa.InvariantKernelRidge(space, sa.groups.symmetric(space.dim)).fit(X, y)


@pytest.mark.parametrize("name", ["smoothness", "length_scale"])
@pytest.mark.parametrize("value", ["auto", "1", [1.0, 2.0], 0.0, -1.0, np.nan])
def test_what_is_no_smoothness_or_length_is_refused_by_name(name, value):
    X = sa.Circle().sample(20, random_state=0)
    with pytest.raises(ValueError, match=f"{name} must be positive and finite, or None to choose it; got"):
        sa.InvariantKernelRidge(sa.Circle(), **{name: value}).fit(X, X[:, 0])
