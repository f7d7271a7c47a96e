"""Ridge regression by conjugate gradients on a Toeplitz Gram matrix, against the decomposition of the matrix."""

from __future__ import annotations

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.regression._conjugate_gradients import conjugate_gradients
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._operator_path import CentredGram, OperatorPosterior, OperatorProblem

pytest.importorskip("finufft")

CASES = {
    "square, uniform": (sa.Torus(2), groups.hyperoctahedral(2), 150, 0.0),
    "square, uneven": (sa.Torus(2), groups.hyperoctahedral(2), 150, 0.3),
    "circle": (sa.Circle(), groups.trivial(1), 61, 0.0),
    "cube": (sa.Torus(3), groups.cyclic_shifts(3), 120, 0.0),
}
SPECTRA = {
    "heat": lambda values: np.exp(-values / values.max()),
    "sobolev": lambda values: (1.0 + values) ** -1.0,
}


def problems(name):
    space, group, size, uneven = CASES[name]
    basis = sa.invariant_basis(space, group, max_invariant_dim=size)
    X = space.sample(3000, random_state=0)
    X = X * (np.abs(X) / np.abs(X).max()) ** uneven
    rng = np.random.default_rng(1)
    w = rng.random(len(X)) + 0.5
    smooth = np.cos(2 * np.pi * X / space.period).sum(axis=1)
    Y = np.stack([np.exp(smooth) + 0.1 * rng.normal(size=len(X)), smooth + 0.5 * rng.normal(size=len(X))], axis=1)
    toeplitz = OperatorProblem.of(basis, X, Y, w)
    return basis, toeplitz, MomentProblem(Moments.of(basis, X, Y, w))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_coefficients_equal_those_of_the_decomposition(name, spectrum):
    basis, toeplitz, moments = problems(name)
    scale = SPECTRA[spectrum](basis.eigenvalues[1:])
    path, exact = toeplitz.path(scale), moments.path(scale)
    for relative in (1.0, 1e-3, 1e-6, 1e-9):
        alpha = relative * exact.top
        found, wanted = path.coefficients(alpha), exact.coefficients(alpha)
        assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
        assert 0 < toeplitz.iterations < 150
        assert path.noise_variance(alpha) == pytest.approx(exact.noise_variance(alpha), rel=1e-9)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_stochastic_cross_validation_is_close_to_the_exact_one(name, spectrum):
    basis, toeplitz, moments = problems(name)
    scale = SPECTRA[spectrum](basis.eigenvalues[1:])
    path, exact = toeplitz.path(scale), moments.path(scale)
    alphas = exact.top * 10.0 ** np.arange(1.5, -10.0, -0.5)  # the grid of the automatic choice
    found, wanted = path.scores(alphas).error, exact.scores(alphas).error
    assert found == pytest.approx(wanted, rel=2e-3)
    assert wanted[found.argmin()] <= (1 + 1e-4) * wanted.min()
    assert path.scores(alphas[[7]]).error == pytest.approx(found[[7]], rel=5e-3)


def test_random_signs_are_exact_where_functions_do_not_mix():
    # On a full grid of points the Gram matrix is diagonal, and zᵀA⁻¹z is the trace for any signs z.
    space = sa.Torus(2)
    basis = sa.invariant_basis(space, groups.sign_flips(2), max_invariant_dim=30)
    X, _ = space.quadrature(4 * float(basis.eigenvalues.max()))
    Y, w = np.cos(np.pi * X[:, :1]) + X[:, :1] ** 2, np.ones(len(X))
    path = OperatorProblem.of(basis, X, Y, w).path(np.ones(basis.dim - 1))
    exact = MomentProblem(Moments.of(basis, X, Y, w)).path(np.ones(basis.dim - 1))
    alphas = np.array([1.0, 100.0])
    assert path.scores(alphas).error == pytest.approx(exact.scores(alphas).error, rel=1e-10)


def test_the_variance_equals_that_of_the_matrix():
    basis, toeplitz, moments = problems("square, uneven")
    scale = SPECTRA["sobolev"](basis.eigenvalues[1:])
    features = basis.evaluate(basis.space.sample(7, random_state=5))[:, 1:]
    alpha = 1e-3 * moments.path(scale).top
    A = moments.gram * scale * scale[:, None] + alpha * np.eye(len(scale))
    Z = (features - moments.mean_features) * scale
    wanted = 1 / moments.weight + np.einsum("ni,in->n", Z, np.linalg.solve(A, Z.T))
    density = toeplitz.operator.density
    noise = np.array([1.0, 4.0])
    posterior = OperatorPosterior(toeplitz.weight, toeplitz.mean_features, scale, alpha, noise, density, basis)
    assert posterior.variance(features) == pytest.approx(np.outer(wanted, noise), rel=1e-9)


def test_many_points_share_a_factor_and_few_need_none(monkeypatch):
    basis, toeplitz, moments = problems("square, uneven")
    scale = SPECTRA["sobolev"](basis.eigenvalues[1:])
    alpha = 1e-3 * moments.path(scale).top
    A = moments.gram * scale * scale[:, None] + alpha * np.eye(len(scale))
    features = basis.evaluate(basis.space.sample(4 * basis.dim, random_state=5))[:, 1:]
    Z = (features - moments.mean_features) * scale
    wanted = 1 / moments.weight + np.einsum("ni,in->n", Z, np.linalg.solve(A, Z.T))
    posterior, fresh = (toeplitz.path(scale).posterior(alpha) for _ in range(2))
    noise = toeplitz.path(scale).noise_variance(alpha)
    found = posterior.variance(features)
    assert found == pytest.approx(np.outer(wanted, noise), rel=1e-9)
    monkeypatch.setattr(CentredGram, "product", lambda *_: pytest.fail("G was multiplied again"))
    assert posterior.variance(features[-3:]) == pytest.approx(found[-3:], rel=1e-12)
    assert "_solver" not in posterior.__getstate__()
    with pytest.raises(pytest.fail.Exception, match="multiplied again"):
        fresh.variance(features[:1])


@pytest.mark.parametrize("name", CASES)
def test_error_bars_are_calibrated_as_those_of_the_decomposition(name):
    basis, toeplitz, moments = problems(name)
    scale = SPECTRA["sobolev"](basis.eigenvalues[1:])
    path, exact = toeplitz.path(scale), moments.path(scale)
    alpha = np.array([1e-3 * exact.top])
    assert path.freedom(alpha[0]) == pytest.approx(exact.freedom(alpha[0]), rel=0.02)
    found, wanted = path.calibration(alpha), exact.calibration(alpha)
    assert found.factor == pytest.approx(wanted.factor, rel=2e-3)
    assert found.share == pytest.approx(wanted.share, rel=0.02)


def test_steps_hardly_depend_on_the_number_of_functions():
    steps = []
    for size in (50, 200, 800):
        basis = sa.invariant_basis(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=size)
        X = basis.space.sample(40_000, random_state=0)
        Y, w = np.cos(np.pi * X).sum(axis=1, keepdims=True), np.ones(len(X))
        problem = OperatorProblem.of(basis, X, Y, w)
        problem.path((1.0 + basis.eigenvalues[1:]) ** -1.0).coefficients(1.0)
        steps.append(problem.iterations)
    assert max(steps) <= 40


def test_conjugate_gradients_say_when_they_do_not_converge(monkeypatch):
    monkeypatch.setattr("specavg.regression._conjugate_gradients.STEPS", 3)
    A = np.diag(10.0 ** np.arange(12.0))
    with pytest.raises(ValueError, match="did not converge in 3 steps"):
        conjugate_gradients(lambda C: A @ C, np.zeros(1), np.ones((12, 1)), np.ones((12, 1)), 1e-13)


def test_columns_have_shifts_of_their_own_and_solved_ones_are_left_alone():
    A = np.diag([1.0, 2.0, 3.0, 10.0]) + 0.1
    right = np.random.default_rng(0).normal(size=(4, 3))
    right[:, 1] = 0.0
    widths = []

    def multiply(C):
        widths.append(C.shape[1])
        return A @ C

    shift = np.array([0.0, 1.0, 1e9])  # the last is its own diagonal, nearly: one step
    x, steps = conjugate_gradients(multiply, shift, right, np.diag(A)[:, None], 1e-13)
    wanted = np.stack([np.linalg.solve(A + a * np.eye(4), b) for a, b in zip(shift, right.T, strict=True)], axis=1)
    assert np.abs(x - wanted).max() <= 1e-13
    assert steps == len(widths) <= 5
    assert widths[0] == 2
    assert widths[-1] == 1


def test_the_estimator_takes_this_way_and_predicts_the_same(monkeypatch, tmp_path):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(2000, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.1 * np.random.default_rng(0).normal(size=len(X))
    given = {"spectrum": "matern", "smoothness": 2.0, "length_scale": 0.3, "alpha": 1.0, "max_invariant_dim": 80}
    exact = sa.InvariantKernelRidge(space, group, **given).fit(X, y)
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)
    model = sa.InvariantKernelRidge(space, group, **given).fit(X, y)
    assert (exact.solver_, model.solver_) == ("features", "toeplitz")
    assert 0 < model.n_iterations_ < 60
    Z = space.sample(50, random_state=1)
    mean, std = model.predict(Z, return_std=True)
    wanted, wanted_std = exact.predict(Z, return_std=True)
    assert mean == pytest.approx(wanted, rel=1e-11)
    assert std == pytest.approx(wanted_std, rel=1e-7)
    assert model.noise_variance_ == pytest.approx(exact.noise_variance_, rel=1e-9)
    for g in group.generators:
        assert np.array_equal(model.predict(space.act(g, Z)), model.predict(Z))
    model.save(tmp_path / "model.specavg")
    again = sa.load(tmp_path / "model.specavg")
    assert np.array_equal(again.predict(Z), model.predict(Z))
    assert again.predict(Z, return_std=True)[1] == pytest.approx(std, rel=1e-12)


def test_the_choice_by_random_signs_is_that_of_the_decomposition(monkeypatch):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(2000, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.3 * np.random.default_rng(0).normal(size=len(X))
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)
    settings = {"spectrum": "matern", "smoothness": 2.0, "length_scale": 0.3, "max_invariant_dim": 60}
    exact = sa.InvariantKernelRidge(space, group, **settings).fit(X, y)
    monkeypatch.setattr("specavg.regression._measured_limits.DECOMPOSED", 10)
    model = sa.InvariantKernelRidge(space, group, **settings).fit(X, y)
    assert (exact.solver_, model.solver_) == ("moments", "toeplitz")
    assert abs(np.log10(model.alpha_ / exact.alpha_)) < 0.6  # the minimum is flat
    assert model.loo_error_ == pytest.approx(exact.loo_error_, rel=1e-3)


def test_everything_chosen_is_as_good_as_by_the_decomposition(monkeypatch):
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(3000, random_state=0)
    y = np.abs(np.sin(np.pi * X)).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=len(X))
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)
    model = sa.InvariantKernelRidge(space, group, max_invariant_dim=640).fit(X, y)
    monkeypatch.setattr("specavg.regression._measured_limits.DECOMPOSED", 10**6)
    exact = sa.InvariantKernelRidge(space, group, max_invariant_dim=640).fit(X, y)
    assert (exact.solver_, model.solver_) == ("moments", "toeplitz")
    assert model.spectrum_.name == exact.spectrum_.name
    Z = space.sample(500, random_state=1)
    truth = np.abs(np.sin(np.pi * Z)).sum(axis=1)
    errors = [float(np.sqrt(np.mean((m.predict(Z) - truth) ** 2))) for m in (model, exact)]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


def test_half_of_the_digits_give_the_same_scores():
    rng = np.random.default_rng(0)
    F, Y, w = rng.normal(size=(40, 90)), rng.normal(size=(40, 2)), rng.random(40) + 0.5
    scale = (1.0 + np.arange(90)) ** -1.5
    whole, half = FeatureProblem(F, Y, w), FeatureProblem(F, Y, w, half_digits=True)
    alphas = whole.path(scale).top * 10.0 ** np.arange(1.0, -9.0, -1.0)
    wanted, found = whole.path(scale).scores(alphas), half.scored(scale).scores(alphas)
    alone = whole.scored(scale).scores(alphas)
    assert alone.error == pytest.approx(wanted.error, rel=1e-10)
    assert alone.density == pytest.approx(wanted.density, abs=1e-10)
    assert found.error == pytest.approx(wanted.error, rel=1e-6)
    assert found.density == pytest.approx(wanted.density, abs=1e-6)
    assert half.smallest_alpha > whole.smallest_alpha


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("spread", [0.1, 0.3, 0.9])
@pytest.mark.parametrize("given", [{}, {"spectrum": "matern", "smoothness": 2.5, "length_scale": 0.3, "alpha": 1e-6}])
def test_crowded_points_are_fitted_well_and_from_moments_where_steps_are_many(d, spread, given, monkeypatch):
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)
    monkeypatch.setattr("specavg.regression._measured_limits.DECOMPOSED", 100)
    space, group = sa.Torus(d), groups.symmetric(d)
    X, Z = (spread * space.sample(n, random_state=n) for n in (4000, 500))
    y = np.cos(np.pi * X).sum(axis=1)
    noise = 0.1 * np.random.default_rng(0).normal(size=len(X))
    model = sa.InvariantKernelRidge(space, group, max_invariant_dim=300, **given).fit(X, y + noise)
    chosen_smooth = not given and model.solver_ == "toeplitz" and model.n_iterations_ < 80  # then steps are few
    assert spread > 0.5 or model.solver_ == "moments" or chosen_smooth
    assert np.sqrt(np.mean((model.predict(Z) - np.cos(np.pi * Z).sum(axis=1)) ** 2)) < 0.05


def test_a_large_penalty_is_solved_by_conjugate_gradients_wherever_points_are(monkeypatch):
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)
    space, group = sa.Torus(2), groups.symmetric(2)
    X = 0.3 * space.sample(2000, random_state=0)
    given = {"spectrum": "heat", "length_scale": 1.0, "alpha": 100.0, "max_invariant_dim": 100}
    model = sa.InvariantKernelRidge(space, group, **given).fit(X, X[:, 0])
    assert model.solver_ == "toeplitz"
    assert model.n_iterations_ < 80


@pytest.mark.parametrize("name", ["square", "hexagonal", "cell", "circle"])
def test_without_a_transform_loops_make_the_same_operator(name, monkeypatch):
    space, group, dim = {
        "square": (sa.Torus(2), groups.hyperoctahedral(2), 40),
        "hexagonal": (sa.Torus(lattice=[[1.0, 0.0], [-0.5, 0.75**0.5]]), groups.trivial(2), 60),
        "cell": (sa.Torus(lattice=np.diag([1.0, 1.3, 0.8])), groups.space_group(19), 50),
        "circle": (sa.Circle(), groups.dihedral(3), 20),
    }[name]
    monkeypatch.setattr("specavg.functions._nufft.available", lambda: False)
    monkeypatch.setattr("specavg.functions._trigonometric_sums._GIGAFLOPS", 1e-9)
    basis = sa.invariant_basis(space, group, max_invariant_dim=dim)
    rng = np.random.default_rng(0)
    X, w, Y = 0.7 * space.sample(300, random_state=1), rng.uniform(size=300), rng.normal(size=(300, 2))
    operator, sums = basis.gram_operator(X, w, Y)
    values = basis.evaluate(X)
    gram = (values * w[:, None]).T @ values
    np.testing.assert_allclose(operator @ np.eye(basis.dim), gram, atol=2e-12 * np.abs(gram).max())
    np.testing.assert_allclose(sums, values.T @ np.column_stack([w, w[:, None] * Y]), atol=1e-11)


def test_where_loops_take_longer_than_a_product_there_is_no_operator(monkeypatch):
    monkeypatch.setattr("specavg.functions._nufft.available", lambda: False)
    basis = sa.invariant_basis(sa.Torus(3), groups.hyperoctahedral(3), max_invariant_dim=30)
    assert basis.functions.gram_nanoseconds(10_000) is None
    assert basis.gram_operator(basis.space.sample(100, random_state=0), np.ones(100), np.ones((100, 1))) is None
