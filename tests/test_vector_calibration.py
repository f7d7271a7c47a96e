"""Error bars of chosen vector fits: the calibration of invariant ones, for blocks of outputs that a group moves."""

import warnings

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.regression._block_problem import BlockProblem, SummandPlaces, SummandRows
from specavg.regression._calibration import CHOSEN, ROUGHNESS, left_out_by_truncation, shrunk_surprise
from specavg.regression._feature_path import FeatureProblem

S2, C3V = sa.Sphere(3), groups.point_group("C3v")
T2, SQUARE = sa.Torus(2), groups.hyperoctahedral(2)


def problem(basis, X, Y):
    (summand,) = basis.summands
    table = basis.evaluate(X).transpose(0, 2, 1)  # (n, p, dim)
    k, p = basis.n_constants, basis.n_outputs
    rows = table.reshape(len(X) * p, -1)
    at = SummandPlaces.of(summand, k, basis.dim)
    return BlockProblem([SummandRows(at, rows[:, k:], rows[:, :k], Y.reshape(-1, 1))], np.ones(len(X)), basis.dim)


def test_surprise_is_the_mean_square_of_what_refits_without_a_point_predict():
    basis = sa.equivariant_basis(T2, SQUARE, "vector", max_eigenvalue=60)
    rng = np.random.default_rng(0)
    X = T2.sample(30, rng)
    Y = np.sin(np.pi * X) * np.abs(np.cos(np.pi * X).sum(axis=1, keepdims=True)) + 0.1 * rng.normal(size=(30, 2))
    Y /= np.abs(Y).max()  # the unit in which targets are fitted
    scale, alpha = np.exp(-0.02 * basis.eigenvalues), 1e-2
    features = basis.evaluate(X).transpose(0, 2, 1) * scale  # (n, 2, dim)
    left_out = []
    for i in range(30):
        F, y = np.delete(features, i, axis=0).reshape(-1, basis.dim), np.delete(Y, i, axis=0).ravel()
        inverse = np.linalg.inv(F.T @ F + alpha * np.eye(basis.dim))
        error = Y[i] - features[i] @ inverse @ F.T @ y
        covariance = alpha * (np.eye(2) + features[i] @ inverse @ features[i].T)  # noise of variance α, prior of one
        left_out.append(error @ np.linalg.solve(covariance, error))
    path = problem(basis, X, Y).path(scale)
    found = path.calibration(np.array([alpha]))
    surprise = shrunk_surprise(np.sum(left_out) / 60 * alpha / path.noise_variance(alpha)[0], 60)
    F = features.reshape(60, -1)
    freedom = np.trace(F @ np.linalg.solve(F.T @ F + alpha * np.eye(basis.dim), F.T))
    chosen = (60 + CHOSEN) / (60 - CHOSEN)
    np.testing.assert_allclose(found.factor, surprise * chosen, rtol=1e-9)
    rough = np.clip(left_out_by_truncation(scale**2) / 2 / alpha, ROUGHNESS * freedom / 60, 1)
    np.testing.assert_allclose(found.share, chosen * (max(surprise - 1, 0) + rough), rtol=1e-9)


def test_one_output_is_calibrated_as_an_invariant_fit_is():
    basis = sa.equivariant_basis(T2, SQUARE, "scalar", max_eigenvalue=200)
    X = T2.sample(40, random_state=0)
    y = np.abs(np.cos(np.pi * X).sum(axis=1)) + 0.1 * np.random.default_rng(1).normal(size=40)
    scale, alphas = np.exp(-0.01 * basis.eigenvalues[1:]), np.array([0.1])
    mine = problem(basis, X, y[:, None]).path(scale).calibration(alphas)
    features = sa.invariant_basis(T2, SQUARE, max_eigenvalue=200).evaluate(X)[:, 1:]
    theirs = FeatureProblem(features, y[:, None], np.ones(40)).path(scale).calibration(alphas)
    np.testing.assert_allclose([mine.factor, mine.share], [theirs.factor, theirs.share], rtol=1e-9)


def chosen_and_given(output, n=60):
    rng = np.random.default_rng(3)
    X = S2.sample(n, rng)
    Y = X * np.exp(X[:, 2:]) + [0, 0, 2] + 0.1 * rng.normal(size=(n, 3))
    if output == "tangent vector":
        Y -= np.sum(X * Y, axis=1, keepdims=True) * X
    settings = {"max_eigenvalue": 72}
    chosen = sa.EquivariantKernelRidge(S2, C3V, output, **settings).fit(X, Y)
    s = chosen.spectrum_
    settings |= {"spectrum": s.name, "smoothness": s.smoothness, "length_scale": s.length_scale}
    return chosen, sa.EquivariantKernelRidge(S2, C3V, output, alpha=chosen.alpha_, **settings).fit(X, Y)


@pytest.mark.parametrize("output", ["vector", "tangent vector"])
def test_what_is_added_lies_along_outputs_that_the_group_allows(output):
    chosen, given = chosen_and_given(output)
    Z = np.vstack([S2.sample(20, random_state=5), [0, 0, 1], [0, 0.6, 0.8]])  # on the axis, and on a mirror plane
    tangent = np.eye(3) - Z[:, :, None] * Z[:, None, :]
    allowed = tangent if output == "tangent vector" else np.tile(np.eye(3), (22, 1, 1))
    allowed[20] *= np.diag([0, 0, 1])
    allowed[21] *= np.multiply.outer([0, 1, 1], [0, 1, 1])
    plain, calibrated = (model.predict(Z, return_cov=True)[1] for model in (given, chosen))
    A = np.stack([plain.ravel(), allowed.ravel()], axis=1)
    (factor, share), *_ = np.linalg.lstsq(A, calibrated.ravel(), rcond=None)
    assert factor > 0.5
    assert share > 0
    np.testing.assert_allclose(calibrated, factor * plain + share * allowed, atol=1e-9 * np.abs(calibrated).max())
    slopes, theirs = (model.gradient(Z[:3], return_std=True)[1] for model in (chosen, given))
    np.testing.assert_allclose(slopes, np.sqrt(factor) * theirs, rtol=1e-7)


def test_covariances_move_with_the_points():
    chosen, _ = chosen_and_given("vector")
    Z = S2.sample(20, random_state=6)
    _, covariance = chosen.predict(Z, return_cov=True)
    for g in C3V.elements():
        R = np.asarray(g.matrix)
        _, moved = chosen.predict(Z @ R.T, return_cov=True)
        np.testing.assert_allclose(moved, R @ covariance @ R.T, atol=1e-12)


def test_a_mirror_plane_leaves_a_pseudoscalar_nothing_to_doubt():
    rng = np.random.default_rng(0)
    X = S2.sample(60, rng)
    y = X[:, 0] * (X[:, 0] ** 2 - 3 * X[:, 1] ** 2) * np.exp(X[:, 2]) + 0.1 * rng.normal(size=60)
    model = sa.EquivariantKernelRidge(S2, C3V, "pseudoscalar", max_eigenvalue=150).fit(X, y)
    mean, deviation = model.predict([[0, 0.6, 0.8], [0, 0, 1], [0.6, 0, 0.8]], return_std=True)
    assert np.abs(mean[:2]).max() < 1e-12
    assert deviation[:2].max() < 1e-10
    assert deviation[2] > 1e-3


def field(X):
    return np.sin(np.pi * X) * np.abs(np.cos(np.pi * X).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_intervals_hold_what_they_promise(noise):
    inside = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, Z = T2.sample(60, rng), T2.sample(200, rng)
        model = sa.EquivariantKernelRidge(T2, SQUARE, "vector", max_dim=800)
        mean, deviation = model.fit(X, field(X) + noise * rng.normal(size=(60, 2))).predict(Z, return_std=True)
        inside.append(np.mean(np.abs(mean - field(Z)) <= 1.645 * deviation))
    assert 0.82 < np.mean(inside) < 0.97


def test_a_calibrated_vector_model_is_saved_and_loaded(tmp_path):
    chosen, _ = chosen_and_given("vector")
    chosen.save(tmp_path / "model.specavg")
    Z = S2.sample(5, random_state=7)
    again = sa.load(tmp_path / "model.specavg")
    for mine, theirs in zip(chosen.predict(Z, return_cov=True), again.predict(Z, return_cov=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name, output", [("D3", "vector"), ("T", "ij=ji")])
def test_the_von_mises_spectrum_is_the_averaged_kernel_of_exponentials(name, output):
    """(1/|G|) Σ exp(κ(gx·y − 1)) ρ(g)ᵀ, without constants: they are not penalised."""
    group, kappa, alpha = groups.point_group(name), 3.0, 0.05
    rng = np.random.default_rng(0)
    X, Z = S2.sample(12, rng), S2.sample(9, rng)
    elements = [(np.asarray(g.matrix), rho.matrix) for g, rho in groups.representation(group, output).elements()]
    p = len(elements[0][1])
    Y = rng.normal(size=(12, p))
    constant = -np.expm1(-2 * kappa) / (2 * kappa)  # the mean of the kernel over the sphere

    def kernel(A, B):
        terms = [
            np.einsum("ab,ji->aibj", np.exp(kappa * (A @ R.T @ B.T - 1)) / constant - 1, rho) for R, rho in elements
        ]
        return np.mean(terms, axis=0).reshape(len(A) * p, len(B) * p)

    values, vectors = np.linalg.eigh(np.mean([rho for _, rho in elements], axis=0))
    free = vectors[:, values > 0.5]
    k = free.shape[1]
    A = np.tile(free, (12, 1))
    system = np.block([[kernel(X, X) + alpha * np.eye(12 * p), A], [A.T, np.zeros((k, k))]])
    solution = np.linalg.solve(system, np.concatenate([Y.ravel(), np.zeros(k)]))
    wanted = np.hstack([kernel(Z, X), np.tile(free, (9, 1))]) @ solution
    settings = {"spectrum": "von mises", "length_scale": kappa**-0.5, "alpha": alpha, "max_eigenvalue": 650}
    found = sa.EquivariantKernelRidge(S2, group, output, **settings).fit(X, Y).predict(Z)
    np.testing.assert_allclose(found.ravel(), wanted, atol=1e-9)


def test_a_default_vector_fit_tries_it():
    X = S2.sample(30, random_state=0)
    Y = X * np.exp((X**4).sum(axis=1, keepdims=True))
    model = sa.EquivariantKernelRidge(S2, groups.point_group("Oh"), "vector").fit(X, Y)
    assert {trial.spectrum.name for trial in model.trials_} == {"matern", "von mises"}


@pytest.mark.parametrize("given", [{}, {"max_eigenvalue": 20}], ids=["default", "cutoff"])
@pytest.mark.parametrize("output, functions", [("vector", 1), ("ij=ji", 2)])
def test_error_bars_of_all_functions_on_one_orbit_are_those_of_least_squares(output, functions, given):
    space, group, rng = sa.Sphere(3), groups.orthogonal(3), np.random.default_rng(3)
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=6)
    assert basis.dim == functions
    for n in (50, 1000):
        X = space.sample(n, random_state=n)
        values = basis.evaluate(X)  # (n, functions, p)
        noise = 0.05 * rng.normal(size=values[:, 0].shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # time does not end the search: there are no other functions
            model = sa.EquivariantKernelRidge(space, group, output, **given).fit(X, 1.85 * values.sum(axis=1) + noise)
        inverse = np.linalg.inv(np.einsum("nfp,ngp->fg", values, values))
        exact = 0.05**2 * np.einsum("nfp,fg,ngp->np", values, inverse, values)
        deviation = model.predict(X, return_std=True)[1]
        np.testing.assert_allclose(np.mean(deviation**2) / np.mean(exact), 1.0, atol=0.5 if n == 50 else 0.1)


def test_turned_copies_on_the_only_orbit_leave_error_bars_as_they_are():
    space, group, rng = sa.Sphere(3), groups.orthogonal(3), np.random.default_rng(3)
    X = space.sample(40, random_state=0)
    y = 1.85 * X + 0.05 * rng.normal(size=X.shape)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(9)]
    once = sa.EquivariantKernelRidge(space, group, "vector").fit(X, y)
    many = sa.EquivariantKernelRidge(space, group, "vector").fit(
        np.vstack([X, *(X @ Q.T for Q in turns)]), np.vstack([y, *(y @ Q.T for Q in turns)])
    )
    np.testing.assert_allclose(many.coef_, once.coef_, rtol=1e-3)
    ratio = many.predict(X, return_std=True)[1] / once.predict(X, return_std=True)[1]
    assert 0.85 < ratio.min() <= ratio.max() < 1.15  # 0.32 were they observations of their own


def test_an_output_that_has_no_function_on_the_only_orbit_says_so():
    X = S2.sample(20, random_state=0)
    with pytest.raises(ValueError, match=r"'pseudoscalar' has no function .* take every point of Sphere\(3\)"):
        sa.EquivariantKernelRidge(S2, groups.orthogonal(3), "pseudoscalar").fit(X, X[:, 0])


def test_values_without_noise_on_the_only_orbit_are_found():
    X = S2.sample(20, random_state=0)  # each of them is a turned copy of each other
    model = sa.EquivariantKernelRidge(S2, groups.orthogonal(3), "vector").fit(X, 1.85 * X)
    np.testing.assert_allclose(model.predict(X), 1.85 * X, atol=1e-6)
