"""Matrices on an eigenspace, and of the coordinates, from values at random points, by least squares."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.isometries import Isometry

if TYPE_CHECKING:
    from specavg.spaces._eigenspace import Eigenspace
    from specavg.spaces._space import Space

_OVERSAMPLING = 1.6  # points per function: the condition number stays below 10
_INTEGER = 1e-12  # an entry this close to an integer is one: rounding of least squares is 1e-15


@lru_cache(maxsize=2)
def interpolation(space: Space, eigenspace: Eigenspace) -> tuple[Array, Callable[[Array], tuple[Array, float]]]:
    """Random points, and what finds a matrix on an eigenspace from values there; the last two are kept.

    It solves Φ D = Ψ for D with one factorisation of Φ, and gives D and the residual.
    """
    from scipy.linalg import cho_factor, cho_solve

    n = int(_OVERSAMPLING * eigenspace.dim) + 30
    X = space.sample(n, random_state=np.random.default_rng(OWN_SEED))
    values = space._evaluate(eigenspace, X)  # pyright: ignore[reportPrivateUsage]
    factor = cho_factor(values.T @ values, overwrite_a=True, check_finite=False)
    some = slice(0, 64)  # a wrong map shows at every point; a few rows are enough to see it

    def solve(targets: Array) -> tuple[Array, float]:
        D = cho_solve(factor, values.T @ targets, check_finite=False)
        return D, float(np.abs(values[some] @ D - targets[some]).max() / np.sqrt(eigenspace.dim))

    return X, solve


def linear_part(space: Space, g: Isometry) -> Array:
    """The matrix A of the affine map x ↦ A x + t of the coordinates that a checked isometry is, from random points."""
    d = space.n_features
    X = space.sample(2 * d + 2, random_state=np.random.default_rng(OWN_SEED))  # twice as many as are needed
    moved = space._act(g, X)  # pyright: ignore[reportPrivateUsage]
    A = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), moved, rcond=None)[0][:d].T
    integers = np.rint(A)
    return np.where(np.abs(A - integers) < _INTEGER, integers, A) + 0.0
