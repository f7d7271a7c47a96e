"""Densities under groups with a continuous part: averages over flows against sums, and sharp data against the truth."""

import contextlib
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups, textures
from specavg.estimators._fitted_kernels import fitted_mixture
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._orbit_space import AroundAnAxis, orbit_space
from specavg.isometries import fields

S2, SO3 = sa.Sphere(3), sa.Rotations()
TILTED = groups.Group(fields=[fields.rotation([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])])  # about (1, 1, 1)
HEXAGONAL = groups.crystal_symmetry("D6", specimen="C∞")
GROUPS = {
    "C∞": (S2, groups.point_group("C∞")),
    "C∞v": (S2, groups.point_group("C∞v")),
    "D∞h": (S2, groups.point_group("D∞h")),
    "tilted": (S2, TILTED),
    "wire": (SO3, HEXAGONAL),
    "D∞ specimen": (SO3, groups.crystal_symmetry("D3", specimen="D∞")),
    "crystal": (SO3, groups.crystal_symmetry("C∞", specimen="D2")),
    "both sides": (SO3, groups.crystal_symmetry("D∞", specimen="C∞")),
}


def caps(n, degrees, seed):
    """Directions scattered about z, by Gaussian coordinates of the tangent plane; their log density after them."""
    s = np.radians(degrees)
    X = np.c_[s * np.random.default_rng(seed).normal(size=(n, 2)), np.ones(n)]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    z = X[:, 2]
    return X, np.log(2 / s**2) - (z**-2 - 1) / (2 * s**2) - 3 * np.log(z)


def wire(n, degrees, seed):
    """A fibre texture: c axes scattered about the axis of the specimen."""
    rng = np.random.default_rng(seed)
    tilt = np.c_[np.radians(degrees) * rng.normal(size=(n, 2)), np.zeros(n)]
    turns = [Rotation.from_rotvec(rng.uniform(0, 2 * np.pi, (n, 1)) * [0, 0, 1]) for _ in range(2)]
    return turns[0] * Rotation.from_rotvec(tilt) * turns[1]


@pytest.mark.parametrize("kappa", [1e-9, 0.5, 30.0, 4e4])
def test_what_an_average_leaves_is_that_of_the_sum(kappa):
    """On a circle against equally spaced turns, on a sphere against sinh(u)/u."""
    circle, sphere = AroundAnAxis(np.eye(3)[:, :2], np.eye(3)[:, 2:]), AroundAnAxis(np.eye(5)[:, :3], np.eye(5)[:, 3:])
    u = kappa * np.array([1e-3, 0.2, 1.0])
    t = 2 * np.pi * np.arange(4_000) / 4_000
    np.testing.assert_allclose(circle.share(u), np.exp(u[:, None] * (np.cos(t) - 1)).mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(sphere.share(u), -np.expm1(-2 * u) / (2 * u), rtol=1e-12)
    h = 1e-6 * u
    for family in (circle, sphere):
        slope = (np.log(family.share(u + h)) - np.log(family.share(u - h))) / (2 * h)
        np.testing.assert_allclose(family.share_slope(u), slope, rtol=1e-6, atol=1e-7 / u.min())


def test_on_a_sphere_it_is_the_mean_over_the_turns():
    family, X = orbit_space(S2, groups.point_group("C∞")).family, S2.sample(20, random_state=0)
    mean, kappa = np.array([0.6, 0.0, 0.8]), 60.0
    one = KernelMixture(mean[None], np.ones(1), np.array([kappa]), np.array([0.0, 1.0]), 0.0)
    turns = Rotation.from_rotvec(2 * np.pi * np.arange(200)[:, None] / 200 * [0, 0, 1]).as_matrix()
    wanted = np.mean([stats.vonmises_fisher(R @ mean, kappa).pdf(X) for R in turns], axis=0) * 4 * np.pi
    np.testing.assert_allclose(one.density(family, X), wanted, rtol=1e-11)


@pytest.mark.parametrize("space, group", GROUPS.values(), ids=GROUPS)
def test_rules_integrate_products_of_invariants(space, group):
    rule = orbit_space(space, group).rule
    basis = sa.invariant_basis(space, group, max_eigenvalue=90)
    nodes, weights = rule(90)
    space.check_points(nodes)
    values = basis.evaluate(nodes)
    np.testing.assert_allclose((values * weights[:, None]).T @ values, np.eye(basis.dim), atol=1e-12)
    assert len(nodes) < len(space.quadrature(90)[0]) / 10


SHIFTS = {
    "diagonal": (sa.Torus(2), groups.shifts([1, -1])),
    "slope": (sa.Torus(3), groups.shifts([2, 3, 5])),
    "two directions": (sa.Torus(4, period=[1.0, 2.0, 1.0, 3.0]), groups.shifts([1, 1, 1, 1], [0, 2, 0, -3])),
    "given twice": (sa.Torus(3), groups.shifts([1, 1, 0], [2, 2, 0])),
    "exchanged": (sa.Torus(3), groups.joined(groups.shifts([1, 1, 1]), groups.symmetric(3))),
    "oblique": (sa.Torus(lattice=[[1.0, 0.0], [7.3, 0.9]]), groups.shifts([1, 0])),
    "cell": (sa.Torus(lattice=[[1, 0, 0], [-0.5, 0.75**0.5, 0], [0.2, 0.3, 2]]), groups.shifts([1, 2, 1])),
}


@pytest.mark.parametrize("space, group", SHIFTS.values(), ids=SHIFTS)
def test_rules_across_shifts_integrate_products_of_invariants(space, group):
    basis = sa.invariant_basis(space, group, max_invariant_dim=25)
    top = basis.eigenvalues[-1]
    nodes, weights = orbit_space(space, group).rule(top)
    space.check_points(nodes)
    values = basis.evaluate(nodes)
    np.testing.assert_allclose((values * weights[:, None]).T @ values, np.eye(basis.dim), atol=1e-12)
    with contextlib.suppress(MemoryError):  # of a grid of all dimensions
        assert len(nodes) < len(space.quadrature(top)[0]) / 2


def test_a_density_across_shifts_has_integral_one():
    # 191 functions of x + y reach frequencies whose grid on the torus has too many nodes: random ones were 1.3 % off.
    space, group = sa.Torus(2), groups.shifts([1, -1])
    X = space.sample(400, random_state=0)
    X[:, 0] = np.random.default_rng(0).vonmises(0.0, 2.0, 400) / np.pi - X[:, 1]
    model = sa.InvariantDensity(space, group).fit(X)
    s = np.linspace(-1, 1, 4001)[:-1]
    assert abs(np.exp(model.score_samples(np.c_[s, np.zeros(4000)])).mean() - 1) < 1e-10
    assert model.normalisation_error_ < 1e-10


@pytest.mark.parametrize("space, group", GROUPS.values(), ids=GROUPS)
def test_kernels_are_invariant_densities_with_gradients_and_samples(space, group):
    orbits, rng = orbit_space(space, group), np.random.default_rng(0)
    family = orbits.family
    X, Z = space.sample(3, random_state=0), space.sample(40, random_state=1)
    images = np.concatenate([space.act(g, X) for g in orbits.elements(space)])
    weights = np.tile([0.5, 0.3, 0.2], len(images) // 3) * 3 / len(images)
    one = KernelMixture(images, weights, np.array([4.0, 30.0]), np.array([0.2, 0.5, 0.3]), 0.0)
    density = one.density(family, Z)
    for seed in range(4):
        np.testing.assert_allclose(one.density(family, space.act(group.random(seed), Z)), density, rtol=1e-11)
    nodes, w = orbits.rule(40 * 41)
    assert w @ one.density(family, nodes) == pytest.approx(1.0, abs=1e-12)
    drawn = one.sample(space, family, 20_000, rng)
    space.check_points(drawn)
    inverse = 1 / one.density(family, drawn)
    assert inverse.mean() == pytest.approx(1.0, abs=5 * inverse.std() / len(drawn) ** 0.5)
    basis = sa.invariant_basis(space, group, max_eigenvalue=40 * 41)
    series = basis.correlate(nodes, (w * one.density(family, nodes))[:, None])
    wanted = basis.combine_gradient(Z, series)[:, :, 0] / density[:, None]
    np.testing.assert_allclose(one.gradient(family, Z), wanted, atol=1e-8 * np.abs(wanted).max())


def test_flows_without_an_average_in_closed_form_have_no_kernels():
    both = groups.Group(fields=[fields.left_right(*[[[0, -1, 0], [1, 0, 0], [0, 0, 0]]] * 2)])  # R ↦ A R Aᵀ
    assert fitted_mixture(SO3, both, SO3.sample(30, random_state=0), np.ones(30))[0] is None
    diagonal = groups.shifts([1, 1])
    assert fitted_mixture(sa.Torus(2), diagonal, sa.Torus(2).sample(30, random_state=0), np.ones(30))[0] is None
    moved = groups.Group([sa.isometries.permutation([1, 2, 0])], groups.point_group("C∞").fields)  # all of SO(3)
    assert orbit_space(S2, moved).family is None


@pytest.mark.parametrize("symbol, copies", [("C∞v", 1), ("D∞h", 2), ("tilted", 1)])
def test_sharp_caps_are_as_high_as_they_are(symbol, copies):
    X, true = caps(1_500, 4.0, 0)
    Z, _ = caps(2_000, 4.0, 1)
    axis = np.array([0.0, 0.0, 1.0])
    group = TILTED if symbol == "tilted" else groups.point_group(symbol)
    if symbol == "tilted":
        R = Rotation.align_vectors([[1, 1, 1]], [axis])[0]
        X, Z, axis = R.apply(X), R.apply(Z), R.apply(axis)
    model = sa.InvariantDensity(S2, group).fit(X)
    peak = 2 / np.radians(4) ** 2 / copies
    assert model.density(axis[None])[0] == pytest.approx(peak, rel=0.15)
    assert model.normalisation_error_ < 1e-10
    nodes, weights = S2.quadrature(200 * 201)
    assert weights @ model.density(nodes) == pytest.approx(1.0, abs=1e-8)
    assert model.loo_log_likelihood_ == pytest.approx(true.mean() - np.log(copies), abs=0.02)
    assert model.score(Z) / len(Z) == pytest.approx(caps(2_000, 4.0, 1)[1].mean() - np.log(copies), abs=0.01)


def test_all_turns_are_as_likely_as_six_of_them():
    X, Z = caps(800, 3.0, 2)[0], caps(4_000, 3.0, 3)[0]
    score = {
        name: sa.InvariantDensity(S2, groups.point_group(name)).fit(X).score(Z) / len(Z) for name in ("C∞v", "C6v")
    }
    assert score["C∞v"] > score["C6v"] - 0.005


@pytest.mark.parametrize("degrees", [4.0, 8.0])
def test_fibre_textures_have_their_poles_and_index(degrees):
    s = np.radians(degrees)
    model = sa.InvariantDensity(SO3, groups.crystal_symmetry("6/mmm", specimen="C∞")).fit(wire(1_500, degrees, 0))
    assert sa.plot.pole_density(model, [0, 0, 1], [[0.0, 0.0, 1.0]])[0] == pytest.approx(1 / s**2, rel=0.2)
    assert model.normalisation_error_ < 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert textures.texture_index(model) == pytest.approx(1 / (2 * s**2), rel=0.05)


@pytest.mark.parametrize(
    "degrees, form, distance, rounding", [(0.1, "exponential", 0.1, 1e-4), (0.03, "kernels", 1, 1e-9)]
)
def test_rings_too_sharp_for_functions_take_kernels(degrees, form, distance, rounding):
    """Three rings about z: of 0.1°, most of the density is on 0.3 % of the sphere."""
    rng, n = np.random.default_rng(0), 900
    width, tilts = np.radians(degrees), np.radians([20.0, 50.0, 110.0])

    def rings(n):
        a, phi = tilts[rng.integers(3, size=n)] + width * rng.normal(size=n), rng.uniform(0, 2 * np.pi, n)
        return np.c_[np.sin(a) * np.cos(phi), np.sin(a) * np.sin(phi), np.cos(a)], a

    X, (Z, a) = rings(n)[0], rings(2_000)
    model = sa.InvariantDensity(S2, groups.point_group("C∞v")).fit(X)
    assert model.form_ == form
    at = np.exp(-((a[:, None] - tilts) ** 2) / (2 * width**2)) / (3 * np.sqrt(2 * np.pi) * width)
    true = np.log(2 * at.sum(axis=1) / np.sin(a))
    assert model.score(Z) / len(Z) == pytest.approx(true.mean(), abs=distance)
    a = np.pi * (np.arange(100_000) + 0.5) / 100_000
    line = np.c_[np.sin(a), 0 * a, np.cos(a)]
    assert np.sin(a) @ model.density(line) * np.pi / 200_000 == pytest.approx(1.0, abs=rounding)


def test_data_sharper_than_the_density_are_questioned():
    few = sa.InvariantDensity(S2, groups.point_group("C6v"), max_eigenvalue=6)
    with pytest.warns(
        UserWarning, match=r"sharper .* it is 2\.\d\d times .* told by product rule .*: leave out the cutoff"
    ):
        few.fit(caps(400, 0.1, 0)[0])
    for degrees in (4.0, 1.0):  # exp(κz) is as sharp as nodes allow
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            few.fit(caps(400, degrees, 0)[0])
        assert few.density([[0.0, 0.0, 1.0]])[0] == pytest.approx(2 / np.radians(degrees) ** 2, rel=0.15)
