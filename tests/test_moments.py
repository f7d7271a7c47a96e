"""Moments: additive, compensated, and equal to the plain sums."""

import numpy as np
import pytest

import specavg as sa
from specavg.estimators import Moments


@pytest.fixture
def data():
    space, group = sa.Torus(3), sa.groups.hyperoctahedral(3)
    rng = np.random.default_rng(0)
    X = space.sample(700, random_state=rng)
    return (
        sa.invariant_basis(space, group, max_invariant_dim=60),
        X,
        rng.normal(size=(700, 2)),
        rng.uniform(0, 3, 700),
    )


def arrays(moments):
    names = ("weight", "weight_squares", "features", "targets", "target_squares", "cross", "gram")
    return {name: getattr(moments, name).value for name in names}


def test_moments_are_the_plain_sums(data):
    basis, X, Y, w = data
    Phi = basis.evaluate(X)
    expected = {
        "weight": w.sum(),
        "weight_squares": (w**2).sum(),
        "features": w @ Phi,
        "targets": w @ Y,
        "target_squares": w @ Y**2,
        "cross": Phi.T @ (w[:, None] * Y),
        "gram": Phi.T @ (w[:, None] * Phi),
    }
    got = arrays(Moments.of(basis, X, Y, w))
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-13, atol=1e-11, err_msg=name)


def test_sum_of_chunks_is_the_whole_in_any_order(data):
    basis, X, Y, w = data
    whole = arrays(Moments.of(basis, X, Y, w))
    chunks = [Moments.of(basis, X[i : i + 7], Y[i : i + 7], w[i : i + 7]) for i in range(0, len(X), 7)]
    forwards, backwards = Moments.total(chunks), Moments.total(reversed(chunks))
    assert forwards.count == backwards.count == len(X)
    for name, value in whole.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(arrays(forwards)[name], value, rtol=0, atol=1e-14 * scale)
        np.testing.assert_allclose(arrays(forwards)[name], arrays(backwards)[name], rtol=0, atol=1e-15 * scale)


def test_centred_moments_are_those_of_centred_data(data):
    basis, X, Y, w = data
    Phi = basis.evaluate(X)
    Phi, Y0 = Phi - w @ Phi / w.sum(), Y - w @ Y / w.sum()
    gram, cross, squares = Moments.of(basis, X, Y, w).centred()
    np.testing.assert_allclose(gram, Phi.T @ (w[:, None] * Phi), atol=1e-10)
    np.testing.assert_allclose(cross, Phi.T @ (w[:, None] * Y0), atol=1e-10)
    np.testing.assert_allclose(squares, w @ Y0**2, rtol=1e-12)


def test_without_the_gram_matrix_the_rest_is_the_same(data):
    basis, X, Y, w = data
    full, thin = Moments.of(basis, X, Y, w), Moments.of(basis, X, Y, w, gram=False)
    assert thin.gram is None
    np.testing.assert_allclose(thin.cross.value, full.cross.value, atol=1e-11)
    with pytest.raises(ValueError, match="no Gram matrix"):
        thin.centred()
    with pytest.raises(ValueError, match="do not add"):
        full + thin


def test_moments_of_different_bases_do_not_add(data):
    basis, X, Y, w = data
    other = sa.invariant_basis(basis.space, basis.group, max_invariant_dim=20)
    with pytest.raises(ValueError, match="do not add"):
        Moments.of(basis, X, Y, w) + Moments.of(other, X, Y, w)
