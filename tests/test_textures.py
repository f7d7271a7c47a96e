"""Numbers and pictures of textures, and slices of functions on three-dimensional tori."""

import re
import time
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups, textures
from specavg.plot._poles import indices

mpl.use("Agg")
CUBIC = groups.crystal_symmetry("O", specimen="D2")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_the_texture_index_is_the_mean_of_the_square():
    assert textures.texture_index(lambda X: np.ones(len(X))) == pytest.approx(1, abs=1e-12)
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=42, positive=False)
    model.fit(sa.Rotations().sample(50, random_state=0))
    coefficients = model.coef_
    assert textures.texture_index(lambda X: model.basis_.combine(X, coefficients[:, None])[:, 0]) == pytest.approx(
        float(coefficients @ coefficients), abs=1e-12
    )


def test_the_texture_index_of_a_fitted_density_is_that_of_its_values():
    X = Rotation.from_rotvec(0.2 * np.random.default_rng(0).standard_normal((80, 3)))
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=30).fit(X)
    nodes, weights = sa.Rotations().quadrature(30 * 31)
    wanted = float(weights @ np.exp(2 * model.score_samples(nodes)))
    assert textures.texture_index(model) == pytest.approx(wanted, rel=2e-3)


def test_misorientations_do_not_change_with_equivalent_orientations():
    rng = np.random.default_rng(0)
    X = sa.Rotations().sample(40, rng)
    moved = np.concatenate([sa.Rotations().act(groups.crystal_symmetry("O").random(rng), x[None]) for x in X])
    angles = textures.misorientation_angles(X, CUBIC)
    np.testing.assert_allclose(textures.misorientation_angles(moved, CUBIC), angles, atol=1e-5)
    assert angles.max() < 62.8  # the largest angle between two cubes is 62.8°
    turned = sa.Rotations().check_points(X).reshape(-1, 3, 3) @ Rotation.random(random_state=1).as_matrix()
    np.testing.assert_allclose(textures.misorientation_angles(turned, CUBIC), angles, atol=1e-5)  # another specimen
    assert textures.misorientation_angles(X, CUBIC, pairs=7, random_state=0).shape == (7,)


def test_misorientations_need_two_orientations_and_rotations():
    with pytest.raises(ValueError, match="two orientations"):
        textures.misorientation_angles(np.eye(3)[None], CUBIC)
    with pytest.raises(ValueError, match="no group of rotations"):
        textures.misorientation_angles(sa.Rotations().sample(3, 0), groups.point_group("Oh"))


def test_miller_indices():
    assert indices((1, 0, 0), "{}") == "{100}"
    assert indices((1, -1, 1), "[]") == "[11\u03041]"
    assert indices((0.5, 0, 1), "[]") == "[0.5 0 1]"


def test_an_inverse_pole_figure_has_the_values_of_the_mean_over_circles():
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=20, positive=False)
    model.fit(Rotation.from_rotvec(0.2 * np.random.default_rng(0).standard_normal((80, 3))))

    def density(X):
        return model.basis_.combine(X, model.coef_[:, None])[:, 0]

    ax = sa.plot.inverse_pole_figure(density, (0, 0, 1), group=CUBIC, resolution=6, degree=4)
    shown = ax.collections[0]
    corners = np.array([[0, 0, 1.0], [1, 0, 1], [1, 1, 1]]) / np.sqrt([[1], [2], [3]])
    wanted = [sa.plot.pole_density(density, h, [[0.0, 0.0, 1.0]])[0] for h in corners]
    assert shown.get_clim()[0] <= min(wanted) + 1e-6
    assert shown.get_clim()[1] >= max(wanted) - 1e-6
    assert [t.get_text() for t in ax.texts] == ["001", "101", "111"]


_SECTORS = [("O", 0, 45), ("m-3", 0, 90), ("D6", 0, 30), ("321", -30, 30), ("-31m", 0, 60), ("C4", 0, 90),
            ("121", 0, 180), ("2/m11", -90, 90), ("D5d", -18, 18), ("C1", 0, 360)]  # fmt: skip


@pytest.mark.parametrize("crystal, first, last", _SECTORS)
def test_a_sector_has_every_direction_once(crystal, first, last):
    from specavg.plot._orientations import _sector

    rotations = groups.crystal_symmetry(crystal).structure.crystal
    start, end, edge, _ = _sector(rotations)
    assert np.rad2deg([start, end]) == pytest.approx([first, last], abs=1e-6)
    matrices = np.array([np.asarray(g.matrix, dtype=float) for g in rotations.elements()])
    images = sa.Sphere(3).sample(500, random_state=0) @ matrices.transpose(0, 2, 1)
    up = images * np.where(images[..., 2:] < 0, -1, 1)  # a direction and its opposite are the same
    phi = start + (np.arctan2(up[..., 1], up[..., 0]) - start) % (2 * np.pi)
    inside = (phi < end) & (np.arccos(up[..., 2]) < edge(phi))
    assert (inside.sum(axis=0) == 1).all()


def test_a_tilted_crystal_has_no_sector_about_z():
    from specavg.plot._orientations import _sector

    turn = Rotation.from_rotvec([0.3, 0.4, 0.5]).as_matrix()
    tilted = sa.Group([turn @ np.asarray(g.matrix, dtype=float) @ turn.T for g in groups.point_group("O").generators])
    assert _sector(groups.crystal_symmetry(tilted).structure.crystal)[:2] == pytest.approx((0, 2 * np.pi))


def test_sections_have_the_ranges_of_the_symmetry():
    axes = sa.plot.odf_sections(lambda X: 1 + X[:, 8] ** 2, [0, 45], group=CUBIC, resolution=6)
    assert [ax.get_xlim() for ax in axes] == [(0, 90)] * 2
    assert axes[0].get_ylim() == (90, 0)
    (ax,) = sa.plot.odf_sections(lambda X: 1 + X[:, 8] ** 2, [0], group=groups.crystal_symmetry("C3"), resolution=6)
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 360), (180, 0))
    with pytest.raises(ValueError, match="2 pictures but 1 axes"):
        sa.plot.odf_sections(lambda X: X[:, 0], [0, 1], ax=[ax])


def test_the_distribution_of_misorientations_is_a_density():
    ax = sa.plot.misorientations(sa.Rotations().sample(300, 0), pairs=500)
    heights = [patch.get_height() * patch.get_width() for patch in ax.patches]
    assert sum(heights) == pytest.approx(1)


def test_slices_are_the_function_at_their_heights_and_leave_nothing_white():
    axes = sa.plot.slices(lambda X: np.cos(2 * np.pi * X[:, 2]), [0, 0.5], space=sa.Torus(3, period=1), resolution=4)
    assert [ax.get_title() for ax in axes] == ["x₃ = 0 periods", "x₃ = 0.5 periods"]
    for ax in axes:
        assert sum(len(path.vertices) for path in ax.collections[0].get_paths()) > 0
    with pytest.raises(ValueError, match=r"functions on Torus\(3\); this one is on Torus\(2\)"):
        sa.plot.slices(lambda X: X[:, 0], space=sa.Torus(2))
    with pytest.raises(ValueError, match="axis must be 0, 1 or 2"):
        sa.plot.slices(lambda X: X[:, 0], space=sa.Torus(3), axis=3)


def test_bunge_angles_in_degrees_are_questioned():
    with pytest.warns(
        UserWarning, match=r"up to 350, .* for radians: for degrees write degrees=True \(--euler bunge:deg"
    ):
        sa.spaces.rotations_from_bunge([[350.0, 45.0, 10.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.spaces.rotations_from_bunge([[350.0, 45.0, 10.0]], degrees=True)
        sa.spaces.rotations_from_bunge([[2 * np.pi, 1.0, -2 * np.pi]])
        sa.spaces.rotations_from_bunge([[1.0, 2.0, 3.0]], degrees=True)  # one orientation may be near the first


def test_bunge_angles_in_radians_are_questioned():
    radians = np.random.default_rng(0).uniform(0, [2 * np.pi, np.pi, 2 * np.pi], size=(30, 3))
    with pytest.warns(UserWarning, match="are taken for degrees: for radians leave out degrees=True"):
        sa.spaces.rotations_from_bunge(radians, degrees=True)


def test_what_is_no_density_and_no_group_is_refused_in_a_sentence():
    X = sa.Rotations().sample(20, random_state=0)
    with pytest.raises(TypeError, match=r"texture index is that of a density: .* got ndarray"):
        sa.textures.texture_index(X)
    with pytest.raises(TypeError, match="got InvariantKernelRidge"):
        sa.textures.texture_index(sa.InvariantKernelRidge())
    with pytest.raises(TypeError, match="group must be a specavg Group"):
        sa.textures.misorientation_angles(X, X)
    with pytest.raises(TypeError, match="fitted estimator or a callable; got ndarray: fit a model to these data first"):
        sa.plot.pole_figure(X)
    with pytest.raises(ValueError, match=r"X has 3 columns .*rotations_from_bunge makes them of Euler angles"):
        sa.InvariantDensity(sa.Rotations()).fit(np.zeros((5, 3)))


def test_the_texture_index_of_a_sharp_texture_is_questioned():
    sharp = np.deg2rad(3.0) ** -2  # κ of a spread of 3°
    family = sa.Rotations().von_mises
    scale = np.exp(-family.log_mass(np.array([sharp])))[0]

    def density(X):
        return scale * np.exp(sharp * (X @ np.eye(3).ravel() / 2 - 1.5))

    exact = scale**2 * np.exp(family.log_mass(np.array([2 * sharp])))[0]
    with pytest.warns(
        UserWarning, match=r"settled: \d+.* and \d+.* rules of 24 and 32 degrees.*is computed to \d+ % only"
    ):
        assert textures.texture_index(density) < 0.9 * exact


def test_a_texture_index_of_what_is_no_density_says_its_integral():
    with pytest.warns(UserWarning, match=r"has the integral 2, .* square of the integral it is 1, not 4"):
        textures.texture_index(lambda X: 2 + 0 * X[:, 0])
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=42, positive=False)
    model.fit(Rotation.from_rotvec(0.1 * np.random.default_rng(0).standard_normal((80, 3))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = float(model.coef_ @ model.coef_)
        assert textures.texture_index(model.density) == pytest.approx(wanted, rel=1e-9)


def test_the_texture_index_of_kernels_comes_from_drawn_orientations():
    """∫f² of one kernel is known: scale² times the mass at 2κ."""
    from specavg.estimators._kernel_mixture import KernelMixture

    space, group = sa.Rotations(), groups.crystal_symmetry("O")
    family, kappa = space.von_mises, np.array([3000.0])
    images = np.concatenate([space.act(g, space.sample(1, random_state=4)) for g in group.elements()])
    model = sa.InvariantDensity(space, group, max_eigenvalue=20).fit(space.sample(40, random_state=0))
    model.form_ = "kernels"
    model.kernels_ = KernelMixture(images, np.full(24, 1 / 24), kappa, np.array([0.1, 0.9]), 0.0)
    peak = np.exp(family.log_mass(2 * kappa) - 2 * family.log_mass(kappa))[0] / 24
    assert textures.texture_index(model) == pytest.approx(0.01 + 0.18 + 0.81 * peak, rel=0.03)


def test_misorientations_of_a_density_are_those_of_drawn_orientations():
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=42).fit(sa.Rotations().sample(50, random_state=0))
    ax = sa.plot.misorientations(model)
    assert "2,000 pairs" in ax.get_legend().get_texts()[1].get_text() + ax.get_legend().get_texts()[0].get_text()
    with pytest.raises(TypeError, match=r"rotations of shape .* or a fitted InvariantDensity"):
        sa.plot.misorientations(sa.InvariantKernelRidge())


def test_titles_of_hexagonal_pole_figures_say_cartesian():
    hexagonal = groups.crystal_symmetry("D6")
    ax = sa.plot.pole_figure(lambda X: 1 + 0 * X[:, 8], (1, 0, 0), group=hexagonal, resolution=4, degree=2)
    assert ax.get_title() == "Cartesian (1 0 0)"
    with pytest.raises(ValueError, match=r"Miller–Bravais indices .*Pass \(h, \(h \+ 2k\)/√3, l·a/c\)"):
        sa.plot.pole_figure(lambda X: X[:, 8], (1, 0, -1, 0), group=hexagonal)


def test_columns_of_bunge_angles_in_another_order_are_questioned():
    with pytest.warns(UserWarning, match=r"Φ, the second column, goes from 40 to 300, .*are the columns φ₁, Φ, φ₂"):
        sa.spaces.rotations_from_bunge([[10.0, 300.0, 20.0], [10.0, 40.0, 20.0]], degrees=True)
    with pytest.raises(ValueError, match=r"projected by SciPy: Rotation\.from_matrix"):
        sa.Rotations().check_points(np.round(sa.Rotations().sample(3, 0), 3))
    with pytest.warns(UserWarning, match=r"Φ, the second column, is 250.6, "):
        sa.spaces.rotations_from_bunge([[10, 250.6, 3]], degrees=True)


@pytest.mark.parametrize("angle", [5.0, 15.0, 45.0])
def test_fractions_of_a_uniform_texture(angle):
    """Around an orientation (ω − sin ω)/π, around a direction (1 − cos ω)/2, times how many are equivalent."""
    a, cubic = np.deg2rad(angle), groups.crystal_symmetry("O")

    def uniform(X):
        return np.ones(len(X))

    brass = sa.spaces.rotations_from_bunge([[35.0, 45.0, 0.0]], degrees=True)[0]
    assert textures.volume_fraction(uniform, brass, angle, group=cubic) == pytest.approx(24 * (a - np.sin(a)) / np.pi)
    found = textures.fibre_fraction(uniform, [0, 0, 1], [1, 2, 2], angle, group=cubic)
    assert found == pytest.approx(6 * (1 - np.cos(a)) / 2)


@pytest.mark.parametrize("apart, angle", [(180, 120), (180, 170), (0.5, 15), (20, 15), (20, 40), (100, 90)])
def test_what_lies_around_two_equivalent_orientations_counts_once(apart, angle):
    """Two coordinates of a uniform quaternion are uniform in a disc, and near is what is far along one of two axes."""
    x, half = sa.isometries, np.eye(3) * [-1, -1, 1]
    group = sa.Group([x.left_right(half, half)])  # turns about x forward and back
    turn = Rotation.from_euler("x", apart / 2, degrees=True).as_matrix()
    theta, axes = np.linspace(0, np.pi, 100_001)[:-1], np.deg2rad([apart, -apart]) / 4
    far = np.cos(np.deg2rad(angle) / 2) / np.abs(np.cos(theta[:, None] - axes)).max(axis=1)
    found = textures.volume_fraction(lambda X: np.ones(len(X)), turn, angle, group=group)
    assert found == pytest.approx(np.mean(1 - np.minimum(far, 1) ** 2), rel=2e-3)


def test_fractions_with_overlaps_are_those_of_draws():
    """Volumes of all 96 equivalents of an orientation near a mirror, and of twelve directions near ⟨110⟩."""
    X = sa.Rotations().sample(100_000, random_state=0)
    rolled, hexagonal = groups.crystal_symmetry("m-3m", specimen="mmm"), groups.crystal_symmetry("6/mmm")
    centre = sa.spaces.rotations_from_bunge([[30, 55, 45]], degrees=True)[0]

    def density(X):
        return 1 + X[:, 8] ** 2 - 1 / 3  # has the symmetry of 6/mmm

    images = np.concatenate([sa.Rotations().act(g, centre.reshape(1, 9)) for g in rolled.elements()])
    near = ((X @ images.T).max(axis=1) - 1) / 2 >= np.cos(np.deg2rad(15))
    found = textures.volume_fraction(lambda X: np.ones(len(X)), centre, 15, group=rolled)
    assert found == pytest.approx(near.mean(), abs=4 * np.sqrt(near.mean() / len(X)))
    h = np.array([1, 0.577, 0]) / np.hypot(1, 0.577)
    poles = np.concatenate([sa.Sphere(3).act(g, h[None]) for g in groups.point_group("6/mmm").elements()])
    near = (X.reshape(-1, 3, 3)[:, :, 2] @ poles.T).max(axis=1) >= np.cos(np.deg2rad(15))
    found = textures.fibre_fraction(density, h, [0, 0, 1], 15, group=hexagonal)
    assert found == pytest.approx((near * density(X)).mean(), abs=4 * np.sqrt(near.mean() / len(X)))
    assert textures.fibre_fraction(density, [0, 0, 1], [0, 0, 1], 100, group=hexagonal) == pytest.approx(1, rel=2e-3)
    for few in (
        lambda angle: textures.volume_fraction(density, centre, angle, group=rolled),
        lambda angle: textures.fibre_fraction(density, h, [0, 0, 1], angle, group=hexagonal),
    ):
        with pytest.raises(ValueError, match="no two orientations are further apart than 180"):
            few(181)


def test_lengths_of_specimen_directions_do_not_matter():
    def density(X):  # the integral over X₃₃ is that of 3t²
        return 3 * X[:, 8] ** 2

    r = np.array([[0, 0, 2.0], [0, 3e-9, 0], [1e5, 0, 1e5]])
    assert textures.pole_density(density, [0, 0, 5], r) == pytest.approx([3.0, 0.0, 1.5], abs=1e-12)
    assert textures.pole_density(density, [0, 0, 1], [0, 0, 2.0]) == pytest.approx([3.0])
    for zero in ([[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [np.nan, 0, 0]]):
        with pytest.raises(ValueError, match=r"row 1 of the specimen directions is .*points nowhere"):
            textures.pole_density(density, [0, 0, 1], zero)
    with pytest.raises(ValueError, match=r"three numbers each, shape \(n, 3\); got the shape \(3, 4\)"):
        textures.pole_density(density, [0, 0, 1], np.ones((3, 4)))


def test_what_is_no_orientation_is_told_what_one_is():
    for given in ([35, 45, 0], np.eye(4)[0], np.eye(3)[None].repeat(2, axis=0)):
        with pytest.raises(ValueError, match=r"one orientation, a rotation matrix of shape \(3, 3\).*rotations_from_b"):
            textures.volume_fraction(lambda X: np.ones(len(X)), given, 10)


def test_fractions_of_known_densities():
    from scipy import integrate

    kappa, centre = 20.0, Rotation.random(random_state=0)
    scale = np.exp(-sa.Rotations().von_mises.log_mass(np.array([kappa])))[0]

    def ball(X):
        return scale * np.exp(kappa * (X @ centre.as_matrix().ravel() / 2 - 1.5))

    a = np.deg2rad(25.0)
    wanted = integrate.quad(lambda w: scale * (1 - np.cos(w)) / np.pi * np.exp(kappa * (np.cos(w) - 1)), 0, a)[0]
    assert textures.volume_fraction(ball, centre, 25.0) == pytest.approx(wanted, rel=1e-6)

    def fibre(X):  # of the crystal direction that lies along the z axis of the specimen
        return kappa / np.sinh(kappa) * np.exp(kappa * X.reshape(-1, 3, 3)[:, 2, 2])

    along = (np.exp(kappa) - np.exp(kappa * np.cos(a)) + np.exp(-kappa * np.cos(a)) - np.exp(-kappa)) / (
        2 * np.sinh(kappa)
    )
    assert textures.fibre_fraction(fibre, [0, 0, 2], [0, 0, 1], 25.0) == pytest.approx(along, rel=1e-6)
    assert textures.pole_density(fibre, [0, 0, 1], [[0, 0, 1.0]], antipodal=False) == pytest.approx(
        kappa / np.sinh(kappa) * np.exp(kappa)
    )


def test_fractions_of_fitted_densities_are_those_of_the_data():
    cubic, rng = groups.crystal_symmetry("O"), np.random.default_rng(0)
    X = Rotation.from_rotvec(np.deg2rad(2.0) * rng.standard_normal((300, 3)))
    sharp = sa.InvariantDensity(sa.Rotations(), cubic).fit(X)
    assert sharp.form_ == "kernels"
    drawn = sharp.sample(20_000, random_state=1)
    pairs = np.stack([np.broadcast_to(np.eye(3).ravel(), drawn.shape), drawn], axis=1).reshape(-1, 9)
    inside = np.mean(textures.misorientation_angles(pairs, cubic)[::2] < 4.0)
    assert textures.volume_fraction(sharp, np.eye(3), 4.0) == pytest.approx(inside, abs=0.02)
    wire = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("O", specimen="C∞")).fit(X)
    tilts = np.arccos(np.clip(X.as_matrix()[:, 2, 2], -1, 1))
    found = textures.fibre_fraction(wire, [0, 0, 1], [0, 0, 1], 4.0)
    assert found == pytest.approx(np.mean(tilts < np.deg2rad(4.0)), abs=0.05)
    with pytest.raises(ValueError, match="use fibre_fraction"):
        textures.volume_fraction(wire, np.eye(3), 5.0)
    with pytest.raises(TypeError, match="a volume fraction is that of a density"):
        textures.volume_fraction(np.eye(3), np.eye(3), 5.0)


@pytest.mark.parametrize("along", [[0, 0, 1], [1, 0, 0]])
def test_fibres_of_five_degrees_have_their_index(along):
    """Nodes of the first rule are too few for them, and those on the axes of the grid hide it."""
    cubic, rng, kappa, n = groups.crystal_symmetry("O"), np.random.default_rng(0), np.deg2rad(5.0) ** -2, 1_000
    poles = sa.Sphere(3).von_mises.sample(np.tile([[1.0, 0, 0]], (n, 1)), np.full(n, kappa), rng)
    turns = Rotation.from_rotvec(rng.uniform(0, 2 * np.pi, (n, 1)) * np.array([along]))
    tilts = Rotation.concatenate([Rotation.align_vectors([p], [along])[0] for p in poles])
    X = (tilts * turns).as_matrix().reshape(n, 9)
    model = sa.InvariantDensity(sa.Rotations(), cubic).fit(X)
    nodes, weights = sa.Rotations().quadrature(32 * 33)
    assert weights @ model.density(nodes) == pytest.approx(1.0, abs=0.01)
    # Six equivalent fibres, far from each other: a sixth of ∫(2κ e^{κ(t − 1)})² dt/2 = κ. It was half as much.
    assert weights @ model.density(nodes) ** 2 == pytest.approx(kappa / 6, rel=0.12)


def test_pixels_without_an_orientation_are_questioned():
    euler = np.random.default_rng(0).uniform(0, [2 * np.pi, np.pi, 2 * np.pi], size=(200, 3))
    ang = euler.copy()
    ang[::10] = 12.56637
    with pytest.warns(UserWarning, match=r"20 of 200 rows are \(12\.5664, .* identity: \.ang files mark") as caught:
        sa.spaces.rotations_from_bunge(ang)
    assert len(caught) == 1  # nothing about the order of the columns
    ctf = np.rad2deg(euler)
    ctf[::10] = 0.0
    with pytest.warns(UserWarning, match=r"20 of 200 rows are \(0, 0, 0\), .* \.ctf files write zeros .* Leave these"):
        sa.spaces.rotations_from_bunge(ctf, degrees=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.spaces.rotations_from_bunge(np.concatenate([euler, np.zeros((1, 3))]))  # one may be the identity
        sa.spaces.rotations_from_bunge(np.zeros((20, 3)))


def fibre(h, degrees, n, rng):
    """Orientations with the crystal direction h along z, tilted by so many degrees about each axis."""
    h = np.array(h) / np.linalg.norm(h)
    spin = Rotation.from_rotvec(np.outer(rng.uniform(0, 2 * np.pi, n), h)) * Rotation.align_vectors([h], [[0, 0, 1]])[0]
    return Rotation.from_rotvec(np.deg2rad(degrees) * rng.standard_normal((n, 3))) * spin


def test_a_fibre_sharper_than_the_density_is_questioned_with_the_true_ratio():
    rng = np.random.default_rng(5)

    def half(n):  # a fibre alone would be followed: a sharp one on a background needs more functions
        sharp = np.asarray(fibre([1, 1, 1], 5, n // 2, rng).as_matrix()).reshape(-1, 9)
        return np.concatenate([sharp, sa.Rotations().sample(n // 2, rng)])

    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("m-3m"), max_invariant_dim=12)
    with pytest.warns(UserWarning, match="the data are sharper than this density") as caught:
        model.fit(half(600))
    said = float(re.search(r"it is ([\d.]+) times", str(caught[0].message))[1])
    assert said == pytest.approx(model.density(half(20_000)).mean() / textures.texture_index(model), rel=0.1)


def test_a_fibre_that_the_density_follows_is_not_questioned():
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("m-3m"), max_invariant_dim=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(fibre([0, 0, 1], 8, 1000, np.random.default_rng(5)))


def around(density, h, r, points=7200):
    """The mean over the orientations that take r to h, and over those that take r to −h."""
    h, r = np.asarray(h, dtype=float) / np.linalg.norm(h), np.asarray(r, dtype=float)
    spin = Rotation.from_rotvec(np.outer(2 * np.pi * (np.arange(points) + 0.3) / points, h))
    circles = [spin * Rotation.align_vectors([s * h], [r])[0] for s in (1, -1)]
    return np.mean([density(circle.as_matrix().reshape(-1, 9)) for circle in circles])


def pixels():
    """Ten orientations in each of eight grains with a spread of half a degree, and the grains."""
    grains = Rotation.random(8, random_state=0)
    tilts = Rotation.from_rotvec(np.deg2rad(0.5) * np.random.default_rng(0).standard_normal((80, 3)))
    return (tilts * grains[np.arange(80) % 8]).as_matrix(), grains


@pytest.mark.parametrize("symbol, form", [("m-3m", "kernels"), ("6/mmm", "kernels")])
def test_pole_densities_of_pixels_are_means_over_circles(symbol, form):
    X, grains = pixels()
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry(symbol)).fit(X)
    assert model.form_ == form
    for h in ([0, 0, 1], [1, 1, 1], [1, 2, 3]):
        r = np.concatenate([grains.inv().apply(np.array(h) / np.linalg.norm(h))[:3], sa.Sphere(3).sample(2, 0)])
        wanted = [around(lambda X: np.exp(model.score_samples(X)), h, v) for v in r]
        np.testing.assert_allclose(textures.pole_density(model, h, r), wanted, rtol=1e-6)


@pytest.mark.parametrize("specimen", [None, "C∞"])
def test_pole_densities_of_kernels_are_means_over_circles(specimen):
    """Broad kernels, which are summed by harmonics, and sharp ones; for many r, and for many h."""
    from specavg.estimators._kernel_mixture import KernelMixture
    from specavg.estimators._poles_of_kernels import pole_density_of_kernels

    space = sa.Rotations()
    group = groups.crystal_symmetry("O", **({} if specimen is None else {"specimen": specimen}))
    centres = space.sample(2, random_state=4)
    images = np.concatenate([space.act(g, centres) for g in groups.crystal_symmetry("O").elements()])
    model = sa.InvariantDensity(space, group, max_eigenvalue=42).fit(space.sample(40, random_state=0))
    shares = np.array([0.1, 0.2, 0.2, 0.1, 0.4])
    model.form_ = "kernels"
    model.kernels_ = KernelMixture(images, np.full(48, 1 / 48), np.array([0.7, 40.0, 150.0, 3000.0]), shares, 0.0)
    h = np.array([1.0, 2.0, 2.0]) / 3
    near = centres[0].reshape(3, 3).T @ h  # in a peak
    r = np.concatenate([near[None], sa.Sphere(3).sample(4, random_state=1)])
    wanted = [around(model.density, h, v) for v in r]
    np.testing.assert_allclose(textures.pole_density(model, h, r), wanted, rtol=1e-8)
    for v, value in zip(r, wanted, strict=True):
        parts = [pole_density_of_kernels(model.kernels_, group, v, s * h[None], transposed=True)[0] for s in (1, -1)]
        assert np.mean(parts) == pytest.approx(value, rel=1e-8)


def one_peak(half_width):
    """A density of this half width in degrees, its centre, and its pole density there."""
    from scipy import integrate

    centre, kappa = (
        Rotation.from_euler("ZXZ", [20, 40, 70], degrees=True).as_matrix(),
        np.log(2) / (1 - np.cos(np.deg2rad(half_width))),
    )
    reach = min(np.pi, 20 / np.sqrt(kappa))

    def kernel(w):
        return np.exp(-2 * kappa * np.sin(w / 2) ** 2)

    mass = integrate.quad(lambda w: (1 - np.cos(w)) / np.pi * kernel(w), 0, reach, epsabs=0)[0]
    pole = integrate.quad(kernel, 0, reach, epsabs=0)[0] / np.pi / mass
    return (lambda X: np.exp(kappa * (X @ centre.ravel() / 2 - 1.5)) / mass), centre, pole


@pytest.mark.parametrize("h", [(0, 0, 1), (1, 0, 0), (1, 1, 1), (3, 1, 2)])
@pytest.mark.parametrize("half_width", [0.25, 1.0, 10.0])
def test_sharp_functions_have_their_pole_density_in_every_direction(h, half_width):
    density, centre, pole = one_peak(half_width)
    r = centre.T @ h
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert textures.pole_density(density, h, r, antipodal=False) == pytest.approx([pole], rel=1e-5)
        assert textures.pole_density(density, h, r) == pytest.approx([pole / 2], rel=1e-5)


def test_pole_densities_that_do_not_settle_are_questioned():
    density, centre, _ = one_peak(5.0)
    r = np.concatenate([(centre.T @ [0, 0, 1.0])[None], sa.Sphere(3).sample(3, random_state=0)])

    def rough(X):
        return density(X) * (1e6 * X[:, 0] % 1)

    with pytest.warns(UserWarning, match=r"settled at 1 of 4 directions: .* it is \d+\.\d+ and changed by [\d.]+ when"):
        textures.pole_density(rough, [0, 0, 1], r)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        textures.pole_density(rough, [0, 0, 1], r, steps=60)  # as it was asked for


def test_the_rings_of_a_sharp_fibre_have_their_pole_density():
    """Poles of ⟨111⟩ are at 70.53° to each other: a ring of them lies around the fibre."""
    group, tilt = groups.crystal_symmetry("m-3m", specimen="C∞"), np.arccos(1 / 3)
    model = sa.InvariantDensity(sa.Rotations(), group).fit(fibre([1, 1, 1], 1, 400, np.random.default_rng(0)))
    for a in (tilt, 0.0):
        r = np.array([np.sin(a), 0.0, np.cos(a)])
        assert textures.pole_density(model, [1, 1, 1], r)[0] == pytest.approx(around(model.density, [1, 1, 1], r))


def shown(ax):
    """The range of a picture."""
    return ax.collections[0].get_clim()


@pytest.mark.filterwarnings("ignore:the density is sharper than this picture")  # whose grid is coarse, to be fast
def test_pictures_of_pixels_have_a_peak_under_every_pole():
    from specavg.plot._poles import drawn_pole_density, sides

    X, grains = pixels()
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("m-3m")).fit(X)
    low, high = shown(sa.plot.pole_figure(model, (0, 0, 1), data=X, resolution=20))
    assert low >= 0
    assert high > 20  # −15 to 81 with false peaks, when a series was drawn
    low, high = shown(sa.plot.inverse_pole_figure(model, (0, 0, 1), resolution=20))
    assert low >= 0
    assert high > 5
    h = np.array([0.0, 0.0, 1.0])
    r, pairs = grains.inv().apply(h), sides(model.basis_.group)
    wanted = [around(model.density, h, v) for v in r]
    found = drawn_pole_density(model, model.density, h, r, True, None, pairs)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    back = drawn_pole_density(model, model.density, r[0], h[None], True, None, pairs, transposed=True)
    assert back == pytest.approx(wanted[:1], rel=1e-6)


@pytest.mark.parametrize("half_width", [1.0, 5.0])
def test_pictures_of_sharp_functions_have_the_height_of_their_peaks(half_width):
    from specavg.plot._poles import drawn_pole_density

    density, centre, pole = one_peak(half_width)
    r = np.concatenate([centre[2:], -centre[2:], sa.Sphere(3).sample(30, random_state=0)])  # the pole of 001
    found = drawn_pole_density(density, density, np.array([0, 0, 1.0]), r, False, None, [])
    assert found[0] == pytest.approx(pole, rel=0.01)
    assert found[1:] == pytest.approx(0, abs=0.01 * pole)
    assert found.min() >= 0


def test_a_series_that_misses_between_its_nodes_is_not_drawn_negative():
    X = Rotation.from_rotvec(0.2 * np.random.default_rng(0).standard_normal((80, 3)))
    model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_eigenvalue=72).fit(X)
    for degree in (None, 12):
        assert shown(sa.plot.pole_figure(model, (0, 0, 1), resolution=10, degree=degree))[0] >= 0


def test_no_fraction_is_more_than_the_whole():
    density, centre, _ = one_peak(10.0)
    assert (
        textures.volume_fraction(lambda X: 1.001 * density(X), centre, 90) == 1.0
    )  # as fits of integral 1.001 have it
    with pytest.warns(UserWarning, match=r"the fraction is 1\.5, and no part is more than the whole"):
        textures.volume_fraction(lambda X: 1.5 * density(X), centre, 90)


@pytest.mark.parametrize("angle", [-5, 0, np.nan])
def test_angles_around_an_orientation_are_positive(angle):
    with pytest.raises(ValueError, match=rf"angle={angle:g} degrees: .* must be positive"):
        textures.volume_fraction(lambda X: np.ones(len(X)), np.eye(3), angle, group=CUBIC)
    with pytest.raises(ValueError, match="must be positive"):
        textures.fibre_fraction(lambda X: np.ones(len(X)), [0, 0, 1], [0, 0, 1], angle, group=CUBIC)


def test_files_without_any_orientation_are_counted():
    with pytest.warns(
        UserWarning, match=r"5 of 5 rows are \(12\.5664, .* pixels without an orientation by 4π"
    ) as caught:
        sa.spaces.rotations_from_bunge(np.full((5, 3), 4 * np.pi))
    assert len(caught) == 1


@pytest.fixture(scope="module")
def a_series():
    """Bunge's harmonic method for a sharp texture of few orientations: the series is negative in many places."""
    angles = np.random.default_rng(0).normal([0, 45, 0], 12, (300, 3))
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("m-3m"), positive=False, max_eigenvalue=156)
    return model.fit(sa.spaces.rotations_from_bunge(angles, degrees=True))


def test_numbers_of_a_series_keep_what_is_negative(a_series):
    """The series is of degree 12: rules for twice the degree integrate it, and its square, exactly."""
    nodes, weights = sa.Rotations().quadrature(24 * 25)
    f = a_series.basis_.combine(nodes, a_series.coef_[:, None])[:, 0]
    assert f.min() < -0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert textures.texture_index(a_series) == pytest.approx(float(weights @ f**2), rel=1e-9)
        at, shares = sa.Sphere(3).quadrature(12 * 13)
        poles = textures.pole_density(a_series, [0, 0, 1], at)
        assert float(shares @ poles) == pytest.approx(1, abs=1e-9)
        assert poles.min() < -0.3
        found = textures.fibre_fraction(a_series, [1, 1, 1], [0, 0, 1], 10)
    # The share of a cap of half-width ω around ⟨111⟩, by sums over a grid of directions and turns about them.
    t = 1 - (np.arange(60) + 0.5) / 60 * (1 - np.cos(np.deg2rad(10)))
    phi, turns = 2 * np.pi * np.arange(40) / 40, 2 * np.pi * np.arange(30) / 30
    tilts, around = (part.ravel() for part in np.meshgrid(np.arccos(t), phi, indexing="ij"))
    toward = Rotation.align_vectors([[1, 1, 1]], [[0, 0, 1]])[0]
    near = toward * Rotation.from_euler("ZYZ", np.stack([around, tilts, -around], axis=1))
    X = np.concatenate([(near * Rotation.from_euler("z", a)).as_matrix().reshape(-1, 9) for a in turns])
    wanted = 8 * (1 - np.cos(np.deg2rad(10))) / 2 * a_series.basis_.combine(X, a_series.coef_[:, None]).mean()
    assert found == pytest.approx(wanted, rel=1e-3)
    assert wanted < 0.5 * 0.0228  # what is left of it where negative values are cut off


def test_a_negative_fraction_of_a_series_is_questioned(a_series):
    nodes = sa.Rotations().sample(20_000, random_state=0)
    lowest = nodes[a_series.density(nodes).argmin()]
    with pytest.warns(UserWarning, match=r"the fraction is -0\.\d+, less than nothing: the density is negative here"):
        assert textures.volume_fraction(a_series, lowest, 10) < 0


def test_a_fraction_of_a_series_above_one_is_questioned():
    """A peak of 5°, by a series of degree 12: it is negative around the peak, and the peak has more than everything."""
    space, kappa = sa.Rotations(), np.log(2) / (1 - np.cos(np.deg2rad(5)))
    centres = np.repeat(np.eye(3).reshape(1, 9), 300, axis=0)
    X = space.von_mises.sample(centres, np.full(300, kappa), np.random.default_rng(0))
    model = sa.InvariantDensity(space, groups.crystal_symmetry("O"), positive=False, max_eigenvalue=156).fit(X)
    with pytest.warns(UserWarning, match=r"the fraction is 1\.\d+, .* negative elsewhere\. A plain series"):
        assert textures.volume_fraction(model, np.eye(3), 20) > 1.1


def test_pictures_of_a_series_keep_what_is_negative(a_series):
    start = time.process_time()
    low, high = shown(sa.plot.pole_figure(a_series, (0, 0, 1), resolution=10))
    assert time.process_time() - start < 4  # it took 8 s where the values had a kink
    r = sa.Sphere(3).sample(2000, random_state=0)
    wanted = textures.pole_density(a_series, [0, 0, 1], r)
    assert low == pytest.approx(wanted.min(), abs=0.1)
    assert high == pytest.approx(wanted.max(), rel=0.1)


@pytest.mark.parametrize(
    "number",
    [
        textures.texture_index,
        lambda f: textures.pole_density(f, [0, 0, 1], [[0, 0, 1]]),
        lambda f: textures.volume_fraction(f, np.eye(3), 10),
        sa.plot.pole_figure,
    ],
)
def test_a_function_that_is_one_number_is_told_what_to_return(number):
    with pytest.raises(ValueError, match=r"one value for each of them, shape \(\d+,\); .* returned the shape \(\)"):
        number(lambda X: 3.0)


def test_numbers_of_textures_are_those_of_orientations():
    model = sa.InvariantDensity(sa.Sphere(3), max_eigenvalue=6).fit(sa.Sphere(3).sample(30, random_state=0))
    with pytest.raises(ValueError, match=r"texture index is that of a density of orientations.* fitted on Sphere\(3\)"):
        textures.texture_index(model)


def test_an_angle_in_radians_is_questioned():
    for fraction in (
        lambda angle: textures.volume_fraction(lambda X: np.ones(len(X)), np.eye(3), angle),
        lambda angle: textures.fibre_fraction(lambda X: np.ones(len(X)), [0, 0, 1], [0, 0, 1], angle),
    ):
        with pytest.warns(UserWarning, match=r"angle=0\.2618 is in degrees here.* np\.degrees") as said:
            fraction(np.radians(15))
        assert said[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fraction(1.0)


@pytest.mark.parametrize("names", [("Phi", "phi1", "phi2"), ("Φ", "φ₁", "φ₂"), ("Euler 2", "Euler 1", "Euler 3")])
def test_names_of_bunge_angles_in_another_order_are_questioned(names):
    table = pd.DataFrame(np.full((5, 3), 0.3), columns=list(names))
    wanted = [names[1], names[0], names[2]]
    with pytest.warns(UserWarning, match=re.escape(f"their names say another: pass angles[{wanted}]")) as said:
        sa.spaces.rotations_from_bunge(table)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.spaces.rotations_from_bunge(table[wanted])
        sa.spaces.rotations_from_bunge(table.set_axis(["a", "b", "c"], axis=1))


@pytest.mark.parametrize("crystal, titles", [("6/mmm", (0, 30)), ("-3m", (0, 30, 60, 90)), ("m-3m", (0, 45, 65))])
def test_default_sections_are_those_of_the_crystal(crystal, titles):
    group = groups.crystal_symmetry(crystal)
    axes = sa.plot.odf_sections(lambda X: np.ones(len(X)), group=group, resolution=2)
    assert [ax.get_title() for ax in axes] == [f"φ₂ = {angle}°" for angle in titles]


def test_orientations_in_the_wrong_place_are_told_where_they_go():
    X = sa.Rotations().sample(5, random_state=0)
    for given in (X, Rotation.from_matrix(X.reshape(-1, 3, 3))):
        with pytest.raises(TypeError, match=r"a picture needs .* pole_figure\(model, \[0, 0, 1\], data=X\)"):
            sa.plot.pole_figure(given, [0, 0, 1])
    with pytest.raises(TypeError, match="the orientations come first"):
        textures.misorientation_angles(CUBIC, X)


def test_densities_may_return_a_column_and_not_two():
    def uniform(X):
        return np.ones((len(X), 1))

    z, textures = [0.0, 0.0, 1.0], sa.textures
    assert textures.texture_index(uniform) == pytest.approx(1.0, abs=1e-12)
    assert textures.volume_fraction(uniform, np.eye(3), 90) == pytest.approx(0.5 - 1 / np.pi, abs=1e-12)
    assert textures.fibre_fraction(uniform, z, z, 30) == pytest.approx(1 - np.cos(np.pi / 6), abs=1e-12)  # and −z
    assert textures.pole_density(uniform, z, [z]) == pytest.approx([1.0], abs=1e-12)
    with pytest.raises(ValueError, match=r"one value for each orientation, and the density returned the shape .*, 2\)"):
        textures.texture_index(lambda X: np.ones((len(X), 2)))
