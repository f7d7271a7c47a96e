"""Real Wigner matrices: how spherical harmonics of one degree change when the sphere is rotated.

M(R) is the matrix with Y(Rx) = M(R) Y(x). Y are the functions of `Sphere(3)` of one degree: cosines and sines of the
orders j, listed as 0, 1c, 1s, 2c, 2s, … . A rotation is Rz(α) Ry(β) Rz(γ). M(Rz) turns each pair (jc, js) by j times
the angle. M(Ry) = exp(βL) does not mix cosines with sines. In each of these two blocks L is, up to phases, i times a
real symmetric tridiagonal matrix whose eigenvalues are *integers*, two apart. So its eigenvectors are accurate at any
degree, and the entries of M(Ry) are short Fourier series in β.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from specavg._arrays import Array

_CHUNK = 1 << 17  # entries of all matrices that are computed at a time: chosen so that they stay in cache


def euler_angles(X: Array) -> tuple[Array, Array, Array]:
    """The angles α, β, γ with X = Rz(α) Ry(β) Rz(γ).

    γ is computed from Rz(−α) X. So the three angles give X back up to rounding even at β = 0 and π, where α is
    arbitrary.
    """  # (n, 3, 3) -> (n,), (n,), (n,)
    alpha = np.arctan2(X[:, 1, 2], X[:, 0, 2])
    c, s = np.cos(alpha), np.sin(alpha)
    beta = np.arctan2(c * X[:, 0, 2] + s * X[:, 1, 2], X[:, 2, 2])
    gamma = np.arctan2(c * X[:, 1, 0] - s * X[:, 0, 0], c * X[:, 1, 1] - s * X[:, 0, 1])
    return alpha, beta, gamma


def wigner_matrices(X: Array, degree: int) -> Array:
    """M(X) of one degree at rotation matrices.

    Parameters
    ----------
    X : ndarray of shape (n, 3, 3)
    degree : int
        l.

    Returns
    -------
    ndarray of shape (n, 2l + 1, 2l + 1)
        Orthogonal, with M(XY) = M(X) M(Y).
    """
    size = 2 * degree + 1
    M = np.empty((len(X), size, size))
    if degree == 0:
        M[:] = 1.0
        return M
    alpha, beta, gamma = euler_angles(X)
    step = max(1, _CHUNK // size**2)
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        _fill(M[rows], alpha[rows], beta[rows], gamma[rows], degree)
    return M


def rotation_derivatives(degree: int) -> list[Any]:
    """The derivatives at t = 0 of M for the rotations by t around x, y and z: sparse antisymmetric matrices."""
    # (2l + 1, 2l + 1) each
    from scipy.sparse import coo_array

    j = np.arange(1, degree + 1)
    cosine, sine = 2 * j - 1, 2 * j  # the places of jc and js; order 0 is at 0
    a = 0.5 * np.sqrt((degree - j) * (degree + j + 1.0))[:-1]  # the entries between the orders j and j + 1
    rows = np.concatenate([cosine[:1], cosine[1:], sine[1:]])
    columns = np.concatenate([0 * cosine[:1], cosine[:-1], sine[:-1]])
    values = np.concatenate([np.sqrt(0.5 * degree * (degree + 1.0)) + 0.0 * cosine[:1], a, a])  # no sine of order 0
    size = (2 * degree + 1, 2 * degree + 1)
    up = coo_array((values, (rows, columns)), shape=size).tocsr()
    pairs = coo_array((j.astype(float), (sine, cosine)), shape=size).tocsr()
    y, z = up - up.T, pairs - pairs.T
    return [y @ z - z @ y, y, z]


def wigner_derivative(A: Array, degree: int) -> Array:
    """The derivative of M(exp tA) at t = 0, for a skew-symmetric A.

    Examples
    --------
    >>> wigner_derivative(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), 1)
    array([[ 0.,  0.,  0.],
           [ 0.,  0., -1.],
           [ 0.,  1.,  0.]])
    """  # (3, 3) -> (2l + 1, 2l + 1)
    x, y, z = rotation_derivatives(degree)
    return (A[2, 1] * x + A[0, 2] * y + A[1, 0] * z).toarray()


def _fill(M: Array, alpha: Array, beta: Array, gamma: Array, degree: int) -> None:
    """Write M(Rz(α)) M(Ry(β)) M(Rz(γ)) to `M`; M(Ry(β)) has the blocks C of cosines and S of sines."""
    orders = np.arange(1, degree + 1)
    C = _series(degree, sines=False)(beta)  # (n, l + 1, l + 1)
    S = _series(degree, sines=True)(beta)  # (n, l, l)
    ca, sa = np.cos(alpha[:, None] * orders)[:, :, None], np.sin(alpha[:, None] * orders)[:, :, None]
    cg, sg = np.cos(gamma[:, None] * orders)[:, None, :], np.sin(gamma[:, None] * orders)[:, None, :]
    M[:, 0, 0] = C[:, 0, 0]
    M[:, 0, 1::2] = C[:, 0, 1:] * cg[:, 0]
    M[:, 0, 2::2] = -C[:, 0, 1:] * sg[:, 0]
    M[:, 1::2, 0] = ca[:, :, 0] * C[:, 1:, 0]
    M[:, 2::2, 0] = sa[:, :, 0] * C[:, 1:, 0]
    first, second = ca * C[:, 1:, 1:], sa * S
    M[:, 1::2, 1::2] = first * cg - second * sg
    M[:, 1::2, 2::2] = -first * sg - second * cg
    first, second = sa * C[:, 1:, 1:], ca * S
    M[:, 2::2, 1::2] = first * cg + second * sg
    M[:, 2::2, 2::2] = second * cg - first * sg


@dataclass(frozen=True)
class _Series:
    """One block of M(Ry(β)), its entries as Fourier series in β.

    Entries in row j and column k with even j + k are sums of cosines of β, the others are sums of sines.
    """

    frequencies: Array  # (f,), μ ≥ 0
    even: Array  # (f, e, e): the entries in even rows and columns
    odd: Array  # (f, o, o): those in odd rows and columns
    mixed: Array  # (f, e, o): those in even rows and odd columns; those in odd rows are minus the transpose

    def __call__(self, beta: Array) -> Array:
        n, (e, o) = len(beta), self.mixed.shape[1:]
        f = len(self.frequencies)
        angles = beta[:, None] * self.frequencies
        cosines, sines = np.cos(angles), np.sin(angles)
        block = np.empty((n, e + o, e + o))
        block[:, 0::2, 0::2] = (cosines @ self.even.reshape(f, -1)).reshape(n, e, e)
        block[:, 1::2, 1::2] = (cosines @ self.odd.reshape(f, -1)).reshape(n, o, o)
        mixed = (sines @ self.mixed.reshape(f, -1)).reshape(n, e, o)
        block[:, 0::2, 1::2] = mixed
        block[:, 1::2, 0::2] = -mixed.transpose(0, 2, 1)
        return block


@lru_cache(maxsize=256)
def _series(degree: int, *, sines: bool) -> _Series:
    """The series of exp(βL), where L[j+1, j] = a_j = −L[j, j+1] for orders j from 0 (cosines) or 1 (sines) to l.

    With phases i^j, L is i times the symmetric matrix T with the off-diagonal a_j. T is V diag(μ) Vᵀ, and
    V[j, −μ] = (−1)^j V[j, μ].
    """
    from scipy.linalg import eigh_tridiagonal

    j = np.arange(1.0 if sines else 0.0, degree)
    a = 0.5 * np.sqrt((degree - j) * (degree + j + 1))
    if not sines:
        a[0] *= np.sqrt(2)  # order 0 has no sine beside it
    size = len(a) + 1
    vectors = np.ones((1, 1))  # SciPy 1.12 refuses a matrix of one entry, which has no off-diagonal
    if size > 1:
        _, vectors = eigh_tridiagonal(np.zeros(size), a, lapack_driver="stev")
    mu = np.arange(-(size - 1), size, 2.0)  # the eigenvalues, exactly
    V: Array = vectors[:, mu >= 0]
    mu = mu[mu >= 0]
    entries = np.einsum("jf,kf->fjk", V, V) * np.where(mu > 0, 2.0, 1.0)[:, None, None]
    place = np.arange(size)
    difference = place[None, :] - place[:, None]  # k − j
    sign = np.where(((difference + difference % 2) // 2) % 2 == 0, 1.0, -1.0)
    entries *= sign
    return _Series(
        mu,
        np.ascontiguousarray(entries[:, 0::2, 0::2]),
        np.ascontiguousarray(entries[:, 1::2, 1::2]),
        np.ascontiguousarray(entries[:, 0::2, 1::2]),
    )
