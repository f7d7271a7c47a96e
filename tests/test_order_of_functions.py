"""Orders: which functions come first; what is listed, the laws, and when kernel ridge regression takes which."""

from __future__ import annotations

import contextlib
import pickle
from fractions import Fraction
from itertools import islice
from itertools import product as cartesian

import numpy as np
import pytest
from cases import CASES, case_id
from sklearn.base import clone

import specavg as sa
from specavg import groups, isometries
from specavg.invariants import ByDegree, ByEigenvalue, ByType, FewCoordinates, default_order, further_orders
from specavg.invariants._certified_null_space import UnclearRank
from specavg.spaces import Circle, Power, Product, Rotations, Sphere, Torus
from specavg.spaces._copy_types import copy_types

FEW = FewCoordinates()
MIRROR = groups.Group([isometries.signed_permutation([0, 1, 2], [1, 1, -1])], "mirror")
GROUPS = {
    "trivial": groups.trivial(3),
    "flips": groups.sign_flips(3),
    "permutations": groups.symmetric(3),
    "both": groups.hyperoctahedral(3),
    "turns": groups.Group([isometries.permutation([1, 2, 0])]),
    "blocks": groups.direct_product(groups.symmetric(2), groups.sign_flips(1)),
    "shifts": groups.Group([isometries.shift([Fraction(1, 3), 0, 0]), isometries.permutation([1, 2, 0])]),
}

# --- boxes ------------------------------------------------------------------------------------------------


def sizes(K, steepness=4):
    return np.prod(1 + steepness * K**2, axis=1)


def grid(d, reach):
    axis = np.arange(-reach, reach + 1)
    return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)


@pytest.mark.parametrize("d, reach, c", [(1, 40, 4), (2, 40, 64), (3, 20, 16), (4, 9, 4), (4, 9, 1)])
def test_eigenspaces_are_those_of_a_full_listing(d, reach, c):
    K = grid(d, reach)
    complete = 1 + c * (reach + 1) ** 2  # the smallest product that lies outside the grid
    check_listing(Torus(d), FewCoordinates(c), K, sizes(K, c), complete, np.log)


@pytest.mark.parametrize("d, reach", [(1, 40), (2, 30), (3, 12), (4, 7)])
def test_degrees_are_those_of_a_full_listing(d, reach):
    K = grid(d, reach)
    check_listing(Torus(d), ByDegree(), K, np.abs(K).sum(axis=1), reach + 1, lambda degree: degree)


def check_listing(space, order, K, keys, complete, value):
    values, counts = np.unique(keys, return_counts=True)
    wanted = [(int(v), int(c)) for v, c in zip(values, counts, strict=True) if v < complete]
    found = list(islice(space.ordered(order), len(wanted)))
    assert [V.dim for V in found] == [dim for _, dim in wanted]
    for V, (key, _) in zip(found, wanted, strict=True):
        assert V.eigenvalue == pytest.approx(value(key), abs=1e-14)
        mine = space.frequencies(V)
        both = np.unique(np.concatenate([mine, -mine]), axis=0)
        np.testing.assert_array_equal(both, np.unique(K[keys == key], axis=0))


@pytest.mark.parametrize("order", ["few coordinates", "degree"])
@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_every_law_holds(group, order):
    sa.testing.check_space(Torus(3), group, order=order)


def test_sides_may_differ_where_the_group_allows():
    space = Torus(3, period=[1.0, 2.0, 2.0])
    sa.testing.check_space(space, groups.Group([isometries.permutation([0, 2, 1])]), order=FEW)
    sa.testing.check_space(space, groups.sign_flips(3), order=FEW)
    with pytest.raises(ValueError, match="not an isometry"):
        sa.invariant_basis(space, groups.symmetric(3), max_invariant_dim=20, order=FEW)


def test_the_heat_kernel_is_a_product_over_coordinates():
    # All waves up to a bound, summed with weights ∏(1 + 4 k²)^(−s), against the product formula cut at the same bound.
    space, s = Torus(2), 1.7
    basis = sa.invariant_basis(space, max_eigenvalue=np.log(1 + 4 * 20.0**2), order=FEW)
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
    space = Torus(1000)
    basis = sa.invariant_basis(space, group, max_invariant_dim=1500, order=FewCoordinates(64))
    assert basis.dim > 1
    assert {row.solver for row in basis.table} == {"closed form"}
    X = space.sample(5, random_state=0)
    for g in group.generators:
        np.testing.assert_allclose(basis.evaluate(space.act(g, X)), basis.evaluate(X), atol=1e-10)


def test_invariant_polynomials_of_a_degree_are_counted_by_partitions():
    # Even trigonometric polynomials under permutations: multisets of degrees, Σ|k_i| ≤ 6 in three coordinates.
    basis = sa.invariant_basis(Torus(3), groups.hyperoctahedral(3), max_eigenvalue=6, order="degree")
    assert [row.invariant_dim for row in basis.table] == [1, 1, 2, 3, 4, 5, 7]
    assert {row.solver for row in basis.table} == {"closed form"}


# --- copies and factors -----------------------------------------------------------------------------------


def few_value(values, dim):
    """μ of the eigenvalues `values`, the first of which is zero."""
    return dim * np.log(1 + (5 ** (1 / dim) - 1) * values / values[1])


FACTORS = {
    "C": (few_value(np.arange(60.0) ** 2, 1), np.array([1] + [2] * 59)),
    "S": (few_value(np.arange(40.0) * np.arange(1.0, 41.0), 2), 2 * np.arange(40) + 1),
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
        (Sphere(3), "S"),
        (Power(Circle(), 3), "CCC"),
        (Power(Sphere(3), 2), "SS"),
        (Product(Circle(), Sphere(3)), "CS"),
        (Product(Power(Circle(), 2), Sphere(3)), "CCS"),
    ],
    ids=str,
)
def test_eigenspaces_are_those_of_a_full_listing_of_sums(space, factors):
    wanted = sums(*(FACTORS[name] for name in factors))
    found = list(islice(space.ordered(FEW), len(wanted)))
    np.testing.assert_allclose([V.eigenvalue for V in found], [total for total, _ in wanted], rtol=1e-10)
    assert [V.dim for V in found] == [dim for _, dim in wanted]


def test_the_order_within_one_copy_is_that_of_the_laplacian():
    for base in (Circle(), Sphere(4), Rotations(), Torus(2), Torus(2, period=[1.0, 2.0])):
        listed = list(islice(base.as_a_whole(FEW), 12))
        for V, W in zip(base.eigenspaces(), listed, strict=False):
            assert W.label == V.label
            assert W.dim == V.dim
        values = [V.eigenvalue for V in listed]
        assert values == sorted(values)
        assert np.exp(values[1]) == pytest.approx(5.0)
        # A copy of a power is one part, whatever its dimension, unless its coordinates have units of their own.
        wanted = values if base.unlike_parts == 1 else [V.eigenvalue for V in islice(base.ordered(FEW), 12)]
        of_power = [V.eigenvalue for V in islice(Power(base, 1).ordered(FEW), 12)]
        np.testing.assert_allclose(of_power, wanted, rtol=1e-12)


LAWS = [
    (Product(Power(Circle(), 2), Sphere(3)), groups.direct_product(groups.symmetric(2), MIRROR)),
    (Power(Sphere(3), 3), groups.symmetric(3)),
    (Power(Sphere(3), 3), groups.Group([isometries.permutation([1, 2, 0])])),
    (Product(Torus(2), Sphere(3)), groups.direct_product(groups.symmetric(2), MIRROR)),
    (Torus(lattice=np.diag([1, 1, 0.7])), groups.space_group(136)),
]


@pytest.mark.parametrize("space, group", LAWS, ids=str)
def test_every_law_holds_on_what_kernel_ridge_tries(space, group):
    for order in further_orders(space):
        sa.testing.check_space(space, group, max_functions=20, order=order)


@pytest.mark.parametrize("group, solver", [("Oh", "null space"), (None, "closed form")])
def test_the_table_says_how_invariants_were_found(group, solver):
    group = groups.trivial(3) if group is None else groups.point_group(group)
    space = Sphere(3)
    basis = sa.invariant_basis(space, group, max_invariant_dim=20, order=FEW)
    plain = sa.invariant_basis(space, group, max_invariant_dim=20)
    assert solver in {row.solver for row in basis.table}
    for row, other in zip(basis.table, plain.table, strict=True):
        assert (row.dim, row.invariant_dim, row.solver) == (other.dim, other.invariant_dim, other.solver)
        assert (row.residual, row.gap) == (other.residual, other.gap)
    X = space.sample(30, random_state=0)
    assert (basis.evaluate(X) == plain.evaluate(X)).all()
    with pytest.raises(ValueError, match="these do"):
        sa.invariant_basis(space, MIRROR, max_dim=9, solver="closed form", order=FEW)


@pytest.mark.parametrize(
    "space, group",
    [
        (Power(Sphere(3), 10), groups.symmetric(10)),
        (Power(Circle(), 100), groups.symmetric(100)),
        (
            Product(Power(Circle(), 4), Power(Circle(), 3)),
            groups.direct_product(groups.symmetric(4), groups.symmetric(3)),
        ),
        (Power(Sphere(3), 4), groups.wreath(groups.point_group("O"), 4)),
    ],
    ids=str,
)
def test_thousands_of_functions_under_large_groups(space, group):
    basis = sa.invariant_basis(space, group, max_invariant_dim=1000, order="few coordinates")
    assert basis.dim > 900
    X = space.sample(5, random_state=0)
    moved = space.act(group.random(np.random.default_rng(1)), X)
    np.testing.assert_allclose(basis.evaluate(moved), basis.evaluate(X), atol=1e-9)


@pytest.mark.parametrize(
    "group",
    [
        groups.Group([isometries.shift([Fraction(1, 2), Fraction(1, 2)])], name="centred"),
        groups.direct_product(groups.sign_flips(1), groups.cyclic(2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("order", [FEW, ByEigenvalue()], ids=str)
def test_frequencies_of_one_copy_are_found_by_their_norm_in_any_order(group, order):
    # The value of an eigenspace of one copy is that of the order; the frequencies are those of the Laplacian.
    space, G = Power(Torus(2), 2), groups.wreath(group, 2)
    closed = sa.invariant_basis(space, G, max_dim=200, order=order)
    general = sa.invariant_basis(space, G, max_dim=200, order=order, solver="null space")
    assert [row.invariant_dim for row in closed.table] == [row.invariant_dim for row in general.table]
    assert closed.dim > 10


def test_invariants_of_one_copy_are_found_once_and_saved_once(tmp_path):
    space, group = Power(Sphere(3), 3), groups.wreath(groups.point_group("T"), 3)
    X = space.sample(40, random_state=0)
    y = np.abs(X).sum(axis=1)
    model = sa.InvariantKernelRidge(space, group, order="few coordinates").fit(X, y)
    found = [len(array) for array in model.basis_.arrays.values()]  # 2l + 1 of each degree l
    assert len(set(found)) == len(found) > 5
    model.save(tmp_path / "model.specavg")
    assert (sa.load(tmp_path / "model.specavg").predict(X) == model.predict(X)).all()


# --- which order ------------------------------------------------------------------------------------------


def test_which_spaces_have_further_orders():
    few, by_degree = (FewCoordinates(4), FewCoordinates(64)), (ByDegree(),)
    sphere = Sphere(3)
    several = (
        Torus(4, period=[1, 1, 2, 2]),
        Power(sphere, 2),
        Product(Power(Circle(), 4), Torus(3), Circle(), Torus(lattice=np.eye(2))),
        Product(Product(sphere, Circle()), sphere),
    )
    balanced = (ByType(balanced=True),)  # where the factors of a product have no common unit of length
    late = tuple(ByType(balanced=True, late=i) for i in range(2))  # each of up to three of them
    for space in several:
        unlike = () if not isinstance(space, Product) else balanced if space.parts > 3 else balanced + late
        has_degrees = space != several[2]  # lattices have none
        assert further_orders(space) == unlike + few + (by_degree if has_degrees else ())
        for order in few:
            first, second = islice(space.ordered(order), 2)
            assert first.eigenvalue == 0
            assert np.exp(second.eigenvalue) == pytest.approx(1 + order.steepness)
    one = (Torus(3), Torus(lattice=np.eye(4)), Sphere(6), Power(Circle(), 3), Power(Sphere(6), 1), Product(Sphere(6)))
    for space in (*one, Product(Circle(), Circle())):
        assert further_orders(space) == ()
    assert further_orders(Product(Circle(), sphere)) == balanced + late
    for space in (Torus(3), Power(Circle(), 2), Product(Circle(), Circle())):  # of many rows
        assert further_orders(space, many_rows=True) == few
    assert further_orders(Sphere(6), many_rows=True) == ()


def test_high_frequencies_of_single_angles_are_found_beside_a_wave_of_all_of_them():
    space, group = Torus(6), groups.dihedral_shifts(6)

    def target(X):
        a = np.pi * X
        near = np.exp(0.8 * np.cos(a - np.roll(a, 1, axis=1)))
        return (near + 0.3 * np.abs(np.sin(a))).sum(axis=1) + 0.2 * np.cos(a.sum(axis=1))

    X, Z = space.sample(300, random_state=0), space.sample(500, random_state=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, target(X))
    assert model.basis_.order == ByDegree()
    mean, deviation = model.predict(Z, return_std=True)
    by_type = sa.InvariantKernelRidge(space, group, order="type").fit(X, target(X)).predict(Z)
    error, other = (np.sqrt(np.mean((values - target(Z)) ** 2)) for values in (mean, by_type))
    assert error < 0.5 * other  # 0.26
    assert 0.85 <= np.mean(np.abs(mean - target(Z)) <= 1.645 * deviation) <= 0.98  # of 90 % intervals


@pytest.mark.parametrize("step", [1, 3])
def test_types_with_few_eigenspaces_of_one_copy_are_partitions_into_squares(step):
    """Of 12 circles with frequencies that are multiples of 1 or 3: partitions of λ into at most 12 such squares."""
    parts = [k * k for k in range(step, 12, step)]

    def partitions(total, largest, room):
        if total == 0:
            return 1
        fitting = [p for p in parts if p <= min(total, largest)]
        return sum(partitions(total - p, p, room - 1) for p in fitting) if room else 0

    for V in islice(Power(Circle(), 12).eigenspaces(), 1, 100):
        found = copy_types(V).of(lambda W: round(W.eigenvalue**0.5) % step == 0)
        value = round(V.eigenvalue)
        assert len(set(found)) == len(found) == partitions(value, value, 12)
        for chosen in found:
            assert sum(W.eigenvalue * n for W, n in chosen) == pytest.approx(value)
            assert sum(n for _, n in chosen) <= 12


def test_factors_of_a_product_have_their_own_parts():
    # The coordinates of a box count one by one; a lattice, as any other space, as a whole.
    box = Product(Torus(3), Circle())
    assert [V.dim for V in islice(box.ordered(FEW), 4)] == [V.dim for V in islice(Torus(4).ordered(FEW), 4)]
    lattice = Torus(lattice=np.eye(2))
    found = [V.eigenvalue for V in islice(Product(lattice).ordered(FEW), 6)]
    np.testing.assert_allclose(found, [V.eigenvalue for V in islice(lattice.as_a_whole(FEW), 6)], rtol=1e-12)


def test_what_does_not_fit_is_refused():
    for order in ("few coordinates", "degree"):
        with pytest.raises(ValueError, match="is a lattice"):
            sa.invariant_basis(Torus(lattice=[[1, 0], [0.5, 1]]), max_dim=10, order=order)
    with pytest.raises(ValueError, match="have no degree"):
        sa.invariant_basis(Rotations(), max_dim=10, order="degree")
    for steepness in (0, -4, np.nan):
        with pytest.raises(ValueError, match="at least 1"):
            FewCoordinates(steepness)
    with pytest.raises(ValueError, match="at least 1"):
        sa.invariant_basis(Torus(4), max_dim=10, order=FewCoordinates(1.5))
    with pytest.raises(ValueError, match="order must be 'eigenvalue', 'few coordinates'"):
        sa.invariant_basis(Torus(4), max_dim=10, order="fewest")
    shear = groups.Group([isometries.affine([[1, 1], [0, 1]], [0, 0])])
    with pytest.raises(ValueError, match="not an isometry"):
        sa.invariant_basis(Torus(2), shear, max_dim=10, order=FEW)


def test_orders_are_values():
    assert FewCoordinates(4) == FEW != FewCoordinates(64)
    assert len({FEW, FewCoordinates(4.0), ByDegree(), ByDegree(), ByEigenvalue()}) == 3
    assert pickle.loads(pickle.dumps(FEW)) == FEW
    X = Torus(5).sample(6, random_state=0)
    for group in (groups.sign_flips(5), groups.hyperoctahedral(5), groups.cyclic_shifts(5)):
        basis = sa.invariant_basis(Torus(5), group, max_invariant_dim=50, order=FEW)
        assert (pickle.loads(pickle.dumps(basis)).evaluate(X) == basis.evaluate(X)).all()
    assert repr(FewCoordinates(64)) == "FewCoordinates(steepness=64)"
    space = Torus(4, period=3.0)
    few, steep, plain = (
        sa.invariant_basis(space, max_dim=100, order=order) for order in (FEW, FewCoordinates(64), "eigenvalue")
    )
    assert few == sa.invariant_basis(space, max_dim=100, order="few coordinates") != plain
    assert few != steep
    assert few.order == FEW


# --- kernel ridge regression ------------------------------------------------------------------------------


def additive(X):
    return np.cos(np.pi * X).sum(axis=1) + X[:, 0] ** 2 + X[:, 1] ** 2


def radial(X):
    return np.exp(np.cos(np.pi * X).sum(axis=1) / 2)


@pytest.mark.parametrize("target, few", [(additive, True), (radial, False)], ids=["sum", "product"])
def test_kernel_ridge_takes_the_order_that_predicts(target, few):
    space, group = Torus(6), groups.sign_flips(6)
    X, Z = space.sample(150, random_state=0), space.sample(500, random_state=1)
    y, truth = target(X), target(Z)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert isinstance(model.basis_.order, FewCoordinates) is few
    other = (
        sa.InvariantKernelRidge(space, group, spectrum="matern")
        if few
        else sa.InvariantKernelRidge(space, group, order=FewCoordinates(64))
    ).fit(X, y)
    assert isinstance(other.basis_.order, FewCoordinates) is not few
    errors = [np.sqrt(np.mean((m.predict(Z) - truth) ** 2)) for m in (model, other)]
    assert errors[0] < (0.2 if few else 0.5) * errors[1]


@pytest.mark.parametrize(
    "given",
    [{"spectrum": "matern"}, {"smoothness": 4.0}, {"length_scale": 0.3}, {"max_invariant_dim": 100}],
    ids=lambda given: next(iter(given)),
)
def test_what_is_given_is_given_for_the_laplacian(given):
    space = Torus(5)
    X = space.sample(40, random_state=0)
    assert sa.InvariantKernelRidge(space, None, **given).fit(X, additive(X)).basis_.order == ByEigenvalue()


def check_saved(model, Z, moved, path):
    """Predictions of orbits, and of the model read back, are equal to the last bit."""
    for a, b in zip(model.predict(Z, return_std=True), model.predict(moved, return_std=True), strict=True):
        assert (a == b).all()
    model.save(path)
    again = sa.load(path)
    assert again.basis_ == model.basis_
    for a, b in zip(model.predict(Z, return_std=True), again.predict(Z, return_std=True), strict=True):
        assert (a == b).all()


def test_the_search_on_few_rows_serves_many(tmp_path):
    space, group = Torus(5), groups.hyperoctahedral(5)
    X, Z = space.sample(900, random_state=0), space.sample(300, random_state=1)
    y = (X**2).sum(axis=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert isinstance(model.basis_.order, FewCoordinates)
    assert model.basis_.dim <= model.cutoff_.value
    assert np.abs(model.predict(Z) - (Z**2).sum(axis=1)).max() < 0.01
    check_saved(model, Z, -Z[:, [2, 0, 1, 4, 3]], tmp_path / "model.specavg")


CHARGES = np.array([1.0] * 4 + [-2.0] * 3)


def pairs(X):
    """Charges on a ring: a sum over pairs of particles."""
    distance = 2 * np.abs(np.sin((X[:, :, None] - X[:, None, :]) / 2))
    return np.triu(CHARGES[:, None] * CHARGES / (distance + 1.0), 1).sum(axis=(1, 2))


def together(X):
    """A smooth function of all particles at once."""
    return np.exp(np.cos(X).sum(axis=1) / 2)


def _prior(model):
    spectrum = {"spectrum": model.spectrum_.name, "alpha": model.alpha_, "length_scale": model.spectrum_.length_scale}
    return spectrum | ({} if spectrum["spectrum"] == "heat" else {"smoothness": model.spectrum_.smoothness})


@pytest.mark.parametrize("target, few", [(pairs, True), (together, False)], ids=["pairs", "all"])
def test_kernel_ridge_takes_the_order_of_copies_that_predicts(target, few, tmp_path):
    space = Product(Power(Circle(), 4), Power(Circle(), 3))
    group = groups.direct_product(groups.symmetric(4), groups.symmetric(3))
    X, Z = space.sample(300, random_state=0), space.sample(500, random_state=1)
    y, truth = target(X), target(Z)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    if few:  # by the order of the functions, or by a spectrum that is a product over the copies
        assert isinstance(model.basis_.order, FewCoordinates) or model.spectrum_.name == "product"
    given = {"spectrum": "matern"} if few else {"order": "few coordinates"}
    other = sa.InvariantKernelRidge(space, group, **given).fit(X, y)
    assert isinstance(other.basis_.order, FewCoordinates) is not few
    # The same prior as it is: where it is chosen, functions that stand out of it are penalised like the first.
    plain = clone(other).set_params(**_prior(other)).fit(X, y)
    by_type = sa.InvariantKernelRidge(space, group, order="type").fit(X, y)
    chosen, as_it_is, typed, there = (
        np.sqrt(np.mean((m.predict(Z) - truth) ** 2)) for m in (model, plain, by_type, other)
    )
    assert chosen < 0.8 * as_it_is
    assert chosen <= 1.01 * min(typed, there)
    ratios = []
    for seed in range(5):
        X, Z = space.sample(300, random_state=10 * seed), space.sample(500, random_state=10 * seed + 1)
        fits = (clone(m).fit(X, target(X)) for m in (model, other))
        chosen, given_order = (np.mean((m.predict(Z) - target(Z)) ** 2) for m in fits)
        ratios.append(np.sqrt(chosen / given_order))
    assert np.exp(np.mean(np.log(ratios))) < 1.0
    check_saved(model, Z, Z[:, [2, 0, 3, 1, 6, 5, 4]], tmp_path / "model.specavg")


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_every_order_that_a_default_tries_keeps_all_invariants(case):
    """Solvers know some labels of eigenspaces only: one that does not know a label has to decline it."""
    for order in {default_order(case.space), *further_orders(case.space)}:
        basis = sa.invariant_basis(case.space, case.group, max_dim=40, order=order)
        assert basis.eigenvalues[0] == 0.0  # the constant
        with contextlib.suppress(UnclearRank):  # a rotation by 1e-12 of a turn
            other = sa.invariant_basis(case.space, case.group, max_dim=40, order=order, solver="null space")
            assert [row.invariant_dim for row in basis.table] == [row.invariant_dim for row in other.table]
