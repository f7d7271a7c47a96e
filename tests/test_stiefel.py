"""Stiefel manifolds: dimensions from representation theory, the laws, and the spaces they contain."""

from itertools import islice, takewhile
from math import prod

import numpy as np
import pytest
from scipy.linalg import expm

from specavg import config, groups, isometries
from specavg.functions._orthonormal_matrices import random_orthonormal
from specavg.invariants import invariant_basis
from specavg.spaces import Rotations, Sphere, Stiefel
from specavg.spaces import _orthogonal_irreps as irreps
from specavg.spaces._orthogonal_types import (
    associate,
    casimir,
    is_type,
    multiplicity,
    restricted,
    type_dim,
    types_up_to,
)
from specavg.testing import check_solvers_agree

TOLERANCE = 1e-12
CASES = [(2, 1, 6), (3, 1, 6), (3, 2, 6), (4, 2, 8), (4, 3, 6), (5, 2, 6), (5, 3, 5), (5, 4, 4), (6, 3, 5)]


def orthogonal(size, seed, proper=None):
    Q = random_orthonormal(1, size, size, np.random.default_rng(seed))[0]
    if proper is not None and (np.linalg.det(Q) > 0) != proper:
        Q[:, 0] *= -1
    return Q


def up_to(space, bound):
    return list(takewhile(lambda V: V.eigenvalue <= bound, space.eigenspaces()))


def partitions(total, rows, largest=None):
    if total == 0:
        yield ()
    elif rows:
        for first in range(min(total, largest or total), 0, -1):
            for rest in partitions(total - first, rows - 1, first):
                yield (first, *rest)


def gl_dim(shape, k):
    rows = [*shape, *[0] * (k - len(shape))]
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    return prod(rows[i] - rows[j] + j - i for i, j in pairs) // prod(j - i for i, j in pairs)


# --- counting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 8))
def test_type_dimensions_add_up_when_restricted(n):
    shapes = [shape for total in range(6) for shape in partitions(total, n) if is_type(shape, n)]
    for shape in shapes:
        assert associate(associate(shape, n), n) == shape
        assert type_dim(associate(shape, n), n) == type_dim(shape, n)
        assert casimir(associate(shape, n), n) == casimir(shape, n)
        if n > 2:
            assert sum(type_dim(smaller, n - 1) for smaller in restricted(shape, n)) == type_dim(shape, n)


@pytest.mark.parametrize("n, k", [(2, 1), (4, 2), (5, 2), (6, 3), (7, 3)])
def test_multiplicities_are_those_of_gl_for_tall_frames(n, k):
    for total in range(7):
        for shape in partitions(total, k):
            assert multiplicity(shape, n, k) == gl_dim(shape, k)


def test_functions_up_to_degree_four_on_wide_frames():
    counts = [type_dim(s, 4) * multiplicity(s, 4, 3) for _, s in types_up_to(4, 3, 200) if sum(s) <= 4]
    assert sum(counts) == 1279


def test_square_but_one_frames_are_rotations():
    # Functions on SO(n): the square of each dimension; types with n/2 rows are two for SO(n).
    for n in (3, 4, 5, 6):
        for V in up_to(Stiefel(n, n - 1), 25):
            short = [shape for shape in V.label if 2 * len(shape) <= n]
            squares = [type_dim(s, n) ** 2 // (2 if 2 * len(s) == n else 1) for s in short]
            assert V.dim == sum(squares)


def test_eigenvalues_are_not_in_the_order_of_degrees():
    space = Stiefel(6, 3)
    degrees = [space.degree(V) for V in islice(space.eigenspaces(), 5)]
    assert degrees == [0, 1, 2, 3, 2]
    values = [V.eigenvalue for V in islice(space.eigenspaces(), 40)]
    assert values == sorted(set(values))


def test_a_large_manifold_lists_its_eigenspaces_without_building_them():
    first = list(islice(Stiefel(50, 20).eigenspaces(), 4))
    assert [V.eigenvalue for V in first] == [0, 49, 96, 100]
    assert first[1].dim == 1000


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, k, count", CASES)
def test_functions_move_by_the_representation(n, k, count):
    space = Stiefel(n, k)
    X = space.sample(30, 0)
    proper = [(True, True), (True, False), (False, True), (False, False)]
    maps = [isometries.left_right(orthogonal(n, i, a), orthogonal(k, 10 + i, b)) for i, (a, b) in enumerate(proper)]
    for V in islice(space.eigenspaces(), count):
        values = space.evaluate(V, X)
        matrices = [space.representation(g, V) for g in maps]
        for g, D in zip(maps, matrices, strict=True):
            assert np.abs(space.evaluate(V, space.act(g, X)) - values @ D).max() < TOLERANCE
            assert np.abs(D @ D.T - np.eye(V.dim)).max() < TOLERANCE
        composed = space.representation(maps[0] @ maps[3], V)
        assert np.abs(composed - matrices[3] @ matrices[0]).max() < TOLERANCE
        assert np.abs((values**2).sum(axis=1) / V.dim - 1).max() < TOLERANCE


@pytest.mark.parametrize("n, k, bound", [(2, 1, 9), (3, 2, 12), (4, 2, 16), (4, 3, 4), (5, 2, 10)])
def test_basis_is_orthonormal_by_exact_quadrature(n, k, bound):
    space = Stiefel(n, k)
    X, w = space.quadrature(bound)
    space.check_points(X)
    values = np.concatenate([space.evaluate(V, X) for V in up_to(space, bound)], axis=1)
    assert w.sum() == pytest.approx(1, abs=1e-13)
    assert np.abs((values.T * w) @ values - np.eye(values.shape[1])).max() < TOLERANCE


def test_functions_are_eigenfunctions_of_the_casimir_operator():
    # −Σ d²/dt² f(exp(tE_ij) X) by an exact rule: along each turn f is a trigonometric polynomial.
    space = Stiefel(4, 2)
    X = space.sample(3, 0)
    for V in islice(space.eigenspaces(), 6):
        size = 2 * space.degree(V) + 1
        angles = 2 * np.pi * np.arange(size) / size
        frequencies = np.fft.fftfreq(size, 1 / size)
        total = np.zeros((3, V.dim))
        for i in range(4):
            for j in range(i + 1, 4):
                line = []
                for t in angles:
                    R = np.eye(4)
                    R[i, i] = R[j, j] = np.cos(t)
                    R[j, i], R[i, j] = np.sin(t), -np.sin(t)
                    line.append(space.evaluate(V, space.act(isometries.orthogonal(R), X)))
                spectrum = np.fft.fft(line, axis=0)
                total += (spectrum * frequencies[:, None, None] ** 2).mean(axis=0).real
        assert np.abs(total - V.eigenvalue * space.evaluate(V, X)).max() < 1e-11


def test_functions_are_polynomials_of_their_degree():
    space = Stiefel(4, 2)
    X = space.sample(400, 0)
    monomials = {0: np.ones((400, 1))}
    for degree in (1, 2, 3):
        monomials[degree] = (monomials[degree - 1][:, :, None] * X[:, None, :]).reshape(400, -1)
    for V in islice(space.eigenspaces(), 6):
        if space.degree(V) <= 3:
            A, b = monomials[space.degree(V)], space.evaluate(V, X)
            fit = A @ np.linalg.lstsq(A, b, rcond=1e-10)[0]
            assert np.abs(fit - b).max() < 1e-10


def test_points_slightly_off_lose_no_invariance():
    space = Stiefel(5, 2)
    X = space.sample(20, 0) + 1e-7 * np.random.default_rng(1).standard_normal((20, 10))
    g = isometries.left_right(orthogonal(5, 1), orthogonal(2, 2))
    for V in islice(space.eigenspaces(), 5):
        moved = space.evaluate(V, space.act(g, X))
        assert np.abs(moved - space.evaluate(V, X) @ space.representation(g, V)).max() < TOLERANCE


def test_frames_of_coordinate_vectors_are_not_special():
    space = Stiefel(4, 2)
    g = isometries.left_right(orthogonal(4, 1), orthogonal(2, 2))
    X = np.array([np.eye(4)[:, [a, b]] * s for a in range(4) for b in range(4) if a != b for s in (1, -1)])
    for V in islice(space.eigenspaces(), 5):
        moved = space.evaluate(V, space.act(g, X))
        assert np.abs(moved - space.evaluate(V, X) @ space.representation(g, V)).max() < TOLERANCE


def test_representation_is_the_product_of_its_factors():
    space = Stiefel(4, 3)
    g = isometries.left_right(orthogonal(4, 1), orthogonal(3, 2))
    V = next(V for V in space.eigenspaces() if V.eigenvalue == 3)  # (1) and (1, 1, 1)
    pairs = space.factor_representations(g, V)
    assert [(left.shape, right.shape) for left, right in pairs] == [((4, 4), (3, 3)), ((4, 4), (1, 1))]


# --- known spaces inside --------------------------------------------------------------------------


def kernel(space, V, X, Y):
    return space.evaluate(V, X) @ space.evaluate(V, Y).T


@pytest.mark.parametrize("n", [2, 3, 5])
def test_one_column_is_the_sphere(n):
    one, sphere = Stiefel(n, 1), Sphere(n)
    X, Y = sphere.sample(10, 0), sphere.sample(10, 1)
    assert one.volume == pytest.approx(sphere.volume)
    assert one.dim == sphere.dim
    for V, W in zip(islice(one.eigenspaces(), 5), sphere.eigenspaces(), strict=False):
        assert (V.eigenvalue, V.dim) == (W.eigenvalue, W.dim)
        assert np.abs(kernel(one, V, X, Y) - kernel(sphere, W, X, Y)).max() < 1e-11


def test_two_columns_in_space_are_rotations():
    frames, rotations = Stiefel(3, 2), Rotations()
    R = rotations.sample(20, 0).reshape(20, 3, 3)
    assert frames.volume == pytest.approx(rotations.volume)
    for V, W in zip(islice(frames.eigenspaces(), 8), rotations.eigenspaces(), strict=False):
        assert (V.eigenvalue, V.dim) == (W.eigenvalue, W.dim)
        expected = kernel(rotations, W, R[:10], R[10:])
        assert np.abs(kernel(frames, V, R[:10, :, :2], R[10:, :, :2]) - expected).max() < 1e-10


@pytest.mark.parametrize("n, k", [(4, 2), (5, 2), (4, 3)])
def test_invariants_of_all_right_turns_are_functions_on_planes(n, k):
    # Grassmann manifold of k-planes: each type with even rows only (and their associates) once, the others never.
    # Irrational turns in neighbouring planes and a mirror generate a dense subgroup of O(k).
    right = [np.diag([-1.0] + [1.0] * (k - 1))]
    for i in range(k - 1):
        turn = np.eye(k)
        turn[i : i + 2, i : i + 2] = [[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]]
        right.append(turn)
    G = groups.Group([isometries.left_right(np.eye(n), B) for B in right])
    basis = invariant_basis(Stiefel(n, k), G, max_eigenvalue=3 * n + 1)
    # Planes and their complements are the same thing, so the rows are those of min(k, n − k) directions.
    rows = min(k, n - k)
    types = [shape for _, shape in types_up_to(n, rows, 3 * n + 1) if all(row % 2 == 0 for row in shape)]
    assert basis.dim == sum(type_dim(shape, n) for shape in types)


def test_functions_even_on_the_sphere_live_on_projective_space():
    minus = groups.Group([isometries.signed_permutation(range(4), [-1] * 4)])
    basis = invariant_basis(Sphere(4), minus, max_eigenvalue=24)
    assert basis.dim == sum(Sphere(4).eigenspace(degree).dim for degree in (0, 2, 4))


# --- points and messages --------------------------------------------------------------------------


def test_the_numbers_that_a_manifold_was_made_from_are_public():
    assert (Stiefel(5, 2).n, Stiefel(5, 2).k, Stiefel(5, 2).shape) == (5, 2, (5, 2))


def test_points_and_maps():
    space = Stiefel(5, 2)
    X = space.sample(4, 0).reshape(4, 5, 2)
    A, B = orthogonal(5, 1), orthogonal(2, 2)
    assert np.abs(space.act(isometries.left_right(A, B), X) - A @ X @ B.T).max() < 1e-14
    assert np.abs(space.act(isometries.orthogonal(A), X) - A @ X).max() < 1e-14
    assert space.dim == 7
    assert space == Stiefel(5, 2)
    assert hash(space) == hash(Stiefel(5, 2))
    assert space != Stiefel(5, 3)
    assert repr(space) == "Stiefel(5, 2)"


def test_samples_are_uniform():
    space = Stiefel(4, 2)
    X = space.sample(20000, 0)
    space.check_points(X)
    for V in islice(space.eigenspaces(), 1, 4):
        assert np.abs(space.evaluate(V, X).mean(axis=0)).max() < 0.03


@pytest.mark.parametrize("n, k, words", [(3, 3, r"Rotations\(\)"), (5, 5, r"Stiefel\(5, 4\)"), (2, 3, "1 ≤ k < n")])
def test_what_is_no_stiefel_manifold_is_refused(n, k, words):
    with pytest.raises(ValueError, match=words):
        Stiefel(n, k)


def test_wrong_points_and_maps_are_refused():
    space = Stiefel(4, 2)
    with pytest.raises(ValueError, match="orthonormal columns"):
        space.check_points(np.ones((1, 4, 2)))
    with pytest.raises(ValueError, match="size 4 and 3"):
        space.check_isometry(isometries.left_right(np.eye(4), np.eye(3)))
    with pytest.raises(ValueError, match="X ↦ A X Bᵀ"):
        space.check_isometry(isometries.shift([0.5, 0, 0, 0]))


def test_rules_and_types_that_would_not_fit_are_refused():
    with config(memory_limit="1 MB"), pytest.raises(MemoryError, match="product rule"):
        Stiefel(6, 3).quadrature(12)
    tall = Stiefel(30, 2)
    V = next(V for V in tall.eigenspaces() if V.eigenvalue > 100)
    with config(memory_limit="100 MB"), pytest.raises(MemoryError, match="Lower the cutoff"):
        tall.evaluate(V, tall.sample(1, 0))


@pytest.mark.parametrize("n, k, value, dim", [(10, 2, 40, 4158), (10, 3, 32, 2835), (20, 2, 57, 5280)])
def test_tall_frames_at_higher_degree(n, k, value, dim):
    """Functions of degree up to 4: Σφ² = m, the two sides act as orthogonal matrices, and φ(gx) = D(g)ᵀφ(x)."""
    space = Stiefel(n, k)
    V = next(V for V in space.eigenspaces() if V.eigenvalue >= value and V.dim >= dim)
    X = space.sample(40, random_state=0)
    g = isometries.left_right(np.eye(n), orthogonal(k, 1))
    ((left, right),) = space.factor_representations(g, V)
    values = space.evaluate(V, X)
    moved = space.evaluate(V, space.act(g, X))
    expected = np.einsum("nlw,wv->nlv", values.reshape(len(X), len(left), len(right)), right).reshape(values.shape)
    assert V.dim == dim
    assert np.abs((values**2).sum(axis=1) / dim - 1).max() < TOLERANCE
    assert np.abs(right.T @ right - np.eye(len(right))).max() < TOLERANCE
    assert np.abs(moved - expected).max() < 10 * TOLERANCE


@pytest.mark.parametrize("n, k", [(3, 1), (3, 2), (4, 2), (5, 3), (6, 4)])
def test_the_first_eigenfunction_is_one_and_not_minus_one(n, k):
    # Estimators take the first coefficient for the mean.
    space = Stiefel(n, k)
    first = next(space.eigenspaces())
    assert (space.evaluate(first, space.sample(5, random_state=0)) == 1.0).all()


# --- signed permutations of the rows ---------------------------------------------------------------------


def rows_and_columns(n, k):
    """All permutations of the rows, and all signed permutations of the columns."""
    L, rows, columns = isometries.left_right, np.eye(n), np.eye(k)
    flip = np.diag([-1.0] + [1.0] * (k - 1))
    left = [L(rows[np.r_[1:n, 0]], columns), L(rows[np.r_[1, 0, 2:n]], columns)]
    return groups.Group([*left, L(rows, columns[np.r_[1:k, 0]]), L(rows, flip), L(rows, columns[np.r_[1, 0, 2:k]])])


@pytest.mark.parametrize("shape", [(), (2,), (1, 1), (2, 1), (3,), (2, 2), (4,)])
def test_signed_permutations_have_the_same_matrices_sparse(shape):
    rho = irreps.irrep(shape, 5)
    rng = np.random.default_rng(3)
    for _ in range(4):
        A = np.eye(5)[rng.permutation(5)] * rng.choice([-1.0, 1.0], 5)
        assert np.abs(rho.quarter_turned(A).toarray() - rho.matrix(A)).max() < TOLERANCE


@pytest.mark.parametrize("n, k, top", [(4, 2, 20), (5, 2, 20), (5, 3, 12), (4, 3, 12)])
def test_classes_of_parities_agree_with_the_null_space(n, k, top):
    assert check_solvers_agree(Stiefel(n, k), rows_and_columns(n, k), top) < TOLERANCE
    left = groups.Group([g for g in rows_and_columns(n, k).generators if g.right.is_identity])
    assert check_solvers_agree(Stiefel(n, k), left, top) < TOLERANCE


def test_fourth_powers_of_the_entries_are_among_the_invariants():
    space, group = Stiefel(6, 3), rows_and_columns(6, 3)
    basis = invariant_basis(space, group, max_eigenvalue=32)  # the type (4) has 4(4 + 6 − 2)
    X = space.sample(60, random_state=0)
    F, y = basis.evaluate(X), (X**4).sum(axis=1)
    assert np.abs(F @ np.linalg.lstsq(F, y, rcond=None)[0] - y).max() < TOLERANCE
    for g in group.generators:
        assert np.abs(basis.evaluate(space.act(g, X)) - F).max() < 1e-11


def test_a_basis_ends_with_as_many_functions_as_are_asked_for():
    space, group = Stiefel(6, 3), rows_and_columns(6, 3)
    whole = invariant_basis(space, group, max_eigenvalue=32)
    asked = invariant_basis(space, group, max_invariant_dim=whole.dim)
    assert asked.dim == whole.dim
    assert asked.table[-1].invariant_dim > 0


@pytest.mark.parametrize("rows", ["permuted", "turned"])
def test_the_memory_limit_holds_before_matrices_are_formed(rows):
    R = orthogonal(6, 1)
    cycle = np.eye(6)[np.r_[1:6, 0]]
    group = groups.Group([isometries.left_right(cycle if rows == "permuted" else R @ cycle @ R.T, np.eye(3))])
    with config(memory_limit="300 kB"), pytest.raises(MemoryError, match="memory limit is 300 kB"):
        invariant_basis(Stiefel(6, 3), group, max_invariant_dim=5000)


def test_groups_of_the_right_side_are_told_how_they_are_written():
    with pytest.raises(ValueError, match=r"From the right: isometries.left_right\(np.eye\(5\), B\)"):
        invariant_basis(Stiefel(5, 2), groups.sign_flips(2), max_eigenvalue=4)


def test_small_types_are_built_once():
    """A basis of a few hundred eigenspaces: a type is built from smaller ones, which must not be built anew."""
    space = Stiefel(2, 1)
    top = list(islice(space.eigenspaces(), 150))
    x = space.sample(2, random_state=0)
    built = irreps._small_type.cache_info().misses
    first = [space.evaluate(V, x) for V in top]
    assert irreps._small_type.cache_info().misses <= built + len(top)
    built = irreps._small_type.cache_info().misses
    again = [space.evaluate(V, x) for V in top]
    assert irreps._small_type.cache_info().misses == built
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("n, k", [(2, 1), (3, 2), (5, 3), (6, 2)])
def test_exponentials_of_infinitesimals_are_representations(n, k):
    """D(exp ξ) = exp(dD(ξ)), for both sides together."""
    rng = np.random.default_rng(n + k)
    A, B = (M - M.T for M in (rng.normal(size=(n, n)), rng.normal(size=(k, k))))
    space, g = Stiefel(n, k), isometries.left_right(expm(A), expm(B))
    for V in islice(space.eigenspaces(), 6):
        dD = space.infinitesimal(isometries.fields.left_right(A, B), V)
        assert np.abs(dD + dD.T).max() < TOLERANCE
        assert np.abs(expm(dD) - space.representation(g, V)).max() < 1e-11  # exp of weights up to 30 rounds to this
