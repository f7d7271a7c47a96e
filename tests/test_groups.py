"""Groups from plain generators: exact orders, uniform random elements, every element once."""

import copy
import math
import pickle
import time
from collections import Counter
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from scipy.stats import chisquare
from sympy.combinatorics import Permutation, PermutationGroup

import specavg as sa
from specavg import groups
from specavg import isometries as iso
from specavg.groups import Group
from specavg.groups.families import Alternating, Hyperoctahedral, SignFlips, Symmetric


def plain(group):
    """The same group, with nothing known but its generators."""
    return Group(group.generators, size=group.size)


def reflections(diagram, rank):
    """The simple reflections of a Coxeter group, given the edges (i, j, m) of its diagram."""
    m = np.full((rank, rank), 2.0)
    np.fill_diagonal(m, 1.0)
    for i, j, order in diagram:
        m[i, j] = m[j, i] = order
    roots = np.linalg.cholesky(-np.cos(np.pi / m))  # unit normals with the right angles
    return [np.eye(rank) - 2 * np.outer(root, root) for root in roots]


def line(rank):
    return [(i, i + 1, 3) for i in range(rank - 1)]


def mathieu24():
    """PSL(2, 23) on the projective line, and Mathieu's z ↦ z³/9 (residues) or 9z³ (the others)."""
    p, infinity = 23, 23
    squares = {x * x % p for x in range(1, p)}
    inverse = {x: pow(x, -1, p) for x in range(1, p)}
    add = [(x + 1) % p for x in range(p)] + [infinity]
    turn = [infinity, *(-inverse[x] % p for x in range(1, p)), 0]
    cube = [x**3 * (inverse[9] if x in squares else 9) % p for x in range(p)] + [infinity]
    return [iso.permutation(image) for image in (add, turn, cube)]


def rotation(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


# --- orders ---------------------------------------------------------------------------------------

COXETER = {
    "A10": (line(10), 10, math.factorial(11)),
    "F4": ([(0, 1, 3), (1, 2, 4), (2, 3, 3)], 4, 1152),
    "H3": ([(0, 1, 5), (1, 2, 3)], 3, 120),
    "H4": ([(0, 1, 5), (1, 2, 3), (2, 3, 3)], 4, 14400),
    "E6": ([*line(5), (2, 5, 3)], 6, 51840),
    "E7": ([*line(6), (2, 6, 3)], 7, 2903040),
    "E8": ([*line(7), (2, 7, 3)], 8, 696729600),
    "I2(7) and a fixed direction": ([(0, 1, 7)], 3, 28),
}


@pytest.mark.parametrize("diagram, rank, order", COXETER.values(), ids=COXETER.keys())
def test_order_of_reflection_groups_given_by_float_matrices(diagram, rank, order):
    assert Group(reflections(diagram, rank)).order == order


def test_order_of_the_mathieu_group():
    assert Group(mathieu24()).order == 244823040


@pytest.mark.parametrize("d", [5, 13, 100, 1000])
def test_large_groups_are_recognised_from_plain_generators(d):
    assert plain(groups.symmetric(d)).order == math.factorial(d)
    assert plain(groups.alternating(d)).order == math.factorial(d) // 2
    assert plain(groups.hyperoctahedral(d)).order == 2**d * math.factorial(d)
    two_signs = iso.signed_permutation(range(d), [-1, -1] + [1] * (d - 2))
    assert Group([*groups.symmetric(d).generators, two_signs]).order == 2 ** (d - 1) * math.factorial(d)
    minus = iso.signed_permutation(range(d), [-1] * d)
    assert Group([*groups.symmetric(d).generators, minus]).order == 2 * math.factorial(d)


def test_recognised_structure_is_the_catalogue_one():
    for d in (4, 50):
        assert plain(groups.symmetric(d)).recognise() == Symmetric(d)
        assert plain(groups.alternating(d)).recognise() == Alternating(d)
        assert plain(groups.hyperoctahedral(d)).recognise() == Hyperoctahedral(d)
        assert plain(groups.sign_flips(d)).recognise() == SignFlips(d)
    assert plain(groups.cyclic_shifts(7)).recognise() not in (Symmetric(7), Alternating(7))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 10, 11, 12])
def test_families_are_seen_from_their_generators_without_a_search(d):
    """Other generators than those of the catalogue: random elements that generate, by sympy."""
    rng = np.random.default_rng(d)
    for make, family in [
        (groups.sign_flips, SignFlips(d)),
        (groups.symmetric, Symmetric(d)),
        (groups.alternating, Alternating(d)),
        (groups.hyperoctahedral, Hyperoctahedral(d)),
    ]:
        G = make(d)
        some = [g for g in (G.random(rng) for _ in range(d + 20)) if not g.is_identity]
        if some:
            assert sympy_order(some) == G.order
            found = Group(some).structure
            assert found.order == G.order
            assert found == family or d <= 3  # small ones have several names
    assert groups.joined(groups.sign_flips(d), groups.symmetric(d)).order == groups.hyperoctahedral(d).order


def sympy_order(generators):
    """The order of the group on coordinates and their negatives."""
    d = generators[0].size
    images = [[i + d * (s < 0) for i, s in zip(g.image, g.signs, strict=True)] for g in generators]
    both = [Permutation([*image, *((i + d) % (2 * d) for i in image)]) for image in images]
    return PermutationGroup(both).order()


@given(st.integers(2, 8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_a_structure_seen_from_generators_has_the_order_that_sympy_finds(d, seed):
    """Random signed permutations, most of them of proper subgroups: nothing is claimed that is not so."""
    rng = np.random.default_rng(seed)
    some = []
    for _ in range(int(rng.integers(1, 4))):
        image = rng.permutation(d) if rng.random() < 0.6 else np.arange(d)
        signs = 1 - 2 * rng.integers(2, size=d) if rng.random() < 0.6 else np.ones(d, dtype=int)
        some.append(iso.signed_permutation(image.tolist(), signs.tolist()))
    found = Group(some).structure
    assert found is None or found.order == sympy_order(some)
    assert Group(some).order == sympy_order(some)


def test_families_in_a_thousand_coordinates_are_seen_at_once():
    d = 1000
    both = groups.joined(groups.sign_flips(d), groups.symmetric(d))
    start = time.perf_counter()
    assert both.structure == Hyperoctahedral(d)
    assert plain(groups.sign_flips(d)).structure == SignFlips(d)
    assert time.perf_counter() - start < 10  # it takes 1 s; the parity of each generator by swaps took 9 s more


@pytest.mark.parametrize(
    "group, named",
    [
        (Group(groups.symmetric(10).generators), groups.symmetric(10)),
        (Group(groups.alternating(10).generators), groups.alternating(10)),
        (Group(groups.sign_flips(10).generators), groups.sign_flips(10)),
        (groups.joined(groups.sign_flips(10), groups.symmetric(10)), groups.hyperoctahedral(10)),
    ],
)
def test_generators_of_a_family_have_its_closed_form(group, named):
    """Orbits of frequencies on T^10 would take 40 s: 40 functions of S_10."""
    space = sa.Torus(10)
    basis = sa.invariant_basis(space, group, max_invariant_dim=40)
    other = sa.invariant_basis(space, named, max_invariant_dim=40)
    assert {row.solver for row in basis.table} == {"closed form"}
    assert basis.dim == other.dim
    X = space.sample(30, random_state=0)
    F, H = basis.evaluate(X), other.evaluate(X)
    np.testing.assert_allclose(F @ F.T, H @ H.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["symmetric", "alternating", "hyperoctahedral", "sign_flips"])
@pytest.mark.parametrize("space", [sa.Torus(4), sa.Sphere(4)])
def test_closed_forms_of_seen_families_span_what_orbits_span(name, space):
    """The other solvers see only what the generators do."""
    group = Group(getattr(groups, name)(4).generators)
    closed = sa.invariant_basis(space, group, max_invariant_dim=10)
    other = next(solver for solver in ("orbits", "null space") if _applies(space, group, solver))
    by_search = sa.invariant_basis(space, group, max_eigenvalue=closed.table[-1].eigenvalue * 1.000001, solver=other)
    X = space.sample(20, random_state=1)
    F, H = closed.evaluate(X), by_search.evaluate(X)
    np.testing.assert_allclose(F @ F.T, H @ H.T, rtol=1e-11, atol=1e-11)


def _applies(space, group, solver):
    try:
        sa.invariant_basis(space, group, max_eigenvalue=0.0, solver=solver)
    except ValueError:
        return False
    return True


def test_order_of_permutations_in_blocks():
    swap, cycle = groups.symmetric(20).generators
    one = iso.identity(20)
    both = [iso.flatten(iso.factors(parts)) for parts in ([swap, one], [cycle, one], [one, swap], [one, cycle])]
    assert Group(both).order == math.factorial(20) ** 2
    assert Group([iso.flatten(iso.factors([g, g])) for g in (swap, cycle)]).order == math.factorial(20)
    assert plain(groups.sign_flips(60)).order == 2**60


@given(st.lists(st.permutations(range(7)), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_order_agrees_with_sympy(images):
    from sympy.combinatorics import Permutation, PermutationGroup

    expected = PermutationGroup([Permutation(image) for image in images]).order()
    assert Group([iso.permutation(image) for image in images]).order == expected


@given(st.lists(st.lists(st.fractions(0, 1, max_denominator=8), min_size=2, max_size=2), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_order_of_shifts_agrees_with_listing_them(shifts):
    reached = frontier = {(Fraction(0), Fraction(0))}
    while frontier:
        frontier = {((a + s) % 1, (b + t) % 1) for a, b in frontier for s, t in shifts} - reached
        reached = reached | frontier
    group = Group([iso.shift(t) for t in shifts])
    assert group.order == len(reached)
    assert len(set(group.elements())) == len(reached)


def test_order_of_affine_groups():
    half, third = Fraction(1, 2), Fraction(1, 3)
    hexagon = iso.affine([[1, -1], [1, 0]], [0, 0])
    assert Group([hexagon]).order == 6
    assert Group([hexagon, iso.permutation([1, 0])]).order == 12
    assert Group([hexagon, iso.shift([third, 2 * third])]).order == 18
    assert Group([hexagon, iso.shift([third, third])]).order == 54
    assert Group([iso.affine([[-1, 0], [0, 1]], [0, half])]).order == 2  # a glide: its square is a whole period
    assert Group([iso.affine([[-1, 0], [0, 1]], [0, Fraction(1, 4)])]).order == 4
    assert plain(groups.dihedral(10**12)).order == 2 * 10**12
    shifted = [iso.affine(g.matrix.astype(int), [half] + [0] * 7) for g in groups.symmetric(8).generators]
    assert Group(shifted).order == 2**7 * math.factorial(8)  # t and its images: all even sums, and g t


def test_order_of_a_large_group_of_a_lattice_torus():
    """Reflections of E8 in the basis of simple roots: u ↦ u − ⟨α_i, x⟩ e_i, with the Cartan matrix for the products."""
    C = 2 * np.eye(8, dtype=int)
    for i, j in [*((i, i + 1) for i in range(6)), (2, 7)]:
        C[i, j] = C[j, i] = -1
    torus = sa.Torus(lattice=np.linalg.cholesky(C.astype(float)))
    moves = [iso.affine(np.eye(8, dtype=int) - np.outer(np.eye(8, dtype=int)[i], C[i]), [0] * 8) for i in range(8)]
    group = Group(moves)
    assert group.order == 696729600
    g = torus.check_isometry(group.random(0))
    M = g.matrix
    assert np.array_equal(M.T @ C @ M, C)  # exact
    assert Group(moves[:7]).order == math.factorial(8)  # A7
    swapped = Group([moves[0], moves[1], iso.shift([Fraction(1, 2)] + [0] * 7)])
    assert swapped.order == 6 * 4  # half a root and its images: two of the three are independent


@pytest.mark.parametrize("branch, order", [(6, 51840), (7, 2903040), (8, 696729600)])
def test_rotations_of_exceptional_reflection_groups_in_any_orientation(branch, order):
    # In six and eight dimensions rotations have no single axis; all generators but one fix a corner of a polytope.
    gram = np.eye(branch)
    for i, j in [*((i, i + 1) for i in range(branch - 2)), (2, branch - 1)]:
        gram[i, j] = gram[j, i] = -0.5
    roots = np.linalg.cholesky(gram) @ np.linalg.qr(np.random.default_rng(0).normal(size=gram.shape))[0]
    mirrors = [np.eye(branch) - 2 * np.outer(r, r) for r in roots]
    start = time.process_time()
    assert Group([mirrors[0] @ mirror for mirror in mirrors[1:]]).order == order // 2
    assert time.process_time() - start < 5.0  # 0.2 s


def cycles(n, *given):
    image = list(range(n))
    for cycle in given:
        for i, j in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            image[i] = j
    return iso.permutation(image)


M11 = [cycles(11, range(11)), cycles(11, [2, 6, 10, 7], [3, 9, 4, 5])]
M23 = [
    cycles(23, range(23)),
    cycles(23, [2, 16, 9, 6, 8], [3, 12, 13, 18, 4], [7, 17, 10, 11, 22], [14, 19, 21, 20, 15]),
]
TWICE = [iso.flatten(iso.factors([g, g])) for g in M11]  # a representation with each of its summands twice


@pytest.mark.parametrize(
    "generators, order",
    [(M11, 7920), (M23, 10200960), (TWICE, 7920), (groups.alternating(12).generators, math.factorial(12) // 2)],
    ids=["M11", "M23", "M11 twice", "A12"],
)
def test_permutations_in_a_general_orientation(generators, order):
    # Hardly a word has a simple eigenvector ±1, and those that some have are moved by nearly every element.
    d = generators[0].size
    Q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(d, d)))
    group = Group([Q @ g.matrix @ Q.T for g in generators])
    assert group.order == order
    entries = Q.T @ group.random(0).matrix @ Q
    assert np.abs(entries - np.rint(entries)).max() < 1e-13


def test_many_general_matrices_are_refused_soon():
    general = [np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 8)))[0] for seed in range(8)]
    start = time.process_time()
    with pytest.raises(ValueError, match="too large for this search, or infinite"):
        _ = Group(general).order
    assert time.process_time() - start < 20.0  # 2 s


def test_rotations_about_two_axes_are_refused_soon():
    turns = [np.array([[np.cos(1), -np.sin(1), 0], [np.sin(1), np.cos(1), 0], [0, 0, 1]])]
    turns.append(turns[0][np.ix_([2, 0, 1], [2, 0, 1])])
    with pytest.raises(ValueError, match="no fraction of a turn with a denominator up to 30000"):
        _ = Group(turns).order
    prism = groups.point_group("D1001h")  # long orbits, but for the one axis
    assert Group([sa.isometries.orthogonal(g.matrix) for g in prism.generators]).order == prism.order


def test_order_of_factors_copies_and_two_sided_maps_given_plainly():
    tetrahedral, circle = groups.point_group("T"), groups.cyclic(5)
    assert plain(groups.direct_product(tetrahedral, circle)).order == 60
    assert plain(groups.wreath(groups.point_group("D3"), 3)).order == 6**3 * 6
    assert plain(groups.wreath(groups.direct_product(circle, groups.sign_flips(2)), 2)).order == 20**2 * 2
    a, b = (g.matrix for g in groups.point_group("I").generators)
    one = np.eye(3)
    both = Group([iso.left_right(a, one), iso.left_right(b, one), iso.left_right(one, a), iso.left_right(one, b)])
    assert both.order == 3600
    assert Group([iso.left_right(-one, -one)]).order == 1  # X ↦ X
    mirror = np.diag([1.0, 1.0, -1.0])
    assert Group([iso.left_right(mirror, one), iso.left_right(one, mirror)]).order == 4


@pytest.mark.parametrize("turns, order", [(3, 46_080 * 3), (4, 46_080 * 4 // 2)])  # −X is in both factors of the second
def test_order_of_commuting_factors_on_stiefel_manifolds(turns, order):
    """B6 in a general orientation, and rotations of the columns by a part of a turn."""
    Q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    c, s = np.cos(2 * np.pi / turns), np.sin(2 * np.pi / turns)
    lefts = [Q @ g.matrix @ Q.T for g in groups.hyperoctahedral(6).generators]
    generators = [iso.left_right(A, np.eye(2)) for A in lefts] + [iso.left_right(np.eye(6), [[c, -s], [s, c]])]
    assert Group(generators).order == order


def turn(axis, angle=2 * np.pi / 3):
    return Rotation.from_rotvec(angle * np.array(axis)).as_matrix()


A, B, R, ONE = turn([0, 0, 1]), turn([0, 0.6, 0.8]), turn([0.3, 1.1, -0.7], 1), np.eye(3)


@pytest.mark.parametrize(
    "maps",
    [
        [([0, 1], [A, B])],
        [([1, 0], [R, R.T])],
        [([0, 1], [A, ONE]), ([0, 1], [ONE, B])],
        [([1, 0], [R, R.T]), ([0, 1], [A, ONE])],
        [([1, 2, 0], [R, B, B.T @ R.T @ A])],  # three times it turns each copy by a third
    ],
)
def test_copies_may_turn_about_axes_of_their_own(maps):
    """Turns of different copies generate no finite group together; the maps of all copies do."""
    group, m = Group([iso.copies(*g) for g in maps]), len(maps[0][0])
    matrices = [np.zeros((m, 3, m, 3)) for _ in maps]
    for matrix, (image, parts) in zip(matrices, maps, strict=True):
        for i, part in enumerate(parts):
            matrix[i, :, image[i]] = part
    matrices, products = [matrix.reshape(3 * m, -1) for matrix in matrices], [np.eye(3 * m)]
    for product in products:  # grows while it is read
        for moved in (matrix @ product for matrix in matrices):
            if not any(np.allclose(moved, known, atol=1e-9) for known in products):
                products.append(moved)
    assert group.order == len(products)
    space = sa.Power(sa.Sphere(3), m)
    x = space.sample(1, random_state=0).ravel()
    images = np.array([space.act(g, x[None]).ravel() for g in group.elements()])
    distances = np.abs(images[:, None] - np.array(products) @ x).max(axis=2)
    assert (np.sum(distances < 1e-12, axis=0) == 1).all()  # every element once


def test_copies_may_be_permuted_by_a_plain_permutation():
    flip = iso.signed_permutation([0], [-1])
    group = Group([iso.permutation([1, 0]), iso.copies([0, 1], [flip, iso.identity(1)])])
    assert group.order == 8


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, said",
    [
        (-np.eye(3), r"got shape \(3,\).*for one matrix give a list of it: Group\(\[matrix\]\)"),
        ("Oh", r"a name stands in its function, as in sa\.groups\.point_group\(\"Oh\"\)"),
        ([2.0 * np.array([[0, -1.0], [1, 0]])], r"skew-symmetric.* is a field: write Group\(\[\], \[J\]\)"),
        ([np.round(np.eye(4) - 2 * np.full((4, 4), 0.3), 9)], "up to 480 elements; of a larger group give 16 digits"),
    ],
    ids=["no list", "name", "field", "rounded"],
)
def test_what_generates_no_group_is_told_what_to_write(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        Group(given)


def test_entries_of_matrices_may_be_fractions_as_texts():
    mirror = [["1/3", "-2/3", "-2/3"], ["-2/3", "1/3", "-2/3"], ["-2/3", "-2/3", "1/3"]]
    assert Group([mirror]) == Group([[[float(Fraction(text)) for text in row] for row in mirror]])
    assert Group([mirror]).order == 2
    with pytest.raises(TypeError, match="neither an isometry nor a matrix"):
        Group([[["one", "1/0"], ["1/0", "0"]]])


def test_infinite_groups_are_refused():
    with pytest.raises(ValueError, match="no fraction of a turn with a denominator up to 30000"):
        _ = Group([rotation(1.0)]).order
    with pytest.raises(ValueError, match="too little to tell it from rounding"):
        _ = Group([rotation(1e-8)]).order
    with pytest.raises(ValueError, match="a shear"):
        _ = Group([iso.affine([[1, 1], [0, 1]], [0, 0])]).order
    with pytest.raises(ValueError, match=r"such as '1/3' or Fraction\(w\)"):
        _ = Group([iso.shift([1 / 3])]).order


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: Group([]), ValueError, "needs size="),
        (lambda: Group([iso.identity(2), iso.identity(3)]), ValueError, "generator 1"),
        (lambda: Group([iso.identity(2)], size=3), ValueError, "size= says 3"),
        (lambda: Group(iso.identity(2)), TypeError, r"write \[g\]"),
        (lambda: Group([[1, 0, 2]]), ValueError, "isometries.permutation"),
        (lambda: Group(["Oh"]), TypeError, "neither an isometry nor a matrix"),
        (lambda: Group([[[1, 1], [0, 1]]]), ValueError, "not orthogonal"),
        (lambda: groups.symmetric(10).elements(limit=1000), ValueError, "3628800 elements"),
        (lambda: groups.symmetric(1000).elements(), ValueError, r"about 10\^2567 elements"),
        (lambda: Group([rotation(0.1), iso.shift([Fraction(1, 2), 0])]).order, TypeError, "different spaces"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(make, error, words):
    with pytest.raises(error, match=words):
        make()


# --- values ---------------------------------------------------------------------------------------


def test_groups_are_values():
    a, b = groups.symmetric(4), groups.symmetric(4)
    assert a == b
    assert hash(a) == hash(b)
    assert Group(a.generators, "A") == Group(a.generators, "B")
    assert a == plain(a)  # its generators show what it is
    assert groups.wreath(a, 2) != plain(groups.wreath(a, 2))  # nothing is known about the plain one
    assert a != groups.symmetric(5)
    assert a != "symmetric(4)"
    assert copy.deepcopy(a) is a
    assert copy.copy(a) is a
    assert repr(a) == "symmetric(4)"
    assert repr(groups.point_group("Oh")) == "point_group('Oh')"
    assert repr(plain(a)) == "Group(<2 generators of size 4>)"
    assert groups.wreath(a, 2) == groups.wreath(b, 2)


@pytest.mark.parametrize("group", [groups.symmetric(4), groups.point_group("Oh"), plain(groups.cyclic_shifts(4))])
def test_groups_can_be_pickled_after_use(group):
    group.canonical(np.zeros((1, group.columns)))
    assert pickle.loads(pickle.dumps(group)) == group


def test_chains_that_would_fill_the_memory_are_refused():
    with pytest.raises(ValueError, match="acts on 20011 points"):
        _ = Group([rotation(2 * math.pi / 20011)]).order


def test_matrices_are_generators():
    assert Group([[[0, 1], [1, 0]]]).generators == (iso.permutation([1, 0]),)
    assert Group(np.array([rotation(2 * math.pi / 5)])).order == 5


# --- elements and random elements -----------------------------------------------------------------

SMALL = {
    "dihedral shifts": plain(groups.dihedral_shifts(5)),
    "signed permutations": plain(groups.hyperoctahedral(3)),
    "rotations": plain(groups.point_group("D5h")),
    "icosahedral": plain(groups.point_group("I")),
    "a regular polygon": Group([rotation(2 * math.pi / 17)]),
    "affine": Group([iso.affine([[1, -1], [1, 0]], [0, 0]), iso.shift([Fraction(1, 3), Fraction(2, 3)])]),
    "copies": plain(groups.wreath(groups.cyclic(2), 3)),
    "copies of rotations": plain(groups.wreath(groups.point_group("C3"), 2)),
    "factors": plain(groups.direct_product(groups.point_group("C5"), groups.cyclic(4))),
    "two-sided": Group([iso.left_right(g.matrix, np.eye(3)) for g in groups.point_group("D3").generators]),
    "symmetric": groups.symmetric(4),
    "alternating": groups.alternating(4),
    "hyperoctahedral": groups.hyperoctahedral(3),
    "ring": groups.dihedral_shifts(6),
    "circle": groups.dihedral(7),
    "point group": groups.point_group("Td"),
    "product": groups.direct_product(groups.alternating(3), groups.cyclic(4)),
    "wreath": groups.wreath(groups.sign_flips(1), 3),
    "with inversion": Group([*groups.alternating(4).generators, iso.signed_permutation(range(4), [-1] * 4)]),
}
small_groups = pytest.mark.parametrize("group", SMALL.values(), ids=SMALL.keys())


def key(g):
    """What distinguishes an element, rounding aside: it decides whether a signed permutation is known to be one."""
    if isinstance(g, iso.Orthogonal | iso.SignedPermutation):
        return tuple((np.rint(g.matrix * 1e6) + 0.0).ravel())
    if isinstance(g, iso.LeftRight):
        return (key(g.left), key(g.right))
    if isinstance(g, iso.Factors):
        return tuple(map(key, g.parts))
    if isinstance(g, iso.Copies):
        return (g.image, *map(key, g.parts))
    return g


@small_groups
def test_elements_are_all_different_and_closed(group):
    elements = list(group.elements())
    keys = {key(g) for g in elements}
    assert len(elements) == len(keys) == group.order
    assert elements[0].is_identity
    assert all(key(g @ s) in keys for g in elements for s in group.generators)


@small_groups
def test_random_elements_are_uniform(group):
    rng = np.random.default_rng(7)
    counts = Counter(key(group.random(rng)) for _ in range(15 * group.order))
    expected = {key(g) for g in group.elements()}
    assert counts.keys() <= expected
    assert chisquare([counts[k] for k in expected]).pvalue > 1e-3


def test_random_elements_of_large_groups_are_elements():
    from specavg.groups.recognition._actions import SignedAction
    from specavg.groups.recognition._chain import Chain

    generators = mathieu24()
    group, action = Group(generators), SignedAction(24)
    chain = Chain([action.permutation(g) for g in generators], 48)
    rng = np.random.default_rng(0)
    assert all(action.permutation(group.random(rng)) in chain for _ in range(20))
    assert action.permutation(groups.symmetric(24).generators[0]) not in chain
    d = Group([*groups.symmetric(30).generators, iso.signed_permutation(range(30), [-1, -1] + [1] * 28)])
    assert all(math.prod(d.random(rng).signs) == 1 for _ in range(20))


def test_random_rotations_do_not_lose_accuracy():
    group = Group(reflections([*line(7), (2, 7, 3)], 8))
    for seed in range(20):
        R = group.random(seed).matrix
        assert np.abs(R @ R.T - np.eye(8)).max() < 1e-14


def test_random_state_of_every_kind():
    group = groups.symmetric(20)
    assert group.random(3) == group.random(3)
    assert group.random(np.random.RandomState(3)) == group.random(np.random.RandomState(3))
    rng = np.random.default_rng(3)
    assert group.random(rng) != group.random(rng)
    assert group.random().size == 20


def test_elements_are_lazy():
    assert len(list(islice(groups.hyperoctahedral(8).elements(limit=10**8), 5))) == 5


# --- generators too many --------------------------------------------------------------------------


def test_minimal_generators_of_all_elements_make_few_groups(monkeypatch):
    everything = groups.Group(list(groups.point_group("Ih").elements()))
    sizes = []

    def made(generators, **known):
        sizes.append(len(generators))
        return groups.Group(generators, **known)

    monkeypatch.setattr("specavg.groups._minimal_generators.Group", made)
    kept = groups.minimal_generators(everything)
    assert max(sizes) <= 4  # not 119, once for each element
    assert groups.Group(kept).order == 120


@pytest.mark.parametrize(
    "group, count",
    [
        (Group(groups.symmetric(4).elements()), 3),
        (groups.symmetric(100), 2),
        (groups.sign_flips(200), 200),
        (groups.dihedral(10**12), 2),
        (Group([iso.shift([Fraction(1, 2)]), iso.shift([Fraction(1, 6)]), iso.shift([Fraction(1, 3)])]), 1),
        (groups.point_group("Ih"), 2),
        (groups.direct_product(groups.cyclic(10**9), groups.symmetric(4)), 3),
        (groups.wreath(groups.cyclic(10**9), 50), 3),
        (groups.trivial(3), 0),
        (Group([*groups.symmetric(5).generators] * 3), 2),
        (Group([*groups.point_group("D3").generators] * 2), 2),
    ],
    ids=str,
)
def test_minimal_generators_generate_and_none_can_be_dropped(group, count):
    assert len(groups.minimal_generators(group)) == count
    if group.order < 10**4:
        kept = groups.minimal_generators(group)
        assert Group(kept, size=group.size).order == group.order
        for g in kept:
            assert Group([h for h in kept if h is not g], size=group.size).order < group.order


def complex_reflections():
    """G34 of Shephard and Todd on R^12: seven reflections of C^6."""
    one, cube = np.eye(6, dtype=complex), np.exp(2j * np.pi / 3)
    roots = [*(one[i] - one[i + 1] for i in range(5)), one[0] - cube * one[1], one.sum(axis=0)]
    matrices = [one - 2 * np.outer(v, v.conj()) / np.vdot(v, v).real for v in roots]
    return [np.block([[A.real, -A.imag], [A.imag, A.real]]) for A in matrices]


@pytest.mark.parametrize("first", [0, 4])
def test_complex_reflections_are_recognised_in_any_order(first):
    matrices = complex_reflections()
    assert Group([*matrices[first:], *matrices[:first]]).order == 39191040  # one of these orders was an error


def test_one_vector_with_many_images_does_not_end_the_search(monkeypatch):
    """However many generators there are: the cycle has an eigenvector of 252 images, the transposition one of 90."""
    from specavg.groups.recognition import _vectors

    monkeypatch.setattr(_vectors, "LIMITS", (100,))
    monkeypatch.setattr(_vectors, "_IMAGES", 199)
    Q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(10, 10)))
    generators = [cycles(10, range(10)), cycles(10, [0, 1])]
    assert Group([Q @ g.matrix @ Q.T for g in generators]).order == math.factorial(10)


def test_a_group_without_a_chain_still_gives_random_elements():
    """Product replacement, where the generators show no finite group."""
    turn = np.array([[np.cos(1), -np.sin(1), 0], [np.sin(1), np.cos(1), 0], [0, 0, 1.0]])
    G = groups.Group([turn])
    with pytest.raises(ValueError, match="no fraction of a turn"):
        _ = G.order
    g = G.random(0)
    assert g == G.random(0)
    assert np.abs(g([[0.0, 0.0, 1.0]]) - [[0.0, 0.0, 1.0]]).max() < 1e-12
    assert g != G.random(1)


def test_product_replacement_reaches_every_element_about_equally_often():
    """Chi-square over S_4, 23 degrees of freedom, at the one in a thousand level."""
    from specavg.groups._product_replacement import random_product

    S4, rng = groups.symmetric(4), np.random.default_rng(3)
    counts: dict[object, int] = {}
    for _ in range(1200):
        g = random_product(S4.generators, S4.identity, rng)
        counts[g] = counts.get(g, 0) + 1
    assert len(counts) == 24
    assert sum((c - 50) ** 2 / 50 for c in counts.values()) < 49.7


def test_products_drawn_one_after_another_are_as_uniform_and_keep_their_digits():
    from specavg.groups._product_replacement import _DRAWS, random_products

    S4, Q = groups.symmetric(4), np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    turned = [iso.orthogonal(Q @ g.matrix @ Q.T) for g in S4.generators]
    drawn = list(islice(random_products(turned, S4.identity, np.random.default_rng(3)), _DRAWS + 200))
    entries = np.array([Q.T @ g.matrix @ Q for g in drawn])
    assert np.abs(entries - np.rint(entries)).max() < 1e-12  # 1e-14 for the first
    counts = Counter(np.rint(A).astype(int).tobytes() for A in entries)
    assert len(counts) == 24
    assert sum((c - 50) ** 2 / 50 for c in counts.values()) < 49.7  # as above
    followed = Counter(np.rint(A.T @ B).astype(int).tobytes() for A, B in pairwise(entries))
    assert sum((c - 50) ** 2 / 50 for c in followed.values()) < 2 * 49.7  # from one to the next, nearly as uniform


@pytest.mark.parametrize("kind", ["matrices", "factors", "copies", "two-sided"])
def test_product_replacement_keeps_matrices_orthogonal(kind):
    from specavg.groups._product_replacement import random_product

    Q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(11, 11)))
    one = iso.identity(11)
    turned = [iso.orthogonal(Q @ g.matrix @ Q.T) for g in M11]
    generators = {
        "matrices": turned,
        "factors": [iso.factors([g, h]) for g, h in zip(turned, M11, strict=True)],
        "copies": [iso.copies([1, 0], [g, one]) for g in turned],
        "two-sided": [iso.left_right(g.matrix, h.matrix) for g, h in zip(turned, turned[::-1], strict=True)],
    }[kind]
    for seed in range(10):
        g = random_product(generators, generators[0] @ generators[0].inverse(), np.random.default_rng(seed))
        for part in [g.left, g.right] if kind == "two-sided" else getattr(g, "parts", [g]):
            if isinstance(part, iso.Orthogonal):
                assert np.abs(part.matrix.T @ part.matrix - np.eye(11)).max() < 1e-14  # it was up to 8e-12
                entries = Q.T @ part.matrix @ Q
                assert np.abs(entries - np.rint(entries)).max() < 1e-12
            else:
                assert isinstance(part, iso.SignedPermutation)


def turned_by(degrees, digits=None):
    """A rotation about a tilted axis, or the orthogonal matrix nearest to its rounded entries."""
    R = Rotation.from_rotvec(np.deg2rad(degrees) * np.array([0.6, 0.64, 0.48])).as_matrix()
    u, _, vt = np.linalg.svd(R if digits is None else np.round(R, digits))
    return u @ vt


@pytest.mark.parametrize("digits", [2, 4, 6, 7])
@pytest.mark.parametrize("n", [3, 5, 6])
def test_rounded_rotations_are_questioned_where_invariants_are_asked_for(n, digits):
    rounded = turned_by(360 / n, digits)
    for group in (Group([rounded]), Group([iso.orthogonal(np.eye(3)[[1, 2, 0]]), iso.orthogonal(rounded)])):
        with pytest.warns(UserWarning, match=rf"from 1/\d and another angle.*Rotation.from_euler\('z', {360 // n}"):
            sa.invariants.plan(sa.Sphere(3), group, max_eigenvalue=2.0)
        with pytest.raises(ValueError, match=rf"generator turns by .* from 1/{n} and another angle.*'C{n}'"):
            _ = group.order
    exact = sa.invariant_basis(sa.Sphere(3), Group([turned_by(360 / n)]), max_eigenvalue=42.0)
    assert [row.invariant_dim for row in exact.table] == [2 * (k // n) + 1 for k in range(7)]


@pytest.mark.parametrize("degrees", [1e-3, 0.1, 7.0, 51.5, 360 / 7, 720 / 23, 91.0, np.rad2deg(1.0), 119.0])
def test_other_rotations_are_not_questioned(degrees):
    for R in (turned_by(degrees), np.diag([1.0, 1, -1]) @ turned_by(180)):
        sa.invariants.plan(sa.Sphere(3), Group([R, turned_by(120)]), max_eigenvalue=2.0)
    sa.invariants.plan(sa.Power(sa.Sphere(3), 2), Group([iso.copies([1, 0], [turned_by(degrees)] * 2)]), max_dim=7)


@pytest.mark.parametrize("degrees", [120, 90, 22.5, 315])
def test_degrees_that_were_taken_for_radians_are_questioned(degrees):
    group = Group([Rotation.from_euler("z", degrees), Rotation.from_euler("x", 90, degrees=True)])
    with pytest.warns(UserWarning, match=f"turns by {degrees} radians.*degrees=True is missing"):
        sa.invariants.plan(sa.Sphere(3), group, max_eigenvalue=2.0)
    with pytest.raises(ValueError, match=f"A generator turns by {degrees} radians.*degrees=True is missing"):
        _ = group.order


def mirrors(angle, d):
    """Two mirrors of R^d through one axis, at this angle."""
    normals = np.zeros((2, d))
    normals[:, :2] = [[1.0, 0.0], [np.cos(angle), np.sin(angle)]]
    return Group([np.eye(d) - 2 * np.outer(n, n) for n in normals])


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize(
    "angle, near", [(0.33333 * np.pi, "1/3"), (np.radians(60.001), "1/3"), (0.142857 * np.pi, "1/7")]
)
def test_mirrors_at_a_rounded_angle_are_questioned_and_refused_at_once(angle, near, d):
    group = mirrors(angle, d)
    with pytest.warns(UserWarning, match=f"a product of two generators of .* from {near} and another angle"):
        sa.invariants.plan(sa.Sphere(d), group, max_eigenvalue=2.0)
    start = time.process_time()
    with pytest.raises(ValueError, match="infinite"):
        _ = group.order
    assert time.process_time() - start < 1.0  # orbits of 30,000 vectors took 3 to 12 s


@pytest.mark.parametrize("n", [2, 3, 7, 24, 100, 1000])
def test_mirrors_at_a_fraction_of_a_turn_are_not_questioned(n):
    group = mirrors(np.pi / n, 3)
    assert group.order == 2 * n
    sa.invariants.plan(sa.Sphere(3), group, max_eigenvalue=2.0)


def test_the_advice_to_orthonormalise_says_what_it_does_not_mend():
    with pytest.raises(ValueError, match=r"mends lengths, not angles.*point_group\('C3'\)"):
        iso.orthogonal(np.round(turned_by(120), 6))
