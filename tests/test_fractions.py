"""Fractions around orientations without equivalent ones, and of crystals that turns by every angle leave alone."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups, textures


def uniform(X):
    return np.ones(len(X))


@pytest.mark.parametrize("angle", [90.0, 120.0, 180.0])
def test_without_equivalent_orientations_a_ball_may_be_as_large_as_all(angle):
    a = np.deg2rad(angle)
    assert textures.volume_fraction(uniform, np.eye(3), angle) == pytest.approx((a - np.sin(a)) / np.pi, abs=1e-12)
    with pytest.raises(ValueError, match="no two orientations are further apart than 180"):
        textures.volume_fraction(uniform, np.eye(3), angle + 91)


@pytest.mark.parametrize("crystal", ["C∞", "D∞"])
def test_the_axis_of_a_crystal_that_turns_leave_alone_is_a_fibre(crystal):
    group, a = groups.crystal_symmetry(crystal, "C∞"), np.deg2rad(40.0)
    both = 1 - np.cos(a) ** 3  # of 3t² over cos a < |t| < 1, dt/2
    found = textures.fibre_fraction(lambda X: 3 * X[:, 8] ** 2, [0, 0, -2], [0, 0, 1], 40, group=group)
    assert found == pytest.approx(both, abs=1e-12)
    X = Rotation.from_rotvec(0.2 * np.random.default_rng(0).standard_normal((300, 3))).as_matrix()
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry(crystal)).fit(X)
    near = np.mean(np.abs(X[:, 2, 2]) >= np.cos(np.deg2rad(10)))
    assert textures.fibre_fraction(model, [0, 0, 1], [0, 0, 1], 10) == pytest.approx(near, abs=0.03)
    with pytest.raises(ValueError, match=r"make of \[1.0, 0.0, 0.0\] are a circle .*\[0, 0, 1\] for turns about z"):
        textures.fibre_fraction(model, [1, 0, 0], [0, 0, 1], 10)
    with pytest.raises(
        ValueError, match=r"turns by every angle: .* angle between two of them is that between the rows"
    ):
        textures.misorientation_angles(X, groups.crystal_symmetry(crystal))
