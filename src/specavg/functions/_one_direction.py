"""Functions of a rotation R that depend on one direction only: on R a, or on Rᵀ a, for a fixed axis a."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg.functions._functions import Functions
from specavg.functions._orthonormal_matrices import nearest_rotations, turns_about_z

# About how many rotations a function is evaluated at in one call. A call for each angle took five times as long.
_AT_ONCE = 20_000


@final
class Direction:
    """The direction R a of a rotation R, for a fixed axis a; with `transposed` the direction Rᵀ a."""

    def __init__(self, axis: Array, *, transposed: bool) -> None:
        self._axis = axis
        self._transposed = transposed

    def of(self, X: Array) -> Array:
        """The direction at each rotation."""  # (n, 9) -> (n, 3)
        R = nearest_rotations(X)
        return np.ascontiguousarray((R.transpose(0, 2, 1) if self._transposed else R) @ self._axis)

    def rotations(self, directions: Array, turns: Array) -> Array:
        """One rotation for each direction and angle about it: `of` gives the directions back."""
        # (n, 3), (n,) -> (n, 9)
        R = frames(directions) @ turns_about_z(turns) @ frames(self._axis[None]).transpose(0, 2, 1)
        return np.ascontiguousarray(R.transpose(0, 2, 1) if self._transposed else R).reshape(-1, 9)

    def lifted(self, X: Array, slopes: Array) -> Array:
        """Tangential gradients by the entries of R, from gradients by the direction."""  # (n, 3, q) -> (n, 9, q)
        subscripts = "i,njq->nijq" if self._transposed else "niq,j->nijq"
        operands = (self._axis, slopes) if self._transposed else (slopes, self._axis)
        return _tangential(nearest_rotations(X), np.einsum(subscripts, *operands)).reshape(len(X), 9, -1)

    def lowered(self, X: Array, G: Array) -> Array:
        """The transpose of the linear map `lifted`, point by point."""  # (n, 9, q) -> (n, 3, q)
        tangent = _tangential(nearest_rotations(X), G.reshape(len(X), 3, 3, -1))
        return np.einsum("i,nijq->njq" if self._transposed else "j,nijq->niq", self._axis, tangent)


@final
class OneDirection(Functions):
    """F(R a) for functions F on the sphere; with `transposed` F(Rᵀ a).

    If R is uniform, so is the direction. Orthonormal functions F therefore stay orthonormal.

    Parameters
    ----------
    functions : Functions
        The F, on unit vectors of R³.
    axis : ndarray of shape (3,)
        The unit vector a.
    transposed : bool
    """

    def __init__(self, functions: Functions, axis: Array, *, transposed: bool) -> None:
        self._functions = functions
        self.dim = functions.dim
        self._direction = Direction(axis, transposed=transposed)

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes + 8.0 * 12

    def values(self, X: Array) -> Array:
        return self._functions.values(self._direction.of(X))

    def plain_values(self, X: Array) -> Array:
        return self._functions.plain_values(self._direction.of(X))

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._functions.correlate(self._direction.of(X), Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._functions.combine(self._direction.of(X), C)

    def gradient(self, X: Array) -> Array:
        slopes = self._functions.gradient(self._direction.of(X))  # (n, dim, 3)
        return self._direction.lifted(X, slopes.transpose(0, 2, 1)).transpose(0, 2, 1)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._direction.lifted(X, self._functions.combine_gradient(self._direction.of(X), C))

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        return self._functions.correlate_gradient(self._direction.of(X), self._direction.lowered(X, G))


def frames(v: Array) -> Array:
    """For each unit vector a rotation whose last column it is."""  # (n, 3) -> (n, 3, 3)
    helper = np.eye(3)[np.abs(v).argmin(axis=1)]  # an axis that is far from parallel to v
    a: Any = np.cross(helper, v)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    across: Any = np.cross(v, a)
    return np.stack([a, across, v], axis=2)


def _tangential(R: Array, G: Array) -> Array:
    """(G − R Gᵀ R) / 2: the orthogonal projection of matrices G to the tangent space of SO(3) at R."""
    # (n, 3, 3), (n, 3, 3, q) -> (n, 3, 3, q)
    return 0.5 * (G - np.einsum("nia,nbaq,nbj->nijq", R, G, R, optimize=True))


def circle_means(values: Callable[[Array], Array], h: Array, r: Array, steps: int, fold: int = 1) -> Array:
    """For each direction r the mean of a function over the circle of rotations that take r to h.

    Parameters
    ----------
    values : callable
        The function: maps rotations (N, 9) to values (N,).
    h : ndarray of shape (3,)
    r : ndarray of shape (n, 3)
    steps : int
        How many equally spaced rotations of a circle the mean is taken over.
    fold : int
        The function repeats itself so often on each circle; one period is then enough.
    """  # -> (n,)
    first = frames(h[None])[0]  # columns: two directions across h, and h
    across = frames(r).transpose(0, 2, 1)  # (n, 3, 3)
    taken = -(-steps // fold)  # steps in one period
    total = np.zeros(len(r))
    for angles in np.array_split(2 * np.pi / fold * np.arange(taken) / taken, -(-taken * len(r) // _AT_ONCE)):
        turned = first @ turns_about_z(angles)  # (angles, 3, 3)
        total += values((turned[:, None] @ across).reshape(-1, 9)).reshape(len(angles), -1).sum(axis=0)
    return total / taken


def unit_direction(given: ArrayLike, whose: str = "crystal") -> Array:
    """A direction of three Cartesian numbers, divided by its length; `whose` it is, for messages."""
    h = np.asarray(given, dtype=float)
    if h.shape == (4,):
        raise ValueError(
            f"{h.tolist()} are four Miller–Bravais indices (h k i l), and directions are Cartesian here. Pass "
            "(h, (h + 2k)/√3, l·a/c) for the pole of the plane, x along the axis a of the hexagonal cell and a, c its "
            "lattice constants"
        )
    if h.shape != (3,) or not 0 < np.linalg.norm(h) < np.inf:
        raise ValueError(f"a {whose} direction is a vector of three finite numbers, not all zero; got {h.tolist()}")
    return h / np.linalg.norm(h)
