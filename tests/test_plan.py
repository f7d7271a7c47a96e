"""Plans: what is told beforehand is what is done."""

import tracemalloc

import numpy as np
import pytest
from cases import CASES

import specavg as sa
from specavg import groups
from specavg.invariants._solver_choice import Resolver


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_plan_is_what_is_done(case):
    given = {"max_dim": case.max_functions, "order": case.order}
    plan = sa.invariants.plan(case.space, case.group, **given)
    basis = sa.invariant_basis(case.space, case.group, **given)
    assert plan.complete
    assert [(row.eigenvalue, row.dim) for row in plan.rows] == [(row.eigenvalue, row.dim) for row in basis.table]
    for planned, done in zip(plan.rows, basis.table, strict=True):
        assert planned.invariant_dim in (None, done.invariant_dim)
        assert planned.seconds > 0
        assert planned.memory >= 0
        assert planned.solver == done.solver
    assert plan.dim in (None, basis.dim)
    assert str(plan).count("\n") >= 2


def test_numbers_of_invariants_are_known_where_that_is_cheap():
    for space, group in (
        (sa.Torus(50), groups.hyperoctahedral(50)),
        (sa.Sphere(3), groups.point_group("Ih")),
        (sa.Sphere(100), groups.symmetric(100)),
        (sa.Power(sa.Sphere(3), 4), groups.wreath(groups.point_group("Oh"), 4)),
    ):
        plan = sa.invariants.plan(space, group, max_invariant_dim=40)
        assert plan.complete
        assert plan.dim == sa.invariant_basis(space, group, max_invariant_dim=40).dim


def test_a_plan_of_what_nobody_could_do_takes_no_time():
    group = groups.Group([np.linalg.qr(np.diag([3.0] * 8) + 1)[0]])
    plan = sa.invariants.plan(sa.Sphere(8), group, max_dim=1e7)
    assert plan.seconds > 1e3
    assert plan.memory > 1e12
    with pytest.raises(ValueError, match="give a cutoff"):
        sa.invariants.plan(sa.Torus(2))


def test_totals_are_those_of_the_basis_beyond_two_thousand_eigenspaces():
    """Frequencies in a disc of radius 100, and those with 0 ≤ k₂ ≤ k₁."""
    k = np.arange(-100, 101)
    inside = k[:, None] ** 2 + k**2 <= 10_000
    wedge = inside & (k >= 0) & (k[:, None] >= k)
    plan = sa.invariants.plan(sa.Torus(2, period=2 * np.pi), groups.hyperoctahedral(2), max_eigenvalue=1e4)
    assert (plan.total_dim, plan.dim) == (inside.sum(), wedge.sum())
    assert plan.complete
    assert not plan.cut
    assert "total" in str(plan)


def test_a_plan_that_ends_early_says_so(monkeypatch):
    monkeypatch.setattr("specavg.invariants._plan._MOST_ROWS", 20)
    plan = sa.invariants.plan(sa.Circle(), groups.dihedral(5), max_eigenvalue=1e4)
    assert plan.cut
    assert not plan.complete
    assert len(plan.rows) == 20
    assert "at least" in str(plan)
    assert "ends here, after 20 eigenspaces; the basis has more" in str(plan)
    assert "total" not in str(plan)


def test_cheap_eigenspaces_are_solved_where_a_number_of_invariants_is_asked_for():
    """Most eigenspaces of few waves have more invariants than m/|G|, here a billion times as many."""
    group = groups.joined(groups.sign_flips(10), groups.symmetric(10))
    plan = sa.invariants.plan(sa.Torus(10), group, max_invariant_dim=11)
    basis = sa.invariant_basis(sa.Torus(10), groups.hyperoctahedral(10), max_invariant_dim=11)
    assert (plan.total_dim, plan.dim) == (basis.total_dim, basis.dim)
    assert plan.complete


def test_a_plan_by_the_order_of_the_group_says_so(monkeypatch):
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    half_turn = groups.Group([R @ np.diag([1.0, 1.0, -1.0, -1.0]) @ R.T])
    assert sa.invariants.plan(sa.Sphere(4), half_turn, max_invariant_dim=100).complete
    monkeypatch.setattr("specavg.invariants._plan._SOLVED_SECONDS", 0.0)
    plan = sa.invariants.plan(sa.Sphere(4), half_turn, max_invariant_dim=100)
    assert not plan.complete
    assert not plan.cut
    assert "taken for 1/|G| of the functions" in str(plan)


def test_a_plan_knows_where_polynomials_cancel_too_much():
    """Beyond degree 21 a null space takes over, at a hundred times the time; odd degrees have no invariants at all."""
    space, group = sa.Sphere(4), groups.hyperoctahedral(4)
    plan = sa.invariants.plan(space, group, max_eigenvalue=26 * 28)
    basis = sa.invariant_basis(space, group, max_eigenvalue=26 * 28)
    assert [row.solver for row in plan.rows] == [row.solver for row in basis.table]
    assert {k for k, row in enumerate(plan.rows) if row.solver == "null space"} == {22, 24, 26}
    # Invariant polynomials have the degrees 2, 4, 6 and 8, and without the first one harmonic ones are left.
    counts = [sum(a * 4 + b * 6 + c * 8 == k for a in range(7) for b in range(5) for c in range(4)) for k in range(27)]
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in plan.rows] == counts


@pytest.mark.parametrize("d, last", [(8, 17), (10, 17), (12, 16), (15, 17)])
def test_a_plan_knows_the_last_degree_in_closed_form(d, last):
    """Monomials and Hermite products both cancel by more than 500 from there on, and no solver is tried in vain."""
    space, group = sa.Sphere(d), groups.symmetric(d)
    last_one, beyond = (space.eigenspace(k).eigenvalue for k in (last, last + 1))
    basis = sa.invariant_basis(space, group, max_eigenvalue=last_one)
    assert {row.solver for row in basis.table} == {"closed form"}
    # Harmonic invariants of degree k are partitions of k into 1 and 3, …, d: invariants are generated by power sums.
    parts = [1, *range(3, d + 1)]
    counts = [1] + [0] * last
    for part in parts:
        for k in range(part, last + 1):
            counts[k] += counts[k - part]
    assert [row.invariant_dim for row in basis.table] == counts
    plan = sa.invariants.plan(space, group, max_eigenvalue=beyond)
    assert [row.solver for row in plan.rows] == ["closed form"] * (last + 1) + ["null space"]
    assert plan.rows[-1].memory > 1e12
    tracemalloc.start()
    with pytest.raises(MemoryError, match="null space"):
        sa.invariant_basis(space, group, max_eigenvalue=beyond)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 1e7
    solver = Resolver(space, group, solver="closed form")
    with pytest.raises(ValueError, match=f"used up to degree {last}"):
        solver.solve(space.eigenspace(last + 1))


@pytest.mark.parametrize("kind, d, last", [(groups.symmetric, 8, 17), (groups.hyperoctahedral, 9, 17)])
def test_polynomials_cancel_too_much_beyond_the_last_degree(kind, d, last, monkeypatch):
    monkeypatch.setattr("specavg.invariants.solvers._harmonic_polynomials.last_degree", lambda d, permuted: 100)
    space = sa.Sphere(d)
    solver = Resolver(space, kind(d), solver="closed form")
    assert solver.solve(space.eigenspace(last)).invariant_dim == solver.count(space.eigenspace(last))
    with pytest.raises(ValueError, match="cancel by a factor of"):
        solver.solve(space.eigenspace(last + 1))
