"""Orientations by Miller indices: against the listed angles of components, and against the geometry of the cell."""

import numpy as np
import pytest

import specavg as sa
from specavg.spaces import rotations_from_bunge, rotations_from_miller

COMPONENTS = [
    ([0, 0, 1], [1, 0, 0], [0, 0, 0]),  # cube
    ([0, 1, 1], [1, 0, 0], [0, 45, 0]),  # Goss
    ([0, 1, 1], [2, 1, -1], [np.degrees(np.arctan(np.sqrt(0.5))), 45, 0]),  # brass
    ([0, 1, 1], [2, -1, 1], [np.degrees(np.arctan(np.sqrt(0.5))), 45, 0]),
    ([1, 1, 2], [1, 1, -1], [90, np.degrees(np.arctan(np.sqrt(0.5))), 45]),  # copper
    ([1, 1, 1], [1, 1, -2], [90, np.degrees(np.arctan(np.sqrt(2))), 45]),
]


@pytest.mark.parametrize("plane, direction, bunge", COMPONENTS)
def test_ideal_components_have_their_angles(plane, direction, bunge):
    listed = rotations_from_bunge([bunge], degrees=True)[0]
    group = sa.groups.crystal_symmetry("m-3m", specimen="mmm")
    copies = np.array([g.left.matrix @ listed @ g.right.matrix.T for g in group.elements()])
    (X,) = rotations_from_miller(plane, direction)
    assert np.abs(copies - X).max(axis=(1, 2)).min() < 1e-14


def test_planes_and_directions_of_a_lattice_lie_along_the_specimen():
    cell = sa.crystals.lattice(3.2, 4.1, 5.1, 80, 95, 120)
    planes, directions = np.array([[1, 0, 2], [1, 1, 1], [0, 0, 1]]), np.array([[2, 3, -1], [1, 1, -2], [1, 2, 0]])
    X = rotations_from_miller(planes, directions, cell)
    assert sa.Rotations().check_points(X).shape == (3, 9)
    for Y, (h, k, l), uvw in zip(X, planes, directions, strict=True):
        along = Y.T @ (uvw @ cell)
        assert along[0] == pytest.approx(np.linalg.norm(along))  # rolling direction
        for edge in (k * cell[0] - h * cell[1], l * cell[0] - h * cell[2], l * cell[1] - k * cell[2]):
            assert abs((Y.T @ edge)[2]) < 1e-12  # in the sheet
    one = rotations_from_miller([0, 0, 1], [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(one[1].T, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "plane, direction, said",
    [
        ([1, 1, 2], [1, 1, 1], r"\[1 1 1\] does not lie in the plane \(1 1 2\) .*= 4, .* 70.5° out of the plane"),
        ([1, 1, 1], [2, 2, 2], r"= 6, which must be 0, and it is 90° out of the plane"),
        ([[0, 0, 1], [0, 0, 0]], [1, 0, 0], "row 1 is"),
        ([0, 1], [1, 0, 0], r"hkl has shape"),
        ([[0, 0, 1]] * 2, [[1, 0, 0]] * 3, "hkl has 2 rows and uvw 3"),
    ],
)
def test_what_is_no_component_is_refused(plane, direction, said):
    with pytest.raises(ValueError, match=said):
        rotations_from_miller(plane, direction)
