"""A vector fit asks what an invariant fit asks, by the same code: every warning of one is one of the other."""

import warnings

import numpy as np
import pandas as pd
import pytest

import specavg as sa
from specavg import groups
from specavg.isometries import permutation

T2, SQUARE = sa.Torus(2), groups.hyperoctahedral(2)


def field(X):
    return np.sin(np.pi * X)


def noise(shape):
    return np.random.default_rng(5).normal(size=shape)


def degrees():
    space = sa.Torus(2, period=2 * np.pi)
    X = space.sample(40, random_state=0)
    return space, groups.sign_flips(2), np.rad2deg(X), np.sin(X), {"max_dim": 40}


def cartesian():
    cell = sa.Torus(lattice=8.0 * np.eye(3))
    X = cell.sample(60, random_state=0)
    return cell, groups.sign_flips(3), 8.0 * X, np.sin(2 * np.pi * X), {"max_dim": 60}


def block_order():
    space = sa.Power(T2, 3)
    X = space.sample(40, random_state=0)
    names = ["phi1", "phi2", "phi3", "psi1", "psi2", "psi3"]
    return space, groups.diagonal(SQUARE, 3), pd.DataFrame(X, columns=names), field(X[:, :2]), {"max_dim": 60}


def only_noise():
    X = T2.sample(200, random_state=0)
    return T2, SQUARE, X, noise((200, 2)), {"max_dim": 60}


def one_orbit():
    return T2, SQUARE, np.array([[0.1, 0.2], [-0.1, 0.2]]), np.array([[0.3, 0.4], [-0.3, 0.4]]), {}


def only_constants():
    group = groups.point_group("C3v")
    X = sa.Sphere(3).sample(40, random_state=0)
    return sa.Sphere(3), group, X, X, {"max_eigenvalue": 1.0}


def standardised():
    X = T2.sample(60, random_state=0)
    Y = np.sin(np.pi * X) * np.exp(np.cos(np.pi * X).sum(axis=1) / 2)[:, None]
    return T2, SQUARE, (X - X.mean(axis=0)) / X.std(axis=0), Y, {"max_dim": 100}


def ended_by_time():
    copies, rotations = sa.Power(sa.Sphere(3), 4), groups.diagonal(groups.orthogonal(3), 4)
    two_kinds = groups.joined(rotations, sa.Group([permutation([1, 0, 2, 3]), permutation([0, 1, 3, 2])]))
    X = copies.sample(100, random_state=0)
    P = X.reshape(-1, 4, 3)
    Y = sum((P[:, i] + P[:, j]) / (0.1 + ((P[:, i] - P[:, j]) ** 2).sum(axis=1))[:, None] for i, j in [(0, 1), (2, 3)])
    return copies, two_kinds, X, Y, {}


QUESTIONS = {
    degrees: r"spans 5\d periods.*np.deg2rad",
    cartesian: r"spans [78] periods.*X @ np.linalg.inv\(space.lattice\)",
    block_order: r"copy by copy: X\[\['phi1', 'psi1', 'phi2', 'psi2'",
    only_noise: "explains almost nothing.*another unit.*does not move as 'vector' under hyperoctahedral",
    one_orbit: "only the constant is fitted: all points lie on one orbit",
    only_constants: "only the constant is fitted: max_eigenvalue = 1 ends before the first non-constant equivariant",
    standardised: r"spans 1\.\d+ periods of Torus\(2\).*do not standardise angles",
    ended_by_time: r"time ended the search for equivariant functions at \d+ of them for 100 points",
}


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: case.__name__)
def test_vector_fits_ask_what_invariant_fits_ask(case, monkeypatch):
    if case is ended_by_time:
        monkeypatch.setattr("specavg.estimators._base.BASIS_SECONDS", 0.02)
    space, group, X, Y, settings = case()
    model = sa.EquivariantKernelRidge(space, group, "vector", **settings)
    with pytest.warns(UserWarning, match=QUESTIONS[case]) as caught:
        model.fit(X, Y)
    assert all(str(warning.filename) == __file__ for warning in caught if warning.category is UserWarning)


def test_a_fit_that_is_good_asks_nothing():
    X = T2.sample(60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.EquivariantKernelRidge(T2, SQUARE, "vector", max_dim=200).fit(X, field(X))


def test_streams_of_noise_are_questioned_too():
    X = T2.sample(200, random_state=0)
    with pytest.warns(UserWarning, match="explains almost nothing"):
        sa.EquivariantKernelRidge(T2, SQUARE, "vector", max_dim=60).fit(iter([(X, noise((200, 2)))]))


@pytest.mark.parametrize("vectors", [False, True])
def test_a_group_that_the_data_do_not_have_is_doubted(vectors):
    """The mirrors of C3v stand across x; these functions have theirs across y."""
    X = sa.Sphere(3).sample(100, random_state=0)
    x, y, z = X.T
    group = sa.groups.point_group("C3v")
    if vectors:
        model, Y = sa.EquivariantKernelRidge(sa.Sphere(3), group, "vector"), np.c_[-2 * x * y, x**2 - y**2, z]
    else:
        model, Y = sa.InvariantKernelRidge(sa.Sphere(3), group), x**3 - 3 * x * y**2 + z
    with pytest.warns(
        UserWarning, match=r"e-1\d without the group: the data do not seem to have the symmetry"
    ) as found:
        model.fit(X, Y)
    assert found[0].filename == __file__


def test_noise_does_not_speak_against_a_group():
    rng = np.random.default_rng(0)
    X = sa.Sphere(3).sample(150, random_state=0)
    y = np.exp(2 * (X**4).sum(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sa.InvariantKernelRidge(sa.Sphere(3), sa.groups.point_group("Oh"))
        assert model.fit(X, y / y.std() + rng.normal(size=150)).loo_error_ > 0.5


def test_points_in_a_small_part_of_the_period_are_questioned():
    space = sa.Torus(2, period=360)
    X = sa.Torus(2).sample(60, random_state=0)
    with pytest.warns(UserWarning, match=r"spans more than 0\.5\d % of its period"):
        sa.InvariantKernelRidge(space, sa.groups.symmetric(2)).fit(X, np.cos(np.pi * X).sum(axis=1))


def test_voigts_numbers_are_told_of_components_once():
    X = sa.Sphere(3).sample(100, random_state=0)
    T = np.einsum("ni,nj->nij", X, X) * (1 + (X**4).sum(axis=1))[:, None, None]
    symmetric = groups.index_symmetry("ij=ji", 3)
    model = sa.EquivariantKernelRidge(sa.Sphere(3), groups.point_group("Oh"), "ij=ji")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, symmetric.voigt(T))
    (message,) = [str(warning.message) for warning in said]
    assert "√2" in message
    assert "from_voigt" in message
    assert "discover_symmetry" not in message  # it takes one target
    assert model.fit(X, symmetric.components(symmetric.from_voigt(symmetric.voigt(T)))).loo_error_ < 1e-9


@pytest.mark.parametrize("noise", [0, 0.1])
def test_a_group_is_doubted_although_it_explains_most_of_the_target(noise):
    X = sa.Rotations().sample(200, random_state=0)
    axis = X.reshape(-1, 3, 3)[:, :, 2]
    y = axis[:, 1] ** 2 + 0.5 * axis[:, 0] * axis[:, 2]
    y = y / y.std() + noise * np.random.default_rng(0).normal(size=200)
    model = sa.InvariantKernelRidge(sa.Rotations(), groups.crystal_symmetry("2"))
    with pytest.warns(UserWarning, match="0.4.* standard deviations of y.*without the group"):
        model.fit(X, y)
    assert model.loo_error_ < 0.45


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_noise_does_not_speak_against_a_group_that_explains_most(noise):
    X = sa.Rotations().sample(200, random_state=0)
    y = np.exp(X.reshape(-1, 3, 3)[:, 2, 2] ** 2)
    y = y / y.std() + noise * np.random.default_rng(0).normal(size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sa.InvariantKernelRidge(sa.Rotations(), groups.crystal_symmetry("222")).fit(X, y).loo_error_ > noise / 2
