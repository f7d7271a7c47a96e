"""The command line as a user meets it: what it prints, writes and returns, with good and bad input."""

import contextlib
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import specavg as sa
from specavg import groups
from specavg.cli import _tables, main
from specavg.cli._spaces_and_groups import fitting_group, group_of, space_of
from specavg.cli._tables import open_table

SPACE = sa.Torus(2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of an even function of two coordinates (y), and of one with an odd part in b (z)."""
    path = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X = SPACE.sample(300, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["y"] = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.1 * rng.normal(size=300)
    frame["z"] = frame["y"] + np.sin(np.pi * X[:, 1])
    frame[["a", "b", "y"]].to_csv(path / "data.csv", index=False)
    frame[["a", "b", "y"]].to_parquet(path / "data.parquet")
    frame.to_csv(path / "both.csv", index=False)
    frame[["a", "b"]].to_csv(path / "new.csv", index=False)
    holes = frame[["a", "b", "y"]].astype(object)
    holes.loc[122, "b"] = np.nan
    holes.to_csv(path / "holes.csv", index=False)
    holes.loc[122, "b"] = "oops"
    holes.to_csv(path / "words.csv", index=False)
    (path / "flips.toml").write_text(
        'name = "flips"\ngenerators = [\n  { kind = "signed_permutation", image = [0, 1], signs = [-1, 1] },\n'
        '  { kind = "shift", shift = ["1/2", 0] },\n]\n'
    )
    (path / "bad.toml").write_text('generators = [{ kind = "permutation", image = [0, 0] }]\n')
    (path / "broken.toml").write_text("generators = [ {")
    (path / "empty.csv").write_text("")
    (path / "header.csv").write_text("a,b,y\n")
    (path / "ragged.csv").write_text("a,b,y\n0,1,2\n1,1,2\n0,1,2,3,4\n")
    (path / "same.csv").write_text("a,b,y\n" + "0.5,0.5,1\n" * 50)
    (path / "long.csv").write_text("a,b,y\n0,1,2,3\n1,1,2,3\n")
    (path / "twins.csv").write_text("a,a,y\n0,1,2\n1,1,2\n")
    (path / "semicolons.csv").write_text("a;b;y\n0;1;2\n1;1;2\n")
    (path / "nameless.csv").write_text("0,1,2\n1,1,2\n")
    (path / "not.parquet").write_text("a,b,y\n")
    frame[["a", "b", "y"]].to_csv(path / "utf16.csv", index=False, encoding="utf-16")
    frame[["a", "b"]].assign(y=pd.date_range("2020", periods=300)).to_parquet(path / "dates.parquet")
    return path


FIT = ["--target", "y", "--space", "torus:2", "--group", "sign_flips:2", "--max-invariant-dim", "20"]


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """The tables, in a folder of its own that is the working directory."""
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# --- specs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, space",
    [
        ("torus:10", sa.Torus(10)),
        ("torus:2,period=1", sa.Torus(2, period=1.0)),
        ("torus:2,period=2pi", sa.Torus(2, period=2 * np.pi)),
        ("torus:2, period=π", sa.Torus(2, period=np.pi)),
        ("(torus:1 * sphere:3)^2", sa.Power(sa.Product(sa.Torus(1), sa.Sphere(3)), 2)),
        ("((circle))^3 * rotations", sa.Product(sa.Power(sa.Circle(), 3), sa.Rotations())),
        ("(sphere:3^2 * circle)^2^3", sa.Power(sa.Power(sa.Product(sa.Power(sa.Sphere(3), 2), sa.Circle()), 2), 3)),
        ("circle", sa.Circle()),
        ("sphere:3", sa.Sphere(3)),
        ("Sphere:3 * torus:2", sa.Product(sa.Sphere(3), sa.Torus(2))),
        ("sphere:3^4", sa.Power(sa.Sphere(3), 4)),
        ("rotations", sa.spaces.Rotations()),
        ("stiefel:4,2", sa.spaces.Stiefel(4, 2)),
    ],
)
def test_spaces_are_read_as_they_are_written(text, space):
    assert space_of(text) == space


@pytest.mark.parametrize(
    "text, group",
    [
        ("sign_flips:10", groups.sign_flips(10)),
        ("point_group:Oh", groups.point_group("Oh")),
        ("point_group:m-3m", groups.point_group("m-3m")),
        ("left_right:(trivial:5),(orthogonal:2)", groups.left_right(groups.trivial(5), groups.orthogonal(2))),
        ("cyclic:6*sign_flips:2", groups.direct_product(groups.cyclic(6), groups.sign_flips(2))),
    ],
)
def test_groups_are_read_as_they_are_written(text, group):
    assert group_of(text, SPACE) == group


# --- the ordinary course of things ------------------------------------------------------------------------


def test_info_prints_the_papers_counts(capsys):
    code, out, _ = run(capsys, "info", "--space", "torus:10", "--group", "sign_flips:10", "--max-invariant-dim", "176")
    assert code == 0
    assert "176 invariant functions of 1161, in 4 eigenspaces" in out
    assert "order 1024" in out


def test_info_describes_saved_models(capsys, tmp_path):
    X = sa.Sphere(3).sample(40, random_state=0)
    group, R = sa.groups.point_group("Oh"), np.random.default_rng(0).normal(size=(20, 3, 3))
    models = {
        "ridge": sa.InvariantKernelRidge(sa.Sphere(3), group, max_dim=60).fit(X, (X**4).sum(axis=1)),
        "few": sa.InvariantKernelRidge(sa.Torus(3), max_dim=30, order="few coordinates").fit(X, X[:, 0]),
        "two": sa.InvariantKernelRidge(sa.Sphere(3), group, max_dim=60).fit(X, np.c_[X**2 @ [1, 1, 1], (X**4).sum(1)]),
        "vectors": sa.EquivariantKernelRidge(sa.Sphere(3), group, "vector", max_dim=40).fit(X, X**3),
        "density": sa.InvariantDensity(sa.Sphere(3), group, max_dim=60).fit(X),
        "water": sa.InvariantPotential(["O", "H", "H"], degree=2).fit(R, np.linalg.norm(R[:, 1] - R[:, 2], axis=1)),
    }
    said = {}
    for name, model in models.items():
        model.save(tmp_path / f"{name}.specavg")
        code, said[name], _ = run(capsys, "info", str(tmp_path / f"{name}.specavg"))
        assert code == 0
        assert type(model).__name__ in said[name].splitlines()[0]
    for line in ("space       Sphere(3)", "group       point_group('Oh')", f"spectrum    {models['ridge'].spectrum_}"):
        assert line in said["ridge"]
    assert f"functions   {models['ridge'].basis_.dim} invariant of" in said["ridge"]
    assert ", eigenvalues up to" in said["ridge"]
    assert ", values of the order 'few coordinates' up to" in said["few"]
    assert "predicts    one number, and its deviation (return_std)" in said["ridge"]
    assert "outputs that move with the points ('vector'), and their deviations" in said["vectors"]
    assert "predicts    2 numbers, and their deviations (return_std)" in said["two"]
    assert "the logarithm of a density" in said["density"]
    assert "molecule    O H H" in said["water"]
    assert "permutations of the atoms [(1, 2)]" in said["water"]
    assert "predicts    an energy, and forces" in said["water"]
    code, _, problem = run(capsys, "info")
    assert (code, "give --space SPACE, or the file of a saved model" in problem) == (2, True)
    code, _, problem = run(capsys, "info", str(tmp_path / "ridge.specavg"), "--space", "torus:2")
    assert (code, "give its file alone" in problem) == (2, True)
    code, _, problem = run(capsys, "info", str(tmp_path / "none.specavg"))
    assert (code, "there is no such file" in problem) == (1, True)


def test_a_potential_predicts_energies_of_a_table(capsys, tmp_path):
    R = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(30, 3, 3))
    model = sa.InvariantPotential(["O", "H", "H"]).fit(R, np.linalg.norm(R[:, 1] - R[:, 2], axis=1))
    path, table = str(tmp_path / "water.specavg"), str(tmp_path / "r.parquet")
    model.save(path)
    pd.DataFrame(R.reshape(-1, 9), columns=list("abcdefghi")).to_parquet(table)
    assert "takes       9 columns: x, y and z of each atom" in run(capsys, "info", path)[1]
    code, _, problem = run(capsys, "predict", path, table, "--std", "-o", str(tmp_path / "p.parquet"))
    assert (code, problem) == (0, "")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "p.parquet").T, model.predict(R, return_std=True))
    code, _, problem = run(capsys, "predict", path, table, "--features", "a,b,c")
    assert (code, "was fitted on 9 columns, but" in problem) == (1, True)
    code, _, problem = run(capsys, "predict", path, table, "--lonlat")
    assert (code, "--lonlat is for angles" in problem) == (2, True)


def test_files_of_another_kind_are_named(capsys):
    for options in (("--space", "torus:2", "--group", "g.yaml"), ("--space", "s.txt")):
        code, _, problem = run(capsys, "info", *options, "--max-dim", "5")
        assert (code, "files of spaces and groups are .toml or .json" in problem) == (2, True)


def test_info_forecasts_without_solving(capsys):
    code, out, _ = run(capsys, "info", "--space", "sphere:9", "--max-dim", "1e6", "--plan")
    assert code == 0
    assert "plan of a basis on Sphere(9)" in out
    assert "seconds" in out


def test_fit_and_predict_from_csv_and_parquet(here, capsys):
    exact = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}  # which pandas 3 does by itself
    X = pd.read_csv("new.csv", **exact)
    for data in ("data.csv", "data.parquet"):
        code, out, err = run(capsys, "fit", data, *FIT, "-o", "model.specavg")
        assert (code, err) == (0, "")
        assert "saved to model.specavg" in out
        model = sa.load("model.specavg")
        assert list(model.feature_names_in_) == ["a", "b"]
        expected = model.predict(X)
        for output in ("p.csv", "p.parquet", "p.csv.gz", "p.tsv"):
            assert run(capsys, "predict", "model.specavg", "new.csv", "-o", output)[0] == 0
            # One column: no separators.
            found = pd.read_parquet(output) if "parquet" in output else pd.read_csv(output, **exact)
            np.testing.assert_allclose(found["prediction"], expected, rtol=1e-15)
    code, out, _ = run(capsys, "predict", "model.specavg", "both.csv", "--std")
    lines = out.splitlines()
    assert (code, lines[0], len(lines)) == (0, "prediction,std", 301)


def test_an_index_of_pandas_is_a_column(here, capsys):
    pd.read_parquet("data.parquet").set_index("a").to_parquet("indexed.parquet")
    outputs = []
    for data in ("data.parquet", "indexed.parquet"):
        assert run(capsys, "fit", data, *FIT, "--features", "a,b", "-o", "i.specavg")[0] == 0
        assert run(capsys, "predict", "i.specavg", data, "-o", "i.csv")[0] == 0
        outputs.append((here / "i.csv").read_text())
    assert outputs[0] == outputs[1]


def test_a_table_larger_than_the_memory_limit_is_streamed(here, capsys):
    with sa.config(memory_limit=40_000):
        code, _, err = run(capsys, "fit", "data.csv", *FIT, "-o", "model.specavg")
    assert (code, err) == (0, "")
    assert sa.load("model.specavg").solver_ == "moments"


@pytest.mark.parametrize("name", ["many.csv", "many.parquet"])
@pytest.mark.parametrize("rows", [450, 1100], ids=["few rows", "many rows"])
def test_pieces_have_the_bits_of_the_whole_table(here, capsys, monkeypatch, name, rows):
    monkeypatch.setattr(_tables, "_PIECE_ROWS", 200)  # every piece alone would be few
    assert run(capsys, "fit", "data.csv", *FIT, "-o", "model.specavg")[0] == 0
    X = sa.Torus(2).sample(rows, random_state=5)
    frame = pd.DataFrame(X, columns=list(sa.load("model.specavg").feature_names_in_))
    frame.to_parquet(name) if name.endswith("parquet") else frame.to_csv(name, index=False)
    assert run(capsys, "predict", "model.specavg", name, "-o", "out.parquet")[0] == 0
    found = pd.read_parquet("out.parquet")["prediction"].to_numpy()
    np.testing.assert_array_equal(found, sa.load("model.specavg").predict(frame))


@pytest.mark.parametrize("limit", [None, 40_000], ids=["in memory", "streamed"])
def test_weights_are_a_column(here, capsys, limit):
    frame = pd.read_csv("data.csv")
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(frame))
    frame.assign(w=weights).to_csv("weighted.csv", index=False, float_format="%.17g")
    with sa.config(memory_limit=limit) if limit else contextlib.nullcontext():
        code, _, err = run(capsys, "fit", "weighted.csv", *FIT, "--weights", "w", "-o", "weighted.specavg")
    assert (code, err) == (0, "")
    found, target = sa.load("weighted.specavg"), FIT[FIT.index("--target") + 1]
    X, y = frame.drop(columns=target), frame[target]
    expected = clone(found)
    expected.fit(X, y, weights) if limit is None else expected.fit(iter([(X.to_numpy(), y.to_numpy(), weights)]))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-9 * np.abs(expected.coef_).max())
    assert np.abs(found.coef_ - clone(found).fit(X, y).coef_).max() > 1e-9 * np.abs(expected.coef_).max()


def test_weights_that_are_none_are_refused_with_their_row(here, capsys):
    frame = pd.read_csv("data.csv")
    frame.assign(w=np.where(np.arange(len(frame)) == 3, -1.0, 1.0)).to_csv("weighted.csv", index=False)
    code, _, err = run(capsys, "fit", "weighted.csv", *FIT, "--weights", "w", "-o", "m")
    assert (code, "the weight in row 4 is negative" in err) == (1, True)
    code, _, err = run(capsys, "fit", "weighted.csv", *FIT, "--weights", "v", "-o", "m")
    assert (code, "has no column 'v'" in err) == (1, True)


def test_checks_and_searches_take_weights(here, capsys):
    """Rows that weigh nothing hide that y is even."""
    frame = pd.read_csv("both.csv")
    used = np.arange(len(frame)) % 3 > 0
    frame["y"] = np.where(used, frame["y"], 50 * np.sin(np.pi * frame["a"]))
    frame.assign(w=1.0 * used).to_csv("weighted.csv", index=False)
    rest = ["--features", "a,b", "--target", "y", "--space", "torus:2", "--group", "sign_flips:2"]
    assert [run(capsys, "check", "weighted.csv", *rest, *more)[0] for more in ([], ["--weights", "w"])] == [3, 0]
    for held in (True, False):  # whole, and in chunks
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("specavg.cli._tables.Table.fits_in_memory", lambda self, n_columns, held=held: held)
            _, out, err = run(capsys, "discover", "weighted.csv", *rest, "--weights", "w")
        assert "of order 4" in out, err


def test_several_targets_and_the_mean(here, capsys):
    rest = ["--space", "torus:2", "--max-invariant-dim", "9", "--quiet", "-o", "m"]
    code, out, _ = run(capsys, "fit", "both.csv", "--target", "y,z", "--model", "mean", *rest)
    assert (code, out) == (0, "")
    _, out, _ = run(capsys, "predict", "m", "new.csv")
    assert out.startswith("prediction_y,prediction_z\n")
    model = sa.load("m")
    model.fit(pd.read_csv("new.csv"), SPACE.sample(300, random_state=1))  # without names of targets
    del model.target_names_
    model.save("m")
    assert run(capsys, "predict", "m", "new.csv")[1].startswith("prediction_0,prediction_1\n")


def test_targets_that_move_as_a_vector(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--group", "sign_flips:2", "--max-eigenvalue", "20", "-o", "m"]
    code, out, _ = run(capsys, "fit", "both.csv", "--target", "y,z", "--targets-are", "vector", *rest)
    assert code == 0
    assert "equivariant functions" in out
    model = sa.load("m")
    X = pd.read_csv("new.csv")
    np.testing.assert_array_equal(model.predict(-X), -model.predict(X))
    code, out, _ = run(capsys, "predict", "m", "new.csv", "--std")
    assert code == 0
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["prediction_y", "prediction_z", "std_y", "std_z"]
    np.testing.assert_allclose(found, np.hstack(model.predict(X, return_std=True)), rtol=1e-12)
    code, _, err = run(capsys, "fit", "both.csv", "--target", "y", "--targets-are", "vector", *rest)
    assert code == 2
    assert "needs 2 targets; got 1" in err


def test_a_density_on_a_box_says_what_it_is_relative_to(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = sa.Power(sa.Interval(0, 2), 2)
    pd.DataFrame(box.sample(100, random_state=0), columns=["a", "b"]).to_csv("points.csv", index=False)
    code, out, _ = run(capsys, "fit", "points.csv", "--space", "interval:0,2^2", "--max-dim", "6", "-o", "m.specavg")
    assert code == 0
    assert "divide by π√((x − low)(high − x)) for each such column" in out
    # Divided so, the density has the integral one over the box: the middle of cells that are narrow at its ends.
    theta = (np.arange(200) + 0.5) * np.pi / 200
    x, dx = 1 - np.cos(theta), np.diff(1 - np.cos(np.arange(201) * np.pi / 200))
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    values = sa.load("m.specavg").density(pd.DataFrame(grid, columns=["a", "b"]))
    per_unit = values / np.prod(np.pi * np.sqrt(grid * (2 - grid)), axis=1)
    assert per_unit @ np.outer(dx, dx).ravel() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("unit", ["degrees", "radians"])
def test_densities_of_orientations_by_their_angles(here, capsys, monkeypatch, held, unit):
    if not held:
        monkeypatch.setattr(_tables.Table, "fits_in_memory", lambda self, n_columns: False)
    rng = np.random.default_rng(0)
    angles = np.abs([35.0, 45.0, 90.0] + 10 * rng.standard_normal((200, 3))) * (1 if unit == "degrees" else np.pi / 180)
    weights = rng.integers(1, 4, 200)
    names = ["phi1", "Phi", "phi2"]
    pd.DataFrame(angles, columns=names).assign(size=weights).to_csv("grains.csv", index=False)
    rest = [
        "--space",
        "rotations",
        "--euler",
        f"bunge:{unit}",
        "--group",
        "crystal_symmetry:O",
        "--max-eigenvalue",
        "72",
    ]
    code, out, err = run(capsys, "fit", "grains.csv", *rest, "--weights", "size", "-o", "texture.specavg")
    assert (code, err) == (0, "")
    assert "density relative to uniform points, form 'exponential'" in out
    X = sa.spaces.rotations_from_bunge(angles, degrees=unit == "degrees")
    group = groups.crystal_symmetry("O")
    model = sa.InvariantDensity(sa.Rotations(), group, max_eigenvalue=72)
    wanted = (model.fit(X, sample_weight=weights) if held else model.fit(iter([(X, weights)]))).density(X)
    run(capsys, "predict", "texture.specavg", "grains.csv", "-o", "densities.csv")
    np.testing.assert_allclose(pd.read_csv("densities.csv")["density"], wanted, rtol=1e-6)
    said = run(capsys, "info", "texture.specavg")[1]
    assert f"takes       3 columns: phi1, Phi, phi2 (--euler bunge:{unit})" in said
    other = 180 / np.pi if unit == "radians" else np.pi / 180
    pd.DataFrame(other * angles, columns=list("abc")).to_csv("other.csv", index=False)
    other = "bunge:radians" if unit == "degrees" else "bunge:degrees"
    out = run(capsys, "predict", "texture.specavg", "other.csv", "--euler", other, "--features", "a,b,c")[1]
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["density"], wanted, rtol=1e-6)


@pytest.mark.parametrize("held", [True, False])
def test_longitude_and_latitude_are_points_of_the_sphere(here, capsys, monkeypatch, held):
    if not held:
        monkeypatch.setattr(_tables.Table, "fits_in_memory", lambda self, n_columns: False)
    places = np.random.default_rng(0).uniform([0, -90], [360, 90], (300, 2))
    lon, lat = np.deg2rad(places).T
    frame = pd.DataFrame(places, columns=["lon", "lat"]).assign(t=np.cos(lat) * np.cos(lon) + np.sin(lat) ** 2)
    frame.to_csv("t.csv", index=False)
    rest = ["--target", "t", "--space", "sphere:3", "--lonlat", "--max-eigenvalue", "20"]
    assert run(capsys, "fit", "t.csv", *rest, "-o", "m.specavg")[0] == 0
    out = run(capsys, "predict", "m.specavg", "t.csv")[1]
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["prediction"], frame["t"], atol=1e-6)
    assert "takes       2 columns: lon, lat (--lonlat)" in run(capsys, "info", "m.specavg")[1]
    frame[["lat", "lon", "t"]].to_csv("swapped.csv", index=False)
    code, _, err = run(capsys, "fit", "swapped.csv", *rest, "-o", "other.specavg")
    assert code != 0
    assert "the columns are lat,lon: give --features lon,lat" in err
    frame.rename(columns={"lat": "a", "lon": "b"})[["a", "b", "t"]].to_csv("swapped.csv", index=False)
    code, _, err = run(capsys, "fit", "swapped.csv", *rest, "-o", "other.specavg")
    assert code != 0
    assert "--features LONGITUDE,LATITUDE names them in this order" in err
    assert run(capsys, "fit", "swapped.csv", *rest, "--features", "b,a", "-o", "other.specavg")[0] == 0


@pytest.mark.parametrize("spelling", [str, str.upper, lambda name: name.replace("phi", "φ").replace("Phi", "Φ")])
def test_columns_named_as_angles_are_not_taken_in_another_order(here, capsys, spelling):
    names = [spelling(name) for name in ("phi1", "Phi", "phi2")]
    angles = np.abs([35.0, 45.0, 90.0] + 10 * np.random.default_rng(0).standard_normal((200, 3)))
    pd.DataFrame(angles, columns=names)[names[::-1]].to_csv("grains.csv", index=False)
    rest = ["--space", "rotations", "--euler", "bunge:degrees", "--max-eigenvalue", "12"]
    code, _, err = run(capsys, "fit", "grains.csv", *rest, "-o", "m.specavg")
    assert code == 2
    assert f"the columns are {','.join(names[::-1])}: give --features {','.join(names)}" in err
    assert run(capsys, "fit", "grains.csv", *rest, "--features", ",".join(names), "-o", "m.specavg")[0] == 0
    out = run(capsys, "predict", "m.specavg", "grains.csv")[1]  # by the names that the fit was told
    X = sa.spaces.rotations_from_bunge(angles, degrees=True)
    wanted = sa.InvariantDensity(sa.Rotations(), max_eigenvalue=12).fit(X).density(X)
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["density"], wanted, rtol=1e-6)
    sa.InvariantDensity(sa.Rotations(), max_eigenvalue=12).fit(X).save("made.specavg")  # on matrices, without names
    code, _, err = run(capsys, "predict", "made.specavg", "grains.csv", "--euler", "bunge:degrees")
    assert (code, f"give --features {','.join(names)}" in err) == (2, True)


def test_blanks_around_the_names_of_a_header_are_not_part_of_them(here, capsys):
    x = np.linspace(-1, 1, 60)
    rows = "\n".join(f"{a:.17g}, {np.cos(np.pi * a):.17g}" for a in x)
    (here / "blank.csv").write_text(f"h , y\n{rows}\n")
    assert run(capsys, "fit", "blank.csv", "--target", "y", "--space", "torus:1", "-o", "m.specavg")[0] == 0
    assert list(sa.load("m.specavg").feature_names_in_) == ["h"]
    out = run(capsys, "predict", "m.specavg", "blank.csv")[1]
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["prediction"], np.cos(np.pi * x), atol=1e-6)
    (here / "two.csv").write_text(f"y, y\n{rows}\n")  # here blanks tell columns apart
    code, _, err = run(capsys, "fit", "two.csv", "--target", "z", "--space", "torus:1", "-o", "m.specavg")
    assert code != 0
    assert "it has y, ' y'" in err


def test_angles_are_points_of_regressions_and_searches_too(here, capsys):
    rng = np.random.default_rng(1)
    angles = rng.uniform(0, [360, 180, 360], size=(300, 3))
    X = sa.spaces.rotations_from_bunge(angles, degrees=True)
    frame = pd.DataFrame(angles, columns=["phi1", "Phi", "phi2"]).assign(y=(X**4).sum(axis=(1, 2)))
    frame.to_csv("grains.csv", index=False)
    rest = ["--target", "y", "--space", "rotations", "--euler", "bunge:degrees", "--group", "crystal_symmetry:O"]
    assert run(capsys, "check", "grains.csv", *rest)[0] == 4  # degree 4 has 81 functions, and 300 rows bear 60
    assert run(capsys, "fit", "grains.csv", *rest, "-o", "m.specavg")[0] == 0
    out = run(capsys, "predict", "m.specavg", "grains.csv", "--std")[1]
    assert np.abs(pd.read_csv(io.StringIO(out))["prediction"] - frame["y"]).max() < 0.05
    assert run(capsys, "discover", "grains.csv", *rest, "-o", "found.specavg")[0] == 0
    assert sa.load("found.specavg").euler_columns_ == ["phi1", "Phi", "phi2"]


def test_densities_of_points_keep_the_names_of_columns(here, capsys):
    code, out, _ = run(capsys, "fit", "new.csv", "--space", "torus:2", "--group", "sign_flips:2", "-o", "d.specavg")
    assert code == 0
    assert "saved to d.specavg" in out
    out = run(capsys, "predict", "d.specavg", "data.csv")[1]
    model, frame = sa.load("d.specavg"), pd.read_csv("new.csv")
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["density"], model.density(frame), rtol=1e-12)


def test_check_knows_the_rows_of_a_table_larger_than_memory(here, capsys, monkeypatch):
    # 300 rows: as many functions as for 1,500 of them would be too many.
    arguments = ["check", "data.csv", "--target", "y", "--space", "torus:2", "--group", "sign_flips:2"]
    whole = run(capsys, *arguments)
    monkeypatch.setattr(_tables.Table, "fits_in_memory", lambda self, n_columns: False)
    assert run(capsys, *arguments) == whole


def test_check_says_which_generator_fails(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--group", "sign_flips:2"]
    code, out, _ = run(capsys, "check", "both.csv", "--target", "y", *rest)
    assert code == 0
    assert "Nothing speaks against the symmetry." in out
    code, out, _ = run(capsys, "check", "both.csv", "--target", "z", *rest)
    assert code == 3
    assert "It fails for generator 1." in out


def test_check_says_what_share_was_not_tested(here, capsys):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 360, 200)
    y = np.cos(np.deg2rad(angle)) + np.cos(6 * np.deg2rad(angle) + 0.5)
    pd.DataFrame({"angle": angle, "y": y}).to_csv("fine.csv", index=False)
    arguments = ["check", "fine.csv", "--target", "y", "--space", "torus:1,period=360", "--group", "sign_flips:1"]
    code, out, _ = run(capsys, *arguments, "--max-dim", "5")
    assert code == 0
    assert re.search(r"Nothing tested speaks against the symmetry. Not tested: [45]\d % of the variance of y.", out)
    assert run(capsys, *arguments)[0] == 3


def test_check_gives_no_verdict_where_most_was_not_tested(here, capsys):
    angle = np.random.default_rng(0).uniform(0, 360, 200)
    y = 0.3 * np.cos(np.deg2rad(angle)) + np.cos(6 * np.deg2rad(angle) + 0.5)  # 8 % and 92 % of the variance
    pd.DataFrame({"angle": angle, "y": y}).to_csv("fine.csv", index=False)
    arguments = ["check", "fine.csv", "--target", "y", "--space", "torus:1,period=360", "--group", "sign_flips:1"]
    code, out, _ = run(capsys, *arguments, "--max-dim", "5")
    assert code == 4
    last = out.strip().splitlines()[-1]
    tested, untested = map(float, re.findall(r"([\d.]+) %", last))
    assert last.startswith("The data cannot tell whether it holds: the functions compared explain")
    assert tested < 15
    assert 80 < untested <= 100 - tested + 1
    assert "It is tested if --max-dim is left out." in out
    assert run(capsys, *arguments)[0] == 3


def test_a_doubtful_rejection_is_no_failure(here, capsys):
    """Columns of unlike distributions, and a jump with the symmetry of all permutations."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.beta(a, b, 600) for a, b in [(2, 5), (5, 2), (1, 1), (3, 3)]])
    y = (X.max(axis=1) > 0.8) * 1.0
    y += 0.1 * y.std() * rng.standard_normal(600)
    pd.DataFrame(np.column_stack([X, y]), columns=list("abcdy")).to_csv("uneven.csv", index=False)
    space, group = ["--space", "interval:0,1^4"], ["--group", "symmetric:4"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, out, _ = run(capsys, "check", "uneven.csv", "--target", "y", *space, *group)
    assert code == 4
    assert "the points are spread unevenly over their orbits" in out
    assert "The data cannot tell whether it holds." in out


def test_points_that_cannot_tell_are_no_failure(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--group", "sign_flips:2"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # as outside of the tests, where a warning is no error
        code, out, err = run(capsys, "check", "same.csv", "--target", "y", *rest)
    assert code == 4
    assert "The data cannot tell whether it holds." in out
    assert "warning: The points cannot tell" in err


def test_check_tests_fields(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--target", "y"]
    code, out, err = run(capsys, "check", "both.csv", *rest, "--group", "shifts:1,-1")
    assert code == 3, err
    assert "It fails for field 0." in out
    code, _, err = run(capsys, "check", "both.csv", *rest, "--group", "trivial:2")
    assert code == 2
    assert "moves nothing: there is no symmetry to check" in err


def test_a_discovered_model_keeps_the_names_of_columns(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--group", "sign_flips:2", "--quiet"]
    assert run(capsys, "discover", "both.csv", "--target", "z", *rest, "-o", "found.specavg")[0] == 0
    model, table = sa.load("found.specavg"), pd.read_csv("new.csv")
    assert list(model.feature_names_in_) == ["a", "b"]
    table[["b", "a"]].to_csv("swapped.csv", index=False)
    code, out, err = run(capsys, "predict", "found.specavg", "swapped.csv")
    assert code == 0, err
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out)).iloc[:, 0], model.predict(table[["a", "b"]]), rtol=1e-12)
    with pytest.MonkeyPatch.context() as patch:  # in chunks
        patch.setattr("specavg.cli._tables.Table.fits_in_memory", lambda self, n_columns: False)
        assert run(capsys, "discover", "both.csv", "--target", "z", *rest, "-o", "chunks.specavg")[0] == 0
    assert list(sa.load("chunks.specavg").feature_names_in_) == ["a", "b"]


def test_discover_finds_the_symmetry_and_saves_its_model(here, capsys):
    rest = ["--features", "a,b", "--space", "torus:2", "--group", "sign_flips:2", "--quiet"]
    code, out, _ = run(capsys, "discover", "both.csv", "--target", "y", *rest, "-o", "found.specavg")
    assert code == 0
    assert "of order 4" in out
    assert sa.load("found.specavg").basis_.group.order == 4
    code, out, _ = run(capsys, "discover", "both.csv", "--target", "z", *rest)
    assert code == 0
    assert "of order 2" in out


def test_group_files_with_exact_fractions(here, capsys):
    code, out, _ = run(capsys, "info", "--space", "torus:2", "--group", "flips.toml", "--max-dim", "20")
    assert code == 0
    assert "Group('flips'), order 4, 2 generators" in out
    (here / "flips.json").write_text(json.dumps({"group": {"generators": [{"kind": "shift", "shift": ["1/3", 0]}]}}))
    code, out, _ = run(capsys, "info", "--space", "torus:2", "--group", "flips.json", "--max-dim", "20")
    assert code == 0
    assert "order 3" in out
    (here / "turn.toml").write_text('generators = [{ kind = "shift", degrees = [120, 0] }]')
    code, out, _ = run(capsys, "info", "--space", "torus:2", "--group", "turn.toml", "--max-dim", "20")
    assert code == 0
    assert "order 3" in out


def test_a_misspelt_field_of_a_shift_is_named(here, capsys):
    (here / "turn.toml").write_text('generators = [{ kind = "shift", degree = [120, 0] }]')
    code, _, said = run(capsys, "info", "--space", "torus:2", "--group", "turn.toml", "--max-dim", "20")
    assert code == 1
    assert "no field 'degree'" in said
    assert "degrees = [120]" in said


@pytest.mark.parametrize("shift", ["[120, 0]", '["120", 0]', "[0, -1.5]"])
def test_group_files_with_whole_periods_are_refused(here, capsys, shift):
    (here / "turn.toml").write_text(f'generators = [{{ kind = "shift", shift = {shift} }}]')
    code, _, said = run(capsys, "info", "--space", "torus:2", "--group", "turn.toml", "--max-dim", "20")
    assert code == 1
    assert "whole periods move nothing" in said


@pytest.mark.parametrize("command", ["", "info", "fit", "predict", "check", "discover", "reproduce"])
def test_help_has_examples(capsys, command):
    code, out, _ = run(capsys, *command.split(), "--help")
    assert code == 0
    assert "example" in out


# --- what goes wrong --------------------------------------------------------------------------------------

TORUS = ["--space", "torus:2"]
BAD = {
    "no command": ([], 2, "required: COMMAND"),
    "an unknown space": (["info", "--space", "klein:2"], 2, "there is no space 'klein:2'; spaces are torus:10"),
    "a bad number": (["info", "--space", "torus:x"], 2, "'x' is not a whole number"),
    "an unknown group": (["info", *TORUS, "--group", "monster:1"], 2, "there is no group 'monster:1'"),
    "two cutoffs": (["info", *TORUS, "--max-dim", "3", "--max-eigenvalue", "3"], 2, "not allowed with"),
    "a group of another size": (
        ["info", *TORUS, "--group", "sign_flips:3"],
        2,
        "generator 0 of sign_flips\\(3\\) does not fit",
    ),
    "no dimension": (["info", "--space", "torus:0"], 2, "--space torus:0: Torus needs a dimension d ≥ 1"),
    "a space too large": (["info", "--space", "torus:99999999999999"], 2, "--space torus:99999999999999: "),
    "an open parenthesis": (["info", "--space", "(torus:2"], 2, "parentheses do not match"),
    "a closed parenthesis": (["info", "--space", "torus:2)*circle"], 2, "parentheses do not match"),
    "no multiple of pi": (["info", "--space", "torus:2,period=xpi"], 2, "'xpi' is not a number"),
    "an unknown experiment": (["reproduce", "--only", "figure-9"], 2, "no experiment 'figure-9'; there are figure-1"),
    "a penalty of zero": (["reproduce", "--lambda", "0"], 2, "λ must be positive"),
    "a group of other coordinates": (["reproduce", "--group", "sign_flips:3"], 2, "has 10 coordinates"),
    "a size of another experiment": (
        ["reproduce", "--only", "rate,weyl", "--n", "50"],
        2,
        "--n changes figure-1 and figure-2",
    ),
    "a penalty of another experiment": (
        ["reproduce", "--only", "weyl", "--lambda", "9"],
        2,
        "--lambda changes figure-1",
    ),
    "sizes that fall": (["reproduce", "--n", "100,50"], 2, "must increase"),
    "a negative cutoff": (["info", *TORUS, "--max-dim", "-5"], 2, "--max-dim must be"),
    "a cutoff too large": (["info", *TORUS, "--max-invariant-dim", "1e12"], 2, "must be at most 1e\\+07"),
    "a negative penalty": (["fit", "data.csv", *FIT, "--alpha", "-1", "-o", "m"], 2, "--alpha must be positive"),
    "no target": (["fit", "data.csv", "--target", " ", *TORUS, "-o", "m"], 2, "--target names no column"),
    "a column twice": (["fit", "data.csv", *FIT, "--features", "a,a", "-o", "m"], 2, "'a' is asked for twice"),
    "a target among the features": (["fit", "data.csv", *FIT, "--features", "a,y", "-o", "m"], 2, "'y' is asked for"),
    "rows of uneven length": (["fit", "ragged.csv", *FIT, "-o", "m"], 1, "Expected 3 fields in line 4, saw 5"),
    "rows longer than the header": (["fit", "long.csv", *FIT, "-o", "m"], 1, "more fields than its first line"),
    "an output that is the input": (["fit", "data.csv", *FIT, "-o", "data.csv"], 2, "data.csv is an input"),
    "no such file": (["fit", "nowhere.csv", *FIT, "-o", "m"], 1, "nowhere.csv: there is no such file"),
    "no such kind of file": (["fit", "data.xlsx", *FIT, "-o", "m"], 2, "must end in .csv"),
    "an empty file": (["fit", "empty.csv", *FIT, "-o", "m"], 1, "empty.csv is empty"),
    "no rows": (["fit", "header.csv", *FIT, "-o", "m"], 1, "header.csv has no rows"),
    "no such target": (["fit", "new.csv", *FIT, "-o", "m"], 1, "has no column 'y'; it has a, b"),
    "too many columns": (["fit", "both.csv", *FIT, "-o", "m"], 1, "3 feature columns \\(a, b, z\\) but points of"),
    "a missing value": (["fit", "holes.csv", *FIT, "-o", "m"], 1, "column 'b', row 123 is missing"),
    "a word": (["fit", "words.csv", *FIT, "-o", "m"], 1, "column 'b', row 123 is 'oops', not a finite number"),
    "no folder for the output": (["fit", "data.csv", *FIT, "-o", "no/m"], 1, "the folder no does not exist"),
    "points off the manifold": (
        ["fit", "data.csv", "--target", "y", "--space", "sphere:2", "-o", "m"],
        1,
        "300 of 300 points are not on Sphere\\(2\\)",
    ),
    "a bad generator": (["info", *TORUS, "--group", "bad.toml"], 1, r"bad.toml: group.generators\[0\]: not a perm"),
    "a broken file": (["info", *TORUS, "--group", "broken.toml"], 1, "broken.toml cannot be read"),
    "a file that is no model": (["predict", "data.csv", "new.csv"], 1, "not a readable zip file"),
    "no model": (["predict", "nowhere", "new.csv"], 1, "nowhere: there is no such file"),
    "a level that is none": (
        ["discover", "data.csv", "--target", "y", *TORUS, "--group", "sign_flips:2", "--level", "2"],
        2,
        "--level must lie between 0 and 1",
    ),
    "a point group by its name alone": (["info", "--space", "sphere:3", "--group", "Oh"], 2, "write point_group:Oh"),
    "nothing to check": (["check", "data.csv", "--target", "y", *TORUS], 2, "moves nothing"),
    "too few permutations": (
        ["check", "data.csv", "--target", "y", *TORUS, "--group", "sign_flips:2", "--permutations", "99"],
        2,
        "no p-value below 0.01, so that nothing could fail at the level 0.01: give at least 100",
    ),
    "two targets of a test": (
        ["check", "both.csv", "--target", "y,z", *TORUS, "--group", "sign_flips:2"],
        2,
        "give one --target at a time; got 2",
    ),
    "an impossible level": (
        ["check", "data.csv", "--target", "y", *TORUS, "--group", "sign_flips:2", "--level", "2"],
        2,
        "--level must lie between 0 and 1",
    ),
    "a range without end": (
        ["fit", "data.csv", *FIT, "--features", "x1..9999999999", "-o", "m"],
        2,
        "more than 1,000,000",
    ),
    "a dimension without end": (
        ["fit", "data.csv", "--target", "y", "--space", "torus:1000000000", "-o", "m"],
        2,
        "at most",
    ),
    "a group without end": (["info", *TORUS, "--group", "symmetric:99999999999"], 2, "at most 1,000,000 coordinates"),
    "copies without end": (["info", "--space", "torus:1^99999999999999999999"], 2, "at most 1,000,000 coordinates"),
    "two columns of one name": (["fit", "twins.csv", *FIT, "-o", "m"], 1, "has two columns 'a'"),
    "semicolons": (["fit", "semicolons.csv", *FIT, "-o", "m"], 1, "is separated by ';': write commas"),
    "no names": (["fit", "nameless.csv", *FIT, "-o", "m"], 1, "its first line must name the columns"),
    "dates": (["fit", "dates.parquet", *FIT, "-o", "m"], 1, "column 'y' holds dates or times"),
    "another encoding": (["fit", "utf16.csv", *FIT, "-o", "m"], 1, "cannot be read as CSV: it is not text in UTF-8"),
    "no Parquet": (["fit", "not.parquet", *FIT, "-o", "m"], 1, "cannot be read as Parquet"),
    "a folder": (["fit", "folder.csv", *FIT, "-o", "m"], 1, "folder.csv is a folder"),
    "standard input": (["fit", "-", *FIT, "-o", "m"], 2, "the name must end in .csv"),
    "a folder as output": (["fit", "data.csv", *FIT, "-o", "folder.csv"], 1, "is a folder; give the name of a file"),
    "a folder as model": (["predict", "folder.csv", "new.csv"], 1, "folder.csv: Is a directory"),
    "a report in a file": (["reproduce", "--out", "data.csv"], 1, "data.csv is a file; --out names a folder"),
    "nothing to discover": (["discover", "data.csv", "--target", "y", *TORUS], 2, "trivial\\(2\\) moves nothing"),
    "no folder for what is discovered": (
        ["discover", "data.csv", "--target", "y", *TORUS, "--group", "sign_flips:2", "-o", "no/m"],
        1,
        "the folder no does not exist",
    ),
    "an empty interval": (["info", "--space", "interval:1,0"], 2, "needs finite ends low < high"),
    "a period of zero": (["info", "--space", "torus:2,period=0"], 2, "periods must be positive"),
    "a sphere of two points": (["info", "--space", "sphere:1"], 2, "needs d ≥ 2"),
    "a direction that is none": (["info", *TORUS, "--group", "shifts:0,0"], 2, "none of them zero"),
    "an unknown output": (
        ["fit", "data.csv", *FIT, "--targets-are", "blob", "-o", "m"],
        2,
        "no output is called 'blob'",
    ),
    "angles without a unit": (
        ["fit", "new.csv", "--space", "rotations", "--euler", "bunge", "-o", "m"],
        2,
        "must be bunge:degrees or bunge:radians",
    ),
    "angles of other points": (["fit", "new.csv", *TORUS, "--euler", "bunge:degrees", "-o", "m"], 2, "for --space rot"),
    "angles without their name": (
        ["fit", "data.csv", "--space", "rotations", "-o", "m"],
        1,
        "three Euler angles are told by --euler; without --target all",
    ),
    "two angles": (
        ["fit", "new.csv", "--space", "rotations", "--euler", "bunge:degrees", "-o", "m"],
        1,
        "2 feature columns \\(a, b\\) but Euler angles are 3",
    ),
    "places of other points": (
        ["fit", "new.csv", *TORUS, "--lonlat", "-o", "m"],
        2,
        "--lonlat is for --space sphere:3",
    ),
    "places without their name": (
        ["fit", "new.csv", "--space", "sphere:3", "-o", "m"],
        1,
        "2 feature columns \\(a, b\\) but points of Sphere\\(3\\) have 3.*longitude and latitude are told by --lonlat",
    ),
    "three periods for two": (["fit", "new.csv", "--space", "torus:2,period=1,2,3", "-o", "m"], 2, "or 2 numbers"),
    "no column to learn": (["fit", "new.csv", *TORUS, "--model", "ridge", "-o", "m"], 2, "ridge needs --target"),
    "a density of a target": (["fit", "data.csv", *FIT, "--model", "density", "-o", "m"], 2, "takes no --target"),
    "a penalty for a density": (["fit", "new.csv", *TORUS, "--alpha", "1", "-o", "m"], 2, "the density has no pen"),
    "targets of a density": (["fit", "new.csv", *TORUS, "--targets-are", "vector", "-o", "m"], 2, "has no targets"),
    "a penalty for the mean": (
        ["fit", "data.csv", *FIT, "--model", "mean", "--alpha", "1", "-o", "m"],
        2,
        "--alpha is for --model ridge",
    ),
}


@pytest.mark.parametrize("command, several", [("fit", True), ("check", False), ("discover", False)])
def test_help_says_how_many_targets(capsys, command, several):
    _, out, _ = run(capsys, command, "--help")
    assert ("several with commas" in out) is several


@pytest.mark.parametrize("kind", BAD)
def test_mistakes_get_one_line_and_a_code(here, capsys, kind):
    arguments, code, complaint = BAD[kind]
    before = sorted(p.name for p in here.iterdir())
    found, out, err = run(capsys, *arguments)
    assert found == code
    assert out == ""
    line = err.strip().splitlines()[-1]  # argparse prints its usage before
    assert line.startswith("specavg")
    assert re.search(complaint, line), line
    assert "Traceback" not in err
    if not err.startswith("usage"):
        assert len(err.strip().splitlines()) == 1
    assert sorted(p.name for p in here.iterdir()) == before


def test_predict_names_the_column_it_misses(here, capsys):
    assert run(capsys, "fit", "data.csv", *FIT, "-o", "m")[0] == 0
    pd.read_csv("new.csv").rename(columns={"b": "c"}).to_csv("renamed.csv", index=False)
    code, _, err = run(capsys, "predict", "m", "renamed.csv")
    assert code == 1
    assert "has no column 'b', which m needs" in err
    assert run(capsys, "predict", "m", "renamed.csv", "--features", "a,c")[0] == 0


def test_no_rows_give_no_predictions(here, capsys):
    assert run(capsys, "fit", "data.csv", *FIT, "-o", "m")[0] == 0
    assert run(capsys, "predict", "m", "header.csv") == (0, "prediction\n", "")


def test_a_failed_prediction_leaves_the_old_file(here, capsys):
    assert run(capsys, "fit", "data.csv", *FIT, "-o", "m")[0] == 0
    (here / "p.csv").write_text("old")
    assert run(capsys, "predict", "m", "holes.csv", "-o", "p.csv")[0] == 1
    assert (here / "p.csv").read_text() == "old"
    assert not [p for p in here.iterdir() if "unfinished" in p.name]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_no_file(here, number, code):
    """A prediction that is waiting for its input when the signal comes."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored by children of a background shell
        "from specavg.cli import main, _tables\n"
        "class Slow:\n"
        "    def write(self, frame):\n"
        "        print('writing', flush=True); time.sleep(60)\n"
        "    def close(self):\n"
        "        pass\n"
        "_tables.open_writer = lambda *paths: Slow()\n"
        "sys.exit(main(['predict', 'm', 'new.csv', '-o', 'p.csv']))\n"
    )
    assert main(["fit", "data.csv", *FIT, "-o", "m", "--quiet"]) == 0
    before = sorted(p.name for p in here.iterdir())
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout.readline() == "writing\n"
        assert [p for p in here.iterdir() if "unfinished" in p.name]
        time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(60) == code
    assert sorted(p.name for p in here.iterdir()) == before


def test_a_closed_pipe_is_not_an_error(here):
    command = f"{sys.executable} -m specavg info --space torus:2 --max-dim 3000 | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["fit --help", "info --space sphere:3 --group point_group:C∞v --max-eigenvalue 20"])
def test_letters_that_an_encoding_lacks_are_no_error(command):
    arguments = [sys.executable, "-m", "specavg", *command.split()]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" in done.stdout


@pytest.mark.parametrize("target", ["/dev/stdout", ">(cat)"])
def test_predictions_go_to_pipes(here, target):
    assert main(["fit", "data.csv", *FIT, "-o", "m", "--quiet"]) == 0
    command = f"{sys.executable} -m specavg predict m new.csv -o {target} | cat"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stderr == ""
    assert len(pd.read_csv(io.StringIO(done.stdout))["prediction"]) == 300


@pytest.mark.parametrize(
    "name, blank, piece", [("gaps.csv", "", 2), ("gaps.csv.gz", "  ", 50_000), ("gaps.tsv", "\r", 4)]
)
def test_blank_lines_between_rows_are_rows_without_values(here, capsys, monkeypatch, name, blank, piece):
    """And those before the first line and after the last are none."""
    monkeypatch.setattr(_tables, "_PIECE_ROWS", piece)
    frame = pd.read_csv("data.csv")
    lines = frame.to_csv(index=False, sep="\t" if name.endswith("tsv") else ",").splitlines()
    opened = gzip.open if name.endswith("gz") else open

    def write(lines):
        with opened(name, "wt", newline="") as file:
            file.write("\n".join(lines) + "\n")

    write([*lines[:5], blank, *lines[5:]])
    group = ["--target", "y", "--space", "torus:2", "--group", "sign_flips:2"]
    assert main(["fit", "data.csv", *FIT, "-o", "m", "--quiet"]) == 0
    for command in (["predict", "m", name], *([verb, name, *group] for verb in ("check", "discover", "fit"))):
        code, out, err = run(capsys, *command, *(["-o", "n"] if command[0] == "fit" else []))
        assert (code, out) == (1, "")
        assert re.search("column 'a', row 5 is (missing|' +', not a finite number)", err), err
    write([blank, *lines, blank, blank])
    assert run(capsys, "predict", "m", name)[1] == run(capsys, "predict", "m", "data.csv")[1]


def test_a_blank_line_is_a_missing_number_of_a_single_column(tmp_path):
    (tmp_path / "x.csv").write_text("x\n0.0\n\n1.0\n")
    with pytest.raises(_tables.UserError, match="column 'x', row 2 is missing"):
        list(open_table(tmp_path / "x.csv").pieces(["x"]))
    (tmp_path / "x.csv").write_text("x\n0.0\nNA\n\n")
    with pytest.raises(_tables.UserError, match="column 'x', row 2 is missing"):
        list(open_table(tmp_path / "x.csv").pieces(["x"]))


@pytest.mark.parametrize("command", [["check"], ["discover", "-o", "m"], ["fit", "-o", "m"]])
def test_degrees_are_questioned_once_by_every_command(here, capsys, command):
    frame = pd.read_csv("data.csv")
    frame[["a", "b"]] *= 180
    frame.to_csv("degrees.csv", index=False)
    rest = ["degrees.csv", "--target", "y", "--space", "torus:2,period=2pi", "--group", "sign_flips:2", *command[1:]]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, _, err = run(capsys, command[0], *rest)
    assert code == (4 if command[0] == "check" else 0)  # in the wrong unit no function is seen
    assert err.count("periods of Torus(2") == 1


def test_progress_is_shown_on_a_terminal_only(here):
    """Each phase on one line of standard error, which is cleared at the end."""
    pty = pytest.importorskip("pty")
    script = (
        "import time\n"
        "from specavg.cli._progress_bar import Progress\n"
        "with Progress('reading', 200) as progress:\n"
        "    progress(50); time.sleep(1.0)\n"
        "    progress.phase('fitting'); time.sleep(0.6)\n"
        "print('done')\n"
    )
    parent, child = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=child, env=os.environ, check=True
    )
    os.close(child)
    shown = os.read(parent, 10_000).decode()
    os.close(parent)
    assert "reading   25 %  50 rows" in shown
    assert "fitting  0 s" in shown
    assert shown.endswith("\r\033[K")
    assert done.stdout == b"done\n"
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, env=os.environ, check=True)
    assert piped.stderr == b""


def test_a_checked_table_larger_than_memory_is_read_twice(here, capsys):
    """In pieces, with the p-values of the whole."""
    rng = np.random.default_rng(1)
    X = SPACE.sample(1500, random_state=1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["y"] = np.cos(np.pi * X).sum(axis=1) + 0.1 * rng.normal(size=1500)
    frame.to_parquet("more.parquet")
    arguments = [
        "check",
        "more.parquet",
        "--target",
        "y",
        "--space",
        "torus:2",
        "--group",
        "sign_flips:2",
        "--max-dim",
        "60",
    ]
    whole = run(capsys, *arguments)
    with sa.config(memory_limit=200_000):
        table = open_table(here / "more.parquet")
        assert not table.fits_in_memory(3)
    from specavg.cli import _tables

    held = _tables.Table.fits_in_memory
    try:
        _tables.Table.fits_in_memory = lambda self, n_columns: False
        assert run(capsys, *arguments) == whole
    finally:
        _tables.Table.fits_in_memory = held


@pytest.mark.parametrize(
    "group, space, order",
    [
        ("wreath:(point_group:Oh),2", "sphere:3^2", 2 * 48**2),
        ("plane_group:p6m", "hexagonal.toml", 12),
        ("space_group:225", "cube.toml", 192),
        ("space_group:Fm-3m", "cube.toml", 192),
        ("space_group:Fd-3m:2", "cube.toml", 192),
    ],
)
def test_groups_of_copies_and_crystals_have_names_on_the_command_line(group, space, order, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lattices = {
        "hexagonal": [[1.0, 0.0], [-0.5, 0.75**0.5]],
        "cube": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    }
    for name, lattice in lattices.items():
        (tmp_path / f"{name}.toml").write_text(f'kind = "torus"\nlattice = {lattice}\n')
    assert fitting_group(group, space_of(space)).order == order


# --- the words of the command line ------------------------------------------------------------------------

PYTHON = r"\b(sa|np|spaces|groups)\.|\w_\w+ ?=|X\[|X\.|\(X, y|loo_error_|KernelRidge|sample_weight|max_\w+|order="


def columns_of(X, y):
    return pd.DataFrame(X).add_prefix("x").assign(y=y)


def angles_in_degrees():
    X = np.random.default_rng(0).uniform(0, 360, (60, 1))
    return columns_of(X, np.cos(np.deg2rad(X[:, 0])))


def hours_of_a_day():
    X = np.random.default_rng(0).uniform(0, 24, (200, 1))
    return columns_of(X, np.cos(2 * np.pi * X[:, 0] / 24))


def fractions_of_a_turn():
    X = np.random.default_rng(0).random((300, 2))
    return columns_of(X, np.cos(2 * np.pi * X).sum(axis=1))


def odd_values():
    X = SPACE.sample(200, random_state=0)
    return columns_of(X, np.sin(np.pi * X[:, 0]) + np.cos(np.pi * X[:, 1]))


def noise():
    return columns_of(SPACE.sample(200, random_state=0), np.random.default_rng(1).normal(size=200))


def hours_and_days():
    X = np.random.default_rng(0).random((200, 2)) * [24.0, 365.25]
    return columns_of(X, np.cos(2 * np.pi * X[:, 0] / 24))


def forces():
    X = sa.Sphere(3).sample(200, random_state=0)
    return columns_of(X, 0.0).drop(columns="y").assign(**{name: X[:, i] ** 3 for i, name in enumerate("uvw")})


def numbers_of_an_interval():
    X = np.random.default_rng(0).random((300, 1))
    return columns_of(X, X[:, 0] ** 2)


def pairs_by_coordinate():
    X = sa.Power(sa.Torus(2), 2).sample(60, random_state=0)
    return pd.DataFrame(X, columns=["phi1", "phi2", "psi1", "psi2"]).assign(y=np.cos(np.pi * X).sum(axis=1))


SAID = {
    "degrees": (angles_in_degrees, "fit", "circle", "", "give --space torus:1,period=360"),
    "hours": (hours_of_a_day, "fit", "torus:1,period=6", "", "use --space interval:LOW,HIGH"),
    "hours, checked": (hours_of_a_day, "check", "torus:1,period=6", "--group sign_flips:1", "Give --space the period"),
    "fractions": (fractions_of_a_turn, "fit", "torus:2", "", "give --space torus:D,period=1"),
    "odd": (odd_values, "fit", "torus:2", "--group sign_flips:2", "`specavg discover` finds the part"),
    "noise": (noise, "fit", "torus:2", "--group sign_flips:2", "ask `specavg check`"),
    "hours, unseen": (
        hours_of_a_day,
        "check",
        "torus:1,period=6",
        "--group sign_flips:1",
        "errors of `specavg fit` with --group",
    ),
    "units": (hours_and_days, "fit", "torus:2,period=24,365.25", "--max-dim 40", "divide each column by its period"),
    "forces": (forces, "fit", "sphere:3", "--group point_group:Oh --target u,v,w", "give --targets-are vector"),
    "interval": (numbers_of_an_interval, "fit", "interval:0,1", "--model mean", "give --weights, a column"),
    "beyond": (numbers_of_an_interval, "fit", "interval:0,0.5", "", "widen the interval"),
    "copies": (pairs_by_coordinate, "fit", "torus:2^2", "", "--features phi1,psi1,phi2,psi2,..."),
    "constant": (noise, "fit", "torus:2", "--max-invariant-dim 1", "--max-invariant-dim 1 ends before"),
}


@pytest.mark.parametrize("table, command, space, options, said", SAID.values(), ids=SAID)
def test_advice_names_options_of_the_command_line(tmp_path, monkeypatch, capsys, table, command, space, options, said):
    monkeypatch.chdir(tmp_path)
    table().to_csv("table.csv", index=False)
    out = ["-o", "m.specavg", "--quiet"] if command == "fit" else []
    target = [] if "--target" in options else ["--target", "y"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, printed, err = run(capsys, command, "table.csv", "--space", space, *target, *options.split(), *out)
    assert said in printed + err
    assert not re.search(PYTHON, printed + err), printed + err
