"""Exact means exact: 1e-12 for a thousand random elements without canonical points, and bits with them."""

import numpy as np
import pytest
from cases import H4, M24, random_rotation

import specavg as sa
from specavg import groups
from specavg.isometries import permutation

THOUSAND = 1_000


def turned(name):
    R = random_rotation(2)
    return groups.Group([R @ g.matrix @ R.T for g in groups.point_group(name).generators], f"{name} on other axes")


# (space, group, largest eigenvalue)
TABLE = [
    (sa.Torus(10), groups.sign_flips(10), 4 * np.pi**2),
    (sa.Sphere(3), groups.point_group("Oh"), 30 * 31.0),
    (sa.Sphere(3), groups.point_group("Ih"), 30 * 31.0),
    (sa.Sphere(3), turned("O"), 20 * 21.0),
    (sa.Sphere(6), groups.alternating(6), 10 * 14.0),
    (sa.Sphere(6), groups.cyclic_shifts(6), 8 * 12.0),
    (sa.Sphere(6), groups.hyperoctahedral(6), 10 * 14.0),
    (sa.Sphere(6), groups.sign_flips(6), 10 * 14.0),
    (sa.Torus(5), groups.symmetric(5), 5 * np.pi**2),
    (sa.Torus(5), groups.dihedral_shifts(5), 5 * np.pi**2),
    (sa.Torus(1000), groups.symmetric(1000), 3 * np.pi**2),
    (sa.Torus(1000), groups.hyperoctahedral(1000), 3 * np.pi**2),
    (sa.Circle(), groups.cyclic(10**12), 1000.0**2),
    (sa.Circle(), groups.dihedral(7), 50.0**2),
    (sa.Sphere(10), groups.symmetric(10), 5 * 13.0),
    (sa.Sphere(24), M24, 6 * 28.0),
    (sa.Sphere(4), H4, 20 * 22.0),
]


def largest_change(space, group, basis, n_points=2):
    """max|f(gx) − f(x)| / max|f| over a thousand random g, f one random combination of the basis."""
    rng = np.random.default_rng(5)
    X = space.sample(n_points if basis.space.n_features < 24 else 1, rng)
    C = rng.standard_normal((basis.dim, 1))
    moved = np.stack([space.act(group.random(rng), X) for _ in range(THOUSAND)])
    before = basis.combine(X, C)
    after = basis.combine(moved.reshape(-1, space.n_features), C).reshape(THOUSAND, len(X), 1)
    typical = np.abs(basis.combine(space.sample(20, rng), C)).max()
    return np.abs(after - before).max() / max(np.abs(before).max(), typical)


@pytest.mark.parametrize("space, group, top", TABLE, ids=lambda value: repr(value).replace(" ", ""))
def test_invariant_to_a_thousand_random_elements(space, group, top):
    basis = sa.invariant_basis(space, group, max_eigenvalue=top)
    assert largest_change(space, group, basis) <= 1e-12


def test_invariant_to_a_thousand_random_permutations_of_ten_thousand_coordinates():
    space, group = sa.Sphere(10_000), groups.symmetric(10_000)
    basis = sa.invariant_basis(space, group, max_eigenvalue=space.eigenspace(6).eigenvalue)
    assert largest_change(space, group, basis) <= 1e-12


# --- to the last bit -------------------------------------------------------------------------------------------------


pytestmark = pytest.mark.filterwarnings("ignore:the points are not uniform")  # awkward ones are not meant to be


def awkward_points(space, rng, n=60):
    """Random points, and points with ties, zeros and −0.0."""
    X = space.sample(n, rng)
    ties = np.sign(rng.standard_normal((n, space.n_features))) * rng.integers(0, 3, (n, space.n_features)) / 4
    ties[: n // 2][ties[: n // 2] == 0] = -0.0
    ties[ties.any(axis=1) == 0, 0] = 0.5
    if isinstance(space, sa.Sphere):
        ties /= np.linalg.norm(ties, axis=1, keepdims=True)
    return np.concatenate([X, ties])


def fitted(space, group, **cutoff):
    rng = np.random.default_rng(0)
    X = awkward_points(space, rng)
    return sa.SpecAvgRegressor(space, group, **cutoff).fit(X, rng.standard_normal(len(X))), X


def bits(values):
    return np.ascontiguousarray(values).view(np.uint64)


EXACT = [
    (sa.Torus(10), groups.sign_flips(10)),
    (sa.Torus(4), groups.symmetric(4)),
    (sa.Torus(4), groups.alternating(4)),
    (sa.Torus(4), groups.hyperoctahedral(4)),
    (sa.Torus(5), groups.cyclic_shifts(5)),
    (sa.Torus(5), groups.dihedral_shifts(5)),
    (sa.Torus(5), groups.direct_product(groups.symmetric(3), groups.sign_flips(2))),
    (sa.Torus(1000), groups.symmetric(1000)),
    (sa.Sphere(4), groups.sign_flips(4)),
    (sa.Sphere(4), groups.symmetric(4)),
    (sa.Sphere(5), groups.alternating(5)),
    (sa.Sphere(4), groups.hyperoctahedral(4)),
    (sa.Sphere(6), groups.cyclic_shifts(6)),
    (sa.Sphere(5), groups.dihedral_shifts(5)),
    (sa.Sphere(5), groups.direct_product(groups.alternating(3), groups.sign_flips(2))),
    (
        sa.Product(sa.Torus(2), sa.Sphere(3)),
        groups.direct_product(groups.hyperoctahedral(2), groups.cyclic_shifts(3)),
    ),
]
# Groups that permute the columns of the points, or change their signs, without being called so.
COLUMNS = [
    (sa.Power(sa.Torus(2), 4), groups.alternating(4)),
    (sa.Power(sa.Torus(2), 4), groups.cyclic_shifts(4)),
    (sa.Power(sa.Torus(2), 3), groups.Group([permutation([1, 0, 2])])),
    (sa.Power(sa.Sphere(3), 3), groups.dihedral_shifts(3)),
    (sa.Rotations(), groups.crystal_symmetry("O")),
    (sa.Rotations(), groups.crystal_symmetry("D2", specimen="O")),
    (sa.Stiefel(4, 2), groups.hyperoctahedral(4)),
    (sa.Stiefel(4, 2), groups.Group([permutation([1, 2, 3, 0])])),
]


@pytest.mark.parametrize("space, group", EXACT, ids=repr)
def test_predictions_are_equal_to_the_last_bit(space, group):
    if isinstance(space, sa.Product):
        model, X = fitted_on_product(space, group)
    else:
        model, X = fitted(space, group, max_invariant_dim=40 if space.n_features < 100 else 10)
    assert model.basis_.dim > 1
    before = bits(model.predict(X))
    rng = np.random.default_rng(1)
    for _ in range(40):
        assert np.array_equal(bits(model.predict(space.act(group.random(rng), X))), before)
    for g in group.generators:
        assert np.array_equal(bits(model.predict(space.act(g, X))), before)


@pytest.mark.parametrize("space, group", COLUMNS, ids=repr)
def test_groups_that_permute_columns_are_exact_to_the_last_bit(space, group):
    rng = np.random.default_rng(0)
    X = space.sample(30, rng)
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=20).fit(X, rng.standard_normal(30))
    assert model.basis_.dim > 1
    before = bits(model.predict(X))
    for g in [*group.generators, *(group.random(rng) for _ in range(5))]:
        assert np.array_equal(bits(model.predict(space.act(g, X))), before)


def fitted_on_product(space, group):
    rng = np.random.default_rng(0)
    X = np.concatenate([awkward_points(factor, rng) for factor in space.factors], axis=1)
    return sa.SpecAvgRegressor(space, group, max_invariant_dim=40).fit(X, rng.standard_normal(len(X))), X


def test_the_mathieu_group_is_exact_to_the_last_bit():
    space = sa.Sphere(24)
    X = space.sample(30, 0)  # distinct coordinates
    model = sa.SpecAvgRegressor(space, M24, max_eigenvalue=3 * 25).fit(X, X[:, 0])
    before = bits(model.predict(X))
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert np.array_equal(bits(model.predict(M24.random(rng)(X))), before)


def test_training_on_moved_data_gives_the_same_model_to_the_last_bit():
    space, group = sa.Torus(10), groups.sign_flips(10)
    rng = np.random.default_rng(0)
    X, y = space.sample(200, rng), rng.standard_normal(200)
    flips = np.where(rng.random(X.shape) < 0.5, -1.0, 1.0)  # another element for every point
    first = sa.SpecAvgRegressor(space, group, max_invariant_dim=56).fit(X, y)
    second = sa.SpecAvgRegressor(space, group, max_invariant_dim=56).fit(X * flips, y)
    assert np.array_equal(bits(first.coef_), bits(second.coef_))


def test_rows_do_not_depend_on_their_neighbours():
    # A point predicted alone and in company.
    model, X = fitted(sa.Torus(4), groups.hyperoctahedral(4), max_invariant_dim=40)
    together = model.predict(X)
    alone = np.concatenate([model.predict(x[None]) for x in X[:20]])
    np.testing.assert_allclose(alone, together[:20], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("space, group", [(sa.Circle(), groups.dihedral(6)), (sa.Sphere(3), groups.point_group("Ih"))])
def test_shifts_and_rotations_are_exact_to_twelve_digits(space, group):
    X = space.sample(50, 0)
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=6).fit(X, np.cos(3 * X[:, 0]) + X[:, -1] ** 2)
    found = sa.invariance_discrepancy(model, space, group, X)
    assert found.exhaustive
    assert found <= 1e-12 * np.abs(model.predict(X)).max()
