"""InvariantDensity: positive, of integral one, exactly invariant, better than without the symmetry."""

import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.transform import Rotation
from sklearn.base import clone

import specavg as sa
from specavg import groups

BALANCED = sa.invariants.ByType(balanced=True)
AXIS = np.array([1.0, 2.0, 2.0]) / 3


def watson(n, concentration, seed):
    """Points with density proportional to exp(κ(x·axis)²), by rejection."""
    rng = np.random.default_rng(seed)
    X = sa.Sphere(3).sample(int(60 * n), random_state=rng)
    keep = rng.uniform(size=len(X)) < np.exp(concentration * ((X @ AXIS) ** 2 - 1))
    return X[keep][:n]


def watson_log_density(X, concentration):
    normaliser = integrate.quad(lambda t: np.exp(concentration * t**2), 0, 1)[0]
    return concentration * (X @ AXIS) ** 2 - np.log(normaliser)


def test_a_density_in_the_family_is_recovered():
    X, Z = watson(2000, 4.0, 0), watson(1000, 4.0, 1)
    model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("Ci")).fit(X)
    gap = watson_log_density(Z, 4.0) - model.score_samples(Z)
    assert abs(gap.mean()) < 0.02
    assert gap.std() < 0.15


@pytest.mark.parametrize("positive", [True, False])
def test_the_integral_is_one(positive):
    X = watson(100, 6.0, 0)
    model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("Ci"), positive=positive).fit(X)
    nodes, weights = sa.Sphere(3).quadrature(120.0 * 121.0)  # another rule than the one in use
    assert weights @ model.density(nodes) == pytest.approx(1.0, abs=1e-10)
    if positive:
        assert model.density(nodes).min() > 0
        assert model.normalisation_error_ < 1e-10
        assert "product rule" in model.quadrature_


def test_invariant_to_the_last_bit():
    space, group = sa.Torus(6), groups.hyperoctahedral(6)
    rng = np.random.default_rng(0)
    X = np.clip(0.3 * rng.normal(size=(150, 6)), -0.99, 0.99)
    # Random nodes on T⁶ know no sharper density: at the middle it is 68, and 354 in truth.
    with pytest.warns(UserWarning, match="data are sharper .* no more can be told by 6000 uniform random nodes"):
        model = sa.InvariantDensity(space, group, max_invariant_dim=30).fit(X)
    moved = X[:, rng.permutation(6)] * rng.choice([-1, 1], 6)
    assert (model.score_samples(X) == model.score_samples(moved)).all()


def test_random_nodes_in_high_dimension_say_their_error():
    space, group = sa.Torus(12), groups.hyperoctahedral(12)
    X = np.clip(0.5 * np.random.default_rng(0).normal(size=(300, 12)), -0.99, 0.99)
    model = sa.InvariantDensity(space, group, max_invariant_dim=20).fit(X)
    assert "random" in model.quadrature_
    assert 0 < model.normalisation_error_ < 0.2
    assert model.score(X) > 0


def test_held_out_likelihood_is_finite_and_gains_from_the_symmetry():
    X, Z = watson(60, 8.0, 0), watson(500, 8.0, 1)
    rng = np.random.default_rng(0)
    X = X * np.where(rng.uniform(size=(60, 1)) < 0.8, np.sign(X @ AXIS)[:, None], 1)  # mostly one pole
    space = sa.Sphere(3)
    symmetric = sa.InvariantDensity(space, groups.point_group("Ci")).fit(X)
    plain = sa.InvariantDensity(space).fit(X)
    assert np.isfinite(symmetric.score_samples(Z)).all()
    assert symmetric.score(Z) > plain.score(Z)


def test_risk_of_the_series_is_unbiased():
    # E[risk estimate] + ∫p² = E∫(f − p)² at a fixed cutoff without shrinkage, for p = 1 + a ψ_1.
    space, group = sa.Torus(1), groups.sign_flips(1)
    rng = np.random.default_rng(0)
    estimates, truths = [], []
    for _ in range(300):
        X = rng.uniform(-1, 1, (400, 1))
        X = X[rng.uniform(0, 2, 400) < 1 + 0.8 * np.cos(np.pi * X[:, 0])][:100]
        model = sa.InvariantDensity(space, group, positive=False, max_invariant_dim=2)
        model.fit(X)
        theta = np.sqrt(2) * np.cos(np.pi * X[:, 0]).mean()
        true = 0.8 / np.sqrt(2)
        n = len(X)
        w = model.coef_[1] / theta
        squared = (n**2 * theta**2 - 2 * np.sum(np.cos(np.pi * X[:, 0]) ** 2)) / (n * (n - 1))
        assert model.l2_risk_ == pytest.approx(w**2 * theta**2 - 2 * w * squared - 1, abs=1e-12)
        estimates.append(theta**2 - 2 * squared + true**2)
        truths.append((theta - true) ** 2)
    assert stats.ttest_rel(estimates, truths).pvalue > 1e-3


def test_uniform_data_give_the_uniform_density():
    X = sa.Sphere(3).sample(500, random_state=0)
    for positive in (True, False):
        model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("Oh"), positive=positive, max_invariant_dim=30)
        assert np.abs(model.fit(X).score_samples(X)).max() < 0.35


@pytest.mark.parametrize("positive", [True, False])
def test_samples_have_the_density(positive):
    X = watson(400, 4.0, 0)
    model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("Ci"), positive=positive, max_invariant_dim=70).fit(X)
    S = model.sample(3000, random_state=0)
    assert S.shape == (3000, 3)
    assert (model.sample(5, random_state=1) == model.sample(5, random_state=1)).all()
    nodes, weights = sa.Sphere(3).quadrature(60.0 * 61.0)
    density = np.maximum(model.density(nodes), 0) * weights
    density /= density.sum()
    for power in (2, 4):
        expected = density @ (nodes @ AXIS) ** power
        assert np.mean((S @ AXIS) ** power) == pytest.approx(expected, abs=0.025)


def test_a_weight_is_a_repetition():
    X, w = watson(60, 4.0, 0), np.random.default_rng(0).integers(0, 3, 60)
    space, group = sa.Sphere(3), groups.point_group("Ci")
    series = [
        sa.InvariantDensity(space, group, positive=False).fit(X, sample_weight=w),
        sa.InvariantDensity(space, group, positive=False).fit(np.repeat(X, w, axis=0)),
    ]
    np.testing.assert_allclose(series[0].coef_, series[1].coef_, atol=1e-12)


def test_rotations():
    space, group = sa.spaces.Rotations(), groups.crystal_symmetry("D2")
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.eye(3) + 0.25 * rng.normal(size=(120, 3, 3)))[0]
    Q = Q * np.sign(np.einsum("nii->ni", Q))[:, None, :]
    Q = Q[np.linalg.det(Q) > 0]
    model = sa.InvariantDensity(space, group).fit(Q[:80])
    assert model.score(Q[80:]) / len(Q[80:]) > 1
    assert model.normalisation_error_ < 1e-3


def test_refusals():
    X = sa.Torus(1).sample(10, random_state=0)
    with pytest.raises(ValueError, match="only the uniform"):
        sa.InvariantDensity(max_eigenvalue=1.0).fit(X)
    with pytest.raises(ValueError, match="n_samples=1"):
        sa.InvariantDensity(positive=False).fit(X[:1])


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("period", [1e-60, 1e-10, 1e-3, 1e6, 1e60])
def test_the_unit_of_length_does_not_matter(d, period):
    space, group = sa.Torus(d, period=period), groups.sign_flips(d)
    rng = np.random.default_rng(0)
    unit = 0.15 * rng.normal(size=(150, d))  # in periods
    model = sa.InvariantDensity(space, group, max_invariant_dim=12).fit(period * unit)
    plain = sa.InvariantDensity(sa.Torus(d, period=1.0), group, max_invariant_dim=12).fit(unit)
    grid = (np.stack(np.meshgrid(*[np.arange(60) / 60] * d), axis=-1).reshape(-1, d)) - 0.5
    assert model.density(period * grid).mean() == pytest.approx(1.0, abs=1e-6)
    assert model.density(period * grid) == pytest.approx(plain.density(grid), rel=1e-9)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("step", [5, 10])
def test_rounded_angles_do_not_become_peaks(step, positive):
    """Rows of one place are left out together: alone, each was predicted by its twins, and a density of spikes won."""
    angles = np.rad2deg(np.random.default_rng(0).vonmises(0, 2, 1000))
    X = (np.round(angles / step) * step)[:, None]
    model = sa.InvariantDensity(sa.Torus(1, period=360), positive=positive, max_invariant_dim=101).fit(X)
    grid = np.arange(-180.0, 180.0, step / 4)
    true = np.exp(2 * np.cos(np.deg2rad(grid))) / np.i0(2)
    assert np.abs(model.density(grid[:, None]) - true).mean() < 0.35  # it was 1.2 and more


def test_weights_of_a_series_are_repeated_rows():
    rng = np.random.default_rng(1)
    X, weights = rng.normal(0, 0.3, (60, 1)), rng.integers(1, 5, 60)
    model = sa.InvariantDensity(sa.Torus(1), positive=False, max_invariant_dim=41)
    weighted, repeated = clone(model).fit(X, sample_weight=weights), clone(model).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weighted.l2_risk_, repeated.l2_risk_, rtol=1e-12)


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("streamed", [False, True], ids=["rows", "stream"])
def test_only_ratios_of_weights_matter(positive, streamed):
    """Weights that sum to one gave half as many functions, and another density."""
    space, rng = sa.Sphere(3), np.random.default_rng(0)
    X, w = watson(300, 4.0, 0), rng.lognormal(size=300)
    fits = []
    for scale in (1 / w.sum(), 1.0, 1e6):
        data = (iter([(X, scale * w)]),) if streamed else (X, None, scale * w)
        fits.append(sa.InvariantDensity(space, positive=positive).fit(*data))
    for other in fits[1:]:
        assert other.basis_.dim == fits[0].basis_.dim > 96
        np.testing.assert_allclose(other.density(X), fits[0].density(X), rtol=1e-9)


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, w = watson(70, 4.0, 0), rng.integers(1, 5, 70)
    weighted = sa.InvariantDensity(sa.Sphere(3)).fit(X, sample_weight=w)
    repeated = sa.InvariantDensity(sa.Sphere(3)).fit(np.repeat(X, w, axis=0))
    assert weighted.basis_.dim == repeated.basis_.dim
    np.testing.assert_allclose(weighted.density(X), repeated.density(X), rtol=1e-9)


def test_many_rows_on_few_orbits_tell_no_width():
    space, group, rng = sa.Rotations(), groups.crystal_symmetry("m-3m"), np.random.default_rng(0)
    X = np.repeat(space.sample(3, 0), 200, axis=0)
    X = np.concatenate([space.act(group.random(rng), x[None]) for x in X])
    with pytest.warns(UserWarning, match=r"600 rows lie on 3 orbits; .* width of the density cannot be told"):
        sa.InvariantDensity(space, group).fit(X)


def with_an_atom(space, point, share, n=1_000):
    """Uniform points, but for a share of equal ones."""
    X = space.sample(n, random_state=1)
    X[: int(share * n)] = point
    return np.random.default_rng(0).permutation(X)


ATOMS = [
    (sa.Sphere(3), groups.point_group("Ci"), lambda X: np.abs(X[:, 2]), 0.6),
    (sa.Sphere(3), groups.trivial(3), lambda X: X[:, 2], 0.1),
    (sa.Torus(1, period=2 * np.pi), groups.sign_flips(1), lambda X: np.cos(X[:, 0]), 0.6),
    (sa.Rotations(), groups.crystal_symmetry("C2"), lambda X: X[:, 8], 0.6),  # tilts of the axis
]


@pytest.mark.parametrize(
    "space, group, cosine, share", ATOMS, ids=lambda value: "" if callable(value) else repr(value)[:30]
)
def test_an_atom_has_the_mass_of_its_rows_and_a_warning(space, group, cosine, share):
    point = {1: [0.0], 3: [0.0, 0.0, 1.0], 9: np.eye(3).ravel()}[space.n_features]
    X, Z = with_an_atom(space, point, share), space.sample(100_000, random_state=2)
    with pytest.warns(UserWarning, match=rf"{1000 * share:.0f} of 1,000 rows lie on one orbit, an atom"):
        model = sa.InvariantDensity(space, group).fit(X)
    near = np.cos(np.deg2rad(30))
    wanted = share + (1 - share) * np.mean(cosine(Z) > near)
    found = np.mean(cosine(model.sample(20_000, random_state=0)) > near)
    assert found == pytest.approx(wanted, abs=0.03)  # four standard errors of 1,000 rows and 20,000 points
    assert np.mean(cosine(model.sample(20_000, random_state=0)) > np.cos(np.deg2rad(0.5))) > 0.95 * share


def test_an_atom_is_as_sharp_as_a_given_cutoff_allows():
    space = sa.Sphere(3)
    X, (nodes, weights) = with_an_atom(space, [0.0, 0.0, 1.0], 0.6), space.quadrature(120.0 * 121.0)
    near = nodes[:, 2] > np.cos(np.deg2rad(30))
    with pytest.warns(UserWarning, match="an atom"), pytest.warns(UserWarning, match="data are sharper than this"):
        model = sa.InvariantDensity(space, max_dim=100).fit(X)
    with pytest.warns(UserWarning, match="an atom"):
        series = sa.InvariantDensity(space, max_dim=100, positive=False).fit(X)
    assert weights[near] @ model.density(nodes[near]) == pytest.approx(0.627, abs=0.03)
    assert weights[near] @ series.density(nodes[near]) > 0.3  # of one width for all points


def test_rounded_peaks_are_no_atoms():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step, width in ((1.0, 3.0), (5.0, 5.0)):
            peak = np.round(rng.normal(0, width, 2_000) / step) * step
            others = np.round(rng.uniform(-180, 180, 500) / step) * step
            sa.InvariantDensity(sa.Torus(1, period=360)).fit(np.concatenate([peak, others])[:, None])


def test_a_series_of_one_orbit_has_no_risk_to_choose_by():
    with pytest.raises(ValueError, match="n_samples=1 on different orbits"):
        sa.InvariantDensity(sa.Torus(1), positive=False).fit(np.zeros((20, 1)))


@pytest.mark.parametrize("space", [sa.Sphere(3), sa.Torus(2), sa.Circle()], ids=repr)
@pytest.mark.parametrize("n, seeds", [(2, range(100, 104)), (3, range(100, 104)), (5, range(101, 104))])
@pytest.mark.parametrize("streamed", [False, True], ids=["rows", "stream"])
def test_few_uniform_points_are_no_spikes(space, n, seeds, streamed):
    """They had densities of 1,000 and more at the points, with a leave-one-out log-likelihood of 3 to 7 for 0."""
    for seed in seeds:
        X = space.sample(n, seed)
        model = sa.InvariantDensity(space).fit(iter([X]) if streamed else X)
        assert model.density(X).max() < 8


@pytest.mark.parametrize("copies", [1, 700])
def test_one_orbit_tells_no_width(copies):
    X = np.repeat(sa.Sphere(3).sample(1, 0), copies, axis=0) * (-1.0) ** np.arange(copies)[:, None]
    with pytest.warns(UserWarning, match="nearly uniform: all points lie on one orbit"):
        model = sa.InvariantDensity(sa.Sphere(3), groups.point_group("Ci")).fit(X)
    assert model.density(X) == pytest.approx(1.0, abs=0.01)
    assert model.loo_log_likelihood_ == pytest.approx(0.0, abs=1e-12)


def side_by_side(period):
    """A length beside an angle of this period: as factors, as sides of a box, and copies of that."""
    box = sa.Torus(2, period=[1, period])
    return [sa.Product(sa.Interval(0, 1), sa.Torus(1, period=period)), box, sa.Power(box, 2)]


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("positive", [True, False])
def test_a_density_does_not_depend_on_the_unit_of_a_column(which, positive, tmp_path):
    rng, found = np.random.default_rng(0), []
    U = np.column_stack([rng.normal(0.5, 0.08, 600), rng.normal(1 / 6, 1 / 24, 600)]) % 1
    Z = rng.uniform(size=(200, 2))
    for period in (360, 24):
        space = side_by_side(period)[which]
        X, at = (np.reshape(points * [1, period], (-1, space.n_features)) for points in (U, Z))
        model = sa.InvariantDensity(space, positive=positive).fit(X)
        assert sa.InvariantDensity(space, positive=positive).fit(iter([X])).basis_ == model.basis_
        model.save(tmp_path / "model")
        found.append(sa.load(tmp_path / "model").density(at))
        np.testing.assert_array_equal(found[-1], model.density(at))
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


def test_a_bond_beside_a_torsion_in_degrees_has_its_width():
    """By eigenvalue, 192 functions have degree 3 of the bond and frequency 183 of the torsion: the width was 0.0568."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(1.1, 0.05, 1500), rng.normal(60, 15, 1500)])
    space = sa.Product(sa.Interval(0.8, 1.4), sa.Torus(1, period=360))
    group = groups.direct_product(groups.trivial(1), groups.dihedral(3))
    model = sa.InvariantDensity(space, group).fit(X)
    bond = 1.1 + 0.3 * np.cos(np.pi * (np.arange(200) + 0.5) / 200)  # of equal weights in the arcsine measure
    nodes = np.stack(np.meshgrid(bond, np.arange(0, 120, 0.5)), axis=-1)
    density = model.density(nodes.reshape(-1, 2)).reshape(nodes.shape[:2]).mean(axis=0)
    mean = np.average(bond, weights=density)
    assert np.average((bond - mean) ** 2, weights=density) ** 0.5 == pytest.approx(X[:, 0].std(), rel=0.01)


def test_axes_of_a_lattice_have_one_unit():
    """Six sharp layers along an axis of eight times the length: balanced, functions have frequency 3 along it."""
    rng = np.random.default_rng(0)

    def layers(n):
        return np.column_stack([rng.uniform(size=(n, 2)), (rng.integers(0, 6, n) * 3 + rng.normal(0, 0.5, n)) / 24 % 1])

    space, X = sa.Torus(lattice=np.diag([3.0, 3.0, 24.0])), layers(600)
    by_length, balanced = (sa.InvariantDensity(space, order=order).fit(X) for order in (None, BALANCED))
    Z = layers(2000)
    assert by_length.score(Z) / len(Z) > balanced.score(Z) / len(Z) + 0.3


@pytest.mark.parametrize("cutoff", [{}, {"max_dim": 50}], ids=["default", "given"])
def test_a_group_of_one_orbit_is_told_that_no_cutoff_helps(cutoff):
    group = groups.crystal_symmetry("K")
    with pytest.raises(ValueError, match=r"only the uniform density is left: .* every point .* to every other\.$"):
        sa.InvariantDensity(sa.Rotations(), group, **cutoff).fit(sa.Rotations().sample(20, random_state=0))
    with pytest.raises(ValueError, match=r"max_dim = 2 ends before the first non-constant .*: raise it\.$"):
        sa.InvariantDensity(sa.Sphere(3), groups.point_group("Oh"), max_dim=2).fit(np.eye(3))


def test_densities_of_few_functions_have_integral_one():
    """Their peaks may be narrower than products of the functions, which the first nodes integrate."""
    rng, ideal = np.random.default_rng(0), Rotation.from_euler("ZXZ", [35, 45, 0], degrees=True)
    X = (Rotation.from_rotvec(np.deg2rad(10) * rng.standard_normal((300, 3))) * ideal).as_matrix()
    group = groups.crystal_symmetry("m-3m", specimen="mmm")
    nodes, weights = sa.Rotations().quadrature(40 * 41)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten functions are few for these data, which is said
        model = sa.InvariantDensity(sa.Rotations(), group, max_invariant_dim=10).fit(X)
    assert model.normalisation_error_ <= 0.01
    assert abs(weights @ model.density(nodes) - 1) < 1e-3
