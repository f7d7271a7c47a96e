"""Von Mises kernels of frames: the series of a type is that of the kernel of O(n), averaged in closed form."""

import numpy as np
import pytest
from scipy.special import i0

import specavg as sa
from specavg.invariants import ByType
from specavg.spaces import Stiefel
from specavg.spaces._frame_kernels import log_coefficients
from specavg.spaces._orthogonal_types import associate


def _series(space, X, Y, kappa, top):
    """The kernel from its coefficients, functions up to an eigenvalue."""
    eigenspaces = []
    for V in space.ordered(ByType()):
        if V.eigenvalue > top:
            break
        eigenspaces.append(V)
    logs = space.von_mises_series(eigenspaces, ByType())(kappa)
    parts = (space.evaluate(V, X) @ space.evaluate(V, Y).T for V in eigenspaces)
    return sum(np.exp(c) * part for c, part in zip(logs, parts, strict=True))


def _rest(X):
    """The frames, and an orthonormal basis of what they leave."""
    return [(x, np.linalg.svd(x)[0][:, x.shape[1] :]) for x in X]


def _averaged(a, kappa):
    """The mean of e^(κ tr(ah)/2) over O(1) and over O(2): turns and mirrors, each a Bessel function."""
    if len(a) == 1:
        return np.cosh(kappa / 2 * a[0, 0])
    turns = np.hypot(a[0, 0] + a[1, 1], a[0, 1] - a[1, 0])
    mirrors = np.hypot(a[0, 0] - a[1, 1], a[0, 1] + a[1, 0])
    return (i0(kappa / 2 * turns) + i0(kappa / 2 * mirrors)) / 2


@pytest.mark.parametrize(
    "n, k, kappa, top", [(3, 2, 1.3, 250), (3, 1, 4.0, 400), (4, 2, 0.5, 90), (4, 3, 0.2, 70), (5, 3, 0.02, 32)]
)
def test_the_series_is_the_kernel_of_all_orthogonal_matrices_averaged_over_what_leaves_a_frame(n, k, kappa, top):
    space = Stiefel(n, k)
    X, Y = space.sample(4, random_state=0), space.sample(5, random_state=1)
    expected = np.array(
        [
            [np.exp(kappa / 2 * np.sum(x * y)) * _averaged(u.T @ v, kappa) for y, v in _rest(Y.reshape(-1, n, k))]
            for x, u in _rest(X.reshape(-1, n, k))
        ]
    )
    found = _series(space, X, Y, kappa, top)
    ratio = found / expected  # the coefficient of the constant is one
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9])
def test_coefficients_are_positive_and_those_of_longer_types_are_smaller(n):
    shapes = [(1,), (2,), (5,), (9,), *([(2, 1), (3, 1)] if n > 3 else [])]  # at most n/2 rows
    for kappa in (0.01, 1.0, 100.0):
        logs = log_coefficients(shapes, n, kappa)
        assert np.isfinite(logs).all()
        assert (logs < 0).all()
        assert (np.diff(logs[:4]) < 0).all()
        if n % 2:  # a type and its twin differ by the mirrored part, which is small where kernels are narrow
            twins = log_coefficients([associate(shape, n) for shape in shapes], n, kappa)
            assert (twins <= logs).all()
            assert kappa > 1 or (twins < logs - 0.1).all()
            assert kappa < 100 or np.abs(twins - logs).max() < 1e-12


def test_narrow_kernels_are_those_of_heat():
    """For large κ the coefficient of a type is e^(−λ/2κ), λ its eigenvalue, up to the square of that."""
    space, kappa = Stiefel(5, 2), 1e4
    eigenspaces = []
    for V in space.ordered(ByType()):
        if V.eigenvalue > 40:
            break
        eigenspaces.append(V)
    found = space.von_mises_series(eigenspaces, ByType())(kappa)
    np.testing.assert_allclose(found, [-V.eigenvalue / (2 * kappa) for V in eigenspaces], rtol=1e-3, atol=1e-12)


def test_eigenspaces_of_several_types_have_no_series():
    space = sa.spaces.Stiefel(4, 3)
    several = [V for V, _ in zip(space.eigenspaces(), range(6), strict=False)]
    assert any(len(V.label) > 1 for V in several)
    assert space.von_mises_series(several, ByType()) is None
