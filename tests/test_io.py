"""Saved models: the same bits back, in any process, and one clear sentence for every bad file."""

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import is_dataclass
from fractions import Fraction

import joblib
import numpy as np
import pytest
from cases import CASES
from same_bits import assert_same_bits
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import specavg as sa
from specavg import groups, isometries, spaces
from specavg.groups._structure import Structure
from specavg.io import ModelFileError
from specavg.persistence import (
    DescriptionError,
    describe,
    read,
)
from specavg.persistence._kinds import classes_below, kinds_of

MODELS = {
    "closed form": (sa.Torus(5, period=1.5), groups.sign_flips(5), {"max_invariant_dim": 40}),
    "shifts": (sa.Circle(), groups.dihedral(7), {"max_eigenvalue": 1000}),
    "lattice": (
        sa.Torus(lattice=[[1, 0], [-0.5, 3**0.5 / 2]]),
        groups.Group([isometries.affine([[0, -1], [1, -1]], [Fraction(1, 3), 0])]),
        {"max_invariant_dim": 30},
    ),
    "null space": (sa.Sphere(3), groups.point_group("I"), {"max_eigenvalue": 300}),
    "float matrices": (sa.Sphere(4), groups.Group([np.linalg.qr(np.diag([3.0] * 4) + 1)[0]]), {"max_dim": 60}),
    "polynomials": (sa.Sphere(7), groups.symmetric(7), {"max_invariant_dim": 25}),
    "wreath": (
        sa.Power(sa.Sphere(3), 3),
        groups.wreath(groups.point_group("C3"), 3),
        {"max_invariant_dim": 30},
    ),
    "product": (
        sa.Product(sa.Torus(2), sa.Sphere(3)),
        groups.direct_product(groups.symmetric(2), groups.point_group("D3")),
        {"max_invariant_dim": 30},
    ),
    "rotations": (sa.spaces.Rotations(), groups.point_group("O"), {"max_invariant_dim": 30}),
    "stiefel": (sa.spaces.Stiefel(4, 2), groups.symmetric(4), {"max_invariant_dim": 20}),
}


def fitted(name, outputs=2):
    space, group, cutoff = MODELS[name]
    X = space.sample(120, random_state=0)
    Y = np.cos(X @ np.random.default_rng(1).normal(size=(X.shape[1], outputs)))
    return sa.SpecAvgRegressor(space, group, **cutoff).fit(X, Y)


def test_predictions_have_the_same_bits_here_and_in_another_process(tmp_path):
    expected = {}
    for name, (space, _, _) in MODELS.items():
        model = fitted(name)
        model.save(tmp_path / f"{name}.specavg")
        X = space.sample(200, random_state=5)
        expected[name] = model.predict(X)
        same = sa.load(tmp_path / f"{name}.specavg")
        assert same.space == space
        assert same.get_params() == model.get_params()
        assert same.basis_ == model.basis_
        assert same.basis_.table == model.basis_.table
        assert same.cutoff_ == model.cutoff_
        assert same.oracle_calls_ == model.oracle_calls_
        np.testing.assert_array_equal(same.predict(X), expected[name], err_msg=name)
        np.savez(tmp_path / f"{name}.npz", X=X)
    script = (
        "import sys, pathlib, numpy as np, specavg as sa\n"
        "for file in sorted(pathlib.Path(sys.argv[1]).glob('*.specavg')):\n"
        "    X = np.load(file.with_suffix('.npz'))['X']\n"
        "    np.save(file.with_suffix('.npy'), sa.load(file).predict(X))\n"
    )
    here = os.environ.get("OMP_NUM_THREADS")
    for threads in {here, "2"}:
        settings = {} if threads is None else {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", script, tmp_path], check=True, env={**os.environ, **settings})
        for name, values in expected.items():
            found = np.load(tmp_path / f"{name}.npy")
            if threads == here or name != "stiefel":
                np.testing.assert_array_equal(found, values, err_msg=name)
            else:  # the eigenfunctions themselves come from LAPACK there, and it rounds by threads
                np.testing.assert_allclose(found, values, rtol=0, atol=1e-13)


def estimators():
    space, group = sa.Torus(2), groups.hyperoctahedral(2)
    X = space.sample(80, random_state=0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1))
    cutoff = {"max_invariant_dim": 12}
    yield sa.SpecAvgRegressor(space, group, **cutoff).fit(X, y), "predict", {}
    yield sa.InvariantKernelRidge(space, group, **cutoff).fit(X, y), "predict", {"return_std": True}
    yield sa.InvariantKernelRidge(space, group, **cutoff).fit(iter([(X, y)])), "predict", {"return_std": True}
    yield sa.InvariantKernelRidge(space, group, **cutoff).partial_fit(X, y), "predict", {}
    yield sa.InvariantKernelRidge(max_dim=9, alpha=0.1).fit(X, y), "predict", {}
    vectors = np.sin(np.pi * X) * y[:, None]
    model = sa.EquivariantKernelRidge(space, group, "vector", **cutoff)
    yield model.fit(X, vectors), "predict", {"return_std": True}
    yield clone(model).partial_fit(X, vectors), "predict", {"return_std": True}
    yield sa.InvariantDensity(space, group, **cutoff).fit(X), "score_samples", {}
    yield sa.InvariantDensity(space, group, positive=False, **cutoff).fit(X), "score_samples", {}
    yield sa.InvariantFeatures(space, group, **cutoff).fit(X), "transform", {}
    yield sa.Symmetrized(LinearRegression(), space, group, n_nodes=500, **cutoff).fit(X, y), "predict", {}


def test_every_estimator_comes_back_with_the_same_bits(tmp_path):
    seen = set()
    for model, method, options in estimators():
        model.save(tmp_path / "model")
        seen.add(type(model).__name__)
        Z = sa.Torus(2).sample(60, random_state=1)
        expected = getattr(model, method)(Z, **options)
        for same in (sa.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert type(same) is type(model)
            assert_same_bits(getattr(same, method)(Z, **options), expected, repr(model))
            fitted = {name for name in vars(model) if name.endswith("_")}
            assert {name for name in vars(same) if name.endswith("_")} == fitted
            assert same.cutoff_ == model.cutoff_
    every = {name for name in sa.estimators.__all__ if hasattr(getattr(sa.estimators, name), "save")}
    assert seen == every


def test_symmetrized_saves_its_coefficients_only(tmp_path):
    space, X = sa.Torus(1), np.linspace(-1, 0.9, 30)[:, None]
    forest = RandomForestRegressor(50, random_state=0)
    model = sa.Symmetrized(forest, space, groups.sign_flips(1), max_invariant_dim=5, n_nodes=100).fit(X, X[:, 0])
    model.save(tmp_path / "model")
    same = sa.load(tmp_path / "model")
    assert same.estimator is None
    assert same.estimator_ is None
    assert (tmp_path / "model").stat().st_size < 50_000
    np.testing.assert_array_equal(same.predict(X), model.predict(X))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_space_and_group_comes_back_from_its_description(case):
    for value, kind in ((case.space, spaces.Space), (case.group, groups.Group)):
        text = json.dumps(describe(value), allow_nan=False)
        same = read(json.loads(text), kind, "value")
        assert same == value
        assert hash(same) == hash(value)
        assert repr(same) == repr(value)
        assert json.dumps(describe(same)) == text
    assert read(describe(case.group), groups.Group, "group").order == case.group.order


def test_exact_isometries_stay_exact():
    assert read(json.loads(json.dumps(describe(groups.cyclic(10**40)))), groups.Group, "group") == groups.cyclic(10**40)
    tiny = isometries.shift([Fraction(1, 10**40), Fraction(1, 3)])
    described = describe(tiny)
    assert described["shift"] == [f"1/{10**40}", "1/3"]
    assert read(json.loads(json.dumps(described)), isometries.Isometry, "isometry") == tiny
    assert describe(isometries.shift([0.1]))["shift"] == [0.1]


@pytest.mark.parametrize(
    "description, complaint",
    [
        ({"kind": "permutation", "image": [0, 0]}, "every index must appear exactly once"),
        ({"kind": "permutation", "image": [0, 1.5]}, r"isometry.image\[1\] must be a whole number"),
        ({"kind": "shift", "shift": ["1/0"]}, 'must be a fraction such as "1/3"'),
        ({"kind": "shift", "shift": ["__import__('os')"]}, "must be a fraction"),
        ({"kind": "orthogonal", "matrix": [[1, 0], [0, 2]]}, "not orthogonal"),
        ({"kind": "orthogonal", "matrix": [[1, 0], [0]]}, "rows of one length"),
        ({"kind": "twist"}, "'twist' is not known"),
        ({"kind": "permutation", "image": [0], "imgae": 1}, "'imgae' that does not belong there"),
        ({"kind": "permutation", "imgae": [0]}, "no field 'image', and a field 'imgae' that does not belong there"),
        ([1, 0], "must be a table with named fields"),
    ],
)
def test_bad_descriptions_say_where_and_why(description, complaint):
    with pytest.raises(DescriptionError, match=complaint):
        read(description, isometries.Isometry, "isometry")


# --- files that are not what they should be --------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.specavg"
    fitted("null space").save(path)
    return path.read_bytes()


def entries_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(entries, compression=zipfile.ZIP_STORED, *, sums=True):
    """The bytes of a model file with these entries and, unless told otherwise, true checksums."""
    if sums:
        lines = [f"{hashlib.sha256(d).hexdigest()}  {n}\n" for n, d in entries.items() if n != "SHA256SUMS"]
        entries = {**entries, "SHA256SUMS": "".join(lines).encode()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def changed_document(data, **changes):
    entries = entries_of(data)
    document = {**json.loads(entries["model.json"]), **changes}
    return zipped({**entries, "model.json": json.dumps(document).encode()})


def pickled_array():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


BAD_FILES = {
    "empty": (lambda data: b"", "not a readable zip file"),
    "text": (lambda data: b"hello" * 100, "not a readable zip file"),
    "truncated": (lambda data: data[: len(data) // 2], "not a readable zip file"),
    "a changed array": (
        lambda data: zipped(
            {**entries_of(data), "arrays/coef.npy": entries_of(data)["arrays/coef.npy"][:-1] + b"\x01"}, sums=False
        ),
        "arrays/coef.npy does not match its checksum",
    ),
    "a changed byte": (lambda data: data.replace(b"point_group", b"paint_group"), "not a readable zip file"),
    "a missing array": (
        lambda data: zipped({n: d for n, d in entries_of(data).items() if "coef" not in n}, sums=False),
        "arrays/coef.npy' is missing",
    ),
    "a newer format": (lambda data: changed_document(data, version=4), "newer than the format 3 .* upgrade specavg"),
    "an older format": (lambda data: changed_document(data, version=2), "older than the format 3 .* save the model"),
    "no version": (lambda data: changed_document(data, version="x"), "no readable format version"),
    "another zip": (lambda data: zipped({"model.json": b"{}"}), "is not a saved model"),
    "an unknown class": (lambda data: changed_document(data, **{"class": "os.system"}), "unknown class 'os.system'"),
    "a path trick": (
        lambda data: zipped({**entries_of(data), "../../evil.npy": b"x"}),
        "entry '../../evil.npy' that no saved model has",
    ),
    "an absolute path": (lambda data: zipped({**entries_of(data), "/etc/x": b"x"}), "that no saved model has"),
    "a compressed bomb": (
        lambda data: zipped({**entries_of(data), "arrays/bomb.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED),
        "is compressed; saved models never are",
    ),
    "a pickle": (
        lambda data: zipped({**entries_of(data), "arrays/coef.npy": pickled_array()}),
        "coef.npy is not a readable array",
    ),
    "not json": (lambda data: zipped({**entries_of(data), "model.json": b"{" * 100_000}), "not valid JSON"),
    "nan in json": (
        lambda data: zipped({**entries_of(data), "model.json": b'{"format": NaN}'}),
        "not valid JSON",
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_in_one_sentence(kind, saved, tmp_path):
    make, complaint = BAD_FILES[kind]
    path = tmp_path / "bad.specavg"
    path.write_bytes(make(saved))
    with pytest.raises(ModelFileError, match=complaint) as refusal:
        sa.load(path)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith(".")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused(saved, tmp_path):
    buffer = io.BytesIO(saved)
    with zipfile.ZipFile(buffer, "a") as file:
        file.writestr("model.json", "{}")
    (tmp_path / "bad.specavg").write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="same name twice"):
        sa.load(tmp_path / "bad.specavg")


def test_overlapping_entries_are_refused_as_a_bomb(saved, tmp_path):
    """Many names in the directory that point at one stored entry: what a zip bomb without compression does."""
    buffer = io.BytesIO(zipped(entries_of(saved)))
    with zipfile.ZipFile(buffer, "a") as file:
        large = max(file.infolist(), key=lambda entry: entry.file_size)
        for i in range(200):
            copy = zipfile.ZipInfo(f"arrays/copy_{i}.npy")
            for attribute in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(copy, attribute, getattr(large, attribute))
            file.filelist.append(copy)
        file._didModify = True
    (tmp_path / "bad.specavg").write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="zip bomb"):
        sa.load(tmp_path / "bad.specavg")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        sa.load(tmp_path / "nowhere.specavg")


def test_loading_never_unpickles(saved, tmp_path, monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("something was unpickled")

    path = tmp_path / "model.specavg"
    path.write_bytes(saved)
    monkeypatch.setattr(pickle, "load", forbidden)
    monkeypatch.setattr(pickle, "loads", forbidden)
    monkeypatch.setattr(pickle, "Unpickler", forbidden)
    sa.load(path)


# --- saving ----------------------------------------------------------------------------------------------


def test_a_file_can_be_read_with_common_tools(saved):
    entries = entries_of(saved)
    document = json.loads(entries["model.json"])
    assert document["class"] == "SpecAvgRegressor"
    assert document["parameters"]["space"] == {"kind": "sphere", "d": 3}
    for line in entries["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(entries[name]).hexdigest() == digest
    assert np.load(io.BytesIO(entries["arrays/coef.npy"]), allow_pickle=False).dtype == np.float64


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model = fitted("wreath")
    for name in ("a", "b"):
        model.save(tmp_path / name)
    sa.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "model.specavg"
    model = fitted("closed form")
    model.save(path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="no space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.specavg"]


def test_saving_through_a_link_keeps_the_link_and_the_permissions(tmp_path):
    model = fitted("closed form")
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "model.specavg", tmp_path / "latest"
    link.symlink_to(target)
    model.save(link)  # the file it points to is not there yet
    assert link.is_symlink()
    target.chmod(0o600)
    model.save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert sa.load(link).basis_ == model.basis_
    assert [p.name for p in target.parent.iterdir()] == ["model.specavg"]


def public_value_classes():
    """The public classes of spaces, groups, isometries and invariants that are compared by value."""
    modules = (sa.spaces, groups, isometries, sa.invariants)
    public = {getattr(module, name) for module in modules for name in module.__all__}
    found = {cls for root in public if isinstance(root, type) for cls in classes_below(root)}
    return {cls for cls in found | set(classes_below(Structure)) if cls.__eq__ is not object.__eq__}


def test_every_public_value_class_is_described_by_its_constructor():
    computed = {
        sa.invariants.InvariantBasis,
        sa.invariants.EquivariantBasis,
        sa.spaces.Eigenspace,
    }  # a basis has arrays; an eigenspace is listed
    seen = {type(case.space) for case in CASES} | {type(g) for case in CASES for g in case.group.generators}
    for cls in public_value_classes() - computed:
        [kind, *_] = kinds_of(cls).values()
        assert is_dataclass(cls) or cls in seen | {groups.Group, groups.Representation}, (
            f"{cls.__name__} has no case that is read back"
        )
        for name, hint in kind.hints.items():
            with pytest.raises(DescriptionError, match=name):  # the hint is understood, and the value is not
                read({"?": "?"}, hint, name)


def nested(space, times):
    for _ in range(times):
        space = {"kind": "power", "base": space, "m": 1000}
    return space


@pytest.mark.parametrize(
    "description, complaint",
    [
        ({"kind": "torus", "d": 10**9}, "space.d must be at most 100000"),
        ({"kind": "sphere", "d": 10**30}, "space.d must be at most 100000"),
        ({"kind": "stiefel", "n": 90_000, "k": 80_000}, "more than 1000000 columns"),
        (nested({"kind": "rotations"}, 3), "more than 1000000 columns"),
        (nested({"kind": "circle"}, 1), "'circle' is not known"),
        (nested({"kind": "rotations"}, 400), "nested more than 20 deep"),
        ({"kind": "power", "base": {"kind": "rotations"}, "m": -1}, "Power needs a number of copies"),
    ],
)
def test_what_a_file_declares_is_bounded_before_it_is_built(description, complaint):
    with pytest.raises(DescriptionError, match=complaint):
        read(description, spaces.Space, "space")


def test_a_table_must_be_as_large_as_the_values_beside_it(saved, tmp_path):
    entries = entries_of(saved)
    document = json.loads(entries["model.json"])
    rows = document["fitted"]["basis_"]["basis"]["table"]
    rows.extend([dict(rows[-1], invariant_dim=10**6, dim=10**6) for _ in range(1000)])
    (tmp_path / "bad").write_bytes(zipped({**entries, "model.json": json.dumps(document).encode()}))
    with pytest.raises(ModelFileError, match="the stored values have shape"):
        sa.load(tmp_path / "bad")


def test_what_cannot_be_kept_is_refused_by_name(tmp_path):
    model = fitted("closed form")
    model.smoothness = lambda n: n
    with pytest.raises(TypeError, match="smoothness holds a function, which the model format cannot keep"):
        model.save(tmp_path / "x")
    model.smoothness = model.basis_.table[0]  # a record, and none that is read in such a model
    with pytest.raises(TypeError, match="smoothness holds a Row, which the model format cannot keep"):
        model.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", MODELS)
def test_pickle_and_joblib_work_as_usual(name, tmp_path):
    model = fitted(name)
    X = model.space.sample(50, random_state=3)
    joblib.dump(model, tmp_path / "model.joblib")
    for same in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
