"""Rotations of SciPy, one or many, where matrices are taken."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups
from specavg import isometries as iso

TURNS = Rotation.random(30, random_state=0)
MATRICES = TURNS.as_matrix()


def test_single_rotations_are_isometries():
    assert iso.orthogonal(TURNS[0]) == iso.orthogonal(MATRICES[0])
    assert iso.left_right(TURNS[0], TURNS[1]) == iso.left_right(MATRICES[0], MATRICES[1])
    with pytest.raises(ValueError, match="needs one rotation; got 30"):
        iso.orthogonal(TURNS)


@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_of_rotations_are_stacks(kind):
    listed = kind(TURNS[i] for i in range(len(TURNS)))
    y = np.cos(MATRICES[:, 0, 0])
    model = sa.InvariantKernelRidge(sa.Rotations(), max_dim=40).fit(TURNS, y)
    again = sa.InvariantKernelRidge(sa.Rotations(), max_dim=40).fit(listed, y)
    assert np.array_equal(model.predict(TURNS), again.predict(listed))
    assert np.array_equal(sa.Rotations().check_points(listed), MATRICES.reshape(-1, 9))
    with pytest.raises(TypeError, match=r"X holds orientations .*space=sa.Rotations\(\)"):
        sa.InvariantKernelRidge().fit(listed, y)


@pytest.mark.parametrize("kind", [list, tuple, np.ndarray.tolist])
def test_lists_of_matrices_are_stacks(kind):
    y = np.cos(MATRICES[:, 0, 0])
    for model, method in (
        (sa.InvariantKernelRidge(sa.Rotations(), max_dim=40), "predict"),
        (sa.InvariantDensity(sa.Rotations(), max_dim=40), "score_samples"),
    ):
        expected = getattr(model.fit(MATRICES, y), method)(MATRICES)
        assert np.array_equal(getattr(model.fit(kind(MATRICES), y), method)(kind(MATRICES)), expected)
    cloud = sa.Power(sa.Sphere(3), 2)
    X = cloud.sample(30, random_state=0).reshape(30, 2, 3)
    model = sa.InvariantKernelRidge(cloud, max_dim=40).fit(X, y)
    assert np.array_equal(sa.InvariantKernelRidge(cloud, max_dim=40).fit(kind(X), y).predict(kind(X)), model.predict(X))
    with pytest.raises(ValueError, match=r"shape \(n, 3, 3\) or \(n, 9\); got an array of shape \(30, 2, 3\)"):
        sa.InvariantKernelRidge(sa.Rotations()).fit(kind(X), y)


@pytest.mark.parametrize("space", [sa.Rotations(), sa.Power(sa.Rotations(), 2), sa.Stiefel(7, 3)], ids=repr)
def test_matrices_with_six_decimals_are_points(space):
    X = space.sample(2000, random_state=0)
    rounded = np.round(X, 6)
    assert np.array_equal(space.check_points(rounded), rounded)
    errors = np.abs(np.linalg.norm(X - rounded, axis=1))
    assert errors.max() < 5e-7 * X.shape[1] ** 0.5
    with pytest.raises(ValueError, match=r"points are not on .* is off by .* \(tolerance [23]e-06\)"):
        space.check_points(np.round(X, 5))


def test_predictions_are_invariant_at_matrices_with_six_decimals():
    space, group = sa.Rotations(), groups.crystal_symmetry("O", "D2")
    X = np.round(space.sample(200, random_state=0), 6)
    model = sa.InvariantKernelRidge(space, group, max_dim=1000).fit(X, np.cos(X[:, 0] ** 4))
    at = model.predict(X)
    assert max(np.abs(model.predict(space.act(g, X)) - at).max() for g in group.elements()) < 1e-12
    slope = np.abs(model.gradient(X)).max()
    exact = Rotation.from_matrix(X.reshape(-1, 3, 3)).as_matrix()  # what is nearest to the rounded matrices
    assert np.abs(model.predict(exact) - at).max() < 1e-12 * (1 + slope)


def test_canonical_orientations_have_the_shape_that_was_given():
    group = groups.crystal_symmetry("O")
    flat = group.canonical(MATRICES.reshape(-1, 9))
    assert np.array_equal(group.canonical(MATRICES), flat.reshape(-1, 3, 3))
    assert np.array_equal(group.canonical(TURNS), group.canonical(MATRICES))
    space = sa.Rotations()
    for g in group.generators:
        assert np.array_equal(group.canonical(space.act(g, MATRICES)), group.canonical(MATRICES))
    assert any(np.array_equal(space.act(g, MATRICES)[0], group.canonical(MATRICES)[0]) for g in group.elements())
    with pytest.raises(ValueError, match=r"shape \(n, 9\).*got shape \(4, 2, 3\)"):
        group.canonical(np.zeros((4, 2, 3)))


def test_a_single_permutation_of_sympy_is_no_list():
    combinatorics = pytest.importorskip("sympy.combinatorics")
    with pytest.raises(TypeError, match=r"the single permutation .*write \[g\]"):
        groups.Group(combinatorics.Permutation([1, 0, 2]))
