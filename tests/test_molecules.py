"""Potentials of molecules: symmetry, forces, energy conservation, what is refused, and what is learnt."""

import pickle
import time
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import special_ortho_group

import specavg as sa
from specavg.molecules import InvariantPotential
from specavg.molecules._candidate_fit import prior_deviations, unit_penalty, weighted
from specavg.molecules._distances import internal_directions
from specavg.molecules._geometries import Observed
from specavg.molecules._repeated_geometries import each_once
from specavg.molecules._terms import MoleculeTerms

METHANE = ["C", "H", "H", "H", "H"]
TETRAHEDRON = 1.09 / np.sqrt(3) * np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def energy_and_forces(R, symbols):
    """Morse curves between all atoms, and a bit of the square of their sum, with analytic forces."""
    E, F = np.zeros(len(R)), np.zeros(R.shape)
    for i, j in combinations(range(len(symbols)), 2):
        depth, rest = (4.0, 1.09) if "C" in (symbols[i], symbols[j]) else (0.5, 1.78)
        apart = R[:, i] - R[:, j]
        r = np.linalg.norm(apart, axis=1)
        y = np.exp(1.4 * (rest - r))
        E += depth * (1 - y) ** 2
        force = -(2 * depth * 1.4 * (1 - y) * y / r)[:, None] * apart
        F[:, i] += force
        F[:, j] -= force
    return E + 0.05 * E**2, F * (1 + 0.1 * E)[:, None, None]  # not a sum over pairs


def geometries(n, seed, size=0.08):
    return TETRAHEDRON + size * np.random.default_rng(seed).normal(size=(n, 5, 3))


@pytest.fixture(scope="module")
def model():
    R = geometries(60, 0)
    E, F = energy_and_forces(R, METHANE)
    return InvariantPotential(METHANE, degree=5).fit(R, E, F)


def test_energies_and_forces_are_learnt(model):
    R = geometries(200, 1)
    E, F = energy_and_forces(R, METHANE)
    found, forces = model.energy_and_forces(R)
    assert np.sqrt(np.mean((found - E) ** 2)) < 0.005 * E.std()
    assert np.sqrt(np.mean((forces - F) ** 2)) < 0.02 * F.std()
    np.testing.assert_allclose(model.predict(R), found, rtol=1e-12)
    np.testing.assert_array_equal(model.forces(R), forces)


@pytest.mark.parametrize("missing", [0, 3, 7])
def test_errors_at_left_out_geometries_are_those_of_fits_without_them(monkeypatch, missing):
    R = geometries(8, 2)
    E, F = energy_and_forces(R, METHANE)
    F[:missing] = np.nan
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=8) if missing else np.ones(8)
    from specavg.molecules import _choice_of_model as choice
    from specavg.molecules._distances import PairScale, distances
    from specavg.molecules._equations import Equations

    terms = MoleculeTerms.of(5, [[0], [1, 2, 3, 4]], 3)
    scale = PairScale.of(distances(R).r, terms.pair_orbits)
    equations = Equations(terms.functions, scale, R, E - E.mean(), F, w, np.arange(8))
    A, y, _ = equations.all()
    alike, same, _ = Equations(terms.functions, scale, R, E - E.mean(), F, np.ones(8), np.arange(8)).all()
    np.testing.assert_allclose(A, np.sqrt(w)[:, None, None] * alike, atol=1e-14)
    np.testing.assert_allclose(y, np.sqrt(w)[:, None] * same, atol=1e-14)
    assert not A[:missing, 1:].any()
    assert not y[:missing, 1:].any()
    degrees, weight, prior = terms.function_degrees, 2.0, prior_deviations(terms.function_degrees, 0.5)
    B, z = weighted(A, weight) * prior, weighted(y, weight)
    fits = list(choice._decomposed(A, y, degrees, 0.5, weight, 0.0, equations))
    fit = next(fit for fit in fits if np.isclose(fit.penalty, 1e-3))
    unit = unit_penalty(B.reshape(-1, B.shape[2]), degrees, prior)
    left = np.empty_like(z)
    for i in range(8):
        others = np.arange(8) != i
        K, t = B[others].reshape(-1, B.shape[2]), z[others].ravel()
        c = np.linalg.solve(K.T @ K + 1e-3 * unit * np.eye(K.shape[1]), K.T @ t)
        left[i] = z[i] - B[i] @ c
    np.testing.assert_allclose(fit.energy_error, np.sqrt(np.sum(left[:, 0] ** 2) / w.sum()) / weight, rtol=1e-8)
    np.testing.assert_allclose(fit.force_error, np.sqrt((left[:, 1:] ** 2).sum() / (w[missing:].sum() * 15)), rtol=1e-8)
    np.testing.assert_allclose(fit.energies_left, left[:, 0] / weight / np.sqrt(w), rtol=1e-8)
    np.testing.assert_array_equal(np.isnan(fit.forces_left), np.arange(8) < missing)
    monkeypatch.setattr(choice, "GRAM_PENALTIES", np.array([1e-4, 1e-3, 1e-2]))  # where squares lose nothing

    @cache
    def exact(decay, weight):
        return list(choice._decomposed(A, y, degrees, decay, weight, 0.0, equations))

    assert {fit.energy_weight for fit in choice._exact_fits(equations, degrees, [3])} >= set(choice._weights(equations))
    by_sums = list(choice._gram_fits(equations, degrees))
    assert len(by_sums) >= 4
    by_factors = [fit for fit in choice._factored_fits(equations, degrees, [3]) if fit.penalty > 1e-5]
    assert len(by_factors) >= 6 * 5
    for one in by_sums + by_factors:
        two = next(f for f in exact(one.decay, one.energy_weight) if np.isclose(f.penalty, one.penalty))
        np.testing.assert_allclose(one.coefficients, two.coefficients, atol=1e-9)
        np.testing.assert_allclose(one.energy_error, two.energy_error, rtol=1e-8)
        np.testing.assert_allclose(one.force_error, two.force_error, rtol=1e-8)


def test_energies_do_not_change_under_motions_and_permutations(model):
    R, rng = geometries(30, 3), np.random.default_rng(4)
    E, F = model.energy_and_forces(R)
    turn = special_ortho_group.rvs(3, random_state=5)
    size = np.abs(E).max()
    for moved in (R @ turn.T, R + np.array([3.0, -1.0, 2.0]), -R):
        np.testing.assert_allclose(model.predict(moved), E, atol=1e-12 * size)
    np.testing.assert_allclose(model.forces(R @ turn.T), F @ turn.T, atol=1e-12 * np.abs(F).max())
    for _ in range(5):
        order = np.concatenate([[0], 1 + rng.permutation(4)])
        np.testing.assert_allclose(model.predict(R[:, order]), E, atol=1e-12 * size)
        np.testing.assert_allclose(model.forces(R[:, order]), F[:, order], atol=1e-11 * np.abs(F).max())
    with pytest.warns(UserWarning, match="far outside of the data"):
        assert np.abs(model.predict(R[:, [1, 0, 2, 3, 4]]) - E).max() > 0.01  # carbon is not hydrogen


def test_forces_are_minus_the_gradient_and_have_no_net_force_or_torque(model):
    R, h = geometries(5, 6), 1e-4
    F = model.forces(R)
    for atom in range(5):
        for k in range(3):
            step = np.zeros((5, 3))
            step[atom, k] = h
            slope = (model.predict(R + step) - model.predict(R - step)) / (2 * h)
            np.testing.assert_allclose(F[:, atom, k], -slope, atol=1e-6)
    np.testing.assert_allclose(F.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.cross(R, F).sum(axis=1), 0, atol=1e-12)


def test_a_far_geometry_has_an_energy(model):
    far = geometries(1, 7)
    far[0, 1] *= 50.0
    said = r"geometry 0 is far outside of the data: its atoms 0 and 1 are 49.* apart.*in the unit of length"
    with pytest.warns(UserWarning, match=said):
        assert np.isfinite(model.predict(far)).all()
    with pytest.warns(UserWarning, match=said):
        assert np.isfinite(model.forces(far)).all()


def test_distances_far_below_a_wide_scan_are_questioned():
    R = np.linspace(0.8, 8.0, 60)[:, None, None] * np.array([[0.0, 0, 0], [0, 0, 1.0]])
    model = InvariantPotential(["N", "N"]).fit(R, (1 - np.exp(1.4 * (1.1 - R[:, 1, 2]))) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(R[:1] * 0.6)
    with pytest.warns(UserWarning, match="its atoms 0 and 1 are 0.1 apart, and such atoms are 0.8 to 8 apart there"):
        model.predict(R[:1] / 8)


def test_the_functions_are_those_of_an_invariant_basis_of_a_box():
    from specavg import groups

    terms = MoleculeTerms.of(5, [[0], [1, 2, 3, 4]], 4)
    group = groups.Group(terms.pair_permutations)
    box = sa.Power(sa.Interval(), 10)
    basis = sa.invariant_basis(box, group, max_eigenvalue=4, order="degree")
    X = box.sample(20, random_state=0)
    A, B = terms.functions.values(X), basis.evaluate(X)
    assert A.shape == B.shape
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-10)


def test_few_atoms_first_is_a_part_of_the_total_degree():
    few = MoleculeTerms.of(5, [[0], [1, 2, 3, 4]], {2: 5, 3: 4, 4: 2})
    touched = [len(set(np.flatnonzero(k))) for k in few.exponents]
    assert few.exponents.sum(axis=1).max() == 5
    assert max(touched) == 3  # three pairs of three atoms
    assert (np.diff(few.function_degrees) >= 0).all()
    assert few.functions.dim < MoleculeTerms.of(5, [[0], [1, 2, 3, 4]], 5).functions.dim
    lower = few.up_to(3)
    X = np.random.default_rng(0).uniform(-1, 1, (10, 10))
    np.testing.assert_array_equal(lower.functions.values(X), few.functions.values(X)[:, : lower.functions.dim])


@pytest.mark.parametrize("symbols", [["N", "N"], ["H", "O", "H"], ["O", "C", "O", "H"], ["C"] + ["H"] * 6])
def test_molecules_of_any_size(symbols):
    rng = np.random.default_rng(1)
    start = 1.2 * rng.normal(size=(len(symbols), 3)) + 1.5 * np.arange(len(symbols))[:, None]
    R = start + 0.05 * rng.normal(size=(40, len(symbols), 3))
    E, F = energy_and_forces(R, symbols)
    degree = {2: 4, 3: 2, 4: 2} if len(symbols) > 5 else None
    same = [[1, 2], [3, 4]] if len(symbols) > 5 else None  # six hydrogens at random places are not six alike
    model = InvariantPotential(symbols, degree=degree, interchangeable=same).fit(R[:30], E[:30], F[:30])
    assert np.sqrt(np.mean((model.predict(R[30:]) - E[30:]) ** 2)) < 0.1 * E.std()
    assert internal_directions(sa.molecules._distances.distances(R[:2]), len(symbols))[0].shape[2] == max(
        1, 3 * len(symbols) - 6
    )


def test_atoms_on_a_line_say_what_they_can():
    R = np.zeros((30, 3, 3))
    R[:, :, 0] = [0.0, 1.2, 2.4] + 0.1 * np.random.default_rng(0).normal(size=(30, 3))
    E, F = energy_and_forces(R, ["O", "C", "O"])
    model = InvariantPotential(["O", "C", "O"]).fit(R[:20], E[:20], F[:20])
    np.testing.assert_allclose(model.predict(R[20:]), E[20:], atol=1e-3)
    np.testing.assert_allclose(model.forces(R[20:]), F[20:], atol=2e-2)


def test_energies_alone_are_enough():
    R = geometries(150, 8, size=0.05)
    E, _ = energy_and_forces(R, METHANE)
    model = InvariantPotential(METHANE).fit(R[:100], E[:100])
    assert np.isnan(model.force_error_)
    assert np.sqrt(np.mean((model.predict(R[100:]) - E[100:]) ** 2)) < 0.1 * E.std()
    assert 0.2 * E.std() > model.energy_error_


@pytest.mark.parametrize("noise", [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-2)], ids=["exact", "of energies", "of forces"])
def test_energies_and_forces_count_by_their_precision(noise):
    symbols, rest = ["O", "C", "O"], np.array([[-1.15, 0.0, 0.0], [0.0, 0.1, 0.0], [1.15, 0.0, 0.0]])
    logs = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        R, new = (rest + 0.1 * rng.normal(size=(n, 3, 3)) for n in (60, 300))
        E, F = energy_and_forces(R, symbols)
        E, F = E + noise[0] * rng.normal(size=E.shape), F + noise[1] * rng.normal(size=F.shape)
        wanted = energy_and_forces(new, symbols)[1]
        fits = [InvariantPotential(symbols).fit(R, *data) for data in [(E, F), (E,), (None, F)]]
        logs.append([np.log(np.mean((model.forces(new) - wanted) ** 2)) / 2 for model in fits])
    both, *alone = np.exp(np.mean(logs, axis=0))
    assert both < 3 * min(alone)


@pytest.mark.parametrize("way", ["exact", "factors", "sums"])
def test_weights_of_energies_are_found_in_every_way(monkeypatch, way):
    from specavg.molecules import _choice_of_model as choice

    if way != "exact":
        monkeypatch.setattr(choice, "_EXACT_FUNCTIONS", 5)
    if way == "factors":
        monkeypatch.setattr(choice, "_is_decomposed", lambda *_: True)
        monkeypatch.setattr(choice, "_LEFT_OUT_GEOMETRIES", 30)
        monkeypatch.setattr(choice, "_MANY_EQUATIONS", 1)
    R, new = geometries(60, 60), geometries(100, 61)
    E, F = energy_and_forces(R, METHANE)
    wanted = energy_and_forces(new, METHANE)[1]
    E = E + 0.5 * np.random.default_rng(62).normal(size=60)
    errors = [
        np.sqrt(np.mean((InvariantPotential(METHANE, degree=4).fit(R, e, F).forces(new) - wanted) ** 2))
        for e in (E, None)
    ]
    assert errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("way", ["exact", "factors", "sums"])
def test_forces_alone_leave_the_mean_energy_open(monkeypatch, tmp_path, way):
    from specavg.molecules import _choice_of_model as choice

    if way == "factors":
        monkeypatch.setattr(choice, "_LEFT_OUT_GEOMETRIES", 30)
    if way == "sums":
        monkeypatch.setattr(choice, "_EXACT_FUNCTIONS", 1)
    R, new = geometries(60, 0), geometries(200, 1)
    _, F = energy_and_forces(R, METHANE)
    E, G = energy_and_forces(new, METHANE)
    degree = 3 if way == "factors" else 4
    model = InvariantPotential(METHANE, degree=degree).fit(R, None, 1e200 * F)
    assert abs(model.predict(R).mean()) < 1e-12 * 1e200
    found, forces = (part / 1e200 for part in model.energy_and_forces(new))
    assert np.std(found - E) < 0.03 * E.std()
    assert np.sqrt(np.mean((forces - G) ** 2)) < 0.06 * G.std()
    assert np.isnan(model.energy_error_)
    assert model.force_error_ < 0.06 * 1e200 * F.std()
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(sa.load(tmp_path / "m").predict(new[:3]), model.predict(new[:3]))
    with pytest.raises(ValueError, match="neither energies nor forces"):
        InvariantPotential(METHANE).fit(R, None, np.full(R.shape, np.nan))


def test_a_saved_model_is_the_same(model, tmp_path):
    model.save(tmp_path / "methane.specavg")
    same = sa.load(tmp_path / "methane.specavg")
    R = geometries(10, 9)
    np.testing.assert_array_equal(same.predict(R), model.predict(R))
    np.testing.assert_array_equal(same.forces(R), model.forces(R))
    assert same.symbols == METHANE


def test_what_cannot_be_is_refused(model):
    R = geometries(20, 10)
    E, F = energy_and_forces(R, METHANE)
    new = InvariantPotential(METHANE, degree=3)
    with pytest.raises(ValueError, match="wrong sign"):
        new.fit(R, E, -F)
    with pytest.raises(ValueError, match=r"shape \(n, 5, 3\)"):
        new.fit(R[:, :4], E)
    with pytest.raises(ValueError, match=r"One geometry is R\[None\]"):
        model.predict(R[0])
    with pytest.raises(ValueError, match="one energy for each of 20 geometries"):
        new.fit(R, E[:5])
    with pytest.raises(ValueError, match="forces must have the shape of R"):
        new.fit(R, E, F[:, :2])
    with pytest.raises(ValueError, match=r"E has NaN .* 1 geometries, the first is 3: .*R\[np.isfinite\(E\)\]"):
        new.fit(R, np.where(np.arange(20) == 3, np.nan, E))
    together = R.copy()
    together[7, 2] = together[7, 4]
    with pytest.raises(ValueError, match="atoms 2 and 4 of geometry 7 are at the same place"):
        new.fit(together, E)
    with pytest.raises(ValueError, match="atoms 2 and 4 of geometry 7"):
        model.predict(together)
    with pytest.raises(ValueError, match="cannot be interchanged: they are C, H"):
        InvariantPotential(METHANE, interchangeable=[[0, 1]]).fit(R, E)
    with pytest.raises(ValueError, match="each once at most"):
        InvariantPotential(METHANE, interchangeable=[[1, 2], [2, 3]]).fit(R, E)
    with pytest.raises(ValueError, match="degree must be at least 1"):
        InvariantPotential(METHANE, degree=0).fit(R, E)
    with pytest.raises(ValueError, match="at least two atoms"):
        InvariantPotential(["H"]).fit(R[:, :1], E)
    with pytest.raises(
        ValueError, match=r"text .CHHHH., .* list the atoms in the order of the positions \(carbon dioxide"
    ):
        InvariantPotential("CHHHH").fit(R, E)
    with pytest.raises(ValueError, match="at least two different geometries"):
        new.fit(R[:1], E[:1])
    with pytest.raises(ValueError, match=r"at least two different geometries are needed.*got 1"):
        new.fit(R[[4] * 9], E[[4] * 9], F[[4] * 9])
    with pytest.raises(ValueError, match="R has NaN or infinity in 1 geometries, the first is 3"):
        new.fit(np.where(np.arange(20)[:, None, None] == 3, np.nan, R), E)
    with pytest.raises(ValueError, match="forces must have the shape of R"):
        new.fit(R, E, F.transpose(0, 2, 1))  # as many numbers, in another order
    with pytest.raises(ValueError, match=r"sets of atoms that change places, as in \[\[1, 2\]"):
        InvariantPotential(METHANE, interchangeable=[1, 2]).fit(R, E)
    with pytest.raises(MemoryError, match="products of distances of 12 atoms"):
        InvariantPotential(["H"] * 12, degree=12).fit(np.random.default_rng(0).normal(size=(3, 12, 3)), np.zeros(3))


@pytest.mark.parametrize("atoms, degree, functions", [(4, 25, 122713), (4, 40, 1561136), (5, 20, 1251875)])
def test_a_degree_of_too_many_functions_is_refused_before_they_are_listed(atoms, degree, functions):
    R = np.random.default_rng(0).normal(size=(80, atoms, 3))
    said = rf"{functions} functions at least, of \d+ products of distances of {atoms} atoms, .*Lower the degree"
    start = time.process_time()
    with sa.config(memory_limit=2**34), pytest.raises(MemoryError, match=said):
        InvariantPotential(METHANE[:atoms], degree=degree).fit(R, R[:, 0, 0])
    assert time.process_time() - start < 2.0  # to list them would take ten seconds or more


def test_more_functions_than_equations_keep_all_digits():
    R, new = geometries(20, 0, 0.04)[:, :4], geometries(100, 1, 0.03)[:, :4]
    E, F = energy_and_forces(R, METHANE[:4])
    errors = []
    for degree in (9, 10):  # 960 and 1506 functions
        model = InvariantPotential(METHANE[:4], degree=degree).fit(R, E, F)
        errors.append(np.std(model.predict(new) - energy_and_forces(new, METHANE[:4])[0]))
    assert errors[1] < 1.5 * errors[0]


@pytest.mark.parametrize("factor, said", [(27.2, "0.036"), (0.529, "1.8")])
def test_forces_in_other_units_are_noticed(factor, said):
    R = geometries(25, 10)
    E, F = energy_and_forces(R, METHANE)
    with pytest.warns(UserWarning, match=f"energies are {said}.* times those that the forces alone"):
        InvariantPotential(METHANE, degree=3).fit(R, E, factor * F)


def test_energies_of_other_geometries_are_not_called_a_wrong_sign():
    R = geometries(25, 10)
    E, F = energy_and_forces(R, METHANE)
    with pytest.warns(UserWarning, match="Do the energies belong to these geometries"):
        InvariantPotential(METHANE, degree=3).fit(R, np.random.default_rng(0).permutation(E), F)


def test_a_potential_that_explains_nothing_says_so():
    R = geometries(60, 10)
    noise = np.random.default_rng(0).normal(size=60)
    with pytest.warns(UserWarning, match="the fit explains almost nothing: .* the atoms of R are in another order"):
        InvariantPotential(METHANE, degree=3).fit(R, noise)


def test_a_geometry_that_occurs_twice_counts_once():
    R = geometries(30, 10)
    E, F = energy_and_forces(R, METHANE)
    once = InvariantPotential(METHANE, degree=3).fit(R, E, F)
    twice = InvariantPotential(METHANE, degree=3).fit(np.tile(R, (3, 1, 1)), np.tile(E, 3), np.tile(F, (3, 1, 1)))
    assert twice.energy_error_ == pytest.approx(once.energy_error_, rel=1e-6)
    np.testing.assert_allclose(twice.predict(R), once.predict(R), rtol=1e-9)
    apart = np.repeat(E, 2) + np.tile([0.1, -0.1], 30)  # the mean of the two is what is learnt
    mean = InvariantPotential(METHANE, degree=3).fit(np.repeat(R, 2, axis=0), apart, np.repeat(F, 2, axis=0))
    np.testing.assert_allclose(mean.predict(R), once.predict(R), rtol=1e-9)


def test_a_long_choice_says_how_far_it_is(capsys, monkeypatch):
    from specavg import _reporting

    monkeypatch.setattr(_reporting, "_PATIENCE", 0.0)
    R = geometries(40, 10)
    E, F = energy_and_forces(R, METHANE)
    with sa.config(progress=True):
        InvariantPotential(METHANE, degree=4).fit(R, E, F)
    assert "choice of degree, prior and penalty: " in capsys.readouterr().err


def _without_rigid_part(r, f):
    """Forces on one molecule without those that push or turn it."""
    moves = [np.tile(e, (len(r), 1)).ravel() for e in np.eye(3)] + [np.cross(e, r).ravel() for e in np.eye(3)]
    Q = np.linalg.qr(np.array(moves).T)[0]
    return f - (Q @ (Q.T @ f.ravel())).reshape(f.shape)


def test_what_cannot_be_told_is_not_said():
    R = geometries(30, 12)
    E, F = energy_and_forces(R, METHANE)
    noise = np.random.default_rng(0).normal(size=F.shape) * 5 * F.std()
    noise = np.stack([_without_rigid_part(r, f) for r, f in zip(R, noise, strict=True)])
    with pytest.warns(UserWarning, match=r"forces are hardly explained: .*mostly noise"):
        InvariantPotential(METHANE, degree=3).fit(R, E, -F + noise)  # the sign cannot be told
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        InvariantPotential(METHANE, degree=3).fit(R, E, F)
        InvariantPotential(METHANE, degree=3).fit(R[:3], E[:3], F[:3])


def test_dynamics_conserve_energy(model):
    pytest.importorskip("ase")
    from ase import Atoms, units
    from ase.md.verlet import VelocityVerlet

    atoms = Atoms("CH4", positions=TETRAHEDRON, calculator=model.calculator())
    atoms.set_momenta(np.random.default_rng(0).normal(size=(5, 3)) * 0.3)
    drift, totals = VelocityVerlet(atoms, 0.1 * units.fs), []
    drift.attach(lambda: totals.append(atoms.get_total_energy()), interval=1)
    drift.run(500)
    assert np.ptp(totals) < 1e-4 * atoms.get_kinetic_energy() + 1e-4
    calculator = model.calculator(energy_unit=0.5, length_unit=2.0)
    atoms = Atoms("CH4", positions=2.0 * geometries(1, 11)[0], calculator=calculator)
    np.testing.assert_allclose(atoms.get_potential_energy(), 0.5 * model.predict(geometries(1, 11))[0], rtol=1e-12)
    np.testing.assert_allclose(atoms.get_forces(), 0.25 * model.forces(geometries(1, 11))[0], rtol=1e-12)
    copied = pickle.loads(pickle.dumps(calculator))  # for other processes
    np.testing.assert_array_equal(Atoms("CH4", atoms.positions, calculator=copied).get_forces(), atoms.get_forces())
    for unit in ("eV", 0, -1.0, np.nan):
        with pytest.raises(ValueError, match="energy_unit must be a positive number"):
            model.calculator(energy_unit=unit)
    with pytest.raises(ValueError, match="in this order"):
        Atoms("H4C", positions=TETRAHEDRON, calculator=model.calculator()).get_potential_energy()


def test_many_permutations_leave_few_functions_and_do_not_take_long():
    # 720² permutations of benzene's atoms: few functions are left of millions of products, which are not listed.
    symbols = ["C"] * 6 + ["H"] * 6
    angles = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    rng = np.random.default_rng(0)
    R = np.concatenate([1.4 * ring, 2.5 * ring]) + 0.05 * rng.standard_normal((60, 12, 3))
    E, F = energy_and_forces(R, symbols)
    start = time.process_time()
    model = InvariantPotential(symbols).fit(R[:50], E[:50], F[:50])
    assert time.process_time() - start < 60  # some 10 s, of which most compile
    energies, forces = model.energy_and_forces(R[50:])
    swapped = [1, 2, 0, 3, 5, 4, 7, 6, 8, 9, 11, 10]
    again, pulled = model.energy_and_forces(R[50:, swapped])
    np.testing.assert_allclose(again, energies, rtol=1e-12)
    np.testing.assert_allclose(pulled, forces[:, swapped], rtol=0, atol=1e-11 * np.abs(forces).max())


def test_geometries_may_be_atoms_of_ase():
    ase = pytest.importorskip("ase")
    rng = np.random.default_rng(0)
    R = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]) + 0.1 * rng.standard_normal((20, 3, 3))
    E = np.linalg.norm(R[:, 1] - R[:, 2], axis=1)
    atoms = [ase.Atoms("OH2", r) for r in R]
    model = sa.InvariantPotential(["O", "H", "H"]).fit(atoms, E)
    np.testing.assert_array_equal(model.predict(atoms), model.predict(R))
    with pytest.raises(
        ValueError, match=r"molecule 0 has the atoms \['H', 'H', 'O'\], and symbols are \['O', 'H', 'H'\]"
    ):
        model.predict([ase.Atoms("H2O", r) for r in R])
    np.testing.assert_array_equal(model.predict(atoms[0]), model.predict(R[:1]))
    labels = sa.InvariantPotential(["oxygen", "h", "h"]).fit(atoms, E)  # labels that are no elements
    np.testing.assert_array_equal(labels.predict(atoms), model.predict(R))


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", {}, {2: 3.5}, {1: 2}, {"2": 3}], ids=str)
def test_what_is_no_degree_is_refused(degree):
    R = np.random.default_rng(0).normal(size=(10, 3, 3))
    with pytest.raises(ValueError, match=r"degree must be at least 1.* and a whole number"):
        sa.molecules.InvariantPotential(["O", "H", "H"], degree=degree).fit(R, np.arange(10.0))


def test_deviations_of_energies_are_those_of_a_gaussian_process(monkeypatch, tmp_path):
    from specavg.molecules import _choice_of_model as choice
    from specavg.molecules._distances import PairScale, distances
    from specavg.molecules._equations import Equations

    R = geometries(12, 20)
    E, F = energy_and_forces(R, METHANE)
    F[2] = np.nan
    new = geometries(30, 21)
    found = {}
    for way in ("_exact_fits", "_factored_fits", "_gram_fits"):
        with monkeypatch.context() as patched:
            patched.setattr(choice, "DECAYS", (0.5, 0.5))
            patched.setattr(choice, "ENERGY_WEIGHTS", (1.0,))
            patched.setattr(choice, "EXACT_PENALTIES", np.array([1e-2]))  # one candidate, where squares lose nothing
            patched.setattr(choice, "GRAM_PENALTIES", np.array([1e-2]))
            fits, more = getattr(choice, way), [] if way == "_gram_fits" else [[3]]
            patched.setattr(choice, "_exact_fits", lambda e, d, _, fits=fits, more=more: fits(e, d, *more))
            model = InvariantPotential(METHANE, degree=3).fit(R, E, F)
        energies, std = model.predict(new, return_std=True)
        np.testing.assert_array_equal(energies, model.predict(new))
        found[way] = std
        terms = model._terms()
        scale = PairScale(model.lengths_)
        equations = Equations(terms.functions, scale, R, E - E.mean(), F, np.ones(12), np.arange(12))
        A, _, _ = equations.all()
        prior = prior_deviations(terms.function_degrees, 0.5)
        B = (weighted(A, model.energy_weight_) * prior).reshape(-1, A.shape[2])
        kept = B.any(axis=1)
        assert kept.sum() == 12 * 10 - 9
        penalty = 1e-2 * unit_penalty(B, terms.function_degrees, prior)
        Z = terms.functions.values(scale(distances(new).r)[0]) * prior
        K, k = B[kept] @ B[kept].T / penalty, B[kept] @ Z.T / penalty
        wanted = (Z**2).sum(axis=1) / penalty - np.einsum("in,in->n", k, np.linalg.solve(K + np.eye(len(K)), k))
        posterior = model._posterior
        np.testing.assert_allclose((std**2 - posterior.floor) / posterior.noise, wanted, rtol=1e-5)
    np.testing.assert_allclose(found["_factored_fits"], found["_exact_fits"], rtol=1e-6)
    np.testing.assert_allclose(found["_gram_fits"], found["_exact_fits"], rtol=1e-5)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(sa.load(tmp_path / "m").predict(new, return_std=True)[1], std)
    np.testing.assert_allclose(model.predict(new[:, [0, 2, 3, 1, 4]], return_std=True)[1], std, rtol=1e-9)


@pytest.mark.parametrize("with_forces", [True, False])
def test_nine_in_ten_energies_lie_in_their_intervals(with_forces):
    inside = []
    for seed in range(6):
        R, new = geometries(30 if with_forces else 120, 30 + seed), geometries(200, 40 + seed)
        E, F = energy_and_forces(R, METHANE)
        model = InvariantPotential(METHANE).fit(R, E, F if with_forces else None)
        energies, std = model.predict(new, return_std=True)
        inside.append(np.mean(np.abs(energies - energy_and_forces(new, METHANE)[0]) < 1.645 * std))
    assert 0.8 < np.mean(inside) < 0.99


def test_deviations_do_not_depend_on_the_scale_of_weights_and_follow_the_unit_of_energy():
    R, new = geometries(25, 50), geometries(20, 51)
    E, F = energy_and_forces(R, METHANE)
    w = np.random.default_rng(0).uniform(0.5, 2.0, size=25)
    std = InvariantPotential(METHANE, degree=3).fit(R, E, F, sample_weight=w).predict(new, return_std=True)[1]
    other = InvariantPotential(METHANE, degree=3).fit(R, 1e3 * E, 1e3 * F, sample_weight=7 * w)
    np.testing.assert_allclose(other.predict(new, return_std=True)[1], 1e3 * std, rtol=1e-6)


def test_where_there_are_no_deviations_of_energies_a_sentence_says_why(monkeypatch):
    from specavg.molecules import _choice_of_model as choice

    R = geometries(20, 52)
    E, F = energy_and_forces(R, METHANE)
    with pytest.raises(ValueError, match="fitted to forces alone"):
        InvariantPotential(METHANE, degree=2).fit(R, None, F).predict(R, return_std=True)
    monkeypatch.setattr(choice, "MOST_WITH_ERROR_BARS", 5)
    monkeypatch.setattr(choice, "_EXACT_FUNCTIONS", 5)
    monkeypatch.setattr("specavg.molecules._potential.MOST_WITH_ERROR_BARS", 5)
    model = InvariantPotential(METHANE, degree=3).fit(R, E, F)
    with pytest.raises(ValueError, match=r"up to 5 functions, and this potential has 30\. Give a smaller degree"):
        model.predict(R, return_std=True)
    del model._posterior  # as in the file of an earlier version
    monkeypatch.setattr("specavg.molecules._potential.MOST_WITH_ERROR_BARS", 50)
    with pytest.raises(ValueError, match="an earlier version saved it"):
        model.predict(R, return_std=True)


def test_a_molecule_of_very_many_atoms_takes_functions_of_pairs():
    rng = np.random.default_rng(0)
    R = rng.normal(size=(60, 3)) * 3.0 + 0.05 * rng.normal(size=(12, 60, 3))
    r = np.linalg.norm(R[:, :, None] - R[:, None], axis=-1)
    model = InvariantPotential(["C"] * 60).fit(R, np.exp(-r).sum(axis=(1, 2)))
    assert model.degrees_ == ((2, 5),)


@pytest.mark.parametrize("triples", [0.0, 0.3], ids=["pairs", "triples"])
def test_clusters_of_steep_pairs_take_high_degrees_of_pairs(triples):
    golden, signs = (1 + 5**0.5) / 2, (1, -1)
    shell = [np.roll([0, s, t * golden], k) for k in range(3) for s in signs for t in signs]
    rest = np.array([np.zeros(3), *shell])[:10] * 1.09 / np.hypot(1, golden)

    def energy_and_forces(R):
        E, F = np.zeros(len(R)), np.zeros(R.shape)
        for i, j in combinations(range(10), 2):  # Lennard-Jones
            apart = R[:, i] - R[:, j]
            q = np.sum(apart**2, axis=1)
            E += 4 * (q**-6 - q**-3)
            f = (24 * (2 * q**-7 - q**-4))[:, None] * apart
            F[:, i] += f
            F[:, j] -= f
        for i, j, k in combinations(range(10), 3):  # the leading part of Axilrod and Teller's: (abc)⁻³
            sides = [(i, j), (j, k), (i, k)]
            q = [np.sum((R[:, a] - R[:, b]) ** 2, axis=1) for a, b in sides]
            e = triples * np.prod(q, axis=0) ** -1.5
            E += e
            for (a, b), square in zip(sides, q, strict=True):
                f = (3 * e / square)[:, None] * (R[:, a] - R[:, b])
                F[:, a] += f
                F[:, b] -= f
        return E, F

    R, new = (rest + 0.05 * np.random.default_rng(seed).normal(size=(n, 10, 3)) for seed, n in ((0, 60), (1, 100)))
    model = InvariantPotential(["Ar"] * 10).fit(R, *energy_and_forces(R))
    wanted = energy_and_forces(new)[1]
    assert model.degrees_ == (((2, 18), (3, 6)) if triples else ((2, 20),))
    assert np.sqrt(np.mean((model.forces(new) - wanted) ** 2)) < 2e-3 * wanted.std()


def turned(R, seed):
    """Each geometry in another place and direction."""
    rng = np.random.default_rng(seed)
    return np.einsum("nij,naj->nai", Rotation.random(len(R), random_state=seed).as_matrix(), R) + rng.normal(
        size=(len(R), 1, 3)
    )


def two_atoms(r, seed):
    R = np.zeros((len(r), 2, 3))
    R[:, 1, 0] = r
    return turned(R, seed)


def morse(r):
    return 4.5 * (1 - np.exp(-1.9 * (r - 1.1))) ** 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n, copies", [(20, 1), (20, 2), (40, 1), (10, 3), (8, 1)])
def test_errors_of_two_atoms_are_not_below_those_of_new_distances(n, copies, seed):
    """Copies that are turned say nothing when one of them is left out."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(0.8, 2.5, n)
    new = rng.uniform(r.min(), r.max(), 400)
    known = np.tile(r, copies)
    model = InvariantPotential(["N", "N"]).fit(two_atoms(known, seed), morse(known))
    assert np.sqrt(np.mean((model.predict(two_atoms(new, 7)) - morse(new)) ** 2)) < 3 * model.energy_error_


def test_geometries_that_are_turned_and_renumbered_count_once():
    R = geometries(30, 10)
    E, _ = energy_and_forces(R, METHANE)
    once = InvariantPotential(METHANE, degree=2).fit(R, E)
    other = turned(R[:, [0, 3, 1, 4, 2]] * [1, 1, -1], 1)
    twice = InvariantPotential(METHANE, degree=2).fit(np.concatenate([R, other]), np.concatenate([E, E]))
    assert twice.energy_error_ == pytest.approx(once.energy_error_, rel=1e-6)
    np.testing.assert_allclose(twice.predict(R), once.predict(R), rtol=1e-9)


@pytest.mark.parametrize("moved", ["shifted", "turned", "mirrored", "renumbered", "rounded", "single precision", "all"])
def test_forces_of_a_geometry_that_occurs_again_are_brought_to_it(moved):
    rng = np.random.default_rng(3)
    R = geometries(25, 10)
    E, F = energy_and_forces(R, METHANE)
    noise = 0.1 * rng.normal(size=(2, *F.shape))  # repeats of one geometry differ, and their mean is learnt
    numbers = [0, 3, 1, 4, 2] if moved in {"renumbered", "all"} else list(range(5))
    Q = special_ortho_group.rvs(3, size=25, random_state=1) if moved in {"turned", "all"} else np.eye(3)[None]
    Q = Q * ([1, 1, -1] if moved in {"mirrored", "all"} else [1, 1, 1])
    other, pulls = R[:, numbers] @ Q + (moved in {"shifted", "all"}), (F + noise[1])[:, numbers] @ Q
    if moved in {"rounded", "all"}:
        other = other + 1e-9 * rng.normal(size=R.shape)
    if moved == "single precision":
        other = other.astype(np.float32).astype(np.float64)
    once = InvariantPotential(METHANE, degree=3).fit(R, E, F + noise.mean(axis=0))
    order = rng.permutation(50)  # either may come first
    given = [np.concatenate(pair)[order] for pair in [(R, other), (E, E), (F + noise[0], pulls)]]
    twice = InvariantPotential(METHANE, degree=3).fit(*given)
    near = 1e-9 if moved in {"shifted", "turned", "mirrored", "renumbered"} else 1e-5
    assert twice.energy_error_ == pytest.approx(once.energy_error_, rel=1e3 * near)
    assert twice.force_error_ == pytest.approx(once.force_error_, rel=1e3 * near)
    np.testing.assert_allclose(twice.predict(R), once.predict(R), rtol=0, atol=near * np.ptp(E))


def test_a_small_step_from_a_symmetric_geometry_is_another_geometry():
    water = np.array([[0, 0, 0], [0.76, 0.59, 0], [-0.76, 0.59, 0]])
    step = 3e-5 * np.array([[0, 0, 0], [0.76, 0.59, 0], [0.76, -0.59, 0]])  # one bond longer, the other shorter
    R = water + np.array([0, 1, -1])[:, None, None] * step
    for forces in (None, -1e5 * (R - water)):  # invariants change by 1e-9
        found = each_once(Observed.of(R, np.zeros(3), forces, None, ["O", "H", "H"]), ((0,), (1, 2)))
        np.testing.assert_array_equal(found.positions, R[:2])
        if forces is not None:
            np.testing.assert_allclose(found.forces, forces[:2], atol=1e-9)


def test_few_energies_that_the_mean_predicts_better_are_told():
    r = np.array([0.9, 1.3, 1.7])
    with pytest.warns(UserWarning, match=r"the potential explains nothing: .* 3 geometries are too few") as found:
        InvariantPotential(["N", "N"]).fit(two_atoms(r, 0), np.array([1.0, -1.0, 1.0]))
    assert found[0].filename == __file__
