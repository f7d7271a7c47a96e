"""Invariant bases: the counts they must give, at the sizes that matter, and what is refused.

Counts come from elsewhere: a table of character averages, closed formulas, or the degrees of reflection groups.
"""

import json
from fractions import Fraction
from itertools import islice, pairwise
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest
from cases import E8, H4, M24, random_rotation

import specavg as sa
from specavg import groups, isometries, testing

REFERENCE = json.loads((Path(__file__).parent / "data" / "invariant_dimensions.json").read_text(encoding="utf-8"))
MAKERS = {"cyclic_shift": groups.cyclic_shifts, "dihedral_shift": groups.dihedral_shifts}


def named(text):
    """The group a key of the reference such as "symmetric(4)" means, and its number of coordinates."""
    name, d = text.rstrip(")").split("(")
    return MAKERS.get(name, getattr(groups, name, None))(int(d)), int(d)


def invariant_dims(basis):
    return [row.invariant_dim for row in basis.table]


def sphere_basis(d, group, degree, solver="auto"):
    return sa.invariant_basis(sa.Sphere(d), group, max_eigenvalue=degree * (degree + d - 2), solver=solver)


def d5h():
    """The one group of the reference that is no crystal class: a five-fold axis and mirrors."""
    turn = 2 * np.pi / 5
    rotation = [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    return groups.Group([rotation, np.diag([1.0, 1, -1]), np.diag([1.0, -1, -1])], "D5h")


# --- the reference table ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE["sphere_R3"])
def test_point_groups_on_the_two_sphere(name):
    expected = REFERENCE["sphere_R3"][name]
    group = d5h() if name == "D5h" else groups.point_group(name)
    assert group.order == expected["order"]
    assert invariant_dims(sphere_basis(3, group, len(expected["dims"]) - 1)) == expected["dims"]


@pytest.mark.parametrize("name", ["C3", "D2d", "Th", "O", "Ih"])
def test_point_groups_on_other_axes(name):
    # The same counts when no matrix is exact any more.
    expected = REFERENCE["sphere_R3"][name]["dims"][:21]
    R = random_rotation(11)
    turned = groups.Group([R @ g.matrix @ R.T for g in groups.point_group(name).generators])
    basis = sphere_basis(3, turned, 20)
    assert invariant_dims(basis) == expected
    assert basis.residual < 1e-13
    assert min(row.gap for row in basis.table) > 1e-2


@pytest.mark.parametrize("name", REFERENCE["sphere_Rd"])
def test_families_on_spheres(name):
    expected = REFERENCE["sphere_Rd"][name]
    group, d = named(name)
    assert group.order == expected["order"]
    assert invariant_dims(sphere_basis(d, group, len(expected["dims"]) - 1)) == expected["dims"]


@pytest.mark.parametrize("name", REFERENCE["torus"])
def test_families_on_tori(name):
    expected = REFERENCE["torus"][name]
    group, d = named(name)
    assert group.order == expected["order"]
    top = max(norm for norm, *_ in expected["shells"])
    basis = sa.invariant_basis(sa.Torus(d), group, max_eigenvalue=top * np.pi**2)
    found = [[round(row.eigenvalue / np.pi**2), row.dim, row.invariant_dim] for row in basis.table]
    assert found == expected["shells"]


@pytest.mark.parametrize("name", ["symmetric(3)", "alternating(4)", "sign_flips(3)", "hyperoctahedral(4)"])
@pytest.mark.parametrize("solver", ["orbits", "null space"])
def test_families_by_other_solvers(name, solver):
    group, d = named(name)
    shells = [row for row in REFERENCE["torus"][name]["shells"] if row[0] <= 4]
    basis = sa.invariant_basis(sa.Torus(d), group, max_eigenvalue=4 * np.pi**2, solver=solver)
    assert invariant_dims(basis) == [row[2] for row in shells]
    assert {row.solver for row in basis.table} == {solver}
    dims = REFERENCE["sphere_Rd"][name]["dims"][:7]
    assert invariant_dims(sphere_basis(d, group, 6, solver)) == dims


# --- the sizes that matter -----------------------------------------------------------------------------------------


def test_sign_flips_of_the_ten_torus():
    basis = sa.invariant_basis(sa.Torus(10), groups.sign_flips(10), max_eigenvalue=4 * np.pi**2)
    rows = [(row.dim, row.invariant_dim) for row in basis.table]
    assert rows == [(1, 1), (20, 10), (180, 45), (960, 120), (3380, 220)]
    np.testing.assert_allclose([row.eigenvalue for row in basis.table], np.pi**2 * np.arange(5), rtol=1e-15)
    assert (basis.dim, basis.total_dim) == (396, 4541)
    testing.check_invariance(basis)


def test_ten_thousand_exchangeable_coordinates_of_a_sphere():
    space, group = sa.Sphere(10_000), groups.symmetric(10_000)
    assert group.order == factorial(10_000)
    basis = sphere_basis(10_000, group, 6)
    assert invariant_dims(basis) == [1, 1, 1, 2, 3, 4, 6]
    assert {row.solver for row in basis.table} == {"closed form"}
    assert basis.total_dim == sum(V.dim for V in islice(space.eigenspaces(), 7))
    assert basis.evaluate(space.sample(1_000, 0)).shape == (1_000, 18)


def test_ten_thousand_coordinates_are_orthonormal():
    # Monte Carlo would need 1e24 points; degrees 1 and 2 have closed forms.
    space = sa.Sphere(10_000)
    values = sphere_basis(10_000, groups.symmetric(10_000), 2).evaluate(X := space.sample(50, 1))
    d, s = 10_000, X.sum(axis=1)
    np.testing.assert_allclose(np.abs(values[:, 1]), np.abs(s), rtol=1e-9, atol=1e-12)  # E(Σx)² = 1
    pairs = (s**2 - 1) / 2  # Σ_{i<j} x_i x_j, with variance (d choose 2)/(d(d+2))
    np.testing.assert_allclose(np.abs(values[:, 2]), np.abs(pairs) / np.sqrt(comb(d, 2) / (d * (d + 2))), atol=1e-11)


@pytest.mark.parametrize("maker, expected", [("symmetric", [1, 2, 3, 4]), ("hyperoctahedral", [1, 1, 1, 1])])
def test_the_torus_of_a_thousand_dimensions(maker, expected):
    basis = sa.invariant_basis(sa.Torus(1000), getattr(groups, maker)(1000), max_eigenvalue=3 * np.pi**2)
    assert invariant_dims(basis) == expected
    testing.check_invariance(basis)


def test_a_cyclic_group_of_a_million_million_elements_leaves_the_constant():
    group = groups.cyclic(10**12)
    basis = sa.invariant_basis(sa.Circle(), group, max_eigenvalue=1000.0**2)
    assert (basis.dim, basis.total_dim) == (1, 2001)
    assert len(basis.table) == 1001
    assert group.order == 10**12


@pytest.mark.parametrize("n", [7, 10**6])
def test_cyclic_groups_leave_every_nth_frequency(n):
    basis = sa.invariant_basis(sa.Circle(), groups.cyclic(n), max_eigenvalue=50.0**2)
    expected = [1] + [2 if k % n == 0 else 0 for k in range(1, 51)]
    assert invariant_dims(basis) == expected


def test_all_solvers_agree_on_ten_exchangeable_coordinates():
    space, group = sa.Sphere(10), groups.symmetric(10)
    assert testing.solver_names(space, group) == ("closed form", "null space", "orbits")
    for solver in testing.solver_names(space, group):
        assert invariant_dims(sphere_basis(10, group, 5, solver)) == [1, 1, 1, 2, 3, 4]
    assert testing.check_solvers_agree(space, group, space.eigenspace(5).eigenvalue) < 1e-10


def test_the_reynolds_chain_and_the_paper_agree_on_ten_exchangeable_coordinates():
    space, group = sa.Sphere(10), groups.symmetric(10)
    basis = sphere_basis(10, group, 4)
    for degree in range(5):
        V = space.eigenspace(degree)
        P = testing.chain_projector(space, group, V)
        testing.check_projector(basis, V, P, law="chain")
        testing.check_mean_character(basis, V, projector=P)
        if degree <= 3:  # |S| m = 420 rows of B
            testing.check_projector(basis, V, testing.paper_projector(space, group, V), law="paper")


def test_mathieu_group_on_24_coordinates():
    assert M24.order == 244_823_040
    basis = sphere_basis(24, M24, 6)
    # Five-fold transitive: as S_24 up to degree 5. Six coordinates lie in one octad or not: one more.
    assert invariant_dims(basis) == [1, 1, 1, 2, 3, 4, 7]
    assert invariant_dims(sphere_basis(24, groups.symmetric(24), 6)) == [1, 1, 1, 2, 3, 4, 6]
    assert {row.solver for row in basis.table} == {"orbits"}
    assert basis.total_dim == 573_300
    testing.check_invariance(basis, n_elements=3)


def test_mathieu_group_agrees_with_its_chain():
    space, basis = sa.Sphere(24), sphere_basis(24, M24, 2)
    for degree in (1, 2):
        V = space.eigenspace(degree)
        testing.check_projector(basis, V, testing.chain_projector(space, M24, V))


def molien(degrees, top):
    """Invariant harmonics of a reflection group: the coefficients of ∏ 1/(1 − t^d) over its degrees but 2."""
    series = [1] + [0] * top
    for d in degrees:
        if d != 2:
            for k in range(d, top + 1):
                series[k] += series[k - d]
    return series


def test_h4_on_the_three_sphere_to_degree_20():
    assert H4.order == 14_400
    basis = sphere_basis(4, H4, 20)
    assert invariant_dims(basis) == molien([2, 12, 20, 30], 20)
    assert {row.solver for row in basis.table} == {"null space"}
    assert basis.residual < 1e-13
    assert min(row.gap for row in basis.table) > 0.1
    testing.check_invariance(basis)


@pytest.mark.slow
@pytest.mark.minutes
def test_e8_on_the_seven_sphere_to_degree_8():
    # 4,719 functions at degree 8, five minutes on one core: make test PYTEST_ARGS="-m minutes"
    assert E8.order == 696_729_600
    basis = sphere_basis(8, E8, 8)
    assert invariant_dims(basis) == molien([2, 8, 12, 14, 18, 20, 24, 30], 8) == [1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert basis.table[-1].dim == 4719
    assert basis.residual < 1e-13
    testing.check_invariance(basis, n_elements=1_000)


def test_e8_has_no_invariant_up_to_degree_5():
    basis = sphere_basis(8, E8, 5)
    assert invariant_dims(basis) == [1, 0, 0, 0, 0, 0]


# --- orthonormality and shape ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space, group, top",
    [
        (sa.Torus(3), groups.symmetric(3), 5 * np.pi**2),
        (sa.Torus(3), groups.hyperoctahedral(3), 9 * np.pi**2),
        (sa.Torus(2), groups.sign_flips(2), 30 * np.pi**2),
        (sa.Sphere(4), groups.symmetric(4), 6 * 8),
        (sa.Sphere(4), groups.alternating(4), 6 * 8),
        (sa.Sphere(5), groups.sign_flips(5), 6 * 9),
        (sa.Sphere(3), groups.point_group("Ih"), 15 * 16),
        (sa.Circle(), groups.dihedral(5), 400.0),
        (sa.Power(sa.Circle(), 3), groups.symmetric(3), 4.0),
    ],
    ids=repr,
)
def test_invariant_functions_are_orthonormal_by_exact_quadrature(space, group, top):
    basis = sa.invariant_basis(space, group, max_eigenvalue=top)
    X, weights = space.quadrature(top)
    values = basis.evaluate(X)
    assert np.abs((values.T * weights) @ values - np.eye(basis.dim)).max() < 1e-12


def test_correlate_and_combine_are_the_matrix_products():
    basis = sa.invariant_basis(sa.Sphere(4), groups.symmetric(4), max_eigenvalue=35)
    X = basis.space.sample(300, 0)
    Y, C = np.random.default_rng(0).standard_normal((300, 2)), np.random.default_rng(1).standard_normal((basis.dim, 3))
    values = basis.evaluate(X)
    np.testing.assert_allclose(basis.correlate(X, Y), values.T @ Y, atol=1e-11)
    np.testing.assert_allclose(basis.combine(X, C), values @ C, atol=1e-12)
    with sa.config(memory_limit="200 kB"):  # many chunks
        np.testing.assert_allclose(basis.correlate(X, Y), values.T @ Y, atol=1e-11)


def test_cutoffs_take_whole_eigenspaces():
    space, group = sa.Torus(10), groups.sign_flips(10)
    assert sa.invariant_basis(space, group, max_invariant_dim=176).dim == 176
    assert sa.invariant_basis(space, group, max_invariant_dim=175).dim == 56
    assert sa.invariant_basis(space, group, max_dim=1161).total_dim == 1161
    assert sa.invariant_basis(space, group, max_dim=1160).total_dim == 201
    inclusive = sa.invariant_basis(space, group, max_eigenvalue=3 * np.pi**2 * (1 - 1e-12))
    assert inclusive.dim == 176
    assert sa.invariant_basis(space, group, max_eigenvalue=0).dim == 1


def test_bases_are_values_and_shared():
    make = lambda: sa.invariant_basis(sa.Torus(2), groups.symmetric(2), max_dim=20)  # noqa: E731
    assert make() is make()
    assert make() == make() != sa.invariant_basis(sa.Torus(2), groups.symmetric(2), max_dim=30)
    with pytest.raises(ValueError, match="read-only"):
        make().eigenvalues[0] = 1.0


# --- bad input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cutoff, message",
    [
        ({}, "give a cutoff"),
        ({"max_dim": 5, "max_eigenvalue": 3.0}, "exactly one cutoff; got max_eigenvalue=3.0 and max_dim=5"),
        ({"max_eigenvalue": -1.0}, "impossible"),
        ({"max_eigenvalue": np.nan}, "impossible"),
        ({"max_eigenvalue": np.inf}, "impossible"),
        ({"max_dim": 0}, "impossible"),
        ({"max_invariant_dim": 0.5}, "impossible"),
        ({"max_dim": "many"}, "must be a number"),
    ],
)
def test_impossible_cutoffs_are_refused(cutoff, message):
    with pytest.raises(ValueError, match=message):
        sa.invariant_basis(sa.Torus(2), groups.symmetric(2), **cutoff)


def test_an_invariant_count_out_of_reach_is_refused(monkeypatch):
    monkeypatch.setattr("specavg.invariants._building._BARREN", 300)
    with pytest.raises(ValueError, match="may lie out of reach"):
        sa.invariant_basis(sa.Circle(), groups.cyclic(10**12), max_invariant_dim=3)


def test_spaces_groups_and_solvers_that_are_none_are_refused():
    with pytest.raises(TypeError, match="space must be a specavg Space"):
        sa.invariant_basis("torus", max_dim=3)
    with pytest.raises(TypeError, match="group must be a specavg Group"):
        sa.invariant_basis(sa.Torus(2), [isometries.permutation([1, 0])], max_dim=3)
    with pytest.raises(ValueError, match="solver must be one of"):
        sa.invariant_basis(sa.Torus(2), max_dim=3, solver="guess")
    with pytest.raises(ValueError, match="these do: null space"):
        sa.invariant_basis(sa.Sphere(3), groups.point_group("Ih"), max_dim=4, solver="closed form")


def test_generators_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"generator 0 of .* does not fit: .*a sphere has no shifts"):
        sa.invariant_basis(sa.Sphere(2), groups.Group([isometries.shift([Fraction(1, 2), 0])]), max_dim=3)
    with pytest.raises(ValueError, match=r"generator 0 of symmetric\(4\) does not fit: .* acts on 4 coordinates"):
        sa.invariant_basis(sa.Sphere(3), groups.symmetric(4), max_dim=4)


@pytest.mark.parametrize("n", [10**8, 10**10, 10**12, 10**13])
def test_a_rotation_too_small_for_floats_is_refused(n):
    angle = 2 * np.pi / n
    tiny = groups.Group([[[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]])
    with pytest.raises(ValueError, match=r"in doubt.*Give the generators exactly"):
        sa.invariant_basis(sa.Sphere(2), tiny, max_eigenvalue=4.0)


def test_a_forecast_refuses_before_the_work_is_done():
    group = groups.Group([np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]])
    with pytest.raises(MemoryError, match=r"999362 functions.* would need .* GB; the memory limit is"):
        sa.invariant_basis(sa.Sphere(12), group, max_eigenvalue=12 * 22.0)


def test_memory_limit_is_kept_by_every_solver():
    with sa.config(memory_limit="100 kB"):
        with pytest.raises(MemoryError, match=r"would need .* the memory limit is 100 kB"):
            sa.invariant_basis(sa.Sphere(24), groups.cyclic_shifts(24), max_eigenvalue=6 * 28)
        with pytest.raises(MemoryError, match=r"would need .* the memory limit is 100 kB"):
            sa.invariant_basis(sa.Torus(50), groups.sign_flips(50), max_eigenvalue=40.0)
    basis = sa.invariant_basis(sa.Torus(3), groups.sign_flips(3), max_dim=300)
    X = sa.Torus(3).sample(10_000, 0)
    with pytest.raises(MemoryError, match=r"a basis of 1e\+12 functions would need .* Lower max_invariant_dim"):
        sa.invariant_basis(sa.Torus(2), max_invariant_dim=1e12)
    with (  # half of what is asked for, for certain
        sa.config(memory_limit="1 GB"),
        pytest.raises(MemoryError, match=r"a basis of at least 5e\+08 functions would need .* Lower max_dim"),
    ):
        sa.invariant_basis(sa.Torus(10), groups.trivial(10), max_dim=1e9)
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError, match="evaluate chunks of rows"):
        basis.evaluate(X)
    with sa.config(memory_limit="1 MB"):  # never holds the values
        assert basis.combine(X, np.ones((basis.dim, 1))).shape == (10_000, 1)


def test_evaluation_refuses_bad_points():
    basis = sa.invariant_basis(sa.Sphere(3), groups.point_group("Oh"), max_dim=50)
    with pytest.raises(ValueError, match="row 1 is off by 1"):
        basis.evaluate([[1.0, 0, 0], [2.0, 0, 0]])
    with pytest.raises(ValueError, match="NaN"):
        basis.evaluate([[np.nan, 0, 0]])
    with pytest.raises(ValueError, match="shape"):
        basis.evaluate([[1.0, 0]])


def test_no_symmetry_of_each_factor_is_no_symmetry():
    space = sa.Product(sa.Sphere(3), sa.Circle())
    group = groups.direct_product(groups.trivial(3), groups.trivial(1))
    basis = sa.invariant_basis(space, group, max_invariant_dim=30)
    assert basis.dim == basis.total_dim == sa.invariant_basis(space, max_invariant_dim=30).dim
    with pytest.raises(ValueError, match="acts on 3 coordinates"):
        sa.invariant_basis(space, groups.direct_product(groups.trivial(2), groups.trivial(1)), max_invariant_dim=30)


def test_eigenspaces_without_invariants_do_not_part_those_that_share_a_solver():
    """A closed form tells that every second degree has none; the others are one family, computed in one pass."""
    swapped, first_and_last = (
        sa.isometries.signed_permutation([1, 0, 2], [1, -1, 1]),
        sa.isometries.permutation([2, 1, 0]),
    )
    basis = sa.invariant_basis(sa.Sphere(3), sa.groups.Group([swapped, first_and_last]), max_invariant_dim=200)
    solvers = [row.solver for row in basis.table]
    assert sum(a != b for a, b in pairwise(solvers)) > 20
    assert len(basis.functions._families) == len({row.solver for row in basis.table if row.invariant_dim}) == 2
