"""The paper's quantities against their definitions, and against counts that are known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gamma

import specavg as sa
from specavg import groups, theory


@pytest.mark.parametrize("d, s", [(1, 1.0), (2, 1.5), (3, 4.0), (10, 10.0)])
@pytest.mark.parametrize("order", [1, 2, math.factorial(20), math.factorial(1000)])
def test_bounds_are_the_expressions_of_the_theorem(d, s, order):
    n, alpha, log = 5000.0, 2 * s / d, math.log2(order)
    b = theory.bounds(n, d, s, order)
    assert b.alpha == alpha
    assert pytest.approx(n ** (1 / (1 + alpha))) == b.D
    assert b.risk == pytest.approx(n ** (-s / (s + d / 2)))
    assert b.time == pytest.approx(log**3 * n ** (3 / (1 + alpha)) + n ** ((2 + alpha) / (1 + alpha)))
    assert b.oracle_calls == pytest.approx(log * n ** (2 / (1 + alpha)) + n ** ((2 + alpha) / (1 + alpha)))
    assert b.prediction_time == b.D
    assert b.in_scope == (s > d / 2)


def test_generators_may_stand_for_the_logarithm():
    G = groups.symmetric(50)
    by_order = theory.bounds(1000, 2, 2.0, G.order)
    by_generators = theory.bounds(1000, 2, 2.0, G.order, generators=len(G.generators))
    assert by_generators.log_order == 2 < by_order.log_order
    assert by_generators.time < by_order.time


def test_rate_is_one_half_at_the_edge_of_the_theorem_and_tends_to_one():
    assert theory.rate(4, 2.0) == 0.5
    assert theory.rate(2, 1e9) == pytest.approx(1)


def test_regressor_uses_the_dimension_of_the_theorem():
    X = sa.Torus(2).sample(3000, 0)
    model = sa.SpecAvgRegressor(sa.Torus(2), smoothness=1.5).fit(X, X[:, 0])
    assert pytest.approx(theory.cutoff_dimension(3000, 2, 1.5)) == model.D_
    assert model.exponent_ == theory.exponent(2, 1.5)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 30])
def test_unit_ball_volume_is_the_formula(d):
    assert theory.unit_ball_volume(d) == pytest.approx(math.pi ** (d / 2) / gamma(d / 2 + 1))


@pytest.mark.parametrize(
    "space, top",
    [(sa.Circle(), 1e6), (sa.Torus(2), 5e4), (sa.Sphere(3), 1e6), (sa.Sphere(5), 1e6), (sa.Torus(3), 5e3)],
    ids=repr,
)
def test_weyl_law_is_approached(space, top):
    eigenvalues, counts = theory.counting_function(space, top)
    ratio = counts / theory.weyl_count(space, np.maximum(eigenvalues, 1e-9))
    # The remainder is of order λ^{(d−1)/2}, smaller than the count by √λ.
    assert abs(ratio[-1] - 1) < 20 / math.sqrt(top)
    assert abs(ratio[-1] - 1) < abs(ratio[len(ratio) // 8] - 1) + 1e-3


def test_weyl_law_has_a_number_where_its_factors_have_none():
    """On T^d the law is the volume of a ball of radius r = √λ/π: ω_d of a thousand dimensions is 10^-886."""
    d, radius = 1000, 10.0
    logarithm = d / 2 * np.log(np.pi) - math.lgamma(d / 2 + 1) + d * np.log(radius)
    assert theory.weyl_count(sa.Torus(d), (np.pi * radius) ** 2) == pytest.approx(np.exp(logarithm), rel=1e-10)
    assert theory.weyl_count(sa.Torus(d), 0.0) == 0


def test_weyl_law_on_the_circle_counts_frequencies():
    assert theory.weyl_count(sa.Circle(), 100.0) == pytest.approx(20)  # 21 functions: 1, cos, sin, …


def test_invariant_version_divides_by_the_order():
    space, G = sa.Torus(6), groups.hyperoctahedral(6)
    whole, part = theory.weyl_count(space, 500.0), theory.invariant_weyl_count(space, G, 500.0)
    assert whole / part == pytest.approx(G.order)


def test_counting_function_is_inclusive_and_cumulative():
    eigenvalues, counts = theory.counting_function(sa.Torus(10), 3 * np.pi**2)
    np.testing.assert_array_equal(counts, [1, 21, 201, 1161])
    np.testing.assert_allclose(eigenvalues, np.pi**2 * np.arange(4))


def test_risk_of_algorithm_1_stays_below_its_bound():
    space, s, sigma = sa.Circle(), 1.0, 0.3
    rng = np.random.default_rng(0)
    n = 2000
    model = sa.SpecAvgRegressor(space, smoothness=s)
    errors = []
    for _ in range(20):
        X = space.sample(n, rng)
        y = np.sqrt(2) * np.cos(X[:, 0]) + sigma * rng.standard_normal(n)
        coefficients = model.fit(X, y).coef_
        truth = np.zeros_like(coefficients)
        V = model.basis_.evaluate(np.array([[0.0]]))[0]
        truth[1:3] = [1.0, 0.0] if V[1] > 1 else [0.0, 1.0]
        errors.append(((coefficients - truth) ** 2).sum())
    # Its only coefficient is 1, at D_λ = 3: the squared norm is 3^α with α = 2s/d = 2.
    bound = theory.risk_bound(n, 1, s, supremum=np.sqrt(2), noise=sigma, sobolev_norm=3.0)
    assert np.mean(errors) < bound


def test_a_count_by_the_order_is_refused_for_continuous_groups():
    with pytest.raises(ValueError, match=r"has a continuous part: vol\(M\)/\|G\| is no count"):
        theory.invariant_weyl_count(sa.Sphere(3), sa.groups.point_group("C∞v"), 10100.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.exponent(0, 1.0),
        lambda: theory.exponent(2, -1.0),
        lambda: theory.cutoff_dimension(0, 2, 2.0),
        lambda: theory.bounds(10, 2, 2.0, order=0),
    ],
)
def test_impossible_numbers_are_refused(call):
    with pytest.raises(ValueError, match=r"need a dimension|at least"):
        call()


@pytest.mark.parametrize("bound", [np.inf, np.nan, -1.0, "a"])
def test_eigenvalues_are_counted_up_to_a_finite_bound(bound):
    with pytest.raises(ValueError, match="max_eigenvalue must be finite and at least 0"):
        theory.counting_function(sa.Sphere(3), bound)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: theory.weyl_count(sa.Sphere(3), -1.0), "eigenvalues of the Laplacian are at least 0"),
        (lambda: theory.weyl_count(sa.Sphere(3), np.array([1.0, np.nan])), "eigenvalues of the Laplacian"),
        (lambda: theory.invariant_weyl_count(sa.Sphere(3), sa.groups.symmetric(5), 100.0), r"Sphere\(3\)"),
        (lambda: theory.risk_bound(10, 2, 2.0, supremum=1.0, noise=-0.5, sobolev_norm=1.0), "noise must be finite"),
        (lambda: theory.risk_bound(10, 2, 2.0, supremum=1.0, noise=0.5, sobolev_norm=-1.0), "sobolev_norm must be"),
        (lambda: theory.bounds(10, 2, 2.0, order=4.5), "order, .* must be a whole number"),
        (lambda: theory.bounds(10, 2, 2.0, order=np.inf), "order is infinite.*give generators="),
        (lambda: theory.bounds("a", 2, 1.0), "n must be finite and at least 1; got 'a'"),
        (lambda: theory.bounds(10**400, 2, 2.0), "n must be finite"),
    ],
)
def test_arguments_without_a_meaning_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda space, group: theory.invariant_weyl_count(space, group, 4.0),
        lambda space, group: sa.invariance_discrepancy(len, space, group, [[0.1, 0.2, 0.3]]),
    ],
)
def test_a_space_and_a_group_that_were_swapped_are_named(call):
    with pytest.raises(TypeError, match=r"space must be a specavg space, .*got symmetric\(3\)"):
        call(groups.symmetric(3), sa.Torus(3))
    with pytest.raises(TypeError, match=r"group must be a specavg Group; got Torus\(3\)"):
        call(sa.Torus(3), sa.Torus(3))
