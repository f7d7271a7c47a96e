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
