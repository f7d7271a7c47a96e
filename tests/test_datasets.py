"""Data sets: the stored group and the library's are the same, values are invariant, splits and figures fit."""

from __future__ import annotations

import itertools
import json
from importlib.resources import files

import numpy as np
import pytest
import sklearn.datasets

import specavg as sa
from specavg import datasets

LOADERS = {
    "propane_t2": datasets.load_propane,
    "cu_young_s2": datasets.load_copper,
    "dmri64_s2": datasets.load_diffusion_mri,
    "mcmurdo_s2": datasets.load_mcmurdo,
    "dti_frames_so3": datasets.load_dti_frames,
    "ica_iris_v42": datasets.load_ica_iris,
}
EVERY = pytest.mark.parametrize("file", list(LOADERS))


def stored(file):
    with (files("specavg.datasets") / f"{file}.npz").open("rb") as stream:
        return dict(np.load(stream, allow_pickle=False))


def stored_images(file, X):
    """The images of X under every element, from the stored matrices alone."""
    z = stored(file)
    if "A" in z:
        period = float(z["period"])
        return [np.mod(X @ A.T + period * t, period) for A, t in zip(z["A"], z["t"], strict=True)]
    if "L" in z:
        return [(L @ X.reshape(-1, 3, 3) @ R).reshape(len(X), 9) for L, R in zip(z["L"], z["R"], strict=True)]
    if "Gr" in z:
        return [(X.reshape(-1, *z["shape"]) @ Q).reshape(len(X), -1) for Q in z["Gr"]]
    return [X @ G.T for G in z["G"]]


def embedded(space, X):
    """Points where equal ones have equal coordinates: an angle is a point of the unit circle."""
    return np.concatenate([np.cos(X), np.sin(X)], axis=1) if isinstance(space, sa.Torus) else X


def test_every_stored_file_has_a_loader():
    found = {f.name.removesuffix(".npz") for f in files("specavg.datasets").iterdir() if f.name.endswith(".npz")}
    assert found == set(LOADERS)


@EVERY
def test_the_group_acts_as_the_stored_matrices_do(file):
    data = LOADERS[file]()
    X = data.X[:3]
    ours = [embedded(data.space, data.space.act(g, X)) for g in data.group.elements()]
    theirs = [embedded(data.space, image) for image in stored_images(file, X)]
    assert len(ours) == len(theirs) == data.group.order
    distances = [[np.abs(a - b).max() for b in theirs] for a in ours]
    assert np.max(np.min(distances, axis=0)) < 1e-12
    assert np.max(np.min(distances, axis=1)) < 1e-12


@EVERY
def test_points_lie_on_the_space_and_splits_do_not_overlap(file):
    data = LOADERS[file]()
    data.space.check_points(data.X)
    assert not np.intersect1d(data.train, data.test).size
    for rows in (data.train, data.test):
        assert len(np.unique(rows)) == len(rows)
        assert rows.min() >= 0
        assert rows.max() < len(data.X)
    assert len(data.train) == data.baseline["n_train"]
    assert len(data.test) == data.baseline["n_test"]
    if data.y is not None:
        assert len(data.y) == len(data.X)
    assert all(
        len(values) in (len(data.X), 0 if data.y is None else data.y.shape[-1]) for values in data.extra.values()
    )


@pytest.mark.parametrize("file", ["propane_t2", "cu_young_s2", "dmri64_s2", "ica_iris_v42"])
def test_default_kernel_ridge_is_no_worse_than_tuned_kernel_ridge_with_the_averaged_kernel(file):
    data = LOADERS[file]()
    model = sa.InvariantKernelRidge(data.space, data.group).fit(data.X[data.train], data.y[data.train])
    error = np.sqrt(np.mean((model.predict(data.X[data.test]) - data.y[data.test]) ** 2))
    assert error <= data.baseline["krr_Gavg"]


@EVERY
def test_the_mean_prediction_of_the_baseline_is_reproduced(file):
    data = LOADERS[file]()
    if data.y is None:
        assert data.baseline["kdeG_ll"] >= data.baseline["kde_ll"]
        return
    errors = data.y[data.test] - data.y[data.train].mean(axis=0)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(data.baseline["mean_pred"], rel=1e-3)
    assert data.y[data.test].std() == pytest.approx(data.baseline["std_test"], rel=1e-3)


@EVERY
def test_the_order_is_the_recorded_one(file):
    assert json.loads(str(stored(file)["meta"]))["order"] == LOADERS[file]().group.order


def test_the_modulus_of_copper_follows_its_formula_and_is_invariant():
    data = datasets.load_copper()
    C11, C12, C44 = 168.4, 121.4, 75.4
    S11 = (C11 + C12) / ((C11 - C12) * (C11 + 2 * C12))
    S12 = -C12 / ((C11 - C12) * (C11 + 2 * C12))

    def modulus(X):
        x, y, z = (X**2).T
        return 1 / (S11 - 2 * (S11 - S12 - 1 / (2 * C44)) * (x * y + y * z + z * x))

    np.testing.assert_allclose(modulus(data.X), data.y, rtol=1e-12)
    assert sa.invariance_discrepancy(modulus, data.space, data.group, data.X) < 1e-10


def test_energies_of_propane_are_invariant_as_far_as_they_can_be_interpolated():
    # From 30 points, 1e-5 of 1.5 on other orbits: impossible unless the group is the right one.
    data = datasets.load_propane()
    model = sa.InvariantKernelRidge(data.space, data.group).fit(data.X[data.train], data.y[data.train])
    assert np.sqrt(np.mean((model.predict(data.X[data.test]) - data.y[data.test]) ** 2)) < 1e-5


def test_the_contrast_of_iris_follows_its_definition():
    # Thousand times the sum of (E log cosh u − γ)² over the two projections u of the whitened, standardised data; γ is
    # a simulated value of E log cosh of a Gaussian, 0.3746. Principal axes have no signs of their own: one choice fits.
    data = datasets.load_ica_iris()
    Z = sklearn.datasets.load_iris().data
    U = np.linalg.svd((Z - Z.mean(axis=0)) / Z.std(axis=0), full_matrices=False)[0] * np.sqrt(len(Z))
    residuals = []
    for signs in itertools.product([1, -1], repeat=3):
        projected = np.einsum("ni,mik->mnk", U * [1, *signs], data.X.reshape(-1, 4, 2))
        means = np.log(np.cosh(projected)).mean(axis=1)
        terms = np.stack([(means**2).sum(axis=1), means.sum(axis=1), np.ones(len(means))], axis=1)
        fitted, *_ = np.linalg.lstsq(terms, data.y)
        if residuals == [] or np.abs(terms @ fitted - data.y).max() < min(residuals):
            best = fitted
        residuals.append(np.abs(terms @ fitted - data.y).max())
    assert min(residuals) < 1e-11
    np.testing.assert_allclose(best, [1000, -2000 * 0.3743099, 2000 * 0.3743099**2], rtol=1e-6)


def test_data_cannot_be_changed_by_accident():
    data = datasets.load_copper()
    with pytest.raises(ValueError, match="read-only"):
        data.X[0] = 0.0
    with pytest.raises(TypeError):
        data.baseline["krr"] = 0.0
    with pytest.raises(AttributeError):
        data.X = data.X
