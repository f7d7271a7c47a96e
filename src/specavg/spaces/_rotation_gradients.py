"""Gradients and tangent vectors where points are frames or unit vectors, from the rotations that move them.

A point is a frame X of k orthonormal vectors in R^n, or one unit vector (k = 1), and the fields dX/dt = A X are
infinitesimal isometries. With S_ij the derivative of a function along A = E_ij − E_ji, its gradient is (I − XXᵀ/2) S X.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg.isometries.fields import rotation

if TYPE_CHECKING:
    from specavg.spaces._eigenspace import Eigenspace
    from specavg.spaces._space import Space


def tangents_of_frames(X: Array, n: int, dim: int) -> Array:
    """An orthonormal basis of the tangent space at each point: the velocities A X of rotations span it.

    Parameters
    ----------
    X : ndarray of shape (N, n · k)
        Frames of k vectors in R^n.
    n : int
    dim : int
        The dimension of the space.

    Returns
    -------
    ndarray of shape (N, n · k, dim)
    """
    frames = X.reshape(len(X), n, X.shape[1] // n)
    velocities = np.zeros((len(X), n * (n - 1) // 2, *frames.shape[1:]))
    for a, (i, j) in enumerate(combinations(range(n), 2)):
        velocities[:, a, i], velocities[:, a, j] = frames[:, j], -frames[:, i]
    _, _, Vt = np.linalg.svd(velocities.reshape(*velocities.shape[:2], X.shape[1]), full_matrices=False)
    return Vt[:, :dim].transpose(0, 2, 1)


def gradient_by_rotations(n: int, X: Array, values: Array, turned: Iterable[Array]) -> Array:
    """The tangential gradients of combinations of the eigenfunctions at checked points.

    Parameters
    ----------
    n : int
        The length of the vectors.
    X : ndarray of shape (N, n_features)
    values : ndarray of shape (N, m)
        Of the eigenfunctions at `X`.
    turned : iterable of ndarrays of shape (m, q)
        dD C for the rotations in every plane of two coordinates, C the coefficients of the combinations.

    Returns
    -------
    ndarray of shape (N, q, n_features)
    """
    slopes = [values @ C for C in turned]  # (N, q) each
    count, frames = slopes[0].shape[1], X.reshape(len(X), n, X.shape[1] // n)
    S = np.zeros((len(X), count, n, n))
    for (i, j), slope in zip(combinations(range(n), 2), slopes, strict=True):
        S[:, :, i, j], S[:, :, j, i] = slope, -slope
    moved = S @ frames[:, None]
    moved -= 0.5 * frames[:, None] @ (frames.transpose(0, 2, 1)[:, None] @ moved)
    return moved.reshape(len(X), count, X.shape[1])


def squared_slopes(X: Array, gradients: Array, n: int) -> Array:
    """The sum of S_ij² over the planes of two coordinates, from gradients.

    Parameters
    ----------
    X : ndarray of shape (N, n · k)
    gradients : ndarray of shape (N, q, n · k)
    n : int

    Returns
    -------
    ndarray of shape (N, q)
    """
    frames, G = X.reshape(len(X), 1, n, -1), gradients.reshape(*gradients.shape[:2], n, -1)
    S = G @ frames.transpose(0, 1, 3, 2)
    return np.sum((S - S.transpose(0, 1, 3, 2)) ** 2, axis=(2, 3)) / 2


@lru_cache(maxsize=32)
def rotations_in_planes(space: Space, eigenspace: Eigenspace) -> list[Array]:
    """The matrices dD of the rotations in every plane of two coordinates."""
    found: list[Array] = []
    planes = list(combinations(range(space.shape[0]), 2))
    if len(planes) < space.dim:  # points of one coordinate have no rotation at all
        raise _no_gradient(space, f"{len(planes)} planes of rotation for {space.dim} dimensions")
    for i, j in planes:
        A = np.zeros((space.shape[0],) * 2)
        A[i, j], A[j, i] = 1.0, -1.0
        try:
            found.append(space.infinitesimal(rotation(A), eigenspace))
        except ValueError as error:
            raise _no_gradient(space, str(error)) from None
    return found


def _no_gradient(space: Space, why: str) -> ValueError:
    return ValueError(
        f"no gradient of functions on {space!r} is known: it has no rotations of its points ({why}). "
        "Write its method `_gradient`, or `functions` with a family that has gradients."
    )
