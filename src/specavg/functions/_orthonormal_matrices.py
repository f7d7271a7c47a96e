"""Unit vectors, rotations and matrices with orthonormal columns: made from points that are so up to rounding."""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array


def normalized(X: Array) -> Array:
    """Rows divided by their norms."""  # (n, d) -> (n, d)
    return X / np.sqrt(np.einsum("ni,ni->n", X, X))[:, None]


def orthonormality_error(X: Array) -> Array:
    """The largest entry of |XᵀX − I|, for each matrix X."""  # (N, n, k) -> (N,)
    return np.abs(np.einsum("Nia,Nib->Nab", X, X) - np.eye(X.shape[2])).max(axis=(1, 2))


def nearest_orthonormal(X: Array) -> Array:
    """The matrices with orthonormal columns that are nearest to given ones, whose columns are nearly orthonormal.

    Two Newton steps X ↦ X(3I − XᵀX)/2 are enough: they converge quadratically, so that errors of some 1e-6, which
    spaces accept, become rounding errors. A step commutes with X ↦ A X Bᵀ for orthogonal A and B, so that functions of
    points slightly off the manifold stay invariant.
    """  # (N, n, k) -> (N, n, k)
    nearer = X
    for _ in range(2):
        nearer = 1.5 * nearer - 0.5 * nearer @ (nearer.transpose(0, 2, 1) @ nearer)
    return nearer


def nearest_rotations(X: Array) -> Array:
    """The rotation matrices nearest to points of `Rotations`, which have nine columns."""  # (n, 9) -> (n, 3, 3)
    return nearest_orthonormal(X.reshape(-1, 3, 3))


def turns_about_z(angles: Array) -> Array:
    """The rotations by these angles about the third axis."""  # (n,) -> (n, 3, 3)
    R = np.zeros((len(angles), 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(angles)
    R[:, 1, 0] = np.sin(angles)
    R[:, 0, 1] = -R[:, 1, 0]
    R[:, 2, 2] = 1.0
    return R


def random_orthonormal(N: int, n: int, k: int, rng: np.random.Generator) -> Array:
    """N uniformly distributed n × k matrices with orthonormal columns.

    They are the Q of QR decompositions of Gaussian matrices, with signs for which the diagonal of R is positive.
    """  # (N, n, k)
    Q, R = np.linalg.qr(rng.standard_normal((N, n, k)))
    return Q * np.where(np.einsum("Naa->Na", R) < 0, -1.0, 1.0)[:, None, :]
