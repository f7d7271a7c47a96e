"""A poor fit is questioned with the reason, at the line that asked for it; a good one is not."""

import re
import warnings

import numpy as np
import pytest
from cases import H4

import specavg as sa
from specavg import groups, isometries
from specavg.data._questioned_fit import tells_of_group
from specavg.isometries import permutation


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


@pytest.mark.parametrize("noise, said", [(0.0, True), (0.1, False)])
def test_more_functions_are_proposed_for_a_small_error_only_where_data_want_them(monkeypatch, noise, said):
    """Distances want more than 14 functions, though their error is below a fifth; inner products with noise do not."""
    monkeypatch.setattr("specavg.estimators._base.BASIS_SECONDS", 0.02)
    copies, rotations = sa.Power(sa.Sphere(3), 4), groups.diagonal(groups.orthogonal(3), 4)
    two_kinds = groups.joined(rotations, sa.Group([permutation([1, 0, 2, 3]), permutation([0, 1, 3, 2])]))
    X = copies.sample(200, random_state=0)
    P = X.reshape(-1, 4, 3)
    pairs = [(P[:, i], P[:, j]) for i in range(4) for j in range(i)]
    y = sum((a * b).sum(axis=1) if noise else 1 / (1 + np.linalg.norm(a - b, axis=1)) for a, b in pairs)
    y = y + noise * y.std() * np.random.default_rng(0).normal(size=200)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        model = sa.InvariantKernelRidge(copies, two_kinds).fit(X, y)
    assert model.basis_.cutoff.kind == "max_eigenvalue"
    assert model.basis_.dim * 8 <= 200
    assert 0.03 < model.loo_error_ < 0.2
    assert ["time ended the search" in str(w.message) for w in given] == [True] * said


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


def test_columns_that_are_exchanged_and_were_scaled_one_by_one_are_named_as_a_reason():
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2)) * [1, 5]
    y = np.exp(X[:, 0]) + np.exp(X[:, 1])
    said = "the scales of columns that it exchanges"
    with pytest.warns(UserWarning, match=said):
        sa.InvariantKernelRidge(sa.Power(sa.Interval(), 2), groups.symmetric(2)).fit(X / [1, 5], y)
    P = sa.Sphere(3).sample(200, random_state=0)
    with pytest.warns(UserWarning, match="do not seem to have the symmetry") as caught:
        sa.InvariantKernelRidge(sa.Sphere(3), groups.point_group("Oh")).fit(P, np.exp(P[:, 0]))
    assert not any(said in str(warning.message) for warning in caught)  # unit vectors have one scale


def test_a_wrong_group_is_doubted_on_a_grid_that_it_maps_to_itself():
    # Every orbit is predicted well by the others; what its rows differ by tells that the mirror lies elsewhere.
    space = sa.Torus(1, period=360)
    group = sa.Group([isometries.shift(degrees=[120]), isometries.signed_permutation([0], [-1])])
    X, y = _scan(15.0, 20.0)
    with pytest.warns(UserWarning, match="do not seem to have the symmetry"):
        model = sa.InvariantKernelRidge(space, group).fit(X, y)
    odd = np.sin(np.radians(60))  # the part that is odd under the mirror; rows that differ so much are smoothed too
    assert odd <= model.loo_error_ <= 1.01 * odd


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


def _facets():
    """Directions hkl with h ≥ k ≥ l ≥ 0: one of each class under the symmetry of the cube, in one sector of it."""
    hkl = [(h, k, m) for h in range(5) for k in range(h + 1) for m in range(k + 1) if np.gcd.reduce([h, k, m]) == 1]
    return np.array(hkl) / np.linalg.norm(hkl, axis=1)[:, None]


def _doubts(group, X, y):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sa.InvariantKernelRidge(sa.Sphere(3), group).fit(X, y)
    return any("do not seem to have the symmetry" in str(one.message) for one in said)


def test_a_right_group_is_not_doubted_by_points_of_one_sector():
    # The energy of broken bonds is linear in the sector, so that a fit without the group is exact, and has kinks at the
    # mirrors. Images of the facets have other values of a linear function, and do contradict the group.
    bonds = np.array([[1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]])
    N, group = _facets(), groups.point_group("m-3m")
    energy = np.abs(N @ bonds.T).sum(axis=1)
    linear = np.linalg.lstsq(N, energy, rcond=None)[0]
    np.testing.assert_allclose(N @ linear, energy, atol=1e-12)
    assert not _doubts(group, N, energy)
    both = np.concatenate([N, N * [1, 1, -1], N[:, [1, 0, 2]]])
    assert _doubts(group, both, both @ linear)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["m-3m", "6/mmm", "mm2", "m"])
def test_points_tell_of_a_group_where_it_brings_them_closer(kind, turned):
    """The points that are nearest to one point among its images are a sector between mirrors, in any axes."""
    space, group = sa.Sphere(3), groups.point_group(kind)
    if turned:
        Q = sa.Rotations().sample(1, random_state=0).reshape(3, 3)
        group = sa.Group([isometries.orthogonal(Q @ space.differential(g) @ Q.T) for g in group.generators])
    matrices = np.array([space.differential(g) for g in group.elements()])
    X, middle = space.sample(2000, random_state=1), space.sample(1, random_state=2)[0]
    sector = X[X @ middle >= (X @ (matrices @ middle).T).max(axis=1) - 1e-12]
    assert 0.8 < len(sector) * len(matrices) / len(X) < 1.2
    assert not tells_of_group(space, group, sector, at_one_point=False)
    assert tells_of_group(space, group, X[:60], at_one_point=False)
    if kind == "m-3m":  # a small sector, where many points are nearer to a mirror than to each other
        assert tells_of_group(space, group, sector, at_one_point=True)
