"""Equivariant bases: the laws, over spaces, groups and outputs, and what the parts must agree on."""

import pickle

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.groups._linear_part import linear_part
from specavg.invariants import Cutoff, _equivariant_basis, _solver_choice, restored_equivariant_basis
from specavg.invariants.solvers._null_space import NullSpaceOfOutputs
from specavg.invariants.solvers._solver import carriers
from specavg.isometries import fields
from specavg.spaces._order_of_functions import BY_EIGENVALUE
from specavg.testing import (
    LawBroken,
    check_equivariant_functions,
    check_multiplicities,
    check_tangency,
    check_vector_orthonormality,
)
from tests.cases import conjugate, random_rotation

C3, S4 = groups.cyclic(3), groups.symmetric(4)
TURNED = groups.Group(conjugate(groups.point_group("D3d"), random_rotation(3)), name="turned D3d")
HEXAGONAL = sa.Torus(lattice=[[1.0, 0.0], [-0.5, 0.75**0.5]])
P3 = groups.Group([isometries.affine([[0, -1], [1, -1]], [0, 0])], name="p3")
HANDED_ROUND = groups.Representation(C3, [isometries.permutation([1, 2, 0])])
PERMUTED = groups.Representation(groups.symmetric(3), groups.symmetric(3).generators)
HANDED_ON = groups.Representation(groups.cyclic_shifts(3), groups.cyclic_shifts(3).generators)
SIDE_BY_SIDE = sa.Product(sa.Circle(), sa.Sphere(3))
TWO_GROUPS = groups.direct_product(groups.dihedral(3), groups.point_group("C3"))
# The reflection of the circle changes the sign of vectors that C3 turns. C3 itself has a null space.
PSEUDOVECTORS = groups.Representation(
    TWO_GROUPS,
    [np.eye(3), -np.eye(3), *(g.matrix for g in groups.point_group("C3").generators)],
)
PARTICLES = groups.Representation(S4, S4.generators)


def two_exchanged(group):
    """Three copies that move together, the first two of which are exchanged."""
    return groups.joined(groups.diagonal(group, 3), groups.direct_product(groups.symmetric(2), groups.symmetric(1)))


# (space, group, output, max_eigenvalue, the solvers that are expected)
CASES = [
    (sa.Sphere(3), groups.point_group("Oh"), "vector", 42, {"null space"}),
    (sa.Sphere(3), groups.point_group("Oh"), "axial vector", 42, {"null space"}),
    (sa.Sphere(3), groups.point_group("Td"), "ij=ji", 20, {"null space"}),
    (sa.Sphere(3), groups.point_group("I"), "vector", 30, {"null space"}),
    (sa.Sphere(3), TURNED, "vector", 30, {"null space"}),
    (sa.Sphere(4), groups.hyperoctahedral(4), "vector", 24, {"null space"}),
    (sa.Torus(2), groups.hyperoctahedral(2), "vector", 100, {"orbits"}),
    (sa.Torus(3), groups.hyperoctahedral(3), "pseudoscalar", 140, {"orbits"}),
    (sa.Torus(3), groups.cyclic_shifts(3), "ij=ji", 40, {"orbits"}),
    (sa.Torus(4), S4, PARTICLES, 30, {"closed form"}),
    (sa.Torus(4), groups.hyperoctahedral(4), "vector", 50, {"closed form"}),
    (sa.Torus(4), S4, "ij=ji", 30, {"closed form"}),
    (sa.Torus(4), groups.alternating(4), "vector", 30, {"closed form"}),
    (sa.Torus(4), groups.cyclic_shifts(4), "vector", 20, {"orbits"}),
    (sa.Torus(4), S4, "pseudoscalar", 60, {"closed form"}),
    (sa.Circle(), C3, HANDED_ROUND, 30, {"orbits"}),
    (HEXAGONAL, P3, "vector", 300, {"null space"}),
    (sa.Rotations(), groups.crystal_symmetry("D3"), "vector", 12, {"null space"}),
    (sa.Stiefel(3, 2), groups.Group([isometries.permutation([1, 2, 0])]), "vector", 5, {"null space"}),
    (sa.Power(sa.Circle(), 3), groups.symmetric(3), "pseudoscalar", 14, {"closed form"}),
    (sa.Power(sa.Sphere(3), 2), groups.symmetric(2), "pseudoscalar", 8, {"closed form"}),
    (sa.Power(sa.Sphere(3), 2), groups.diagonal(groups.point_group("D3"), 2), "vector", 6, {"null space"}),
    (sa.Power(sa.Sphere(3), 3), two_exchanged(groups.point_group("D3")), "vector", 6, {"null space"}),
    (sa.Power(sa.Circle(), 3), groups.symmetric(3), PERMUTED, 6, {"closed form"}),
    (sa.Power(sa.Sphere(3), 3), groups.cyclic_shifts(3), HANDED_ON, 6, {"closed form"}),
    (SIDE_BY_SIDE, TWO_GROUPS, PSEUDOVECTORS, 9, {"closed form"}),
    (sa.Sphere(3), groups.point_group("C4v"), "vector", 20, {"null space"}),
    (sa.Interval(), groups.sign_flips(1), "vector", 40, {"null space"}),
    (
        sa.Product(sa.Circle(), sa.Sphere(3)),
        groups.direct_product(groups.trivial(1), groups.point_group("C3")),
        groups.representation(groups.direct_product(groups.trivial(1), groups.point_group("C3")), "scalar"),
        7,
        {"closed form"},
    ),
]
CONTINUOUS = [
    (sa.Sphere(3), groups.point_group("C∞v"), "vector", 30),
    (sa.Sphere(3), groups.point_group("K"), "vector", 30),
    (sa.Sphere(3), groups.point_group("Kh"), "ij=ji", 30),
    (sa.Power(sa.Sphere(3), 2), groups.diagonal(groups.point_group("K"), 2), "axial vector", 9),
    (sa.Power(sa.Sphere(3), 3), two_exchanged(groups.orthogonal(3)), "vector", 9),
]
IDS = [f"{M!r}-{G!r}-{output!r}".replace(" ", "") for M, G, output, *_ in CASES]


@pytest.mark.parametrize("space, group, output, top, solvers", CASES, ids=IDS)
def test_the_laws_hold(space, group, output, top, solvers):
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    assert basis.dim
    check_equivariant_functions(basis)
    check_multiplicities(basis)
    if not isinstance(space, sa.Interval):
        check_vector_orthonormality(basis)
    if basis.output.is_trivial:
        return
    assert {row.solver for row in basis.table} == solvers
    if solvers != {"null space"} and group is not TWO_GROUPS:
        assert basis.residual == 0.0


@pytest.mark.parametrize("space, group, output, top", CONTINUOUS, ids=lambda value: repr(value).replace(" ", ""))
def test_the_laws_hold_for_continuous_groups(space, group, output, top):
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    assert basis.dim
    check_equivariant_functions(basis)
    check_vector_orthonormality(basis)


def test_every_space_has_a_case():
    assert {type(space).__name__ for space, *_ in CASES} == {
        name for name in sa.spaces.__all__ if name[0].isupper() and name not in ("Eigenspace", "Space", "Circle")
    }


@pytest.mark.parametrize(
    "space, group, top",
    [
        (sa.Torus(3), groups.symmetric(3), 30),
        (sa.Torus(3), groups.cyclic_shifts(3), 30),
        (sa.Torus(2), groups.hyperoctahedral(2), 60),
        (sa.Sphere(3), groups.point_group("C4v"), 12),
        (sa.Sphere(3), groups.point_group("D3"), 12),
        (sa.Sphere(3), groups.point_group("Td"), 6),
    ],
    ids=lambda value: repr(value).replace(" ", ""),
)
def test_outputs_that_the_regular_representation_moves_are_as_many_as_all_functions(space, group, top):
    """F(gx) = ρ(g)F(x) leaves one component of F free, and it may be any function: Hom_G(R[G], V) is V."""
    elements = list(group.elements())
    matrices = np.array([linear_part(g).matrix for g in elements])
    images = [  # h takes the unit vector of g to that of hg, which rounding may have written a little differently
        isometries.permutation(
            np.argsort([np.abs(matrices - linear_part(h).matrix @ A).max(axis=(1, 2)).argmin() for A in matrices])
        )
        for h in group.generators
    ]
    basis = sa.equivariant_basis(
        space, group, groups.Representation(group, [g.matrix for g in images]), max_eigenvalue=top
    )
    assert basis.dim == sa.invariant_basis(space, max_eigenvalue=top).dim
    check_multiplicities(basis)
    check_equivariant_functions(basis)


@pytest.mark.parametrize("degree", range(5))
def test_all_rotations_leave_the_radial_field_only(degree):
    """V_l ⊗ R³ has an invariant for l = 1 only: F(x) = x."""
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group("K"), "vector", max_eigenvalue=degree * (degree + 1))
    assert basis.dim == (degree >= 1)
    if basis.dim:
        X = sa.Sphere(3).sample(10, random_state=0)
        np.testing.assert_allclose(np.abs(basis.evaluate(X)[:, 0]), np.abs(X), atol=1e-14)


@pytest.mark.parametrize(
    "space, group, output, top",
    [
        (sa.Torus(2), groups.hyperoctahedral(2), "vector", 60),
        (sa.Torus(4), S4, PARTICLES, 30),
        (sa.Torus(3), groups.symmetric(3), "pseudoscalar", 100),
        (sa.Circle(), C3, HANDED_ROUND, 30),
    ],
)
def test_all_solvers_span_the_same_functions(space, group, output, top):
    X, Y = space.sample(6, random_state=0), space.sample(6, random_state=1)
    kernels = []
    for solver in ("closed form", "orbits", "null space"):
        try:
            basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top, solver=solver)
        except ValueError:  # it does not apply
            continue
        kernels.append(np.einsum("arp,brq->apbq", basis.evaluate(X), basis.evaluate(Y)))
    assert len(kernels) >= 2
    for kernel in kernels[1:]:
        np.testing.assert_allclose(kernel, kernels[0], atol=1e-12 * np.abs(kernels[0]).max())


@pytest.mark.parametrize("output", ["scalar", "three scalars"])
def test_the_trivial_representation_is_the_invariant_basis(output):
    space, group = sa.Torus(6), groups.symmetric(6)
    if output == "three scalars":
        one = groups.representation(group, "scalar")
        output = one + one + one
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=40)
    scalar = sa.invariant_basis(space, group, max_eigenvalue=40)
    X = space.sample(5, random_state=0)
    values = scalar.evaluate(X)
    for i in range(basis.n_outputs):
        np.testing.assert_array_equal(basis.evaluate(X)[:, i :: basis.n_outputs, i], values)
    assert np.count_nonzero(basis.evaluate(X)) == np.count_nonzero(values) * basis.n_outputs
    assert {row.solver for row in basis.table} == {"closed form"}


def test_sums_and_combinations_are_those_of_the_values():
    for space, group, output in [
        (sa.Sphere(3), groups.point_group("D3"), "vector"),
        (sa.Torus(2), groups.hyperoctahedral(2), "vector"),
    ]:
        basis = sa.equivariant_basis(space, group, output, max_eigenvalue=30)
        rng = np.random.default_rng(0)
        X, c = space.sample(20, random_state=1), rng.normal(size=basis.dim)
        Y, w = rng.normal(size=(20, basis.n_outputs)), rng.uniform(0.5, 2, size=20)
        values = basis.evaluate(X)
        np.testing.assert_allclose(basis.combine(X, c), np.einsum("nrp,r->np", values, c), atol=1e-12)
        np.testing.assert_allclose(basis.correlate(X, Y), np.einsum("nrp,np->r", values, Y), atol=1e-12)
        cross, gram = basis.correlate_and_gram(X, Y, w)
        np.testing.assert_allclose(cross, np.einsum("nrp,np->r", values, Y), atol=1e-12)
        np.testing.assert_allclose(gram, np.einsum("n,nrp,nsp->rs", w, values, values), atol=1e-11)


def test_values_at_a_point_with_a_stabiliser_are_fixed_by_it():
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), "vector", max_eigenvalue=110)
    values = basis.evaluate([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])
    assert np.abs(values[0, :, :2]).max() < 1e-13  # on the fourfold axis: along it
    assert np.abs(values[1, :, 1]).max() < 1e-13  # on a mirror plane: within it


@pytest.mark.parametrize("output", ["vector", "axial vector", "ij=-ji"])
@pytest.mark.parametrize(
    "maker",
    [groups.symmetric, groups.alternating, groups.hyperoctahedral, groups.cyclic_shifts],
    ids=lambda m: m.__name__,
)
def test_permuted_outputs_on_a_sphere_are_those_of_a_null_space(maker, output):
    space, group = sa.Sphere(7), maker(7)
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=12)
    other = sa.equivariant_basis(space, group, output, max_eigenvalue=12, solver="null space")
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in other.table]
    sa.testing.check_equivariant_functions(basis)
    values = [B.evaluate(space.sample(20, 0)) for B in (basis, other)]
    ours, theirs = (np.einsum("mka,nkb->manb", v, v) for v in values)  # kernels: the same for one space of functions
    np.testing.assert_allclose(ours, theirs, atol=1e-11)


def test_permuted_outputs_on_a_large_sphere_take_no_null_space():
    space = sa.Sphere(24)
    basis = sa.equivariant_basis(space, groups.symmetric(24), "vector", max_eigenvalue=75)
    rest = groups.direct_product(groups.trivial(1), groups.symmetric(23))
    stabiliser = sa.invariant_basis(space, rest, max_eigenvalue=75)
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in stabiliser.table]
    assert {row.solver for row in basis.table} == {"orbits"}


def test_permuted_outputs_are_invariants_of_the_stabiliser_of_one():
    """Four particles, one output each: as many functions as S_3 leaves alone on the other three."""
    basis = sa.equivariant_basis(sa.Torus(4), S4, PARTICLES, max_eigenvalue=40)
    rest = groups.Group([isometries.permutation([0, 2, 1, 3]), isometries.permutation([0, 2, 3, 1])])
    stabiliser = sa.invariant_basis(sa.Torus(4), rest, max_eigenvalue=40)
    assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in stabiliser.table]


def test_alternating_groups_have_symmetric_and_antisymmetric_invariants():
    for space, m, top in [(sa.Power(sa.Circle(), 3), 3, 14), (sa.Torus(4), 4, 60), (sa.Power(sa.Circle(), 2), 2, 9)]:
        even = sa.invariant_basis(space, groups.alternating(m), max_eigenvalue=top)
        whole = groups.symmetric(m)
        symmetric = sa.invariant_basis(space, whole, max_eigenvalue=top)
        antisymmetric = sa.equivariant_basis(space, whole, "pseudoscalar", max_eigenvalue=top)
        assert {row.solver for row in even.table} == {"closed form"}
        assert even.dim == symmetric.dim + antisymmetric.dim
        null = sa.invariant_basis(space, groups.alternating(m), max_eigenvalue=top, solver="null space")
        X = space.sample(8, random_state=0)
        np.testing.assert_allclose(
            even.evaluate(X) @ even.evaluate(X).T, null.evaluate(X) @ null.evaluate(X).T, atol=1e-11
        )


def test_one_copy_has_no_determinants_beside_its_functions():
    space = sa.Power(sa.Circle(), 1)
    assert sa.invariant_basis(space, groups.alternating(1), max_eigenvalue=9).dim == 7


@pytest.mark.parametrize("space, group, output, top, solvers", CASES[:12:3], ids=IDS[:12:3])
def test_a_basis_is_restored_to_the_last_bit(space, group, output, top, solvers):
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    made_from = (basis.space, basis.output, basis.cutoff, basis.order, basis.solver)
    X = space.sample(5, random_state=0)
    for same in (
        restored_equivariant_basis(*made_from, basis.table, basis.arrays),
        pickle.loads(pickle.dumps(basis)),
    ):
        assert same == basis
        assert hash(same) == hash(basis)
        np.testing.assert_array_equal(same.evaluate(X), basis.evaluate(X))


LARGE = [
    (sa.Torus(50), groups.symmetric(50), 30),
    (sa.Torus(50), groups.hyperoctahedral(50), 30),
    (sa.Power(sa.Sphere(3), 30), groups.symmetric(30), 6),
]


@pytest.mark.parametrize("space, group, top", LARGE, ids=lambda value: repr(value))
def test_permuted_outputs_need_no_null_space(space, group, top):
    """One output for each coordinate or copy: as many functions as the stabiliser of one of them has."""
    output = groups.Representation(group, group.generators)
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    assert {row.solver for row in basis.table} == {"closed form"}
    check_equivariant_functions(basis, n_elements=2)
    m = output.dim
    if group == groups.hyperoctahedral(50):
        # Odd in its own coordinate and even in the others: sin(πkx) times what B_49 leaves alone.
        first = sa.equivariant_basis(sa.Torus(1), groups.sign_flips(1), "vector", max_eigenvalue=top)
        rest = sa.invariant_basis(sa.Torus(49), groups.hyperoctahedral(49), max_eigenvalue=top)
        sums = np.add.outer(first.eigenvalues, rest.eigenvalues)
    else:
        one = sa.Torus(1) if isinstance(space, sa.Torus) else space.base
        others = sa.Torus(m - 1) if isinstance(space, sa.Torus) else sa.Power(one, m - 1)
        first = sa.invariant_basis(one, max_eigenvalue=top)
        rest = sa.invariant_basis(others, groups.symmetric(m - 1), max_eigenvalue=top)
        sums = np.add.outer(first.eigenvalues, rest.eigenvalues)
    assert basis.dim == np.sum(sums < top * (1 + 1e-9))


def test_a_direct_sum_has_the_functions_of_each_summand():
    space, group = sa.Sphere(3), groups.point_group("D3")
    vector, axial = (groups.representation(group, name) for name in ("vector", "axial ij=ji"))
    one = groups.representation(group, "scalar")
    X, Y = space.sample(5, random_state=0), space.sample(4, random_state=1)

    def kernel(output):
        basis = sa.equivariant_basis(space, group, output, max_eigenvalue=12)
        return np.einsum("arp,brq->apbq", basis.evaluate(X), basis.evaluate(Y)), basis

    whole, basis = kernel(vector + one + axial)
    check_equivariant_functions(basis)
    check_multiplicities(basis)
    check_vector_orthonormality(basis)
    at = 0
    for part in (vector, one, axial):
        places = np.arange(at, at + part.dim)
        np.testing.assert_allclose(whole[:, places][:, :, :, places], kernel(part)[0], atol=1e-12)
        at += part.dim


@pytest.mark.parametrize("output", ["vector", "ij=ji", "axial vector"])
@pytest.mark.parametrize(
    "group",
    [
        groups.diagonal(groups.point_group("C∞v"), 3),
        groups.joined(groups.diagonal(groups.orthogonal(3), 3), groups.symmetric(3)),
        groups.diagonal(groups.point_group("D3"), 3),
        two_exchanged(groups.orthogonal(3)),
        two_exchanged(groups.point_group("C∞v")),
    ],
    ids=repr,
)
def test_copies_and_outputs_that_move_together_are_those_of_the_whole_null_space(group, output, monkeypatch):
    space = sa.Power(sa.Sphere(3), 3)
    X = space.sample(4, random_state=0)
    kernels = []
    for solvers in (_solver_choice.OUTPUT_SOLVERS, (NullSpaceOfOutputs,)):
        monkeypatch.setattr(_solver_choice, "OUTPUT_SOLVERS", solvers)
        values = _equivariant_basis.built_equivariant_basis.__wrapped__(
            space, groups.representation(group, output), Cutoff("max_eigenvalue", 6.0), BY_EIGENVALUE, "auto", np.inf
        ).evaluate(X)
        kernels.append(np.einsum("arp,brq->apbq", values, values))
    np.testing.assert_allclose(*kernels, atol=1e-12 * max(1.0, np.abs(kernels[1]).max()))


@pytest.mark.parametrize("space, group, output, top, solvers", CASES, ids=IDS)
def test_gradients_are_derivatives(space, group, output, top, solvers):
    """Along a curve in the space: a geodesic to second order."""
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=min(top, 30))
    rng = np.random.default_rng(0)
    X = space.check_points(space.sample(3, random_state=1))
    c, h = rng.normal(size=basis.dim), 1e-5
    field = space.tangents(X) @ rng.normal(size=space.dim)  # (n, n_features)
    ends = [moved_along(space, X, s * h * field) for s in (1, -1)]
    found = (basis.combine(ends[0], c) - basis.combine(ends[1], c)) / (2 * h)
    gradient = basis.combine_gradient(X, c)
    scale = max(1.0, float(np.abs(gradient).max()))
    np.testing.assert_allclose(np.einsum("nf,nfp->np", field, gradient), found, atol=1e-6 * scale)
    np.testing.assert_allclose(np.einsum("nrpf,r->nfp", basis.gradient(X), c), gradient, atol=1e-11 * scale)


def moved_along(space, X, step):
    """The points x + step, brought back to the space: an error of second order."""
    if isinstance(space, sa.Product | sa.Power):
        parts = space.factors if isinstance(space, sa.Product) else [space.base] * space.copies
        ends = np.cumsum([part.n_features for part in parts])[:-1]
        blocks = zip(parts, np.split(X, ends, axis=1), np.split(step, ends, axis=1), strict=True)
        return np.hstack([moved_along(*block) for block in blocks])
    Y = X + step
    if isinstance(space, sa.Sphere):
        return Y / np.linalg.norm(Y, axis=1)[:, None]
    if isinstance(space, sa.Rotations | sa.Stiefel):
        U, _, Vt = np.linalg.svd(Y.reshape(len(Y), *space.shape), full_matrices=False)
        return (U @ Vt).reshape(len(Y), -1)
    return Y


def test_every_solver_of_outputs_has_a_case():
    used = set()

    def note(solution):
        used.add(type(solution.solver))
        for _, part in solution.parts:
            note(part)

    for space, group, output, top, *_ in (*CASES, *CONTINUOUS):
        made = _equivariant_basis.output_representation(space, group, output)
        resolver = _solver_choice.Resolver(space, group, output=made)
        for carrier in carriers(space, BY_EIGENVALUE, made):
            if carrier.eigenvalue > min(top, 5):
                break
            note(resolver.solve(carrier))
    assert used >= set(_solver_choice.OUTPUT_SOLVERS)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="no output is called 'spinor'"):
        sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), "spinor", max_eigenvalue=6)
    with pytest.raises(ValueError, match="the representation is one of"):
        sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), HANDED_ROUND, max_eigenvalue=6)
    with pytest.raises(ValueError, match="'orbits' does not apply"):
        sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), "vector", max_eigenvalue=6, solver="orbits")
    with pytest.raises(ValueError, match="give a cutoff"):
        sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), "vector")
    flat = groups.Group([], fields=[fields.rotation([[0, -1], [1, 0]])])
    with pytest.raises(ValueError, match=r"coordinates|columns|size"):
        sa.equivariant_basis(sa.Sphere(3), flat, "vector", max_eigenvalue=6)


TANGENT = ("tangent vector", "axial tangent vector")


@pytest.mark.parametrize("output", TANGENT)
@pytest.mark.parametrize("name", ["C1", "Ci", "C4v", "D3d", "Td", "Oh", "I", "C∞", "C∞v", "C∞h", "D∞h"])
def test_tangent_fields_obey_the_laws(name, output):
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group(name), output, max_eigenvalue=56)
    assert basis.dim
    check_equivariant_functions(basis)
    check_tangency(basis)
    check_vector_orthonormality(basis)
    if not basis.group.fields:
        check_multiplicities(basis)


def test_tangent_fields_of_another_orientation():
    basis = sa.equivariant_basis(sa.Sphere(3), TURNED, "tangent vector", max_eigenvalue=30)
    check_equivariant_functions(basis)
    check_multiplicities(basis)


@pytest.mark.parametrize("name", ["C1", "D3d", "Td", "I"])
@pytest.mark.parametrize("output", TANGENT)
def test_tangent_fields_are_all_vector_fields_less_the_radial_ones(name, output):
    """Components of tangent fields up to degree l are polynomials of degree l + 1: the projections of vector fields."""
    space, group = sa.Sphere(3), groups.point_group(name)
    X = space.sample(200, random_state=0)
    tangent = sa.equivariant_basis(space, group, output, max_eigenvalue=42).evaluate(X)  # degree 6
    every = sa.equivariant_basis(space, group, output.replace("tangent ", ""), max_eigenvalue=56).evaluate(
        X
    )  # degree 7
    every = np.concatenate([every, tangent], axis=1)
    assert np.linalg.matrix_rank(every.transpose(0, 2, 1).reshape(600, -1), 1e-9) == every.shape[1] - tangent.shape[1]
    fewer = sa.equivariant_basis(space, group, output.replace("tangent ", ""), max_eigenvalue=30).evaluate(
        X
    )  # degree 5
    projected = fewer - np.einsum("nji,ni->nj", fewer, X)[:, :, None] * X[:, None]
    both = np.concatenate([tangent, projected], axis=1).transpose(0, 2, 1).reshape(600, -1)
    assert np.linalg.matrix_rank(both, 1e-9) == tangent.shape[1]


def test_all_rotations_leave_no_tangent_field():
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group("K"), "tangent vector", max_eigenvalue=30)
    assert basis.dim == 0
    assert basis.evaluate([[0.0, 0.0, 1.0]]).shape == (1, 0, 3)
    assert sa.equivariant_basis(sa.Sphere(3), None, "tangent vector", max_eigenvalue=1).dim == 0


def test_a_field_that_is_not_tangent_breaks_the_law():
    with pytest.raises(LawBroken, match="x·F"):
        check_tangency(sa.equivariant_basis(sa.Sphere(3), groups.point_group("Oh"), "vector", max_eigenvalue=12))


def test_tangent_fields_come_back_with_the_same_bits():
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group("D3"), "tangent vector", max_eigenvalue=30)
    parts = (basis.space, basis.output, basis.cutoff, basis.order, basis.solver, basis.table, basis.arrays)
    X = basis.space.sample(20, random_state=0)
    np.testing.assert_array_equal(restored_equivariant_basis(*parts).evaluate(X), basis.evaluate(X))


@pytest.mark.parametrize("space", [sa.Sphere(2), sa.Sphere(4), sa.Torus(3), sa.Rotations(), sa.Power(sa.Sphere(3), 2)])
def test_tangent_fields_are_refused_elsewhere(space):
    with pytest.raises(ValueError, match="known on Sphere"):
        sa.equivariant_basis(space, None, "tangent vector", max_eigenvalue=10)


@pytest.mark.parametrize("output", TANGENT)
@pytest.mark.parametrize("name", ["C1", "C∞", "C3v", "Oh"])
def test_derivatives_of_tangent_fields_are_derivatives(name, output):
    """By differences of sixth order, beside the sphere those of the nearest point; and F·x = 0 has ∇(F·x) = 0."""
    space = sa.Sphere(3)
    basis = sa.equivariant_basis(space, groups.point_group(name), output, max_eigenvalue=56)
    X, h = space.sample(5, random_state=0), 2e-3
    gradient, values = basis.gradient(X), basis.evaluate(X)  # (n, dim, p, n_features), (n, dim, p)
    found = np.zeros_like(gradient)
    for j in range(3):
        for k, weight in zip((1, 2, 3), (3 / 4, -3 / 20, 1 / 60), strict=True):
            there, back = (moved_along(space, X, s * k * h * np.eye(3)[j]) for s in (1, -1))
            found[..., j] += weight / h * (basis.evaluate(there) - basis.evaluate(back))
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(gradient, found, atol=1e-11 * scale)
    # ∇(F·x) = (∇F)·x + P F
    np.testing.assert_allclose(np.einsum("nrpf,np->nrf", gradient, X), -values, atol=1e-12 * scale)
    c = np.random.default_rng(0).normal(size=basis.dim)
    together = np.einsum("nrpf,r->nfp", gradient, c)
    np.testing.assert_allclose(basis.combine_gradient(X, c), together, atol=1e-12 * np.abs(together).max())


@pytest.mark.parametrize(
    "space, advice",
    [(sa.Torus(3), "every vector is tangent"), (sa.Sphere(2), "pseudoscalar"), (sa.Sphere(4), "off its")],
)
def test_other_spaces_say_what_takes_the_place_of_tangent_vectors(space, advice):
    with pytest.raises(ValueError, match=advice):
        sa.equivariant_basis(space, None, "tangent vector", max_eigenvalue=6)


def test_chunks_of_vector_functions_keep_the_memory_limit():
    basis = sa.equivariant_basis(sa.Sphere(3), groups.point_group("O"), "vector", max_eigenvalue=200)
    row_bytes = basis.functions.row_bytes
    with sa.config(memory_limit=40 * row_bytes):
        assert {rows.stop - rows.start for rows in basis.functions.chunks(100)} == {10}


@pytest.mark.parametrize("name", ["orthogonal", "special_orthogonal"])
@pytest.mark.parametrize(
    "output", ["scalar", "pseudoscalar", "vector", "axial vector", "ij=ji", "ij", "ijk=ikj", "vector + scalar"]
)
def test_on_one_orbit_no_function_is_missing(name, output):
    """Frobenius reciprocity: as many functions as values at a pole that what keeps the pole leaves alone."""
    space, group = sa.Sphere(3), getattr(groups, name)(3)
    kept = [isometries.orthogonal([[np.cos(1), -np.sin(1), 0], [np.sin(1), np.cos(1), 0], [0, 0, 1]])]  # of all angles
    if name == "orthogonal":
        kept.append(isometries.signed_permutation([0, 1, 2], [-1, 1, 1]))
    images = [groups.representation(groups.Group([g]), output).images[0] for g in kept]
    moves = np.concatenate([rho.matrix - np.eye(rho.size) for rho in images])
    count = int(np.sum(np.linalg.svd(moves, compute_uv=False) < 1e-9))
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=30)
    assert basis.dim == count
    assert basis.is_complete
    if count:
        assert sa.equivariant_basis(space, group, output, max_invariant_dim=count).dim == count
    with pytest.raises(ValueError, match=r"out of reach: the flows of .* take every point"):
        sa.equivariant_basis(space, group, output, max_invariant_dim=count + 1)
