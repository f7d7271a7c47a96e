"""Gradients as observations: the same least squares, points left out whole, and what gradients save."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import specavg as sa
from specavg import groups
from specavg.estimators._gradient_data import GradientData
from specavg.regression._calibration import Calibration, left_out_by_truncation, shrunk_surprise
from specavg.regression._gradient_problem import GradientProblem, Observations


def problem_and_rows(n=12, slopes=2, D=7, ratio=0.6, seed=0):
    rng = np.random.default_rng(seed)
    m = n * slopes
    labels = np.arange(n)
    values = Observations(rng.normal(size=(n, D)), rng.normal(size=n), rng.uniform(0.5, 2, n), labels)
    gradients = Observations(
        rng.normal(size=(m, D)), rng.normal(size=m), rng.uniform(0.5, 2, m), np.repeat(labels, slopes)
    )
    return GradientProblem(values, gradients, ratio), values, gradients, ratio


def ridge(F, constant, y, w, scale, alpha):
    """Coefficients, the constant first, by the normal equations."""
    A = np.column_stack([constant, F * scale])
    penalty = alpha * np.diag([0.0, *np.ones(F.shape[1])])
    return A, np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w * y))


@pytest.mark.parametrize("D", [7, 60], ids=["more rows than functions", "fewer"])
def test_points_are_left_out_as_refits_leave_them_out(D):
    problem, values, gradients, ratio = problem_and_rows(D=D)
    scale = np.linspace(1.0, 0.3, D)
    F = np.concatenate([values.features, gradients.features])
    constant = np.concatenate([np.ones(len(values.targets)), np.zeros(len(gradients.targets))])
    y = np.concatenate([values.targets, gradients.targets])
    w = np.concatenate([values.weights, ratio**2 * gradients.weights])
    labels = np.concatenate([values.labels, gradients.labels])
    mean = w[constant > 0] @ y[constant > 0] / w[constant > 0].sum()
    size = np.sum(w * (y - constant * mean) ** 2)
    for alpha in (1e-3, 0.7, 30.0):
        squares = 0.0
        for label in np.unique(labels):
            out = labels == label
            _, beta = ridge(F[~out], constant[~out], y[~out], w[~out], scale, alpha)
            A = np.column_stack([constant[out], F[out] * scale])
            squares += np.sum(w[out] * (y[out] - A @ beta) ** 2)
        for scored in (problem.scored(scale), problem.path(scale)):
            assert np.isclose(scored.scores(np.array([alpha])).error[0], squares / size, rtol=1e-9)
        _, beta = ridge(F, constant, y, w, scale, alpha)
        coefficients = problem.with_constant(problem.path(scale).coefficients(alpha))[:, 0]
        shift = np.array([problem.units.shift[0], *np.zeros(D)])
        assert np.abs(coefficients + shift - np.array([1.0, *scale]) * beta).max() < 1e-10


def test_error_bars_are_calibrated_by_the_points_that_refits_leave_out():
    n, D, alpha = 12, 60, 0.05
    problem, values, gradients, ratio = problem_and_rows(n=n, D=D)
    scale = np.linspace(1.0, 0.3, D)
    path = problem.path(scale)
    F = np.concatenate([values.features, ratio * gradients.features])
    constant = np.concatenate([np.ones(n), np.zeros(2 * n)])
    root = np.sqrt(np.concatenate([values.weights, gradients.weights]))
    y = np.concatenate([values.targets, ratio * gradients.targets]) * root
    A = np.column_stack([constant, F * scale]) * root[:, None]
    labels = np.concatenate([values.labels, gradients.labels])
    noise, squares = float(path.noise_variance(alpha)[0]), 0.0
    penalty = alpha * np.diag([0.0, *np.ones(D)])
    for label in range(n):
        out = labels == label
        inverse = np.linalg.inv(A[~out].T @ A[~out] + penalty)
        error = y[out] - A[out] @ inverse @ A[~out].T @ y[~out]
        squares += error @ np.linalg.solve(noise * (np.eye(3) + A[out] @ inverse @ A[out].T), error)
    freedom = np.trace(A @ np.linalg.solve(A.T @ A + penalty, A.T))
    # What a row of values tells of a function at the edge of what is shown: the mean of κ over functions.
    centred = (F - constant[:, None] * (values.weights @ values.features / values.weights.sum())) * root[:, None]
    told = np.sum(centred**2, axis=0)
    kept = scale**2 * told / (scale**2 * told + alpha)
    worth = np.average(told, weights=kept * (1 - kept))
    truncated = left_out_by_truncation(scale**2) / alpha
    wanted = Calibration.of(shrunk_surprise(squares / 36, 36), freedom, truncated, 36, 2, worth)
    found = path.calibration(np.array([alpha]))
    np.testing.assert_allclose([*found.factor, *found.share], [wanted.factor, wanted.share], rtol=1e-9)
    v = path.posterior(alpha).variance(values.features)
    np.testing.assert_allclose(
        path.posterior(alpha, found).variance(values.features), wanted.factor * v + wanted.share * noise, rtol=1e-9
    )


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_intervals_of_few_points_with_gradients_hold_what_they_promise(noise):
    space, group, inside = sa.Torus(2), groups.hyperoctahedral(2), []
    Z = space.sample(200, random_state=99)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = space.sample(8, rng)
        y, G = on_torus(X), torus_gradient(X)
        y, G = y + noise * y.std() * rng.normal(size=8), G + noise * G.std() * rng.normal(size=G.shape)
        mean, deviation = sa.InvariantKernelRidge(space, group).fit(X, y, gradient=G).predict(Z, return_std=True)
        inside.append(np.mean(np.abs(mean - on_torus(Z)) <= 1.645 * deviation))
    assert 0.82 < np.mean(inside) < 0.97


def test_densities_of_other_ratios_compare():
    # Minus the mean log density of each point under its Gaussian prediction from the others, the noise profiled out,
    # up to the same constant for all ratios.
    scale, alpha, differences = np.ones(7), 0.5, []
    for ratio in (0.1, 1.0, 8.0):
        problem, values, gradients, _ = problem_and_rows(ratio=ratio)
        F = np.concatenate([values.features, gradients.features])
        constant = np.concatenate([np.ones(len(values.targets)), np.zeros(len(gradients.targets))])
        y = np.concatenate([values.targets, gradients.targets])
        noise = 1 / np.concatenate([values.weights, ratio**2 * gradients.weights])
        K = F @ F.T / alpha + 1e7 * np.outer(constant, constant) + np.diag(noise)
        labels = np.concatenate([values.labels, gradients.labels])
        quadratic = logarithm = 0.0
        for label in np.unique(labels):
            out = labels == label
            gain = np.linalg.solve(K[np.ix_(~out, ~out)], K[np.ix_(~out, out)])
            C = K[np.ix_(out, out)] - gain.T @ K[np.ix_(~out, out)]
            e = y[out] - gain.T @ y[~out]
            quadratic += e @ np.linalg.solve(C, e)
            logarithm += np.linalg.slogdet(C)[1]
        N = len(y)
        direct = 0.5 * (np.log(quadratic / N) + logarithm / N)
        differences.append(problem.scored(scale).scores(np.array([alpha])).density[0] - direct)
    assert np.ptp(differences) < 1e-5


# --- on spaces -----------------------------------------------------------------------------------------


def on_torus(X):
    return np.exp(np.cos(np.pi * X[:, 0]) + np.cos(np.pi * X[:, 1]))


def torus_gradient(X):
    return -np.pi * np.sin(np.pi * X) * on_torus(X)[:, None]


def on_sphere(X):
    return np.exp(2 * X[:, 0] * X[:, 1]) + np.cos(3 * X[:, 2])


def sphere_gradient(X):
    """In R³: only its tangential part matters."""
    e = np.exp(2 * X[:, 0] * X[:, 1])
    return np.stack([2 * X[:, 1] * e, 2 * X[:, 0] * e, -3 * np.sin(3 * X[:, 2])], axis=1)


@pytest.mark.parametrize(
    "space, group, f, gradient",
    [
        (sa.Torus(2), groups.trivial(2), on_torus, torus_gradient),
        (sa.Sphere(3), groups.trivial(3), on_sphere, sphere_gradient),
    ],
    ids=["torus", "sphere"],
)
def test_gradients_save_data(space, group, f, gradient):
    Z = space.sample(500, random_state=9)

    def error(model):
        return np.sqrt(np.mean((model.predict(Z) - f(Z)) ** 2)) / f(Z).std()

    X = space.sample(30, random_state=0)
    without = sa.InvariantKernelRidge(space, group).fit(X, f(X))
    with_gradients = sa.InvariantKernelRidge(space, group).fit(X, f(X), gradient=gradient(X))
    assert error(with_gradients) < 0.2 * error(without)


def test_noise_of_values_and_gradients_is_found():
    rng = np.random.default_rng(0)
    X = sa.Torus(2).sample(150, random_state=0)
    y, G = on_torus(X) + 0.05 * rng.normal(size=150), torus_gradient(X) + 1.0 * rng.normal(size=(150, 2))
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=40).fit(X, y, gradient=G)
    assert 0.03 < model.noise_variance_**0.5 < 0.08
    assert 0.6 < model.gradient_noise_variance_**0.5 < 1.6
    mean, std = model.gradient(X[:20], return_std=True)
    assert np.abs((mean - torus_gradient(X[:20])) / std).max() < 6
    model.fit(X, y)
    assert not hasattr(model, "gradient_noise_variance_")


def test_missing_values_and_gradients():
    X = sa.Torus(2).sample(60, random_state=0)
    y, G = on_torus(X), torus_gradient(X)
    y[:50], G[40:] = np.nan, np.nan  # 10 values, 40 gradients; rows 40 to 50 have neither
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2)).fit(X, y, gradient=G)
    kept = np.r_[:40, 50:60]
    same = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2)).fit(X[kept], y[kept], gradient=G[kept])
    assert np.array_equal(model.coef_, same.coef_)
    assert np.abs(model.predict(X) - on_torus(X)).max() < 1e-3
    without = sa.InvariantKernelRidge(sa.Torus(2)).fit(X[50:], y[50:], gradient=np.full((10, 2), np.nan))
    assert np.array_equal(without.coef_, sa.InvariantKernelRidge(sa.Torus(2)).fit(X[50:], y[50:]).coef_)


def test_only_the_tangential_part_counts():
    X = sa.Sphere(3).sample(25, random_state=0)
    G = sphere_gradient(X)
    models = [
        sa.InvariantKernelRidge(sa.Sphere(3), max_dim=100).fit(X, on_sphere(X), gradient=G + c * X) for c in (0.0, 50.0)
    ]
    assert np.abs(models[0].coef_ - models[1].coef_).max() < 1e-9


def test_points_of_one_orbit_are_left_out_together():
    X = sa.Torus(2).sample(20, random_state=0)
    twice = np.concatenate([X, -X[:, ::-1]])
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=30)
    G = torus_gradient(twice)
    model.fit(twice, on_torus(twice), gradient=G)
    single = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=30)
    single.fit(X, on_torus(X), gradient=G[:20])
    assert model.loo_error_ > 0.3 * single.loo_error_  # a twin left in would predict the other exactly


MOVED = {
    "hyperoctahedral": (sa.Torus(2), groups.hyperoctahedral(2)),
    "tetragonal": (sa.Torus(lattice=np.diag([1.0, 1.0, 1.4])), groups.space_group(123)),
    "octahedral": (sa.Sphere(3), groups.point_group("Oh")),
    "by matrices": (sa.Sphere(3), groups.point_group("C5v")),
    "continuous": (sa.Sphere(3), groups.point_group("C∞v")),
    "orientations": (sa.Rotations(), groups.crystal_symmetry("O", specimen="C1")),
}


def invariant_data(space, group, n):
    """Points, and a function of the group with its gradient."""
    basis = sa.invariant_basis(space, group, max_invariant_dim=30)
    c = np.random.default_rng(0).normal(size=basis.dim) / (1 + basis.eigenvalues / basis.eigenvalues[1]) ** 2
    X = space.sample(n, random_state=0)
    return X, basis.evaluate(X) @ c, np.einsum("nkf,k->nf", basis.gradient(X), c)


def moved(space, group, X, G):
    """Each point at another place of its orbit, and its gradient there."""
    elements = [group.random(i) for i in range(len(X))]
    there = np.concatenate([space.act(g, x[None]) for g, x in zip(elements, X, strict=True)])
    return there, np.stack([np.linalg.solve(space.differential(g).T, v) for g, v in zip(elements, G, strict=True)])


@pytest.mark.parametrize("copies", ["identical", "moved"])
@pytest.mark.parametrize("space, group", MOVED.values(), ids=MOVED)
def test_copies_of_points_with_gradients_do_not_change_a_score(space, group, copies):
    X, y, G = invariant_data(space, group, 16)
    Y, H = moved(space, group, X, G) if copies == "moved" else (X, G)
    basis = sa.invariant_basis(space, group, max_invariant_dim=60)
    scale, alphas = np.exp(-np.linspace(0.0, 2.0, basis.dim - 1)), 10.0 ** -np.arange(0.0, 4.0)

    def scores(*data):
        return GradientData.of(space, *data).problem(basis, 0.7).path(scale).scores(alphas)

    once = scores(X, y, G, np.ones(16))
    twice = scores(np.concatenate([X, Y]), np.tile(y, 2), np.concatenate([G, H]), np.full(32, 0.5))
    for name in ("error", "density", "evidence"):
        np.testing.assert_allclose(getattr(twice, name), getattr(once, name), rtol=1e-9)


def test_copies_of_orientations_with_gradients_do_not_spoil_a_fit():
    space, group = MOVED["orientations"]
    X, y, G = invariant_data(space, group, 16)
    Y, H = moved(space, group, X, G)
    model = sa.InvariantKernelRidge(space, group, max_invariant_dim=220)
    once, new = clone(model).fit(X, y, gradient=G), space.sample(50, random_state=1)
    twice = clone(model).fit(np.concatenate([X, Y]), np.tile(y, 2), gradient=np.concatenate([G, H]))
    assert twice.loo_error_ == pytest.approx(once.loo_error_, rel=1e-3)
    np.testing.assert_allclose(twice.predict(new), once.predict(new), rtol=0, atol=1e-3 * y.std())


@pytest.mark.parametrize("space, group", MOVED.values(), ids=MOVED)
def test_noisy_gradients_at_several_points_of_an_orbit_are_the_least_squares_of_all(space, group):
    rng = np.random.default_rng(1)
    X, y, G = invariant_data(space, group, 12)
    Y, H = moved(space, group, X, G)
    X, y, G = np.concatenate([X, Y[:9]]), rng.normal(size=21) + np.append(y, y[:9]), np.concatenate([G, H[:9]])
    y[[3, 14]], G[[5, 15]] = np.nan, np.nan  # one of two values, and of two gradients, may be missing
    G, w = G + 0.3 * rng.normal(size=G.shape), rng.uniform(0.5, 2.0, 21)
    basis, ratio, alpha = sa.invariant_basis(space, group, max_invariant_dim=25), 0.7, 0.2
    problem = GradientData.of(space, X, y, G, w).problem(basis, ratio)
    scale = np.linspace(1.0, 0.3, basis.dim - 1)
    unit = problem.units.unit[0]
    found = unit * problem.with_constant(problem.path(scale).coefficients(alpha))[:, 0]
    found[0] += problem.units.shift[0]
    told, turned, T = ~np.isnan(y), ~np.isnan(G[:, 0]), basis.tangents(X)
    F, D = basis.evaluate(X)[:, 1:], (basis.gradient(X)[:, 1:] @ T).transpose(0, 2, 1)
    d = D.shape[1]
    features = np.concatenate([F[told], D[turned].reshape(-1, basis.dim - 1)])
    constant = np.repeat([1.0, 0.0], [told.sum(), d * turned.sum()])
    targets = np.append(y[told], np.einsum("nf,nfd->nd", G[turned], T[turned]))
    weights = np.append(w[told], ratio**2 * np.repeat(w[turned], d))
    _, beta = ridge(features, constant, targets, weights, scale, alpha)
    assert np.abs(found - np.array([1.0, *scale]) * beta).max() < 1e-11 * np.abs(beta).max()
    assert problem.count == 12
    assert problem.copies == 1.0  # noise makes repeats observations of their own


@pytest.mark.parametrize("factor, word", [(-1.0, "Forces are minus"), (27.2, "units"), (1.0, None)])
def test_a_gradient_that_contradicts_the_values_is_noticed(factor, word):
    X = sa.Torus(2).sample(60, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.InvariantKernelRidge(sa.Torus(2), max_dim=150).fit(X, on_torus(X), gradient=factor * torus_gradient(X))
    said = [str(w.message) for w in caught]
    assert said == [] if word is None else any(word in text for text in said)


def test_gradients_in_another_order_or_frame_are_told_what_they_may_be():
    X = sa.Torus(2).sample(60, random_state=0)
    y, G = on_torus(X), torus_gradient(X)
    with pytest.warns(UserWarning, match=r"one of the two is wrong. Are its rows and columns in the order of X\?"):
        sa.InvariantKernelRidge(sa.Torus(2), max_dim=150).fit(
            X, y, gradient=G[np.random.default_rng(0).permutation(60)]
        )
    cell = np.array([[3.0, 0.0], [1.0, 4.0]])
    space, Z = sa.Torus(lattice=cell), sa.Torus(lattice=cell).sample(60, random_state=0)
    y, G = np.cos(2 * np.pi * Z).sum(axis=1), -2 * np.pi * np.sin(2 * np.pi * Z)  # by fractional coordinates
    cartesian = G @ np.linalg.inv(cell).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.InvariantKernelRidge(space, max_dim=50).fit(Z, y, gradient=cartesian @ cell.T)
    with pytest.warns(UserWarning, match=r"X is fractional: of Cartesian dE/dr give dE/dr @ lattice.T"):
        sa.InvariantKernelRidge(space, max_dim=50).fit(Z, y, gradient=cartesian)


@pytest.mark.parametrize("seed", range(5))
def test_exchanged_columns_are_noticed_where_values_alone_are_fitted_well_and_noise_is_not_questioned(seed):
    propane = sa.datasets.load_propane()
    X = propane.space.sample(12, random_state=seed)
    a, b = 3 * X.T
    y = np.cos(a) + np.cos(b) + 0.3 * np.cos(a) * np.cos(b) + 0.2 * np.cos(a - b)
    one, other = 3 * np.sin(a) + 0.9 * np.sin(a) * np.cos(b), 3 * np.sin(b) + 0.9 * np.cos(a) * np.sin(b)
    G = np.column_stack([-one - 0.6 * np.sin(a - b), -other + 0.6 * np.sin(a - b)])
    model = sa.InvariantKernelRidge(propane.space, propane.group)
    with pytest.warns(UserWarning, match="one of the two is wrong. Are its rows and columns in the order") as found:
        clone(model).fit(X, y, gradient=G[:, ::-1])
    assert found[0].filename == __file__
    noise = np.random.default_rng(seed).normal(size=G.shape) * G.std()
    for size in (0.0, 0.3, 1.0, 3.0):  # pytest makes warnings errors
        clone(model).fit(X, y, gradient=G + size * noise)


@pytest.mark.parametrize("multiple", [0.8, 0.95, 1.0, 1.05, 1.2])
def test_a_multiple_near_one_is_questioned_where_the_values_leave_nothing_open(multiple):
    X = sa.Torus(2).sample(60, random_state=0)
    data = X, np.exp(np.cos(np.pi * X).sum(axis=1) / 2)
    G = -np.pi / 2 * np.sin(np.pi * X) * data[1][:, None]
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data, gradient=multiple * G)
    said = [str(one.message) for one in caught]
    assert [text.split(" ±")[0] for text in said] == [f"the gradient given is {multiple:g}"] * (multiple != 1)
    assert all("Without gradient= the values alone are fitted" in text for text in said)


@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("n", [20, 60])
def test_noisy_gradients_are_not_questioned(n, noise):  # pytest makes warnings errors
    for seed in range(3):
        rng, X = np.random.default_rng(seed), sa.Torus(2).sample(n, random_state=seed)
        y, G = on_torus(X), torus_gradient(X)
        G += noise * G.std() * rng.normal(size=G.shape)
        sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2)).fit(X, y, gradient=G)


@pytest.mark.parametrize("right", [True, False])
def test_gradients_by_the_transposed_lattice_are_told_so(right):
    cell = np.array([[3.2, 0.0, 0.0], [-1.6, 1.6 * 3**0.5, 0.0], [0.0, 0.0, 5.2]])
    space, K = sa.Torus(lattice=cell), np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    X = space.sample(60, random_state=0)
    y, G = np.cos(2 * np.pi * X @ K.T).sum(axis=1), -2 * np.pi * np.sin(2 * np.pi * X @ K.T) @ K
    cartesian = G @ np.linalg.inv(cell).T
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.InvariantKernelRidge(space, max_dim=150).fit(X, y, gradient=cartesian @ (cell.T if right else cell))
    said = any("not dE/dr @ lattice. With the first it would be 1 times" in str(one.message) for one in caught)
    assert said is not right


BODY_CENTRED, FACE_CENTRED = np.ones((3, 3)) / 2 - np.eye(3), np.ones((3, 3)) / 2 - np.eye(3) / 2


@pytest.mark.parametrize("lattice", [3.2 * BODY_CENTRED, 3.6 * FACE_CENTRED])
@pytest.mark.parametrize(
    "of_fractional, factor, words",
    [
        (False, 1.0, "Of what is given, this is 1 times the gradient"),
        (False, -1.0, "this is -1 times the gradient of the values. Forces are minus"),
        (True, -1.0, "is wrong. Forces are minus"),
        (True, 23.0, "is wrong. Are its units those"),
        (True, -23.0, "Are its units those of y over X? Forces are minus"),
    ],
)
def test_cartesian_gradients_on_skewed_lattices_are_known_by_their_direction(lattice, of_fractional, factor, words):
    space = sa.Torus(lattice=lattice)
    X = space.sample(200, random_state=0)
    K = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 0]])
    y, G = np.cos(2 * np.pi * X @ K.T).sum(axis=1), -2 * np.pi * np.sin(2 * np.pi * X @ K.T) @ K
    given = factor * (G if of_fractional else G @ np.linalg.inv(lattice).T)
    y[:5], given[5:8] = np.nan, np.nan  # some rows have no value, others no gradient
    with pytest.warns(UserWarning, match="one of the two is wrong") as caught:
        sa.InvariantKernelRidge(space, max_dim=90).fit(X, y, gradient=given)
    said = [str(one.message) for one in caught if "one of the two is wrong" in str(one.message)]
    assert words in said[0]
    assert ("Of what is given" in said[0]) is not of_fractional


@pytest.mark.parametrize("right", [True, False])
def test_a_wrong_group_is_doubted_where_gradients_are_given_too(right):
    X, rng = sa.Torus(2).sample(60, random_state=0), np.random.default_rng(0)
    signs = np.array([1.0, 1.0 if right else -1.0])  # the group exchanges the coordinates
    y = np.exp(np.cos(np.pi * X)) @ signs + 0.1 * rng.normal(size=60)
    G = -np.pi * np.sin(np.pi * X) * np.exp(np.cos(np.pi * X)) * signs + 0.1 * rng.normal(size=(60, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2)).fit(X, y, gradient=G)
    assert model.loo_error_ > 0.03  # else nothing is asked
    assert any("do not seem to have the symmetry" in str(one.message) for one in caught) is not right


def test_what_is_predicted_to_rounding_ends_the_search(monkeypatch):
    from specavg.estimators import _kernel_ridge

    made = []

    class Counted(GradientProblem):  # a problem for each basis and ratio that is searched
        def __init__(self, *args, **settings):
            made.append(args[2])
            super().__init__(*args, **settings)

    monkeypatch.setattr(_kernel_ridge, "GradientProblem", Counted)
    X, new = sa.Torus(2).sample(40, random_state=0), sa.Torus(2).sample(40, random_state=1)
    y, G = np.cos(np.pi * X).sum(axis=1), -np.pi * np.sin(np.pi * X)
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2)).fit(X, y, gradient=G)
    assert len(made) == 1
    np.testing.assert_allclose(model.predict(new), np.cos(np.pi * new).sum(axis=1), atol=1e-12)


def test_gradients_of_one_column_of_targets_may_have_an_axis_for_it():
    X = sa.Torus(2).sample(30, random_state=0)
    y, G = on_torus(X), torus_gradient(X)
    plain, other = (sa.InvariantKernelRidge(sa.Torus(2)).fit(X, y, gradient=g) for g in (G, G[:, :, None]))
    np.testing.assert_array_equal(plain.predict(X), other.predict(X))
    pieces = sa.InvariantKernelRidge(sa.Torus(2), max_dim=30)
    np.testing.assert_array_equal(
        pieces.partial_fit(X, y, gradient=G[:, :, None]).coef_,
        sa.InvariantKernelRidge(sa.Torus(2), max_dim=30).partial_fit(X, y, gradient=G).coef_,
    )
    two = np.stack([G, G], axis=2)
    with pytest.raises(ValueError, match=r"gradients are fitted with one target; y has shape \(30, 2\)"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, np.stack([y, y], axis=1), gradient=two)
    with pytest.raises(ValueError, match=r"X has shape \(30, 2\), y \(30,\) and gradient \(30, 2, 2\): there is one"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, y, gradient=two)


def test_what_cannot_be_fitted_is_refused():
    X = sa.Torus(2).sample(10, random_state=0)
    y, G = on_torus(X), torus_gradient(X)
    model = sa.InvariantKernelRidge(sa.Torus(2))
    with pytest.raises(ValueError, match="shape"):
        model.fit(X, y, gradient=G[:, :1])
    with pytest.raises(ValueError, match="one target"):
        model.fit(X, np.stack([y, y], axis=1), gradient=G)
    with pytest.raises(ValueError, match="at least one value"):
        model.fit(X, np.full(10, np.nan), gradient=G)
    G[3, 0] = np.nan
    with pytest.raises(ValueError, match="a part of 1 rows"):
        model.fit(X, y, gradient=G)
    with pytest.raises(ValueError, match="so must sample_weight and gradient"):
        model.fit(iter([(X, y)]), gradient=G)
    chunked = sa.InvariantKernelRidge(sa.Torus(2), max_dim=20)
    with pytest.raises(ValueError, match="chunk 1: X has shape"):
        chunked.fit(iter([(X, y, None, torus_gradient(X)), (X, y, None, G[:, :1])]))
    with pytest.raises(ValueError, match="at least one value"):
        chunked.fit(iter([(X, np.full(10, np.nan), None, torus_gradient(X))]))
    with pytest.raises(ValueError, match="does not learn from them"):
        sa.SpecAvgRegressor(sa.Torus(2), max_dim=20).fit(iter([(X, y, None, torus_gradient(X))]))
    with pytest.raises(ValueError, match="y has infinite entries in 1 rows"):
        model.fit(X, np.where(np.arange(10) == 2, np.inf, y), gradient=torus_gradient(X))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(np.arange(10) == 2, np.nan, y))


@pytest.mark.parametrize("slope_noise", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("held", [True, False])
def test_the_noise_of_values_and_of_gradients_are_each_known_to_their_statistical_error(d, slope_noise, held):
    n, noise, found = 100, 0.01, []
    space, group = sa.Torus(d, period=2 * np.pi), groups.hyperoctahedral(d)
    for seed in range(3):
        rng, X = np.random.default_rng(seed), space.sample(n, random_state=seed)
        y = np.exp(np.cos(X).sum(axis=1) / 2)
        G = -np.sin(X) / 2 * y[:, None] + slope_noise * rng.normal(size=(n, d))
        y += noise * rng.normal(size=n)
        model = sa.InvariantKernelRidge(space, group, max_invariant_dim=40)
        fitted = model.fit(X, y, gradient=G) if held else model.fit(chunks(50, X, y, np.ones(n), G))
        found.append([fitted.noise_variance_ / noise**2, fitted.gradient_noise_variance_ / max(slope_noise**2, 1e-6)])
    values, slopes = np.mean(found, axis=0)
    error = np.sqrt(2 / (3 * n))  # of a mean of as many squares of normal numbers
    assert abs(values - 1) < 3 * error
    assert abs(slopes - 1) < 3 * error if slope_noise else slopes < 0.01


def test_error_bars_of_values_know_the_constant_where_gradients_are_exact():
    # Then the error is that of the mean of the values, sigma/√n: 90 % intervals hold it in 90 % of the draws, and were
    # half as wide with the noise of values and gradients in common.
    X = sa.Torus(2).sample(40, random_state=0)
    y, G = np.cos(np.pi * X).sum(axis=1), -np.pi * np.sin(np.pi * X)
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.hyperoctahedral(2), alpha=1e-6)
    noise = np.random.default_rng(0).normal(size=40)
    model.fit(X, y + 0.1 * noise, gradient=G)
    error, deviation = np.abs(model.predict(X, return_std=True)[0] - y), model.predict(X, return_std=True)[1]
    np.testing.assert_allclose(error, 0.1 * abs(noise.mean()), rtol=0.05)
    np.testing.assert_allclose(deviation, 0.1 * noise.std(ddof=1) / np.sqrt(40), rtol=0.05)


@pytest.mark.parametrize("d", [1, 3])
def test_error_bars_of_the_constant_do_not_shrink_with_the_dimension(d):
    # The surprise of a fit is that of all its rows. Most are derivatives, and say nothing of the constant: its
    # deviation was 0.72 of sigma/√n in three dimensions.
    n, rng, space = 60, np.random.default_rng(100), sa.Torus(d, period=2 * np.pi)
    X, noise = space.sample(n, random_state=100), 0.1 * rng.normal(size=n)
    y = np.cos(X).sum(axis=1) + 0.3 * np.cos(X.sum(axis=1))
    G = -np.sin(X) - 0.3 * np.sin(X.sum(axis=1))[:, None]
    model = sa.InvariantKernelRidge(space, groups.symmetric(d)).fit(X, y + noise, gradient=G)
    deviation = model.predict(X[:9], return_std=True)[1]
    np.testing.assert_allclose(deviation / (noise.std() / np.sqrt(n)), 1.0, atol=0.15)


# --- in chunks -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    """Points of a sphere with noisy values and gradients, some of either missing."""
    rng, X = np.random.default_rng(0), sa.Sphere(3).sample(400, random_state=0)
    y, G = on_sphere(X) + 0.05 * rng.normal(size=400), sphere_gradient(X) + 0.5 * rng.normal(size=(400, 3))
    y[:80], G[300:] = np.nan, np.nan
    return X, y, rng.uniform(0.5, 2.0, 400), G


def chunked():
    return sa.InvariantKernelRidge(sa.Sphere(3), groups.point_group("C2"), max_invariant_dim=45)


def chunks(size, *arrays):
    return (tuple(a[i : i + size] for a in arrays) for i in range(0, len(arrays[0]), size))


def test_gradients_in_chunks_add_up(noisy, tmp_path):
    X, y, w, G = noisy
    whole = chunked().fit(chunks(400, X, y, w, G))
    assert whole.solver_ == "moments"
    parts = chunked()
    for x, t, v, g in chunks(70, X, y, w, G):
        if not np.isnan(t).all():
            parts.partial_fit(x, t, v, gradient=g)
    da = pytest.importorskip("dask.array")
    lazy = [da.from_array(a, chunks=(90, *a.shape[1:])) for a in (X, y, w, G)]
    others = [chunked().fit(chunks(33, X, y, w, G)), chunked().fit(*lazy[:3], gradient=lazy[3])]
    for other in others:
        assert np.abs(other.coef_ - whole.coef_).max() < 1e-12
        assert np.isclose(other.gradient_noise_variance_, whole.gradient_noise_variance_, rtol=1e-10)
    later = chunked()
    later.partial_fit(X[60:200], y[60:200], w[60:200], gradient=G[60:200])
    later.partial_fit(X[:60], y[:60], w[:60], gradient=G[:60])  # gradients alone
    later.partial_fit(X[300:], y[300:], w[300:])  # values alone
    later.partial_fit(X[200:300], y[200:300], w[200:300], gradient=G[200:300])
    assert np.abs(later.coef_ - whole.coef_).max() < 1e-12
    later.save(tmp_path / "model")
    loaded = sa.load(tmp_path / "model")
    again = loaded.partial_fit(X, y, w, gradient=G)
    assert np.array_equal(again.coef_, later.partial_fit(X, y, w, gradient=G).coef_)


def test_gradients_from_a_parquet_file(noisy, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y, _, G = noisy
    table = pandas.DataFrame(np.column_stack([X, y, G]), columns=["x", "y", "z", "energy", "gx", "gy", "gz"])
    table.to_parquet(tmp_path / "data.parquet")
    model = chunked().fit(tmp_path / "data.parquet", "energy", gradient=["gx", "gy", "gz"])
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    same = chunked().fit(iter([(X, y, None, G)]))
    assert np.abs(model.coef_ - same.coef_).max() < 1e-12
    with pytest.raises(ValueError, match="list of its columns"):
        chunked().fit(tmp_path / "data.parquet", "energy", gradient="gx")


def test_the_fit_from_moments_is_the_least_squares_of_all_rows(noisy, monkeypatch):
    from specavg.estimators import _kernel_ridge

    X, y, w, G = noisy
    ratios, problem = [], _kernel_ridge.MomentProblem
    monkeypatch.setattr(_kernel_ridge, "MomentProblem", lambda m, *r, **k: ratios.extend(r) or problem(m, *r, **k))
    model = chunked().set_params(spectrum="matern", smoothness=3.0, length_scale=0.3).fit(chunks(77, X, y, w, G))
    value, slope = ~np.isnan(y), ~np.isnan(G).any(axis=1)
    A = model.basis_.evaluate(X[value])
    B = model.basis_.gradient(X[slope]).transpose(0, 2, 1)  # tangential: radial parts of G meet zeros
    ratio2 = ratios[-1] ** 2  # of the last problem: that of all functions
    assert ratio2 == pytest.approx(model.noise_variance_ / model.gradient_noise_variance_, rel=0.05)
    C, t = B.reshape(-1, A.shape[1]), G[slope].ravel()
    v = ratio2 * np.repeat(w[slope], 3)
    K = A.T @ (w[value, None] * A) + C.T @ (v[:, None] * C)
    scale, penalty = np.sqrt(model.spectrum_.values(model.basis_)), np.full(len(K), model.alpha_)
    scale[0], penalty[0] = 1.0, 0.0
    right = scale * (A.T @ (w[value] * y[value]) + C.T @ (v * t))
    c = scale * np.linalg.solve(K * np.outer(scale, scale) + np.diag(penalty), right)
    assert np.abs(c - model.coef_).max() < 1e-10
    truth = sa.Sphere(3).sample(300, random_state=5)
    assert np.sqrt(np.mean((model.predict(truth) - on_sphere(truth)) ** 2)) < 0.05
    # Of a row of mean weight: noise does not depend on the weights here.
    assert 0.03 < (model.noise_variance_ / w.mean()) ** 0.5 < 0.08
    assert 0.35 < (model.gradient_noise_variance_ / w.mean()) ** 0.5 < 0.7


def test_more_rows_than_are_held_use_moments(noisy, monkeypatch):
    X, y, w, G = noisy
    held = chunked().fit(X, y, w, gradient=G)
    assert held.solver_ == "features"
    monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 1000.0)
    model = chunked().fit(X, y, w, gradient=G)
    assert model.solver_ == "moments"
    Z = sa.Sphere(3).sample(300, random_state=5)
    assert np.abs(model.predict(Z) - held.predict(Z)).max() < 0.05  # the noise of a value
    assert np.abs(model.gradient(Z[:9], return_std=True)[1] / held.gradient(Z[:9], return_std=True)[1] - 1).max() < 0.5


@pytest.mark.parametrize("factor, word", [(-1.0, "Forces are minus"), (0.0367, "units"), (1.0, None)])
def test_chunks_that_contradict_the_values_are_noticed(noisy, factor, word):
    X, y, w, G = noisy
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chunked().fit(chunks(100, X, y, w, factor * G))
    said = [str(w.message) for w in caught]
    assert said == [] if word is None else any(word in text for text in said)


def test_a_model_fitted_with_gradients_is_saved(tmp_path):
    X = sa.Rotations().sample(20, random_state=0)
    y, G = X[:, 0] + X[:, 4] ** 2, np.zeros((20, 9))
    G[:, 0], G[:, 4] = 1.0, 2 * X[:, 4]
    model = sa.InvariantKernelRidge(sa.Rotations(), max_dim=84).fit(X, y, gradient=G)
    model.save(tmp_path / "model")
    loaded = sa.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    assert loaded.gradient_noise_variance_ == model.gradient_noise_variance_


@pytest.mark.parametrize(
    "space",
    [sa.Torus(3), sa.Sphere(4), sa.Rotations(), sa.Stiefel(4, 2), sa.Power(sa.Sphere(3), 2), sa.Interval()],
    ids=repr,
)
def test_tangents_are_orthonormal_and_hold_every_gradient(space):
    X = space.check_points(space.sample(6, random_state=0))
    tangents = space.tangents(X)
    assert tangents.shape == (6, space.n_features, space.dim)
    assert np.abs(tangents.transpose(0, 2, 1) @ tangents - np.eye(space.dim)).max() < 1e-13
    gradient = sa.invariant_basis(space, max_dim=30).gradient(X)
    along = gradient @ tangents @ tangents.transpose(0, 2, 1)
    assert np.abs(along - gradient).max() < 1e-12 * np.abs(gradient).max()


def test_gradients_with_the_one_value_that_the_message_proposes():
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X, Z = space.sample(60, random_state=0), space.sample(200, random_state=1)
    G = 4 * X**3
    G -= (G * X).sum(axis=1, keepdims=True) * X
    for y in (None, np.full(60, np.nan)):
        with pytest.raises(ValueError, match=r"y = np.full\(n, np.nan\); y\[0\] = 0"):
            sa.InvariantKernelRidge(space, group).fit(X, y, gradient=G)
    y = np.full(60, np.nan)
    y[0] = 0
    model = sa.InvariantKernelRidge(space, group).fit(X, y, gradient=G)
    np.testing.assert_allclose(model.predict(Z), (Z**4).sum(axis=1) - (X[0] ** 4).sum(), atol=1e-12)
