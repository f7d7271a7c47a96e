"""Point groups from matrices: every class in any orientation, with superfluous generators, and what is refused."""

import numpy as np
import pytest
from cases import random_rotation

import specavg as sa
from specavg import groups
from specavg.groups.recognition._point_group_of import point_group_of
from specavg.invariants.solvers._null_space import NullSpace

S2 = sa.Sphere(3)
POLYHEDRAL = ["T", "Th", "Td", "O", "Oh", "I", "Ih"]
AXIAL = ["Cs", *(f"C{n}{kind}" for n in range(2, 13) for kind in ("", "v", "h"))]
AXIAL += [f"S{2 * n}" for n in range(2, 13)]
AXIAL += [f"D{n}{kind}" for n in range(2, 13) for kind in ("", "h", "d")]


def matrices(isometries, R):
    return [R @ np.asarray(g.matrix, dtype=float) @ R.T for g in isometries]


def elsewhere(name, seed, more=2):
    """Generators of a point group about random axes, and some further elements."""
    group, R = groups.point_group(name), random_rotation(seed)
    everyone = list(group.elements())
    some = np.random.default_rng(seed).integers(len(everyone), size=more)
    return groups.Group(matrices([*group.generators, *(everyone[i] for i in some)], R))


@pytest.mark.parametrize("seed, name", list(enumerate([*AXIAL, *POLYHEDRAL])))
def test_every_class_is_recognised_in_any_orientation(seed, name):
    wanted = groups.point_group(name).structure
    found = elsewhere(name, seed)
    assert (found.structure.symbol, found.order) == (wanted.symbol, wanted.order)
    mine = np.array([g.matrix for g in found.elements()], dtype=float)
    assert len({tuple(row) for row in mine.round(6).reshape(-1, 9) + 0.0}) == found.order
    for A in matrices(wanted.elements(), random_rotation(seed)):
        assert np.abs(mine - A).max(axis=(1, 2)).min() < 1e-12


@pytest.mark.parametrize("name", ["C1", "S2", "C1h", "Ih"])
def test_aligned_matrices_are_recognised_too(name):
    group = groups.point_group(name)
    found = point_group_of([np.asarray(g.matrix, dtype=float) for g in (*group.elements(),)])
    assert (found.symbol, found.order) == (group.structure.symbol, group.order)


@pytest.mark.parametrize("name", ["C7v", "S10", "D9h", "D12d", "D11", "C2v", *POLYHEDRAL])
def test_degree_60_has_as_many_functions_as_the_catalogue_group(name):
    group = elsewhere(name, 3)
    basis = sa.invariant_basis(S2, group, max_eigenvalue=60 * 61.0)
    wanted = sa.invariant_basis(S2, groups.point_group(name), max_eigenvalue=60 * 61.0)
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in wanted.table]
    assert {row.solver for row in basis.table} == {"null space" if name in POLYHEDRAL else "closed form"}
    assert basis.residual < 1e-12
    plan = sa.invariants.plan(S2, group, max_eigenvalue=60 * 61.0)
    assert plan.dim == basis.dim  # counted beforehand


@pytest.mark.parametrize("name", ["C5", "C6v", "C4h", "S8", "D3", "D5h", "D4d", "T", "Td", "O", "Ih"])
def test_the_functions_are_those_of_the_general_solver(name):
    group = elsewhere(name, 11)
    general = NullSpace(S2, group)
    basis = sa.invariant_basis(S2, group, max_eigenvalue=12 * 13.0)
    X = S2.sample(40, 0)
    values = basis.functions.plain_values(X)
    start = 0
    for degree in range(13):
        V = S2.eigenspace(degree)
        Q = general.solve(V).data
        mine = values[:, start : start + Q.shape[1]]
        theirs = S2.evaluate(V, X) @ Q
        np.testing.assert_allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-10)
        start += Q.shape[1]
    assert start == basis.dim


@pytest.mark.parametrize(
    "generators",
    [
        [groups.point_group("C12").generators[0].matrix @ random_rotation(0)],
        [random_rotation(0), random_rotation(1)],
        [np.array([[np.cos(1.0), -np.sin(1.0), 0], [np.sin(1.0), np.cos(1.0), 0], [0, 0, 1.0]])],  # by one radian
        [
            np.array([[np.cos(1.0), -np.sin(1.0), 0], [np.sin(1.0), np.cos(1.0), 0], [0, 0, 1.0]]),
            np.diag([1.0, -1, -1]),
        ],
    ],
)
def test_infinite_groups_are_not_mistaken_for_finite_ones(generators):
    assert point_group_of(generators) is None
    assert groups.Group(generators).structure is None


def test_generators_that_are_not_accurate_are_not_recognised():
    A = np.asarray(groups.point_group("C5").generators[0].matrix, dtype=float)
    small = 1e-9
    tilt = np.array([[1, 0, small], [0, 1, 0], [-small, 0, 1]])
    assert point_group_of([A, tilt @ A @ tilt.T]) is None


def test_recognised_groups_are_equal_to_themselves_and_draw_uniformly():
    group = elsewhere("O", 5)
    assert group == groups.Group(group.generators)
    assert hash(group) == hash(groups.Group(group.generators))
    rng = np.random.default_rng(0)
    drawn = {tuple(np.round(np.asarray(group.random(rng).matrix, float), 6).ravel() + 0.0) for _ in range(400)}
    assert len(drawn) == 24


def test_rounded_generators_of_a_recognised_group_have_its_functions():
    """Three mirrors of the icosahedron, with twelve decimals: the degrees are those of the Molien series."""
    golden = (1 + 5**0.5) / 2
    normals = [np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([golden, 1 / golden, 1.0]) / 2]
    with pytest.warns(UserWarning, match="120 elements"):
        group = groups.Group([np.round(np.eye(3) - 2 * np.outer(n, n), 12) for n in normals])
    assert group.structure.symbol == "Ih"
    basis = sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=16 * 17)
    degrees = [i for i, row in enumerate(basis.table) if row.invariant_dim]
    counts = groups.point_group("Ih").molien(16)
    assert degrees == [k for k in range(17) if counts[k] - (counts[k - 2] if k > 1 else 0)] == [0, 6, 10, 12, 16]
    X = basis.space.sample(20, random_state=0)
    for g in group.generators:
        np.testing.assert_allclose(basis.evaluate(X @ g.matrix.T), basis.evaluate(X), atol=1e-10)  # 5e-13 × degree²
