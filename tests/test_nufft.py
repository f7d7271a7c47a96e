"""Non-uniform FFTs of waves, and the Toeplitz Gram matrices they give, against direct sums."""

from __future__ import annotations

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.functions import _nufft
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

pytest.importorskip("finufft")

TOLERANCE = 1e-12
HEXAGONAL = [[1.0, 0.0], [-0.5, 0.75**0.5]]

CASES = {
    "circle": (sa.Circle(), groups.dihedral(3), 300),
    "even on a circle": (sa.Torus(1), groups.sign_flips(1), 100),
    "square": (sa.Torus(2), groups.hyperoctahedral(2), 1300),
    "even in the plane": (sa.Torus(2), groups.sign_flips(2), 900),
    "exchanged": (sa.Torus(2, period=1.7), groups.symmetric(2), 600),
    "hexagonal": (sa.Torus(lattice=HEXAGONAL), groups.trivial(2), 700),
    "cube": (sa.Torus(3), groups.hyperoctahedral(3), 150),
    "cycled": (sa.Torus(3), groups.cyclic_shifts(3), 250),
}


def case(name, n):
    space, group, size = CASES[name]
    basis = sa.invariant_basis(space, group, max_invariant_dim=size)
    return basis, space.sample(n, random_state=2) * 1.5  # some points outside the cell: they wrap


def expansion(basis):
    """The functions of a basis as sums of waves."""
    return basis.functions if isinstance(basis.functions, TrigonometricSums) else basis.functions.expansion


@pytest.mark.parametrize("name", CASES)
def test_functions_on_tori_are_sums_of_waves(name):
    basis, X = case(name, 60)
    fourier = expansion(basis)
    assert np.abs(fourier.plain_values(X) - basis.functions.plain_values(X)).max() < TOLERANCE


@pytest.mark.parametrize("name", ["circle", "square", "cube"])
def test_some_frequencies_at_a_time_are_all_of_them(name, monkeypatch):
    basis, X = case(name, 1500)
    waves, Y = expansion(basis).waves, np.random.default_rng(0).normal(size=(1500, 3))
    reach = np.abs(waves.K).max(axis=0)
    at_once = _nufft.grid_sums(waves.period, reach, X, Y)
    monkeypatch.setattr(_nufft, "_FINE_GRID", 0.3 * at_once[0].size * 2 ** len(reach))
    assert (
        np.abs(_nufft.grid_sums(waves.period, reach, X, Y) - at_once).max() <= TOLERANCE * np.abs(Y).sum(axis=0).max()
    )


@pytest.mark.parametrize("name", CASES)
def test_transforms_equal_direct_sums(name):
    basis, X = case(name, 1500)
    fourier = expansion(basis)
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(len(X), 3))
    C = rng.normal(size=(fourier.waves.dim, 3))
    turns = (X / fourier.waves.period) @ fourier.waves.K.T
    turns = 2 * np.pi * (turns - np.rint(turns))
    waves = np.concatenate([np.cos(turns), np.sin(turns)], axis=1)
    sums = _nufft.sums(fourier.waves.period, fourier.waves.K, X, Y)
    assert np.abs(sums - waves.T @ Y).max() <= TOLERANCE * np.abs(Y).sum(axis=0).max()
    combined = _nufft.combine(fourier.waves.period, fourier.waves.K, X, C)
    assert np.abs(combined - waves @ C).max() <= TOLERANCE * np.abs(C).sum(axis=0).max()


@pytest.mark.parametrize("name", ["circle", "square"])
def test_the_transform_is_chosen_for_many_points_and_changes_nothing(name, monkeypatch):
    basis, X = case(name, FEWEST_TO_COMBINE)
    Y = np.random.default_rng(0).normal(size=(len(X), 2))
    C = np.random.default_rng(1).normal(size=(basis.dim, 1))
    assert expansion(basis).waves.by_transform(len(X))
    fast = basis.correlate(X, Y), basis.combine(X, C)
    monkeypatch.setattr(_nufft, "available", lambda: False)
    slow = basis.correlate(X, Y), basis.combine(X, C)
    assert not np.array_equal(fast[1], slow[1])  # it was another way
    assert np.abs(fast[0] - slow[0]).max() <= TOLERANCE * np.abs(Y).sum(axis=0).max()
    assert np.abs(fast[1] - slow[1]).max() <= TOLERANCE * np.abs(C).sum()


def test_transformed_predictions_are_invariant():
    basis, X = case("square", FEWEST_TO_COMBINE)
    C = np.random.default_rng(1).normal(size=(basis.dim, 1))
    values = basis.combine(X, C)
    for g in basis.group.generators:
        moved = basis.space.act(g, X)
        assert np.abs(basis.combine(moved, C) - values).max() <= TOLERANCE * np.abs(C).sum()
        canonical = basis.combine(basis.evaluation_points(moved), C)
        assert np.array_equal(canonical, basis.combine(basis.evaluation_points(X), C))  # to the last bit


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(_nufft, "_ROWS", 2000)
    basis, X = case("square", 9000)
    fourier = expansion(basis)
    Y = np.random.default_rng(0).normal(size=(len(X), 1))
    found = []
    for threads in (1, 3):
        with sa.config(n_threads=threads):
            found.append(_nufft.sums(fourier.waves.period, fourier.waves.K[:50], X, Y))
    assert np.array_equal(*found)


def test_no_transform_in_more_than_three_dimensions_or_without_memory():
    K = np.array([[1, 0, 0, 0]])
    assert _nufft.cost(10**6, K) == np.inf
    with sa.config(memory_limit="1 MB"):
        assert _nufft.cost(10**6, np.array([[400, 400]])) == np.inf


def test_memory_is_asked_for_as_many_columns_as_there_are():
    K, X = np.array([[100, 100]]), sa.Torus(2).sample(10, 0)
    with sa.config(memory_limit="20 MB"):
        _nufft.combine(np.ones(2), K, X, np.ones((2, 1)))
        with pytest.raises(MemoryError, match="40 columns"):
            _nufft.combine(np.ones(2), K, X, np.ones((2, 40)))


@pytest.mark.parametrize("name", CASES)
def test_toeplitz_gram_matrix_equals_the_sum_of_products(name):
    space, group, size = CASES[name]
    basis = sa.invariant_basis(space, group, max_invariant_dim=min(size, 150))
    X = space.sample(800, random_state=3)
    X = X * np.abs(X) ** 0.3  # not uniform
    rng = np.random.default_rng(0)
    w, Y = rng.random(len(X)), rng.normal(size=(len(X), 2))
    operator, correlation = basis.functions.gram_operator(X, w, Y)
    values = basis.functions.plain_values(X)
    gram = values.T @ (w[:, None] * values)
    assert np.abs(operator.dense() - gram).max() <= TOLERANCE * np.abs(gram).max()
    both = values.T @ np.column_stack([w, w[:, None] * Y])
    assert np.abs(correlation - both).max() <= TOLERANCE * len(X)
    C = rng.normal(size=(basis.dim, 3))
    assert np.abs(operator @ C - gram @ C).max() <= TOLERANCE * np.abs(gram @ C).max() * 10


def test_gram_by_transform_equals_gram_by_products(monkeypatch):
    basis = sa.invariant_basis(sa.Torus(2), groups.hyperoctahedral(2), max_invariant_dim=200)
    X = basis.space.sample(60_000, random_state=0)
    assert expansion(basis).gram_by_transform(10**6)
    monkeypatch.setattr(TrigonometricSums, "gram_by_transform", lambda *_: True)
    fast = basis.gram(X)
    monkeypatch.setattr(TrigonometricSums, "gram_by_transform", lambda *_: False)
    assert np.abs(basis.gram(X) - fast).max() <= TOLERANCE * len(X)


def test_no_toeplitz_operator_elsewhere():
    basis = sa.invariant_basis(sa.Sphere(4), groups.trivial(4), max_eigenvalue=8.0)
    X = basis.space.sample(10, random_state=0)
    assert basis.gram_operator(X, np.ones(10), np.ones((10, 1))) is None
