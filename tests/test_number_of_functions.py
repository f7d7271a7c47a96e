"""A default takes as many functions as the data can use, within the budgets of work and of memory."""

import math

import numpy as np
import pytest

import specavg as sa
from specavg.estimators._number_of_functions import affordable_dim, are_held

# Bytes that each way takes, as the page on defaults states them: for each value of n · D features, for each of D² sums.
FEATURES, SUMS = 64, 48


@pytest.mark.parametrize("rows", [1, 30, 300, 999, 1000, 4000, 20_000, 10**6])
@pytest.mark.parametrize("limit", ["100 kB", "1 MB", "10 MB", "30 MB", "100 MB", "192 MB", "1 GB", "100 GB"])
def test_features_or_sums_of_a_default_fit_in_memory(limit, rows):
    free = affordable_dim(rows)
    with sa.config(memory_limit=limit) as inside:
        dim, in_pieces = affordable_dim(rows), affordable_dim(rows, math.inf)
        assert dim <= free
        assert are_held(rows * dim) or SUMS * dim**2 <= inside.memory_limit
        assert SUMS * in_pieces**2 <= inside.memory_limit
        if FEATURES * rows * free <= inside.memory_limit:
            assert dim == free


@pytest.mark.parametrize(
    "space, group",
    [
        (sa.Torus(2), None),
        (sa.Sphere(3), None),
        (sa.Rotations(), None),
        (sa.Torus(2), sa.groups.symmetric(2)),
        (sa.Stiefel(4, 2), None),
    ],
    ids=str,
)
def test_a_default_fit_with_little_memory_is_that_of_fewer_functions(space, group):
    X, Z = space.sample(300, random_state=0), space.sample(50, random_state=1)
    y = np.exp(X.reshape(300, -1)[:, :2].sum(axis=1) / 2) + 0.1 * np.random.default_rng(2).normal(size=300)
    with sa.config(memory_limit="5 MB"):
        model = sa.InvariantKernelRidge(space, group, order="eigenvalue").fit(X, y)
    assert model.solver_ == "features"
    assert model.basis_.dim <= 5e6 / (FEATURES * 300)
    given = {model.cutoff_.kind: model.cutoff_.value}
    ample = sa.InvariantKernelRidge(space, group, order="eigenvalue", **given).fit(X, y)
    np.testing.assert_allclose(model.predict(Z), ample.predict(Z), rtol=1e-12)


def test_gradients_and_vectors_keep_to_the_memory_too():
    space = sa.Sphere(3)
    X = space.sample(120, random_state=0)
    y, G = X[:, 0] * X[:, 1], np.stack([X[:, 1], X[:, 0], np.zeros(120)], axis=1)
    with sa.config(memory_limit="10 MB"):
        slopes = sa.InvariantKernelRidge(space).fit(X, y, gradient=G)
        vectors = sa.EquivariantKernelRidge(space, sa.groups.trivial(3), "vector").fit(X, X**3)
    assert slopes.basis_.dim <= 10e6 / (FEATURES * 360)
    assert vectors.basis_.dim <= 10e6 / (FEATURES * 360)
    np.testing.assert_allclose(slopes.predict(X), y, atol=1e-6)
    np.testing.assert_allclose(vectors.predict(X), X**3, atol=1e-6)


def test_a_limit_that_nothing_fits_in_is_told_without_a_promise():
    X = sa.Torus(2).sample(450, random_state=0)
    with sa.config(memory_limit="1 kB"), pytest.raises(MemoryError, match=r"fewer functions .* evaluate chunks"):
        sa.InvariantKernelRidge(sa.Torus(2)).fit(X, X[:, 0])
