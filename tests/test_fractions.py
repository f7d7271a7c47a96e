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


def peak(centre, kappa=20.0):
    """exp(κ cos ω), ω the angle from one orientation, of integral one; and draws from it."""
    scale = np.exp(-sa.Rotations().von_mises.log_mass(np.array([kappa])))[0]
    draws = sa.Rotations().von_mises.sample(
        np.tile(centre.reshape(1, 9), (100_000, 1)), np.full(100_000, kappa), np.random.default_rng(0)
    )
    return lambda X: scale * np.exp(kappa * (X @ centre.ravel() / 2 - 1.5)), draws


def test_variants_of_sheet_are_all_counted_where_the_density_has_one():
    """Against the share of the rows: a density of one variant had 0.67 around it, and 1.6e-5 around another one."""
    X0 = sa.spaces.rotations_from_bunge([[35.26, 45, 0]], degrees=True)[0]
    X = Rotation.from_rotvec(np.deg2rad(8) * np.random.default_rng(1).standard_normal((1000, 3))).as_matrix() @ X0
    crystal, sheet = groups.crystal_symmetry("m-3m"), groups.crystal_symmetry("m-3m", specimen="mmm")
    model = sa.InvariantDensity(sa.Rotations(), crystal).fit(X)
    images = np.concatenate([sa.Rotations().act(g, X0.reshape(1, 9)) for g in sheet.elements()])
    near = ((X.reshape(-1, 9) @ images.T).max(axis=1) - 1) / 2 >= np.cos(np.deg2rad(10))
    for Y in (X0, X0 @ np.diag([1.0, -1.0, -1.0])):
        assert textures.volume_fraction(model, Y, 10, group=sheet) == pytest.approx(near.mean(), abs=0.05)
    # A group that the density has, and more besides: nothing changes.
    whole = textures.volume_fraction(model, X0, 10)
    assert textures.volume_fraction(model, X0, 10, group=groups.crystal_symmetry("D4")) == pytest.approx(whole / 3)


@pytest.mark.parametrize("angle", [10.0, 50.0])
def test_functions_without_the_symmetry_have_the_fractions_of_their_draws(angle):
    """All that is equivalent counts: one of six directions had 0.996 and another one 0.065; draws have 0.108."""
    cubic, centre = groups.crystal_symmetry("O"), Rotation.random(random_state=0).as_matrix()
    f, draws = peak(centre)
    poles = np.array([[0, 1, 1], [0, 1, -1], [1, 0, 1], [1, 0, -1], [1, 1, 0], [1, -1, 0]]) / 2**0.5
    edge = np.cos(np.deg2rad(angle))
    for r in (np.array([0.0, 0, 1]), np.array([0.6, 0.0, 0.8])):
        near = np.mean(np.abs(draws.reshape(-1, 3, 3) @ r @ poles.T).max(axis=1) >= edge)
        for h in poles[[0, 4]]:
            assert textures.fibre_fraction(f, h, r, angle, group=cubic) == pytest.approx(near, abs=0.006)
    turned = centre @ Rotation.from_euler("y", 20, degrees=True).as_matrix()
    images = np.concatenate([sa.Rotations().act(g, turned.reshape(1, 9)) for g in cubic.elements()])
    near = np.mean((draws @ images.T).max(axis=1) / 2 - 0.5 >= edge)
    for Y in images[:3]:
        assert textures.volume_fraction(f, Y, angle, group=cubic) == pytest.approx(near, abs=0.006)


def test_symmetries_of_the_density_that_no_centre_follows_join_none():
    """Sheet symmetry of the density, and directions of the crystal that are equivalent by no part of it."""
    sheet = groups.crystal_symmetry("O", specimen="D2")
    X = Rotation.from_rotvec(0.2 * np.random.default_rng(0).standard_normal((400, 3))).as_matrix()
    model = sa.InvariantDensity(sa.Rotations(), sheet).fit(X)
    draws = model.sample(40_000, random_state=0).reshape(-1, 3, 3)
    trigonal = groups.crystal_symmetry("D3")
    h, r = np.array([0.0, 0.6, 0.8]), np.array([0.6, 0.48, 0.64])
    poles = np.concatenate([[h, -h] @ g.left.matrix.T for g in trigonal.elements()])
    near = np.mean((draws @ r @ poles.T).max(axis=1) >= np.cos(np.deg2rad(15)))
    assert textures.fibre_fraction(model, h, r, 15, group=trigonal) == pytest.approx(near, abs=0.01)


def test_centres_that_a_part_of_the_symmetry_joins_count_by_the_mass_of_each_set():
    """Of 24 equivalent orientations such a density joins four; masses of centres of another set had twice the sum."""
    tetragonal, cubic = groups.crystal_symmetry("C4"), groups.crystal_symmetry("O")
    X = Rotation.from_rotvec(0.25 * np.random.default_rng(0).standard_normal((400, 3))).as_matrix()
    model = sa.InvariantDensity(sa.Rotations(), tetragonal, max_dim=1000).fit(X)
    draws = model.sample(40_000, random_state=0).reshape(-1, 3, 3)
    elements = [g.left.matrix for g in cubic.elements()]
    Y = Rotation.random(random_state=1).as_matrix()
    images = np.array([A @ Y for A in elements]).reshape(-1, 9)
    near = np.mean((draws.reshape(-1, 9) @ images.T).max(axis=1) / 2 - 0.5 >= np.cos(np.deg2rad(20)))
    assert textures.volume_fraction(model, Y, 20, group=cubic) == pytest.approx(near, abs=0.002)
    h, r = np.array([1.0, 1.0, 0.0]), np.array([0.6, 0.0, 0.8])
    poles = np.array([A @ h for A in elements]) / 2**0.5
    near = np.mean((draws @ r @ poles.T).max(axis=1) >= np.cos(np.deg2rad(10)))
    assert textures.fibre_fraction(model, h, r, 10, group=cubic) == pytest.approx(near, abs=0.01)
