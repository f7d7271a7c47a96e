"""A crystal in one call: the group that spglib finds, exact, on the torus of the cell."""

import warnings

import numpy as np
import pytest

import specavg as sa
from specavg import crystals, groups

pytest.importorskip("spglib")

HEXAGONAL = np.array([[3.21, 0, 0], [-1.605, 3.21 * np.sqrt(3) / 2, 0], [0, 0, 5.21]])
MAGNESIUM = (HEXAGONAL, [[1 / 3, 2 / 3, 0.25], [2 / 3, 1 / 3, 0.75]], [12, 12])
SALT = (np.eye(3) * 5.64, [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0],
                           [0.5, 0.5, 0.5], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], [11] * 4 + [17] * 4)  # fmt: skip


def test_the_group_of_salt_is_the_space_group():
    space, group = crystals.positions(SALT)
    known = groups.space_group(225)
    assert group.order == known.order == 192
    assert sa.invariant_basis(space, group, max_dim=500).dim == sa.invariant_basis(space, known, max_dim=500).dim > 1


def test_few_digits_of_the_lattice_are_made_symmetric():
    space, group = crystals.positions((np.round(HEXAGONAL, 3), *MAGNESIUM[1:]), symprec=1e-3)
    assert group.order == 24
    assert np.abs(space.lattice - HEXAGONAL).max() < 1e-3
    X = space.sample(30, random_state=0)
    y = np.cos(2 * np.pi * X).sum(axis=1)
    model = sa.InvariantKernelRidge(space, group, max_dim=80).fit(X, y)
    assert sa.invariance_discrepancy(model, space, group, X) < 1e-12


def test_wave_vectors_have_the_point_group_with_time_reversal():
    space, group = crystals.wave_vectors(MAGNESIUM)
    assert group.order == 24
    np.testing.assert_allclose(space.lattice @ HEXAGONAL.T, np.eye(3), atol=1e-12)
    assert sa.invariant_basis(space, group, max_dim=60).dim > 1


def test_cells_that_do_not_do_are_refused_with_what_does():
    with pytest.raises(ValueError, match=r"not primitive.*spglib\.find_primitive"):
        crystals.wave_vectors(SALT)
    moved = (HEXAGONAL, np.add(MAGNESIUM[1], [0.0123, 0.0456, 0.0789]), [12, 12])
    told = r"no multiple of 1/24.*Subtract \[0.0123, 0.0456, 0.0789\] from the fractional positions"
    with pytest.raises(ValueError, match=told):
        crystals.positions(moved)
    five = (np.diag([15.0, 4.0, 5.0]), [[i / 5, 0, 0] for i in range(5)], [1] * 5)
    with pytest.raises(ValueError, match=r"no multiple of 1/24.*supercell.*spglib\.standardize_cell"):
        crystals.positions(five)


def test_cells_of_ase_and_wrong_cells():
    ase = pytest.importorskip("ase.build")
    magnesium = ase.bulk("Mg")
    for made in (sa.crystals.positions, sa.crystals.wave_vectors):
        space, group = made(magnesium)
        same = made((magnesium.cell[:], magnesium.get_scaled_positions(), magnesium.numbers))
        assert group.order == 24
        assert np.array_equal(space.lattice, same.space.lattice)
    with pytest.raises(ValueError, match=r"a cell is \(lattice, positions, numbers\)"):
        sa.crystals.positions(magnesium.cell[:])


def test_kinds_of_atoms_may_be_names_and_cells_must_fit_together():
    named = crystals.positions((HEXAGONAL, MAGNESIUM[1], ["Mg", "Mg"]))
    assert named[1] == crystals.positions(MAGNESIUM).group
    assert named[0] == crystals.positions(MAGNESIUM).space
    assert crystals.positions((HEXAGONAL, MAGNESIUM[1], ["Mg", "Zn"])).group.order < named.group.order
    with pytest.raises(ValueError, match=r"a position and a number for each atom; the shapes are \(2, 3\) and \(3,\)"):
        crystals.positions((HEXAGONAL, MAGNESIUM[1], [12, 12, 12]))
    with pytest.raises(ValueError, match="lattice vectors lie in a plane"):
        crystals.positions((np.ones((3, 3)), [[0, 0, 0]], [1]))


def test_repr_of_a_lattice_is_the_same_space():
    space, group = sa.crystals.wave_vectors(([[3.2, 0, 0], [-1.6, 1.6 * 3**0.5, 0], [0, 0, 5.2]], [[0, 0, 0]], [1]))
    again = eval(repr(space), {"Torus": sa.Torus})
    assert np.array_equal(again.lattice, space.lattice)
    assert sa.invariant_basis(again, group, max_dim=30).dim > 1


ROUNDED = ([[3.2, 0, 0], [-1.6, 2.771, 0], [0, 0, 5.12]], *MAGNESIUM[1:])


@pytest.mark.parametrize("made", [crystals.positions, crystals.wave_vectors])
def test_a_rounded_cell_is_questioned_with_both_groups(made):
    with pytest.warns(UserWarning, match=r"Cmcm \(63\), of 4|P6_3/mmc \(194\), of 24"):
        made(ROUNDED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crystal = made(ROUNDED, symprec=1e-2)
        made(MAGNESIUM)
    assert crystal.group.order == 24
    assert repr(crystal).startswith("<Crystal: P6_3/mmc (194), group of order 24 on Torus")


def test_space_groups_on_other_cells_are_refused_with_the_cell_to_take():
    primitive = sa.Torus(lattice=[[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    sixty = sa.Torus(lattice=[[3.2, 0, 0], [1.6, 1.6 * 3**0.5, 0], [0, 0, 5.1]])
    for space, number in ((primitive, 225), (sixty, 194)):
        with pytest.raises(ValueError, match=r"the conventional cell of their setting: γ = 120°, not 60°"):
            sa.invariant_basis(space, groups.space_group(number), max_dim=20)
    with pytest.raises(ValueError, match=r"looks rounded: pass more digits"):
        sa.invariant_basis(sa.Torus(lattice=ROUNDED[0]), groups.space_group(194), max_dim=20)


@pytest.mark.parametrize(
    "symbol, number", [("Fm-3m", 225), ("P6_3/mmc", 194), ("P 63/mmc", 194), ("F 4/m -3 2/m", 225), ("225", 225)]
)
def test_space_groups_by_symbol(symbol, number):
    assert groups.space_group(symbol) == groups.space_group(number)
    with pytest.raises(ValueError, match="or give its number"):
        groups.space_group("Fm4m")


def test_lattice_vectors_in_columns_are_questioned():
    turned = (np.ascontiguousarray(HEXAGONAL.T), *MAGNESIUM[1:])
    for made in (crystals.positions, crystals.wave_vectors):
        with pytest.warns(UserWarning, match=r"P2_1/m \(11\), of 4 .*transposed it has P6_3/mmc \(194\).*columns"):
            made(turned)


def test_a_lattice_of_two_digits_is_questioned():
    ase = pytest.importorskip("ase.build")
    bismuth = ase.bulk("Bi")
    rounded = (np.round(bismuth.cell[:], 2), bismuth.get_scaled_positions(), bismuth.numbers)
    with pytest.warns(UserWarning, match=r"C2/m \(12\), of 4 operations; with symprec=0.03 it has R-3m \(166\), of 12"):
        crystals.positions(rounded)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert crystals.positions(bismuth).group.order == crystals.positions(rounded, symprec=0.03).group.order == 12


@pytest.mark.parametrize("second", [[0, 0, 1], [0, 0, 0.0], [0.001, -1, 2]], ids=str)
def test_two_atoms_at_one_place_are_refused(second):
    for kinds in ([55, 17], [55, 55]):
        with pytest.raises(ValueError, match="atoms 0 and 2 are at one place"):
            crystals.positions((4 * np.eye(3), [[0, 0, 0], [0.5, 0.5, 0.5], second], [kinds[0], 8, kinds[1]]))


def test_a_molecule_has_no_cell():
    ase = pytest.importorskip("ase.build")
    with pytest.raises(ValueError, match=r"2 of 3 lattice vectors .*may be given as a plane, \(cell\[:2, :2\]"):
        crystals.positions(ase.graphene())
    with pytest.raises(ValueError, match="these Atoms have no cell: 0 of 3 lattice vectors"):
        crystals.positions(ase.molecule("H2O"))


def test_atoms_with_unlike_magnetic_moments_are_different_kinds():
    ase = pytest.importorskip("ase.build")
    iron = ase.bulk("Fe", cubic=True)
    assert crystals.positions(iron).group.order == 96
    for moments, order, said in (([2, -2], 48, "Pm-3m (221), unlike moments told apart"), ([2, 2], 96, "Im-3m (229)")):
        iron.set_initial_magnetic_moments(moments)
        crystal = crystals.positions(iron)
        assert (crystal.group.order, crystal.name) == (order, said)
        cell = (iron.cell[:], iron.get_scaled_positions(), iron.numbers, moments)  # as spglib has magnetic cells
        assert crystals.positions(cell).group == crystal.group
    spins = np.array([1.0, -1.0])  # a density of spins: the group keeps it, which exchanged neighbours
    iron.set_initial_magnetic_moments(2 * spins)
    space, group = crystals.positions(iron)
    X = space.sample(40, random_state=0)

    def density(X):
        waves = np.exp(np.cos(2 * np.pi * X).sum(axis=1))
        return waves - np.exp(np.cos(2 * np.pi * (X - 0.5)).sum(axis=1))

    assert sa.invariance_discrepancy(density, space, group, X) < 1e-12
    iron.set_initial_magnetic_moments(None)
    assert sa.invariance_discrepancy(density, *crystals.positions(iron), X) > 1
    iron.set_initial_magnetic_moments(2 * spins)
    assert crystals.wave_vectors(iron).group.order == 48  # the magnetic cell is primitive
    iron.set_initial_magnetic_moments(None)
    iron.set_initial_magnetic_moments([[0, 0, 2], [0, 0, -2]])
    with pytest.raises(ValueError, match="moments with directions"):
        crystals.positions(iron)
    with pytest.raises(ValueError, match="one magnetic moment for each of 2 atoms"):
        crystals.positions((iron.cell[:], iron.get_scaled_positions(), iron.numbers, [1.0]))


@pytest.mark.parametrize(
    "parameters",
    [(3, 4, 5, 90, 90, 90), (3.2, 3.2, 5.1, 90, 90, 120), (4.1, 5.2, 6.3, 71, 82, 103), (3, 3, 3, 60, 60, 60)],
    ids=str,
)
def test_lattices_from_parameters(parameters):
    cell = pytest.importorskip("ase.cell")
    found = crystals.lattice(*parameters)
    np.testing.assert_allclose(found, cell.Cell.fromcellpar(parameters)[:], atol=1e-14)
    np.testing.assert_allclose(cell.Cell(found).cellpar(), parameters, rtol=1e-13)
    assert sa.Torus(lattice=found).volume > 0


def test_parameters_of_no_cell_are_refused():
    with pytest.raises(ValueError, match="no cell has the angles 30, 40 and 120 degrees"):
        crystals.lattice(1, 1, 1, 30, 40, 120)
    with pytest.warns(UserWarning, match=r"one of 1.571° makes a very flat cell. Are they radians"):
        crystals.lattice(3, 3, 5, gamma=np.pi / 2)
    with pytest.raises(ValueError, match="Are they in radians"):
        crystals.lattice(1, 1, 1, np.pi / 3, np.pi / 3, 2.2)
    with pytest.raises(ValueError, match="positive lengths"):
        crystals.lattice(1, 0, 1)
    space = sa.Torus(lattice=crystals.lattice(3.2, 3.2, 5.1, gamma=120))
    assert sa.invariant_basis(space, groups.space_group(194), max_dim=30).dim > 1


def cell_of_plane_group(number):
    """Two orbits of atoms in general places, under one of the 17 groups."""
    group = groups.plane_group(number)
    oblique, rectangle, hexagon = [[1, 0.3], [0.1, 1.4]], [[1, 0], [0, 1.4]], [[1, 0], [-0.5, 0.75**0.5]]
    lattice = oblique if number <= 2 else rectangle if number <= 9 else np.eye(2) if number <= 12 else hexagon
    space = sa.Torus(lattice=lattice)
    points = np.array([[0.13, 0.21], [0.31, 0.07]])
    atoms = np.concatenate([np.mod(space.act(g, points), 1.0) for g in group.elements()])
    return (lattice, atoms, [1, 2] * group.order), group


@pytest.mark.parametrize("number", range(1, 18))
def test_a_plane_of_atoms_has_its_plane_group(number):
    cell, known = cell_of_plane_group(number)
    crystal = crystals.positions(cell)
    assert set(crystal.group.elements()) == set(known.elements())
    assert groups.plane_group(crystal.name) == known


def test_wave_vectors_of_graphene():
    """The nearest-neighbour band |1 + e^{2πik₁} + e^{2πik₂}|² has the group, and no other of its size does."""
    a = np.array([[2.46, 0], [-1.23, 2.46 * 0.75**0.5]])
    space, group = crystals.wave_vectors((a, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]], [6, 6]))
    np.testing.assert_allclose(space.lattice @ a.T, np.eye(2), atol=1e-9)
    assert group.order == 12
    k = np.random.default_rng(0).uniform(size=(20, 2))

    def band(k):
        return np.abs(1 + np.exp(2j * np.pi * k[:, 0]) + np.exp(-2j * np.pi * k[:, 1])) ** 2

    for g in group.elements():
        np.testing.assert_allclose(band(space.act(g, k)), band(k), atol=1e-9)
    alone = crystals.wave_vectors((a, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]], [5, 7]), time_reversal=False)  # boron nitride
    assert (alone.name, alone.group.order) == ("p3m1", 6)
    sixty = sa.Torus(lattice=groups.reciprocal_lattice(a))
    with pytest.raises(ValueError, match=r"those of crystals\.wave_vectors"):
        sa.invariant_basis(sixty, groups.plane_group("p6m"), max_dim=20)


def test_a_monoclinic_cell_with_another_axis_is_told_of_settings():
    space = sa.Torus(lattice=crystals.lattice(3, 4, 5, gamma=105))
    with pytest.raises(ValueError, match=r"space_group\(14, setting='c1'\) has c"):
        sa.invariant_basis(space, groups.space_group(14), max_dim=20)
    assert sa.invariant_basis(space, groups.space_group(14, setting="c1"), max_dim=200).dim > 1


@pytest.mark.parametrize("shift", [[0.013, 0.021, 0.007], [0.3, -0.21, 0.44]])
def test_an_origin_beside_the_symmetry_elements_is_told_what_to_subtract(shift):
    cubic = [[0, 1.78, 1.78], [1.78, 0, 1.78], [1.78, 1.78, 0]]
    with_centre = ([[5, 0, 0], [0, 6, 0], [0.5, 0, 7]], np.array([[0.1, 0.2, 0.3], [-0.1, -0.2, -0.3]]), [1, 1])
    for lattice, atoms, numbers in ((cubic, np.array([[0, 0, 0], [0.25] * 3]), [6, 6]), with_centre):
        moved = (lattice, atoms + shift, numbers)
        with pytest.raises(ValueError, match=r"Subtract \[.*\] from the fractional positions") as raised:
            crystals.positions(moved)
        told = np.array([float(x) for x in str(raised.value).split("[")[1].split("]")[0].split(",")])
        found = crystals.positions((lattice, moved[1] - told, numbers)).group
        assert found.order == crystals.positions((lattice, atoms, numbers)).group.order


@pytest.mark.parametrize("a", [4.12, 3.6], ids=["far from the cell", "beside the cell"])
def test_cartesian_positions_of_atoms_are_questioned(a):
    with pytest.warns(
        UserWarning, match=r"positions of the atoms go from 0 to [12].*@ np.linalg.inv\(lattice\)"
    ) as said:
        crystals.positions((np.eye(3) * a, [[0, 0, 0], [a / 2] * 3], [55, 17]))
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an atom of the next cell is no reason
        assert crystals.positions((np.eye(3) * a, [[0, 0, 0], [1.5, -0.5, 0.5]], [55, 17])).group.order == 48


def test_cartesian_wave_vectors_with_their_two_pi_are_told_how_to_become_fractions():
    space, _ = crystals.wave_vectors((np.eye(3) * 1.2, [[0, 0, 0]], [1]))
    fractions = space.sample(60, random_state=0) - 0.5
    k = 2 * np.pi * fractions @ space.lattice
    model, y = sa.InvariantKernelRidge(space, max_dim=30), np.cos(2 * np.pi * fractions).sum(axis=1)
    with pytest.warns(UserWarning, match=r"/ \(2 \* np.pi\) of wave vectors"):
        model.fit(k, y)
    given = k @ np.linalg.inv(space.lattice) / (2 * np.pi)
    np.testing.assert_allclose(given, fractions, atol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(given, y).loo_error_ < 1e-6


def test_wave_vectors_of_few_periods_are_told_the_same_where_the_fit_is_poor():
    """A cell of 2.1 Å: Cartesian wave vectors with their 2π span three periods, fewer than question the unit alone."""
    space, group = crystals.wave_vectors((np.eye(3) * 2.1, [[0, 0, 0]], [1]))
    fractions = np.random.default_rng(0).uniform(-0.5, 0.5, (200, 3))
    y = np.cos(2 * np.pi * fractions).sum(axis=1)
    k = 2 * np.pi * fractions @ space.lattice
    assert 2.5 < np.ptp(k, axis=0).max() < 3.9
    with pytest.warns(UserWarning, match="the fit is poor") as said:
        sa.InvariantKernelRidge(space, group).fit(k, y)
    told = [str(one.message) for one in said if "the fit is poor" in str(one.message)]
    assert told
    assert "X @ np.linalg.inv(space.lattice) / (2 * np.pi)" in told[0]
    assert "Interval" not in told[0]


def test_a_lattice_that_is_no_matrix_is_told_how_to_become_one():
    with pytest.raises(ValueError, match=r"the lattice, .* 3 × 3 .* got the shape \(6,\)\. .*crystals\.lattice\("):
        crystals.positions(([3.2, 3.2, 5.2, 90, 90, 120], [[0, 0, 0]], [1]))
    with pytest.raises(ValueError, match=r"got 'NaCl\.cif'\. ase\.io\.read reads"):
        crystals.positions("NaCl.cif")
    with pytest.raises(ValueError, match="got a tuple of 2 parts"):
        crystals.positions((np.eye(3), [[0, 0, 0]]))


@pytest.mark.parametrize(
    "given",
    [3.6 * np.eye(3), 1.78 * (1 - np.eye(3)), crystals.lattice(3.2, 3.2, 5.1, gamma=120), np.diag([3.1, 4.7, 5.3])],
    ids=["cubic", "face-centred", "hexagonal", "orthorhombic"],
)
def test_a_symmetric_lattice_is_kept_as_it_was_given(given):
    np.testing.assert_array_equal(crystals.positions((given, [[0, 0, 0]], [1])).space.lattice, given)
    rounded = given + np.diag([1e-7, 0, 0])  # fewer digits are made symmetric
    metric = (lattice := np.array(crystals.positions((rounded, [[0, 0, 0]], [1])).space.lattice)) @ lattice.T
    if np.allclose(given @ given.T, given[[1, 0, 2]] @ given[[1, 0, 2]].T):
        assert metric[0, 0] == pytest.approx(metric[1, 1], rel=1e-13)


def test_the_group_of_a_crystal_reads_as_a_part_of_a_sentence():
    cell = (3.6 * np.eye(3), [[0, 0, 0]], [1])
    assert repr(crystals.positions(cell).group) == "the crystal's space group"
    assert repr(crystals.wave_vectors(cell).group) == "the crystal's group of wave vectors"


WITHOUT_NUMBERS = {
    "a position of NaN": ((3 * np.eye(3), [[0, 0, 0], [np.nan, 0, 0]], [1, 1]), "of atom 1 is .*1 of 2 are so"),
    "an infinite position": ((3 * np.eye(3), [[0, np.inf, 0]], [1]), "position of atom 0 is"),
    "a plane": ((3 * np.eye(2), [[0, np.nan]], [1]), "position of atom 0 is"),
    "a kind": ((3 * np.eye(3), [[0, 0, 0]], [np.nan]), "kind of atom 0 is nan"),
    "a moment": ((3 * np.eye(3), [[0, 0, 0]], [1], [np.nan]), "magnetic moment of atom 0 is nan"),
    "no atoms": ((3 * np.eye(3), np.zeros((0, 3)), []), "the cell has no atoms"),
}


@pytest.mark.parametrize("made", [crystals.positions, crystals.wave_vectors])
@pytest.mark.parametrize("cell, said", WITHOUT_NUMBERS.values(), ids=WITHOUT_NUMBERS)
def test_what_would_crash_spglib_is_refused(made, cell, said):
    with pytest.raises(ValueError, match=said):
        made(cell)


@pytest.mark.parametrize("symprec", [-1, 0, np.nan, np.inf, None, "1e-5"])
def test_a_tolerance_is_a_positive_number(symprec):
    """With 0 spglib does not end, and less, or NaN, crashes it."""
    with pytest.raises(ValueError, match=r"symprec is how far atoms may lie .* a positive number"):
        crystals.positions(MAGNESIUM, symprec=symprec)
    assert crystals.positions(MAGNESIUM, symprec=np.float32(1e-4)).group.order == 24
