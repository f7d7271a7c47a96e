"""Groups from the left and from the right: orders, invariants, and what is refused."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import ortho_group

import specavg as sa
from specavg import groups


@pytest.mark.parametrize(
    "left, right",
    [
        (groups.trivial(4), groups.hyperoctahedral(2)),
        (groups.symmetric(4), groups.sign_flips(2)),
        (groups.sign_flips(4), groups.sign_flips(2)),
    ],
)
def test_the_order_is_the_number_of_maps(left, right):
    group = groups.left_right(left, right)
    maps = {tuple(np.kron(a.matrix, b.matrix).ravel() + 0.0) for a, b in product(left.elements(), right.elements())}
    assert group.order == len(maps)


def test_invariants_are_averages_over_both_groups():
    space = sa.Stiefel(4, 2)
    left, right = groups.cyclic_shifts(4), groups.hyperoctahedral(2)
    basis = sa.invariant_basis(space, groups.left_right(left, right), max_eigenvalue=24)
    every = sa.invariant_basis(space, max_eigenvalue=24)
    X = space.sample(3 * every.dim, random_state=0).reshape(-1, 4, 2)
    pairs = list(product(left.elements(), right.elements()))
    mean = sum(every.evaluate(a.matrix @ X @ b.matrix.T) for a, b in pairs) / len(pairs)
    assert basis.dim == np.linalg.matrix_rank(mean, tol=1e-8)
    inside = np.linalg.lstsq(mean, basis.evaluate(X), rcond=None)[0]
    np.testing.assert_allclose(mean @ inside, basis.evaluate(X), atol=1e-9)


def test_functions_of_a_plane_are_learnt_whatever_its_frame():
    space, group = sa.Stiefel(5, 2), groups.left_right(groups.trivial(5), groups.orthogonal(2))
    X = space.sample(200, random_state=0).reshape(-1, 5, 2)
    P = X @ X.transpose(0, 2, 1)
    y = P[:, 0, 0] * P[:, 1, 2] + P[:, 3, 3]
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    B = ortho_group.rvs(2, random_state=0)
    np.testing.assert_allclose(model.predict(X @ B), model.predict(X), atol=1e-12)
    assert model.loo_error_ < 0.01
    assert sa.symmetry_test(X, y, space, group).p_value > 0.05
    assert sa.symmetry_test(X, X[:, 0, 0], space, group).p_value < 1e-6


def test_crystal_and_specimen_are_left_and_right():
    two = groups.left_right(groups.point_group("O"), groups.point_group("D2"))
    one = groups.crystal_symmetry("O", specimen="D2")
    assert (two.generators, two.order) == (one.generators, one.order)
    found = [sa.invariant_basis(sa.Rotations(), group, max_eigenvalue=110) for group in (one, two)]
    X = sa.Rotations().sample(50, random_state=0)
    np.testing.assert_allclose(*(b.evaluate(X) @ b.evaluate(X).T for b in found), atol=1e-10)


@pytest.mark.parametrize(
    "right, complaint",
    [
        (5, "the right one is 5. Where nothing moves give trivial"),
        (groups.cyclic(4), "is no matrix: what acts on matrices from the right"),
        (groups.shifts((1, 1)), "is no rotation: what acts on matrices from the right"),
    ],
)
def test_what_moves_no_columns_is_refused(right, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        groups.left_right(groups.trivial(3), right)


def test_sizes_are_those_of_the_matrices():
    group = groups.left_right(groups.trivial(4), groups.sign_flips(3))
    with pytest.raises(ValueError, match=r"factors of size 4 and 3; Stiefel\(5, 3\) needs 5 and 3"):
        sa.invariant_basis(sa.Stiefel(5, 3), group, max_eigenvalue=10)


def test_names_are_read_back():
    group = groups.left_right(groups.sign_flips(3), groups.point_group("C3"))
    assert eval(repr(group), vars(groups).copy()) == group
    assert repr(groups.Group(group.generators)).startswith("Group(<")
