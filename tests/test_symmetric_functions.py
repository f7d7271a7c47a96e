"""Sums over injective assignments, copy by copy, against the definition."""

from itertools import permutations
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specavg as sa
from specavg import groups, testing
from specavg.functions._copy_by_copy import CopyByCopy, PlainStates


def by_definition(values, multiset):
    """Σ over distinct copies i_1, …, i_p of ∏ ψ_{a_j}(x_{i_j})."""  # values (A, n, m)
    m = values.shape[2]
    total = np.zeros(values.shape[1])
    for chosen in permutations(range(m), len(multiset)):
        total += np.prod([values[a, :, i] for a, i in zip(multiset, chosen, strict=True)], axis=0)
    return total


def by_numpy(program, values):
    """The states that are functions, at given one-copy values."""  # (A, n, m) -> (outputs, n)
    copies = values.transpose(0, 2, 1)
    return PlainStates(program, values.shape[2]).run(lambda some: copies[:, some], values.shape[1])


def exchanges(multisets):
    """How often an injective sum counts each choice of copies."""
    return np.array([[prod(factorial(a.count(b)) for b in set(a))] for a in multisets])


MULTISETS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=30)
@given(MULTISETS, st.integers(1, 6), st.integers(0, 1000))
def test_copy_by_copy_gives_the_injective_sums(multisets, m, seed):
    values = np.random.default_rng(seed).standard_normal((3, 2, m))
    found = by_numpy(CopyByCopy.of(multisets), values) * exchanges(multisets)
    expected = np.array([by_definition(values, multiset) for multiset in multisets])
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_more_factors_than_copies_vanish():
    values = np.random.default_rng(0).standard_normal((1, 3, 2))
    assert np.array_equal(by_numpy(CopyByCopy.of([[0, 0, 0]]), values), np.zeros((1, 3)))


@pytest.mark.parametrize("m", [3, 16, 17, 40])
def test_orbits_of_waves_make_the_same_invariants(m):
    top = 2 * np.pi**2 if m > 3 else 6 * np.pi**2
    assert "orbits" in testing.solver_names(sa.Torus(m), groups.symmetric(m))
    basis = sa.invariant_basis(sa.Torus(m), groups.symmetric(m), max_eigenvalue=top)
    by_orbits = sa.invariant_basis(sa.Torus(m), groups.symmetric(m), max_eigenvalue=top, solver="orbits")
    X = sa.Torus(m).sample(20, 0)
    first, second = basis.evaluate(X), by_orbits.evaluate(X)
    np.testing.assert_allclose(first @ first.T, second @ second.T, atol=1e-11)


def test_many_points_of_a_cloud_by_hand():
    # Power(Sphere(3), m) under S_m: degree-one functions are √3 Σ x_i/√m, one for each coordinate.
    m = 200
    space = sa.Power(sa.Sphere(3), m)
    basis = sa.invariant_basis(space, groups.symmetric(m), max_eigenvalue=2.0)
    X = space.sample(10, 0)
    mean = np.sqrt(3 / m) * X.reshape(10, m, 3).sum(axis=1)
    found = basis.evaluate(X)[:, 1:]
    np.testing.assert_allclose(found @ found.T, mean @ mean.T, atol=1e-12)


def test_invariants_of_thousands_of_copies_keep_their_digits():
    # Independent of the order of the coordinates to rounding, on the path without canonical points.
    basis = sa.invariant_basis(sa.Torus(2_000), groups.symmetric(2_000), max_eigenvalue=3 * np.pi**2)
    assert basis.dim == 10
    testing.check_invariance(basis, n_elements=5)


@pytest.mark.parametrize(
    "space, group, size",
    [
        (sa.Torus(17), groups.symmetric(17), 400),
        (sa.Torus(40), groups.hyperoctahedral(40), 2500),
        (sa.Torus(120), groups.hyperoctahedral(120), 1000),
        (sa.Power(sa.Sphere(3), 25), groups.symmetric(25), 300),
    ],
    ids=repr,
)
def test_functions_with_many_factors_keep_their_digits(space, group, size):
    # Up to thirty factors: polynomials in power sums would lose all digits here.
    basis = sa.invariant_basis(space, group, max_invariant_dim=size)
    X = space.sample(30, 0)
    values = basis.evaluate(X)
    for seed in range(4):
        moved = basis.evaluate(space.act(group.random(seed), X))
        assert np.abs(moved - values).max() < 1e-12 * np.abs(values).max()


@pytest.mark.parametrize("d", [1_000, 10_000])
def test_symmetric_polynomials_of_many_coordinates_keep_their_digits(d):
    space, group = sa.Sphere(d), groups.symmetric(d)
    basis = sa.invariant_basis(space, group, max_eigenvalue=4.0 * (d + 2))
    X = space.sample(20, 0)
    values = basis.evaluate(X)
    assert np.abs(values - basis.functions.plain_values(X)).max() < 1e-12 * np.abs(values).max()
    for seed in range(3):
        moved = basis.evaluate(space.act(group.random(seed), X))
        assert np.abs(moved - values).max() < 1e-12 * np.abs(values).max()


POLYNOMIALS = [
    (sa.Torus(4), groups.symmetric(4), 120),
    (sa.Torus(3, period=1.7), groups.hyperoctahedral(3), 60),
    (sa.Torus(17), groups.symmetric(17), 300),
    (sa.Torus(30), groups.symmetric(30), 250),
    (sa.Torus(30), groups.hyperoctahedral(30), 150),
    (sa.Torus(100), groups.symmetric(100), 100),
]


@pytest.mark.parametrize("space, group, size", POLYNOMIALS, ids=repr)
def test_polynomials_in_sums_over_copies_keep_their_digits(space, group, size):
    # Against the sums that subtract nothing; at points, too, where all terms of a polynomial have their largest size.
    functions = sa.invariant_basis(space, group, max_invariant_dim=size).functions
    functions = getattr(functions, "_functions", functions)
    polynomials, _ = functions._make_polynomials(nanoseconds=np.inf)
    assert polynomials._source.dim > functions.dim  # products that are no functions of the family
    rng, m, period = np.random.default_rng(0), space.dim, space.period[0]
    points = [
        space.sample(400, 0),  # more than 512 in all: fewer would be left to plain NumPy
        period * np.repeat(rng.random((50, 1)), m, axis=1),
        period * rng.choice([0.0, 0.25, 0.5, 0.75], size=(50, m)),
        1e-3 * rng.normal(size=(50, m)),
        np.zeros((1, m)),
    ]
    X = np.concatenate(points)
    expected = functions.plain_values(X)
    for values in (polynomials.values(X), polynomials.plain_values(X)):
        assert (np.abs(values - expected) <= 5e-14 * np.abs(expected).max(axis=0)).all()
    Y, C = rng.normal(size=(len(X), 2)), rng.normal(size=(functions.dim, 2))
    assert np.abs(polynomials.correlate(X, Y) - expected.T @ Y).max() <= 1e-12 * np.abs(expected.T @ Y).max()
    assert np.abs(polynomials.combine(X, C) - expected @ C).max() <= 1e-13 * np.abs(expected @ C).max()


def test_polynomials_of_many_factors_keep_their_digits_at_random_points():
    # There, functions of many copies are much smaller than at points with equal coordinates. If all 26 waves were split
    # off, three digits would be lost.
    functions = sa.invariant_basis(sa.Torus(1000), groups.hyperoctahedral(1000), max_invariant_dim=200).functions
    (polynomials, _), X = functions._make_polynomials(nanoseconds=np.inf), sa.Torus(1000).sample(20, 0)
    expected = functions.plain_values(X)
    assert (np.abs(polynomials.plain_values(X) - expected) <= 2e-13 * np.abs(expected).max(axis=0)).all()


def test_sums_over_many_points_go_by_polynomials():
    space, n = sa.Torus(60), 20_000
    functions = sa.invariant_basis(space, groups.symmetric(60), max_invariant_dim=60).functions
    X = space.sample(n, 0)
    Y, C = np.ones((n, 1)), np.ones((functions.dim, 1))
    assert functions._faster(n) is functions._polynomials
    assert functions._faster(100) is None
    values = functions.values(X)
    assert np.abs(functions.correlate(X, Y) - values.T @ Y).max() <= 1e-12 * n
    assert np.abs(functions.combine(X, C) - values @ C).max() <= 1e-12 * np.abs(values @ C).max()


def test_halves_joined_are_all_copies_one_after_the_other():
    values = np.random.default_rng(0).standard_normal((3, 2, 700))
    multisets = [[0], [0, 0], [0, 1], [0, 0, 1], [0, 1, 2], [2, 2, 2]]
    program = CopyByCopy.of(multisets)
    whole = np.zeros((len(program.starts), 2))
    whole[0] = 1.0
    for i in range(700):
        for state, start, end in zip(program.states, program.starts[:-1], program.starts[1:], strict=True):
            whole[state] += sum(values[a, :, i] * whole[rest] for a, rest in program.entries[start:end])
    expected = whole[program.outputs]
    np.testing.assert_allclose(by_numpy(program, values), expected, atol=1e-11 * np.abs(expected).max())


def test_polynomials_are_not_made_where_that_takes_longer_than_the_points():
    # 1,500 functions have some 3e7 coefficients, which take a minute; the loops take 0.6 ms a point.
    functions = sa.invariant_basis(sa.Torus(1000), groups.hyperoctahedral(1000), max_invariant_dim=1500).functions
    assert functions._faster(1000) is None
    assert 0 < functions._coefficients <= 1000 * functions.nanoseconds() / 1.6e3  # given up after as many
