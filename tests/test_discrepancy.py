"""The invariance discrepancy: exhaustive or sampled, and it says which."""

import pickle
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import specavg as sa
from specavg import groups
from specavg.estimators import Discrepancy
from specavg.estimators._base import distinct_rows


def test_is_the_largest_change_over_the_whole_group():
    space, group = sa.Torus(3), groups.hyperoctahedral(3)
    X = space.sample(10, 0)
    f = lambda X: np.sin(np.pi * X[:, 0]) + X[:, 1] ** 2  # noqa: E731
    changes = [np.abs(f(space.act(g, X)) - f(X)) for g in group.elements()]
    found = sa.invariance_discrepancy(f, space, group, X)
    assert float(found) == np.max(changes)
    assert found.mean == pytest.approx(np.mean(changes))
    assert (found.n_elements, found.exhaustive) == (48, True)
    assert repr(found).endswith("(all 48 elements)")


def test_complex_values_are_compared_as_they_are():
    """Casting to real numbers lost imaginary parts, and 1j·x was said to be invariant."""
    space, group = sa.Torus(2), groups.sign_flips(2)
    X = space.sample(7, 0)
    found = sa.invariance_discrepancy(lambda X: np.exp(1j * np.pi * X[:, 0]), space, group, X)
    expected = np.abs(2 * np.sin(np.pi * X[:, 0]))
    assert float(found) == pytest.approx(expected.max(), rel=1e-12)
    assert found.mean == pytest.approx(expected.mean() / 2, rel=1e-12)  # half of the group flips the first coordinate


def test_random_elements_of_infinite_groups_are_drawn_one_after_another():
    """Each of the thousand elements began a random walk of its own: 7 s."""
    axis = np.array([0.6, 0.64, 0.48])
    space, group = sa.Sphere(3), groups.Group([Rotation.from_rotvec(axis)])
    X, start = space.sample(4, random_state=0), time.process_time()
    kept = sa.invariance_discrepancy(lambda X: X @ axis, space, group, X, random_state=0)
    assert time.process_time() - start < 2.5  # 0.3 s
    assert (kept.n_elements, kept.exhaustive) == (1000, False)
    assert kept < 1e-12
    first = lambda X: X[:, 0]  # noqa: E731
    found, again, more = (sa.invariance_discrepancy(first, space, group, X, None, seed) for seed in (1, 1, 2))
    assert found == again
    assert found != more
    # A turn by t about the axis changes x by a (cos t − 1) + b sin t.
    a, b = (X - np.outer(X @ axis, axis))[:, 0], np.cross(axis, X)[:, 0]
    assert found == pytest.approx((np.abs(a) + np.hypot(a, b)).max(), rel=1e-3)


@pytest.mark.parametrize("f", [lambda X: 1.0, lambda X: X[:2, 0], lambda X: X.T, np.sum])
def test_values_that_belong_to_no_point_are_no_proof(f):
    space = sa.Torus(3)
    with pytest.raises(ValueError, match="one for each point"):
        sa.invariance_discrepancy(f, space, groups.symmetric(3), space.sample(5, 0))


def test_labels_are_no_numbers_and_probabilities_are():
    space, group = sa.Torus(2), groups.symmetric(2)
    X = space.sample(40, 0)
    features = sa.InvariantFeatures(space, group, max_invariant_dim=5)
    model = make_pipeline(features, LogisticRegression()).fit(X, np.where(X.sum(axis=1) > 0, "up", "down"))
    with pytest.raises(ValueError, match=r"texts such as '(up|down)'.*predict_proba"):
        sa.invariance_discrepancy(model, space, group, X)
    assert sa.invariance_discrepancy(model.predict_proba, space, group, X) == 0.0


@pytest.mark.parametrize("wrong", [[np.nan, 1.0], [np.nan, np.nan], [1.0, np.inf]])
def test_predictions_that_are_no_numbers_are_no_proof(wrong):
    space = sa.Sphere(3)
    X = space.sample(6, 0)

    def f(X):
        return np.resize(wrong, len(X))

    count = int(np.sum(~np.isfinite(np.resize(wrong, 6 * 48))))
    with pytest.raises(
        ValueError, match=f"{count} of 288 predictions are no finite numbers, the first of them (nan|inf)"
    ):
        sa.invariance_discrepancy(f, space, groups.point_group("Oh"), X)


def test_large_groups_are_sampled_and_say_so():
    space, group = sa.Torus(20), groups.symmetric(20)
    found = sa.invariance_discrepancy(lambda X: X[:, 0], space, group, space.sample(5, 0), random_state=0)
    assert (found.n_elements, found.exhaustive) == (1000, False)
    assert repr(found).endswith("(1000 random elements)")
    again = sa.invariance_discrepancy(lambda X: X[:, 0], space, group, space.sample(5, 0), random_state=0)
    assert found == again > 0


def test_a_number_of_elements_can_be_asked_for():
    space, group = sa.Torus(3), groups.symmetric(3)
    found = sa.invariance_discrepancy(lambda X: X[:, 0], space, group, space.sample(5, 0), n_elements=7)
    assert (found.n_elements, found.exhaustive) == (7, False)


def test_infinite_groups_are_sampled():
    # An order that cannot be had is no obstacle where elements can be drawn.
    angle = np.sqrt(2)
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    space = sa.Sphere(2)
    with pytest.raises(ValueError, match=r"infinite|finite"):
        groups.Group([turn]).order  # noqa: B018
    found = sa.invariance_discrepancy(lambda X: X[:, 0], space, groups.Group([turn]), space.sample(3, 0), n_elements=50)
    assert not found.exhaustive
    assert found > 0.1


def test_a_fitted_model_is_invariant_and_a_plain_one_is_not():
    space, group = sa.Torus(4), groups.symmetric(4)
    X = space.sample(200, 0)
    y = X[:, 0] + X.sum(axis=1) ** 2
    invariant = sa.SpecAvgRegressor(space, group, max_dim=60).fit(X, y)
    plain = sa.SpecAvgRegressor(space, max_dim=60).fit(X, y)
    assert sa.invariance_discrepancy(invariant, space, group, X) == 0.0
    assert sa.invariance_discrepancy(plain, space, group, X) > 0.1


def test_several_outputs_and_list_points():
    space, group = sa.Torus(2), groups.symmetric(2)
    found = sa.invariance_discrepancy(lambda X: X, space, group, [[0.5, 0.25]])
    assert float(found) == 0.25


def test_is_a_float_that_pickles():
    found = Discrepancy(0.5, 0.25, 8, True)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy, copy.mean, copy.n_elements, copy.exhaustive) == (0.5, 0.25, 8, True)
    assert found + 1 == 1.5


def test_bad_input_is_refused():
    space, group = sa.Sphere(3), groups.symmetric(3)
    X = space.sample(3, 0)
    with pytest.raises(TypeError, match="callable or a fitted model"):
        sa.invariance_discrepancy(3.0, space, group, X)
    with pytest.raises(ValueError, match="n_elements must be at least 1"):
        sa.invariance_discrepancy(np.sum, space, group, X, n_elements=0)
    with pytest.raises(ValueError, match="no points"):
        sa.invariance_discrepancy(np.sum, space, group, X[:0])
    with pytest.raises(ValueError, match="not on Sphere"):
        sa.invariance_discrepancy(np.sum, space, group, 2 * X)
    with pytest.raises(ValueError, match="acts on 4 coordinates"):
        sa.invariance_discrepancy(np.sum, space, groups.symmetric(4), X)


@pytest.mark.parametrize(
    "space, group", [(sa.Torus(3), sa.groups.sign_flips(3)), (sa.Torus(3), sa.groups.symmetric(3))]
)
def test_rows_on_one_orbit_are_predicted_as_if_alone(space, group):
    X = space.sample(60, random_state=0)
    model = sa.InvariantKernelRidge(space, group).fit(X, np.cos(X).sum(axis=1))
    elements = list(group.elements())
    moved = np.concatenate([space.act(g, X[:20]) for g in elements])
    places, kinds = distinct_rows(model.basis_.evaluation_points(moved), model.basis_.orbit_points)
    assert len(places) == 20
    assert len(kinds) == len(moved)
    assert np.array_equal(model.predict(moved), np.tile(model.predict(X[:20]), len(elements)))
    alone = [model.predict(row[None])[0] for row in moved[::7]]
    assert np.array_equal(model.predict(moved)[::7], alone)


def test_different_rows_are_not_taken_for_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 3))
    same = lambda rows: rows  # noqa: E731
    assert distinct_rows(points, same) == (slice(None), slice(None))
    points[1:] = points[0]
    points[5, 2] = np.nextafter(points[5, 2], 10.0)  # whose shadow may be the same
    first, mine = distinct_rows(points, same)
    assert isinstance(first, slice) or np.array_equal(points[first][mine], points)


@pytest.mark.parametrize("output", ["vector", "axial vector", "tangent vector"])
def test_the_discrepancy_of_an_equivariant_model_turns_its_outputs(output):
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X = space.sample(40, random_state=0)
    Y = X**3 - X * np.sum(X**4, axis=1, keepdims=True)  # tangential
    model = sa.EquivariantKernelRidge(space, group, output, max_invariant_dim=6).fit(X, Y)
    assert sa.invariance_discrepancy(model, space, group, X) < 1e-12
    assert sa.invariance_discrepancy(sa.InvariantKernelRidge(space, max_dim=9).fit(X, X**3), space, group, X) > 0.1


def test_the_discrepancy_of_a_representation_of_ones_own():
    space, group = sa.Torus(3), sa.groups.symmetric(3)
    rho = sa.groups.Representation(group, group.generators)
    X = space.sample(40, random_state=0)
    model = sa.EquivariantKernelRidge(space, group, rho, max_invariant_dim=6).fit(X, np.cos(np.pi * X))
    assert sa.invariance_discrepancy(model, space, group, X) < 1e-12


def test_very_many_images_are_evaluated_in_large_tables():
    rows = []

    def f(X):
        rows.append(len(X))
        return np.cos(np.pi * X).sum(axis=1)

    space, group = sa.Torus(6), groups.symmetric(6)
    found = sa.invariance_discrepancy(f, space, group, space.sample(60, 0))
    assert found < 1e-14
    assert sum(rows) >= 720 * 60
    assert len(rows) < 20
