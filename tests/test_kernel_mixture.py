"""Densities of kernels: their mass, their averages over the group, and when they are chosen."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import specavg as sa
from specavg import groups
from specavg.estimators._explained_centres import Centres
from specavg.estimators._fitted_kernels import fitted_mixture
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._orbit_space import one_of_each_orbit, orbit_space
from specavg.estimators._poles_of_kernels import pole_density_of_kernels

SO3, CUBIC = sa.Rotations(), groups.crystal_symmetry("O")


def grains(n, seed, kappa=2000.0):
    """Orientations of eight grains of their own sizes, and one in twenty anywhere."""
    rng = np.random.default_rng(seed)
    centres = SO3.sample(8, random_state=5)
    X = SO3.von_mises.sample(centres[rng.integers(0, 8, n)], kappa * 2.0 ** rng.integers(-1, 2, n), rng)
    anywhere = rng.uniform(size=n) < 0.05
    X[anywhere] = SO3.sample(int(anywhere.sum()), rng)
    return X


@pytest.mark.parametrize("kappa", [0.3, 5.0, 80.0, 9e3, 3e4])
def test_masses_are_those_of_integrals(kappa):
    k = np.array([kappa])
    reach = {"points": [3 / np.sqrt(kappa)]} if kappa > 1 else {}
    on_sphere = integrate.quad(lambda a: 0.5 * np.sin(a) * np.exp(-2 * kappa * np.sin(a / 2) ** 2), 0, np.pi, **reach)
    assert np.exp(sa.Sphere(3).von_mises.log_mass(k))[0] == pytest.approx(on_sphere[0], rel=1e-8)
    on_so3 = integrate.quad(
        lambda a: (1 - np.cos(a)) / np.pi * np.exp(-2 * kappa * np.sin(a / 2) ** 2), 0, np.pi, epsabs=0, **reach
    )
    assert np.exp(SO3.von_mises.log_mass(k))[0] == pytest.approx(on_so3[0], rel=1e-7)
    on_torus = special.ive(0, kappa * (3.0 / (2 * np.pi)) ** 2) ** 2
    assert np.exp(sa.Torus(2, period=3.0).von_mises.log_mass(k))[0] == pytest.approx(on_torus, rel=1e-12)


def test_on_a_sphere_they_are_von_mises_and_fisher():
    mean, X = np.array([0.6, 0.0, 0.8]), sa.Sphere(3).sample(50, random_state=0)
    family = sa.Sphere(3).von_mises
    one = KernelMixture(mean[None], np.ones(1), np.array([7.0]), np.array([0.0, 1.0]), 0.0)
    wanted = stats.vonmises_fisher(mean, 7.0).pdf(X) * 4 * np.pi
    np.testing.assert_allclose(one.density(family, X), wanted, rtol=1e-12)


def test_the_sum_over_the_group_is_the_series_with_the_same_spectrum():
    # On SO(3) the kernel exp(κ cos ω) has the coefficient (I_l − I_{l+1})/((2l + 1)(I_0 − I_1)) at degree l.
    X, Z, kappa = SO3.sample(12, random_state=0), SO3.sample(30, random_state=1), 20.0
    images = np.concatenate([SO3.act(g, X) for g in CUBIC.elements()])
    each = np.full(len(images), 1 / len(images))
    direct = KernelMixture(images, each, np.array([kappa]), np.array([0.25, 0.75]), 0.0).density(SO3.von_mises, Z)
    basis = sa.invariant_basis(SO3, CUBIC, max_eigenvalue=40 * 41)
    degree = np.round(np.sqrt(basis.eigenvalues + 0.25) - 0.5).astype(int)
    spectrum = (special.ive(degree, kappa) - special.ive(degree + 1, kappa)) / (2 * degree + 1)
    spectrum /= special.ive(0, kappa) - special.ive(1, kappa)
    series = basis.combine(Z, (spectrum * basis.evaluate(X).mean(axis=0))[:, None])[:, 0]
    np.testing.assert_allclose(direct, 0.25 + 0.75 * series, atol=1e-10)


@pytest.mark.parametrize("space", [sa.Sphere(3), sa.Sphere(5), sa.Torus(2, period=[1.0, 3.0]), SO3], ids=str)
def test_samples_gradients_and_integral(space):
    family, rng = space.von_mises, np.random.default_rng(0)
    X = space.sample(3, random_state=0)
    one = KernelMixture(X, np.array([0.5, 0.3, 0.2]), np.array([2.0, 9.0]), np.array([0.2, 0.5, 0.3]), 0.0)
    uniform = one.density(family, space.sample(200_000, rng))
    assert uniform.mean() == pytest.approx(1.0, abs=5 * uniform.std() / len(uniform) ** 0.5)
    # A sample of f has E[1/f] = 1 and E[embedding] as uniform points weighted by f have it.
    drawn = one.sample(space, family, 20_000, rng)
    space.check_points(drawn)
    inverse = 1 / one.density(family, drawn)
    assert inverse.mean() == pytest.approx(1.0, abs=5 * inverse.std() / len(drawn) ** 0.5)
    points = space.sample(5, random_state=2)
    slopes = one.gradient(family, points)
    h = 1e-6
    for e in range(space.n_features):
        step = np.zeros_like(points)
        step[:, e] = 1.0
        tangential = family.pulled(points, step) if space is not SO3 and not isinstance(space, sa.Torus) else None
        if tangential is not None:
            ahead, behind = (points + s * h * tangential for s in (1, -1))
            ahead, behind = (p / np.linalg.norm(p, axis=1, keepdims=True) for p in (ahead, behind))
        elif isinstance(space, sa.Torus):
            ahead, behind = points + h * step, points - h * step
        else:
            break
        numeric = (np.log(one.density(family, ahead)) - np.log(one.density(family, behind))) / (2 * h)
        np.testing.assert_allclose(slopes[:, e], numeric, atol=1e-6)


def test_gradients_on_rotations_are_those_of_an_exponential_family():
    # exp(κ tr(XᵀY)/2) is in the family of degree one: its gradient by the functions of the space.
    Y, X = SO3.sample(1, random_state=0), SO3.sample(4, random_state=1)
    one = KernelMixture(Y, np.ones(1), np.array([3.0]), np.array([0.0, 1.0]), 0.0)
    basis = sa.invariant_basis(SO3, None, max_eigenvalue=2)
    log_density = 3.0 / 2 * (SO3.quadrature(20)[0] @ Y[0])
    nodes, w = SO3.quadrature(20)
    C = basis.correlate(nodes, (w * log_density)[:, None])
    wanted = basis.combine_gradient(X, C)[:, :, 0]
    np.testing.assert_allclose(one.gradient(SO3.von_mises, X), wanted, atol=1e-12)


def test_sharp_data_choose_kernels_and_beat_one_width():
    X, Z = grains(400, 0), grains(400, 1)
    model = sa.InvariantDensity(SO3, CUBIC).fit(X)
    assert model.form_ == "kernels"
    ours = model.score(Z) / len(Z)
    family, order = SO3.von_mises, 24
    images = [SO3.act(g, X) for g in CUBIC.elements()]
    best = (-np.inf, -np.inf)
    for kappa in 2.0 ** np.arange(0, 16, 0.5):
        scale = np.exp(-family.log_mass(np.array([kappa])))[0] / order
        tables = [
            sum(np.exp(kappa * (family.embedded(P) @ family.embedded(I).T - 1.5)) for I in images) * scale
            for P in (X, Z)
        ]
        left_out = (tables[0].sum(axis=1) - np.diag(tables[0])) / (len(X) - 1)
        with np.errstate(divide="ignore"):
            best = max(best, (np.log(left_out).mean(), np.log(tables[1].mean(axis=1)).mean()))
    assert ours > best[1]
    assert model.loo_log_likelihood_ == pytest.approx(ours, abs=0.4)
    moved = SO3.act(CUBIC.random(3), Z)
    np.testing.assert_allclose(model.score_samples(moved), model.score_samples(Z), atol=1e-9)


def test_smooth_data_keep_the_exponential_family():
    rng = np.random.default_rng(0)
    X = SO3.von_mises.sample(SO3.sample(1, random_state=3)[np.zeros(400, dtype=int)], np.full(400, 4.0), rng)
    model = sa.InvariantDensity(SO3, CUBIC).fit(X)
    assert model.form_ == "exponential"
    assert not hasattr(model, "kernels_")


def test_a_kernel_model_is_saved_and_fitted_again(tmp_path):
    X = grains(150, 0)
    model = sa.InvariantDensity(SO3, CUBIC).fit(X)
    model.save(tmp_path / "model.sa")
    again = sa.load(tmp_path / "model.sa")
    assert (again.score_samples(X) == model.score_samples(X)).all()
    assert model.sample(50, random_state=0).shape == (50, 9)
    model.fit(SO3.sample(300, random_state=0))
    assert model.form_ == "exponential"
    assert not hasattr(model, "kernels_")


def test_weights_are_repetitions():
    X, w = grains(60, 0), np.random.default_rng(0).integers(1, 4, 60)
    labels = np.repeat(np.arange(60), w)
    weighted = fitted_mixture(SO3, CUBIC, X, w.astype(float))[0]
    fits = [
        sa.InvariantDensity(SO3, CUBIC).fit(X, sample_weight=w),
        sa.InvariantDensity(SO3, CUBIC).fit(X[labels]),
    ]
    assert weighted is not None
    np.testing.assert_allclose(fits[0].score_samples(X), fits[1].score_samples(X), atol=1e-8)


def test_groups_too_large_to_list_have_no_kernels():
    X = sa.Torus(8).sample(50, random_state=0)
    assert fitted_mixture(sa.Torus(8), groups.hyperoctahedral(8), X, np.ones(50))[0] is None
    assert (
        fitted_mixture(sa.Interval(), groups.trivial(1), sa.Interval().sample(50, random_state=0), np.ones(50))[0]
        is None
    )


@pytest.mark.parametrize("group", [CUBIC, groups.crystal_symmetry("O", "D2"), groups.crystal_symmetry("D6")], ids=str)
def test_nodes_of_one_orbit_are_merged_and_the_rule_stays_exact(group):
    nodes, weights = SO3.quadrature(12 * 13)
    basis = sa.invariant_basis(SO3, group, max_eigenvalue=12 * 13)
    points, merged = one_of_each_orbit(SO3, group, nodes, weights)
    assert len(points) < len(nodes) / 6
    values = basis.evaluate(points)
    np.testing.assert_allclose((values * merged[:, None]).T @ values, np.eye(basis.dim), atol=1e-10)


def test_far_images_of_sharp_kernels_are_left_out_without_a_trace():
    X, Z = grains(60, 0), grains(40, 1)
    images = np.concatenate([SO3.act(g, X) for g in CUBIC.elements()])
    kappas, shares = np.array([3.0, 900.0, 4e3, 2e5]), np.array([1e-5, 0.2, 0.2, 0.3, 0.29999])
    weights = np.random.default_rng(0).dirichlet(np.ones(len(images)))
    found = KernelMixture(images, weights, kappas, shares, 0.0).density(SO3.von_mises, Z)
    family = SO3.von_mises
    exponents = np.minimum(family.embedded(Z) @ family.embedded(images).T - family.square, 0.0)
    direct = shares[0] + sum(
        share * np.exp(kappa * exponents - family.log_mass(np.array([kappa]))) @ weights
        for kappa, share in zip(kappas, shares[1:], strict=True)
    )
    np.testing.assert_allclose(found, direct, rtol=1e-12)


def test_points_that_are_not_kept_count_for_their_neighbours(monkeypatch):
    X, Z = grains(4_000, 0), grains(1_000, 1)
    ones, family = np.ones(len(X)), SO3.von_mises
    monkeypatch.setattr("specavg.estimators._fitted_kernels.MOST_IMAGES", 24 * 400)
    counted = fitted_mixture(SO3, CUBIC, X, ones)[0]
    assert len(counted.images) == 24 * 400
    np.testing.assert_allclose([counted.weights_of(k).sum() for k in range(len(counted.concentrations))], 1.0)
    assert counted.weights.max() > 3 * counted.weights.min()
    moved = counted.density(family, SO3.act(next(iter(CUBIC.generators)), Z))
    np.testing.assert_allclose(counted.density(family, Z), moved, rtol=1e-9)
    alone = fitted_mixture(SO3, CUBIC, X[:400], ones[:400])[0]  # what is left if the others are thrown away
    gain = np.mean(np.log(counted.density(family, Z)) - np.log(alone.density(family, Z)))
    assert gain > 0.05
    assert counted.loo_log_likelihood == pytest.approx(np.mean(np.log(counted.density(family, Z))), abs=0.2)


@pytest.mark.parametrize("space", [sa.Sphere(3), sa.Torus(2, period=[1.0, 3.0]), SO3], ids=str)
def test_kernels_beyond_their_reach_are_left_out_without_a_trace(space):
    """Against the sum over all images, for points near the data and far from them."""
    family, rng = space.von_mises, np.random.default_rng(0)
    kappas = np.array([2.0, 300.0, 5e3, 1e5]) / family.square
    X = space.sample(40, random_state=0)
    images = family.sample(X[rng.integers(40, size=3_000)], np.full(3_000, kappas[2]), rng)
    weights = rng.dirichlet(np.ones(len(images)))
    mixture = KernelMixture(images, weights, kappas, np.array([1e-4, 0.2, 0.3, 0.3, 0.1999]), 0.0)
    Z = np.concatenate([space.sample(50, random_state=1), images[:50]])
    exponents = np.minimum(family.embedded(Z) @ family.embedded(images).T - family.square, 0.0)
    scales = mixture.shares[1:] * np.exp(-family.log_mass(kappas))
    terms = [scale * np.exp(kappa * exponents) * weights for kappa, scale in zip(kappas, scales, strict=True)]
    direct = mixture.shares[0] + sum(term.sum(axis=1) for term in terms)
    # A scalar product of m numbers is known to m/2 units in its last place, and κ multiplies that error.
    rounding = kappas[-1] * family.square * family.embedded(Z).shape[1] * np.finfo(float).eps / 2
    np.testing.assert_allclose(mixture.density(family, Z), direct, rtol=2 * rounding)  # both sides
    pulls = sum(kappa * term @ family.embedded(images) for kappa, term in zip(kappas, terms, strict=True))
    slopes = family.pulled(Z, pulls / direct[:, None])
    np.testing.assert_allclose(mixture.gradient(family, Z), slopes, atol=2 * rounding * np.abs(slopes).max())
    pairs = sum(kernel.size for _, _, _, kernel in mixture._near(family, Z))
    assert pairs < 0.7 * len(kappas) * exponents.size  # most are not visited


@pytest.mark.parametrize("others", [20, 60, 200])
def test_one_close_pair_among_uniform_points_is_no_evidence_of_a_sharp_density(others):
    """Two points 0.1° apart, and spread ones: a spike of their width would make both far more likely."""
    space, rng = sa.Sphere(3), np.random.default_rng(0)
    turn = np.pi * (1 + 5**0.5) * np.arange(others)  # Fibonacci's points, which have no close pairs
    z = 1 - 2 * (np.arange(others) + 0.5) / others
    rho = np.sqrt(1 - z**2)
    X = np.stack([rho * np.cos(turn), rho * np.sin(turn), z], axis=1)
    near = X[:1] + np.deg2rad(0.1) * np.linalg.svd(X[:1])[2][1:2]
    X = np.concatenate([X, near / np.linalg.norm(near)])[rng.permutation(others + 1)]
    model = sa.InvariantDensity(space, groups.point_group("C1")).fit(X)
    assert model.density(X).max() < 2


def test_uniform_points_with_a_close_pair_have_no_spike():
    space = sa.Sphere(3)
    X = space.sample(50, random_state=0)  # two of them are 0.16° apart up to the inversion
    model = sa.InvariantDensity(space, groups.point_group("Ci")).fit(X)
    assert model.form_ == "exponential"
    nodes, weights = space.quadrature(60 * 61)
    assert weights @ model.density(nodes) ** 2 < 1.2  # 1 is right; kernels had 288 at the pair


def test_two_grains_of_few_points_keep_their_width():
    """Three points each, within 1°, among spread ones: several pairs are evidence."""
    space, rng = sa.Sphere(3), np.random.default_rng(1)
    centres = np.repeat(np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]]), 3, axis=0)
    grains = centres + np.deg2rad(0.5) * rng.standard_normal(centres.shape)
    X = np.concatenate([grains / np.linalg.norm(grains, axis=1, keepdims=True), space.sample(24, random_state=2)])
    model = sa.InvariantDensity(space, groups.point_group("C1")).fit(X)
    assert model.form_ == "kernels"
    assert model.density(centres).min() > 50


@pytest.mark.parametrize(
    "space, group", [(sa.Sphere(3), groups.point_group("C1")), (SO3, groups.crystal_symmetry("D6"))]
)
@pytest.mark.parametrize("half_width", [3.0, 5.0])
def test_a_sharp_peak_among_few_other_points_is_predicted_by_what_is_chosen(space, group, half_width):
    """A tenth of 60 points anywhere: exponential densities were chosen, 4 to 66 nats below the truth on average."""
    rng = np.random.default_rng(int(1000 * half_width) + 1)
    family, centre = space.von_mises, space.sample(1, rng)
    kappa = np.log(2) / (1 - np.cos(np.deg2rad(half_width)))

    def drawn(n):
        X = family.sample(np.repeat(centre, n, axis=0), np.full(n, kappa), rng)
        anywhere = rng.uniform(size=n) < 0.1
        X[anywhere] = space.sample(int(anywhere.sum()), rng)
        return X

    X, Z = drawn(60), drawn(500)
    images = np.concatenate([space.act(g, centre) for g in group.elements()])
    truth = KernelMixture(
        images, np.full(len(images), 1 / len(images)), np.array([kappa]), np.array([0.1, 0.9]), 0.0
    ).density(family, Z)
    model = sa.InvariantDensity(space, group).fit(X)
    assert np.mean(np.log(truth)) - model.score(Z) / len(Z) < 0.4


@pytest.mark.parametrize("n", [2, 3, 6, 10])
def test_few_uniform_orientations_have_no_texture(n):
    """Close pairs had texture indices of up to 28, where 1 is right, and a tenth of all sets more than 2."""
    nodes, weights = SO3.quadrature(16 * 17)
    for seed in range(8):
        model = sa.InvariantDensity(SO3, CUBIC).fit(SO3.sample(n, np.random.default_rng(100 * n + seed)))
        assert weights @ model.density(nodes) ** 2 < 1.3


@pytest.mark.parametrize("n, half_width, gain", [(3, 3.0, 5.0), (6, 3.0, 5.0), (6, 15.0, 0.5)])
def test_few_orientations_of_one_peak_keep_it(n, half_width, gain):
    """Mean log density of new orientations; the truth has 6.2 and 1.5."""
    rng, centre = np.random.default_rng(n), SO3.sample(1, 0)
    kappa = np.log(2) / (1 - np.cos(np.deg2rad(half_width)))
    X, Z = (SO3.von_mises.sample(np.repeat(centre, k, axis=0), np.full(k, kappa), rng) for k in (n, 300))
    assert sa.InvariantDensity(SO3, CUBIC).fit(X).score(Z) / len(Z) > gain


def peak_among_others(n, seed, share, degrees):
    """Orientations of one peak, and a share of them anywhere, which come first."""
    rng, centre = np.random.default_rng(seed), SO3.sample(1, random_state=3)
    X = SO3.von_mises.sample(np.repeat(centre, n, axis=0), np.full(n, np.deg2rad(degrees) ** -2.0), rng)
    X[: round(share * n)] = SO3.sample(round(share * n), rng)
    return centre, X


def share_near(X, centre, group, degrees):
    images = np.concatenate([SO3.act(g, centre) for g in group.elements()])
    return np.mean((X @ images.T).max(axis=1) / 2 - 0.5 >= np.cos(np.deg2rad(degrees)))


@pytest.mark.parametrize(
    "group, n, share, degrees",
    [(CUBIC, 600, 0.4, 2.0), (CUBIC, 600, 0.8, 2.0), (groups.crystal_symmetry("D6", "D2"), 600, 0.6, 3.0)],
    ids=str,
)
def test_a_peak_among_orientations_anywhere_has_the_volume_of_its_rows(group, n, share, degrees):
    """Kernels of one width around all rows gave the rows anywhere their part of it: 0.41 where 0.61 is right."""
    centre, X = peak_among_others(n, 0, share, degrees)
    model = sa.InvariantDensity(SO3, group).fit(X)
    assert model.form_ == "kernels"
    wanted = share_near(X, centre, group, 5 * degrees)
    found = share_near(model.sample(20_000, random_state=0), centre, group, 5 * degrees)
    assert found == pytest.approx(wanted, rel=0.08)
    fresh = peak_among_others(2_000, 1, share, degrees)[1]
    held_out = model.score(fresh) / len(fresh)
    assert model.loo_log_likelihood_ == pytest.approx(held_out, abs=0.3)
    moved = SO3.act(group.random(3), fresh[::10])
    np.testing.assert_allclose(model.score_samples(moved), model.score_samples(fresh[::10]), atol=1e-9)


@pytest.mark.parametrize("group", [CUBIC, groups.crystal_symmetry("O", "C∞")], ids=str)
def test_weights_of_each_width_are_those_of_mixtures_of_one_width(group):
    family, rng = orbit_space(SO3, group).family, np.random.default_rng(0)
    X, Z = SO3.sample(5, random_state=0), SO3.sample(40, random_state=1)
    images = np.concatenate([SO3.act(g, X) for g in orbit_space(SO3, group).elements(SO3)])
    weights, kappas = rng.dirichlet(np.ones(len(images)), 2), np.array([8.0, 900.0])
    both = KernelMixture(images, weights, kappas, np.array([0.2, 0.5, 0.3]), 0.0)
    alone = [KernelMixture(images, w, kappas[[k]], np.array([0.0, 1.0]), 0.0) for k, w in enumerate(weights)]

    def joined(values):
        return 0.2 + 0.5 * values[0] + 0.3 * values[1]

    density = joined([one.density(family, Z) for one in alone])
    np.testing.assert_allclose(both.density(family, Z), density, rtol=1e-10)
    slopes = sum(
        share * one.density(family, Z)[:, None] * one.gradient(family, Z)
        for share, one in zip([0.5, 0.3], alone, strict=True)
    )
    np.testing.assert_allclose(both.gradient(family, Z), slopes / density[:, None], atol=1e-8)
    h, r = np.array([0.0, 0.6, 0.8]), sa.Sphere(3).sample(30, random_state=2)
    poles = [pole_density_of_kernels(one, group, h, r) for one in (both, *alone)]
    if poles[0] is not None:
        np.testing.assert_allclose(poles[0], joined(poles[1:]), rtol=1e-8)
    drawn = both.sample(SO3, family, 20_000, rng)
    inverse = 1 / both.density(family, drawn)
    assert inverse.mean() == pytest.approx(1.0, abs=5 * inverse.std() / len(drawn) ** 0.5)


@pytest.mark.parametrize("group", [groups.point_group("Ci"), groups.point_group("D3")], ids=str)
def test_posterior_weights_are_left_out_as_by_brute_force(group):
    """Row by row, without the row: posterior probabilities of the others, and the density that they give."""
    space, rng = sa.Sphere(3), np.random.default_rng(0)
    family, n = space.von_mises, 30
    X = np.concatenate([family.sample(np.tile([[0, 0.6, 0.8]], (15, 1)), np.full(15, 300.0), rng), space.sample(15, 1)])
    w, kappas, shares = rng.uniform(0.5, 1.5, n), np.array([4.0, 250.0]), np.array([0.3, 0.3, 0.4])
    images = np.concatenate([space.act(g, X) for g in group.elements()])
    each = np.tile(w, group.order) / (group.order * w.sum())
    kernels = [
        np.exp(kappa * (X @ images.T - 1) - family.log_mass(np.array([kappa]))).reshape(n, -1, n).mean(axis=1)
        for kappa in kappas
    ]

    def by_others(rows):  # the density of each width at some rows, by the others of them
        sub = np.ix_(rows, rows)
        off = w[rows] * ~np.eye(len(rows), dtype=bool)
        return np.stack([(K[sub] * off).sum(axis=1) / off.sum(axis=1) for K in kernels], axis=1)

    near = Centres(family, KernelMixture(images, each, kappas, shares, 0.0), w, w, w.sum())
    none = np.empty(0, dtype=np.intp)
    explained = near.explained(np.empty((0, 3)), none, np.empty(0), rng)
    np.testing.assert_allclose(explained, by_others(np.arange(n)), rtol=2e-3, atol=1e-3)
    found = near.left_out(X, np.arange(n), w, by_others(np.arange(n)))
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        parts = shares[1:] * by_others(rest)
        posterior = parts / (shares[0] + parts.sum(axis=1, keepdims=True))
        for power, columns in ((0, slice(0, 2)), (8, slice(2, 4))):
            each_row = w[rest, None] * posterior * posterior.sum(axis=1, keepdims=True) ** power
            wanted = [K[i, rest] @ v / v.sum() for K, v in zip(kernels, each_row.T, strict=True)]
            np.testing.assert_allclose(found[i, columns], wanted, rtol=1e-6, atol=1e-9)
