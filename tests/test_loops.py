"""Every compiled path against the plain one, against formulas, and against the laws of invariance."""

from __future__ import annotations

import numpy as np
import pytest

import specavg as sa
from specavg import groups, spaces
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._compiled import Compiled
from specavg.functions._few_rows import FEW_ROWS
from specavg.functions._product_tree import depth_first
from specavg.functions._s2_harmonics import S2Harmonics
from specavg.functions._threads import block_size, in_order, row_chunks

TOLERANCE = 1e-12
HEXAGONAL = [[1.0, 0.0], [-0.5, 0.75**0.5]]

CASES = {
    "cosines": (sa.Torus(10), groups.sign_flips(10), {"max_invariant_dim": 176}),
    "cosines to frequency 3": (sa.Torus(10, period=1.7), groups.sign_flips(10), {"max_invariant_dim": 738}),
    "cosines in one dimension": (sa.Torus(1), groups.sign_flips(1), {"max_invariant_dim": 40}),
    "only the constant": (sa.Torus(4), groups.sign_flips(4), {"max_invariant_dim": 1}),
    "waves": (sa.Torus(4), groups.trivial(4), {"max_dim": 300}),
    "waves with phases": (sa.Torus(3), groups.cyclic_shifts(3), {"max_dim": 500}),
    "circle": (sa.Circle(), groups.dihedral(3), {"max_dim": 200}),
    "hexagonal lattice": (sa.Torus(lattice=HEXAGONAL), groups.trivial(2), {"max_dim": 200}),
    "few copies of a circle": (sa.Torus(5), groups.symmetric(5), {"max_invariant_dim": 150}),
    "few even copies": (sa.Torus(3), groups.hyperoctahedral(3), {"max_invariant_dim": 60}),
    "many copies of a circle": (sa.Torus(30), groups.symmetric(30), {"max_invariant_dim": 60}),
    "few copies of a sphere": (sa.Power(sa.Sphere(3), 4), groups.symmetric(4), {"max_invariant_dim": 40}),
    "many copies of a sphere": (sa.Power(sa.Sphere(3), 20), groups.symmetric(20), {"max_invariant_dim": 20}),
    "sphere in R^2": (sa.Sphere(2), groups.trivial(2), {"max_eigenvalue": 36.0}),
    "sphere in R^3": (sa.Sphere(3), groups.trivial(3), {"max_eigenvalue": 12.0 * 13}),
    "octahedral": (sa.Sphere(3), groups.point_group("O"), {"max_eigenvalue": 30.0 * 31}),
    "icosahedral": (sa.Sphere(3), groups.point_group("I"), {"max_eigenvalue": 20.0 * 21}),
    "sphere in R^6": (sa.Sphere(6), groups.trivial(6), {"max_eigenvalue": 4.0 * 8}),
    "rotations": (spaces.Rotations(), groups.trivial(3), {"max_eigenvalue": 8.0 * 9}),
    "crystal symmetry": (spaces.Rotations(), groups.crystal_symmetry("O"), {"max_eigenvalue": 8.0 * 9}),
    "even harmonics": (sa.Sphere(8), groups.sign_flips(8), {"max_eigenvalue": 6.0 * 12}),
    "monomials": (sa.Sphere(5), groups.cyclic_shifts(5), {"max_eigenvalue": 4.0 * 7}),
    "symmetric polynomials": (sa.Sphere(10), groups.symmetric(10), {"max_eigenvalue": 6.0 * 14}),
    "symmetric polynomials of many": (sa.Sphere(300), groups.symmetric(300), {"max_eigenvalue": 4.0 * 302}),
    "even symmetric polynomials": (sa.Sphere(40), groups.hyperoctahedral(40), {"max_eigenvalue": 8.0 * 46}),
}


@pytest.fixture(autouse=True)
def way(request, monkeypatch):
    """Loops for any number of rows; plain NumPy in tests of `both_ways`."""
    chosen = getattr(request, "param", "loops")
    monkeypatch.setattr(Compiled, "_few", lambda self, n, rows=1: chosen == "plain")


both_ways = pytest.mark.parametrize("way", ["loops", "plain"], indirect=True)


def case(name: str, n: int = 700):
    space, group, cutoff = CASES[name]
    basis = sa.invariant_basis(space, group, **cutoff)
    return basis, space.sample(n, random_state=1)


@both_ways
@pytest.mark.parametrize("name", CASES)
def test_values_sums_and_combinations_equal_the_plain_ones(name):
    basis, X = case(name)
    rng = np.random.default_rng(0)
    values = basis.functions.plain_values(X)
    scale = np.abs(values).max()
    assert np.abs(basis.evaluate(X) - values).max() <= TOLERANCE * scale
    for q in (1, 2, 3, 9):
        Y, C = rng.normal(size=(len(X), q)), rng.normal(size=(basis.dim, q))
        size = np.sqrt(len(X)) * np.abs(values).mean(axis=0).max()
        assert np.abs(basis.correlate(X, Y) - values.T @ Y).max() <= TOLERANCE * size
        size = np.abs(values @ C).max()
        assert np.abs(basis.combine(X, C) - values @ C).max() <= TOLERANCE * size
    w = rng.random(len(X))
    gram = values.T @ (w[:, None] * values)
    assert np.abs(basis.gram(X, w) - gram).max() <= TOLERANCE * np.abs(gram).max()


@both_ways
@pytest.mark.parametrize("name", CASES)
def test_compiled_functions_are_invariant_without_canonical_points(name):
    basis, X = case(name, 200)
    C = np.random.default_rng(0).normal(size=(basis.dim, 1))
    before = basis.combine(X, C)
    for g in basis.group.generators:
        moved = basis.space.act(g, X)
        assert np.abs(basis.combine(moved, C) - before).max() <= 10 * TOLERANCE * np.abs(before).max()
        assert (
            np.abs(basis.evaluate(moved) - basis.evaluate(X)).max() <= TOLERANCE * np.abs(basis.evaluate(X)).max() * 10
        )


@both_ways
@pytest.mark.parametrize("name", CASES)
def test_a_point_has_the_same_bits_wherever_it_stands(name):
    basis, X = case(name, 130)
    C = np.random.default_rng(0).normal(size=(basis.dim, 2))
    together = basis.combine(X, C)
    apart = np.concatenate([basis.combine(X[i : i + 1], C) for i in (0, 1, 63, 64, 129)])
    assert np.array_equal(together[[0, 1, 63, 64, 129]], apart)


@pytest.mark.parametrize("name", CASES)
def test_few_rows_have_the_values_of_many(name, monkeypatch):
    basis, X = case(name, FEW_ROWS + 1)
    C = np.random.default_rng(0).normal(size=(basis.dim, 2))
    values, combinations = basis.evaluate(X), basis.combine(X, C)
    monkeypatch.undo()  # as it is for users: all rows by the loops, all but one in plain NumPy
    monkeypatch.setattr(Compiled, "_loops", property(lambda self: pytest.fail("a loop for few rows")))
    few = basis.evaluate(X[1:]), basis.combine(X[1:], C)
    assert np.abs(few[0] - values[1:]).max() <= 1e-13 * np.abs(values).max()
    assert np.abs(few[1] - combinations[1:]).max() <= 1e-13 * np.abs(combinations).max()


@pytest.mark.parametrize("name", ["cosines", "waves", "octahedral", "few copies of a circle", "sphere in R^6"])
def test_results_do_not_depend_on_the_number_of_threads(name):
    basis, X = case(name, 40_000)
    Y, C = np.random.default_rng(0).normal(size=(len(X), 2)), np.ones((basis.dim, 1))
    with sa.config(n_threads=1):
        one = basis.correlate(X, Y), basis.combine(X, C)
    with sa.config(n_threads=3):
        three = basis.correlate(X, Y), basis.combine(X, C)
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))


@both_ways
def test_cosines_are_even_to_the_last_bit():
    basis, X = case("cosines")
    C = np.random.default_rng(0).normal(size=(basis.dim, 1))
    flips = np.where(np.random.default_rng(1).random(X.shape) < 0.5, -1.0, 1.0)
    X[0] = 0.0
    assert np.array_equal(basis.combine(flips * X, C), basis.combine(X, C))
    assert basis.evaluation_points(X) is X


@both_ways
def test_read_only_and_strided_points_are_taken():
    basis, X = case("cosines")
    C = np.ones((basis.dim, 1))
    wide = np.repeat(X, 2, axis=1)
    frozen = X.copy()
    frozen.setflags(write=False)
    assert np.array_equal(basis.combine(wide[:, ::2], C), basis.combine(X, C))
    assert np.array_equal(basis.combine(frozen, C), basis.combine(X, C))
    assert np.array_equal(basis.combine(np.asfortranarray(X), C), basis.combine(X, C))


@both_ways
def test_nan_is_reported_though_no_pass_looks_for_it():
    basis, X = case("cosines")
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        basis.correlate(X, np.ones((len(X), 1)))
    with pytest.raises(ValueError, match="row 3"):
        basis.combine(X, np.ones((basis.dim, 1)))


@both_ways
def test_no_points_give_no_values():
    for name in ("cosines", "waves", "octahedral", "few copies of a circle", "many copies of a circle"):
        basis, X = case(name, 1)
        assert basis.combine(X[:0], np.ones((basis.dim, 1))).shape == (0, 1)
        assert not basis.correlate(X[:0], np.ones((0, 2))).any()


def test_families_refuse_what_does_not_fit_in_memory():
    basis, X = case("cosines")
    with sa.config(memory_limit=1000), pytest.raises(MemoryError, match="memory limit"):
        basis.correlate(X, np.ones((len(X), 1)))


@pytest.mark.parametrize("degree", [0, 1, 5, 40, 90])
def test_harmonics_of_s2_equal_scipys(degree):
    from complex_harmonics import sph_harm_y

    X = sa.Sphere(3).sample(50, random_state=0)
    X[:2] = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    values = S2Harmonics(range(degree + 1)).values(X)
    theta, phi = np.arctan2(np.hypot(X[:, 0], X[:, 1]), X[:, 2]), np.arctan2(X[:, 1], X[:, 0])
    for order in range(degree + 1):
        Y = sph_harm_y(degree, order, theta, phi) * np.sqrt(4 * np.pi) * (-1) ** order
        pair = [Y.real] if order == 0 else [np.sqrt(2) * Y.real, np.sqrt(2) * Y.imag]
        for i, column in enumerate(pair):
            place = degree**2 + (0 if order == 0 else 2 * order - 1 + i)
            assert np.abs(values[:, place] - column).max() < 1e-11


@pytest.mark.parametrize("degree", [999, 1001, 1700])
def test_harmonics_of_s2_obey_the_addition_theorem_at_high_degrees(degree):
    from scipy.special import eval_legendre

    angle = np.array([0.0, np.pi, 1e-300, 1e-8, 1e-3, 0.1, 0.5, np.pi - 0.2])  # at the poles and beside them
    X = np.stack([0.6 * np.sin(angle), 0.8 * np.sin(angle), np.cos(angle)], axis=1)
    family, size = S2Harmonics([degree]), 2 * degree + 1
    values = family.correlate(X, np.eye(len(X)))  # (2k + 1, n)
    # Σ Y(x) Y(x') = (2k + 1) P_k(x·x'). Near a pole, a rounding of z changes a harmonic by k² roundings.
    expected = size * eval_legendre(degree, np.clip(X @ X.T, -1.0, 1.0))
    for found in (values.T @ values, family.combine(X, values)):
        assert np.abs(found - expected).max() < degree**2 * 2e-16 * size


def test_features_of_high_degree_are_those_that_are_summed():
    angle = np.array([0.0, np.pi, 1e-300, 1e-8, 1e-3, 0.1, 0.5, np.pi - 0.2])
    X = np.stack([0.6 * np.sin(angle), 0.8 * np.sin(angle), np.cos(angle)], axis=1)
    family = S2Harmonics([1001])
    full = np.empty((len(X), 1002**2))
    features = family._selected(family._filled(family._loops.values, X, (len(X),), full))  # a block of eight points
    summed = family.correlate(X, np.eye(len(X)))
    assert np.abs(features - summed.T).max() < 1e-11 * np.abs(summed).max()


@pytest.mark.parametrize("degree", [0, 3, 30])
def test_wigner_functions_equal_those_of_the_space(degree):
    from specavg.functions._wigner_functions import WignerFunctions

    space = spaces.Rotations()
    X = space.sample(40, random_state=0)
    X[:2] = np.eye(3).ravel(), np.diag([1.0, -1.0, -1.0]).ravel()  # β = 0 and π
    values = np.concatenate([space.evaluate(space.eigenspace(l), X) for l in range(degree + 1)], axis=1)
    Y = np.random.default_rng(0).normal(size=(len(X), 2))
    found = WignerFunctions(range(degree + 1)).values(X)
    assert np.abs(found - values).max() <= TOLERANCE * np.abs(values).max()
    sums = WignerFunctions(range(degree + 1)).correlate(X, Y)
    assert np.abs(sums - values.T @ Y).max() <= TOLERANCE * np.abs(values).max() * np.abs(Y).sum(axis=0).max()


def test_the_polynomial_cosine_is_right_to_rounding():
    from specavg.functions.loops._tree import cosine, sine

    x = np.random.default_rng(0).uniform(-3, 3, size=20_000)
    x[:9] = [0.0, 0.25, -0.25, 0.5, -0.5, 1.0, 0.125, 0.375, 2.75]
    exact = 2 * np.pi * (x - np.rint(x))
    for compiled, formula in ((cosine, np.cos), (sine, np.sin)):
        values = np.array([compiled.py_func(v) for v in x])
        assert np.abs(values - formula(exact)).max() < 1.5e-15


def test_trees_are_visited_depth_first_without_unwanted_branches():
    #      0
    #    /   \
    #   1     2
    #  / \     \
    # 3   4     5        4 and 5 are not wanted
    parent = np.array([0, 0, 0, 1, 1, 2])
    nodes, starts, leaves = depth_first(parent, np.arange(6), np.array([3, 0, 2]))
    assert nodes.tolist() == [[0, 0, 1], [1, 1, -1]]
    assert starts.tolist() == [0, 1, 2]
    assert leaves.tolist() == [[2, 2], [3, 0]]


def test_blocks_are_multiples_of_64_that_fit_in_cache():
    assert block_size(10**6, 20) == 512
    assert block_size(10**6, 10**6) == 64
    assert block_size(1, 20) == 64
    assert block_size(65, 20) == 128


def test_chunks_come_back_in_order_and_cover_all_rows():
    chunks = row_chunks(100_000)
    with sa.config(n_threads=4):
        found = list(in_order(lambda rows: (rows.start, rows.stop), chunks))
    assert found == [(c.start, c.stop) for c in chunks]
    assert found[0][0] == 0
    assert found[-1][1] == 100_000


def test_compensated_sums_do_not_lose_small_terms():
    parts = [np.array([1.0])] + [np.array([1e-17])] * 1000
    assert compensated_sum(iter(parts), (1,))[0] == 1.0 + 1e-14


@pytest.mark.parametrize(
    "space, group, size",
    [
        (sa.Torus(1), groups.sign_flips(1), 1001),
        (sa.Torus(1), groups.trivial(1), 20_001),
        (sa.Circle(), groups.cyclic(1000), 11),
    ],
    ids=["even", "all", "every thousandth"],
)
def test_one_dimension_takes_memory_for_its_functions_only(space, group, size):
    # Frequencies up to 10^4 have squares up to 10^8: nothing may be as long as that.
    import tracemalloc

    tracemalloc.start()
    basis = sa.invariant_basis(space, group, max_invariant_dim=size)
    dim, (_, peak) = basis.functions.dim, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert dim == size
    assert peak < 100e6
