"""Geometries of molecules as users have them: Atoms of ASE, periodic cells, missing forces, weights, atomic numbers."""

import warnings
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

import specavg as sa
from specavg.molecules import InvariantPotential

WATER = np.array([[0.0, 0.0, 0.0], [0.96, 0.0, 0.0], [-0.24, 0.93, 0.0]])
SYMBOLS = ["O", "H", "H"]


def morse(R):
    """Energies and forces of Morse curves between all atoms."""
    E, F = np.zeros(len(R)), np.zeros(R.shape)
    for (i, j), (depth, rest) in zip(combinations(range(3), 2), [(4, 0.96), (4, 0.96), (0.5, 1.5)], strict=True):
        apart = R[:, i] - R[:, j]
        r = np.linalg.norm(apart, axis=1)
        y = np.exp(1.4 * (rest - r))
        E += depth * (1 - y) ** 2
        pull = -(2 * depth * 1.4 * (1 - y) * y / r)[:, None] * apart
        F[:, i] += pull
        F[:, j] -= pull
    return E, F


def water(n, seed):
    R = WATER + 0.06 * np.random.default_rng(seed).normal(size=(n, 3, 3))
    return R, *morse(R)


def fitted(*data, **settings):
    return InvariantPotential(SYMBOLS, degree=4).fit(*data, **settings)


@pytest.fixture(scope="module")
def model():
    return fitted(*water(40, 0))


CELLS = [np.eye(3) * 5, [[5, 0, 0], [2.4, 4.4, 0], [-2, 1, 4.5]], [[3.4, 0, 0], [3.4, 3.4, 0], [0, 3.4, 3.5]]]


@pytest.mark.parametrize("cell", CELLS, ids=["cubic", "skewed", "small and skewed"])
@pytest.mark.parametrize("pbc", [True, (True, False, True)], ids=str)
def test_a_molecule_that_a_periodic_cell_cuts_is_made_whole(model, cell, pbc):
    ase = pytest.importorskip("ase")
    R, E, F = water(12, 1)
    rng = np.random.default_rng(2)
    cut = [ase.Atoms("OHH", r + rng.normal(size=3) * 10, cell=cell, pbc=pbc) for r in R]
    for atoms in cut:
        atoms.wrap()
        atoms.positions += rng.integers(-2, 3, size=(3, 3)) * pbc @ np.array(cell)  # any images of the atoms
    assert sum(np.ptp(atoms.positions, axis=0).max() > 2.5 for atoms in cut) > 6
    np.testing.assert_allclose(model.predict(cut), model.predict(R), atol=1e-10)
    np.testing.assert_allclose(model.forces(cut), model.forces(R), atol=1e-9)
    for atoms, e, f in zip(cut, *model.energy_and_forces(R), strict=True):
        atoms.calc = model.calculator()
        np.testing.assert_allclose(atoms.get_potential_energy(), e, atol=1e-10)
        np.testing.assert_allclose(atoms.get_forces(), f, atol=1e-9)
    np.testing.assert_allclose(fitted(cut, E, F).predict(R), fitted(R, E, F).predict(R), atol=1e-8)


def test_a_molecule_longer_than_half_the_cell_is_whole_where_images_are_far():
    ase = pytest.importorskip("ase")
    from specavg.molecules._geometries import positions_of

    chain = np.arange(6)[:, None] * [1.0, 0.0, 0.0]
    apart = ase.Atoms("H6", np.add(chain, [7.5, 0, 0]), cell=[8, 8, 8], pbc=True)  # images are 3 apart, neighbours 1
    apart.wrap()
    assert np.ptp(apart.positions[:, 0]) > 5.5
    found = positions_of([apart], ["H"] * 6)[0]
    np.testing.assert_allclose(found - found[0], chain, atol=1e-12)


@pytest.mark.parametrize("edge", [1.8, 3.0, 9.0])
def test_a_chain_through_its_cell_is_no_molecule(model, edge):
    ase = pytest.importorskip("ase")
    chain = np.arange(3)[:, None] * [edge / 3, 0, 0]
    for positions in (chain, chain @ np.roll(np.eye(3), 1, axis=0) + 0.1):
        atoms = ase.Atoms("OHH", positions, cell=[edge] * 3, pbc=True, calculator=model.calculator())
        same = [atoms] * 3
        for called in (atoms.get_potential_energy, partial(model.predict, same), partial(fitted, same, [1, 2, 3])):
            with pytest.raises(ValueError, match="molecule 0 lies in a periodic cell in which it cannot be told"):
                called()


def test_energies_and_forces_that_atoms_carry_are_learnt():
    ase = pytest.importorskip("ase")
    from ase.calculators.singlepoint import SinglePointCalculator
    from ase.constraints import FixAtoms

    R, E, F = water(20, 3)
    atoms = [ase.Atoms("OHH", r) for r in R]
    for one, e, f in zip(atoms, E, F, strict=True):
        one.calc = SinglePointCalculator(one, energy=e, forces=f)
        one.set_constraint(FixAtoms([0]))  # the forces are those of physics, not those after constraints
    np.testing.assert_array_equal(fitted(atoms).predict(R), fitted(R, E, F).predict(R))
    for one, e in zip(atoms[:5], E, strict=False):
        one.calc = SinglePointCalculator(one, energy=e)
    missing = F.copy()
    missing[:5] = np.nan
    np.testing.assert_array_equal(fitted(atoms).predict(R), fitted(R, E, missing).predict(R))
    atoms[7].calc = None
    with pytest.raises(ValueError, match="molecule 7 carries no energy: its calculator is NoneType"):
        fitted(atoms)
    with pytest.raises(
        ValueError, match=r"fit\(R, \[atoms\.info\['\.\.\.'\] for atoms in R\], .*SinglePointCalculator"
    ):
        fitted(atoms)
    with pytest.raises(ValueError, match="E is missing: give an energy for each geometry, forces, or Atoms"):
        fitted(R)


def test_forces_that_atoms_carry_are_used_with_shifted_energies_and_missed_with_others():
    ase = pytest.importorskip("ase")
    from ase.calculators.singlepoint import SinglePointCalculator

    R, E, F = water(20, 3)
    atoms = [ase.Atoms("OHH", r) for r in R]
    for one, e, f in zip(atoms, E, F, strict=True):
        one.calc = SinglePointCalculator(one, energy=e, forces=f)
    shifted = E - 100.0  # a reference energy was subtracted
    np.testing.assert_allclose(fitted(atoms, shifted).predict(R), fitted(R, shifted, F).predict(R), rtol=1e-12)
    assert np.isfinite(fitted(atoms, shifted).force_error_)
    not_by_a_constant = r"the Atoms hold forces, which are not used: .* by -[\d.]+ to -[\d.]+, and not by a constant"
    with pytest.warns(UserWarning, match=not_by_a_constant):
        other_unit = fitted(atoms, E / 27.2)
    np.testing.assert_array_equal(other_unit.predict(R), fitted(R, E / 27.2).predict(R))
    own = [one.get_forces() / 27.2 for one in atoms]  # what is given counts
    np.testing.assert_array_equal(fitted(atoms, E / 27.2, own).predict(R), fitted(R, E / 27.2, F / 27.2).predict(R))
    for one, f in zip(atoms, F, strict=True):
        one.calc = SinglePointCalculator(one, forces=f)
    with pytest.warns(UserWarning, match=r"they hold no energies that would tell.* pass forces="):
        fitted(atoms, E)


def test_molecules_of_ase_may_have_forces_alone():
    ase = pytest.importorskip("ase")
    from ase.calculators.singlepoint import SinglePointCalculator

    R, _, F = water(20, 3)
    expected = fitted(R, None, F).predict(R)
    atoms = [ase.Atoms("OHH", r) for r in R]
    np.testing.assert_array_equal(fitted(atoms, None, F).predict(R), expected)
    for one, f in zip(atoms, F, strict=True):
        one.calc = SinglePointCalculator(one, forces=f)
    np.testing.assert_array_equal(fitted(atoms).predict(R), expected)
    atoms[3].calc = None
    missing = F.copy()
    missing[3] = np.nan
    np.testing.assert_array_equal(fitted(atoms).predict(R), fitted(R, None, missing).predict(R))


def test_iterators_are_read_once(tmp_path):
    R, E, F = water(20, 3)
    expected = fitted(R, E, F).predict(R)
    np.testing.assert_array_equal(fitted(iter(list(R)), iter(E), (f for f in F)).predict(iter(list(R))), expected)
    named = clone(InvariantPotential((s for s in "OHH"), degree=4))
    np.testing.assert_array_equal(named.fit(R, E, F).predict(R), expected)
    io = pytest.importorskip("ase.io")
    ase = pytest.importorskip("ase")
    io.write(tmp_path / "water.xyz", [ase.Atoms("OHH", r) for r in R], format="extxyz")
    written = np.array([one.positions for one in io.read(tmp_path / "water.xyz", ":")])
    from_file = fitted(io.iread(tmp_path / "water.xyz"), E, F)
    np.testing.assert_array_equal(from_file.predict(R), fitted(written, E, F).predict(R))


@pytest.mark.parametrize("name", ["R", "E", "forces"])
def test_complex_numbers_are_refused(name):
    data = dict(zip(("R", "E", "forces"), water(20, 3), strict=True))
    with pytest.raises(ValueError, match=rf"{name} holds complex numbers, and must be real: give {name}.real"):
        fitted(**{**data, name: data[name] + 0j})


@pytest.mark.parametrize("degree", [True, {2: True}])
def test_a_truth_value_is_no_degree(degree):
    with pytest.raises(ValueError, match=r"degree must be at least 1, .* a whole number"):
        InvariantPotential(SYMBOLS, degree=degree).fit(*water(20, 3))


def test_energies_may_be_a_column_and_pieces_and_paths_say_what_to_do(tmp_path):
    R, E, F = water(20, 3)
    np.testing.assert_array_equal(fitted(R, E[:, None], F).predict(R), fitted(R, E, F).predict(R))
    for pieces in ([R, R], [R, R[:5]]):
        with pytest.raises(ValueError, match=r"R is a list of 2 pieces: join them with np\.concatenate"):
            fitted(pieces, E)
    for path in ("water.xyz", tmp_path / "water.xyz"):
        with pytest.raises(ValueError, match=r"R is the path .*water.xyz', .* ase\.io\.read\(path, ':'\)"):
            fitted(path)


def test_forces_may_be_missing():
    R, E, F = water(40, 4)
    new = water(50, 5)
    error = lambda model: np.sqrt(np.mean((model.predict(new[0]) - new[1]) ** 2))  # noqa: E731
    F[10:] = np.nan
    some = fitted(R, E, F)
    assert error(some) < error(fitted(R, E))
    F[:] = np.nan
    np.testing.assert_array_equal(fitted(R, E, F).predict(R), fitted(R, E).predict(R))
    F[:] = morse(R)[1]
    F[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"forces has NaN or infinity in 1 geometries, the first is 3; .*all atoms"):
        fitted(R, E, F)


def test_weights_are_relative_precisions():
    R, E, F = water(30, 6)
    noisy = np.where(np.arange(30) < 10, E + np.random.default_rng(0).normal(size=30) * 0.2, E)
    w = np.where(np.arange(30) < 10, 1e-6, 1.0)
    plain, weighted = fitted(R, noisy), fitted(R, noisy, sample_weight=w)
    new, truth, _ = water(50, 7)
    assert np.std(weighted.predict(new) - truth) < 0.3 * np.std(plain.predict(new) - truth)
    np.testing.assert_allclose(fitted(R, noisy, sample_weight=7 * w).predict(new), weighted.predict(new), rtol=1e-8)
    without = fitted(R, noisy, F, sample_weight=(w == 1).astype(float))
    np.testing.assert_array_equal(without.predict(new), fitted(R[10:], E[10:], F[10:]).predict(new))
    for bad in (-w, w[:3], w * np.nan):
        with pytest.raises(ValueError, match="sample_weight must hold a number, zero or positive, for each of 30"):
            fitted(R, E, sample_weight=bad)


def test_geometries_that_occur_twice_have_the_mean_of_what_is_known():
    R, E, F = water(20, 8)
    twice, missing = np.concatenate([R, R]), np.concatenate([F, np.full_like(F, np.nan)])
    np.testing.assert_allclose(fitted(twice, np.tile(E, 2), missing).predict(R), fitted(R, E, F).predict(R), rtol=1e-8)
    apart = np.concatenate([E + 0.3, E - 0.1])  # of weights one and three
    w = np.repeat([1.0, 3.0], 20)
    with pytest.warns(UserWarning, match=r"differ by 0\.4; .* 20 geometries occur several times, and the means"):
        mean = fitted(twice, apart, sample_weight=w)
    np.testing.assert_allclose(mean.predict(R), fitted(R, E).predict(R), rtol=1e-8)


def test_atomic_numbers_are_elements(model, tmp_path):
    ase = pytest.importorskip("ase")
    R, E, F = water(40, 0)
    for numbers in ([8, 1, 1], np.array([8, 1, 1])):
        same = InvariantPotential(numbers, degree=4).fit(R, E, F)
        np.testing.assert_array_equal(same.predict(R), model.predict(R))
        atoms = ase.Atoms("OHH", R[0], calculator=same.calculator())
        np.testing.assert_allclose(atoms.get_potential_energy(), model.predict(R[:1])[0], rtol=1e-12)
        same.save(tmp_path / "water.specavg")
        np.testing.assert_array_equal(sa.load(tmp_path / "water.specavg").predict(atoms), same.predict(R[:1]))


def test_a_list_of_molecules_is_no_list_of_atoms():
    ase = pytest.importorskip("ase")
    R, E, _ = water(30, 0)
    frames = [ase.Atoms("OHH", r) for r in R]
    for symbols in (frames[:3], frames):  # as many as there are atoms, and more
        with pytest.raises(ValueError, match=rf"a list of {len(symbols)} Atoms of ASE; .*symbols=frames\[0\]$"):
            InvariantPotential(symbols).fit(R, E)
    with pytest.raises(ValueError, match=r"the text 'H2O', which .*: list the atoms .*, or give Atoms of ASE$"):
        InvariantPotential("H2O").fit(R, E)


def test_elements_in_lower_case_are_elements():
    ase = pytest.importorskip("ase")
    R, E, _ = water(30, 0)
    lower = InvariantPotential(["o", "h", "h"], degree=3).fit([ase.Atoms("OHH", r) for r in R], E)
    np.testing.assert_array_equal(lower.predict(R), InvariantPotential(SYMBOLS, degree=3).fit(R, E).predict(R))
    with pytest.raises(
        ValueError, match=r"molecule 0 has the atoms \['H', 'H', 'O'\], and symbols are \['o', 'h', 'h'\]"
    ):
        lower.predict(ase.Atoms("HHO", R[0][[1, 2, 0]]))
    with pytest.warns(UserWarning, match="as h o h they do not have the lengths of bonds"):
        InvariantPotential(["h", "o", "h"], degree={2: 4}).fit(R, E)


def test_energies_elsewhere_in_molecules_are_named():
    ase = pytest.importorskip("ase")
    from ase.calculators.singlepoint import SinglePointCalculator

    R, E, F = water(20, 3)
    atoms = [ase.Atoms("OHH", r, info={"energy_dft": e, "source": "scan"}) for r, e in zip(R, E, strict=True)]
    one = SinglePointCalculator(atoms[-1], energy=E[-1])
    for molecule, f in zip(atoms, F, strict=True):
        molecule.arrays["forces_dft"] = f
        molecule.calc = one
    with pytest.raises(ValueError, match=r"molecule 0 .* is shared by 20 molecules, and holds none for these") as said:
        fitted(atoms)
    assert "There are info['energy_dft'], arrays['forces_dft']. Give" in str(said.value)
    by_hand = fitted(R, [a.info["energy_dft"] for a in atoms], [a.arrays["forces_dft"] for a in atoms])
    np.testing.assert_array_equal(by_hand.predict(R), fitted(R, E, F).predict(R))


def test_the_last_molecule_of_a_file_is_not_all_of_them():
    ase = pytest.importorskip("ase")
    R, E, _ = water(20, 3)
    for energies, problem in ((E[:1], "at least two different geometries .* got 1"), (E, "one energy for each of 1")):
        with pytest.raises(ValueError, match=problem + r".* reads only the last; all are ase\.io\.read\(path, ':'\)"):
            fitted(ase.Atoms("OHH", R[0]), energies)


@pytest.mark.parametrize("number", [1, 2])
def test_a_geometry_with_another_number_of_atoms_is_named(model, number):
    R = list(water(3, 0)[0])
    R[1] = R[1][:number]
    for given in (R, [r.tolist() for r in R]):
        with pytest.raises(ValueError, match=f"^geometry 1 has {number} atoms, and symbols are 3$"):
            model.predict(given)


def test_atoms_at_the_same_place_are_told_by_the_distances_of_the_data(model, monkeypatch):
    monkeypatch.setattr("specavg.molecules._potential._DISTANCES", 30)  # ten geometries at a time
    R = np.concatenate([np.repeat(WATER[None], 25, axis=0), np.zeros((1, 3, 3))])
    said = rf"geometry 25 are at the same place \(distance 0; typical distances are {np.median(model.lengths_):.3g}\)"
    for asked in (model.predict, model.forces):
        with pytest.raises(ValueError, match=said):
            asked(R)


def test_equal_geometries_with_other_energies_are_questioned():
    R, E, F = water(60, 8)
    noisy = np.concatenate([E, E + 0.05 * E.std() * np.random.default_rng(0).normal(size=60)])  # no warning
    fitted(np.tile(R, (2, 1, 1)), noisy)
    few, shifted = np.concatenate([R, R[:3]]), np.concatenate([E, E[:3] + 1.0])
    said = r"geometries [012] and 6[012] are the same, and their energies .* differ by 1; .* 3 geometries occur several"
    for forces in (None, np.concatenate([F, F[:3]])):
        with pytest.warns(UserWarning, match=said) as found:
            fitted(few, shifted, forces)
        assert found[0].filename == __file__
    few[60:] = few[60:, [0, 2, 1]] * [1, 1, -1]
    for forces in (None, np.concatenate([F, F[:3, [0, 2, 1]] * [1, 1, -1]])):
        with pytest.warns(
            UserWarning, match=r"same but for motions, .* differ by 1; .* two reference energies, or do"
        ) as found:
            fitted(few, shifted, forces)
        assert found[0].filename == __file__


def test_atoms_of_ase_are_symbols(model, tmp_path):
    ase = pytest.importorskip("ase")
    R, E, F = water(40, 0)
    given = InvariantPotential(ase.Atoms("OHH", WATER), degree=4).fit(R, E, F)
    assert given.symbols == SYMBOLS
    assert given.classes_ == model.classes_ == ((0,), (1, 2))
    assert InvariantPotential(list(ase.Atoms("OHH", WATER)), degree=4).fit(R, E, F).classes_ == model.classes_
    given.save(tmp_path / "water.specavg")
    assert np.array_equal(sa.io.load(tmp_path / "water.specavg").predict(R), model.predict(R))


def test_labels_have_no_blanks_and_other_cases_are_questioned(model):
    R, E, F = water(40, 0)
    assert InvariantPotential(["O", "H", " H "], degree=4).fit(R, E, F).classes_ == model.classes_
    with pytest.warns(UserWarning, match="'H' and 'h' differ by case only"):
        InvariantPotential(["O", "H", "h"], degree=4).fit(R, E, F)


def test_dynamics_far_outside_of_the_data_are_questioned_once(model):
    ase = pytest.importorskip("ase")
    bohr = WATER / 0.529177
    with pytest.warns(
        UserWarning, match=r"geometry 3 is far outside .* 2\.87 apart, and such atoms are 1\.\d+ to 1\.\d+"
    ):
        model.predict(np.concatenate([water(3, 9)[0], bohr[None]]))
    atoms = ase.Atoms("OHH", bohr, calculator=model.calculator())
    with pytest.warns(UserWarning, match="far outside of the data"):
        atoms.get_potential_energy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        atoms.positions *= 1.01
        atoms.get_potential_energy()
        model.predict(water(500, 10)[0])


def test_elements_are_compared_where_all_labels_are_elements(model):
    ase = pytest.importorskip("ase")
    R = WATER + 0.02
    assert model.predict(ase.Atoms("OH2", positions=R)).shape == (1,)
    for other in ("SH2", "CO2", "HOH"):
        with pytest.raises(ValueError, match="molecule 0 has the atoms"):
            model.predict(ase.Atoms(other, positions=R))
    R, E, _ = water(30, 0)
    atoms = [ase.Atoms("OH2", positions=r) for r in R]
    assert InvariantPotential(["O", "H", "D"], degree=3).fit(atoms, E).classes_ != model.classes_


def test_no_geometries_are_refused(model):
    with pytest.raises(ValueError, match="R has no geometries"):
        model.predict(np.zeros((0, 3, 3)))


def test_the_calculator_has_the_energy_that_forces_belong_to(model):
    build = pytest.importorskip("ase")
    atoms = build.Atoms("OH2", positions=WATER)
    atoms.calc = model.calculator()
    assert atoms.get_potential_energy(force_consistent=True) == atoms.get_potential_energy()


def test_units_of_a_calculator_need_no_names(model):
    ase = pytest.importorskip("ase")
    named, plain = model.calculator(energy_unit=27.2, length_unit=0.529), model.calculator(27.2, 0.529)
    first, second = (ase.Atoms("OHH", 0.529 * WATER, calculator=one).get_potential_energy() for one in (named, plain))
    assert first == second == pytest.approx(27.2 * model.predict(WATER[None])[0])
