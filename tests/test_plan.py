"""Plans: what is told beforehand is what is done."""

import numpy as np
import pytest
from cases import CASES

import specavg as sa
from specavg import groups


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
