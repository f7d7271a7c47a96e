"""Addition theorems against sums over the eigenfunctions themselves."""

from itertools import islice

import numpy as np
import pytest

import specavg as sa
from specavg.spaces import Power, Space

SPACES = [
    sa.Sphere(2),
    sa.Sphere(3),
    sa.Sphere(6),
    sa.Rotations(),
    sa.Torus(1),
    sa.Torus(6, period=3.0),
    sa.Torus(lattice=2 * np.eye(3)),
    Power(sa.Sphere(3), 2),
]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_addition_theorem_is_the_sum_over_eigenfunctions(space):
    X, Y = space.sample(7, random_state=0), space.sample(5, random_state=1)
    weighted = [(V, 0.5**i) for i, V in enumerate(islice(space.eigenspaces(), 5))]
    expected = sum(w * (space.evaluate(V, X) @ space.evaluate(V, Y).T) for V, w in weighted)
    np.testing.assert_allclose(space.zonal_sum(weighted, X, Y), expected, atol=1e-12)


def test_the_generating_function_of_shells_is_used_and_right():
    space, rng = sa.Torus(6), np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, (4, 6)), rng.uniform(-1, 1, (3, 6))
    weighted = [(V, rng.uniform()) for V in islice(space.eigenspaces(), 6)]
    by_shells, by_functions = space.zonal_sum(weighted, X, Y), Space.zonal_sum(space, weighted, X, Y)
    assert (by_shells != by_functions).any()  # another way: rounding differs
    np.testing.assert_allclose(by_shells, by_functions, rtol=1e-12, atol=1e-10)


def test_functions_of_one_coordinate_of_a_cubic_lattice_have_its_period():
    from specavg.discovery._one_part_functions import one_part_functions

    space = sa.Torus(lattice=3 * np.eye(4))
    functions = one_part_functions(space, most=16)
    X = space.sample(6, random_state=0)
    assert functions is not None
    np.testing.assert_allclose(functions.evaluate(X + 1.0), functions.evaluate(X), atol=1e-12)
