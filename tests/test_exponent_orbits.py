"""Boxes under permutations and reflections of their coordinates: orbits of exponents, and derivatives of their sums."""

from itertools import islice

import numpy as np
import pytest

import specavg as sa
from specavg import groups, isometries
from specavg.functions import _chebyshev_orbits
from specavg.invariants.solvers._exponent_orbits import ExponentOrbits

REFLECTION = isometries.signed_permutation([0], [-1])
BOX = sa.Power(sa.Interval(0.5, 3.0), 4)
GROUPS = {
    "a cycle": groups.Group([isometries.permutation([1, 2, 3, 0])]),
    "reflected swaps": groups.Group([isometries.copies([1, 0, 3, 2], [REFLECTION] * 4)]),
    "one reflection": groups.Group([isometries.copies([0, 1, 2, 3], [REFLECTION] + [isometries.permutation([0])] * 3)]),
    "nothing": groups.trivial(4),
    "all permutations": groups.symmetric(4),
}
# The six pairs of four like atoms and the four pairs with a fifth, under permutations of the four.
PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]


def pairs_moved(atoms):
    return isometries.permutation([PAIRS.index(tuple(sorted((atoms[i], atoms[j])))) for i, j in PAIRS])


METHANE = groups.Group([pairs_moved([1, 0, 2, 3, 4]), pairs_moved([1, 2, 3, 0, 4])])


@pytest.mark.parametrize("name", GROUPS)
def test_a_sweep_finds_what_eigenspaces_have_one_by_one(name):
    solver, spaces = ExponentOrbits(BOX, GROUPS[name]), list(islice(BOX.eigenspaces(), 40))
    for V, found in zip(spaces, solver.solve_together(spaces), strict=True):
        alone = solver.solve(V)
        assert found.eigenspace is V
        assert found.invariant_dim == alone.invariant_dim
        np.testing.assert_array_equal(found.data.K, alone.data.K)
        for part in ("label", "phase", "size", "first"):
            np.testing.assert_array_equal(getattr(found.data.orbits, part), getattr(alone.data.orbits, part))


@pytest.mark.parametrize("order", ["eigenvalue", "degree", "few coordinates"])
@pytest.mark.parametrize("name", GROUPS)
def test_orbits_span_what_the_null_space_spans(name, order):
    group = GROUPS[name]
    found = sa.invariant_basis(BOX, group, max_dim=200, order=order, solver="orbits")
    wanted = sa.invariant_basis(BOX, group, max_dim=200, order=order, solver="null space")
    assert [row.invariant_dim for row in found.table] == [row.invariant_dim for row in wanted.table]
    X = BOX.sample(30, random_state=0)
    A, B = found.evaluate(X), wanted.evaluate(X)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-11)
    np.testing.assert_allclose(found.functions.plain_values(X), A, atol=1e-12)


def test_methane_has_as_many_invariants_as_molien_says():
    basis = sa.invariant_basis(sa.Power(sa.Interval(), 10), METHANE, max_eigenvalue=6, order="degree")
    assert {row.solver for row in basis.table} == {"orbits"}
    elements = list(METHANE.elements())
    assert len(elements) == 24
    # Molien: the mean over the group of 1/∏(1 − t^length) over the cycles of the pairs
    total = np.zeros(7)
    for g in elements:
        image, series, seen = list(g.image), np.eye(1, 7)[0], set()
        for start in range(10):
            length, i = 0, start
            while i not in seen:
                seen.add(i)
                i, length = image[i], length + 1
            if length:
                for k in range(length, 7):
                    series[k] += series[k - length]
        total += series / 24
    assert [row.invariant_dim for row in basis.table] == total.round(9).tolist()


@pytest.mark.parametrize("name", GROUPS)
def test_gradients_are_derivatives(name):
    functions = sa.invariant_basis(BOX, GROUPS[name], max_dim=200, order="degree", solver="orbits").functions
    rng = np.random.default_rng(0)
    X, C = rng.uniform(0.7, 2.8, (70, 4)), rng.normal(size=(functions.dim, 3))
    gradient = functions.gradient(X)
    h = 1e-5
    differences = [(functions.values(X + h * e) - functions.values(X - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, np.stack(differences, axis=2), atol=1e-6)
    np.testing.assert_allclose(functions.combine_gradient(X, C), np.einsum("npm,pq->nmq", gradient, C), atol=1e-10)
    sums = np.einsum("npm,nmq->pq", gradient, np.stack([X, X**2], axis=2))
    np.testing.assert_allclose(functions.correlate_gradient(X, np.stack([X, X**2], axis=2)), sums, atol=1e-9)


def test_derivatives_of_a_high_degree_are_accurate_at_the_ends():
    functions = sa.invariant_basis(sa.Power(sa.Interval(), 2), groups.trivial(2), max_eigenvalue=20, order="degree",
                                   solver="orbits").functions  # fmt: skip
    x = np.array([[1.0, 1.0], [-1.0, 1.0]])
    wanted = np.sort([k * k * np.sqrt(2) * (np.sqrt(2) if j else 1.0) for k in range(21) for j in range(21 - k)])
    np.testing.assert_allclose(np.sort(functions.gradient(x)[0, :, 0]), wanted, rtol=1e-12)  # T_k'(1) = k²


def test_slopes_by_plain_numpy_are_those_of_the_loop(monkeypatch):
    space = sa.Power(sa.Interval(-1.0, 3.0), 5)
    basis = sa.invariant_basis(space, groups.cyclic_shifts(5), max_invariant_dim=120, order="degree")
    points = space.sample(30, random_state=0)
    points[0] = 3.0  # where arccos has no derivative
    plain = basis.gradient(points)
    monkeypatch.setattr(_chebyshev_orbits, "_PLAIN_SLOPES", 0)
    looped = basis.gradient(points)
    np.testing.assert_allclose(plain, looped, rtol=0, atol=1e-13 * np.abs(looped).max())
