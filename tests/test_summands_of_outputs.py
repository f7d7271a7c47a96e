"""Outputs as a direct sum: irreducible summands, the same functions, and the same fit."""

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.functions._vector_functions import JoinedOutputs, VectorFunctions
from specavg.invariants._summands_of_outputs import summands_of_outputs
from specavg.regression._block_problem import BlockProblem

POINT_GROUPS = [
    ("C1", "ij=ji"),
    ("C3", "vector"),
    ("C4", "ijk"),
    ("D3d", "ij=ji"),
    ("D6h", "ij"),
    ("T", "ij=ji"),
    ("Td", "ijk"),
    ("I", "ijk"),
    ("Ih", "ijkl=jikl=klij"),
]
CONTINUOUS = [("C∞v", "ij=ji"), ("C∞", "ijk"), ("D∞h", "ij"), ("K", "ijk")]


@pytest.mark.parametrize("name, output", POINT_GROUPS + CONTINUOUS)
def test_frames_are_orthonormal_and_turn_the_images_into_those_of_the_parts(name, output):
    rho = groups.representation(groups.point_group(name), output)
    summands = summands_of_outputs(rho, exact=False)
    frames = np.concatenate([frame for summand in summands for frame in summand.frames], axis=1)
    np.testing.assert_allclose(frames.T @ frames, np.eye(rho.dim), atol=1e-14)
    for summand in summands:
        pairs = [
            *zip(rho.images, summand.output.images, strict=True),
            *zip(rho.field_images, summand.output.field_images, strict=True),
        ]
        for whole, own in pairs:
            np.testing.assert_allclose(whole.matrix @ summand.frames, summand.frames @ own.matrix, atol=2e-14)


@pytest.mark.parametrize("name, output", POINT_GROUPS)
def test_parts_are_irreducible_and_differ_by_their_characters(name, output):
    """Over the enumerated group: mean χ_k² is 1, 2 or 4 by the type of the summand, and mean χ_k χ_l is 0."""
    rho = groups.representation(groups.point_group(name), output)
    summands = summands_of_outputs(rho, exact=False)
    characters = np.array(
        [[np.trace(image.matrix) for _, image in summand.output.elements()] for summand in summands]
    )  # the elements come in one order, that of the group
    products = characters @ characters.T / characters.shape[1]
    assert set(np.rint(np.diag(products))) <= {1.0, 2.0, 4.0}
    np.testing.assert_allclose(products, np.diag(np.rint(np.diag(products))), atol=1e-12)
    whole = np.array([np.trace(image.matrix) for _, image in rho.elements()])
    np.testing.assert_allclose(whole, [len(summand.frames) for summand in summands] @ characters, atol=1e-12)


def test_what_is_exact_stays_so_where_that_is_asked_for():
    rho = groups.representation(groups.symmetric(4), "vector")
    (summand,) = summands_of_outputs(rho, exact=True)
    assert summand.output == rho
    assert [(p.output.dim, len(p.frames)) for p in summands_of_outputs(rho, exact=False)] in (
        [(1, 1), (3, 1)],
        [(3, 1), (1, 1)],
    )


SPACES = {
    "D3d ij=ji": (sa.Sphere(3), groups.point_group("D3d"), "ij=ji", 30.0),
    "C3 vector": (sa.Sphere(3), groups.point_group("C3"), "vector", 20.0),
    "Td ijk": (sa.Sphere(3), groups.point_group("Td"), "ijk", 12.0),
    "C∞v ij=ji": (sa.Sphere(3), groups.point_group("C∞v"), "ij=ji", 20.0),
    "exchange": (sa.Torus(2), groups.symmetric(2), "vector", 50.0),
    "cyclic shifts": (sa.Torus(3), groups.cyclic_shifts(3), "vector", 30.0),
    "cyclic shifts, ij": (sa.Torus(3), groups.cyclic_shifts(3), "ij", 20.0),
}


@pytest.mark.parametrize("case", SPACES.values(), ids=SPACES.keys())
def test_the_functions_span_what_the_null_space_of_all_outputs_spans(case):
    space, group, output, top = case
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    whole = sa.equivariant_basis(space, group, output, max_eigenvalue=top, solver="null space")
    assert len(basis.functions.summands) > 1
    assert len(whole.functions.summands) == 1
    X = space.sample(6, random_state=0)
    start = 0
    for row, same in zip(basis.table, whole.table, strict=True):
        assert row.invariant_dim == same.invariant_dim
        some = slice(start, start := start + row.invariant_dim)
        kernels = [np.einsum("ajp,bjq->apbq", V, V) for V in (b.evaluate(X)[:, some] for b in (basis, whole))]
        np.testing.assert_allclose(*kernels, atol=1e-11)


@pytest.mark.parametrize("case", SPACES.values(), ids=SPACES.keys())
def test_sums_combinations_and_moments_are_those_of_the_values(case):
    space, group, output, top = case
    basis = sa.equivariant_basis(space, group, output, max_eigenvalue=top)
    rng = np.random.default_rng(0)
    X = space.sample(7, random_state=1)
    F = basis.evaluate(X)  # (n, dim, p)
    Y, c, w = rng.normal(size=(7, basis.n_outputs)), rng.normal(size=basis.dim), rng.uniform(1, 2, 7)
    np.testing.assert_allclose(basis.correlate(X, Y), np.einsum("njp,np->j", F, Y), atol=1e-11)
    np.testing.assert_allclose(basis.combine(X, c), np.einsum("njp,j->np", F, c), atol=1e-11)
    sums, gram = basis.correlate_and_gram(X, Y, w)
    np.testing.assert_allclose(sums, np.einsum("njp,np->j", F, Y), atol=1e-11)
    np.testing.assert_allclose(gram, np.einsum("n,njp,nlp->jl", w, F, F), atol=1e-10)
    slopes = np.einsum("njpi,j->nip", basis.gradient(X), c)
    np.testing.assert_allclose(basis.combine_gradient(X, c), slopes, atol=1e-9)


@pytest.mark.parametrize("name", ["D3d ij=ji", "C3 vector", "cyclic shifts, ij"])
@pytest.mark.parametrize("given", [{"alpha": 0.1}, {}], ids=["given", "chosen"])
def test_a_fit_in_parts_is_the_fit_of_all_outputs_together(name, given, monkeypatch):
    """Coefficients of the functions, error, noise and covariance, beside those of one block of n·p rows."""
    space, group, output, top = SPACES[name]
    X = space.sample(80, random_state=0)
    Y = np.random.default_rng(1).normal(size=(80, groups.representation(group, output).dim))
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 80)
    settings = {"spectrum": "matern", "smoothness": 2.0, "length_scale": 0.4, "max_eigenvalue": top, **given}
    model = sa.EquivariantKernelRidge(space, group, output, **settings).fit(X, Y, sample_weight=weights)
    assert len(model.basis_.functions.summands) > 1
    monkeypatch.setattr(JoinedOutputs, "summands", VectorFunctions.summands)
    assert len(model.basis_.functions.summands) == 1
    whole = sa.EquivariantKernelRidge(space, group, output, **settings).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.loo_error_, whole.loo_error_, rtol=1e-10)
    np.testing.assert_allclose(model.noise_variance_, whole.noise_variance_, rtol=1e-10)
    Z = space.sample(5, random_state=3)
    for a, b in zip(model.predict(Z, return_cov=True), whole.predict(Z, return_cov=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_parts_make_the_rows_few():
    """D3d and six outputs: 2,000 points have 12,000 rows of 98 functions, or rows of 19 and of 30."""
    rows = []
    original = BlockProblem.__init__

    def seen(self, summands, *rest, **named):
        rows.extend(summand.features.shape for summand in summands)
        original(self, summands, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockProblem, "__init__", seen)
        space, group = sa.Sphere(3), groups.point_group("D3d")
        X = space.sample(200, random_state=0)
        sa.EquivariantKernelRidge(
            space, group, "ij=ji", spectrum="heat", length_scale=0.3, alpha=1.0, max_eigenvalue=156
        ).fit(X, np.ones((200, 6)))
    assert sorted(rows) == [(200, 18), (400, 30)]  # 19 less the constant
