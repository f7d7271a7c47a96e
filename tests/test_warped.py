"""Powers and products with functions of few particles first: what they list, and when kernel ridge takes them."""

from __future__ import annotations

import pickle
from itertools import islice
from itertools import product as cartesian

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.invariants import mixed_spaces
from specavg.persistence import describe_space, read_space
from specavg.spaces import Circle, MixedTorus, Power, Product, Rotations, Sphere, Torus, Warped

MIRROR = groups.Group([isometries.signed_permutation([0, 1, 2], [1, 1, -1])], "mirror")


def warped(values, dim):
    """μ of the eigenvalues `values`, the first of which is zero."""
    return dim * np.log(1 + (5 ** (1 / dim) - 1) * values / values[1])


FACTORS = {
    "C": (warped(np.arange(60.0) ** 2, 1), np.array([1] + [2] * 59)),
    "S": (warped(np.arange(40.0) * np.arange(1.0, 41.0), 2), 2 * np.arange(40) + 1),
}


def sums(*factors):
    """Sums of one eigenvalue of each factor and the products of their dimensions, equal sums joined."""
    top = min(values[-1] for values, _ in factors)
    found = sorted(
        (sum(values[i] for i, (values, _) in zip(index, factors, strict=True)), index)
        for index in cartesian(*(range(len(values)) for values, _ in factors))
    )
    joined: list[list[float]] = []
    for total, index in found:
        if total >= top:
            break
        dim = int(np.prod([dims[i] for i, (_, dims) in zip(index, factors, strict=True)]))
        if joined and total - joined[-1][0] <= 1e-8 * total:
            joined[-1][1] += dim
        else:
            joined.append([total, dim])
    return joined


@pytest.mark.parametrize(
    "space, factors",
    [
        (Warped(Sphere(3)), "S"),
        (Power(Warped(Circle()), 3), "CCC"),
        (Power(Warped(Sphere(3)), 2), "SS"),
        (Product(Warped(Circle()), Warped(Sphere(3))), "CS"),
        (Product(Power(Warped(Circle()), 2), Warped(Sphere(3))), "CCS"),
    ],
    ids=str,
)
def test_eigenspaces_are_those_of_a_full_listing_of_sums(space, factors):
    wanted = sums(*(FACTORS[name] for name in factors))
    found = list(islice(space.eigenspaces(), len(wanted)))
    np.testing.assert_allclose([V.eigenvalue for V in found], [total for total, _ in wanted], rtol=1e-10)
    assert [V.dim for V in found] == [dim for _, dim in wanted]


def test_the_order_within_one_copy_is_that_of_the_laplacian():
    for base in (Circle(), Sphere(4), Rotations(), Torus(2, period=[1.0, 2.0])):
        space = Warped(base)
        for V, W in islice(zip(base.eigenspaces(), space.eigenspaces(), strict=False), 12):
            assert W.label == V
            assert W.dim == V.dim
        values = [V.eigenvalue for V in islice(space.eigenspaces(), 12)]
        assert values == sorted(values)
        assert np.exp(values[1]) == pytest.approx(5.0)


@pytest.mark.parametrize(
    "space, group",
    [
        (Product(Power(Circle(), 2), Sphere(3)), groups.direct_product(groups.symmetric(2), MIRROR)),
        (Power(Sphere(3), 3), groups.symmetric(3)),
        (Power(Sphere(3), 3), groups.Group([isometries.permutation([1, 2, 0])])),
        (Product(Torus(2), Sphere(3)), groups.direct_product(groups.symmetric(2), MIRROR)),
    ],
    ids=str,
)
def test_every_law_holds_on_what_kernel_ridge_tries(space, group):
    mixed = mixed_spaces(space)[0]
    assert mixed is not None
    sa.testing.check_space(mixed, group, max_functions=20)


@pytest.mark.parametrize("group, solver", [("Oh", "null space"), (None, "closed form")])
def test_the_table_says_how_invariants_were_found(group, solver):
    group = groups.trivial(3) if group is None else groups.point_group(group)
    space = Warped(Sphere(3))
    basis = sa.invariant_basis(space, group, max_invariant_dim=20)
    plain = sa.invariant_basis(Sphere(3), group, max_invariant_dim=20)
    assert solver in {row.solver for row in basis.table}
    for row, other in zip(basis.table, plain.table, strict=True):
        assert (row.dim, row.invariant_dim, row.solver) == (other.dim, other.invariant_dim, other.solver)
        assert (row.residual, row.gap) == (other.residual, other.gap)
    X = space.sample(30, random_state=0)
    assert (basis.evaluate(X) == plain.evaluate(X)).all()
    with pytest.raises(ValueError, match="these do"):
        sa.invariant_basis(space, MIRROR, max_dim=9, solver="closed form")


@pytest.mark.parametrize(
    "space, group",
    [
        (Power(Warped(Sphere(3)), 10), groups.symmetric(10)),
        (Power(Warped(Circle()), 100), groups.symmetric(100)),
        (
            Product(Power(Warped(Circle()), 4), Power(Warped(Circle()), 3)),
            groups.direct_product(groups.symmetric(4), groups.symmetric(3)),
        ),
        (Power(Warped(Sphere(3)), 4), groups.wreath(groups.point_group("O"), 4)),
    ],
    ids=str,
)
def test_thousands_of_functions_under_large_groups(space, group):
    basis = sa.invariant_basis(space, group, max_invariant_dim=1000)
    assert basis.dim > 900
    X = space.sample(5, random_state=0)
    moved = space.act(group.random(np.random.default_rng(1)), X)
    np.testing.assert_allclose(basis.evaluate(moved), basis.evaluate(X), atol=1e-9)


def test_which_spaces_are_reordered():
    sphere, lattice = Sphere(3), Torus(lattice=np.eye(2))
    assert mixed_spaces(Power(sphere, 2))[0] == Power(Warped(sphere), 2)
    assert mixed_spaces(Product(Power(Circle(), 4), Torus(3), Circle(), lattice))[0] == Product(
        Power(Warped(Circle()), 4), MixedTorus(Torus(3)), Warped(Circle()), Warped(lattice)
    )
    assert mixed_spaces(Product(Product(sphere, Circle()), sphere))[0] == Product(
        Product(Warped(sphere), Warped(Circle())), Warped(sphere)
    )
    for space in (Power(Circle(), 3), Power(Sphere(6), 1), Product(Sphere(6)), Product(Circle(), sphere), Sphere(6)):
        assert not space.mixed
        assert mixed_spaces(space) == []
    for space in (Power(Warped(sphere), 5), Product(MixedTorus(Torus(3)), sphere), Warped(Sphere(6))):
        assert space.mixed
        assert mixed_spaces(space) == []


def test_what_does_not_fit_is_refused():
    for base in (Warped(Circle()), MixedTorus(Torus(3)), Power(Warped(Circle()), 2), "Sphere(3)"):
        with pytest.raises(ValueError, match="Warped needs a space"):
            Warped(base)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="points of Sphere"):
        Warped(Sphere(3)).check_points(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="Weyl's law"):
        sa.theory.weyl_count(Power(Warped(Sphere(3)), 2), 10.0)


def test_values_and_descriptions():
    space = Product(Power(Warped(Sphere(3)), 4), Warped(Circle()))
    assert space == Product(Power(Warped(Sphere(3)), 4), Warped(Circle())) != Product(Power(Sphere(3), 4), Circle())
    assert Warped(Sphere(3)) != Sphere(3)
    assert len({Warped(Sphere(3)), Warped(Sphere(3)), Warped(Sphere(4))}) == 2
    assert read_space(describe_space(space)) == pickle.loads(pickle.dumps(space)) == space
    assert repr(space) == "Product(Power(Warped(Sphere(3)), 4), Warped(Circle()))"


CHARGES = np.array([1.0] * 4 + [-2.0] * 3)


def pairs(X):
    """Charges on a ring: a sum over pairs of particles."""
    distance = 2 * np.abs(np.sin((X[:, :, None] - X[:, None, :]) / 2))
    return np.triu(CHARGES[:, None] * CHARGES / (distance + 1.0), 1).sum(axis=(1, 2))


def together(X):
    """A smooth function of all particles at once."""
    return np.exp(np.cos(X).sum(axis=1) / 2)


@pytest.mark.parametrize("target, mixed", [(pairs, True), (together, False)], ids=["pairs", "all"])
def test_kernel_ridge_takes_the_order_that_predicts(target, mixed, tmp_path):
    space = Product(Power(Circle(), 4), Power(Circle(), 3))
    group = groups.direct_product(groups.symmetric(4), groups.symmetric(3))
    X, Z = space.sample(300, random_state=0), space.sample(500, random_state=1)
    y, truth = target(X), target(Z)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.basis_.mixed is mixed
    other_space = space if mixed else mixed_spaces(space)[0]
    other = sa.InvariantKernelRidge(other_space, group, spectrum="matern" if mixed else "auto").fit(X, y)
    assert other.basis_.mixed is not mixed
    errors = [np.sqrt(np.mean((m.predict(Z) - truth) ** 2)) for m in (model, other)]
    assert errors[0] < 0.8 * errors[1]
    moved = Z[:, [2, 0, 3, 1, 6, 5, 4]]
    for a, b in zip(model.predict(Z, return_std=True), model.predict(moved, return_std=True), strict=True):
        assert (a == b).all()
    model.save(tmp_path / "model.specavg")
    again = sa.load(tmp_path / "model.specavg")
    assert again.basis_ == model.basis_
    for a, b in zip(model.predict(Z, return_std=True), again.predict(Z, return_std=True), strict=True):
        assert (a == b).all()


def test_invariants_of_one_copy_are_found_once_and_saved_once(tmp_path):
    space, group = Power(Sphere(3), 3), groups.wreath(groups.point_group("T"), 3)
    X = space.sample(40, random_state=0)
    y = np.abs(X).sum(axis=1)
    model = sa.InvariantKernelRidge(mixed_spaces(space)[0], group).fit(X, y)
    sizes = [len(array) for array in model.basis_.tape]  # 2l + 1 of each degree l
    assert len(set(sizes)) == len(sizes) > 5
    model.save(tmp_path / "model.specavg")
    assert (sa.load(tmp_path / "model.specavg").predict(X) == model.predict(X)).all()
