"""Determinants of one-copy functions: their values, their signs under exchanges, orthonormality."""

from itertools import combinations, permutations
from math import factorial, fsum

import numpy as np
import pytest

import specavg as sa
from specavg.functions._determinants import Determinants
from specavg.groups._linear_part import determinant
from specavg.isometries import permutation


def one_copy(space, count):
    """All functions of the first eigenspaces that make up `count`."""
    chosen, total = [], 0
    for V in space.eigenspaces():
        if total == count:
            return space.functions(chosen)
        chosen.append(V)
        total += V.dim
        assert total <= count
    raise AssertionError


def all_sets(A, m):
    return np.array(list(combinations(range(A), m)))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_values_are_the_alternating_sum_over_permutations(m):
    space = sa.Sphere(3)
    family = Determinants(one_copy(space, 4), m, all_sets(4, m))
    X = sa.Power(space, m).sample(7, 0)
    psi = one_copy(space, 4).values(X.reshape(7 * m, 3)).reshape(7, m, 4)
    expected = np.zeros((7, family.dim))
    for p in permutations(range(m)):
        for j, a in enumerate(all_sets(4, m)):
            expected[:, j] += determinant(permutation(p)) * np.prod([psi[:, p[i], a[i]] for i in range(m)], axis=0)
    np.testing.assert_allclose(family.values(X), expected / factorial(m) ** 0.5, rtol=0, atol=1e-13)


@pytest.mark.parametrize("m, A", [(2, 9), (3, 9), (5, 9), (8, 9), (9, 9)])
def test_shared_elimination_agrees_with_one_factorisation_each(m, A):
    space = sa.Sphere(3)
    family = Determinants(one_copy(space, A), m, all_sets(A, m))
    X = sa.Power(space, m).sample(50, 1)
    psi = one_copy(space, A).values(X.reshape(50 * m, 3)).reshape(50, m, A)
    columns = np.sqrt(np.arange(1, m + 1))  # their product is √m!, which does not overflow on the way
    expected = np.stack([np.linalg.det(psi[:, :, a] / columns) for a in all_sets(A, m)], axis=1)
    np.testing.assert_allclose(family.values(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("m", [2, 3])
def test_determinants_are_orthonormal(m):
    space = sa.Power(sa.Torus(1), m)
    family = Determinants(one_copy(sa.Torus(1), 5), m, all_sets(5, m))
    X, weights = space.quadrature(4 * m * (2 * np.pi) ** 2)
    np.testing.assert_allclose(family.gram(X, weights), np.eye(family.dim), atol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 10, 51])
def test_exchanging_copies_changes_the_sign(m):
    space = sa.Torus(1)
    A = m + 2 if m % 2 else m + 3
    rng = np.random.default_rng(m)
    sets = np.array([sorted(rng.choice(A, m, replace=False)) for _ in range(20)])
    family = Determinants(one_copy(space, A), m, sets)
    # Nearly equally spaced points: a determinant of many random ones is smaller than the rounding of its columns.
    X = 2 * np.arange(m) / m - 1 + rng.uniform(-1, 1, (30, m)) / m
    before = family.values(X)
    for seed in range(3):
        g = permutation(np.random.default_rng(seed).permutation(m))
        error = np.abs(family.values(g(X)) - determinant(g) * before).max()
        assert error <= 1e-13 * np.abs(before).max()


@pytest.mark.parametrize("m", [3, 11, 51, 201])
def test_the_lowest_determinant_on_a_circle_is_a_product(m):
    # 1, √2 cos kx, √2 sin kx for k ≤ (m − 1)/2: up to a sign, ∏_{i<j} 2 sin((x_i − x_j)/2) / √m! (Vandermonde).
    family = Determinants(one_copy(sa.Circle(), m), m, np.arange(m)[None])
    rng = np.random.default_rng(0)
    X = np.pi * (2 * np.arange(m) / m - 1) + rng.uniform(-1, 1, (20, m)) / m
    found = family.values(X)[:, 0]
    i, j = np.triu_indices(m, 1)
    gaps = 2 * np.sin((X[:, i] - X[:, j]) / 2)
    logarithm = np.array([fsum(row) for row in np.log(np.abs(gaps))]) - 0.5 * fsum(np.log(np.arange(1, m + 1)))
    np.testing.assert_allclose(np.abs(found), np.exp(logarithm), rtol=1e-12)
    signs = found * np.prod(np.sign(gaps), axis=1)
    assert (signs > 0).all() or (signs < 0).all()


def test_copies_in_one_place_give_zero():
    space = sa.Torus(1)
    family = Determinants(one_copy(space, 5), 3, all_sets(5, 3))
    X = np.array([[0.3, 0.3, -0.7], [0.1, 0.1, 0.1]])
    np.testing.assert_allclose(family.values(X), 0.0, atol=1e-15)


def test_sums_and_combinations_agree_with_values():
    space = sa.Sphere(3)
    family = Determinants(one_copy(space, 9), 3, all_sets(9, 3))
    X = sa.Power(space, 3).sample(200, 0)
    rng = np.random.default_rng(0)
    Y, C = rng.standard_normal((200, 2)), rng.standard_normal((family.dim, 2))
    np.testing.assert_allclose(family.correlate(X, Y), family.values(X).T @ Y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(family.combine(X, C), family.values(X) @ C, rtol=0, atol=1e-11)


@pytest.mark.parametrize("sets", [[[1, 0]], [[0, 0]], [[0, 1, 2]]])
def test_other_sets_are_refused(sets):
    with pytest.raises(ValueError, match="2 different functions in increasing order"):
        Determinants(one_copy(sa.Torus(1), 3), 2, np.array(sets))
