"""Representations: homomorphisms, checked; and what vectors and tensors do under each kind of isometry."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.groups import Group, _relations
from specavg.groups._index_symmetry import index_symmetry
from specavg.groups._linear_part import determinant, linear_part
from specavg.groups.recognition import _vectors
from specavg.isometries import fields
from specavg.persistence._values import describe, read

HEXAGONAL = np.array([[3.0, 0.0, 0.0], [-1.5, 1.5 * 3**0.5, 0.0], [0.0, 0.0, 4.7]])
OUTPUTS = ["scalar", "pseudoscalar", "vector", "axial vector", "ij=ji", "ij=-ji", "axial ijk=jik", "ijkl=jikl=klij"]
POINT_GROUPS = ["C1", "Ci", "C2v", "S4", "D3", "C3v", "D6h", "Td", "Oh", "Ih"]


def rotation(seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]


# --- built-in representations ---------------------------------------------------------------------


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", POINT_GROUPS)
def test_built_in_outputs_are_homomorphisms(name, output):
    group = groups.point_group(name)
    rho = groups.representation(group, output)
    assert groups.Representation(group, rho.images, dim=rho.dim) == rho  # refuses what is none


@pytest.mark.parametrize("output", OUTPUTS)
def test_products_of_rotations_go_to_products(output):
    g, h = isometries.orthogonal(rotation(0)), isometries.orthogonal(rotation(1))
    rho = groups.representation(groups.Group([g, h, g @ h]), output)
    a, b, ab = (image.matrix for image in rho.images)
    np.testing.assert_allclose(a @ b, ab, rtol=0, atol=1e-13)
    np.testing.assert_allclose(a @ a.T, np.eye(rho.dim), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_outputs_move_as_products_of_points_do(seed):
    # x is a vector, x × y an axial one, det(x, y, z) a pseudoscalar, xxᵀ a symmetric and xyᵀ − yxᵀ an
    # antisymmetric tensor of the points.
    R = rotation(seed) if seed < 2 else groups.point_group("Oh").random(seed).matrix
    x, y, z = np.random.default_rng(seed).standard_normal((3, 3))
    functions = {
        "vector": lambda x, y, z: x,
        "axial vector": lambda x, y, z: np.cross(x, y),
        "pseudoscalar": lambda x, y, z: np.array([np.linalg.det([x, y, z])]),
        "ij=ji": lambda x, y, z: index_symmetry("ij=ji", 3).components(np.outer(x, x)),
        "ij=-ji": lambda x, y, z: index_symmetry("ij=-ji", 3).components(np.outer(x, y) - np.outer(y, x)),
        "ijk=jki": lambda x, y, z: index_symmetry("ijk=jki", 3).components(
            sum(np.einsum("i,j,k", *v) for v in ((x, y, z), (y, z, x), (z, x, y)))
        ),
        "axial ij=ji": lambda x, y, z: index_symmetry("ij=ji", 3).components(
            np.outer(x, np.cross(y, z)) + np.outer(np.cross(y, z), x)
        ),
    }
    for output, F in functions.items():
        (image,) = groups.representation(groups.Group([R]), output).images
        np.testing.assert_allclose(
            F(R @ x, R @ y, R @ z), image.matrix @ F(x, y, z), rtol=0, atol=1e-13, err_msg=output
        )


@pytest.mark.parametrize("equations", ["ij", "ij=ji", "ij=-ji", "ijk=ikj", "ijk=-jik=jki", "ijkl=jikl=klij", "ijk=jki"])
@pytest.mark.parametrize("size", [3, 4])
def test_components_are_an_orthonormal_chart_of_the_tensors(equations, size):
    symmetry = index_symmetry(equations, size)
    c = np.random.default_rng(0).standard_normal((5, symmetry.dim))
    T = symmetry.tensors(c)
    np.testing.assert_allclose(np.sum(T**2, axis=tuple(range(1, T.ndim))), np.sum(c**2, axis=1))
    np.testing.assert_allclose(symmetry.components(T), c, rtol=0, atol=1e-14)
    first, *others = equations.split("=")
    for word in others:
        sign, letters = (-1, word[1:]) if word[0] == "-" else (1, word)
        # T_ijk = T_jki says: the entry at (i, j, k) is the one at (j, k, i).
        np.testing.assert_array_equal(T, sign * np.einsum(f"n{letters}->n{first}", T))
    # Nothing more: the dimension is the trace of the projector, the mean over the exchanges of sign · d^cycles.
    traces = [s * size ** _cycles(image) for image, s in symmetry.exchanges]
    assert round(float(np.mean(traces))) == symmetry.dim


def test_tensors_that_do_not_obey_the_equations_are_refused():
    T = np.random.default_rng(0).normal(size=(4, 3, 3))
    symmetric = index_symmetry("ij=ji", 3)
    off = np.abs(T - T.swapaxes(1, 2)).max() / 2
    with pytest.raises(ValueError, match=f"the nearest that do differ by {off:.3g}, and the largest"):
        symmetric.components(T)
    S = (T + T.swapaxes(1, 2)) / 2
    np.testing.assert_allclose(symmetric.tensors(symmetric.components(S)), S, rtol=0, atol=1e-15)


def _cycles(image):
    left, count = set(range(len(image))), 0
    while left:
        i, count = min(left), count + 1
        while i in left:
            left.remove(i)
            i = image[i]
    return count


@pytest.mark.parametrize(
    "equations, message",
    [
        ("vektor", "first part"),
        ("abcdefghi", "at most 8"),
        ("ji=ij", "first part"),
        ("ij=jk", "every other part"),
        ("-ij", "no index"),
        ("", "no"),
    ],
)
def test_other_equations_are_refused(equations, message):
    with pytest.raises(ValueError, match=message):
        index_symmetry(equations, 3)


@pytest.mark.parametrize("equations, same", [("abcd", "ijkl"), ("abcd=bacd=cdab", "ijkl=jikl=klij"), ("xyz", "ijk")])
def test_any_successive_letters_name_indices(equations, same):
    assert groups.index_symmetry(equations, 3) == groups.index_symmetry(same, 3)
    assert sa.invariant_tensors(groups.point_group("Td"), equations).dim == (
        sa.invariant_tensors(groups.point_group("Td"), same).dim
    )


def test_equations_that_leave_nothing_are_refused():
    with pytest.raises(ValueError, match="only the zero tensor"):
        index_symmetry("ijk=-jik=-ikj", 2)


def test_unknown_outputs_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no output is called 'vectr'.*'pseudoscalar'"):
        groups.representation(groups.point_group("Oh"), "vectr")


# --- the matrix of an isometry --------------------------------------------------------------------


@pytest.mark.parametrize("matrix", [[[0, -1, 0], [1, -1, 0], [0, 0, 1]], [[1, -1, 0], [1, 0, 0], [0, 0, -1]]])
def test_affine_maps_move_cartesian_vectors(matrix):
    g = isometries.affine(matrix, [Fraction(1, 3), Fraction(2, 3), Fraction(1, 2)])
    space = sa.Torus(lattice=HEXAGONAL)
    space.check_isometry(g)
    R = linear_part(g, HEXAGONAL).matrix
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-14)
    u, v = np.random.default_rng(0).random((2, 3))
    moved = (np.array(matrix) @ u - np.array(matrix) @ v) @ HEXAGONAL
    np.testing.assert_allclose(R @ ((u - v) @ HEXAGONAL), moved, rtol=0, atol=1e-14)
    assert determinant(g) == round(np.linalg.det(R))


@pytest.mark.parametrize("number", [136, 167, 194, 225, 227])
def test_vectors_of_space_groups(number):
    pytest.importorskip("spglib")
    group = groups.space_group(number)
    lattice = HEXAGONAL if 143 <= number <= 194 else np.diag([3.0, 3.0, 3.0 if number > 194 else 4.1])
    for output in ("vector", "axial vector", "ij=ji"):
        rho = groups.representation(group, output, lattice=lattice)
        groups.Representation(group, rho.images)
    assert groups.representation(group, "vector", lattice=lattice).is_exact == (number in (136, 225, 227))


def test_a_lattice_is_asked_for():
    third = groups.Group([isometries.affine([[0, -1], [1, -1]], [0, 0])])
    with pytest.raises(ValueError, match="Give the lattice"):
        groups.representation(third, "vector")
    assert groups.representation(third, "pseudoscalar").is_trivial


@pytest.mark.parametrize("setting", ["155 R", "166 R", "167 R"])
@pytest.mark.parametrize("output", ["vector", "axial vector", "ij=ji", "scalar + vector"])
def test_permutations_of_the_axes_of_a_cell_are_not_taken_for_cartesian_maps(setting, output):
    """Matrices of rhombohedral axes are permutations, which are orthogonal in any case."""
    pytest.importorskip("spglib")
    number, axes = setting.split()
    group = groups.space_group(int(number), axes)
    for acting in (group, groups.diagonal(group, 2)):
        with pytest.raises(ValueError, match=r"exchanges axes .* right angles.* Give the lattice"):
            groups.representation(acting, output)
        assert groups.representation(acting, "pseudoscalar").dim == 1
        lattice = np.ones((3, 3)) + np.eye(3)
        groups.Representation(acting, groups.representation(acting, output, lattice=lattice).images)


def test_an_affine_exchange_of_axes_needs_their_angle():
    glide = groups.Group([isometries.affine([[0, 1], [1, 0]], [Fraction(1, 2), Fraction(1, 2)])])
    with pytest.raises(ValueError, match=r"on a torus without one it is lattice=np.eye\(2\)"):
        groups.representation(glide, "vector")
    assert groups.representation(glide, "vector", lattice=np.eye(2)).images[0] == isometries.permutation([1, 0])


@pytest.mark.parametrize("number", [2, 14, 62, 123, 225])
def test_axes_at_right_angles_where_they_are_exchanged_need_no_lattice(number):
    pytest.importorskip("spglib")
    group = groups.space_group(number)
    side = np.diag([3.0, 3.0 if number > 100 else 4.0, 3.0 if number == 225 else 5.0])
    assert groups.representation(group, "vector") == groups.representation(group, "vector", lattice=side)


def test_shifts_move_no_vector():
    assert groups.representation(groups.cyclic(5), "vector").is_trivial


def test_left_matrices_move_vectors():
    A, B = rotation(0), rotation(1)
    A, B = A * np.linalg.det(A), B * np.linalg.det(B)
    rho = groups.representation(groups.Group([isometries.left_right(A, B)]), "vector")
    np.testing.assert_array_equal(rho.images[0].matrix, A)


def test_copies_that_move_as_one_have_a_vector_and_others_not():
    R, S = isometries.orthogonal(rotation(0)), isometries.orthogonal(rotation(1))
    together = isometries.copies([1, 0, 2], [R, R, R])
    assert linear_part(together) == R
    assert linear_part(isometries.copies([1, 0], [isometries.identity(3)] * 2)).is_identity
    with pytest.raises(ValueError, match="in different ways"):
        linear_part(isometries.copies([1, 0], [R, S]))
    with pytest.raises(ValueError, match="in different ways"):
        linear_part(isometries.factors([R, isometries.identity(2)]))


@pytest.mark.parametrize("seed", range(5))
def test_determinants_of_signed_permutations(seed):
    g = groups.hyperoctahedral(6).random(seed)
    assert determinant(g) == round(np.linalg.det(g.matrix))


# --- the check ------------------------------------------------------------------------------------


def test_images_in_the_wrong_order_are_refused_with_the_relation():
    group = groups.point_group("D6")
    a, b = groups.representation(group, "vector").images
    with pytest.raises(ValueError, match=r"no representation of point_group\('D6'\): the relation .* fails by"):
        groups.Representation(group, [b, a])


def test_a_sign_that_is_no_character_is_refused():
    # S_12 is too large to walk through. Its generators are odd: a sign for only one of them is no character.
    group = groups.symmetric(12)
    assert [determinant(g) for g in group.generators] == [-1, -1]
    assert groups.Representation(group, [[[-1]], [[-1]]]).dim == 1
    with pytest.raises(ValueError, match="no representation"):
        groups.Representation(group, [[[1]], [[-1]]])


@pytest.mark.parametrize("elements", [2, 2_000])
def test_one_generator_conjugated_alone_is_refused(monkeypatch, elements):
    # Without orders, and with a walk of two elements, only the order of the pairs (g, image of g) is left to tell.
    monkeypatch.setattr(_relations, "_ELEMENTS", elements)
    monkeypatch.setattr(_relations, "_check_orders", lambda group, images: None)
    group = groups.alternating(9)
    assert groups.Representation(group, group.generators).dim == 9
    s = isometries.permutation([1, 0, 2, 3, 4, 5, 6, 7, 8])
    first, *others = group.generators
    message = "the pairs" if elements == 2 else "the relation"
    with pytest.raises(ValueError, match=message):
        groups.Representation(group, [s @ first @ s.inverse(), *others])


@pytest.mark.parametrize("pairs", ["found", "not found"])
def test_alternating_groups_in_other_axes_are_representations(monkeypatch, pairs):
    group = groups.alternating(9)
    one, other = (np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 9)))[0] for seed in (2, 3))
    if pairs == "not found":  # no vector has few images: the order of the pairs is not known
        monkeypatch.setattr(_vectors, "LIMITS", (2,))
    turned = [[Q @ g.matrix @ Q.T for g in group.generators] for Q in (one, other)]
    assert groups.Representation(group, turned[0]).dim == 9
    assert groups.Representation(Group(turned[0]), group.generators).dim == 9
    # Each image by itself is conjugate to its generator; together they generate an infinite group.
    monkeypatch.setattr(_relations, "_check_orders", lambda group, images: None)
    monkeypatch.setattr(_relations, "_ELEMENTS", 2)
    with pytest.raises(ValueError, match=r"the relation \(g.* = 1 fails by"):
        groups.Representation(group, [turned[0][0], turned[1][1]])


def test_relations_of_unrecognised_generators_are_those_that_their_angles_show():
    # Two mirrors at 60° and a third at an angle that is no fraction of a turn: an infinite group, with (g0 g1)^3 = 1.
    roots = [[1.0, 0, 0], [0.5, 0.75**0.5, 0], [np.cos(1), 0, np.sin(1)]]
    group = Group([np.eye(3) - 2 * np.outer(v, v) for v in roots])
    with pytest.raises(ValueError, match="too large for this search, or infinite"):
        _ = group.order
    for signs in ([-1, -1, -1], [-1, -1, 1], [1, 1, -1]):
        assert groups.Representation(group, [[[float(sign)]] for sign in signs]).dim == 1
    with pytest.raises(ValueError, match=r"the relation \(g0 g1\)\^3 = 1 fails by 2"):
        groups.Representation(group, [[[-1.0]], [[1.0]], [[1.0]]])
    assert groups.Representation(group, group.generators).dim == 3
    paired = Group([isometries.factors([g, g]) for g in group.generators])
    with pytest.raises(ValueError, match=r"the relation \(g0 g1\)\^3 = 1 fails by 2"):
        groups.Representation(paired, [[[-1.0]], [[1.0]], [[1.0]]])


@pytest.mark.parametrize("products", [0, 500])
def test_words_of_unrecognised_generators_have_orders_that_images_must_have(monkeypatch, products):
    monkeypatch.setattr(_relations, "_PRODUCTS", products)  # without products of two, random words are left
    monkeypatch.setattr(_vectors, "LIMITS", (2,))  # no vector has few images: nothing else is known
    group = groups.alternating(9)
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(9, 9)))[0]
    turned = Group([Q @ g.matrix @ Q.T for g in group.generators])
    s = isometries.permutation([1, 0, 2, 3, 4, 5, 6, 7, 8])
    first, *others = group.generators
    assert groups.Representation(turned, group.generators).dim == 9
    with pytest.raises(ValueError, match=r"the relation \(g.* = 1 fails by"):
        groups.Representation(turned, [s @ first @ s.inverse(), *others])


def test_orders_of_exact_shifts_are_checked_whatever_they_are():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert groups.Representation(groups.cyclic(4 * 10**12), [turn]).dim == 2
    for fraction in (Fraction(1, 7), Fraction(3, 7), Fraction(2, 49)):  # rotations, which round
        seventh = [fields.rotation([[0, -1], [1, 0]]).flow(2 * np.pi * float(fraction))]
        for power in (1, 5, 8, 12, 20):
            order = fraction.denominator * 10**power
            assert groups.Representation(groups.cyclic(order), seventh).dim == 2
            with pytest.raises(ValueError, match=f"g0\\^{order // 7} = 1 fails by"):
                groups.Representation(groups.cyclic(order // 7), seventh)
    part = [fields.rotation([[0, -1], [1, 0]]).flow(2 * np.pi * 142857142857e-12)]  # nearly a seventh
    assert groups.Representation(groups.cyclic(10**12), part).dim == 2
    with pytest.raises(ValueError, match="fails by"):
        groups.Representation(groups.cyclic(7 * 10**11), part)
    with pytest.raises(ValueError, match=r"g0\^4000000000001 = 1 fails"):
        groups.Representation(groups.cyclic(4 * 10**12 + 1), [turn])


@pytest.mark.parametrize(
    "images, message",
    [
        ([], "1 generators and 0 fields; got 0 images"),
        ([[[2.0]]], "image 0 is no orthogonal matrix"),
        ([isometries.shift([Fraction(1, 3)])], "image 0 is shift"),
        ([[[np.nan]]], "image 0 is no orthogonal matrix"),
    ],
)
def test_what_is_no_image_is_refused(images, message):
    with pytest.raises(ValueError, match=message):
        groups.Representation(groups.cyclic(3), images)


def test_field_images_must_match_the_fields():
    with pytest.raises(ValueError, match="0 fields; got 1 images and 1 field_images"):
        groups.Representation(groups.cyclic(3), [np.eye(2)], [np.zeros((2, 2))])


# --- algebra and values ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Td", "C6v"])
def test_sums_and_products(name):
    group = groups.point_group(name)
    v, a = groups.representation(group, "vector"), groups.representation(group, "axial vector")
    both, product = v + a, v * a
    assert (both.dim, product.dim) == (6, 9)
    for i, (x, y) in enumerate(zip(v.images, a.images, strict=True)):
        expected = np.block([[x.matrix, np.zeros((3, 3))], [np.zeros((3, 3)), y.matrix]])
        np.testing.assert_array_equal(both.images[i].matrix, expected)
        np.testing.assert_allclose(product.images[i].matrix, np.kron(x.matrix, y.matrix), rtol=0, atol=1e-15)
    assert both.is_exact == product.is_exact == (name == "Td")
    groups.Representation(group, product.images)


def test_only_representations_of_one_group_combine():
    v, w = (groups.representation(groups.point_group(name), "vector") for name in ("Td", "Th"))
    with pytest.raises(ValueError, match="only representations of one group"):
        v + w


def test_elements_come_with_their_images():
    rho = groups.representation(groups.point_group("Th"), "axial vector")
    found = list(rho.elements())
    assert len({g for g, _ in found}) == 24
    for g, image in [*found, rho.random(0), rho.random(1)]:
        np.testing.assert_array_equal(image.matrix, determinant(g) * g.matrix)
    with pytest.raises(ValueError, match="more than the limit"):
        groups.representation(groups.symmetric(20), "vector").elements()


def test_values():
    group = groups.point_group("Oh")
    rho = groups.representation(group, "vector")
    same = groups.Representation(group, [g.matrix for g in group.generators])
    assert rho == same
    assert hash(rho) == hash(same)
    assert rho != groups.representation(group, "axial vector")
    assert copy.deepcopy(rho) is rho
    assert pickle.loads(pickle.dumps(rho)) == rho
    assert groups.representation(group, rho) is rho
    with pytest.raises(ValueError, match="the group here is"):
        groups.representation(groups.point_group("Td"), rho)


# --- fields ---------------------------------------------------------------------------------------

J = np.array([[0.0, -1.0], [1.0, 0.0]])


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", ["C∞", "C∞v", "D∞h", "K", "Kh"])
def test_field_images_are_the_velocities_of_the_images(name, output):
    group = groups.point_group(name)
    rho = groups.representation(group, output)
    assert groups.Representation(group, rho.images, rho.field_images) == rho  # refuses what is none
    for field, velocity in zip(group.fields, rho.field_images, strict=True):
        (image,) = groups.representation(groups.Group([field.flow(0.7)]), output).images
        np.testing.assert_allclose(velocity.flow(0.7).matrix, image.matrix, rtol=0, atol=1e-13)


def test_copies_that_turn_as_one_have_a_vector():
    turning = groups.diagonal(groups.special_orthogonal(3), 2)
    vector = groups.representation(groups.special_orthogonal(3), "vector")
    assert groups.representation(turning, "vector").field_images == vector.field_images
    apart = groups.Group(fields=[fields.copies([fields.rotation(J), None])])
    with pytest.raises(ValueError, match="in different ways"):
        groups.representation(apart, "vector")


def test_images_of_fields_without_the_brackets_are_refused():
    group = groups.Group(fields=groups.special_orthogonal(3).algebra.fields)
    vector = [velocity.matrix for velocity in groups.representation(group, "vector").field_images]
    assert groups.Representation(group, [], vector).dim == 3
    with pytest.raises(ValueError, match=r"generate 3 dimensions under brackets, and the pairs .* 6"):
        groups.Representation(group, [], [-A for A in vector])
    two = groups.Group(fields=group.fields[:2])  # what is missing follows from brackets
    with pytest.raises(ValueError, match="the bracket of the images"):
        groups.Representation(two, [], [vector[0], vector[0]])


def test_half_a_turn_of_the_outputs_for_a_whole_one_is_refused():
    circle = groups.point_group("C∞")
    assert groups.Representation(circle, [], [3 * J]).dim == 2
    with pytest.raises(ValueError, match=r"exp\(6.28319 · field 0\) = 1 fails by 2"):
        groups.Representation(circle, [], [J / 2])


def test_generators_must_move_the_images_of_fields_as_they_move_the_fields():
    # The mirror of C∞v inverts the rotation, and so must its image: a reflection does, the identity does not.
    group = groups.point_group("C∞v")
    assert groups.Representation(group, [np.diag([1.0, -1.0])], [J]).dim == 2
    with pytest.raises(ValueError, match="the bracket of the images"):
        groups.Representation(group, [np.eye(2)], [J])


@pytest.mark.parametrize("group", [groups.point_group("Td"), groups.point_group("C∞v"), groups.trivial(3)], ids=repr)
def test_representations_are_described_and_read(group):
    rho = groups.representation(group, "ij=ji")
    assert rho.dim == 6
    assert read(describe(rho), groups.Representation, "output") == rho


@pytest.mark.parametrize("text", ["vector + scalar + ij=+ji", "vector+scalar+ij=+ji", "vector  +scalar+ ij=ji"])
def test_sums_of_outputs_need_no_spaces(text):
    group = groups.point_group("Oh")
    parts = [groups.representation(group, part) for part in ("vector", "scalar", "ij=ji")]
    assert groups.representation(group, text) == parts[0] + parts[1] + parts[2]


def test_without_generators_the_number_of_outputs_is_asked_for():
    with pytest.raises(ValueError, match="needs dim="):
        groups.Representation(groups.trivial(3), [])
    assert groups.Representation(groups.trivial(3), [], dim=4).is_trivial


def test_tangent_vectors_move_as_points_do():
    group = groups.point_group("D3d")
    rho = groups.representation(group, "tangent vector")
    assert rho.tangent
    assert rho != groups.representation(group, "vector")
    assert groups.Representation(group, rho.images, tangent=True) == rho
    axial = groups.representation(group, "axial tangent vector")
    assert [g.signs[::-1] for g in axial.of_coefficients.images] == [g.signs for g in rho.of_coefficients.images]
    with pytest.raises(ValueError, match="image 0 does not move vectors as points"):
        groups.Representation(group, [np.eye(3) for _ in group.generators], tangent=True)
    for refused in (lambda: rho + rho, lambda: rho * rho, lambda: rho.on_tensors("ij=ji"), lambda: rho.restricted([0])):
        with pytest.raises(ValueError, match="tangent vectors are no fixed space"):
            refused()
    with pytest.raises(ValueError, match="three components"):
        groups.representation(groups.symmetric(4), "tangent vector")


@pytest.mark.parametrize("name", ["D4h", "Ih", "C∞v", "K", "C3v"])
def test_outputs_that_are_mixed_with_others_are_no_representation(name):
    whole = groups.representation(groups.point_group(name), "vector")
    along = np.eye(3)[:, :1]
    with pytest.raises(ValueError, match=r"outputs \[0\] are mixed with output [12] by (generator|field) \d"):
        whole.restricted([0])
    with pytest.raises(ValueError, match=r"(generator|field) \d leaves the span of the frame"):
        whole.in_frame(along)
    assert whole.restricted([2, 0, 1]).dim == whole.in_frame(np.eye(3)).dim == 3


def test_two_of_four_outputs_of_a_rotation_group_are_no_representation():
    whole = groups.representation(groups.special_orthogonal(4), "vector")
    with pytest.raises(ValueError, match=r"outputs \[0, 1\] are mixed with output [23] by field"):
        whole.restricted([0, 1])
    slow = fields.rotation([[0.0, 1e-12], [-1e-12, 0.0]])  # how fast a field flows changes nothing
    with pytest.raises(ValueError, match="mixed"):
        groups.representation(groups.Group([], [slow]), "vector").restricted([0])


def test_what_is_restricted_is_a_representation_again():
    group = groups.point_group("C∞v")
    whole = groups.representation(group, "vector")
    part = whole.restricted([1, 0])
    assert groups.Representation(group, part.images, part.field_images) == part
    assert part == whole.in_frame(np.eye(3)[:, [1, 0]])
    assert whole.restricted([2]).is_trivial


def test_outputs_that_there_are_not():
    rho = groups.representation(groups.point_group("D4h"), "vector")
    for outputs in ([7], [2, 2]):
        with pytest.raises(ValueError, match="outputs are 0 to 2, each at most once"):
            rho.restricted(outputs)
    with pytest.raises(ValueError, match="orthonormal columns of 3 numbers"):
        rho.in_frame(np.ones((3, 1)))


@pytest.mark.parametrize("other", [2, "scalar", None])
def test_only_representations_are_added_and_multiplied(other):
    rho = groups.representation(groups.point_group("D4h"), "vector")
    for combine in (lambda: rho * other, lambda: rho + other):
        with pytest.raises(TypeError, match=r"unsupported operand|can.t multiply"):
            combine()


def test_the_minus_of_printed_pages_is_a_minus():
    assert groups.index_symmetry("ij=\N{MINUS SIGN}ji", 3) == groups.index_symmetry("ij=-ji", 3)


def test_random_elements_and_their_images_keep_their_digits():
    for output in ("ij=-ji", "pseudoscalar"):
        rho = groups.representation(groups.point_group("Ih"), output)
        listed = [(g.matrix, image.matrix) for g, image in rho.elements()]
        drawn = [rho.random(seed) for seed in range(20)]
        for g, image in drawn:
            for R in (g.matrix, image.matrix):
                assert np.abs(R.T @ R - np.eye(len(R))).max() < 1e-14
            nearest = min(listed, key=lambda pair: np.abs(pair[0] - g.matrix).max())
            np.testing.assert_allclose(nearest[0], g.matrix, atol=1e-13)
            np.testing.assert_allclose(nearest[1], image.matrix, atol=1e-13)
        assert len({np.round(g.matrix, 6).tobytes() for g, _ in drawn}) > 12
