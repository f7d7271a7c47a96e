"""MixedTorus: waves of few coordinates first; what it lists, its laws, and when kernel ridge regression takes it."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.invariants import mixed_spaces
from specavg.persistence import describe_space, read_space
from specavg.spaces import MixedTorus, Torus

GROUPS = {
    "trivial": groups.trivial(3),
    "flips": groups.sign_flips(3),
    "permutations": groups.symmetric(3),
    "both": groups.hyperoctahedral(3),
    "turns": groups.Group([isometries.permutation([1, 2, 0])]),
    "blocks": groups.direct_product(groups.symmetric(2), groups.sign_flips(1)),
    "shifts": groups.Group([isometries.shift([Fraction(1, 3), 0, 0]), isometries.permutation([1, 2, 0])]),
}


def sizes(K, steepness=4):
    return np.prod(1 + steepness * K**2, axis=1)


def grid(d, reach):
    axis = np.arange(-reach, reach + 1)
    return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)


@pytest.mark.parametrize("d, reach, c", [(1, 40, 4), (2, 40, 64), (3, 20, 16), (4, 9, 4), (4, 9, 1)])
def test_eigenspaces_are_those_of_a_full_listing(d, reach, c):
    K = grid(d, reach)
    complete = 1 + c * (reach + 1) ** 2  # the smallest product that lies outside the grid
    values, counts = np.unique(sizes(K, c), return_counts=True)
    wanted = [(int(v), int(c)) for v, c in zip(values, counts, strict=True) if v < complete]
    space = MixedTorus(Torus(d), c)
    found = list(islice(space.eigenspaces(), len(wanted)))
    assert [(V.label, V.dim) for V in found] == wanted
    for V in found:
        assert V.eigenvalue == pytest.approx(np.log(V.label), abs=1e-14)
        mine = space.frequencies(V)
        both = np.unique(np.concatenate([mine, -mine]), axis=0)
        np.testing.assert_array_equal(both, np.unique(K[sizes(K, c) == V.label], axis=0))


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_every_law_holds(group):
    sa.testing.check_space(MixedTorus(Torus(3)), group)


def test_sides_may_differ_where_the_group_allows():
    space = MixedTorus(Torus(3, period=[1.0, 2.0, 2.0]))
    sa.testing.check_space(space, groups.Group([isometries.permutation([0, 2, 1])]))
    sa.testing.check_space(space, groups.sign_flips(3))
    with pytest.raises(ValueError, match="not an isometry"):
        sa.invariant_basis(space, groups.symmetric(3), max_invariant_dim=20)


def test_the_heat_kernel_is_a_product_over_coordinates():
    # All waves up to a bound, summed with weights ∏(1 + 4 k²)^(−s), against the product formula cut at the same bound.
    space, s = MixedTorus(Torus(2)), 1.7
    basis = sa.invariant_basis(space, max_eigenvalue=np.log(1 + 4 * 20.0**2))
    X = space.sample(20, random_state=0)
    weights = np.exp(-s * basis.eigenvalues)
    K = grid(2, 20)
    K = K[sizes(K) <= 1 + 4 * 20**2]
    differences = X[:, None] - X[None]
    wanted = np.einsum("k,ijk->ij", sizes(K) ** -s, np.cos(np.pi * differences @ K.T))
    values = basis.evaluate(X)
    np.testing.assert_allclose(values * weights @ values.T, wanted, atol=1e-12)


@pytest.mark.parametrize(
    "group",
    [
        groups.hyperoctahedral(1000),
        groups.direct_product(groups.symmetric(300), groups.hyperoctahedral(300), groups.sign_flips(400)),
    ],
    ids=["one", "blocks"],
)
def test_a_large_group_costs_nothing(group):
    space = MixedTorus(Torus(1000), 64)
    basis = sa.invariant_basis(space, group, max_invariant_dim=1500)
    assert basis.dim > 1
    assert {row.solver for row in basis.table} == {"closed form"}
    X = space.sample(5, random_state=0)
    for g in group.generators:
        np.testing.assert_allclose(basis.evaluate(space.act(g, X)), basis.evaluate(X), atol=1e-10)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="box torus"):
        MixedTorus(Torus(lattice=[[1, 0], [0.5, 1]]))
    with pytest.raises(ValueError, match="box torus"):
        MixedTorus(sa.Sphere(3))  # pyright: ignore[reportArgumentType]
    for steepness in (0, 1.5, -4):
        with pytest.raises(ValueError, match="at least 1"):
            MixedTorus(Torus(4), steepness)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="not an isometry"):
        MixedTorus(Torus(2)).check_isometry(isometries.affine([[1, 1], [0, 1]], [0, 0]))
    with pytest.raises(ValueError, match="Weyl's law"):
        sa.theory.weyl_count(MixedTorus(Torus(4)), 10.0)


def test_values_and_descriptions():
    space = MixedTorus(Torus(4, period=3.0))
    assert space == MixedTorus(Torus(4, period=3.0)) != MixedTorus(Torus(4))
    assert space != space.torus
    assert space != MixedTorus(space.torus, 5)
    steep = MixedTorus(space.torus, 64)
    assert read_space(describe_space(steep)) == steep
    assert repr(steep) == "MixedTorus(Torus(4, period=3.0), steepness=64)"
    assert hash(space) == hash(MixedTorus(Torus(4, period=3.0)))
    assert read_space(describe_space(space)) == pickle.loads(pickle.dumps(space)) == space
    assert repr(space) == "MixedTorus(Torus(4, period=3.0))"


def test_only_boxes_of_many_coordinates_are_reordered():
    box = Torus(4, period=[1, 1, 2, 2])
    assert mixed_spaces(box) == [MixedTorus(box), MixedTorus(box, 64)]
    for space in (Torus(3), Torus(lattice=np.eye(4)), sa.Sphere(6), MixedTorus(Torus(4))):
        assert mixed_spaces(space) == []


def additive(X):
    return np.cos(np.pi * X).sum(axis=1) + X[:, 0] ** 2 + X[:, 1] ** 2


def radial(X):
    return np.exp(np.cos(np.pi * X).sum(axis=1) / 2)


@pytest.mark.parametrize("target, mixed", [(additive, True), (radial, False)], ids=["sum", "product"])
def test_kernel_ridge_takes_the_order_that_predicts(target, mixed):
    space, group = Torus(6), groups.sign_flips(6)
    X, Z = space.sample(150, random_state=0), space.sample(500, random_state=1)
    y, truth = target(X), target(Z)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.basis_.mixed is mixed
    other = (
        sa.InvariantKernelRidge(space, group, spectrum="matern")
        if mixed
        else sa.InvariantKernelRidge(MixedTorus(space, 64), group)
    ).fit(X, y)
    assert other.basis_.mixed is not mixed
    errors = [np.sqrt(np.mean((m.predict(Z) - truth) ** 2)) for m in (model, other)]
    assert errors[0] < (0.2 if mixed else 0.5) * errors[1]


@pytest.mark.parametrize(
    "given",
    [{"spectrum": "matern"}, {"smoothness": 4.0}, {"length_scale": 0.3}, {"max_invariant_dim": 100}],
    ids=lambda given: next(iter(given)),
)
def test_what_is_given_is_given_for_the_laplacian(given):
    space = Torus(5)
    X = space.sample(40, random_state=0)
    assert not sa.InvariantKernelRidge(space, None, **given).fit(X, additive(X)).basis_.mixed


def test_the_search_on_few_rows_serves_many(tmp_path):
    space, group = Torus(5), groups.hyperoctahedral(5)
    X, Z = space.sample(900, random_state=0), space.sample(300, random_state=1)
    y = (X**2).sum(axis=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.basis_.mixed
    assert model.basis_.dim <= model.cutoff_.value
    assert np.abs(model.predict(Z) - (Z**2).sum(axis=1)).max() < 0.01
    moved = -Z[:, [2, 0, 1, 4, 3]]
    for a, b in zip(model.predict(Z, return_std=True), model.predict(moved, return_std=True), strict=True):
        assert (a == b).all()
    model.save(tmp_path / "model.specavg")
    again = sa.load(tmp_path / "model.specavg")
    assert again.basis_ == model.basis_
    for a, b in zip(model.predict(Z, return_std=True), again.predict(Z, return_std=True), strict=True):
        assert (a == b).all()
