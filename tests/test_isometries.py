"""The laws of isometries: composition, inverses, the action on points, equality, exactness."""

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specavg import Torus, groups, invariant_basis
from specavg import isometries as iso

D = 3


def signed_permutations(d=D):
    return st.builds(
        iso.signed_permutation,
        st.permutations(range(d)),
        st.lists(st.sampled_from([1, -1]), min_size=d, max_size=d),
    )


def rotations(d=D):
    def rotation(seed):
        return iso.orthogonal(np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0])

    return st.builds(rotation, st.integers(0, 10**6))


HEXAGONAL = np.array([[1, -1, 0], [1, 0, 0], [0, 0, 1]])
fractions = st.fractions(-2, 2, max_denominator=12)
affine_maps = st.builds(
    lambda g, power, t: iso.affine(np.linalg.matrix_power(HEXAGONAL, power) @ g.matrix.astype(int), t),
    signed_permutations(),
    st.integers(0, 5),
    st.lists(fractions, min_size=D, max_size=D),
)
lefts_and_rights = st.builds(
    lambda g, h: iso.left_right(g.matrix, h.matrix), signed_permutations(), signed_permutations(2)
)
copies = st.builds(iso.copies, st.permutations(range(4)), st.lists(affine_maps, min_size=4, max_size=4))
factors = st.builds(lambda g, h: iso.factors([g, h]), signed_permutations(2), affine_maps)

EXACT = {
    "signed permutations": signed_permutations(),
    "affine maps": affine_maps,
    "left and right": lefts_and_rights,
    "copies": copies,
    "factors": factors,
}
exact_kinds = pytest.mark.parametrize("maps", EXACT.values(), ids=EXACT.keys())


@exact_kinds
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_composition_is_associative(maps, data):
    g, h, k = (data.draw(maps) for _ in range(3))
    assert (g @ h) @ k == g @ (h @ k)


@exact_kinds
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_inverse_undoes(maps, data):
    g, h = data.draw(maps), data.draw(maps)
    assert (g @ g.inverse()).is_identity
    assert (g.inverse() @ g).is_identity
    assert (g @ h).inverse() == h.inverse() @ g.inverse()
    assert g.inverse().inverse() == g


@exact_kinds
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_equal_maps_have_equal_hashes_and_copy_to_themselves(maps, data):
    g, h = data.draw(maps), data.draw(maps)
    again = g @ h @ h.inverse()
    assert again == g
    assert hash(again) == hash(g)
    assert copy.deepcopy(g) is g
    assert copy.copy(g) is g
    assert g.is_exact


@given(st.one_of(signed_permutations(), rotations()), st.one_of(signed_permutations(), rotations()))
def test_composition_is_action_one_after_the_other(g, h):
    X = np.random.default_rng(0).normal(size=(5, D))
    np.testing.assert_allclose((g @ h)(X), g(h(X)), atol=1e-13)
    np.testing.assert_allclose(g.inverse()(g(X)), X, atol=1e-13)
    np.testing.assert_allclose(g(X), X @ g.matrix.T, atol=1e-13)


@given(rotations())
def test_rotations_are_equal_by_value(g):
    again = iso.orthogonal(np.array(g.matrix))
    assert again == g
    assert hash(again) == hash(g)
    assert not g.is_exact
    assert g != iso.identity(D)


def test_images_read_from_the_right_place():
    assert iso.permutation([1, 2, 0])([10.0, 20.0, 30.0]).tolist() == [20, 30, 10]
    assert iso.signed_permutation([1, 0], [1, -1])([3.0, 4.0]).tolist() == [4, -3]


def test_copies_are_permuted_first_and_then_acted_on():
    flip = iso.signed_permutation([0], [-1])
    g = iso.copies([1, 0], [flip, iso.identity(1)])
    assert g @ g == iso.copies([0, 1], [flip, flip])
    assert iso.permutation([1, 0]) @ g == iso.copies([0, 1], [iso.identity(1), flip])


def test_the_simplest_exact_kind_is_returned():
    assert iso.orthogonal([[0, 1], [1, 0]]) == iso.permutation([1, 0])
    quarter = np.array([[np.cos(np.pi / 2), -1], [1, np.cos(np.pi / 2)]])
    assert iso.orthogonal(quarter) == iso.signed_permutation([1, 0], [-1, 1])
    assert iso.affine([[-1]], [1]) == iso.signed_permutation([0], [-1])
    assert iso.shift([Fraction(1, 3)]) @ iso.shift([Fraction(2, 3)]) == iso.identity(1)


def test_shifts_stay_fractions():
    g = iso.shift([Fraction(1, 10**12), 0])
    assert g.shift == (Fraction(1, 10**12), Fraction(0))
    assert (g @ g).shift[0] == Fraction(2, 10**12)
    assert not iso.shift([0.1, 0]).is_exact


def test_floats_of_space_groups_are_fractions_to_rounding():
    for t in (0.25, 1 / 3, 2 / 3 + 1e-15, 5 / 24, -0.125, 0.3):
        near = Fraction(t).limit_denominator(24)
        assert iso.affine(-np.eye(1), [t]) == iso.affine(-np.eye(1), [near])
    for t in (1 / 3 + 1e-9, 0.01, 2**0.5):
        assert not iso.affine(-np.eye(1), [t]).is_exact
    with pytest.raises(ValueError, match=r"no exact order.*limit_denominator\(24\).*crystals\.positions"):
        _ = groups.Group([iso.affine(np.eye(2), [1 / 3 + 1e-6, 0])]).order
    for t in (1 / 3, 1 / 3 + 1e-6):
        with pytest.warns(UserWarning, match=r"binary digits of a float.*If 1/3 is meant, write '1/3'"):
            g = iso.affine(np.eye(2), [Fraction(t), 0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (g @ g).inverse() @ g @ g == iso.permutation([0, 1])  # asked once, where it is made


def test_factors_flatten_to_one_map():
    turn = iso.orthogonal([[0.6, -0.8], [0.8, 0.6]])
    assert iso.flatten(iso.factors([turn, iso.identity(1)])).matrix[0].tolist() == [0.6, -0.8, 0.0]
    g = iso.flatten(iso.factors([iso.shift([Fraction(1, 2)]), iso.permutation([1, 0])]))
    assert g == iso.affine([[1, 0, 0], [0, 0, 1], [0, 1, 0]], [Fraction(1, 2), 0, 0])
    mixed = iso.factors([turn, iso.shift([Fraction(1, 2)])])
    assert iso.flatten(mixed) is mixed


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: iso.permutation([0, 0]), "every index must appear exactly once"),
        (lambda: iso.permutation([0.5, 1]), "must be an integer"),
        (lambda: iso.permutation([True, False]), "must be an integer; got True"),
        (lambda: iso.permutation(np.array([True, False])), "must be an integer"),
        (lambda: iso.signed_permutation([0, 1], [1]), "one sign per coordinate"),
        (lambda: iso.signed_permutation([0, 1], [1, 2]), "signs must be 1 or -1"),
        (lambda: iso.orthogonal([[1, 1], [0, 1]]), "not orthogonal"),
        (lambda: iso.orthogonal([[1, np.nan], [0, 1]]), "finite"),
        (lambda: iso.orthogonal([1, 0]), "square matrix"),
        (lambda: iso.affine([[0.5]], [0]), "integer matrix"),
        (lambda: iso.affine([[2]], [0]), "determinant"),
        (lambda: iso.affine([[1]], [0, 0]), "shift of 2 entries"),
        (lambda: iso.shift([np.inf]), "finite number of periods"),
        (lambda: iso.shift([]), r"a number for each coordinate, and this one has none: write shift\("),
        (lambda: iso.shift(degrees=[]), "this one has none"),
        (lambda: iso.fields.shift([]), r"this one has none: write fields.shift\("),
        (lambda: iso.copies([0, 1], [iso.identity(1)]), "one per copy"),
        (lambda: iso.identity(2) @ iso.identity(3), "2 and 3 parts"),
        (lambda: iso.identity(2)([1.0, 2.0, 3.0]), "2 coordinates"),
    ],
)
def test_bad_maps_are_refused_with_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


KINDS = [
    iso.signed_permutation([1, 0], [1, -1]),
    iso.orthogonal([[0.6, -0.8], [0.8, 0.6]]),
    iso.affine([[0, -1], [1, -1]], [0, Fraction(1, 2)]),
    iso.left_right(np.eye(3), [[0, 1], [-1, 0]]),
    iso.copies([1, 0], [iso.identity(2), iso.shift([Fraction(1, 3), 0])]),
    iso.factors([iso.permutation([1, 0]), iso.shift([0.25])]),
]


@pytest.mark.parametrize("g", KINDS, ids=repr)
def test_pickles_name_the_public_module_or_read_as_if_they_did(g):
    """Whichever file a kind is written in, `specavg.isometries.Kind` in an old pickle still finds it."""
    written = pickle.dumps(g, protocol=0)
    for kind in ("SignedPermutation", "Orthogonal", "Affine", "LeftRight", "Copies", "Factors"):
        file = getattr(iso, kind).__module__
        written = written.replace(f"{file}\n{kind}\n".encode(), f"specavg.isometries\n{kind}\n".encode())
    assert b"isometries._" not in written
    assert pickle.loads(written) == g
    assert pickle.loads(pickle.dumps(g)) == g


@pytest.mark.parametrize("g", [KINDS[2], KINDS[4]], ids=repr)
def test_a_simpler_kind_composes_from_either_side(g):
    exchange = iso.permutation([1, 0])
    assert (exchange @ g).inverse() == g.inverse() @ exchange.inverse()
    assert exchange.inverse() @ (exchange @ g) == g == (g @ exchange) @ exchange.inverse()


def test_maps_of_different_spaces_do_not_compose():
    turn = iso.orthogonal([[0.6, -0.8], [0.8, 0.6]])
    with pytest.raises(TypeError, match="different spaces"):
        turn @ iso.shift([Fraction(1, 2), 0])


def test_a_shift_cannot_act_without_its_space():
    with pytest.raises(TypeError, match=r"space\.act"):
        iso.shift([Fraction(1, 2)])([[0.0]])


@pytest.mark.parametrize("skew", [10**5, 10**6, 3 * 10**7])
def test_integer_matrices_with_large_entries_stay_exact(skew):
    # A quarter turn in a skewed basis: entries up to skew² + 1.
    quarter = iso.affine([[-skew, -(skew**2) - 1], [1, skew]], ["1/2", 0])
    assert (quarter @ quarter.inverse()).is_identity
    assert (quarter @ quarter).matrix.tolist() == [[-1, 0], [0, -1]]
    assert groups.Group([iso.affine(quarter.matrix, [0, 0])]).order == 4


@pytest.mark.parametrize(
    "matrix, complaint",
    [
        ([[1, 10**16], [0, 1]], "entries up to 2\\^53"),
        ([[10**8 + 1, 10**8], [10**8, 10**8]], "of determinant ±1; got 100000000"),
        ([[3 * 10**8, 1], [3 * 10**8, 1]], "of determinant ±1; got 0"),
    ],
)
def test_large_integer_matrices_are_judged_by_their_exact_determinant(matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        iso.affine(matrix, [0, 0])


def test_products_that_no_longer_fit_are_refused():
    one, other = iso.affine([[1, 2**40], [0, 1]], [0, 0]), iso.affine([[1, 0], [2**40, 1]], [0, 0])
    with pytest.raises(ValueError, match="do not generate a finite group"):
        _ = one @ other


@pytest.mark.parametrize("entry", [3, 10**5, 10**10, 2**52 + 1])
def test_large_integers_lose_no_digits_when_applied(entry):
    A = np.array([[1, entry, 0], [0, 1, 0], [0, -entry, 1]])
    rng = np.random.default_rng(entry % 1000)
    points = np.concatenate([rng.random((20, 3)), 1e-9 * rng.standard_normal((5, 3)), 50 * rng.standard_normal((5, 3))])
    with_shift, without = iso.affine(A, ["1/3", 0, 0.25]), iso.affine(A, [0, 0, 0])
    rational = [[[int(a) * Fraction(float(x)) for a, x in zip(row, u, strict=True)] for row in A] for u in points]
    exact = np.array([[sum(terms) for terms in rows] for rows in rational])
    np.testing.assert_array_equal(without(points), exact.astype(float))  # rounded once
    shifted = np.add(exact, [Fraction(1, 3), 0, Fraction(1, 4)]).ravel()
    errors = [Fraction(float(u)) - v for u, v in zip(with_shift.applied(points).ravel(), shifted, strict=True)]
    assert max(abs(error - round(error)) for error in errors) < 1e-15


def test_permutations_that_count_from_one_are_told_so():
    with pytest.raises(ValueError, match=r"Indices count from 0: subtract 1"):
        iso.permutation([2, 1, 3])


@pytest.mark.parametrize(
    "made, said",
    [
        (lambda: iso.shift(degrees=120), r"shift has a number for each coordinate: write a list, as in shift\("),
        (lambda: iso.shift("1/3"), "shift has a number for each coordinate: write a list"),
        (lambda: iso.affine(np.eye(2), 0), r"as in affine\(A, \["),
        (lambda: iso.fields.shift(1), r"as in fields.shift\(\[1, 0\]\); got 1"),
        (lambda: iso.permutation(3), r"as in permutation\(\[1, 2, 0\]\); got 3"),
        (lambda: iso.permutation("(0 1)"), r"as in permutation\(\[1, 2, 0\]\)"),
        (lambda: iso.permutation([(0, 1)]), r"cycles are not read: .* as in \[1, 2, 0\]"),
        (lambda: iso.permutation(["a", "b"]), "an image entry must be an integer; got 'a'"),
        (lambda: iso.signed_permutation([1, 0], -1), "a sign for each coordinate"),
        (lambda: iso.factors(iso.identity(2)), "an isometry for each factor"),
        (lambda: iso.copies([1, 0], iso.identity(2)), "an isometry for each copy"),
    ],
)
def test_what_is_no_list_is_refused_with_an_example(made, said):
    with pytest.raises((TypeError, ValueError), match=said):
        made()


@pytest.mark.parametrize("given", [{"t": [0.33, 0]}, {"t": [0, 0.1667]}, {"radians": [2.0944, 0]}], ids=str)
def test_rounded_fractions_of_a_period_are_questioned(given):
    with pytest.warns(UserWarning, match=r"is near 1/[36] and is another one.*write '1/[36]'"):
        iso.shift(**given)


def test_fractions_to_rounding_and_other_numbers_are_not_questioned():
    assert iso.shift(np.array([1 / 3, 0.0])).shift[0] == 1 / 3  # warnings are errors here
    iso.shift([0.25 + 0.01, 0.001])
    assert iso.shift(radians=[np.pi, 0]) == iso.shift(["1/2", 0])


def test_degrees_near_a_third_of_a_turn_are_questioned():
    with pytest.warns(UserWarning, match="near 1/3 and is another one"):
        iso.shift(degrees=[119.99, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iso.shift(degrees=[119, 22.5])


def test_copies_on_one_torus_are_told_the_power_with_its_period():
    with pytest.raises(ValueError, match=r"Power\(Torus\(1, period=360\), 2\)"):
        invariant_basis(Torus(2, period=360), groups.wreath(groups.cyclic(3), 2), max_dim=10)


def test_factors_and_copies_take_matrices_and_rotations_as_groups_do():
    from scipy.spatial.transform import Rotation

    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    turn = Rotation.from_matrix(quarter)
    both = iso.left_right(np.eye(3), quarter)
    wanted = iso.factors([both, iso.orthogonal(quarter)])
    assert iso.factors([both, quarter]) == wanted
    assert groups.Group([iso.factors([both, turn])]).order == groups.Group([wanted]).order == 4
    assert iso.copies([1, 0], [np.eye(3), turn]) == iso.copies([1, 0], [iso.identity(3), iso.orthogonal(quarter)])
    assert groups.Group([iso.copies([1, 0], [np.eye(3), -np.eye(3)])]).order == 4
    with pytest.raises(ValueError, match=r"copy 1 is neither an isometry nor a square matrix; got shape \(2, 3\)"):
        iso.copies([1, 0], [np.eye(3), np.ones((2, 3))])
    with pytest.raises(TypeError, match=r"factor 0 is the field .*: write isometries.fields.factors"):
        iso.factors([iso.fields.rotation([[0, -1], [1, 0]]), np.eye(3)])


@pytest.mark.parametrize(
    "g",
    [
        iso.affine([[0, -1], [1, 0]], ["1/5", "1/3"]),
        iso.copies([1, 2, 0], [iso.shift(["1/3"]), iso.shift(["1/4"]), iso.signed_permutation([0], [-1])]),
        iso.left_right(-np.eye(3), -np.roll(np.eye(3), 1, 0)),
        iso.factors([np.diag([1.0, -1]), iso.shift(["1/7"])]),
    ],
    ids=repr,
)
def test_powers_of_any_integer(g):
    """Zero and negative exponents ended in a RecursionError."""
    assert (g**0).is_identity
    assert type(g**0) is type(g @ g.inverse())
    assert g**-1 == g.inverse()
    assert g**-3 == g.inverse() @ g.inverse() @ g.inverse()
    assert (g**-5 @ g**5).is_identity
    with pytest.raises(TypeError, match="integer"):
        g**0.5


@pytest.mark.parametrize("n", [7, 11, 13, 14, 17, 19, 23, 360])
def test_degrees_that_are_a_fraction_of_a_turn_to_rounding_are_this_fraction(n):
    assert iso.shift(degrees=[360 / n, 0]) == iso.shift([Fraction(1, n), 0])


@pytest.mark.parametrize("given", [{"degrees": [51.43, 0]}, {"radians": [0.898]}, {"t": ["0.333", 0]}], ids=str)
def test_numbers_that_look_like_rounded_fractions_are_questioned(given):
    with pytest.warns(UserWarning, match="of a period is near 1/[37] and is another one"):
        iso.shift(**given)


@pytest.mark.parametrize(
    "given", [{"degrees": [360, 0]}, {"radians": [2 * np.pi]}, {"degrees": [720.0, -360]}], ids=str
)
def test_angles_that_are_whole_periods_are_questioned(given):
    with pytest.warns(UserWarning, match="moves nothing"):
        assert iso.shift(**given).is_identity


def test_a_translation_that_looks_like_an_angle_is_questioned():
    with pytest.warns(UserWarning, match=r"affine\(A, \[120, 0\]\) moves by a whole period or more"):
        iso.affine([[-1, 0], [0, 1]], [120, 0])
    assert iso.affine([[-1, 0], [0, 1]], [1.5, -1]).shift == (Fraction(1, 2), Fraction(0))


def test_a_shift_by_many_digits_is_read_back_without_a_question():
    with pytest.warns(UserWarning, match="near 1/7"):
        g = iso.shift(degrees=[51.43, 0])
    assert eval(repr(g), {"shift": iso.shift}) == g


@pytest.mark.parametrize("angle", [2 * np.pi / 3, np.pi, -np.pi / 4, 2 * np.pi / 7, 2.0944, -1.5708, 5.75959])
def test_degrees_that_are_fractions_of_pi_are_questioned(angle):
    with pytest.warns(UserWarning, match=r"of π, as an angle in radians.*shift\(radians="):
        iso.shift(degrees=[angle, 0])


@pytest.mark.parametrize("angle", [3.14, 22.5, 0.5, 360 / 7, 1e-14, 120, "2.5", 2.1, 1.57, 2.0943, 56.5487])
def test_other_degrees_are_not_taken_for_radians(angle):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iso.shift(degrees=[angle, 90])


@pytest.mark.parametrize("given", ["120", Fraction(120), 120, 120.0, "120.5", "-1"], ids=repr)
def test_whole_periods_are_questioned_however_they_are_written(given):
    with pytest.warns(UserWarning, match="moves by a whole period or more"):
        iso.shift([given, 0])


def test_radians_that_look_like_degrees_are_questioned():
    with pytest.warns(UserWarning, match=r"120 radians moves by 19.1 periods.*looks like an angle in degrees"):
        iso.shift(radians=[120, 0])


@pytest.mark.parametrize(
    "given", [{"t": ["4/3", 0]}, {"t": [Fraction(4, 3), 0]}, {"radians": [np.pi * 22 / 3]}, {"radians": [7]}], ids=str
)
def test_fractions_and_radians_of_few_turns_are_not_questioned(given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iso.shift(**given)


@pytest.mark.parametrize(
    "g",
    [
        iso.permutation([1, 0]) @ iso.shift([0.1, 0.2]),
        iso.shift([0.1, "1/3"]) @ iso.affine([[0, -1], [1, -1]], [0, 0]),
        iso.permutation([1, 0]) @ iso.shift([0.1, 0.123456789]),
        iso.permutation([1, 0]) @ iso.shift(["1/10", "1/5"]),
        iso.copies([1, 0], [iso.identity(1), iso.signed_permutation([0], [-1]) @ iso.shift([0.1])]),
    ],
    ids=repr,
)
def test_shifts_by_floats_are_read_back_as_floats(g):
    assert eval(repr(g), vars(iso)) == g


def test_radians_of_sympy_are_taken_and_texts_say_what_is():
    sympy = pytest.importorskip("sympy")
    assert iso.shift(radians=[2 * sympy.pi / 3, 0]) == iso.shift(["1/3", 0])
    assert iso.shift([sympy.Rational(1, 3), 0]) == iso.shift(["1/3", 0])
    with pytest.raises(ValueError, match=r"number of radians .*a text such as '2.5' without names.*got '2pi/3'"):
        iso.shift(radians=["2pi/3", 0])
    with pytest.raises(ValueError, match=r"number of degrees .*got '120°'"):
        iso.shift(degrees=["120°", 0])
    with pytest.raises(ValueError, match="number of radians"):
        iso.shift(radians=[sympy.Symbol("x"), 0])
