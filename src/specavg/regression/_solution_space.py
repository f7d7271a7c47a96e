"""Solutions for many penalties in one space: each direction is multiplied by the Gram matrix once, and serves all.

(G + diag p) c = b has a penalty p for every spectrum and α that is tried, always with the same G and b, and solutions
for penalties nearby are alike. The best solution in the span of some directions V (Galerkin's) needs VᵀGV only, and its
residual GV: both are known for every p. Where the residual is too large, it becomes one more direction. That is what
conjugate gradients do for one p; here the directions of all others are there already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
from scipy import linalg

from specavg._arrays import Array
from specavg.regression._conjugate_gradients import STEPS, NotConverged, conjugate_gradients

_DIRECTIONS = 60  # directions for each output, at most: a choice on uniform points takes 20 to 40
_BYTES = 2e8  # bytes of the directions and their products, at most
_DEPENDENT = 1e-8  # a direction of which less than this part is new is rounding


@final
class SolutionSpace:
    """Approximate solutions of (G + diag p) c = b, in a space that grows where a penalty p needs it.

    Parameters
    ----------
    multiply : callable
        G times columns, symmetric and positive.
    right : ndarray of shape (D, q)
        b.
    diagonal : float
        About the diagonal of G.
    """

    def __init__(self, multiply: Callable[[Array], Array], right: Array, diagonal: float) -> None:
        self._multiply, self._right, self._diagonal = multiply, right, diagonal
        D, q = right.shape
        self._most = min(_DIRECTIONS * q, D, max(int(_BYTES / (16.0 * max(D, 1))), 1))
        self._V, self._W = np.empty((0, D)), np.empty((0, D))  # directions, and G times them
        self._gram = np.empty((0, 0))

    def solve(self, penalty: Array, tolerance: float, steps: int | None = None) -> Array:
        """c, with a residual of `tolerance` relative to b in the norm of the preconditioner 1/(diagonal + p).

        Raises `NotConverged` where that takes more than `steps` new directions.
        """  # (D,) -> (D, q)
        inverse = 1.0 / (self._diagonal + penalty)[:, None]
        goal = tolerance**2 * np.sum(inverse * self._right**2, axis=0)
        system = self._gram + (self._V * penalty) @ self._V.T
        most = STEPS if steps is None else steps
        for taken in range(most + 1):
            z = linalg.solve(system, self._V @ self._right, assume_a="pos") if len(system) else np.empty((0, len(goal)))
            c = self._V.T @ z
            residual = self._right - self._W.T @ z - penalty[:, None] * c
            step = inverse * residual
            wanted = np.sum(residual * step, axis=0) > goal
            if not wanted.any():
                return c
            known = len(system)
            if not self._grow(step[:, wanted]):
                return self._finish(penalty, tolerance, most - taken, c)
            system = _bordered(system, self._gram[known:] + (self._V[known:] * penalty) @ self._V.T)
        raise NotConverged(f"{most} directions do not solve the system to {tolerance:.0e}")

    def _grow(self, directions: Array) -> bool:
        """Take directions too, as far as they are new; False where none is, or there is no more room."""  # (D, k)
        new, sizes = directions, np.linalg.norm(directions, axis=0)
        for _ in range(2):  # once more: the first time leaves rounding
            new = new - self._V.T @ (self._V @ new)
        kept = np.linalg.norm(new, axis=0) > _DEPENDENT * sizes
        if not kept.any() or len(self._V) + kept.sum() > self._most:
            return False
        Q = np.linalg.qr(new[:, kept])[0]
        products = self._multiply(Q).T
        self._V, self._W = np.concatenate([self._V, Q.T]), np.concatenate([self._W, products])
        self._gram = _bordered(self._gram, products @ self._V.T)
        return True

    def _finish(self, penalty: Array, tolerance: float, steps: int, start: Array) -> Array:
        """The rest of the way by conjugate gradients."""
        p = penalty[:, None]
        zero, diagonal = np.zeros(self._right.shape[1]), self._diagonal + p
        return conjugate_gradients(
            lambda C: self._multiply(C) + p * C, zero, self._right, diagonal, tolerance, steps, start
        )[0]


def _bordered(A: Array, rows: Array) -> Array:
    """A symmetric matrix with further rows, and columns."""  # (m, m), (k, m + k) -> (m + k, m + k)
    m = len(A)
    larger = np.concatenate([np.concatenate([A, rows[:, :m].T], axis=1), rows])
    larger[m:, m:] = 0.5 * (rows[:, m:] + rows[:, m:].T)
    return larger
