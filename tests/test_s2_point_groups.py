"""Rotations and mirrors on S²: Wigner columns, counts by characters, projectors by brute force, and what is refused."""

from itertools import islice

import numpy as np
import pytest
from cases import random_rotation
from scipy.special import eval_legendre

import specavg as sa
from specavg import groups
from specavg.functions._functions import Functions
from specavg.functions._wigner_columns import wigner_columns
from specavg.functions._wigner_matrices import wigner_matrices
from specavg.invariants._certified_null_space import UnclearRank
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._null_space import NullSpace
from specavg.invariants.solvers._s2_point_groups import AxisThenNullSpace

S2 = sa.Sphere(3)


def about_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def turned(name, R):
    return groups.Group([R @ g.matrix @ R.T for g in groups.point_group(name).generators], f"{name} elsewhere")


def elements(name, R=None):
    R = np.eye(3) if R is None else R
    return [R @ g.matrix @ R.T for g in groups.point_group(name).structure.elements()]


def solved(group, degree):
    return AxisThenNullSpace(S2, group).solve(S2.eigenspace(degree))


# --- Wigner columns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.3, np.pi / 2, 2.5, np.pi])
@pytest.mark.parametrize("step", [1, 3])
def test_columns_are_those_of_the_wigner_matrices(angle, step):
    series = wigner_columns(np.cos(angle / 2), np.sin(angle / 2), step)
    for degree, (C, S) in enumerate(islice(series, 25)):
        M = wigner_matrices(about_y(angle)[None], degree)[0]
        cosines, sines = np.r_[0, 1 : 2 * degree + 1 : 2], np.r_[0, 2 : 2 * degree + 1 : 2]
        np.testing.assert_allclose(C, M[np.ix_(cosines, cosines)][:, ::step], atol=3e-14)
        np.testing.assert_allclose(S[1:, 1:], M[np.ix_(sines, sines)][1:, ::step][:, 1:], atol=3e-14)


@pytest.mark.parametrize("angle", [0.3, 1.1, 3.0])
def test_columns_stay_orthonormal_where_their_first_values_underflow(angle):
    # cos(1.5)^400 = 1e-460 starts an entry that reaches order one.
    C, S = next(islice(wigner_columns(np.cos(angle / 2), np.sin(angle / 2), 5), 350, None))
    np.testing.assert_allclose(C.T @ C, np.eye(71), atol=2e-13)
    np.testing.assert_allclose((S.T @ S)[1:, 1:], np.eye(70), atol=2e-13)


# --- right ------------------------------------------------------------------------------------------------------------


def character_mean(matrices, degree):
    """(1/|G|) Σ χ_l(g), χ_l of a turn by θ being Σ cos mθ over |m| ≤ l, with (−1)^l for an improper one."""
    orders = np.arange(-degree, degree + 1)
    total = 0.0
    for A in matrices:
        parity = np.linalg.det(A)
        angle = np.arccos(np.clip((parity * np.trace(A) - 1) / 2, -1, 1))
        total += np.sign(parity) ** degree * np.cos(orders * angle).sum()
    return total / len(matrices)


NAMES = ["Ci", "Cs", "C2", "C4", "S4", "C3h", "C3v", "D2", "D3", "D2d", "D3d", "D5h", "D6", "T", "Th", "Td", "O", "Oh"]


@pytest.mark.parametrize("name", [*NAMES, "I", "Ih", "211", "m11", "-31m", "-4m2"])
@pytest.mark.parametrize("seed", [None, 5])
def test_counts_are_mean_characters_to_degree_60(name, seed):
    R = np.eye(3) if seed is None else random_rotation(seed)
    basis = sa.invariant_basis(S2, turned(name, R), max_eigenvalue=60 * 61.0)
    everyone = elements(name)
    for degree in (*range(20), 37, 59, 60):
        assert basis.table[degree].invariant_dim == round(character_mean(everyone, degree))
    assert basis.residual < 1e-13
    assert min(row.gap for row in basis.table) > 0.1


@pytest.mark.parametrize("name, seed", [("Oh", None), ("Ih", None), ("Td", 1), ("I", 2), ("D3d", 3), ("C3h", None)])
@pytest.mark.parametrize("degree", [6, 15, 48])
def test_the_projector_is_the_average_over_the_group(name, seed, degree):
    # Σ ψ(x)ψ(y) = (2l + 1)/|G| Σ P_l(x·gy), by the addition theorem.
    R = np.eye(3) if seed is None else random_rotation(seed)
    group = groups.point_group(name) if seed is None else turned(name, R)
    solution = solved(group, degree)
    X, Y = S2.sample(30, 0), S2.sample(20, 1)
    mine = (S2.evaluate(S2.eigenspace(degree), X) @ solution.data) @ (
        S2.evaluate(S2.eigenspace(degree), Y) @ solution.data
    ).T
    average = np.mean([eval_legendre(degree, np.clip(X @ A @ Y.T, -1, 1)) for A in elements(name, R)], axis=0)
    assert np.abs(mine / (2 * degree + 1) - average).max() < 1e-13


@pytest.mark.parametrize("name, seed", [("Oh", None), ("I", None), ("T", 4), ("D4h", 5), ("S6", 6)])
def test_the_general_solver_finds_the_same_functions(name, seed):
    group = groups.point_group(name) if seed is None else turned(name, random_rotation(seed))
    special, general = AxisThenNullSpace(S2, group), NullSpace(S2, group)
    for degree in (0, 1, 4, 9, 12, 30):
        Q, P = (solver.solve(S2.eigenspace(degree)).data for solver in (special, general))
        np.testing.assert_allclose(Q @ Q.T, P @ P.T, atol=1e-12)
        np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-13)


def test_a_hundred_degrees_of_the_cube_are_invariant_at_points():
    group = groups.point_group("Oh")
    basis = sa.invariant_basis(S2, group, max_eigenvalue=100 * 101.0)
    assert basis.dim == 234
    assert {type(solution) for solution in [Resolver(S2, group).solve(S2.eigenspace(40)).solver]} == {AxisThenNullSpace}
    X = S2.sample(20, 0)
    values = basis.functions.plain_values(X)
    for g in group.generators:
        assert np.abs(basis.functions.plain_values(g(X)) - values).max() < 3e-13  # values up to √201


def test_degrees_may_be_asked_for_in_any_order():
    solver = AxisThenNullSpace(S2, turned("O", random_rotation(0)))
    first = [solver.solve(S2.eigenspace(degree)).data for degree in (12, 4, 12, 30, 9)]
    assert np.array_equal(first[0], first[2])
    assert [Q.shape for Q in first] == [(25, 2), (9, 1), (25, 2), (61, 3), (19, 1)]


def test_signs_and_orders_are_exact_where_the_axes_are_those_of_the_coordinates():
    Q = solved(groups.point_group("D4"), 21).data
    assert set(np.unique(Q)) == {0.0, 1.0}
    O = solved(groups.point_group("O"), 21).data
    assert not O[np.r_[0, 1:43:2]].any()  # odd degree, half-turn around x: sines only
    assert {int(row + 1) // 2 % 4 for row in np.flatnonzero(O.any(axis=1))} == {0}


def test_rotations_of_infinite_order_leave_the_constant():
    group = groups.Group([random_rotation(0), random_rotation(1)])
    assert [solved(group, degree).invariant_dim for degree in (0, 1, 2, 10)] == [1, 0, 0, 0]
    axis = groups.Group([about_z(1.0)])  # by one radian: what is left depends on z only
    assert [solved(axis, degree).invariant_dim for degree in (0, 1, 10)] == [1, 1, 1]


# --- close to the edge ------------------------------------------------------------------------------------------------


def test_an_axis_just_beside_a_coordinate_axis():
    # The turn back to the coordinates is by a very small angle, where recurrences lose digits.
    group = turned("D5h", about_y(1e-3))
    basis = sa.invariant_basis(S2, group, max_eigenvalue=40 * 41.0)
    expected = sa.invariant_basis(S2, groups.point_group("D5h"), max_eigenvalue=40 * 41.0)
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in expected.table]
    X = S2.sample(20, 0)
    for g in group.generators:
        assert np.abs(basis.functions.plain_values(g(X)) - basis.functions.plain_values(X)).max() < 1e-12


@pytest.mark.parametrize("angle", [2 * np.pi / 1e8, 2 * np.pi / 1e12])
@pytest.mark.parametrize("R", [np.eye(3), random_rotation(3)])
def test_turns_by_almost_nothing_are_refused(angle, R):
    group = groups.Group([R @ about_z(angle) @ R.T])
    with pytest.raises(UnclearRank, match="in doubt"):
        sa.invariant_basis(S2, group, max_eigenvalue=12.0)


def test_a_small_but_clear_turn_is_taken():
    basis = sa.invariant_basis(S2, groups.Group([about_z(2 * np.pi / 1000)]), max_eigenvalue=30 * 31.0)
    assert basis.dim == 31
    assert min(row.gap for row in basis.table[1:]) == pytest.approx(2 * np.sin(np.pi / 1000), rel=1e-9)


def test_saved_functions_are_played_back_bit_by_bit(tmp_path):
    X = S2.sample(80, 0)
    model = sa.SpecAvgRegressor(S2, turned("O", random_rotation(8)), max_eigenvalue=12 * 13.0).fit(X, X[:, 0] ** 4)
    model.save(tmp_path / "model.specavg")
    assert np.array_equal(sa.load(tmp_path / "model.specavg").predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["C3", "C4v", "Td", "Oh"])
def test_values_from_the_orders_that_matter_are_those_from_all(name):
    basis = sa.invariant_basis(sa.Sphere(3), groups.point_group(name), max_dim=60**2)
    points = sa.Sphere(3).sample(20, random_state=0)
    points[0] = [0.0, 0.0, 1.0]
    every = Functions.evaluate(basis.functions, points)
    np.testing.assert_allclose(basis.evaluate(points), every, rtol=0, atol=1e-13 * np.abs(every).max())
