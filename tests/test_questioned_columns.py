"""Columns that cannot be what a space takes are refused, those that hardly can are questioned, and no others."""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pyarrow
import pytest

import specavg as sa
from specavg import baselines, groups
from specavg.cli._command_words import in_words_of_the_command
from specavg.data._questioned_columns import question_periods

X3 = sa.Torus(3).sample(40, random_state=0)
Y3 = np.cos(np.pi * X3).sum(axis=1)


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


DAYS = pd.date_range("2020-01-01", periods=9)


class Frame:
    """A table of a library that names its kinds of columns as Polars does."""

    columns = ("a", "when")

    def __init__(self, kind, values):
        self.dtypes, self.values, self.shape = ["Float64", kind], values, (len(values), 2)

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([np.zeros(len(self)), np.asarray(self.values).astype("int64")]).astype(dtype)


TIMES = {
    "dates with a zone": pd.DataFrame({"a": 0.0, "when": DAYS.tz_localize("UTC")}),
    "durations": pd.DataFrame({"a": 0.0, "when": DAYS - DAYS[0]}),
    "periods": pd.DataFrame({"a": 0.0, "when": DAYS.to_period("D")}),
    "Arrow in pandas": pd.DataFrame({"a": 0.0, "when": DAYS}).astype({"when": "timestamp[ns][pyarrow]"}),
    "Arrow": pyarrow.table({"a": np.zeros(9), "when": DAYS.date}),
    "Arrow, times": pyarrow.table({"a": np.zeros(9), "when": pyarrow.array(range(9), pyarrow.time64("us"))}),
    **{
        f"objects, {type(value).__name__}": pd.DataFrame({"a": 0.0, "when": pd.Series([value] * 9, dtype=object)})
        for value in (DAYS[0], DAYS[0].date(), DAYS[0].time(), DAYS[1] - DAYS[0], DAYS[0].to_period("D"))
    },
    **{
        f"Polars, {kind}": Frame(kind, np.arange(9))
        for kind in ("Date", "Time", "Datetime(time_unit='us', time_zone=None)", "Duration(time_unit='us')")
    },
}


@pytest.mark.parametrize("name", TIMES)
def test_dates_of_every_library_are_no_points_and_no_targets(name):
    table, X = TIMES[name], np.zeros((9, 2))
    for fit in (sa.InvariantKernelRidge(sa.Torus(2)).fit, sa.InvariantKernelRidge().fit):
        with pytest.raises(ValueError, match=r"dates or durations") as refusal:
            fit(table, np.arange(9.0))
        assert "column 'when'" in str(refusal.value)
    if not isinstance(table, Frame):
        with pytest.raises(ValueError, match="y holds dates or durations"):
            sa.InvariantKernelRidge(sa.Torus(2)).fit(X, table["when"])


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


REGRESSORS = [
    sa.InvariantKernelRidge,
    baselines.KernelRidge,
    baselines.GroupAveragedKernelRidge,
    baselines.RandomlyAveragedKernelRidge,
    baselines.Augmented,
    baselines.Canonicalized,
    baselines.FrameAveraged,
]


@pytest.mark.parametrize("make", REGRESSORS)
def test_all_regressors_ask_the_same_of_points_without_a_space(make):
    """Degrees, radians and directions are no points of the default torus, whose columns repeat after 2."""
    directions, angles = sa.Sphere(3).sample(60, random_state=0), sa.Circle().sample(60, random_state=0)
    for X, question in [
        (180 / np.pi * angles, r"column 0 of X spans 1\d\d periods of Torus\(1\).*period=360 for degrees"),
        (angles, "if these are radians, take sa.Torus"),
        (directions, r"all rows of X are unit vectors, and no space was given.*give sa\.Sphere\(3\)"),
    ]:
        with pytest.warns(UserWarning, match=question) as told:
            make().fit(X, np.cos(X[:, 0]))
        assert [re.search(question, str(warning.message)) is not None for warning in told].count(True) == 1
        assert {warning.filename for warning in told} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make().fit(directions[:, :2], directions[:, 0])
        if make is not sa.InvariantKernelRidge:
            make().fit(directions[:20], directions[:20, 0])  # few


@pytest.mark.parametrize("make", [make for make in REGRESSORS if make is not baselines.KernelRidge])
def test_a_group_of_another_space_than_the_default_says_that_the_space_is_missing(make):
    X = sa.Sphere(3).sample(20, random_state=0)
    with pytest.raises(ValueError, match=r"^no space was given.*Torus\(3\): give the space that point_group\('D3'\)"):
        make(group=groups.point_group("D3")).fit(X, X[:, 0])
    given = {"space": sa.Torus(3)}
    if issubclass(make, baselines.GroupAveragedKernelRidge | baselines.RandomlyAveragedKernelRidge):
        given = {"kernel": baselines.SpectralKernel(sa.Torus(3))}
    with pytest.raises(ValueError, match=r"does not act on Torus\(3\)") as refusal:
        make(**given, group=groups.point_group("D3")).fit(X, X[:, 0])
    assert "no space was given" not in str(refusal.value)


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
            question_periods(other, points, group)


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


def torsions(n, d):
    """A regular scan from −π on, and a potential with the symmetry of every sign change."""
    scan = np.radians(np.linspace(-180, 180, n, endpoint=False))
    X = np.stack(np.meshgrid(*d * [scan]), axis=-1).reshape(-1, d)
    return X, np.cos(3 * X).sum(axis=1) + 0.5 * np.cos(X[:, 0])


@pytest.mark.parametrize(
    "space, group, d, take",
    [
        (sa.Torus(2), None, 2, r"period of Torus\(2\) is 2.*take sa.Torus\(2, period=2\*np.pi\)"),
        (None, groups.sign_flips(2), 2, r"take sa.Torus\(2, period=2\*np.pi\)"),
        (sa.Torus(1), groups.cyclic(2), 1, r"from -3.14 to 2.62.*take sa.Torus\(1, period=2\*np.pi\)"),
        (sa.Torus(1, period=360), None, 1, r"period=360.0\) is 360: .* take sa.Torus\(1, period=2\*np.pi\)"),
        (sa.Power(sa.Torus(1), 2), groups.symmetric(2), 2, r"give its torus period=2\*np.pi"),
    ],
)
def test_radians_on_a_torus_of_another_period_are_questioned_whatever_the_fit(space, group, d, take):
    """Nothing else is blamed: neither the symmetry nor the number of functions."""
    X, y = torsions(12, d)
    with pytest.warns(UserWarning, match=take) as said:
        sa.InvariantKernelRidge(space, group).fit(X, y)
    (only,) = said
    assert only.filename == __file__
    with pytest.warns(UserWarning, match=r"from 0 to 5.76.*if these are radians"):
        question_periods(space or sa.Torus(d), X + np.pi)


def test_a_good_error_on_a_scan_in_radians_is_not_the_error_between_its_points():
    X, y = torsions(12, 2)
    with pytest.warns(UserWarning, match="if these are radians"):
        model = sa.InvariantKernelRidge(sa.Torus(2)).fit(X, y)
    between = X + np.radians(7)
    right = np.cos(3 * between).sum(axis=1) + 0.5 * np.cos(between[:, 0])
    assert model.loo_error_ < 0.02 < 0.2 < np.sqrt(np.mean((model.predict(between) - right) ** 2)) / right.std()


def test_what_is_no_full_turn_is_not_taken_for_radians():
    rng = np.random.default_rng(0)
    uniform = sa.Torus(2).sample(50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for space, X in [
            (sa.Torus(2), uniform),
            (sa.Torus(2), uniform + 2 * rng.integers(-1, 1, (50, 2))),  # unwrapped: from -3 to 1
            (sa.Torus(2), 4 * uniform[:20]),  # beyond a turn
            (sa.Torus(2, period=2 * np.pi), np.pi * uniform),
            (sa.Torus(2, period=7), np.pi * uniform),
            (sa.Torus(2, period=360), 180 * uniform),
        ]:
            question_periods(space, X)


@pytest.mark.parametrize("function", [sa.symmetry_test, sa.discover_symmetry])
def test_radians_of_a_test_and_of_a_search_are_questioned(function):
    X, y = torsions(12, 2)
    with pytest.warns(UserWarning, match="if these are radians, take") as said:
        function(X, y, sa.Torus(2), groups.sign_flips(2))
    (only,) = [one for one in said if "radians" in str(one.message)]
    assert only.filename == __file__
    assert "radians, give --space torus:2,period=2pi." in in_words_of_the_command(str(only.message))


def test_columns_in_block_order_are_questioned():
    space = sa.Power(sa.Torus(2), 3)
    X = space.sample(40, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    model = sa.InvariantKernelRidge(space, groups.symmetric(3), max_dim=30)
    blocks = pd.DataFrame(X, columns=["phi1", "phi2", "phi3", "psi1", "psi2", "psi3"])
    with pytest.warns(UserWarning, match=r"copy by copy: X\[\['phi1', 'psi1', 'phi2', 'psi2'"):
        model.fit(blocks, y)
    model.fit(blocks.set_axis(["phi1", "psi1", "phi2", "psi2", "phi3", "psi3"], axis=1), y)  # silent


def test_cartesian_coordinates_in_a_cell_are_questioned():
    cell = sa.Torus(lattice=8.0 * np.eye(3))
    X = 8.0 * cell.sample(60, random_state=0)
    model = sa.InvariantKernelRidge(cell, max_dim=30)
    with pytest.warns(UserWarning, match=r"spans [78] periods.*X @ np.linalg.inv\(space.lattice\)"):
        model.fit(X, np.cos(2 * np.pi * X[:, 0]))


@pytest.mark.parametrize(
    "space, said",
    [
        (sa.Power(sa.Torus(lattice=8.0 * np.eye(3)), 2), "X[:, 3:6] @ np.linalg.inv(space.base.lattice) "),
        (
            sa.Product(sa.Circle(), sa.Torus(lattice=8.0 * np.eye(2))),
            "X[:, 1:3] @ np.linalg.inv(space.factors[1].lattice) ",
        ),
    ],
)
def test_cartesian_coordinates_in_a_cell_of_a_copy_or_factor_are_questioned(space, said):
    """The copy or factor is named whose last column spans most periods; radians of a circle stay as they are."""
    X = space.sample(60, random_state=0)
    fractions = X.copy()
    X[:, -2:] *= 8.0
    model = sa.InvariantKernelRidge(space, max_dim=30)
    with pytest.warns(UserWarning, match=rf"spans [78] periods.*{re.escape(said)}"):
        model.fit(X, np.cos(2 * np.pi * X[:, -1]))
    model.fit(fractions, np.cos(2 * np.pi * fractions[:, -1]))  # silent


def test_standardised_angles_are_questioned_where_the_fit_is_poor():
    space = sa.Torus(4)
    X = space.sample(150, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1) / 2)
    with pytest.warns(UserWarning, match=r"spans 1\.\d+ periods of Torus\(4\).*do not standardise angles"):
        sa.InvariantKernelRidge(space, groups.symmetric(4)).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.InvariantKernelRidge(space, groups.symmetric(4)).fit(X + 2 * (X > 0), y)  # angles that were unwrapped


def test_degrees_at_prediction_are_questioned():
    space = sa.Circle()
    X = space.sample(30, random_state=0)
    model = sa.InvariantKernelRidge(space, groups.dihedral(3)).fit(X, np.cos(3 * X[:, 0]))
    for asked in (model.predict, model.gradient, partial(model.predict, return_std=True)):
        with pytest.warns(UserWarning, match="column 0 of X spans 56 periods") as found:
            asked(np.arange(0.0, 360.0, 10.0)[:, None])
        assert found[0].filename == __file__


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


def test_a_column_with_far_higher_frequencies_than_another_is_questioned():
    """Degree 3 of the bond resolves no density of a twelfth of its interval."""
    space = sa.Product(sa.Interval(0.8, 1.4), sa.Torus(1, period=360))
    with pytest.warns(UserWarning, match=r"column 0 of X up to frequency 3 and column 1 up to frequency \d{3}"):
        sa.InvariantFeatures(space, max_invariant_dim=1024).fit(space.sample(50, random_state=0))


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


@pytest.mark.parametrize(
    "columns, period, said",
    [
        ((1.0, 360.0), 2 * np.pi, r"column 'wind' of X spans \d+ periods"),
        ((0.05, 0.1), 360.0, "column 'wind' goes from"),
        ((24.0, 360.0), (360.0, 24.0), "column 'wind' spans 3.*the period of column 'hour'"),
        ((1.0, 9.0), 3.0, "column 'wind' of X spans 3 periods"),
    ],
)
def test_questions_name_columns_as_the_table_does(columns, period, said):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2)) * columns
    X[:2] = np.diag(columns)  # both ends of each
    X[2:4] = 0
    frame, y = pd.DataFrame(X, columns=["hour", "wind"]), rng.normal(size=200)
    model = sa.InvariantKernelRidge(sa.Torus(2, period=period), max_dim=9, alpha=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(frame, y)
    assert re.search(said, " ".join(str(warning.message) for warning in caught))


@pytest.mark.parametrize("shape", [(3, 3), (9,)])
@pytest.mark.parametrize(
    "group",
    [
        sa.groups.crystal_symmetry("m-3m"),
        sa.groups.crystal_symmetry("1", specimen="C∞"),
        sa.groups.point_group("m-3m"),
        sa.groups.point_group("C3"),
    ],
    ids=repr,
)
def test_orientations_without_a_space_are_told_it(group, shape):
    X = sa.Rotations().sample(30, random_state=0).reshape(30, *shape)
    for fit in (sa.InvariantDensity(group=group).fit, lambda X: sa.InvariantKernelRidge(group=group).fit(X, X[:, 0])):
        with pytest.raises(ValueError, match=r"points are those of a torus: give space=sa.Rotations\(\)"):
            fit(X)
    if sa.groups.crystal_symmetry("m-3m") == group:
        with pytest.raises(ValueError, match=r"give space=sa.Rotations\(\)"):
            sa.InvariantDensity(group=group).fit(iter([X.reshape(30, 9)]))
