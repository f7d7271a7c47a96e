"""The alternatives: kernels against sums of eigenfunctions, averages against the enumerated group."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import specavg as sa
from specavg import baselines, groups

KERNELS = [
    (sa.Torus(2), {"max_dim": 200}),
    (sa.Torus(3), {"max_dim": 60}),
    (sa.Torus(10), {"max_eigenvalue": 2 * np.pi**2}),
    (sa.Torus(2, period=[1.0, 3.0]), {"max_dim": 80}),
    (sa.Circle(), {"max_dim": 31}),
    (sa.Sphere(2), {"max_dim": 21}),
    (sa.Sphere(3), {"max_dim": 400}),
    (sa.Sphere(6), {"max_dim": 200}),
    (sa.Product(sa.Circle(), sa.Sphere(3)), {"max_dim": 60}),
    (sa.spaces.Rotations(), {"max_dim": 455}),
]
SPECTRA = [
    {"spectrum": "sobolev", "smoothness": 3.5},
    {"spectrum": "matern", "smoothness": 2.0, "length_scale": 0.3},
    {"spectrum": "heat", "length_scale": 0.4},
]


def space_id(value):
    return repr(value) if isinstance(value, sa.spaces.Space) else ""


def summed(space, cutoff, weight, X, Y):
    """K(x, y) from the eigenfunctions, with `weight(eigenvalue, count)` written out by each test."""
    total, count = 0.0, 0
    for V in space.eigenspaces():
        if V.eigenvalue > cutoff.get("max_eigenvalue", np.inf) * (1 + 1e-9):
            break
        count += V.dim
        if count > cutoff.get("max_dim", np.inf):
            break
        total = total + weight(V.eigenvalue, count) * space.evaluate(V, X) @ space.evaluate(V, Y).T
    return total


@pytest.mark.parametrize("space, cutoff", KERNELS, ids=space_id)
@pytest.mark.parametrize("settings", SPECTRA, ids=lambda s: s["spectrum"])
def test_addition_theorem_equals_the_sum_over_eigenfunctions(space, cutoff, settings):
    X, Y = space.sample(7, 0), space.sample(5, 1)
    s, l = settings.get("smoothness"), settings.get("length_scale")
    weight = {
        "sobolev": lambda eigenvalue, count: count ** (-2 * (s or 1) / space.dim),
        "matern": lambda eigenvalue, count: (1 + l**2 * eigenvalue) ** -(s or 1),
        "heat": lambda eigenvalue, count: np.exp(-(l**2) * eigenvalue / 2),
    }[settings["spectrum"]]
    K = baselines.SpectralKernel(space, **settings, **cutoff)(X, Y)
    expected = summed(space, cutoff, weight, X, Y)
    np.testing.assert_allclose(K, expected, rtol=0, atol=1e-12 * abs(expected).max() * 10)


def test_whole_heat_kernel_of_a_torus_is_the_wrapped_gaussian():
    # Poisson summation: the heat kernel is a sum of Gaussians over the images of a point.
    space, l = sa.Torus(2, period=[2.0, 3.0]), 0.5
    X, Y = space.sample(6, 0), space.sample(4, 1)
    expected = np.ones((6, 4))
    for i, p in enumerate(space.period):
        offset = (X[:, None, i] - Y[None, :, i])[..., None] + p * np.arange(-20, 21)
        expected *= p / np.sqrt(2 * np.pi * l**2) * np.exp(-(offset**2) / (2 * l**2)).sum(axis=-1)
    kernel = baselines.SpectralKernel(space, spectrum="heat", length_scale=l)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    without = baselines.SpectralKernel(space, spectrum="heat", length_scale=l, constant=False)
    np.testing.assert_allclose(without(X, Y), expected - 1, rtol=0, atol=1e-12)


def test_von_mises_is_the_product_of_the_paper():
    X, Y = sa.Torus(10).sample(6, 0), sa.Torus(10).sample(4, 1) + 2.0  # points wrap
    expected = np.exp(0.7 * np.cos(np.pi * (X[:, None] - Y[None])).sum(axis=-1))
    np.testing.assert_allclose(baselines.VonMisesKernel(eta=0.7)(X, Y), expected, rtol=1e-12)


AVERAGES = [
    (sa.Torus(5), groups.sign_flips(5), baselines.VonMisesKernel(eta=0.8), 1),
    (sa.Torus(4), groups.sign_flips(4), baselines.SpectralKernel(max_eigenvalue=4 * np.pi**2), 1),
    (sa.Torus(3), groups.sign_flips(3), baselines.SpectralKernel(spectrum="heat", length_scale=0.4), 1),
    (sa.Torus(3), groups.symmetric(3), baselines.VonMisesKernel(eta=0.8), 6),
    (sa.Sphere(3), groups.point_group("Oh"), baselines.SpectralKernel(sa.Sphere(3), max_dim=100), 48),
]


@pytest.mark.parametrize("space, group, kernel, summed_elements", AVERAGES, ids=lambda v: "")
def test_average_equals_the_sum_over_the_enumerated_group(space, group, kernel, summed_elements):
    X, Y = space.sample(6, 0), space.sample(9, 1)
    function, elements = baselines.averaged_kernel(kernel, space, group, n=9)
    assert elements == summed_elements
    expected = np.mean([kernel(space.act(g, X), Y) for g in group.elements()], axis=0)
    np.testing.assert_allclose(function(X, Y), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(function(Y, X), expected.T, rtol=1e-11, atol=1e-12)


def test_sign_flips_written_as_plain_generators_factorise_too():
    group = groups.Group(groups.sign_flips(6).generators)
    assert baselines.averaged_kernel(baselines.VonMisesKernel(), sa.Torus(6), group)[1] == 1


def test_a_sum_too_long_is_refused_with_its_length():
    X = sa.Torus(40).sample(100, 0)
    model = baselines.GroupAveragedKernelRidge(group=groups.symmetric(40))
    with pytest.raises(baselines.CostError, match=r"10\^47 × 100² = about 10\^51 kernel values"):
        model.fit(X, X[:, 0])
    with pytest.raises(baselines.CostError, match=r"10\^49 rows"):
        baselines.Augmented(Ridge(), group=groups.symmetric(40)).fit(X, X[:, 0])
    rotations = groups.cyclic(10**6)
    with pytest.raises(baselines.CostError, match="1e\\+06 points"):
        baselines.canonical(sa.Circle(), rotations, [[0.1]])


def test_a_group_with_more_digits_than_python_prints_is_still_refused_politely():
    X = sa.Sphere(3000).sample(2, 0)
    kernel = baselines.SpectralKernel(sa.Sphere(3000), max_eigenvalue=2999.0)
    with pytest.raises(baselines.CostError, match=r"10\^9131 kernel values"):
        baselines.GroupAveragedKernelRidge(kernel, groups.symmetric(3000)).fit(X, X[:, 0])


@pytest.mark.parametrize("penalty", ["sum", "mean"])
def test_kernel_ridge_equals_scikit_learn_and_states_its_penalty(penalty):
    X, Y = sa.Sphere(3).sample(40, 0), sa.Sphere(3).sample(9, 1)
    y = np.c_[X[:, 0] ** 2, X[:, 1]]
    kernel = baselines.SpectralKernel(sa.Sphere(3), spectrum="heat", length_scale=0.5)
    ours = baselines.KernelRidge(kernel, 1e-3, penalty=penalty).fit(X, y)
    theirs = SklearnKernelRidge(alpha=1e-3 * (40 if penalty == "mean" else 1), kernel="precomputed")
    expected = theirs.fit(kernel(X), y).predict(kernel(Y, X))
    np.testing.assert_allclose(ours.predict(Y), expected, rtol=0, atol=1e-12)


def test_unpenalised_intercept_equals_the_bordered_system():
    X, Y, rng = sa.Torus(2).sample(30, 0), sa.Torus(2).sample(7, 1), np.random.default_rng(2)
    y, w = 5 + X[:, 0] ** 2, rng.random(30) + 0.5
    kernel = baselines.SpectralKernel(sa.Torus(2), max_dim=49, constant=False)
    model = baselines.KernelRidge(kernel, 0.1, fit_intercept=True).fit(X, y, sample_weight=w)
    # min Σ w (y − b − K a)² + α aᵀKa: (K + α/w) a + b = y, 1ᵀa = 0
    n = len(X)
    A = np.block([[kernel(X) + np.diag(0.1 / w), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.r_[y, 0.0])
    np.testing.assert_allclose(model.predict(Y), kernel(Y, X) @ solution[:n] + solution[n], rtol=1e-10)
    shifted = clone(model).fit(X, y + 100, sample_weight=w)
    np.testing.assert_allclose(shifted.predict(Y), model.predict(Y) + 100, rtol=1e-10)


def test_intercept_makes_the_constant_of_the_kernel_irrelevant():
    X, y = sa.Torus(2).sample(30, 0), np.arange(30.0)
    with_constant, without = (
        baselines.KernelRidge(baselines.SpectralKernel(sa.Torus(2), max_dim=49, constant=constant), fit_intercept=True)
        .fit(X, y)
        .predict(X)
        for constant in (True, False)
    )
    np.testing.assert_allclose(with_constant, without, rtol=1e-10)


def test_group_average_equals_full_augmentation_of_kernel_ridge():
    # A known identity: KRR on all images with penalty |G|·α has the same predictions as KRR with K_inv and α.
    space, group = sa.Sphere(3), groups.point_group("Td")
    kernel = baselines.SpectralKernel(space, spectrum="heat", length_scale=0.3)
    X, Y = space.sample(20, 0), space.sample(9, 1)
    y = X.prod(axis=1)
    averaged = baselines.GroupAveragedKernelRidge(kernel, group, 0.01).fit(X, y)
    augmented = baselines.Augmented(baselines.KernelRidge(kernel, 0.01 * 1), space, group).fit(X, y)
    assert averaged.n_summed_ == group.order == 24
    assert augmented.n_rows_ == 480
    np.testing.assert_allclose(augmented.predict(Y), augmented.predict(space.act(group.random(3), Y)), atol=1e-10)
    same = baselines.Augmented(baselines.KernelRidge(kernel, 0.01 * 24), space, group).fit(X, y)
    np.testing.assert_allclose(same.predict(Y), averaged.predict(Y), rtol=0, atol=1e-11)


def test_random_averages_are_not_invariant_and_improve_with_more_elements():
    space, group = sa.Torus(4), groups.sign_flips(4)
    X = space.sample(50, 0)
    y = (X**2) @ [1.0, 2.0, 3.0, 4.0]
    found = []
    for m in (1, 4, 16):
        ids = [
            sa.invariance_discrepancy(
                baselines.RandomlyAveragedKernelRidge(group=group, alpha=0.1, n_elements=m, random_state=seed).fit(
                    X, y
                ),
                space,
                group,
                X[:10],
            )
            for seed in range(3)
        ]
        found.append(np.mean(ids))
    assert found[0] > found[1] > found[2] > 1e-4


CANONICAL = [
    (sa.Torus(4), groups.symmetric(4)),
    (sa.Torus(4), groups.hyperoctahedral(4)),
    (sa.Torus(5), groups.cyclic_shifts(5)),
    (sa.Torus(lattice=np.eye(2)), groups.sign_flips(2)),
    (sa.Sphere(5), groups.alternating(5)),
    (sa.Sphere(3), groups.point_group("Oh")),
    (sa.Sphere(3), groups.point_group("I")),
    (sa.Circle(), groups.dihedral(5)),
]


@pytest.mark.parametrize("space, group", CANONICAL, ids=lambda v: repr(v))
def test_canonical_is_in_the_orbit_and_the_same_for_all_of_it(space, group):
    X = space.sample(20, 0)
    C = baselines.canonical(space, group, X)
    basis = sa.invariant_basis(space, group, max_dim=60)
    np.testing.assert_allclose(basis.evaluate(C), basis.evaluate(X), atol=1e-11)
    V = next(V for V in space.eigenspaces() if V.eigenvalue > 0)
    for seed in range(5):  # compared through functions: two coordinates may name one point of a torus
        moved = baselines.canonical(space, group, space.act(group.random(seed), X))
        np.testing.assert_allclose(space.evaluate(V, moved), space.evaluate(V, C), atol=1e-12)


@pytest.mark.parametrize("space, group", CANONICAL, ids=lambda v: repr(v))
def test_frame_averages_are_invariant_and_weights_sum_to_one(space, group):
    X = space.sample(30, 0)
    y = np.cos(3 * X).sum(axis=1)
    found = baselines.frame(space, group, X)
    np.testing.assert_allclose(found.weights.sum(axis=0), 1, atol=1e-12)
    assert (found.weights >= 0).all()
    for wrapper in (baselines.FrameAveraged, baselines.Canonicalized):
        kernel = baselines.SpectralKernel(space, spectrum="heat", length_scale=0.5, max_dim=50)
        model = wrapper(baselines.KernelRidge(kernel, 0.1), space, group).fit(X, y)
        assert sa.invariance_discrepancy(model, space, group, X, n_elements=10, random_state=0) < 1e-9


def test_sorting_jumps_on_the_torus_and_the_cut_frame_does_not():
    space, group = sa.Torus(3), groups.symmetric(3)
    X = space.sample(100, 0)
    y = np.sin(np.pi * X).sum(axis=1)
    path = np.c_[np.linspace(0.9, 1.1, 2001), np.full(2001, 0.3), np.full(2001, -0.2)]
    base = baselines.KernelRidge(baselines.VonMisesKernel(eta=2.0), 0.1)
    jump = {}
    for wrapper in (baselines.Canonicalized, baselines.FrameAveraged):
        values = wrapper(base, space, group).fit(X, y).predict(path)
        jump[wrapper] = np.abs(np.diff(values)).max()
    assert jump[baselines.Canonicalized] > 0.05
    assert jump[baselines.FrameAveraged] < 0.005


def test_cut_frame_lists_the_cyclic_orders():
    found = baselines.frame(sa.Torus(3), groups.symmetric(3), [[0.5, -0.75, 0.0]])
    assert found.name == "cut at each gap"
    np.testing.assert_array_equal(found.images[:, 0], [[0, 0.5, -0.75], [0.5, -0.75, 0], [-0.75, 0, 0.5]])
    np.testing.assert_allclose(found.weights[:, 0], [0.375, 0.25, 0.375])


def test_wrappers_take_estimators_without_sample_weight():
    from sklearn.neighbors import KNeighborsRegressor

    X = sa.Torus(3).sample(40, 0)
    for wrapper in (baselines.FrameAveraged, baselines.Canonicalized, baselines.Augmented):
        model = wrapper(KNeighborsRegressor(), group=groups.symmetric(3)).fit(X, X.sum(axis=1))
        assert model.predict(X).shape == (40,)
        with pytest.raises(ValueError, match="takes no sample_weight"):
            model.fit(X, X.sum(axis=1), sample_weight=np.ones(40))


def test_kernel_parameters_are_reached_by_a_grid_search():
    X = sa.Torus(2).sample(60, 0)
    y = np.cos(np.pi * X[:, 0])
    model = baselines.KernelRidge(baselines.VonMisesKernel())
    search = GridSearchCV(model, {"kernel__eta": [0.1, 1.0], "alpha": [1e-6, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_["alpha"] == 1e-6


def test_models_survive_pickling():
    space = sa.Torus(3)
    X = space.sample(30, 0)
    for model in (
        baselines.KernelRidge(),
        baselines.GroupAveragedKernelRidge(group=groups.symmetric(3)),
        baselines.RandomlyAveragedKernelRidge(group=groups.symmetric(3), n_elements=3),
        baselines.Augmented(baselines.KernelRidge(), group=groups.symmetric(3)),
    ):
        model.fit(X, X.sum(axis=1))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: baselines.KernelRidge(penalty="other"), "penalty must be 'sum'"),
        (lambda: baselines.KernelRidge(baselines.VonMisesKernel(eta=-1)), "eta must be positive"),
        (lambda: baselines.KernelRidge(baselines.VonMisesKernel(eta=400.0)), "overflows"),
        (lambda: baselines.KernelRidge(baselines.SpectralKernel(spectrum="other")), "one of sobolev, matern, heat"),
        (lambda: baselines.KernelRidge(baselines.SpectralKernel(smoothness=-1.0)), "smoothness must be positive"),
        (lambda: baselines.KernelRidge(baselines.SpectralKernel(length_scale=0)), "length_scale must be positive"),
        (lambda: baselines.RandomlyAveragedKernelRidge(n_elements=0), "n_elements must be at least 1"),
        (lambda: baselines.Augmented(Ridge(), n_elements=0), "n_elements must be at least 1"),
        (
            lambda: baselines.Augmented(Ridge(), group=groups.shifts((1, 1))),
            "infinitely many elements: give n_elements",
        ),
        (lambda: baselines.FrameAveraged(Ridge(), width=0.0), "width must be positive"),
        (lambda: baselines.GroupAveragedKernelRidge(group=groups.symmetric(5)), "acts on 5 coordinates"),
        (lambda: baselines.KernelRidge(alpha="auto"), "alpha must be a number; got 'auto'.*GridSearchCV"),
        (lambda: baselines.KernelRidge(baselines.VonMisesKernel(eta="auto")), "eta must be a number; got 'auto'"),
        (
            lambda: baselines.KernelRidge(baselines.SpectralKernel(spectrum="heat", length_scale="auto")),
            "length_scale must be a number; got 'auto'",
        ),
        (lambda: baselines.KernelRidge(baselines.SpectralKernel(smoothness="2")), "smoothness must be a number"),
        (lambda: baselines.GroupAveragedKernelRidge(max_terms="all"), "max_terms must be a number"),
        (lambda: baselines.RandomlyAveragedKernelRidge(n_elements="all"), "n_elements must be a number"),
        (lambda: baselines.Augmented(Ridge(), n_elements="all"), "n_elements must be a number; got 'all'"),
        (lambda: baselines.Augmented(Ridge(), max_rows="all"), "max_rows must be a number"),
        (lambda: baselines.FrameAveraged(Ridge(), width="narrow"), "width must be a number"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(sa.Torus(2).sample(10, 0), np.arange(10.0))


def test_other_kernels_are_refused():
    with pytest.raises(TypeError, match="specavg kernel"):
        baselines.KernelRidge(RBF()).fit([[0.0]], [1.0])
    with pytest.raises(ValueError, match="Use a SpectralKernel"):
        baselines.KernelRidge(baselines.VonMisesKernel(space=sa.Sphere(3))).fit(sa.Sphere(3).sample(5, 0), range(5))


@parametrize_with_checks(
    [
        baselines.KernelRidge(),
        baselines.KernelRidge(baselines.SpectralKernel(spectrum="heat"), fit_intercept=True),
        baselines.GroupAveragedKernelRidge(),
        baselines.RandomlyAveragedKernelRidge(random_state=0),
        baselines.Augmented(Ridge(), random_state=0),
        baselines.Canonicalized(),
        baselines.FrameAveraged(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


WRAPPERS = [sa.Symmetrized, baselines.Augmented, baselines.Canonicalized, baselines.FrameAveraged]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_cannot_be_wrapped_is_refused(wrapper):
    space, group = sa.Sphere(3), groups.symmetric(3)
    X = space.sample(20, random_state=0)
    with pytest.raises(TypeError, match=rf"first argument is the estimator .* Write {wrapper.__name__}\(Random"):
        wrapper(space, group).fit(X, X[:, 0])
    for wrong in ("rf", Ridge):
        with pytest.raises(TypeError, match="must be an object with the methods fit and predict"):
            wrapper(wrong, space, group).fit(X, X[:, 0])


def test_labels_of_classes_are_not_averaged():
    """Augmented and Canonicalized return labels; means over a frame are none."""
    space, group = sa.Torus(3), groups.symmetric(3)
    X = space.sample(60, random_state=0)
    labels = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=r"LogisticRegression predicts classes.*InvariantFeatures"):
        baselines.FrameAveraged(LogisticRegression(), space, group).fit(X, labels)
    for wrapper in (baselines.Augmented, baselines.Canonicalized):
        found = wrapper(LogisticRegression(), space, group).fit(X, labels).predict(X)
        assert set(np.unique(found)) <= {0, 1}


class Laplace(baselines.Kernel):
    """A kernel of somebody else: one method."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def function(self, space):
        return lambda X, Y: np.exp(-np.linalg.norm(X[:, None] - Y, axis=2) / self.scale)


def test_a_kernel_needs_one_method():
    X = sa.Torus(2).sample(30, random_state=0)
    kernel = Laplace(2.0)
    model = baselines.KernelRidge(kernel, alpha=1e-3).fit(X, X[:, 0])
    K = np.exp(-np.linalg.norm(X[:, None] - X, axis=2) / 2)
    np.testing.assert_allclose(kernel(X), K)
    np.testing.assert_allclose(model.predict(X), K @ np.linalg.solve(K + 1e-3 * np.eye(30), X[:, 0]))


def test_an_average_over_infinitely_many_elements_names_what_ends():
    space = sa.Sphere(3)
    model = baselines.GroupAveragedKernelRidge(baselines.SpectralKernel(space), groups.special_orthogonal(3))
    with pytest.raises(
        ValueError, match=r"infinitely many elements.*RandomlyAveragedKernelRidge.*InvariantKernelRidge"
    ):
        model.fit(space.sample(10, random_state=0), np.arange(10.0))


@pytest.mark.parametrize("make", [baselines.Canonicalized, baselines.FrameAveraged, baselines.Augmented])
def test_wrappers_of_infinite_groups_name_what_ends(make):
    space = sa.Sphere(3)
    with pytest.raises(ValueError, match=r"infinitely many elements.*n_elements.*sa\.InvariantKernelRidge"):
        make(Ridge(), space, groups.orthogonal(3)).fit(space.sample(20, random_state=0), np.arange(20.0))


def test_penalties_may_differ_between_outputs():
    X = sa.Torus(2).sample(30, random_state=0)
    both = baselines.KernelRidge(alpha=np.array([1e-3, 1.0])).fit(X, X).predict(X[:5])
    for j, alpha in enumerate([1e-3, 1.0]):
        np.testing.assert_allclose(both[:, j], baselines.KernelRidge(alpha=alpha).fit(X, X[:, j]).predict(X[:5]))
