"""Tori: frequencies, integer affine maps with exact shifts, and what is refused."""

from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries, testing
from specavg.functions._trigonometric_sums import Waves
from specavg.spaces import Circle, Torus

SHEAR = isometries.affine([[1, 1], [0, 1]], [0, 0])


def box_count(d, n):
    """Vectors of Z^d with |k|² = n, by listing a box."""
    reach = range(-int(n**0.5), int(n**0.5) + 1)
    return sum(1 for k in product(reach, repeat=d) if sum(i * i for i in k) == n)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_multiplicities_count_integer_vectors(d):
    counts = [(n, box_count(d, n)) for n in range(12)]
    expected = [(n * np.pi**2, count) for n, count in counts if count]
    found = [(V.eigenvalue, V.dim) for V in islice(Torus(d).eigenspaces(), len(expected))]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_unequal_periods_against_a_listed_box():
    space = Torus(2, period=[1.0, 3.0])
    values = sorted(
        4 * np.pi**2 * (i**2 + j**2 / 9) for i in range(-3, 4) for j in range(-9, 10) if i**2 + j**2 / 9 < 4
    )
    found = [V.eigenvalue for V in islice(space.eigenspaces(), 9) for _ in range(V.dim)]
    np.testing.assert_allclose(found, values[: len(found)], rtol=1e-12)


def test_functions_are_cosines_and_sines():
    X = Torus(2).sample(20, 0)
    V = next(V for V in Torus(2).eigenspaces() if V.dim == 8)  # |k|² = 5
    waves = [np.pi * (i * X[:, 0] + j * X[:, 1]) for i, j in [(1, 2), (1, -2), (2, 1), (2, -1)]]
    expected = np.sqrt(2) * np.stack([f(w) for w in waves for f in (np.cos, np.sin)], axis=1)
    mine = Torus(2).evaluate(V, X)
    np.testing.assert_allclose(mine @ mine.T, expected @ expected.T, atol=1e-13)


def test_circle_is_in_radians():
    angle = np.array([[0.3], [2.0], [-7.5]])
    V = next(V for V in Circle().eigenspaces() if V.eigenvalue == 9.0)
    values = Circle().evaluate(V, angle)
    np.testing.assert_allclose(values, np.sqrt(2) * np.hstack([np.cos(3 * angle), np.sin(3 * angle)]), atol=1e-14)
    assert Circle().volume == pytest.approx(2 * np.pi)


@pytest.mark.parametrize(
    "space", [Torus(3), Torus(2, period=[1.0, 3.0]), Torus(lattice=[[1, 0.2], [0, 1.1]]), Circle()]
)
def test_orthonormal_by_exact_quadrature(space):
    testing.check_orthonormality(space, list(islice(space.eigenspaces(), 8)))


def test_points_wrap():
    V = next(islice(Torus(2).eigenspaces(), 4, None))
    X = Torus(2).sample(10, 0)
    np.testing.assert_allclose(Torus(2).evaluate(V, X + np.array([2.0, -6.0])), Torus(2).evaluate(V, X), atol=1e-13)


def test_a_thousand_dimensions():
    sizes = [V.dim for V in islice(Torus(1000).eigenspaces(), 5)]
    assert sizes[:3] == [1, 2000, 2000 * 1998 // 2]  # ±e_i, and ±e_i ± e_j
    assert sizes[3] == 8 * (1000 * 999 * 998 // 6)


# --- isometries -----------------------------------------------------------------------------------------------


def test_shifts_are_exact_and_wrap_into_the_cell():
    g = isometries.shift([Fraction(1, 3), 0])
    X = np.array([[0.9, 0.25]])
    np.testing.assert_allclose(Torus(2).act(g, X), [[0.9 + 2 / 3 - 2, 0.25]], atol=1e-15)
    lattice = Torus(lattice=np.eye(2))
    np.testing.assert_allclose(lattice.act(g, X), [[0.9 + 1 / 3 - 1, 0.25]], atol=1e-15)


@pytest.mark.parametrize("n", [3, 7, 10**6])
def test_a_power_of_a_shift_is_the_identity(n):
    g = isometries.shift([Fraction(1, n)])
    V = next(islice(Circle().eigenspaces(), 5, None))
    D = Circle().representation(g, V)
    turn = np.linalg.matrix_power(D, n)
    np.testing.assert_allclose(turn, np.eye(2), atol=2e-16 * n + 1e-14)


def test_affine_maps_satisfy_the_laws():
    g = isometries.affine([[0, -1], [1, 0]], [Fraction(1, 4), Fraction(1, 2)])
    h = isometries.affine([[1, 0], [0, -1]], [Fraction(1, 3), 0.123])
    for V in islice(Torus(2).eigenspaces(), 8):
        testing.check_equivariance(Torus(2), g, V)
        testing.check_equivariance(Torus(2), h, V)
        testing.check_composition(Torus(2), g, h, V)
        testing.check_action(Torus(2), g, h, V)


def test_phases_are_exact_with_huge_denominators():
    # Denominators beyond 64 bits: the product must stay in Python's integers.
    n = 3**50
    space = Circle()
    V = next(islice(space.eigenspaces(), 9, None))
    _, _, phase, modulus = space.frequency_action(isometries.shift([Fraction(2, n)]), V)
    assert modulus == n
    assert phase[0] == 18


# --- bad input ---------------------------------------------------------------------------------------------------


def test_a_shear_is_not_an_isometry():
    with pytest.raises(ValueError, match=r"not an isometry of Torus\(2\).*differs from the metric"):
        Torus(2).act(SHEAR, np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"generator 0 .* does not fit"):
        sa.invariant_basis(Torus(2), groups.Group([SHEAR]), max_eigenvalue=10)


def test_exchanging_unequal_periods_is_not_an_isometry():
    with pytest.raises(ValueError, match="the same period"):
        sa.invariant_basis(Torus(2, period=[1.0, 2.0]), groups.symmetric(2), max_eigenvalue=100)


def test_rotations_and_wrong_sizes_are_refused():
    X = np.zeros((1, 2))
    with pytest.raises(ValueError, match="isometries of a torus are integer matrices"):
        Torus(2).act(isometries.orthogonal([[0.6, -0.8], [0.8, 0.6]]), X)
    with pytest.raises(ValueError, match=r"acts on 3 coordinates; Torus\(2\) has 2"):
        Torus(2).act(isometries.permutation([2, 1, 0]), X)
    with pytest.raises(ValueError, match="acts on 3 coordinates"):
        sa.invariant_basis(Torus(2), groups.trivial(3), max_eigenvalue=10)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "d ≥ 1"),
        ({"d": 0}, "d ≥ 1"),
        ({"d": 1.5}, "d ≥ 1"),
        ({"d": 2, "period": -1.0}, "positive and finite"),
        ({"d": 2, "period": np.nan}, "positive and finite"),
        ({"d": 2, "period": [1.0, 2.0, 3.0]}, "one number or 2 numbers"),
        ({"lattice": [[1.0, 2.0]]}, "square"),
        ({"lattice": [[1.0, 2.0], [2.0, 4.0]]}, "linearly dependent"),
        ({"d": 3, "lattice": np.eye(2)}, "leave d out"),
    ],
)
def test_impossible_tori_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Torus(**arguments)


def test_nan_and_wrong_shapes_are_refused():
    V = next(Torus(2).eigenspaces())
    with pytest.raises(ValueError, match=r"NaN or infinity in 1 of 2 rows \(first: row 1\)"):
        Torus(2).evaluate(V, [[0, 0], [0, np.nan]])
    with pytest.raises(ValueError, match=r"shape \(n, 2\); got an array of shape \(3,\)"):
        Torus(2).evaluate(V, [0.0, 0.0, 0.0])


def test_coordinates_too_large_for_their_digits_are_refused():
    X = Torus(2).sample(30, random_state=0)
    model = sa.InvariantKernelRidge(Torus(2), max_dim=9).fit(X, np.cos(np.pi * X[:, 0]))
    at = [[0.25 + 2e8, 0.5]]
    np.testing.assert_allclose(model.predict(at), model.predict([[0.25, 0.5]]), atol=1e-6)
    for place in ([[1e300, 0.5]], [[0.5, -2e14]]):
        with pytest.raises(ValueError, match=r"off by .* periods, and neighbouring numbers of that size"):
            model.predict(place)
    with pytest.raises(ValueError, match=r"off by 0.0156 .*Column 0 has values of up to 1e\+14 periods"):
        sa.Power(Torus(1), 2).check_points([[0.0, 2e14]])
    with pytest.raises(ValueError, match=r"NaN or infinity in 1 of 1 rows"):
        model.basis_.combine(np.array([[np.nan, 0.0]]), np.ones((model.basis_.dim, 1)))


def test_too_many_frequencies_are_refused_before_they_are_listed():
    V = next(islice(Torus(1000).eigenspaces(), 3, None))
    with pytest.raises(MemoryError, match=r"listing 1329336000 frequencies .* closed form"):
        Torus(1000).frequencies(V)


def test_waves_of_few_coordinates_are_those_of_all():
    rng = np.random.default_rng(0)
    K = rng.integers(-3, 4, (300, 24)) * (rng.uniform(size=(300, 24)) < 0.15)
    K = np.unique(K, axis=0)
    X = rng.uniform(-5, 5, (40, 24))
    angles = np.pi * (X @ K.T)
    values = Waves(np.full(24, 2.0), K).plain_values(X)
    np.testing.assert_allclose(values, np.concatenate([np.cos(angles), np.sin(angles)], axis=1), atol=1e-12)


@pytest.mark.parametrize(
    "space",
    [Torus(3), Torus(2, period=[1.0, 1.7]), Torus(lattice=[[1.0, 0.0], [0.3, 1.1]])],
    ids=["cubic", "box", "lattice"],
)
def test_frequencies_of_several_eigenspaces_are_those_of_each_one_after_the_other(space):
    chosen = [list(islice(space.eigenspaces(), 9))[i] for i in (0, 4, 2, 8)]  # in no order
    K, counts = space.frequencies_together(chosen)
    one_by_one = [space.frequencies(V) for V in chosen]
    assert counts.tolist() == [len(part) for part in one_by_one] == [(V.dim + 1) // 2 for V in chosen]
    for found, expected in zip(np.split(K, np.cumsum(counts)[:-1]), one_by_one, strict=True):
        assert set(map(tuple, found.tolist())) == set(map(tuple, expected.tolist()))


@pytest.mark.parametrize("period", ["degrees", ["a", "b"], 2j, [[1], [2, 3]]])
def test_a_period_is_a_number(period):
    with pytest.raises(
        ValueError, match="period must be one number or 2 numbers, 360 for degrees and 2π for radians; got"
    ):
        Torus(2, period=period)
