"""Named outputs on spaces whose parts have lattices: components are Cartesian, and F(gx) = R F(x) with matrices R that
are computed here."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups, isometries
from specavg.invariants._output_on_space import output_representation
from specavg.isometries import fields
from specavg.testing import check_multiplicities

CELLS = {
    "rhombohedral": (sa.crystals.lattice(4.7, 4.7, 4.7, 57, 57, 57), groups.space_group(166, setting="R")),
    "turned cubic": (4 * Rotation.from_euler("z", 30, degrees=True).as_matrix(), groups.space_group(221)),
    "hexagonal": (sa.crystals.lattice(3, 3, 5, 90, 90, 120), groups.space_group(194)),
}


def cartesian(L, g):
    """R with (g u)ᵀ L = R (uᵀ L)ᵀ + a shift, for rows of L that are lattice vectors."""
    return L.T @ np.asarray(g.matrix, dtype=float) @ np.linalg.inv(L.T)


def of_components(output, R):
    """The matrix that moves the outputs; those of "ij=ji" are T_xx, √2 T_xy, √2 T_xz, T_yy, √2 T_yz, T_zz."""
    if output == "vector":
        return R
    if output == "axial vector":
        return np.linalg.det(R) * R
    rows, columns = np.triu_indices(3)
    scale = np.where(rows == columns, 1.0, 2**0.5)
    moved = np.empty((6, 6))
    for k, (i, j) in enumerate(zip(rows, columns, strict=True)):
        T = np.zeros((3, 3))
        T[i, j] = T[j, i] = 1 / scale[k]
        moved[:, k] = (R @ T @ R.T)[rows, columns] * scale
    return moved


def on_a_power(L, group):
    return sa.Power(sa.Torus(lattice=L), 2), groups.diagonal(group, 2)


def beside_a_sphere(L, group):
    """Positions in a cell and directions, which move together."""
    generators = [isometries.factors([g, isometries.orthogonal(cartesian(L, g))]) for g in group.generators]
    return sa.Product(sa.Torus(lattice=L), sa.Sphere(3)), groups.Group(generators)


def beside_a_larger_cell(L, group):
    generators = [isometries.factors([g, g]) for g in group.generators]
    return sa.Product(sa.Torus(lattice=L), sa.Torus(lattice=1.25 * L)), groups.Group(generators)


def two_atoms_and_a_time(L, group):
    """The power alone moves; it is one factor of a product."""
    space = sa.Product(sa.Power(sa.Torus(lattice=L), 2), sa.Interval())
    return space, groups.direct_product(groups.diagonal(group, 2), groups.trivial(1))


SPACES = [on_a_power, beside_a_sphere, beside_a_larger_cell, two_atoms_and_a_time]


def moving(group, G):
    """The generators of G, each with the generator of the cell's group that it is made of."""
    assert len(G.generators) == len(group.generators)
    return list(zip(G.generators, group.generators, strict=True))


@pytest.mark.parametrize("output", ["vector", "axial vector", "ij=ji"])
@pytest.mark.parametrize("made", SPACES)
@pytest.mark.parametrize("cell", CELLS)
def test_functions_move_by_the_cartesian_matrix(cell, made, output):
    L, group = CELLS[cell]
    space, G = made(L, group)
    basis = sa.equivariant_basis(space, G, output, max_invariant_dim=12)
    assert basis.dim >= 5
    X = space.sample(5, random_state=0)
    for g, part in moving(group, G):
        R = of_components(output, cartesian(L, part))
        np.testing.assert_allclose(basis.evaluate(space.act(g, X)), basis.evaluate(X) @ R.T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_as_many_functions_as_characters_say(cell):
    basis = sa.equivariant_basis(*on_a_power(*CELLS[cell]), "vector", max_dim=300)
    assert check_multiplicities(basis) < 1e-8


@pytest.mark.parametrize("cell", ["rhombohedral", "turned cubic"])
def test_a_vector_field_of_two_atoms_is_learnt(cell):
    """Σ sin(2πu) L moves as vectors do; one atom alone was always learnt."""
    L, group = CELLS[cell]
    space, G = on_a_power(L, group)
    X, Z = space.sample(100, random_state=0), space.sample(50, random_state=1)

    def field(X):
        return np.sin(2 * np.pi * X.reshape(-1, 2, 3)).sum(axis=1) @ L

    model = sa.EquivariantKernelRidge(space, G, "vector").fit(X, field(X))
    np.testing.assert_allclose(model.predict(Z), field(Z), rtol=0, atol=1e-7)
    for g, part in moving(group, G):
        turned = model.predict(Z) @ cartesian(L, part).T
        np.testing.assert_allclose(model.predict(space.act(g, Z)), turned, rtol=0, atol=1e-12)
    assert sa.invariance_discrepancy(model, space, G, Z[:5]) < 1e-12


def test_invariant_models_recognise_vectors_of_two_atoms_in_a_hexagonal_cell():
    space, G = on_a_power(*CELLS["hexagonal"])
    X = space.sample(60, random_state=0)
    with pytest.warns(UserWarning, match=r"EquivariantKernelRidge\(space, group, 'vector'\)"):
        sa.InvariantKernelRidge(space, G, max_dim=100).fit(X, np.sin(2 * np.pi * X[:, :3]))


def test_permuted_copies_of_a_lattice_permute_the_outputs():
    """A permutation of three copies is no map of the three fractional coordinates."""
    L, _ = CELLS["turned cubic"]
    S3 = groups.symmetric(3)
    rho = output_representation(sa.Power(sa.Torus(lattice=L), 3), S3, "vector")
    assert rho.images == S3.generators


def test_continuous_shifts_move_no_vectors():
    L, group = CELLS["hexagonal"]
    space, G = on_a_power(L, group)
    along = fields.copies([fields.shift([0, 0, 1]), fields.shift([0, 0, 1])])
    basis = sa.equivariant_basis(space, groups.Group(G.generators, [along]), "vector", max_dim=400)
    X = space.sample(5, random_state=0)
    np.testing.assert_allclose(basis.evaluate(space.act(along.flow(0.3), X)), basis.evaluate(X), rtol=0, atol=1e-12)
    for g, part in moving(group, G):
        turned = basis.evaluate(X) @ cartesian(L, part).T
        np.testing.assert_allclose(basis.evaluate(space.act(g, X)), turned, rtol=0, atol=1e-12)


def test_the_discrepancy_of_vectors_of_one_factor_takes_every_element():
    """Of the identity alone one could not tell which factor moves."""
    space = sa.Product(sa.Interval(), sa.Sphere(3))
    group = groups.direct_product(groups.trivial(1), groups.point_group("Oh"))
    X = space.sample(40, random_state=0)
    model = sa.EquivariantKernelRidge(space, group, "vector", max_dim=200).fit(X, X[:, 1:] ** 3)
    found = sa.invariance_discrepancy(model, space, group, X[:5])
    assert found.n_elements == 48
    assert found < 1e-12


def test_a_lattice_for_cartesian_maps_is_refused_with_what_to_do():
    L, group = CELLS["hexagonal"]
    _, G = beside_a_sphere(L, group)
    with pytest.raises(ValueError, match="name the output"):
        groups.representation(G, "vector", lattice=L)


@pytest.mark.parametrize("output", ["vector", "axial vector", "ij=ji"])
def test_factors_that_stay_move_no_outputs_of_copies(output):
    """Two bonds, each a length beside a direction: outputs move as those of the directions alone do."""
    length = groups.trivial(1)
    space = sa.Power(sa.Product(sa.Interval(0.8, 1.2), sa.Sphere(3)), 2)
    group, alone = (
        groups.joined(groups.diagonal(one, 2), groups.symmetric(2))
        for one in (groups.direct_product(length, groups.orthogonal(3)), groups.orthogonal(3))
    )
    found, known = output_representation(space, group, output), groups.representation(alone, output)
    for mine, theirs in zip((*found.images, *found.field_images), (*known.images, *known.field_images), strict=True):
        np.testing.assert_allclose(np.asarray(mine.matrix), np.asarray(theirs.matrix), rtol=0, atol=1e-12)


def test_a_dipole_of_bonds_with_lengths_is_learnt():
    space = sa.Power(sa.Product(sa.Interval(0.8, 1.2), sa.Sphere(3)), 2)
    together = groups.diagonal(groups.direct_product(groups.trivial(1), groups.orthogonal(3)), 2)
    group = groups.joined(together, groups.symmetric(2))
    X = space.sample(40, random_state=0)
    first, second = X[:, :4], X[:, 4:]
    dipole = first[:, :1] * first[:, 1:] + second[:, :1] * second[:, 1:]
    model = sa.EquivariantKernelRidge(space, group, "vector", max_invariant_dim=20).fit(X, dipole)
    assert model.loo_error_ < 1e-10
    Q = -sa.Rotations().sample(1, random_state=1).reshape(3, 3)
    moved = np.c_[second[:, :1], second[:, 1:] @ Q.T, first[:, :1], first[:, 1:] @ Q.T]
    np.testing.assert_allclose(model.predict(moved), model.predict(X) @ Q.T, rtol=0, atol=1e-12)


def test_two_factors_of_three_that_move_alike_move_a_vector():
    space = sa.Product(sa.Interval(), sa.Sphere(3), sa.Sphere(3))
    turn = groups.point_group("C3").generators[0]
    group = sa.Group([isometries.factors([isometries.permutation([0]), turn, turn])])
    (image,) = output_representation(space, group, "vector").images
    np.testing.assert_allclose(image.matrix, turn.matrix, rtol=0, atol=1e-15)
