"""Targets of any offset and any size: the same model, in every way of fitting it."""

from itertools import pairwise

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.estimators import Moments
from specavg.regression._target_units import Units

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)
X = SPACE.sample(1200, random_state=0)
NOISE = 0.1 * np.random.default_rng(0).normal(size=len(X))
F = np.exp(np.cos(np.pi * X).sum(axis=1))
Y = np.round(2.0**20 * (F + NOISE)) / 2.0**20  # few digits, so that adding an offset rounds nothing
Z = SPACE.sample(200, random_state=1)
GIVEN = {"spectrum": "matern", "smoothness": 2.0, "length_scale": 0.3, "max_invariant_dim": 60}


def chunks(y, size=100):
    return ((X[i : i + size], y[i : i + size]) for i in range(0, len(X), size))


def parts(model, y, size=100):
    for chunk in chunks(y, size):
        model.partial_fit(*chunk)
    return model


WAYS = {
    "features": lambda model, y: model.fit(X, y),
    "moments": lambda model, y: model.fit(X, y),
    "toeplitz": lambda model, y: model.set_params(alpha=1.0).fit(X, y),
    "stream": lambda model, y: model.fit(chunks(y)),
    "stream of short chunks": lambda model, y: model.fit(chunks(y, 7)),
    "rows one by one": lambda model, y: model.fit(chunks(y, 1)),
    "partial_fit": parts,
}


@pytest.fixture(params=WAYS)
def fitted(request, monkeypatch):
    """A function from targets to a fitted model, in one of the ways."""
    if request.param in ("moments", "toeplitz"):
        if request.param == "toeplitz":
            pytest.importorskip("finufft")
        monkeypatch.setattr("specavg.regression._measured_limits.FEATURES_HELD", 0)

    def fit(y):
        model = WAYS[request.param](sa.InvariantKernelRidge(SPACE, GROUP, **GIVEN), y)
        assert model.solver_ == (request.param if request.param in ("features", "moments", "toeplitz") else "moments")
        return model

    return fit


@pytest.mark.parametrize("offset", [2.0**12, 2.0**25, -(2.0**30)])
def test_an_offset_is_added_to_the_predictions_and_changes_nothing_else(fitted, offset):
    plain, moved = fitted(Y), fitted(Y + offset)
    # A prediction is a sum of 60 terms, each of which may be rounded by half of the spacing of numbers near the offset.
    rounding = 0.5 * plain.basis_.dim * np.spacing(abs(offset))
    assert np.abs(moved.predict(Z) - offset - plain.predict(Z)).max() <= 1e-11 + rounding
    assert moved.alpha_ == pytest.approx(plain.alpha_, rel=1e-9)
    assert moved.loo_error_ == pytest.approx(plain.loo_error_, rel=1e-9)
    assert moved.noise_variance_ == pytest.approx(plain.noise_variance_, rel=1e-9)


@pytest.mark.parametrize("size", [2.0**-700, 2.0**-300, 2.0**300, 2.0**515])
def test_the_size_of_the_targets_does_not_matter(fitted, size):
    plain, scaled = fitted(Y), fitted(size * Y)
    assert scaled.predict(Z) / size == pytest.approx(plain.predict(Z), rel=1e-12)
    assert scaled.loo_error_ == pytest.approx(plain.loo_error_, rel=1e-9)
    std = [model.predict(Z, return_std=True)[1] for model in (plain, scaled)]
    assert std[1] / size == pytest.approx(std[0], rel=1e-6)


@pytest.mark.parametrize("size", [2.0**-700, 2.0**515])
@pytest.mark.parametrize("n_permutations", [0, 50])
def test_the_symmetry_test_does_not_depend_on_the_size_of_the_targets(size, n_permutations):
    tests = [sa.symmetry_test(X, y, SPACE, GROUP, n_permutations=n_permutations, random_state=0) for y in (Y, size * Y)]
    assert tests[1].p_value == pytest.approx(tests[0].p_value, rel=1e-9)
    assert tests[1].outside == pytest.approx(tests[0].outside, abs=1e-9)
    assert tests[1].explained == pytest.approx(tests[0].explained, rel=1e-9)


@pytest.mark.parametrize("size", [2.0**-700, 1.0, 2.0**515])
def test_the_symmetry_test_of_chunks_that_begin_with_a_constant(size):
    y = Y.copy()
    y[:50] = y[0]
    cut = [(X[i : i + 50], size * y[i : i + 50]) for i in range(0, len(X), 50)]
    whole, chunked = sa.symmetry_test(X, y, SPACE, GROUP), sa.symmetry_test(cut, None, SPACE, GROUP)
    assert chunked.p_value == pytest.approx(whole.p_value, rel=1e-8)
    assert chunked.explained == pytest.approx(whole.explained, rel=1e-9)


def slopes_of(points):
    e = np.exp(np.cos(np.pi * points).sum(axis=1))
    return -np.pi * np.sin(np.pi * points) * e[:, None]


@pytest.mark.parametrize("size", [2.0**-664, 2.0**514])
@pytest.mark.parametrize("way", ["whole", "chunks"])
def test_the_size_of_values_and_gradients_does_not_matter(size, way):
    def predictions(unit):
        model = sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=30)
        y, G = unit * Y[:200], unit * slopes_of(X[:200])
        if way == "whole":
            return model.fit(X[:200], y, gradient=G).predict(Z) / unit
        parts = [slice(0, 90), slice(90, 200)]
        return model.fit((X[rows], y[rows], None, G[rows]) for rows in parts).predict(Z) / unit

    assert predictions(size) == pytest.approx(predictions(1.0), rel=1e-11)


@pytest.mark.parametrize("way", ["whole", "chunks"])
def test_gradients_of_zero_are_taken(way):
    G = np.zeros((50, 2))
    given = (X[:50], Y[:50]) if way == "whole" else (iter([(X[:50], Y[:50], None, G)]),)
    model = sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=10)
    with pytest.warns(UserWarning, match="the gradient given is .* times"):  # the values vary
        model.fit(*given, **({"gradient": G} if way == "whole" else {}))
    assert np.isfinite(model.predict(Z)).all()


@pytest.mark.parametrize("size", [2.0**-664, 2.0**514])
@pytest.mark.parametrize("way", ["whole", "chunks"])
def test_what_is_discovered_does_not_depend_on_the_size_of_the_targets(size, way):
    y = Y + np.sin(np.pi * X[:, 1])

    def found(unit):
        if way == "whole":
            return sa.discover_symmetry(X, unit * y, SPACE, GROUP)
        cut = [(X[i : i + 400], unit * y[i : i + 400]) for i in range(0, len(X), 400)]
        return sa.discover_symmetry(cut, None, SPACE, GROUP)

    plain, scaled = found(1.0), found(size)
    assert scaled.group == plain.group
    assert plain.group.order < GROUP.order
    assert scaled.explained == pytest.approx(plain.explained, rel=1e-9)
    assert [row.probability for row in scaled.table] == pytest.approx([row.probability for row in plain.table])


@pytest.mark.parametrize("size", [2.0**-664, 2.0**514])
@pytest.mark.parametrize("with_forces", [False, True])
def test_the_size_of_energies_does_not_matter(size, with_forces):
    rng = np.random.default_rng(0)
    R = np.array([[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]]) + 0.05 * rng.normal(size=(60, 3, 3))
    D = R[:, [1, 2]] - R[:, [0]]
    r = np.linalg.norm(D, axis=2)
    E = ((r - 0.96) ** 2).sum(axis=1)
    pull = -2 * ((r - 0.96) / r)[:, :, None] * D
    F = np.concatenate([-pull.sum(axis=1, keepdims=True), pull], axis=1)

    def model(unit):
        potential = sa.molecules.InvariantPotential(["O", "H", "H"], degree=3)
        return potential.fit(R[:40], unit * E[:40], forces=unit * F[:40] if with_forces else None)

    plain, scaled = model(1.0), model(size)
    assert scaled.predict(R[40:]) / size == pytest.approx(plain.predict(R[40:]), rel=1e-11)
    assert scaled.forces(R[40:]) / size == pytest.approx(plain.forces(R[40:]), rel=1e-9, abs=1e-12)
    assert scaled.energy_error_ / size == pytest.approx(plain.energy_error_, rel=1e-9)
    deviations = [potential.predict(R[40:], return_std=True)[1] for potential in (plain, scaled)]
    assert deviations[1] / size == pytest.approx(deviations[0], rel=1e-6)


def test_several_outputs_have_units_of_their_own():
    columns = np.stack([Y, 2.0**515 * Y, 2.0**-700 * Y, Y + 2.0**25, np.full(len(X), 7.0)], axis=1)
    model = sa.InvariantKernelRidge(SPACE, GROUP, alpha=1.0, **GIVEN).fit(X, columns)
    found = model.predict(Z)
    for j, wanted in ((1, 2.0**515 * found[:, 0]), (2, 2.0**-700 * found[:, 0]), (3, found[:, 0] + 2.0**25)):
        assert found[:, j] == pytest.approx(wanted, rel=1e-12)
    assert np.array_equal(found[:, 4], np.full(len(Z), 7.0))


def test_sums_in_any_units_are_the_plain_sums():
    basis = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=10)
    rng = np.random.default_rng(0)
    targets = np.stack([rng.normal(size=300), 1e6 + rng.normal(size=300), 1e-90 * rng.normal(size=300)], axis=1)
    targets[:20] = targets[0]  # a chunk of constants first
    cuts = [0, 20, 21, 150, 300]
    pieces = [Moments.of(basis, X[a:b], targets[a:b]) for a, b in pairwise(cuts)]
    whole = Moments.of(basis, X[:300], targets)
    for total in (Moments.total(pieces), Moments.total(reversed(pieces)), whole):
        Phi = basis.evaluate(X[:300])
        assert total.targets.value == pytest.approx(targets.sum(axis=0), rel=1e-11)
        assert total.cross.value == pytest.approx(Phi.T @ targets, rel=1e-9)
        assert total.target_squares.value[:2] == pytest.approx((targets[:, :2] ** 2).sum(axis=0), rel=1e-11)
        variance = total.centred()[2] * total.units.unit / 300
        assert variance * total.units.unit == pytest.approx(targets.var(axis=0), rel=1e-11, abs=0)


def test_ordinary_targets_are_left_alone():
    units = Units.of(np.random.default_rng(0).normal(1.0, 1.0, size=(100, 2)))
    assert np.array_equal(units.shift, [0, 0])
    assert np.array_equal(units.unit, [1, 1])


def test_units_of_targets_in_32_bits_are_numbers():
    with np.errstate(all="raise"):
        for Y in (np.zeros((5, 2), dtype=np.float32), np.ones((5, 1), dtype=np.float32)):
            wide = Y.astype(np.float64)
            for made in (Units.of, Units.without_shift):
                assert np.array_equal(made(Y).unit, made(wide).unit)
                assert np.array_equal(made(Y).shift, made(wide).shift)


HUGE = {
    "constant": np.full(60, 1e300),
    "the largest constant": np.full(60, -1.5e308),
    "both signs": np.where(np.arange(60) % 2, 1.7e308, -1.7e308),
    "far from zero": np.linspace(1.2e308, 1.79e308, 60),
    "one far from the others": np.r_[-1.7e308, np.full(59, 1.7e308)],
}


@pytest.mark.filterwarnings("ignore:the fit explains almost nothing")
@pytest.mark.parametrize("name", HUGE)
def test_targets_near_the_largest_number_are_those_of_ordinary_size(name):
    """Without a warning of NumPy, which the tests take for an error."""
    y = HUGE[name]
    kernel = sa.InvariantKernelRidge(SPACE, GROUP, max_dim=20)
    for fit in (
        sa.InvariantKernelRidge(SPACE, GROUP).fit,
        sa.SpecAvgRegressor(SPACE, GROUP, max_dim=20).fit,
        lambda *data: sa.InvariantKernelRidge(**kernel.get_params()).partial_fit(*data),
    ):
        ordinary = fit(X[:60], y / 2.0**1000).coef_
        found = fit(X[:60], y).coef_ / 2.0**1000
        np.testing.assert_allclose(found, ordinary, rtol=1e-9, atol=1e-12 * np.abs(ordinary).max())


def test_a_discrepancy_beyond_the_largest_number_is_infinite():
    assert sa.invariance_discrepancy(lambda X: 1.5e308 * X[:, 0], SPACE, GROUP, [[0.9, 0.1]]) == np.inf


@pytest.mark.filterwarnings("ignore:only the constant")
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("slope", [0.0, 1e-300, 1.0, 1e300])
def test_values_and_gradients_may_have_very_different_sizes(rows, size, slope):
    y = size * np.arange(1.0, rows + 1.0)
    model = sa.InvariantKernelRidge(SPACE, GROUP).fit(X[:rows], y, gradient=slope * X[:rows])
    assert np.isfinite(model.predict(Z)).all()


def test_a_gradient_that_is_not_used_is_told():
    with pytest.warns(UserWarning, match="all points lie on one orbit. Gradients are not used"):
        sa.InvariantKernelRidge(SPACE, GROUP).fit(X[:1], [1.0], gradient=X[:1])
