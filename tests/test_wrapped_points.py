"""Points that differ by whole periods are one point, for models that know nothing of periods too."""

import numpy as np
import pytest
from cases import CASES
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor

import specavg as sa
from specavg import baselines, groups

SPACES = list(dict.fromkeys(entry.space for entry in CASES))
PERIODIC = [space for space in SPACES if np.isfinite(space.column_periods).any()]
FOREST = RandomForestRegressor(100, random_state=0)


def other_names(space, X, seed=0):
    """The same points, with whole periods added to the columns that have one."""
    turns = np.random.default_rng(seed).integers(-1, 2, X.shape)  # more periods are questioned
    period = space.column_periods
    return X + np.where(np.isfinite(period), turns * np.where(np.isfinite(period), period, 0.0), 0.0)


def first_wave(space, X):
    """cos of the first periodic column, and the sum of the others: a function of the point, whatever its name."""
    period = space.column_periods
    periodic = np.isfinite(period)
    return np.cos(2 * np.pi * X[:, periodic][:, 0] / period[periodic][0]) + X[:, ~periodic].sum(axis=1)


def wrappers(space):
    yield baselines.Augmented(KNeighborsRegressor(3), space)
    yield baselines.Canonicalized(KNeighborsRegressor(3), space)
    yield baselines.FrameAveraged(KNeighborsRegressor(3), space)
    yield baselines.KernelRidge(baselines.SpectralKernel(space, max_dim=20))
    yield sa.Symmetrized(KNeighborsRegressor(3), space, max_dim=30, n_nodes=500)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_each_point_has_one_name_in_the_box_around_zero(space):
    X = space.sample(50, random_state=0)
    named, again = space.wrapped(X), space.wrapped(other_names(space, X))
    half, finite = space.column_periods / 2, np.isfinite(space.column_periods)
    assert ((named >= -half) & (named < half))[:, finite].all()
    assert np.abs(again - named).max() < 1e-13 * max(1.0, half[finite].max(initial=0.0))
    assert (named[:, ~finite] == X[:, ~finite]).all()
    inside = np.abs(X) < half
    assert (named[inside] == X[inside]).all()  # to the last bit


# Names from −3 to 3 on a torus of period 2 look like radians, and are asked about.
@pytest.mark.filterwarnings("ignore:columns of X go from:UserWarning")
@pytest.mark.parametrize("space", PERIODIC, ids=repr)
def test_predictions_at_points_that_differ_by_whole_periods_are_equal(space):
    X, Z = space.sample(60, random_state=0), space.sample(20, random_state=1)
    y = first_wave(space, X)
    for model in wrappers(space):
        expected = model.fit(X, y).predict(Z)
        np.testing.assert_allclose(model.predict(other_names(space, Z)), expected, atol=1e-9, err_msg=repr(model))
        model.fit(other_names(space, X), y)  # training points under other names are the same data
        np.testing.assert_allclose(model.predict(Z), expected, atol=1e-6, err_msg=repr(model))


HOURS = np.random.default_rng(0).uniform(0, 24, (400, 1))
TURNS = np.random.default_rng(1).uniform(0, 1, (1000, 2))


@pytest.mark.parametrize(
    "space, X",
    [
        (sa.Torus(1, period=24), HOURS),
        (sa.Circle(), 2 * np.pi * HOURS / 24),
        (sa.Power(sa.Torus(1, period=360), 2), 360 * TURNS),
        (sa.Product(sa.Torus(1, period=24), sa.Interval(0, 1)), TURNS * [24, 1]),
        (sa.Torus(lattice=[[1.0, 0], [-0.5, 0.75**0.5]]), TURNS - 0.5),
        (sa.Torus(lattice=[[1.0, 0], [-0.5, 0.75**0.5]]), TURNS),
    ],
    ids=repr,
)
def test_a_forest_is_symmetrised_whatever_range_the_data_have(space, X):
    y = first_wave(space, X)
    assert sa.Symmetrized(FOREST, space).fit(X, y).score(X, y) > 0.97
    assert baselines.Augmented(FOREST, space).fit(X, y).score(X, y) > 0.97


def test_augmented_models_know_degrees_beyond_a_turn():
    space, group = sa.Torus(1, period=360), groups.sign_flips(1)
    X = np.random.default_rng(0).uniform(0, 360, (200, 1))
    y = np.cos(np.deg2rad(X[:, 0]))
    model = baselines.Augmented(FOREST, space, group).fit(X, y)
    Z = np.linspace(0.5, 359.5, 100)[:, None]
    for turns in (-1, 1, 2):
        np.testing.assert_allclose(model.predict(Z + 360 * turns), np.cos(np.deg2rad(Z[:, 0])), atol=0.05)


def test_the_model_of_a_baseline_has_the_period_of_its_space():
    y = np.cos(2 * np.pi * HOURS[:, 0] / 24)
    for make in (baselines.Augmented, baselines.Canonicalized, baselines.FrameAveraged):
        assert make(space=sa.Torus(1, period=24)).fit(HOURS, y).score(HOURS, y) > 0.99
    X = sa.Sphere(3).sample(100, random_state=0)
    model = baselines.Augmented(space=sa.Sphere(3), group=groups.sign_flips(3)).fit(X, X[:, 0] ** 2)
    assert model.score(X, X[:, 0] ** 2) > 0.9
