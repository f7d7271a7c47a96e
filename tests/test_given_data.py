"""What users hand over is accepted as it comes, or refused in their own words."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.transform import Rotation
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge

import specavg as sa
from specavg import baselines, groups, spaces
from specavg.baselines import SpectralKernel
from specavg.cli._table_options import separated

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


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: sa.Torus([24, 360]), r"number of coordinates first.* write Torus\(2, period=\[24, 360\]\)"),
        (
            lambda: sa.Interval([0, 0], [1, 2]),
            r"one interval for each column: Product\(Interval\(0, 1\), Interval\(0, 2\)\)",
        ),
        (lambda: sa.Interval([0, 0], [1, 1]), r"the same ends in all columns is Power\(Interval\(0, 1\), 2\)"),
        (lambda: sa.Interval((0, 1)), r"Interval takes two numbers, low and high; got \(0, 1\) and 1.0"),
        (
            lambda: spaces.rotations_from_bunge([[1.0, 2, 3], [4, np.nan, 6]], degrees=True),
            r"NaN or infinity in 1 of 2 rows \(first: row 1, counted from 0\)",
        ),
        (lambda: groups.crystal_symmetry("O", "orthorhombic"), "several point groups.*orthorhombic mmm.*cubic m-3m"),
        (lambda: SO3.check_isometry(groups.point_group("Ci").generators[0]), r'groups.crystal_symmetry\("m-3m"\)'),
        (
            lambda: sa.invariant_basis(
                sa.Product(sa.Torus(2), sa.Circle(), sa.Sphere(3)),
                groups.direct_product(groups.symmetric(2), groups.trivial(1)),
                max_dim=9,
            ),
            r"2 parts; .* has 3 factors: give each a part, groups.trivial\(n\) for a factor of n columns that does not",
        ),
    ],
)
def test_spaces_and_groups_are_refused_with_what_to_write(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_torus_has_as_many_coordinates_as_periods():
    assert sa.Torus(period=[24, 360]) == sa.Torus(2, period=[24, 360])
    with pytest.raises(ValueError, match="needs a dimension"):
        sa.Torus(period=24)


def test_names_of_groups_fit_orientations():
    X = SO3.sample(5, random_state=0)
    with pytest.raises(TypeError, match=r'or for orientations sa.groups.crystal_symmetry\("m-3m"\)'):
        sa.InvariantDensity(SO3, "m-3m").fit(X)


def test_a_file_with_too_many_columns_is_refused_with_how_to_take_some(tmp_path):
    frame = pd.DataFrame(np.zeros((9, 4)), columns=["a", "b", "c", "load"])
    frame.to_parquet(tmp_path / "data.parquet")
    with pytest.raises(ValueError, match=r"has 2: .*write a file of these .* or let `specavg fit --features` select"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(str(tmp_path / "data.parquet"), "load")


@pytest.mark.parametrize("kind", [sa.InvariantKernelRidge, sa.SpecAvgRegressor, sa.InvariantDensity])
def test_weights_of_a_file_are_a_column_of_it(kind, tmp_path):
    rng, path = np.random.default_rng(0), str(tmp_path / "data.parquet")
    X, y, w = rng.uniform(-1, 1, (200, 2)), rng.normal(size=200), rng.uniform(0.5, 2.0, size=200)
    target, chunk = ("load", (X, y, w)) if kind is not sa.InvariantDensity else (None, (X, w))
    frame = pd.DataFrame({"w": w, "a": X[:, 0], "load": y, "b": X[:, 1]})
    frame.drop(columns=[] if target else ["load"]).to_parquet(path)
    model = kind(sa.Torus(2), max_invariant_dim=9)
    found, wanted = (clone(model) for _ in range(2))
    found.fit(path, target, sample_weight="w")
    wanted.fit(iter([chunk]))
    assert list(found.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    with pytest.raises(ValueError, match="has no column 'v'"):
        model.fit(path, target, sample_weight="v")
    with pytest.raises(ValueError, match="sample_weight must be the name of its column; got a ndarray"):
        model.fit(path, target, sample_weight=w)


def test_extended_precision_is_rounded():
    X = sa.Torus(2).sample(40, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    model = sa.InvariantKernelRidge(sa.Torus(2), max_invariant_dim=20)
    exact = clone(model).fit(X, y).coef_
    np.testing.assert_array_equal(model.fit(X.astype(np.longdouble), y.astype(np.longdouble)).coef_, exact)


@pytest.mark.parametrize(
    "model",
    [
        sa.InvariantKernelRidge(),
        sa.EquivariantKernelRidge(output="vector"),
        sa.SpecAvgRegressor(),
        sa.InvariantDensity(),
        sa.Symmetrized(Ridge()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_points_off_the_space_are_named_by_the_row_that_was_given(model, weighted):
    X = sa.Sphere(3).sample(20, random_state=0)
    X[5], X[17] = X[6], 1.3 * X[17]  # a copy is merged, and a row of weight zero is left out
    weights = {"sample_weight": np.where(np.arange(20) == 3, 0.0, 1.0)} if weighted else {}
    y = np.tile(np.arange(20.0)[:, None], 3) if isinstance(model, sa.EquivariantKernelRidge) else np.arange(20.0)
    model = clone(model).set_params(space=sa.Sphere(3), group=groups.Group([-np.eye(3)]))
    with pytest.raises(ValueError, match=r"1 of 20 points are not on Sphere\(3\): row 17 is off by 0.3 "):
        model.fit(X, y, **weights)


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


def _predicting(values):
    """A fitted regressor that predicts a function of the points."""

    class Model(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return values(X)

    return Model()


@pytest.mark.parametrize(
    "use",
    [
        lambda X, z: sa.symmetry_test(X, z, sa.Torus(2), groups.sign_flips(2)),
        lambda X, z: sa.symmetry_test(z[:, None] * X, X[:, 0], sa.Torus(2), groups.sign_flips(2)),
        lambda X, z: sa.discover_symmetry(X, z, sa.Torus(2), groups.sign_flips(2)),
        lambda X, z: sa.SpecAvgRegressor(sa.Torus(2), max_dim=9).fit(iter([(X, z)])),
        lambda X, z: sa.SpecAvgRegressor(sa.Torus(2), max_dim=9).fit(X, z),
        lambda X, z: sa.InvariantKernelRidge(sa.Torus(2)).fit(X, z),
        lambda X, z: sa.baselines.KernelRidge().fit(X, z),
        lambda X, z: sa.Symmetrized(_predicting(lambda X: 1j * X[:, 0]), sa.Torus(2)).fit(X, X[:, 0]),
    ],
)
def test_complex_numbers_are_refused(use):
    """Cast to real numbers they lost their imaginary parts, with a warning of NumPy at best."""
    X = sa.Torus(2).sample(60, random_state=0)
    with pytest.raises(ValueError, match=r"holds complex numbers, and must be real|Complex data not supported"):
        use(X, 1j * X[:, 0])


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


@pytest.mark.parametrize(
    "name, fit",
    {
        "ridge": lambda X, y, **given: sa.InvariantKernelRidge(sa.Torus(2), max_dim=9).fit(X, y, **given),
        "mean": lambda X, y, **given: sa.SpecAvgRegressor(sa.Torus(2), max_dim=9).fit(X, y, **given),
        "density": lambda X, y, **given: sa.InvariantDensity(sa.Torus(2), max_dim=9).fit(X, **given),
        "test": lambda X, y, **given: sa.symmetry_test(X, y, sa.Torus(2), groups.symmetric(2), max_dim=9, **given),
        "chunks": lambda X, y, sample_weight: sa.InvariantKernelRidge(sa.Torus(2), max_dim=9).fit(
            iter([(X, y, sample_weight)])
        ),
    }.items(),
)
def test_masked_weights_are_not_used(name, fit):
    X = sa.Torus(2).sample(40, random_state=0)
    weights = np.ma.array(np.ones(40))
    fit(X, np.cos(np.pi * X[:, 0]), sample_weight=weights)  # nothing is masked
    weights[3] = np.ma.masked
    with pytest.raises(ValueError, match=r"sample_weight has 1 masked values.*sample_weight.filled\(0\)"):
        fit(X, np.cos(np.pi * X[:, 0]), sample_weight=weights)


@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("which", ["y", "gradient"])
def test_masked_gradients_and_values_beside_them_are_not_fitted(which, chunks):
    X = sa.Torus(2).sample(40, random_state=0)
    data = {"y": np.cos(np.pi * X[:, 0]), "gradient": -np.pi * np.sin(np.pi * X) * [1, 0]}
    data[which] = np.ma.array(data[which], mask=True)
    model = sa.InvariantKernelRidge(sa.Torus(2), max_dim=9)
    with pytest.raises(ValueError, match=rf"{which} has \d+ masked values.*{which}.filled\(np.nan\)"):
        model.fit(iter([(X, data["y"], None, data["gradient"])])) if chunks else model.fit(X, **data)


@pytest.mark.parametrize("size", [1e308, 1e200, 1e-200, 1e-310])
def test_only_ratios_of_weights_matter_however_large_they_are(size):
    X = sa.Torus(2).sample(60, random_state=0)
    y, ratios = np.cos(np.pi * X[:, 0]), np.random.default_rng(0).choice([0.25, 0.5, 1.0], 60)
    for model in (
        sa.InvariantKernelRidge(sa.Torus(2), max_dim=30),
        sa.EquivariantKernelRidge(sa.Torus(2), groups.trivial(2), "scalar", max_dim=30),
        sa.InvariantDensity(sa.Torus(2), max_dim=9),
    ):
        given = {} if isinstance(model, sa.InvariantDensity) else {"y": y}
        plain, large = (clone(model).fit(X, **given, sample_weight=w) for w in (ratios, size * ratios))
        values = [getattr(m, "predict", None) or m.score_samples for m in (plain, large)]
        np.testing.assert_allclose(values[1](X), values[0](X), rtol=1e-9, atol=1e-12)


def test_weights_whose_sum_is_no_number_are_refused_where_it_is_needed():
    X = sa.Torus(2).sample(40, random_state=0)
    weights = np.full(40, 1e308)
    with pytest.raises(ValueError, match=r"as large as 1e\+308, and its sum is no number"):
        sa.SpecAvgRegressor(sa.Torus(2), max_dim=9).fit(X, X[:, 0], sample_weight=weights)
    with pytest.raises(ValueError, match=r"as large as 1e\+308, and its sum is no number"):
        sa.symmetry_test(X, X[:, 0], sa.Torus(2), groups.symmetric(2), sample_weight=weights)


@pytest.mark.parametrize("size, unit", [(1e-310, 1.0), (1e-307, 1e-8), (1e-320, 1.0)])
def test_weights_of_chunks_that_lose_digits_are_refused_with_what_to_do(size, unit):
    X = sa.Torus(2).sample(40, random_state=0)
    y = unit * np.cos(np.pi * X[:, 0])
    for model in (
        sa.InvariantKernelRidge(sa.Torus(2), max_dim=9),
        sa.EquivariantKernelRidge(sa.Torus(2), groups.trivial(2), "scalar", max_dim=9),
    ):
        with pytest.raises(ValueError, match=r"lose digits\. Weights are relative, so multiply"):
            clone(model).fit(iter([(X, y, np.full(40, size))]))
        plain, small = (
            clone(model).fit(iter([(X, y, np.full(40, w)), (X, -y, np.zeros(40))])).predict(X) for w in (1.0, 1e-149)
        )
        np.testing.assert_allclose(small, plain, rtol=1e-9, atol=1e-12 * unit)


def test_sparse_targets_are_refused():
    X = sa.Torus(2).sample(40, random_state=0)
    with pytest.raises(TypeError, match="y is a sparse array"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, csr_array(X[:, :1]))


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


_RECORDS = np.zeros(20, dtype=[("a", float), ("b", float)])
NO_NUMBERS = {
    "complex points": (X_OF_A_FIT + 0j, Y_OF_A_FIT, "Complex data not supported: X holds complex128"),
    "complex targets": (X_OF_A_FIT, Y_OF_A_FIT + 0j, r"y holds complex128.*np.column_stack\(\[y.real, y.imag\]\)"),
    "records": (_RECORDS, Y_OF_A_FIT, r"X is an array of records with the fields a, b, .*pandas.DataFrame\(X\)"),
    "records of targets": (X_OF_A_FIT, _RECORDS, "y is an array of records with the fields a, b"),
    "sparse columns": (
        pd.DataFrame(X_OF_A_FIT, columns=["a", "b"]).astype(pd.SparseDtype("float")),
        Y_OF_A_FIT,
        r"X has sparse columns \(Sparse\[float64, nan\]\).*X.sparse.to_dense\(\)",
    ),
    "one name twice": (
        pd.DataFrame(X_OF_A_FIT, columns=["a", "a"]),
        Y_OF_A_FIT,
        r"columns 0, 1 of X have one name, 'a'.*X.to_numpy\(\)",
    ),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_are_no_real_numbers_is_refused_in_few_words(kind):
    X, y, complaint = NO_NUMBERS[kind]
    group = sa.groups.sign_flips(2)
    model = sa.InvariantKernelRidge(sa.Torus(2), group, max_dim=9)
    asked = [partial(model.fit, X, y), partial(sa.symmetry_test, X, y, sa.Torus(2), group)]
    if kind != "records":  # of which a stream says that they have one column
        asked.append(lambda: model.fit(iter([(X, y)])))
    for refuse in asked:
        with pytest.raises((TypeError, ValueError), match=complaint) as refused:
            refuse()
        assert len(str(refused.value)) < 300


def test_missing_points_of_a_set_cannot_be_filled_up():
    X = np.random.default_rng(0).uniform(-1, 1, size=(20, 3))
    X[4, 2] = np.nan
    sets = sa.Power(sa.Interval(), 3)
    with pytest.raises(ValueError, match="Sets of fewer than 3 points cannot be filled up: fit a model for each size"):
        sa.InvariantKernelRidge(sets, sa.groups.symmetric(3)).fit(X, Y_OF_A_FIT)
    with pytest.raises(ValueError, match=r"or fill in their values\.$"):
        sa.InvariantKernelRidge(sa.Torus(3)).fit(X, Y_OF_A_FIT)


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


def test_columns_of_matrices_and_reflections_say_what_to_do():
    import pandas as pd

    model = sa.InvariantKernelRidge(sa.Rotations(), max_dim=10)
    X = sa.Rotations().sample(30, random_state=0).reshape(-1, 3, 3)
    with pytest.raises(ValueError, match=r"X is a column of matrices, \(3, 3\) each: pass np.stack\(X\)"):
        model.fit(pd.Series(list(X)), X[:, 0, 0])
    with pytest.raises(ValueError, match=r"X\['g'\] is a column of matrices, .*: pass np.stack\(X\['g'\]\)"):
        model.fit(pd.DataFrame({"g": list(X)}), X[:, 0, 0])
    with pytest.raises(ValueError, match=r"30 of them have determinant −1: reflections\. Take −X, or check"):
        model.fit(-X, X[:, 0, 0])
