"""Points that are unit vectors, or matrices with orthonormal columns."""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array


def normalized(X: Array) -> Array:
    """Rows divided by their norms."""
    return X / np.sqrt(np.einsum("ni,ni->n", X, X))[:, None]


def orthonormality_error(X: Array) -> Array:
    """max|XᵀX − I| of each matrix."""  # (N, n, k) -> (N,)
    return np.abs(np.einsum("Nia,Nib->Nab", X, X) - np.eye(X.shape[2])).max(axis=(1, 2))


def nearest_orthonormal(X: Array) -> Array:
    """The nearest matrices with orthonormal columns to nearly orthonormal ones.

    Two Newton steps X(3I − XᵀX)/2: quadratic convergence takes the membership tolerance of 1e-6 to rounding.
    The step commutes with X ↦ A X Bᵀ, so points that are slightly off the manifold lose no invariance.
    """  # (N, n, k) -> (N, n, k)
    nearer = X
    for _ in range(2):
        nearer = 1.5 * nearer - 0.5 * nearer @ (nearer.transpose(0, 2, 1) @ nearer)
    return nearer


def turns_about_z(angles: Array) -> Array:
    """The rotations by these angles about the third axis."""  # (n,) -> (n, 3, 3)
    R = np.zeros((len(angles), 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(angles)
    R[:, 1, 0] = np.sin(angles)
    R[:, 0, 1] = -R[:, 1, 0]
    R[:, 2, 2] = 1.0
    return R


def random_orthonormal(N: int, n: int, k: int, rng: np.random.Generator) -> Array:
    """Uniform n × k matrices with orthonormal columns: QR of Gaussian matrices with its signs fixed."""
    Q, R = np.linalg.qr(rng.standard_normal((N, n, k)))
    return Q * np.where(np.einsum("Naa->Na", R) < 0, -1.0, 1.0)[:, None, :]
