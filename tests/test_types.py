"""Types of functions, the order that lists them, spectra that depend on them, and the frequencies that shifts leave."""

from itertools import islice

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.estimators import Spectrum
from specavg.groups.recognition._affine_maps import dual_lattice
from specavg.invariants._solver_choice import Resolver
from specavg.invariants.solvers._frequency_orbits import FrequencyOrbits
from specavg.isometries._affine import as_affine

METHYLS = groups.Group(
    [
        isometries.affine(np.eye(4, dtype=int).tolist(), ["1/3", 0, 0, 0]),
        isometries.affine(np.eye(4, dtype=int)[[1, 2, 0, 3]].tolist(), [0, 0, 0, 0]),
        isometries.affine((-np.eye(4, dtype=int)[[1, 0, 2, 3]]).tolist(), [0, 0, 0, 0]),
        isometries.affine((-np.eye(4, dtype=int)[[0, 1, 3, 2]]).tolist(), [0, 0, 0, 0]),
    ],
    "four methyls",
)
CASES = [
    (sa.Torus(4), groups.alternating(4), 60.0),
    (sa.Torus(3), groups.cyclic_shifts(3), 60.0),
    (sa.Torus(4), METHYLS, 400.0),
    (sa.Power(sa.Sphere(3), 3), groups.symmetric(3), 14.0),
    (sa.Power(sa.Sphere(3), 2), groups.diagonal(groups.point_group("D3"), 2), 20.0),
    (sa.spaces.Stiefel(4, 2), groups.symmetric(4), 30.0),
    (
        sa.Product(sa.Circle(), sa.Sphere(3)),
        groups.direct_product(groups.cyclic(3), groups.point_group("D3")),
        30.0,
    ),
]


@pytest.mark.parametrize("space, group, top", CASES, ids=str)
def test_functions_by_type_span_what_functions_by_eigenvalue_span(space, group, top):
    by_value = sa.invariant_basis(space, group, max_eigenvalue=top)
    by_type = sa.invariant_basis(space, group, max_eigenvalue=top, order="type")
    X = space.sample(30, random_state=0)
    A, B = by_value.evaluate(X), by_type.evaluate(X)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-11 * by_value.dim)
    np.testing.assert_array_equal(by_value.counts, by_type.counts)  # D_λ counts all functions of an eigenvalue
    assert len(by_type.table) >= len(by_value.table)


@pytest.mark.parametrize("space, group, top", CASES[:1] + CASES[3:5] + CASES[6:], ids=str)
def test_eigenvalues_are_sums_over_the_parts(space, group, top):
    basis = sa.invariant_basis(space, group, max_eigenvalue=top, order="type")
    np.testing.assert_allclose(basis.types.sums(basis.types.values), basis.eigenvalues, rtol=1e-12, atol=1e-12)


def test_the_product_spectrum_is_a_product_over_coordinates():
    basis = sa.invariant_basis(sa.Torus(2), groups.sign_flips(2), max_eigenvalue=100.0, order="type")
    values = Spectrum("product", 1.5, 0.3).values(basis)
    X = np.array([[0.13, 0.4]])
    kernel = float((basis.evaluate(X) ** 2 @ values)[0])
    expected = 0.0
    for j in range(4):
        for k in range(4):
            if np.pi**2 * (j * j + k * k) <= 100.0:
                weight = ((1 + 0.09 * np.pi**2 * j * j) * (1 + 0.09 * np.pi**2 * k * k)) ** -1.5
                waves = [np.cos(np.pi * f * x) ** 2 * (2 if f else 1) for f, x in zip((j, k), X[0], strict=True)]
                expected += weight * waves[0] * waves[1]
    assert abs(kernel - expected) < 1e-12


def test_the_partition_spectrum_counts_boxes_and_rows():
    space = sa.spaces.Stiefel(5, 3)
    basis = sa.invariant_basis(space, max_eigenvalue=12.0, order="type")
    shapes = [V.label[0] for V, _ in zip(space.ordered(basis.order), basis.table, strict=False)]
    expected = [-0.5 * sum(shape) - 2.0 * len(shape) for shape in shapes]
    found = Spectrum("partition", 0.5, 2.0).log_values(basis)
    np.testing.assert_allclose(found, np.repeat(expected, [row.invariant_dim for row in basis.table]), rtol=1e-14)


def test_spectra_by_type_say_what_they_need():
    X = sa.Sphere(3).sample(20, random_state=0)
    with pytest.raises(ValueError, match="order='type'"):
        sa.InvariantKernelRidge(sa.Sphere(3), spectrum="product", max_dim=9).fit(X, X[:, 0])


@pytest.mark.parametrize("group", [METHYLS, *map(groups.space_group, (5, 136, 166, 227, 230))], ids=str)
def test_the_dual_lattice_belongs_to_all_pure_shifts(group):
    pytest.importorskip("spglib")
    d = group.size
    basis = dual_lattice([as_affine(g) for g in group.generators], d)
    elements = [as_affine(g) for g in group.elements()]
    shifts = {g.shift for g in elements if np.array_equal(g.matrix, np.eye(d))}
    assert all(
        sum(int(k) * t for k, t in zip(row, shift, strict=True)).denominator == 1 for row in basis for shift in shifts
    )
    assert abs(round(np.linalg.det(basis))) == len(shifts)  # and to no more


def test_conjugates_of_a_shift_belong_to_a_group_with_too_many_matrices_to_list():
    # The Weyl group of A7 has 40,320 matrices, and makes every shift by half a vector of the lattice from one of them:
    # invariants are those of the Weyl group at 2u, the first at four times the norm 7/8 of two fundamental weights.
    cartan = 2 * np.eye(7, dtype=int) - np.eye(7, k=1, dtype=int) - np.eye(7, k=-1, dtype=int)
    reflections = [np.eye(7, dtype=int) - np.outer(e, cartan[:, i]) for i, e in enumerate(np.eye(7, dtype=int))]
    maps = [isometries.affine(A, [0] * 7) for A in reflections]
    group = sa.Group([*maps, isometries.shift(["1/2"] + [0] * 6)])
    np.testing.assert_array_equal(np.abs(dual_lattice(group.generators, 7)), 2 * np.eye(7))
    basis = sa.invariant_basis(sa.Torus(lattice=np.linalg.cholesky(cartan)), group, max_eigenvalue=140.0)
    found = [(row.eigenvalue / (4 * np.pi**2), row.invariant_dim) for row in basis.table if row.invariant_dim]
    np.testing.assert_allclose(found, [(0, 1), (4 * 7 / 8, 2)], rtol=1e-12)


def test_a_sweep_finds_what_single_eigenspaces_have():
    solver = FrequencyOrbits(sa.Torus(4), METHYLS)
    eigenspaces = list(islice(sa.Torus(4).eigenspaces(), 60))
    for V, together in zip(eigenspaces, solver.solve_together(eigenspaces), strict=True):
        alone = solver.solve(V)
        assert alone.invariant_dim == together.invariant_dim
        for name in ("K", "rows", "columns", "values"):
            np.testing.assert_array_equal(getattr(alone.data, name), getattr(together.data, name))


def test_invariants_on_the_dual_lattice_are_those_of_the_null_space():
    for V in islice(sa.Torus(4).eigenspaces(), 1, 19):
        dims = {
            Resolver(sa.Torus(4), METHYLS, solver).solve(V).invariant_dim
            for solver in ("orbits", *(("null space",) if V.dim <= 200 else ()))
        }
        assert len(dims) == 1
