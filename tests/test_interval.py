"""Intervals: Chebyshev polynomials, their reflection, boxes under permutations, and points that do not belong."""

import warnings
from math import comb

import numpy as np
import pytest
from numpy.polynomial import chebyshev

import specavg as sa
from specavg import groups, isometries
from specavg.functions._symmetric_functions import SymmetrizedProducts
from specavg.spaces import Eigenspace

REFLECTION = isometries.signed_permutation([0], [-1])


@pytest.mark.parametrize("low, high", [(-1.0, 1.0), (0.5, 3.0), (-1e9, 1e9), (1e-12, 3e-12)])
def test_functions_are_chebyshev_polynomials(low, high):
    space = sa.Interval(low, high)
    t = np.linspace(-1, 1, 41)
    values = sa.invariant_basis(space, max_eigenvalue=30.0**2).evaluate(
        ((low + high) / 2 + (high - low) / 2 * t)[:, None]
    )
    wanted = chebyshev.chebvander(t, 30) * np.where(np.arange(31), np.sqrt(2), 1.0)
    np.testing.assert_allclose(values, wanted, atol=1e-12)


def test_samples_are_of_the_arcsine_measure():
    from scipy.stats import arcsine, kstest

    X = sa.Interval(-2.0, 5.0).sample(4000, random_state=0)
    assert X.shape == (4000, 1)
    assert kstest(X[:, 0], arcsine(-2.0, 7.0).cdf).pvalue > 0.01


@pytest.mark.parametrize("low, high", [(-1.0, 1.0), (0.5, 3.0), (-3.0, 0.1)])
@pytest.mark.parametrize("m", [1, 3])
def test_the_reflection_is_about_the_middle(low, high, m):
    one = sa.Interval(low, high)
    space = one if m == 1 else sa.Power(one, m)
    group = groups.sign_flips(1) if m == 1 else groups.wreath(groups.sign_flips(1), m)
    basis = sa.invariant_basis(space, group, max_eigenvalue=40.0)
    X = space.sample(50, random_state=0)
    moved = low + high - X[:, ::-1]
    np.testing.assert_allclose(basis.evaluate(moved), basis.evaluate(X), atol=1e-12)
    y = np.cos((X - one.low / 2 - one.high / 2) ** 2).sum(axis=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 1e-4  # |x| in place of x would make nonsense of it
    np.testing.assert_allclose(model.predict(moved), model.predict(X), rtol=1e-9)
    if low == -high:
        assert (model.predict(moved) == model.predict(X)).all()


@pytest.mark.parametrize("m, degree", [(3, 8), (6, 6), (200, 5)])
def test_symmetric_polynomials_of_a_box_are_counted_by_partitions(m, degree):
    basis = sa.invariant_basis(
        sa.Power(sa.Interval(0, 1), m), groups.symmetric(m), max_eigenvalue=degree, order="degree"
    )
    partitions = [[1] + [0] * degree]  # into at most m parts, as many as into parts of at most m
    counts = partitions[0]
    for part in range(1, min(m, degree) + 1):
        for n in range(part, degree + 1):
            counts[n] += counts[n - part]
    assert [row.invariant_dim for row in basis.table] == counts
    assert [row.dim for row in basis.table] == [comb(n + m - 1, n) for n in range(degree + 1)]
    assert {row.solver for row in basis.table} == {"closed form"}


@pytest.mark.parametrize("n", [20, 600])  # by NumPy, and by the loop
def test_functions_of_few_of_many_coordinates_are_sums_of_cosines(n):
    """With p_a = Σ √2 cos aθ_i: the function of a is p_a/√m, and that of a ≠ b is (p_a p_b − Σ ψ_a ψ_b)/√(m(m − 1))."""
    m = 30
    space = sa.Power(sa.Interval(0, 3), m)
    basis = sa.invariant_basis(space, groups.symmetric(m), max_invariant_dim=300, order="few coordinates")
    X = np.random.default_rng(0).uniform(0, 3, (n, m))
    theta = np.arccos(X / 1.5 - 1)
    degrees = range(1, 101)
    values = basis.evaluate(X)
    psi = {a: np.sqrt(2) * np.cos(a * theta) for a in degrees}
    single = {a: psi[a].sum(axis=1) / np.sqrt(m) for a in degrees}
    found = 0
    for wave in single.values():
        found += np.abs(values - wave[:, None]).max(axis=0).min() < 1e-11
    assert found > 50
    pair = (psi[1].sum(axis=1) * psi[2].sum(axis=1) - (psi[1] * psi[2]).sum(axis=1)) / np.sqrt(m * (m - 1))
    assert np.abs(values - pair[:, None]).max(axis=0).min() < 1e-12
    slopes = basis.gradient(X[:3])
    place = np.abs(values - single[40][:, None]).max(axis=0).argmin()
    exact = np.sqrt(2 / m) * 40 * np.sin(40 * theta[:3]) / np.sin(theta[:3]) / 1.5
    np.testing.assert_allclose(slopes[:, place], exact, atol=1e-10)
    C = np.zeros((basis.dim, 1))
    C[place] = 1.0
    combined = basis.combine_gradient(X, C)
    np.testing.assert_allclose(combined[:3, :, 0], exact, atol=1e-10)


def test_loops_compute_polynomials_of_an_interval_themselves():
    """They read one number a copy: thousands of values a copy fill the memory with the copies of a few points."""
    space = sa.Power(sa.Interval(0, 1), 100)
    one_copy = sa.Interval(0, 1).functions([Eigenspace(float(k * k), 1, k) for k in (3, 1, 2)])
    sums = SymmetrizedProducts(one_copy, 100, [[0], [1, 2]], np.ones(2))
    X = space.sample(2, random_state=0)
    assert sums._loaded(X).shape == (2, 100, 1)
    psi = np.sqrt(2) * np.cos(np.arccos(2 * X[:, :, None] - 1) * [3, 1, 2])
    p = psi.sum(axis=1)
    wanted = np.stack([p[:, 0], p[:, 1] * p[:, 2] - (psi[:, :, 1] * psi[:, :, 2]).sum(axis=1)], axis=1)
    np.testing.assert_allclose(sums.values(X), wanted, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(sums._looped_values(X), wanted, rtol=1e-12, atol=1e-11)


def test_a_smooth_function_that_is_not_periodic_is_learned():
    space, group = sa.Power(sa.Interval(0.0, 3.0), 3), groups.symmetric(3)
    X = np.random.default_rng(0).uniform(0, 3, (300, 3))  # not the space's own measure

    def f(X):
        return np.exp(-X).sum(axis=1) * np.exp(X.sum(axis=1) / 9)

    model = sa.InvariantKernelRidge(space, group).fit(X, f(X))
    Z = np.random.default_rng(1).uniform(0.1, 2.9, (200, 3))
    assert np.abs(model.predict(Z) - f(Z)).max() < 1e-4
    assert (model.predict(Z) == model.predict(Z[:, [2, 0, 1]])).all()


def test_what_does_not_belong_is_refused():
    with pytest.raises(ValueError, match=r"off by 0\.5.*MinMaxScaler\(clip=True\)"):
        sa.Interval(0.0, 2.0).check_points([[1.0], [2.5]])
    for ends in ((1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0)):
        with pytest.raises(ValueError, match="low < high"):
            sa.Interval(*ends)
    for g in (isometries.shift([0.5]), isometries.permutation([1, 0])):
        with pytest.raises(ValueError, match="an interval has the identity and the reflection"):
            sa.Interval().check_isometry(g)
    assert sa.Interval(0, 2) == sa.Interval(0.0, 2.0) != sa.Interval()
    assert repr(sa.Interval(0, 2)) == "Interval(0.0, 2.0)"
    assert (sa.Interval(0, 2).act(REFLECTION, [[0.5]]) == 1.5).all()


def test_uniform_points_of_an_interval_are_questioned_by_the_algorithm_of_the_paper():
    space = sa.Power(sa.Interval(0.0, 1.0), 2)
    X = np.random.default_rng(0).random((300, 2))
    with pytest.warns(UserWarning, match=r"column 0 does not follow the arcsine measure of Interval\(0.0, 1.0\)"):
        sa.SpecAvgRegressor(space, max_dim=20).fit(X, X[:, 0])
    weights = 1 / np.sqrt(np.prod(X * (1 - X), axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.SpecAvgRegressor(space, max_dim=20).fit(X, X[:, 0], sample_weight=weights)
        sa.SpecAvgRegressor(space, max_dim=20).fit(space.sample(300, random_state=0), X[:, 0])


def test_gradients_of_dense_combinations_are_those_of_sparse_ones():
    from scipy.sparse import csc_array

    from specavg.functions._chebyshev_orbits import ChebyshevProducts
    from specavg.functions._combinations import Combinations

    products = ChebyshevProducts(0.0, 1.0, np.array([[1, 0], [0, 1], [2, 1]]))
    X, Q = np.random.default_rng(0).uniform(-1, 1, (5, 2)), np.ones((3, 2))
    dense, sparse = (Combinations(products, matrix).gradient(X) for matrix in (Q, csc_array(Q)))
    assert np.array_equal(dense, sparse)
    x, y = X.T  # √2 x + √2 y + 2 (2x² − 1) y
    np.testing.assert_allclose(dense[:, 1], np.stack([2**0.5 + 8 * x * y, 2**0.5 + 2 * (2 * x**2 - 1)], axis=1))
