"""Energies and forces of molecules that cannot be right are questioned, with the reason; those that can are not."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_geometries import SYMBOLS, WATER, fitted, morse, water

from specavg.molecules import InvariantPotential
from specavg.molecules._questions import question_order


def said(*data, symbols=SYMBOLS):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        InvariantPotential(symbols, degree=4).fit(*data)
    return [str(one.message) for one in found]


@pytest.mark.parametrize("order", [[1, 0, 2], [0, 2, 1], [1, 2, 0]], ids=str)
def test_forces_on_atoms_in_another_order_turn_the_molecule(order):
    R, E, F = water(60, 0)
    (message,) = said(R, E, F[:, order])
    assert "the forces have a net torque" in message
    assert "in the order of R" in message


def test_molecules_that_were_turned_without_their_forces():
    R, E, F = water(60, 1)
    turns = Rotation.random(60, random_state=0).as_matrix()
    (message,) = said(np.einsum("nij,naj->nai", turns, R), E, F)
    assert "a net torque (the part that turns a whole molecule is" in message
    assert "the axes those of R" in message
    assert not said(np.einsum("nij,naj->nai", turns, R), E, np.einsum("nij,naj->nai", turns, F))


def test_forces_of_atoms_that_were_held_fixed_push_the_molecule():
    R, E, F = water(60, 2)
    assert "a net force (the part that pushes a whole molecule is" in said(R, E, F * [[1], [1], [0]])[0]


def test_forces_of_other_rows_are_questioned():
    R, E, F = water(60, 3)
    assert "net torque" in said(R, E, F[::-1])[0]


def test_noise_of_a_percent_in_forces_is_not_questioned():
    R, E, F = water(60, 4)
    assert not said(R, E, F + 0.01 * F.std() * np.random.default_rng(0).normal(size=F.shape))


def test_two_atoms_and_lines_have_forces_without_torque():
    rng = np.random.default_rng(0)
    r = rng.uniform(0.8, 1.4, size=(40, 2))
    line = np.zeros((40, 3, 3))
    line[:, 1, 0], line[:, 2, 0] = -r[:, 0], r[:, 1]
    E, F = morse(line)
    assert not said(line, E, F)
    pair = line[:, :2]
    apart = 0.96 - r[:, 0]
    pull = np.zeros_like(pair)
    pull[:, 0, 0], pull[:, 1, 0] = 2 * apart, -2 * apart
    assert not said(pair, apart**2, pull, symbols=["O", "H"])


@pytest.mark.parametrize("with_forces", [True, False])
@pytest.mark.parametrize("error", [50.0, -5.0])
def test_a_wrong_energy_is_named(with_forces, error):
    R, E, F = water(60, 5)
    E[17] += error
    found = said(R, E, F) if with_forces else said(R, E)
    assert any(m.startswith("the energy of geometry 17 stands far out: predicted from the others it") for m in found)
    assert not any("explains almost nothing" in m for m in found)


def test_wrong_rows_are_named_as_they_were_given():
    R, E, _ = water(60, 6)
    E[40] += 50
    twice = np.concatenate([R[:20], R])  # twenty occur twice: they are listed once, in another order
    (message,) = said(twice, np.concatenate([E[:20], E]))
    assert "the energy of geometry 60 stands far out" in message


def test_wrong_forces_of_one_geometry_are_named():
    R, E, F = water(60, 7)
    F[23] *= -30
    assert any("the force on geometry 23 stands far out" in m for m in said(R, E, F))


@pytest.mark.parametrize("seed", range(6))
def test_right_data_are_not_questioned(seed):
    R, E, F = water(20 + 20 * seed, 10 + seed)
    noise = np.random.default_rng(seed).normal(size=len(E)) * 0.02 * E.std()
    for data in ((R, E), (R, E, F), (R, E + noise), (R, E + noise, F)):
        assert said(*data) == []


@pytest.mark.parametrize(
    "name, symbols, data",
    [
        ("H2O", "H O H", "O H H"),
        ("CH4", "H C H H H", "C H H H H"),
        ("NH3", "H N H H", "N H H H"),
        ("CH3CH2OH", "C H H H C H H O H", "C C O H H H H H H"),
    ],
)
def test_atoms_in_another_order_than_their_names_are_told_by_lengths_of_bonds(name, symbols, data):
    ase = pytest.importorskip("ase.build")
    molecule = ase.molecule(name)
    order = np.argsort(["CNOH".index(s) for s in molecule.get_chemical_symbols()], kind="stable")
    R = molecule.positions[order]
    first, second = np.triu_indices(len(R), 1)
    r = np.linalg.norm(R[first] - R[second], axis=1)[None]
    with pytest.warns(UserWarning, match="in another order than symbols"):
        question_order(symbols.split(), r)
    for unit in (1.0, 1 / 0.529177, 0.1):  # Å, bohr, nm
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            question_order(data.split(), unit * r)


@pytest.mark.parametrize("end, length", [("F", 1.15), ("O", 1.20), ("N", 1.30)])
def test_symmetric_hydrogen_bonds_are_bonds(end, length):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        question_order([end, "H", end], np.array([[length, 2 * length, length]]))


def test_atoms_in_another_order_are_questioned_when_a_potential_is_fitted():
    R, E, F = water(40, 8)
    assert any("as H O H they do not have the lengths of bonds (in Å), and as O H H they have" in m
               for m in said(R, E, F, symbols=["H", "O", "H"]))  # fmt: skip
    assert said(R, E, F, symbols=["a", "b", "b"]) == []  # labels that are no elements have no bonds
    far = R * [[1], [1], [4]]  # dissociated: no order has bonds
    assert not any("another order than symbols" in m for m in said(far, *morse(far)))


def test_a_target_that_tells_mirror_images_apart_is_questioned():
    R = water(80, 9)[0]
    R = R + 0.3 * np.random.default_rng(0).normal(size=R.shape)
    four = np.concatenate([R, np.random.default_rng(1).normal(size=(80, 1, 3))], axis=1)
    chiral = np.sign(np.linalg.det(four[:, 1:] - four[:, :1]))
    assert any("mirror images" in m for m in said(four, chiral, symbols=["a", "b", "c", "d"]))
    assert fitted(R, morse(R)[0]).predict(-R) == pytest.approx(fitted(R, morse(R)[0]).predict(R), rel=1e-10)
    assert WATER.shape == (3, 3)


def test_like_atoms_that_energies_tell_apart_are_questioned():
    R, _, _ = water(60, 5)
    a, b = (np.linalg.norm(R[:, i] - R[:, 0], axis=1) for i in (1, 2))
    (message,) = said(R, a**2 + 3 * b**2)
    assert "which of several like atoms is where" in message
    assert "interchangeable=[]" in message


AMMONIA = np.array([[0.0, 0.0, 0.0], [0.94, 0.0, -0.3], [-0.47, 0.81, -0.3], [-0.47, -0.81, -0.3]])


@pytest.mark.parametrize("symbols, place, count, degree", [("OHH", WATER, 60, 2), ("NHHH", AMMONIA, 20, None)])
def test_a_poor_fit_of_energies_that_have_the_symmetry_does_not_question_like_atoms(symbols, place, count, degree):
    R = place + 0.15 * np.random.default_rng(0).normal(size=(count, *place.shape))
    r = np.linalg.norm(R[:, 1:] - R[:, :1], axis=2)  # one bond for each hydrogen: the sum does not tell them apart
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        InvariantPotential(list(symbols), degree=degree).fit(R, np.sum((1 - np.exp(-1.2 * (r - 1))) ** 2, axis=1))
    assert not any("like atoms" in str(one.message) for one in found)


@pytest.mark.parametrize("forces", [False, True], ids=["energies", "forces"])
@pytest.mark.parametrize("count", [20, 60])
def test_a_degree_that_is_too_low_does_not_question_like_atoms(count, forces):
    """Stiff curves that are alike for both hydrogens: of 40 draws of 20 or 60 geometries 2 to 9 doubted them."""
    for seed in range(8):
        R = WATER + 0.07 * np.random.default_rng(seed).normal(size=(count, 3, 3))
        E, F = np.zeros(count), np.zeros(R.shape)
        for i, j, depth, steepness, rest in ((0, 1, 5, 2.2, 0.96), (0, 2, 5, 2.2, 0.96), (1, 2, 0.8, 1.2, 1.5)):
            apart = R[:, i] - R[:, j]
            r = np.linalg.norm(apart, axis=1)
            y = np.exp(steepness * (rest - r))
            E += depth * (1 - y) ** 2
            pull = -(2 * depth * steepness * (1 - y) * y / r)[:, None] * apart
            F[:, i] += pull
            F[:, j] -= pull
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            InvariantPotential(["O", "H", "H"], degree=2).fit(R, E, F if forces else None)
        assert not any("like atoms" in str(one.message) for one in found)


def test_noise_of_energies_does_not_question_like_atoms():
    R, E, _ = water(60, 6)
    noise = np.random.default_rng(0).normal(size=60)
    assert not any("like atoms" in message for message in said(R, E + 0.5 * E.std() * noise))
