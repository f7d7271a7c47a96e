"""What users hand over is accepted as it comes, or refused in their own words."""

import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import H4
from scipy.sparse import csr_array
from scipy.spatial.transform import Rotation
from sklearn.base import clone
from sklearn.linear_model import Ridge

import specavg as sa
from specavg import baselines, groups, isometries, spaces
from specavg.baselines import SpectralKernel
from specavg.cli._table_options import separated
from specavg.isometries import permutation

ROTATIONS = Rotation.random(40, random_state=0)
MATRICES = ROTATIONS.as_matrix()
CUBIC = groups.crystal_symmetry("O")
SO3 = sa.Rotations()
VALUES = (MATRICES**4).sum(axis=(1, 2))
KERNEL = SpectralKernel(SO3, spectrum="heat", max_dim=100)

MODELS = [
    sa.InvariantKernelRidge(SO3, CUBIC, max_eigenvalue=20),
    sa.SpecAvgRegressor(SO3, CUBIC, max_eigenvalue=20),
    sa.InvariantFeatures(SO3, CUBIC, max_eigenvalue=20),
    sa.InvariantDensity(SO3, CUBIC, max_eigenvalue=20),
    sa.Symmetrized(Ridge(), SO3, CUBIC, max_eigenvalue=20, n_nodes=400),
    baselines.KernelRidge(KERNEL),
    baselines.GroupAveragedKernelRidge(KERNEL, group=CUBIC),
    baselines.RandomlyAveragedKernelRidge(KERNEL, group=CUBIC, n_elements=2, random_state=0),
    baselines.Augmented(Ridge(), SO3, CUBIC),
    baselines.Canonicalized(Ridge(), SO3, CUBIC),
    baselines.FrameAveraged(Ridge(), SO3, CUBIC),
]


def test_extended_precision_is_rounded():
    X = sa.Torus(2).sample(40, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    model = sa.InvariantKernelRidge(sa.Torus(2), max_invariant_dim=20)
    exact = clone(model).fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(X.astype(np.longdouble), y.astype(np.longdouble)).coef_, exact)


@pytest.mark.parametrize(
    "X, said",
    [
        ([["0.1", "0.2"]] * 9, "X holds texts"),
        (np.full((9, 2), "0.1"), "X holds texts"),
        (np.ones((9, 2), dtype="timedelta64[D]"), "X holds dates or durations"),
        (pd.DataFrame(np.ones((9, 2), dtype="timedelta64[s]")), "X holds dates or durations"),
    ],
    ids=["list", "texts", "durations", "table"],
)
def test_texts_and_durations_are_no_points(X, said):
    with pytest.raises(ValueError, match=said):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, np.arange(9.0))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_scipy_rotations_are_taken_as_their_matrices(model):
    fitted = model.fit(ROTATIONS, VALUES)
    method = next(getattr(fitted, name) for name in ("predict", "transform", "score_samples") if hasattr(fitted, name))
    np.testing.assert_array_equal(method(ROTATIONS), method(MATRICES))
    again = model.fit(MATRICES.reshape(-1, 9), VALUES)
    method = next(getattr(again, name) for name in ("predict", "transform", "score_samples") if hasattr(again, name))
    np.testing.assert_array_equal(method(ROTATIONS[:5]), method(MATRICES[:5]))


def test_bases_tests_and_discrepancies_take_scipy_rotations():
    basis = sa.invariant_basis(SO3, CUBIC, max_eigenvalue=20)
    np.testing.assert_array_equal(basis.evaluate(ROTATIONS), basis.evaluate(MATRICES))
    np.testing.assert_array_equal(SO3.act(CUBIC.generators[0], ROTATIONS), SO3.act(CUBIC.generators[0], MATRICES))
    model = sa.InvariantKernelRidge(SO3, CUBIC, max_eigenvalue=20).fit(ROTATIONS, VALUES)
    assert sa.invariance_discrepancy(model, SO3, CUBIC, ROTATIONS) < 1e-12
    assert sa.symmetry_test(ROTATIONS, VALUES, SO3, CUBIC, max_dim=10).p_value > 0.001


@pytest.mark.parametrize("make", [sa.InvariantKernelRidge, sa.SpecAvgRegressor])
def test_chunks_of_scipy_rotations_are_taken(make):
    chunks = [(ROTATIONS[:15], VALUES[:15]), (ROTATIONS[15:], VALUES[15:])]
    plain = [(MATRICES[:15], VALUES[:15]), (MATRICES[15:], VALUES[15:])]
    models = [make(SO3, CUBIC, max_eigenvalue=20).fit(iter(given)) for given in (chunks, plain)]
    np.testing.assert_array_equal(models[0].predict(ROTATIONS), models[1].predict(ROTATIONS))
    parts = make(SO3, CUBIC, max_eigenvalue=20)
    for chunk in chunks:
        parts.partial_fit(*chunk)
    np.testing.assert_allclose(parts.predict(ROTATIONS), models[1].predict(ROTATIONS), rtol=1e-12)
    tests = [sa.symmetry_test(given, None, SO3, CUBIC, max_dim=10).p_value for given in (chunks, plain)]
    assert tests[0] == tests[1]


def test_scipy_rotations_on_other_spaces():
    one = sa.Power(SO3, 1)
    np.testing.assert_array_equal(one.check_points(ROTATIONS), MATRICES.reshape(-1, 9))
    with pytest.raises(ValueError, match=r"X has 9 columns \(features\), but a point of Torus\(3\) has 3"):
        sa.InvariantKernelRidge(sa.Torus(3)).fit(ROTATIONS, VALUES)


def test_rotations_without_a_space_are_asked_for_one():
    with pytest.raises(TypeError, match=r"give space=sa.Rotations\(\)"):
        sa.InvariantKernelRidge().fit(ROTATIONS, VALUES)


def test_the_convention_of_scipy_rotations_has_a_name():
    bunge = np.random.default_rng(0).uniform(0, 90, size=(20, 3))
    wanted = spaces.rotations_from_bunge(bunge, degrees=True)
    scipy = Rotation.from_euler("ZXZ", bunge, degrees=True)
    np.testing.assert_allclose(spaces.rotations_from_scipy(scipy, "crystal to specimen"), wanted, atol=1e-14)
    np.testing.assert_allclose(spaces.rotations_from_scipy(scipy.inv(), "specimen to crystal"), wanted, atol=1e-14)
    assert spaces.rotations_from_scipy(scipy[0], "crystal to specimen").shape == (1, 3, 3)
    with pytest.raises(ValueError, match="'specimen to crystal' or 'crystal to specimen'; got 'active'"):
        spaces.rotations_from_scipy(scipy, "active")
    with pytest.raises(TypeError, match="SciPy Rotation"):
        spaces.rotations_from_scipy(wanted, "crystal to specimen")


@pytest.mark.parametrize(
    "laue, rotations", [("m-3m", "O"), ("6/mmm", "D6"), ("-1", "C1"), ("2/m", "C2"), ("D∞h", "D∞")]
)
def test_laue_classes_stand_for_their_rotations(laue, rotations):
    assert groups.crystal_symmetry(laue) == groups.crystal_symmetry(rotations)


def test_a_class_with_reflections_and_no_inversion_is_refused():
    with pytest.raises(ValueError, match=r"improper operations but not the inversion.*its rotations, 'O'"):
        groups.crystal_symmetry("Td")


# --- columns and targets --------------------------------------------------------------------------------

X3 = sa.Torus(3).sample(40, random_state=0)
Y3 = np.cos(np.pi * X3).sum(axis=1)


@pytest.mark.parametrize(
    "space, group, wanted",
    [
        (sa.Torus(3), None, r"X has 2 columns \(features\), but a point of Torus\(3\) has 3: X needs shape \(n, 3\)"),
        (
            sa.Torus(3),
            groups.symmetric(3),
            r"X has 2 columns \(features\), but a point of Torus\(3\) has 3: X needs shape \(n, 3\)",
        ),
        (None, groups.sign_flips(3), r"X has 2 columns \(features\), but sign_flips\(3\) acts on 3"),
        (sa.Sphere(3), None, r"X has 2 columns \(features\), but a point of Sphere\(3\) has 3"),
        (sa.Power(sa.Torus(2), 5), groups.symmetric(5), r"has 10: X needs shape \(n, 10\) or \(n, 5, 2\)"),
    ],
)
@pytest.mark.parametrize(
    "make", [sa.InvariantKernelRidge, sa.SpecAvgRegressor, sa.InvariantFeatures, sa.InvariantDensity]
)
def test_a_wrong_number_of_columns_is_reported_first(make, space, group, wanted):
    with pytest.raises(ValueError, match=wanted):
        make(space, group).fit(X3[:, :2], Y3)
    with pytest.raises(ValueError, match=wanted):
        make(space, group, max_dim=20).fit(iter([(X3[:, :2], Y3)]))


@pytest.mark.parametrize("group", [3, groups.symmetric, [groups.symmetric(3).generators[0]], "Oh"], ids=type)
@pytest.mark.parametrize("space", [None, sa.Torus(3)])
@pytest.mark.parametrize(
    "make", [sa.InvariantKernelRidge, sa.SpecAvgRegressor, sa.InvariantFeatures, sa.InvariantDensity]
)
def test_what_is_no_group_is_refused(make, space, group):
    with pytest.raises(TypeError, match="group must be a specavg Group; got "):
        make(space, group).fit(X3, Y3)


@pytest.mark.parametrize("make", [sa.InvariantKernelRidge, sa.SpecAvgRegressor])
def test_a_list_of_chunks_is_read_as_an_iterator_of_them(make):
    chunks = [(X3[:15], Y3[:15]), (X3[15:], Y3[15:])]
    models = [make(sa.Torus(3), max_dim=20).fit(given) for given in (chunks, iter(chunks))]
    np.testing.assert_array_equal(models[0].predict(X3), models[1].predict(X3))
    with pytest.raises(ValueError, match="requires y to be passed"):
        make(sa.Torus(3), max_dim=20).fit([tuple(row) for row in X3.tolist()])


@pytest.mark.parametrize("model", [sa.InvariantKernelRidge(sa.Torus(3)), baselines.KernelRidge()])
def test_texts_are_no_targets(model):
    with pytest.raises(ValueError, match=r"texts such as 'cat'.*InvariantFeatures"):
        model.fit(X3, np.array(["cat", "dog"] * 20))
    with pytest.raises(ValueError, match="texts such as 'cat'"):
        model.fit(X3, pd.Series(["cat", "dog"] * 20))
    with pytest.raises(ValueError, match=r"numbers written as texts, such as '1\.5'"):
        model.fit(X3, ["1.5"] * 40)


def test_a_csv_file_is_refused_with_the_line_that_reads_it(tmp_path):
    with pytest.raises(
        ValueError, match=r"pandas.read_csv\('t.csv'\), then fit\(data.drop\(columns='y'\), data\['y'\]\)"
    ):
        sa.InvariantKernelRidge(sa.Torus(3)).fit("t.csv", "y")


def test_copies_on_a_torus_are_sent_to_a_power():
    with pytest.raises(ValueError, match=r"Use Power\(Circle\(\), 2\)"):
        sa.invariant_basis(sa.Torus(2), groups.wreath(groups.cyclic(3), 2), max_dim=10)
    basis = sa.invariant_basis(sa.Power(sa.Circle(), 2), groups.wreath(groups.cyclic(3), 2), max_dim=60)
    assert basis.dim > 1


def test_hexagonal_rotations_in_lattice_coordinates_are_sent_to_affine():
    with pytest.raises(ValueError, match=r"isometries\.affine"):
        groups.Group([np.array([[0, -1, 0], [1, -1, 0], [0, 0, 1]], dtype=np.int32)])


# --- silent traps -----------------------------------------------------------------------------------------


def test_fractions_of_a_period_on_the_default_torus_are_questioned():
    X = np.random.default_rng(0).random((300, 2))
    y = np.cos(2 * np.pi * X).sum(axis=1)
    space, swap = sa.Torus(2), sa.groups.symmetric(2)
    with pytest.warns(UserWarning, match=r"fills 0 to 1 evenly, half of the period 2 of Torus\(2\).*period=1"):
        sa.InvariantKernelRidge(space, swap, max_dim=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other, group, points in [
            (sa.Torus(2, period=1), swap, X),
            (space, swap, X[:90]),  # few
            (space, swap, X**1.5),  # uneven
            (space, swap, 2 * X - 1),
            (space, swap, np.append(X, [[1.2, 0.3]], axis=0)),
            (space, sa.groups.sign_flips(2), X),  # half of a period stands for all of it
        ]:
            _questioned(other, group, points)


def _questioned(space, group, points):
    from specavg.data._given_data import question_periods

    question_periods(space, points, group)


def test_degrees_on_a_torus_of_radians_are_questioned():
    space = sa.Torus(2, period=2 * np.pi)
    X = space.sample(40, random_state=0)
    y = np.cos(X).sum(axis=1)
    sa.InvariantKernelRidge(space, max_dim=20).fit(X, y)  # silent
    with pytest.warns(UserWarning, match=r"spans 5\d periods.*np.deg2rad"):
        sa.SpecAvgRegressor(space, max_dim=20).fit(np.rad2deg(X), y)
    with pytest.warns(UserWarning, match=r"spans 5\d periods"):
        sa.InvariantFeatures(sa.Power(sa.Circle(), 2), max_dim=20).fit(np.rad2deg(X))


def test_degrees_on_a_circle_are_sent_to_a_space_that_takes_them():
    X = np.linspace(0, 359, 60)[:, None]
    with pytest.warns(UserWarning, match=r"take sa.Torus\(1, period=360\)"):
        sa.InvariantKernelRidge(sa.Circle()).fit(X, np.cos(np.deg2rad(X[:, 0])))


def test_a_fit_that_explains_nothing_says_so_with_reasons():
    X = sa.Power(sa.Torus(2), 2).sample(60, random_state=0)
    y = np.random.default_rng(0).normal(size=60)
    model = sa.InvariantKernelRidge(sa.Power(sa.Torus(2), 2), groups.symmetric(2), max_dim=20)
    with pytest.warns(
        UserWarning, match="explains almost nothing.*another unit.*another order.*sa.symmetry_test"
    ) as said:
        model.fit(X, y)
    assert "it needs more functions, or other ones, than were used (max_dim, order=" in str(said[0].message)
    model.fit(X, np.cos(np.pi * X).sum(axis=1))  # silent


def test_columns_in_block_order_are_questioned():
    space = sa.Power(sa.Torus(2), 3)
    X = space.sample(40, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    model = sa.InvariantKernelRidge(space, groups.symmetric(3), max_dim=30)
    blocks = pd.DataFrame(X, columns=["phi1", "phi2", "phi3", "psi1", "psi2", "psi3"])
    with pytest.warns(UserWarning, match=r"copy by copy: X\[\['phi1', 'psi1', 'phi2', 'psi2'"):
        model.fit(blocks, y)
    model.fit(blocks.set_axis(["phi1", "psi1", "phi2", "psi2", "phi3", "psi3"], axis=1), y)  # silent


@pytest.mark.parametrize(
    "text, names",
    [
        ("x1..3", ["x1", "x2", "x3"]),
        ("(phi,psi)1..2", ["phi1", "psi1", "phi2", "psi2"]),
        ("a, (x_,y_)9..10, b", ["a", "x_9", "y_9", "x_10", "y_10", "b"]),
        ("v1.5, b", ["v1.5", "b"]),
        (None, []),
    ],
)
def test_numbered_columns_are_grouped_on_the_command_line(text, names):
    assert separated(text) == names


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[D]"])
def test_dates_as_targets_are_refused(kind):
    X = sa.Torus(2).sample(20, random_state=0)
    with pytest.raises(ValueError, match="y holds dates or durations"):
        sa.InvariantKernelRidge().fit(X, np.arange(20).astype(kind))


@pytest.mark.parametrize(
    "group, hint",
    [
        ("Oh", r'point_group\("Oh"\)'),
        ("symmetric", r"sa\.groups\.symmetric\(3\)"),
        ([sa.isometries.permutation([1, 0])], r"sa\.Group\(\[\.\.\.\]\)"),
        (sa.groups.symmetric, r"symmetric\(3\)"),
        (3, r"one of sa\.groups"),
    ],
)
def test_what_is_no_group_is_told_what_to_write(group, hint):
    X = sa.Torus(2).sample(9, random_state=0)
    for attempt in (
        lambda: sa.InvariantKernelRidge(sa.Torus(2), group).fit(X, X[:, 0]),
        lambda: sa.SpecAvgRegressor(sa.Torus(2), group).fit(X, X[:, 0]),
        lambda: sa.invariant_basis(sa.Torus(2), group, max_dim=9),
        lambda: sa.invariant_tensors(group, "ij=ji"),
    ):
        with pytest.raises(TypeError, match=f"group must be a specavg Group.*{hint}"):
            attempt()


def test_a_cutoff_of_the_theorem_is_not_called_a_search():
    X = sa.Torus(10).sample(100, random_state=0)
    with pytest.warns(UserWarning, match=r"max_dim = .* ends before the first non-constant invariant") as caught:
        sa.SpecAvgRegressor(sa.Torus(10), sa.groups.sign_flips(10)).fit(X, X[:, 0] ** 2)
    assert not any("a search of" in str(w.message) for w in caught)


def test_tab_completion_of_models_shows_what_users_call():
    X = sa.Torus(2).sample(30, random_state=0)
    shown = set(dir(sa.InvariantKernelRidge(sa.Torus(2)).fit(X, np.cos(np.pi * X[:, 0]))))
    assert {"fit", "predict", "save", "gradient", "basis_", "alpha_"} <= shown
    assert not shown & {"check_points", "has_basis", "not_saved", "saved_private", "saved_records"}


@pytest.mark.parametrize("which", ["X", "y"])
def test_masked_values_are_not_fitted(which):
    X = sa.Torus(2).sample(40, random_state=0)
    data = {"X": X, "y": X[:, 0]}
    model = sa.InvariantKernelRidge(sa.Torus(2), max_dim=9)
    model.fit(**{**data, which: np.ma.array(data[which])})  # nothing is masked
    data[which] = np.ma.masked_less(data[which], -0.9)
    with pytest.raises(ValueError, match=rf"{which} has \d masked values"):
        model.fit(**data)


def test_sparse_targets_are_refused():
    X = sa.Torus(2).sample(40, random_state=0)
    with pytest.raises(TypeError, match="y is a sparse array"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, csr_array(X[:, :1]))


def test_cartesian_coordinates_in_a_cell_are_questioned():
    cell = sa.Torus(lattice=8.0 * np.eye(3))
    X = 8.0 * cell.sample(60, random_state=0)
    model = sa.InvariantKernelRidge(cell, max_dim=30)
    with pytest.warns(UserWarning, match=r"spans [78] periods.*X @ np.linalg.inv\(space.lattice\)"):
        model.fit(X, np.cos(2 * np.pi * X[:, 0]))


def test_standardised_angles_are_questioned_where_the_fit_is_poor():
    space = sa.Torus(4)
    X = space.sample(150, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1) / 2)
    with pytest.warns(UserWarning, match=r"spans 1\.\d+ periods of Torus\(4\).*do not standardise angles"):
        sa.InvariantKernelRidge(space, groups.symmetric(4)).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.InvariantKernelRidge(space, groups.symmetric(4)).fit(X + 2 * (X > 0), y)  # angles that were unwrapped


def test_a_search_that_time_has_ended_says_so(monkeypatch):
    monkeypatch.setattr("specavg.estimators._base.BASIS_SECONDS", 0.005)
    copies, rotations = sa.Power(sa.Sphere(3), 4), groups.diagonal(groups.orthogonal(3), 4)
    two_kinds = groups.joined(rotations, sa.Group([permutation([1, 0, 2, 3]), permutation([0, 1, 3, 2])]))
    X = copies.sample(100, random_state=0)
    P = X.reshape(-1, 4, 3)
    y = sum(1 / (0.3 + np.linalg.norm(P[:, i] - P[:, j], axis=1)) for i in range(4) for j in range(i))
    with pytest.warns(
        UserWarning, match=r"time ended the search for invariant functions at \d of them for 100 points"
    ) as given:
        model = sa.InvariantKernelRidge(copies, two_kinds).fit(X, y)
    proposed = re.search(r"max_eigenvalue=([\d.]+).* would take about ([\d.]+) seconds", str(given[-1].message))
    assert proposed is not None
    plan = sa.invariants.plan(copies, two_kinds, max_eigenvalue=float(proposed[1]), order=model.basis_.order)
    assert float(proposed[1]) > model.basis_.cutoff.value
    assert plan.seconds == pytest.approx(float(proposed[2]), rel=0.1)


@pytest.mark.parametrize(
    "space, shape, said",
    [
        (SO3, (9, 4, 4), r"got an array of shape \(9, 4, 4\). If these are poses.*take X\[..., :3, :3\]"),
        (spaces.Power(SO3, 2), (9, 2, 3, 4), r"take X\[..., :3, :3\]"),
        (sa.Stiefel(5, 2), (9, 2, 5), r"X.transpose\(0, 2, 1\)"),
        (spaces.Power(sa.Torus(2), 4), (9, 2, 4), r"X.transpose\(0, 2, 1\)"),  # every row of numbers is a point
        (spaces.Power(sa.Sphere(3), 4), (9, 5, 3), "5 copies for 4"),
        (sa.Sphere(3), (9, 3, 1), r"have shape \(n, 3\); got an array of shape \(9, 3, 1\)"),
    ],
    ids=str,
)
def test_arrays_of_another_shape_are_refused_with_both_shapes(space, shape, said):
    X = np.zeros(shape)
    with pytest.raises(ValueError, match=said):
        space.check_points(X)
    with pytest.raises(ValueError, match=said):
        sa.InvariantKernelRidge(space).fit(X, np.arange(9.0))


def test_points_off_a_product_name_factor_column_and_bounds():
    space = sa.Product(sa.Sphere(3), sa.Interval(0, 3))
    X = space.sample(9, random_state=0)
    X[3, 3] = 3.01
    with pytest.raises(ValueError, match=r"row 3 .*factor 1, Interval\(0.0, 3.0\), in column 3.*from 0 to 3.* to 3.01"):
        space.check_points(X)
    X = space.sample(9, random_state=0)
    X[:2, :3] = 0
    with pytest.raises(
        ValueError, match=r"factor 0, Sphere\(3\), in columns 0 to 2.* 2 of them are zero .*leave these"
    ):
        space.check_points(X)


def test_groups_of_one_factor_are_told_how_the_others_stay():
    space = sa.Product(sa.Interval(), sa.Sphere(3))
    with pytest.raises(ValueError, match=r"direct_product\(groups.trivial\(1\), G\)"):
        sa.invariant_basis(space, groups.point_group("Ci"), max_eigenvalue=2)
    group = groups.direct_product(groups.trivial(1), groups.point_group("Ci"))
    assert sa.invariant_basis(space, group, max_eigenvalue=2).dim == 2  # 1 and x: Sphere(3) begins with three odd ones
    space = sa.Power(sa.Interval(), 3)
    with pytest.raises(ValueError, match=r"wreath\(groups.sign_flips\(1\), 3\)"):
        sa.invariant_basis(space, groups.hyperoctahedral(3), max_eigenvalue=4)
    group = groups.wreath(groups.sign_flips(1), 3)
    assert sa.invariant_basis(space, group, max_eigenvalue=4).dim == 2  # 1 and the sum of T_2


@pytest.mark.parametrize("without, proposed", [(0.0, False), (np.inf, True)])
def test_more_functions_of_a_symmetry_that_fails_are_not_proposed(monkeypatch, without, proposed):
    from specavg.estimators import _base

    monkeypatch.setattr(_base, "BASIS_SECONDS", 0.1)
    monkeypatch.setattr(sa.InvariantKernelRidge, "_error_without_group", lambda *_: without)
    X = sa.Sphere(4).sample(40, random_state=0)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        sa.InvariantKernelRidge(sa.Sphere(4), H4).fit(X, X[:, 0] ** 2)
    said = " ".join(str(w.message) for w in warned)
    assert "time ended the search" in said  # in either case
    assert ("do not seem to have the symmetry" in said) is not proposed
    assert any(advice in said for advice in ("More functions may help", "out of reach")) is proposed


def test_degrees_at_prediction_are_questioned():
    space = sa.Circle()
    X = space.sample(30, random_state=0)
    model = sa.InvariantKernelRidge(space, groups.dihedral(3)).fit(X, np.cos(3 * X[:, 0]))
    for asked in (model.predict, model.gradient, partial(model.predict, return_std=True)):
        with pytest.warns(UserWarning, match="column 0 of X spans 56 periods") as found:
            asked(np.arange(0.0, 360.0, 10.0)[:, None])
        assert found[0].filename == __file__


class LazyFrame:
    """As that of polars."""


X_OF_A_FIT, Y_OF_A_FIT = sa.Torus(2).sample(20, random_state=0), np.arange(20.0)
NO_TABLES = {
    "a path": ("new.parquet", "X is a path, 'new.parquet', .* pandas.read_parquet\\('new.parquet'\\)"),
    "a Path": (Path("new.parquet"), "X is a path, 'new.parquet'"),
    "chunks": (iter([X_OF_A_FIT, X_OF_A_FIT]), "X is a list_iterator, .* one table at a time"),
    "columns": ({"a": X_OF_A_FIT[:, 0]}, "X is a dict, .* pandas.DataFrame\\(X\\)"),
    "a plan": (LazyFrame(), "X is a LazyFrame, .* X.collect\\(\\)"),
}


@pytest.mark.parametrize("kind", NO_TABLES)
def test_what_is_no_table_is_refused_with_how_to_have_one(kind):
    given, complaint = NO_TABLES[kind]
    model = sa.InvariantKernelRidge(sa.Torus(2), max_dim=9, alpha=1.0).fit(X_OF_A_FIT, Y_OF_A_FIT)
    for asked in (model.predict, model.gradient, partial(model.predict, return_std=True)):
        with pytest.raises(TypeError, match=complaint):
            asked(given)
    if kind in ("columns", "a plan"):  # the others are streams
        with pytest.raises(TypeError, match=complaint):
            model.fit(given, Y_OF_A_FIT)
        with pytest.raises(TypeError, match=complaint):
            clone(model).partial_fit(given, Y_OF_A_FIT)


def test_the_name_of_a_column_is_for_files_only():
    frame = pd.DataFrame(X_OF_A_FIT, columns=["a", "b"]).assign(y=Y_OF_A_FIT)
    for model in (sa.InvariantKernelRidge(), sa.SpecAvgRegressor(), sa.EquivariantKernelRidge(sa.Torus(3))):
        with pytest.raises(TypeError, match=r"y is a name, 'y', .* Parquet file only.*drop\(columns='y'\), data"):
            model.fit(frame, "y")


@pytest.mark.parametrize(
    "given, wanted",
    [
        ("symmetric:3", r"groups.symmetric\(3\)"),
        ("symmetric(3)", r"groups.symmetric\(3\)"),
        ("symmetric", r"groups.symmetric\(3\)"),
        ("point_group:Oh", r'groups.point_group\("Oh"\)'),
        ("Oh", r'groups.point_group\("Oh"\)'),
        ("m-3m", r'groups.point_group\("m-3m"\)'),
        ("shifts:1,-1", r"groups.shifts\(\.\.\.\)"),
    ],
)
def test_a_group_as_text_is_told_its_function(given, wanted):
    with pytest.raises(TypeError, match=wanted):
        sa.InvariantKernelRidge(sa.Torus(2), given).fit(X_OF_A_FIT, Y_OF_A_FIT)


@pytest.mark.parametrize("n", [-1, 2.5, "a"])
@pytest.mark.parametrize(
    "space",
    [
        *(sa.Torus(3), sa.Interval(), sa.Sphere(3), sa.Rotations(), sa.spaces.Stiefel(4, 2)),
        *(sa.Power(sa.Sphere(3), 2), sa.Product(sa.Sphere(3), sa.Torus(1))),
    ],
    ids=repr,
)
def test_numbers_of_points_are_whole(space, n):
    assert space.sample(0).shape == (0, space.n_features)
    with pytest.raises(ValueError, match=f"n must be a whole number, at least 0; got {n!r}"):
        space.sample(n)


def degrees_on_a_torus_of_radians():
    X = 180 * sa.Torus(2).sample(1600, random_state=0)
    return X, np.cos(np.deg2rad(X)).sum(axis=1), sa.Torus(2, period=2 * np.pi), groups.sign_flips(2)


def as_array(X, y):
    return X, y


def as_chunks(X, y):
    return [(X[:800], y[:800]), (X[800:], y[800:])], None


def as_iterator(X, y):
    return iter(as_chunks(X, y)[0]), None


@pytest.mark.parametrize(
    "function, given",
    [
        (sa.symmetry_test, as_array),
        (sa.symmetry_test, as_chunks),
        (sa.symmetry_test, as_iterator),
        (sa.discover_symmetry, as_array),
        (sa.discover_symmetry, as_chunks),
    ],
)
def test_degrees_of_a_test_and_of_a_search_are_questioned_once(function, given):
    X, y, space, group = degrees_on_a_torus_of_radians()
    with pytest.warns(UserWarning, match="periods of Torus") as found:
        function(*given(X, y), space, group)
    (only,) = [w for w in found if "periods of Torus" in str(w.message)]
    assert only.filename == __file__


def one_row(model, X, y):
    model.set_params(max_dim=None).fit(X[:1], y[:1])


def in_memory(model, X, y):
    model.fit(X, y)


def as_a_stream(model, X, y):
    model.fit(iter([(X, y)]))


def in_pieces(model, X, y):
    model.partial_fit(X, y)


@pytest.mark.parametrize("fit", [one_row, in_memory, as_a_stream, in_pieces])
@pytest.mark.parametrize("max_dim", [1, 9])
@pytest.mark.parametrize("kind", [sa.InvariantKernelRidge, sa.SpecAvgRegressor])
def test_questions_about_a_fit_point_at_the_line_that_called_it(fit, max_dim, kind):
    """Of the constant alone, and of noise."""
    X, y = sa.Torus(2).sample(200, random_state=0), np.random.default_rng(0).normal(size=200)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit(kind(sa.Torus(2), max_dim=max_dim), X, y)
    assert found or kind is sa.SpecAvgRegressor
    assert all(w.filename == __file__ and w.lineno == fit.__code__.co_firstlineno + 1 for w in found)


def test_questions_about_a_model_that_was_discovered_point_at_the_line_that_asked_for_it():
    X, y = sa.Torus(2).sample(200, random_state=0), np.random.default_rng(0).normal(size=200)
    found = sa.discover_symmetry(X, y, sa.Torus(2), groups.sign_flips(2))
    with pytest.warns(UserWarning, match="explains almost nothing") as said:
        found.model  # noqa: B018
    assert said[0].filename == __file__


def test_a_wrong_group_is_doubted_where_only_a_product_spectrum_fits_without_it():
    space = sa.Torus(3, period=360)
    turn, mirror = isometries.shift(degrees=[120, 0, 0]), isometries.signed_permutation([0, 1, 2], [-1] * 3)
    group = sa.Group([turn, isometries.permutation([1, 2, 0]), isometries.permutation([1, 0, 2]), mirror])
    X = space.sample(100, random_state=0)
    a = np.deg2rad(X)
    y = np.cos(3 * a).sum(axis=1) + 0.5 * np.cos(3 * (a[:, 0] - a[:, 1]))
    with pytest.warns(UserWarning, match="do not seem to have the symmetry"):
        sa.InvariantKernelRidge(space, group).fit(X, y + 0.01 * np.random.default_rng(0).normal(size=100))


def _scan(step, phase):
    """Torsions on a grid, and a potential with a threefold axis and a mirror at `phase` degrees."""
    X = np.arange(0.0, 360.0, step)[:, None]
    return X, np.cos(np.radians(3 * (X[:, 0] - phase)))


def test_a_wrong_group_is_doubted_on_a_grid_that_it_maps_to_itself():
    # Every orbit is predicted well by the others; what its rows differ by tells that the mirror lies elsewhere.
    space = sa.Torus(1, period=360)
    group = sa.Group([isometries.shift(degrees=[120]), isometries.signed_permutation([0], [-1])])
    X, y = _scan(15.0, 20.0)
    with pytest.warns(UserWarning, match="do not seem to have the symmetry"):
        model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.loo_error_ == pytest.approx(np.sin(np.radians(60)), abs=1e-9)  # the part that is odd under the mirror


@pytest.mark.parametrize("step, orbits", [(40.0, 4), (60.0, 3)])
def test_a_right_group_is_not_doubted_where_a_grid_has_few_orbits(step, orbits):
    third = [isometries.shift(degrees=v) for v in ([120, 0], [0, 120])]
    exchange, mirror = isometries.signed_permutation([1, 0], [1, 1]), isometries.signed_permutation([0, 1], [-1, -1])
    group, scan = sa.Group([*third, exchange, mirror]), np.arange(0.0, 360.0, step)
    X = np.stack(np.meshgrid(scan, scan), axis=-1).reshape(-1, 2)
    c = np.cos(np.radians(3 * X))
    with pytest.warns(UserWarning, match=f"the {len(X)} points lie on {orbits} orbits") as said:
        sa.InvariantKernelRidge(sa.Torus(2, period=360), group).fit(X, c.sum(axis=1) - 0.3 * c.prod(axis=1))
    assert not any("do not seem to have" in str(one.message) for one in said)


HOURS_AND_DAYS = sa.Torus(2, period=[24, 365.25])


def highest_frequencies(space, basis):
    """The largest |k| of each column among all functions up to the last eigenvalue, by listing them."""
    highest = np.zeros(space.dim, dtype=int)
    for V in space.eigenspaces():
        if V.eigenvalue > basis.eigenvalues[-1] * (1 + 1e-9):
            return highest
        highest = np.maximum(highest, np.abs(space.frequencies(V)).max(axis=0))


def with_a_cutoff(X, y):
    return sa.InvariantKernelRidge(HOURS_AND_DAYS, max_dim=100).fit(X, y)


def piece_by_piece(X, y):
    return sa.InvariantKernelRidge(HOURS_AND_DAYS, max_dim=100).partial_fit(X, y).partial_fit(X, y)


def in_a_stream(X, y):
    return sa.InvariantKernelRidge(HOURS_AND_DAYS, max_dim=100).fit(iter([(X, y)]))


def as_features(X, y):
    return sa.InvariantFeatures(HOURS_AND_DAYS).fit(X)


def by_the_paper(X, y):
    return sa.SpecAvgRegressor(HOURS_AND_DAYS, max_dim=100).fit(X, y)


def as_a_density(X, y):
    return sa.InvariantDensity(HOURS_AND_DAYS, max_dim=100).fit(X)


@pytest.mark.parametrize("fit", [with_a_cutoff, piece_by_piece, in_a_stream, as_features, by_the_paper, as_a_density])
def test_columns_in_different_units_are_questioned_with_the_frequencies_they_have(fit):
    X = HOURS_AND_DAYS.sample(400, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(X, np.exp(3 * np.cos(2 * np.pi * X[:, 0] / 24)))
    (said,) = [str(w.message) for w in caught if "frequency" in str(w.message)]
    hours, days = highest_frequencies(HOURS_AND_DAYS, model.basis_)
    assert f"resolve column 0 of X up to frequency {hours} and column 1 up to frequency {days}," in said
    assert "a factor of 15.2" in said
    assert "period=1, or give order=sa.invariants.ByType(balanced=True)" in said


def test_what_is_proposed_for_columns_in_different_units_resolves_both():
    X, Z = (HOURS_AND_DAYS.sample(1000, random_state=seed) for seed in (0, 1))

    def target(X):
        return np.exp(3 * np.cos(2 * np.pi * X[:, 0] / 24))

    balanced = sa.InvariantKernelRidge(HOURS_AND_DAYS, max_dim=100, order=sa.invariants.ByType(balanced=True))
    assert balanced.partial_fit(X, target(X)).score(Z, target(Z)) > 0.999
    unit, period = sa.Torus(2, period=1), HOURS_AND_DAYS.period
    model = sa.InvariantKernelRidge(unit, max_dim=100).partial_fit(X / period, target(X))
    assert model.score(Z / period, target(Z)) > 0.999
    assert sa.InvariantKernelRidge(HOURS_AND_DAYS).fit(X, target(X)).score(Z, target(Z)) > 0.999  # chooses an order


@pytest.mark.parametrize(
    "space, wanted",
    [
        (sa.Torus(4, period=[24, 365.25, 7, 360]), 'column 2 .* column 1 .* or give order="few coordinates"'),
        (sa.Power(HOURS_AND_DAYS, 2), r"column 0 .* column 1 .*period=1, or give order=sa.invariants.ByType\(balanced"),
        (sa.Product(sa.Sphere(3), sa.Torus(1, period=365.25)), "columns 0 to 2 of X up to frequency 0.*period=2π"),
        (sa.Product(HOURS_AND_DAYS, sa.Circle()), "column 2 .* column 1 .* intervals.$"),
    ],
    ids=repr,
)
def test_units_of_factors_and_copies_are_questioned(space, wanted):
    with pytest.warns(UserWarning, match=wanted):
        sa.InvariantFeatures(space).fit(space.sample(50, random_state=0))


@pytest.mark.parametrize(
    "space",
    [
        sa.Torus(2, period=[1, 5]),
        sa.Torus(lattice=np.diag([1.0, 1.0, 5.0])),
        sa.Torus(3, period=[3.0, 3.0, 15.0]),
        sa.Torus(2, period=[7, 24]),
        sa.Product(sa.Sphere(3), sa.Circle()),
        sa.Product(sa.Interval(0, 1), sa.Torus(1)),
        sa.Product(sa.Rotations(), sa.Circle(), sa.Interval()),
        sa.Power(sa.Torus(1, period=365.25), 3),
    ],
    ids=repr,
)
def test_lengths_of_one_kind_are_not_questioned(space):
    sa.InvariantFeatures(space).fit(space.sample(50, random_state=0))  # warnings are errors here


@pytest.mark.parametrize("shape", [(9, 6, 2), (9, 6, 2, 1), (9, 12)])
def test_axes_of_one_number_may_be_left_out(shape):
    space = sa.Power(sa.Power(sa.Interval(0, 1), 2), 6)
    X = space.sample(9, random_state=0)
    np.testing.assert_array_equal(space.check_points(X.reshape(shape)), X)
    with pytest.raises(ValueError, match=r"have shape \(n, 6, 2, 1\) or \(n, 12\)"):
        space.check_points(X.reshape(9, 2, 6))


def test_factors_in_a_list_are_told_how_a_product_is_written():
    with pytest.raises(ValueError, match=r"got \[Circle\(\), Circle\(\)\].*Product\(A, B\), or Product\(\*factors\)"):
        sa.Product([sa.Circle(), sa.Circle()])


WINDS = pd.DataFrame({"hour": [1.0, 2.0, 3.0], "wind": ["5", "NW", "S"]})
GAPS = pd.DataFrame({"hour": [1.0, 2.0, 3.0], "wind": [1.0, 2.0, np.nan]})


@pytest.mark.parametrize(
    "X, said",
    [
        (WINDS, "column 'wind' of X holds texts such as 'NW'"),
        (WINDS.astype({"wind": "category"}), "column 'wind' of X holds texts such as 'NW'"),
        (WINDS.to_numpy(), "column 1 of X holds texts such as 'NW'"),
        (GAPS, r"X contains NaN in column 'wind', row 2 \(rows count from 0\); 1 of 3 rows"),
        (GAPS.convert_dtypes(), "X contains NaN in column 'wind', row 2"),
        (GAPS.to_numpy(), "X contains NaN in column 1, row 2"),
        (GAPS.to_numpy().tolist(), "X contains NaN in column 1, row 2"),
        (GAPS.replace(np.nan, -np.inf), "X contains infinity in column 'wind', row 2"),
    ],
    ids=str,
)
def test_what_is_no_number_is_named_by_its_column(X, said):
    space, y = sa.Torus(2, period=24), np.arange(3.0)
    models = [
        sa.InvariantKernelRidge(space, max_dim=9),
        sa.InvariantFeatures(space),
        baselines.KernelRidge(SpectralKernel(space)),
        baselines.Augmented(Ridge(), space),
    ]
    for model in models:
        with pytest.raises(ValueError, match=said):
            model.fit(X, y)
        model.fit(GAPS.fillna(3.0) if hasattr(X, "columns") else GAPS.fillna(3.0).to_numpy(), y)
        with pytest.raises(ValueError, match=said):
            model.transform(X) if hasattr(model, "transform") else model.predict(X)
    with pytest.raises(ValueError, match=said):
        clone(models[0]).partial_fit(X, y)


@pytest.mark.parametrize("make", [baselines.GroupAveragedKernelRidge, baselines.RandomlyAveragedKernelRidge])
def test_a_space_in_the_place_of_a_group_is_told_where_it_belongs(make):
    X = sa.Torus(2).sample(5, random_state=0)
    with pytest.raises(TypeError, match=r"got the space Torus\(2\).*\(kernel, group, alpha\).*SpectralKernel\(space\)"):
        make(baselines.VonMisesKernel(), sa.Torus(2), groups.sign_flips(2)).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="group must be a specavg Group; got 'Oh'"):
        make(group="Oh").fit(X, X[:, 0])


def test_one_point_in_place_of_a_table_is_told_how_to_become_one():
    model = sa.InvariantKernelRidge(sa.Rotations(), max_dim=10)
    X = sa.Rotations().sample(30, random_state=0).reshape(-1, 3, 3)
    model.fit(X, X[:, 0, 0])
    with pytest.raises(ValueError, match=r"X is one point of Rotations\(\), .* \(n, 3, 3\): give X\[None\]"):
        model.predict(X[0])
    assert model.predict(X[0][None]) == model.predict(X[:1])
    with pytest.raises(ValueError, match=r"X has 3 columns .*rotations_from_bunge makes them of Euler angles"):
        model.predict(np.full((3, 3), 0.1))  # three rows of angles
    frames = sa.Stiefel(4, 2)
    with pytest.raises(ValueError, match=r"X is one point of Stiefel.*give X\[None\]"):
        sa.InvariantKernelRidge(frames, max_dim=10).fit(frames.sample(1, random_state=0).reshape(4, 2), np.zeros(4))


def test_copies_off_their_space_are_told_to_be_rows_of_their_own():
    pairs, X = sa.Power(sa.Sphere(3), 2), np.random.default_rng(0).normal(size=(5, 6))
    with pytest.raises(
        ValueError, match=r"rows of X\.reshape\(-1, 3\), each a point of Sphere\(3\)\. .*each row by its norm"
    ):
        pairs.check_points(X)
    copies = X.reshape(-1, 3)
    pairs.check_points((copies / np.linalg.norm(copies, axis=1, keepdims=True)).reshape(X.shape))


@pytest.mark.parametrize("size, doubted", [(0.3, True), (0.0, False)])
def test_a_group_that_a_small_part_of_y_breaks_is_doubted(size, doubted):
    space, group = sa.Torus(2, period=2 * np.pi), groups.hyperoctahedral(2)
    X = space.sample(324, random_state=0)
    y = 2 * np.cos(3 * X).sum(axis=1) + size * np.sin(3 * X).prod(axis=1)  # odd under one mirror
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.loo_error_ < 0.1
    assert any("do not seem to have the symmetry" in str(one.message) for one in said) is doubted


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, lambda y: pd.Series(y).convert_dtypes()])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", [sa.InvariantKernelRidge(sa.Torus(3), max_dim=9), baselines.KernelRidge()])
def test_the_first_target_that_is_no_number_is_named_by_its_row(model, value, kind):
    y = Y3.copy()
    y[[7, 31]] = value
    with pytest.raises(ValueError, match=r"y has NaN or infinity in 2 of 40 rows \(first: row 7; rows count from 0\)"):
        model.fit(X3, kind(y))
    with pytest.raises(ValueError, match=r"y has NaN or infinity in 2 of 40 rows \(first: row 7;"):
        model.fit(X3, np.column_stack([Y3, y]))


@pytest.mark.parametrize("low, high, x", [(0.0, 1.0, 1.5), (-20.0, 40.0, -27.5), (5.0, 5.5, 7.0)])
def test_points_off_an_interval_are_told_their_distance(low, high, x):
    space, inside, distance = sa.Interval(low, high), (low + high) / 2, max(low - x, x - high)
    for whole, row in [
        (space, [x]),
        (sa.Power(space, 2), [inside, x]),
        (sa.Product(sa.Torus(1), space), [0.3, x]),
        (sa.Power(sa.Product(sa.Interval(0, 1e3), space), 2), [400.0, inside, 1e3, x]),
    ]:
        with pytest.raises(
            ValueError, match=rf"row 0 is off by {distance:.3g} \(tolerance {0.5e-6 * (high - low):.0e}\)"
        ):
            whole.check_points([row])


SECONDS = 1.7e9 + np.random.default_rng(0).integers(0, 60 * 86400, 300).astype(float)[:, None]


@pytest.mark.parametrize("unit, period", [(1.0, 86400.0), (3600.0, 24.0), (86400.0, 1.0), (86400.0, 7.0)])
def test_a_period_that_was_chosen_for_the_data_may_be_spanned_many_times(unit, period):
    space, X = sa.Torus(1, period=period), SECONDS / unit
    y = np.cos(2 * np.pi * X[:, 0] / period) + 0.1 * np.random.default_rng(1).normal(size=300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sa.InvariantKernelRidge(space).fit(X, y)
        model.predict(X)
        sa.SpecAvgRegressor(space, max_dim=9).fit(X, y)
        sa.InvariantFeatures(space).fit(X)
        sa.symmetry_test(X, y, space, groups.sign_flips(1))
    with pytest.warns(UserWarning, match=r"the fit is poor .* spans \d+(\.\d+)? periods of .*the period of the data"):
        sa.InvariantKernelRidge(space).fit(X, np.random.default_rng(2).normal(size=300))


def test_degrees_beside_seconds_are_questioned():
    X = np.column_stack([SECONDS, np.linspace(0, 359, 300)])
    with pytest.warns(UserWarning, match=r"column 1 of X spans 5\d periods"):
        sa.InvariantFeatures(sa.Torus(2, period=[86400.0, 2 * np.pi]), order="few coordinates").fit(X)


@pytest.mark.parametrize("space", [sa.Torus(1, period=6), sa.Torus(6)])
def test_a_test_that_sees_nothing_asks_about_the_unit(space):
    X = np.random.default_rng(0).uniform(0, 24, (300, space.dim))
    y = np.cos(2 * np.pi * X / 24).sum(axis=1)
    with pytest.warns(UserWarning, match=r"no function of X is seen in y, and column \d of X spans .* periods"):
        sa.symmetry_test(X, y, space, groups.symmetric(space.dim) if space.dim > 1 else groups.sign_flips(1))


@pytest.mark.parametrize("periods", [(365.0, 24.0), (24.0, 7.0), (360.0, 24.0, 7.0), (31.0, 24.0)])
def test_columns_in_another_order_than_their_periods_are_questioned(periods):
    d = len(periods)
    X = np.random.default_rng(0).uniform(0, 1, (200, d)) * periods
    for shift in range(1, d):
        with pytest.warns(UserWarning, match=r"the columns of X look exchanged: column \d spans .* own period is"):
            sa.InvariantFeatures(sa.Torus(d, period=periods), order="few coordinates").fit(np.roll(X, shift, axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for right in (X, X - 100.0, X + periods * (np.array(periods) / 2 < X), X[:20]):  # unwrapped, too few
            sa.InvariantFeatures(sa.Torus(d, period=periods), order="few coordinates").fit(right)


@pytest.mark.parametrize("freedom", [0, 1])
def test_standardised_angles_are_questioned_without_a_target(freedom):
    space = sa.Torus(2, period=2 * np.pi)
    X = space.sample(300, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=freedom)
    with pytest.warns(UserWarning, match="standard deviation 1.*do not standardise angles") as found:
        sa.InvariantFeatures(space).fit(Z)
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for right in (X, X - X.mean(axis=0), 1.001 * Z, Z[:20]):
            sa.InvariantFeatures(space).fit(right)
