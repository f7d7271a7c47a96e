"""Ridge regression by conjugate gradients on a Toeplitz Gram matrix, against the decomposition of the matrix."""

from __future__ import annotations

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.estimators._moments import Moments
from specavg.estimators._ridge_paths import MomentProblem
from specavg.estimators._toeplitz import ToeplitzProblem, conjugate_gradients

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
    toeplitz = ToeplitzProblem(basis.gram_operator(X, w, Y), Y, w)
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
    alphas = exact.top * 10.0 ** np.arange(1.0, -10.0, -1.0)
    found, wanted = path.scores(alphas).error, exact.scores(alphas).error
    assert found == pytest.approx(wanted, rel=5e-3)
    assert abs(int(found.argmin()) - int(wanted.argmin())) <= 1


def test_random_signs_are_exact_where_functions_do_not_mix():
    # On a full grid of points the Gram matrix is diagonal, and zᵀA⁻¹z is the trace for any signs z.
    space = sa.Torus(2)
    basis = sa.invariant_basis(space, groups.sign_flips(2), max_invariant_dim=30)
    X, _ = space.quadrature(4 * float(basis.eigenvalues.max()))
    Y, w = np.cos(np.pi * X[:, :1]) + X[:, :1] ** 2, np.ones(len(X))
    path = ToeplitzProblem(basis.gram_operator(X, w, Y), Y, w).path(np.ones(basis.dim - 1))
    exact = MomentProblem(Moments.of(basis, X, Y, w)).path(np.ones(basis.dim - 1))
    alphas = np.array([1.0, 100.0])
    assert path.scores(alphas).error == pytest.approx(exact.scores(alphas).error, rel=1e-10)


def test_quadratic_forms_equal_those_of_the_matrix():
    basis, toeplitz, moments = problems("square, uneven")
    scale = SPECTRA["sobolev"](basis.eigenvalues[1:])
    Z = np.random.default_rng(0).normal(size=(7, basis.dim - 1))
    alpha = 1e-3 * moments.path(scale).top
    A = moments.gram * scale * scale[:, None] + alpha * np.eye(len(scale))
    wanted = np.einsum("ni,in->n", Z, np.linalg.solve(A, Z.T))
    assert toeplitz.path(scale).quadratic_form(Z, alpha) == pytest.approx(wanted, rel=1e-8)


def test_steps_hardly_depend_on_the_number_of_functions():
    steps = []
    for size in (50, 200, 800):
        basis = sa.invariant_basis(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=size)
        X = basis.space.sample(40_000, random_state=0)
        Y, w = np.cos(np.pi * X).sum(axis=1, keepdims=True), np.ones(len(X))
        problem = ToeplitzProblem(basis.gram_operator(X, w, Y), Y, w)
        problem.path((1.0 + basis.eigenvalues[1:]) ** -1.0).coefficients(1.0)
        steps.append(problem.iterations)
    assert max(steps) <= 40


def test_conjugate_gradients_say_when_they_do_not_converge(monkeypatch):
    monkeypatch.setattr("specavg.estimators._toeplitz._STEPS", 3)
    A = np.diag(10.0 ** np.arange(12.0))
    with pytest.raises(ValueError, match="did not converge in 3 steps"):
        conjugate_gradients(lambda C: A @ C, np.ones((12, 1)), np.ones((12, 1)), 1e-13)


def test_a_solution_that_is_already_there_takes_no_step():
    A = np.diag([1.0, 2.0, 3.0])
    x, steps = conjugate_gradients(lambda C: A @ C, A @ np.ones((3, 1)), np.ones((3, 1)), 1e-12, np.ones((3, 1)))
    assert steps == 0
    assert np.array_equal(x, np.ones((3, 1)))
