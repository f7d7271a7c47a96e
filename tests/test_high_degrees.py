"""High degrees: turns that are known to rounding have their invariants counted, whatever the degree."""

from itertools import count, takewhile

import numpy as np
import pytest
from scipy.special import eval_legendre

import specavg as sa
from specavg import groups
from specavg.invariants._certified_null_space import UnclearRank, rounding
from specavg.invariants._fixed_space import fixed_space
from specavg.invariants._solver_choice import Resolver

CIRCLE = sa.Sphere(2)
SPHERE = sa.Sphere(3)


def turn(n):
    angle = 2 * np.pi / n
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def every(space, wanted):
    """The eigenspaces at some places of the list."""
    last = max(wanted)
    return [V for k, V in takewhile(lambda pair: pair[0] <= last, zip(count(), space.eigenspaces())) if k in wanted]


@pytest.mark.parametrize("space", [CIRCLE, sa.Stiefel(2, 1)], ids=repr)
@pytest.mark.parametrize("n", [3, 4, 5, 7, 12, 30])
def test_turns_of_the_circle_keep_one_pair_in_n(space, n):
    degrees = {0, n, *(n * (k // n) for k in (150, 200, 400, 900)), 601, 902}
    resolver = Resolver(space, groups.Group([turn(n)]))
    for V in every(space, degrees):
        degree = space.degree(V)
        found = resolver.solve(V)
        assert found.invariant_dim == (0 if degree % n else min(2, V.dim))
        assert found.residual <= rounding(V.dim, degree)


@pytest.mark.parametrize("name, kept", [("symmetric", 1), ("hyperoctahedral", None), ("cyclic_shifts", 1)])
def test_exchanges_of_the_two_coordinates_of_the_circle(name, kept):
    resolver = Resolver(CIRCLE, getattr(groups, name)(2))
    for V in every(CIRCLE, {1, 2, 4, 160, 171, 300, 303}):
        expected = int(CIRCLE.degree(V) % 4 == 0) if kept is None else kept
        assert resolver.solve(V).invariant_dim == expected


@pytest.mark.parametrize("n", [3, 4])
def test_copies_of_the_circle_at_high_degrees(n):
    # The invariants of wreath(C_n, 2) are pairs of invariants of one copy, in either order: counted by hand.
    basis = sa.invariant_basis(sa.Power(CIRCLE, 2), groups.wreath(groups.Group([turn(n)]), 2), max_eigenvalue=210.0**2)
    one = [(k * k, 1 if k == 0 else 2) for k in range(0, 211, n)]
    pairs = sum(a[1] * b[1] for i, a in enumerate(one) for b in one[i + 1 :] if a[0] + b[0] <= 210**2)
    equal = sum(m * (m + 1) // 2 for value, m in one if 2 * value <= 210**2)
    assert basis.dim == pairs + equal


@pytest.mark.parametrize("n", [3, 5, 6])
def test_turned_axes_of_the_sphere_at_degree_300(n):
    c, s = np.cos(2 * np.pi / n), np.sin(2 * np.pi / n)
    R = np.linalg.qr(np.random.default_rng(n).standard_normal((3, 3)))[0]
    group = groups.Group([R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ R.T])
    space = sa.Sphere(3)
    found = Resolver(space, group).solve(space.eigenspace(300))
    assert found.invariant_dim == 1 + 2 * (300 // n)
    assert found.residual <= rounding(601, 300)


@pytest.mark.parametrize("degree", [10, 300, 900])
def test_a_turn_that_is_off_by_more_than_rounding_is_still_refused(degree):
    angle = 2 * np.pi / 5 + 1e-11
    c, s = np.cos(degree * angle), np.sin(degree * angle)
    with pytest.raises(UnclearRank, match="in doubt"):
        fixed_space([np.array([[c, -s], [s, c]])])
    group = groups.Group([[[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]])
    with pytest.raises(UnclearRank, match="in doubt"):
        Resolver(CIRCLE, group).solve(CIRCLE.eigenspace(degree))


def test_null_vectors_are_orthonormal_to_rounding():
    # LAPACK's vectors of one eigenvalue were off by 2e-13 with the code for some processors.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((40, 40)))[0]
        D = Q @ np.diag(np.r_[np.ones(9), -np.ones(31)]) @ Q.T
        basis = fixed_space([D]).basis
        assert np.abs(basis.T @ basis - np.eye(9)).max() < 4e-15


@pytest.mark.parametrize("degree", [300, 1600])
def test_harmonics_of_the_sphere_fill_their_addition_theorem(degree):
    # Σ Y² = 2k + 1 at every point, poles and points beside them too; powers of x + iy there are below 1e-308.
    X = np.concatenate([SPHERE.sample(2, random_state=0), np.eye(3), [[0, 0, -1.0], [1e-200, 1e-300, 1.0]]])
    V = SPHERE.eigenspace(degree)
    family = SPHERE.functions([V])
    plain, few, compiled = SPHERE.evaluate(V, X), family.values(X), family._looped_values(X)
    # Near the poles a rounding of step j of the recurrence grows (k − j)-fold: k² eps in all, of functions of size √k.
    bound = np.finfo(float).eps * degree**2
    for values in (plain, few, compiled):
        np.testing.assert_allclose((values**2).sum(axis=1), 2 * degree + 1, rtol=bound)
        np.testing.assert_allclose(plain, values, rtol=0, atol=bound * np.sqrt(2 * degree + 1))


def test_gradients_of_high_degrees_fill_theirs():
    # Σ |∇Y|² = k(k + 1)(2k + 1) at every point of the unit sphere.
    degree, X = 1600, SPHERE.sample(2, random_state=0)
    slopes = SPHERE.functions([SPHERE.eigenspace(degree)]).gradient(X)
    total = degree * (degree + 1) * (2 * degree + 1)
    np.testing.assert_allclose((slopes**2).sum(axis=(1, 2)), total, rtol=1e-14 * degree)
    assert np.abs(np.einsum("nkf,nf->nk", slopes, X)).max() < 1e-13 * degree**1.5


def test_features_of_high_degrees_are_numbers():
    group = groups.point_group("C∞v")
    X = SPHERE.sample(5, random_state=0)
    found = sa.InvariantFeatures(SPHERE, group, max_eigenvalue=1550.0 * 1551).fit_transform(X)
    expected = eval_legendre(np.arange(1551), X[:, 2, None]) * np.sqrt(2 * np.arange(1551) + 1)
    np.testing.assert_allclose(np.abs(found), np.abs(expected[:, -found.shape[1] :]), rtol=0, atol=1e-9)
