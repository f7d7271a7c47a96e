"""Algorithm 1: equal to the paper's text written out plainly, and a good scikit-learn citizen."""

from itertools import islice

import numpy as np
import pytest
from cases import random_rotation
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import specavg as sa
from specavg import groups


@parametrize_with_checks(
    [
        sa.SpecAvgRegressor(max_invariant_dim=10),
        sa.SpecAvgRegressor(max_dim=30),
        sa.SpecAvgRegressor(max_eigenvalue=15.0),
        sa.SpecAvgRegressor(smoothness=0.5),
    ]
)
@pytest.mark.filterwarnings("ignore:only the constant function is left")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- Algorithm 1, as the paper writes it --------------------------------------------------------------------------


def algorithm_1(space, group, D, X, y):
    """All coefficients by the empirical mean, then the projection I − Bᵀ(BBᵀ)†B on each eigenspace.

    Returns the predictor and the number of functions used.
    """
    parts, total = [], 0
    for V in space.eigenspaces():
        if total + V.dim > D:
            break
        total += V.dim
        mean = space.evaluate(V, X).T @ y / len(X)  # (m,)
        B = np.concatenate([space.representation(g, V) - np.eye(V.dim) for g in group.generators])
        projected = mean - B.T @ np.linalg.pinv(B @ B.T, rcond=1e-12, hermitian=True) @ B @ mean
        parts.append((V, projected if np.abs(B).max() > 1e-12 else mean))
    return lambda Z: sum(space.evaluate(V, Z) @ c for V, c in parts), total


CASES = [
    (sa.Torus(3), groups.sign_flips(3), 60),
    (sa.Torus(3), groups.symmetric(3), 60),
    (sa.Torus(2), groups.hyperoctahedral(2), 80),
    (sa.Sphere(4), groups.symmetric(4), 60),
    (sa.Sphere(3), groups.point_group("D3"), 49),
    (sa.Circle(), groups.dihedral(3), 40),
    (sa.Sphere(3), groups.Group([random_rotation(0) @ np.diag([1.0, -1, -1]) @ random_rotation(0).T]), 49),
]


@pytest.mark.parametrize("space, group, D", CASES, ids=lambda value: repr(value).replace(" ", ""))
def test_equals_algorithm_1_written_out(space, group, D):
    rng = np.random.default_rng(0)
    X, Z = space.sample(300, rng), space.sample(40, rng)
    y = rng.standard_normal(300) + X[:, 0] ** 2
    model = sa.SpecAvgRegressor(space, group, max_dim=D).fit(X, y)
    predictor, total = algorithm_1(space, group, D, X, y)
    assert model.basis_.total_dim == total
    expected = predictor(Z)
    assert np.abs(model.predict(Z) - expected).max() < 1e-11 * max(1, np.abs(expected).max())


def test_projection_and_group_average_of_the_plain_estimate_agree():
    # The paper's claim: projecting is averaging the estimate without symmetry over the whole group.
    space, group = sa.Torus(3), groups.hyperoctahedral(3)
    rng = np.random.default_rng(1)
    X, Z, y = space.sample(100, rng), space.sample(20, rng), rng.standard_normal(100)
    plain = sa.SpecAvgRegressor(space, max_dim=60).fit(X, y)
    model = sa.SpecAvgRegressor(space, group, max_dim=60).fit(X, y)
    average = np.mean([plain.predict(space.act(g, Z)) for g in group.elements()], axis=0)
    np.testing.assert_allclose(model.predict(Z), average, atol=1e-12)


def test_exact_coefficients_on_a_quadrature_rule():
    # With quadrature weights the mean is the integral: a function in the span is recovered exactly.
    space, group = sa.Sphere(3), groups.point_group("Oh")
    basis = sa.invariant_basis(space, group, max_eigenvalue=72.0)
    X, w = space.quadrature(72.0)
    target = basis.evaluate(X) @ np.arange(1.0, basis.dim + 1)
    model = sa.SpecAvgRegressor(space, group, max_eigenvalue=72.0).fit(X, target, sample_weight=w)
    np.testing.assert_allclose(model.coef_, np.arange(1.0, basis.dim + 1), atol=1e-12)
    np.testing.assert_allclose(model.predict(X), target, atol=1e-11)


# --- the cutoff --------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothness, n", [(None, 1000), (0.5, 400), (1.0, 900), (4.0, 50_000)])
def test_the_theorems_cutoff(smoothness, n):
    space = sa.Torus(2)
    X = space.sample(n, 0)
    model = sa.SpecAvgRegressor(space, groups.sign_flips(2), smoothness=smoothness)
    s = 2 if smoothness is None else smoothness
    alpha = 2 * s / 2
    D = n ** (1 / (1 + alpha))
    model.fit(X, X[:, 0] ** 2)
    assert model.exponent_ == alpha
    assert pytest.approx(D, rel=1e-14) == model.D_
    assert model.cutoff_.kind == "max_dim"
    sizes = np.cumsum([V.dim for V in islice(space.eigenspaces(), 60)])
    assert model.basis_.total_dim == sizes[sizes <= D][-1]  # whole eigenspaces, no more than D


def test_the_dimension_of_a_sphere_is_that_of_the_manifold():
    X = sa.Sphere(3).sample(500, 0)
    model = sa.SpecAvgRegressor(sa.Sphere(3), smoothness=3.0).fit(X, X[:, 0])
    assert model.exponent_ == 2 * 3 / 2
    assert pytest.approx(500**0.25) == model.D_


def test_only_the_constant_is_left_warns():
    X = sa.Torus(5).sample(30, 0)
    with pytest.warns(
        UserWarning, match=r"only the constant .*: max_dim = 3\.11.* Give max_invariant_dim, or more data\.$"
    ):
        model = sa.SpecAvgRegressor(sa.Torus(5), groups.symmetric(5)).fit(X, X[:, 0])
    with pytest.warns(UserWarning, match=r"only the constant .*raise it.* Predictions are the mean of y\.$"):
        sa.SpecAvgRegressor(sa.Torus(5), groups.symmetric(5), max_invariant_dim=2).fit(X, X[:, 0])
    np.testing.assert_allclose(model.predict(X), X[:, 0].mean(), atol=1e-14)


def test_explicit_cutoffs():
    X = sa.Torus(10).sample(50, 0)
    model = sa.SpecAvgRegressor(sa.Torus(10), groups.sign_flips(10), max_invariant_dim=176).fit(X, X[:, 0] ** 2)
    assert (model.basis_.dim, model.D_, model.cutoff_.kind) == (176, 176.0, "max_invariant_dim")
    model.set_params(max_invariant_dim=None, max_eigenvalue=np.pi**2).fit(X, X[:, 0] ** 2)
    assert model.basis_.dim == 11


# --- data --------------------------------------------------------------------------------


def data(n=200, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = sa.Torus(d).sample(n, rng)
    return X, rng.standard_normal((n, 2)), rng.random(n) + 0.1


def model(**parameters):
    return sa.SpecAvgRegressor(sa.Torus(3), groups.symmetric(3), **({"max_dim": 60} | parameters))


def test_several_outputs_are_fitted_side_by_side():
    X, Y, _ = data()
    both = model().fit(X, Y)
    assert both.coef_.shape == (both.basis_.dim, 2)
    assert both.predict(X).shape == (200, 2)
    for j in range(2):
        np.testing.assert_allclose(both.predict(X)[:, j], model().fit(X, Y[:, j]).predict(X), atol=1e-13)
    assert model().fit(X, Y[:, :1]).predict(X).shape == (200, 1)


def test_weights_are_repetitions():
    X, Y, _ = data()
    times = np.random.default_rng(3).integers(0, 4, 200)
    weighted = model().fit(X, Y, sample_weight=times)
    repeated = model().fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-13)


def test_only_ratios_of_weights_matter_for_the_coefficients():
    X, Y, w = data()
    np.testing.assert_allclose(model().fit(X, Y, w).coef_, model().fit(X, Y, 7 * w).coef_, atol=1e-13)
    np.testing.assert_allclose(model().fit(X, Y, np.ones(200)).coef_, model().fit(X, Y).coef_, atol=1e-15)


def test_weights_correct_another_density():
    # Points with density ∝ 1 + x²/2 on the circle of length 2; weights 1/p bring back the mean.
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400_000, 1))
    X = X[rng.random(len(X)) < (1 + X[:, 0] ** 2 / 2) / 1.5]
    y = np.cos(np.pi * X[:, 0])
    w = 1 / (1 + X[:, 0] ** 2 / 2)
    fit = lambda weights: sa.SpecAvgRegressor(sa.Torus(1), max_dim=3).fit(X, y, weights).coef_  # noqa: E731
    truth = np.array([0, np.sqrt(0.5), 0])
    assert np.abs(fit(w) - truth).max() < 0.01
    assert np.abs(fit(None) - truth).max() > 0.02


def test_oracle_calls_are_those_of_the_theorem():
    X, Y, _ = data()
    fitted = model().fit(X, Y)
    calls, table = fitted.oracle_calls_, fitted.basis_.table
    assert calls.paper_evaluations == 200 * fitted.basis_.total_dim
    assert calls.paper_inner_products == 2 * sum(row.dim**2 for row in table)
    assert calls.evaluations == 200 * fitted.basis_.dim
    assert calls.inner_products == 0  # a closed form asks for none
    sphere = sa.SpecAvgRegressor(sa.Sphere(3), groups.point_group("I"), max_dim=36)
    Z = sa.Sphere(3).sample(60, 0)
    with pytest.warns(UserWarning, match="only the constant"):
        sphere.fit(Z, Z[:, 0])
    generators = len(groups.point_group("I").generators)
    assert sphere.oracle_calls_.paper_inner_products == generators * sum((2 * k + 1) ** 2 for k in range(6))
    # A two-fold axis along z leaves the even orders: half of the columns are never asked for.
    assert sphere.oracle_calls_.inner_products == generators * sum((2 * k + 1) * (k // 2 + 1) for k in range(6))


def test_defaults_are_the_papers_torus_and_no_symmetry():
    X, Y, _ = data()
    fitted = sa.SpecAvgRegressor(max_dim=30).fit(X, Y[:, 0])
    assert fitted.basis_.space == sa.Torus(3)
    assert fitted.basis_.group.order == 1
    np.testing.assert_allclose(fitted.predict(X + 2.0), fitted.predict(X), atol=1e-12)  # wrapped


def test_works_in_scikit_learn_tools():
    X, *_ = data()
    y = np.cos(np.pi * X).sum(axis=1)
    search = GridSearchCV(model(max_dim=None), {"max_invariant_dim": [3, 6, 10]}, cv=3).fit(X, y)
    assert search.best_estimator_.basis_.dim <= 10
    assert cross_val_score(model(), X, y, cv=3).shape == (3,)
    pipeline = make_pipeline(FunctionTransformer(lambda X: X + 1 / 3), model()).fit(X, y)
    assert pipeline.predict(X).shape == (200,)
    assert clone(model()).get_params() == model().get_params()


def test_bases_are_shared_between_fits():
    X, Y, _ = data()
    assert model().fit(X, Y).basis_ is model().fit(X[:100], Y[:100]).basis_


# --- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothness", [0, -1.0, np.nan, np.inf, "auto", [1.0]])
def test_impossible_smoothness_is_refused(smoothness):
    X, Y, _ = data()
    with pytest.raises(ValueError, match="smoothness must be positive and finite"):
        sa.SpecAvgRegressor(smoothness=smoothness).fit(X, Y)


def test_bad_cutoffs_are_refused_when_fitting():
    X, Y, _ = data()
    with pytest.raises(ValueError, match="exactly one cutoff"):
        sa.SpecAvgRegressor(max_dim=3, max_eigenvalue=2.0).fit(X, Y)
    with pytest.raises(ValueError, match="impossible"):
        sa.SpecAvgRegressor(max_dim=0).fit(X, Y)


def test_bad_data_are_refused():
    X, Y, w = data()
    with pytest.raises(ValueError, match="NaN"):
        model().fit(np.where(X > 0.9, np.nan, X), Y)
    with pytest.raises(ValueError, match="NaN"):
        model().fit(X, np.where(Y > 2, np.nan, Y))
    with pytest.raises(ValueError, match=r"inconsistent|samples"):
        model().fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"shape \(n, 3\)"):
        model().fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model().fit(X, Y, -w)
    with pytest.raises(ValueError, match=r"zero"):
        model().fit(X, Y, 0 * w)
    with pytest.raises(NotFittedError):
        model().predict(X)
    with pytest.raises(ValueError, match="features"):
        model().fit(X, Y).predict(X[:, :2])


def test_points_off_the_sphere_are_refused_in_fit_and_predict():
    X = sa.Sphere(3).sample(20, 0)
    fitted = sa.SpecAvgRegressor(sa.Sphere(3), max_dim=9).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"row 3 is off by 0\.5"):
        fitted.predict(np.where(np.arange(20)[:, None] == 3, 1.5 * X, X))
    with pytest.raises(ValueError, match="20 of 20 points are not on"):
        fitted.fit(2 * X, X[:, 0])


def test_groups_that_do_not_act_are_refused():
    X, Y, _ = data()
    with pytest.raises(ValueError, match="does not fit"):
        sa.SpecAvgRegressor(sa.Torus(3), groups.symmetric(4), max_dim=10).fit(X, Y)


UNIFORM = {
    "torus": (sa.Torus(2), groups.hyperoctahedral(2)),
    "many angles": (sa.Torus(10), groups.sign_flips(10)),
    "sphere": (sa.Sphere(3), groups.point_group("Oh")),
    "no group": (sa.Sphere(3), groups.trivial(3)),
    "rotations": (sa.Rotations(), groups.crystal_symmetry("O")),
    "box": (sa.Power(sa.Interval(0.0, 1.0), 2), groups.symmetric(2)),
}


@pytest.mark.parametrize("space, group", UNIFORM.values(), ids=UNIFORM)
def test_uniform_points_are_not_questioned(space, group):
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=20)
    for seed in range(20):
        for n in (100, 400):
            X = space.sample(n, random_state=seed)
            model.fit(X, np.ones(n))
            model.fit(np.tile(X, (9, *(1,) * (X.ndim - 1))), np.ones(9 * n))  # repeated points are as uniform


def test_points_that_are_not_uniform_are_questioned_with_the_mean():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = np.random.default_rng(0).normal(scale=0.3, size=(400, 2))
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=20)
    with pytest.warns(
        UserWarning, match=r"not uniform on Torus\(2\): the mean of .* is \d.*sample_weight proport"
    ) as said:
        model.fit(X, np.cos(np.pi * X).sum(axis=1))
    assert said[0].filename == __file__
    means = model.basis_.evaluate(X)[:, 1:11].mean(axis=0)
    assert f"is {means[np.abs(means).argmax()]:.2g}, not 0" in str(said[0].message)
    density = np.exp(-0.5 * (X / 0.3) ** 2).prod(axis=1)
    model.fit(X, np.cos(np.pi * X).sum(axis=1), 1 / np.maximum(density, 1e-3))  # weights are believed


def test_uniform_points_of_a_part_that_stands_for_all_are_not_questioned():
    """Coefficients of invariant functions are right for points of one quarter of a torus whose signs do not matter."""
    space = sa.Torus(2, period=2 * np.pi)
    X = np.abs(space.sample(500, random_state=0))
    sa.SpecAvgRegressor(space, groups.sign_flips(2), max_invariant_dim=20).fit(X, np.cos(X).sum(axis=1))
    with pytest.warns(UserWarning, match="are not uniform"):
        sa.SpecAvgRegressor(space, max_invariant_dim=20).fit(X, np.cos(X).sum(axis=1))
