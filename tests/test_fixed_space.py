"""The common fixed vectors of matrices that a user brings: right, certified, or refused."""

import numpy as np
import pytest
from cases import H4, random_rotation
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, qr
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation
from scipy.stats import ortho_group

import specavg as sa
from specavg import isometries
from specavg._arrays import components
from specavg.invariants import fixed_space
from specavg.invariants._certified_null_space import _largest_rows, independent_blocks, triangular
from specavg.invariants.solvers._orbits import orbits


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def permutation_matrix(image):
    return isometries.permutation(image).matrix


def projector(found):
    return found.basis @ found.basis.T


def test_permutation_matrices_are_solved_by_orbits_exactly():
    found = fixed_space([permutation_matrix([1, 0, 2, 3]), permutation_matrix([0, 1, 3, 2])])
    assert (found.dim, found.solver, found.residual, found.gap) == (2, "orbits", 0.0, np.inf)
    halves = block_diag(np.full((2, 2), 0.5), np.full((2, 2), 0.5))
    np.testing.assert_allclose(projector(found), halves, rtol=0, atol=1e-15)


def test_dense_sparse_and_isometries_are_the_same():
    g = isometries.signed_permutation([1, 2, 0, 3], [1, -1, -1, 1])
    dense, sparse, exact = fixed_space([g.matrix]), fixed_space([csr_array(g.matrix)]), fixed_space([g])
    assert dense.solver == sparse.solver == exact.solver == "orbits"
    np.testing.assert_array_equal(dense.basis, sparse.basis)
    np.testing.assert_allclose(projector(dense), projector(exact), atol=1e-15)
    np.testing.assert_allclose(g.matrix @ exact.basis, exact.basis, atol=1e-15)


def test_rotations_of_scipy_are_matrices():
    turns = Rotation.from_rotvec([[0.0, 0.0, 0.3], [0.0, 0.0, 1.1]])
    for turned in ([turns], [turns[0], turns[1]], turns):
        np.testing.assert_allclose(projector(fixed_space(turned)), np.diag([0.0, 0.0, 1.0]), atol=1e-14)


def test_signs_around_a_cycle_can_leave_nothing():
    assert fixed_space([isometries.signed_permutation([1, 2, 0], [1, 1, -1])]).dim == 0
    assert fixed_space([isometries.signed_permutation([1, 2, 0], [1, -1, -1])]).dim == 1
    assert fixed_space([-np.eye(4)]).shape == (4, 0)


def test_long_cycles_in_any_order_take_a_second():
    m = 10**6  # the cycles of a random permutation, which label propagation walked for minutes
    image = np.random.default_rng(1).permutation(m)
    found = orbits(m, [image], [np.zeros(m, dtype=np.int64)], 2)
    count, label = connected_components(csr_array((np.ones(m), (np.arange(m), image)), shape=(m, m)), directed=False)
    assert found.count == count
    np.testing.assert_array_equal(label[found.first][found.label], label)


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, 3), st.sampled_from([1, 2, 6, 12]), st.integers(0, 10**6))
def test_orbits_and_phases_are_those_of_a_walk(m, count, modulus, seed):
    rng = np.random.default_rng(seed)
    targets = [rng.permutation(m) for _ in range(count)]
    phases = [rng.choice([0, 0, 0, modulus // 2, modulus - 1], m) for _ in range(count)]
    found = orbits(m, targets, phases, modulus)
    seen, firsts, size = {}, [], []
    for start in range(m):  # one function after the other, each with its phase
        if start in seen:
            continue
        alive, orbit, place = True, {start: 0}, [start]
        while place:
            k = place.pop()
            for t, p in zip(targets, phases, strict=True):
                steps = [(int(t[k]), int(p[k]))]
                back = int(np.flatnonzero(t == k)[0])
                for other, turn in [*steps, (back, -int(p[back]))]:
                    there = (orbit[k] + turn) % modulus
                    if other not in orbit:
                        orbit[other] = there
                        place.append(other)
                    alive &= orbit[other] == there
        seen |= dict.fromkeys(orbit)
        if alive:
            assert {int(k) for k in np.flatnonzero(found.label == len(firsts))} == set(orbit)
            assert [int(found.phase[k]) for k in orbit] == list(orbit.values())
            firsts.append(start)
            size.append(len(orbit))
        else:
            assert (found.label[list(orbit)] == -1).all()
    assert (found.first.tolist(), found.size.tolist()) == (firsts, size)


def test_components_of_a_long_path_in_any_order():
    m = 10**5
    path = np.random.default_rng(0).permutation(m)
    assert not components(m, path[1:], path[:-1]).any()
    halves = components(m, path[1 : m // 2], path[: m // 2 - 1])
    assert np.count_nonzero(halves == halves[path[0]]) == m // 2


def test_rotations_are_solved_by_a_certified_null_space():
    Q = ortho_group.rvs(7, random_state=0)
    D = Q @ block_diag(rotation(0.3), rotation(2.0), np.eye(3)) @ Q.T
    found = fixed_space([D])
    assert (found.dim, found.solver) == (3, "null space")
    assert found.residual < 1e-14
    assert found.gap == pytest.approx(2 * np.sin(0.15), rel=1e-10)  # |e^{iθ} − 1|
    np.testing.assert_allclose(projector(found), Q[:, 4:] @ Q[:, 4:].T, atol=1e-14)


def test_reflections_of_h4_fix_nothing_together():
    assert fixed_space([g.matrix for g in H4.generators]).dim == 0
    assert fixed_space([g.matrix for g in H4.generators[:2]]).dim == 2


def test_no_matrices_fix_everything():
    assert fixed_space([], size=3).dim == 3
    with pytest.raises(ValueError, match="say its size"):
        fixed_space([])


def test_works_as_an_array():
    found = fixed_space([rotation(1.0), np.eye(2)])
    assert np.asarray(found).shape == found.shape == (2, 0)
    found = fixed_space([block_diag(rotation(1.0), 1.0)])
    np.testing.assert_allclose(found @ found.T, np.diag([0.0, 0, 1]), atol=1e-15)


@settings(max_examples=25)
@given(st.integers(2, 6), st.integers(0, 10_000))
def test_the_average_over_a_cyclic_group_is_the_projector(order, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    turns = 2 * np.pi * rng.integers(order, size=3) / order
    D = Q @ block_diag(*map(rotation, turns)) @ Q.T
    average = np.mean([np.linalg.matrix_power(D, k) for k in range(order)], axis=0)
    found = fixed_space([D])
    np.testing.assert_allclose(projector(found), average, atol=1e-12)
    assert found.dim == round(np.trace(average))


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [2 * np.pi / 1e8, 2 * np.pi / 1e10, 2 * np.pi / 1e12, 2 * np.pi / 1e13])
def test_an_unclear_gap_raises(angle):
    with pytest.raises(ValueError, match="in doubt: 2 of them lie between rounding"):
        fixed_space([rotation(angle)])


def test_a_small_but_clear_gap_is_accepted():
    found = fixed_space([block_diag(rotation(1e-5), 1.0)])
    assert found.dim == 1
    assert found.gap == pytest.approx(1e-5, rel=1e-6)


def test_a_small_gap_in_many_dimensions_is_seen():
    Q = ortho_group.rvs(600, random_state=1)
    blocks = [rotation(t) for t in np.linspace(0.5, 3, 298)]
    clear = fixed_space([Q @ block_diag(*blocks, np.eye(4)) @ Q.T])
    assert clear.dim == 4
    with pytest.raises(ValueError, match="in doubt"):
        fixed_space([Q @ block_diag(*blocks, np.eye(2), rotation(1e-9)) @ Q.T])


def test_a_representation_is_told_to_give_its_matrices():
    vector = sa.groups.representation(sa.groups.point_group("C3v"), "vector")
    with pytest.raises(TypeError, match=r"image.matrix for image in representation.images"):
        fixed_space(vector)
    assert fixed_space([image.matrix for image in vector.images]).dim == 1  # the axis


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_matrices_are_refused(bad):
    D = np.eye(3)
    D[1, 2] = bad
    with pytest.raises(ValueError, match="matrix 1 has NaN or infinity"):
        fixed_space([random_rotation(0), D])
    with pytest.raises(ValueError, match=r"NaN or infinity"):
        fixed_space([csr_array(D)])


@pytest.mark.parametrize("factor", [1 + 1e-6, 0.5, 1e-3])
def test_matrices_that_are_not_orthogonal_are_refused(factor):
    with pytest.raises(ValueError, match=r"matrix 0 is not orthogonal: max\|DᵀD - I\|"):
        fixed_space([factor * random_rotation(0)])


def test_the_zero_matrix_is_a_field_that_moves_nothing():
    assert fixed_space([np.zeros((3, 3))]).dim == 3


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"different sizes: \[2, 3\]"):
        fixed_space([np.eye(2), np.eye(3)])
    with pytest.raises(ValueError, match="square"):
        fixed_space([np.ones((2, 3))])
    with pytest.raises(ValueError, match="size = 4, but the matrices are 3 x 3"):
        fixed_space([np.eye(3)], size=4)


def test_memory_is_refused_before_it_is_used():
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError, match="null-space problem"):
        fixed_space([ortho_group.rvs(200, random_state=0)])


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("sparse", [False, True])
def test_independent_blocks_are_all_of_a_matrix(dtype, sparse):
    """Blocks that were put on shuffled rows are found, with their entries; imaginary entries join rows too."""
    from scipy.linalg import block_diag
    from scipy.sparse import csr_array

    from specavg.invariants._certified_null_space import independent_blocks

    rng = np.random.default_rng(0)
    hidden = [rng.standard_normal((s, s)) for s in (3, 1, 3, 2, 5)]
    if dtype is complex:
        hidden = [1j * (B - B.T) for B in hidden]
    A = block_diag(*(B + B.conj().T for B in hidden))
    order = rng.permutation(len(A))
    A = A[np.ix_(order, order)]
    again = np.zeros_like(A)
    sizes = []
    for members, blocks in independent_blocks(csr_array(A) if sparse else A):
        sizes.append(blocks.shape[:2])
        for rows, block in zip(members, blocks, strict=True):
            again[np.ix_(rows, rows)] = block
    assert sizes == [(1, 1), (1, 2), (2, 3), (1, 5)]
    np.testing.assert_array_equal(again, A)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("entry", [(0, 3), (3, 0)])
def test_blocks_are_joined_by_an_entry_on_either_side(kind, entry):
    """Rounding may leave one of two equal entries at zero: its rows belong together all the same."""
    A = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    A[entry] = 1e-33
    found = [(members.tolist(), blocks) for members, blocks in independent_blocks(kind(A))]
    assert [members for members, _ in found] == [[[1], [2], [4]], [[0, 3]]]
    np.testing.assert_array_equal(found[1][1], [A[np.ix_([0, 3], [0, 3])]])


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_complex_matrices_are_refused_with_their_real_form(kind):
    with pytest.raises(ValueError, match=r"matrix 0 is a complex matrix.*\[\[A, -B\], \[B, A\]\]"):
        fixed_space([kind(1j * np.eye(2))])  # it fixes nothing: cast to real it was the zero field, that moves nothing


def test_the_basis_is_that_of_the_space_and_not_of_its_computation():
    """Turned by rounding or by hand, a null space gives the same vectors: here four of nine coordinates."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    kept = np.zeros((9, 4))
    kept[[0, 3, 7, 8], range(4)] = 1.0
    np.testing.assert_allclose(triangular(kept @ turn), kept, atol=1e-15)
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(30, 4)))[0]
    np.testing.assert_allclose(triangular(Q @ turn), triangular(Q), atol=1e-14)
    np.testing.assert_allclose(triangular(Q).T @ triangular(Q), np.eye(4), atol=1e-14)
    np.testing.assert_allclose(triangular(Q) @ triangular(Q).T, Q @ Q.T, atol=1e-14)


@pytest.mark.parametrize("kind", [float, complex])
def test_rows_are_chosen_as_by_a_pivoted_decomposition(kind):
    rng = np.random.default_rng(0)
    for m, r in ((9, 2), (40, 7), (81, 16)):
        Q = rng.normal(size=(m, r)) + (1j * rng.normal(size=(m, r)) if kind is complex else 0)
        _, order = qr(Q.conj().T, mode="r", pivoting=True)
        assert _largest_rows(Q).tolist() == order[:r].tolist()


def test_a_group_is_told_to_give_its_matrices():
    with pytest.raises(TypeError, match=r"symmetric\(3\) is a group: .*group.generators.*invariant_basis"):
        fixed_space(sa.groups.symmetric(3))
