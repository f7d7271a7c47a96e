"""EquivariantKernelRidge: equal to the averaged matrix kernel by brute force, exact, streamed, saved."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import specavg as sa
from specavg import groups, isometries
from specavg.regression._block_leave_one_out import BlockLeaveOneOut, blocks_of

C3 = groups.cyclic(3)
HANDED_ROUND = groups.Representation(C3, [isometries.permutation([1, 2, 0])])
CASES = [
    (sa.Sphere(3), groups.point_group("D3"), "vector"),  # no constant vectors
    (sa.Sphere(3), groups.point_group("C3v"), "ij=ji"),  # two constant tensors
    (sa.Sphere(3), groups.point_group("C3v"), "vector"),  # one constant vector
    (sa.Torus(2), groups.hyperoctahedral(2), "vector"),
    (sa.Torus(2), groups.cyclic_shifts(2), "pseudoscalar"),
    (sa.Circle(), C3, HANDED_ROUND),
    (sa.Sphere(3), groups.point_group("Oh"), "scalar"),
    (sa.Sphere(3), groups.point_group("D3d"), "tangent vector"),
    (sa.Sphere(3), groups.point_group("C3v"), "axial tangent vector"),
]
GIVEN = {"spectrum": "heat", "length_scale": 0.5, "alpha": 0.3, "max_eigenvalue": 20}
IDS = [f"{M!r}-{G!r}-{output!r}".replace(" ", "") for M, G, output in CASES]


def data(space, group, output, n=10, seed=0):
    rng = np.random.default_rng(seed)
    p = sa.equivariant_basis(space, group, output, max_eigenvalue=0).n_outputs
    X, y = space.sample(n, random_state=seed), rng.normal(size=(n, p))
    if is_tangent(output):
        y = np.cross(X, y[:, [1, 2, 0]])  # points are made from the same random numbers
    return X, y, rng.uniform(0.5, 2.0, size=n)


def is_tangent(output):
    return isinstance(output, str) and "tangent" in output


def fitted(model, X, y, w=None):
    """Fitted to data in memory; one number for each point is given as such."""
    return model.fit(X, y[:, 0] if y.shape[1] == 1 else y, sample_weight=w)


class BruteForce:
    """Kernel ridge with K(x, y) = (1/|G|) Σ k(gx, y) ρ(g)ᵀ, and constant vectors without a penalty."""

    def __init__(self, space, group, output, X, y, w):
        self.n, self.p = y.shape
        functions = self.functions_of(space, output)
        elements = list(groups.representation(group, output).elements())

        def kernel(A, B):
            terms = [
                np.einsum("afi,bfj,ik->akbj", functions(space.act(g, A)), functions(B), rho.matrix)
                for g, rho in elements
            ]
            return np.mean(terms, axis=0).reshape(len(A) * self.p, len(B) * self.p)

        projector = np.mean([rho.matrix for _, rho in elements], axis=0) if not is_tangent(output) else np.zeros((3, 3))
        values, vectors = np.linalg.eigh((projector + projector.T) / 2)
        self.constants = vectors[:, values > 0.5]
        k = self.constants.shape[1]
        A = np.tile(self.constants, (self.n, 1))
        noise = 0.3 * np.diag(np.repeat(1 / w, self.p))
        self.system = np.block([[kernel(X, X) + noise, A], [A.T, np.zeros((k, k))]])
        self.solution = np.linalg.solve(self.system, np.concatenate([y.ravel(), np.zeros(k)]))
        self.kernel, self.X = kernel, X

    def functions_of(self, space, output):
        """All vector functions but constants, times the root of the spectrum."""
        if is_tangent(output):
            full = sa.equivariant_basis(space, None, output, max_eigenvalue=20)
            root = np.exp(-0.25 * 0.25 * full.eigenvalues)
            return lambda A: full.evaluate(A) * root[:, None]
        full = sa.invariant_basis(space, max_eigenvalue=20)
        root = np.exp(-0.25 * 0.25 * full.eigenvalues)
        root[0] = 0.0  # constants are treated apart
        return lambda A: np.einsum("af,ij->afij", full.evaluate(A) * root, np.eye(self.p)).reshape(len(A), -1, self.p)

    def predict(self, Z):
        rows = np.hstack([self.kernel(Z, self.X), np.tile(self.constants, (len(Z), 1))])
        covariance = self.kernel(Z, Z) - rows @ np.linalg.solve(self.system, rows.T)
        blocks = covariance.reshape(len(Z), self.p, len(Z), self.p)
        return (rows @ self.solution).reshape(len(Z), self.p), np.einsum("ainj,an->aij", blocks, np.eye(len(Z)))


@pytest.mark.parametrize("space, group, output", CASES, ids=IDS)
def test_it_is_kernel_ridge_with_the_averaged_matrix_kernel(space, group, output):
    X, y, w = data(space, group, output)
    Z = space.sample(5, random_state=1)
    model = fitted(sa.EquivariantKernelRidge(space, group, output, **GIVEN), X, y, w)
    mean, covariance = BruteForce(space, group, output, X, y, w).predict(Z)
    found, found_covariance = model.predict(Z, return_cov=True)
    np.testing.assert_allclose(found.reshape(mean.shape), mean, atol=1e-11)
    np.testing.assert_allclose(found_covariance, model.noise_variance_ / 0.3 * covariance, atol=1e-11)
    deviation = model.predict(Z, return_std=True)[1]
    np.testing.assert_allclose(deviation.reshape(mean.shape) ** 2, np.einsum("npp->np", found_covariance), atol=1e-12)


@pytest.mark.parametrize("space, group, output", CASES, ids=IDS)
def test_leave_one_point_out_is_that_of_refits(space, group, output):
    X, y, w = data(space, group, output, n=8)
    model = sa.EquivariantKernelRidge(space, group, output, **GIVEN)
    error = fitted(model, X, y, w).loo_error_
    squares = 0.0
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        left = fitted(clone(model), X[kept], y[kept], w[kept])
        squares += w[i] * np.sum((left.predict(X[i : i + 1]) - y[i]) ** 2)
    constants = sa.equivariant_basis(space, group, output, max_eigenvalue=0).evaluate(X[:1])[0].T
    root = np.repeat(np.sqrt(w), y.shape[1])
    A, v = root[:, None] * np.tile(constants, (len(X), 1)), root * y.ravel()
    rest = v - A @ np.linalg.lstsq(A, v, rcond=None)[0]
    np.testing.assert_allclose(error, np.sqrt(squares / np.sum(rest**2)), rtol=1e-10)


def test_points_of_one_orbit_are_left_out_together():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, y, _ = data(space, group, "vector", n=8)
    g, rho = groups.representation(group, "vector").random(1)
    both = np.vstack([X, space.act(g, X)])
    model = sa.EquivariantKernelRidge(space, group, "vector", **{**GIVEN, "alpha": 0.6})
    twice = model.fit(both, np.vstack([y, y @ rho.matrix.T])).loo_error_
    once = clone(model).set_params(alpha=0.3).fit(X, y).loo_error_
    np.testing.assert_allclose(twice, once, rtol=1e-10)


def all_turns(rng):
    """An element of O(3)."""
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


AXES = all_turns(np.random.default_rng(5))  # elements of point groups about these are not exact
D3, C3V = (
    groups.Group([isometries.orthogonal(AXES @ g.matrix @ AXES.T) for g in groups.point_group(name).generators])
    for name in ("D3", "C3v")
)
MOLECULE = groups.joined(groups.diagonal(groups.orthogonal(3), 3), groups.symmetric(3))
NOT_EXACT = {
    "molecule-vector": (sa.Power(sa.Sphere(3), 3), MOLECULE, "vector"),
    "molecule-sum": (sa.Power(sa.Sphere(3), 3), MOLECULE, "vector + ij=ji"),
    "planar-vector": (sa.Power(sa.Sphere(3), 2), groups.diagonal(groups.orthogonal(3), 2), "vector"),  # in a mirror
    "D3-vector": (sa.Sphere(3), D3, "vector"),
    "C3v-tangent": (sa.Sphere(3), C3V, "tangent vector"),
}


def turned(group, output, X, y, seed):
    """Each point and its outputs, moved by an element of its own."""
    rng = np.random.default_rng(seed)
    turns = [all_turns(rng) if group.fields else group.random(rng).matrix for _ in X]
    images = [groups.representation(groups.Group([isometries.orthogonal(Q)]), output).images[0].matrix for Q in turns]
    points = [(x.reshape(-1, 3) @ Q.T).ravel() for x, Q in zip(X, turns, strict=True)]
    return np.array(points), np.array([rho @ v for rho, v in zip(images, y, strict=True)])


@pytest.mark.parametrize("space, group, output", NOT_EXACT.values(), ids=NOT_EXACT)
def test_turned_copies_of_observations_count_once(space, group, output):
    X, y, _ = data(space, group, output, n=12)
    once = sa.EquivariantKernelRidge(space, group, output, **GIVEN).fit(X, y)
    XX, yy = map(np.vstack, zip((X, y), turned(group, output, X, y, 1), turned(group, output, X, y, 2), strict=True))
    model = clone(once).set_params(alpha=3 * once.alpha).fit(XX, yy)
    Z = space.sample(20, random_state=1)
    np.testing.assert_allclose(model.predict(Z), once.predict(Z), atol=1e-9)
    np.testing.assert_allclose(model.loo_error_, once.loo_error_, rtol=1e-9)


@pytest.mark.parametrize("space, group, output", NOT_EXACT.values(), ids=NOT_EXACT)
def test_observations_at_turned_points_are_one_with_their_mean(space, group, output):
    X, y, _ = data(space, group, output, n=12)
    again = data(space, group, output, n=12, seed=3)[1]
    if is_tangent(output):
        again -= np.sum(again * X, axis=1, keepdims=True) * X
    at, observed = turned(group, output, X, again, 1)
    model = sa.EquivariantKernelRidge(space, group, output, **GIVEN).fit(np.vstack([X, at]), np.vstack([y, observed]))
    means = clone(model).fit(X, (y + again) / 2, sample_weight=np.full(12, 2.0))
    Z = space.sample(20, random_state=1)
    np.testing.assert_allclose(model.predict(Z), means.predict(Z), atol=1e-9)
    if space != NOT_EXACT["planar-vector"][0]:  # what is observed across a mirror plane has no sign to be turned by
        np.testing.assert_allclose(model.loo_error_, means.loo_error_, rtol=1e-9)


@pytest.mark.parametrize("copies", [5, 20])
def test_a_default_fit_of_turned_copies_is_that_of_one_copy(copies):
    space, group, output = NOT_EXACT["molecule-vector"]
    X, rng = space.sample(40, random_state=0), np.random.default_rng(1)
    R = X.reshape(-1, 3, 3)
    dipole = np.einsum("nij,ni->nj", R, np.exp(0.5 * np.einsum("nij,nkj->ni", R, R)))
    y = dipole + 0.2 * rng.normal(size=dipole.shape)
    parts = [(X, y), *(turned(group, output, X, y, seed) for seed in range(1, copies))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 61 functions are found in the time of a default
        once, many = (
            sa.EquivariantKernelRidge(space, group, output).fit(*map(np.vstack, zip(*some, strict=True)))
            for some in (parts[:1], parts)
        )
    np.testing.assert_allclose(many.loo_error_, once.loo_error_, rtol=1e-6)
    np.testing.assert_allclose(many.predict(X), once.predict(X), atol=1e-6)
    ratio = many.predict(X, return_std=True)[1] / once.predict(X, return_std=True)[1]
    assert 0.8 < ratio.min() <= ratio.max() < 1.25


@pytest.mark.parametrize("space, group, output", CASES, ids=IDS)
def test_streams_and_pieces_give_the_same_model(space, group, output):
    X, y, w = data(space, group, output, n=30)
    Z = space.sample(5, random_state=1)
    y = y[:, 0] if y.shape[1] == 1 else y
    whole = sa.EquivariantKernelRidge(space, group, output, **GIVEN).fit(X, y, sample_weight=w)
    chunks = [(X[:7], y[:7], w[:7]), (X[7:], y[7:], w[7:])]
    streamed = clone(whole).fit(iter(chunks))
    pieces = clone(whole)
    for X_part, y_part, w_part in chunks:
        pieces.partial_fit(X_part, y_part, w_part)
    assert streamed.solver_ == pieces.solver_ == "moments"
    for model in (streamed, pieces):
        for expected, found in zip(whole.predict(Z, return_cov=True), model.predict(Z, return_cov=True), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("output", ["vector", "axial vector", "ij=ji", "pseudoscalar"])
def test_signed_permutations_are_exact_to_the_last_bit(output):
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X, y, _ = data(space, group, output, n=25)
    model = fitted(sa.EquivariantKernelRidge(space, group, output, max_eigenvalue=110, alpha=0.1), X, y)
    special = np.array([[0, 0, 1.0], [0.6, 0, 0.8], [0.6, -0.6, 0.28**0.5], [1, 1, 1], [-1, 1, 1]])
    Z = np.vstack([space.sample(20, random_state=1), special / np.linalg.norm(special, axis=1)[:, None]])
    values = model.predict(Z).reshape(len(Z), -1)
    plain = model.basis_.combine(Z, model.coef_)
    np.testing.assert_allclose(values, plain, atol=1e-12 * max(1, np.abs(plain).max()))
    for g, rho in groups.representation(group, output).elements():
        np.testing.assert_array_equal(model.predict(space.act(g, Z)).reshape(values.shape), rho(values))
        for i in np.flatnonzero((space.act(g, Z) == Z).all(axis=1)):
            np.testing.assert_array_equal(rho(values[i : i + 1]), values[i : i + 1])


@pytest.mark.parametrize(
    "space, group, top",
    [
        (sa.Torus(20), groups.symmetric(20), 20),
        (sa.Torus(12), groups.hyperoctahedral(12), 30),
        (sa.Torus(12), groups.sign_flips(12), 20),
        (sa.Power(sa.Sphere(3), 8), groups.symmetric(8), 4),
        (sa.Sphere(3), groups.hyperoctahedral(3), 30),
    ],
    ids=repr,
)
def test_large_groups_are_exact_to_the_last_bit(space, group, top):
    output = groups.Representation(group, group.generators)
    X, y, _ = data(space, group, output, n=30)
    X[5] = space.act(group.random(3), X[4:5])  # two points of one orbit
    model = sa.EquivariantKernelRidge(space, group, output, max_eigenvalue=top, alpha=0.1).fit(X, y)
    Z = space.sample(12, random_state=1)
    parts = Z.reshape(12, output.dim, -1)
    parts[0, 1], parts[1, 2] = parts[0, 0], -parts[1, 0]  # equal, or opposite
    if isinstance(space, sa.Torus):
        parts[2, 1] = parts[2, 2] = 0.0
    elif isinstance(space, sa.Sphere):
        Z[0], Z[1], Z[2] = [0.6, 0.6, 0.28**0.5], [0.6, -0.6, 0.28**0.5], [0, 0.6, 0.8]
    values = model.predict(Z)
    plain = model.basis_.combine(Z, model.coef_)
    np.testing.assert_allclose(values, plain, atol=1e-12 * max(1, np.abs(plain).max()))
    for seed in range(8):
        g, rho = output.random(seed)
        np.testing.assert_array_equal(model.predict(space.act(g, Z)), rho(values))
    stabiliser = [(g, rho) for g, rho in zip(group.generators, output.images, strict=True)]
    for g, rho in stabiliser:
        for i in np.flatnonzero((space.act(g, Z) == Z).all(axis=1)):
            np.testing.assert_array_equal(rho(values[i : i + 1]), values[i : i + 1])


def test_dask_gives_the_same_predictions_and_gradients():
    da = pytest.importorskip("dask.array")
    space, group = sa.Sphere(3), groups.point_group("D3")
    X, y, _ = data(space, group, "vector", n=40)
    local = sa.EquivariantKernelRidge(space, group, "vector", **GIVEN).fit(X, y)
    model = clone(local).fit(da.from_array(X, chunks=(13, 3)), da.from_array(y, chunks=(13, 3)))
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-10)
    lazy = da.from_array(X, chunks=(13, 3))
    np.testing.assert_array_equal(local.predict(lazy).compute(), local.predict(X))
    np.testing.assert_array_equal(local.gradient(lazy).compute(), local.gradient(X))


def test_the_gradient_of_an_energy_is_an_equivariant_field():
    """Two ways to one field: the gradient of a fitted energy, and a fit of gradients that knows no energy."""
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X, Z = space.sample(60, random_state=0), space.sample(50, random_state=1)
    energy = sa.InvariantKernelRidge(space, group).fit(X, np.exp(np.cos(np.pi * X).sum(axis=1)))
    field = sa.EquivariantKernelRidge(space, group, "vector").fit(X, energy.gradient(X))
    scale = np.abs(energy.gradient(Z)).max()
    np.testing.assert_allclose(field.predict(Z), energy.gradient(Z), atol=1e-5 * scale)
    J = field.gradient(Z)
    np.testing.assert_allclose(J, J.transpose(0, 2, 1), atol=1e-3 * np.abs(J).max())  # no curl


@pytest.mark.parametrize("name, output", [("D3", "vector"), ("C3v", "ij=ji"), ("O", "scalar")])
def test_deviations_of_values_and_slopes_are_those_of_the_normal_equations(name, output):
    """σ² J (ΦᵀΦ + αΛ⁻¹)⁻¹ Jᵀ with dense matrices, J values or derivatives; constants have no penalty."""
    space, group = sa.Sphere(3), groups.point_group(name)
    X, Z = space.sample(40, random_state=0), space.sample(4, random_state=1)
    p = groups.representation(group, output).dim
    Y = np.random.default_rng(0).normal(size=(40, p)).squeeze()
    given = {"spectrum": "heat", "length_scale": 0.5, "alpha": 0.3, "max_eigenvalue": 30.0}
    model = sa.EquivariantKernelRidge(space, group, output, **given).fit(X, Y)
    basis = model.basis_
    table = basis.evaluate(X).transpose(0, 2, 1).reshape(40 * p, basis.dim)
    penalty = np.where(basis.eigenvalues > 0, 0.3 * np.exp(0.125 * basis.eigenvalues), 0.0)
    inverse = model.noise_variance_ * np.linalg.inv(table.T @ table + np.diag(penalty))
    values, slopes = basis.evaluate(Z), basis.gradient(Z)  # (n, dim, p), (n, dim, p, n_features)
    expected = np.einsum("njp,jl,nlp->np", values, inverse, values)
    np.testing.assert_allclose(model.predict(Z, return_std=True)[1].reshape(4, p) ** 2, expected, rtol=1e-9)
    expected = np.einsum("njpi,jl,nlpi->nip", slopes, inverse, slopes)
    found, deviation = model.gradient(Z, return_std=True)
    np.testing.assert_array_equal(found, model.gradient(Z))
    np.testing.assert_allclose(deviation.reshape(4, 3, p) ** 2, expected, rtol=1e-9, atol=1e-14)


def test_saved_models_have_the_same_bits_in_another_process(tmp_path):
    molecules = groups.joined(groups.diagonal(groups.orthogonal(3), 2), groups.symmetric(2))
    particles = groups.Representation(groups.symmetric(5), groups.symmetric(5).generators)
    cases = [
        (sa.Sphere(3), groups.point_group("D3"), "vector", 12),  # null space
        (sa.Power(sa.Sphere(3), 2), molecules, "ij=ji", 8),  # types of copies
        (sa.Torus(5), groups.symmetric(5), particles, 20),  # one output for all
        (sa.Torus(2), groups.hyperoctahedral(2), "vector", 40),  # orbits
    ]
    expected = []
    for i, (space, group, output, top) in enumerate(cases):
        X, y, _ = data(space, group, output, n=20)
        model = sa.EquivariantKernelRidge(space, group, output, max_eigenvalue=top, alpha=0.1).fit(X, y)
        model.save(tmp_path / f"{i}.specavg")
        Z = space.sample(6, random_state=1)
        np.save(tmp_path / f"{i}.npy", Z)
        expected.append((*model.predict(Z, return_cov=True), model.gradient(Z)))
    script = (
        "import sys, pathlib, numpy as np, specavg as sa\n"
        "for file in pathlib.Path(sys.argv[1]).glob('*.specavg'):\n"
        "    Z, model = np.load(file.with_suffix('.npy')), sa.load(file)\n"
        "    mean, covariance = model.predict(Z, return_cov=True)\n"
        "    np.savez(file.with_suffix('.npz'), mean, covariance, model.gradient(Z))\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    for i, values in enumerate(expected):
        found = np.load(tmp_path / f"{i}.npz")
        for name, value in zip(("arr_0", "arr_1", "arr_2"), values, strict=True):
            np.testing.assert_array_equal(found[name], value, err_msg=f"{cases[i]} {name}")


def test_complex_targets_are_refused():
    X = sa.Sphere(3).sample(10, random_state=0)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("Oh"), "vector").fit(X, X + 1j * X)


def test_it_learns_a_vector_field_and_its_noise():
    space, group = sa.Sphere(3), groups.point_group("D3")
    rng = np.random.default_rng(0)
    basis = sa.equivariant_basis(space, group, "vector", max_eigenvalue=20)
    c = rng.normal(size=basis.dim)
    X, Z = space.sample(120, random_state=1), space.sample(300, random_state=2)
    truth = basis.combine(Z, c)
    exact = sa.EquivariantKernelRidge(space, group, "vector").fit(X, basis.combine(X, c))
    assert np.abs(exact.predict(Z) - truth).max() < 1e-4 * np.abs(truth).max()
    noisy = clone(exact).fit(X, basis.combine(X, c) + 0.3 * rng.normal(size=(120, 3)))
    assert 0.7 < noisy.noise_variance_ / 0.09 < 1.4
    mean, deviation = noisy.predict(Z, return_std=True)
    assert 0.5 < np.sqrt(np.mean((mean - truth) ** 2 / deviation**2)) < 2.0


def test_symmetry_beats_the_same_model_without_it():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    rng = np.random.default_rng(0)
    X, Z = space.sample(40, random_state=1), space.sample(500, random_state=2)

    def field(x):
        return np.exp(x**2) * x + np.roll(x, 1, axis=1) ** 2 * x

    group = groups.point_group("Th")
    y = field(X) + 0.02 * rng.normal(size=X.shape)
    errors = [
        np.sqrt(np.mean((sa.EquivariantKernelRidge(space, G, "vector").fit(X, y).predict(Z) - field(Z)) ** 2))
        for G in (group, groups.trivial(3))
    ]
    assert errors[0] < 0.7 * errors[1]


def test_wrong_targets_are_refused_with_the_number():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(10, random_state=0)
    with pytest.raises(ValueError, match=r"y has 2 columns(.|\n)*moves 3 outputs"):
        sa.EquivariantKernelRidge(space, group, "vector").fit(X, X[:, :2])
    with pytest.raises(ValueError, match="alpha must be positive"):
        sa.EquivariantKernelRidge(space, group, "vector", alpha=-1.0).fit(X, X)
    with pytest.raises(ValueError, match="no function with F"):
        sa.EquivariantKernelRidge(space, group, "pseudoscalar", max_eigenvalue=20).fit(X, X[:, 0])


def test_an_invariant_model_that_is_given_vectors_says_so():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(40, random_state=0)
    with pytest.warns(UserWarning, match="EquivariantKernelRidge") as record:
        sa.InvariantKernelRidge(space, group, max_eigenvalue=60).fit(X, X**3)
    assert any("EquivariantKernelRidge(space, group, 'vector')" in str(w.message) for w in record)


def test_rows_that_features_span_to_rounding_divide_by_no_zero():
    """A squared length of −4e-16 outside of the features, over a penalty of 1e-20, is no part of M_bb."""
    left = np.array([[1 + 2e-16], [0.0]])
    free, rest = np.zeros((2, 0)), np.array([[0.0], [1e-17]])
    table = BlockLeaveOneOut(np.array([10.0]), left, free, np.array([[3.0]]), rest, blocks_of(np.arange(2)))
    squares, quadratic, logarithm = table.sums(np.array([1e-20]))  # warnings are errors
    np.testing.assert_allclose(
        [squares, quadratic], [[9.0], [0.09]], rtol=1e-12
    )  # with U = e₁: 3 is left out, by 1/100
    np.testing.assert_allclose(logarithm, np.log(0.01) + np.log(1e20))


def test_blocks_of_all_sizes():
    labels = np.array([3, 1, 3, 0, 1, 3])
    found = {tuple(block) for blocks in blocks_of(labels) for block in blocks.tolist()}
    assert found == {(3,), (1, 4), (0, 2, 5)}


@pytest.mark.parametrize("unit", [1e-200, 1e-60, 1e60, 1e155])
@pytest.mark.parametrize("repeated", [False, True])
def test_units_of_the_targets_change_nothing_but_the_units(unit, repeated):
    space, group = sa.Sphere(3), groups.Group([np.diag([1, -1, -1]), np.diag([-1, -1, 1])])
    rng = np.random.default_rng(0)
    X = space.sample(40, random_state=0)
    X = np.repeat(X, 2, axis=0) if repeated else X
    Y = X * (1 + X[:, :1] ** 2) + 0.05 * rng.standard_normal(X.shape)
    options = {"spectrum": "matern", "smoothness": 2, "length_scale": 1.0, "max_eigenvalue": 20}
    plain, scaled = (sa.EquivariantKernelRidge(space, group, "vector", **options).fit(X, Y * u) for u in (1.0, unit))
    for one, other in zip(plain.predict(X, return_std=True), scaled.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(other / unit, one, rtol=1e-9, atol=1e-12)
    assert scaled.loo_error_ == pytest.approx(plain.loo_error_, rel=1e-9)


def test_targets_that_are_all_zero_give_zero():
    space = sa.Sphere(3)
    X = space.sample(30, random_state=0)
    model = sa.EquivariantKernelRidge(space, groups.point_group("C3v"), "vector").fit(X, np.zeros((30, 3)))
    np.testing.assert_array_equal(model.predict(X), 0.0)


TANGENT = {"space": sa.Sphere(3), "group": groups.point_group("D3"), "output": "tangent vector"}


def a_tangent_field(X):
    """∇f + x × ∇g with f = z² and g = Re (x + iy)³, which D3 leaves alone."""
    x, y, z = X.T
    f, g = np.stack([0 * z, 0 * z, 2 * z]), np.stack([3 * (x**2 - y**2), -6 * x * y, 0 * z])
    f, g = (a.T - np.sum(a.T * X, axis=1, keepdims=True) * X for a in (f, g))
    return f + np.cross(X, g)


def test_of_tangent_targets_only_the_tangential_part_counts():
    X = TANGENT["space"].sample(30, random_state=0)
    rng = np.random.default_rng(1)
    y = a_tangent_field(X) + 0.1 * rng.normal(size=X.shape)
    model = sa.EquivariantKernelRidge(**TANGENT).fit(X, y)
    radial = rng.normal(size=(30, 1)) * X
    Z = TANGENT["space"].sample(40, random_state=2)
    other = clone(model).fit(X, y + radial)
    np.testing.assert_allclose(other.predict(Z), model.predict(Z), atol=1e-10)
    np.testing.assert_allclose(other.noise_variance_, model.noise_variance_, rtol=1e-9)
    mean, covariance = model.predict(Z, return_cov=True)
    assert np.abs(np.sum(mean * Z, axis=1)).max() < 1e-13
    assert np.abs(np.einsum("nij,nj->ni", covariance, Z)).max() < 1e-13


@pytest.mark.filterwarnings("ignore:the leave-one-out error is")  # the target has another symmetry
def test_winds_along_east_and_north_are_questioned():
    """Components of a local frame in place of those of R³: the usual slip."""
    X = TANGENT["space"].sample(100, random_state=0)
    local = np.column_stack([np.ones(100), np.zeros((100, 2))])  # one metre a second to the east
    with pytest.warns(UserWarning, match="u·east"):
        sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("C∞"), "tangent vector").fit(X, local)


def test_winds_of_two_components_are_told_how_they_become_vectors():
    X = TANGENT["space"].sample(20, random_state=0)
    with pytest.raises(
        ValueError, match=r"y has 2 columns(.|\n)*u·east \+ v·north, with east, north = spaces.east_and"
    ):
        sa.EquivariantKernelRidge(**TANGENT).fit(X, X[:, :2])


def test_it_learns_a_tangent_field_and_its_noise():
    space = TANGENT["space"]
    X, Z = space.sample(60, random_state=0), space.sample(200, random_state=1)
    exact = sa.EquivariantKernelRidge(**TANGENT).fit(X, a_tangent_field(X))
    np.testing.assert_allclose(exact.predict(Z), a_tangent_field(Z), atol=1e-6)
    rng = np.random.default_rng(0)
    many = space.sample(1000, random_state=2)
    noisy = sa.EquivariantKernelRidge(**TANGENT).fit(many, a_tangent_field(many) + 0.3 * rng.normal(size=many.shape))
    assert 0.085 < noisy.noise_variance_ < 0.095  # of each of two tangential components


def test_tangent_fields_are_saved_streamed_and_distributed(tmp_path):
    import dask.array as da

    space = TANGENT["space"]
    X, Z = space.sample(400, random_state=0), space.sample(50, random_state=1)
    y = a_tangent_field(X)
    given = {"spectrum": "heat", "length_scale": 0.3, "alpha": 1e-3, "max_eigenvalue": 30}
    model = sa.EquivariantKernelRidge(**TANGENT, **given).fit(X, y)
    model.save(tmp_path / "field.specavg")
    again = sa.load(tmp_path / "field.specavg")
    np.testing.assert_array_equal(again.predict(Z, return_cov=True)[1], model.predict(Z, return_cov=True)[1])
    np.testing.assert_array_equal(again.predict(Z), model.predict(Z))
    streamed = clone(model).fit((X[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100))
    np.testing.assert_allclose(streamed.predict(Z), model.predict(Z), atol=1e-9)
    np.testing.assert_allclose(streamed.noise_variance_, model.noise_variance_, rtol=1e-6)
    chunks = clone(model).fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=(100, 3)))
    np.testing.assert_allclose(chunks.predict(da.from_array(Z, chunks=(20, 3))).compute(), model.predict(Z), atol=1e-9)
    np.testing.assert_array_equal(again.gradient(Z), model.gradient(Z))


def test_gradients_of_a_learned_tangent_field():
    """Against the derivative of the polynomials, by a complex step; and they move with the points."""
    space, group = TANGENT["space"], TANGENT["group"]
    X, Z = space.sample(60, random_state=0), space.sample(20, random_state=1)
    model = sa.EquivariantKernelRidge(**TANGENT).fit(X, a_tangent_field(X))
    steps = [a_tangent_field(Z + 1e-30j * axis).imag / 1e-30 for axis in np.eye(3)]
    ambient = np.stack(steps, axis=1)  # (n, n_features, p)
    truth = ambient - Z[:, :, None] * np.einsum("nf,nfp->np", Z, ambient)[:, None]
    gradient, deviation = model.gradient(Z, return_std=True)
    np.testing.assert_allclose(gradient, truth, atol=1e-4)
    assert deviation.shape == gradient.shape
    assert np.all(deviation >= 0)
    for g, rho in groups.representation(group, "tangent vector").elements():
        moved = model.gradient(space.act(g, Z))
        np.testing.assert_allclose(moved, g.matrix @ gradient @ rho.matrix.T, atol=1e-12 * np.abs(gradient).max())


@pytest.mark.filterwarnings("ignore:the leave-one-out error is")  # the target has another symmetry
def test_tangent_fields_are_exact_to_the_last_bit_under_signed_permutations():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(40, random_state=0)
    model = sa.EquivariantKernelRidge(space, group, "tangent vector").fit(X, np.roll(X, 1, axis=1) ** 3)
    Z = space.sample(20, random_state=1)
    for g, rho in groups.representation(group, "tangent vector").elements():
        np.testing.assert_array_equal(model.predict(space.act(g, Z)), model.predict(Z) @ rho.matrix.T)


def test_a_table_of_winds_from_the_command_line(tmp_path):
    import pandas as pd

    from specavg.cli import main

    X = sa.Sphere(3).sample(60, random_state=0)
    table = pd.DataFrame(np.hstack([X, a_tangent_field(X)]), columns=["x", "y", "z", "u", "v", "w"])
    table.to_csv(tmp_path / "wind.csv", index=False)
    where = [str(tmp_path / name) for name in ("wind.csv", "wind.specavg")]
    asked = ["--target", "u,v,w", "--space", "sphere:3", "--group", "point_group:D3", "--targets-are", "tangent vector"]
    assert main(["fit", where[0], *asked, "-o", where[1], "--quiet"]) == 0
    found = sa.load(where[1]).predict(table[["x", "y", "z"]])
    np.testing.assert_allclose(found, a_tangent_field(X), atol=1e-5)


def test_tensors_and_vectors_in_another_shape_are_refused_in_words():
    space, group = sa.Sphere(3), groups.point_group("C3v")
    X = space.sample(30, random_state=0)
    tensors = np.einsum("ni,nj->nij", X, X)
    hint = r"groups.index_symmetry\('ij=ji', d\).components\(T\)"
    for y in (tensors, tensors.reshape(30, 9)):
        with pytest.raises(ValueError, match=hint):
            sa.EquivariantKernelRidge(space, group, "ij=ji").fit(X, y)
    with pytest.raises(ValueError, match=r"3 columns, and output='scalar' is one number. Name what moves"):
        sa.EquivariantKernelRidge(space, group).fit(X, X)
    components = groups.index_symmetry("ij=ji", 3).components(tensors)
    model = sa.EquivariantKernelRidge(space, group, "ij=ji").fit(X, components)
    np.testing.assert_allclose(model.predict(X), components, atol=1e-6)


@pytest.mark.parametrize("name", ["C3v", "C∞v"])
def test_vectors_of_the_one_factor_that_moves(name, tmp_path):
    """F(t, x) is learnt under a group that leaves t alone; turned by hand, inputs and outputs move alike."""
    space = sa.Product(sa.Interval(), sa.Sphere(3))
    group = groups.direct_product(groups.trivial(1), groups.point_group(name))
    X = space.sample(120, random_state=0)
    t, x = X[:, :1], X[:, 1:]
    Y = (1 + t) * x + t**2 * [0.0, 0.0, 1.0]
    model = sa.EquivariantKernelRidge(space, group, "vector").fit(X, Y)
    assert model.loo_error_ < 1e-6
    third = np.array([[-0.5, -(0.75**0.5), 0], [0.75**0.5, -0.5, 0], [0, 0, 1]])
    new = space.sample(20, random_state=1)
    turned = np.c_[new[:, :1], new[:, 1:] @ third.T]
    np.testing.assert_allclose(model.predict(turned), model.predict(new) @ third.T, rtol=0, atol=1e-12)
    model.save(tmp_path / "model.specavg")
    np.testing.assert_array_equal(sa.io.load(tmp_path / "model.specavg").predict(new), model.predict(new))


def test_vectors_of_two_factors_that_move_are_refused():
    space = sa.Product(sa.Sphere(3), sa.Sphere(3))
    group = groups.direct_product(groups.point_group("C3"), groups.point_group("C2"))
    with pytest.raises(ValueError, match="no single matrix moves a vector"):
        sa.equivariant_basis(space, group, "vector", max_eigenvalue=4)


def test_one_output_may_be_a_column():
    """Warnings are errors here: scikit-learn's, of a column where a row was expected, was one."""
    space, group = sa.Torus(2), groups.symmetric(2)
    X = space.sample(40, random_state=0)
    turned = groups.Representation(group, [-np.eye(1)])
    for output, sign in (("scalar", 1), ("pseudoscalar", -1), (turned, -1)):
        y = np.sin(np.pi * X) @ [1, sign]
        model = sa.EquivariantKernelRidge(space, group, output).fit(X, y[:, None])
        assert model.predict(X).shape == (40, 1)
        flat = sa.EquivariantKernelRidge(space, group, output).fit(X, y)
        np.testing.assert_array_equal(flat.predict(X), model.predict(X)[:, 0])
