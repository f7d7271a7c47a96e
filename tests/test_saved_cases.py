"""A model of every registered case is saved, loaded in another process, and predicts the same bits."""

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from cases import CASES
from same_bits import assert_same_bits

import specavg as sa
from specavg.invariants import ByDegree, ByEigenvalue, ByType, FewCoordinates

_LOAD = """
import sys
import numpy as np, specavg as sa
with np.load(sys.argv[1] + "/points.npz") as points:
    np.savez(sys.argv[1] + "/loaded.npz", **{name: sa.load(f"{sys.argv[1]}/{name}.specavg").predict(points[name])
                                              for name in points.files})
"""


def invariant_model(case):
    return sa.InvariantKernelRidge(case.space, case.group, max_dim=case.max_functions, order=case.order, **_GIVEN)


def equivariant_model(case):
    """Of vectors, where the group moves vectors by one matrix; of numbers elsewhere."""
    try:
        output = sa.groups.representation(case.group, "vector", lattice=getattr(case.space, "lattice", None))
    except ValueError:
        output = sa.groups.representation(case.group, "scalar")
    few = 455 if isinstance(case.space, sa.Rotations) else 40  # up to degree 6: vectors under O and D2 begin there
    return sa.EquivariantKernelRidge(
        case.space, case.group, output, max_dim=few * output.dim, order=case.order, **_GIVEN
    )


SPACES = sorted({case.space for case in CASES}, key=repr)
ORDERS = (ByEigenvalue(), ByType(), ByType(balanced=True), FewCoordinates(), FewCoordinates(64), ByDegree())
_GIVEN = {"alpha": 0.1, "spectrum": "heat", "length_scale": 0.1}
MODELS = {"invariant": invariant_model, "equivariant": equivariant_model}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Values of every model at its points: as fitted, and as another process loads it."""
    folder = tmp_path_factory.mktemp("models")
    points, values = {}, {}
    for i, case in enumerate(CASES):
        X = case.space.sample(7, random_state=i)
        for name, made in MODELS.items():
            model = made(case)
            outputs = model.output.dim if name == "equivariant" else 1
            y = np.cos(np.arange(7.0 * outputs)).reshape(7, outputs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of some groups only the constant is left
                model.fit(X, y if outputs > 1 else y[:, 0])
            model.save(folder / f"{name}{i}.specavg")
            points[f"{name}{i}"], values[f"{name}{i}"] = X, model.predict(X)
            assert_same_bits(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X), f"{case}, pickled")
    np.savez(folder / "points.npz", **points)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}  # linear algebra done again would round differently
    subprocess.run([sys.executable, "-c", _LOAD, str(folder)], check=True, env=environment)
    with np.load(folder / "loaded.npz") as again:
        return values, {name: again[name] for name in again.files}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("i", range(len(CASES)), ids=[str(case) for case in CASES])
def test_a_saved_model_predicts_the_same_bits(loaded, i, name):
    before, after = (values[f"{name}{i}"] for values in loaded)
    assert before.shape[0] == 7
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_models_in_every_order_are_saved_and_pickled(space, tmp_path):
    X = space.sample(7, random_state=0)
    taken = []
    for order in ORDERS:
        model = sa.InvariantKernelRidge(space, order=order, max_dim=40, **_GIVEN)
        try:
            model.fit(X, np.cos(np.arange(7.0)))
        except ValueError:  # an order that the space has not
            continue
        taken.append(order)
        model.save(tmp_path / "model.specavg")
        for same in (sa.load(tmp_path / "model.specavg"), pickle.loads(pickle.dumps(model))):
            assert same.order == order
            assert_same_bits(same.predict(X), model.predict(X), repr(order))
    assert len(taken) >= 3  # a lattice has no coordinates to count and no degree


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_basis_is_rebuilt_without_linear_algebra(case, monkeypatch):
    basis = sa.invariant_basis(case.space, case.group, max_dim=case.max_functions, order=case.order)

    def refuse(*_, **__):
        raise AssertionError("decided again")

    for name in ("null_space", "common_null_space", "_certified"):
        monkeypatch.setattr(f"specavg.invariants._certified_null_space.{name}", refuse)
    for name in ("null_space", "common_null_space"):
        monkeypatch.setattr(f"specavg.invariants._fixed_space.{name}", refuse)
    monkeypatch.setattr("specavg.invariants.solvers._null_space.null_space", refuse)
    monkeypatch.setattr("specavg.invariants.solvers._left_times_right.null_space", refuse)
    for name in ("_s2_point_groups", "_types_of_copies", "_blocks_of_directions"):
        monkeypatch.setattr(f"specavg.invariants.solvers.{name}.common_null_space", refuse)
    monkeypatch.setattr("specavg.invariants.solvers._harmonic_polynomials.harmonic_combinations", refuse)
    made_from = (basis.space, basis.group, basis.cutoff, basis.order, basis.solver)
    again = sa.invariants.restored_basis(*made_from, basis.table, basis.arrays)
    X = case.space.sample(5, random_state=0)
    np.testing.assert_array_equal(again.evaluate(X), basis.evaluate(X))
    if basis.arrays:
        fewer = dict(list(basis.arrays.items())[1:])
        with pytest.raises(sa.invariants.StoredArraysError):
            sa.invariants.restored_basis(*made_from, basis.table, fewer)
    with pytest.raises(sa.invariants.StoredArraysError, match="more arrays"):
        sa.invariants.restored_basis(*made_from, basis.table, {**basis.arrays, "99.NullSpace.Q": np.eye(2)})


def test_a_solver_that_declines_leaves_nothing_behind():
    # On Sphere(4) the closed form declines at high degrees, after a factorisation of its own.
    space, group = sa.Sphere(4), sa.groups.symmetric(4)
    basis = sa.invariant_basis(space, group, max_eigenvalue=35.0 * 37)
    assert len({row.solver for row in basis.table}) > 1
    made_from = (basis.space, basis.group, basis.cutoff, basis.order, basis.solver)
    again = sa.invariants.restored_basis(*made_from, basis.table, basis.arrays)
    X = space.sample(5, random_state=0)
    np.testing.assert_array_equal(again.evaluate(X), basis.evaluate(X))


@pytest.mark.parametrize("space", [sa.Torus(1), sa.Sphere(3)], ids=repr)
def test_a_series_that_is_negative_somewhere_is_saved_and_loaded(space, tmp_path):
    # The logarithm of such a density is −∞ there, before and after.
    X = np.eye(space.n_features)[-1] + 0.12 * np.random.default_rng(0).normal(size=(100, space.n_features))
    if isinstance(space, sa.Sphere):
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = sa.InvariantDensity(space, positive=False, max_dim=121).fit(X)
    places = space.sample(500, random_state=1)
    assert np.isneginf(model.score_samples(places)).any()
    model.save(tmp_path / "series.specavg")
    loaded = sa.load(tmp_path / "series.specavg")
    np.testing.assert_array_equal(loaded.score_samples(places), model.score_samples(places))
