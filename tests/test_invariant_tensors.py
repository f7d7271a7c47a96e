"""Invariant tensors: counts of all crystal classes, invariance, names, and what the entries determine."""

import itertools
import tracemalloc
from collections import Counter

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries

ELASTIC, PIEZO, DIELECTRIC = "ijkl=jikl=klij", "ijk=ikj", "ij=ji"

# class: independent elastic, piezoelectric and dielectric constants (Nye, Physical Properties of Crystals)
TEXTBOOK = {
    "1": (21, 18, 6),
    "-1": (21, 0, 6),
    "2": (13, 8, 4),
    "m": (13, 10, 4),
    "2/m": (13, 0, 4),
    "222": (9, 3, 3),
    "mm2": (9, 5, 3),
    "mmm": (9, 0, 3),
    "4": (7, 4, 2),
    "-4": (7, 4, 2),
    "4/m": (7, 0, 2),
    "422": (6, 1, 2),
    "4mm": (6, 3, 2),
    "-42m": (6, 2, 2),
    "4/mmm": (6, 0, 2),
    "3": (7, 6, 2),
    "-3": (7, 0, 2),
    "32": (6, 2, 2),
    "3m": (6, 4, 2),
    "-3m": (6, 0, 2),
    "6": (5, 4, 2),
    "-6": (5, 2, 2),
    "6/m": (5, 0, 2),
    "622": (5, 1, 2),
    "6mm": (5, 3, 2),
    "-62m": (5, 1, 2),
    "6/mmm": (5, 0, 2),
    "23": (3, 1, 1),
    "m-3": (3, 0, 1),
    "432": (3, 0, 1),
    "-43m": (3, 1, 1),
    "m-3m": (3, 0, 1),
}


def exchanges_of(equations):
    """The group of signed exchanges of the indices, by closure."""
    first, *words = equations.split("=")
    found = {(tuple(range(len(first))), 1)}
    for _ in range(720):
        more = {
            (tuple(a[first.index(letter)] for letter in word.lstrip("-")), -s if word[0] == "-" else s)
            for a, s in found
            for word in words
        }
        if more <= found:
            return found
        found |= more
    raise AssertionError


def mean_character(group, equations, axial=False):
    """The mean over the group of (1/|K|) Σ_k sign(k) ∏ over the cycles of k of tr(g^length)."""
    exchanges = exchanges_of(equations)
    total = 0.0
    for g in group.elements():
        R = g.matrix
        traces = {length: np.trace(np.linalg.matrix_power(R, length)) for length in range(1, 9)}
        character = 0.0
        for image, sign in exchanges:
            left, product = set(range(len(image))), float(sign)
            while left:
                i, length = min(left), 0
                while i in left:
                    left.remove(i)
                    i, length = image[i], length + 1
                product *= traces[length]
            character += product / len(exchanges)
        total += character * (np.sign(np.linalg.det(R)) if axial else 1)
    return total / group.order


def moved(T, R):
    for axis in range(1, T.ndim):
        T = np.moveaxis(np.tensordot(T, R, axes=(axis, 1)), -1, axis)
    return T


@pytest.mark.parametrize("name", TEXTBOOK)
def test_the_counts_of_the_crystal_classes(name):
    group = groups.point_group(name)
    for equations, count in zip((ELASTIC, PIEZO, DIELECTRIC), TEXTBOOK[name], strict=True):
        found = sa.invariant_tensors(group, equations)
        assert mean_character(group, equations) == pytest.approx(count, abs=1e-9)
        assert found.dim == len(found.names) == count


@pytest.mark.parametrize("name", ["-1", "C2v", "D4h", "C3v", "D6h", "Td", "Ih", "C5v", "D8h"])
@pytest.mark.parametrize(
    "equations", [DIELECTRIC, "ij=-ji", PIEZO, "ijk=-jik", "axial ij", "axial ijk=jik", ELASTIC, "ijkl", "ijklm=ijkml"]
)
def test_tensors_are_invariant_orthonormal_and_all(name, equations):
    group = groups.point_group(name)
    found = sa.invariant_tensors(group, equations)
    axial = equations.startswith("axial ")
    assert found.dim == round(mean_character(group, equations.removeprefix("axial "), axial))
    T = np.asarray(found)
    flat = T.reshape(len(T), 3 ** (T.ndim - 1))
    np.testing.assert_allclose(flat @ flat.T, np.eye(len(T)), rtol=0, atol=1e-13)
    for g in group.generators:
        sign = np.sign(np.linalg.det(g.matrix)) if axial else 1
        np.testing.assert_allclose(sign * moved(T, g.matrix), T, rtol=0, atol=1e-13)
    for word in equations.removeprefix("axial ").split("=")[1:]:
        letters = word.lstrip("-")
        first = equations.removeprefix("axial ").split("=")[0]
        sign = -1 if word[0] == "-" else 1
        np.testing.assert_array_equal(T, sign * np.einsum(f"n{letters}->n{first}", T))


@pytest.mark.parametrize("equations, counts", [("ijklmn", (31, 72)), ("ijklmn=jiklmn=klijmn=klmnij", (6, 10))])
def test_rank_six(equations, counts):
    for name, count, solver in zip(("m-3m", "6/mmm"), counts, ("orbits", "null space"), strict=True):
        group = groups.point_group(name)
        found = sa.invariant_tensors(group, equations)
        assert (found.dim, found.solver) == (count, solver)
        assert mean_character(group, equations) == pytest.approx(count)
        for g in group.generators:
            np.testing.assert_allclose(moved(found.tensors, g.matrix), found.tensors, rtol=0, atol=3e-13)


@pytest.mark.parametrize(
    "name, equations, names",
    [
        ("m-3m", ELASTIC, "C11 C12 C44"),
        ("6/mmm", ELASTIC, "C11 C12 C13 C33 C44"),
        ("32", ELASTIC, "C11 C12 C13 C14 C33 C44"),
        ("4/m", ELASTIC, "C11 C12 C13 C16 C33 C44 C66"),
        ("2/m", ELASTIC, "C11 C12 C13 C16 C22 C23 C26 C33 C36 C44 C45 C55 C66"),
        ("3m", PIEZO, "e15 e22 e31 e33"),
        ("32", PIEZO, "e11 e14"),
        ("4mm", PIEZO, "e15 e31 e33"),
        ("-43m", PIEZO, "e14"),
        ("-4", PIEZO, "e14 e15 e31 e36"),
        ("2", DIELECTRIC, "eps11 eps12 eps22 eps33"),
        ("6mm", "vector", "T3"),
        ("m-3m", "ijklmn=jiklmn=klijmn=klmnij", "C111 C112 C123 C144 C155 C456"),
        ("6mm", "ijklmn=jiklmn=klijmn=klmnij", "C111 C112 C113 C123 C133 C144 C155 C222 C333 C344"),
    ],
)
def test_independent_entries_are_those_of_textbooks(name, equations, names):
    assert sa.invariant_tensors(groups.point_group(name), equations).names == tuple(names.split())


def test_entries_determine_the_tensor():
    # Hexagonal: C66 = (C11 − C12)/2; isotropic: C44 = (C11 − C12)/2 too.
    hexagonal = sa.invariant_tensors(groups.point_group("6/mmm"), ELASTIC)
    C = hexagonal.tensor(C11=165.0, C12=31.0, C13=50.0, C33=62.0, C44=40.0)
    np.testing.assert_allclose(
        [C[0, 0, 0, 0], C[1, 1, 1, 1], C[0, 0, 1, 1], C[2, 2, 0, 0], C[1, 2, 1, 2], C[0, 2, 2, 0], C[0, 1, 0, 1]],
        [165.0, 165.0, 31.0, 50.0, 40.0, 40.0, 67.0],
        rtol=1e-13,
    )
    icosahedral = sa.invariant_tensors(groups.point_group("Ih"), ELASTIC)
    C = icosahedral.tensor(C11=3.0, C12=1.0)
    np.testing.assert_allclose([C[0, 1, 0, 1], C[2, 2, 2, 2], C[1, 1, 2, 2]], [1.0, 3.0, 1.0], rtol=1e-13)
    with pytest.raises(ValueError, match="give each of the independent entries C11, C12; got C11"):
        icosahedral.tensor(C11=3.0)


def test_entries_of_signed_permutations_are_exact():
    cubic = sa.invariant_tensors(groups.point_group("m-3m"), ELASTIC)
    assert cubic.solver == "orbits"
    C = cubic.tensor(C11=168.4, C12=121.4, C44=75.4)
    assert C[2, 2, 2, 2] == 168.4
    assert C[1, 1, 2, 2] == 121.4
    assert C[2, 0, 0, 2] == 75.4
    assert C[0, 0, 0, 1] == 0.0


def test_a_space_group_has_the_tensors_of_its_point_group():
    pytest.importorskip("spglib")
    hexagonal = np.array([[3.0, 0.0, 0.0], [-1.5, 1.5 * 3**0.5, 0.0], [0.0, 0.0, 4.7]])
    crystal = sa.invariant_tensors(groups.space_group(194), ELASTIC, lattice=hexagonal)  # P6_3/mmc
    point = sa.invariant_tensors(groups.point_group("6/mmm"), ELASTIC)
    np.testing.assert_allclose(
        np.tensordot(crystal.tensors, crystal.tensors, axes=(0, 0)),
        np.tensordot(point.tensors, point.tensors, axes=(0, 0)),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("n", [3, 5, 12])
def test_tensors_of_the_symmetric_group_are_the_set_partitions(n):
    # Rank 4 under S_n: one for each partition of the four indices into at most n classes (15; 14 for n = 3).
    found = sa.invariant_tensors(groups.symmetric(n), "ijkl")
    assert found.dim == (14 if n == 3 else 15)
    assert found.solver == "orbits"


def test_no_symmetry_leaves_everything():
    assert sa.invariant_tensors(groups.trivial(4), "ij=ji").dim == 10


def test_a_rotation_about_a_general_axis():
    # C5 about any axis n has the dielectric tensors 1 and nnᵀ.
    n = np.array([2.0, -1.0, 0.5])
    n /= np.linalg.norm(n)
    cross = np.cross(np.eye(3), n).T
    angle = 2 * np.pi / 5
    R = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    found = sa.invariant_tensors(groups.Group([isometries.orthogonal(R)]), DIELECTRIC)
    for T in (np.eye(3), np.outer(n, n)):
        np.testing.assert_allclose(
            np.tensordot(np.tensordot(found.tensors, T, 2), found.tensors, 1), T, rtol=0, atol=1e-14
        )
    assert found.dim == 2


def test_numbers_have_no_indices():
    with pytest.raises(ValueError, match="'pseudoscalar' has no indices"):
        sa.invariant_tensors(groups.point_group("Oh"), "pseudoscalar")


@pytest.mark.parametrize("name, allowed", [("D3", 1), ("C3v", 0)])
def test_refused_numbers_are_told_by_determinants(name, allowed):
    group = groups.point_group(name)
    with pytest.raises(ValueError, match="without elements of determinant −1 a pseudoscalar"):
        sa.invariant_tensors(group, "pseudoscalar")
    assert all(np.linalg.det(g.matrix) > 0 for g in group.elements()) == allowed
    volume = sa.invariant_tensors(group, "axial ijk=-jik=-ikj").dim  # ε_ijk times a number: it moves with det² = 1
    assert volume == 1
    assert sa.invariant_tensors(group, "ijk=-jik=-ikj").dim == allowed  # and without det as a pseudoscalar does


@pytest.mark.parametrize(
    "name, elastic, piezo, dielectric",
    [("C∞", 5, 4, 2), ("C∞v", 5, 3, 2), ("C∞h", 5, 0, 2), ("D∞", 5, 1, 2), ("D∞h", 5, 0, 2), ("K", 2, 0, 1)],
)
def test_continuous_point_groups(name, elastic, piezo, dielectric):
    # What C∞ leaves of a tensor of rank r, C_n leaves for every n > r.
    group = groups.point_group(name)
    for equations, count in ((ELASTIC, elastic), (PIEZO, piezo), (DIELECTRIC, dielectric)):
        found = sa.invariant_tensors(group, equations)
        assert found.dim == count
        if name != "K":
            finite = sa.invariant_tensors(groups.point_group(name.replace("∞", "8")), equations)
            assert found.names == finite.names
            projectors = [np.tensordot(b.tensors, b.tensors, axes=(0, 0)) for b in (found, finite)]
            np.testing.assert_allclose(*projectors, rtol=0, atol=1e-13)


def test_the_sign_of_a_volume_survives_rotations_and_not_reflections():
    # The Levi-Civita tensor is invariant under SO(3); under O(3) it is an axial one.
    symbol = np.zeros((3, 3, 3))
    symbol[[0, 1, 2], [1, 2, 0], [2, 0, 1]], symbol[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = 1.0, -1.0
    found = sa.invariant_tensors(groups.special_orthogonal(3), "ijk")
    np.testing.assert_allclose(np.abs(np.tensordot(found.tensors, symbol, 3)), [6**0.5], rtol=1e-13)
    assert sa.invariant_tensors(groups.orthogonal(3), "ijk").dim == 0
    assert sa.invariant_tensors(groups.orthogonal(3), "axial ijk").dim == 1


@pytest.mark.parametrize("given", [None, 5, ["ij"]], ids=str)
def test_what_are_no_index_symmetries_is_refused(given):
    with pytest.raises(TypeError, match="output must be a text such as 'vector' or 'ij=ji'"):
        sa.invariant_tensors(groups.point_group("Oh"), given)
    with pytest.raises(TypeError, match="output must be a text such as 'vector' or 'ij=ji'"):
        sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), given, max_dim=9)


def test_wrong_index_symmetries_are_told_what_is_wrong_first():
    with pytest.raises(ValueError, match=r"^'ij=kl' are no index symmetries: .*the same letters exchanged"):
        sa.invariant_tensors(groups.point_group("Oh"), "ij=kl")


def test_tensors_of_what_is_no_group_are_refused():
    with pytest.raises(TypeError, match="group must be a specavg Group"):
        sa.invariant_tensors(list(groups.point_group("Oh").generators), "ij=ji")


@pytest.mark.parametrize(
    "group, dim", [(groups.special_orthogonal(4), 1), (groups.orthogonal(4), 0), (groups.trivial(7), 35)]
)
def test_alternating_tensors_of_rank_four_need_four_dimensions(group, dim):
    """The volume form of R⁴, and the C(7, 4) alternating tensors of R⁷: three dimensions have none."""
    alternating = "ijkl=-jikl=-ikjl=-ijlk"
    assert sa.invariant_tensors(group, alternating).dim == dim
    with pytest.raises(ValueError, match=r"only the zero tensor obeys .* in 3 dimensions"):
        sa.invariant_tensors(groups.special_orthogonal(3), alternating)


def test_the_volume_form_is_a_constant_equivariant_function():
    found = sa.equivariant_basis(sa.Sphere(4), groups.special_orthogonal(4), "ijkl=-jikl=-ikjl=-ijlk", max_eigenvalue=3)
    assert (found.dim, found.n_constants) == (1, 1)


C11, C12, C13, C14, C15, C16, C33, C44, C66 = 11.0, 1.2, 1.3, 1.4, 1.5, 1.6, 33.0, 44.0, 66.0
X6 = (C11 - C12) / 2
# Nye, Physical Properties of Crystals, table 9 and appendix E: the upper triangles of stiffnesses, row by row.
STIFFNESSES = {
    "m-3m": [C11, C12, C12, 0, 0, 0, C11, C12, 0, 0, 0, C11, 0, 0, 0, C44, 0, 0, C44, 0, C44],
    "6/m": [C11, C12, C13, 0, 0, 0, C11, C13, 0, 0, 0, C33, 0, 0, 0, C44, 0, 0, C44, 0, X6],
    "3m": [C11, C12, C13, C14, 0, 0, C11, C13, -C14, 0, 0, C33, 0, 0, 0, C44, 0, 0, C44, C14, X6],
    "-3": [C11, C12, C13, C14, C15, 0, C11, C13, -C14, -C15, 0, C33, 0, 0, 0, C44, 0, -C15, C44, C14, X6],
    "4/mmm": [C11, C12, C13, 0, 0, 0, C11, C13, 0, 0, 0, C33, 0, 0, 0, C44, 0, 0, C44, 0, C66],
    "4/m": [C11, C12, C13, 0, 0, C16, C11, C13, 0, 0, -C16, C33, 0, 0, 0, C44, 0, 0, C44, 0, C66],
}


@pytest.mark.parametrize("name", STIFFNESSES)
def test_stiffnesses_in_voigt_form_are_those_of_textbooks(name):
    elastic = sa.invariant_tensors(groups.point_group(name), "ijkl=jikl=klij")
    numbers = {
        "C11": C11, "C12": C12, "C13": C13, "C14": C14, "C15": C15, "C16": C16, "C33": C33, "C44": C44, "C66": C66
    }  # fmt: skip
    found = elastic.voigt(**{each: numbers[each] for each in elastic.names})
    wanted = np.zeros((6, 6))
    wanted[np.triu_indices(6)] = STIFFNESSES[name]
    np.testing.assert_allclose(found, wanted + np.triu(wanted, 1).T, atol=1e-12)


@pytest.mark.parametrize(
    "name, names, wanted",
    [
        ("-43m", "e14", [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]),
        ("6mm", "e15 e31 e33", [[0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], [2, 2, 3, 0, 0, 0]]),
        ("3m", "e15 e22 e31 e33", [[0, 0, 0, 0, 1, -2], [-2, 2, 0, 1, 0, 0], [3, 3, 4, 0, 0, 0]]),
        ("32", "e11 e14", [[1, -1, 0, 2, 0, 0], [0, 0, 0, 0, -2, -1], [0, 0, 0, 0, 0, 0]]),
    ],
)
def test_piezoelectric_constants_in_voigt_form_are_those_of_textbooks(name, names, wanted):
    piezoelectric = sa.invariant_tensors(groups.point_group(name), "ijk=ikj")
    assert piezoelectric.names == tuple(names.split())
    found = piezoelectric.voigt(**{each: i + 1.0 for i, each in enumerate(piezoelectric.names)})
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(
    "equations, shape",
    [("ij=ji", (6,)), ("ijk=ikj", (3, 6)), ("ijk=jik", (6, 3)), ("ijkl=jikl=ijlk", (6, 6)), ("ijkl=jikl", (6, 3, 3))],
)
def test_voigt_form_and_back(equations, shape):
    index = groups.index_symmetry(equations, 3)
    rng = np.random.default_rng(0)
    V = rng.normal(size=(5, *shape))
    T = index.from_voigt(V)
    np.testing.assert_array_equal(index.voigt(T), V)
    for image, sign in index.exchanges:
        np.testing.assert_array_equal(sign * T.transpose(0, *(1 + np.array(image))), T)
    pairs = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    if shape == (6, 6):
        assert V[2, 3, 4] == T[(2, *pairs[3], *pairs[4])]
    assert sa.invariant_tensors(groups.point_group("C1"), equations).voigt().shape == (index.dim, *shape)


@pytest.mark.parametrize("equations, size", [("ij", 3), ("ij=-ji", 3), ("ij=ji", 2), ("ijk", 3)])
def test_no_voigt_form_without_symmetric_pairs_of_three_dimensions(equations, size):
    index = groups.index_symmetry(equations, size)
    with pytest.raises(ValueError, match="symmetric pairs of indices in three dimensions"):
        index.voigt(np.zeros(index.shape))


def test_voigt_forms_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"have the shape \(3, 6\) in Voigt's numbers; got shape \(6, 6\)"):
        groups.index_symmetry("ijk=ikj", 3).from_voigt(np.zeros((6, 6)))


def test_magnetic_point_groups_allow_what_textbooks_say():
    """Of 90 without time reversal itself 31 allow magnetisation, 58 magnetoelectric effects, 66 piezomagnetism."""
    outputs = ("axial vector", "axial ij", "axial ijk=ikj")
    found = {}
    for name in TEXTBOOK:
        group = sa.groups.point_group(name)
        for signs in itertools.product([[[1]], [[-1]]], repeat=len(group.generators)):
            try:
                tau = sa.groups.Representation(group, signs, dim=1)
            except ValueError:  # no homomorphism: time reversal itself would be an element
                continue
            # Groups that a rotation of the axes takes to one another have as many operations of each kind.
            pairs = [(g.matrix, int(s.matrix[0, 0])) for g, s in tau.elements()]
            kinds = sorted((round(np.linalg.det(R)), round(np.trace(R)), s) for R, s in pairs)
            products = [sa.groups.representation(group, output) * tau for output in outputs]
            found[name, tuple(kinds)] = [
                sa.invariants.fixed_space([g.matrix for g in rho.images], size=rho.dim).dim for rho in products
            ]
    allowed = np.array(list(found.values())) > 0
    assert (len(allowed), *allowed.sum(axis=0)) == (90, 31, 58, 66)


def test_entries_are_one_number_each():
    cubic = sa.invariant_tensors(groups.point_group("m-3m"), ELASTIC)
    with pytest.raises(ValueError, match=r"every entry is one number, and C11 has the shape \(2,\)"):
        cubic.voigt(C11=[1, 2], C12=2, C44=3)
    for wrong, said in (("168", r"C11 is '168': give float\(C11\)"), (None, "C11 is None"), (1j, "C11 is 1j")):
        for made in (cubic.voigt, lambda **entries: cubic.tensor(**entries)):
            with pytest.raises(TypeError, match=f"every entry is a number, and {said}"):
                made(C11=wrong, C12=2, C44=3)
    np.testing.assert_array_equal(cubic.voigt(C11=np.float32(4), C12=2, C44=3), cubic.voigt(C11=4, C12=2, C44=3))


@pytest.mark.parametrize("number, setting", [(166, "R"), (148, "R"), (166, "H"), (194, None)])
def test_axes_of_skew_cells_are_not_taken_for_cartesian_ones(number, setting):
    """Matrices of rhombohedral axes are permutations, which are orthogonal in any case."""
    with pytest.raises(ValueError, match=r"exchanges axes .* right angles.* Give the lattice"):
        sa.invariant_tensors(groups.space_group(number, setting), ELASTIC)


@pytest.mark.parametrize("number, dim", [(2, 21), (14, 13), (62, 9), (123, 6), (225, 3)])
def test_other_cells_need_no_lattice(number, dim):
    assert sa.invariant_tensors(groups.space_group(number), ELASTIC).dim == dim


def test_rhombohedral_axes_with_their_lattice_have_the_constants_of_hexagonal_ones():
    """The same crystal in both settings: a_R = (2a + b + c)/3 and so on."""
    hexagonal = np.array([[4.0, 0.0, 0.0], [-2.0, 2.0 * 3**0.5, 0.0], [0.0, 0.0, 9.0]])
    obverse = np.array([[2, 1, 1], [-1, 1, 1], [-1, -2, 1]]) / 3 @ hexagonal
    a = sa.invariant_tensors(groups.space_group(166, "H"), ELASTIC, lattice=hexagonal)
    b = sa.invariant_tensors(groups.space_group(166, "R"), ELASTIC, lattice=obverse)
    assert a.names == b.names == ("C11", "C12", "C13", "C14", "C33", "C44")
    entries = dict(zip(a.names, (5.0, 1.0, 2.0, 0.3, 7.0, 3.0), strict=True))
    np.testing.assert_allclose(a.tensor(**entries), b.tensor(**entries), atol=1e-9)


def test_voigt_matrices_have_both_triangles():
    elastic, C = groups.index_symmetry(ELASTIC, 3), np.arange(36.0).reshape(6, 6)
    C = C + C.T
    T = elastic.from_voigt(C)
    np.testing.assert_array_equal(T, T.transpose(2, 3, 0, 1))
    np.testing.assert_array_equal(elastic.voigt(T), C)
    with pytest.raises(
        ValueError, match=r"nearest that does differs by [\d.]+, and the largest entry is 70\. .*V \+ V\.T"
    ):
        elastic.from_voigt(np.triu(C))
    upper = np.triu(C)
    np.testing.assert_array_equal(elastic.from_voigt(upper + upper.T - np.diag(np.diag(upper))), T)
    groups.index_symmetry("ijkl=jikl=ijlk", 3).from_voigt(np.triu(C))  # without klij any matrix is one


def test_unsymmetric_tensors_are_refused_by_components_and_voigt_in_the_same_words():
    index, T = groups.index_symmetry("ij=ji", 3), np.arange(9.0).reshape(3, 3)
    said = []
    for method in (index.components, index.voigt):
        with pytest.raises(ValueError, match=r"nearest that do differ by 2, and the largest entry is 8") as caught:
            method(T)
        said.append(str(caught.value))
    assert said[0] == said[1]
    np.testing.assert_array_equal(index.voigt((T + T.T) / 2), [0, 4, 8, 6, 4, 2])


def weyl_count(weights, positive_roots, rank):
    """How many tensors of a rank a connected group leaves alone: the constant term of χ^rank ∏ (1 − e^α), α > 0."""
    series = Counter({(0,) * len(weights[0]): 1})
    for factor in [Counter(map(tuple, weights))] * rank + [Counter({(0,) * len(r): 1, r: -1}) for r in positive_roots]:
        product = Counter()
        for (a, m), (b, n) in itertools.product(series.items(), factor.items()):
            product[tuple(np.add(a, b).tolist())] += m * n
        series = product
    return series[(0,) * len(weights[0])]


def octonion_derivations():
    """Fields of G2: the antisymmetric 7 × 7 matrices that are derivations of the cross product of R⁷."""
    cross = np.zeros((7, 7, 7))
    for i in range(7):  # e_i × e_{i+1} = e_{i+3}
        for a, b, c in itertools.permutations((i, (i + 1) % 7, (i + 3) % 7)):
            even = (a, b, c) in [
                (i, (i + 1) % 7, (i + 3) % 7),
                ((i + 1) % 7, (i + 3) % 7, i),
                ((i + 3) % 7, i, (i + 1) % 7),
            ]
            cross[a, b, c] = 1.0 if even else -1.0
    fields = []
    for a, b in itertools.combinations(range(7), 2):
        A = np.zeros((7, 7))
        A[a, b], A[b, a] = 1.0, -1.0
        fields.append(A)
    moved = [sum(np.moveaxis(np.tensordot(cross, A, axes=(k, 1)), -1, k) for k in range(3)).ravel() for A in fields]
    _, values, vectors = np.linalg.svd(np.array(moved).T)
    assert (values < 1e-12).sum() == 14
    return [np.tensordot(v, np.array(fields), axes=1) for v in vectors[values < 1e-12]]


def adjoint_fields_of_su3():
    """ad X of the Gell-Mann matrices, in the orthonormal basis that they are."""
    basis = []
    for i, j in itertools.combinations(range(3), 2):
        for entry in (1.0, -1j):
            M = np.zeros((3, 3), dtype=complex)
            M[i, j], M[j, i] = entry, np.conj(entry)
            basis.append(M / np.sqrt(2))
    basis += [np.diag([1.0, -1.0, 0.0]) / np.sqrt(2), np.diag([1.0, 1.0, -2.0]) / np.sqrt(6)]
    return [np.array([[np.trace(C @ (X @ B - B @ X)).imag for B in basis] for C in basis]) for X in basis]


B3 = [
    (1, 0, 0),
    (0, 1, 0),
    (0, 0, 1),
    *((1, s, 0) for s in (1, -1)),
    *((1, 0, s) for s in (1, -1)),
    (0, 1, 1),
    (0, 1, -1),
]
VECTOR_OF_SO7 = [(0, 0, 0), *(tuple(s * e for e in row) for row in np.eye(3, dtype=int).tolist() for s in (1, -1))]
HEXAGON = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]  # roots of SU(3), and the short ones of G2
LONG = [(1, 1), (-1, 2), (-2, 1)]


@pytest.mark.parametrize(
    "make, weights, positive, ranks",
    [
        (lambda: groups.special_orthogonal(7), VECTOR_OF_SO7, B3, (2, 3, 4, 5)),
        (
            lambda: groups.Group(fields=octonion_derivations()),
            [(0, 0), *HEXAGON],
            [(1, 0), (0, 1), (-1, 1), *LONG],
            (2, 3, 4, 5),
        ),
        (
            lambda: groups.Group(fields=adjoint_fields_of_su3()),
            [(0, 0), (0, 0), *HEXAGON],
            [(1, 0), (0, 1), (-1, 1)],
            (2, 3, 4),
        ),
    ],
    ids=["SO(7)", "G2", "SU(3) adjoint"],
)
def test_continuous_groups_have_as_many_tensors_as_weyl_counts(make, weights, positive, ranks):
    group = make()
    for rank in ranks:
        found = sa.invariant_tensors(group, "ijklmn"[:rank])
        assert found.dim == weyl_count(weights, positive, rank)
        assert found.residual < 1e-13
        g = group.random(rank).matrix
        moved = np.asarray(found)
        for axis in range(1, rank + 1):
            moved = np.moveaxis(np.tensordot(moved, g, axes=(axis, 1)), -1, axis)
        np.testing.assert_allclose(moved, found.tensors, atol=1e-12)
        flat = found.tensors.reshape(found.dim, group.size**rank)
        np.testing.assert_allclose(flat @ flat.T, np.eye(found.dim), atol=1e-12)


@pytest.mark.parametrize("n, rank", [(3, 6), (4, 6), (4, 5), (5, 4), (2, 4)])
def test_isotropic_tensors_are_products_of_deltas(n, rank):
    """The first fundamental theorem of O(n): pairings of the indices span, and are independent up to rank 2n."""
    found = sa.invariant_tensors(groups.orthogonal(n), "ijklmn"[:rank])
    words = itertools.permutations(range(rank)) if rank % 2 == 0 else ()
    pairings = [{tuple(sorted(p)) for p in zip(w[::2], w[1::2], strict=True)} for w in words]
    distinct = {tuple(sorted(p)) for p in pairings}
    assert found.dim == len(distinct) == (0 if rank % 2 else np.prod(range(rank - 1, 0, -2)))
    flat = found.tensors.reshape(found.dim, n**rank)
    for pairing in distinct:
        letters = ["ab", "cd", "ef"]
        word = [""] * rank
        for (i, j), pair in zip(pairing, letters, strict=False):
            word[i], word[j] = pair
        deltas = ",".join(letters[: rank // 2])
        deltas = np.einsum(f"{deltas}->{''.join(word)}", *[np.eye(n)] * (rank // 2)).ravel()
        np.testing.assert_allclose(deltas @ flat.T @ flat, deltas, atol=1e-12)


def test_index_symmetries_and_signs_under_continuous_groups():
    """Isotropic elasticity has two constants in any dimension; the volume form is axial."""
    assert sa.invariant_tensors(groups.orthogonal(7), ELASTIC).dim == 2
    assert sa.invariant_tensors(groups.special_orthogonal(5), "ijklm=-jiklm=jklmi").dim == 1
    assert sa.invariant_tensors(groups.orthogonal(5), "ijklm=-jiklm=jklmi").dim == 0
    for group, output, dim in [
        (groups.special_orthogonal(5), "ijklm", 1),
        (groups.orthogonal(5), "ijklm", 0),
        (groups.orthogonal(5), "axial ijklm", 1),
    ]:
        assert sa.invariant_tensors(group, output).dim == dim


def test_tensors_of_continuous_groups_take_little_memory():
    """Matrices of all 16,807 components would take 2.3 GB each."""
    tracemalloc.start()
    assert sa.invariant_tensors(groups.special_orthogonal(7), "ijklm").dim == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize(
    "group, output, what",
    [
        (groups.special_orthogonal(7), "ijklmn", "unit tensors of weight zero"),
        (groups.point_group("Ih"), "ijklmno", "2187 x 2187 matrix of a map of tensors of rank 7"),
        (groups.special_orthogonal(9), "ijklmnop", "listing the 43046721 entries"),
    ],
)
def test_what_does_not_fit_in_memory_is_refused_before_it_is_made(group, output, what):
    tracemalloc.start()
    with sa.config(memory_limit="60 MB"), pytest.raises(MemoryError, match=f"{what}.* would need .*B; .*lower rank"):
        sa.invariant_tensors(group, output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize(
    "equations, entries", [("ijk=ikj", {"d14": 2.0}), ("ijkl=jikl=klij", {"S11": 1.0, "S12": 0.0})]
)
def test_entries_with_other_factors_are_told_which(equations, entries):
    tensors = sa.invariant_tensors(groups.point_group("Td"), equations)
    with pytest.raises(ValueError, match=r"independent entries .*; got .* factors 2 and 4 of Voigt's notation"):
        tensors.voigt(**entries)
    with pytest.raises(ValueError, match=r"got Q11$"):
        tensors.voigt(Q11=1.0)
