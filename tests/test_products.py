"""Products and powers of spaces: sums of eigenvalues, products of functions, the laws."""

import time
from fractions import Fraction
from itertools import combinations, islice, pairwise, takewhile
from math import comb

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.functions._orthonormal_matrices import random_orthonormal
from specavg.groups import Group
from specavg.invariants.solvers._factor_by_factor import acts_on_factors
from specavg.spaces import Circle, Power, Product, Rotations, Sphere, Stiefel, Torus
from specavg.spaces._product import factor_eigenspaces

TOLERANCE = 1e-12


def orthogonal(d, seed, proper=False):
    Q = random_orthonormal(1, d, d, np.random.default_rng(seed))[0]
    if proper and np.linalg.det(Q) < 0:
        Q[:, 0] *= -1
    return isometries.orthogonal(Q)


TURN = isometries.shift([Fraction(1, 5)])
FLIP = isometries.signed_permutation([0], [-1])

CASES = {
    "circle x sphere": (
        Product(Circle(), Sphere(3)),
        [isometries.factors([TURN, orthogonal(3, 0)]), isometries.factors([FLIP, orthogonal(3, 1)])],
    ),
    "torus x torus": (
        Product(Torus(2), Torus(1, period=np.sqrt(2))),
        [
            isometries.factors([isometries.permutation([1, 0]), FLIP]),
            isometries.factors([isometries.shift([Fraction(1, 3), 0.1]), TURN]),
        ],
    ),
    "rotations x circle": (
        Product(Rotations(), Circle()),
        [isometries.factors([orthogonal(3, 2, proper=True), TURN]), isometries.factors([isometries.identity(3), FLIP])],
    ),
    "frames x sphere": (
        Product(Stiefel(3, 2), Sphere(2)),
        [
            isometries.factors([orthogonal(3, 3), orthogonal(2, 4)]),
            isometries.factors([orthogonal(3, 5), isometries.permutation([1, 0])]),
        ],
    ),
    "circle^3": (
        Power(Circle(), 3),
        [isometries.copies([1, 2, 0], [TURN, FLIP, TURN @ FLIP]), isometries.permutation([1, 0, 2])],
    ),
    "sphere^2": (
        Power(Sphere(3), 2),
        [
            isometries.copies([1, 0], [orthogonal(3, 6), orthogonal(3, 7)]),
            isometries.copies([0, 1], [orthogonal(3, 8), isometries.identity(3)]),
        ],
    ),
    "rotations^2": (
        Power(Rotations(), 2),
        [
            isometries.copies([1, 0], [orthogonal(3, 6, proper=True), orthogonal(3, 7, proper=True)]),
            isometries.permutation([1, 0]),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_move_by_the_representation(name):
    space, (g, h) = CASES[name]
    X = space.sample(25, 0)
    for V in takewhile(lambda V: V.dim <= 150, islice(space.eigenspaces(), 6)):
        values, D, E = space.evaluate(V, X), space.representation(g, V), space.representation(h, V)
        assert values.shape == (25, V.dim)
        assert np.abs(space.evaluate(V, space.act(g, X)) - values @ D).max() < TOLERANCE
        assert np.abs(space.evaluate(V, space.act(h, X)) - values @ E).max() < TOLERANCE
        assert np.abs(space.representation(g @ h, V) - E @ D).max() < TOLERANCE
        assert np.abs(D @ D.T - np.eye(V.dim)).max() < TOLERANCE
        assert np.abs((values**2).sum(axis=1) / V.dim - 1).max() < TOLERANCE


@pytest.mark.parametrize("name", CASES)
def test_basis_is_orthonormal_by_exact_quadrature(name):
    space, _ = CASES[name]
    spaces = list(islice(space.eigenspaces(), 3))
    X, w = space.quadrature(spaces[-1].eigenvalue)
    values = np.concatenate([space.evaluate(V, X) for V in spaces], axis=1)
    assert w.sum() == pytest.approx(1)
    assert np.abs((values.T * w) @ values - np.eye(values.shape[1])).max() < TOLERANCE


@pytest.mark.parametrize("name", CASES)
def test_eigenvalues_increase(name):
    values = [V.eigenvalue for V in islice(CASES[name][0].eigenspaces(), 25)]
    assert all(a < b for a, b in pairwise(values))


def test_a_power_is_a_product_of_equals():
    power, product = Power(Sphere(3), 3), Product(Sphere(3), Sphere(3), Sphere(3))
    assert power.volume == pytest.approx(product.volume)
    assert power.dim == product.dim
    X, Y = power.sample(8, 0).reshape(8, -1), power.sample(8, 1).reshape(8, -1)
    for V, W in zip(islice(power.eigenspaces(), 5), product.eigenspaces(), strict=False):
        assert (V.eigenvalue, V.dim) == (W.eigenvalue, W.dim)
        kernels = [space.evaluate(U, X) @ space.evaluate(U, Y).T for space, U in ((power, V), (product, W))]
        assert np.abs(kernels[0] - kernels[1]).max() < 1e-10


@pytest.mark.parametrize("split", [Product(Torus(1), Torus(2)), Power(Torus(1), 3), Product(*[Torus(1)] * 3)])
def test_a_torus_is_the_product_of_its_circles(split):
    whole = Torus(3)
    X, Y = whole.sample(8, 0), whole.sample(8, 1)
    for V, W in zip(islice(whole.eigenspaces(), 8), split.eigenspaces(), strict=False):
        assert V.eigenvalue == pytest.approx(W.eigenvalue)
        assert V.dim == W.dim
        difference = whole.evaluate(V, X) @ whole.evaluate(V, Y).T - split.evaluate(W, X) @ split.evaluate(W, Y).T
        assert np.abs(difference).max() < 1e-11


def test_many_copies_list_their_eigenspaces_at_once():
    V = list(islice(Power(Sphere(3), 1000).eigenspaces(), 3))[2]
    assert V.dim == 9 * 1000 * 999 // 2


def test_points_of_a_power_come_in_every_shape():
    space = Power(Sphere(3), 4)
    flat = space.sample(5, 0)
    V = next(islice(space.eigenspaces(), 1, 2))
    assert np.array_equal(space.evaluate(V, flat), space.evaluate(V, flat.reshape(5, 4, 3)))
    swap = isometries.permutation([1, 0, 2, 3])
    assert np.array_equal(space.act(swap, flat.reshape(5, 4, 3)), flat.reshape(5, 4, 3)[:, [1, 0, 2, 3]])


@pytest.mark.parametrize(
    "space, g, words",
    [
        (Product(Circle(), Sphere(3)), isometries.permutation([1, 0, 2, 3]), "factor by factor"),
        (Product(Circle(), Sphere(3)), isometries.factors([FLIP]), "1 parts"),
        (Product(Circle(), Sphere(3)), isometries.factors([FLIP, TURN]), "no shifts"),
        (Power(Circle(), 3), isometries.permutation([1, 0]), "permutation of its 3 copies"),
        (Power(Circle(), 3), isometries.copies([1, 0], [FLIP, FLIP]), "moves 2 copies"),
    ],
)
def test_maps_of_other_spaces_are_refused(space, g, words):
    with pytest.raises(ValueError, match=words):
        space.check_isometry(g)


def test_points_off_a_factor_are_refused():
    with pytest.raises(ValueError, match=r"row 1 is off by 0\.1"):
        Product(Circle(), Sphere(3)).check_points([[0, 1, 0, 0], [0, 1.1, 0, 0]])
    with pytest.raises(ValueError, match="row 0 is off by 1"):
        Power(Sphere(2), 2).check_points([[1.0, 0.0, 2.0, 0.0]])


def test_equal_by_value():
    assert Product(Circle(), Sphere(3)) == Product(Circle(), Sphere(3))
    assert Product(Circle(), Sphere(3)) != Product(Sphere(3), Circle())
    assert Power(Circle(), 2) != Power(Circle(), 3)
    assert len({Power(Circle(), 2), Power(Circle(), 2), Product(Circle(), Circle())}) == 2
    assert repr(Product(Circle(), Sphere(3))) == "Product(Circle(), Sphere(3))"
    for make in (lambda: Product(), lambda: Power(Circle(), 0)):
        with pytest.raises(ValueError, match="needs"):
            make()


def test_products_of_many_factors_are_listed_without_their_constants():
    # All pairs of 100 circles, and what is not constant in each, in the order of the factors.
    circles = sa.Product(*[sa.Torus(1)] * 100)
    first, second, third = islice(circles.eigenspaces(), 3)
    assert (first.dim, second.dim, third.dim) == (1, 200, 4 * comb(100, 2))
    places = [[i for i, V in enumerate(way) if V.dim > 1] for way in factor_eigenspaces(third)]
    assert sorted(places) == [list(pair) for pair in combinations(range(100), 2)]
    assert places == sorted(places, reverse=True)


def test_a_default_fit_with_hundreds_of_factors_ends_in_a_sentence():
    space = sa.Product(*[sa.Torus(1)] * 300)
    group = groups.direct_product(*[groups.sign_flips(1)] * 300)
    X = space.sample(100, random_state=0)
    start = time.process_time()
    with pytest.raises(ValueError, match="too many to list"):
        sa.InvariantKernelRidge(space, group).fit(X, np.cos(np.pi * X).sum(axis=1))
    assert time.process_time() - start < 10  # 1.6 s; without end before


def test_columns_in_the_order_of_coordinates_are_recognised_by_points_off_the_space():
    space = sa.Power(sa.Sphere(3), 2)
    X = space.sample(20, random_state=0)
    by_coordinate = X[:, [0, 3, 1, 4, 2, 5]]
    with pytest.raises(ValueError, match=r"X.reshape\(-1, 3, 2\).swapaxes\(1, 2\) orders them"):
        space.check_points(by_coordinate)
    np.testing.assert_array_equal(by_coordinate.reshape(-1, 3, 2).swapaxes(1, 2).reshape(-1, 6), X)
    with pytest.raises(ValueError, match="unit vectors: divide each row by its norm"):
        space.check_points(2 * X)


def test_copies_on_one_torus_are_told_the_power_that_they_act_on():
    one, three = groups.cyclic(3), groups.Group([isometries.shift(["1/3", 0, 0])])
    for inner, m, dim, said in [
        (one, 100, 100, r"Power\(Torus\(1, period=2\), 100\), whose points have the same columns\.$"),
        (three, 100, 300, r"Use Power\(Torus\(3, period=2\), 100\), whose points have the same columns\.$"),
        (
            one,
            100,
            300,
            r"Power\(Torus\(1, period=2\), 100\), whose points have 100 columns.*a group of 3\.$",
        ),
        (one, 100, 250, r"points of Torus\(250\) have 250\.$"),
    ]:
        with pytest.raises(ValueError, match=said):
            Torus(dim).check_isometry(groups.wreath(inner, m).generators[0])


def _moving(size, *images):
    """Permutations of so many coordinates from (first coordinate, image of a block): the others stay."""
    whole = [list(range(size)) for _ in images]
    for image, (first, block) in zip(whole, images, strict=True):
        image[first : first + len(block)] = [first + i for i in block]
    return [isometries.permutation(image) for image in whole]


BLOCKS = {
    "S3 x S4": (_moving(7, (3, [1, 0, 2, 3]), (0, [1, 0, 2]), (0, [1, 2, 0]), (3, [1, 2, 3, 0])), 144, 2),
    "S2 x 1 x A3": (_moving(6, (0, [1, 0]), (3, [1, 2, 0])), 6, 3),
    "1 x signs x S2": (
        [isometries.signed_permutation(range(5), s) for s in ([1, 1, -1, 1, 1], [1, 1, 1, 1, 1])]
        + _moving(5, (3, [1, 0])),
        4,
        3,
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_generators_on_blocks_of_coordinates_are_a_product_in_closed_form(name):
    generators, order, blocks = BLOCKS[name]
    space, group = sa.Torus(generators[0].size), Group(generators)
    assert (group.order, len(acts_on_factors(space, group).factors)) == (order, blocks)
    basis = sa.invariant_basis(space, group, max_eigenvalue=4 * np.pi**2)
    general = sa.invariant_basis(space, group, max_eigenvalue=4 * np.pi**2, solver="orbits")
    assert {row.solver for row in basis.table} == {"closed form"}
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in general.table]
    X = space.sample(6, random_state=0)
    mean = sum(space_kernel(space, X, g(X)) for g in group.elements()) / group.order  # brute force
    np.testing.assert_allclose(basis.evaluate(X) @ basis.evaluate(X).T, mean, atol=1e-10)


def space_kernel(space, X, Y):
    """Σ φ(x)φ(y) over all functions with eigenvalues up to 4π²."""
    whole = sa.invariant_basis(space, max_eigenvalue=4 * np.pi**2)
    return whole.evaluate(X) @ whole.evaluate(Y).T


def test_generators_on_blocks_of_copies_are_a_product_in_closed_form():
    space = sa.Power(sa.Sphere(3), 4)
    group = Group(_moving(4, (0, [1, 0]), (2, [1, 0])))
    basis = sa.invariant_basis(space, group, max_eigenvalue=6.0)
    named = sa.invariant_basis(
        space, groups.direct_product(groups.symmetric(2), groups.symmetric(2)), max_eigenvalue=6.0
    )
    assert {row.solver for row in basis.table} == {"closed form"}
    X = space.sample(6, random_state=0)
    np.testing.assert_allclose(basis.evaluate(X), named.evaluate(X), atol=1e-12)


@pytest.mark.parametrize(
    "generators",
    [
        [isometries.permutation([1, 0, 3, 2])],  # both blocks at once
        _moving(4, (0, [2, 1, 0]), (1, [2, 1, 0])),  # blocks that lie in each other
        _moving(5, (0, [1, 2, 3, 0])),  # no family
        [isometries.permutation([1, 0, 2]), isometries.shift(["1/2", 0, 0])],
    ],
    ids=["at once", "interleaved", "C4", "shift"],
)
def test_other_generators_are_no_product_of_blocks(generators):
    assert acts_on_factors(sa.Torus(generators[0].size), Group(generators)) is None


def test_a_group_of_one_copy_is_pointed_to_the_diagonal_one():
    space = sa.Power(sa.Sphere(3), 3)
    with pytest.raises(ValueError, match=r"It acts on one copy; groups\.diagonal\(group, 3\) moves all of them"):
        sa.invariant_basis(space, sa.groups.orthogonal(3), max_invariant_dim=2)
    together = sa.groups.diagonal(sa.groups.orthogonal(3), 3)
    assert sa.invariant_basis(space, together, max_dim=60).dim > 1  # products of two copies
