"""Defaults keep to a budget of time: groups without invariants, or with late ones, end in an answer or a sentence."""

import time
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups
from specavg.estimators import _base
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._left_times_right import LeftTimesRight
from specavg.invariants.solvers._null_space import NoInvariants, NullSpace


def reflections(size, orders):
    """The group of mirrors with angles π/m between them, all others at right angles."""
    gram = np.eye(size)
    for (i, j), m in orders.items():
        gram[i, j] = gram[j, i] = -np.cos(np.pi / m)
    roots = np.linalg.cholesky(gram)
    return groups.Group([np.eye(size) - 2 * np.outer(r, r) / (r @ r) for r in roots])


DENSE = groups.Group([Rotation.from_rotvec(axis).as_matrix() for axis in ([0, 0, 1.0], [1.0, 0, 0])])
H4 = reflections(4, {(0, 1): 5, (1, 2): 3, (2, 3): 3})
E8 = reflections(8, {(0, 1): 3, (1, 2): 3, (2, 3): 3, (3, 4): 3, (4, 5): 3, (5, 6): 3, (4, 7): 3})
CASES = {
    "dense": (sa.Sphere(3), DENSE, 1, "the group may have none"),
    "H4": (sa.Sphere(4), H4, 2, "time ended the search"),
    "E8": (sa.Sphere(8), E8, 1, "the first one has the eigenvalue 112, and max_eigenvalue=112 finds it in about"),
}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(_base, "BASIS_SECONDS", 0.1)


@pytest.mark.filterwarnings("ignore:the leave-one-out error is")  # the target has another symmetry
@pytest.mark.parametrize("name", CASES)
def test_a_default_fit_ends_within_its_budget(name):
    space, group, functions, said = CASES[name]
    X = space.sample(40, random_state=0)
    model = sa.InvariantKernelRidge(space, group)
    with pytest.warns(UserWarning, match=said):
        model.fit(X, X[:, 0] ** 2)
    basis = model.basis_
    resolver = Resolver(space, group)
    searched = [V for V, _ in zip(space.ordered(basis.order), basis.table, strict=False)]
    assert basis.dim >= functions
    assert sum(resolver.seconds(V) for V in searched) <= 0.1 + resolver.seconds(searched[0])
    again = sa.invariant_basis(space, group, max_eigenvalue=basis.cutoff.value, order=basis.order)  # the same
    assert (basis.cutoff.kind, again.dim) == ("max_eigenvalue", basis.dim)


def test_degrees_without_invariants_of_a_reflection_group_are_not_searched():
    """Seven degrees of E8, of up to 2,640 functions, took 28 s; the degrees of its invariants are 2, 8, 12, ..."""
    start = time.process_time()
    basis = sa.invariant_basis(sa.Sphere(8), E8, max_eigenvalue=7 * 13.0)
    assert time.process_time() - start < 2.0  # 0.02 s
    assert [row.invariant_dim for row in basis.table] == [1, 0, 0, 0, 0, 0, 0, 0]
    X = basis.space.sample(5, random_state=0)
    np.testing.assert_allclose(basis.evaluate(X), np.ones((5, 1)))


@pytest.mark.parametrize(
    "size, orders, degree",
    [
        (4, {(0, 1): 3, (1, 2): 4, (2, 3): 3}, 9),  # F4
        (4, {(0, 1): 3, (1, 2): 3, (1, 3): 3}, 9),  # D4
        (5, {(0, 1): 3, (1, 2): 3, (2, 3): 3, (3, 4): 3}, 6),  # A5
        (5, {(0, 1): 5, (2, 3): 3}, 6),  # reducible, with an axis that is a mirror alone
        (6, {(0, 1): 3, (1, 2): 3, (2, 3): 3, (3, 4): 3, (2, 5): 3}, 5),  # E6
    ],
    ids=["F4", "D4", "A5", "I2(5) x A2 x A1", "E6"],
)
def test_reflection_groups_have_as_many_harmonics_as_the_null_space(size, orders, degree):
    space, group = sa.Sphere(size), reflections(size, orders)
    reach = space.eigenspace(degree).eigenvalue
    found = sa.invariant_basis(space, group, max_eigenvalue=reach)
    general = [NullSpace(space, group).solve(space.eigenspace(k)).invariant_dim for k in range(degree + 1)]
    assert [row.invariant_dim for row in found.table] == general
    resolver = Resolver(space, group)
    skipped = [isinstance(resolver.solve(space.eigenspace(k)).solver, NoInvariants) for k in range(degree + 1)]
    assert skipped == [count == 0 for count in general]
    assert sa.invariants.plan(space, group, max_eigenvalue=reach).dim == found.dim  # counted beforehand
    sa.testing.check_invariance(found)


@pytest.mark.parametrize("name", ["dense", "H4"])
def test_equivariant_fits_end_within_their_budget(name):
    space, group, *_ = CASES[name]
    X = space.sample(30, random_state=0)
    model = sa.EquivariantKernelRidge(space, group, "vector").fit(X, X)
    assert model.basis_.dim >= 1  # x itself
    np.testing.assert_allclose(model.predict(X), X, atol=0.05)


@pytest.mark.filterwarnings("ignore:the leave-one-out error is")  # the target has another symmetry
def test_alternating_groups_of_points_have_a_closed_form_and_need_no_budget():
    space = sa.Power(sa.Torus(2), 5)
    X = space.sample(60, random_state=0)
    basis = sa.InvariantKernelRidge(space, groups.alternating(5)).fit(X, X[:, 0] ** 2).basis_
    assert {row.solver for row in basis.table} == {"closed form"}
    assert basis.cutoff.kind == "max_invariant_dim"  # the number of functions ended it, not the time


@pytest.mark.parametrize("estimator", [sa.InvariantFeatures, sa.InvariantDensity])
def test_estimators_that_need_a_function_say_that_none_was_found(estimator):
    X = sa.Sphere(3).sample(40, random_state=0)
    with pytest.raises(ValueError, match="the group may have none"):
        estimator(sa.Sphere(3), DENSE).fit(X)


def test_an_explicit_cutoff_has_no_budget():
    X = sa.Sphere(4).sample(20, random_state=0)
    model = sa.InvariantKernelRidge(sa.Sphere(4), H4, max_eigenvalue=12 * 14.0).fit(X, X[:, 0])
    assert model.basis_.dim == 2  # degrees 0 and 12


@pytest.mark.parametrize(
    "space", [sa.Sphere(2), sa.Sphere(3), sa.Torus(2), sa.Circle(), sa.Interval(), sa.Rotations()], ids=repr
)
@pytest.mark.parametrize(
    "cutoff",
    [{"max_eigenvalue": 1e30}, {"max_dim": 1e18}, {"max_invariant_dim": 1e15}],
    ids=lambda cutoff: next(iter(cutoff)),
)
def test_impossible_cutoffs_are_refused_at_once(space, cutoff):
    start = time.process_time()
    with pytest.raises(MemoryError, match=f"would need .* Lower {next(iter(cutoff))}"):
        sa.invariant_basis(space, **cutoff)
    assert time.process_time() - start < 1.0  # 0.02 s; listing what 1e9 eigenspaces need would take an hour


def test_copies_with_few_invariants_list_no_types_without_any():
    # 433,000 types lie below the twentieth invariant: listed one by one they took minutes and gigabytes.
    group = groups.wreath(groups.point_group("Ih"), 20)
    start = time.process_time()
    basis = sa.invariant_basis(sa.Power(sa.Sphere(3), 20), group, max_invariant_dim=20)
    assert time.process_time() - start < 20.0  # 0.7 s
    # Invariants of Ih: degrees 6, 10, 12, 15 and 16 have 0 or 1 of them, those of two copies from 84 on.
    one_copy = sa.invariant_basis(sa.Sphere(3), groups.point_group("Ih"), max_eigenvalue=292.0).eigenvalues[1:]
    sums = [sum(c) for n in range(7) for c in combinations_with_replacement(one_copy, n) if sum(c) <= 292]
    np.testing.assert_allclose(basis.eigenvalues, sorted(sums), rtol=1e-12)


def test_eigenspaces_of_one_copy_that_are_solved_already_still_cost_something():
    """Taken for free, as many were searched in one order as take seventeen times the time of a default."""
    space, group = sa.Power(sa.Circle(), 4), groups.wreath(groups.dihedral(3), 4)
    model = sa.InvariantKernelRidge(space, group, order=sa.invariants.FewCoordinates(64))
    X = space.sample(70, random_state=0)
    model.fit(X, np.cos(3 * X).sum(axis=1))
    assert len(model.basis_.table) < 300  # 559 before


def test_forecasts_on_frames_know_the_size_of_dense_matrices():
    space = sa.Stiefel(6, 2)
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]  # signed permutations would be sparse
    turned = [R @ np.asarray(g.matrix) @ R.T for g in groups.hyperoctahedral(6).generators[:2]]
    solver = LeftTimesRight(space, groups.Group([sa.isometries.left_right(A, np.eye(2)) for A in turned]))
    large = next(V for V in space.eigenspaces() if max(space.left_sizes(V)) > 2000)  # 8,820 functions took 6 s
    assert 1.0 < solver.seconds(large) < 30.0
    assert solver.memory(large) > 2 * 8 * 2000**2  # two generators
    columns = groups.Group([sa.isometries.left_right(np.eye(6), [[0, 1], [1, 0]])])
    assert LeftTimesRight(space, columns).seconds(large) < 0.1  # nothing acts from the left: no such matrix is made


def test_a_search_for_equivariant_functions_that_are_not_there_ends(monkeypatch):
    monkeypatch.setattr("specavg.invariants._building._BARREN_SECONDS", 2.0)
    space, group = sa.Sphere(3), DENSE  # x itself is the only vector field that moves with x
    with pytest.raises(ValueError, match=r"max_invariant_dim=2 may lie out of reach \(1 found\)"):
        sa.equivariant_basis(space, group, "vector", max_invariant_dim=2)
    assert sa.equivariant_basis(space, group, "vector", max_invariant_dim=1).dim == 1  # all that was asked for


CONJUGATION = [sa.isometries.fields.left_right(f.matrix, f.matrix) for f in groups.special_orthogonal(3).fields]
TURNED = Rotation.random(random_state=0).as_matrix()


@pytest.mark.parametrize(
    "space, group",
    [
        (sa.Stiefel(5, 2), groups.orthogonal(5)),
        (sa.Rotations(), groups.special_orthogonal(3)),
        (sa.Rotations(), groups.left_right(groups.trivial(3), groups.special_orthogonal(3))),
        (sa.Power(sa.Sphere(3), 1), groups.diagonal(groups.special_orthogonal(3), 1)),
        (sa.Product(sa.Circle(), sa.Sphere(3)), groups.direct_product(groups.shifts([1]), groups.orthogonal(3))),
    ],
    ids=str,
)
def test_a_group_that_moves_every_point_to_every_other_is_said_to_leave_the_constant_alone(space, group):
    start = time.process_time()
    with pytest.raises(ValueError, match=r"is out of reach: .* only the constant is invariant"):
        sa.invariant_basis(space, group, max_invariant_dim=2)
    assert time.process_time() - start < 5.0  # 0.3 s; pairs in five dimensions were searched for minutes
    assert sa.invariant_basis(space, group, max_invariant_dim=1).dim == 1
    assert sa.invariant_basis(space, group, max_eigenvalue=8.0).dim == 1


@pytest.mark.parametrize(
    "space, group",
    [
        (sa.Rotations(), groups.Group(fields=CONJUGATION)),  # the angle of a rotation
        (sa.Power(sa.Sphere(3), 2), groups.diagonal(groups.special_orthogonal(3), 2)),  # the angle between two
        (sa.Sphere(3), groups.Group(fields=[TURNED @ groups.special_orthogonal(3).fields[0].matrix @ TURNED.T] * 2)),
        (sa.Torus(2), groups.shifts([1, 2])),
        (sa.Product(sa.Circle(), sa.Sphere(3)), groups.direct_product(groups.cyclic(3), groups.orthogonal(3))),
        (sa.Stiefel(4, 2), groups.left_right(groups.trivial(4), groups.orthogonal(2))),
    ],
    ids=str,
)
def test_other_continuous_groups_are_not(space, group):
    assert sa.invariant_basis(space, group, max_invariant_dim=12).dim > 1


def test_a_group_of_the_catalogue_is_not_told_to_be_named():
    with pytest.raises(MemoryError, match="Lower the cutoff") as caught:
        sa.equivariant_basis(sa.Sphere(24), groups.hyperoctahedral(24), "vector", max_eigenvalue=104)
    assert "catalogue name" not in str(caught.value)
