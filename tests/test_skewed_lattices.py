"""Skewed bases of a lattice describe the same torus: as many functions, the same invariants, the same isometries."""

import ast
import re

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.isometries import affine, permutation
from specavg.spaces._lattice_reduction import reduced

LATTICES = {
    "cubic": np.eye(3),
    "orthorhombic": np.diag([1.0, 1.3, 2.1]),
    "fcc": np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0.0]]) / 2,
    "triclinic": np.array([[1.0, 0, 0], [0.3, 1.1, 0], [-0.2, 0.4, 0.9]]),
    "hexagonal": np.array([[1.0, 0], [-0.5, 0.75**0.5]]),
    "four dimensions": np.array([[1.0, 0, 0, 0], [0.5, 1, 0, 0], [0, 0.5, 1, 0], [0.5, 0, 0, 1]]),
}


def unimodular(d, seed, steps):
    """A random integer matrix of determinant ±1, and its inverse, exactly."""
    rng = np.random.default_rng(seed)
    U, inverse = np.eye(d, dtype=int), np.eye(d, dtype=int)
    for _ in range(steps):
        i, j = rng.choice(d, 2, replace=False)
        q = int(rng.integers(-3, 4))
        U[i] += q * U[j]
        inverse[:, j] -= q * inverse[:, i]
    return U, inverse


@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.parametrize("steps", [2, 6, 12])
def test_skewed_bases_have_the_same_eigenspaces_and_invariants(name, steps):
    B = LATTICES[name]
    d = len(B)
    U, inverse = unimodular(d, steps, steps)
    plain, skewed = sa.Torus(lattice=B), sa.Torus(lattice=U @ B)
    top = 9 * (2 * np.pi) ** 2 if d < 4 else 4 * (2 * np.pi) ** 2
    # x = uB = u'(UB): u = u'U. The inversion is the same matrix in both.
    bases = [
        sa.invariant_basis(space, groups.Group([affine(-np.eye(d, dtype=int), [0] * d)]), max_eigenvalue=top)
        for space in (plain, skewed)
    ]
    np.testing.assert_allclose(bases[0].eigenvalues, bases[1].eigenvalues, rtol=1e-10, atol=1e-10)
    X, Y = plain.sample(15, 0), plain.sample(10, 1)
    kernels = [
        basis.evaluate(X @ M) @ basis.evaluate(Y @ M).T for basis, M in zip(bases, (np.eye(d), inverse), strict=True)
    ]
    np.testing.assert_allclose(kernels[0], kernels[1], atol=1e-8 if steps > 6 else 1e-9)
    assert skewed.volume == pytest.approx(plain.volume, rel=1e-12)


def test_the_basis_of_the_cubic_lattice_that_lost_four_functions():
    space = sa.Torus(lattice=[[1, -6, 6], [-1, 11, -8], [1, -13, 9]])
    assert sa.invariant_basis(space, max_eigenvalue=8 * 4 * np.pi**2).dim == 93


@pytest.mark.filterwarnings("ignore:the lattice vectors are so skewed")
@pytest.mark.parametrize("steps", [4, 8, 14])
def test_isometries_are_known_in_skewed_bases_and_others_refused(steps):
    U, inverse = unimodular(3, steps + 50, steps)
    space = sa.Torus(lattice=U.astype(float))
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    shear = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    # u = u'U, so that the column u' = U⁻ᵀu: A' = U⁻ᵀ A Uᵀ.
    group = groups.Group([affine(inverse.T @ turn @ U.T, [0, 0, 0])])
    cube, turns = sa.Torus(lattice=np.eye(3)), groups.Group([affine(turn, [0, 0, 0])])
    plain = sa.invariant_basis(cube, turns, max_eigenvalue=400.0)
    assert sa.invariant_basis(space, group, max_eigenvalue=400.0).dim == plain.dim
    with pytest.raises(ValueError, match="not an isometry"):
        space.check_isometry(affine(inverse.T @ shear @ U.T, [0, 0, 0]))


@pytest.mark.parametrize("q", [10**4, 10**5, 10**6])
def test_skewed_bases_warn_of_what_rounding_of_their_coordinates_costs(q):
    # The lattice Z² in the basis (1, 0), (q, 1): a quarter turn of it has entries of q².
    U, inverse = np.array([[1, 0], [q, 1]], dtype=object), np.array([[1, 0], [-q, 1]], dtype=object)
    quarter = np.array([[0, -1], [1, 0]], dtype=object)
    space = sa.Torus(lattice=U.astype(float))
    group = groups.Group([affine(inverse.T @ quarter @ U.T, [0, 0])])
    with pytest.warns(UserWarning, match="Use the short basis of the same lattice") as caught:
        basis = sa.invariant_basis(space, group, max_eigenvalue=4 * np.pi**2)
    said = float(str(caught[0].message).split("by up to ")[1].split(":")[0])
    X = space.sample(200, random_state=0)
    moved = np.abs(basis.evaluate(space.act(group.generators[0], X)) - basis.evaluate(X)).max()
    # The one function but the constant is cos a + cos b with a factor √2; X, gX and the product are each rounded.
    assert 1e-3 * said < moved < 3 * 2 * np.sqrt(2) * said
    short = sa.Torus(lattice=np.array(ast.literal_eval(re.findall(r"lattice, (\[.*?\]\])", str(caught[0].message))[0])))
    change = np.array(ast.literal_eval(str(caught[0].message).split("X @ ")[1]))
    plain = sa.invariant_basis(short, groups.Group([affine(quarter, [0, 0])]), max_eigenvalue=4 * np.pi**2)
    np.testing.assert_allclose(np.abs(plain.evaluate(X @ change)), np.abs(basis.evaluate(X)), atol=9 * said)


@pytest.mark.parametrize("q", [10**8, 10**15])
def test_bases_that_are_too_skewed_are_refused(q):
    rows = [[1.0, 0.0], [float(q), 1.0]]
    with pytest.raises(ValueError, match=r"[Gg]ive shorter (lattice )?vectors"):
        sa.invariant_basis(sa.Torus(lattice=[rows[1], [2.0 * q + 1, 2.0]]), max_eigenvalue=40.0)


@pytest.mark.parametrize("name", LATTICES)
def test_reduction_is_an_exact_change_of_basis(name):
    B = LATTICES[name]
    U, _ = unimodular(len(B), 3, 20)
    found = reduced(U @ B)
    assert np.array_equal(found.change @ found.inverse, np.eye(len(B), dtype=int))
    np.testing.assert_allclose(found.change @ (U @ B), found.vectors, atol=1e-9)
    # Each vector of a reduced basis is at most 2^((d−1)/2) times as long as any basis needs.
    assert np.linalg.norm(found.vectors, axis=1).max() <= 2 ** (len(B) / 2) * np.linalg.norm(B, axis=1).max()


@pytest.mark.parametrize("long", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_long_period_does_not_hide_that_short_ones_differ(long, unit):
    exchange = permutation([1, 0, 2])
    with pytest.raises(ValueError, match="not an isometry"):
        sa.Torus(3, period=[unit, 1.0004 * unit, long * unit]).check_isometry(exchange)
    with pytest.raises(ValueError, match="not an isometry"):
        sa.Torus(lattice=np.diag([unit, 1.0004 * unit, long * unit])).check_isometry(exchange)
    assert sa.Torus(3, period=[unit, unit, long * unit]).check_isometry(exchange) is not None


@pytest.mark.parametrize("period", [1e154, 1e200, 1e-150, 1e-200])
def test_periods_whose_squares_are_no_numbers_are_refused(period):
    with pytest.raises(ValueError, match="another unit of length"):
        sa.Torus(2, period=period)
    with pytest.raises(ValueError, match="another unit of length"):
        sa.Torus(lattice=np.eye(2) * period)


@pytest.mark.parametrize("period", [1e-130, 1e-12, 1e12, 1e130])
def test_any_other_period_gives_the_same_functions(period):
    basis = sa.invariant_basis(sa.Torus(1, period=period), groups.sign_flips(1), max_invariant_dim=5)
    u = np.linspace(-0.5, 0.5, 7)
    expected = np.cos(2 * np.pi * np.outer(u, np.arange(5))) * np.r_[1, np.full(4, 2**0.5)]
    np.testing.assert_allclose(basis.evaluate(u[:, None] * period), expected, atol=1e-12)


@pytest.mark.parametrize("difference", [1.2e-8, 1e-9, 3e-8, 1e-7])
def test_nearly_equal_periods_have_as_many_invariants_by_factors(difference):
    space = sa.Torus(2, period=[2.0, 2.0 * (1 + difference)])
    whole = sa.invariant_basis(space, groups.sign_flips(2), max_eigenvalue=1500.0)
    parts = groups.direct_product(groups.sign_flips(1), groups.sign_flips(1))
    assert sa.invariant_basis(space, parts, max_eigenvalue=1500.0).dim == whole.dim
